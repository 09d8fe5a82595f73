/* What a device's thread has submitted, until it is over. */
#include "run/inside.h"

/* How long to wait for a device that has failed. */
static const double patience = 5;

/* Also after an error, since other queues of the device may still be at work. */
static bool has_passed(tsr_unfinished *u, tsr_event *event) {
  bool passed = false;
  tsr_status status = u->job->runner->engine->query(event, &passed, NULL);
  if (status == TSR_OK) return passed;
  tsr_job_fail(u->job, status);
  if (u->failed_at == 0) u->failed_at = tsr_now();
  return passed || tsr_now() - u->failed_at > patience;
}

static bool is_over(tsr_worker *worker, tsr_unfinished *u) {
  tsr_event **last = worker->runner->side[worker->device].last[u->job->set].items;
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
    tsr_watch_poll(worker, u->job); /* after that: what is over has passed lanes' events, too */
    if (over)
      tsr_job_leave(u->job);
    else if (kept++ != i)
      worker->unfinished[kept - 1] = *u;
  }
  worker->unfinished_count = kept;
}
