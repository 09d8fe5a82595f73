/*
 * What staging queues wait for. A staging queue cannot wait for an event as a queue does: somebody
 * has to ask the engine again and again. The thread of the event's device does, which alone uses
 * the device; staging queues look at memory. (Staging queues that ask for themselves, all at once,
 * hold up those who submit: engines answer one thread at a time.)
 */
#include "run/inside.h"

/* The next command of the queue that a staging queue waits for; the queue's end if there is none.
 */
static uint32_t next_watched(const tsr_program *p, int queue, uint32_t at) {
  while (at < p->queue_first[queue + 1] && !p->watched[p->by_queue[at]]) at++;
  return at;
}

void tsr_watch_start(tsr_worker *worker, tsr_job *job) {
  const tsr_program *p = job->program;
  uint32_t *at = worker->runner->side[worker->device].watch[job->set];
  for (int i = p->used_first[worker->device]; i < p->used_first[worker->device + 1]; i++)
    at[p->used[i]] = next_watched(p, p->used[i], p->queue_first[p->used[i]]);
}

static bool has_passed(tsr_job *job, uint32_t command) {
  bool passed = false;
  if (!tsr_job_flagged(job, command)) return false;
  tsr_status status = job->runner->engine->query(tsr_job_event(job, command), &passed, NULL);
  if (status != TSR_OK) tsr_job_fail(job, status);
  return passed && status == TSR_OK;
}

void tsr_watch_poll(tsr_worker *worker, tsr_job *job) {
  tsr_program *p = job->program;
  uint32_t *at = worker->runner->side[worker->device].watch[job->set];
  for (int i = p->used_first[worker->device]; i < p->used_first[worker->device + 1]; i++) {
    int queue = p->used[i];
    while (at[queue] < p->queue_first[queue + 1]) {
      uint32_t command = p->by_queue[at[queue]];
      if (tsr_job_failed(job) || !has_passed(job, command)) break;
      atomic_store_explicit(&p->passed[command], job->epoch, memory_order_release);
      at[queue] = next_watched(p, queue, at[queue] + 1);
    }
  }
}
