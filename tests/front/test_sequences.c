/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What sequences of calls move, and their timelines. */
#include "front.h"

enum { N = 48, MATRIX = N * N * 8 };

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

/* So that no byte has a choice of ways. */
static tsr_context *one_device(void) {
  tsr_options options = front_options();
  tsr_context *context;
  options.devices = "1";
  options.machine = "host:200 gpu*1@nvswitch:300 pcie:25 rate:19";
  assert_ok(front_create(&options, &context));
  return context;
}

static double *pinned(tsr_context *context, int seed) {
  void *x;
  assert_ok(tsr_malloc(context, TSR_HOST, MATRIX, &x));
  front_fill(x, N * N, seed);
  return x;
}

/* What was moved since the last time. */
static tsr_traffic moved(tsr_context *context, tsr_traffic *last) {
  tsr_traffic before = *last;
  assert_ok(tsr_context_traffic(context, last));
  return (tsr_traffic){.host_to_device = last->host_to_device - before.host_to_device,
                       .device_to_host = last->device_to_host - before.device_to_host,
                       .device_to_device = last->device_to_device - before.device_to_device,
                       .plans = last->plans - before.plans};
}

static void assert_moved(tsr_context *context, tsr_traffic *last, int in, int out, int plans) {
  tsr_traffic now = moved(context, last);
  assert_int_equal((int64_t)now.host_to_device, (int64_t)in * MATRIX);
  assert_int_equal((int64_t)now.device_to_host, (int64_t)out * MATRIX);
  assert_int_equal((int64_t)now.device_to_device, 0);
  assert_int_equal(now.plans, plans);
}

static tsr_status bring_home(tsr_context *context, const double *x) {
  return tsr_coherent_async(context, TSR_GENERAL, N, N, x, N, TSR_D);
}

/* Each matrix goes in once and comes out once, however many calls have it. */
static void test_a_sequence_moves_no_byte_twice(void **state) {
  (void)state;
  tsr_context *context = one_device();
  tsr_traffic last = {0};
  double *a = pinned(context, 1), *b = pinned(context, 2), *c = pinned(context, 3);
  assert_moved(context, &last, 0, 0, 0);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 0, c));
  assert_moved(context, &last, 2, 0, 1);
  assert_ok(front_dgemm_async(context, N, 1, c, b, 1, a));
  assert_moved(context, &last, 0, 0, 1);
  assert_ok(bring_home(context, c));
  assert_moved(context, &last, 0, 1, 1);
  assert_ok(bring_home(context, c));
  assert_moved(context, &last, 0, 0, 0);
  assert_ok(bring_home(context, a));
  assert_moved(context, &last, 0, 1, 1);
  assert_ok(tsr_sync(context));
  assert_ok(tsr_invalidate(context, N, N, b, N, TSR_D));
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_moved(context, &last, 1, 0, 1);
  tsr_context_destroy(context);
}

/* Waiting alone leaves results where they are; bringing all home leaves copies on the devices. */
static void test_all_come_home(void **state) {
  (void)state;
  tsr_context *context = one_device();
  tsr_traffic last = {0};
  double *a = pinned(context, 1), *b = pinned(context, 2), *c = pinned(context, 3);
  double *d = pinned(context, 4), *old = front_matrix(N * N, 3), *expected[2];
  for (int i = 0; i < 2; i++) expected[i] = front_matrix(N * N, 3 + i);
  front_reference(N, 1, a, b, 0, expected[0]);
  front_reference(N, 1, expected[0], b, 1, expected[1]);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 0, c));
  assert_ok(front_dgemm_async(context, N, 1, c, b, 1, d));
  assert_ok(tsr_sync(context));
  front_assert_equal(c, old, N * N);
  assert_moved(context, &last, 3, 0, 2);
  assert_ok(tsr_sync_home(context));
  front_assert_equal(c, expected[0], N * N);
  front_assert_equal(d, expected[1], N * N);
  assert_moved(context, &last, 0, 2, 2);
  assert_ok(tsr_sync_home(context));
  assert_moved(context, &last, 0, 0, 0);
  assert_ok(front_dgemm_async(context, N, 1, d, b, 1, c));
  assert_moved(context, &last, 0, 0, 1);
  assert_refused(tsr_sync_home(NULL), TSR_ERR_ARGUMENT, "context");
  tsr_context_destroy(context);
  free(old), free(expected[0]), free(expected[1]);
}

