/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Faults that programs like this one are known for, which must not be here: K = 0 leaves C
 * unscaled; threads that share read-only A and B abort; too little device memory hangs; a wrong
 * argument aborts; nearly all device memory is taken at the start; a pointer that is used again,
 * for another shape or with other data, gives stale results. */
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "engine/host/host.h"
#include "engine/host/internal.h"
#include "front/context.h"
#include "front/requests.h"

enum { ORDER = 48, PARTS = 2 * ORDER * ORDER, PATIENCE = 300 /* s; a hang ends the program */ };

/* The checking mode looks at every element, which takes minutes where each look is watched. */
#if defined(__SANITIZE_THREAD__)
static const int checking = 0;
#else
static const int checking = 1;
#endif

static int patient(void **state) {
  (void)state;
  alarm(PATIENCE);
  return 0;
}

static tsr_context *context_of(const char *engine, size_t memory, int check) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  if (strcmp(engine, "cpu") == 0) options = (tsr_options)TSR_OPTIONS_DEFAULT;
  if (tsr_engine_emulates(engine)) options.machine = TWO_DEVICES " mem:1";
  options.engine = engine;
  options.memory = memory;
  options.check = check;
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

/* What says what is right. */
static tsr_context *cpu;

static int begin(void **state) {
  (void)state;
  front_clear_environment();
  cpu = context_of("cpu", 0, 0);
  return 0;
}

static int end(void **state) {
  (void)state;
  tsr_context_destroy(cpu);
  return 0;
}

/* ---- A call of any operation, in double complex, with what must come out ---- */

typedef struct call {
  tsr_level3 what;
  double *a, *b, *c, *before, *expected;
} call;

static double *numbers(int seed) {
  double *x = aligned_alloc(4096, PARTS * sizeof *x);
  assert_non_null(x);
  front_fill(x, PARTS, seed);
  return x;
}

static tsr_status call_run(tsr_context *context, const call *x, double *written, int async) {
  static const double alpha[2] = {2, 0}, beta[2] = {-1, 0};
  if (!async) return tsr_level3_run(context, &x->what, alpha, x->a, x->b, beta, written);
  tsr_status status = tsr_level3_run_async(context, &x->what, alpha, x->a, x->b, beta, written);
  const double *all[3] = {x->a, x->b, written};
  for (int i = 0; i < 3 && status == TSR_OK; ++i) status = front_take_home(context, all[i], PARTS);
  return status;
}

/* Whole numbers, with a diagonal of A that keeps solutions small. */
static void call_fill(call *x, int64_t order, int seed) {
  front_fill(x->a, PARTS, seed), front_fill(x->b, PARTS, seed + 1);
  front_fill(x->c, PARTS, seed + 2);
  for (int64_t i = 0; i < order; ++i) x->a[2 * (i + i * x->what.lda)] = 1000;
  memcpy(x->before, x->c, PARTS * sizeof *x->c);
  memcpy(x->expected, x->c, PARTS * sizeof *x->c);
  assert_ok(call_run(cpu, x, x->expected, 0));
}

static call call_make(tsr_operation operation, int64_t order, int seed) {
  call x = {.what = good(operation).what};
  x.what.m = x.what.n = x.what.k = order;
  x.what.lda = x.what.ldb = x.what.ldc = order;
  x.a = numbers(0), x.b = numbers(0), x.c = numbers(0), x.before = numbers(0);
  x.expected = numbers(0);
  call_fill(&x, order, seed);
  return x;
}

static void call_free(call *x) {
  free(x->a), free(x->b), free(x->c), free(x->before), free(x->expected);
}

static int is_right(const double *got, const double *expected) {
  for (int i = 0; i < PARTS; ++i)
    if (!(fabs(got[i] - expected[i]) <= 1e-9 * (1 + fabs(expected[i])))) return 0;
  return 1;
}

/* ---- K = 0 ---- */

