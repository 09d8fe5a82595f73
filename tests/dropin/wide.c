/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A program for a BLAS with 64-bit integers under the plain names (wide_blas.c). */
#include <stddef.h>
#include <stdint.h>

extern int wide_calls;
void cblas_dgemm(int layout, int transa, int transb, int64_t m, int64_t n, int64_t k, double alpha,
                 const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                 int64_t ldc);
void dgemm_(const char *transa, const char *transb, const int64_t *m, const int64_t *n,
            const int64_t *k, const double *alpha, const double *a, const int64_t *lda,
            const double *b, const int64_t *ldb, const double *beta, double *c, const int64_t *ldc,
            size_t length_a, size_t length_b);

int main(void) {
  int64_t x[6];
  double a = 1, b = 1, c = 1, two = 2, minus = -1;
  for (int i = 0; i < 6; i++) x[i] = ((int64_t)(i + 1) << 33) + 7;
  cblas_dgemm(102, 111, 112, x[0], x[1], x[2], 2, &a, x[3], &b, x[4], -1, &c, x[5]);
  dgemm_("N", "t", &x[0], &x[1], &x[2], &two, &a, &x[3], &b, &x[4], &minus, &c, &x[5], 1, 1);
  return wide_calls == 2 ? 0 : 1;
}
