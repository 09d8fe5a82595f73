/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans as objects. */
#include "front.h"

#include "plan/plan.h"

enum { N = 48 };

static tsr_context *context;

static int make(void **state) {
  (void)state;
  front_clear_environment();
  context = front_context();
  return 0;
}

static int end(void **state) {
  (void)state;
  tsr_context_destroy(context);
  return 0;
}

static tsr_plan *plan_of(tsr_memory a, tsr_memory b, tsr_memory c, double alpha, double beta) {
  tsr_home homes[3] = {{a, 0}, {b, 0}, {c, 0}};
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                          &alpha, N, N, &beta, N, homes, &plan));
  return plan;
}

static void execute(tsr_plan *plan, int seed) {
  double alpha = 1, beta = 1;
  double *a = front_matrix(N * N, seed), *b = front_matrix(N * N, seed + 1);
  double *c = front_matrix(N * N, seed + 2), *expected = front_matrix(N * N, seed + 2);
  assert_ok(tsr_plan_execute(plan, &alpha, a, b, &beta, c));
  front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(c, expected, N * N);
  free(a), free(b), free(c), free(expected);
}

static void test_execute_often(void **state) {
  (void)state;
  tsr_plan *plan = plan_of(TSR_PAGEABLE, TSR_PAGEABLE, TSR_PAGEABLE, 1, 1);
  for (int i = 0; i < 6; ++i) execute(plan, i);
  tsr_plan_destroy(plan);
}

static void test_other_scalars_of_the_class(void **state) {
  (void)state;
  tsr_plan *plan = plan_of(TSR_PAGEABLE, TSR_PAGEABLE, TSR_PAGEABLE, 2, 3);
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3), alpha = -4, beta = 0.5, one = 1, zero = 0;
  assert_ok(tsr_plan_execute(plan, &alpha, a, b, &beta, c));
  front_reference(N, alpha, a, b, beta, expected);
  front_assert_equal(c, expected, N * N);
  assert_refused(tsr_plan_execute(plan, &zero, a, b, &beta, c), TSR_ERR_ARGUMENT, "alpha");
  assert_refused(tsr_plan_execute(plan, &alpha, a, b, &one, c), TSR_ERR_ARGUMENT, "beta");
  front_assert_equal(c, expected, N * N);
  tsr_plan_destroy(plan);
  free(a), free(b), free(c), free(expected);
}

static void test_predict(void **state) {
  (void)state;
  tsr_plan *plan = plan_of(TSR_PAGEABLE, TSR_PINNED, TSR_PAGEABLE, 1, 0);
  tsr_prediction got;
  assert_ok(tsr_plan_predict(plan, &got));
  assert_true(got.seconds > 0 && got.floor_seconds > 0 && got.plan_seconds >= 0);
  assert_true(got.floor_seconds <= got.seconds);
  assert_true(got.measured == 0);
  assert_true(got.commands >= got.kernels + got.copies - 1 && got.kernels > 0 && got.copies > 0);
  assert_true(got.tile_m <= 16 && got.tile_n <= 16 && got.tile_k <= 16);
  assert_int_equal(got.grid_rows * got.grid_cols, got.devices);
  /* All of A and B goes in at least once, all of C comes out once; beta is 0, so C goes nowhere. */
  assert_true(got.host_to_device >= 2.0 * N * N * 8);
  assert_true(got.device_to_host == 1.0 * N * N * 8);
  tsr_plan_destroy(plan);
}

static void test_measured(void **state) {
  (void)state;
  tsr_plan *plan = plan_of(TSR_PAGEABLE, TSR_PAGEABLE, TSR_PAGEABLE, 1, 1);
  tsr_prediction got;
  execute(plan, 1);
  assert_ok(tsr_plan_predict(plan, &got));
  assert_true(got.measured > 0);
  tsr_plan_destroy(plan);
}

/* What a run learns is kept beside the plan. */
static void test_a_run_changes_nothing_of_a_plan(void **state) {
  (void)state;
  tsr_options traced = front_options();
  traced.trace = 1;
  tsr_context *usual = context;
  assert_ok(tsr_context_create(&traced, &context));
  tsr_plan *plan = plan_of(TSR_PAGEABLE, TSR_PAGEABLE, TSR_PAGEABLE, 1, 1), before;
  memcpy(&before, plan, sizeof before);
  size_t bytes = plan->commands.count * sizeof *plan->commands.items;
  void *commands = malloc(bytes + 1);
  memcpy(commands, plan->commands.items, bytes);
  char *text = NULL;
  execute(plan, 1);
  assert_memory_equal(plan, &before, sizeof before);
  assert_memory_equal(plan->commands.items, commands, bytes);
  assert_ok(tsr_plan_print(plan, TSR_TEXT, &text));
  assert_non_null(strstr(text, "measured"));
  free(text), free(commands);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  context = usual;
}

