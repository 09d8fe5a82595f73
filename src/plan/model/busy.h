/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How busy a plan keeps the links, the channels and the devices of a machine, by the prediction.
 */
#ifndef TSR_PLAN_MODEL_BUSY_H
#define TSR_PLAN_MODEL_BUSY_H

#include "plan/plan.h"

/* Seconds of work, each at full rate. A link, channel or device that is busy for a plan's whole
 * time cannot do more, however the plan is changed. Many links may copy all the time and still not
 * be busy, since a channel that they share is full. */
typedef struct tsr_busy {
  double link[TSR_MACHINE_LOCATIONS][TSR_MACHINE_LOCATIONS]; /* [from][to] */
  double channel[TSR_MACHINE_CHANNELS];
  double kernels[TSR_MACHINE_DEVICES]; /* time in which at least one kernel runs */
  double memory[TSR_MACHINE_DEVICES];  /* what kernels read and write, at the memory's rate */
  double staging;                      /* of all threads that copy pageable memory */
} tsr_busy;

/* Sums up the commands of a plan. TSR_ERR_MEMORY. */
tsr_status tsr_busy_count(const tsr_plan *plan, const tsr_machine *machine, tsr_busy *busy);

/* Seconds of those as a share of the plan's predicted time, 0 to 1; 0 if that is not known. */
double tsr_busy_share(const tsr_plan *plan, double seconds);

/* *seconds: the time of the same commands if no copy and no kernel took time to be submitted and to
 * start. TSR_ERR_MEMORY. */
tsr_status tsr_busy_without_latency(const tsr_plan *plan, const tsr_machine *machine,
                                    double *seconds);

#endif
