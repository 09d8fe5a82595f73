/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Watches the commands of devices for which staging queues wait. A staging queue is served by host
 * threads, so it cannot wait for an event as an engine's queue does: a thread must query the event
 * repeatedly. The thread of the event's device queries and notes the answer in the program;
 * staging threads read that. (An engine answers one thread at a time: staging threads that queried
 * themselves would delay the submitters.)
 */
#include "run/inside.h"

/* The place in by_queue, from at on, of the queue's next watched command; the queue's end: none. */
static uint32_t next_watched(const tsr_program *p, int queue, uint32_t at) {
  while (at < p->queue_first[queue + 1] && !p->watched[p->by_queue[at]]) at++;
  return at;
}

void tsr_watch_start(tsr_worker *worker, tsr_job *job) {
  const tsr_program *p = job->program;
  uint32_t *at = worker->runner->side[worker->device].watch[job->set];
  for (int i = p->used_first[worker->device]; i < p->used_first[worker->device + 1]; i++)
    at[p->used[i]] = next_watched(p, p->used[i], p->queue_first[p->used[i]]);
}

static bool has_completed(tsr_job *job, uint32_t command) {
  bool complete = false;
  if (!tsr_job_flagged(job, command)) return false;
  tsr_status status = job->runner->engine->query(tsr_job_event(job, command), &complete, NULL);
  if (status != TSR_OK)
    tsr_job_break(job, job->plan->queue[job->plan->commands.items[command].queue].location, status);
  return complete && status == TSR_OK;
}

void tsr_watch_poll(tsr_worker *worker, tsr_job *job) {
  tsr_program *p = job->program;
  uint32_t *at = worker->runner->side[worker->device].watch[job->set];
  for (int i = p->used_first[worker->device]; i < p->used_first[worker->device + 1]; i++) {
    int queue = p->used[i];
    while (at[queue] < p->queue_first[queue + 1]) {
      uint32_t command = p->by_queue[at[queue]];
      if (tsr_job_failed(job) || !has_completed(job, command)) break;
      atomic_store_explicit(&p->complete[command], job->epoch, memory_order_release);
      at[queue] = next_watched(p, queue, at[queue] + 1);
    }
  }
}