static void test_print(void **state) {
  (void)state;
  static const struct {
    tsr_format format;
    const char *holds;
  } formats[] = {{TSR_TEXT, "tile"},
                 {TSR_JSON, "predicted_s"},
                 {TSR_COMMANDS, "\n"},
                 {TSR_TIMELINE_SVG, "<svg"},
                 {TSR_TIMELINE_JSON, "traceEvents"},
                 {TSR_VERDICT, "."},
                 {TSR_JSON_ALONE, "\"instead\": ["}};
  tsr_plan *plan = plan_of(TSR_PAGEABLE, TSR_PAGEABLE, TSR_PAGEABLE, 1, 1);
  for (int run = 0; run < 2; ++run) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
      char *text = NULL;
      assert_ok(tsr_plan_print(plan, formats[i].format, &text));
      if (!strstr(text, formats[i].holds))
        fail_msg("format %zu has no \"%s\": %.200s", i, formats[i].holds, text);
      free(text);
    }
    execute(plan, run);
  }
  char *text = NULL;
  assert_int_equal(tsr_plan_print(plan, (tsr_format)77, &text), TSR_ERR_ARGUMENT);
  assert_null(text);
  tsr_plan_destroy(plan);
}

static void test_wrong_place(void **state) {
  (void)state;
  double one = 1, *a = front_matrix(N * N, 1), *c = front_matrix(N * N, 2);
  double *was = front_matrix(N * N, 2);
  tsr_plan *plan = plan_of(TSR_DEVICE, TSR_PAGEABLE, TSR_PAGEABLE, 1, 1);
  assert_int_equal(tsr_plan_execute(plan, &one, a, a, &one, c), TSR_ERR_ARGUMENT);
  assert_true(strlen(tsr_message()) > 10);
  front_assert_equal(c, was, N * N);
  void *there = NULL;
  assert_ok(tsr_malloc(context, 0, N * N * sizeof(double), &there));
  assert_ok(tsr_memcpy(context, there, a, N * N * sizeof(double)));
  assert_int_equal(tsr_plan_execute(plan, &one, a, there, &one, c), TSR_ERR_ARGUMENT);
  assert_ok(tsr_plan_execute(plan, &one, there, a, &one, c));
  front_reference(N, 1, a, a, 1, was);
  front_assert_equal(c, was, N * N);
  tsr_free(context, there);
  tsr_plan_destroy(plan);
  free(a), free(c), free(was);
}

/* A plan that takes a part of A to be pinned refuses an A of which less is. */
static void test_less_is_pinned(void **state) {
  (void)state;
  front_needs_emulated_devices(); /* elsewhere only whole pages are pinned */
  double one = 1, *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2);
  double *c = front_matrix(N * N, 3), *was = front_matrix(N * N, 3);
  size_t half = N * N / 2 * sizeof *a;
  tsr_plan *plan = NULL;
  assert_ok(tsr_register(context, a, half));
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  front_reference(N, 1, a, b, 1, was);
  assert_ok(tsr_plan_last(context, &plan));
  assert_ok(tsr_unregister(context, a));
  assert_refused(tsr_plan_execute(plan, &one, a, b, &one, c), TSR_ERR_ARGUMENT, "a is in");
  assert_ok(tsr_register(context, a, half / 2));
  assert_refused(tsr_plan_execute(plan, &one, a, b, &one, c), TSR_ERR_ARGUMENT, "a is in");
  assert_ok(tsr_unregister(context, a));
  front_assert_equal(c, was, N * N);
  assert_ok(tsr_register(context, a, 2 * half));
  assert_ok(tsr_plan_execute(plan, &one, a, b, &one, c));
  front_reference(N, 1, a, b, 1, was);
  front_assert_equal(c, was, N * N);
  assert_ok(tsr_unregister(context, a));
  tsr_plan_destroy(plan);
  free(a), free(b), free(c), free(was);
}

static void test_c_is_its_own(void **state) {
  (void)state;
  double one = 1, *a = front_matrix(N * N, 1), *was = front_matrix(N * N, 1);
  tsr_plan *plan = plan_of(TSR_PAGEABLE, TSR_PAGEABLE, TSR_PAGEABLE, 1, 1);
  double *b = front_matrix(N * N, 2);
  assert_refused(tsr_plan_execute(plan, &one, b, a, &one, a), TSR_ERR_ARGUMENT, "with b");
  assert_refused(tsr_plan_execute(plan, &one, a, b, &one, a), TSR_ERR_ARGUMENT, "with a");
  front_assert_equal(a, was, N * N);
  tsr_plan_destroy(plan);
  free(a), free(b), free(was);
}

static void test_wrong_homes(void **state) {
  (void)state;
  double one = 1;
  tsr_plan *plan = NULL;
  tsr_home homes[3] = {{TSR_DEVICE, 7}, {TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}};
  assert_refused(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                               &one, N, N, &one, N, homes, &plan),
                 TSR_ERR_ARGUMENT, "homes[0].location (A) is 7; the machine has devices 0 to");
  homes[0] = (tsr_home){(tsr_memory)9, 0};
  assert_refused(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                               &one, N, N, &one, N, homes, &plan),
                 TSR_ERR_ARGUMENT, "9");
  homes[0] = homes[1];
  assert_refused(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                               &one, N - 1, N, &one, N, homes, &plan),
                 TSR_ERR_ARGUMENT, "lda");
  assert_null(plan);
}

