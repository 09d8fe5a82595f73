/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A call that is planned and run on the devices that work, or by the CPU where none does. */
#ifndef TSR_FRONT_ATTEMPT_H
#define TSR_FRONT_ATTEMPT_H

#include "call/left.h"
#include "call/retry.h"
#include "front/context.h"

/* A call and how it is made; the argument of the functions of tsr_trial. */
typedef struct tsr_attempt {
  tsr_context *context;
  const tsr_call *call;
  const tsr_binding *binding;
  bool exchanged, async;
  bool rest;            /* it is a part of C that another plan has left */
  bool alone;           /* cached blocks are none of its business: none is evicted for it */
  tsr_offer *offer;     /* NULL: the call is carried out whatever its plan costs */
  tsr_left left;        /* by the last run */
  const tsr_plan *plan; /* of that run, a reference; NULL: it has left nothing */
} tsr_attempt;

/* Attempts the call until memory suffices. *trial has what became of it. */
tsr_status tsr_attempt_make(tsr_attempt *x, tsr_trial *trial);

/* Whether all attempts ran short of memory, and no element of C has been written. */
bool tsr_attempt_is_in_vain(const tsr_trial *trial, tsr_status status);

/* After attempts in vain: the CPU's BLAS does the call where it may; else the error says which
 * memory was short. */
tsr_status tsr_attempt_on_cpu(const tsr_attempt *x, const tsr_trial *trial);
tsr_status tsr_attempt_fail_for_memory(const tsr_context *context, const tsr_trial *trial);

/* Whether an operand is in a device's memory. */
bool tsr_attempt_is_on_device(const tsr_call *call);

/* The CPU's BLAS does the call once the devices are quiet. */
tsr_status tsr_context_call_on_cpu(tsr_context *context, const tsr_call *call,
                                   const tsr_binding *binding);

#endif
