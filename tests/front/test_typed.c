/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Routines with the type in their name: each does what the routine does that takes the type. */
#include "front.h"

#include <stdbool.h>

enum { N = 12, K = 7, LD = 14, ROOM = LD * LD * 2 /* doubles */ };

/* Matrices of each test as numbers of the type; whole, so that both ways are exact. */
typedef union matrix {
  float s[ROOM];
  double d[ROOM];
} matrix;

typedef struct problem {
  tsr_context *context;
  matrix a, b, c, expected;
  float salpha, sbeta, calpha[2], cbeta[2];
  double dalpha, dbeta, zalpha[2], zbeta[2];
} problem;

static void fill(tsr_type type, matrix *x, int seed) {
  bool single = type == TSR_S || type == TSR_C;
  for (int i = 0; i < ROOM; i++) {
    double value = (double)((i * 7 + seed * 13) % 11 - 5);
    if (single)
      x->s[i] = (float)value;
    else
      x->d[i] = value;
  }
}

static problem *begin(void) {
  static problem p;
  p = (problem){.context = front_context(),
                .salpha = 2,
                .sbeta = -1,
                .dalpha = 2,
                .dbeta = -1,
                .calpha = {1, 2},
                .cbeta = {2, -1},
                .zalpha = {1, 2},
                .zbeta = {2, -1}};
  return &p;
}

static void end(problem *p) {
  tsr_context_destroy(p->context);
}

/* The unit triangles that trsm divides by have small elements. */
static void again(problem *p, tsr_type type) {
  fill(type, &p->a, 1), fill(type, &p->b, 2);
  fill(type, &p->c, 3), fill(type, &p->expected, 3);
}

/* What the call by data makes of the same. B of trmm and trsm is c. */
static void expect(problem *p, const tsr_level3 *what, const void *alpha, const void *beta) {
  assert_ok(tsr_level3_run(p->context, what, alpha, &p->a, &p->b, beta, &p->expected));
}

static void check(problem *p, const char *name) {
  if (memcmp(&p->c, &p->expected, sizeof p->c) != 0) fail_msg("%s: another result", name);
}

/* Brings what an asynchronous call has left of C home, and forgets the matrices. */
static tsr_status take_home(problem *p, tsr_type type) {
  tsr_status status = tsr_coherent_async(p->context, TSR_GENERAL, LD, N, &p->c, LD, type);
  if (status == TSR_OK) status = tsr_sync(p->context);
  return status == TSR_OK ? tsr_release(p->context, 0, 0, NULL, 1, type) : status;
}

