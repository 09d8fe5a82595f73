/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What a failed device leaves is done by the others, or by the CPU, and the context goes on. On
 * emulated devices. The sweep (tests/sweep) lets each operation of each function fail. */
#include "engine/host/host.h"
#include "front.h"
#include "front/context.h"
#include "run/inside.h"

enum { N = 96, TILE = 16 };

static double a[N * N], b[N * N], c[N * N], d[N * N], expected[N * N], expected_d[N * N];

static int begin(void **state) {
  (void)state;
  front_clear_environment();
  tsr_engine_host_pass(false);
  return 0;
}

static int end(void **state) {
  (void)state;
  tsr_engine_host_fail_at(0);
  tsr_engine_host_pass(false);
  return 0;
}

static tsr_context *make(const char *devices, int reproducible) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.devices = devices;
  options.reproducible = reproducible;
  assert_ok(front_create_tiled(&options, TILE, &context));
  return context;
}

static void fill(double beta) {
  front_fill(a, N * N, 1), front_fill(b, N * N, 2), front_fill(c, N * N, 3);
  memcpy(expected, c, sizeof c);
  front_reference(N, 1, a, b, beta, expected);
}

static uint32_t devices_of(tsr_context *context) {
  return tsr_runner_well(context->calls.runner);
}

/* A product that is right on the devices that work, of which there are as many as said. */
static void check_goes_on(tsr_context *context, int devices) {
  tsr_plan *plan = NULL;
  fill(1);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  front_assert_equal(c, expected, N * N);
  assert_int_equal(__builtin_popcount(devices_of(context)), devices);
  if (devices == 0) return;
  assert_ok(tsr_plan_last(context, &plan));
  assert_int_equal(plan->devices, devices);
  for (int q = 0; q < plan->queues; q++)
    if (plan->queue[q].role != TSR_QUEUE_STAGING)
      assert_true(devices_of(context) >> plan->queue[q].location & 1);
  tsr_plan_destroy(plan);
}

/* ---- Blocking ---- */

static void each_operation_may_fail(void **state) {
  (void)state;
  for (int beta = 0; beta < 2; beta++)
    for (long n = 1, failed = 1; failed > 0; n += 1 + n / 8) {
      tsr_context *context = make("2", -1);
      fill(beta);
      tsr_engine_host_fail_at(n);
      assert_ok(front_dgemm(context, N, 1, a, b, beta, c));
      failed = tsr_engine_host_fail_at(0);
      front_assert_equal(c, expected, N * N);
      check_goes_on(context, __builtin_popcount(devices_of(context)));
      tsr_context_destroy(context);
    }
}

/* The nth operation is a copy or a kernel when all allocations are made. */
static void lose_a_device(tsr_context *context) {
  fill(1);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  fill(1);
  tsr_engine_host_fail_at(3);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  assert_int_equal(tsr_engine_host_fail_at(0), 1);
  front_assert_equal(c, expected, N * N);
}

static void the_last_device_gives_way_to_the_cpu(void **state) {
  (void)state;
  tsr_context *context = make("2", -1);
  lose_a_device(context);
  check_goes_on(context, 1);
  lose_a_device(context);
  check_goes_on(context, 0);
  check_goes_on(context, 0);
  tsr_context_destroy(context);
}

static void a_device_that_works_again_is_used_again(void **state) {
  (void)state;
  tsr_context *context = make("1", -1);
  tsr_engine_host_pass(true);
  lose_a_device(context);
  check_goes_on(context, 1);
  lose_a_device(context);
  check_goes_on(context, 1);
  lose_a_device(context); /* for the third time */
  check_goes_on(context, 0);
  tsr_context_destroy(context);
}

static void reproducible_results_need_a_device(void **state) {
  (void)state;
  tsr_context *context = make("2", 1);
  lose_a_device(context);
  check_goes_on(context, 1);
  fill(1);
  tsr_engine_host_fail_at(3);
  assert_refused(front_dgemm(context, N, 1, a, b, 1, c), TSR_ERR_DEVICE, "reproducible");
  tsr_engine_host_fail_at(0);
  tsr_context_destroy(context);
}

/* In place, what was overwritten is lost: the call says so, or ends right. */
static void in_place_ends_right_or_says_so(void **state) {
  (void)state;
  int undefined = 0, right = 0;
  for (long n = 1, failed = 1; failed > 0; n += 1 + n / 8) {
    tsr_context *context = make("2", -1);
    const double one = 1;
    fill(1);
    for (int i = 0; i < N * N; i++) a[i] = i % (N + 1) == 0 ? 2 : 0;
    tsr_engine_host_fail_at(n);
    tsr_status status = tsr_trmm(context, TSR_D, TSR_COL_MAJOR, TSR_LEFT, TSR_LOWER, TSR_NO_TRANS,
                                 TSR_NON_UNIT, N, N, &one, a, N, c, N);
    failed = tsr_engine_host_fail_at(0);
    front_fill(d, N * N, 3);
    for (int i = 0; i < N * N; i++) d[i] *= 2;
    if (status == TSR_OK) front_assert_equal(c, d, N * N);
    if (status != TSR_OK) assert_refused(status, TSR_ERR_DEVICE, "C is undefined");
    undefined += status != TSR_OK, right += status == TSR_OK;
    tsr_context_destroy(context);
  }
  assert_true(right > 0 && undefined > 0);
}

