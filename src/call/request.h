/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds or makes the plan of a call, or of a move of a matrix between host and devices.
 */
#ifndef TSR_CALL_REQUEST_H
#define TSR_CALL_REQUEST_H

#include "call/plans.h"
#include "plan/mapping.h"
#include "plan/residency.h"

/* The purpose of a plan, and what the plan depends on besides the context's settings. */
typedef struct tsr_request {
  enum { TSR_REQUEST_CALL, TSR_REQUEST_WRITE_BACK, TSR_REQUEST_DISTRIBUTE } kind;
  const tsr_call *call;           /* for moves: from tsr_moves_call */
  bool exchanged;                 /* A and B were swapped when the call was normalised */
  const tsr_residency *residency; /* cached blocks; NULL: none are used and none are left */
  const size_t *kept;             /* bytes of each device's budget that are in use; NULL: none */
  bool rest;                  /* the call is a part of C that another plan has left: the words of
                                 a forced strategy are for that plan, and do not count */
  int halvings;               /* the plan may use budget left / 2^halvings on each device */
  tsr_uplo uplo;              /* WRITE_BACK: the part that is written back */
  const tsr_mapping *mapping; /* DISTRIBUTE: the target; CALL: the mapping of C, or NULL */
} tsr_request;

/* Makes a new plan, with one reference, without the cache. TSR_ERR_MEMORY: no plan fits the
 * budgets. */
tsr_status tsr_request_make(tsr_plans *plans, const tsr_request *request, const tsr_plan **plan);

/* Finds the plan in the capture that is being run or in the cache, else makes it; with a reference.
 */
tsr_status tsr_request_find(tsr_plans *plans, const tsr_request *request, const tsr_plan **plan);

#endif
