/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* How far a call has come: told while it is waited for. */
#include <stdatomic.h>

#include "base/clock.h"
#include "cpu/blas.h"
#include "engine/host/host.h"
#include "front.h"

enum { N = 160, MOST = 100000 };

/* Of a call's kernels, this one and those behind it wait until something between none and all was
 * told: the linker has emulated devices call the function below instead of the kernels'. */
enum { HELD = 2000 };
static atomic_int kernels;
static atomic_bool holds;

tsr_status __real_tsr_cpu_kernel_in(const tsr_kernel_args *x, void *scratch);
tsr_status __wrap_tsr_cpu_kernel_in(const tsr_kernel_args *x, void *scratch);
tsr_status __wrap_tsr_cpu_kernel_in(const tsr_kernel_args *x, void *scratch) {
  if (atomic_fetch_add(&kernels, 1) >= HELD)
    while (atomic_load(&holds)) tsr_sleep(100e-6);
  return __real_tsr_cpu_kernel_in(x, scratch);
}

/* What was told. */
typedef struct told {
  int count, wrong, between; /* times; of those, out of order or no fraction; above 0 and below 1 */
  double last;
  char what[32];
} told;

static void tell(void *user, double fraction, const char *what) {
  told *t = user;
  bool begins = t->last == 1; /* the call before is over */
  t->count++;
  t->wrong += !(fraction >= 0 && fraction <= 1) || (!begins && fraction < t->last);
  t->between += fraction > 0 && fraction < 1;
  t->last = fraction;
  if (t->between > 0) atomic_store(&holds, false);
  snprintf(t->what, sizeof t->what, "%s", what);
}

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

/* Queues that take their time: thousands of commands, one in four delayed. */
static tsr_context *slow_context(const char *devices) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.devices = devices;
  options.check = 0;
  tsr_host_delay(7);
  assert_ok(front_create_tiled(&options, 8, &context));
  tsr_host_delay(0);
  return context;
}

static void test_a_long_call(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = slow_context("2");
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  told t = {.last = 1};
  assert_ok(tsr_set_progress(context, tell, &t));
  atomic_store(&holds, true);
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(c, expected, N * N);
  assert_true(atomic_load(&kernels) > HELD);
  assert_int_equal(t.wrong, 0);
  assert_true(t.count > 1);
  assert_true(t.between > 0);
  assert_true(t.last == 1);
  assert_string_equal(t.what, "gemm");
  assert_ok(tsr_set_progress(context, NULL, NULL));
  int count = t.count;
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  assert_int_equal(t.count, count);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected);
}

static void test_each_call_ends_with_one(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = front_context();
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  told t = {.last = 1};
  assert_ok(tsr_set_progress(context, tell, &t));
  for (int i = 0; i < 3; ++i) {
    int before = t.count;
    assert_ok(front_dgemm(context, N, 1, a, b, 0, c));
    assert_true(t.count > before);
    assert_true(t.last == 1);
  }
  double alpha = 1, beta = 0.5;
  assert_ok(tsr_syrk(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, TSR_NO_TRANS, N, N, &alpha, a, N,
                     &beta, c, N));
  assert_string_equal(t.what, "syrk");
  assert_int_equal(t.wrong, 0);
  tsr_context_destroy(context);
  free(a), free(b), free(c);
}

/* Scaling has no products: bytes count. */
static void test_without_products(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = slow_context("1");
  double *c = front_matrix(N * N, 3);
  told t = {.last = 1};
  assert_ok(tsr_set_progress(context, tell, &t));
  assert_ok(front_dgemm(context, N, 0, NULL, NULL, 2, c));
  assert_int_equal(t.wrong, 0);
  assert_true(t.last == 1);
  tsr_context_destroy(context);
  free(c);
}

/* Nothing is done before memory is pinned; what is told then lets it go on. */
static void let_go(void *user, double fraction, const char *what) {
  told *t = user;
  if (t->count == 0) assert_true(fraction == 0);
  tell(user, fraction, what);
  tsr_engine_host_hold_pins(false);
}

static void test_nothing_done_yet(void **state) {
  (void)state;
  front_needs_emulated_devices();
  enum { BYTES = N * N * sizeof(double) };
  tsr_context *context = front_context();
  double *a = aligned_alloc(4096, (BYTES + 4095) / 4096 * 4096);
  double *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  told t = {.last = 1};
  assert_non_null(a);
  front_fill(a, N * N, 1);
  assert_ok(tsr_set_progress(context, let_go, &t));
  tsr_engine_host_hold_pins(true);
  assert_ok(tsr_register(context, a, BYTES));
  assert_ok(front_dgemm(context, N, 1, a, b, 1, c));
  assert_true(t.count > 1);
  assert_true(t.last == 1);
  assert_ok(tsr_unregister(context, a));
  tsr_context_destroy(context);
  free(a), free(b), free(c);
}

static void test_wrong_context(void **state) {
  (void)state;
  assert_refused(tsr_set_progress(NULL, NULL, NULL), TSR_ERR_ARGUMENT, "context");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_a_long_call, clear),
                                     cmocka_unit_test_setup(test_each_call_ends_with_one, clear),
                                     cmocka_unit_test_setup(test_without_products, clear),
                                     cmocka_unit_test_setup(test_nothing_done_yet, clear),
                                     cmocka_unit_test(test_wrong_context)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
