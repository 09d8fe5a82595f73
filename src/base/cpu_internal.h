/*
 * Between the two halves of the CPU's BLAS: cpu_blas.c finds the library, cpu_kernel.c carries out
 * kernels with it.
 */
#ifndef TSR_BASE_CPU_INTERNAL_H
#define TSR_BASE_CPU_INTERNAL_H

#include "base/kernel.h"

/* The most that the library's int holds. */
#define TSR_CPU_MOST INT64_C(2147483647)

/* One GEMM of the library. type is s, d, c or z; every extent is at most TSR_CPU_MOST. */
void tsr_cpu_gemm(tsr_type type, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                  tsr_scalar alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                  tsr_scalar beta, void *c, int64_t ldc);

#endif
