/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run/meter.h"

#include "arithmetic/kernel.h"
#include "base/alloc.h"
#include "plan/names.h"
#include "run/inside.h"

struct tsr_meter {
  tsr_job *job;
  bool by_bytes;
  double total, done;
  uint32_t *seen; /* for each queue of the plan: its commands before by_queue[seen] are complete */
};

static double flops_of(const tsr_plan *plan, const tsr_command *c) {
  if (c->kind != TSR_COMMAND_KERNEL || tsr_kernel_get((tsr_kernel)c->kernel)->bound_by_memory)
    return 0;
  return tsr_kernel_flops((tsr_kernel)c->kernel, plan->call.type, c->m, c->n, c->k);
}

static double weight_of(const tsr_meter *w, uint32_t command) {
  const tsr_plan *plan = w->job->plan;
  const tsr_command *c = &plan->commands.items[command];
  return w->by_bytes ? tsr_command_bytes(plan, c) : flops_of(plan, c);
}

static double total_of(const tsr_meter *w) {
  double sum = 0;
  for (uint32_t i = 0; i < w->job->plan->commands.count; i++) sum += weight_of(w, i);
  return sum;
}

tsr_status tsr_meter_create(tsr_job *job, tsr_meter **meter) {
  const tsr_program *program = job->program;
  int queues = job->plan->queues;
  tsr_meter *made = tsr_alloc_zero(1, sizeof *made);
  if (made != NULL) made->seen = tsr_alloc(sizeof *made->seen * (size_t)(queues + 1));
  if (made == NULL || made->seen == NULL) {
    tsr_dealloc(made);
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to follow a call");
  }
  made->job = job;
  for (int q = 0; q < queues; q++) made->seen[q] = program->queue_first[q];
  made->total = total_of(made);
  made->by_bytes = made->total == 0;
  if (made->by_bytes) made->total = total_of(made);
  *meter = made;
  return TSR_OK;
}

void tsr_meter_destroy(tsr_meter *meter) {
  if (meter == NULL) return;
  tsr_dealloc(meter->seen);
  tsr_dealloc(meter);
}

static bool has_completed(const tsr_job *job, uint32_t command) {
  bool complete = false;
  return job->runner->engine->query(tsr_job_event(job, command), &complete, NULL) == TSR_OK &&
         complete;
}

static bool has_event(const tsr_job *job, uint32_t command) {
  return job->trace || job->program->event[command] != TSR_NO_EVENT;
}

/* Adds the queue's newly completed commands. A queue runs its commands in order, so a complete
 * event also tells that the commands before it are complete. */
static void look_at_queue(tsr_meter *w, int queue) {
  tsr_job *job = w->job;
  const tsr_program *p = job->program;
  for (uint32_t at = w->seen[queue]; at < p->queue_first[queue + 1]; at++) {
    uint32_t command = p->by_queue[at];
    bool staging = tsr_job_is_staged(job, command);
    if (!tsr_job_flagged(job, command)) return;
    if (!staging && !has_event(job, command)) continue;
    if (!staging && !has_completed(job, command)) return;
    for (; w->seen[queue] <= at; w->seen[queue]++)
      w->done += weight_of(w, p->by_queue[w->seen[queue]]);
  }
}

/* Holds enter, so that no later job can record the same events meanwhile. */
double tsr_meter_fraction(tsr_meter *w) {
  tsr_runner *runner = w->job->runner;
  pthread_mutex_lock(&runner->enter);
  for (int q = 0; q < w->job->plan->queues && !tsr_job_done(w->job); q++) look_at_queue(w, q);
  pthread_mutex_unlock(&runner->enter);
  if (tsr_job_done(w->job)) return 1;
  return w->total > 0 ? w->done / w->total : 0;
}
