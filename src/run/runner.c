/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run/runner.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/system/process_limits.h"
#include "plan/residency.h"
#include "run/inside.h"

/* ---- Creating and destroying ---- */

static void init_locks(tsr_runner *runner) {
  pthread_mutex_init(&runner->enter, NULL);
  pthread_mutex_init(&runner->pool, NULL);
  pthread_mutex_init(&runner->sleep, NULL);
  pthread_cond_init(&runner->wake[0], NULL);
  pthread_cond_init(&runner->wake[1], NULL);
  pthread_cond_init(&runner->done, NULL);
}

static void destroy_locks(tsr_runner *runner) {
  pthread_mutex_destroy(&runner->enter);
  pthread_mutex_destroy(&runner->pool);
  pthread_mutex_destroy(&runner->sleep);
  pthread_cond_destroy(&runner->wake[0]);
  pthread_cond_destroy(&runner->wake[1]);
  pthread_cond_destroy(&runner->done);
}

static void free_jobs(tsr_runner *runner) {
  for (int i = 0; i < TSR_RUN_JOBS; i++)
    if (runner->recent[i] != NULL) tsr_job_drop(runner->recent[i]);
  if (runner->tail != NULL) tsr_job_drop(runner->tail);
  while (runner->free != NULL) {
    tsr_job *next = atomic_load(&runner->free->next);
    if (runner->free->verdicts != NULL)
      runner->engine->free(runner->state, TSR_HOST, runner->free->verdicts);
    tsr_dealloc(runner->free);
    runner->free = next;
  }
}

void tsr_runner_destroy(tsr_runner *runner) {
  if (runner == NULL) return;
  if (runner->tail != NULL) tsr_runner_settle(runner);
  tsr_job_quit(runner);
  for (int i = 0; i < runner->devices; i++) pthread_join(runner->worker[i].thread, NULL);
  for (int i = 0; i < runner->staging_threads; i++) pthread_join(runner->staging[i].thread, NULL);
  tsr_resource_free(runner);
  free_jobs(runner);
  TSR_VEC_FREE(&runner->losses.jobs);
  destroy_locks(runner);
  tsr_dealloc(runner);
}

