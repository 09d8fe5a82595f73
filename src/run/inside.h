/*
 * What the files of the runner share: its state, a job's state, and who calls whom. A job is the
 * job itself.
 *
 * Jobs form a list in the order of submission; every thread walks it on its own, holding a
 * reference to the job it is at. A thread without work in a job passes it by.
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

/* Jobs under way at once at most, so many sets of events there are: what takes long, such as a
 * block on its way home, should not keep short ones waiting that have nothing to do with it. */
enum { TSR_RUN_JOBS = TSR_TUNE_JOBS };

/* A job that was not complete when a later one was posted, as the later one sees it. */
typedef struct tsr_earlier {
  tsr_job *job; /* a reference */
  bool apart;   /* they have something in common besides cached blocks: it must be complete first */
} tsr_earlier;

/* What an earlier job does last in a part of a stay, on one of its queues. */
typedef struct tsr_block_wait {
  tsr_job *job; /* the earlier one */
  tsr_queue_event *event;
  tsr_rect rect; /* from the stay's first element on */
  bool wrote;
} tsr_block_wait;

struct tsr_job {
  tsr_runner *runner;
  const tsr_plan *plan;
  tsr_program *program;
  tsr_binding binding;
  void **blocks;  /* memory of the plan's cached blocks, or NULL */
  void **entries; /* what each of them is part of: the same memory is the same for all jobs */
  void *arena[TSR_MACHINE_LOCATIONS]; /* its own, or the runner's */
  bool own_arenas;
  tsr_earlier earlier[TSR_RUN_JOBS];
  int earlier_count;
  TSR_VEC(tsr_block_wait) block_waits;
  uint32_t *block_first; /* room r waits for block_waits[block_first[r] .. [r + 1]) */
  bool *met;             /* [queue][block_waits]: the queue has waited for it */
  uint64_t number;       /* 0 for the first job */
  int set;               /* of events */
  uint32_t epoch;        /* marks the program's flags; never 0 */
  uint32_t devices;      /* bit d: device d's thread has work */
  uint32_t tied;         /* bit d: device d has a user's stream to mind */
  tsr_prefault prefault; /* of the result, by staging threads */
  int staging_threads;   /* staging threads 0 .. staging_threads-1 have work */
  atomic_uint staging_at[TSR_PLAN_STAGING_QUEUES]; /* where in by_queue each staging queue is, and
                                         whether a thread is at it (TSR_STAGING_TAKEN) */
  double entered, seconds;
  tsr_pinner *pinner;
  uint64_t registration; /* it waits for that one */
  bool trace;
  float *times;    /* begin (first: time of submission) and end of each command */
  tsr_error error; /* guarded by the runner's pool lock until the job is complete */
  atomic_bool failed;
  atomic_bool done;
  atomic_int left;      /* threads that have work in it still */
  atomic_int to_submit; /* threads that have something to submit still */
  atomic_int untied;    /* tied streams that do not wait for this job yet */
  atomic_uint started;  /* bit d: the mark on device d's user stream is recorded */
  atomic_uint ended;    /* bit d: device d's last events are recorded */
  atomic_int references;
  _Atomic(tsr_job *) next; /* the next job; when free, the next free one */
};

typedef TSR_VEC(tsr_queue_event *) tsr_events;

/* A device as the runner keeps it. */
typedef struct tsr_run_device {
  TSR_VEC(tsr_queue *) queues;
  TSR_VEC(tsr_plan_queue) keys;    /* of queues */
  tsr_events events[TSR_RUN_JOBS]; /* of a job's set, numbered by programs */
  tsr_events timed[TSR_RUN_JOBS];  /* by rank, when traced */
  tsr_events last[TSR_RUN_JOBS];   /* by place among the device's used queues */
  tsr_queue *user;                 /* wraps the tied stream, or NULL */
  tsr_queue_event *mark;           /* on it */
  uint32_t *cursor;                /* the submitter's: next command of each queue of the plan */
  uint32_t *watch[TSR_RUN_JOBS];   /* of a job's set: next command of each queue that staging queues
                                      await */
} tsr_run_device;

/* A job whose part a device's thread has submitted, but which is not over. */
typedef struct tsr_unfinished {
  tsr_job *job;
  int queues;
  bool passed[TSR_PLAN_QUEUES]; /* the last event of each queue used */
} tsr_unfinished;

typedef struct tsr_worker {
  tsr_runner *runner;
  pthread_t thread;
  int device, staging;                     /* one of them; the other is -1 */
  tsr_job *at;                             /* the job it passed last */
  tsr_unfinished unfinished[TSR_RUN_JOBS]; /* the oldest first */
  int unfinished_count;
} tsr_worker;

