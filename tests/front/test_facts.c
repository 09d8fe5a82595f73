/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What a context tells: how far it has come, what it works with, what products summed up take. */
#include "front.h"

#include "engine/host/host.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static void events_complete_in_order(void **state) {
  (void)state;
  enum { N = 40, CALLS = 6 };
  tsr_context *context = front_context();
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  tsr_event before, events[CALLS];
  int complete = 0;
  assert_ok(tsr_event_record(context, &before));
  assert_ok(tsr_event_query(context, &before, &complete));
  assert_int_equal(complete, 1); /* nothing was called */
  for (int i = 0; i < CALLS; i++) {
    assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
    assert_ok(tsr_event_record(context, &events[i]));
  }
  for (int i = 0; i < CALLS; i++) {
    do assert_ok(tsr_event_query(context, &events[i], &complete));
    while (!complete);
    for (int j = 0; j < i; j++) {
      assert_ok(tsr_event_query(context, &events[j], &complete));
      assert_int_equal(complete, 1);
    }
  }
  assert_ok(tsr_sync(context));
  tsr_context_destroy(context);
  free(a), free(b), free(c);
}

static void wrong_events_are_refused(void **state) {
  (void)state;
  tsr_context *context = front_context(), *other = front_context();
  tsr_event event, others, none = {NULL, 0};
  int complete = 7;
  assert_ok(tsr_event_record(context, &event));
  assert_ok(tsr_event_record(other, &others));
  assert_refused(tsr_event_record(NULL, &event), TSR_ERR_ARGUMENT, "context is NULL");
  assert_refused(tsr_event_record(context, NULL), TSR_ERR_ARGUMENT, "event is NULL");
  assert_refused(tsr_event_query(context, NULL, &complete), TSR_ERR_ARGUMENT, "event is NULL");
  assert_refused(tsr_event_query(context, &event, NULL), TSR_ERR_ARGUMENT, "complete is NULL");
  assert_refused(tsr_event_query(context, &others, &complete), TSR_ERR_ARGUMENT, "this context");
  assert_refused(tsr_event_query(context, &none, &complete), TSR_ERR_ARGUMENT, "this context");
  assert_refused(tsr_event_query_between(context, &none, &event, &complete), TSR_ERR_ARGUMENT,
                 "from was not");
  assert_refused(tsr_event_query_between(context, &event, &others, &complete), TSR_ERR_ARGUMENT,
                 "to was not");
  assert_refused(tsr_event_wait(context, &others), TSR_ERR_ARGUMENT, "this context");
  assert_int_equal(complete, 7);
  tsr_context_destroy(context), tsr_context_destroy(other);
}

/* With devices that copy slowly: while one product's C comes home, the small one behind it is
 * complete, and an event before the small one is not. */
static void later_calls_complete_first(void **state) {
  (void)state;
  enum { N = 1200, SMALL = 16 };
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "host";
  options.machine = "host:20 gpu*2 pcie:0.2 rate:50";
  tsr_context *context = NULL;
  assert_ok(tsr_context_create(&options, &context));
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *x = front_matrix(SMALL * SMALL, 4), *y = front_matrix(SMALL * SMALL, 5);
  tsr_event events[3];
  int all = 0, last = 0;
  assert_ok(tsr_event_record(context, &events[0]));
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(tsr_event_record(context, &events[1]));
  assert_ok(front_dgemm_async(context, SMALL, 1, x, x, 1, y));
  assert_ok(tsr_event_record(context, &events[2]));
  while (!last) {
    assert_ok(tsr_event_query(context, &events[2], &all));
    assert_ok(tsr_event_query_between(context, &events[1], &events[2], &last));
    assert_true(last || !all); /* in this order: when all calls are complete, the last is */
  }
  assert_ok(tsr_event_wait(context, &events[2]));
  assert_ok(tsr_event_query(context, &events[2], &all));
  assert_int_equal(all, 1);
  for (int i = 0; i < 2; i++) {
    assert_ok(tsr_event_query_between(context, &events[i], &events[i + 1], &last));
    assert_int_equal(last, 1);
  }
  assert_ok(tsr_sync(context));
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(x), free(y);
}

