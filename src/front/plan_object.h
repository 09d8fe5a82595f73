/*
 * A plan with what belongs to running it. The plan itself does not change once the planner has made
 * it. Every plan of a context lies in such an object, and the handle that everybody has, the
 * user too, is the plan's address.
 */
#ifndef TSR_FRONT_PLAN_OBJECT_H
#define TSR_FRONT_PLAN_OBJECT_H

#include <stdatomic.h>

#include "plan/plan.h"
#include "run/runner.h"

typedef struct tsr_plan_object {
  atomic_int references;
  tsr_context *owner;   /* a reference */
  bool exchanged;       /* the caller is row-major: A and B changed places */
  tsr_traffic moved;    /* by the copies of one run */
  tsr_program *program; /* NULL where the context has no runner, or the CPU does the call */
  double measured;      /* s, of the last run; 0: none. Guarded by the owner's lock, as times: */
  float *times;         /* of its commands, as in tsr_measured; NULL: not traced */
  tsr_plan plan;
} tsr_plan_object;

/* An object around a plan of the planner's, which it takes over (also on failure), with one
 * reference. *handle is the address of its plan. */
tsr_status tsr_plan_object_create(tsr_context *owner, tsr_plan *made, bool exchanged,
                                  const tsr_plan **handle);

/* The object around a plan. The object can be changed though the plan cannot. */
tsr_plan_object *tsr_plan_object_of(const tsr_plan *plan);

#endif
