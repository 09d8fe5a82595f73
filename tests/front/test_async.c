/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Asynchronous calls take effect in the order they were made; threads share a context or have one
 * each. */
#include <pthread.h>

#include "base/clock.h"
#include "engine/host/host.h"
#include "front.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

/* Small whole numbers stay exact through a chain of products. */
static void fill_bits(double *x, int64_t count, int seed) {
  for (int64_t i = 0; i < count; ++i) x[i] = (i * 5 + seed) % 7 == 0;
}

/* C of one call is A of the next, then B, then C. */
static tsr_status bring_home(tsr_context *context, int64_t n, const double *c) {
  return tsr_coherent_async(context, TSR_GENERAL, n, n, c, n, TSR_D);
}

static tsr_status chain(tsr_context *context, int64_t n, double *m[5]) {
  tsr_status status = front_dgemm_async(context, n, 1, m[0], m[1], 0, m[2]);
  if (status == TSR_OK) status = front_dgemm_async(context, n, 1, m[2], m[1], 0, m[3]);
  if (status == TSR_OK) status = front_dgemm_async(context, n, 1, m[0], m[3], 0, m[4]);
  if (status == TSR_OK) status = front_dgemm_async(context, n, -1, m[2], m[1], 1, m[4]);
  if (status == TSR_OK) status = front_dgemm_async(context, n, 1, m[1], m[1], 0, m[0]);
  for (int i = 0; i < 5 && status == TSR_OK; ++i) status = bring_home(context, n, m[i]);
  tsr_status synced = tsr_sync(context);
  for (int i = 0; i < 5; ++i) assert_ok(tsr_release(context, n, n, m[i], n, TSR_D));
  return status == TSR_OK ? synced : status;
}

static void chain_reference(int64_t n, double *m[5]) {
  front_reference(n, 1, m[0], m[1], 0, m[2]);
  front_reference(n, 1, m[2], m[1], 0, m[3]);
  front_reference(n, 1, m[0], m[3], 0, m[4]);
  front_reference(n, -1, m[2], m[1], 1, m[4]);
  front_reference(n, 1, m[1], m[1], 0, m[0]);
}

static void chain_make(int64_t n, int seed, double *m[5]) {
  for (int i = 0; i < 5; ++i) {
    m[i] = malloc((size_t)(n * n) * sizeof(double));
    if (m[i]) fill_bits(m[i], n * n, seed + i);
  }
}

static int chain_equal(int64_t n, double *x[5], double *y[5]) {
  int equal = 1;
  for (int i = 0; i < 5; ++i) equal &= memcmp(x[i], y[i], (size_t)(n * n) * sizeof(double)) == 0;
  return equal;
}

static void chain_free(double *m[5]) {
  for (int i = 0; i < 5; ++i) free(m[i]);
}

static int chain_is_right(tsr_context *context, int64_t n, int seed) {
  double *got[5], *expected[5];
  chain_make(n, seed, got), chain_make(n, seed, expected);
  chain_reference(n, expected);
  int right = chain(context, n, got) == TSR_OK && chain_equal(n, got, expected);
  chain_free(got), chain_free(expected);
  return right;
}

static void test_chain(void **state) {
  (void)state;
  static const int64_t extents[] = {1, 5, 16, 33, 70};
  tsr_context *context = front_context();
  for (size_t i = 0; i < sizeof extents / sizeof *extents; ++i)
    assert_true(chain_is_right(context, extents[i], (int)i));
  tsr_context_destroy(context);
}

static void test_chain_with_delays(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    tsr_options options = front_options();
    tsr_context *context;
    tsr_host_delay(seed);
    assert_ok(front_create(&options, &context));
    tsr_host_delay(0);
    assert_true(chain_is_right(context, 40, (int)seed));
    tsr_context_destroy(context);
  }
}

