/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The symbols of batches of products, Fortran's and CBLAS's: dgemm_batch_, cblas_dgemm_batch,
 * dgemm_batch_strided_ and cblas_dgemm_batch_strided with 32-bit integers, with a suffix with
 * 64-bit ones; each also with the prefix of the BLAS in Python's wheels.
 */
#include "front/doors/batch.h"
#include "front/doors/signatures.h"
#include "front/doors/table.h"

/* The bytes of a number of each type. */
enum { BYTES_TSR_S = 4, BYTES_TSR_D = 8, BYTES_TSR_C = 8, BYTES_TSR_Z = 16 };

/* A symbol. FORM is how it takes its arguments: FORM_PARAMETERS(INT, ALPHA) are its parameters,
 * FORM_ARGUMENTS passes them on, FORM_LOCALS(INT) are variables for FORM_FIELDS(ALPHA), the fields
 * of tsr_door_batch, and FORM_REST(INT, ALPHA) are the arguments for what tsr_door_batch_rest
 * gives. */
#define BATCH(FORM, type_, symbol_, INT, ALPHA)                                                  \
  TSR_API void symbol_(FORM##_PARAMETERS(INT, ALPHA));                                           \
  static void symbol_##_full(FORM##_PARAMETERS(INT, ALPHA));                                     \
  static void symbol_##_guided(FORM##_PARAMETERS(INT, ALPHA));                                   \
  typedef void (*symbol_##_routine)(FORM##_PARAMETERS(INT, ALPHA));                              \
  static tsr_door symbol_##_door = TSR_DOOR_OF_ANY_SIZE(#symbol_, symbol_);                      \
  void symbol_(FORM##_PARAMETERS(INT, ALPHA)) {                                                  \
    ((symbol_##_routine)tsr_door_way(&symbol_##_door))(FORM##_ARGUMENTS);                        \
  }                                                                                              \
  static void symbol_##_guided(FORM##_PARAMETERS(INT, ALPHA)) {                                  \
    ((symbol_##_routine)tsr_door_by_caller(&symbol_##_door, TSR_DOOR_CALLER))(FORM##_ARGUMENTS); \
  }                                                                                              \
  static void symbol_##_full(FORM##_PARAMETERS(INT, ALPHA)) {                                    \
    enum { BYTES = BYTES_##type_ };                                                              \
    FORM##_LOCALS(INT) tsr_door_batch batch = {.type = type_,                                    \
                                               .element = BYTES,                                 \
                                               .wide = sizeof(INT) == sizeof(int64_t),           \
                                               FORM##_FIELDS(ALPHA)};                            \
    tsr_door_routine next = tsr_door_batch_enter(&symbol_##_door, &batch, TSR_DOOR_CALLER);      \
    while (tsr_door_batch_rest(&batch)) ((symbol_##_routine)next)(FORM##_REST(INT, ALPHA));      \
  }

/* The address of an integer for the next, which reads 32 bits or 64: on a little-endian processor
 * both find the same value. (MKL may expect 64-bit integers under the names without a suffix.) */
#define NUMBER(x) ((const void *)&(int64_t){x})
/* What lies this many numbers behind an address. */
#define BEHIND(address, numbers) ((const char *)(address) + (numbers)*BYTES)
#define BEHIND_C(numbers) ((char *)c + (numbers)*BYTES)

/* ---- Fortran, in groups ---- */

#define FORTRAN_GROUPS_PARAMETERS(INT, ALPHA)                                              \
  const char *transa, const char *transb, const INT *m, const INT *n, const INT *k,        \
      const void *alpha, const void *const *a, const INT *lda, const void *const *b,       \
      const INT *ldb, const void *beta, void *const *c, const INT *ldc, const INT *groups, \
      const INT *sizes, size_t length1, size_t length2
#define FORTRAN_GROUPS_ARGUMENTS \
  transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes, length1, length2
#define FORTRAN_GROUPS_LOCALS(INT)
#define GROUPS_FIELDS                                                                             \
  .transa = transa, .transb = transb, .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc, \
  .sizes = sizes, .alpha = alpha, .beta = beta, .a = a, .b = b, .c = c
#define FORTRAN_GROUPS_FIELDS(ALPHA) .layout = TSR_COL_MAJOR, .groups = *groups, GROUPS_FIELDS
#define GROUPS_REST                                                                              \
  transa + batch.group, transb + batch.group, m + batch.group, n + batch.group, k + batch.group, \
      BEHIND(alpha, batch.group), a + batch.product, lda + batch.group, b + batch.product,       \
      ldb + batch.group, BEHIND(beta, batch.group), c + batch.product, ldc + batch.group
#define FORTRAN_GROUPS_REST(INT, ALPHA)                                                        \
  GROUPS_REST, NUMBER(batch.count), batch.size > 0 ? NUMBER(batch.size) : sizes + batch.group, \
      length1, length2

/* ---- CBLAS, in groups ---- */

#define CBLAS_GROUPS_PARAMETERS(INT, ALPHA)                                                   \
  int layout, const int *transa, const int *transb, const INT *m, const INT *n, const INT *k, \
      const void *alpha, const void *const *a, const INT *lda, const void *const *b,          \
      const INT *ldb, const void *beta, void *const *c, const INT *ldc, int64_t groups,       \
      const INT *sizes
#define CBLAS_GROUPS_ARGUMENTS \
  layout, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, sizes
#define CBLAS_GROUPS_LOCALS(INT) const INT number_of_groups = (INT)groups;
#define CBLAS_GROUPS_FIELDS(ALPHA) \
  .layout = tsr_cblas_layout(layout), .cblas = true, .groups = number_of_groups, GROUPS_FIELDS
#define CBLAS_GROUPS_REST(INT, ALPHA) \
  layout, GROUPS_REST, batch.count, batch.size > 0 ? NUMBER(batch.size) : sizes + batch.group

/* ---- Fortran, at distances: one group ---- */

#define FORTRAN_STRIDES_PARAMETERS(INT, ALPHA)                                              \
  const char *transa, const char *transb, const INT *m, const INT *n, const INT *k,         \
      const void *alpha, const void *a, const INT *lda, const INT *stride_a, const void *b, \
      const INT *ldb, const INT *stride_b, const void *beta, void *c, const INT *ldc,       \
      const INT *stride_c, const INT *size, size_t length1, size_t length2
#define FORTRAN_STRIDES_ARGUMENTS                                                             \
  transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, \
      size, length1, length2
#define FORTRAN_STRIDES_LOCALS(INT)
#define FORTRAN_STRIDES_FIELDS(ALPHA)                                                       \
  .layout = TSR_COL_MAJOR, .groups = 1, .transa = transa, .transb = transb, .m = m, .n = n, \
  .k = k, .lda = lda, .ldb = ldb, .ldc = ldc, .sizes = size, .alpha = alpha, .beta = beta,  \
  .first_a = a, .first_b = b, .first_c = c, .stride_a = *stride_a, .stride_b = *stride_b,   \
  .stride_c = *stride_c
#define FORTRAN_STRIDES_REST(INT, ALPHA)                                              \
  transa, transb, m, n, k, alpha, BEHIND(a, batch.product **stride_a), lda, stride_a, \
      BEHIND(b, batch.product **stride_b), ldb, stride_b, beta,                       \
      BEHIND_C(batch.product **stride_c), ldc, stride_c,                              \
      batch.size > 0 ? NUMBER(batch.size) : size, length1, length2

/* ---- CBLAS, at distances ---- */

#define CBLAS_STRIDES_PARAMETERS(INT, ALPHA)                                                      \
  int layout, int transa, int transb, int64_t m, int64_t n, int64_t k, CBLAS_TAKE_##ALPHA alpha,  \
      const void *a, int64_t lda, int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, \
      CBLAS_TAKE_##ALPHA beta, void *c, int64_t ldc, int64_t stride_c, int64_t size
#define CBLAS_STRIDES_ARGUMENTS                                                             \
  layout, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, \
      stride_c, size
#define CBLAS_STRIDES_LOCALS(INT)                                                     \
  enum { M, N, K, LDA, LDB, LDC, SIZE };                                              \
  const INT of[] = {(INT)m, (INT)n, (INT)k, (INT)lda, (INT)ldb, (INT)ldc, (INT)size}; \
  const int64_t distance[] = {(INT)stride_a, (INT)stride_b, (INT)stride_c};
#define CBLAS_STRIDES_FIELDS(ALPHA)                                                           \
  .layout = tsr_cblas_layout(layout), .cblas = true, .groups = 1, .transa = &transa,          \
  .transb = &transb, .m = &of[M], .n = &of[N], .k = &of[K], .lda = &of[LDA], .ldb = &of[LDB], \
  .ldc = &of[LDC], .sizes = &of[SIZE], .alpha = CBLAS_ADDRESS_##ALPHA(alpha),                 \
  .beta = CBLAS_ADDRESS_##ALPHA(beta), .first_a = a, .first_b = b, .first_c = c,              \
  .stride_a = distance[0], .stride_b = distance[1], .stride_c = distance[2]
#define CBLAS_STRIDES_REST(INT, ALPHA)                                                          \
  layout, transa, transb, m, n, k, alpha, BEHIND(a, batch.product *distance[0]), lda, stride_a, \
      BEHIND(b, batch.product *distance[1]), ldb, stride_b, beta,                               \
      BEHIND_C(batch.product *distance[2]), ldc, stride_c, batch.size > 0 ? batch.size : size

#define TSR_DOOR_EACH(form, name, operation, letter, type, alpha, beta)   \
  BATCH(FORTRAN_##form, type, letter##name##_, int32_t, alpha)            \
  BATCH(FORTRAN_##form, type, letter##name##_64_, int64_t, alpha)         \
  BATCH(FORTRAN_##form, type, scipy_##letter##name##_, int32_t, alpha)    \
  BATCH(FORTRAN_##form, type, scipy_##letter##name##_64_, int64_t, alpha) \
  BATCH(CBLAS_##form, type, cblas_##letter##name, int32_t, alpha)         \
  BATCH(CBLAS_##form, type, cblas_##letter##name##64_, int64_t, alpha)    \
  BATCH(CBLAS_##form, type, scipy_cblas_##letter##name, int32_t, alpha)   \
  BATCH(CBLAS_##form, type, scipy_cblas_##letter##name##64_, int64_t, alpha)

TSR_DOORS_OF_BATCHES
