/*
 * What a sequence of products onto a C that stays on the devices is predicted to take: the first
 * one, each next one, and bringing C home.
 */
#ifndef TSR_COMPOSE_ACCUMULATE_H
#define TSR_COMPOSE_ACCUMULATE_H

#include "compose/plans.h"
#include "tessera_model.h"

/* By planning two products, one after the other, and the way home. first and next are products of
 * one shape; where their operands are is filled in. */
tsr_status tsr_accumulate_by_plans(tsr_plans *plans, const tsr_call *first, const tsr_call *next,
                                   tsr_accumulation *predicted);

/* By a formula, in under a microsecond. The caller holds the machine's lock. */
void tsr_accumulate_by_formula(const tsr_machine *machine, const tsr_call *first,
                               tsr_accumulation *predicted);

#endif
