/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The runner carries out plans and makes no decision. It has one submitter thread for each device,
 * and staging threads that copy between pageable memory and the pinned ring. A context has one
 * runner.
 *
 * A submission of a plan is a job. All threads see the jobs in one order, and jobs take effect as
 * if run in that order. Any thread may submit, wait and trim. A program and its plan must live
 * until the jobs of its submissions are released.
 */
#ifndef TSR_RUN_RUNNER_H
#define TSR_RUN_RUNNER_H

#include "base/rect.h"
#include "engine/engine.h"
#include "plan/plan.h"
#include "run/near.h"
#include "run/pinner.h"

typedef struct tsr_runner tsr_runner;

/* What the runner derives from a plan (program.h). */
typedef struct tsr_program tsr_program;

/* One submission of a plan. */
typedef struct tsr_job tsr_job;

typedef struct tsr_runner_settings {
  int cores;   /* processors that the runner may use; 0: all that this process may use */
  bool poison; /* before each job, its arenas count as unwritten again, if the engine can do that */
  bool warm; /* make usual queues now; run each kernel of a plan once before the plan first runs */
  const tsr_near *near;      /* where devices are, for threads and rings; NULL: unknown */
  const size_t *free_memory; /* with warm: free bytes of each device, of which the runner allocates
                                a part as its first arena; NULL: it allocates none now */
} tsr_runner_settings;

/* settings may be NULL. The engine's state must outlive the runner. */
tsr_status tsr_runner_create(const tsr_engine *engine, tsr_engine_state *state, int devices,
                             const tsr_runner_settings *settings, tsr_runner **runner);

/* Waits for all jobs, which the caller has released before. */
void tsr_runner_destroy(tsr_runner *runner);

/* Derives the program from a plan, which must outlive it. TSR_ERR_INTERNAL if the plan names a
 * queue, location or command that does not exist. */
tsr_status tsr_program_create(const tsr_plan *plan, tsr_program **program);
void tsr_program_destroy(tsr_program *program);           /* NULL is accepted */
uint32_t tsr_program_devices(const tsr_program *program); /* bit d: device d has commands */

/* The memory of a plan with cached blocks; all NULL: the plan has none. The runner copies the
 * arrays. blocks[r]: the memory of cached block r. entries[r]: the first byte of the store's entry
 * that contains the block, by which jobs recognise memory that they share. arenas: one for each
 * location, which no other job uses until this one is complete, so that the job may run
 * concurrently with earlier ones. */
typedef struct tsr_cached_memory {
  void *const *blocks, *const *entries, *const *arenas;
  uint64_t failures; /* with arenas: tsr_runner_failures before the cached blocks were found */
} tsr_cached_memory;

/* A plan to run, with the memory of one call. */
typedef struct tsr_submission {
  tsr_program *program;
  tsr_binding binding;
  tsr_cached_memory cached;
  bool trace; /* measure the begin and end of each command */
  bool kept;  /* nobody waits for the job: if it fails, it is among the losses */
  tsr_pinner *pinner;
  uint64_t registration; /* of the pinner, to be carried out before the job starts; 0: none */
  int short_of; /* out, with TSR_ERR_MEMORY: the location that lacks memory for its arena; else -1
                 */
} tsr_submission;

/* Submits the plan and sets *posted to the job, which the caller releases. Returns at once; if
 * streams are tied, when all commands are submitted; if staging queues also write to the user's
 * memory, when the job is complete. On failure no memory of the call has been touched.
 * TSR_ERR_DEVICE: a job has failed since the cached blocks were found. */
tsr_status tsr_runner_submit(tsr_runner *runner, tsr_submission *submission, tsr_job **posted);

/* How much of C, in the user's memory, a failed job has left undone. */
typedef enum tsr_job_left {
  TSR_JOB_LEFT_ALL,    /* nothing of C was written */
  TSR_JOB_LEFT_PARTS,  /* known parts; the others are as the plan makes them */
  TSR_JOB_LEFT_UNKNOWN /* what was written may be wrong */
} tsr_job_left_kind;

/* The failed jobs of asynchronous calls (tsr_submission.kept). */
typedef struct tsr_loss {
  uint64_t number;
  tsr_job_left_kind left; /* of the user's memory */
  bool told;              /* a caller has waited for the job, and got its error */
} tsr_loss;
typedef struct tsr_losses {
  TSR_VEC(tsr_loss) jobs;
  uint64_t first;  /* number of the first of them; UINT64_MAX: there is none */
  bool by_device;  /* a device's failure made that one fail */
  bool incomplete; /* host memory was short for the list */
  int unlisted;    /* of the jobs that it lacks, those whose error no caller has got */
  tsr_error error; /* of the first */
} tsr_losses;

/* The caller has waited for the failed job: nobody else need be told of it. */
void tsr_job_note_told(const tsr_job *job);

