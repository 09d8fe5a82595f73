/* What a device's thread has submitted, until it is over. */
#include "run/inside.h"

/* An error of the device does not end the wait: its queues may be at work still, and the engine
 * tells when they are not. */
static bool has_passed(tsr_unfinished *u, tsr_queue_event *event) {
  bool passed = false;
  tsr_status status = u->job->runner->engine->query(event, &passed, NULL);
  if (status != TSR_OK) tsr_job_fail(u->job, status);
  return passed;
}

static bool is_over(tsr_worker *worker, tsr_unfinished *u) {
  tsr_queue_event **last = worker->runner->side[worker->device].last[u->job->set].items;
  for (int i = 0; i < u->queues; i++) {
    if (!u->passed[i]) u->passed[i] = has_passed(u, last[i]);
    if (!u->passed[i]) return false;
  }
  return true;
}

void tsr_worker_poll(tsr_worker *worker) {
  int kept = 0;
  for (int i = 0; i < worker->unfinished_count; i++) {
    tsr_unfinished *u = &worker->unfinished[i];
    bool over = is_over(worker, u);
    tsr_watch_poll(worker,
                   u->job); /* after that: what is over has passed staging queues' events, too */
    if (over)
      tsr_job_leave(u->job);
    else if (kept++ != i)
      worker->unfinished[kept - 1] = *u;
  }
  worker->unfinished_count = kept;
}
