#include <string.h>

#include "run/inside.h"

/* An event on a user's stream: until it has passed. False when the job failed. */
static bool await_mark(tsr_ticket *job, tsr_event *event) {
  tsr_backoff backoff = {0};
  while (!tsr_job_failed(job)) {
    bool passed = false;
    tsr_status status = job->runner->engine->query(event, &passed, NULL);
    if (status != TSR_OK) tsr_job_fail(job, status);
    if (passed && status == TSR_OK) return true;
    tsr_backoff_step(&backoff, tsr_spins(job->runner));
  }
  return false;
}

static bool is_complete(const tsr_ticket *job, uint32_t command) {
  return tsr_job_on_lane(job, command) ? tsr_job_flagged(job, command)
                                       : tsr_job_passed(job, command);
}

static bool await_all(tsr_ticket *job, const tsr_command *c) {
  for (uint32_t i = 0; i < c->waits; i++) {
    tsr_backoff backoff = {0};
    while (!is_complete(job, job->plan->waits.items[c->wait + i])) {
      if (tsr_job_failed(job)) return false;
      tsr_backoff_step(&backoff, tsr_spins(job->runner));
    }
  }
  return !tsr_job_failed(job);
}

/* Staging reads and writes the user's memory: not before what is on the user's streams. */
static bool await_users(tsr_ticket *job) {
  tsr_backoff backoff = {0};
  while ((atomic_load_explicit(&job->started, memory_order_acquire) & job->tied) != job->tied)
    tsr_backoff_step(&backoff, tsr_spins(job->runner));
  for (int d = 0; d < job->runner->devices; d++)
    if (job->tied & 1u << d && !await_mark(job, job->runner->side[d].mark)) return false;
  return !tsr_job_failed(job);
}

static int64_t within(int64_t value, int64_t most) {
  return value < 0 ? 0 : value < most ? value : most;
}

/* The part of a column that is to be copied: all of it, or what is in the triangle, whose diagonal
 * it meets at row `diagonal` of the rectangle. */
static void part_of_column(tsr_uplo uplo, int64_t diagonal, int64_t rows, int64_t *begin,
                           int64_t *end) {
  *begin = uplo == TSR_LOWER ? within(diagonal, rows) : 0;
  *end = uplo == TSR_UPPER ? within(diagonal + 1, rows) : rows;
}

static void copy(const tsr_command *c, const tsr_copy_args *args) {
  char *to = args->to;
  const char *from = args->from;
  tsr_uplo uplo = tsr_form_unpack(c->form).uplo;
  int64_t rows = uplo == TSR_GENERAL ? 1 : c->m, begin, end;
  size_t size = args->width / (size_t)rows;
  for (size_t j = 0; j < args->height; j++) {
    part_of_column(uplo, c->col[0] + (int64_t)j - c->row[0], rows, &begin, &end);
    if (begin >= end) continue;
    memcpy(to + j * args->to_pitch + (size_t)begin * size,
           from + j * args->from_pitch + (size_t)begin * size, (size_t)(end - begin) * size);
  }
}

static void carry_out(tsr_ticket *job, uint32_t command) {
  tsr_copy_args args;
  tsr_issue_copy_args(job, command, &args);
  if (job->trace) job->times[2 * command] = (float)(tsr_now() - job->entered);
  copy(&job->plan->commands.items[command], &args);
  if (job->trace) job->times[2 * command + 1] = (float)(tsr_now() - job->entered);
  atomic_store_explicit(&job->program->flag[command], job->epoch, memory_order_release);
}

void tsr_lane_run(tsr_worker *worker, tsr_ticket *job) {
  const tsr_program *p = job->program;
  int queue = p->lane_queue[worker->lane];
  if (!await_users(job)) return;
  for (uint32_t i = p->queue_first[queue]; i < p->queue_first[queue + 1]; i++) {
    uint32_t command = p->by_queue[i];
    if (!await_all(job, &job->plan->commands.items[command])) return;
    carry_out(job, command);
  }
}