/* Takes over the list of jobs that have failed; all jobs submitted are complete. */
void tsr_runner_take_losses(tsr_runner *runner, tsr_losses *losses);

/* Devices that work, as bits. A device on which a command fails is out until it is asked. */
uint32_t tsr_runner_well(const tsr_runner *runner);

/* Whether tsr_runner_ask has a device to ask. */
bool tsr_runner_may_ask(const tsr_runner *runner);

/* Waits for all jobs and asks those of the devices (bits) that are out, and have not been found
 * lost, whether they work (tsr_engine.recover); also each that failed only for what another one
 * had left undone. One that works is used again, unless it has failed too often. */
void tsr_runner_ask(tsr_runner *runner, uint32_t devices);

/* The same for all devices, also those that are not out: what they have failed for may be what
 * another one had left undone. */
void tsr_runner_ask_all(tsr_runner *runner);

/* The number of jobs of asynchronous calls that have failed. When it changes, cached blocks may not
 * hold what their jobs were to write. */
uint64_t tsr_runner_failures(const tsr_runner *runner);

/* Waits until the job is complete and returns its status; its message becomes this thread's. */
tsr_status tsr_job_wait(tsr_job *job);
bool tsr_job_done(tsr_job *job);
/* Waits at most seconds; true if the job and all before it are complete. */
bool tsr_job_wait_for(tsr_job *job, double seconds);

double tsr_job_entered(const tsr_job *job);   /* time of the call: tsr_now */
double tsr_job_seconds(const tsr_job *job);   /* of a complete job: from the call to the end */
bool tsr_job_writes_back(const tsr_job *job); /* the job copies to the user's memory */
bool tsr_job_is_tied(const tsr_job *job);     /* to streams of the user's */
bool tsr_job_is_straight(const tsr_job *job); /* devices write there without a staging thread */
const tsr_plan *tsr_job_plan(const tsr_job *job);
/* Of a complete job: the measured begin and end of each command, in seconds from the call. The
 * caller owns them (tsr_dealloc). NULL: the job was not traced, has failed, or was asked before. */
float *tsr_job_take_times(tsr_job *job);

/* Of a job that has failed and is complete: what it has left, and the error of a device that made
 * it fail. parts (which may be NULL) is the job's own list. False: the job did not fail for want of
 * a device, and making it again would not help. */
bool tsr_job_lost_device(const tsr_job *job);
tsr_job_left_kind tsr_job_left(const tsr_job *job, const tsr_rects **parts);

/* Of a complete job: whether the command is a product in a form that could not promise its
 * accuracy, and left its part of C as it was. */
bool tsr_job_refused(const tsr_job *job, uint32_t command);

/* The job's place in the order of submission, for tsr_runner_await. */
uint64_t tsr_job_number(const tsr_job *job);

/* Waits until the job is complete and gives it back. NULL is accepted. */
void tsr_job_release(tsr_job *job);

/* Waits until jobs 0 .. number are complete. */
void tsr_runner_await(tsr_runner *runner, uint64_t number);

/* The number of jobs submitted, complete or not. Waits for a submission that is under way. */
uint64_t tsr_runner_submitted(tsr_runner *runner);

/* The number n such that jobs 0 .. n-1 are complete. */
uint64_t tsr_runner_completed(tsr_runner *runner);

/* Whether jobs from .. to-1 are complete; earlier ones need not be. */
bool tsr_runner_over(tsr_runner *runner, uint64_t from, uint64_t to);

/* Bytes that copies of jobs bring to the device, and from it to the host, counted when they are
 * submitted to the engine, since the runner was made. */
void tsr_runner_moved(tsr_runner *runner, int device, tsr_traffic *traffic);

/* Waits until all jobs are complete. */
void tsr_runner_drain(tsr_runner *runner);

/* Allocates the staging rings that plans for the machine use, of at least bytes in all, so that no
 * call has to wait for that (measured: 0.3 ms for each MiB). */
tsr_status tsr_runner_reserve_rings(tsr_runner *runner, const tsr_machine *machine, size_t bytes);

/* Waits for all jobs and frees the arenas and the rings. */
void tsr_runner_trim(tsr_runner *runner);

/* Ties the user's stream native to the device: later jobs wait for the work on the stream, and work
 * put on the stream later waits for them. native = NULL unties. */
tsr_status tsr_runner_tie(tsr_runner *runner, int device, void *native);

/* Waits for the work on all tied streams, before work that the runner does not do. */
tsr_status tsr_runner_join(tsr_runner *runner);

/* Waits for all jobs, then carries out one copy and waits for it. At least one end of the copy must
 * be on a device. */
tsr_status tsr_runner_copy(tsr_runner *runner, const tsr_copy_args *args);

/* Waits for all jobs and keeps submissions waiting until tsr_runner_leave; for probing. */
void tsr_runner_occupy(tsr_runner *runner);
void tsr_runner_leave(tsr_runner *runner);

#endif