static int parts_of(tsr_type type) {
  return type == TSR_C || type == TSR_Z ? 2 : 1;
}

static void put(tsr_type type, void *x, int64_t part, double value) {
  if (type == TSR_S || type == TSR_C)
    ((float *)x)[part] = (float)value;
  else
    ((double *)x)[part] = value;
}

static double get(tsr_type type, const void *x, int64_t part) {
  return type == TSR_S || type == TSR_C ? (double)((const float *)x)[part]
                                        : ((const double *)x)[part];
}

static int is_written(const tsr_level3 *w, int64_t i, int64_t j) {
  if (w->operation == TSR_GEMM || w->operation == TSR_SYMM || w->operation == TSR_HEMM) return 1;
  return w->uplo == TSR_LOWER ? i >= j : i <= j;
}

static double starting(int64_t part) {
  return (double)(part % 13 - 6);
}

static void check_scaled(const tsr_level3 *w, double beta, const void *matrix) {
  int parts = parts_of(w->type);
  int real = w->operation == TSR_HERK || w->operation == TSR_HER2K;
  for (int64_t e = 0; e < parts * ORDER * ORDER; ++e) {
    int64_t i = e / parts % ORDER, j = e / parts / ORDER;
    double expected = is_written(w, i, j) ? beta * starting(e) : starting(e);
    if (real && i == j && e % 2 == 1) expected = 0;
    if (get(w->type, matrix, e) != expected)
      fail_msg("%s %c: element %d, %d is %g, must be %g", tsr_operation_name(w->operation),
               (char)w->type, (int)i, (int)j, get(w->type, matrix, e), expected);
  }
}

static void scale(tsr_context *context, const tsr_level3 *w, double alpha, double beta) {
  double matrix[PARTS], scalars[4];
  int parts = parts_of(w->type);
  for (int64_t e = 0; e < parts * ORDER * ORDER; ++e) {
    int written = is_written(w, e / parts % ORDER, e / parts / ORDER);
    put(w->type, matrix, e, beta == 0 && written ? NAN : starting(e));
  }
  for (int i = 0; i < 2; ++i) {
    put(w->type, scalars, i, i == 0 ? alpha : 0);
    put(w->type, scalars + 2, i, i == 0 ? beta : 0);
  }
  assert_ok(tsr_level3_run(context, w, scalars, NULL, NULL, scalars + 2, matrix));
  check_scaled(w, beta, matrix);
}

/* With k = 0, or with alpha = 0 where there is no k, C becomes beta C: all of its triangle, and
 * nothing else; A and B are not even there. */
static void scales(const char *engine) {
  static const tsr_operation operations[] = {TSR_GEMM, TSR_GEMMT, TSR_SYMM,  TSR_HEMM,
                                             TSR_SYRK, TSR_HERK,  TSR_SYR2K, TSR_HER2K};
  static const double betas[] = {0, 2, -1, 0.5};
  tsr_context *context = context_of(engine, 0, 1);
  for (size_t o = 0; o < sizeof operations / sizeof *operations; ++o)
    for (const char *type = "sdcz"; *type; ++type)
      for (int variant = 0; variant < 8; ++variant) {
        tsr_level3 w = good(operations[o]).what;
        int hermitian =
            w.operation == TSR_HEMM || w.operation == TSR_HERK || w.operation == TSR_HER2K;
        int has_k = w.operation != TSR_SYMM && w.operation != TSR_HEMM;
        w.type = (tsr_type)*type;
        if (hermitian && parts_of(w.type) == 1) continue;
        w.m = w.n = w.lda = w.ldb = w.ldc = ORDER, w.k = 0;
        w.uplo = variant % 2 ? TSR_LOWER : TSR_UPPER;
        scale(context, &w, has_k ? 1 : 0, betas[variant / 2]);
      }
  tsr_context_destroy(context);
}

static void test_no_k_scales(void **state) {
  (void)state;
  scales(front_engine());
}

