/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What other plans of a call would take: for verdicts. */
#ifndef TSR_FRONT_ASK_ALTERNATIVES_H
#define TSR_FRONT_ASK_ALTERNATIVES_H

#include "call/plans.h"
#include "plan/print/verdict.h"

/* Plans the alternatives of a plan, once; later calls give the same. The result lives as long as
 * the plan's object. NULL: there are none to plan (an asynchronous call, a move, an empty call), or
 * there is no host memory. The caller holds machine_lock, and not lock. */
const tsr_alternatives *tsr_alternatives_of(tsr_plan_object *object);

#endif
