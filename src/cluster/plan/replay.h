/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Replay: runs a schedule in virtual time, for one process in place of all.
 *
 * The process goes through the steps as summa.c does: in order, each step when the steps that it
 * waits for are complete. All other processes are assumed to be at the same step.
 *   Messages. All panels that the process receives share its bandwidth in; all panels that it
 *   passes on share its bandwidth out. A broadcast is a pipeline along the row or column of the
 *   grid: each process receives and sends a panel at most once, and gets it the later the farther
 *   it is from the root.
 *   Products. The devices are a pipeline: the panels of a product are copied to the devices while
 *   the product before is computed.
 */
#ifndef TSR_CLUSTER_PLAN_REPLAY_H
#define TSR_CLUSTER_PLAN_REPLAY_H

#include "cluster/plan/costs.h"

typedef struct tsr_interval {
  double begin, end; /* s */
} tsr_interval;

typedef struct tsr_forecast {
  double seconds;        /* predicted time of the whole schedule */
  double kernels;        /* s in which the devices compute */
  double fill;           /* s until they begin to compute */
  double starved;        /* s in which they then wait for panels */
  double changing;       /* s in which they wait for a block of C to leave or to arrive */
  double received, sent; /* bytes over the network */
} tsr_forecast;

/* Replays a schedule for the process at coordinates `me`. moved: bytes that this process sends, and
 * receives, if op(A), op(B) is redistributed. times: the interval of each step, in s; NULL: not
 * wanted. TSR_ERR_MEMORY. */
tsr_status tsr_replay(const tsr_summa_schedule *schedule, tsr_costs *costs, const int me[2],
                      const double moved[2], tsr_forecast *forecast, tsr_interval *times);

#endif
