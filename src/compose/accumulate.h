/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Predicts the times of a sequence of products added to one C that stays on the devices: the first
 * product, each further one, and the write-back of C.
 */
#ifndef TSR_COMPOSE_ACCUMULATE_H
#define TSR_COMPOSE_ACCUMULATE_H

#include "call/plans.h"
#include "tessera_model.h"

/* Predicts by planning two products, one after the other, and the write-back. first and next have
 * one shape; the places of their operands are filled in. */
tsr_status tsr_accumulate_by_plans(tsr_plans *plans, const tsr_call *first, const tsr_call *next,
                                   tsr_accumulation *predicted);

/* Predicts by a formula, in less than a microsecond. The caller holds the machine's lock. */
void tsr_accumulate_by_formula(const tsr_machine *machine, const tsr_call *first,
                               tsr_accumulation *predicted);

#endif
