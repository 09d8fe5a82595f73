/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Macros for the argument list of each signature: its parameters, its arguments (to pass them on
 * unchanged), the fields of tsr_level3 and the matrices that they give, and the number of
 * multiplications (see tsr_offload_call). The Fortran and the CBLAS lists use the same names. In
 * Fortran every argument is an address, and the lengths of the flags follow at the end.
 */
#ifndef TSR_FRONT_DOORS_SIGNATURES_H
#define TSR_FRONT_DOORS_SIGNATURES_H

/* Multiplications with a square A on the left (m m n) or the right (m n n) of an m x n matrix. No
 * branch, so that quick compiles to one jump (doors.h). */
static inline double tsr_door_sided(bool left, double m, double n) {
  return m * n * (n + (double)left * (m - n));
}

/* ---- Fortran ---- */

#define FORTRAN_PRODUCT_PARAMETERS(INT)                                                \
  const char *transa, const char *transb, const INT *m, const INT *n, const INT *k,    \
      const void *alpha, const void *a, const INT *lda, const void *b, const INT *ldb, \
      const void *beta, void *c, const INT *ldc, size_t length1, size_t length2
#define FORTRAN_PRODUCT_ARGUMENTS \
  transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length1, length2
#define FORTRAN_PRODUCT_FIELDS                                                             \
  .transa = tsr_door_op(transa), .transb = tsr_door_op(transb), .m = *m, .n = *n, .k = *k, \
  .lda = *lda, .ldb = *ldb, .ldc = *ldc
#define FORTRAN_PRODUCT_MATRICES alpha, a, b, beta, c
#define FORTRAN_PRODUCT_MULTIPLICATIONS ((double)*m * (double)*n * (double)*k)

#define FORTRAN_TRIANGLE_PARAMETERS(INT)                                                \
  const char *uplo, const char *transa, const char *transb, const INT *n, const INT *k, \
      const void *alpha, const void *a, const INT *lda, const void *b, const INT *ldb,  \
      const void *beta, void *c, const INT *ldc, size_t length1, size_t length2, size_t length3
#define FORTRAN_TRIANGLE_ARGUMENTS \
  uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length1, length2, length3
#define FORTRAN_TRIANGLE_FIELDS                                                              \
  .uplo = tsr_door_uplo(uplo), .transa = tsr_door_op(transa), .transb = tsr_door_op(transb), \
  .n = *n, .k = *k, .lda = *lda, .ldb = *ldb, .ldc = *ldc
#define FORTRAN_TRIANGLE_MATRICES alpha, a, b, beta, c
#define FORTRAN_TRIANGLE_MULTIPLICATIONS ((double)*n * (double)*n * (double)*k)

#define FORTRAN_SIDED_PARAMETERS(INT)                                                          \
  const char *side, const char *uplo, const INT *m, const INT *n, const void *alpha,           \
      const void *a, const INT *lda, const void *b, const INT *ldb, const void *beta, void *c, \
      const INT *ldc, size_t length1, size_t length2
#define FORTRAN_SIDED_ARGUMENTS \
  side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, length1, length2
#define FORTRAN_SIDED_FIELDS                                                               \
  .side = tsr_door_side(side), .uplo = tsr_door_uplo(uplo), .m = *m, .n = *n, .lda = *lda, \
  .ldb = *ldb, .ldc = *ldc
#define FORTRAN_SIDED_MATRICES alpha, a, b, beta, c
#define FORTRAN_SIDED_MULTIPLICATIONS tsr_door_sided((*side | 0x20) == 'l', (double)*m, (double)*n)

#define FORTRAN_RANK_K_PARAMETERS(INT)                                                          \
  const char *uplo, const char *trans, const INT *n, const INT *k, const void *alpha,           \
      const void *a, const INT *lda, const void *beta, void *c, const INT *ldc, size_t length1, \
      size_t length2
#define FORTRAN_RANK_K_ARGUMENTS uplo, trans, n, k, alpha, a, lda, beta, c, ldc, length1, length2
#define FORTRAN_RANK_K_FIELDS                                                               \
  .uplo = tsr_door_uplo(uplo), .transa = tsr_door_op(trans), .n = *n, .k = *k, .lda = *lda, \
  .ldc = *ldc
#define FORTRAN_RANK_K_MATRICES alpha, a, NULL, beta, c
#define FORTRAN_RANK_K_MULTIPLICATIONS FORTRAN_TRIANGLE_MULTIPLICATIONS

