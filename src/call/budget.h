/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Budgets: the bytes that calls may use of each device's memory, and of host memory for staging. If
 * a plan within its budget does not find its memory, the budget shrinks and a new plan is made.
 * When several calls have found their memory, budgets grow again step by step, up to those asked
 * for. Any thread may call these functions.
 */
#ifndef TSR_CALL_BUDGET_H
#define TSR_CALL_BUDGET_H

#include "call/plans.h"

/* Sets the budgets of a new context: bytes[d] of each device d, then bytes[devices] of the staging
 * ring. */
void tsr_budget_begin(tsr_plans *plans, int devices, const size_t *bytes);

/* Shrinks the budget of a location (a device, or the number of devices for the staging ring) below
 * bytes, for which a plan did not find memory there. attempt: the number of budgets that the same
 * call has shrunk before. */
void tsr_budget_shrink(tsr_plans *plans, int location, size_t bytes, int attempt);

/* Counts a call; budgets that shrank long enough ago grow by a step. */
void tsr_budget_call(tsr_plans *plans);

/* Sets the budgets to those asked for. */
void tsr_budget_restore(tsr_plans *plans);

/* A mark of the present budgets. */
long tsr_budget_mark(tsr_plans *plans);

/* If a budget was less than asked for at the mark or has shrunk since then, by whichever call, sets
 * the budgets to those asked for, and returns true: what was planned since then may have found less
 * than it may use. */
bool tsr_budget_restore_since(tsr_plans *plans, long mark);

/* Sets the budget that the user asks for, in bytes (0: as when the context was made), and returns
 * the new budget. */
size_t tsr_budget_set(tsr_plans *plans, int device, size_t bytes);

size_t tsr_budget_get(tsr_plans *plans, int device);

#endif
