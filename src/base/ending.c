/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/ending.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

static long thread_id(void) {
  return syscall(SYS_gettid);
}

/* ---- exit ---- */

static atomic_bool ending;
static pthread_t ender; /* set before `ending`, as the gate is */
static const tsr_ending_gate *gate;

void tsr_ending_begin(const tsr_ending_gate *given) {
  ender = pthread_self();
  gate = given;
  atomic_store_explicit(&ending, true, memory_order_release);
}

bool tsr_ending_has_begun(void) {
  return atomic_load_explicit(&ending, memory_order_acquire);
}

const tsr_ending_gate *tsr_ending_gate_here(void) {
  return tsr_ending_has_begun() && pthread_equal(ender, pthread_self()) ? gate : NULL;
}

/* ---- Threads of ours ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list */
static tsr_own_thread *first;

void tsr_own_thread_begins(tsr_own_thread *self) {
  pthread_mutex_lock(&lock);
  *self = (tsr_own_thread){.id = thread_id(), .next = first};
  if (first != NULL) first->before = self;
  first = self;
  pthread_mutex_unlock(&lock);
}

void tsr_own_thread_ends(tsr_own_thread *self) {
  pthread_mutex_lock(&lock);
  if (self->next != NULL) self->next->before = self->before;
  if (self->before != NULL)
    self->before->next = self->next;
  else
    first = self->next;
  pthread_mutex_unlock(&lock);
}

static bool is_own(long id) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (const tsr_own_thread *t = first; t != NULL && !found; t = t->next) found = t->id == id;
  pthread_mutex_unlock(&lock);
  return found;
}

/* ---- Which threads are left ---- */

/* Whether the main thread has ended while others go on: the kernel keeps it as a zombie. */
static bool main_has_ended(void) {
  char path[64], line[512] = "";
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)getpid());
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  bool good = fgets(line, sizeof line, file) != NULL;
  fclose(file);
  const char *behind_name = good ? strrchr(line, ')') : NULL;
  return behind_name != NULL && strncmp(behind_name, ") Z", 3) == 0;
}

/* Whether all threads but the main one, which has ended, are ours. The kernel lists threads in the
 * order in which they began, so a thread that another one starts while the list is read is in it.
 */
static bool only_ours_are_left(void) {
  bool only_ours = true;
  DIR *threads = opendir("/proc/self/task");
  if (threads == NULL) return false;
  for (struct dirent *entry; only_ours && (entry = readdir(threads)) != NULL;) {
    long id = strtol(entry->d_name, NULL, 10);
    only_ours = id == 0 || id == getpid() || is_own(id); /* 0: "." and ".." */
  }
  closedir(threads);
  return only_ours;
}

/* ---- The watcher ---- */

static double often = 0.1, seldom = 1; /* s between two looks */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* its destructor tells the end of the main thread */
static bool has_key;
static _Atomic(tsr_thread_starter *) starter; /* NULL: there is no thread of ours yet */
static atomic_bool hooked;                    /* the main thread has a value of the key */
static atomic_bool watched;
static sigset_t left_blocked; /* signals that the watcher does not let act */

static bool acts_by_default(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == SIG_DFL;
}

static void let_signals_act(void) {
  sigset_t pending, some;
  if (sigpending(&pending) != 0) return;
  sigemptyset(&some);
  for (int s = 1; s <= SIGRTMAX; s++)
    if (sigismember(&pending, s) == 1 && sigismember(&left_blocked, s) == 0 && acts_by_default(s))
      sigaddset(&some, s);
  pthread_sigmask(SIG_UNBLOCK, &some, NULL);
}

static void *watch(void *first_pause) {
  const double *pause = first_pause;
  for (;;) {
    tsr_sleep(*pause);
    if (!main_has_ended()) continue;
    pause = &often;
    if (only_ours_are_left()) exit(0);
    let_signals_act();
  }
  return NULL;
}

/* Without a further thread there is no watcher, and the process stays. */
static void start_watcher(double *pause) {
  tsr_thread_starter *start = atomic_load(&starter);
  pthread_t thread;
  if (start == NULL || atomic_exchange(&watched, true)) return;
  pthread_sigmask(SIG_SETMASK, NULL, &left_blocked);
  if (start(watch, pause, &thread))
    pthread_detach(thread);
  else
    atomic_store(&watched, false);
}

/* Threads of ours may be started later: then tsr_ending_watch starts the watcher. */
static void main_ends(void *value) {
  (void)value;
  atomic_store(&hooked, false);
  start_watcher(&often);
}

static void hook(void) {
  if (has_key && thread_id() == getpid() && pthread_setspecific(key, &key) == 0)
    atomic_store(&hooked, true);
}

static void before_fork(void) {
  pthread_mutex_lock(&lock);
}

static void after_in_parent(void) {
  pthread_mutex_unlock(&lock);
}

/* The child has one thread, its main one, which may be another thread of the parent. */
static void after_in_child(void) {
  pthread_mutex_unlock(&lock);
  first = NULL;
  atomic_store(&watched, false);
  atomic_store(&hooked, has_key && pthread_getspecific(key) != NULL);
}

static void prepare(void) {
  has_key = pthread_key_create(&key, main_ends) == 0;
  (void)pthread_atfork(before_fork, after_in_parent, after_in_child);
}

void tsr_ending_watch(tsr_thread_starter *given) {
  (void)pthread_once(&once, prepare);
  atomic_store(&starter, given);
  if (atomic_load(&hooked)) return;
  hook();
  if (!atomic_load(&hooked)) start_watcher(&seldom);
}

#if defined(__GNUC__)
/* Mostly the main thread loads the library. */
__attribute__((constructor)) static void when_loaded(void) {
  (void)pthread_once(&once, prepare);
  hook();
}

__attribute__((destructor)) static void when_unloaded(void) {
  if (has_key) (void)pthread_key_delete(key);
  has_key = false;
}
#endif