#define FORTRAN_RANK_2K_PARAMETERS(INT)                                                        \
  const char *uplo, const char *trans, const INT *n, const INT *k, const void *alpha,          \
      const void *a, const INT *lda, const void *b, const INT *ldb, const void *beta, void *c, \
      const INT *ldc, size_t length1, size_t length2
#define FORTRAN_RANK_2K_ARGUMENTS \
  uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length1, length2
#define FORTRAN_RANK_2K_FIELDS                                                              \
  .uplo = tsr_door_uplo(uplo), .transa = tsr_door_op(trans), .n = *n, .k = *k, .lda = *lda, \
  .ldb = *ldb, .ldc = *ldc
#define FORTRAN_RANK_2K_MATRICES alpha, a, b, beta, c
#define FORTRAN_RANK_2K_MULTIPLICATIONS FORTRAN_TRIANGLE_MULTIPLICATIONS

/* The routine writes B, which is the library's C. */
#define FORTRAN_TRIANGULAR_PARAMETERS(INT)                                                     \
  const char *side, const char *uplo, const char *transa, const char *diag, const INT *m,      \
      const INT *n, const void *alpha, const void *a, const INT *lda, void *b, const INT *ldb, \
      size_t length1, size_t length2, size_t length3, size_t length4
#define FORTRAN_TRIANGULAR_ARGUMENTS \
  side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb, length1, length2, length3, length4
#define FORTRAN_TRIANGULAR_FIELDS                                                          \
  .side = tsr_door_side(side), .uplo = tsr_door_uplo(uplo), .transa = tsr_door_op(transa), \
  .diag = tsr_door_diag(diag), .m = *m, .n = *n, .lda = *lda, .ldc = *ldb
#define FORTRAN_TRIANGULAR_MATRICES alpha, a, NULL, NULL, b
#define FORTRAN_TRIANGULAR_MULTIPLICATIONS FORTRAN_SIDED_MULTIPLICATIONS

/* ---- CBLAS ---- */

/* Integers are declared 64 bits wide, so that the whole register or stack place is passed on
 * unchanged: MKL may expect 64-bit integers under the names without a suffix. INT is the type of
 * the integers in our own reading of the call. */

/* The C type in which a scalar is passed, and the expression of its address. */
#define CBLAS_TAKE_float float
#define CBLAS_TAKE_double double
#define CBLAS_TAKE_complex const void *
#define CBLAS_ADDRESS_float(x) &x
#define CBLAS_ADDRESS_double(x) &x
#define CBLAS_ADDRESS_complex(x) x

#define CBLAS_PRODUCT_PARAMETERS(ALPHA, BETA)                                                    \
  int layout, int transa, int transb, int64_t m, int64_t n, int64_t k, CBLAS_TAKE_##ALPHA alpha, \
      const void *a, int64_t lda, const void *b, int64_t ldb, CBLAS_TAKE_##BETA beta, void *c,   \
      int64_t ldc
#define CBLAS_PRODUCT_ARGUMENTS layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define CBLAS_PRODUCT_FIELDS(INT)                                                           \
  .transa = tsr_cblas_op(transa), .transb = tsr_cblas_op(transb), .m = (INT)m, .n = (INT)n, \
  .k = (INT)k, .lda = (INT)lda, .ldb = (INT)ldb, .ldc = (INT)ldc
#define CBLAS_PRODUCT_MATRICES(ALPHA, BETA) \
  CBLAS_ADDRESS_##ALPHA(alpha), a, b, CBLAS_ADDRESS_##BETA(beta), c
#define CBLAS_PRODUCT_MULTIPLICATIONS(INT) ((double)(INT)m * (double)(INT)n * (double)(INT)k)

#define CBLAS_TRIANGLE_PARAMETERS(ALPHA, BETA)                                                  \
  int layout, int uplo, int transa, int transb, int64_t n, int64_t k, CBLAS_TAKE_##ALPHA alpha, \
      const void *a, int64_t lda, const void *b, int64_t ldb, CBLAS_TAKE_##BETA beta, void *c,  \
      int64_t ldc
#define CBLAS_TRIANGLE_ARGUMENTS \
  layout, uplo, transa, transb, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define CBLAS_TRIANGLE_FIELDS(INT)                                                              \
  .uplo = tsr_cblas_uplo(uplo), .transa = tsr_cblas_op(transa), .transb = tsr_cblas_op(transb), \
  .n = (INT)n, .k = (INT)k, .lda = (INT)lda, .ldb = (INT)ldb, .ldc = (INT)ldc
