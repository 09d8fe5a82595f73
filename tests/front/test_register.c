/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Registering memory while calls use it: calls return at once, wait for what they touch, and are
 * right whether the memory could be pinned or not. */
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include "engine/host/host.h"
#include "front.h"

enum { N = 64, BYTES = N * N * sizeof(double) };

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static void pause_ms(long ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Without the checking mode, in which calls wait for the one before. */
static tsr_context *unchecked_context(void) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.check = 0;
  assert_ok(front_create(&options, &context));
  return context;
}

typedef struct product {
  double *a, *b, *c, *expected;
} product;

/* Pages of their own, as pinning takes them. */
static double *pages(int seed) {
  double *x = aligned_alloc(4096, BYTES);
  assert_non_null(x);
  front_fill(x, N * N, seed);
  return x;
}

static product product_make(int seed) {
  product p = {pages(seed), pages(seed + 1), pages(seed + 2), pages(seed + 2)};
  front_reference(N, 2, p.a, p.b, -1, p.expected);
  return p;
}

static void product_register(tsr_context *context, const product *p) {
  assert_ok(tsr_register(context, p->a, BYTES));
  assert_ok(tsr_register(context, p->b, BYTES));
  assert_ok(tsr_register(context, p->c, BYTES));
}

static void product_unregister(tsr_context *context, const product *p) {
  assert_ok(tsr_unregister(context, p->a));
  assert_ok(tsr_unregister(context, p->b));
  assert_ok(tsr_unregister(context, p->c));
}

static tsr_status product_call(tsr_context *context, const product *p, int async) {
  if (!async) return front_dgemm(context, N, 2, p->a, p->b, -1, p->c);
  tsr_status status = front_dgemm_async(context, N, 2, p->a, p->b, -1, p->c);
  double *const all[3] = {p->a, p->b, p->c};
  for (int i = 0; i < 3 && status == TSR_OK; ++i) status = front_take_home(context, all[i], N * N);
  return status;
}

static void product_check(const product *p) {
  front_assert_equal(p->c, p->expected, N * N);
}

static void product_free(product *p) {
  free(p->a), free(p->b), free(p->c), free(p->expected);
}

static size_t staging_of_last(tsr_context *context) {
  tsr_plan *plan;
  tsr_prediction got;
  assert_ok(tsr_plan_last(context, &plan));
  assert_ok(tsr_plan_predict(plan, &got));
  tsr_plan_destroy(plan);
  return got.staging_memory;
}

/* ---- Calls meanwhile ---- */

static void test_calls_right_after(void **state) {
  (void)state;
  for (uint64_t delay = 0; delay < 6; ++delay) {
    tsr_options options = front_options();
    tsr_context *context;
    tsr_host_delay(delay * 77);
    assert_ok(front_create(&options, &context));
    tsr_host_delay(0);
    for (int async = 0; async < 2; ++async) {
      product p = product_make((int)delay);
      product_register(context, &p);
      assert_ok(product_call(context, &p, async));
      assert_ok(tsr_sync(context));
      product_check(&p);
      product_unregister(context, &p);
      product_free(&p);
    }
    tsr_context_destroy(context);
  }
}

/* Planned as if it was pinned: nothing is staged. Unregistered memory is staged again. */
static void test_planned_as_pinned(void **state) {
  (void)state;
  tsr_context *context = unchecked_context();
  product p = product_make(1);
  if (front_is_emulated()) tsr_engine_host_hold_pins(true);
  product_register(context, &p);
  assert_ok(product_call(context, &p, 1));
  if (front_is_emulated()) tsr_engine_host_hold_pins(false);
  assert_ok(tsr_sync(context));
  assert_int_equal(staging_of_last(context), 0);
  product_check(&p);
  product_unregister(context, &p);
  assert_ok(product_call(context, &p, 0));
  assert_true(staging_of_last(context) > 0);
  tsr_context_destroy(context);
  product_free(&p);
}

/* An asynchronous call returns while its memory is still being pinned, and does not begin; one that
 * was made before does not wait. */
