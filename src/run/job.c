/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs: taking one of the runner's, putting it into the list, dropping it, waiting for it. */
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "run/inside.h"

/* ---- Taking and releasing ---- */

tsr_job *tsr_job_take(tsr_runner *runner) {
  pthread_mutex_lock(&runner->pool);
  tsr_job *job = runner->free;
  if (job != NULL) runner->free = atomic_load(&job->next);
  pthread_mutex_unlock(&runner->pool);
  int32_t *verdicts = job != NULL ? job->verdicts : NULL;
  size_t verdict_bytes = job != NULL ? job->verdict_bytes : 0;
  if (job == NULL) job = tsr_alloc(sizeof *job);
  if (job == NULL) return NULL;
  memset(job, 0, sizeof *job);
  job->verdicts = verdicts;
  job->verdict_bytes = verdict_bytes;
  job->runner = runner;
  return job;
}

/* Drops the job's references to earlier jobs and its waits in cached blocks. */
static void forget_earlier(tsr_job *job) {
  int count = job->earlier_count;
  job->earlier_count = 0;
  for (int i = 0; i < count; i++) tsr_job_drop(job->earlier[i].job);
  TSR_VEC_FREE(&job->block_waits);
  tsr_dealloc(job->block_first);
  tsr_dealloc(job->met);
  job->block_first = NULL;
  job->met = NULL;
}

void tsr_job_drop(tsr_job *job) {
  if (atomic_fetch_sub_explicit(&job->references, 1, memory_order_acq_rel) != 1) return;
  tsr_runner *runner = job->runner;
  tsr_dealloc(job->times);
  tsr_dealloc(job->blocks);
  tsr_dealloc(job->entries);
  tsr_rects_free(&job->left_parts);
  forget_earlier(job);
  pthread_mutex_lock(&runner->pool);
  atomic_store(&job->next, runner->free);
  runner->free = job;
  pthread_mutex_unlock(&runner->pool);
}

/* ---- The list ---- */

/* Wakes the sleepers, if any. The caller has stored what they wait for and then loads sleepers; a
 * sleeper adds itself to sleepers and then loads what it waits for. All four are sequentially
 * consistent, so that the caller sees the sleeper or the sleeper sees the store. */
static void wake(tsr_runner *runner, atomic_int *sleepers, pthread_cond_t *condition) {
  if (atomic_load(sleepers) == 0) return;
  pthread_mutex_lock(&runner->sleep);
  pthread_cond_broadcast(condition);
  pthread_mutex_unlock(&runner->sleep);
}

void tsr_job_post(tsr_job *job) {
  tsr_runner *runner = job->runner;
  tsr_job *before = runner->tail;
  tsr_job **recent = &runner->recent[job->number % TSR_RUN_JOBS], *former = *recent;
  /* Each 64th job wakes the staging threads anyway, so that they drop references to old jobs. */
  bool staging_queues = job->staging_threads > 0 || runner->posted % 64 == 63;
  atomic_store(&job->references, runner->devices + runner->staging_threads + 3);
  *recent = job;
  runner->tail = job;
  runner->posted++;
  atomic_store(&before->next, job);
  wake(runner, &runner->sleepers[0], &runner->wake[0]);
  if (staging_queues) wake(runner, &runner->sleepers[1], &runner->wake[1]);
  tsr_job_drop(before);
  if (former != NULL) tsr_job_drop(former);
}

static bool arrived(tsr_worker *worker) {
  return atomic_load(&worker->at->next) != NULL || atomic_load(&worker->runner->quit);
}

/* Looks for the next job, or the runner's end, for at most IDLE_SPIN seconds; false: neither came.
 */
static bool look_for_next(tsr_worker *worker) {
  tsr_backoff backoff = {0};
  double start = tsr_now();
  while (!arrived(worker)) {
    bool spin = tsr_spins(worker->runner);
    if (!spin && backoff.steps >= TSR_TUNE_BACKOFF_PAUSES) return false;
    for (int i = 0; i < 16 && !arrived(worker); i++) tsr_backoff_step(&backoff, true);
    if (tsr_now() - start > TSR_TUNE_IDLE_SPIN) return false;
  }
  return true;
}

static void sleep_for_next(tsr_worker *worker) {
  tsr_runner *runner = worker->runner;
  int kind = worker->staging >= 0;
  pthread_mutex_lock(&runner->sleep);
  atomic_fetch_add(&runner->sleepers[kind], 1);
  while (!arrived(worker)) pthread_cond_wait(&runner->wake[kind], &runner->sleep);
  atomic_fetch_sub(&runner->sleepers[kind], 1);
  pthread_mutex_unlock(&runner->sleep);
}

tsr_job *tsr_job_try_next(tsr_worker *worker) {
  tsr_job *before = worker->at, *next = atomic_load(&before->next);
  if (next == NULL) return NULL;
  worker->at = next;
  tsr_job_drop(before);
  return next;
}

tsr_job *tsr_job_next(tsr_worker *worker) {
  if (!look_for_next(worker)) sleep_for_next(worker);
  return tsr_job_try_next(worker);
}

void tsr_job_quit(tsr_runner *runner) {
  atomic_store(&runner->quit, true);
  pthread_mutex_lock(&runner->sleep);
  pthread_cond_broadcast(&runner->wake[0]);
  pthread_cond_broadcast(&runner->wake[1]);
  pthread_mutex_unlock(&runner->sleep);
}

/* ---- Failing and completing ---- */

