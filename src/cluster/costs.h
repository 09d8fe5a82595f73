/*
 * What the parts of a schedule take on the grid's machine: products by the planner or by a formula,
 * messages by the network.
 */
#ifndef TSR_CLUSTER_COSTS_H
#define TSR_CLUSTER_COSTS_H

#include "cluster/grid.h"

enum { TSR_COSTS_KNOWN = 32 };

typedef struct tsr_known_cost {
  int64_t m, n, k;
  tsr_accumulation cost;
} tsr_known_cost;

typedef struct tsr_costs {
  tsr_context *planner;
  tsr_type type;
  bool reads_result;
  double bandwidth, latency; /* of the network, for each process and direction */
  double pack_rate;          /* bytes/s at which a process packs */
  tsr_host_rates host;
  /* How much longer plans take than the formula says, by field; 1: the formula alone. */
  double stage[2][3], home;
  int known;
  tsr_known_cost cost[TSR_COSTS_KNOWN]; /* the last ones that were asked for */
} tsr_costs;

/* By the formula alone: microseconds for each question. */
tsr_costs tsr_costs_quick(const tsr_grid *grid, tsr_type type, bool reads_result);

/* Plans products of these extents, and measures all others by them. Some milliseconds, or hundreds
 * where a product takes seconds. TSR_ERR_MEMORY: they do not fit the devices. */
tsr_status tsr_costs_plan(tsr_costs *costs, int64_t m, int64_t n, int64_t k);

tsr_status tsr_costs_ask(tsr_costs *costs, int64_t m, int64_t n, int64_t k, tsr_accumulation *cost);

#endif
