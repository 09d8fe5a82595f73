/*
 * The calls of a context that are under way: plans enter the runner here, and what became of them
 * is collected here.
 */
#ifndef TSR_COMPOSE_CALLS_H
#define TSR_COMPOSE_CALLS_H

#include <pthread.h>
#include <stdatomic.h>

#include "compose/store.h"
#include "compose/traced.h"
#include "run/pinner.h"
#include "run/runner.h"

typedef struct tsr_calls {
  tsr_runner *runner; /* NULL: the CPU's BLAS does the work */
  tsr_pinner *pinner;
  bool always_traced;         /* by the context's options */
  atomic_bool trace;          /* always, or while a timeline is kept */
  atomic_bool lost;           /* a call failed: what is on devices is not to be believed */
  pthread_mutex_t collecting; /* held while jobs are taken from pending and waited for */
  pthread_mutex_t lock;       /* of all below; taken before the lock of plans */
  TSR_VEC(tsr_job *) pending; /* asynchronous calls, in order */
  tsr_error error;            /* the first error of those that were collected */
  const tsr_plan *last;       /* that was run, a reference; NULL: none */
  tsr_traffic traffic;        /* of all that was submitted */
  tsr_progress progress;      /* the user's, or NULL */
  void *progress_user;
  bool keeping; /* a timeline was begun, and is kept in: */
  tsr_traces traces;
} tsr_calls;

/* The rest is zero; runner and pinner are the caller's to make. */
void tsr_calls_begin(tsr_calls *calls);

/* Waits for the calls under way and drops what is kept of them. */
void tsr_calls_drop(tsr_calls *calls);
/* After tsr_calls_drop, with the runner and the pinner destroyed. */
void tsr_calls_end(tsr_calls *calls);

/* Enters a plan, with the memory of its cached blocks (NULL: it has none), and counts what it
 * moves; *short_of as in tsr_submission. The job has a reference of the plan. */
tsr_status tsr_calls_submit(tsr_calls *calls, const tsr_plan *plan, const tsr_binding *binding,
                            const tsr_allocation *allocation, int *short_of, tsr_job **job);

/* Submits a plan without cached blocks and waits for it; *short_of as in tsr_submission. */
tsr_status tsr_calls_run(tsr_calls *calls, const tsr_plan *plan, const tsr_binding *binding,
                         int *short_of);

/* Waits for a job, keeps what it measured, releases it and its plan. */
tsr_status tsr_calls_collect(tsr_calls *calls, tsr_job *job);

/* Keeps a job until tsr_sync. One that cannot be kept is waited for now. */
void tsr_calls_keep(tsr_calls *calls, tsr_job *job);

/* Collects all jobs that were kept; their first error is noted. */
void tsr_calls_collect_pending(tsr_calls *calls);

/* Notes the calling thread's error for tsr_sync, unless one is noted already. */
void tsr_calls_note_error(tsr_calls *calls, tsr_status status);

/* The error that was noted, as the calling thread's; nothing is noted any more. */
tsr_status tsr_calls_take_error(tsr_calls *calls);

/* A plan without commands was carried out by the CPU. */
void tsr_calls_set_last(tsr_calls *calls, const tsr_plan *plan);

#endif
