/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Factorisations: square tiles, whose block columns go to the devices in turn. The tile decides how
 * much of the work is products and how long devices wait for the first ones: a few are tried.
 */
#include "plan/search/search.h"
#include "plan/tuning.h"

static tsr_strategy tiles_of(const tsr_search *s, int devices, int64_t tile) {
  (void)s;
  return (tsr_strategy){.kind = TSR_TILES,
                        .grid_rows = 1,
                        .grid_cols = devices,
                        .tile = tile,
                        .piece = TSR_TUNE_TILE_PIECE,
                        .relay = true};
}

/* Tries tiles of that extent on all devices, half of them and so on. */
static tsr_status try_tile(tsr_search *s, int64_t tile) {
  tsr_candidate made;
  for (int devices = s->devices; devices >= 1; devices = s->exact ? 0 : devices / 2) {
    tsr_strategy strategy = tiles_of(s, devices, tile);
    TSR_TRY(tsr_search_try(s, &strategy, &made));
  }
  return TSR_OK;
}

tsr_status tsr_factor_search(tsr_search *s) {
  int64_t fixed = tsr_search_fixed_tile(s);
  if (fixed > 0) return try_tile(s, fixed);
  /* The order of the sums must not depend on the number of devices or the budget. */
  if (s->options->reproducible)
    return try_tile(s, (s->call->n + TSR_TUNE_FACTOR_PARTS_MOST - 1) / TSR_TUNE_FACTOR_PARTS_MOST);
  for (int64_t parts = TSR_TUNE_FACTOR_PARTS_LEAST; parts <= TSR_TUNE_FACTOR_PARTS_MOST;
       parts *= 2) {
    int64_t tile = (s->call->n + parts - 1) / parts;
    if (tile < TSR_TUNE_TILE_LEAST && s->best != NULL) break;
    TSR_TRY(try_tile(s, tile));
    if (s->best != NULL && !tsr_search_in_time(s)) break;
  }
  return TSR_OK;
}
