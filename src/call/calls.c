/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "call/calls.h"

#include <string.h>

#include "base/alloc.h"
#include "blas/operation.h"
#include "call/plans.h"
#include "call/tuning.h"
#include "plan/axes.h"
#include "run/meter.h"

/* ---- Beginning and end ---------------------------------------------------- */

void tsr_calls_begin(tsr_calls *calls) {
  pthread_mutex_init(&calls->lock, NULL);
  pthread_mutex_init(&calls->collecting, NULL);
}

void tsr_calls_drop(tsr_calls *calls) {
  tsr_calls_collect_pending(calls);
  TSR_VEC_FREE(&calls->pending);
  tsr_plan_unref(calls->last);
  calls->last = NULL;
  tsr_traces_free(&calls->traces);
}

void tsr_calls_end(tsr_calls *calls) {
  pthread_mutex_destroy(&calls->lock);
  pthread_mutex_destroy(&calls->collecting);
}

/* ---- Submitting ----------------------------------------------------------- */

/* The last registration that is not carried out yet of memory to which the call is bound; 0: none.
 */
static uint64_t last_registration(tsr_calls *calls, const tsr_call *call,
                                  const tsr_binding *binding) {
  uint64_t last = 0;
  for (int i = 0; i < TSR_OPERANDS; i++) {
    size_t bytes = (size_t)tsr_operand_bytes(&call->operand[i], call->type);
    uint64_t number = tsr_pinner_touching(calls->pinner, binding->base[i], bytes);
    if (number > last) last = number;
  }
  return last;
}

static void count_traffic(tsr_calls *calls, const tsr_traffic *moved) {
  tsr_traffic *sum = &calls->traffic;
  pthread_mutex_lock(&calls->lock);
  sum->host_to_device += moved->host_to_device;
  sum->device_to_host += moved->device_to_host;
  sum->device_to_device += moved->device_to_device;
  sum->within_devices += moved->within_devices;
  sum->plans += moved->plans;
  pthread_mutex_unlock(&calls->lock);
}

static tsr_status submit(tsr_calls *calls, const tsr_plan *plan, const tsr_binding *binding,
                         const tsr_cached_memory *cached, bool kept, int *short_of, tsr_job **job) {
  tsr_plan_object *object = tsr_plan_object_of(plan);
  tsr_submission submission = {.program = object->program,
                               .binding = *binding,
                               .trace = atomic_load(&calls->trace),
                               .kept = kept,
                               .pinner = calls->pinner,
                               .registration = last_registration(calls, &plan->call, binding)};
  if (cached != NULL) submission.cached = *cached;
  tsr_plan_ref(plan);
  tsr_status status = tsr_runner_submit(calls->runner, &submission, job);
  if (status == TSR_OK)
    count_traffic(calls, &object->moved);
  else
    tsr_plan_unref(plan);
  *short_of = submission.short_of;
  return status;
}

tsr_status tsr_calls_submit(tsr_calls *calls, const tsr_plan *plan, const tsr_binding *binding,
                            const tsr_cached_memory *cached, int *short_of, tsr_job **job) {
  return submit(calls, plan, binding, cached, true, short_of, job);
}

/* ---- Collecting ----------------------------------------------------------- */

/* Reports the call's progress to the user's function until the call is complete. Without memory for
 * a meter, it reports nothing. */
static void tell_progress(tsr_calls *calls, tsr_job *job) {
  pthread_mutex_lock(&calls->lock);
  tsr_progress progress = calls->progress;
  void *user = calls->progress_user;
  pthread_mutex_unlock(&calls->lock);
  tsr_meter *meter = NULL;
  if (progress == NULL || tsr_meter_create(job, &meter) != TSR_OK) return;
  const tsr_plan *plan = tsr_job_plan(job);
  const char *what = plan->moves ? "copies" : tsr_operation_get(plan->call.operation)->name;
  while (!tsr_job_wait_for(job, TSR_TUNE_PROGRESS_EVERY))
    progress(user, tsr_meter_fraction(meter), what);
  progress(user, 1, what);
  tsr_meter_destroy(meter);
}

/* Stores the measured times in the plan's object, which takes over times (may be NULL), and how
 * many products were computed natively in place of lines. */
static void keep_times(tsr_plan_object *object, double seconds, float *times, int refused) {
  pthread_mutex_lock(&object->owner->lock);
  float *former = times != NULL ? object->times : NULL;
  object->measured = seconds;
  object->refused = refused;
  if (times != NULL) object->times = times;
  pthread_mutex_unlock(&object->owner->lock);
  tsr_dealloc(former);
}

/* Takes over the caller's reference to plan, and returns the former last plan with its reference.
 * The caller holds the lock. */
static const tsr_plan *exchange_last(tsr_calls *calls, const tsr_plan *plan) {
  const tsr_plan *former = calls->last;
  calls->last = plan;
  return former;
}

/* The products that the job computed natively since it could not promise their accuracy. */
static int count_refused(const tsr_job *job) {
  const tsr_plan *plan = tsr_job_plan(job);
  int count = 0;
  for (uint32_t c = 0; plan->call.promise.keeps_lines && c < plan->commands.count; c++)
    count += tsr_job_refused(job, c);
  return count;
}

/* Lists the parts of C that products in a form left. False: no host memory. */
static bool list_refused(const tsr_job *job, tsr_left *left) {
  const tsr_plan *plan = tsr_job_plan(job);
  bool listed = true;
  for (uint32_t c = 0; c < plan->commands.count && listed; c++)
    if (tsr_job_refused(job, c))
      listed =
          TSR_VEC_PUSH(&left->parts, tsr_shape_of(tsr_command_rect(&plan->commands.items[c], 2)));
  if (left->parts.count > 0) left->why = TSR_LEFT_FOR_ACCURACY;
  return listed;
}