static void test_last(void **state) {
  (void)state;
  tsr_context *fresh = front_context();
  tsr_plan *plan = NULL;
  assert_int_not_equal(tsr_plan_last(fresh, &plan), TSR_OK); /* there is none */
  assert_null(plan);
  front_assert_works(fresh);
  assert_ok(tsr_plan_last(fresh, &plan));
  front_assert_works(fresh);
  tsr_context_destroy(fresh);
  tsr_prediction got; /* a reference of our own outlives the context */
  assert_ok(tsr_plan_predict(plan, &got));
  assert_true(got.kernels > 0);
  tsr_plan_destroy(plan);
}

/* The plan of a call is for operands as its caller gave them: row-major, A and B have changed
 * places in it. A column-major call of the same kind comes first and must not share its plan. */
static void test_last_of_each_layout(void **state) {
  (void)state;
  double one = 1, *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2);
  for (int row_major = 0; row_major < 2; ++row_major) {
    double *c = front_matrix(N * N, 3), *expected = front_matrix(N * N, 3);
    const double *left = row_major ? b : a, *right = row_major ? a : b;
    tsr_plan *plan = NULL;
    assert_ok(tsr_dgemm(context, row_major ? TSR_ROW_MAJOR : TSR_COL_MAJOR, TSR_NO_TRANS,
                        TSR_NO_TRANS, N, N, N, 1, a, N, b, N, 1, c, N));
    assert_ok(tsr_plan_last(context, &plan));
    assert_ok(tsr_plan_execute(plan, &one, a, b, &one, c));
    front_reference(N, 1, left, right, 1, expected);
    front_reference(N, 1, left, right, 1, expected);
    front_assert_equal(c, expected, N * N);
    tsr_plan_destroy(plan);
    free(c), free(expected);
  }
  free(a), free(b);
}

/* Planning needs no data and no device: an eight-GPU machine. */
static void test_plan_elsewhere(void **state) {
  (void)state;
  tsr_options options = front_options();
  tsr_context *large;
  front_needs_emulated_devices();
  options.machine = "host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19";
  options.devices = NULL;
  options.check = 0;
  assert_ok(front_create_tiled(&options, 0, &large));
  double one = 1;
  tsr_home homes[3] = {{TSR_PINNED, 0}, {TSR_PINNED, 0}, {TSR_PINNED, 0}};
  tsr_plan *plan = NULL;
  int64_t n = 16384;
  assert_ok(tsr_plan_gemm(large, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one, n,
                          n, &one, n, homes, &plan));
  tsr_prediction got;
  assert_ok(tsr_plan_predict(plan, &got));
  assert_true(got.devices >= 1 && got.devices <= 8);
  assert_true(got.floor_seconds <= got.seconds);
  tsr_plan_destroy(plan);
  tsr_context_destroy(large);
}

/* The largest extent of a kernel in a call that is made now. */
static int64_t tile_of_a_call(void) {
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  tsr_plan *plan = NULL;
  tsr_prediction got;
  assert_ok(tsr_dgemm(context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, 1, a, N, b, N, 1,
                      c, N));
  front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(c, expected, N * N);
  assert_ok(tsr_plan_last(context, &plan));
  assert_ok(tsr_plan_predict(plan, &got));
  tsr_plan_destroy(plan);
  free(a), free(b), free(c), free(expected);
  return got.tile_k;
}

static void test_strategy(void **state) {
  (void)state;
  assert_int_equal(tile_of_a_call(), 16);
  assert_ok(tsr_set_strategy(context, "tile=24 nblock=0,0,0"));
  double x[4] = {0}, y[4] = {0};
  assert_refused(front_dgemm(context, 2, 1, x, x, 1, y), TSR_ERR_ARGUMENT, "TESSERA_TILE");
  assert_ok(tsr_set_tile(context, 0));
  assert_int_equal(tile_of_a_call(), 24); /* not the plan that was kept */
  assert_refused(tsr_set_strategy(context, "tile=24 route=far"), TSR_ERR_ARGUMENT,
                 "route is \"far\"");
  assert_int_equal(tile_of_a_call(), 24);
  assert_ok(tsr_set_strategy(context, NULL));
  assert_ok(tsr_set_tile(context, 16));
  assert_int_equal(tile_of_a_call(), 16);
  assert_refused(tsr_set_strategy(NULL, NULL), TSR_ERR_ARGUMENT, "context");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_execute_often),
      cmocka_unit_test(test_other_scalars_of_the_class),
      cmocka_unit_test(test_predict),
      cmocka_unit_test(test_measured),
      cmocka_unit_test(test_a_run_changes_nothing_of_a_plan),
      cmocka_unit_test(test_print),
      cmocka_unit_test(test_wrong_place),
      cmocka_unit_test(test_wrong_homes),
      cmocka_unit_test(test_last),
      cmocka_unit_test(test_last_of_each_layout),
      cmocka_unit_test(test_strategy),
      cmocka_unit_test(test_plan_elsewhere),
      cmocka_unit_test(test_less_is_pinned),
      cmocka_unit_test(test_c_is_its_own),
  };
  return cmocka_run_group_tests(tests, make, end);
}
