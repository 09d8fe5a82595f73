/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Loads: how many bytes a plan copies to each device from the host and from other devices, beside a
 * lower bound, and beside equation (1) of Herault et al., "Generic matrix multiplication for multi-
 * GPU accelerated distributed-memory platforms over PaRSEC", for the same parameters.
 */
#ifndef TSR_PLAN_MODEL_LOADS_H
#define TSR_PLAN_MODEL_LOADS_H

#include "base/text.h"
#include "plan/plan.h"

/* Bytes that are copied to one device. */
typedef struct tsr_loads {
  double host, peers; /* by the plan, from the host and from other devices */
  double bound;       /* no plan of the same kernels on that device copies fewer */
} tsr_loads;

void tsr_loads_count(const tsr_plan *plan, tsr_loads loads[TSR_MACHINE_DEVICES]);

/* Bytes for each device by equation (1); *which: the case whose memory condition holds, 'a' to 'c',
 * or '\0' if none does: then the equation does not apply, since tiles are loaded again and again.
 * The plan's grid stands for a grid of p processes over the rows of C, with G devices each. */
double tsr_loads_paper(const tsr_plan *plan, char *which);

/* Appends a table of the loads for people; paper: with the equation's. */
void tsr_loads_write(const tsr_plan *plan, bool paper, tsr_text *text);

/* Appends the C block (null if everything fits) and the loads, as members of a JSON object. */
void tsr_loads_write_json(const tsr_plan *plan, tsr_text *text);

#endif
