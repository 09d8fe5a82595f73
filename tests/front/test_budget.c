/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Budgets: asked for, changed between calls, smaller when others take memory, and larger again. On
 * emulated devices: other programs may be using real ones. */
#include "engine/host/host.h"
#include "front.h"

enum { N = 96, BYTES = N * N * sizeof(double) };

/* Others may be using real devices. */
static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static int refuse_nothing(void **state) {
  (void)state;
  tsr_engine_host_refuse(0, 0);
  tsr_engine_host_refuse_pinned(false);
  front_clear_environment();
  return 0;
}

static tsr_context *context_with(size_t memory, const char *budgets) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.memory = memory;
  options.budgets = budgets;
  assert_ok(front_create_tiled(&options, 0, &context));
  return context;
}

static tsr_context *context_of_one(void) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.devices = "1";
  assert_ok(front_create_tiled(&options, 0, &context));
  return context;
}

static size_t budget_of(tsr_context *context, int device) {
  size_t bytes = 0;
  assert_ok(tsr_get_budget(context, device, &bytes));
  return bytes;
}

/* One product, which must come out right; what its plan needs of a device. */
static size_t multiply(tsr_context *context) {
  static double a[N * N], b[N * N], c[N * N], expected[N * N];
  tsr_plan *plan = NULL;
  tsr_prediction p = {0};
  front_fill(a, N * N, 1), front_fill(b, N * N, 2), front_fill(c, N * N, 3);
  memcpy(expected, c, sizeof c);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(c, expected, N * N);
  assert_ok(tsr_plan_last(context, &plan));
  assert_ok(tsr_plan_predict(plan, &p));
  tsr_plan_destroy(plan);
  return p.device_memory;
}

static void test_lists(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_with(0, "30K,50K");
  assert_int_equal(budget_of(context, 0), 30000);
  assert_int_equal(budget_of(context, 1), 50000);
  assert_true(multiply(context) <= 50000);
  tsr_context_destroy(context);
  context =
      context_with(7, "40K"); /* the last one is for all that follow, and goes before memory */
  assert_int_equal(budget_of(context, 1), 40000);
  tsr_context_destroy(context);
  setenv("TESSERA_MEMORY", "20K,1MiB", 1);
  context = context_with(0, NULL);
  assert_int_equal(budget_of(context, 0), 20000);
  assert_int_equal(budget_of(context, 1), 1 << 20);
  tsr_context_destroy(context);
  context = context_with(60000, NULL); /* what the program says goes first */
  assert_int_equal(budget_of(context, 0), 60000);
  tsr_context_destroy(context);
}

static void test_wrong_lists(void **state) {
  (void)state;
  front_needs_emulated_devices();
  static const char *const wrong[] = {"", "16G,", "x", "1G,-2G", "1G 2G", "1G,,2G"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    tsr_options options = front_options();
    tsr_context *context = NULL;
    options.budgets = wrong[i];
    assert_refused(front_create(&options, &context), TSR_ERR_ARGUMENT, "budgets");
    assert_null(context);
  }
}

static void test_set_between_calls(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_with(0, NULL);
  size_t first = budget_of(context, 0), whole = multiply(context);
  for (int d = 0; d < 2; ++d) assert_ok(tsr_set_budget(context, d, whole / 4));
  assert_int_equal(budget_of(context, 1), whole / 4);
  assert_true(multiply(context) <= whole / 4);
  for (int d = 0; d < 2; ++d) assert_ok(tsr_set_budget(context, d, 0));
  assert_int_equal(budget_of(context, 0), first);
  assert_int_equal(multiply(context), whole);
  tsr_context_destroy(context);
}

/* What was computed comes home before its room goes. */
static void test_set_with_results_on_devices(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_with(0, NULL);
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(tsr_set_budget(context, 0, 20000));
  assert_ok(tsr_set_budget(context, 1, 20000));
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(front_take_home(context, c, N * N));
  assert_ok(tsr_sync(context));
  for (int i = 0; i < 2; ++i) front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(c, expected, N * N);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected);
}

static void test_wrong_arguments(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_with(0, NULL);
  size_t bytes;
  assert_refused(tsr_set_budget(context, 2, 1), TSR_ERR_ARGUMENT, "device is 2");
  assert_refused(tsr_set_budget(context, -1, 1), TSR_ERR_ARGUMENT, "device is -1");
  assert_refused(tsr_set_budget(NULL, 0, 1), TSR_ERR_ARGUMENT, "context");
  assert_refused(tsr_get_budget(context, 9, &bytes), TSR_ERR_ARGUMENT, "device is 9");
  assert_refused(tsr_get_budget(context, 0, NULL), TSR_ERR_ARGUMENT, "bytes");
  tsr_context_destroy(context);
}

/* ---- Others take memory ---- */