static void test_no_k_scales_on_the_cpu(void **state) {
  (void)state;
  scales("cpu");
}

/* ---- Four threads with A and B in common ---- */

enum { THREADS = 4, ROUNDS = 3 };

typedef struct sharer {
  const call *shared;
  tsr_context *context;
  int async, right;
} sharer;

static int share_once(const sharer *who) {
  const call *x = who->shared;
  double *mine = malloc(PARTS * sizeof *mine);
  if (!mine) return 0;
  memcpy(mine, x->before, PARTS * sizeof *mine);
  int right = call_run(who->context, x, mine, who->async) == TSR_OK;
  if (who->async) right &= tsr_sync(who->context) == TSR_OK;
  right = right && is_right(mine, x->expected);
  free(mine);
  return right;
}

static void *share(void *argument) {
  sharer *who = argument;
  who->right = 1;
  for (int i = 0; i < ROUNDS; ++i) who->right &= share_once(who);
  return NULL;
}

/* common: one context for all; A is being registered when the threads begin. */
static void share_all(tsr_operation operation, int common, int async) {
  pthread_t thread[THREADS];
  sharer who[THREADS];
  call x = call_make(operation, ORDER, (int)operation);
  for (int i = 0; i < THREADS; ++i)
    who[i] =
        (sharer){&x, common && i > 0 ? who[0].context : context_of(front_engine(), 0, 1), async, 0};
  assert_ok(tsr_register(who[0].context, x.a, PARTS * sizeof *x.a));
  for (int i = 0; i < THREADS; ++i)
    assert_int_equal(pthread_create(&thread[i], NULL, share, &who[i]), 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < THREADS; ++i)
    if (!who[i].right) fail_msg("%s: thread %d is wrong", tsr_operation_name(operation), i);
  assert_ok(tsr_unregister(who[0].context, x.a));
  for (int i = 0; i < (common ? 1 : THREADS); ++i) tsr_context_destroy(who[i].context);
  call_free(&x);
}

static void test_threads_share_inputs(void **state) {
  (void)state;
  for (int o = 0; o < TSR_OPERATION_COUNT; ++o)
    for (int async = 0; async < 2; ++async) share_all((tsr_operation)o, 1, async);
}

static void test_threads_share_inputs_with_own_contexts(void **state) {
  (void)state;
  for (int o = 0; o < TSR_OPERATION_COUNT; ++o) share_all((tsr_operation)o, 0, o % 2);
}

/* ---- Too little device memory ---- */

/* It is right, or it is refused and nothing is touched. */
static void right_or_refused(tsr_context *context, tsr_operation operation, int async) {
  call x = call_make(operation, ORDER, 3);
  tsr_status status = call_run(context, &x, x.c, async);
  tsr_status synced = tsr_sync(context);
  if (status == TSR_OK) status = synced;
  if (status != TSR_OK && (status != TSR_ERR_MEMORY || strlen(tsr_message()) < 10))
    fail_msg("%s: %s: %s", tsr_operation_name(operation), tsr_status_name(status), tsr_message());
  const double *wanted = status == TSR_OK ? x.expected : x.before;
  if (!is_right(x.c, wanted))
    fail_msg("%s: %s, and C is wrong", tsr_operation_name(operation), tsr_status_name(status));
  call_free(&x);
}

static void test_small_budgets(void **state) {
  (void)state;
  static const size_t budgets[] = {1, 511, 4096, 30000, 120000};
  for (size_t i = 0; i < sizeof budgets / sizeof *budgets; ++i) {
    tsr_context *context = context_of(front_engine(), budgets[i], 0);
    for (int o = 0; o < TSR_OPERATION_COUNT; ++o)
      for (int async = 0; async < 2; ++async) right_or_refused(context, (tsr_operation)o, async);
    tsr_context_destroy(context);
  }
}

