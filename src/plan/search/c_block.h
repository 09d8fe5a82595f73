/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Inside the planner: strategies for calls that do not fit the budgets. A device holds a C block of
 * b x c tiles while A and B stream through in k-panels of d tiles of k; copies run ahead of kernels
 * by l k-panels. Source: Herault et al., "Generic matrix multiplication for multi-GPU accelerated
 * distributed-memory platforms over PaRSEC", section III. There the user sets b, c, d and l; here a
 * formula lists values that fit the budgets, and the best of them are replayed.
 */
#ifndef TSR_PLAN_SEARCH_C_BLOCK_H
#define TSR_PLAN_SEARCH_C_BLOCK_H

#include "plan/search/strategy.h"

/* A strategy, and the time that the formula estimates for it, s. */
typedef struct tsr_c_block {
  tsr_strategy strategy;
  double seconds;
} tsr_c_block;

/* For which call, devices and budgets strategies are wanted. */
typedef struct tsr_c_block_question {
  const tsr_machine *machine;
  const tsr_call *call;
  const size_t *budget; /* bytes for each device */
  const int *order;     /* devices, the preferred ones first */
  int devices;          /* how many devices, from the start of `order`, are used */
  tsr_strategy base; /* the strategies' knobs other than tile, grid, C block, depth and lookahead;
                        with `partition` each device has a C block that fits its own budget, and a
                        share of C by its speed (partition.h) */
  int64_t tile;      /* the only extent of tiles to use; 0: any */
  double heat;
} tsr_c_block_question;

/* Slots that a C block of b x c tiles needs, with a k-panel of d tiles and copies that run l
 * k-panels ahead. */
static inline double tsr_c_block_slots(double b, double c, double d, double l) {
  return b * c + (1 + l) * b * d + l * c * d + d;
}

/* Fills `found` with at most `most` strategies that fit the budgets by the formula, for a grid of
 * that many rows of devices, the best first. Returns how many. */
int tsr_c_block_guess(const tsr_c_block_question *question, int grid_rows, int most,
                      tsr_c_block *found);

#endif
