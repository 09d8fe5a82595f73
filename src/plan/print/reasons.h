/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Why a plan takes so much longer than its floor. */
#ifndef TSR_PLAN_PRINT_REASONS_H
#define TSR_PLAN_PRINT_REASONS_H

#include "plan/plan.h"

/* How often the inputs in host memory are read from there: bytes that come to devices / bytes that
 * have to. 0: there are none. */
double tsr_plan_reads(const tsr_plan *plan);

/* Appends a sentence, behind a blank, with what the floor does not have to do; nothing if the plan
 * is near its floor, or does what the floor does. */
void tsr_reason_add(const tsr_plan *plan, tsr_text *text);

#endif
