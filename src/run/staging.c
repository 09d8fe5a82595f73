/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The staging threads' work: copies between pageable memory and a ring. */
#include <string.h>

#include "run/inside.h"

/* Waits until the event, in a user's stream, is complete. False: the job failed. */
static bool await_mark(tsr_job *job, int device) {
  tsr_queue_event *event = job->runner->side[device].mark;
  tsr_backoff backoff = {0};
  while (!tsr_job_failed(job)) {
    bool complete = false;
    tsr_status status = job->runner->engine->query(event, &complete, NULL);
    if (status != TSR_OK) tsr_job_break(job, device, status);
    if (complete && status == TSR_OK) return true;
    tsr_backoff_step(&backoff, tsr_spins(job->runner));
  }
  return false;
}

static bool is_complete(const tsr_job *job, uint32_t command) {
  return tsr_job_is_staged(job, command) ? tsr_job_flagged(job, command)
                                         : tsr_command_is_complete(job, command);
}

static bool is_ready(const tsr_job *job, uint32_t command) {
  const tsr_command *c = &job->plan->commands.items[command];
  for (uint32_t i = 0; i < c->waits; i++)
    if (!is_complete(job, job->plan->waits.items[c->wait + i])) return false;
  return true;
}

/* Waits for the work on the tied streams, because staging reads and writes the user's memory.
 * False: the job failed. */
static bool await_users(tsr_job *job) {
  tsr_backoff backoff = {0};
  while ((atomic_load_explicit(&job->started, memory_order_acquire) & job->tied) != job->tied)
    tsr_backoff_step(&backoff, tsr_spins(job->runner));
  for (int d = 0; d < job->runner->devices; d++)
    if (job->tied & 1u << d && !await_mark(job, d)) return false;
  return !tsr_job_failed(job);
}

/* Copies the columns, or the part of each that is in the command's triangle. */
static void copy(const tsr_command *c, const tsr_copy_args *args) {
  char *to = args->to;
  const char *from = args->from;
  tsr_uplo uplo = tsr_form_unpack(c->form).uplo;
  int64_t rows = uplo == TSR_GENERAL ? 1 : c->m, begin, end;
  size_t size = args->width / (size_t)rows;
  for (size_t j = 0; j < args->height; j++) {
    tsr_triangle_rows(uplo, c->col[0] + (int64_t)j - c->row[0], rows, &begin, &end);
    if (begin >= end) continue;
    memcpy(to + j * args->to_pitch + (size_t)begin * size,
           from + j * args->from_pitch + (size_t)begin * size, (size_t)(end - begin) * size);
  }
}

/* Before C's old value is overwritten: no device may have failed to make the new one. A command
 * that is complete may have used what another device should have written, whose error its own
 * thread meets a little later. One device alone has told that the command is complete without an
 * error. */
static bool is_vouched_for(tsr_job *job, const tsr_command *c) {
  const tsr_plan *plan = job->plan;
  tsr_runner *runner = job->runner;
  bool replaces = plan->call.beta == TSR_ZERO && !plan->moves;
  bool alone = (job->well & (job->well - 1)) == 0;
  if (replaces || alone || plan->buffers.items[c->buffer[1]].role != TSR_BUFFER_HOME) return true;
  for (int d = 0; d < runner->devices; d++) {
    if (!(job->well >> d & 1)) continue;
    tsr_status status = runner->engine->check(runner->state, d);
    if (status != TSR_OK) tsr_job_break(job, d, status);
  }
  return !tsr_job_failed(job);
}

static void carry_out(tsr_job *job, uint32_t command) {
  tsr_copy_args args;
  if (!is_vouched_for(job, &job->plan->commands.items[command])) return;
  tsr_issue_copy_args(job, command, &args);
  if (job->trace) job->times[2 * command] = (float)(tsr_now() - job->entered);
  copy(&job->plan->commands.items[command], &args);
  if (job->trace) job->times[2 * command + 1] = (float)(tsr_now() - job->entered);
  atomic_store_explicit(&job->program->flag[command], job->epoch, memory_order_release);
}

/* ---- Which thread does what ---- */

void tsr_staging_start(tsr_job *job) {
  for (int l = 0; l < job->program->staging_queues; l++)
    atomic_store(&job->staging_at[l], job->program->queue_first[job->program->staging_queue[l]]);
}

/* Whether the staging queue copies in memory of another node than the thread's. */
static bool is_far(const tsr_worker *worker, const tsr_job *job, int staging) {
  const tsr_plan *plan = job->plan;
  int node = plan->queue[job->program->staging_queue[staging]].location - plan->machine_devices;
  return worker->runner->near.places && worker->node != node;
}

int tsr_staging_choose(const tsr_worker *worker, tsr_job *job, uint32_t *at, bool *over) {
  const tsr_program *p = job->program;
  int best = -1;
  bool best_far = true;
  uint32_t first = UINT32_MAX;
  *over = true;
  for (int l = 0; l < p->staging_queues; l++) {
    uint32_t now = atomic_load_explicit(&job->staging_at[l], memory_order_acquire);
    uint32_t end = p->queue_first[p->staging_queue[l] + 1], next = now & ~TSR_STAGING_TAKEN;
    if (next + (next != now) >= end) continue;
    *over = false;
    bool far = is_far(worker, job, l);
    bool better = best < 0 || far < best_far || (far == best_far && p->by_queue[next] < first);
    if (next != now || !better || !is_ready(job, p->by_queue[next])) continue;
    best_far = far;
    first = p->by_queue[next];
    best = l;
    *at = next;
  }
  return best;
}

static bool take(tsr_job *job, int staging, uint32_t at) {
  return atomic_compare_exchange_strong_explicit(&job->staging_at[staging], &at,
                                                 at | TSR_STAGING_TAKEN, memory_order_acq_rel,
                                                 memory_order_relaxed);
}

/* Each staging queue runs in order, but its commands are run by whichever thread is free: if cores
 * are shared, some threads are slow, and a queue with a thread of its own could be slow throughout.
 */
void tsr_staging_run(const tsr_worker *worker, tsr_job *job) {
  tsr_backoff backoff = {0};
  bool over = false;
  if (!await_users(job)) return;
  while (!tsr_job_failed(job)) {
    uint32_t at;
    int staging = tsr_staging_choose(worker, job, &at, &over);
    if (over) return;
    if (staging < 0 || !take(job, staging, at)) {
      if (tsr_prefault_step(&job->prefault)) continue;
      tsr_backoff_step(&backoff, tsr_spins(job->runner));
      continue;
    }
    backoff = (tsr_backoff){0};
    carry_out(job, job->program->by_queue[at]);
    atomic_store_explicit(&job->staging_at[staging], at + 1, memory_order_release);
  }
}
