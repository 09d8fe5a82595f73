/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/search/strategy.h"

#include <math.h>

#include "plan/search/knobs.h"
#include "plan/tuning.h"

double tsr_strategy_weight(const tsr_strategy *r, int place) {
  return r->weight[place] > 0 ? (double)r->weight[place] / TSR_STRATEGY_WEIGHT : 1;
}

int64_t tsr_last_k_panel(int64_t k, int64_t size, int64_t last) {
  int64_t wanted = last > 0 ? last : k / TSR_TUNE_LEADING_LAST_K;
  return wanted > size ? wanted : size;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- Where C is added ---- */

bool tsr_strategy_must_be_lazy(const tsr_strategy *r, const tsr_problem *p) {
  tsr_type type = p->call->type;
  bool wide = tsr_type_get(type)->wide != type;
  bool whole = r->kind == TSR_BANDS;
  int64_t part = whole || (r->tile == 0 && r->k_panel == 0) ? TSR_STRATEGY_LONGEST
                 : r->tile > 0                              ? r->tile
                                                            : r->k_panel;
  return (wide && p->call->k > part) || p->realigned >> TSR_C_ & 1 || r->kind == TSR_SLICES ||
         tsr_call_adds_last(p->call);
}

bool tsr_strategy_may_be_lazy(const tsr_strategy *r, const tsr_problem *p) {
  bool beside = tsr_family_of(p->call->operation) == TSR_TRIANGLE;
  if (beside && (r->kind == TSR_TILES || tsr_is_in_place(p->call->operation))) return false;
  return tsr_strategy_must_be_lazy(r, p) || p->reproducible ||
         (p->call->beta != TSR_ZERO && !tsr_call_scales_only(p->call));
}

bool tsr_tiles_are_possible(const tsr_problem *p) {
  return p->call->moduli == 0 || tsr_family_of(p->call->operation) == TSR_TRIANGLE;
}

bool tsr_tile_is_fixed(const tsr_problem *p) {
  return p->tile > 0 || p->reproducible || p->call->judged > 0;
}

bool tsr_slices_are_possible(const tsr_problem *p) {
  const tsr_call *call = p->call;
  return call->operation == TSR_GEMM && call->moduli == 0 && !tsr_call_scales_only(call) &&
         !p->composed && !tsr_tile_is_fixed(p) && !p->mapped &&
         tsr_type_get(call->type)->wide == call->type && call->m <= TSR_STRATEGY_LONGEST &&
         call->n <= TSR_STRATEGY_LONGEST;
}

bool tsr_bands_are_needed(const tsr_problem *p) {
  return p->reproducible && p->call->moduli > 0 &&
         tsr_family_of(p->call->operation) != TSR_TRIANGLE;
}

bool tsr_bands_are_possible(const tsr_problem *p) {
  const tsr_call *call = p->call;
  bool updates = call->moduli > 0 && tsr_family_of(call->operation) == TSR_RANK;
  return (call->operation == TSR_GEMM || updates) && !tsr_call_scales_only(call) && !p->composed &&
         (!p->reproducible || tsr_bands_are_needed(p)) && !p->mapped &&
         call->k <= TSR_STRATEGY_LONGEST;
}

bool tsr_strategy_may_invert(const tsr_strategy *r, const tsr_call *call) {
  int64_t block = r->block > 0 ? smaller(r->block, call->k) : call->k;
  return r->kind == TSR_STRIPES && call->operation == TSR_TRSM && !tsr_call_scales_only(call) &&
         block <= TSR_INVERTS_MOST;
}

/* ---- Strategies that make the same plan ---- */

/* An upper bound of the columns of C that a device owns. */
static double widest(const tsr_call *call, const tsr_machine *machine, const tsr_strategy *r) {
  double fastest = 0, slowest = INFINITY, share = r->home_share > 100 ? (double)r->home_share : 100;
  double most = 0, least = INFINITY;
  for (int i = 0; i < r->grid_rows * r->grid_cols; i++) {
    most = fmax(most, tsr_strategy_weight(r, i));
    least = fmin(least, tsr_strategy_weight(r, i));
  }
  for (int d = 0; d < machine->devices; d++) {
    fastest = fmax(fastest, tsr_machine_speed(machine, d, call->type));
    slowest = fmin(slowest, tsr_machine_speed(machine, d, call->type));
  }
  return (double)call->n / r->grid_cols * share / 100 * fastest / slowest * most / least +
         TSR_TUNE_CUT_ALIGN;
}

/* 0, which stands for all columns, if the n-block is as wide as that. */
static int64_t narrower(int64_t n_block, double width) {
  return n_block == 0 || (double)n_block >= width ? 0 : n_block;
}

/* The n-block of another k-panel of a rank-k update; 0: as that of the last one. */
static int64_t unlike_last(const tsr_call *call, const tsr_strategy *r, int64_t n_block) {
  int64_t last = r->n_block_last == 0 ? call->n : smaller(r->n_block_last, call->n);
  int64_t columns = smaller(n_block, call->n);
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

static void simplify_k_panels(int64_t k, tsr_strategy *r) {
  int panels;
  if (r->k_panel == 0) return;
  if (r->leading) {
    r->whole_a = false;
    if (tsr_last_k_panel(k, r->k_panel, r->k_panel_most) >= k) r->k_panel = 0;
    return;
  }
  if (r->k_panel_most > 0) r->k_panel = smaller(r->k_panel, r->k_panel_most);
  if (longest_k_panel(k, r->k_panel, &panels) <= r->k_panel_most) r->k_panel_most = 0;
  if (r->k_panel_most > 0) return;
  if (panels < 3) r->n_block = 0;
  if (panels < 2) r->k_panel = 0;
}

void tsr_strategy_simplify(const tsr_call *call, const tsr_machine *machine, tsr_strategy *r) {
  tsr_family family = tsr_family_of(call->operation);
  if (!r->lazy) r->add_at_home = false;
  if (r->kind == TSR_STRIPES && r->k_panel == 0) r->k_panel_once = r->n_block_first = 0;
  if (r->kind == TSR_STRIPES && r->stripe > 0 && r->n_block_first >= r->stripe)
    r->n_block_first = 0;
  if (!tsr_strategy_may_invert(r, call)) r->inverses = false;
  if (r->kind != TSR_PANELS) return;
  if (r->grid_rows * r->grid_cols == 1) r->home_share = 0;
  if (r->grid_cols == 1) r->whole_b = false;
  double width = widest(call, machine, r);
  if (family == TSR_RANK) { /* the devices' parts of C differ in width */
    simplify_k_panels(call->k, r);
    if (r->k_panel == 0) r->k_panel_most = 0;
    bool unlike = r->k_panel > 0 && tsr_sums_triangle_in_w(call, r->lazy);
    r->n_block_first = unlike ? unlike_last(call, r, r->n_block_first) : 0;
    r->n_block = unlike ? unlike_last(call, r, r->n_block) : 0;
    return;
  }
  r->n_block_first = narrower(r->n_block_first, width);
  r->n_block = narrower(r->n_block, width);
  r->n_block_last = narrower(r->n_block_last, width);
  simplify_k_panels(call->k, r);
  if (r->k_panel > 0) return;
  if (r->n_block_last > 0 && r->n_block_first >= r->n_block_last) r->n_block_first = 0;
  r->k_panel_most = r->n_block = 0;
  r->whole_a = false;
  if (r->row_parts <= 1) r->leading = false;
}
