/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The error for budgets that are too small, which names a sufficient one. */
#include <inttypes.h>
#include <stdio.h>

#include "base/least.h"
#include "plan/search/search.h"

/* Tiles of a C block. */
static int64_t tiles_of_c_block(const tsr_tiling *t) {
  int rows = tsr_least(t->pass.rows, t->m.count), cols = tsr_least(t->pass.cols, t->n.count);
  return rows * cols > 1 ? (int64_t)rows * cols : 1;
}

static int64_t part_of_extent(const tsr_cuts *cuts, int64_t tiles, int64_t extent) {
  return cuts->count > tiles ? cuts->at[tiles] : extent;
}

/* A part of the call that is large enough to have the largest set of tiles that a task needs at
 * once; planning it costs less than planning all of the call. It ends where a tile ends, so that it
 * is cut into the same tiles as all of the call, even tiles too. */
static tsr_call part_of(const tsr_call *all, const tsr_strategy *strategy, const tsr_tiling *cut) {
  int64_t tiles = 4 + (strategy->c_block_rows > strategy->c_block_cols ? strategy->c_block_rows
                                                                       : strategy->c_block_cols);
  tsr_call call = *all;
  if (!tsr_strategy_has_tiles(strategy)) return call;
  call.m = part_of_extent(&cut->m, tiles, call.m);
  call.n = part_of_extent(&cut->n, tiles, call.n);
  call.k = part_of_extent(&cut->k, tiles, call.k);
  return call;
}

static size_t smallest_budget(const tsr_search *s) {
  size_t smallest = SIZE_MAX;
  for (int d = 0; d < s->machine->devices; d++)
    if (s->options->budget[d] < smallest) smallest = s->options->budget[d];
  return smallest;
}

static tsr_strategy least_strategy(const tsr_search *s) {
  int64_t tile = tsr_search_fixed_tile(s);
  if (s->kinds == 1u << TSR_BANDS) {
    tsr_strategy bands = tsr_bands_guess(s, 1);
    tsr_forced_apply(&s->forced, &s->problem, &bands);
    if (tsr_call_has_form(s->call)) bands.lazy = false;
    bands.add_at_home = false;
    return bands;
  }
  tsr_strategy strategy = tsr_search_tiles(s, 1, tile > 0 ? tile : tsr_search_least_tile(s->call));
  tsr_forced_apply(&s->forced, &s->problem, &strategy);
  if (s->options->reproducible || tsr_strategy_must_be_lazy(&strategy, &s->problem))
    strategy.lazy = true;
  if (tsr_call_has_form(s->call)) strategy.lazy = strategy.add_at_home = false;
  return strategy;
}

/* The error of a composed call. Its tiles do not share memory, so everything that the call uses has
 * to fit beside what earlier calls keep. */
static tsr_status too_small_beside(const tsr_search *s) {
  const tsr_misfit *x = &s->misfit;
  return tsr_fail(TSR_ERR_MEMORY,
                  "the call keeps its operands on the devices and needs %zu bytes of device %d, "
                  "whose budget has %zu bytes left beside what earlier calls keep there; release "
                  "matrices that are not used any more (tsr_release), or give a larger budget "
                  "(TESSERA_MEMORY)",
                  x->need, x->device, s->options->budget[x->device]);
}

static tsr_status too_small_for(const tsr_search *s, const char *tiles, size_t least) {
  size_t budget = smallest_budget(s);
  const char *smaller = s->options->tile > 0 ? " or smaller tiles (TESSERA_TILE)" : "";
  if (least <= budget)
    return tsr_fail(TSR_ERR_MEMORY,
                    "no plan that was tried fits into a budget of %zu bytes for each device: give "
                    "more (TESSERA_MEMORY)%s",
                    budget, smaller);
  return tsr_fail(TSR_ERR_MEMORY,
                  "a budget of %zu bytes for each device is too small for %s: give at least %zu "
                  "bytes (TESSERA_MEMORY)%s",
                  budget, tiles, least, smaller);
}

/* The error for a part of the call. */
static tsr_status too_small_for_part(tsr_search *s, const tsr_strategy *strategy,
                                     const tsr_call *call) {
  tsr_tiling tiling;
  char tiles[40] = "panels";
  if (tsr_strategy_has_tiles(strategy))
    snprintf(tiles, sizeof tiles, "%s of %" PRId64, strategy->kind == TSR_BANDS ? "bands" : "tiles",
             strategy->tile);
  TSR_TRY(tsr_strategy_tiling(strategy, call, s->machine, s->order, &tiling));
  tiling.lazy_everywhere = tsr_search_is_lazy_everywhere(s);
  tsr_status status = tsr_graph_build(call, &tiling, &s->graph);
  if (status == TSR_OK)
    status = too_small_for(s, tiles,
                           tsr_schedule_least_budget(call, &s->graph, tiles_of_c_block(&tiling)));
  tsr_tiling_free(&tiling);
  return status;
}

tsr_status tsr_search_too_small(tsr_search *s) {
  if (s->misfit.need > 0) return too_small_beside(s);
  if (tsr_call_has_form(s->call) && !s->options->reproducible)
    return tsr_fail(TSR_ERR_MEMORY,
                    "the residues of a part of C do not fit into a budget of %zu bytes for each "
                    "device: give at "
                    "least %zu bytes (TESSERA_MEMORY), or compute natively (TESSERA_ARITHMETIC)",
                    smallest_budget(s), tsr_plan_form_need(s->call, s->options));
  tsr_strategy strategy = least_strategy(s);
  tsr_tiling all;
  TSR_TRY(tsr_strategy_tiling(&strategy, s->call, s->machine, s->order, &all));
  tsr_call call = part_of(s->call, &strategy, &all);
  tsr_tiling_free(&all);
  return too_small_for_part(s, &strategy, &call);
}
