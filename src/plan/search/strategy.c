/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/search/strategy.h"

#include <math.h>

#include "base/least.h"
#include "plan/search/knobs.h"
#include "plan/tuning.h"

double tsr_strategy_weight(const tsr_strategy *strategy, int place) {
  return strategy->weight[place] > 0 ? (double)strategy->weight[place] / TSR_STRATEGY_WEIGHT : 1;
}

int64_t tsr_last_k_panel(int64_t k, int64_t size, int64_t last) {
  int64_t wanted = last > 0 ? last : k / TSR_TUNE_LEADING_LAST_K;
  return wanted > size ? wanted : size;
}

/* ---- Where C is added ---- */

bool tsr_strategy_must_be_lazy(const tsr_strategy *strategy, const tsr_search_problem *p) {
  tsr_type type = p->call->type;
  bool wide = tsr_type_get(type)->wide != type;
  bool whole = strategy->kind == TSR_BANDS;
  int64_t part = whole || (strategy->tile == 0 && strategy->k_panel == 0) ? TSR_STRATEGY_LONGEST
                 : strategy->tile > 0                                     ? strategy->tile
                                                                          : strategy->k_panel;
  return (wide && p->call->k > part) || p->realigned >> TSR_C_ & 1 ||
         strategy->kind == TSR_SLICES || tsr_call_adds_last(p->call);
}

bool tsr_strategy_may_be_lazy(const tsr_strategy *strategy, const tsr_search_problem *p) {
  tsr_family family = tsr_family_of(p->call->operation);
  if (family == TSR_FACTOR) return false;
  if (family == TSR_TRIANGLE &&
      (strategy->kind == TSR_TILES || tsr_is_in_place(p->call->operation)))
    return false;
  return tsr_strategy_must_be_lazy(strategy, p) || p->reproducible ||
         (p->call->beta != TSR_ZERO && !tsr_call_scales_only(p->call));
}

bool tsr_tiles_are_possible(const tsr_search_problem *p) {
  return !tsr_call_has_form(p->call) || tsr_family_of(p->call->operation) == TSR_TRIANGLE;
}

bool tsr_tile_is_fixed(const tsr_search_problem *p) {
  return p->tile > 0 || p->reproducible || p->call->promise.judged > 0;
}

bool tsr_slices_are_possible(const tsr_search_problem *p) {
  const tsr_call *call = p->call;
  return call->operation == TSR_GEMM && !tsr_call_has_form(call) && !tsr_call_scales_only(call) &&
         !p->composed && !tsr_tile_is_fixed(p) && !p->mapped &&
         tsr_type_get(call->type)->wide == call->type && call->m <= TSR_STRATEGY_LONGEST &&
         call->n <= TSR_STRATEGY_LONGEST;
}

bool tsr_bands_are_needed(const tsr_search_problem *p) {
  return p->reproducible && tsr_call_has_form(p->call) &&
         tsr_family_of(p->call->operation) != TSR_TRIANGLE;
}

bool tsr_bands_are_possible(const tsr_search_problem *p) {
  const tsr_call *call = p->call;
  bool updates = tsr_call_has_form(call) && tsr_family_of(call->operation) == TSR_RANK;
  return (call->operation == TSR_GEMM || updates) && !tsr_call_scales_only(call) && !p->composed &&
         (!p->reproducible || tsr_bands_are_needed(p)) && !p->mapped &&
         call->k <= TSR_STRATEGY_LONGEST;
}

bool tsr_strategy_may_invert(const tsr_strategy *strategy, const tsr_call *call) {
  int64_t block = strategy->block > 0 ? tsr_least(strategy->block, call->k) : call->k;
  return strategy->kind == TSR_STRIPES && call->operation == TSR_TRSM &&
         !tsr_call_scales_only(call) && block <= TSR_INVERTS_MOST;
}

/* ---- Strategies that make the same plan ---- */

