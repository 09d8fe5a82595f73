/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The times that steps of a schedule take on the grid's machine: products as the planner or a
 * formula predicts them, messages by the rates of the network.
 */
#ifndef TSR_CLUSTER_PLAN_COSTS_H
#define TSR_CLUSTER_PLAN_COSTS_H

#include "cluster/run/grid.h"

enum { TSR_COSTS_KNOWN = 32 };

typedef struct tsr_known_cost {
  int64_t m, n, k;
  tsr_accumulation cost;
} tsr_known_cost;

typedef struct tsr_costs {
  tsr_context *planner;
  tsr_type type;
  bool reads_result;
  double bandwidth, latency; /* of the network: bytes/s for each process and direction; s */
  double pack_rate;          /* bytes/s at which a process packs */
  tsr_host_rates host;
  /* Planned time / time by the formula, for first and next product and each field of tsr_stage, and
   * for the write-back of C; 1: the formula is taken as it is. */
  double stage[2][3], write_back;
  int known;                            /* how many costs were computed so far */
  tsr_known_cost cost[TSR_COSTS_KNOWN]; /* the last ones, as a ring */
} tsr_costs;

/* Costs by the formula alone. tsr_costs_ask then takes microseconds. */
tsr_costs tsr_costs_quick(const tsr_grid *grid, tsr_type type, bool reads_result);

/* Plans products of m x n x k on the devices, and sets the ratios planned time / time by the
 * formula, which tsr_costs_ask then applies to products of all extents. Takes some milliseconds, or
 * some hundred milliseconds if a product takes seconds. TSR_ERR_MEMORY: the product does not fit
 * the devices. */
tsr_status tsr_costs_plan(tsr_costs *costs, int64_t m, int64_t n, int64_t k);

/* Predicts a series of products of m x n x k that are summed into one C. */
tsr_status tsr_costs_ask(tsr_costs *costs, int64_t m, int64_t n, int64_t k, tsr_accumulation *cost);

#endif