static void test_less_and_more_again(void **state) {
  (void)state;
  front_needs_emulated_devices();
  enum { MOST_CALLS = 400 };
  tsr_context *context = context_with(0, NULL);
  size_t whole = budget_of(context, 0);
  tsr_engine_host_refuse(1, 1);
  multiply(context);
  assert_int_equal(tsr_engine_host_refuse(0, 0), 1);
  assert_true(budget_of(context, 0) < whole);
  assert_int_equal(budget_of(context, 1), whole);
  int calls = 0;
  while (budget_of(context, 0) < whole && calls++ < MOST_CALLS) multiply(context);
  assert_true(calls > 4); /* not at once */
  assert_int_equal(budget_of(context, 0), whole);
  tsr_context_destroy(context);
}

/* Growing that is no use is tried less often. */
static void test_patience(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_of_one();
  multiply(context);
  assert_ok(tsr_trim(context));
  int refusals[2] = {0, 0};
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 200; ++i) {
      /* no more than what the first refusal left */
      size_t budget = budget_of(context, 0);
      tsr_engine_host_refuse(budget > 50000 ? 1 : 0, 1);
      multiply(context);
      refusals[half] += (int)tsr_engine_host_refuse(0, 0);
      assert_ok(tsr_trim(context));
    }
  assert_true(refusals[0] > refusals[1]);
  assert_true(refusals[1] > 0);
  tsr_context_destroy(context);
}

/* Nothing at all is left: the CPU does it, and the devices are asked again by the next call. */
static void test_nothing_left(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_with(0, NULL);
  size_t whole = budget_of(context, 0);
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  tsr_engine_host_refuse(1, 1000000);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  assert_true(tsr_engine_host_refuse(0, 0) > 1);
  front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(c, expected, N * N);
  assert_int_equal(budget_of(context, 0), whole);
  assert_true(multiply(context) > 0);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected);
}

/* The staging ring has to hold a piece, whatever its budget is: planning ends, and the CPU does it.
 */
static void test_no_ring(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_with(0, NULL);
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  tsr_engine_host_refuse_pinned(true);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  tsr_engine_host_refuse_pinned(false);
  front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(c, expected, N * N);
  assert_true(multiply(context) > 0);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected);
}

/* Where the CPU cannot reach an operand the message says what is the matter. */
static void test_nothing_left_for_what_is_on_a_device(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_with(0, NULL);
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2);
  void *c;
  assert_ok(tsr_malloc(context, 0, BYTES, &c));
  assert_ok(tsr_memcpy(context, c, a, BYTES));
  tsr_engine_host_refuse(1, 1000000);
  assert_refused(front_dgemm(context, N, 1, a, b, 1, c), TSR_ERR_MEMORY,
                 "other programs may use its memory");
  tsr_engine_host_refuse(0, 0);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  tsr_context_destroy(context);
  free(a), free(b);
}

/* What calls that compose have given back is still the context's: it serves others before budgets
 * shrink. */
static void test_free_blocks_are_given_back(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_with(0, NULL);
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  size_t whole = budget_of(context, 0);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  for (int i = 0; i < 3; ++i)
    assert_ok(front_take_home(context, i == 0 ? a : i == 1 ? b : c, N * N));
  assert_ok(tsr_sync(context));
  tsr_engine_host_refuse(1, 1); /* as if the blocks had been in the way */
  multiply(context);
  assert_int_equal(tsr_engine_host_refuse(0, 0), 1);
  assert_int_equal(budget_of(context, 0), whole);
  tsr_context_destroy(context);
  free(a), free(b), free(c);
}

/* And the other way round. */
static void test_arenas_are_given_back(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_with(0, NULL);
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  tsr_traffic before, after;
  multiply(context);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 0, c)); /* opens what stays */
  assert_ok(tsr_release(context, 0, 0, NULL, 0, TSR_D));
  assert_ok(tsr_sync(context));
  assert_ok(tsr_trim(context));
  multiply(context);
  tsr_engine_host_refuse(1, 2);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 0, c));
  assert_int_equal(tsr_engine_host_refuse(0, 0), 2);
  assert_ok(tsr_context_traffic(context, &before)); /* it composed: its result stays */
  assert_ok(tsr_coherent(context, TSR_GENERAL, N, N, c, N, TSR_D));
  assert_ok(tsr_context_traffic(context, &after));
  assert_true(after.device_to_host > before.device_to_host);
  tsr_context_destroy(context);
  free(a), free(b), free(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_lists, clear),
      cmocka_unit_test_setup(test_wrong_lists, clear),
      cmocka_unit_test_setup(test_set_between_calls, clear),
      cmocka_unit_test_setup(test_set_with_results_on_devices, clear),
      cmocka_unit_test_setup(test_wrong_arguments, clear),
      cmocka_unit_test_setup_teardown(test_less_and_more_again, clear, refuse_nothing),
      cmocka_unit_test_setup_teardown(test_patience, clear, refuse_nothing),
      cmocka_unit_test_setup_teardown(test_nothing_left, clear, refuse_nothing),
      cmocka_unit_test_setup_teardown(test_no_ring, clear, refuse_nothing),
      cmocka_unit_test_setup_teardown(test_nothing_left_for_what_is_on_a_device, clear,
                                      refuse_nothing),
      cmocka_unit_test_setup_teardown(test_free_blocks_are_given_back, clear, refuse_nothing),
      cmocka_unit_test_setup_teardown(test_arenas_are_given_back, clear, refuse_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
