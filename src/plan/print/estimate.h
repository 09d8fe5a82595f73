/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Whether a plan's times follow from figures of the machine that nobody has measured. */
#ifndef TSR_PLAN_PRINT_ESTIMATE_H
#define TSR_PLAN_PRINT_ESTIMATE_H

#include "plan/plan.h"

/* The digits that the plan's times and rates are worth: two if one of the figures that it depends
 * on is an estimate (tsr_origin_is_estimate), else three. machine: NULL: nobody says. */
int tsr_estimate_digits(const tsr_plan *plan, const tsr_machine *machine);

/* Appends ", an estimate (extrapolated: host memory; data sheet: kernels)" and ", measured under
 * load (CPU)", as far as they hold. */
void tsr_estimate_add(const tsr_plan *plan, const tsr_machine *machine, tsr_text *text);

#endif
