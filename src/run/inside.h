/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Shared by the runner's files: the state of the runner and of a job, and the functions that they
 * call of one another.
 *
 * Jobs form a list in the order of submission. Each thread walks the list by itself and holds a
 * reference to the job at which it is. A thread without work in a job goes on to the next.
 */
#ifndef TSR_RUN_INSIDE_H
#define TSR_RUN_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "run/backoff.h"
#include "run/prefault.h"
#include "run/program.h"
#include "run/runner.h"
#include "run/tuning.h"

/* The most jobs in flight at once, each with a set of events. They are many, so that a long job,
 * such as the write-back of a block, does not keep independent short ones waiting. */
enum { TSR_RUN_JOBS = TSR_TUNE_JOBS };

/* For a job: an earlier one that was not complete when the job was posted. */
typedef struct tsr_earlier {
  tsr_job *job;  /* the earlier job; a reference */
  bool must_end; /* the job starts only after the earlier one is complete: they share more than
                    cached blocks */
} tsr_earlier;

/* The last use of a part of a store's entry by a queue of an earlier job. */
typedef struct tsr_block_wait {
  tsr_job *job; /* the earlier job */
  tsr_queue_event *event;
  tsr_rect rect; /* in elements from the entry's first */
  bool wrote;
} tsr_block_wait;

struct tsr_job {
  tsr_runner *runner;
  const tsr_plan *plan;
  tsr_program *program;
  tsr_binding binding;
  void **blocks;  /* memory of each cached block of the plan; NULL: it has none */
  void **entries; /* first byte of the store's entry to which each block belongs; jobs that share an
                     entry see the same pointer */
  void *arena[TSR_MACHINE_LOCATIONS]; /* the job's own, or the runner's */
  bool own_arenas;
  tsr_earlier earlier[TSR_RUN_JOBS];
  int earlier_count;
  TSR_VEC(tsr_block_wait) block_waits;
  uint32_t *block_first; /* block r waits for block_waits[block_first[r] .. block_first[r + 1]) */
  bool *met;             /* [queue][block_waits]: the queue already waits for that event */
  uint64_t number;       /* order of submission; 0 for the first job */
  int set;               /* index of the job's set of events */
  uint32_t epoch;        /* the value of the program's flags in this run; never 0 */
  uint32_t devices;      /* bit d: device d's thread has work */
  uint32_t tied;         /* bit d: a user's stream is tied to device d */
  tsr_prefault prefault; /* the result's missing pages, which staging threads make */
  int staging_threads;   /* staging threads 0 .. staging_threads-1 have work */
  /* For each staging queue, the place in by_queue of its next command, with TSR_STAGING_TAKEN while
   * a thread runs that command. */
  atomic_uint staging_at[TSR_PLAN_STAGING_QUEUES];
  double entered; /* time of the call: tsr_now */
  double seconds; /* from the call to the end, once the job is complete */
  tsr_pinner *pinner;
  uint64_t registration; /* the pinner's registration that the job waits for; 0: none */
  int32_t *verdicts;     /* in pinned memory, which stays with the struct when the job is over: the
                            verdict of each command's kernel (tsr_kernel_args.verdict) */
  size_t verdict_bytes;
  bool trace;
  float *times;    /* of each command [s from the call]: begin (at first time of submission), end */
  tsr_error error; /* guarded by the runner's pool lock until the job is complete */
  bool kept;       /* as in tsr_submission */
  uint32_t well;   /* bit d: device d worked when the job was submitted */
  atomic_uint blamed,
      broken; /* bit d: a command of device d failed; its queues may have lost some */
  uint32_t torn[TSR_MAX_DEVICES]; /* 1 + the command that a device has without its flag; 0: none */
  tsr_job_left_kind left_kind;    /* of a failed job: what it left of C, and the parts */
  tsr_rects left_parts;
  atomic_bool failed;
  atomic_bool done;
  atomic_int left;      /* number of threads that still have work in the job */
  atomic_int to_submit; /* number of threads that have not submitted all their commands */
  atomic_int untied;    /* number of tied streams that do not wait for this job yet */
  atomic_uint started;  /* bit d: the mark on device d's user stream is recorded */
  atomic_uint ended;    /* bit d: device d's last events are recorded */
  atomic_int references;
  _Atomic(tsr_job *) next; /* the next job; in the list of free jobs, the next free one */
};

typedef TSR_VEC(tsr_queue_event *) tsr_events;

/* The runner's queues and events of one device. Arrays of TSR_RUN_JOBS are indexed by a job's set.
 */