/* tsr_event_wait waits for the calls before the event, and for no later one: the later one cannot
 * begin, since its memory is not pinned before the wait is over. */
static void waits_for_earlier_calls_only(void **state) {
  (void)state;
  enum { N = 40, BYTES = (N * N * sizeof(double) + 4095) / 4096 * 4096 };
  if (strcmp(front_engine(), "host") != 0) skip();
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.check = 0; /* in checking mode a call waits for the one before */
  assert_ok(front_create(&options, &context));
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *late = aligned_alloc(4096, BYTES);
  tsr_event first, second;
  int complete = 0;
  assert_non_null(late);
  front_fill(late, N * N, 4);
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(tsr_event_record(context, &first));
  tsr_engine_host_hold_pins(true);
  assert_ok(tsr_register(context, late, BYTES));
  assert_ok(front_dgemm_async(context, N, 1, late, b, 0, c));
  assert_ok(tsr_event_record(context, &second));
  assert_ok(tsr_event_wait(context, &first));
  assert_ok(tsr_event_query(context, &first, &complete));
  assert_int_equal(complete, 1);
  assert_ok(tsr_event_query(context, &second, &complete));
  assert_int_equal(complete, 0);
  tsr_engine_host_hold_pins(false);
  assert_ok(tsr_event_wait(context, &second));
  assert_ok(tsr_event_query(context, &second, &complete));
  assert_int_equal(complete, 1);
  assert_ok(tsr_sync(context));
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(late);
}

static tsr_context *planner(const char *machine, size_t memory) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = "cpu";
  options.machine = machine;
  options.memory = memory;
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

static void facts(void **state) {
  (void)state;
  tsr_context_facts one, two, other;
  tsr_context *a = planner("gpu*3:16 net:12.5,3 staging:4@7", 5000000000);
  tsr_context *b = planner("gpu*3:16 net:9 staging:4@7", 5000000000);
  tsr_context *c = planner("gpu*3:16 net:9 staging:4@7", 4000000000);
  assert_ok(tsr_context_describe(a, &one));
  assert_ok(tsr_context_describe(b, &two));
  assert_ok(tsr_context_describe(c, &other));
  assert_int_equal(one.devices, 3);
  assert_int_equal(one.memory, 5000000000);
  assert_true(one.network_bandwidth == 12.5e9 && one.network_latency == 3e-6);
  assert_true(one.staging_rate == 7e9 && one.reproducible == 0 && one.check == 0);
  assert_true(one.plans == two.plans); /* the network is no part of them */
  assert_true(two.plans != other.plans);
  assert_refused(tsr_context_describe(a, NULL), TSR_ERR_ARGUMENT, "facts");
  tsr_context_destroy(a);
  tsr_context_destroy(b);
  tsr_context_destroy(c);
}

/* No less than must be computed or moved, and that it is this which is counted: not twice as much.
 */
static void expect_at_least(double value, double least) {
  if (value < least * (1 - 1e-3) || value > 2 * least)
    fail_msg("%g is not %g or somewhat more", value, least);
}

/* On three devices of 7.2 TFLOP/s each, behind 50 GB/s each. */
static void products_summed_up(void **state) {
  (void)state;
  enum { N = 20000, K = 2048 };
  static const double one = 1, zero = 0;
  tsr_context *context = planner("host:150 gpu*3:16@nvlink:50 pcie:50 rate:7.2", 0);
  double flops = 2.0 * N * N * K / (3 * 7.2e12), c = 8.0 * N * N, out = c / 150e9;
  for (int quick = 0; quick < 2; quick++) {
    tsr_accumulation read, fresh, deep;
    assert_ok(tsr_plan_accumulation(context, TSR_D, N, N, K, TSR_HOST, &one, quick, &read));
    assert_ok(tsr_plan_accumulation(context, TSR_D, N, N, K, TSR_HOST, &zero, quick, &fresh));
    assert_ok(tsr_plan_accumulation(context, TSR_D, N, N, 2 * K, TSR_HOST, &zero, quick, &deep));
    expect_at_least(read.next.kernels, flops);
    expect_at_least(deep.next.kernels, 2 * flops);
    expect_at_least(read.home, out);
    expect_at_least((double)read.result, c / 3);
    expect_at_least((double)read.inputs, 8.0 * K * (N + N / 3.0));
    expect_at_least(read.first.copies - read.next.copies, out); /* C comes along */
    expect_at_least(fresh.first.copies, fresh.next.copies);
    assert_true(read.next.alone >= read.next.kernels && read.first.alone >= read.next.alone * 0.99);
  }
  tsr_context_destroy(context);
}

