/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls of the routines of the CPU's BLAS by their Fortran interface. */
#include "cpu/inside.h"

/*
 * The library's integers have 32 or 64 bits and are passed by address. On little-endian machines an
 * int64_t that holds a small number reads as the same number through an int of 32 bits, so one set
 * of types serves both kinds of library.
 */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
typedef int blas_int;
#else
typedef int64_t blas_int;
#endif

/* The lengths at the end belong to the character arguments: Fortran compilers pass them, libraries
 * written in C ignore them. */
typedef void (*gemm_function)(const char *transa, const char *transb, const blas_int *m,
                              const blas_int *n, const blas_int *k, const void *alpha,
                              const void *a, const blas_int *lda, const void *b,
                              const blas_int *ldb, const void *beta, void *c, const blas_int *ldc,
                              size_t length_a, size_t length_b);

/* symm and hemm: side, uplo, m, n; syr2k and her2k: uplo, trans, n, k. */
typedef void (*two_inputs_function)(const char *first, const char *second, const blas_int *rows,
                                    const blas_int *columns, const void *alpha, const void *a,
                                    const blas_int *lda, const void *b, const blas_int *ldb,
                                    const void *beta, void *c, const blas_int *ldc, size_t length_1,
                                    size_t length_2);

/* syrk and herk */
typedef void (*one_input_function)(const char *uplo, const char *trans, const blas_int *n,
                                   const blas_int *k, const void *alpha, const void *a,
                                   const blas_int *lda, const void *beta, void *c,
                                   const blas_int *ldc, size_t length_uplo, size_t length_trans);

/* trmm and trsm */
typedef void (*in_place_function)(const char *side, const char *uplo, const char *trans,
                                  const char *diag, const blas_int *m, const blas_int *n,
                                  const void *alpha, const void *a, const blas_int *lda, void *c,
                                  const blas_int *ldc, size_t length_side, size_t length_uplo,
                                  size_t length_trans, size_t length_diag);

/* A scalar in the type of the routine. A routine with a real scalar reads the first half only. */
typedef union typed_scalar {
  float s[2];
  double d[2];
} typed_scalar;

static typed_scalar scalar_of(tsr_type type, tsr_scalar value) {
  if (type == TSR_S || type == TSR_C)
    return (typed_scalar){.s = {(float)value.re, (float)value.im}};
  return (typed_scalar){.d = {value.re, value.im}};
}

void tsr_cpu_gemm(tsr_type type, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                  tsr_scalar alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                  tsr_scalar beta, void *c, int64_t ldc) {
  tsr_cpu_routine routine = NULL;
  if (tsr_cpu_routine_get(TSR_KERNEL_GEMM, type, &routine) != TSR_OK) return;
  typed_scalar typed_alpha = scalar_of(type, alpha), typed_beta = scalar_of(type, beta);
  char ta = (char)transa, tb = (char)transb;
  blas_int im = (blas_int)m, in = (blas_int)n, ik = (blas_int)k;
  blas_int ia = (blas_int)lda, ib = (blas_int)ldb, ic = (blas_int)ldc;
  ((gemm_function)routine)(&ta, &tb, &im, &in, &ik, &typed_alpha, a, &ia, b, &ib, &typed_beta, c,
                           &ic, 1, 1);
}

static void call_in_place(tsr_cpu_routine routine, const tsr_kernel_args *x) {
  char side = x->side == TSR_RIGHT ? 'R' : 'L', uplo = (char)x->uplo, trans = (char)x->transa;
  char diag = x->diag == TSR_UNIT ? 'U' : 'N';
  blas_int m = (blas_int)x->m, n = (blas_int)x->n;
  blas_int lda = (blas_int)x->lda, ldc = (blas_int)x->ldc;
  typed_scalar alpha = scalar_of(x->type, x->alpha);
  ((in_place_function)routine)(&side, &uplo, &trans, &diag, &m, &n, &alpha, x->a, &lda, x->c, &ldc,
                               1, 1, 1, 1);
}

static void call_with_beta(tsr_cpu_routine routine, const tsr_kernel_args *x,
                           const tsr_kernel_info *info) {
  bool update = info->traits & TSR_TRIANGLE_OF_C;
  char side = x->side == TSR_RIGHT ? 'R' : 'L', uplo = (char)x->uplo, trans = (char)x->transa;
  blas_int m = (blas_int)x->m, n = (blas_int)x->n, k = (blas_int)x->k;
  blas_int lda = (blas_int)x->lda, ldb = (blas_int)x->ldb, ldc = (blas_int)x->ldc;
  typed_scalar alpha = scalar_of(x->type, x->alpha), beta = scalar_of(x->type, x->beta);
  if (info->access[1] == TSR_NONE)
    ((one_input_function)routine)(&uplo, &trans, &n, &k, &alpha, x->a, &lda, &beta, x->c, &ldc, 1,
                                  1);
  else
    ((two_inputs_function)routine)(update ? &uplo : &side, update ? &trans : &uplo,
                                   update ? &n : &m, update ? &k : &n, &alpha, x->a, &lda, x->b,
                                   &ldb, &beta, x->c, &ldc, 1, 1);
}

tsr_status tsr_cpu_call(const tsr_kernel_args *x) {
  const tsr_kernel_info *info = tsr_kernel_get(x->kernel);
  tsr_cpu_routine routine;
  TSR_TRY(tsr_cpu_routine_get(x->kernel, x->type, &routine));
  if (info->traits & TSR_TRIANGULAR)
    call_in_place(routine, x);
  else
    call_with_beta(routine, x, info);
  return TSR_OK;
}