typedef struct tsr_run_device {
  TSR_VEC(tsr_queue *) queues;
  TSR_VEC(tsr_plan_queue) keys;    /* the role and index of each of queues */
  tsr_events events[TSR_RUN_JOBS]; /* indexed by tsr_program.event */
  tsr_events timed[TSR_RUN_JOBS];  /* for traced jobs, indexed by tsr_program.rank */
  tsr_events last[TSR_RUN_JOBS];   /* the last event of each queue in use, in the order of used */
  tsr_queue *user;                 /* the tied stream of the user; NULL: none */
  tsr_queue_event *mark;           /* recorded in user when a job starts */
  uint32_t *cursor;                /* of the submitter: next command of each queue of the plan */
  uint32_t *watch[TSR_RUN_JOBS]; /* next command of each queue of the plan for which a staging queue
                                    waits */
} tsr_run_device;

/* A job whose commands a device's thread has submitted, but which the device has not completed. */
typedef struct tsr_unfinished {
  tsr_job *job;
  int queues;
  bool complete[TSR_PLAN_QUEUES]; /* of the last event of each queue in use */
} tsr_unfinished;

typedef struct tsr_worker {
  tsr_runner *runner;
  pthread_t thread;
  int device, staging; /* number of the device or staging thread; the other: -1 */
  int node;            /* of the runner's near: the thread's; -1: none */
  tsr_job *at;         /* the last job that the thread took from the list */
  tsr_unfinished unfinished[TSR_RUN_JOBS]; /* the oldest first */
  int unfinished_count;
} tsr_worker;

typedef struct tsr_arena {
  void *base;
  size_t bytes;
} tsr_arena;

/* Bytes copied to a device (from the host, from other devices, within it) and from the device to
 * the host; any thread adds to them. */
typedef struct tsr_moved {
  atomic_ullong from_host, from_devices, within, to_host;
} tsr_moved;

struct tsr_runner {
  const tsr_engine *engine;
  tsr_engine_state *state;
  int devices, staging_threads, cores;
  bool poison, warm;
  tsr_near near; /* near.nodes is 0: threads and memory are where the system puts them */
  atomic_bool spin, quit;
  atomic_uint out, lost, doubted;   /* bit d: device d is not used; nor asked any more; it only had
                                       bad data of another device that failed */
  tsr_losses losses;                /* guarded by pool; first as a number that may be 0 is kept */
  int failed[TSR_MAX_DEVICES];      /* how often each was out; changes under enter */
  atomic_ullong failures;           /* jobs that have failed */
  atomic_ullong completed;          /* jobs 0 .. completed-1 are complete */
  atomic_ullong over[TSR_RUN_JOBS]; /* [number % TSR_RUN_JOBS]: number + 1 of the job if complete */
  tsr_job *recent[TSR_RUN_JOBS];    /* [number % TSR_RUN_JOBS]: last jobs posted; references */
  pthread_mutex_t enter; /* held to submit; the fields below change under it (arenas, ties and the
                            like only once all jobs are complete) */
  uint64_t posted;       /* number of jobs posted */
  int set;               /* the set of events of the job that is being submitted */
  tsr_job *tail;         /* the job submitted last; a reference */
  tsr_arena arena[TSR_MACHINE_LOCATIONS];
  tsr_moved moved[TSR_MAX_DEVICES];
  tsr_run_device side[TSR_MAX_DEVICES];
  tsr_worker worker[TSR_MAX_DEVICES], staging[TSR_PLAN_STAGING_QUEUES];
  pthread_mutex_t pool; /* guards free, and errors of jobs */
  tsr_job *free;
  pthread_mutex_t sleep;  /* the lock of the conditions below */
  pthread_cond_t wake[2]; /* a job was posted; for submitters [0] and staging threads [1] */
  pthread_cond_t done;    /* a job is complete */
  atomic_int sleepers[2]; /* threads that wait for wake[0] and wake[1] */
  atomic_int waiters;     /* threads that wait for done */
};

/* ---- job.c: jobs and their list ---- */

tsr_job *tsr_job_take(tsr_runner *runner); /* a zeroed job; NULL: no host memory */
void tsr_job_drop(tsr_job *job);           /* drops a reference */

/* Appends the job to the list, with references for each thread, the list and the caller. The caller
 * holds enter. */
void tsr_job_post(tsr_job *job);

/* Waits for the worker's next job. NULL: the runner ends. */
tsr_job *tsr_job_next(tsr_worker *worker);
/* The worker's next job; NULL: none is posted yet. */
tsr_job *tsr_job_try_next(tsr_worker *worker);

