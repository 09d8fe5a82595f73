/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run/aside.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/thread.h"

typedef struct aside {
  tsr_status (*work)(void *argument, int index);
  void *argument;
  int index;
  pthread_t thread;
  bool started;
  tsr_error error;
} aside;

static void *run(void *argument) {
  aside *a = argument;
  tsr_status status = a->work(a->argument, a->index);
  if (status != TSR_OK) tsr_error_take(status, &a->error);
  return NULL;
}

static void start(aside *a) {
  a->started = tsr_thread_start(run, a, &a->thread);
  if (a->started) return;
  tsr_error_take(tsr_fail(TSR_ERR_MEMORY, "cannot start a thread; raise the limit on threads"),
                 &a->error);
}

tsr_status tsr_aside_each(int count, tsr_status (*work)(void *argument, int index),
                          void *argument) {
  tsr_status status = TSR_OK;
  aside *all = tsr_alloc_zero((size_t)count, sizeof *all);
  if (all == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for %d threads", count);
  for (int i = 0; i < count; i++) {
    all[i].work = work;
    all[i].argument = argument;
    all[i].index = i;
    start(&all[i]);
  }
  for (int i = 0; i < count; i++) {
    if (all[i].started) pthread_join(all[i].thread, NULL);
    if (status == TSR_OK && all[i].error.status != TSR_OK) status = tsr_error_put(&all[i].error);
  }
  tsr_dealloc(all);
  return status;
}

typedef struct single {
  tsr_status (*work)(void *argument);
  void *argument;
} single;

static tsr_status run_single(void *argument, int index) {
  (void)index;
  const single *s = argument;
  return s->work(s->argument);
}

tsr_status tsr_aside(tsr_status (*work)(void *argument), void *argument) {
  return tsr_aside_each(1, run_single, &(single){work, argument});
}
