/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Waits for the end of the jobs that a device's thread has submitted. */
#include "run/inside.h"

/* Whether the event is complete. An error of the device does not end the wait: its queues may still
 * run commands, and query tells when they no longer do. */
static bool has_completed(tsr_unfinished *u, int device, tsr_queue_event *event) {
  bool complete = false;
  tsr_status status = u->job->runner->engine->query(event, &complete, NULL);
  if (status != TSR_OK) tsr_job_break(u->job, device, status);
  return complete;
}

static bool is_over(tsr_worker *worker, tsr_unfinished *u) {
  tsr_queue_event **last = worker->runner->side[worker->device].last[u->job->set].items;
  for (int i = 0; i < u->queues; i++) {
    if (!u->complete[i]) u->complete[i] = has_completed(u, worker->device, last[i]);
    if (!u->complete[i]) return false;
  }
  return true;
}

void tsr_worker_poll(tsr_worker *worker) {
  int kept = 0;
  for (int i = 0; i < worker->unfinished_count; i++) {
    tsr_unfinished *u = &worker->unfinished[i];
    bool over = is_over(worker, u);
    /* After is_over, so that the last watched commands of a job that is over are noted, too. */
    tsr_watch_poll(worker, u->job);
    if (over)
      tsr_job_leave(u->job);
    else if (kept++ != i)
      worker->unfinished[kept - 1] = *u;
  }
  worker->unfinished_count = kept;
}
