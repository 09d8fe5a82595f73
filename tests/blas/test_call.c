/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Normalised calls: they are column-major, and fields that an operation does not have are as in an
 * ordinary GEMM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "blas/call.h"

static double one[2] = {1, 0}, other[2] = {2, 3}, zero[2];
static char a, b, c;

typedef struct normal {
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
} normal;

static normal normalise(const tsr_level3 *what, const void *alpha, const void *beta) {
  normal made;
  if (tsr_call_level3(what, alpha, &a, &b, beta, &c, true, &made.call, &made.binding,
                      &made.exchanged) != TSR_OK)
    fail_msg("%s", tsr_message());
  return made;
}

static tsr_level3 request(tsr_operation operation, tsr_layout layout) {
  return (tsr_level3){.operation = operation,
                      .type = TSR_Z,
                      .layout = layout,
                      .side = TSR_LEFT,
                      .uplo = TSR_LOWER,
                      .transa = TSR_NO_TRANS,
                      .transb = TSR_CONJ_TRANS,
                      .diag = TSR_UNIT,
                      .m = 5,
                      .n = 6,
                      .k = 7,
                      .lda = 20,
                      .ldb = 21,
                      .ldc = 22};
}

/* The fields of a call, in this order: side, uplo, transa, transb, diag; m, n, k; exchanged; stored
 * A; stored B. */
typedef struct expected {
  tsr_operation operation;
  char layout;
  const char *flags;
  int m, n, k, exchanged, a[2], b[2];
} expected;

static const expected table[] = {
    {TSR_GEMM, 'C', "LGNCN", 5, 6, 7, 0, {5, 7}, {6, 7}},
    {TSR_GEMM, 'R', "LGCNN", 6, 5, 7, 1, {7, 6}, {7, 5}},
    {TSR_GEMMT, 'C', "LLNCN", 6, 6, 7, 0, {6, 7}, {6, 7}},
    {TSR_GEMMT, 'R', "LUCNN", 6, 6, 7, 1, {7, 6}, {7, 6}},
    {TSR_SYMM, 'C', "LLNNN", 5, 6, 5, 0, {5, 5}, {5, 6}},
    {TSR_SYMM, 'R', "RUNNN", 6, 5, 5, 0, {5, 5}, {6, 5}},
    {TSR_HEMM, 'R', "RUNNN", 6, 5, 5, 0, {5, 5}, {6, 5}},
    {TSR_SYRK, 'C', "LLNNN", 6, 6, 7, 0, {6, 7}, {0, 0}},
    {TSR_SYRK, 'R', "LUTNN", 6, 6, 7, 0, {7, 6}, {0, 0}},
    {TSR_HERK, 'R', "LUCNN", 6, 6, 7, 0, {7, 6}, {0, 0}},
    {TSR_SYR2K, 'R', "LUTNN", 6, 6, 7, 0, {7, 6}, {7, 6}},
    {TSR_HER2K, 'C', "LLNNN", 6, 6, 7, 0, {6, 7}, {6, 7}},
    {TSR_HER2K, 'R', "LUCNN", 6, 6, 7, 1, {7, 6}, {7, 6}},
    {TSR_TRMM, 'C', "LLNNU", 5, 6, 5, 0, {5, 5}, {0, 0}},
    {TSR_TRSM, 'R', "RUNNU", 6, 5, 5, 0, {5, 5}, {0, 0}},
};

static void check_operand(const tsr_operand *o, const int extents[2], int64_t ld) {
  assert_int_equal(o->rows, extents[0]);
  assert_int_equal(o->cols, extents[1]);
  assert_int_equal(o->ld, extents[0] == 0 ? 0 : ld);
}

static void check_normal(const expected *e) {
  tsr_level3 what = request(e->operation, (tsr_layout)e->layout);
  normal x = normalise(&what, one, zero);
  const char flags[] = {(char)x.call.side,   (char)x.call.uplo, (char)x.call.transa,
                        (char)x.call.transb, (char)x.call.diag, '\0'};
  const int extents_of_c[2] = {e->m, e->n};
  bool has_b = e->b[0] > 0;
  assert_int_equal(x.call.operation, e->operation);
  assert_string_equal(flags, e->flags);
  assert_true(x.call.m == e->m && x.call.n == e->n && x.call.k == e->k);
  assert_int_equal(x.exchanged, e->exchanged);
  check_operand(&x.call.operand[TSR_A], e->a, e->exchanged ? 21 : 20);
  check_operand(&x.call.operand[TSR_B_], e->b, e->exchanged ? 20 : 21);
  check_operand(&x.call.operand[TSR_C_], extents_of_c, 22);
  assert_ptr_equal(x.binding.base[TSR_A], e->exchanged ? &b : &a);
  assert_ptr_equal(x.binding.base[TSR_B_], !has_b ? NULL : e->exchanged ? &a : &b);
  assert_ptr_equal(x.binding.base[TSR_C_], &c);
}

