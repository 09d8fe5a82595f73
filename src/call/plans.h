/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The plans of a context: the machine for which they are made, the settings and budgets on which
 * they depend, the cache that keeps them and the captures that keep them longer.
 *
 * Each plan and each capture holds a reference to tsr_plans. The machine therefore lives as long as
 * the last plan, which can be printed after its context was destroyed.
 */
#ifndef TSR_CALL_PLANS_H
#define TSR_CALL_PLANS_H

#include <pthread.h>
#include <stdatomic.h>

#include "arithmetic/wish.h"
#include "base/settings/settings.h"
#include "machine/machine.h"
#include "plan/cache.h"
#include "plan/plan.h"
#include "run/runner.h"

/* Budgets in bytes, for each device and, at index devices, for the staging ring. The budgets that
 * are in force are in tsr_plans.planning. */
typedef struct tsr_budgets {
  int devices;
  size_t given[TSR_MACHINE_LOCATIONS];  /* when the context was made */
  size_t wanted[TSR_MACHINE_LOCATIONS]; /* asked for; budgets that shrank grow back to these */
  long shrinks;                         /* number of times that a budget shrank */
  int calls;                            /* number of calls since budgets changed */
  int patience; /* number of calls after which budgets grow; 0: none is below wanted */
} tsr_budgets;

typedef struct tsr_plans {
  atomic_int references;
  _Atomic(tsr_context *) context; /* NULL once the context is destroyed */
  bool check;                     /* verify each plan when it is made */
  bool emulated;                  /* plans are run by emulated devices */
  bool run;                       /* plans will be run: make each plan's program with it */
  tsr_cache *cache;
  pthread_rwlock_t machine_lock; /* guards machine, which a probe replaces; taken before lock */
  tsr_machine *machine;
  tsr_machine *linked;  /* the same with the links between devices that are there and are not used,
                           as the user wishes; NULL: all are used. Under machine_lock, too */
  pthread_mutex_t lock; /* guards the fields below, and measured and times of plan objects */
  tsr_plan_options planning;
  tsr_arithmetic_wish arithmetic; /* how the context's products are computed */
  tsr_budgets budgets;
  uint32_t all_devices;          /* bit d: the context has device d */
  atomic_uint devices;           /* those that plans use now; as planning.devices, where 0 is all */
  char *strategy;                /* owns planning.strategy; NULL: no strategy is forced */
  uint64_t digest;               /* of machine and planning */
  struct tsr_capture *capturing; /* the capture being recorded; NULL: none */
  const struct tsr_capture *running; /* the capture being run; NULL: none */
} tsr_plans;

/* Makes the plans of a new context, without a machine. The context has the only reference.
 * TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_plans_create(tsr_context *context, tsr_plans **plans);

/* Called when the context is destroyed: frees the cache and drops the context's reference. The
 * caller has freed a capture being recorded before. */
void tsr_plans_close(tsr_plans *plans);

void tsr_plans_ref(tsr_plans *plans);
void tsr_plans_unref(tsr_plans *plans);

/* Computes the digest again after a change of machine or planning. The caller holds the lock, or no
 * other thread uses plans. */
void tsr_plans_note_settings(tsr_plans *plans);

/* From now on plans use these devices only, as tsr_plan_options.devices. */
void tsr_plans_use(tsr_plans *plans, uint32_t devices);

/* Forces a strategy, whose text has been checked; NULL: none. TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_plans_force(tsr_plans *plans, const char *strategy);

/* Copies the options with which plans are made. *strategy is what options->strategy points to; the
 * caller gives it back with tsr_dealloc. TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_plans_planning(tsr_plans *plans, tsr_plan_options *options, char **strategy);

/* The number of staging rings of the machine; 1 if it has no devices. */
int tsr_plans_rings(tsr_plans *plans);

/* Whether the machine's host memory is interleaved, whichever node it is found on. */
bool tsr_plans_interleaved(tsr_plans *plans);

/* Sets the location of an operand in host memory if the machine's is interleaved. */
void tsr_plans_interleave(tsr_plans *plans, tsr_operand *operand);

/* Replaces machine and linked, takes ownership of the new ones, and clears the cache. */
void tsr_plans_exchange_machine(tsr_plans *plans, tsr_machine *machine, tsr_machine *linked);

/* ---- A plan with its program, owner and measured times ---- */

/* Every plan of a context is part of such an object; its handle, also the user's, is the address of
 * the plan. The plan itself does not change once the planner has made it. */
typedef struct tsr_plan_object {
  atomic_int references;
  tsr_plans *owner;     /* a reference */
  bool exchanged;       /* A and B were swapped for a row-major call */
  tsr_traffic moved;    /* by the copies of one run */
  tsr_program *program; /* NULL if plans are not run, or the CPU does the call */
  double measured; /* time of the last run [s]; 0: none. The owner's lock guards this and times */
  int refused;     /* products, or parts of C, that the last run in a form left to native ones; as
                      measured */
  float *times;    /* of the commands, as in tsr_measured; NULL: not traced */
  struct tsr_alternatives *alternatives; /* for verdicts; NULL: not planned. Under the lock, too */
  tsr_plan plan;
} tsr_plan_object;

/* Makes an object, with one reference, around the planner's plan, which it takes over also on
 * failure. *handle is the address of the object's plan. */
tsr_status tsr_plan_object_create(tsr_plans *owner, tsr_plan *made, bool exchanged,
                                  const tsr_plan **handle);

/* The object of which the plan is part. It may be changed, although the plan may not. */
tsr_plan_object *tsr_plan_object_of(const tsr_plan *plan);

/* Add and drop a reference to the plan's object. tsr_plan_unref accepts NULL. */
void tsr_plan_ref(const tsr_plan *plan);
void tsr_plan_unref(const tsr_plan *plan);

#endif
