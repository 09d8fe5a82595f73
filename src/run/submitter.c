/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The submission of one job's commands to a device. */
#include "run/inside.h"
typedef struct walk {
  tsr_worker *worker;
  tsr_job *job;
  tsr_run_device *side;
  const uint32_t *order; /* the device's commands in plan order */
  uint32_t at, count;    /* the commands before order[at] are submitted; count in all */
  const uint16_t *used;  /* the plan's queues in use on the device */
  int queues;
} walk;

enum { NONE_READY = -1 };

static walk walk_start(tsr_worker *worker, tsr_job *job) {
  tsr_program *p = job->program;
  int d = worker->device;
  walk w = {.worker = worker,
            .job = job,
            .side = &worker->runner->side[d],
            .order = p->by_device + p->device_first[d],
            .count = p->device_first[d + 1] - p->device_first[d],
            .used = p->used + p->used_first[d],
            .queues = p->used_first[d + 1] - p->used_first[d]};
  for (int i = 0; i < w.queues; i++) w.side->cursor[w.used[i]] = p->queue_first[w.used[i]];
  return w;
}

/* ---- One command ---- */

/* Whether the command may be submitted: each command that it waits for has its event recorded, as
 * the engine requires, or is complete if it belongs to a staging queue, for which no engine can
 * wait. */
static bool is_ready(tsr_job *job, uint32_t command) {
  const tsr_command *c = &job->plan->commands.items[command];
  for (uint32_t i = 0; i < c->waits; i++)
    if (!tsr_job_flagged(job, job->plan->waits.items[c->wait + i])) return false;
  return true;
}

static tsr_status enter_waits(tsr_job *job, const tsr_command *c, tsr_queue *queue) {
  for (uint32_t i = 0; i < c->waits; i++) {
    uint32_t awaited = job->plan->waits.items[c->wait + i];
    if (job->plan->commands.items[awaited].queue == c->queue || tsr_job_is_staged(job, awaited))
      continue;
    TSR_TRY(tsr_enter_wait(job->runner->engine, queue, tsr_job_event(job, awaited)));
  }
  return TSR_OK;
}

static tsr_status record(walk *w, uint32_t command, tsr_queue *queue) {
  tsr_job *job = w->job;
  if (!job->trace && job->program->event[command] == TSR_NO_EVENT) return TSR_OK;
  tsr_status status = tsr_enter_record(job->runner->engine, queue, tsr_job_event(job, command));
  if (status != TSR_OK) job->torn[w->worker->device] = command + 1;
  return status;
}

static tsr_status submit(walk *w, uint32_t command) {
  tsr_job *job = w->job;
  const tsr_command *c = &job->plan->commands.items[command];
  tsr_queue *queue = job->program->queue[c->queue];
  TSR_TRY(enter_waits(job, c, queue));
  TSR_TRY(tsr_overlap_wait(job, command, queue));
  if (job->trace) job->times[2 * command] = (float)(tsr_now() - job->entered);
  TSR_TRY(tsr_enter_command(job, command, queue));
  TSR_TRY(record(w, command, queue));
  atomic_store_explicit(&job->program->flag[command], job->epoch, memory_order_release);
  w->side->cursor[c->queue]++;
  return TSR_OK;
}

/* ---- All commands ---- */

/* The next command to submit: the first in plan order or, if that is not ready, the first in plan
 * order among the next commands of the queues that are ready. NONE_READY: none, or (w->at ==
 * w->count) all are submitted. */
static int64_t choose(walk *w) {
  tsr_job *job = w->job;
  const tsr_program *p = job->program;
  while (w->at < w->count && tsr_job_flagged(job, w->order[w->at])) w->at++;
  if (w->at == w->count) return NONE_READY;
  if (is_ready(job, w->order[w->at])) return w->order[w->at];
  int64_t best = NONE_READY;
  for (int i = 0; i < w->queues; i++) {
    uint32_t cursor = w->side->cursor[w->used[i]];
    if (cursor == p->queue_first[w->used[i] + 1]) continue;
    uint32_t head = p->by_queue[cursor];
    if ((best == NONE_READY || head < best) && is_ready(job, head)) best = head;
  }
  return best;
}