/* All but so many bytes of each device. */
static void take_memory(tsr_context *context, size_t left) {
  for (int d = 0; d < context->devices; ++d) {
    void *taken;
    assert_ok(tsr_malloc(context, d, context->info[d].memory_free - left, &taken));
  }
}

/* Others have taken what the budget counts on. */
static void test_memory_taken_by_others(void **state) {
  (void)state;
  static const size_t left[] = {0, 4096, 65536, 1 << 20};
  front_needs_emulated_devices(); /* others may be using these devices */
  for (size_t i = 0; i < sizeof left / sizeof *left; ++i) {
    tsr_context *context = context_of("host", 0, 0);
    take_memory(context, left[i]);
    for (int o = 0; o < TSR_OPERATION_COUNT; ++o)
      for (int async = 0; async < 2; ++async) right_or_refused(context, (tsr_operation)o, async);
    tsr_context_destroy(context);
  }
}

/* Each allocation of a device's memory is refused in turn, once or from then on: there is less
 * memory than the budget says, or none, and the call completes all the same. */
static void test_each_allocation_is_refused(void **state) {
  (void)state;
  front_needs_emulated_devices();
  for (int o = 0; o < TSR_OPERATION_COUNT; ++o)
    for (int variant = 0; variant < 4; ++variant) {
      tsr_context *context = context_of("host", 0, checking);
      call x = call_make((tsr_operation)o, ORDER, 3);
      for (long nth = 1, met = 1; met > 0; ++nth) {
        memcpy(x.c, x.before, PARTS * sizeof *x.c);
        assert_ok(tsr_trim(context)); /* so that there is something to allocate */
        tsr_engine_host_refuse(nth, variant & 1 ? 1 : 1000000);
        assert_ok(call_run(context, &x, x.c, variant & 2));
        assert_ok(tsr_sync(context));
        met = tsr_engine_host_refuse(0, 0);
        if (!is_right(x.c, x.expected))
          fail_msg("%s: C is wrong: allocation %ld", tsr_operation_name((tsr_operation)o), nth);
        assert_true(nth > 1 || met > 0);
      }
      call_free(&x);
      tsr_context_destroy(context);
    }
}

/* Bytes that calls have moved so far. */
static double bytes_moved(tsr_context *context) {
  tsr_traffic traffic;
  assert_ok(tsr_context_traffic(context, &traffic));
  return traffic.host_to_device;
}

/* Without any memory the CPU does it; it is no dead end: the next call is the devices' again. */
static void test_memory_comes_back(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_of("host", 0, 0);
  void *taken[2];
  for (int d = 0; d < 2; ++d)
    assert_ok(tsr_malloc(context, d, context->info[d].memory_free, &taken[d]));
  call x = call_make(TSR_GEMM, ORDER, 3);
  assert_ok(call_run(context, &x, x.c, 0));
  assert_true(is_right(x.c, x.expected));
  assert_true(bytes_moved(context) == 0);
  for (int d = 0; d < 2; ++d) tsr_free(context, taken[d]);
  memcpy(x.c, x.before, PARTS * sizeof *x.c);
  assert_ok(call_run(context, &x, x.c, 0));
  assert_true(is_right(x.c, x.expected));
  assert_true(bytes_moved(context) > 0);
  tsr_context_destroy(context);
  call_free(&x);
}

/* ---- Wrong arguments ---- */

/* Each argument of each operation: an error that has the operation's and the argument's names. */
static void refuses_each(const char *engine) {
  tsr_context *context = context_of(engine, 0, 1);
  double before[ROOM];
  front_fill(a, ROOM, 1), front_fill(b, ROOM, 2), front_fill(c, ROOM, 3);
  memcpy(before, c, sizeof c);
  for (int o = 0; o < TSR_OPERATION_COUNT; ++o) {
    char names[16][8], beginning[80];
    int count = split(lists[o].arguments, names);
    for (int n = 0; n < count; ++n)
      for (int door = DOOR_BLOCKING; door <= DOOR_STRUCT_ASYNC; ++door) {
        request x = good(lists[o].operation);
        spoil(&x, names[n]);
        snprintf(beginning, sizeof beginning, "%s: %.7s = ", tsr_operation_name(x.what.operation),
                 names[n]);
        assert_refused(level3_call(context, (level3_door)door, &x.what, &x.data), TSR_ERR_ARGUMENT,
                       beginning);
      }
  }
  assert_memory_equal(c, before, sizeof c);
  front_assert_works(context);
  tsr_context_destroy(context);
}