static void test_returns_at_once(void **state) {
  (void)state;
  front_needs_emulated_devices(); /* pinning cannot be held */
  tsr_context *context = unchecked_context();
  product before = product_make(1), p = product_make(4);
  assert_ok(product_call(context, &p, 0)); /* what is made once is made */
  memcpy(p.c, before.c, BYTES);
  memcpy(p.expected, before.c, BYTES);
  front_reference(N, 2, p.a, p.b, -1, p.expected);
  tsr_engine_host_hold_pins(true);
  product_register(context, &p);
  assert_ok(product_call(context, &before, 0)); /* blocking, and of other memory */
  product_check(&before);
  double *was = pages(3);
  memcpy(was, p.c, BYTES);
  assert_ok(product_call(context, &p, 1));
  pause_ms(20);
  front_assert_equal(p.c, was, N * N);
  tsr_engine_host_hold_pins(false);
  assert_ok(tsr_sync(context));
  product_check(&p);
  product_unregister(context, &p);
  tsr_context_destroy(context);
  product_free(&before), product_free(&p), free(was);
}

static void *let_go(void *argument) {
  pause_ms(*(long *)argument);
  tsr_engine_host_hold_pins(false);
  return NULL;
}

/* Holds pinning for that long, at the side. */
static pthread_t hold_for(long *ms) {
  pthread_t thread;
  tsr_engine_host_hold_pins(true);
  assert_int_equal(pthread_create(&thread, NULL, let_go, ms), 0);
  return thread;
}

static void test_blocking_waits(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = front_context();
  product p = product_make(1);
  long ms = 10;
  pthread_t thread = hold_for(&ms);
  product_register(context, &p);
  assert_ok(product_call(context, &p, 0));
  product_check(&p);
  pthread_join(thread, NULL);
  product_unregister(context, &p);
  tsr_context_destroy(context);
  product_free(&p);
}

/* Unregistering waits for the registration and for the call that waits for it. */
static void test_unregister_waits(void **state) {
  (void)state;
  tsr_context *context = unchecked_context();
  product p = product_make(1);
  long ms = 10;
  pthread_t thread = front_is_emulated() ? hold_for(&ms) : pthread_self();
  product_register(context, &p);
  assert_ok(product_call(context, &p, 1));
  product_unregister(context, &p);
  product_check(&p); /* before any tsr_sync */
  if (front_is_emulated()) pthread_join(thread, NULL);
  assert_ok(tsr_sync(context));
  tsr_context_destroy(context);
  product_free(&p);
}

static void test_parts(void **state) {
  (void)state;
  static const int parts[][2] = {{0, 2}, {6, 8}, {2, 5}, {0, 7}, {1, 8}}; /* pages of A */
  tsr_context *context = front_context();
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    product p = product_make((int)i);
    char *at = (char *)p.a + parts[i][0] * 4096;
    assert_ok(tsr_register(context, at, (size_t)(parts[i][1] - parts[i][0]) * 4096));
    assert_ok(product_call(context, &p, 1));
    assert_ok(tsr_sync(context));
    product_check(&p);
    assert_ok(tsr_unregister(context, at));
    product_free(&p);
  }
  tsr_context_destroy(context);
}

/* A plan takes what is being registered for pinned, too, and so do copies, which wait. */
static void test_plans_and_copies(void **state) {
  (void)state;
  tsr_context *context = front_context();
  tsr_home homes[3] = {{TSR_PINNED, 0}, {TSR_PINNED, 0}, {TSR_PINNED, 0}};
  double alpha = 2, beta = -1;
  tsr_plan *plan;
  void *device;
  assert_ok(tsr_malloc(context, 0, BYTES, &device));
  assert_ok(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                          &alpha, N, N, &beta, N, homes, &plan));
  product p = product_make(1);
  assert_refused(tsr_plan_execute(plan, &alpha, p.a, p.b, &beta, p.c), TSR_ERR_ARGUMENT,
                 "pageable");
  long ms = 5;
  pthread_t thread = front_is_emulated() ? hold_for(&ms) : pthread_self();
  product_register(context, &p);
  assert_ok(tsr_memcpy(context, device, p.c, BYTES));
  assert_ok(tsr_plan_execute(plan, &alpha, p.a, p.b, &beta, p.c));
  product_check(&p);
  assert_ok(tsr_memcpy(context, p.c, device, BYTES));
  assert_ok(tsr_plan_execute(plan, &alpha, p.a, p.b, &beta, p.c));
  product_check(&p);
  if (front_is_emulated()) pthread_join(thread, NULL);
  product_unregister(context, &p);
  tsr_free(context, device);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  product_free(&p);
}

