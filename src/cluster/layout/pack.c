/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/layout/pack.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/system/process_limits.h"
#include "base/thread.h"
#include "cluster/tuning.h"

enum { MOST = TSR_TUNE_PACKERS };

struct tsr_packers {
  int count;   /* threads that pack, with the calling one */
  int threads; /* threads that were started */
  bool started, quit;
  pthread_t thread[MOST];
  pthread_mutex_t lock;
  pthread_cond_t more; /* work was added, or quit was set */
  pthread_cond_t all;  /* no thread is busy any more */
  tsr_pack_work work;
  void *what;
  int64_t lines, part; /* lines of the work, and lines that a thread takes at a time */
  int64_t next;        /* the first line that no thread has taken */
  int busy;            /* threads that are working */
  uint64_t round;      /* counts calls, so that each thread works once for each */
};

tsr_status tsr_packers_create(tsr_packers **packers) {
  tsr_packers *p = tsr_alloc_zero(1, sizeof *p);
  if (p == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for the threads of a grid");
  int cores = tsr_process_cores();
  p->count = cores < MOST ? cores : MOST;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->more, NULL);
  pthread_cond_init(&p->all, NULL);
  *packers = p;
  return TSR_OK;
}

/* Works on parts until all lines are taken. The caller holds the lock; it is released while a part
 * is worked on. */
static void take_parts(tsr_packers *p) {
  while (p->next < p->lines) {
    int64_t at = p->next, count = p->lines - at < p->part ? p->lines - at : p->part;
    p->next += count;
    pthread_mutex_unlock(&p->lock);
    p->work(p->what, at, count);
    pthread_mutex_lock(&p->lock);
  }
}

static void *thread_main(void *argument) {
  tsr_packers *p = argument;
  uint64_t seen = 0;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    while (p->round == seen && !p->quit) pthread_cond_wait(&p->more, &p->lock);
    if (p->quit) break;
    seen = p->round;
    p->busy++;
    take_parts(p);
    if (--p->busy == 0) pthread_cond_signal(&p->all);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* Starts the threads, once. If a thread cannot be started, the others do its work. */
static void start(tsr_packers *p) {
  if (p->started) return;
  p->started = true;
  for (int i = 0; i < p->count - 1; i++)
    if (tsr_thread_start(thread_main, p, &p->thread[p->threads])) p->threads++;
}

void tsr_packers_run(tsr_packers *p, tsr_pack_work work, void *what, int64_t lines, size_t bytes) {
  if (p == NULL || p->count == 1 || bytes < TSR_TUNE_PACK_LEAST || lines < 2) {
    work(what, 0, lines);
    return;
  }
  start(p);
  pthread_mutex_lock(&p->lock);
  p->work = work, p->what = what, p->lines = lines, p->next = 0;
  p->part = (lines + 4 * p->count - 1) / (4 * p->count);
  p->round++;
  pthread_cond_broadcast(&p->more);
  take_parts(p);
  while (p->busy > 0) pthread_cond_wait(&p->all, &p->lock);
  pthread_mutex_unlock(&p->lock);
}

void tsr_packers_destroy(tsr_packers *p) {
  if (p == NULL) return;
  pthread_mutex_lock(&p->lock);
  p->quit = true;
  pthread_cond_broadcast(&p->more);
  pthread_mutex_unlock(&p->lock);
  for (int i = 0; i < p->threads; i++) pthread_join(p->thread[i], NULL);
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->more);
  pthread_cond_destroy(&p->all);
  tsr_dealloc(p);
}