static void test_wrong_arguments(void **state) {
  (void)state;
  refuses_each(front_engine());
}

static void test_wrong_arguments_on_the_cpu(void **state) {
  (void)state;
  refuses_each("cpu");
}

/* ---- Memory at the start ---- */

/* What a context has taken of each device when it is made: what the next one does not find. */
static void test_takes_little_at_start(void **state) {
  (void)state;
  tsr_context *first = context_of(front_engine(), 0, 0), *second = context_of(front_engine(), 0, 0);
  for (int d = 0; d < first->devices; ++d) {
    double total = (double)first->info[d].memory_total;
    assert_true((double)second->info[d].memory_free >=
                (double)first->info[d].memory_free - 0.05 * total);
    void *most; /* nor is it set aside: the user can have it */
    assert_ok(tsr_malloc(first, d, (size_t)(0.9 * (double)second->info[d].memory_free), &most));
    tsr_free(first, most);
  }
  tsr_context_destroy(first), tsr_context_destroy(second);
}

/* By the emulated devices' own account. */
static void test_takes_nothing_of_emulated_devices(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_of("host", 0, checking);
  for (int d = 0; d < context->devices; ++d)
    assert_true(context->state->used[d] <= context->state->memory / 1000);
  call x = call_make(TSR_GEMM, ORDER, 1);
  assert_ok(call_run(context, &x, x.c, 0));
  assert_true(is_right(x.c, x.expected));
  for (int d = 0; d < context->devices; ++d) /* no more than the call is large */
    assert_true(context->state->used[d] <= 8 * PARTS * sizeof *x.c);
  call_free(&x);
  tsr_context_destroy(context);
}

/* ---- Pointers that are used again ---- */

static void test_other_shapes_and_data(void **state) {
  (void)state;
  tsr_context *context = context_of(front_engine(), 0, 0);
  for (int o = 0; o < TSR_OPERATION_COUNT; ++o) {
    call x = call_make((tsr_operation)o, ORDER, 1);
    for (int round = 0; round < 4; ++round) {
      int64_t order = round % 2 ? ORDER / 2 : ORDER; /* the storage stays, columns move */
      x.what.m = x.what.n = x.what.k = x.what.lda = x.what.ldb = x.what.ldc = order;
      call_fill(&x, order, 10 * round + o);
      assert_ok(call_run(context, &x, x.c, 0));
      if (!is_right(x.c, x.expected))
        fail_msg("%s: round %d is wrong", tsr_operation_name((tsr_operation)o), round);
    }
    call_free(&x);
  }
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_k_scales),
      cmocka_unit_test(test_no_k_scales_on_the_cpu),
      cmocka_unit_test_setup(test_threads_share_inputs, patient),
      cmocka_unit_test_setup(test_threads_share_inputs_with_own_contexts, patient),
      cmocka_unit_test_setup(test_small_budgets, patient),
      cmocka_unit_test_setup(test_memory_taken_by_others, patient),
      cmocka_unit_test_setup(test_each_allocation_is_refused, patient),
      cmocka_unit_test_setup(test_memory_comes_back, patient),
      cmocka_unit_test(test_wrong_arguments),
      cmocka_unit_test(test_wrong_arguments_on_the_cpu),
      cmocka_unit_test(test_takes_little_at_start),
      cmocka_unit_test(test_takes_nothing_of_emulated_devices),
      cmocka_unit_test(test_other_shapes_and_data),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
