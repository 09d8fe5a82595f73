/*
 * Inside the planner: strategies for calls that do not fit into the budgets. A device holds b x c
 * tiles of C at a time, while what they are summed from streams through in chunks of d tiles of k,
 * copies going ahead of kernels by l chunks. After Herault et al., "Generic matrix multiplication
 * for multi-GPU accelerated distributed-memory platforms over PaRSEC", section III; but the
 * parameters come from budgets and the machine: what is listed here by a formula is then replayed.
 */
#ifndef TSR_PLAN_SEARCH_C_BLOCK_H
#define TSR_PLAN_SEARCH_C_BLOCK_H

#include "plan/search/strategy.h"

/* A strategy and about how long it would take, s. */
typedef struct tsr_c_block {
  tsr_strategy strategy;
  double seconds;
} tsr_c_block;

/* What strategies are wanted for. */
typedef struct tsr_c_block_question {
  const tsr_machine *machine;
  const tsr_call *call;
  const size_t *budget; /* bytes for each device */
  const int *order;     /* devices, the preferred ones first */
  int devices;          /* of those, used */
  tsr_strategy base;    /* what the strategies have beside tile, grid, hold, depth and ahead; deals:
                         each device has a hold of its own, and what it can do of C (deal.h) */
  int64_t tile;         /* the only one to use; 0: any */
  double heat;
} tsr_c_block_question;

/* Slots for b x c tiles of C beside a chunk of depth d, and what goes ahead of it by l chunks. */
static inline double tsr_c_block_slots(double b, double c, double d, double l) {
  return b * c + (1 + l) * b * d + l * c * d + d;
}

/* At most `most` strategies that should do with the budgets, the devices in a grid of so many rows,
 * the best first; how many there are. */
int tsr_c_block_guess(const tsr_c_block_question *question, int grid_rows, int most,
                      tsr_c_block *found);

#endif