/* A blocking call takes effect after the asynchronous ones before it. */
static void test_blocking_after_async(void **state) {
  (void)state;
  enum { N = 40 };
  tsr_context *context = front_context();
  double *m[5], *expected[5];
  chain_make(N, 3, m), chain_make(N, 3, expected);
  assert_ok(front_dgemm_async(context, N, 1, m[0], m[1], 0, m[2]));
  assert_ok(front_dgemm(context, N, 1, m[2], m[1], 0, m[3]));
  front_reference(N, 1, expected[0], expected[1], 0, expected[2]);
  front_reference(N, 1, expected[2], expected[1], 0, expected[3]);
  front_assert_equal(m[3], expected[3], N * N);
  assert_ok(tsr_sync(context));
  front_assert_equal(m[2], expected[2], N * N);
  tsr_context_destroy(context);
  chain_free(m), chain_free(expected);
}

/* alpha and beta are copied: they may change once the call returned. */
static void test_scalars_are_copied(void **state) {
  (void)state;
  enum { N = 40 };
  tsr_context *context = front_context();
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3), alpha = 2, beta = 3;
  assert_ok(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                           &alpha, a, N, b, N, &beta, c, N));
  alpha = beta = 1e300;
  assert_ok(bring_home(context, N, c));
  assert_ok(tsr_sync(context));
  front_reference(N, 2, a, b, 3, expected);
  front_assert_equal(c, expected, N * N);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected);
}

/* Destroying a context waits for what was submitted. */
static void test_destroy_waits(void **state) {
  (void)state;
  enum { N = 60 };
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  tsr_context *context = front_context();
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(bring_home(context, N, c));
  tsr_context_destroy(context);
  front_reference(N, 1, a, b, 1, expected);
  front_assert_equal(c, expected, N * N);
  free(a), free(b), free(c), free(expected);
}

static void test_many_in_flight(void **state) {
  (void)state;
  enum { N = 20, CALLS = 200 };
  tsr_context *context = front_context();
  double *a = malloc(N * N * sizeof *a), *c = calloc(N * N, sizeof *c);
  for (int i = 0; i < N * N; ++i) a[i] = i % (N + 1) == 0; /* the identity */
  for (int i = 0; i < CALLS; ++i) assert_ok(front_dgemm_async(context, N, 1, a, a, 1, c));
  assert_ok(bring_home(context, N, c));
  assert_ok(tsr_sync(context));
  for (int i = 0; i < N * N; ++i) assert_true(c[i] == CALLS * a[i]);
  assert_ok(tsr_sync(context)); /* nothing left to wait for */
  tsr_context_destroy(context);
  free(a), free(c);
}

typedef struct caller {
  tsr_context *context;
  int seed, right;
} caller;

static void *call_often(void *argument) {
  caller *who = argument;
  who->right = 1;
  for (int i = 0; i < 12; ++i)
    who->right &= chain_is_right(who->context, 8 + 9 * (i % 4), who->seed + i);
  return NULL;
}