/* Waits until the runner has completed jobs 0 .. completed-1. */
void tsr_await_completed(tsr_runner *runner, uint64_t completed);
/* Waits for that at most seconds; true if those jobs are complete. */
bool tsr_await_completed_for(tsr_runner *runner, uint64_t completed, double seconds);

/* Wakes the threads that wait for jobs, which then end. */
void tsr_job_quit(tsr_runner *runner);

/* Waits until the registration of the job's memory is carried out. That may take seconds, so the
 * thread sleeps. tsr_job_has_memory: whether it already is. */
void tsr_job_await_memory(const tsr_job *job);
bool tsr_job_has_memory(const tsr_job *job);

/* Marks the job as failed: no further command of it starts. status and this thread's last message
 * become the job's error if it has none. */
void tsr_job_fail(tsr_job *job, tsr_status status);
static inline bool tsr_job_failed(tsr_job *job) {
  return atomic_load_explicit(&job->failed, memory_order_acquire);
}

/* The same for a command of the device, which is out from now on; break: an error of the device,
 * after which nobody knows which of its commands were carried out. */
void tsr_job_fail_on(tsr_job *job, int device, tsr_status status);
void tsr_job_break(tsr_job *job, int device, tsr_status status);

/* Says that the calling thread has done its part of the job; the last thread completes the job. */
void tsr_job_leave(tsr_job *job);

/* ---- left.c: what failed jobs leave ---- */

/* Notes the devices of a failed job, and what it has left; the job's last thread calls it. */
void tsr_job_find_left(tsr_job *job);

/* ---- overlap.c: jobs that run concurrently with earlier ones ---- */

/* Finds the memory that a job about to be posted shares with jobs that are not complete, and the
 * events to wait for. False: no host memory. The caller holds enter. */
bool tsr_overlap_find(tsr_job *job);
/* Whether the job may start although earlier jobs are not complete; its threads ask until it may.
 */
bool tsr_overlap_may_start(const tsr_job *job);
/* Fails the job if an earlier one failed whose end it has waited for: cached blocks may be
 * unwritten.
 */
void tsr_overlap_check(tsr_job *job);
/* Makes the queue wait for the uses by earlier jobs of the cached blocks that the command touches.
 */
tsr_status tsr_overlap_wait(tsr_job *job, uint32_t command, tsr_queue *queue);

/* ---- submitter.c, finish.c, staging.c: the threads ---- */

#define TSR_STAGING_TAKEN 0x80000000u

/* Sets the cursor of each staging queue of the job to the queue's first command. It starts no
 * thread. */
void tsr_staging_start(tsr_job *job);

/* Submits the device's part of the job and appends the job to worker->unfinished. */
void tsr_submitter_run(tsr_worker *worker, tsr_job *job);
/* Asks the device about the worker's unfinished jobs and leaves the jobs that it has completed. */
void tsr_worker_poll(tsr_worker *worker);
/* Among the staging queues that no thread has taken and whose next command may run, returns one of
 * the worker's node, else of any; of those the one whose command comes first in the plan, and *at,
 * the command's place in by_queue. -1: none. *over: no commands are left but those that threads are
 * running. */
int tsr_staging_choose(const tsr_worker *worker, tsr_job *job, uint32_t *at, bool *over);
/* Runs commands of the job's staging queues until none is left for this thread. */
void tsr_staging_run(const tsr_worker *worker, tsr_job *job);

/* ---- watch.c: commands of devices for which staging queues wait ---- */

/* Prepares watching; called before the worker submits its part of the job. */
void tsr_watch_start(tsr_worker *worker, tsr_job *job);
/* Asks the device which watched commands are complete, and notes that for the staging threads. */
void tsr_watch_poll(tsr_worker *worker, tsr_job *job);

/* ---- enter.c: submissions to the engine, repeated if host memory is short ---- */

tsr_status tsr_enter_command(tsr_job *job, uint32_t command, tsr_queue *queue);
tsr_status tsr_enter_record(const tsr_engine *engine, tsr_queue *queue, tsr_queue_event *event);
tsr_status tsr_enter_wait(const tsr_engine *engine, tsr_queue *queue, tsr_queue_event *event);

/* ---- issue.c: from a plan's command to an engine's ---- */

tsr_status tsr_issue(tsr_job *job, uint32_t command, tsr_queue *queue);
/* Fills args with the copy of a command of kind TSR_COMMAND_COPY. */
void tsr_issue_copy_args(const tsr_job *job, uint32_t command, tsr_copy_args *args);

/* ---- direct.c, warm.c: work on the devices while no job runs ---- */

/* Waits for all commands in the queue, by means of event. */
tsr_status tsr_direct_finish(tsr_runner *runner, tsr_queue *queue, tsr_queue_event *event);