/* An upper bound of the columns of C that a device owns. */
static double widest(const tsr_call *call, const tsr_machine *machine,
                     const tsr_strategy *strategy) {
  double fastest = 0, slowest = INFINITY,
         share = strategy->home_share > 100 ? (double)strategy->home_share : 100;
  double most = 0, least = INFINITY;
  for (int i = 0; i < strategy->grid_rows * strategy->grid_cols; i++) {
    most = fmax(most, tsr_strategy_weight(strategy, i));
    least = fmin(least, tsr_strategy_weight(strategy, i));
  }
  for (int d = 0; d < machine->devices; d++) {
    fastest = fmax(fastest, tsr_machine_speed(machine, d, call->type));
    slowest = fmin(slowest, tsr_machine_speed(machine, d, call->type));
  }
  return (double)call->n / strategy->grid_cols * share / 100 * fastest / slowest * most / least +
         TSR_TUNE_CUT_ALIGN;
}

/* 0, which stands for all columns, if the n-block is as wide as that. */
static int64_t narrower(int64_t n_block, double width) {
  return n_block == 0 || (double)n_block >= width ? 0 : n_block;
}

/* The n-block of another k-panel of a rank-k update; 0: as that of the last one. */
static int64_t unlike_last(const tsr_call *call, const tsr_strategy *strategy, int64_t n_block) {
  int64_t last = strategy->n_block_last == 0 ? call->n : tsr_least(strategy->n_block_last, call->n);
  int64_t columns = tsr_least(n_block, call->n);
  return columns == last ? 0 : columns;
}

/* The longest k-panel when each is twice as long as the one before, without a limit: the last one.
 * *count: how many k-panels. */
static int64_t longest_k_panel(int64_t k, int64_t first, int *count) {
  int64_t at = 0, size = first;
  *count = 1;
  for (; k - at > 2 * size; size *= 2, ++*count) at += size;
  return k - at;
}

static void simplify_k_panels(int64_t k, tsr_strategy *strategy) {
  int panels;
  if (strategy->k_panel == 0) return;
  if (strategy->leading) {
    strategy->whole_a = false;
    if (tsr_last_k_panel(k, strategy->k_panel, strategy->k_panel_most) >= k) strategy->k_panel = 0;
    return;
  }
  if (strategy->k_panel_most > 0)
    strategy->k_panel = tsr_least(strategy->k_panel, strategy->k_panel_most);
  if (longest_k_panel(k, strategy->k_panel, &panels) <= strategy->k_panel_most)
    strategy->k_panel_most = 0;
  if (strategy->k_panel_most > 0) return;
  if (panels < 3) strategy->n_block = 0;
  if (panels < 2) strategy->k_panel = 0;
}

void tsr_strategy_simplify(const tsr_call *call, const tsr_machine *machine,
                           tsr_strategy *strategy) {
  tsr_family family = tsr_family_of(call->operation);
  if (!strategy->lazy) strategy->add_at_home = false;
  if (strategy->kind == TSR_STRIPES && strategy->k_panel == 0)
    strategy->k_panel_once = strategy->n_block_first = 0;
  if (strategy->kind == TSR_STRIPES && strategy->stripe > 0 &&
      strategy->n_block_first >= strategy->stripe)
    strategy->n_block_first = 0;
  if (!tsr_strategy_may_invert(strategy, call)) strategy->inverses = false;
  if (strategy->kind != TSR_PANELS) return;
  if (strategy->grid_rows * strategy->grid_cols == 1) strategy->home_share = 0;
  if (strategy->grid_cols == 1) strategy->whole_b = false;
  double width = widest(call, machine, strategy);
  if (family == TSR_RANK) { /* the devices' parts of C differ in width */
    simplify_k_panels(call->k, strategy);
    if (strategy->k_panel == 0) strategy->k_panel_most = 0;
    bool unlike = strategy->k_panel > 0 && tsr_sums_triangle_in_w(call, strategy->lazy);
    strategy->n_block_first = unlike ? unlike_last(call, strategy, strategy->n_block_first) : 0;
    strategy->n_block = unlike ? unlike_last(call, strategy, strategy->n_block) : 0;
    return;
  }
  strategy->n_block_first = narrower(strategy->n_block_first, width);
  strategy->n_block = narrower(strategy->n_block, width);
  strategy->n_block_last = narrower(strategy->n_block_last, width);
  simplify_k_panels(call->k, strategy);
  if (strategy->k_panel > 0) return;
  if (strategy->n_block_last > 0 && strategy->n_block_first >= strategy->n_block_last)
    strategy->n_block_first = 0;
  strategy->k_panel_most = strategy->n_block = 0;
  strategy->whole_a = false;
  if (strategy->row_parts <= 1) strategy->leading = false;
}