static void test_blocking_calls_count(void **state) {
  (void)state;
  tsr_context *context = one_device();
  tsr_traffic last = {0};
  double *a = pinned(context, 1), *b = pinned(context, 2), *c = pinned(context, 3);
  for (int i = 0; i < 2; ++i) {
    assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
    assert_moved(context, &last, 3, 1, 1);
  }
  assert_refused(tsr_context_traffic(context, NULL), TSR_ERR_ARGUMENT, "traffic");
  assert_refused(tsr_context_traffic(NULL, &last), TSR_ERR_ARGUMENT, "context");
  tsr_context_destroy(context);
}

/* What devices have had adds up to what plans say. */
static void test_traffic_of_devices(void **state) {
  (void)state;
  tsr_context *context = front_context();
  tsr_traffic all, one, sum = {0};
  double *a = pinned(context, 1), *b = pinned(context, 2), *c = pinned(context, 3);
  for (int i = 0; i < 2; ++i) assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(bring_home(context, c));
  assert_ok(tsr_sync(context));
  assert_ok(tsr_context_traffic(context, &all));
  for (int d = 0; d < tsr_device_count(context); ++d) {
    assert_ok(tsr_device_traffic(context, d, &one));
    assert_true(one.host_to_device > 0);
    sum.host_to_device += one.host_to_device;
    sum.device_to_host += one.device_to_host;
    sum.device_to_device += one.device_to_device;
    sum.within_devices += one.within_devices;
  }
  assert_true(sum.host_to_device == all.host_to_device);
  assert_true(sum.device_to_host == all.device_to_host);
  assert_true(sum.device_to_device == all.device_to_device);
  assert_true(sum.within_devices == all.within_devices);
  assert_refused(tsr_device_traffic(context, 99, &one), TSR_ERR_ARGUMENT, "device is 99");
  assert_refused(tsr_device_traffic(context, -1, &one), TSR_ERR_ARGUMENT, "device is -1");
  assert_refused(tsr_device_traffic(context, 0, NULL), TSR_ERR_ARGUMENT, "traffic");
  tsr_context_destroy(context);
}

static int occurrences(const char *text, const char *of) {
  int count = 0;
  for (; (text = strstr(text, of)) != NULL; ++text) ++count;
  return count;
}

/* The calls between begin and end, each once, and what the host did. */
static void test_timeline(void **state) {
  (void)state;
  tsr_context *context = front_context();
  double *a = pinned(context, 1), *b = pinned(context, 2), *c = pinned(context, 3);
  char *text = NULL;
  assert_ok(front_dgemm_async(context, N, 1, a, b, 0, c));
  assert_ok(tsr_timeline_begin(context));
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(tsr_timeline_note(context, "a \"note\"", 1e-3));
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(bring_home(context, c));
  assert_ok(tsr_timeline_end(context, &text));
  assert_int_equal(occurrences(text, "\"name\":\"dgemm NN\",\"pid\":999"), 2);
  assert_int_equal(occurrences(text, "\"name\":\"move\",\"pid\":999"), 1);
  assert_int_equal(occurrences(text, "\"name\":\"a \\\"note\\\"\",\"pid\":999"), 1);
  assert_int_equal(occurrences(text, "\"name\":\"gemm\""), 2 * 27);
  free(text);
  tsr_context_destroy(context);
}

