/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tools/common/elements.c and verify.c: that a right product passes the check, and a wrong one, by
 * as little as one entry, does not. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "finite.h"
#include "operand.h"
#include "random.h"
#include "verify.h"

static const char all_types[] = "sdczhb";

static void test_16_bit(void **state) {
  (void)state;
  for (int type = 0; type < 2; type++) {
    tsr_type t = type ? TSR_B : TSR_H;
    for (uint32_t bits = 0; bits < 65536; bits++) {
      uint16_t in = (uint16_t)bits, out;
      double re, im;
      element_load(t, &in, 0, 1, &re, &im);
      element_store(t, &out, 0, 1, &re, &im);
      if (!isnan(re)) assert_int_equal(in, out);
    }
  }
  const double values[] = {1, 65504, 65519, 65520, 1 + 0x1p-11, 1 + 3 * 0x1p-11, 0x1p-25, 0x1p-24};
  const uint16_t halves[] = {0x3c00, 0x7bff, 0x7bff, 0x7c00, 0x3c00, 0x3c02, 0, 1};
  uint16_t out[8];
  element_store(TSR_H, out, 0, 8, values, values);
  for (int i = 0; i < 8; i++) assert_int_equal(out[i], halves[i]);
}

/* Elements as stored, by the slow way. */
static double complex get(const matrix_view *m, int64_t row, int64_t col) {
  double re, im;
  element_load(m->type, m->data, row * m->row_stride + col * m->col_stride, 1, &re, &im);
  return re + (m->conj ? -im : im) * I;
}

static matrix_view fresh(tsr_type type, bool column_major, int64_t rows, int64_t cols,
                         uint64_t seed) {
  void *data = malloc((size_t)(rows * cols) * element_size(type) + 1);
  random_fill(type, seed, 0, rows * cols, data);
  return matrix_of(type, data, column_major, rows, cols);
}

static void test_copies(void **state) {
  (void)state;
  for (const char *t = all_types; *t; t++) {
    for (int orders = 0; orders < 4; orders++) {
      matrix_view from = fresh((tsr_type)*t, orders & 1, 130, 67, 5);
      matrix_view to = fresh((tsr_type)*t, orders & 2, 130, 67, 6);
      from.conj = true;
      matrix_copy(to, from);
      for (int64_t i = 0; i < 130; i++) {
        for (int64_t j = 0; j < 67; j++) assert_true(get(&from, i, j) == get(&to, i, j));
      }
      free((void *)from.data);
      free((void *)to.data);
    }
  }
}

typedef struct shape {
  int64_t m, n, k;
} shape;

/* C = alpha A B + beta C0 with sums in double. */
static void multiply(const verify_problem *p) {
  double complex alpha = p->alpha.re + p->alpha.im * I, beta = p->beta.re + p->beta.im * I;
  for (int64_t i = 0; i < p->c.rows; i++) {
    for (int64_t j = 0; j < p->c.cols; j++) {
      double complex sum = 0;
      for (int64_t l = 0; l < p->a.cols; l++) sum += get(&p->a, i, l) * get(&p->b, l, j);
      sum = alpha * sum + beta * get(&p->c0, i, j);
      double re = creal(sum), im = cimag(sum);
      element_store(p->c.type, (void *)p->c.data, i * p->c.row_stride + j * p->c.col_stride, 1, &re,
                    &im);
    }
  }
}

/* By more than rounding can do to a row, and no more than that. */
static void spoil(const matrix_view *c, int64_t index) {
  double re, im;
  element_load(c->type, c->data, index, 1, &re, &im);
  re += element_size(c->type) == 2 ? 4 : c->type == TSR_S || c->type == TSR_C ? 0.1 : 1e-8;
  element_store(c->type, (void *)c->data, index, 1, &re, &im);
}

static void check_type(tsr_type type, int flags) {
  const shape s = {37, 300, 29};
  tsr_op op = element_is_complex(type) ? TSR_CONJ_TRANS : TSR_TRANS;
  matrix_view a = fresh(type, flags & 1, s.k, s.m, 1);
  matrix_view b = fresh(type, flags & 2, s.k, s.n, 2);
  verify_problem p = {.a = matrix_op(a, op),
                      .b = b,
                      .c0 = fresh(type, flags & 2, s.m, s.n, 3),
                      .c = fresh(type, flags & 4, s.m, s.n, 4),
                      .type = type,
                      .alpha = {1.25, element_is_complex(type) ? 0.5 : 0},
                      .beta = {-0.75, 0}};
  verify_result result;
  multiply(&p);
  assert_true(verify_product(&p, &result));
  if (!result.good) fail_msg("%c: %g above %g", (char)type, result.residual, result.bound);
  spoil(&p.c, s.m * s.n - 1);
  assert_true(verify_product(&p, &result));
  assert_false(result.good);
  free((void *)a.data);
  free((void *)b.data);
  free((void *)p.c.data);
  free((void *)p.c0.data);
}

