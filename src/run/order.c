/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Tells which jobs are complete, waits for them, and keeps new ones out, for work that must keep in
 * order with the jobs. */
#include "run/inside.h"

void tsr_runner_settle(tsr_runner *runner) {
  tsr_await_completed(runner, runner->posted);
}

void tsr_runner_await(tsr_runner *runner, uint64_t number) {
  tsr_await_completed(runner, number + 1);
}

uint64_t tsr_runner_submitted(tsr_runner *runner) {
  pthread_mutex_lock(&runner->enter);
  uint64_t posted = runner->posted;
  pthread_mutex_unlock(&runner->enter);
  return posted;
}

uint64_t tsr_runner_completed(tsr_runner *runner) {
  return atomic_load(&runner->completed);
}

bool tsr_runner_over(tsr_runner *runner, uint64_t from, uint64_t to) {
  uint64_t completed = tsr_runner_completed(runner);
  for (uint64_t n = from > completed ? from : completed; n < to; n++)
    if (atomic_load(&runner->over[n % TSR_RUN_JOBS]) != n + 1) return false;
  return true;
}

void tsr_runner_occupy(tsr_runner *runner) {
  pthread_mutex_lock(&runner->enter);
  tsr_runner_settle(runner);
}

void tsr_runner_leave(tsr_runner *runner) {
  pthread_mutex_unlock(&runner->enter);
}

void tsr_runner_drain(tsr_runner *runner) {
  tsr_runner_occupy(runner);
  tsr_runner_leave(runner);
}