static void test_timelines_end_once(void **state) {
  (void)state;
  tsr_context *context = front_context();
  double *a = pinned(context, 1), *b = pinned(context, 2), *c = pinned(context, 3);
  char *text = NULL;
  assert_refused(tsr_timeline_end(context, &text), TSR_ERR_ARGUMENT, "tsr_timeline_begin");
  assert_ok(tsr_timeline_note(context, "of none", 1));
  assert_ok(tsr_timeline_begin(context));
  assert_refused(tsr_timeline_end(context, NULL), TSR_ERR_ARGUMENT, "text");
  assert_refused(tsr_timeline_note(context, NULL, 1), TSR_ERR_ARGUMENT, "name");
  assert_refused(tsr_timeline_note(context, "less than none", -1), TSR_ERR_ARGUMENT, "seconds");
  assert_ok(front_dgemm(context, N, 1, a, b, 0, c));
  assert_ok(tsr_timeline_begin(context)); /* again: what was kept is dropped */
  assert_ok(tsr_timeline_end(context, &text));
  assert_int_equal(occurrences(text, "\"ph\":\"X\""), 0);
  free(text);
  assert_refused(tsr_timeline_end(context, &text), TSR_ERR_ARGUMENT, "tsr_timeline_begin");
  assert_ok(tsr_timeline_begin(context));
  assert_ok(front_dgemm_async(context, N, 1, a, b, 0, c));
  tsr_context_destroy(context); /* in the middle of one */
}

/* ---- Maps ---- */

static int devices_of_last(tsr_context *context) {
  tsr_plan *plan;
  tsr_prediction predicted;
  assert_ok(tsr_sync(context));
  assert_ok(tsr_plan_last(context, &plan));
  assert_ok(tsr_plan_predict(plan, &predicted));
  tsr_plan_destroy(plan);
  return predicted.devices;
}

/* Skips the test on a machine that has one device. */
static tsr_context *two_devices(void) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.devices = "2";
  options.machine = "host:200 gpu*2@nvswitch:300 pcie:25 rate:19";
  tsr_status status = tsr_context_create(&options, &context);
  if (status == TSR_ERR_ARGUMENT && strstr(tsr_message(), "this machine has 1") != NULL) skip();
  assert_ok(status);
  return context;
}

/* All of C is mapped to the first device: the second one has no part in it, and nothing to send. */
static void test_a_mapped_result_is_computed_there(void **state) {
  (void)state;
  tsr_context *context = two_devices();
  tsr_traffic last = {0};
  double *a = pinned(context, 1), *b = pinned(context, 2), *c = pinned(context, 3);
  double *d = pinned(context, 4), *expected = front_matrix(N * N, 4);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 0, c));
  assert_int_equal(devices_of_last(context), 2);
  assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D));
  assert_ok(tsr_map_2d_block_cyclic(context, N, N, d, N, TSR_D, N, N, 1, 1));
  (void)moved(context, &last);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, d));
  assert_moved(context, &last, 3, 0, 1);
  assert_int_equal(devices_of_last(context), 1);
  assert_ok(bring_home(context, d));
  assert_ok(tsr_sync(context));
  front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(d, expected, N * N);
  assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D)); /* and where it was mapped */
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, d));
  assert_int_equal(devices_of_last(context), 2);
  free(expected);
  tsr_context_destroy(context);
}

/* A region's whereabouts, which must be these. */
static void assert_where(tsr_context *context, const double *x, int n, int holder, double share,
                         int map, int at_home) {
  int device = -2, mapped = -2, current = -2;
  double part = -1;
  assert_ok(tsr_where(context, n, n, x, N, TSR_D, &device, &part, &mapped, &current));
  assert_int_equal(device, holder);
  assert_true(part == share);
  assert_int_equal(mapped, map);
  assert_int_equal(current, at_home);
}

