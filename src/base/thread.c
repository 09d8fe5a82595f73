/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/thread.h"

#include <signal.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/arenas.h"
#include "base/ending.h"

typedef struct beginning {
  void *(*work)(void *argument);
  void *argument;
} beginning;

static void *begin(void *argument) {
  beginning b = *(beginning *)argument;
  tsr_own_thread self;
  tsr_dealloc(argument);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  tsr_float_set_default();
  tsr_own_thread_begins(&self);
  void *result = b.work(b.argument);
  tsr_own_thread_ends(&self);
  return result;
}

/* All signals but (1) those that tell a thread of its own faults, since a program may watch memory
 * by them, and (2) SIGPROF, by which profilers stop each thread. */
static void signals_of_program(sigset_t *set) {
  static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF};
  sigfillset(set);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(set, own[i]);
}

static bool create(beginning *b, pthread_t *thread) {
  pthread_attr_t attributes;
  sigset_t blocked, former;
  if (pthread_attr_init(&attributes) != 0) return false;
  signals_of_program(&blocked);
  pthread_sigmask(SIG_BLOCK, &blocked, &former);
  bool made = pthread_attr_setstacksize(&attributes, TSR_THREAD_STACK) == 0 &&
              pthread_create(thread, &attributes, begin, b) == 0;
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  pthread_attr_destroy(&attributes);
  return made;
}

bool tsr_thread_start(void *(*work)(void *argument), void *argument, pthread_t *thread) {
  tsr_arenas_limit();
  tsr_ending_watch(tsr_thread_start);
  beginning *b = tsr_alloc(sizeof *b);
  if (b == NULL) return false;
  *b = (beginning){work, argument};
  if (create(b, thread)) return true;
  tsr_dealloc(b);
  return false;
}

/* ---- What is left of a stack ---- */

/* Bytes. A call takes 20 KiB (tests/front/test_stack.c); how much the libraries take that it calls
 * is not in our hands. */
static const size_t needed = (size_t)64 << 10;

/* The calling thread's stack. end is 0: not asked for yet; end is 1: not known. */
static _Thread_local struct { uintptr_t begin, end; } stack;

static void find_stack(void) {
  pthread_attr_t attributes;
  void *begin;
  size_t size, guard;
  stack.end = 1;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  if (pthread_attr_getstack(&attributes, &begin, &size) == 0 &&
      pthread_attr_getguardsize(&attributes, &guard) == 0) {
    stack.begin = (uintptr_t)begin + guard;
    stack.end = (uintptr_t)begin + size;
  }
  pthread_attr_destroy(&attributes);
}

/* False if the program has put the thread on another stack, of which nothing is known. */
bool tsr_stack_is_short(void) {
  char here;
  uintptr_t at = (uintptr_t)&here;
  if (stack.end == 0) find_stack();
  return at >= stack.begin && at < stack.end && at - stack.begin < needed;
}

/* ---- Public functions ---- */

static _Thread_local tsr_held *innermost;

void tsr_enter(tsr_held *held) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held->cancel);
  tsr_float_save(&held->callers);
  held->outer = innermost;
  innermost = held;
  held->gate = tsr_ending_gate_here();
  if (held->gate != NULL) held->gate->open();
}

void tsr_leave(const tsr_held *held) {
  if (held->gate != NULL) held->gate->close();
  innermost = held->outer;
  tsr_float_restore(&held->callers);
  pthread_setcancelstate(held->cancel, NULL);
}

void tsr_let_go(void) {
  if (innermost != NULL) tsr_float_restore(&innermost->callers);
}

void tsr_take_back(void) {
  if (innermost != NULL) tsr_float_save(&innermost->callers);
}
