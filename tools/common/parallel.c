/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "tool.h"

enum { MOST_WORKERS = 64 };

typedef struct loop {
  int64_t count, grain;
  parallel_body body;
  void *user;
  _Atomic int64_t next;
} loop;

int parallel_workers(void) {
  int cores = tool_cores();
  return cores > MOST_WORKERS ? MOST_WORKERS : cores;
}

static void *work(void *argument) {
  loop *l = argument;
  for (;;) {
    int64_t begin = atomic_fetch_add(&l->next, l->grain);
    if (begin >= l->count) return NULL;
    int64_t end = l->count - begin < l->grain ? l->count : begin + l->grain;
    l->body(l->user, begin, end);
  }
}

void parallel_for(int64_t count, int64_t grain, parallel_body body, void *user) {
  loop l = {count, grain < 1 ? 1 : grain, body, user, 0};
  pthread_t threads[MOST_WORKERS];
  int started = 0, wanted = parallel_workers() - 1;
  if (wanted > (count - 1) / l.grain) wanted = (int)((count - 1) / l.grain);
  /* If a thread cannot be started, the others do its share of the loop. */
  while (started < wanted && pthread_create(&threads[started], NULL, work, &l) == 0) started++;
  work(&l);
  for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
}
