/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The Cholesky factor of a block on the CPU: by LAPACK's routine and, in a second run with netlib's
 * BLAS alone, by halves. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chance.h"
#include "cpu/blas.h"
#include "cpu/inside.h"

typedef struct block {
  tsr_type type;
  tsr_uplo uplo;
  int64_t n, ld;
  void *c;
} block;

static double chance(void) {
  return (double)between(-1000000, 1000000) / 1e6;
}

static double complex get(const block *b, int64_t i, int64_t j) {
  int64_t at = i + j * b->ld;
  return b->type == TSR_S   ? ((float *)b->c)[at]
         : b->type == TSR_D ? ((double *)b->c)[at]
         : b->type == TSR_C ? ((float complex *)b->c)[at]
                            : ((double complex *)b->c)[at];
}

static void put(const block *b, int64_t i, int64_t j, double complex value) {
  int64_t at = i + j * b->ld;
  if (b->type == TSR_S) ((float *)b->c)[at] = (float)creal(value);
  if (b->type == TSR_D) ((double *)b->c)[at] = creal(value);
  if (b->type == TSR_C) ((float complex *)b->c)[at] = (float complex)value;
  if (b->type == TSR_Z) ((double complex *)b->c)[at] = value;
}

/* Element (i, j), i >= j, of the lower triangle, or of the conjugate transpose of the upper one. */
static double complex low(const block *b, int64_t i, int64_t j) {
  return b->uplo == TSR_LOWER ? get(b, i, j) : conj(get(b, j, i));
}

static void put_low(const block *b, int64_t i, int64_t j, double complex value) {
  if (b->uplo == TSR_LOWER)
    put(b, i, j, value);
  else
    put(b, j, i, conj(value));
}

/* A = G G^H + n I in the triangle; NaN beside it and in the padding. */
static void fill(block *b, double complex *a) {
  bool real = b->type == TSR_S || b->type == TSR_D;
  int64_t n = b->n;
  double complex *g = malloc((size_t)(n * n + 1) * sizeof *g);
  for (int64_t i = 0; i < n * n; i++) g[i] = chance() + (real ? 0 : I * chance());
  for (int64_t i = 0; i < b->ld * n; i++) put(&(block){b->type, 0, 0, 0, b->c}, i, 0, NAN);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++) {
      double complex sum = i == j ? (double)n : 0;
      for (int64_t k = 0; k < n; k++) sum += g[i + k * n] * conj(g[j + k * n]);
      put_low(b, i, j, sum);
      a[i + j * n] = low(b, i, j); /* as it was rounded */
    }
  free(g);
}

static int32_t factor(const block *b) {
  int32_t info = 0;
  tsr_kernel_args x = {.kernel = TSR_KERNEL_POTRF,
                       .type = b->type,
                       .uplo = b->uplo,
                       .m = b->n,
                       .n = b->n,
                       .c = b->c,
                       .ldc = b->ld,
                       .verdict = &info};
  assert_int_equal(tsr_cpu_kernel(&x), TSR_OK);
  return info;
}

static block make(tsr_type type, tsr_uplo uplo, int64_t n) {
  block b = {type, uplo, n, n + 3, NULL};
  b.c = malloc((size_t)(b.ld * n + 1) * sizeof(double complex));
  assert_non_null(b.c);
  return b;
}

/* The greatest error of an element of L L^H, in units of (n + 1) u sqrt(a_ii a_jj); and nothing
 * beside the triangle was written. */
static double error_of(const block *b, const double complex *a) {
  double u = b->type == TSR_S || b->type == TSR_C ? 0x1p-24 : 0x1p-53, worst = 0;
  int64_t n = b->n;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < b->ld; i++) {
      bool inside = i < n && (b->uplo == TSR_LOWER ? i >= j : i <= j);
      if (!inside) assert_true(isnan(creal(get(b, i, j))));
    }
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = j; i < n; i++) {
      double complex sum = a[i + j * n];
      for (int64_t k = 0; k <= j; k++) sum -= low(b, i, k) * conj(low(b, j, k));
      double scale = sqrt(creal(a[i + i * n]) * creal(a[j + j * n]));
      worst = fmax(worst, cabs(sum) / ((double)(n + 1) * u * scale));
    }
  return worst;
}

static const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
static const tsr_uplo uplos[] = {TSR_LOWER, TSR_UPPER};

static void test_factors(void **state) {
  (void)state;
  static const int64_t orders[] = {1, 2, 31, 33, 100, 161};
  for (int t = 0; t < 4; t++)
    for (int u = 0; u < 2; u++)
      for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        block b = make(types[t], uplos[u], orders[o]);
        double complex *a = malloc((size_t)(b.n * b.n) * sizeof *a);
        fill(&b, a);
        assert_int_equal(factor(&b), 0);
        double worst = error_of(&b, a);
        if (!(worst <= 2)) fail_msg("type %c, order %d: %g", (char)b.type, (int)b.n, worst);
        free(a), free(b.c);
      }
}

/* info is the order of the first leading minor that is not positive definite. */
static void test_info(void **state) {
  (void)state;
  static const double bad[] = {-1, 0, NAN};
  for (int t = 0; t < 4; t++)
    for (int u = 0; u < 2; u++)
      for (int i = 0; i < 9; i++) {
        block b = make(types[t], uplos[u], 90);
        double complex *a = malloc((size_t)(b.n * b.n) * sizeof *a);
        int64_t at = i < 3 ? 0 : i < 6 ? 47 : 89;
        fill(&b, a);
        put_low(&b, at, at, bad[i % 3]);
        assert_int_equal(factor(&b), at + 1);
        free(a), free(b.c);
      }
}

/* The library is loaded once for all. */
static int load(void **state) {
  (void)state;
  return tsr_cpu_blas_load() == TSR_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_factors), cmocka_unit_test(test_info)};
  return cmocka_run_group_tests(tests, load, NULL);
}
