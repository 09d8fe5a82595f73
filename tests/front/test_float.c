/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The floating-point environment of the program: plans and products on devices are the same in
 * each, and a product on the CPU is the CPU's BLAS's. That no call changes it is for the random
 * problems and the sweep over all functions. */
#include "front.h"

#include "float_modes.h"

enum { N = 90 };

static const float_modes all_modes[] = {
    {'n', 0, 0, 0}, {'u', 0, 0, 0}, {'d', 1, 0, 1}, {'z', 0, 1, 0}, {'n', 1, 1, 0}};
enum { MODES = sizeof all_modes / sizeof *all_modes };

static double a[N * N], c[MODES][N * N];

static void fill(void) {
  for (int i = 0; i < N * N; i++) a[i] = (i % 31 - 15.25) / 3;
  memset(c, 0, sizeof c);
}

static tsr_context *create(const char *engine, const char *arithmetic) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  options.engine = engine, options.arithmetic = arithmetic;
  if (strcmp(engine, "cpu") != 0) options.devices = "2", options.machine = TWO_DEVICES;
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

static void multiply(tsr_context *context, double *result) {
  assert_ok(tsr_dgemm(context, 'C', 'N', 'T', N, N, N, 1. / 3, a, N, a, N, 0, result, N));
}

/* The program that has the mode makes the context, too, so that its threads could have it. */
static void test_products_on_devices_round_to_nearest(void **state) {
  static const char *const arithmetics[] = {"native", "emulated"};
  (void)state;
  front_needs_emulated_devices();
  for (int i = 0; i < 2; i++) {
    fill();
    for (int m = 0; m < MODES; m++) {
      float_modes_set(&all_modes[m]);
      tsr_context *context = create("host", arithmetics[i]);
      multiply(context, c[m]);
      tsr_context_destroy(context);
      fesetenv(FE_DFL_ENV);
      assert_memory_equal(c[m], c[0], sizeof c[0]);
    }
  }
}

/* With the tile given, no clock decides when the search ends. */
static double predict(void) {
  const double one = 1;
  const tsr_home homes[3] = {{TSR_PAGEABLE, 0}, {TSR_PINNED, 0}, {TSR_PAGEABLE, 0}};
  tsr_prediction predicted;
  tsr_plan *plan;
  tsr_context *context = create("host", "native");
  assert_ok(tsr_set_tile(context, 300));
  assert_ok(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_TRANS, 1999, 1777, 999,
                          &one, 1999, 1777, &one, 1999, homes, &plan));
  assert_ok(tsr_plan_predict(plan, &predicted));
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  return predicted.seconds;
}

static void test_plans_are_the_same(void **state) {
  double seconds[MODES];
  (void)state;
  front_needs_emulated_devices();
  for (int m = 0; m < MODES; m++) {
    float_modes_set(&all_modes[m]);
    seconds[m] = predict();
    fesetenv(FE_DFL_ENV);
    assert_memory_equal(&seconds[m], &seconds[0], sizeof seconds[0]);
  }
}

/* Sums of thirds differ between rounding modes, and are inexact. */
static void test_products_on_the_cpu_are_in_the_callers(void **state) {
  (void)state;
  fill();
  for (int m = 0; m < MODES; m++) {
    tsr_context *context = create("cpu", "native");
    float_modes_set(&all_modes[m]);
    float_state before = float_state_get();
    multiply(context, c[m]);
    int flags = fetestexcept(FE_ALL_EXCEPT);
    char why[300] = "";
    bool same = float_state_is(&before, FE_INEXACT, why, sizeof why);
    tsr_context_destroy(context);
    if (!same) fail_msg("%s", why);
    assert_true((flags & FE_INEXACT) != 0);
  }
  assert_true(c[1][0] > c[2][0]); /* up and down */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products_on_devices_round_to_nearest),
      cmocka_unit_test(test_plans_are_the_same),
      cmocka_unit_test(test_products_on_the_cpu_are_in_the_callers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