#define CBLAS_TRIANGLE_MATRICES CBLAS_PRODUCT_MATRICES
#define CBLAS_TRIANGLE_MULTIPLICATIONS(INT) ((double)(INT)n * (double)(INT)n * (double)(INT)k)

#define CBLAS_SIDED_PARAMETERS(ALPHA, BETA)                                                      \
  int layout, int side, int uplo, int64_t m, int64_t n, CBLAS_TAKE_##ALPHA alpha, const void *a, \
      int64_t lda, const void *b, int64_t ldb, CBLAS_TAKE_##BETA beta, void *c, int64_t ldc
#define CBLAS_SIDED_ARGUMENTS layout, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc
#define CBLAS_SIDED_FIELDS(INT)                                                         \
  .side = tsr_cblas_side(side), .uplo = tsr_cblas_uplo(uplo), .m = (INT)m, .n = (INT)n, \
  .lda = (INT)lda, .ldb = (INT)ldb, .ldc = (INT)ldc
#define CBLAS_SIDED_MATRICES CBLAS_PRODUCT_MATRICES
#define CBLAS_SIDED_MULTIPLICATIONS(INT) \
  tsr_door_sided(side == TSR_CBLAS_LEFT, (double)(INT)m, (double)(INT)n)

#define CBLAS_RANK_K_PARAMETERS(ALPHA, BETA)                                                      \
  int layout, int uplo, int trans, int64_t n, int64_t k, CBLAS_TAKE_##ALPHA alpha, const void *a, \
      int64_t lda, CBLAS_TAKE_##BETA beta, void *c, int64_t ldc
#define CBLAS_RANK_K_ARGUMENTS layout, uplo, trans, n, k, alpha, a, lda, beta, c, ldc
#define CBLAS_RANK_K_FIELDS(INT)                                                         \
  .uplo = tsr_cblas_uplo(uplo), .transa = tsr_cblas_op(trans), .n = (INT)n, .k = (INT)k, \
  .lda = (INT)lda, .ldc = (INT)ldc
#define CBLAS_RANK_K_MATRICES(ALPHA, BETA) \
  CBLAS_ADDRESS_##ALPHA(alpha), a, NULL, CBLAS_ADDRESS_##BETA(beta), c
#define CBLAS_RANK_K_MULTIPLICATIONS CBLAS_TRIANGLE_MULTIPLICATIONS

#define CBLAS_RANK_2K_PARAMETERS(ALPHA, BETA)                                                     \
  int layout, int uplo, int trans, int64_t n, int64_t k, CBLAS_TAKE_##ALPHA alpha, const void *a, \
      int64_t lda, const void *b, int64_t ldb, CBLAS_TAKE_##BETA beta, void *c, int64_t ldc
#define CBLAS_RANK_2K_ARGUMENTS layout, uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc
#define CBLAS_RANK_2K_FIELDS(INT)                                                        \
  .uplo = tsr_cblas_uplo(uplo), .transa = tsr_cblas_op(trans), .n = (INT)n, .k = (INT)k, \
  .lda = (INT)lda, .ldb = (INT)ldb, .ldc = (INT)ldc
#define CBLAS_RANK_2K_MATRICES CBLAS_PRODUCT_MATRICES
#define CBLAS_RANK_2K_MULTIPLICATIONS CBLAS_TRIANGLE_MULTIPLICATIONS

#define CBLAS_TRIANGULAR_PARAMETERS(ALPHA, BETA)                              \
  int layout, int side, int uplo, int transa, int diag, int64_t m, int64_t n, \
      CBLAS_TAKE_##ALPHA alpha, const void *a, int64_t lda, void *b, int64_t ldb
#define CBLAS_TRIANGULAR_ARGUMENTS layout, side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb
#define CBLAS_TRIANGULAR_FIELDS(INT)                                                          \
  .side = tsr_cblas_side(side), .uplo = tsr_cblas_uplo(uplo), .transa = tsr_cblas_op(transa), \
  .diag = tsr_cblas_diag(diag), .m = (INT)m, .n = (INT)n, .lda = (INT)lda, .ldc = (INT)ldb
#define CBLAS_TRIANGULAR_MATRICES(ALPHA, BETA) CBLAS_ADDRESS_##ALPHA(alpha), a, NULL, NULL, b
#define CBLAS_TRIANGULAR_MULTIPLICATIONS CBLAS_SIDED_MULTIPLICATIONS

#endif
