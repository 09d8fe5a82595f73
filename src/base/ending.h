/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The end of the process.
 *
 * By pthread_exit: a process ends when its last thread does, and threads of ours wait for work for
 * ever. So when the main thread ends by pthread_exit, a thread of ours, the watcher, begins to look
 * ten times a second at the threads that are left. If all of them are ours, nothing can happen in
 * the process any more, and the watcher ends it by exit(0), as the C library does when the last
 * thread ends. Threads of other libraries count as the program's: without us they would keep it,
 * too.
 *
 * By a signal: threads of ours block signals, and threads that other libraries start from them
 * inherit that. If the main thread has ended, it may be that no thread takes a signal. The watcher
 * lets a signal act that is pending for the process, if its action is the default one and the main
 * thread did not block it. So no handler of the program runs in a thread of ours, and a signal that
 * the program blocks in its main thread stays blocked.
 *
 * By exit: libraries' destructors run in the thread that called exit, while all other threads go
 * on. Then the gate keeps threads out of the library whose destructors run: the CPU's BLAS
 * (cpu/room.h).
 */
#ifndef TSR_BASE_ENDING_H
#define TSR_BASE_ENDING_H

#include <pthread.h>
#include <stdbool.h>

/* A thread of ours that runs; a list. */
typedef struct tsr_own_thread {
  long id;
  struct tsr_own_thread *before, *next;
} tsr_own_thread;

/* To be called by each thread of ours when it begins and before it ends. */
void tsr_own_thread_begins(tsr_own_thread *self);
void tsr_own_thread_ends(tsr_own_thread *self);

/* Starts a thread of ours: tsr_thread_start. */
typedef bool tsr_thread_starter(void *(*work)(void *argument), void *argument, pthread_t *thread);

/* To be called before a thread of ours is started, with what starts the watcher. Sees to it that a
 * watcher begins when the main thread ends. If the library was loaded by another thread and the
 * main thread has never called it, its end cannot be noticed: then the watcher begins now, and
 * looks once a second whether the main thread is still there. */
void tsr_ending_watch(tsr_thread_starter *starter);

/* The thread that carries exit() out opens the gate before a public function of ours, and closes it
 * after. */
typedef struct tsr_ending_gate {
  void (*open)(void), (*close)(void);
} tsr_ending_gate;

/* Notes that the calling thread has begun to carry out exit(). The gate stays with the caller. */
void tsr_ending_begin(const tsr_ending_gate *gate);
/* Whether exit() has begun. */
bool tsr_ending_has_begun(void);
/* The gate if the calling thread carries exit() out, or NULL. */
const tsr_ending_gate *tsr_ending_gate_here(void);

#endif
