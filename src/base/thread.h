/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Threads of the library, and protection from cancellation.
 *
 * No function of the library can be left half-way: it holds locks, and devices write to memory that
 * it watches. A program may still cancel a thread that is inside such a function (pthread_cancel),
 * and most functions that wait are cancellation points. So every public function puts cancellation
 * off from its beginning to its end, as POSIX proposes for libraries that are not safe from it. The
 * macros below define a public function in this way, and do nothing else.
 */
#ifndef TSR_BASE_THREAD_H
#define TSR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "base/status.h"

/* Bytes of stack of each thread of the library, whatever the limit of the process is (ulimit -s):
 * as much as the C library gives a thread if there is no limit. */
#define TSR_THREAD_STACK ((size_t)2 << 20)

/* Starts a thread of the library that runs work(argument); the caller joins or detaches it. The
 * thread cannot be cancelled, and signal handlers of the program do not run in it. False: the
 * system has no memory, or no further thread, for it. */
bool tsr_thread_start(void *(*work)(void *argument), void *argument, pthread_t *thread);

/* Whether the calling thread has less stack left than a call of the library may need. The stack of
 * a thread may be small (ulimit -s), and the thread-local variables of all libraries take from
 * it. */
bool tsr_stack_is_short(void);

/* Puts off the cancellation of the calling thread. Returns the former state, for
 * tsr_cancel_restore(). Pairs nest. */
int tsr_cancel_put_off(void);
void tsr_cancel_restore(int former);

/* Defines a public function that returns a value of a type. Arguments: the type, the name, the
 * names of the parameters in parentheses, the parameters; the body follows. */
#define TSR_ENTRY_OF(type, name, arguments, ...) \
  static type name##_entered(__VA_ARGS__);       \
  type name(__VA_ARGS__) {                       \
    int former_ = tsr_cancel_put_off();          \
    type result_ = name##_entered arguments;     \
    tsr_cancel_restore(former_);                 \
    return result_;                              \
  }                                              \
  static type name##_entered(__VA_ARGS__)

#define TSR_ENTRY(name, arguments, ...) TSR_ENTRY_OF(tsr_status, name, arguments, __VA_ARGS__)

/* The same for a function that returns nothing. */
#define TSR_ENTRY_VOID(name, arguments, ...) \
  static void name##_entered(__VA_ARGS__);   \
  void name(__VA_ARGS__) {                   \
    int former_ = tsr_cancel_put_off();      \
    name##_entered arguments;                \
    tsr_cancel_restore(former_);             \
  }                                          \
  static void name##_entered(__VA_ARGS__)

#endif