typedef struct tsr_arena {
  void *base;
  size_t bytes;
} tsr_arena;

/* Bytes that copies have brought to a device and from it to the host; any thread adds to them. */
typedef struct tsr_moved {
  atomic_ullong from_host, from_devices, within, to_host;
} tsr_moved;

struct tsr_runner {
  const tsr_engine *engine;
  tsr_engine_state *state;
  int devices, staging_threads, cores;
  bool poison, warm;
  atomic_bool spin, quit;
  atomic_ullong completed;          /* jobs 0 .. completed-1 are complete */
  atomic_ullong over[TSR_RUN_JOBS]; /* by number: a job's number plus one, when it is complete */
  tsr_job *recent[TSR_RUN_JOBS];    /* by number: the last jobs posted, with a reference each */
  pthread_mutex_t enter; /* who holds it may submit, and change what follows when drained */
  uint64_t posted;
  int set;       /* of events, for the job that is being submitted */
  tsr_job *tail; /* the job submitted last */
  tsr_arena arena[TSR_MACHINE_LOCATIONS];
  tsr_moved moved[TSR_MAX_DEVICES];
  tsr_run_device side[TSR_MAX_DEVICES];
  tsr_worker worker[TSR_MAX_DEVICES], staging[TSR_PLAN_STAGING_QUEUES];
  pthread_mutex_t pool; /* guards free, and errors of jobs */
  tsr_job *free;
  pthread_mutex_t sleep;  /* with both conditions */
  pthread_cond_t wake[2]; /* submitters, staging queues */
  pthread_cond_t done;
  atomic_int sleepers[2], waiters;
};

/* ---- job.c: jobs and their list ---- */

tsr_job *tsr_job_take(tsr_runner *runner); /* NULL when memory is out */
void tsr_job_drop(tsr_job *job);           /* drops a reference */

/* Enters the job behind the others, with one reference for each thread, for the list and for the
 * caller; the caller holds enter. */
void tsr_job_post(tsr_job *job);

/* Waits for the worker's next job; NULL when the runner ends. */
tsr_job *tsr_job_next(tsr_worker *worker);
/* The same without waiting: NULL when there is none yet. */
tsr_job *tsr_job_try_next(tsr_worker *worker);

/* Waits until the runner has completed that many jobs. */
void tsr_await_completed(tsr_runner *runner, uint64_t completed);
/* For so many seconds at most; whether it has. */
bool tsr_await_completed_for(tsr_runner *runner, uint64_t completed, double seconds);

/* Ends the threads' waiting for jobs. */
void tsr_job_quit(tsr_runner *runner);

/* Waits for memory of the job's that is being registered. It may take seconds, in which nobody
 * spins. */
void tsr_job_await_memory(const tsr_job *job);
bool tsr_job_has_memory(const tsr_job *job); /* it would not wait */

/* Records this thread's last message with the job, if none is there; nothing more is started. */
void tsr_job_fail(tsr_job *job, tsr_status status);
static inline bool tsr_job_failed(tsr_job *job) {
  return atomic_load_explicit(&job->failed, memory_order_acquire);
}

/* A thread has done its part; the last one completes the job. */
void tsr_job_leave(tsr_job *job);

/* ---- overlap.c: jobs beside those before them ---- */

/* Finds what jobs that are not complete have in common with one that is about to be posted. False:
 * no memory. The caller holds enter. */
bool tsr_overlap_find(tsr_job *job);
/* Whether the job may start beside those before it; its threads ask until it may. */
bool tsr_overlap_may_start(const tsr_job *job);
/* Has the queue wait for what jobs before this one do in the cached blocks that a command touches.
 */
tsr_status tsr_overlap_wait(tsr_job *job, uint32_t command, tsr_queue *queue);

/* ---- submitter.c, finish.c, staging queue.c: the threads ---- */

#define TSR_STAGING_TAKEN 0x80000000u

/* Sets the staging queues of a job to their beginnings. */
void tsr_staging_start(tsr_job *job);

/* Submits a device's part of a job, which is then among the worker's unfinished ones. */
void tsr_submitter_run(tsr_worker *worker, tsr_job *job);
/* Looks after the unfinished ones: those that are over are left. */
void tsr_worker_poll(tsr_worker *worker);
/* A thread's part of the staging queues of a job. */
void tsr_staging_run(tsr_job *job);

/* ---- watch.c: what staging queues wait for, looked at by the devices' threads ---- */