/* Lists the parts of C that a failed job left, and those parts that came home but were refused. */
static void list_lost(const tsr_job *job, tsr_left *left) {
  const tsr_rects *parts;
  if (!tsr_job_lost_device(job)) return;
  tsr_left_free(left);
  tsr_job_left_kind how = tsr_job_left(job, &parts);
  bool refuses = tsr_call_may_leave(&tsr_job_plan(job)->call), listed = true;
  if (how == TSR_JOB_LEFT_PARTS) listed = tsr_rects_copy(parts, &left->parts);
  if (how == TSR_JOB_LEFT_PARTS && listed && refuses) listed = list_refused(job, left);
  left->why = TSR_LEFT_BY_DEVICE;
  left->how = listed ? how : TSR_JOB_LEFT_UNKNOWN;
}

/* left: NULL: the caller does not ask. */
static tsr_status collect(tsr_calls *calls, tsr_job *job, bool tells, tsr_left *left) {
  const tsr_plan *done = tsr_job_plan(job);
  tell_progress(calls, job);
  tsr_status status = tsr_job_wait(job);
  float *times = tsr_job_take_times(job);
  if (status == TSR_OK) {
    if (left != NULL && tsr_call_may_leave(&done->call)) (void)list_refused(job, left);
    pthread_mutex_lock(&calls->lock);
    if (calls->keeping && times != NULL) tsr_traces_add(&calls->traces, job, times);
    keep_times(tsr_plan_object_of(done), tsr_job_seconds(job), times, count_refused(job));
    done = exchange_last(calls, done);
    pthread_mutex_unlock(&calls->lock);
  } else {
    if (left != NULL) list_lost(job, left);
    if (tells) tsr_job_note_told(job);
    tsr_dealloc(times);
  }
  tsr_job_release(job);
  tsr_plan_unref(done);
  return status;
}

tsr_status tsr_calls_collect(tsr_calls *calls, tsr_job *job, bool tells) {
  return collect(calls, job, tells, NULL);
}

/* Room for the list of parts comes first: when the job is over it is too late to fail. */
tsr_status tsr_calls_run(tsr_calls *calls, const tsr_plan *plan, const tsr_binding *binding,
                         tsr_left *left, int *short_of) {
  tsr_job *job;
  *short_of = -1;
  if (tsr_call_may_leave(&plan->call) && !TSR_VEC_RESERVE(&left->parts, plan->commands.count))
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a product in residues: free some");
  tsr_status status = submit(calls, plan, binding, NULL, false, short_of, &job);
  if (status == TSR_OK) status = collect(calls, job, false, left);
  if (left->why == TSR_LEFT_NOTHING) tsr_left_free(left);
  return status;
}

void tsr_calls_set_last(tsr_calls *calls, const tsr_plan *plan) {
  tsr_plan_ref(plan);
  pthread_mutex_lock(&calls->lock);
  const tsr_plan *former = exchange_last(calls, plan);
  pthread_mutex_unlock(&calls->lock);
  tsr_plan_unref(former);
}

void tsr_calls_note_error(tsr_calls *calls, tsr_status status) {
  if (status == TSR_OK) return;
  pthread_mutex_lock(&calls->lock);
  if (calls->error.status == TSR_OK) tsr_error_take(status, &calls->error);
  pthread_mutex_unlock(&calls->lock);
}

tsr_status tsr_calls_take_error(tsr_calls *calls) {
  pthread_mutex_lock(&calls->lock);
  tsr_error error = calls->error;
  calls->error.status = TSR_OK;
  pthread_mutex_unlock(&calls->lock);
  return error.status == TSR_OK ? TSR_OK : tsr_error_put(&error);
}

/* Takes the oldest pending job, if it is complete or if all is set; else NULL. */
static tsr_job *next_pending(tsr_calls *calls, bool all) {
  tsr_job *job = NULL;
  pthread_mutex_lock(&calls->lock);
  if (calls->pending.count > 0 && (all || tsr_job_done(calls->pending.items[0]))) {
    job = calls->pending.items[0];
    calls->pending.count--;
    memmove(calls->pending.items, calls->pending.items + 1,
            calls->pending.count * sizeof *calls->pending.items);
  }
  pthread_mutex_unlock(&calls->lock);
  return job;
}

/* An error of a device is among the runner's losses: the directory makes good for it, or notes it.
 */
static void collect_kept(tsr_calls *calls, tsr_job *job) {
  tsr_status status = collect(calls, job, false, NULL);
  if (status != TSR_ERR_DEVICE && status != TSR_ERR_CHECK) tsr_calls_note_error(calls, status);
}

/* Collects pending jobs. The caller holds collecting, so that tsr_sync, which finds no pending job,
 * also finds the error of a job that another thread has taken. */
static void collect_each(tsr_calls *calls, bool all) {
  for (tsr_job *job; (job = next_pending(calls, all)) != NULL;) collect_kept(calls, job);
}

void tsr_calls_collect_pending(tsr_calls *calls) {
  pthread_mutex_lock(&calls->collecting);
  collect_each(calls, true);
  pthread_mutex_unlock(&calls->collecting);
}

void tsr_calls_keep(tsr_calls *calls, tsr_job *job) {
  pthread_mutex_lock(&calls->lock);
  bool kept = TSR_VEC_PUSH(&calls->pending, job);
  pthread_mutex_unlock(&calls->lock);
  if (!kept) collect_kept(calls, job);
  if (pthread_mutex_trylock(&calls->collecting) != 0) return;
  collect_each(calls, false);
  pthread_mutex_unlock(&calls->collecting);
}
