/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that ends in some way while the library is in some state (test_ends.py):
 *
 *   ends STATE END
 *
 * It writes "ready" when the state is reached, and late calls write "right" or "wrong".
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tessera_model.h"

void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const double *, const int *, const double *, double *,
            const int *, size_t, size_t);

enum { MOST = 300 };

static const char *end;
static tsr_context *context;
static atomic_int turns;
static bool by_door;

static void say(const char *text) {
  ssize_t written = write(STDOUT_FILENO, text, strlen(text));
  (void)written;
}

/* ---- Calls ---- */

static bool call(int n, bool async) {
  double *a = malloc(sizeof *a * (size_t)n * (size_t)n),
         *c = malloc(sizeof *c * (size_t)n * (size_t)n);
  double one = 1, zero = 0;
  tsr_status status = TSR_OK;
  for (int i = 0; i < n * n; i++) a[i] = 1, c[i] = -1;
  if (by_door)
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
  else
    status = (async ? tsr_dgemm_async : tsr_dgemm)(context, 'C', 'N', 'N', n, n, n, 1, a, n, a, n,
                                                   0, c, n);
  bool right = status == TSR_OK;
  for (int i = 0; i < n * n && !async; i++) right = right && c[i] == n;
  if (async) return right; /* its memory stays */
  free(a), free(c);
  return right;
}

static void plan(int turn) {
  double one = 1;
  tsr_home homes[3] = {{TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}};
  tsr_plan *made = NULL;
  int64_t n = 400 + turn;
  if (tsr_plan_gemm(context, TSR_D, 'C', 'N', 'N', n, n, n, &one, n, n, &one, n, homes, &made) ==
      TSR_OK)
    tsr_plan_destroy(made);
}

/* ---- States ---- */

static void idle(int turn) {
  (void)turn, usleep(1000);
}
static void running(int turn) {
  (void)call(64 + turn % 50, false);
}
static void staging(int turn) {
  (void)turn, (void)call(MOST, false);
}
static void pending(int turn) {
  (void)call(64 + turn % 50, true);
}
static void probing(int turn) {
  (void)turn, (void)tsr_machine_probe(context, NULL, NULL);
}

static const struct {
  const char *name;
  void (*turn)(int turn);
} states[] = {{"idle", idle},     {"running", running}, {"staging", staging}, {"planning", plan},
              {"async", pending}, {"probing", probing}, {"door", running}};
enum { STATES = sizeof states / sizeof *states };
static int state;

static _Thread_local bool of_program; /* this thread is the program's own */

/* With "pthread_exit" it ends after a while (a probe takes seconds); else the process ends below
 * it. */
static void *work(void *unused) {
  (void)unused;
  of_program = true;
  int most = states[state].turn == probing ? 1 : 20;
  if (strcmp(end, "pthread_exit") != 0) most = 1 << 30;
  for (int i = 0; i < most; i++) {
    states[state].turn(i % 100);
    atomic_fetch_add(&turns, 1);
  }
  return NULL;
}

/* With "gone" the main thread alone takes signals, and then ends. */
static void start_threads(void) {
  pthread_t thread;
  sigset_t all, former;
  sigfillset(&all);
  if (strcmp(end, "gone") == 0) pthread_sigmask(SIG_BLOCK, &all, &former);
  for (int i = 0; i < 2; i++)
    if (pthread_create(&thread, NULL, work, NULL) != 0) _exit(3);
  if (strcmp(end, "gone") == 0) pthread_sigmask(SIG_SETMASK, &former, NULL);
}

/* The program's handlers run in its own threads. While one runs in the main thread, which blocks
 * the signal meanwhile, another one of the threads takes the next signal. */
static void on_signal(int number) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  (void)number;
  if (atomic_flag_test_and_set(&told)) return;
  say(of_program ? "right\n" : "wrong\n");
  _exit(0);
}

/* Waits until each thread may have made a call. */
static void reach(const char *name) {
  while (state < STATES - 1 && strcmp(states[state].name, name) != 0) state++;
  by_door = strcmp(name, "door") == 0;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "host", options.devices = "2", options.machine = "host:200 gpu*2@nvswitch:300";
  if (!by_door && tsr_context_create(&options, &context) != TSR_OK) say(tsr_message()), _exit(3);
  if (!call(100, false)) say("wrong\n"), _exit(3);
  of_program = true;
  start_threads();
  if (strcmp(end, "handler") == 0) signal(SIGTERM, on_signal);
  usleep(20000);
  say("ready\n");
}

/* ---- Ends ---- */

static void late(void) {
  if (strcmp(end, "atexit") == 0) say(call(100, false) ? "right\n" : "wrong\n");
}

__attribute__((destructor)) static void later(void) {
  if (end != NULL && strcmp(end, "destructor") == 0) say(call(100, false) ? "right\n" : "wrong\n");
}

static void child(void (*ends)(int)) {
  pid_t made = fork();
  int status = 0;
  if (made == 0) ends(0);
  waitpid(made, &status, 0);
  exit(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 4);
}

/* A program that takes its signals by sigwait has blocked them in all threads, ours too. */
static void take_signal(const sigset_t *set) {
  int taken = 0;
  sigwait(set, &taken);
  say(taken == SIGTERM ? "right\n" : "wrong\n");
  exit(0);
}

int main(int count, char **arguments) {
  sigset_t set;
  if (count != 3) return 2;
  end = arguments[2];
  atexit(late);
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  if (strcmp(end, "sigwait") == 0) pthread_sigmask(SIG_BLOCK, &set, NULL);
  reach(arguments[1]);
  if (strcmp(end, "sigwait") == 0) take_signal(&set);
  if (strcmp(end, "child_exit") == 0) child(exit);
  if (strcmp(end, "child__exit") == 0) child(_exit);
  if (strcmp(end, "quick_exit") == 0) quick_exit(0);
  if (strcmp(end, "_exit") == 0) _exit(0);
  if (strcmp(end, "pthread_exit") == 0 || strcmp(end, "gone") == 0) pthread_exit(NULL);
  if (strcmp(end, "signal") == 0 || strcmp(end, "handler") == 0)
    for (;;) pause();
  exit(0);
}
