/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The routines of the vendor's BLAS except GEMM, and except a trsm that solve.c does faster. The
 * vendor's BLAS keeps the promises of kernel.h: if beta = 0, c is not read, and the imaginary parts
 * of the diagonal of a Hermitian a are not read.
 */
#include "engine/gpu/internal.h"

/* The arguments in the vendor's types. */
typedef struct call {
  gpuBlas blas;
  gpuBlasSide side;
  gpuBlasUplo uplo;
  gpuBlasOp op;
  gpuBlasDiag diag;
  int m, n, k, lda, ldb, ldc;
  gpu_scalar alpha, beta;
} call;

static call call_of(const tsr_queue *queue, const tsr_kernel_args *x) {
  return (call){.blas = queue->blas,
                .side = x->side == TSR_RIGHT ? gpuBlasRight : gpuBlasLeft,
                .uplo = x->uplo == TSR_UPPER ? gpuBlasUpper : gpuBlasLower,
                .op = gpu_op_of(x->type, x->transa),
                .diag = x->diag == TSR_UNIT ? gpuBlasUnit : gpuBlasNonUnit,
                .m = (int)x->m,
                .n = (int)x->n,
                .k = (int)x->k,
                .lda = (int)x->lda,
                .ldb = (int)x->ldb,
                .ldc = (int)x->ldc,
                .alpha = gpu_scalar_of(x->type, x->alpha),
                .beta = gpu_scalar_of(x->type, x->beta)};
}

/* Each type has its own function; they differ only in the types of pointers, to which void pointers
 * convert. */
#define COMPLEX_TYPES(routine, ...)        \
  case TSR_C:                              \
    return gpuBlasC##routine(__VA_ARGS__); \
  default:                                 \
    return gpuBlasZ##routine(__VA_ARGS__);

#define ALL_TYPES(routine, ...)            \
  case TSR_S:                              \
    return gpuBlasS##routine(__VA_ARGS__); \
  case TSR_D:                              \
    return gpuBlasD##routine(__VA_ARGS__); \
    COMPLEX_TYPES(routine, __VA_ARGS__)

#define TWO_INPUTS \
  y->blas, y->side, y->uplo, y->m, y->n, alpha, x->a, y->lda, x->b, y->ldb, beta, x->c, y->ldc
#define RANK_K y->blas, y->uplo, y->op, y->n, y->k, alpha, x->a, y->lda, beta, x->c, y->ldc
#define RANK_2K \
  y->blas, y->uplo, y->op, y->n, y->k, alpha, x->a, y->lda, x->b, y->ldb, beta, x->c, y->ldc
#define TRIANGULAR y->blas, y->side, y->uplo, y->op, y->diag, y->m, y->n, alpha, x->a, y->lda
#define MULTIPLY TRIANGULAR, x->b, y->ldb, x->c, y->ldc
#define SOLVE TRIANGULAR, x->c, y->ldc

#define DEFINE_CALL(routine, types, ...)                                         \
  static gpuBlasStatus call_##routine(const call *y, const tsr_kernel_args *x) { \
    const void *alpha = &y->alpha, *beta = &y->beta;                             \
    (void)beta;                                                                  \
    switch (x->type) { types(routine, __VA_ARGS__) }                             \
  }

DEFINE_CALL(symm, ALL_TYPES, TWO_INPUTS)
DEFINE_CALL(hemm, COMPLEX_TYPES, TWO_INPUTS)
DEFINE_CALL(syrk, ALL_TYPES, RANK_K)
DEFINE_CALL(herk, COMPLEX_TYPES, RANK_K)
DEFINE_CALL(syr2k, ALL_TYPES, RANK_2K)
DEFINE_CALL(her2k, COMPLEX_TYPES, RANK_2K)
DEFINE_CALL(trmm, ALL_TYPES, MULTIPLY)
DEFINE_CALL(trsm, ALL_TYPES, SOLVE)

static gpuBlasStatus (*const calls[TSR_KERNEL_COUNT])(const call *, const tsr_kernel_args *) = {
    [TSR_KERNEL_SYMM] = call_symm, [TSR_KERNEL_HEMM] = call_hemm,   [TSR_KERNEL_SYRK] = call_syrk,
    [TSR_KERNEL_HERK] = call_herk, [TSR_KERNEL_SYR2K] = call_syr2k, [TSR_KERNEL_HER2K] = call_her2k,
    [TSR_KERNEL_TRMM] = call_trmm, [TSR_KERNEL_TRSM] = call_trsm,
};

/* Clears the imaginary parts of c's diagonal before herk and her2k, which must not read them. The
 * vendor's her2k multiplies them by beta before it drops them, so that a NaN there would reach the
 * result; herk may do the same. */
static tsr_status clear_diagonal(const tsr_queue *queue, const tsr_kernel_args *x) {
  bool updates = x->kernel == TSR_KERNEL_HERK || x->kernel == TSR_KERNEL_HER2K;
  if (!updates || !tsr_kernel_reads_c(x)) return TSR_OK;
  int error = tsr_gpu_real_diagonal_launch((char)x->type, x->n, x->c, x->ldc, queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", queue->index);
  return TSR_OK;
}

tsr_status gpu_level3(tsr_queue *queue, const tsr_kernel_args *x) {
  TSR_TRY(tsr_kernel_check_int(x, GPU_BLAS));
  if (!queue->blas) TSR_TRY(gpu_blas_start(queue));
  if (x->kernel == TSR_KERNEL_TRSM && gpu_can_invert(queue, x))
    return gpu_solve_by_inverse(queue, x);
  if (x->kernel == TSR_KERNEL_INVERT) return gpu_invert(queue, x);
  if (x->kernel == TSR_KERNEL_SOLVE) return gpu_solve(queue, x);
  TSR_TRY(clear_diagonal(queue, x));
  call made = call_of(queue, x);
  GPU_BLAS_TRY(calls[x->kernel](&made, x), tsr_kernel_get(x->kernel)->name, queue->index);
  return TSR_OK;
}
