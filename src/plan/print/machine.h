/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The machine of a plan as a picture, coloured by how busy the plan keeps each part. */
#ifndef TSR_PLAN_PRINT_MACHINE_H
#define TSR_PLAN_PRINT_MACHINE_H

#include "plan/plan.h"

/* Appends the picture (SVG). TSR_ERR_ARGUMENT: the machine is not the one that the plan is for.
 * TSR_ERR_MEMORY. */
tsr_status tsr_plan_draw_machine(const tsr_plan *plan, const tsr_machine *machine, tsr_text *text);

#endif