/* Before the worker submits its part of the job. */
void tsr_watch_start(tsr_worker *worker, tsr_job *job);
/* Tells staging queues which of the device's commands that they wait for are complete by now. */
void tsr_watch_poll(tsr_worker *worker, tsr_job *job);

/* ---- enter.c: what is put into queues, tried again while host memory is out ---- */

tsr_status tsr_enter_command(tsr_job *job, uint32_t command, tsr_queue *queue);
tsr_status tsr_enter_record(const tsr_engine *engine, tsr_queue *queue, tsr_queue_event *event);
tsr_status tsr_enter_wait(const tsr_engine *engine, tsr_queue *queue, tsr_queue_event *event);

/* ---- issue.c: from a plan's command to an engine's ---- */

tsr_status tsr_issue(tsr_job *job, uint32_t command, tsr_queue *queue);
/* The copy that a command of kind COPY is. */
void tsr_issue_copy_args(const tsr_job *job, uint32_t command, tsr_copy_args *args);

/* ---- direct.c, warm.c: on the devices while the runner is still ---- */

/* Waits for all that is in a queue. */
tsr_status tsr_direct_finish(tsr_runner *runner, tsr_queue *queue, tsr_queue_event *event);

/* Makes the queues of nearly every plan and, where room is not NULL, a first arena on each device,
 * which has so many bytes free; all devices side by side. Nobody else has the runner. */
tsr_status tsr_warm_devices(tsr_runner *runner, const size_t *room);

/* Tries the kernels of a plan that runs for the first time; the caller holds enter. */
void tsr_warm_up(tsr_job *job);

/* ---- trace.c ---- */

/* Turns what was recorded into begin and end of each command; the job is complete. */
void tsr_trace_finish(tsr_job *job);

/* ---- resource.c: what a job needs of its runner ---- */

/* Queues, events, arenas unless it has its own, and threads; the caller holds enter. *short_of as
 * in tsr_submission. */
tsr_status tsr_resource_reserve(tsr_runner *runner, tsr_program *program, bool trace, bool arenas,
                                int *short_of);
void tsr_resource_trim(tsr_runner *runner);
/* An arena of at least so many bytes; what runs is waited for where it must be another one. */
tsr_status tsr_resource_reserve_arena(tsr_runner *runner, int location, size_t bytes);
tsr_status tsr_resource_reserve_ring(tsr_runner *runner, size_t bytes);
/* Makes what a plan will use of the arenas unwritten again. */
void tsr_resource_poison(tsr_runner *runner, const tsr_plan *plan);
void tsr_resource_free(tsr_runner *runner);
tsr_status tsr_resource_queue(tsr_runner *runner, int device, tsr_plan_queue key,
                              tsr_queue **queue);
tsr_status tsr_resource_events(tsr_runner *runner, int device, tsr_events *events, size_t count,
                               bool timed);

/* ---- worker.c ---- */

/* Starts the thread of a worker at the job submitted last. */
tsr_status tsr_worker_start(tsr_worker *worker);

/* ---- order.c ---- */

/* Waits until all is complete; the caller holds enter. */
void tsr_runner_settle(tsr_runner *runner);

/* ---- For all of them ---- */

/* Threads that stage for a plan. Staging queues are no thread's own, so fewer can do: where plans
 * are made for more threads than there are cores, those without one would only take turns at
 * waiting. */
static inline int tsr_staging_threads(const tsr_runner *runner, const tsr_program *program) {
  int cores = runner->cores;
  int most = cores > TSR_TUNE_STAGING_LEAST ? cores : TSR_TUNE_STAGING_LEAST;
  return program->staging_threads < most ? program->staging_threads : most;
}

/* Spinning pays only where no thread takes the core of another: some are the program's own. */
static inline bool tsr_may_spin(int cores, int threads) {
  return cores >= TSR_TUNE_SPIN_CORES * threads;
}

static inline bool tsr_spins(const tsr_runner *runner) {
  return atomic_load_explicit(&runner->spin, memory_order_relaxed);
}

/* The event that says that a command of a device has been carried out. */
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

/* A command of a device that staging queues wait for is complete. */
static inline bool tsr_job_passed(const tsr_job *job, uint32_t command) {
  return atomic_load_explicit(&job->program->passed[command], memory_order_acquire) == job->epoch;
}

/* A command of a device has been submitted with its event; one of a staging queue is complete. */
static inline bool tsr_job_flagged(const tsr_job *job, uint32_t command) {
  return atomic_load_explicit(&job->program->flag[command], memory_order_acquire) == job->epoch;
}

#endif
