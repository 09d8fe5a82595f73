/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Inside plan/print: the memory that residues take on each device. */
#ifndef TSR_PLAN_PRINT_RESIDUES_H
#define TSR_PLAN_PRINT_RESIDUES_H

#include "plan/plan.h"

/* Sets most[d] to the bytes that residues take at most at a time on device d, by the predicted
 * times of the commands that make and use them; 0: the plan makes none there. TSR_ERR_MEMORY. */
tsr_status tsr_residues_most(const tsr_plan *plan, double most[TSR_MACHINE_DEVICES]);

#endif
