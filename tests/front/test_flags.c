/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Flags as programs give them: letters in either case and CBLAS's values, which mean the same; and
 * what is refused, with CBLAS's name of it. */
#include "front.h"

#include "base/flags.h"

enum { N = 20 };

/* Source: cblas.h. */
enum {
  ROW_MAJOR = 101,
  COL_MAJOR = 102,
  NO_TRANS = 111,
  TRANS = 112,
  CONJ_TRANS = 113,
  CONJ_NO_TRANS = 114,
  UPPER = 121,
  LOWER = 122,
  NON_UNIT = 131,
  UNIT = 132,
  LEFT = 141,
  RIGHT = 142
};

static void each_value_has_one_letter(void **state) {
  (void)state;
  static const struct {
    tsr_flag flag;
    int value, letter;
  } cases[] = {
      {TSR_FLAG_LAYOUT, ROW_MAJOR, TSR_ROW_MAJOR},
      {TSR_FLAG_LAYOUT, COL_MAJOR, TSR_COL_MAJOR},
      {TSR_FLAG_LAYOUT, 'r', TSR_ROW_MAJOR},
      {TSR_FLAG_LAYOUT, 'c', TSR_COL_MAJOR},
      {TSR_FLAG_OP, NO_TRANS, TSR_NO_TRANS},
      {TSR_FLAG_OP, TRANS, TSR_TRANS},
      {TSR_FLAG_OP, CONJ_TRANS, TSR_CONJ_TRANS},
      {TSR_FLAG_OP, 'n', TSR_NO_TRANS},
      {TSR_FLAG_OP, 't', TSR_TRANS},
      {TSR_FLAG_OP, 'c', TSR_CONJ_TRANS},
      {TSR_FLAG_OP, CONJ_NO_TRANS, CONJ_NO_TRANS},
      {TSR_FLAG_OP, UPPER, UPPER},
      {TSR_FLAG_SIDE, LEFT, TSR_LEFT},
      {TSR_FLAG_SIDE, RIGHT, TSR_RIGHT},
      {TSR_FLAG_SIDE, 'l', TSR_LEFT},
      {TSR_FLAG_SIDE, 'r', TSR_RIGHT},
      {TSR_FLAG_UPLO, UPPER, TSR_UPPER},
      {TSR_FLAG_UPLO, LOWER, TSR_LOWER},
      {TSR_FLAG_UPLO, 'u', TSR_UPPER},
      {TSR_FLAG_UPLO, 'l', TSR_LOWER},
      {TSR_FLAG_UPLO, 'g', TSR_GENERAL},
      {TSR_FLAG_UPLO, 0, 0},
      {TSR_FLAG_DIAG, NON_UNIT, TSR_NON_UNIT},
      {TSR_FLAG_DIAG, UNIT, TSR_UNIT},
      {TSR_FLAG_DIAG, 'n', TSR_NON_UNIT},
      {TSR_FLAG_DIAG, 'u', TSR_UNIT},
      {TSR_FLAG_DIAG, 'x', 'x'},
      {TSR_FLAG_SIDE, -1, -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(tsr_flag_letter(cases[i].flag, cases[i].value), cases[i].letter);
  for (int letter = 'A'; letter <= 'Z'; letter++) /* letters of tessera.h stay as they are */
    for (int flag = TSR_FLAG_LAYOUT; flag <= TSR_FLAG_DIAG; flag++)
      assert_int_equal(tsr_flag_letter((tsr_flag)flag, letter), letter);
}

/* The same call by letters, by CBLAS's values and in lower case. */
static void calls_take_them(void **state) {
  (void)state;
  static const tsr_level3 ways[] = {
      {.operation = TSR_TRMM,
       .layout = TSR_ROW_MAJOR,
       .side = TSR_RIGHT,
       .uplo = TSR_UPPER,
       .transa = TSR_TRANS,
       .diag = TSR_UNIT},
      {.operation = TSR_TRMM,
       .layout = (tsr_layout)ROW_MAJOR,
       .side = (tsr_side)RIGHT,
       .uplo = (tsr_uplo)UPPER,
       .transa = (tsr_op)TRANS,
       .diag = (tsr_diag)UNIT},
      {.operation = TSR_TRMM,
       .layout = (tsr_layout)'r',
       .side = (tsr_side)'r',
       .uplo = (tsr_uplo)'u',
       .transa = (tsr_op)'t',
       .diag = (tsr_diag)'u'},
  };
  tsr_context *context = front_context();
  double *a = front_matrix(N * N, 1), *expected = front_matrix(N * N, 2);
  const double one = 1;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    tsr_level3 what = ways[i];
    double *b = front_matrix(N * N, 2);
    what.type = TSR_D, what.m = what.n = N, what.lda = what.ldc = N;
    assert_ok(tsr_level3_run(context, &what, &one, a, NULL, NULL, i == 0 ? expected : b));
    if (i > 0) front_assert_equal(b, expected, N * N);
    free(b);
  }
  assert_ok(tsr_coherent(context, (tsr_uplo)UPPER, N, N, a, N, TSR_D));
  tsr_context_destroy(context);
  free(a), free(expected);
}

static tsr_status gemm(tsr_context *context, int layout, int transa, int transb) {
  static double a[N * N], c[N * N];
  return tsr_dgemm(context, (tsr_layout)layout, (tsr_op)transa, (tsr_op)transb, N, N, N, 1, a, N, a,
                   N, 0, c, N);
}

static void others_are_refused(void **state) {
  (void)state;
  tsr_context *context = front_context();
  double c[1] = {0};
  assert_ok(gemm(context, COL_MAJOR, CONJ_TRANS, 'n'));
  assert_refused(gemm(context, COL_MAJOR, CONJ_NO_TRANS, NO_TRANS), TSR_ERR_ARGUMENT,
                 "transa = 114, which is CblasConjNoTrans of CBLAS: give TSR_NO_TRANS");
  assert_refused(gemm(context, NO_TRANS, COL_MAJOR, NO_TRANS), TSR_ERR_ARGUMENT,
                 "layout = 111, which is CblasNoTrans of CBLAS: give TSR_COL_MAJOR");
  assert_refused(gemm(context, COL_MAJOR, NO_TRANS, LEFT), TSR_ERR_ARGUMENT,
                 "transb = 141, which is CblasLeft of CBLAS");
  assert_refused(gemm(context, COL_MAJOR, 'x', NO_TRANS), TSR_ERR_ARGUMENT, "transa = 120: give");
  assert_refused(tsr_coherent(context, (tsr_uplo)UNIT, 1, 1, c, 1, TSR_D), TSR_ERR_ARGUMENT,
                 "uplo is 132, which is CblasUnit of CBLAS; give TSR_GENERAL");
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_value_has_one_letter),
      cmocka_unit_test(calls_take_them),
      cmocka_unit_test(others_are_refused),
  };
  front_clear_environment();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
