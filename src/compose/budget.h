/*
 * Budgets: what calls may use of the memory of each device, and of the host's for staging. A plan
 * that finds less memory than its budget says lowers the budget, and another plan is made. When
 * calls have found their memory for a while, budgets grow step by step up to what was asked for.
 * Any thread may call these functions.
 */
#ifndef TSR_COMPOSE_BUDGET_H
#define TSR_COMPOSE_BUDGET_H

#include "compose/plans.h"

/* For a new context. bytes: of each device, and behind them of the staging ring. */
void tsr_budget_begin(tsr_plans *plans, int devices, const size_t *bytes);

/* A plan wanted so many bytes of a location (a device, or the number of devices for the staging
 * ring), which did not have them: the budget shrinks below that. attempt: how often the call has
 * shrunk a budget before. */
void tsr_budget_shrink(tsr_plans *plans, int location, size_t bytes, int attempt);

/* A call begins: budgets that shrank some calls ago grow a step. */
void tsr_budget_call(tsr_plans *plans);

/* Budgets are what was asked for again. Whether some were less. */
bool tsr_budget_restore(tsr_plans *plans);

/* The user's order for a device; 0: what it was when the context was made. The new budget. */
size_t tsr_budget_set(tsr_plans *plans, int device, size_t bytes);

size_t tsr_budget_get(tsr_plans *plans, int device);

#endif
