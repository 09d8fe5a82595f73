/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A BLAS with 64-bit integers under the plain names, as MKL has one: it checks that all of them
 * arrive as they were sent. */
#include <stddef.h>
#include <stdint.h>

int wide_calls;

/* More than 32 bits hold, and each its own. */
static int right(const int64_t *numbers, int count) {
  for (int i = 0; i < count; i++)
    if (numbers[i] != ((int64_t)(i + 1) << 33) + 7) return 0;
  return 1;
}

void cblas_dgemm(int layout, int transa, int transb, int64_t m, int64_t n, int64_t k, double alpha,
                 const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                 int64_t ldc);
void dgemm_(const char *transa, const char *transb, const int64_t *m, const int64_t *n,
            const int64_t *k, const double *alpha, const double *a, const int64_t *lda,
            const double *b, const int64_t *ldb, const double *beta, double *c, const int64_t *ldc,
            size_t length_a, size_t length_b);

void cblas_dgemm(int layout, int transa, int transb, int64_t m, int64_t n, int64_t k, double alpha,
                 const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                 int64_t ldc) {
  const int64_t numbers[] = {m, n, k, lda, ldb, ldc};
  int flags = layout == 102 && transa == 111 && transb == 112 && a != c && b != c;
  wide_calls += right(numbers, 6) && flags && alpha == 2 && beta == -1;
}

void dgemm_(const char *transa, const char *transb, const int64_t *m, const int64_t *n,
            const int64_t *k, const double *alpha, const double *a, const int64_t *lda,
            const double *b, const int64_t *ldb, const double *beta, double *c, const int64_t *ldc,
            size_t length_a, size_t length_b) {
  const int64_t numbers[] = {*m, *n, *k, *lda, *ldb, *ldc};
  int flags = *transa == 'N' && *transb == 't' && length_a == 1 && length_b == 1;
  wide_calls += right(numbers, 6) && flags && a != c && b != c && *alpha == 2 && *beta == -1;
}
