/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The record of a capture: asynchronous calls, the calls about residency between them, and the
 * plans that were made for them. Running a capture makes the same calls again from the same state
 * (no cached blocks), so that each call finds its recorded plan.
 */
#ifndef TSR_CALL_CAPTURE_H
#define TSR_CALL_CAPTURE_H

#include "arithmetic/wish.h"
#include "base/vec.h"
#include "call/plans.h"

typedef enum tsr_captured_kind {
  TSR_CAPTURED_CALL,
  TSR_CAPTURED_FACTOR,
  TSR_CAPTURED_SOLVE,
  TSR_CAPTURED_COHERENT,
  TSR_CAPTURED_HOME,
  TSR_CAPTURED_INVALIDATE,
  TSR_CAPTURED_RELEASE,
  TSR_CAPTURED_MAP,
  TSR_CAPTURED_DISTRIBUTE
} tsr_captured_kind;

/* One captured step: a call of the user, with its arguments. For a call about a region, c is the
 * region's base, and what has its uplo, m, n, type and ldc. For a factorisation, factor and c; for
 * a solver, solve, a and c. */
typedef struct tsr_captured_step {
  tsr_captured_kind kind;
  tsr_level3 what;
  tsr_factor factor;
  tsr_solve solve;
  tsr_arithmetic_wish arithmetic; /* of a call, which what->arithmetic does not have here */
  unsigned char alpha[16], beta[16];
  const void *a, *b;
  void *c;
  int64_t mb, nb;
  int p, q, first;
} tsr_captured_step;

/* Identifies a plan: digests of the call and of everything else on which the plan depends. */
typedef struct tsr_plan_key {
  uint64_t call, settings;
} tsr_plan_key;

struct tsr_capture {
  tsr_plans *owner; /* a reference */
  TSR_VEC(tsr_captured_step) steps;
  TSR_VEC(const tsr_plan *)
  plans;                      /* a reference each, in the order in which they were wanted first */
  TSR_VEC(tsr_plan_key) keys; /* of plans */
  bool incomplete;            /* host memory was short for a step or a plan */
};

/* Makes an empty capture. TSR_ERR_MEMORY: no host memory. */
tsr_status tsr_capture_create(tsr_plans *owner, tsr_capture **capture);
void tsr_capture_free(tsr_capture *capture); /* NULL is accepted */

/* Add a step or a plan to the capture that is being recorded; without one they do nothing. */
void tsr_capture_note_step(tsr_plans *plans, const tsr_captured_step *step);
void tsr_capture_note_plan(tsr_plans *plans, const tsr_plan_key *key, const tsr_plan *plan);

/* The plan for the key from the capture that is being run, with a reference; NULL: none. */
const tsr_plan *tsr_capture_find(tsr_plans *plans, const tsr_plan_key *key);

#endif