static void test_a_block_is_put_and_found(void **state) {
  (void)state;
  tsr_context *context = two_devices();
  tsr_traffic last = {0};
  double *a = pinned(context, 1), *b = pinned(context, 2), *c = pinned(context, 3);
  assert_where(context, a, N, -1, 0, -1, 1);
  for (int d = 0; d < 2; d++) {
    assert_ok(tsr_put_async(context, N, N, a, N, TSR_D, d));
    assert_where(context, a, N, d, 1, d, 1);
    assert_where(context, a + N / 2 * (N + 1), N / 2, d, 1, d, 1);
    assert_ok(tsr_release(context, N, N, a, N, TSR_D));
    assert_where(context, a, N, -1, 0, -1, 1);
  }
  assert_ok(tsr_put_async(context, N, N, c, N, TSR_D, 1));
  (void)moved(context, &last);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_moved(context, &last, 2, 0, 1); /* C is there */
  assert_where(context, c, N, 1, 1, 1, 0);
  assert_ok(bring_home(context, c));
  assert_where(context, c, N, 1, 1, 1, 1);
  assert_ok(tsr_sync(context));
  int device = 7;
  assert_int_equal(tsr_put_async(context, N, N, a, N, TSR_D, 2), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_put_async(context, N, N, a, N, TSR_D, -1), TSR_ERR_ARGUMENT);
  assert_int_equal(tsr_where(context, N, N, a, N - 1, TSR_D, &device, NULL, NULL, NULL),
                   TSR_ERR_ARGUMENT);
  assert_int_equal(device, 7);
  assert_ok(tsr_where(context, N, N, a, N, TSR_D, NULL, NULL, NULL, NULL));
  tsr_context_destroy(context);
}

/* Block row i is on device i of a grid that begins at device 0, and on the other one of a grid that
 * begins at device 1. */
static void test_a_map_begins_at_any_device(void **state) {
  (void)state;
  tsr_context *context = two_devices();
  double *a = pinned(context, 1);
  for (int first = 0; first < 2; first++) {
    assert_ok(
        tsr_distribute_block_cyclic_async(context, N, N, a, N, TSR_D, N / 2, N / 2, 2, 1, first));
    assert_where(context, a, N / 2, first, 1, first, 1);
    assert_where(context, a + N / 2, N / 2, 1 - first, 1, 1 - first, 1);
    assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D));
  }
  assert_int_equal(tsr_map_block_cyclic(context, N, N, a, N, TSR_D, 8, 8, 2, 1, 2),
                   TSR_ERR_ARGUMENT);
  tsr_context_destroy(context);
}

/* trsm with A on the left does not follow a map that cuts columns, and says so. */
static void test_a_call_says_that_it_follows_no_map(void **state) {
  static const double one = 1;
  (void)state;
  tsr_context *context = two_devices();
  double *a = pinned(context, 1), *x = pinned(context, 2);
  for (int i = 0; i < N; i++) a[i * (N + 1)] = N;
  for (int cut = 0; cut < 2; cut++) {
    assert_ok(tsr_map_2d_block_cyclic(context, N, N, x, N, TSR_D, 16, 16, 1 + cut, 2 - cut));
    assert_ok(tsr_trsm_async(context, TSR_D, TSR_COL_MAJOR, TSR_LEFT, TSR_LOWER, TSR_NO_TRANS,
                             TSR_NON_UNIT, N, N, &one, a, N, x, N));
    assert_ok(tsr_sync(context));
    assert_true(front_last_says(context, "p = 1") == (cut == 1));
  }
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_sequence_moves_no_byte_twice),
                                     cmocka_unit_test(test_all_come_home),
                                     cmocka_unit_test(test_blocking_calls_count),
                                     cmocka_unit_test(test_traffic_of_devices),
                                     cmocka_unit_test(test_timeline),
                                     cmocka_unit_test(test_timelines_end_once),
                                     cmocka_unit_test(test_a_mapped_result_is_computed_there),
                                     cmocka_unit_test(test_a_block_is_put_and_found),
                                     cmocka_unit_test(test_a_map_begins_at_any_device),
                                     cmocka_unit_test(test_a_call_says_that_it_follows_no_map)};
  return cmocka_run_group_tests(tests, clear, NULL);
}