/* Allocates the device's cursor and watch, in one array. */
static tsr_status make_cursors(tsr_run_device *side) {
  side->cursor = tsr_alloc_zero((1 + TSR_RUN_JOBS) * TSR_PLAN_QUEUES, sizeof *side->cursor);
  if (side->cursor == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a runner");
  for (int i = 0; i < TSR_RUN_JOBS; i++) side->watch[i] = side->cursor + (1 + i) * TSR_PLAN_QUEUES;
  return TSR_OK;
}

/* Starts the submitters. The list of jobs starts with an empty job, after which the threads wait
 * for the next. */
static tsr_status start(tsr_runner *runner, int devices) {
  runner->tail = tsr_job_take(runner);
  if (runner->tail == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a runner");
  atomic_store(&runner->tail->references, 1);
  for (int d = 0; d < devices; d++) {
    runner->worker[d] = (tsr_worker){.runner = runner, .device = d, .staging = -1};
    tsr_status status = make_cursors(&runner->side[d]);
    if (status == TSR_OK) status = tsr_worker_start(&runner->worker[d]);
    if (status != TSR_OK) tsr_dealloc(runner->side[d].cursor);
    TSR_TRY(status);
    runner->devices++;
  }
  return TSR_OK;
}

tsr_status tsr_runner_create(const tsr_engine *engine, tsr_engine_state *state, int devices,
                             const tsr_runner_settings *settings, tsr_runner **runner) {
  tsr_runner *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a runner");
  made->engine = engine;
  made->losses.first = UINT64_MAX;
  made->state = state;
  made->cores = settings != NULL && settings->cores > 0 ? settings->cores : tsr_process_cores();
  if (settings != NULL && settings->near != NULL) made->near = *settings->near;
  made->warm = settings != NULL && settings->warm;
  made->poison = settings != NULL && settings->poison && engine->poison != NULL;
  atomic_store(&made->spin, tsr_may_spin(made->cores, devices));
  init_locks(made);
  tsr_status status = start(made, devices);
  if (status == TSR_OK && made->warm) status = tsr_warm_devices(made, settings->free_memory);
  if (status == TSR_OK)
    *runner = made;
  else
    tsr_runner_destroy(made);
  return status;
}

/* ---- Submitting ---- */

static bool is_under_way(tsr_runner *runner, const tsr_program *program) {
  for (uint64_t n = atomic_load(&runner->completed); n < runner->posted; n++)
    if (runner->posted - n < TSR_RUN_JOBS && runner->recent[n % TSR_RUN_JOBS]->program == program)
      return true;
  return false;
}

/* *taken: the program for a run that may be concurrent with another run of it: of the program and
 * its twin, the one of the last run if that run is over, else the other. */
static tsr_status take_turns(tsr_runner *runner, tsr_program *program, tsr_program **taken) {
  *taken = program->twin_is_last ? program->twin : program;
  if (!is_under_way(runner, *taken)) return TSR_OK;
  if (program->twin == NULL) TSR_TRY(tsr_program_create(program->plan, &program->twin));
  program->twin_is_last = !program->twin_is_last;
  *taken = program->twin_is_last ? program->twin : program;
  return TSR_OK;
}

static uint32_t tied_devices(const tsr_runner *runner) {
  uint32_t tied = 0;
  for (int d = 0; d < runner->devices; d++)
    if (runner->side[d].user != NULL) tied |= 1u << d;
  return tied & tsr_runner_well(runner);
}

static int bits(uint32_t set) {
  int count = 0;
  for (; set != 0; set &= set - 1) count++;
  return count;
}

static tsr_status fill_blocks(tsr_job *job, const tsr_submission *submission) {
  size_t count = tsr_residency_count(job->plan->after);
  for (int l = 0; l < TSR_MACHINE_LOCATIONS; l++)
    job->arena[l] = job->own_arenas ? submission->cached.arenas[l] : job->runner->arena[l].base;
  if (count == 0) return TSR_OK;
  job->blocks = tsr_alloc(count * sizeof *job->blocks);
  job->entries = tsr_alloc(count * sizeof *job->entries);
  if (job->blocks == NULL || job->entries == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a job");
  memcpy(job->blocks, submission->cached.blocks, count * sizeof *job->blocks);
  memcpy(job->entries, submission->cached.entries, count * sizeof *job->entries);
  return TSR_OK;
}

/* Makes room for the verdicts of a plan's kernels. */
static tsr_status make_verdicts(tsr_job *job) {
  tsr_runner *runner = job->runner;
  size_t bytes = job->plan->commands.count * sizeof *job->verdicts;
  if (!tsr_call_has_verdicts(&job->plan->call)) return TSR_OK;
  if (job->verdict_bytes < bytes) {
    void *made = NULL;
    TSR_TRY(runner->engine->alloc(runner->state, TSR_HOST, bytes, &made));
    if (job->verdicts != NULL) runner->engine->free(runner->state, TSR_HOST, job->verdicts);
    job->verdicts = made;
    job->verdict_bytes = bytes;
  }
  return TSR_OK;
}

/* No verdict has been given yet. Called after kernels were tried, which write verdicts, too. */
static void clear_verdicts(tsr_job *job) {
  if (tsr_call_has_verdicts(&job->plan->call))
    memset(job->verdicts, 0, job->plan->commands.count * sizeof *job->verdicts);
}

static tsr_status fill(tsr_job *job, const tsr_submission *submission, tsr_program *program) {
  tsr_runner *runner = job->runner;
  job->plan = program->plan;
  job->program = program;
  job->binding = submission->binding;
  job->trace = submission->trace;
  job->own_arenas = submission->cached.arenas != NULL;
  job->pinner = submission->pinner;
  job->registration = submission->registration;
  job->number = runner->posted;
  job->set = runner->set;
  job->epoch = (uint32_t)(runner->posted % UINT32_MAX) + 1;
  job->tied = tied_devices(runner);
  job->well = tsr_runner_well(runner);
  job->kept = submission->kept;
  job->devices = job->program->devices | job->tied;
  job->staging_threads = tsr_staging_threads(runner, job->program);
  if (job->program->staging_writes_back)
    tsr_prefault_start(&job->prefault, &job->plan->call, job->binding.base[TSR_C_]);
  tsr_staging_start(job);
  if (job->devices == 0 && job->staging_threads == 0)
    job->devices = 1; /* a job without commands also needs a thread that completes it */
  atomic_store(&job->left, bits(job->devices) + job->staging_threads);
  atomic_store(&job->to_submit, bits(job->devices) + job->staging_threads);
  atomic_store(&job->untied, bits(job->tied));
  TSR_TRY(fill_blocks(job, submission));
  TSR_TRY(make_verdicts(job));
  if (!tsr_overlap_find(job)) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a job");
  if (!job->trace) return TSR_OK;
  job->times = tsr_alloc_zero(2 * job->plan->commands.count, sizeof *job->times);
  return job->times != NULL ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a trace");
}

/* Logs the time that a first call of its kind takes for preparation, if that is more than 1 ms. */
static void log_preparation(double began, double reserved) {
  double now = tsr_now();
  if (now - began > 1e-3)
    tsr_log(TSR_LOG_INFO,
            "a plan's first run: %.1f ms for memory and queues, %.1f ms for trying kernels",
            1e3 * (reserved - began), 1e3 * (now - reserved));
}

/* The set of events of the next job. Sets are used in rotation, so that a set's former job is
 * complete before its next one may start. If no job is in flight, the set is 0: calls that come one
 * at a time then make events only once. */
static int next_set(const tsr_runner *runner) {
  if (atomic_load(&runner->completed) == runner->posted) return 0;
  return (runner->tail->set + 1) % TSR_RUN_JOBS;
}

/* A job that fails later is among the earlier ones that tsr_overlap_find finds. */
static tsr_status check_failures(const tsr_runner *runner, const tsr_submission *submission) {
  if (submission->cached.arenas == NULL ||
      submission->cached.failures == tsr_runner_failures(runner))
    return TSR_OK;
  return tsr_fail(TSR_ERR_DEVICE,
                  "a call whose results this one may use has failed: make them again");
}

static tsr_status enter(tsr_runner *runner, tsr_submission *submission, double now,
                        tsr_job **posted) {
  TSR_TRY(check_failures(runner, submission));
  runner->set = next_set(runner);
  tsr_program *program = submission->program;
  if (submission->cached.arenas != NULL) TSR_TRY(take_turns(runner, submission->program, &program));
  TSR_TRY(tsr_resource_reserve(runner, program, submission->trace,
                               submission->cached.arenas == NULL, &submission->short_of));
  double reserved = tsr_now();
  tsr_job *job = tsr_job_take(runner);
  if (job == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a job");
  tsr_status status = fill(job, submission, program);
  if (status != TSR_OK) {
    atomic_store(&job->references, 1);
    tsr_job_drop(job);
    return status;
  }
  tsr_warm_up(job);
  clear_verdicts(job);
  log_preparation(now, reserved);
  if (runner->poison && !job->own_arenas) tsr_resource_poison(runner, program->plan);
  job->entered = now;
  tsr_job_post(job);
  *posted = job;
  return TSR_OK;
}

/* Waits until each tied stream waits for the job's last events, so that work which the user puts on
 * the stream next runs after the job. A stream cannot wait for a staging queue: if staging queues
 * write C back, the function waits for the end of the job. It also does so for a job that failed,
 * whose last events the stream may lack. */
static void await_untied(tsr_job *job) {
  if (job->tied == 0) return;
  if (job->program->staging_writes_back) tsr_await_completed(job->runner, job->number + 1);
  tsr_backoff backoff = {0};
  while (atomic_load_explicit(&job->untied, memory_order_acquire) > 0)
    tsr_backoff_step(&backoff, tsr_spins(job->runner));
  if (tsr_job_failed(job)) tsr_await_completed(job->runner, job->number + 1);
}

tsr_status tsr_runner_submit(tsr_runner *runner, tsr_submission *submission, tsr_job **posted) {
  double now = tsr_now();
  submission->short_of = -1;
  pthread_mutex_lock(&runner->enter);
  tsr_status status = enter(runner, submission, now, posted);
  pthread_mutex_unlock(&runner->enter);
  if (status == TSR_OK) await_untied(*posted);
  return status;
}

/* ---- Devices that work ---- */

static uint32_t all_of(const tsr_runner *runner) {
  return runner->devices < 32 ? (1u << runner->devices) - 1 : UINT32_MAX;
}

uint32_t tsr_runner_well(const tsr_runner *runner) {
  return all_of(runner) & ~atomic_load_explicit(&runner->out, memory_order_acquire);
}

bool tsr_runner_may_ask(const tsr_runner *runner) {
  return (atomic_load(&runner->out) & ~atomic_load(&runner->lost)) != 0;
}

uint64_t tsr_runner_failures(const tsr_runner *runner) {
  return atomic_load(&runner->failures);
}

/* ---- Jobs ---- */

tsr_status tsr_job_wait(tsr_job *job) {
  tsr_await_completed(job->runner, job->number + 1);
  return tsr_job_failed(job) ? tsr_error_put(&job->error) : TSR_OK;
}

bool tsr_job_done(tsr_job *job) {
  return atomic_load(&job->done);
}

bool tsr_job_wait_for(tsr_job *job, double seconds) {
  return tsr_await_completed_for(job->runner, job->number + 1, seconds);
}

double tsr_job_entered(const tsr_job *job) {
  return job->entered;
}

bool tsr_job_is_tied(const tsr_job *job) {
  return job->tied != 0;
}

bool tsr_job_is_straight(const tsr_job *job) {
  return job->program->devices_write_back;
}

bool tsr_job_writes_back(const tsr_job *job) {
  return job->program->writes_back;
}

double tsr_job_seconds(const tsr_job *job) {
  return job->seconds;
}

float *tsr_job_take_times(tsr_job *job) {
  float *times = tsr_job_failed(job) ? NULL : job->times;
  if (times != NULL) job->times = NULL;
  return times;
}

bool tsr_job_refused(const tsr_job *job, uint32_t command) {
  return tsr_call_may_refuse(&job->plan->call) && job->verdicts[command] != 0;
}

uint64_t tsr_job_number(const tsr_job *job) {
  return job->number;
}

const tsr_plan *tsr_job_plan(const tsr_job *job) {
  return job->plan;
}

/* Waits for a submission that is under way: it may be reading the plans of jobs that were not
 * complete when it began. */
static void await_submission(tsr_runner *runner) {
  pthread_mutex_lock(&runner->enter);
  pthread_mutex_unlock(&runner->enter);
}

void tsr_job_release(tsr_job *job) {
  if (job == NULL) return;
  tsr_await_completed(job->runner, job->number + 1);
  await_submission(job->runner);
  tsr_job_drop(job);
}

void tsr_runner_moved(tsr_runner *runner, int device, tsr_traffic *traffic) {
  tsr_moved *moved = &runner->moved[device];
  *traffic = (tsr_traffic){.host_to_device = (double)atomic_load(&moved->from_host),
                           .device_to_host = (double)atomic_load(&moved->to_host),
                           .device_to_device = (double)atomic_load(&moved->from_devices),
                           .within_devices = (double)atomic_load(&moved->within)};
}

/* ---- Memory ---- */

tsr_status tsr_runner_reserve_rings(tsr_runner *runner, const tsr_machine *machine, size_t bytes) {
  tsr_runner_occupy(runner);
  tsr_status status = tsr_resource_reserve_rings(runner, machine, bytes);
  tsr_runner_leave(runner);
  return status;
}

void tsr_runner_trim(tsr_runner *runner) {
  tsr_runner_occupy(runner);
  tsr_resource_trim(runner);
  tsr_runner_leave(runner);
}
