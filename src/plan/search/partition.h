/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Inside the planner: how C is divided among devices that differ, for calls that do not fit the
 * budgets. A device with a larger budget has a larger C block, so that it loads less for each
 * kernel, and each device gets about as many tiles of C as it can compute in the same time. A
 * device whose budget has no memory for three tiles gets none.
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

/* Whether the first `devices` devices of the order differ enough in budget or speed. */
bool tsr_partition_differs(const tsr_partition_question *question, const int *order, int devices);

/* The largest and the smallest budget of these devices, bytes. */
size_t tsr_partition_most(const tsr_partition_question *question, const int *order, int devices);
size_t tsr_partition_least(const tsr_partition_question *question, const int *order, int devices);

/* Sets in a strategy's tiling which device owns which tile of C, and each device's C block; the
 * strategy's C block is that of the device with the largest budget. TSR_ERR_MEMORY: no host memory;
 * the caller still frees the tiling. */
tsr_status tsr_partition_set(const tsr_partition_question *question, const tsr_strategy *strategy,
                             tsr_tiling *tiling);

#endif
