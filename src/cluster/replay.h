/*
 * Replay: a schedule in virtual time, for one process that stands for all.
 *
 * The process goes through the steps as summa.c does: in order, each when what it waits for is
 * complete. Panels that come share its way in from the network, panels that it passes on its way
 * out; a broadcast runs along the row or column as a pipeline, so that it carries each panel no
 * more than once each way, and sees it the later the farther it is from the root. The others are
 * taken to be as far as this one. Products go through the devices in a pipeline: one's panels are
 * copied there while the one before is computed.
 */
#ifndef TSR_CLUSTER_REPLAY_H
#define TSR_CLUSTER_REPLAY_H

#include "cluster/costs.h"

typedef struct tsr_interval {
  double begin, end; /* s */
} tsr_interval;

typedef struct tsr_forecast {
  double seconds;
  double kernels;        /* s for which devices compute */
  double fill;           /* s until they begin, */
  double starved;        /* and for which they then wait for panels, */
  double changing;       /* or for blocks of C to go and come */
  double received, sent; /* bytes over the network */
} tsr_forecast;

/* moved: bytes that this process sends and receives when an operand is redistributed. times,
 * [step], may be NULL. TSR_ERR_MEMORY. */
tsr_status tsr_replay(const tsr_summa_schedule *schedule, tsr_costs *costs, const int me[2],
                      const double moved[2], tsr_forecast *forecast, tsr_interval *times);

#endif