static void submit_all(walk *w) {
  tsr_backoff backoff = {0};
  bool spin = tsr_spins(w->worker->runner);
  uint32_t submitted = 0;
  while (!tsr_job_failed(w->job)) {
    int64_t command = choose(w);
    if (w->at == w->count) return;
    if (command == NONE_READY) {
      tsr_worker_poll(w->worker);
      tsr_watch_poll(w->worker, w->job);
      tsr_backoff_step(&backoff, spin);
      continue;
    }
    if (++submitted % TSR_TUNE_POLL_EVERY == 0) tsr_worker_poll(w->worker);
    if (submitted % TSR_TUNE_WATCH_EVERY == 0) tsr_watch_poll(w->worker, w->job);
    backoff = (tsr_backoff){0};
    tsr_status status = submit(w, (uint32_t)command);
    if (status != TSR_OK) tsr_job_fail_on(w->job, w->worker->device, status);
  }
}

/* ---- The user's streams ---- */

/* Waits until all wanted bits are set, and watches meanwhile: the threads that set them may wait
 * for staging queues, which may wait for commands of this device. */
static void await_bit(walk *w, atomic_uint *bits, uint32_t wanted) {
  tsr_backoff backoff = {0};
  while ((atomic_load_explicit(bits, memory_order_acquire) & wanted) != wanted) {
    tsr_watch_poll(w->worker, w->job);
    tsr_backoff_step(&backoff, tsr_spins(w->job->runner));
  }
}

static tsr_status wait_for_users(walk *w) {
  const tsr_engine *engine = w->job->runner->engine;
  for (int d = 0; d < w->job->runner->devices; d++) {
    if (!(w->job->tied & 1u << d)) continue;
    for (int i = 0; i < w->queues; i++)
      TSR_TRY(
          tsr_enter_wait(engine, w->job->program->queue[w->used[i]], w->job->runner->side[d].mark));
  }
  return TSR_OK;
}

/* Records the mark in this device's tied stream and makes this device's queues wait for all marks.
 * Every submitter sets its bit in started also on failure, so that no other waits for ever. */
static void begin(walk *w) {
  tsr_job *job = w->job;
  if (job->tied == 0) return;
  uint32_t mine = job->tied & 1u << w->worker->device;
  tsr_status status = TSR_OK;
  if (mine != 0) {
    status = tsr_enter_record(job->runner->engine, w->side->user, w->side->mark);
    if (status != TSR_OK) tsr_job_fail_on(job, w->worker->device, status);
    atomic_fetch_or_explicit(&job->started, mine, memory_order_release);
  }
  await_bit(w, &job->started, job->tied);
  if (tsr_job_failed(job)) return;
  status = wait_for_users(w);
  if (status != TSR_OK) tsr_job_fail_on(job, w->worker->device, status);
}

/* Makes the tied stream of this device wait for the last events of all devices. */
static tsr_status make_user_wait(walk *w) {
  tsr_runner *runner = w->job->runner;
  const tsr_program *p = w->job->program;
  await_bit(w, &w->job->ended, w->job->devices);
  if (tsr_job_failed(w->job)) return TSR_OK;
  for (int d = 0; d < runner->devices; d++)
    for (int i = 0; (p->devices & 1u << d) && i < p->used_first[d + 1] - p->used_first[d]; i++)
      TSR_TRY(tsr_enter_wait(runner->engine, w->side->user,
                             runner->side[d].last[w->job->set].items[i]));
  return TSR_OK;
}

/* ---- The end ---- */

/* Records the last events, also after an error, because no command may touch memory once the job
 * counts as complete. If the engine cannot record an event, query still tells its end; only a
 * user's stream cannot wait for it, so with tied streams the job fails. */
static void end(walk *w) {
  tsr_job *job = w->job;
  const tsr_engine *engine = job->runner->engine;
  tsr_unfinished *u = &w->worker->unfinished[w->worker->unfinished_count++];
  *u = (tsr_unfinished){.job = job, .queues = w->queues};
  for (int i = 0; i < w->queues; i++) {
    tsr_queue_event *event = w->side->last[job->set].items[i];
    tsr_status status = tsr_enter_record(engine, job->program->queue[w->used[i]], event);
    if (status != TSR_OK && job->tied != 0) tsr_job_fail_on(job, w->worker->device, status);
  }
  uint32_t mine = 1u << w->worker->device;
  atomic_fetch_or_explicit(&job->ended, mine, memory_order_release);
  if (job->tied & mine) {
    tsr_status status = make_user_wait(w);
    if (status != TSR_OK) tsr_job_fail_on(job, w->worker->device, status);
    atomic_fetch_sub_explicit(&job->untied, 1, memory_order_release);
  }
  atomic_fetch_sub_explicit(&job->to_submit, 1, memory_order_acq_rel);
}

void tsr_submitter_run(tsr_worker *worker, tsr_job *job) {
  walk w = walk_start(worker, job);
  tsr_watch_start(worker, job);
  begin(&w);
  submit_all(&w);
  end(&w);
}