/* On all devices in parallel: makes the queues that nearly every plan uses and, if free_memory is
 * not NULL, an arena of a part of free_memory[d] bytes. No other thread uses the runner yet. */
tsr_status tsr_warm_devices(tsr_runner *runner, const size_t *free_memory);

/* Runs the kernels of a plan once before the plan's first run; the caller holds enter. */
void tsr_warm_up(tsr_job *job);

/* ---- trace.c ---- */

/* Fills the job's times from the recorded events; the job's last thread calls it. */
void tsr_trace_finish(tsr_job *job);

/* ---- resource.c: queues, events, arenas and staging threads ---- */

/* Makes the queues, events and staging threads that the program lacks and, if arenas, the runner's
 * arenas. The caller holds enter. *short_of as in tsr_submission. */
tsr_status tsr_resource_reserve(tsr_runner *runner, tsr_program *program, bool trace, bool arenas,
                                int *short_of);
void tsr_resource_trim(tsr_runner *runner); /* frees the arenas and the ring */
/* Makes the arena of the location at least bytes large; if it grows, waits for all jobs first. */
tsr_status tsr_resource_reserve_arena(tsr_runner *runner, int location, size_t bytes);
tsr_status tsr_resource_reserve_rings(tsr_runner *runner, const tsr_machine *machine, size_t bytes);
/* Makes the parts of the arenas that the plan uses count as unwritten again. */
void tsr_resource_poison(tsr_runner *runner, const tsr_plan *plan);
void tsr_resource_free(tsr_runner *runner);
/* The device's queue of the key's role and index, made if it does not exist; the runner owns it. */
tsr_status tsr_resource_queue(tsr_runner *runner, int device, tsr_plan_queue key,
                              tsr_queue **queue);
/* Appends events until there are at least count. */
tsr_status tsr_resource_events(tsr_runner *runner, int device, tsr_events *events, size_t count,
                               bool timed);

/* ---- worker.c ---- */

/* Starts the worker's thread, which takes the jobs after the one submitted last. */
tsr_status tsr_worker_start(tsr_worker *worker);

/* ---- order.c ---- */

/* Waits until all jobs are complete; the caller holds enter. */
void tsr_runner_settle(tsr_runner *runner);

/* ---- For all files ---- */

/* The number of staging threads that run the program. Any thread serves any staging queue, so fewer
 * threads than the plan asks for suffice: with more threads than cores, threads would only take
 * each other's core while they wait. */
static inline int tsr_staging_threads(const tsr_runner *runner, const tsr_program *program) {
  int cores = runner->cores;
  int most = cores > TSR_TUNE_STAGING_LEAST ? cores : TSR_TUNE_STAGING_LEAST;
  return program->staging_threads < most ? program->staging_threads : most;
}

/* Whether waiting threads may spin: only if there are cores for all of the runner's threads and, as
 * SPIN_CORES > 1, some for the user's program. */
static inline bool tsr_may_spin(int cores, int threads) {
  return cores >= TSR_TUNE_SPIN_CORES * threads;
}

static inline bool tsr_spins(const tsr_runner *runner) {
  return atomic_load_explicit(&runner->spin, memory_order_relaxed);
}

/* A command of the device has failed: it is out from now on. */
static inline void tsr_runner_blame(tsr_runner *runner, int device) {
  atomic_fetch_or(&runner->out, 1u << device);
}

/* The event that is complete when the command, of a device's queue, has been carried out. */
static inline tsr_queue_event *tsr_job_event(const tsr_job *job, uint32_t command) {
  int device = job->plan->queue[job->plan->commands.items[command].queue].location;
  tsr_run_device *side = &job->runner->side[device];
  int set = job->set;
  if (job->trace) return side->timed[set].items[job->program->rank[command]];
  return side->events[set].items[job->program->event[command]];
}

static inline bool tsr_job_is_staged(const tsr_job *job, uint32_t command) {
  return job->plan->queue[job->plan->commands.items[command].queue].role == TSR_QUEUE_STAGING;
}

/* Whether a watched command of a device is complete, as watch.c has noted. */
static inline bool tsr_command_is_complete(const tsr_job *job, uint32_t command) {
  return atomic_load_explicit(&job->program->complete[command], memory_order_acquire) == job->epoch;
}

/* Whether the command's flag is set: a device's command is submitted and its event recorded; a
 * staging queue's command is complete. */
static inline bool tsr_job_flagged(const tsr_job *job, uint32_t command) {
  return atomic_load_explicit(&job->program->flag[command], memory_order_acquire) == job->epoch;
}

#endif