static void test_normal(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) check_normal(&table[i]);
}

/* A real type has no conjugates: both transpositions are one kind of call. */
static void test_real_conjugates(void **state) {
  (void)state;
  tsr_level3 what = request(TSR_SYRK, TSR_COL_MAJOR);
  what.type = TSR_D, what.transa = TSR_CONJ_TRANS;
  assert_int_equal(normalise(&what, one, one).call.transa, TSR_TRANS);
  what.layout = TSR_ROW_MAJOR;
  assert_int_equal(normalise(&what, one, one).call.transa, TSR_NO_TRANS);
  what = request(TSR_TRSM, TSR_ROW_MAJOR);
  what.type = TSR_S, what.transa = TSR_CONJ_TRANS;
  assert_int_equal(normalise(&what, one, one).call.transa, TSR_TRANS);
}

static void test_scalars(void **state) {
  (void)state;
  tsr_level3 what = request(TSR_HERK, TSR_COL_MAJOR);
  normal x = normalise(&what, other, other);
  assert_true(x.binding.alpha.re == 2 && x.binding.alpha.im == 0);
  assert_true(x.binding.beta.re == 2 && x.binding.beta.im == 0);
  const float single[2] = {5, 6};
  what = request(TSR_HER2K, TSR_ROW_MAJOR);
  what.type = TSR_C;
  x = normalise(&what, single, single);
  assert_true(x.binding.alpha.re == 5 && x.binding.alpha.im == 6);
  assert_true(x.binding.beta.re == 5 && x.binding.beta.im == 0);
  what = request(TSR_TRMM, TSR_COL_MAJOR);
  x = normalise(&what, other, NULL);
  assert_true(x.binding.beta.re == 1 && x.call.beta == TSR_ONE && x.call.alpha == TSR_OTHER);
  x = normalise(&what, zero, NULL);
  assert_true(x.binding.beta.re == 0 && x.call.beta == TSR_ZERO);
}

static bool is_empty(const tsr_level3 *what, const void *alpha, const void *beta) {
  normal x = normalise(what, alpha, beta);
  return tsr_call_is_empty(&x.call);
}

static bool scales_only(const tsr_level3 *what, const void *alpha, const void *beta) {
  normal x = normalise(what, alpha, beta);
  return tsr_call_scales_only(&x.call);
}

static void test_empty(void **state) {
  (void)state;
  for (int o = 0; o < TSR_OPERATION_COUNT; o++) {
    bool in_place = o == TSR_TRMM || o == TSR_TRSM,
         sided = in_place || o == TSR_SYMM || o == TSR_HEMM;
    tsr_level3 what = request((tsr_operation)o, TSR_COL_MAJOR);
    if (o == TSR_SYRK || o == TSR_SYR2K) what.transa = TSR_TRANS;
    assert_false(is_empty(&what, one, one));
    assert_false(scales_only(&what, one, one));
    assert_int_equal(is_empty(&what, zero, one), !in_place);
    assert_true(scales_only(&what, zero, one));
    assert_false(is_empty(&what, zero, other));
    what.k = 0;
    assert_int_equal(is_empty(&what, one, one), !sided);
    assert_int_equal(scales_only(&what, one, other), !sided);
    what.n = 0;
    assert_true(is_empty(&what, one, zero));
  }
}

static void test_flops(void **state) {
  (void)state;
  static const double real[TSR_OPERATION_COUNT] = {
      [TSR_GEMM] = 2 * 5 * 6 * 7,  [TSR_GEMMT] = 6 * 7 * 7,     [TSR_SYMM] = 2 * 5 * 6 * 5,
      [TSR_HEMM] = 2 * 5 * 6 * 5,  [TSR_SYRK] = 6 * 7 * 7,      [TSR_HERK] = 6 * 7 * 7,
      [TSR_SYR2K] = 2 * 6 * 7 * 7, [TSR_HER2K] = 2 * 6 * 7 * 7, [TSR_TRMM] = 5 * 6 * 5,
      [TSR_TRSM] = 5 * 6 * 5};
  for (int o = 0; o < TSR_OPERATION_COUNT; o++) {
    tsr_level3 what = request((tsr_operation)o, TSR_COL_MAJOR);
    tsr_call call = normalise(&what, one, one).call;
    assert_true(tsr_call_flops(&call) == 4 * real[o]);
    call.type = TSR_D;
    assert_true(tsr_call_flops(&call) == real[o]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_normal),  cmocka_unit_test(test_real_conjugates),
      cmocka_unit_test(test_scalars), cmocka_unit_test(test_empty),
      cmocka_unit_test(test_flops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
