/*
 * Loads: what each device takes from the host and from other devices, what it must take at least,
 * and what equation (1) of Herault et al., "Generic matrix multiplication for multi-GPU accelerated
 * distributed-memory platforms over PaRSEC", has for the same parameters.
 */
#ifndef TSR_PLAN_MODEL_LOADS_H
#define TSR_PLAN_MODEL_LOADS_H

#include "base/text.h"
#include "plan/plan.h"

/* Bytes. */
typedef struct tsr_loads {
  double host, peers; /* as planned */
  double bound;       /* no plan of the same kernels on that device takes less */
} tsr_loads;

void tsr_loads_count(const tsr_plan *plan, tsr_loads loads[TSR_MACHINE_DEVICES]);

/* Bytes that the equation has for each device, and which of its cases, 'a' to 'c', for a grid of p
 * processes that share the rows of C, of G devices each: the plan's grid. */
double tsr_loads_paper(const tsr_plan *plan, char *which);

/* A table of them for people; paper: with the equation's. */
void tsr_loads_write(const tsr_plan *plan, bool paper, tsr_text *text);

/* The hold, null when everything fits, and the loads, as members of a JSON object. */
void tsr_loads_write_json(const tsr_plan *plan, tsr_text *text);

#endif
