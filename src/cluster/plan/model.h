/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The model of a grid: the facts about machines that all processes agreed on when the grid was
 * made. From it every process derives the same schedules and the same predicted times.
 */
#ifndef TSR_CLUSTER_PLAN_MODEL_H
#define TSR_CLUSTER_PLAN_MODEL_H

#include "cluster/run/grid.h"

/* Collective. Makes the model of all processes: each fact is the least favourable value that any
 * process's context has. The planner is the process's own context if all contexts make the same
 * plans; else a context for the machine of the process with the fewest devices, owned by the model.
 */
tsr_status tsr_model_agree(const tsr_peers *peers, tsr_context *context, tsr_model *model);

/* Makes the model of one context, for model-only grids. */
tsr_status tsr_model_alone(tsr_context *context, tsr_model *model);

void tsr_model_free(tsr_model *model);

/* rate[i]: bytes/s at which runs of TSR_UP_SHORTEST << i bytes, `pitch` bytes apart (0: far apart),
 * go from host memory to a context's first device over `ways` links together, while devices compute
 * (which slows short runs by up to a half). 0: the context's machine does not say. */
tsr_status tsr_model_runs(tsr_context *context, int ways, size_t pitch, double rate[TSR_UP_RUNS]);

/* Bytes/s at which a panel in runs of `run` bytes, `pitch` bytes apart, is uploaded to its slot. */
double tsr_model_up(const tsr_host_rates *rates, double run, double pitch);

#endif