bool tsr_job_has_memory(const tsr_job *job) {
  return job->registration == 0 || tsr_pinner_is_done(job->pinner, job->registration);
}

void tsr_job_await_memory(const tsr_job *job) {
  if (job->registration > 0) tsr_pinner_await(job->pinner, job->registration);
}

/* A TSR_ERR_CHECK gives way to another error: a device that failed leaves memory unwritten, which
 * others then read, and the device's error says more than theirs. TSR_ERR_MEMORY becomes
 * TSR_ERR_DEVICE, because it promises that no memory was touched, which does not hold for a job
 * that runs. */
void tsr_job_fail(tsr_job *job, tsr_status status) {
  if (status == TSR_ERR_MEMORY) status = TSR_ERR_DEVICE;
  pthread_mutex_lock(&job->runner->pool);
  tsr_status before = job->error.status;
  if (before == TSR_OK || (before == TSR_ERR_CHECK && status != TSR_ERR_CHECK))
    tsr_error_take(status, &job->error);
  if (before == TSR_OK && job->kept) atomic_fetch_add(&job->runner->failures, 1);
  pthread_mutex_unlock(&job->runner->pool);
  atomic_store_explicit(&job->failed, true, memory_order_release);
}

void tsr_job_fail_on(tsr_job *job, int device, tsr_status status) {
  tsr_runner *runner = job->runner;
  if (status == TSR_ERR_DEVICE || status == TSR_ERR_MEMORY) {
    atomic_fetch_or(&job->blamed, 1u << device);
    tsr_runner_blame(runner, device);
  }
  tsr_job_fail(job, status);
}

void tsr_job_break(tsr_job *job, int device, tsr_status status) {
  atomic_fetch_or(&job->broken, 1u << device);
  tsr_job_fail_on(job, device, status);
}

/* Concurrent jobs may end in any order; runner->completed counts them in the order of submission.
 */
static void complete_in_order(tsr_runner *runner, uint64_t number) {
  atomic_store(&runner->over[number % TSR_RUN_JOBS], number + 1);
  unsigned long long first = atomic_load(&runner->completed);
  while (atomic_load(&runner->over[first % TSR_RUN_JOBS]) == first + 1)
    if (atomic_compare_exchange_strong(&runner->completed, &first, first + 1)) first++;
}

/* LAPACK's info: the first row of a factored block that has no pivot, counted from 1; 0: all have
 * one. The kernels behind a block without a factor multiplied what it had left, in vain. */
static int64_t info_of(const tsr_job *job) {
  int64_t info = 0;
  for (size_t c = 0; c < job->plan->commands.count; c++) {
    const tsr_command *command = &job->plan->commands.items[c];
    if (command->kind != TSR_COMMAND_KERNEL || !tsr_kernel_factors((tsr_kernel)command->kernel))
      continue;
    int64_t found = job->verdicts[c] > 0 ? command->row[2] + job->verdicts[c] : 0;
    if (found > 0 && (info == 0 || found < info)) info = found;
  }
  return info;
}

static void tell_info(tsr_job *job) {
  if (job->binding.info != NULL && !tsr_job_failed(job)) *job->binding.info = info_of(job);
}

void tsr_job_leave(tsr_job *job) {
  if (atomic_fetch_sub_explicit(&job->left, 1, memory_order_acq_rel) != 1) return;
  tsr_runner *runner = job->runner;
  job->seconds = tsr_now() - job->entered;
  if (job->trace) tsr_trace_finish(job);
  if (tsr_job_failed(job)) tsr_job_find_left(job);
  forget_earlier(job);
  tell_info(job);
  atomic_store(&job->done, true);
  complete_in_order(runner, job->number);
  wake(runner, &runner->waiters, &runner->done);
}

/* ---- Waiting for completion ---- */

static bool completed(tsr_runner *runner, uint64_t count) {
  return atomic_load(&runner->completed) >= count;
}

static bool spin_for_end(tsr_runner *runner, uint64_t count) {
  tsr_backoff backoff = {0};
  bool spin = tsr_spins(runner);
  double limit = tsr_now() + (spin ? TSR_TUNE_WAIT_SPIN : TSR_TUNE_WAIT_YIELD);
  while (!completed(runner, count)) {
    for (int i = 0; i < 16 && !completed(runner, count); i++) tsr_backoff_step(&backoff, spin);
    if (tsr_now() > limit) return false;
  }
  return true;
}

void tsr_await_completed(tsr_runner *runner, uint64_t count) {
  if (spin_for_end(runner, count)) return;
  pthread_mutex_lock(&runner->sleep);
  atomic_fetch_add(&runner->waiters, 1);
  while (!completed(runner, count)) pthread_cond_wait(&runner->done, &runner->sleep);
  atomic_fetch_sub(&runner->waiters, 1);
  pthread_mutex_unlock(&runner->sleep);
}

bool tsr_await_completed_for(tsr_runner *runner, uint64_t count, double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  double fraction = (double)until.tv_nsec * 1e-9 + seconds;
  until.tv_sec += (time_t)fraction;
  until.tv_nsec = (long)((fraction - (double)(time_t)fraction) * 1e9);
  int error = 0;
  pthread_mutex_lock(&runner->sleep);
  atomic_fetch_add(&runner->waiters, 1);
  while (!completed(runner, count) && error == 0)
    error = pthread_cond_timedwait(&runner->done, &runner->sleep, &until);
  atomic_fetch_sub(&runner->waiters, 1);
  pthread_mutex_unlock(&runner->sleep);
  return completed(runner, count);
}
