/*
 * Between the parts of the CPU's BLAS: cpu_blas.c finds the library, cpu_call.c calls it,
 * cpu_level3.c, cpu_add.c and cpu_kernel.c carry out kernels with it.
 */
#ifndef TSR_BASE_CPU_INTERNAL_H
#define TSR_BASE_CPU_INTERNAL_H

#include "base/kernel.h"

/* The most that the library's int holds. */
#define TSR_CPU_MOST INT64_C(2147483647)

/* Any routine of the library; its caller knows the arguments. */
typedef void (*tsr_cpu_routine)(void);

/* The routine of a kernel in the type s, d, c or z. TSR_ERR_UNSUPPORTED names one that the library
 * does not have; it has every GEMM. */
tsr_status tsr_cpu_routine_get(tsr_kernel kernel, tsr_type type, tsr_cpu_routine *routine);

/* One GEMM of the library. type is s, d, c or z; every extent is at most TSR_CPU_MOST. */
void tsr_cpu_gemm(tsr_type type, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                  tsr_scalar alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                  tsr_scalar beta, void *c, int64_t ldc);

/* One call of another routine of the library, as it is; every extent is at most TSR_CPU_MOST. */
tsr_status tsr_cpu_call(const tsr_kernel_args *args);

/* A routine of the BLAS with all that kernel.h promises. */
tsr_status tsr_cpu_level3(const tsr_kernel_args *args);

/* c = beta c. */
void tsr_cpu_scale(const tsr_kernel_args *args);

/* c = alpha a + beta c; alpha is not 0. */
void tsr_cpu_add(const tsr_kernel_args *args);

#endif
