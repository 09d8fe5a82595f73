/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The calls of a context that are in flight: these functions submit plans to the runner, wait for
 * the jobs, and keep their errors and times.
 */
#ifndef TSR_CALL_CALLS_H
#define TSR_CALL_CALLS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/rect.h"
#include "call/left.h"
#include "call/traced.h"
#include "run/pinner.h"
#include "run/runner.h"

typedef struct tsr_calls {
  tsr_runner *runner; /* NULL: the CPU's BLAS does the work */
  tsr_pinner *pinner;
  bool always_traced;         /* the context's options ask for traces */
  atomic_bool trace;          /* trace jobs: always_traced, or a timeline is being recorded */
  pthread_mutex_t collecting; /* held while jobs are taken from pending and waited for */
  pthread_mutex_t lock;       /* guards the fields below; taken before the lock of plans */
  TSR_VEC(tsr_job *) pending; /* the jobs of asynchronous calls, in order of submission */
  tsr_error error;            /* the first error of collected asynchronous calls, for tsr_sync */
  const tsr_plan *last;       /* the plan that ran last; a reference; NULL: none */
  tsr_traffic traffic;        /* of all submitted plans */
  tsr_progress progress;      /* the user's function, or NULL */
  void *progress_user;
  bool keeping; /* a timeline is being recorded, in traces */
  tsr_traces traces;
} tsr_calls;

/* Makes the locks of a zeroed tsr_calls. The caller makes runner and pinner. */
void tsr_calls_begin(tsr_calls *calls);

/* Waits for the calls in flight and drops their jobs, the last plan and the traces. */
void tsr_calls_drop(tsr_calls *calls);
/* Destroys the locks, after tsr_calls_drop and after the runner and the pinner were destroyed. */
void tsr_calls_end(tsr_calls *calls);

/* Submits a plan, with the memory of its cached blocks (NULL: it has none), and counts its traffic.
 * *short_of as in tsr_submission. The job holds a reference to the plan. */
tsr_status tsr_calls_submit(tsr_calls *calls, const tsr_plan *plan, const tsr_binding *binding,
                            const tsr_cached_memory *cached, int *short_of, tsr_job **job);

/* Submits a plan without cached blocks and waits for it; *short_of as in tsr_submission. Fills in
 * *left, which has nothing, what the run has left; TSR_ERR_DEVICE with a reason: another run may do
 * it. */
tsr_status tsr_calls_run(tsr_calls *calls, const tsr_plan *plan, const tsr_binding *binding,
                         tsr_left *left, int *short_of);

/* Waits for the job, keeps its measured times, and releases the job and its reference to the plan.
 * Returns the job's status. tells: the program gets it, so that tsr_sync need not tell it. */
tsr_status tsr_calls_collect(tsr_calls *calls, tsr_job *job, bool tells);

/* Keeps the job of an asynchronous call until tsr_sync. Without memory for that, waits for it now.
 */
void tsr_calls_keep(tsr_calls *calls, tsr_job *job);

/* Collects all kept jobs and notes their first error. */
void tsr_calls_collect_pending(tsr_calls *calls);

/* Notes the calling thread's error for tsr_sync, unless one is noted already. */
void tsr_calls_note_error(tsr_calls *calls, tsr_status status);

/* Returns the noted error, as the calling thread's, and clears it. */
tsr_status tsr_calls_take_error(tsr_calls *calls);

/* Notes the plan of a call that the CPU has carried out as the last one. */
void tsr_calls_set_last(tsr_calls *calls, const tsr_plan *plan);

#endif
