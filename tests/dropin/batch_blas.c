/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A BLAS of batches of products of doubles, which counts its calls and their products. Without
 * transposes; a negative extent is a wrong argument, after which nothing is computed. */
#include <stddef.h>

int batch_calls, batch_products, batch_wrong;

#define ROW_MAJOR 101

static void product(int row_major, int m, int n, int k, double alpha, const double *a, int lda,
                    const double *b, int ldb, double beta, double *c, int ldc) {
  batch_products++;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) {
      double sum = 0, *to = row_major ? &c[i * ldc + j] : &c[i + j * ldc];
      for (int l = 0; l < k; l++)
        sum += (row_major ? a[i * lda + l] : a[i + l * lda]) *
               (row_major ? b[l * ldb + j] : b[l + j * ldb]);
      *to = alpha * sum + beta * *to;
    }
}

void cblas_dgemm_batch(int layout, const int *transa, const int *transb, const int *m, const int *n,
                       const int *k, const double *alpha, const double **a, const int *lda,
                       const double **b, const int *ldb, const double *beta, double **c,
                       const int *ldc, int groups, const int *sizes);
void dgemm_batch_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                  const double *alpha, const double **a, const int *lda, const double **b,
                  const int *ldb, const double *beta, double **c, const int *ldc, const int *groups,
                  const int *sizes);
void cblas_dgemm_batch_strided(int layout, int transa, int transb, int m, int n, int k,
                               double alpha, const double *a, int lda, int stride_a,
                               const double *b, int ldb, int stride_b, double beta, double *c,
                               int ldc, int stride_c, int size);
void dgemm_batch_strided_(const char *transa, const char *transb, const int *m, const int *n,
                          const int *k, const double *alpha, const double *a, const int *lda,
                          const int *stride_a, const double *b, const int *ldb, const int *stride_b,
                          const double *beta, double *c, const int *ldc, const int *stride_c,
                          const int *size);

void cblas_dgemm_batch(int layout, const int *transa, const int *transb, const int *m, const int *n,
                       const int *k, const double *alpha, const double **a, const int *lda,
                       const double **b, const int *ldb, const double *beta, double **c,
                       const int *ldc, int groups, const int *sizes) {
  int next = 0;
  (void)transa, (void)transb;
  batch_calls++;
  for (int g = 0; g < groups; g++)
    if (m[g] < 0) {
      batch_wrong++;
      return;
    }
  for (int g = 0; g < groups; g++)
    for (int i = 0; i < sizes[g]; i++, next++)
      product(layout == ROW_MAJOR, m[g], n[g], k[g], alpha[g], a[next], lda[g], b[next], ldb[g],
              beta[g], c[next], ldc[g]);
}

void dgemm_batch_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                  const double *alpha, const double **a, const int *lda, const double **b,
                  const int *ldb, const double *beta, double **c, const int *ldc, const int *groups,
                  const int *sizes) {
  (void)transa, (void)transb;
  cblas_dgemm_batch(0, NULL, NULL, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, *groups, sizes);
}

void cblas_dgemm_batch_strided(int layout, int transa, int transb, int m, int n, int k,
                               double alpha, const double *a, int lda, int stride_a,
                               const double *b, int ldb, int stride_b, double beta, double *c,
                               int ldc, int stride_c, int size) {
  (void)transa, (void)transb;
  batch_calls++;
  for (int i = 0; i < size; i++)
    product(layout == ROW_MAJOR, m, n, k, alpha, a + i * stride_a, lda, b + i * stride_b, ldb, beta,
            c + i * stride_c, ldc);
}

void dgemm_batch_strided_(const char *transa, const char *transb, const int *m, const int *n,
                          const int *k, const double *alpha, const double *a, const int *lda,
                          const int *stride_a, const double *b, const int *ldb, const int *stride_b,
                          const double *beta, double *c, const int *ldc, const int *stride_c,
                          const int *size) {
  (void)transa, (void)transb;
  cblas_dgemm_batch_strided(0, 0, 0, *m, *n, *k, *alpha, a, *lda, *stride_a, b, *ldb, *stride_b,
                            *beta, c, *ldc, *stride_c, *size);
}
