/*
 * The routines of the BLAS but GEMM. Libraries differ in what they read of matrices that a scalar
 * of 0 leaves out, and in what becomes of the imaginary parts of a Hermitian diagonal: both are
 * settled here, before the library is called.
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

/* alpha or k is 0. With beta = 1 not even the diagonal is touched, as in the reference BLAS. */
static void scale_only(const tsr_kernel_args *x) {
  tsr_kernel_args scale = tsr_kernel_without_inputs(x);
  if (tsr_scalar_classify(scale.beta) == TSR_ONE) return;
  if (updates_hermitian(x)) clear_imaginary_diagonal(x);
  tsr_cpu_scale(&scale);
}

/* The library multiplies by a triangle in place. */
static void put_b_into_c(const tsr_kernel_args *x) {
  size_t size = tsr_type_get(x->type)->size;
  for (int64_t j = 0; j < x->n; j++)
    memcpy((char *)x->c + (size_t)(j * x->ldc) * size,
           (const char *)x->b + (size_t)(j * x->ldb) * size, (size_t)x->m * size);
}

tsr_status tsr_cpu_level3(const tsr_kernel_args *args) {
  tsr_kernel_args x = *args;
  TSR_TRY(tsr_kernel_check_int(&x, "the CPU's BLAS"));
  if (!tsr_kernel_reads_inputs(&x)) {
    scale_only(&x);
    return TSR_OK;
  }
  if (x.kernel == TSR_KERNEL_TRMM && x.b != x.c) put_b_into_c(&x);
  if (!(tsr_kernel_get(x.kernel)->traits & TSR_TRIANGULAR) && !tsr_kernel_reads_c(&x)) {
    tsr_kernel_args zero = tsr_kernel_without_inputs(&x);
    tsr_cpu_scale(&zero);
    x.beta = (tsr_scalar){1, 0};
  }
  if (updates_hermitian(&x)) clear_imaginary_diagonal(&x);
  return tsr_cpu_call(&x);
}
