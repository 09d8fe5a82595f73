/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The corners of GEMM: nothing to do, scalars that forbid reading, tiles of one element, budgets
 * that are too small. */
#include <math.h>

#include "front.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static tsr_status gemm(tsr_context *context, int64_t m, int64_t n, int64_t k, double alpha,
                       const double *a, const double *b, double beta, double *c) {
  int64_t lda = m > 0 ? m : 1, ldb = k > 0 ? k : 1;
  return tsr_dgemm(context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, m, n, k, alpha, a, lda, b,
                   ldb, beta, c, lda);
}

static void test_empty(void **state) {
  (void)state;
  tsr_context *context = front_context();
  double a[9] = {1, 2, 3}, b[9] = {4}, c[9] = {7, 8, 9};
  assert_ok(gemm(context, 0, 3, 3, 1, a, b, 2, c));
  assert_ok(gemm(context, 3, 0, 3, 1, a, b, 2, c));
  assert_ok(gemm(context, 0, 0, 0, 1, NULL, NULL, 2, NULL));
  assert_true(c[0] == 7 && c[1] == 8 && c[2] == 9);
  tsr_context_destroy(context);
}

static void test_no_k(void **state) {
  (void)state;
  tsr_context *context = front_context();
  double c[9] = {7, 8, 9, 1, 2, 3, 4, 5, 6}, a = NAN;
  assert_ok(gemm(context, 3, 3, 0, 1, &a, &a, 2, c));
  assert_true(c[0] == 14 && c[8] == 12);
  assert_ok(gemm(context, 3, 3, 0, 1, NULL, NULL, 1, c));
  assert_true(c[0] == 14 && c[8] == 12);
  c[4] = NAN;
  assert_ok(gemm(context, 3, 3, 0, 1, NULL, NULL, 0, c));
  for (int i = 0; i < 9; ++i) assert_true(c[i] == 0);
  tsr_context_destroy(context);
}

static void test_alpha_zero(void **state) {
  (void)state;
  enum { N = 40 };
  tsr_context *context = front_context();
  double *a = malloc(N * N * sizeof *a), *c = front_matrix(N * N, 4), *was = front_matrix(N * N, 4);
  for (int i = 0; i < N * N; ++i) a[i] = NAN;
  assert_ok(front_dgemm(context, N, 0, a, a, 3, c));
  for (int i = 0; i < N * N; ++i) assert_true(c[i] == 3 * was[i]);
  assert_ok(front_dgemm(context, N, 0, NULL, NULL, 1, c));
  for (int i = 0; i < N * N; ++i) assert_true(c[i] == 3 * was[i]);
  c[N] = INFINITY;
  assert_ok(front_dgemm(context, N, 0, NULL, NULL, 0, c));
  for (int i = 0; i < N * N; ++i) assert_true(c[i] == 0);
  tsr_context_destroy(context);
  free(a), free(c), free(was);
}

static void test_beta_zero_forgets_nan(void **state) {
  (void)state;
  enum { N = 40 };
  tsr_context *context = front_context();
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  for (int i = 0; i < N * N; ++i) c[i] = NAN;
  assert_ok(front_dgemm(context, N, 1, a, b, 0, c));
  front_reference(N, 1, a, b, 0, expected);
  front_assert_equal(c, expected, N * N);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected);
}

/* Where NaN is data it must come through. */
static void test_nan_survives(void **state) {
  (void)state;
  enum { N = 33 };
  tsr_context *context = front_context();
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  a[5] = NAN; /* row 5, column 0: row 5 of C */
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < N; ++i) assert_int_equal(isnan(c[i + j * N]) != 0, i == 5);
  tsr_context_destroy(context);
  free(a), free(b), free(c);
}

static void test_tiles_of_one(void **state) {
  (void)state;
  enum { N = 4 };
  tsr_options options = front_options();
  tsr_context *context;
  assert_ok(front_create_tiled(&options, 1, &context));
  double a[N * N], b[N * N], c[N * N], expected[N * N];
  front_fill(a, N * N, 1), front_fill(b, N * N, 2), front_fill(c, N * N, 3);
  memcpy(expected, c, sizeof c);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(c, expected, N * N);
  tsr_context_destroy(context);
}

/* More tiles than can be planned: refused at once, not when the host's memory has gone. */
static void test_too_many_tiles(void **state) {
  (void)state;
  tsr_options options = front_options();
  tsr_context *context;
  tsr_plan *plan = NULL;
  tsr_home homes[3] = {{TSR_PINNED, 0}, {TSR_PINNED, 0}, {TSR_PINNED, 0}};
  double one = 1;
  int64_t n = 100000;
  assert_ok(front_create_tiled(&options, 1, &context));
  assert_refused(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n,
                               &one, n, n, &one, n, homes, &plan),
                 TSR_ERR_MEMORY, "TESSERA_TILE");
  assert_null(plan);
  tsr_context_destroy(context);
}

