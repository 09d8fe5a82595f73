/*
 * From what is wanted to a plan for it: a call, or a move of a matrix between home and devices.
 */
#ifndef TSR_COMPOSE_REQUEST_H
#define TSR_COMPOSE_REQUEST_H

#include "compose/plans.h"
#include "plan/mapping.h"
#include "plan/residency.h"

/* What a plan is wanted for. */
typedef struct tsr_request {
  enum { TSR_REQUEST_CALL, TSR_REQUEST_HOME, TSR_REQUEST_DISTRIBUTE } kind;
  const tsr_call *call;           /* of moves: tsr_moves_call */
  bool exchanged;                 /* A and B changed places when the call was normalised */
  const tsr_residency *residency; /* NULL: nothing is on devices, and nothing stays there */
  const size_t *kept;             /* bytes of each device that are not to be had; NULL: none */
  int halvings;                   /* the plan gets 1/2^halvings of what is left of each budget */
  tsr_uplo uplo;                  /* HOME: what is brought home */
  const tsr_mapping *mapping;     /* DISTRIBUTE: to where; CALL: where C shall live, or NULL */
} tsr_request;

/* Makes a plan, with one reference; not from the cache. TSR_ERR_MEMORY: none fits the budgets. */
tsr_status tsr_request_make(tsr_plans *plans, const tsr_request *request, const tsr_plan **plan);

/* A plan from the capture that is being run, from the cache, or a new one; with a reference. */
tsr_status tsr_request_find(tsr_plans *plans, const tsr_request *request, const tsr_plan **plan);

#endif
