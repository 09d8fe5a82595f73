/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cpu/room.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "base/arenas.h"
#include "base/ending.h"
#include "base/environment.h"
#include "base/float_environment.h"
#include "base/system/process_limits.h"

#define MIB ((size_t)1 << 20)

/* Bytes of one buffer of OpenBLAS 0.3 on x86-64 and on 64-bit ARM: BUFFER_SIZE of its common_*.h,
 * 32 << 22. */
static const size_t buffer = 128 * MIB;

/* Bytes of the library's file and of the files that it needs: 40 MiB for OpenBLAS 0.3.21. */
static const size_t file = 64 * MIB;

/* Bytes that other threads may map between the trial and the library's own request. */
static const size_t spare = 16 * MIB;

/* ---- Trials ---- */

/* Whether so many bytes can be mapped now. The trial uses no pages and is unmapped again.
 * MAP_NORESERVE: a machine with little free memory may still have the addresses. */
static bool can_map(size_t bytes, int protection) {
  void *trial = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial == MAP_FAILED) return false;
  (void)munmap(trial, bytes);
  return true;
}

static bool fits(size_t bytes) {
  return can_map(bytes, PROT_READ | PROT_WRITE);
}

/* Fails with TSR_ERR_MEMORY and names the limit that a trial has met. `ulimit -d` counts only
 * memory that can be written: if a mapping without access succeeds, that is the limit; else `ulimit
 * -v`. */
static tsr_status refuse_here(size_t bytes, const char *purpose, const char *remedy) {
  int resource = can_map(bytes, PROT_NONE) ? RLIMIT_DATA : RLIMIT_AS;
  char letter = resource == RLIMIT_AS ? 'v' : 'd';
  tsr_process_limits limits;
  tsr_process_limits_read("", &limits);
  double most = (resource == RLIMIT_AS ? limits.addresses : limits.data).most;
  if (isinf(most))
    return tsr_fail(TSR_ERR_MEMORY,
                    "the CPU's BLAS needs %zu MiB more of address space for %s, and the system has "
                    "no more to give (vm.overcommit_memory); free memory%s",
                    bytes / MIB, purpose, remedy);
  return tsr_fail(TSR_ERR_MEMORY,
                  "the CPU's BLAS needs %zu MiB more of address space for %s, and the process is "
                  "limited to %zu MiB (ulimit -%c); raise the limit (ulimit -%c unlimited)%s",
                  bytes / MIB, purpose, (size_t)most / MIB, letter, letter, remedy);
}

/* The environment may be the caller's (tsr_let_go). */
static tsr_status refuse(size_t bytes, const char *purpose, const char *remedy) {
  tsr_float_environment callers;
  tsr_float_save(&callers);
  tsr_status status = refuse_here(bytes, purpose, remedy);
  tsr_float_restore(&callers);
  return status;
}

/* ---- Loading ---- */

/* The number of threads that OpenBLAS will start: one for each processor, or fewer if one of these
 * variables, the first that is set, says so. */
static int threads_to_be(void) {
  static const char *const names[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",
                                      "OMP_NUM_THREADS"};
  int most = tsr_process_processors();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = tsr_environment_get(names[i]);
    int wanted = text != NULL ? atoi(text) : 0;
    if (wanted > 0) return wanted < most ? wanted : most;
  }
  return most;
}

static size_t stack_of_thread(void) {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 8 * MIB;
  if (pthread_attr_getstacksize(&attributes, &bytes) != 0) bytes = 8 * MIB;
  pthread_attr_destroy(&attributes);
  return bytes;
}

bool tsr_cpu_room_is_loaded(const char *library) {
  void *found = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (found != NULL) (void)dlclose(found);
  return found != NULL;
}

tsr_status tsr_cpu_room_to_load(const char *library) {
  if (tsr_cpu_room_is_loaded(library)) return TSR_OK;
  tsr_arenas_limit();
  int threads = threads_to_be();
  size_t stacks = (size_t)(threads - 1) * stack_of_thread();
  size_t bytes = file + (size_t)threads * buffer + stacks + spare;
  if (fits(bytes)) return TSR_OK;
  if (threads == 1) return refuse(bytes, "its code and a call", "");
  char purpose[64];
  snprintf(purpose, sizeof purpose, "%d threads and a call", threads);
  return refuse(bytes, purpose, ", or set OPENBLAS_NUM_THREADS to fewer threads");
}

/* ---- Calls ---- */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t left; /* signalled when a call leaves */
  bool watched;
  int enders;       /* public functions under way in the thread that carries exit out */
  int inside, most; /* calls inside now; the most there have been at the same time */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

/* A child process has one thread: none is inside but its own calls to come. */
static void forget_calls(void) {
  (void)pthread_mutex_init(&state.lock, NULL);
  (void)pthread_cond_init(&state.left, NULL);
  state.inside = 0;
}

static const time_t patience = 1; /* s that the end of the process waits for calls inside */

/* The caller holds the lock. */
static void await_calls(void) {
  struct timespec until;
  int error = 0;
  (void)clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += patience;
  while (state.inside > 0 && error == 0)
    error = pthread_cond_timedwait(&state.left, &state.lock, &until);
}

/* ---- The end of the process: the gate (base/ending.h) ---- */

static void open_gate(void) {
  pthread_mutex_lock(&state.lock);
  state.enders++;
  pthread_cond_broadcast(&state.left);
  pthread_mutex_unlock(&state.lock);
}

/* Returns when no call is inside, after `patience` at most: a call may take long, and the program
 * wants to end. */
static void close_gate(void) {
  pthread_mutex_lock(&state.lock);
  if (--state.enders == 0) await_calls();
  pthread_mutex_unlock(&state.lock);
}

/* A public function that exit() has interrupted, from a handler of a signal, will not go on. */
static void at_exit(void) {
  static const tsr_ending_gate gate = {open_gate, close_gate};
  tsr_ending_begin(&gate);
  pthread_mutex_lock(&state.lock);
  state.enders = 0;
  await_calls();
  pthread_mutex_unlock(&state.lock);
}

static void watch_process(void) {
  (void)pthread_atfork(NULL, NULL, forget_calls);
  (void)atexit(at_exit);
}

void tsr_cpu_room_watch(bool watch) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, watch_process);
  pthread_mutex_lock(&state.lock);
  state.watched = watch;
  pthread_mutex_unlock(&state.lock);
}

/* Bytes of the buffers that the library may still map when one more call enters, and of the spare;
 * 0: it has all buffers already, or calls are not watched. */
static size_t missing(void) {
  int buffers = state.inside + 1 - state.most;
  return state.watched && buffers > 0 ? (size_t)buffers * buffer + spare : 0;
}

static bool is_closed(void) {
  return tsr_ending_has_begun() && state.enders == 0;
}

tsr_status tsr_cpu_room_enter(int *calls) {
  tsr_status status = TSR_OK;
  pthread_mutex_lock(&state.lock);
  while (status == TSR_OK && (is_closed() || (missing() > 0 && !fits(missing())))) {
    if (state.inside == 0 && !is_closed())
      status = refuse(missing(), "a call", "");
    else
      pthread_cond_wait(&state.left, &state.lock);
  }
  if (status == TSR_OK) *calls = ++state.inside;
  pthread_mutex_unlock(&state.lock);
  return status;
}

void tsr_cpu_room_leave(int calls) {
  pthread_mutex_lock(&state.lock);
  state.inside--;
  if (calls > state.most) state.most = calls;
  pthread_cond_broadcast(&state.left);
  pthread_mutex_unlock(&state.lock);
}
