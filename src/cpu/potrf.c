/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Cholesky factor of a block. Most libraries have LAPACK's routine. For one that has the BLAS
 * alone the block is halved: A11 = L11 L11^H, L21 = A21 L11^-H, A22 - L21 L21^H = L22 L22^H (or the
 * same of the upper triangle), down to small blocks, which are factored column by column.
 */
#include <complex.h>
#include <math.h>

#include "arithmetic/halves.h"
#include "cpu/inside.h"

/* The order of the blocks that are factored column by column. */
enum { SMALL = 32 };

/* ---- Column by column ---- */

/* Element (row, column) of L, or the conjugate of (column, row) of U. */
static double complex element(const tsr_kernel_args *x, int64_t row, int64_t column) {
  bool lower = x->uplo == TSR_LOWER;
  int64_t at = lower ? row + column * x->ldc : column + row * x->ldc;
  double complex value = x->type == TSR_S   ? ((const float *)x->c)[at]
                         : x->type == TSR_D ? ((const double *)x->c)[at]
                         : x->type == TSR_C ? ((const float complex *)x->c)[at]
                                            : ((const double complex *)x->c)[at];
  return lower ? value : conj(value);
}

static void put(const tsr_kernel_args *x, int64_t row, int64_t column, double complex value) {
  bool lower = x->uplo == TSR_LOWER;
  int64_t at = lower ? row + column * x->ldc : column + row * x->ldc;
  if (!lower) value = conj(value);
  switch (x->type) {
    case TSR_S:
      ((float *)x->c)[at] = (float)creal(value);
      break;
    case TSR_D:
      ((double *)x->c)[at] = creal(value);
      break;
    case TSR_C:
      ((float complex *)x->c)[at] = (float complex)value;
      break;
    default:
      ((double complex *)x->c)[at] = value;
  }
}

/* Returns LAPACK's info. */
static int by_columns(const tsr_kernel_args *x) {
  for (int64_t j = 0; j < x->n; j++) {
    double pivot = creal(element(x, j, j));
    for (int64_t k = 0; k < j; k++) {
      double complex l = element(x, j, k);
      pivot -= creal(l) * creal(l) + cimag(l) * cimag(l);
    }
    if (!isgreater(pivot, 0)) return (int)j + 1; /* NaN, too */
    pivot = sqrt(pivot);
    put(x, j, j, pivot);
    for (int64_t i = j + 1; i < x->n; i++) {
      double complex sum = element(x, i, j);
      for (int64_t k = 0; k < j; k++) sum -= element(x, i, k) * conj(element(x, j, k));
      put(x, i, j, sum / pivot);
    }
  }
  return 0;
}

/* ---- LAPACK ---- */

/* OpenBLAS does not notice a pivot that is NaN, as LAPACK does: info where there is one, else 0. */
static int first_nan(const tsr_kernel_args *x) {
  for (int64_t j = 0; j < x->n; j++)
    if (!isgreater(creal(element(x, j, j)), 0)) return (int)j + 1;
  return 0;
}

static tsr_status by_lapack(const tsr_kernel_args *x, int *info) {
  typedef void (*function)(const char *uplo, const int *n, void *a, const int *lda, int *info,
                           size_t length);
  tsr_cpu_routine routine;
  TSR_TRY(tsr_cpu_routine_get(x->kernel, x->type, &routine));
  int n = (int)x->n, ld = (int)x->ldc;
  char uplo = (char)x->uplo;
  ((function)routine)(&uplo, &n, x->c, &ld, info, 1);
  if (*info == 0) *info = first_nan(x);
  return TSR_OK;
}

/* ---- By halves ---- */

static tsr_status by_halves(const tsr_kernel_args *x, int *info) {
  if (x->n <= SMALL) {
    *info = by_columns(x);
    return TSR_OK;
  }
  tsr_halves h = tsr_halves_of(x, x->n / 2);
  TSR_TRY(by_halves(&h.first, info));
  if (*info != 0) return TSR_OK;
  TSR_TRY(tsr_cpu_level3(&h.solve, NULL));
  TSR_TRY(tsr_cpu_level3(&h.update, NULL));
  TSR_TRY(by_halves(&h.second, info));
  if (*info != 0) *info += (int)h.first.n;
  return TSR_OK;
}

tsr_status tsr_cpu_potrf(const tsr_kernel_args *x) {
  int info = 0;
  TSR_TRY(tsr_kernel_check_int(x, "the CPU's LAPACK"));
  bool there = tsr_cpu_routine_is_there(x->kernel, x->type);
  TSR_TRY((there ? by_lapack : by_halves)(x, &info));
  if (info > 0 && x->verdict != NULL) *x->verdict = info;
  return TSR_OK;
}