static void with_threads(int shared) {
  enum { THREADS = 2 };
  pthread_t thread[THREADS];
  caller who[THREADS];
  tsr_context *common = shared ? front_context() : NULL;
  for (int i = 0; i < THREADS; ++i) {
    who[i] = (caller){shared ? common : front_context(), 100 * i, 0};
    assert_int_equal(pthread_create(&thread[i], NULL, call_often, &who[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(thread[i], NULL);
    if (!shared) tsr_context_destroy(who[i].context);
  }
  tsr_context_destroy(common);
  for (int i = 0; i < THREADS; ++i) assert_true(who[i].right);
}

static void test_threads_share(void **state) {
  (void)state;
  with_threads(1);
}

static void test_threads_own(void **state) {
  (void)state;
  with_threads(0);
}

static void *let_go(void *argument) {
  (void)argument;
  tsr_sleep(30e-3);
  tsr_engine_host_hold_queues(false);
  return NULL;
}

/* A column that is on its way home when memory around it is invalidated, with another leading
 * dimension, is a result when it has come; the one beside it, whose result was not asked for, is as
 * the host had it. */
static void test_invalidate_around_what_comes_home(void **state) {
  (void)state;
  enum { N = 40, LONG = 2 * N };
  front_needs_emulated_devices();
  tsr_options options = front_options();
  tsr_context *context = NULL;
  pthread_t thread;
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3), *was = front_matrix(N * N, 3);
  options.check = 0; /* which would wait for each call */
  assert_ok(front_create(&options, &context));
  assert_ok(front_dgemm_async(context, N, 1, a, b, 1, c));
  assert_ok(tsr_sync(context));
  front_reference(N, 1, a, b, 1, expected);
  tsr_engine_host_hold_queues(true);
  assert_ok(tsr_coherent_async(context, TSR_GENERAL, N, 1, c, N, TSR_D));
  assert_int_equal(pthread_create(&thread, NULL, let_go, NULL), 0);
  assert_ok(tsr_invalidate(context, LONG, 1, c, LONG, TSR_D));
  pthread_join(thread, NULL);
  assert_ok(tsr_sync(context));
  front_assert_equal(c, expected, N);
  front_assert_equal(c + N, was + N, N);
  assert_ok(tsr_coherent(context, TSR_GENERAL, N, N, c, N, TSR_D));
  front_assert_equal(c + LONG, expected + LONG, N * N - LONG);
  tsr_context_destroy(context);
  free(a), free(b), free(c), free(expected), free(was);
}

/* Streams of the program's, which emulated devices take any pointer for: calls are in order with
 * them, on one device and on both, and no longer when they are untied. */
static void test_tied_to_streams(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_options options = front_options();
  tsr_context *context = NULL, *cpu = NULL;
  int stream;
  tsr_host_delay(5);
  assert_ok(front_create(&options, &context));
  tsr_host_delay(0);
  for (int tied = 1; tied <= 3; ++tied) {
    for (int d = 0; d < 2; ++d)
      assert_ok(tsr_set_stream(context, d, tied >> d & 1 ? &stream : NULL));
    for (int seed = 0; seed < 6; ++seed) assert_true(chain_is_right(context, 33, seed));
  }
  for (int d = 0; d < 2; ++d) assert_ok(tsr_set_stream(context, d, NULL));
  assert_true(chain_is_right(context, 33, 7));
  assert_refused(tsr_set_stream(context, 2, &stream), TSR_ERR_ARGUMENT, "device is 2");
  assert_refused(tsr_set_stream(context, -1, &stream), TSR_ERR_ARGUMENT, "device is -1");
  tsr_context_destroy(context);
  options = (tsr_options)TSR_OPTIONS_DEFAULT;
  options.engine = "cpu";
  assert_ok(tsr_context_create(&options, &cpu));
  assert_refused(tsr_set_stream(cpu, 0, &stream), TSR_ERR_UNSUPPORTED, "no device has streams");
  tsr_context_destroy(cpu);
}

/* A message is the thread's own. */
static void *fail_elsewhere(void *argument) {
  front_dgemm(argument, -77, 1, NULL, NULL, 1, NULL);
  return NULL;
}

static void test_message_of_the_thread(void **state) {
  (void)state;
  tsr_context *context = front_context();
  pthread_t thread;
  assert_int_equal(front_dgemm(context, -55, 1, NULL, NULL, 1, NULL), TSR_ERR_ARGUMENT);
  pthread_create(&thread, NULL, fail_elsewhere, context);
  pthread_join(thread, NULL);
  assert_non_null(strstr(tsr_message(), "-55"));
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain),
      cmocka_unit_test(test_chain_with_delays),
      cmocka_unit_test(test_blocking_after_async),
      cmocka_unit_test(test_scalars_are_copied),
      cmocka_unit_test(test_destroy_waits),
      cmocka_unit_test(test_many_in_flight),
      cmocka_unit_test(test_threads_share),
      cmocka_unit_test(test_threads_own),
      cmocka_unit_test(test_invalidate_around_what_comes_home),
      cmocka_unit_test(test_tied_to_streams),
      cmocka_unit_test(test_message_of_the_thread),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
