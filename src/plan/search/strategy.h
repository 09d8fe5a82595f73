/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Inside the planner: a strategy is one way to cut and order a call. The search tries several and
 * keeps the one whose plan is predicted to take the least time.
 *
 * A strategy has a kind and knobs. One table (knobs.c) says for each knob its name, its unit, what
 * it does, which kinds have it, and which values the search tries. A knob that the strategy's kind
 * does not have is 0.
 */
#ifndef TSR_PLAN_SEARCH_STRATEGY_H
#define TSR_PLAN_SEARCH_STRATEGY_H

#include "blas/family.h"
#include "blas/graph.h"
#include "plan/schedule/schedule.h"

/* The longest part of m, n or k: extents of kernels are 32-bit. */
#define TSR_STRATEGY_LONGEST (INT64_C(1) << 30)

/* The unit of tsr_strategy.weight: this value is a weight of 1. */
#define TSR_STRATEGY_WEIGHT 10000

typedef enum tsr_strategy_kind {
  TSR_PANELS,  /* each device owns one panel of C; A and B arrive in k-panels, one after another */
  TSR_STRIPES, /* for a triangular or symmetric operand: each device owns lines of C across the
                  triangle, and stripes of these lines go through the triangle's blocks */
  TSR_SLICES,  /* each device multiplies a slice of k, of all rows and columns, and their sums are
                  added up at the end */
  TSR_TILES, /* square tiles of C, assigned to the devices in turn, while A and B stream through */
  TSR_BANDS, /* square tiles of C, each the product of a band of rows of A and a band of columns of
                B, with all of k at once */
  TSR_STRATEGY_KINDS
} tsr_strategy_kind;

/* The table of knobs (knobs.c) says what each field does and its unit. */
typedef struct tsr_strategy {
  tsr_strategy_kind kind;
  int64_t grid_rows, grid_cols;
  int64_t tile, even, serpentine;
  int64_t c_block_rows, c_block_cols, partition, depth, lookahead, held;
  int64_t row_parts, leading, whole_a, whole_b, home_share;
  int64_t k_panel, k_panel_most, k_panel_once;
  int64_t n_block_first, n_block, n_block_last, n_block_least;
  int64_t block, span, early, stripe, inverses;
  int64_t lazy, add_at_home;
  int64_t piece, by_eta, relay, routing, straight, ignore_channels;
  /* Not a knob: weights of the shares of C that a replay suggested, one for each place of the grid,
   * in units of 1 / TSR_STRATEGY_WEIGHT. All 0: shares are proportional to the devices' speeds. */
  uint16_t weight[TSR_MACHINE_DEVICES];
} tsr_strategy;

static inline int tsr_strategy_devices(const tsr_strategy *strategy) {
  return (int)(strategy->grid_rows * strategy->grid_cols);
}

/* Whether C is cut into square tiles, which are assigned to the devices in turn. */
static inline bool tsr_strategy_has_tiles(const tsr_strategy *strategy) {
  return strategy->kind == TSR_TILES || strategy->kind == TSR_BANDS;
}

/* The facts about a call that decide which strategies are possible. */
typedef struct tsr_search_problem {
  const tsr_call *call;
  const tsr_machine *machine;
  bool composed; /* operands may be on devices already, and C stays there (asynchronous calls) */
  bool reproducible; /* tiles and the order of sums depend on the shape alone */
  bool mapped;       /* each block of C is computed on the device that the user mapped it to */
  int64_t tile;      /* the extent of tiles that the user set for the context; 0: none */
  bool tight;        /* not everything fits the budgets */
  unsigned
      realigned; /* operands, as bits, that kernels at their home do not use in place (realign.c) */
} tsr_search_problem;

/* Whether C must, or may, be added last ("lazy"): the products go to a partial C, to which C is
 * added at the end. It must if C is not used in place, or if k is summed in parts and the partial
 * sums have a wider type than C. It may if there is a C to add (beta is not 0) or results are
 * reproducible, but not in trmm and trsm, which overwrite B, nor with tiles beside a triangle. */
bool tsr_strategy_must_be_lazy(const tsr_strategy *strategy, const tsr_search_problem *problem);
bool tsr_strategy_may_be_lazy(const tsr_strategy *strategy, const tsr_search_problem *problem);

/* Whether a call can be cut into square tiles of which k is cut, too: it is native, or a triangle
 * is beside C. Products in a form sum over all of k at once. */
bool tsr_tiles_are_possible(const tsr_search_problem *problem);

/* Whether the extent of tiles is fixed: the user set it, or results must have the same bits on any
 * number of devices. The call is cut into tiles or bands then. */
bool tsr_tile_is_fixed(const tsr_search_problem *problem);

/* Whether k can be cut over the devices: the call is a native product, and no composed one, whose C
 * would stay in parts; its results need not be the same on any number of devices; and the partial
 * sums do not have a wider type than C, to which they are added one by one. */
bool tsr_slices_are_possible(const tsr_search_problem *problem);

/* Whether a call can be cut into bands: a product, native or in a form, or a rank-k update in
 * lines, whose k fits one kernel, no composed one, whose C is not mapped; not a native one whose
 * results need to be the same on any number of devices. */
bool tsr_bands_are_possible(const tsr_search_problem *problem);

/* Whether a call has to be cut into bands: it is a product or a rank-k update in a form, and its
 * results must be the same on any number of devices. Each tile is judged by itself
 * (arithmetic/moduli.h), so tiles of which the shape alone says where they begin decide alike which
 * parts of C are left to native products.
 */
bool tsr_bands_are_needed(const tsr_search_problem *problem);

/* Whether a device can keep inverses of the blocks on A's diagonal: a trsm in stripes, whose blocks
 * are not larger than what engines invert. */
bool tsr_strategy_may_invert(const tsr_strategy *strategy, const tsr_call *call);

/* The weight of a place of the grid; 1 if no replay has changed it. */
double tsr_strategy_weight(const tsr_strategy *strategy, int place);

/* The length of the last k-panel when a leading block of C grows: `last`, or k / 4 if that is 0,
 * but not less than `size`, the length of the other k-panels. C is completed during the last
 * k-panel, so it is long: C then leaves over a longer time. */
int64_t tsr_last_k_panel(int64_t k, int64_t size, int64_t last);

/* The kind of strategy that a family of operations has besides tiles. */
static inline tsr_strategy_kind tsr_strategy_kind_of(tsr_family family) {
  return family == TSR_TRIANGLE ? TSR_STRIPES : family == TSR_FACTOR ? TSR_TILES : TSR_PANELS;
}

/* Makes the tiling of a strategy. order: the machine's devices, the preferred ones first. The
 * caller frees the tiling with tsr_tiling_free. TSR_ERR_MEMORY: no host memory; the tiling is freed
 * then. */
tsr_status tsr_strategy_tiling(const tsr_strategy *strategy, const tsr_call *call,
                               const tsr_machine *machine, const int *order, tsr_tiling *tiling);
void tsr_tiling_free(tsr_tiling *tiling);

/* Sets each knob whose value makes no difference to the plan to one fixed value, so that equal
 * plans have equal strategies: an n-block wider than the columns that a device owns, a limit that
 * no k-panel reaches. */
void tsr_strategy_simplify(const tsr_call *call, const tsr_machine *machine,
                           tsr_strategy *strategy);

#endif
