/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Submissions to an engine's queues. If the engine lacks host memory, the submission is repeated a
 * few times, because commands in flight free host memory as they complete, and because failing
 * would give up a job that may be half done.
 */
#include "run/inside.h"
#include "run/tuning.h"

static bool try_again(tsr_status status, int *attempts) {
  if (status != TSR_ERR_MEMORY || *attempts == 0) return false;
  --*attempts;
  tsr_sleep(TSR_TUNE_SUBMIT_RETRY_AFTER);
  return true;
}

tsr_status tsr_enter_wait(const tsr_engine *engine, tsr_queue *queue, tsr_queue_event *event) {
  int attempts = TSR_TUNE_SUBMIT_RETRIES;
  tsr_status status;
  do status = engine->wait(queue, event);
  while (try_again(status, &attempts));
  return status;
}

tsr_status tsr_enter_command(tsr_job *job, uint32_t command, tsr_queue *queue) {
  int attempts = TSR_TUNE_SUBMIT_RETRIES;
  tsr_status status;
  do status = tsr_issue(job, command, queue);
  while (try_again(status, &attempts));
  return status;
}

tsr_status tsr_enter_record(const tsr_engine *engine, tsr_queue *queue, tsr_queue_event *event) {
  int attempts = TSR_TUNE_SUBMIT_RETRIES;
  tsr_status status;
  do status = engine->record(queue, event);
  while (try_again(status, &attempts));
  return status;
}