/* ---- Memory that cannot be pinned ---- */

static void test_pinning_fails(void **state) {
  (void)state;
  front_needs_emulated_devices();
  for (int failing = 1; failing <= 3; ++failing)
    for (int async = 0; async < 2; ++async) {
      tsr_context *context = front_context();
      product warm = product_make(7), p = product_make(1);
      product_register(context, &warm);
      assert_ok(product_call(context, &warm, 0)); /* no allocation is left to fail, */
      assert_ok(product_call(context, &warm, 1)); /* nor one for what stays */
      assert_ok(tsr_sync(context));
      tsr_engine_host_fail_at(failing);
      product_register(context, &p);
      assert_ok(product_call(context, &p, async));
      assert_refused(tsr_sync(context), TSR_ERR_MEMORY, "registering");
      tsr_engine_host_fail_at(0);
      product_check(&p);
      assert_ok(tsr_sync(context)); /* told once */
      product_unregister(context, &p);
      tsr_context_destroy(context);
      product_free(&warm), product_free(&p);
    }
}

/* The system pins no memory that is not writable, or it does: C is right and it can be unregistered
 * in either case. */
static void test_read_only_memory(void **state) {
  (void)state;
  tsr_context *context = front_context();
  product p = product_make(1);
  void *a = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(a != MAP_FAILED);
  memcpy(a, p.a, BYTES);
  assert_int_equal(mprotect(a, BYTES, PROT_READ), 0);
  assert_ok(tsr_register(context, a, BYTES));
  assert_ok(front_dgemm_async(context, N, 2, a, p.b, -1, p.c));
  assert_ok(front_take_home(context, p.c, N * N));
  tsr_status status = tsr_sync(context);
  if (status != TSR_OK) assert_non_null(strstr(tsr_message(), "registering"));
  product_check(&p);
  assert_ok(tsr_unregister(context, a));
  front_assert_works(context);
  tsr_context_destroy(context);
  munmap(a, BYTES);
  product_free(&p);
}

/* ---- Wrong use ---- */

static void wrong_use(tsr_context *context) {
  product p = product_make(1);
  char *a = (char *)p.a;
  assert_refused(tsr_register(context, NULL, BYTES), TSR_ERR_ARGUMENT, "NULL");
  assert_refused(tsr_register(context, a, 0), TSR_ERR_ARGUMENT, "bytes is 0");
  assert_refused(tsr_register(context, a, SIZE_MAX), TSR_ERR_ARGUMENT, "bytes");
  assert_refused(tsr_unregister(context, NULL), TSR_ERR_ARGUMENT, "NULL");
  assert_refused(tsr_unregister(context, a), TSR_ERR_ARGUMENT, "registered");
  assert_ok(tsr_register(context, a, BYTES));
  assert_refused(tsr_register(context, a, BYTES), TSR_ERR_ARGUMENT, "overlap");
  assert_refused(tsr_register(context, a + 4096, 4096), TSR_ERR_ARGUMENT, "overlap");
  assert_refused(tsr_register(context, a + BYTES - 8, 8), TSR_ERR_ARGUMENT, "overlap");
  assert_refused(tsr_unregister(context, a + 8), TSR_ERR_ARGUMENT, "registered");
  assert_ok(product_call(context, &p, 1));
  assert_ok(tsr_sync(context));
  product_check(&p);
  assert_ok(tsr_unregister(context, a));
  assert_ok(tsr_register(context, a, BYTES));
  assert_ok(tsr_unregister(context, a));
  assert_refused(tsr_unregister(context, a), TSR_ERR_ARGUMENT, "registered");
  assert_ok(tsr_sync(context));
  product_free(&p);
}