/* A and B in the memory of a device: they come over its links, and it has no copies of them. */
static void products_of_panels_on_a_device(void **state) {
  (void)state;
  front_needs_peers();
  enum { N = 20000, K = 2048 };
  static const double one = 1;
  double panel = 8.0 * N * K;
  for (int devices = 1; devices <= 2; devices++)
    for (int quick = 0; quick < 2; quick++) {
      tsr_accumulation x;
      tsr_context *context = planner(devices == 1 ? "host:150 gpu*1:16@nvlink:50 pcie:25 rate:7.2"
                                                  : "host:150 gpu*2:16@nvlink:50 pcie:25 rate:7.2",
                                     0);
      assert_ok(tsr_plan_accumulation(context, TSR_D, N, N, K, 0, &one, quick, &x));
      expect_at_least(x.next.kernels, 2.0 * N * N * K / (devices * 7.2e12));
      if (devices == 1) assert_true(x.next.copies == 0 && x.inputs == 0);
      if (devices == 2) expect_at_least(x.next.copies, 1.5 * panel / 50e9);
      if (devices == 2) expect_at_least((double)x.inputs, 1.5 * panel);
      expect_at_least(x.first.copies, 8.0 * N * N / (25e9 * devices));
      tsr_context_destroy(context);
    }
}

/* A C of most of the memory has no room for a partial one beside it, and does not move. */
static void products_that_nearly_fill_devices(void **state) {
  (void)state;
  front_needs_peers();
  enum { N = 54000, K = 1024 };
  static const double values[2] = {0, 1};
  tsr_context *context = planner("host:150 gpu*3:16@nvlink:50 pcie:50 rate:7.2", 12800000000);
  for (int i = 0; i < 2; i++) {
    tsr_accumulation x;
    assert_ok(tsr_plan_accumulation(context, TSR_D, N, N, K, TSR_HOST, &values[i], 0, &x));
    expect_at_least((double)x.result, 8.0 * N * N / 3);
    expect_at_least(x.next.copies, 8.0 * N * K * (1 + 1 / 3.0) / (50e9 + 50e9)); /* host, peers */
  }
  tsr_context_destroy(context);
}

static void products_that_do_not_fit(void **state) {
  (void)state;
  static const double one = 1;
  tsr_accumulation x;
  tsr_context *context = planner("gpu*2:16@nvlink:50", 64 << 20);
  assert_int_equal(tsr_plan_accumulation(context, TSR_D, 8000, 8000, 500, TSR_HOST, &one, 0, &x),
                   TSR_ERR_MEMORY);
  assert_ok(tsr_plan_accumulation(context, TSR_D, 1000, 1000, 500, TSR_HOST, &one, 0, &x));
  assert_ok(tsr_plan_accumulation(context, TSR_D, 0, 1000, 500, TSR_HOST, &one, 0, &x));
  assert_true(x.next.alone == 0 && x.result == 0);
  assert_refused(tsr_plan_accumulation(context, TSR_D, -1, 2, 3, TSR_HOST, &one, 1, &x),
                 TSR_ERR_ARGUMENT, "m");
  assert_refused(tsr_plan_accumulation(context, TSR_D, 1, 2, 3, TSR_HOST, &one, 1, NULL),
                 TSR_ERR_ARGUMENT, "predicted");
  assert_refused(tsr_plan_accumulation(context, TSR_D, 1, 2, 3, 2, &one, 1, &x), TSR_ERR_ARGUMENT,
                 "inputs is 2");
  tsr_context_destroy(context);
  context = planner("host:100 cpu:500", 0);
  assert_ok(tsr_plan_accumulation(context, TSR_D, 1000, 1000, 1000, TSR_HOST, &one, 0, &x));
  expect_at_least(x.next.alone, 2e9 / 500e9);
  tsr_context_destroy(context);
}

