/*
 * The plans of a context: the machine that they are made for, the settings and budgets that they
 * depend on, the cache that keeps them and the captures that keep them longer.
 *
 * Each plan and each capture holds this by a reference, so that a plan can be printed after its
 * context was destroyed: the machine is there until the last of them is.
 */
#ifndef TSR_COMPOSE_PLANS_H
#define TSR_COMPOSE_PLANS_H

#include <pthread.h>
#include <stdatomic.h>

#include "machine/machine.h"
#include "plan/cache.h"
#include "plan/plan.h"
#include "run/runner.h"

/* Bytes for each device, and at index devices for the staging ring. What calls may use now is in
 * planning. */
typedef struct tsr_budgets {
  int devices;
  size_t given[TSR_MACHINE_LOCATIONS];  /* when the context was made */
  size_t wanted[TSR_MACHINE_LOCATIONS]; /* up to which they may grow again */
  int calls;                            /* since budgets changed */
  int patience; /* calls after which budgets grow; 0: no budget is below what is wanted */
} tsr_budgets;

typedef struct tsr_plans {
  atomic_int references;
  _Atomic(tsr_context *) context; /* NULL once it is destroyed */
  bool check;                     /* verify each plan that is made */
  bool run;                       /* plans are run: make each one's program with it */
  tsr_cache *cache;
  pthread_rwlock_t machine_lock; /* of machine, which a probe exchanges; taken before lock */
  tsr_machine *machine;
  pthread_mutex_t lock; /* of all below, and of measured and times of plans */
  tsr_plan_options planning;
  tsr_budgets budgets;
  char *strategy;                    /* planning's, or NULL */
  uint64_t digest;                   /* of machine and planning */
  struct tsr_capture *capturing;     /* NULL: none is */
  const struct tsr_capture *running; /* whose plans calls may use; NULL: none's */
} tsr_plans;

/* For a new context, which has the only reference; there is no machine yet. TSR_ERR_MEMORY. */
tsr_status tsr_plans_create(tsr_context *context, tsr_plans **plans);

/* The context is destroyed: drops the cache and the context's reference. The
 * capture under way is the caller's to free, before. */
void tsr_plans_close(tsr_plans *plans);

void tsr_plans_ref(tsr_plans *plans);
void tsr_plans_unref(tsr_plans *plans);

/* Computes the digest again; the caller holds the lock, or is alone. */
void tsr_plans_note_settings(tsr_plans *plans);

/* Forces the knobs of a strategy that has been parsed; NULL: none. TSR_ERR_MEMORY. */
tsr_status tsr_plans_force(tsr_plans *plans, const char *strategy);

/* Plans for another machine from now on, and takes ownership of it. */
void tsr_plans_exchange_machine(tsr_plans *plans, tsr_machine *machine);

/* ---- A plan and what belongs to running it ---- */

/* The plan does not change once the planner has made it. Every plan of a context lies in such an
 * object, and the handle that everybody has, the user too, is the plan's address. */
typedef struct tsr_plan_object {
  atomic_int references;
  tsr_plans *owner;     /* a reference */
  bool exchanged;       /* the caller is row-major: A and B changed places */
  tsr_traffic moved;    /* by the copies of one run */
  tsr_program *program; /* NULL if plans are not run, or the CPU does the call */
  double measured;      /* s, of the last run; 0: none. Guarded by the owner's lock, as times: */
  float *times;         /* of its commands, as in tsr_measured; NULL: not traced */
  tsr_plan plan;
} tsr_plan_object;

/* An object around a plan of the planner's, which it takes over (also on failure), with one
 * reference. *handle is the address of its plan. */
tsr_status tsr_plan_object_create(tsr_plans *owner, tsr_plan *made, bool exchanged,
                                  const tsr_plan **handle);

/* The object around a plan. The object can be changed though the plan cannot. */
tsr_plan_object *tsr_plan_object_of(const tsr_plan *plan);

/* References of a plan's object. NULL may be given back, which is nothing. */
void tsr_plan_ref(const tsr_plan *plan);
void tsr_plan_unref(const tsr_plan *plan);

#endif
