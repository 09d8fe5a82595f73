/*
 * What is done when there is too little memory on devices, or for staging, for what was planned.
 *
 * Others use the same memory, so that a plan within its budget may not find it. An attempt that
 * fails for want of memory is repeated as long as one of these helps, tried in this order:
 *
 * 1. The caller relieves the shortage: copies that earlier calls left make room, or it asks for
 *    less.
 * 2. The budget of the location that is short shrinks below what the plan wanted of it; the next
 *    attempt plans again. This ends when the next plan wants no less there: a staging ring has to
 *    hold a piece, whatever its budget is.
 * 3. When no plan fits the budgets, and calls before had shrunk them, they are restored.
 */
#ifndef TSR_COMPOSE_RETRY_H
#define TSR_COMPOSE_RETRY_H

#include "compose/budget.h"

/* What an attempt that ends with TSR_ERR_MEMORY says about it. */
typedef struct tsr_shortage {
  bool any;     /* memory of devices or for staging is short; false: host memory, or the planner
                   finds no plan within the budgets */
  int location; /* where a plan did not find its memory, or -1; the number of devices: staging */
  size_t bytes; /* that the plan wanted there */
} tsr_shortage;

/* An attempt, and what may be done to repeat it. */
typedef struct tsr_trial {
  void *call; /* of the two functions */
  tsr_status (*attempt)(void *call, tsr_shortage *shortage);
  tsr_status (*relieve)(void *call, bool *helped); /* NULL: nothing does */
  tsr_plans *plans;                                /* whose budgets may change; or NULL */
  int most_shrinks;                                /* how often they may shrink */
  bool staging_only;                               /* only the budget for staging may */
  bool restores;                                   /* 3. is allowed */
  /* out */
  int shrinks;                          /* how often budgets did */
  size_t wanted[TSR_MACHINE_LOCATIONS]; /* by the plan for which each budget shrank last; or 0 */
  tsr_shortage shortage;                /* the last one at a location */
} tsr_trial;

/* The status of the last attempt, or of a relief that failed. */
tsr_status tsr_retry(tsr_trial *trial);

/* Notes in an attempt that a plan did not find its memory; location -1: host memory is short. */
static inline void tsr_shortage_note(tsr_shortage *shortage, const tsr_plan *plan, int location) {
  *shortage = (tsr_shortage){location >= 0, location, location >= 0 ? plan->arena[location] : 0};
}

#endif
