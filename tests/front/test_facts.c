/* What a context tells: how far it has come, what it works with, what products summed up take. */
#include "front.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static void points_are_passed(void **state) {
  (void)state;
  enum { N = 40, CALLS = 6 };
  tsr_context *context = front_context();
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  uint64_t before, points[CALLS];
  int passed = 0;
  assert_ok(tsr_point(context, &before));
  assert_ok(tsr_passed(context, before, &passed));
  assert_int_equal(passed, 1); /* nothing was called */
  for (int i = 0; i < CALLS; i++) {
    assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
    assert_ok(tsr_point(context, &points[i]));
    assert_true(points[i] > (i == 0 ? before : points[i - 1]));
  }
  for (int i = 0; i < CALLS; i++) {
    do assert_ok(tsr_passed(context, points[i], &passed));
    while (!passed);
    for (int j = 0; j < i; j++) {
      assert_ok(tsr_passed(context, points[j], &passed));
      assert_int_equal(passed, 1);
    }
  }
  assert_ok(tsr_sync(context));
  assert_ok(tsr_passed(context, points[CALLS - 1] + 1, &passed));
  assert_int_equal(passed, 0); /* of what has not been called yet */
  assert_refused(tsr_point(context, NULL), TSR_ERR_ARGUMENT, "point");
  assert_refused(tsr_passed(context, 0, NULL), TSR_ERR_ARGUMENT, "passed");
  assert_refused(tsr_point(NULL, &before), TSR_ERR_ARGUMENT, "context");
  tsr_context_destroy(context);
  free(a), free(b), free(c);
}

/* With devices that copy slowly: one product's way home does not hold up what says of the next that
 * it is over, though all that was called before is not. */
static void later_calls_pass_first(void **state) {
  (void)state;
  enum { N = 1200, SMALL = 16 };
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "host";
  options.machine = "host:20 gpu*2 pcie:0.2 rate:50";
  tsr_context *context = NULL;
  assert_ok(tsr_context_create(&options, &context));
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *x = front_matrix(SMALL * SMALL, 4), *y = front_matrix(SMALL * SMALL, 5);
  uint64_t points[3];
  int all = 0, last = 0;
  assert_ok(tsr_point(context, &points[0]));
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(tsr_point(context, &points[1]));
  assert_ok(front_dgemm_async(context, SMALL, 1, x, x, 1, y));
  assert_ok(tsr_point(context, &points[2]));
  while (!last) {
    assert_ok(tsr_passed(context, points[2], &all));
    assert_ok(tsr_passed_between(context, points[1], points[2], &last));
    assert_true(last || !all); /* in this order: what all have passed, the last has */
  }
  while (!all) assert_ok(tsr_passed(context, points[2], &all));
  for (int i = 0; i < 2; i++) {
    assert_ok(tsr_passed_between(context, points[i], points[i + 1], &last));
    assert_int_equal(last, 1);
  }
  assert_ok(tsr_passed_between(context, points[2], points[2] + 1, &last));
  assert_int_equal(last, 0); /* of what has not been called yet */
  assert_refused(tsr_passed_between(context, 0, 0, NULL), TSR_ERR_ARGUMENT, "passed");
  assert_ok(tsr_sync(context));
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(x), free(y);
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
  tsr_context *a = planner("gpu*3:16 net:12.5,3 lanes:4@7", 5000000000);
  tsr_context *b = planner("gpu*3:16 net:9 lanes:4@7", 5000000000);
  tsr_context *c = planner("gpu*3:16 net:9 lanes:4@7", 4000000000);
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
  double rate = 0, whole = 0;
  tsr_context *context = planner("host:100 gpu*2@nvlink:50 pcie:25", 0);
  assert_ok(tsr_copy_rate(context, TSR_HOST, 1, 1 << 20, &rate));
  assert_true(rate == 25e9);
  assert_ok(tsr_copy_rate(context, 0, 1, 64, &rate));
  assert_true(rate == 50e9);
  assert_refused(tsr_copy_rate(context, 2, 0, 1, &rate), TSR_ERR_ARGUMENT, "from is 2");
  assert_refused(tsr_copy_rate(context, 0, -2, 1, &rate), TSR_ERR_ARGUMENT, "to is -2");
  assert_refused(tsr_copy_rate(context, 0, 1, 1, NULL), TSR_ERR_ARGUMENT, "rate");
  assert_refused(tsr_copy_rate(NULL, 0, 1, 1, &rate), TSR_ERR_ARGUMENT, "context");
  tsr_context_destroy(context);
  context = planner(
      "{\"tessera_machine\": 1, \"nodes\": 1, \"staging\": {\"lanes\": 4, \"lane_rate\": 1e10, "
      "\"rate\": 4e10}, "
      "\"links\": ["
      "{\"from\": \"host0\", \"to\": \"gpu0\", \"bandwidth\": 5e10, \"latency\": 1e-6,"
      " \"shape\": [[4096, 2e10], [65536, 5e10]]},"
      "{\"from\": \"gpu0\", \"to\": \"host0\", \"bandwidth\": 5e10, \"latency\": 1e-6}],"
      "\"devices\": [{\"name\": \"g\", \"memory\": 1e9, \"memory_rate\": 1e12}],"
      "\"rates\": {\"d\": {\"sustained\": 1e12, \"area\": [1024], \"k\": [1024], \"flops\": "
      "[[1e12]]}}}",
      0);
  assert_ok(tsr_copy_rate(context, TSR_HOST, 0, 8 << 20, &whole));
  assert_ok(tsr_copy_rate(context, TSR_HOST, 0, 4096, &rate));
  assert_true(whole == 5e10 && rate == 2e10);
  assert_ok(tsr_copy_rate(context, 0, TSR_HOST, 4096, &rate));
  assert_true(rate == 5e10);
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_passed),
      cmocka_unit_test(later_calls_pass_first),
      cmocka_unit_test(facts),
      cmocka_unit_test(rates_of_copies),
      cmocka_unit_test(products_summed_up),
      cmocka_unit_test(products_of_panels_on_a_device),
      cmocka_unit_test(products_that_nearly_fill_devices),
      cmocka_unit_test(products_that_do_not_fit),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
