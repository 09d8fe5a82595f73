/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The measured times of a job's commands. */
#include "run/inside.h"

/* The time at which the event of a device's command completed, in seconds from the call; the time
 * of submission if it cannot be had. */
static float end_of(tsr_job *job, uint32_t command) {
  bool complete = false;
  double seconds = 0;
  tsr_status status = job->runner->engine->query(tsr_job_event(job, command), &complete, &seconds);
  if (status != TSR_OK || !complete) return job->times[2 * command];
  return (float)(seconds - job->entered);
}

static float later(float a, float b) {
  return a > b ? a : b;
}

/* begin = max(time of submission, end of the commands it waits for, end of the command before it in
 * its queue). Staging threads have noted begin and end themselves. */
void tsr_trace_finish(tsr_job *job) {
  if (tsr_job_failed(job)) return;
  const tsr_plan *plan = job->plan;
  float queue_end[TSR_PLAN_QUEUES] = {0};
  for (uint32_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    float *begin = &job->times[2 * i], *end = begin + 1;
    if (!tsr_job_is_staged(job, i)) {
      *end = end_of(job, i);
      *begin = later(*begin, queue_end[c->queue]);
      for (uint32_t w = 0; w < c->waits; w++)
        *begin = later(*begin, job->times[2 * plan->waits.items[c->wait + w] + 1]);
    }
    *end = later(*begin, *end);
    queue_end[c->queue] = *end;
  }
}
