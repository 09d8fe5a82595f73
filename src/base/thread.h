/*
 * Threads of the library, and what a program must not do to its own threads inside a call.
 *
 * No function of the library can be left half-way: it holds locks, and devices write to memory that
 * it watches. A program may cancel a thread that is inside one all the same (pthread_cancel), and
 * most of what waits is a point at which a cancelled thread ends. So cancellation is put off from
 * the beginning of a public function to its end, as POSIX has it for libraries that are not safe
 * from it; the functions are defined with the macros below, which do that and nothing else.
 */
#ifndef TSR_BASE_THREAD_H
#define TSR_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "base/status.h"

/* The stack of each thread of the library, bytes, whatever the process's limit is (ulimit -s): what
 * the C library gives threads where there is no limit. */
#define TSR_THREAD_STACK ((size_t)2 << 20)

/* Starts a thread of the library; it runs work(argument), and is to be joined or detached. It
 * cannot be cancelled, and the program's signal handlers do not run in it. False: no thread can be
 * had. */
bool tsr_thread_start(void *(*work)(void *argument), void *argument, pthread_t *thread);

/* Whether the calling thread has less of its stack left than a call of the library may need: a
 * thread's stack may be small (ulimit -s), and what libraries keep for each thread takes from it.
 */
bool tsr_stack_is_short(void);

/* Puts the cancellation of the calling thread off; returns what tsr_cancel_restore() takes. Pairs
 * nest. */
int tsr_cancel_put_off(void);
void tsr_cancel_restore(int former);

/* A public function that returns a value of a type: its name, the names of its parameters in
 * parentheses, its parameters; its body follows. */
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

/* One that returns nothing. */
#define TSR_ENTRY_VOID(name, arguments, ...) \
  static void name##_entered(__VA_ARGS__);   \
  void name(__VA_ARGS__) {                   \
    int former_ = tsr_cancel_put_off();      \
    name##_entered arguments;                \
    tsr_cancel_restore(former_);             \
  }                                          \
  static void name##_entered(__VA_ARGS__)

#endif
