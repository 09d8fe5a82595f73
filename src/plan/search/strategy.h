/*
 * Inside the planner: a strategy is one way to cut and order a call; the search tries several and
 * keeps the one whose plan is predicted to be the quickest.
 *
 * A strategy has a kind and knobs. The knobs are listed in one table (knobs.c), which says of each
 * its name, its unit, what it does, which kinds have it, and what the search tries. A knob that the
 * strategy's kind does not have is 0.
 */
#ifndef TSR_PLAN_SEARCH_STRATEGY_H
#define TSR_PLAN_SEARCH_STRATEGY_H

#include "blas/family.h"
#include "blas/graph.h"
#include "plan/schedule/schedule.h"

/* Kernels' extents are 32-bit: no part of m, n or k is longer. */
#define TSR_STRATEGY_LONGEST (INT64_C(1) << 30)

/* A weight of 1. */
#define TSR_STRATEGY_WEIGHT 10000

typedef enum tsr_strategy_kind {
  TSR_PANELS,  /* each device owns one panel of C; k-panels of A and B arrive one after another */
  TSR_STRIPES, /* beside a triangle: each device owns lines across it, which go through its blocks
                */
  TSR_TILES, /* square tiles of C, partitioned to the devices in turn, A and B streaming through */
  TSR_STRATEGY_KINDS
} tsr_strategy_kind;

/* What each knob does, and in which unit, stands in the table of knobs.c. */
typedef struct tsr_strategy {
  tsr_strategy_kind kind;
  int64_t grid_rows, grid_cols;
  int64_t tile, even, serpentine;
  int64_t c_block_rows, c_block_cols, partition, depth, lookahead;
  int64_t row_parts, leading, whole_a, whole_b, home_share;
  int64_t k_panel, k_panel_most, k_panel_once;
  int64_t n_block_first, n_block, n_block_last, n_block_least;
  int64_t block, span, stripe;
  int64_t lazy, add_at_home;
  int64_t piece, streams, by_eta, relay, routing, ignore_channels;
  /* Not a knob: shares of C that a replay has taught, for each place of the grid, in units of
   * 1 / TSR_STRATEGY_WEIGHT. All 0: shares follow from the devices' speeds. */
  uint16_t weight[TSR_MACHINE_DEVICES];
} tsr_strategy;

static inline int tsr_strategy_devices(const tsr_strategy *strategy) {
  return (int)(strategy->grid_rows * strategy->grid_cols);
}

/* What a strategy is wanted for. */
typedef struct tsr_problem {
  const tsr_call *call;
  const tsr_machine *machine;
  bool composed;      /* operands may be on devices already, and results stay there */
  bool reproducible;  /* tiles and the order of sums follow from the shape alone */
  bool mapped;        /* C is computed where the user mapped it */
  bool tiled;         /* the user said the tiles' extent */
  bool tight;         /* not everything fits the budgets */
  unsigned realigned; /* operands, as bits, that kernels at their home do not use in place */
} tsr_problem;

/* C must be added last when the partial C needs a place of its own: it is wider than C, or C is not
 * used in place. C may be added last when there is something to add to it, beside the operands. */
bool tsr_strategy_must_be_lazy(const tsr_strategy *strategy, const tsr_problem *problem);
bool tsr_strategy_may_be_lazy(const tsr_strategy *strategy, const tsr_problem *problem);

/* The share of C that a replay has taught for a place of the grid; 1: none. */
double tsr_strategy_weight(const tsr_strategy *strategy, int place);

/* With a leading block that grows the last k-panel is long, since C is completed in it and must not
 * have to leave all at once: a quarter of k, or `last` if that is not 0, but no shorter than the
 * others. */
int64_t tsr_last_k_panel(int64_t k, int64_t size, int64_t last);

/* The kind of strategies, beside tiles, for a family of operations. */
static inline tsr_strategy_kind tsr_strategy_kind_of(tsr_family family) {
  return family == TSR_TRIANGLE ? TSR_STRIPES : TSR_PANELS;
}

/* The tiling of a strategy; order lists the machine's devices, the preferred ones first.
 * TSR_ERR_MEMORY. */
tsr_status tsr_strategy_tiling(const tsr_strategy *strategy, const tsr_call *call,
                               const tsr_machine *machine, const int *order, tsr_tiling *tiling);
void tsr_tiling_free(tsr_tiling *tiling);

/* Sets each knob whose value makes no difference to the plan of a call to one value: n-blocks wider
 * than the columns that a device owns, limits that no k-panel meets. */
void tsr_strategy_simplify(const tsr_call *call, const tsr_machine *machine,
                           tsr_strategy *strategy);

#endif
