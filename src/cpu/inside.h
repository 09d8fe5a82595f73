/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions that the files of the CPU's BLAS share: blas.c finds the library, call.c calls it,
 * level3.c, add.c and kernel.c run kernels with it.
 */
#ifndef TSR_CPU_INSIDE_H
#define TSR_CPU_INSIDE_H

#include "arithmetic/kernel.h"

/* The largest number that an int of the library may have to hold. */
#define TSR_CPU_MOST INT64_C(2147483647)

/* Any routine of the library; the caller converts the pointer to the type of the routine. */
typedef void (*tsr_cpu_routine)(void);

/* *routine: the library's routine for a kernel in the type s, d, c or z. TSR_ERR_UNSUPPORTED names
 * a routine that the library lacks; a loaded library has every GEMM. */
tsr_status tsr_cpu_routine_get(tsr_kernel kernel, tsr_type type, tsr_cpu_routine *routine);

/* c = alpha op(a) op(b) + beta c in one call of the library. type is s, d, c or z; every extent is
 * at most TSR_CPU_MOST. */
void tsr_cpu_gemm(tsr_type type, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                  tsr_scalar alpha, const void *a, int64_t lda, const void *b, int64_t ldb,
                  tsr_scalar beta, void *c, int64_t ldc);

/* Calls the routine of any other kernel of the BLAS once, with the arguments as they are. Every
 * extent is at most TSR_CPU_MOST. TSR_ERR_UNSUPPORTED: the library lacks the routine. */
tsr_status tsr_cpu_call(const tsr_kernel_args *args);

/* Bytes of the memory that a kernel may need (tsr_cpu_kernel_room). */
enum { TSR_CPU_ROOM = 3 << 20 };

/* Runs a kernel of the BLAS other than GEMM, and keeps all that kernel.h promises. */
tsr_status tsr_cpu_level3(const tsr_kernel_args *args, void *room);

/* POTRF: by the library's LAPACK, or, where it has none, by the library's BLAS. */
tsr_status tsr_cpu_potrf(const tsr_kernel_args *args);

/* Whether the library has the routine of a kernel. */
bool tsr_cpu_routine_is_there(tsr_kernel kernel, tsr_type type);

/* c = beta c; beta = 0 does not read c. */
void tsr_cpu_scale(const tsr_kernel_args *args);

/* c = alpha a + beta c; alpha is not 0. */
void tsr_cpu_add(const tsr_kernel_args *args);

#endif
