/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Threads of the library, and the beginning and end of public functions.
 *
 * No function of the library can be left half-way: it holds locks, and devices write to memory that
 * it watches. A program may still cancel a thread that is inside such a function (pthread_cancel),
 * and most functions that wait are cancellation points. So every public function puts cancellation
 * off from its beginning to its end, as POSIX proposes for libraries that are not safe from it.
 *
 * The floating-point environment is the caller's: a public function works in the default one and
 * puts the caller's back when it returns. A product that the CPU's BLAS does in the caller's thread
 * is the exception: it runs with the caller's modes and leaves its flags (tsr_let_go).
 *
 * The macros below define a public function in this way, and do nothing else.
 */
#ifndef TSR_BASE_THREAD_H
#define TSR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "base/ending.h"
#include "base/float_environment.h"
#include "base/status.h"

/* Bytes of stack of each thread of the library, whatever the limit of the process is (ulimit -s):
 * as much as the C library gives a thread if there is no limit. */
#define TSR_THREAD_STACK ((size_t)2 << 20)

/* Starts a thread of the library that runs work(argument); the caller joins or detaches it. The
 * thread cannot be cancelled, signal handlers of the program do not run in it, its floating-point
 * environment is the default one, and it does not keep the process alive (base/ending.h). False:
 * the system has no memory, or no further thread, for it. */
bool tsr_thread_start(void *(*work)(void *argument), void *argument, pthread_t *thread);

/* Whether the calling thread has less stack left than a call of the library may need. The stack of
 * a thread may be small (ulimit -s), and the thread-local variables of all libraries take from
 * it. */
bool tsr_stack_is_short(void);

/* What a public function under way holds of the thread that called it. */
typedef struct tsr_held {
  int cancel; /* the former cancellation state */
  tsr_float_environment callers;
  struct tsr_held *outer;      /* of a public function that called this one; NULL: none */
  const tsr_ending_gate *gate; /* NULL: the thread does not end the process */
} tsr_held;

/* Puts off the cancellation of the calling thread and holds its floating-point environment, until
 * tsr_leave. Pairs nest. Some 30 ns together. */
void tsr_enter(tsr_held *held);
void tsr_leave(const tsr_held *held);

/* Between the two the thread has the environment of its innermost public function's caller again,
 * and the flags that are raised become the caller's. They do nothing in threads of the library. */
void tsr_let_go(void);
void tsr_take_back(void);

/* Defines a public function that returns a value of a type. Arguments: the type, the name, the
 * names of the parameters in parentheses, the parameters; the body follows. */
#define TSR_ENTRY_OF(type, name, arguments, ...) \
  static type name##_entered(__VA_ARGS__);       \
  type name(__VA_ARGS__) {                       \
    tsr_held held_;                              \
    tsr_enter(&held_);                           \
    type result_ = name##_entered arguments;     \
    tsr_leave(&held_);                           \
    return result_;                              \
  }                                              \
  static type name##_entered(__VA_ARGS__)

#define TSR_ENTRY(name, arguments, ...) TSR_ENTRY_OF(tsr_status, name, arguments, __VA_ARGS__)

/* The same for a function that returns nothing. */
#define TSR_ENTRY_VOID(name, arguments, ...) \
  static void name##_entered(__VA_ARGS__);   \
  void name(__VA_ARGS__) {                   \
    tsr_held held_;                          \
    tsr_enter(&held_);                       \
    name##_entered arguments;                \
    tsr_leave(&held_);                       \
  }                                          \
  static void name##_entered(__VA_ARGS__)

#endif
