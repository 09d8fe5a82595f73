/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Repeats an attempt for which memory on devices, or for staging, is short.
 *
 * Other programs use the same memory, so a plan within its budget may not find it. An attempt that
 * fails with TSR_ERR_MEMORY is repeated as long as one of these helps, tried in this order:
 *
 * 1. The caller relieves the shortage: it evicts cached blocks, or asks for less. Blocks lie on
 *    devices: if memory for staging is short, no block is evicted.
 * 2. The budget of the location that is short shrinks below the bytes that the plan wanted there,
 *    and the next attempt plans again. This ends when the next plan wants no less.
 * 3. If no plan fits the budgets and other calls, earlier ones or ones at the same time, had shrunk
 *    them, they are restored.
 */
#ifndef TSR_CALL_RETRY_H
#define TSR_CALL_RETRY_H

#include "call/budget.h"

/* An attempt that ends with TSR_ERR_MEMORY fills this in. */
typedef struct tsr_shortage {
  bool any;     /* memory of devices or for staging is short; false: host memory is, or the planner
                   finds no plan within the budgets */
  int location; /* the location where a plan did not find its memory (the number of devices: the
                   staging rings), or -1 */
  size_t bytes; /* that the plan wanted there */
} tsr_shortage;

/* An attempt, and the ways in which it may be repeated. */
typedef struct tsr_trial {
  void *call; /* the argument of the two functions */
  tsr_status (*attempt)(void *call, tsr_shortage *shortage);
  tsr_status (*relieve)(void *call, const tsr_shortage *shortage,
                        bool *helped); /* way 1; or NULL */
  tsr_plans *plans;                    /* whose budgets may change; NULL: none may */
  int most_shrinks;                    /* way 2: the most budgets that may shrink */
  bool staging_only;                   /* way 2: only the staging ring's may shrink */
  bool restores;                       /* way 3 is allowed */
  /* out */
  int shrinks; /* number of times that a budget shrank */
  size_t
      wanted[TSR_MACHINE_LOCATIONS]; /* bytes wanted where the budget last shrank; 0: it did not */
  tsr_shortage shortage;             /* the last shortage with a location */
} tsr_trial;

/* Goes on for tsr_retry after a first attempt ran short of memory. mark: as made before it. */
tsr_status tsr_retry_again(tsr_trial *trial, const tsr_shortage *shortage, long mark);

/* Runs the attempt until it succeeds or no way helps. Returns the status of the last attempt, or of
 * a relief that failed. */
static inline tsr_status tsr_retry(tsr_trial *trial) {
  tsr_shortage shortage = {.location = -1};
  long mark = trial->restores ? tsr_budget_mark(trial->plans) : 0;
  trial->shrinks = 0;
  tsr_status status = trial->attempt(trial->call, &shortage);
  return status == TSR_ERR_MEMORY ? tsr_retry_again(trial, &shortage, mark) : status;
}

/* Fills in the shortage of a plan that did not find its memory; location -1: host memory is short.
 * All staging rings count as one: they share a budget.
 */
static inline void tsr_shortage_note(tsr_shortage *shortage, const tsr_plan *plan, int location) {
  *shortage = (tsr_shortage){location >= 0, location, location >= 0 ? plan->arena[location] : 0};
  if (location < plan->machine_devices) return;
  *shortage = (tsr_shortage){.any = true, .location = plan->machine_devices};
  for (int l = plan->machine_devices; l < TSR_MACHINE_LOCATIONS; l++)
    shortage->bytes += plan->arena[l];
}

#endif
