/*
 * The record of a capture: asynchronous calls, and what the program said about residency between
 * them, with the plans that were made for them. Carrying a record out makes the same calls again
 * from the same state (nothing on the devices), and so finds each plan that was recorded.
 */
#ifndef TSR_COMPOSE_CAPTURE_H
#define TSR_COMPOSE_CAPTURE_H

#include "base/vec.h"
#include "compose/plans.h"

typedef enum tsr_captured_kind {
  TSR_CAPTURED_CALL,
  TSR_CAPTURED_COHERENT,
  TSR_CAPTURED_INVALIDATE,
  TSR_CAPTURED_RELEASE,
  TSR_CAPTURED_MAP,
  TSR_CAPTURED_DISTRIBUTE
} tsr_captured_kind;

/* One of the user's calls, by its arguments. A region is given by what.uplo, m, n, type and ldc,
 * and by c. */
typedef struct tsr_captured_step {
  tsr_captured_kind kind;
  tsr_level3 what;
  unsigned char alpha[16], beta[16];
  const void *a, *b;
  void *c;
  int64_t mb, nb;
  int p, q;
} tsr_captured_step;

/* What a plan was made for: digests of the call and of all else that it depends on. */
typedef struct tsr_plan_key {
  uint64_t call, settings;
} tsr_plan_key;

struct tsr_capture {
  tsr_plans *owner; /* a reference */
  TSR_VEC(tsr_captured_step) steps;
  TSR_VEC(const tsr_plan *)
  plans;                      /* a reference each, in the order in which they were wanted first */
  TSR_VEC(tsr_plan_key) keys; /* of plans */
  bool incomplete;            /* there was no memory for a step or a plan */
};

/* TSR_ERR_MEMORY. */
tsr_status tsr_capture_create(tsr_plans *owner, tsr_capture **capture);
/* NULL is accepted. */
void tsr_capture_free(tsr_capture *capture);

/* Add to the capture that is under way; if there is none, they do nothing. */
void tsr_capture_note_step(tsr_plans *plans, const tsr_captured_step *step);
void tsr_capture_note_plan(tsr_plans *plans, const tsr_plan_key *key, const tsr_plan *plan);

/* The plan of the capture that is being run, with a reference; NULL: there is none. */
const tsr_plan *tsr_capture_find(tsr_plans *plans, const tsr_plan_key *key);

#endif
