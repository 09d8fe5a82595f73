/*
 * The model: what all processes of a grid agreed on when it was made, from which each derives the
 * same schedules and the same times.
 */
#ifndef TSR_CLUSTER_MODEL_H
#define TSR_CLUSTER_MODEL_H

#include "cluster/grid.h"

/* Collective: the weakest of all contexts counts, in each respect. Where they would make the same
 * plans anyway the planner is the process's own context. */
tsr_status tsr_model_agree(const tsr_peers *peers, tsr_context *context, tsr_model *model);

/* Of one context alone. */
tsr_status tsr_model_alone(tsr_context *context, tsr_model *model);

void tsr_model_free(tsr_model *model);

/* Bytes/s at which a context's first device gets runs of TSR_UP_SHORTEST << i bytes from host
 * memory while devices compute, which slows short ones by up to a half, by so many links at once;
 * 0: its machine does not know. */
tsr_status tsr_model_runs(tsr_context *context, int ways, double rate[TSR_UP_RUNS]);

/* Bytes/s at which a panel in runs of so many bytes comes up to its slot. */
double tsr_model_up(const tsr_host_rates *rates, double run);

#endif
