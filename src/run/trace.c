#include "run/inside.h"

/* When the command's event passed, in seconds from the call; those of staging queues are there
 * already. */
static float end_of(tsr_job *job, uint32_t command) {
  bool passed = false;
  double seconds = 0;
  tsr_status status = job->runner->engine->query(tsr_job_event(job, command), &passed, &seconds);
  if (status != TSR_OK || !passed) return job->times[2 * command];
  return (float)(seconds - job->entered);
}

static float later(float a, float b) {
  return a > b ? a : b;
}

/* A command cannot have begun before it was submitted, before what it waited for had ended, and
 * before the one in front of it in its queue had. */
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