static void test_verify(void **state) {
  (void)state;
  for (const char *t = all_types; *t; t++) {
    for (int flags = 0; flags < 8; flags++) check_type((tsr_type)*t, flags);
  }
}

/* What BLAS does not read may hold NaN; what it must overwrite may not keep it. */
static void test_verify_nan(void **state) {
  (void)state;
  double a[4] = {1, 2, 3, 4}, c0[4] = {NAN, NAN, NAN, NAN}, c[4] = {7, 10, 15, 22};
  matrix_view m = matrix_of(TSR_D, a, false, 2, 2);
  verify_problem p = {.a = m,
                      .b = m,
                      .c0 = matrix_of(TSR_D, c0, false, 2, 2),
                      .c = matrix_of(TSR_D, c, false, 2, 2),
                      .type = TSR_D,
                      .alpha = {1, 0}};
  verify_result result;
  assert_true(verify_product(&p, &result) && result.good);
  c[2] = NAN;
  assert_true(verify_product(&p, &result) && !result.good);
}

/* Rows and columns that NaN of the inputs reach are left out; an error elsewhere is found. */
static void check_skipped(int flags) {
  const shape s = {20, 300, 17};
  bool rows[20] = {[3] = true}, cols[300] = {[11] = true};
  matrix_view a = fresh(TSR_D, flags & 1, s.m, s.k, 1), b = fresh(TSR_D, flags & 2, s.k, s.n, 2);
  verify_problem p = {.a = a,
                      .b = b,
                      .c0 = fresh(TSR_D, false, s.m, s.n, 3),
                      .c = fresh(TSR_D, flags & 4, s.m, s.n, 4),
                      .type = TSR_D,
                      .alpha = {1, 0},
                      .skip_rows = rows,
                      .skip_cols = cols};
  verify_result result;
  const double nan = NAN, none = 0;
  multiply(&p);
  int64_t at = 2 * p.c.row_stride + 3 * p.c.col_stride;
  element_store(TSR_D, (void *)a.data, 3 * a.row_stride, 1, &nan, &none);
  element_store(TSR_D, (void *)b.data, 11 * b.col_stride, 1, &nan, &none);
  for (int64_t i = 0; i < s.m; i++)
    element_store(TSR_D, (void *)p.c.data, i * p.c.row_stride + 11 * p.c.col_stride, 1, &nan,
                  &none);
  assert_true(verify_product(&p, &result) && result.good);
  spoil(&p.c, at);
  assert_true(verify_product(&p, &result) && !result.good);
  element_store(TSR_D, (void *)p.c.data, at, 1, &nan, &none);
  assert_true(verify_product(&p, &result) && !result.good);
  free((void *)a.data);
  free((void *)b.data);
  free((void *)p.c.data);
  free((void *)p.c0.data);
}

static void test_skipped(void **state) {
  (void)state;
  for (int flags = 0; flags < 8; flags++) check_skipped(flags);
}

static void check_found(bool column_major) {
  enum { ROWS = 300, COLS = 700 };
  static double data[ROWS * COLS];
  memset(data, 0, sizeof data);
  matrix_view m = matrix_of(TSR_D, data, column_major, ROWS, COLS);
  assert_int_equal(nonfinite_find(&m, NULL, NULL).count, 0);
  data[100 * m.row_stride + 699 * m.col_stride] = -INFINITY;
  data[101 * m.row_stride + 5 * m.col_stride] = NAN;
  assert_int_equal(nonfinite_find_edge(&m).count, 0);
  bool rows[ROWS] = {false}, cols[COLS] = {false};
  nonfinite found = nonfinite_find(&m, rows, cols);
  assert_int_equal(found.count, 2);
  assert_int_equal(found.row, 100);
  assert_int_equal(found.col, 699);
  assert_true(isinf(found.re) && rows[100] && rows[101] && cols[699] && cols[5] && !cols[6]);
  data[299 * m.row_stride] = NAN;
  assert_int_equal(nonfinite_find_edge(&m).row, 299);
}

static void test_found(void **state) {
  (void)state;
  check_found(false);
  check_found(true);
}

static void test_operand_ops(void **state) {
  (void)state;
  tsr_op op;
  assert_true(operand_op(true, true, TSR_CONJ_TRANS, TSR_Z, &op) && op == TSR_CONJ_TRANS);
  assert_true(operand_op(true, false, TSR_NO_TRANS, TSR_Z, &op) && op == TSR_TRANS);
  assert_true(operand_op(true, false, TSR_TRANS, TSR_Z, &op) && op == TSR_NO_TRANS);
  assert_true(operand_op(false, true, TSR_CONJ_TRANS, TSR_D, &op) && op == TSR_NO_TRANS);
  assert_false(operand_op(false, true, TSR_CONJ_TRANS, TSR_Z, &op));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_16_bit),      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_verify),      cmocka_unit_test(test_verify_nan),
      cmocka_unit_test(test_skipped),     cmocka_unit_test(test_found),
      cmocka_unit_test(test_operand_ops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
