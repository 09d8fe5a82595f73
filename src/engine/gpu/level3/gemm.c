/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* GEMM by the vendor's BLAS. */
#include <limits.h>

#include "engine/gpu/internal.h"
#include "engine/gpu/tuning.h"

/* For each type, in the order of tsr_type_index: the types of A and B and, in a wide GEMM, of C,
 * and the arithmetic. odd: the least extent from which tsr_kernel_align cuts a product into aligned
 * parts; 0: never, because parts are not faster. Measured on an H200, 8191 x 512 x 8191 whole and
 * in parts [TFLOP/s]: d 45 to 50 and 52 to 59, t 124 and 235 to 328, h 92 to 142 and 635 to 677; at
 * 1023 x 1023 x 1023 parts gain nothing. */
static const struct {
  gpuBlasType type, wide_c;
  gpuBlasCompute compute;
  int odd;
} gemms[TSR_TYPE_COUNT] = {
    {gpuBlas32F, gpuBlas32F, gpuBlasCompute32, 0},       /* s */
    {gpuBlas64F, gpuBlas64F, gpuBlasCompute64, 1024},    /* d */
    {gpuBlas32C, gpuBlas32C, gpuBlasCompute32C, 0},      /* c */
    {gpuBlas64C, gpuBlas64C, gpuBlasCompute64C, 0},      /* z */
    {gpuBlas16F, gpuBlas32F, gpuBlasCompute32, 512},     /* h */
    {gpuBlas16B, gpuBlas32F, gpuBlasCompute32, 512},     /* b */
    {gpuBlas32F, gpuBlas32F, gpuBlasCompute32Fast, 512}, /* t */
};

#ifdef gpuBlasGemm64
static bool fits_int(const tsr_kernel_args *x) {
  const int64_t extents[] = {x->m, x->n, x->k, x->lda, x->ldb, x->ldc};
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
    if (extents[i] > INT_MAX) return false;
  return true;
}
#endif

static gpuBlasStatus call_gemm(const tsr_queue *queue, const tsr_kernel_args *x) {
  int t = tsr_type_index(x->type);
  gpuBlasType type = gemms[t].type, type_c = x->wide ? gemms[t].wide_c : type;
  gpu_scalar alpha = gpu_scalar_of(x->type, x->alpha), beta = gpu_scalar_of(x->type, x->beta);
  gpuBlasOp ta = gpu_op_of(x->type, x->transa), tb = gpu_op_of(x->type, x->transb);
#ifdef gpuBlasGemm64
  if (!fits_int(x))
    return gpuBlasGemm64(queue->blas, ta, tb, x->m, x->n, x->k, &alpha, x->a, type, x->lda, x->b,
                         type, x->ldb, &beta, x->c, type_c, x->ldc, gemms[t].compute,
                         gpuBlasDefaultAlgorithm);
#endif
  return gpuBlasGemm(queue->blas, ta, tb, (int)x->m, (int)x->n, (int)x->k, &alpha, x->a, type,
                     (int)x->lda, x->b, type, (int)x->ldb, &beta, x->c, type_c, (int)x->ldc,
                     gemms[t].compute, gpuBlasDefaultAlgorithm);
}

tsr_status gpu_gemm_batch(tsr_queue *queue, const tsr_kernel_args *x, gpu_batch batch) {
  int t = tsr_type_index(x->type);
  gpuBlasType type = gemms[t].type;
  gpu_scalar alpha = gpu_scalar_of(x->type, x->alpha), beta = gpu_scalar_of(x->type, x->beta);
  gpuBlasOp ta = gpu_op_of(x->type, x->transa), tb = gpu_op_of(x->type, x->transb);
  gpuBlasStatus status = gpuBlasGemmStridedBatched(
      queue->blas, ta, tb, (int)x->m, (int)x->n, (int)x->k, &alpha, x->a, type, (int)x->lda,
      batch.step_a, x->b, type, (int)x->ldb, batch.step_b, &beta, x->c, type, (int)x->ldc,
      batch.step_c, batch.count, gemms[t].compute, gpuBlasDefaultAlgorithm);
  GPU_BLAS_TRY(status, "a batch of GEMMs", queue->index);
  return TSR_OK;
}

tsr_status gpu_gemm_list(tsr_queue *queue, const tsr_kernel_args *x, const void *const *to,
                         int count) {
  int t = tsr_type_index(x->type);
  gpuBlasType type = gemms[t].type;
  gpu_scalar alpha = gpu_scalar_of(x->type, x->alpha), beta = gpu_scalar_of(x->type, x->beta);
  gpuBlasOp ta = gpu_op_of(x->type, x->transa), tb = gpu_op_of(x->type, x->transb);
  gpuBlasStatus status = gpuBlasGemmBatched(
      queue->blas, ta, tb, (int)x->m, (int)x->n, (int)x->k, &alpha, to, type, (int)x->lda,
      to + count, type, (int)x->ldb, &beta, (void *const *)(uintptr_t)(to + 2 * (ptrdiff_t)count),
      type, (int)x->ldc, count, gemms[t].compute, gpuBlasDefaultAlgorithm);
  GPU_BLAS_TRY(status, "a batch of GEMMs", queue->index);
  return TSR_OK;
}

/* The number of rows of one call: in fp64, cuBLAS is slower on products of very many rows
 * (tuning.def has the figures). */
static int64_t rows_at_once(const tsr_kernel_args *x) {
  return x->type == TSR_D && x->m > TSR_TUNE_ROWS_MOST ? TSR_TUNE_ROWS_PIECE : x->m;
}

static tsr_status gemm_in_pieces(const tsr_queue *queue, const tsr_kernel_args *x) {
  int64_t most = rows_at_once(x);
  for (int64_t first = 0; first < x->m; first += most) {
    int64_t left = x->m - first, rows = left < most ? left : most;
    tsr_kernel_args part = tsr_kernel_part(x, rows, x->n, x->k, first, 0, 0);
    GPU_BLAS_TRY(call_gemm(queue, &part), "a GEMM", queue->index);
  }
  return TSR_OK;
}

tsr_status gpu_gemm(tsr_queue *queue, const tsr_kernel_args *x) {
  tsr_kernel_args part[4] = {*x};
  int parts = 1, least = gemms[tsr_type_index(x->type)].odd;
#ifndef gpuBlasGemm64
  TSR_TRY(tsr_kernel_check_int(x, "this " GPU_BLAS));
#endif
  if (!queue->blas) TSR_TRY(gpu_blas_start(queue));
  if (least > 0 && 2.0 * (double)x->m * (double)x->n * (double)x->k >= TSR_TUNE_ALIGN_FLOPS)
    parts = tsr_kernel_align(x, least, part);
  for (int i = 0; i < parts; i++) TSR_TRY(gemm_in_pieces(queue, &part[i]));
  return TSR_OK;
}