/* Extents beyond an int's, on devices: a plan that is right, or a refusal. */
static void test_long_extents(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{INT64_C(5000000000), 1, 1}, {1, 1, INT64_C(5000000000)}};
  front_needs_emulated_devices();
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  tsr_home homes[3] = {{TSR_PINNED, 0}, {TSR_PINNED, 0}, {TSR_PINNED, 0}};
  float one = 1;
  options.machine = TWO_DEVICES;
  options.devices = "2";
  options.engine = "cpu";
  options.memory = (size_t)1 << 40;
  options.check = 1;
  assert_ok(tsr_context_create(&options, &context));
  for (int i = 0; i < 2; ++i) {
    const int64_t *x = shapes[i];
    tsr_plan *plan = NULL;
    tsr_status status = tsr_plan_gemm(context, TSR_S, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS,
                                      x[0], x[1], x[2], &one, x[0], x[2], &one, x[0], homes, &plan);
    if (status != TSR_OK && status != TSR_ERR_UNSUPPORTED)
      fail_msg("%lld x %lld x %lld: %s", (long long)x[0], (long long)x[1], (long long)x[2],
               tsr_message());
    tsr_plan_destroy(plan);
  }
  tsr_context_destroy(context);
}

/* A budget of 1 MB: it works, or it is refused with the budget that would do. */
static void test_small_budget(void **state) {
  (void)state;
  enum { N = 600 };
  tsr_options options = front_options();
  tsr_context *context;
  options.memory = 1000000;
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  assert_ok(front_create_tiled(&options, 0, &context));
  tsr_status status = front_dgemm(context, N, 1, a, b, 1, c);
  if (status == TSR_OK) {
    front_reference(N, 1, a, b, 1, expected);
  } else {
    assert_int_equal(status, TSR_ERR_MEMORY);
    assert_non_null(strstr(tsr_message(), "least"));
  }
  front_assert_equal(c, expected, N * N);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected);
}

/* No tile fits: a refusal that names the remedy, and nothing touched. */
static void test_hopeless_budget(void **state) {
  (void)state;
  enum { N = 64 };
  tsr_options options = front_options();
  tsr_context *context;
  options.memory = 600;
  double *a = front_matrix(N * N, 1), *c = front_matrix(N * N, 3), *was = front_matrix(N * N, 3);
  assert_ok(front_create_tiled(&options, 64, &context));
  assert_refused(front_dgemm(context, N, 1, a, a, 1, c), TSR_ERR_MEMORY, "least");
  front_assert_equal(c, was, N * N);
  tsr_context_destroy(context);
  free(a), free(c), free(was);
}

/* A's and B's storage may be one. */
static void test_same_a_and_b(void **state) {
  (void)state;
  enum { N = 50 };
  tsr_context *context = front_context();
  double *a = front_matrix(N * N, 1), *c = front_matrix(N * N, 3),
         *expected = front_matrix(N * N, 3);
  assert_ok(front_dgemm(context, N, 1, a, a, 1, c));
  front_reference(N, 1, a, a, 1, expected);
  front_assert_equal(c, expected, N * N);
  tsr_context_destroy(context);
  free(a), free(c), free(expected);
}

static void test_complex_scalars(void **state) {
  (void)state;
  tsr_context *context = front_context();
  double alpha[2] = {0, 1}, beta[2] = {2, -1}, a[2] = {1, 2}, b[2] = {3, -1}, c[2] = {1, 1};
  /* i conj(1+2i) (3-i) + (2-i)(1+i) = i (1-7i) + 3+i = 10+2i */
  assert_ok(tsr_zgemm(context, TSR_COL_MAJOR, TSR_CONJ_TRANS, TSR_NO_TRANS, 1, 1, 1, alpha, a, 1, b,
                      1, beta, c, 1));
  assert_true(c[0] == 10 && c[1] == 2);
  tsr_context_destroy(context);
}

static void test_cpu_engine(void **state) {
  (void)state;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  options.engine = "cpu";
  assert_ok(tsr_context_create(&options, &context));
  assert_int_equal(tsr_device_count(context), 0);
  front_assert_works(context);
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_empty),        cmocka_unit_test(test_no_k),
      cmocka_unit_test(test_alpha_zero),   cmocka_unit_test(test_beta_zero_forgets_nan),
      cmocka_unit_test(test_nan_survives), cmocka_unit_test(test_tiles_of_one),
      cmocka_unit_test(test_small_budget), cmocka_unit_test(test_hopeless_budget),
      cmocka_unit_test(test_same_a_and_b), cmocka_unit_test(test_complex_scalars),
      cmocka_unit_test(test_cpu_engine),   cmocka_unit_test(test_too_many_tiles),
      cmocka_unit_test(test_long_extents),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