/* Calls a routine and its asynchronous one with the same arguments. */
#define TRY(name, type, what, alpha, beta, arguments) \
  do {                                                \
    again(p, type);                                   \
    expect(p, &(what), alpha, beta);                  \
    assert_ok(name arguments);                        \
    check(p, #name);                                  \
    again(p, type);                                   \
    expect(p, &(what), alpha, beta);                  \
    assert_ok(name##_async arguments);                \
    assert_ok(take_home(p, type));                    \
    check(p, #name "_async");                         \
  } while (0)

/* The routine's call as data; flags and extents differ, so that none can take another's place. */
static tsr_level3 described(tsr_operation operation, tsr_type type, tsr_op transa, int64_t m,
                            int64_t n, int64_t k) {
  return (tsr_level3){.operation = operation,
                      .type = type,
                      .layout = TSR_COL_MAJOR,
                      .side = TSR_RIGHT,
                      .uplo = TSR_UPPER,
                      .transa = transa,
                      .transb = TSR_TRANS,
                      .diag = TSR_UNIT,
                      .m = m,
                      .n = n,
                      .k = k,
                      .lda = LD,
                      .ldb = LD,
                      .ldc = LD};
}

#define GEMM(letter, type, va, vb, A, B, C)                                                        \
  do {                                                                                             \
    tsr_level3 what = described(TSR_GEMM, type, TSR_NO_TRANS, N, N - 3, K);                        \
    TRY(tsr_##letter##gemm, type, what, &p->letter##alpha, &p->letter##beta,                       \
        (p->context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_TRANS, N, N - 3, K, va, A, LD, B, LD, vb, C, \
         LD));                                                                                     \
    what = described(TSR_GEMMT, type, TSR_NO_TRANS, 0, N, K);                                      \
    TRY(tsr_##letter##gemmt, type, what, &p->letter##alpha, &p->letter##beta,                      \
        (p->context, TSR_COL_MAJOR, TSR_UPPER, TSR_NO_TRANS, TSR_TRANS, N, K, va, A, LD, B, LD,    \
         vb, C, LD));                                                                              \
  } while (0)

#define SIDED(letter, routine, operation, type, va, vb, A, B, C)                                   \
  do {                                                                                             \
    tsr_level3 what = described(operation, type, TSR_NO_TRANS, N, N - 3, 0);                       \
    TRY(tsr_##letter##routine, type, what, &p->letter##alpha, &p->letter##beta,                    \
        (p->context, TSR_COL_MAJOR, TSR_RIGHT, TSR_UPPER, N, N - 3, va, A, LD, B, LD, vb, C, LD)); \
  } while (0)

/* pa, pb: the addresses of the scalars. */
#define RANK_K(letter, routine, operation, type, trans, pa, pb, va, vb, A, C)       \
  do {                                                                              \
    tsr_level3 what = described(operation, type, trans, 0, N, K);                   \
    TRY(tsr_##letter##routine, type, what, pa, pb,                                  \
        (p->context, TSR_COL_MAJOR, TSR_UPPER, trans, N, K, va, A, LD, vb, C, LD)); \
  } while (0)

#define RANK_2K(letter, routine, operation, type, trans, pa, pb, va, vb, A, B, C)          \
  do {                                                                                     \
    tsr_level3 what = described(operation, type, trans, 0, N, K);                          \
    TRY(tsr_##letter##routine, type, what, pa, pb,                                         \
        (p->context, TSR_COL_MAJOR, TSR_UPPER, trans, N, K, va, A, LD, B, LD, vb, C, LD)); \
  } while (0)

#define TRIANGULAR(letter, routine, operation, type, va, A, C)                                  \
  do {                                                                                          \
    tsr_level3 what = described(operation, type, TSR_TRANS, N - 3, N, 0);                       \
    TRY(tsr_##letter##routine, type, what, &p->letter##alpha, NULL,                             \
        (p->context, TSR_COL_MAJOR, TSR_RIGHT, TSR_UPPER, TSR_TRANS, TSR_UNIT, N - 3, N, va, A, \
         LD, C, LD));                                                                           \
  } while (0)

/* The routines of all types. */
#define EVERY(letter, type, va, vb, A, B, C)                                                     \
  do {                                                                                           \
    GEMM(letter, type, va, vb, A, B, C);                                                         \
    SIDED(letter, symm, TSR_SYMM, type, va, vb, A, B, C);                                        \
    RANK_K(letter, syrk, TSR_SYRK, type, TSR_TRANS, &p->letter##alpha, &p->letter##beta, va, vb, \
           A, C);                                                                                \
    RANK_2K(letter, syr2k, TSR_SYR2K, type, TSR_TRANS, &p->letter##alpha, &p->letter##beta, va,  \
            vb, A, B, C);                                                                        \
    TRIANGULAR(letter, trmm, TSR_TRMM, type, va, A, C);                                          \
    TRIANGULAR(letter, trsm, TSR_TRSM, type, va, A, C);                                          \
  } while (0)

static void test_real(void **state) {
  (void)state;
  problem *p = begin();
  EVERY(s, TSR_S, p->salpha, p->sbeta, p->a.s, p->b.s, p->c.s);
  EVERY(d, TSR_D, p->dalpha, p->dbeta, p->a.d, p->b.d, p->c.d);
  end(p);
}

static void test_complex(void **state) {
  (void)state;
  problem *p = begin();
  EVERY(c, TSR_C, p->calpha, p->cbeta, &p->a, &p->b, &p->c);
  EVERY(z, TSR_Z, p->zalpha, p->zbeta, &p->a, &p->b, &p->c);
  end(p);
}

static void test_hermitian(void **state) {
  (void)state;
  problem *p = begin();
  SIDED(c, hemm, TSR_HEMM, TSR_C, p->calpha, p->cbeta, &p->a, &p->b, &p->c);
  SIDED(z, hemm, TSR_HEMM, TSR_Z, p->zalpha, p->zbeta, &p->a, &p->b, &p->c);
  RANK_K(c, herk, TSR_HERK, TSR_C, TSR_CONJ_TRANS, &p->salpha, &p->sbeta, p->salpha, p->sbeta,
         &p->a, &p->c);
  RANK_K(z, herk, TSR_HERK, TSR_Z, TSR_CONJ_TRANS, &p->dalpha, &p->dbeta, p->dalpha, p->dbeta,
         &p->a, &p->c);
  RANK_2K(c, her2k, TSR_HER2K, TSR_C, TSR_CONJ_TRANS, p->calpha, &p->sbeta, p->calpha, p->sbeta,
          &p->a, &p->b, &p->c);
  RANK_2K(z, her2k, TSR_HER2K, TSR_Z, TSR_CONJ_TRANS, p->zalpha, &p->dbeta, p->zalpha, p->dbeta,
          &p->a, &p->b, &p->c);
  end(p);
}

/* An error is the called routine's. */
static void test_refusals(void **state) {
  (void)state;
  problem *p = begin();
  assert_refused(tsr_zher2k(p->context, TSR_COL_MAJOR, TSR_UPPER, TSR_TRANS, N, K, p->zalpha, &p->a,
                            LD, &p->b, LD, 1, &p->c, LD),
                 TSR_ERR_ARGUMENT, "her2k: trans");
  assert_refused(tsr_ctrsm_async(p->context, TSR_COL_MAJOR, TSR_LEFT, TSR_UPPER, TSR_TRANS,
                                 TSR_UNIT, N, N, p->calpha, &p->a, 1, &p->c, LD),
                 TSR_ERR_ARGUMENT, "trsm: lda");
  end(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_real),
      cmocka_unit_test(test_complex),
      cmocka_unit_test(test_hermitian),
      cmocka_unit_test(test_refusals),
  };
  front_clear_environment();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
