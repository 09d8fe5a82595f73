/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels of the BLAS other than GEMM. Libraries differ in whether they read a matrix that a
 * scalar of 0 leaves out, and in what they write to the imaginary parts of a Hermitian diagonal.
 * Both are settled here, before the library is called.
 */
#include <string.h>

#include "base/cpu_internal.h"

static bool updates_hermitian(const tsr_kernel_args *x) {
  return x->kernel == TSR_KERNEL_HERK || x->kernel == TSR_KERNEL_HER2K;
}

static void clear_imaginary_diagonal(const tsr_kernel_args *x) {
  float *s = x->c;
  double *d = x->c;
  for (int64_t i = 0; i < x->n; i++) {
    int64_t at = 2 * (i + i * x->ldc) + 1;
    if (x->type == TSR_C)
      s[at] = 0;
    else
      d[at] = 0;
  }
}

/* c = beta c, when alpha or k is 0. With beta = 1 even the imaginary parts of a Hermitian diagonal
 * stay as they are, as in the reference BLAS. */
static void scale_only(const tsr_kernel_args *x) {
  tsr_kernel_args scale = tsr_kernel_without_inputs(x);
  if (tsr_scalar_classify(scale.beta) == TSR_ONE) return;
  if (updates_hermitian(x)) clear_imaginary_diagonal(x);
  tsr_cpu_scale(&scale);
}

/* Copies b to c: trmm of the library works in place. */
static void put_b_into_c(const tsr_kernel_args *x) {
  size_t size = tsr_type_get(x->type)->size;
  for (int64_t j = 0; j < x->n; j++)
    memcpy((char *)x->c + (size_t)(j * x->ldc) * size,
           (const char *)x->b + (size_t)(j * x->ldb) * size, (size_t)x->m * size);
}

/* The diagonal of c becomes 1, the first part of each element; imaginary parts are left. */
static void put_ones(const tsr_kernel_args *x) {
  const tsr_type_info *info = tsr_type_get(x->type);
  for (int64_t i = 0; i < x->n; i++) {
    char *element = (char *)x->c + (size_t)(i + i * x->ldc) * info->size;
    if (x->type == TSR_S || x->type == TSR_C)
      *(float *)(void *)element = 1;
    else
      *(double *)(void *)element = 1;
  }
}

/* c = identity, then c = inv(a) c. */
static tsr_status invert(const tsr_kernel_args *args) {
  tsr_kernel_args x = *args;
  x.kernel = TSR_KERNEL_TRSM;
  x.side = TSR_LEFT;
  x.transa = TSR_NO_TRANS;
  x.alpha = (tsr_scalar){1, 0};
  tsr_kernel_args zero = tsr_kernel_without_inputs(&x);
  tsr_cpu_scale(&zero);
  put_ones(&x);
  return tsr_cpu_call(&x);
}

/* c = alpha op(a) c, in place, since a is the inverse. Its diagonal holds ones if it has to. */
static tsr_status solve(const tsr_kernel_args *args) {
  tsr_kernel_args x = *args;
  x.kernel = TSR_KERNEL_TRMM;
  x.diag = TSR_NON_UNIT;
  return tsr_cpu_call(&x);
}

tsr_status tsr_cpu_level3(const tsr_kernel_args *args) {
  tsr_kernel_args x = *args;
  TSR_TRY(tsr_kernel_check_int(&x, "the CPU's BLAS"));
  if (!tsr_kernel_reads_inputs(&x)) {
    scale_only(&x);
    return TSR_OK;
  }
  if (x.kernel == TSR_KERNEL_INVERT) return invert(&x);
  if (x.kernel == TSR_KERNEL_SOLVE) return solve(&x);
  if (x.kernel == TSR_KERNEL_TRMM && x.b != x.c) put_b_into_c(&x);
  if (!(tsr_kernel_get(x.kernel)->traits & TSR_TRIANGULAR) && !tsr_kernel_reads_c(&x)) {
    tsr_kernel_args zero = tsr_kernel_without_inputs(&x);
    tsr_cpu_scale(&zero);
    x.beta = (tsr_scalar){1, 0};
  }
  if (updates_hermitian(&x)) clear_imaginary_diagonal(&x);
  return tsr_cpu_call(&x);
}
