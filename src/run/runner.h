/*
 * The runner carries plans out and makes no decision. One submitter thread for each device and one
 * thread for each staging thread; a context has one runner.
 *
 * A submission enters all threads atomically, and submissions take effect in the order in which
 * they entered. Any thread may submit, wait and trim. A program, and its plan, must live until the
 * jobs of its submissions are released.
 */
#ifndef TSR_RUN_RUNNER_H
#define TSR_RUN_RUNNER_H

#include "engine/engine.h"
#include "plan/plan.h"
#include "run/pinner.h"

typedef struct tsr_runner tsr_runner;

/* A plan as the runner runs it (program.h). */
typedef struct tsr_program tsr_program;

/* One submission of a plan. */
typedef struct tsr_job tsr_job;

typedef struct tsr_runner_settings {
  int cores;   /* processors to count on; 0: those this process may use */
  bool poison; /* make all device memory unwritten before each call, if the engine can */
  bool warm;   /* make usual queues at once; try each kernel of a plan before the plan first runs */
  const size_t *room; /* with warm: free bytes of each device, of which a part is taken and given
                         back at once; NULL: none is */
} tsr_runner_settings;

/* settings may be NULL. The engine's state must outlive the runner. */
tsr_status tsr_runner_create(const tsr_engine *engine, tsr_engine_state *state, int devices,
                             const tsr_runner_settings *settings, tsr_runner **runner);

/* Waits for what was submitted. All jobs must have been released. */
void tsr_runner_destroy(tsr_runner *runner);

/* Derives the program from a plan, which must outlive it. TSR_ERR_INTERNAL for a plan that names
 * what is not there. */
tsr_status tsr_program_create(const tsr_plan *plan, tsr_program **program);
void tsr_program_destroy(tsr_program *program); /* NULL is accepted */

/* What to run. */
typedef struct tsr_submission {
  tsr_program *program;
  tsr_binding binding;
  /* For a plan with cached blocks, which are copied: the memory of each room, and the cached block
   * that it is part of (stays), by which jobs recognise memory that they share. Such a plan brings
   * arenas of its own, one for each location, which nobody else uses until it is complete: it may
   * start beside the jobs before it. */
  void *const *blocks, *const *entries, *const *arenas;
  bool trace; /* measure the times of each command */
  tsr_pinner *pinner;
  uint64_t registration; /* of the pinner's, to be carried out before the plan starts; 0: none */
  int short_of; /* out, with TSR_ERR_MEMORY: the location that has not the plan's arena; else -1 */
} tsr_submission;

/* Enters the plan and returns; with tied streams, once all of it is submitted, or, where staging
 * queues write to the user's memory, complete. Nothing is touched on failure. */
tsr_status tsr_runner_submit(tsr_runner *runner, tsr_submission *submission, tsr_job **posted);

/* Waits until the plan is complete; its status, with its message as this thread's. */
tsr_status tsr_job_wait(tsr_job *job);
bool tsr_job_done(tsr_job *job);
/* Waits for so many seconds at most; whether it and all before it are complete. */
bool tsr_job_wait_for(tsr_job *job, double seconds);

/* Of a complete job: seconds from the call to the end; the measured begin and end of each
 * command in seconds from the call (NULL when not traced), which the caller then owns
 * (tsr_dealloc). */
double tsr_job_entered(const tsr_job *job); /* when the call was made: tsr_now */
double tsr_job_seconds(const tsr_job *job);
bool tsr_job_brings_home(const tsr_job *job); /* it copies to the user's memory */
float *tsr_job_take_times(tsr_job *job);
const tsr_plan *tsr_job_plan(const tsr_job *job);

/* Its place in the order of submission, for tsr_runner_await. */
uint64_t tsr_job_number(const tsr_job *job);

/* Waits for it if need be. NULL is accepted. */
void tsr_job_release(tsr_job *job);

/* Waits until what was submitted under that number, and all before it, is complete. */
void tsr_runner_await(tsr_runner *runner, uint64_t number);

/* How many submissions there were, complete or not. Waits for one that is just being made. */
uint64_t tsr_runner_submitted(tsr_runner *runner);

/* How many submissions are complete: those with lower numbers. */
uint64_t tsr_runner_completed(tsr_runner *runner);

/* Whether those from one number up to another are over, while earlier ones may be under way. */
bool tsr_runner_over(tsr_runner *runner, uint64_t from, uint64_t to);

/* Bytes that copies have brought to a device, and from it to the host, since the runner was made;
 * plans are not counted. */
void tsr_runner_moved(tsr_runner *runner, int device, tsr_traffic *traffic);

/* Waits until everything submitted is complete. */
void tsr_runner_drain(tsr_runner *runner);

/* Makes the ring of pinned memory for staging now, bytes of it, or the first call that stages
 * will wait for it (0.3 ms a MiB, measured). */
tsr_status tsr_runner_reserve_ring(tsr_runner *runner, size_t bytes);

/* Gives the arenas and the ring back, after what is in flight. */
void tsr_runner_trim(tsr_runner *runner);

/* Ties the user's stream of a device (native; NULL unties): later submissions wait for what is on
 * it, and it waits for them. */
tsr_status tsr_runner_tie(tsr_runner *runner, int device, void *native);

/* Waits for what is on all tied streams, for work that the runner does not do. */
tsr_status tsr_runner_join(tsr_runner *runner);

/* One copy between any two places, blocking, after what is in flight. queue's device is chosen from
 * the ends; two host ends are not for the runner. */
tsr_status tsr_runner_copy(tsr_runner *runner, const tsr_copy_args *args);

/* Keeps everyone else out of the devices, with nothing in flight, until leave: for probing. */
void tsr_runner_occupy(tsr_runner *runner);
void tsr_runner_leave(tsr_runner *runner);

#endif
