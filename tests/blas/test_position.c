/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The position of the first wrong argument in the Fortran argument list of a BLAS routine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "blas/check.h"

/* A correct call of the operation: m, n, k are 3, 5 and 7, and leading dimensions just suffice in
 * either layout. */
static tsr_level3 right(tsr_operation operation, tsr_type type) {
  return (tsr_level3){.operation = operation,
                      .type = type,
                      .layout = TSR_COL_MAJOR,
                      .side = TSR_LEFT,
                      .uplo = TSR_LOWER,
                      .transa = TSR_NO_TRANS,
                      .transb = TSR_NO_TRANS,
                      .diag = TSR_UNIT,
                      .m = 3,
                      .n = 5,
                      .k = 7,
                      .lda = 7,
                      .ldb = 7,
                      .ldc = 7};
}

static void test_right(void **state) {
  (void)state;
  for (int o = 0; o < TSR_OPERATION_COUNT; o++) {
    tsr_level3 w = right((tsr_operation)o, TSR_Z);
    assert_int_equal(tsr_check_position(&w), 0);
    w.layout = TSR_ROW_MAJOR;
    assert_int_equal(tsr_check_position(&w), 0);
    w.m = w.n = w.k = 0;
    w.lda = w.ldb = w.ldc = 1;
    assert_int_equal(tsr_check_position(&w), 0);
  }
}

typedef struct expectation {
  tsr_operation operation;
  int side, uplo, transa, transb, diag, m, n, k, lda, ldb, ldc;
} expectation;

/* Positions in the argument lists of the reference BLAS; 0: the routine has no such argument. */
static const expectation expected[] = {
    {TSR_GEMM, 0, 0, 1, 2, 0, 3, 4, 5, 8, 10, 13}, {TSR_GEMMT, 0, 1, 2, 3, 0, 0, 4, 5, 8, 10, 13},
    {TSR_SYMM, 1, 2, 0, 0, 0, 3, 4, 0, 7, 9, 12},  {TSR_HEMM, 1, 2, 0, 0, 0, 3, 4, 0, 7, 9, 12},
    {TSR_SYRK, 0, 1, 2, 0, 0, 0, 3, 4, 7, 0, 10},  {TSR_HERK, 0, 1, 2, 0, 0, 0, 3, 4, 7, 0, 10},
    {TSR_SYR2K, 0, 1, 2, 0, 0, 0, 3, 4, 7, 9, 12}, {TSR_HER2K, 0, 1, 2, 0, 0, 0, 3, 4, 7, 9, 12},
    {TSR_TRMM, 1, 2, 3, 0, 4, 5, 6, 0, 9, 0, 11},  {TSR_TRSM, 1, 2, 3, 0, 4, 5, 6, 0, 9, 0, 11},
};

static void test_each_wrong(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const expectation *e = &expected[i];
    tsr_level3 w, good = right(e->operation, TSR_Z);
#define WRONG(field, value)                                                                \
  w = good, w.field = value;                                                               \
  if (tsr_check_position(&w) != e->field)                                                  \
  fail_msg("%s: wrong " #field " is told as %d, not %d", tsr_operation_name(e->operation), \
           tsr_check_position(&w), e->field)
    WRONG(side, (tsr_side)0);
    WRONG(uplo, (tsr_uplo)0);
    WRONG(transa, (tsr_op)0);
    WRONG(transb, (tsr_op)0);
    WRONG(diag, (tsr_diag)0);
    WRONG(m, -1);
    WRONG(n, -1);
    WRONG(k, -1);
    WRONG(lda, 1);
    WRONG(ldb, 1);
    WRONG(ldc, 1);
#undef WRONG
  }
}

/* The first of several wrong arguments counts. */
static void test_first(void **state) {
  (void)state;
  tsr_level3 w = right(TSR_GEMM, TSR_D);
  w.ldc = 0, w.k = -1, w.transb = (tsr_op)0;
  assert_int_equal(tsr_check_position(&w), 2);
  w.transb = TSR_TRANS;
  assert_int_equal(tsr_check_position(&w), 5);
  w.layout = (tsr_layout)0;
  assert_int_equal(tsr_check_position(&w), TSR_POSITION_LAYOUT);
}

/* A complex rank-k update takes either transposition or conjugation, a real one both. */
static void test_rank_k_ops(void **state) {
  (void)state;
  static const struct {
    tsr_operation operation;
    tsr_type type;
    tsr_op op;
    int position;
  } cases[] = {
      {TSR_SYRK, TSR_D, TSR_CONJ_TRANS, 0},  {TSR_SYRK, TSR_Z, TSR_CONJ_TRANS, 2},
      {TSR_SYRK, TSR_Z, TSR_TRANS, 0},       {TSR_HERK, TSR_C, TSR_TRANS, 2},
      {TSR_HERK, TSR_C, TSR_CONJ_TRANS, 0},  {TSR_SYR2K, TSR_S, TSR_CONJ_TRANS, 0},
      {TSR_SYR2K, TSR_C, TSR_CONJ_TRANS, 2}, {TSR_HER2K, TSR_Z, TSR_TRANS, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsr_level3 w = right(cases[i].operation, cases[i].type);
    w.transa = cases[i].op;
    assert_int_equal(tsr_check_position(&w), cases[i].position);
  }
}

/* The least leading dimension is that of the stored matrix in the caller's layout. */
static void test_leading_dimensions(void **state) {
  (void)state;
  tsr_level3 w = right(TSR_GEMM, TSR_D);
  w.lda = 3, w.ldb = 7, w.ldc = 3;
  assert_int_equal(tsr_check_position(&w), 0);
  w.transa = TSR_TRANS;
  assert_int_equal(tsr_check_position(&w), 8);
  w.layout = TSR_ROW_MAJOR, w.ldc = 5, w.ldb = 5;
  assert_int_equal(tsr_check_position(&w), 0);
  w.ldc = 4;
  assert_int_equal(tsr_check_position(&w), 13);
}

/* A matrix and its leading dimension are two arguments. */
static void test_results(void **state) {
  (void)state;
  assert_int_equal(tsr_check_position_of_result(TSR_GEMM), 12);
  assert_int_equal(tsr_check_position_of_result(TSR_TRSM), 10);
  assert_int_equal(tsr_check_position_of_result(TSR_OPERATION_OF(TSR_POTRF)), 3);
  assert_int_equal(tsr_check_position_of_result(TSR_OPERATION_OF_SOLVER(TSR_POTRS)), 6);
  assert_int_equal(tsr_check_position_of_result(TSR_OPERATION_OF_SOLVER(TSR_POSV)), 4);
  assert_int_equal(tsr_check_position_of_result(TSR_OPERATION_OF_SOLVER(TSR_TRTRS)), 8);
  assert_int_equal(tsr_check_position_of_result(TSR_OPERATION_OF_SOLVER(TSR_POTRI)), 3);
  assert_int_equal(tsr_check_position_of_result(TSR_OPERATION_OF_SOLVER(TSR_TRTRI)), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_right),
      cmocka_unit_test(test_each_wrong),
      cmocka_unit_test(test_first),
      cmocka_unit_test(test_rank_k_ops),
      cmocka_unit_test(test_leading_dimensions),
      cmocka_unit_test(test_results),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
