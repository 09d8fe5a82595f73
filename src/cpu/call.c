/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls of the routines of the CPU's BLAS by their Fortran interface, from the table of routines
 * (blas/routines.def). */
#include "blas/routines.def"
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

/* The flags, numbers and scalars of a kernel in the library's types, by their names in
 * tsr_kernel_args. */
typedef struct converted {
  char side, uplo, transa, transb, diag;
  blas_int m, n, k, lda, ldb, ldc;
  typed_scalar alpha, beta;
} converted;

static converted convert(const tsr_kernel_args *x) {
  return (converted){.side = x->side == TSR_RIGHT ? 'R' : 'L',
                     .uplo = (char)x->uplo,
                     .transa = (char)x->transa,
                     .transb = (char)x->transb,
                     .diag = x->diag == TSR_UNIT ? 'U' : 'N',
                     .m = (blas_int)x->m,
                     .n = (blas_int)x->n,
                     .k = (blas_int)x->k,
                     .lda = (blas_int)x->lda,
                     .ldb = (blas_int)x->ldb,
                     .ldc = (blas_int)x->ldc,
                     .alpha = scalar_of(x->type, x->alpha),
                     .beta = scalar_of(x->type, x->beta)};
}

/* How the library takes an argument: by address. */
#define TAKE_FLAG const char *
#define TAKE_EXTENT const blas_int *
#define TAKE_SCALAR const void *
#define TAKE_INPUT const void *, const blas_int *
#define TAKE_RESULT void *, const blas_int *
#define TAKE(x, kind, ...) TAKE_##kind
#define TAKE_NEXT(x, kind, ...) , TAKE_##kind

/* The address that the library gets for an argument of the kernel x; g has the converted arguments.
 */
#define GIVE_FLAG(name, field, flag) &g.field
#define GIVE_EXTENT(name, field) &g.field
#define GIVE_SCALAR(name, field) &g.field
#define GIVE_INPUT(name, field, ...) x->field, &g.ld##field
#define GIVE_RESULT GIVE_INPUT
#define GIVE(x, kind, ...) GIVE_##kind(__VA_ARGS__)
#define GIVE_NEXT(x, kind, ...) , GIVE_##kind(__VA_ARGS__)

/* The lengths at the end belong to the flags: Fortran compilers pass them, libraries written in C
 * ignore them. */
#define LENGTH_FLAG(length) , length
#define LENGTH_EXTENT(length)
#define LENGTH_SCALAR(length)
#define LENGTH_INPUT(length)
#define LENGTH_RESULT(length)
#define LENGTH(length, kind, ...) LENGTH_##kind(length)

#define CALL_true(kernel, signature)                                                 \
  case TSR_KERNEL_##kernel: {                                                        \
    typedef void (*function)(TSR_ARGUMENTS_##signature(TAKE, TAKE_NEXT, 0)           \
                                 TSR_ARGUMENTS_##signature(LENGTH, LENGTH, size_t)); \
    ((function)routine)(TSR_ARGUMENTS_##signature(GIVE, GIVE_NEXT, 0)                \
                            TSR_ARGUMENTS_##signature(LENGTH, LENGTH, 1));           \
    return TSR_OK;                                                                   \
  }
#define CALL_false(kernel, signature)
#define CALL(name, operation, signature, family, types, alpha, beta, kernel, in_blas, ...) \
  CALL_##in_blas(kernel, signature)

tsr_status tsr_cpu_call(const tsr_kernel_args *x) {
  const converted g = convert(x);
  tsr_cpu_routine routine;
  TSR_TRY(tsr_cpu_routine_get(x->kernel, x->type, &routine));
  switch (x->kernel) {
    TSR_ROUTINES(CALL)
    default:
      return tsr_fail(TSR_ERR_INTERNAL, "%d is no kernel of the BLAS", (int)x->kernel);
  }
}

void tsr_cpu_gemm(tsr_type type, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                  tsr_scalar alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                  tsr_scalar beta, void *c, int64_t ldc) {
  const tsr_kernel_args x = {.kernel = TSR_KERNEL_GEMM,
                             .type = type,
                             .transa = transa,
                             .transb = transb,
                             .m = m,
                             .n = n,
                             .k = k,
                             .alpha = alpha,
                             .beta = beta,
                             .a = a,
                             .b = b,
                             .c = c,
                             .lda = lda,
                             .ldb = ldb,
                             .ldc = ldc};
  (void)tsr_cpu_call(&x);
}
