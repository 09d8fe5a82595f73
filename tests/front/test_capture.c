/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Captures: made again on the same memory, on other memory, without planning; and bad use. */
#include "front.h"

enum { N = 70, COUNT = N * N };

/* X = A B, then C = X B + C; half of A is dealt over the devices first. */
static void compute(tsr_context *context, double *m[4]) {
  assert_ok(tsr_distribute_2d_block_cyclic_async(context, N, N / 2, m[0], N, TSR_D, 20, 20, 1, 1));
  assert_ok(front_dgemm_async(context, N, 1, m[0], m[1], 0, m[2]));
  assert_ok(front_dgemm_async(context, N, 2, m[2], m[1], 1, m[3]));
}

/* The same, and X and C are brought home. */
static void make_calls(tsr_context *context, double *m[4]) {
  compute(context, m);
  for (int i = 2; i < 4; ++i)
    assert_ok(tsr_coherent_async(context, TSR_GENERAL, N, N, m[i], N, TSR_D));
}

typedef struct matrices {
  double *all, *expected;
  double *ours[4], *theirs[4];
} matrices;

static matrices make_matrices(int seed) {
  matrices x = {.all = malloc(4 * COUNT * sizeof(double)),
                .expected = malloc(4 * COUNT * sizeof(double))};
  assert_non_null(x.all);
  assert_non_null(x.expected);
  for (int i = 0; i < 4 * COUNT; ++i) x.all[i] = x.expected[i] = (i * 7 + seed) % 5 - 2;
  for (int i = 0; i < 4; ++i) {
    x.ours[i] = x.all + i * COUNT;
    x.theirs[i] = x.expected + i * COUNT;
  }
  return x;
}

static void free_matrices(matrices *x) {
  free(x->all), free(x->expected);
}

static void check(tsr_context *context, matrices *x) {
  assert_ok(tsr_sync(context));
  front_reference(N, 1, x->theirs[0], x->theirs[1], 0, x->theirs[2]);
  front_reference(N, 2, x->theirs[2], x->theirs[1], 1, x->theirs[3]);
  front_assert_equal(x->all, x->expected, 4 * COUNT);
  assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D));
}

static tsr_capture *capture(tsr_context *context, matrices *x) {
  tsr_capture *made;
  assert_ok(tsr_capture_begin(context));
  make_calls(context, x->ours);
  assert_ok(tsr_capture_end(context, &made));
  check(context, x);
  return made;
}

static void change(matrices *x, int seed) {
  for (int i = 0; i < 2 * COUNT; ++i) x->all[i] = x->expected[i] = (i * 3 + seed) % 5 - 2;
}

static void test_runs_again(void **state) {
  (void)state;
  tsr_context *context = front_context();
  matrices x = make_matrices(1);
  tsr_capture *again = capture(context, &x);
  for (int run = 0; run < 3; ++run) {
    change(&x, run);
    assert_ok(tsr_capture_run_async(again));
    check(context, &x);
  }
  tsr_capture_destroy(again);
  tsr_context_destroy(context);
  free_matrices(&x);
}

/* On other memory; what was captured on stays as it is. */
static void test_moves(void **state) {
  (void)state;
  tsr_context *context = front_context();
  matrices x = make_matrices(2), y = make_matrices(3);
  tsr_capture *again = capture(context, &x);
  assert_ok(tsr_capture_move(again, x.all, 4 * COUNT * sizeof(double), y.all));
  assert_ok(tsr_capture_run_async(again));
  check(context, &y);
  front_assert_equal(x.all, x.expected, 4 * COUNT);
  tsr_capture_destroy(again);
  tsr_context_destroy(context);
  free_matrices(&x), free_matrices(&y);
}

/* A run uses the plans of the capture: the last one is the same object. */
static void test_plans_nothing(void **state) {
  (void)state;
  tsr_context *context = front_context();
  matrices x = make_matrices(4);
  tsr_capture *again = capture(context, &x);
  tsr_plan *first, *second;
  assert_ok(tsr_plan_last(context, &first));
  for (int i = 0; i < 80; ++i) { /* others push it out of the context's own plans */
    double one = 1;
    assert_ok(tsr_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, 1 + i / 9,
                       1 + i % 9, 3, &one, x.ours[0], N, x.ours[1], N, &one, x.ours[2], N));
  }
  memcpy(x.all, x.expected, 4 * COUNT * sizeof(double));
  assert_ok(tsr_capture_run_async(again));
  check(context, &x);
  assert_ok(tsr_plan_last(context, &second));
  assert_ptr_equal(first, second);
  tsr_plan_destroy(first), tsr_plan_destroy(second);
  tsr_capture_destroy(again);
  tsr_context_destroy(context);
  free_matrices(&x);
}

static void test_prints(void **state) {
  (void)state;
  tsr_context *context = front_context();
  matrices x = make_matrices(5);
  tsr_capture *made = capture(context, &x);
  char *text;
  assert_ok(tsr_capture_print(made, TSR_TEXT, &text));
  assert_non_null(strstr(text, "gemm"));
  free(text);
  assert_ok(tsr_capture_print(made, TSR_JSON, &text));
  assert_true(text[0] == '[');
  free(text);
  assert_refused(tsr_capture_print(made, TSR_TIMELINE_SVG, &text), TSR_ERR_ARGUMENT, "timeline");
  tsr_capture_destroy(made);
  tsr_context_destroy(context);
  free_matrices(&x);
}

static void test_bad_use(void **state) {
  (void)state;
  tsr_context *context = front_context();
  tsr_capture *made;
  assert_refused(tsr_capture_end(context, &made), TSR_ERR_ARGUMENT, "nothing");
  assert_ok(tsr_capture_begin(context));
  assert_refused(tsr_capture_begin(context), TSR_ERR_ARGUMENT, "already");
  assert_refused(tsr_capture_end(context, NULL), TSR_ERR_ARGUMENT, "NULL");
  assert_ok(tsr_capture_end(context, &made));
  assert_ok(tsr_capture_run_async(made)); /* of nothing */
  assert_refused(tsr_capture_run_async(NULL), TSR_ERR_ARGUMENT, "NULL");
  assert_refused(tsr_capture_move(made, NULL, 1, &made), TSR_ERR_ARGUMENT, "from");
  assert_ok(tsr_sync(context));
  tsr_context_destroy(context);
  assert_refused(tsr_capture_run_async(made), TSR_ERR_ARGUMENT, "destroyed");
  tsr_capture_destroy(made);
  tsr_capture_destroy(NULL);
}

/* A run brings home what the captured calls did. */
static void test_all_come_home(void **state) {
  (void)state;
  tsr_context *context = front_context();
  matrices x = make_matrices(4);
  tsr_capture *made;
  assert_ok(tsr_capture_begin(context));
  compute(context, x.ours);
  assert_ok(tsr_sync_home(context));
  assert_ok(tsr_capture_end(context, &made));
  check(context, &x);
  change(&x, 5);
  assert_ok(tsr_capture_run_async(made));
  check(context, &x);
  tsr_capture_destroy(made);
  tsr_context_destroy(context);
  free_matrices(&x);
}

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_runs_again),    cmocka_unit_test(test_moves),
      cmocka_unit_test(test_plans_nothing), cmocka_unit_test(test_prints),
      cmocka_unit_test(test_bad_use),       cmocka_unit_test(test_all_come_home),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
