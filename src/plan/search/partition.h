/*
 * Inside the planner: C for devices that differ, for calls that do not fit. Where budgets or speeds
 * are not alike, a device holds more tiles of C the more room it has, so that it loads less for
 * each kernel; and C is partitioned by what each makes of that: as many tiles, about, as it can do
 * in the same time. A device without room for three tiles gets none.
 */
#ifndef TSR_PLAN_SEARCH_PARTITION_H
#define TSR_PLAN_SEARCH_PARTITION_H

#include "plan/search/strategy.h"

typedef struct tsr_partition_question {
  const tsr_machine *machine;
  const tsr_call *call;
  const size_t *budget; /* bytes for each device */
  double heat;
} tsr_partition_question;

/* Whether the first so many devices of an order differ enough to be partitioned with one by one. */
bool tsr_partition_differs(const tsr_partition_question *question, const int *order, int devices);

/* The largest and the least budget among them. */
size_t tsr_partition_most(const tsr_partition_question *question, const int *order, int devices);
size_t tsr_partition_least(const tsr_partition_question *question, const int *order, int devices);

/* Deals the tiles of a strategy's tiling, whose hold is that of the device with the most room.
 * TSR_ERR_MEMORY for host memory. */
tsr_status tsr_partition_set(const tsr_partition_question *question, const tsr_strategy *strategy,
                             tsr_tiling *tiling);

#endif
