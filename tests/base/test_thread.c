/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads of the library: their stacks, their signals, and that they cannot be cancelled. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "tessera_model.h"

typedef struct found {
  size_t stack;
  int cancel;
  sigset_t blocked;
  bool is_short;
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

/* ---- Cancellation ---- */

static void pairs_nest(void **state) {
  (void)state;
  int off, outer = tsr_cancel_put_off(), inner = tsr_cancel_put_off();
  assert_int_equal(outer, PTHREAD_CANCEL_ENABLE);
  tsr_cancel_restore(inner);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &off);
  assert_int_equal(off, PTHREAD_CANCEL_DISABLE);
  tsr_cancel_restore(outer);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &off);
  assert_int_equal(off, PTHREAD_CANCEL_ENABLE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_are_the_librarys),
      cmocka_unit_test(without_memory_there_is_no_thread),
      cmocka_unit_test(small_stacks_are_short),
      cmocka_unit_test(pairs_nest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