/* Rates by the length of runs, as the machine has them. */
static void rates_of_copies(void **state) {
  (void)state;
  front_needs_peers();
  double rate = 0, whole = 0;
  tsr_context *context = planner("host:100 gpu*2@nvlink:50 pcie:25", 0);
  assert_ok(tsr_copy_rate(context, TSR_HOST, 1, 1 << 20, 0, &rate));
  assert_true(rate == 25e9);
  assert_ok(tsr_copy_rate(context, 0, 1, 64, 0, &rate));
  assert_true(rate == 50e9);
  assert_refused(tsr_copy_rate(context, 2, 0, 1, 0, &rate), TSR_ERR_ARGUMENT, "from is 2");
  assert_refused(tsr_copy_rate(context, 0, -2, 1, 0, &rate), TSR_ERR_ARGUMENT, "to is -2");
  assert_refused(tsr_copy_rate(context, 0, 1, 1, 0, NULL), TSR_ERR_ARGUMENT, "rate");
  assert_refused(tsr_copy_rate(NULL, 0, 1, 1, 0, &rate), TSR_ERR_ARGUMENT, "context");
  tsr_context_destroy(context);
  context = planner(
      "{\"tessera_machine\": 1, \"nodes\": 1, \"staging\": {\"threads\": 4, \"thread_rate\": 1e10, "
      "\"rate\": 4e10}, "
      "\"links\": ["
      "{\"from\": \"host0\", \"to\": \"gpu0\", \"bandwidth\": 5e10, \"latency\": 1e-6,"
      " \"shape\": [[4096, 2e10], [65536, 5e10]],"
      " \"close\": {\"pitch\": 16384, \"shape\": [[4096, 4e10]]}},"
      "{\"from\": \"gpu0\", \"to\": \"host0\", \"bandwidth\": 5e10, \"latency\": 1e-6}],"
      "\"devices\": [{\"name\": \"g\", \"memory\": 1e9, \"memory_rate\": 1e12}],"
      "\"rates\": {\"d\": {\"sustained\": 1e12, \"area\": [1024], \"k\": [1024], \"flops\": "
      "[[1e12]]}}}",
      0);
  assert_ok(tsr_copy_rate(context, TSR_HOST, 0, 8 << 20, 0, &whole));
  assert_ok(tsr_copy_rate(context, TSR_HOST, 0, 4096, 0, &rate));
  assert_true(whole == 5e10 && rate == 2e10);
  assert_ok(tsr_copy_rate(context, TSR_HOST, 0, 4096, 16384, &rate));
  assert_true(rate == 4e10);
  assert_ok(tsr_copy_rate(context, TSR_HOST, 0, 4096, 16385, &rate));
  assert_true(rate == 2e10);
  assert_ok(tsr_copy_rate(context, 0, TSR_HOST, 4096, 0, &rate));
  assert_true(rate == 5e10);
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_complete_in_order),
      cmocka_unit_test(wrong_events_are_refused),
      cmocka_unit_test(later_calls_complete_first),
      cmocka_unit_test(waits_for_earlier_calls_only),
      cmocka_unit_test(facts),
      cmocka_unit_test(rates_of_copies),
      cmocka_unit_test(products_summed_up),
      cmocka_unit_test(products_of_panels_on_a_device),
      cmocka_unit_test(products_that_nearly_fill_devices),
      cmocka_unit_test(products_that_do_not_fit),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