static void test_wrong_use(void **state) {
  (void)state;
  tsr_context *context = front_context();
  void *pinned, *device;
  wrong_use(context);
  assert_ok(tsr_malloc(context, TSR_HOST, BYTES, &pinned));
  assert_ok(tsr_malloc(context, 0, BYTES, &device));
  assert_refused(tsr_register(context, pinned, BYTES), TSR_ERR_ARGUMENT, "pinned");
  assert_refused(tsr_register(context, device, BYTES), TSR_ERR_ARGUMENT, "device");
  assert_refused(tsr_register(NULL, pinned, BYTES), TSR_ERR_ARGUMENT, "context");
  assert_refused(tsr_unregister(NULL, pinned), TSR_ERR_ARGUMENT, "context");
  tsr_free(context, pinned), tsr_free(context, device);
  tsr_context_destroy(context);
}

/* The CPU needs nothing pinned; wrong use is wrong all the same. */
static void test_cpu_engine(void **state) {
  (void)state;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  options.engine = "cpu";
  assert_ok(tsr_context_create(&options, &context));
  wrong_use(context);
  tsr_context_destroy(context);
}

/* A context that ends unregisters what is left: another one may then register it. */
static void test_left_registered(void **state) {
  (void)state;
  product p = product_make(1);
  for (int i = 0; i < 4; ++i) {
    tsr_context *context = front_context();
    product_register(context, &p);
    if (i == 1) assert_ok(tsr_sync(context));
    if (i == 2) assert_ok(product_call(context, &p, 1));
    tsr_context_destroy(context);
    if (i == 2) product_check(&p);
  }
  tsr_context *context = front_context();
  assert_ok(tsr_register(context, p.a, BYTES));
  assert_ok(tsr_unregister(context, p.a));
  tsr_context_destroy(context);
  product_free(&p);
}

/* ---- Several threads ---- */

typedef struct caller {
  tsr_context *context;
  int seed, right;
} caller;

static int round_is_right(tsr_context *context, int seed, int async) {
  product p = {pages(seed), pages(seed + 1), pages(seed + 2), pages(seed + 2)};
  front_reference(N, 2, p.a, p.b, -1, p.expected);
  int right = tsr_register(context, p.a, BYTES) == TSR_OK;
  right &= tsr_register(context, p.c, BYTES) == TSR_OK;
  right &= product_call(context, &p, async) == TSR_OK;
  if (seed % 2) right &= tsr_sync(context) == TSR_OK;
  right &= tsr_unregister(context, p.c) == TSR_OK;
  right &= tsr_unregister(context, p.a) == TSR_OK;
  right &= memcmp(p.c, p.expected, BYTES) == 0;
  product_free(&p);
  return right;
}

static void *call_often(void *argument) {
  caller *who = argument;
  who->right = 1;
  for (int i = 0; i < 10; ++i) who->right &= round_is_right(who->context, who->seed + i, i % 3 > 0);
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  enum { THREADS = 3 };
  tsr_context *context = front_context();
  pthread_t thread[THREADS];
  caller who[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    who[i] = (caller){context, 100 * i, 0};
    assert_int_equal(pthread_create(&thread[i], NULL, call_often, &who[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(thread[i], NULL);
    assert_true(who[i].right);
  }
  assert_ok(tsr_sync(context));
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_right_after), cmocka_unit_test(test_planned_as_pinned),
      cmocka_unit_test(test_returns_at_once),   cmocka_unit_test(test_blocking_waits),
      cmocka_unit_test(test_unregister_waits),  cmocka_unit_test(test_parts),
      cmocka_unit_test(test_plans_and_copies),  cmocka_unit_test(test_pinning_fails),
      cmocka_unit_test(test_read_only_memory),  cmocka_unit_test(test_wrong_use),
      cmocka_unit_test(test_cpu_engine),        cmocka_unit_test(test_left_registered),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
