/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads of the library: their stacks, their signals, their floating-point environment, and that
 * they cannot be cancelled; and what public functions hold of the thread that calls them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "float_modes.h"
#include "tessera_model.h"

typedef struct found {
  size_t stack;
  int cancel;
  sigset_t blocked;
  bool is_short;
  float_state state;
} found;

static void *look(void *argument) {
  found *f = argument;
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstacksize(&attributes, &f->stack);
  pthread_attr_destroy(&attributes);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &f->cancel);
  pthread_sigmask(SIG_SETMASK, NULL, &f->blocked);
  f->is_short = tsr_stack_is_short();
  f->state = float_state_get();
  return f;
}

static void threads_are_the_librarys(void **state) {
  (void)state;
  found f = {.cancel = PTHREAD_CANCEL_ENABLE};
  sigset_t before, after;
  pthread_t thread;
  void *result;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  assert_true(tsr_thread_start(look, &f, &thread));
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_ptr_equal(result, &f);
  assert_int_equal(f.stack, TSR_THREAD_STACK);
  assert_int_equal(f.cancel, PTHREAD_CANCEL_DISABLE);
  assert_true(sigismember(&f.blocked, SIGINT) == 1 && sigismember(&f.blocked, SIGALRM) == 1);
  assert_true(sigismember(&f.blocked, SIGSEGV) == 0 && sigismember(&f.blocked, SIGPROF) == 0);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
  assert_false(f.is_short);
}

static void without_memory_there_is_no_thread(void **state) {
  (void)state;
  found f;
  pthread_t thread;
  tsr_alloc_fail_at(1);
  bool started = tsr_thread_start(look, &f, &thread);
  tsr_alloc_fail_at(0);
  assert_false(started);
}

/* ---- Stacks ---- */

enum { LITTLE = 64 << 10, PLENTY = 1 << 20 };

static void *ask(void *argument) {
  *(int *)argument = tsr_stack_is_short();
  return NULL;
}

static int is_short_on(size_t bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  int answer = -1;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, bytes), 0);
  assert_int_equal(pthread_create(&thread, &attributes, ask, &answer), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  return answer;
}

static void small_stacks_are_short(void **state) {
  (void)state;
  assert_int_equal(is_short_on(LITTLE), 1);
  assert_int_equal(is_short_on(PLENTY), 0);
  assert_false(tsr_stack_is_short());
}

/* ---- Public functions ---- */

static void pairs_nest(void **state) {
  (void)state;
  int off;
  tsr_held outer, inner;
  tsr_enter(&outer), tsr_enter(&inner);
  assert_int_equal(outer.cancel, PTHREAD_CANCEL_ENABLE);
  tsr_leave(&inner);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &off);
  assert_int_equal(off, PTHREAD_CANCEL_DISABLE);
  tsr_leave(&outer);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &off);
  assert_int_equal(off, PTHREAD_CANCEL_ENABLE);
}

/* ---- The floating-point environment ---- */

static const float_modes all_modes[] = {
    {'n', 0, 0, 0},  {'n', 0, 0, 31}, {'u', 0, 0, 5}, {'d', 0, 1, 0},
    {'z', 1, 0, 31}, {'n', 1, 0, 1},  {'n', 0, 1, 2},
};
enum { MODES = sizeof all_modes / sizeof *all_modes };

/* Raises every flag, which traps where they are not held. */
static void calculate(void) {
  volatile double zero = 0, huge = 1e308, none = NAN, sum = 0;
  sum += 1 / zero, sum += huge * huge, sum += 1 / 3., sum += 1e-308 * 1e-300 * (none > zero);
}

static bool is_default(const float_state *s) {
  return s->round == FE_TONEAREST && s->traps == 0 && s->flushes == 0;
}

static void assert_is(const float_state *former, int may) {
  char why[300] = "";
  if (!float_state_is(former, may, why, sizeof why)) fail_msg("%s", why);
}

static void threads_have_the_default_environment(void **state) {
  (void)state;
  for (int i = 0; i < MODES; i++) {
    found f;
    pthread_t thread;
    float_modes_set(&all_modes[i]);
    float_state before = float_state_get();
    assert_true(tsr_thread_start(look, &f, &thread));
    pthread_join(thread, NULL);
    assert_is(&before, 0);
    assert_true(is_default(&f.state));
    assert_int_equal(f.state.flags, 0);
  }
}

static void public_functions_hold_the_environment(void **state) {
  (void)state;
  for (int i = 0; i < MODES; i++) {
    tsr_held outer, inner;
    float_modes_set(&all_modes[i]);
    float_state before = float_state_get();
    tsr_enter(&outer), tsr_enter(&inner);
    calculate();
    tsr_leave(&inner);
    float_state inside = float_state_get();
    calculate();
    tsr_leave(&outer);
    assert_is(&before, 0);
    assert_true(is_default(&inside));
  }
}

/* For the CPU's BLAS they let go of it: modes are the caller's, and so are flags. */
static void between_suspend_and_resume_it_is_the_callers(void **state) {
  (void)state;
  for (int i = 0; i < MODES; i++) {
    tsr_held held;
    float_modes_set(&all_modes[i]);
    float_state before = float_state_get();
    tsr_enter(&held);
    calculate();
    tsr_let_go();
    float_state between = float_state_get();
    feraiseexcept(FE_UNDERFLOW);
    tsr_take_back();
    calculate();
    tsr_leave(&held);
    int flags = fetestexcept(FE_ALL_EXCEPT);
    assert_is(&before, FE_UNDERFLOW);
    assert_memory_equal(&between, &before, sizeof before);
    assert_true((flags & FE_UNDERFLOW) != 0);
  }
  tsr_let_go(), tsr_take_back(); /* outside of a public function nothing happens */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_are_the_librarys),
      cmocka_unit_test(without_memory_there_is_no_thread),
      cmocka_unit_test(small_stacks_are_short),
      cmocka_unit_test(pairs_nest),
      cmocka_unit_test(threads_have_the_default_environment),
      cmocka_unit_test(public_functions_hold_the_environment),
      cmocka_unit_test(between_suspend_and_resume_it_is_the_callers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
