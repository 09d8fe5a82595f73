/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The runner's threads: one for each device submits commands, the others serve the staging queues.
 */
#include "base/thread.h"
#include "run/inside.h"

static bool needs(const tsr_worker *worker, const tsr_job *job) {
  return worker->staging >= 0 ? worker->staging < job->staging_threads
                              : (job->devices >> worker->device & 1) != 0;
}

/* Waits until the job may start and its memory is registered. A worker with unfinished jobs keeps
 * polling meanwhile, because no other thread notices their end; a worker without sleeps until the
 * registration is carried out. */
static void await_turn(tsr_worker *worker, tsr_job *job) {
  tsr_backoff backoff = {0};
  while (!tsr_overlap_may_start(job) ||
         (worker->unfinished_count > 0 && !tsr_job_has_memory(job))) {
    tsr_worker_poll(worker);
    tsr_backoff_step(&backoff, tsr_spins(job->runner));
  }
  tsr_job_await_memory(job);
}

/* Waits for the worker's next job; meanwhile polls its unfinished ones. NULL: the runner ends. */
static tsr_job *next_job(tsr_worker *worker) {
  tsr_backoff backoff = {0};
  while (worker->unfinished_count > 0) {
    tsr_job *job = tsr_job_try_next(worker);
    if (job != NULL) return job;
    tsr_worker_poll(worker);
    tsr_backoff_step(&backoff, tsr_spins(worker->runner));
  }
  return tsr_job_next(worker);
}

/* ---- Where threads run ---- */

/* Threads for the devices are near their device. Staging threads are near the devices in turn, so
 * that a node has as many as its share of the devices. */
static int node_of(const tsr_worker *worker) {
  const tsr_runner *runner = worker->runner;
  int device = worker->staging >= 0 ? worker->staging % runner->devices : worker->device;
  return runner->near.nodes > 0 ? runner->near.node[device] : -1;
}

/* The number of threads for which the node must have CPUs, if this one is to be bound to it: those
 * for its devices, of which some may not have been started yet, and the staging threads up to this
 * one. */
static int threads_there(const tsr_worker *worker) {
  const tsr_near *near = &worker->runner->near;
  int threads = 0;
  for (int d = 0; d < TSR_MAX_DEVICES; d++) threads += near->node[d] == worker->node;
  for (int s = 0; s <= worker->staging; s++)
    threads += near->node[s % worker->runner->devices] == worker->node;
  return threads;
}

/* ---- The thread ---- */

static void *work(void *argument) {
  tsr_worker *worker = argument;
  (void)tsr_near_bind(&worker->runner->near, worker->node, threads_there(worker));
  for (tsr_job *job; (job = next_job(worker)) != NULL;) {
    if (!needs(worker, job)) continue;
    await_turn(worker, job);
    tsr_overlap_check(job);
    if (worker->staging < 0) {
      tsr_submitter_run(worker, job);
      continue;
    }
    atomic_fetch_sub_explicit(&job->to_submit, 1, memory_order_acq_rel);
    tsr_staging_run(worker, job);
    tsr_job_leave(job);
  }
  tsr_job_drop(worker->at);
  return NULL;
}

tsr_status tsr_worker_start(tsr_worker *worker) {
  worker->at = worker->runner->tail;
  worker->node = node_of(worker);
  atomic_fetch_add(&worker->at->references, 1);
  if (tsr_thread_start(work, worker, &worker->thread)) return TSR_OK;
  tsr_job_drop(worker->at);
  return tsr_fail(TSR_ERR_MEMORY, "cannot start a thread for %s %d; raise the limit on threads",
                  worker->staging >= 0 ? "staging thread" : "device",
                  worker->staging >= 0 ? worker->staging : worker->device);
}
