/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A library that is linked with a BLAS of its own (own_blas.c). ROOM makes the code of two such
 * libraries differ. */
#include <stddef.h>

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t length_a, size_t length_b);
double which_blas(void);
void passed_on(const char *transa, const char *transb, const int *m, const int *n, const int *k,
               const double *alpha, const double *a, const int *lda, const double *b,
               const int *ldb, const double *beta, double *c, const int *ldc, size_t length_a,
               size_t length_b);

/* The tag of the BLAS that a call reaches. */
double which_blas(void) {
  static const int n = 1;
  static const double one = 1;
  volatile double room[ROOM] = {0};
  double c = room[ROOM - 1];
  dgemm_("N", "N", &n, &n, &n, &one, &one, &n, &one, &n, &one, &c, &n, 1, 1);
  return c + room[0];
}

/* A compiler makes a jump of this call, so that the door returns to the program. */
void passed_on(const char *transa, const char *transb, const int *m, const int *n, const int *k,
               const double *alpha, const double *a, const int *lda, const double *b,
               const int *ldb, const double *beta, double *c, const int *ldc, size_t length_a,
               size_t length_b) {
  dgemm_(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a, length_b);
}