static void a_plan_of_the_users_is_done_without_its_device(void **state) {
  (void)state;
  tsr_context *context = make("2", -1);
  const double one = 1;
  tsr_plan *plan = NULL;
  fill(1);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  assert_ok(tsr_plan_last(context, &plan));
  for (int i = 0; i < 2; i++) {
    fill(1);
    tsr_engine_host_fail_at(i == 0 ? 3 : 0);
    assert_ok(tsr_plan_execute(plan, &one, a, b, &one, c));
    tsr_engine_host_fail_at(0);
    front_assert_equal(c, expected, N * N);
  }
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
}

/* ---- Asynchronous ---- */

static tsr_status add_async(tsr_context *context, const double *x, const double *y, double *z) {
  const double one = 1;
  return tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, &one, x,
                        N, y, N, &one, z, N);
}

/* C += A B, D += C B, C += A B: calls that depend on each other. */
static void expect_chain(void) {
  fill(1);
  front_fill(d, N * N, 4);
  memcpy(expected_d, d, sizeof d);
  front_reference(N, 1, expected, b, 1, expected_d);
  front_reference(N, 1, a, b, 1, expected);
}

static tsr_status run_chain(tsr_context *context) {
  tsr_status status = add_async(context, a, b, c);
  if (status == TSR_OK) status = add_async(context, c, b, d);
  return status == TSR_OK ? add_async(context, a, b, c) : status;
}

static tsr_status bring(tsr_context *context, const double *x) {
  return tsr_coherent_async(context, TSR_GENERAL, N, N, x, N, TSR_D);
}

static void check_chain(void) {
  front_assert_equal(c, expected, N * N);
  front_assert_equal(d, expected_d, N * N);
}

static void calls_that_depend_on_a_failed_one_wait_for_its_result(void **state) {
  (void)state;
  int right = 0, lost = 0;
  for (int pass = 0; pass < 2; pass++)
    for (long n = 1, failed = 1; failed > 0; n += 1 + n / 8) {
      tsr_context *context = make("2", -1);
      expect_chain();
      tsr_engine_host_pass(pass);
      tsr_engine_host_fail_at(n);
      tsr_status status = run_chain(context);
      if (status == TSR_OK) status = bring(context, c);
      if (status == TSR_OK) status = bring(context, d);
      tsr_status synced = tsr_sync(context);
      failed = tsr_engine_host_fail_at(0);
      bool good = status == TSR_OK && synced == TSR_OK;
      if (good) check_chain();
      if (status == TSR_OK && !good) assert_int_equal(synced, TSR_ERR_DEVICE);
      right += good && failed > 0, lost += !good;
      check_goes_on(context, __builtin_popcount(devices_of(context)));
      tsr_context_destroy(context);
    }
  assert_true(right > 4 * lost);
}

static void what_other_devices_hold_stays(void **state) {
  (void)state;
  tsr_context *context = make("2", -1);
  int device = -1, current = 1;
  fill(1);
  assert_ok(tsr_put_async(context, N, N, a, N, TSR_D, 0));
  assert_ok(tsr_put_async(context, N, N, b, N, TSR_D, 1));
  assert_ok(tsr_sync(context));
  tsr_runner_blame(context->calls.runner, 1);
  assert_ok(tsr_where(context, N, N, a, N, TSR_D, &device, NULL, NULL, &current));
  assert_int_equal(device, 0);
  tsr_context_destroy(context);
}

/* A program that was told that calls are complete may change what they have read. */
static void calls_that_an_event_told_of_are_not_made_again(void **state) {
  (void)state;
  tsr_context *context = make("1", -1);
  tsr_event event;
  fill(1);
  assert_ok(add_async(context, a, b, c));
  assert_ok(tsr_event_record(context, &event));
  assert_ok(tsr_event_wait(context, &event));
  tsr_engine_host_fail_at(2);
  assert_ok(bring(context, c));
  assert_int_equal(tsr_sync(context), TSR_ERR_DEVICE);
  tsr_engine_host_fail_at(0);
  check_goes_on(context, 0);
  tsr_context_destroy(context);
}

static void a_capture_is_done_without_the_device(void **state) {
  (void)state;
  tsr_context *context = make("2", -1);
  tsr_capture *capture = NULL;
  expect_chain();
  assert_ok(tsr_capture_begin(context));
  assert_ok(run_chain(context));
  assert_ok(bring(context, c));
  assert_ok(bring(context, d));
  assert_ok(tsr_capture_end(context, &capture));
  assert_ok(tsr_sync(context));
  check_chain();
  for (int i = 0; i < 2; i++) {
    expect_chain();
    tsr_engine_host_fail_at(i == 0 ? 5 : 0);
    assert_ok(tsr_capture_run_async(capture));
    assert_ok(tsr_sync(context));
    tsr_engine_host_fail_at(0);
    check_chain();
  }
  tsr_capture_destroy(capture);
  tsr_context_destroy(context);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(each_operation_may_fail),
      TEST(the_last_device_gives_way_to_the_cpu),
      TEST(a_device_that_works_again_is_used_again),
      TEST(reproducible_results_need_a_device),
      TEST(in_place_ends_right_or_says_so),
      TEST(a_plan_of_the_users_is_done_without_its_device),
      TEST(calls_that_depend_on_a_failed_one_wait_for_its_result),
      TEST(what_other_devices_hold_stays),
      TEST(calls_that_an_event_told_of_are_not_made_again),
      TEST(a_capture_is_done_without_the_device),
  };
  if (!front_is_emulated()) return 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
