/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Factorisations: block columns, which go to the devices in turn and are factored in panels. Their
 * width decides how long products are, the panel's how much of the work is products, and both how
 * long devices wait for the first ones: a few are tried. Where whole block columns do not fit, or
 * the order of the sums must depend on the shape alone, square tiles take their place. They may be
 * faster elsewhere, too: a square is finished sooner than a block column, which another device
 * waits for, and its columns are longer than those of a block row.
 */
#include "base/least.h"
#include "plan/search/search.h"
#include "plan/tuning.h"

/* Block columns of that width, cut across into tiles of `span` times it, with panels of `block`. */
typedef struct shape {
  int64_t width, block, span;
  bool early;
} shape;

static tsr_strategy strategy_of(int devices, shape of) {
  return (tsr_strategy){.kind = TSR_TILES,
                        .grid_rows = 1,
                        .grid_cols = devices,
                        .tile = of.width,
                        .block = of.block,
                        .span = of.span,
                        .early = of.early,
                        .piece = TSR_TUNE_TILE_PIECE,
                        .relay = true};
}

/* Whole block columns, which several devices update early, since they wait for each other. */
static shape whole(int64_t width, int64_t block, bool early) {
  return (shape){width, block, TSR_STRATEGY_LONGEST / width, early};
}

/* Tries it on all devices, half of them and so on. */
static tsr_status try_shape(tsr_search *s, shape of) {
  tsr_candidate made;
  for (int devices = s->devices; devices >= 1; devices = s->exact ? 0 : devices / 2) {
    shape here = of;
    here.early |=
        of.span > 1 && devices > 1 && !tsr_is_device(s->machine, s->call->operand[TSR_C_].location);
    tsr_strategy strategy = strategy_of(devices, here);
    TSR_TRY(tsr_search_try(s, &strategy, &made));
  }
  return TSR_OK;
}

static bool has_time(const tsr_search *s) {
  return s->best == NULL || tsr_search_in_time(s);
}

static size_t smallest_budget(const tsr_search *s) {
  size_t least = SIZE_MAX;
  for (int i = 0; i < s->devices; i++)
    if (s->options->budget[s->order[i]] < least) least = s->options->budget[s->order[i]];
  return least;
}

/* Bytes of so many columns. */
static double bytes_of(const tsr_search *s, double columns) {
  return columns * (double)s->call->n * (double)tsr_type_get(s->call->type)->size;
}

/* Whether a device has memory for all block columns: each comes to read those of all others. */
static bool has_memory(const tsr_search *s) {
  return bytes_of(s, (double)s->call->n / 2) <= (double)smallest_budget(s);
}

/* Tries block columns with panels of that width, from one panel each to one block column for each
 * device. */
static tsr_status try_whole(tsr_search *s, int64_t block) {
  int64_t n = s->call->n, most = (n + s->devices - 1) / s->devices;
  int64_t least = n / TSR_TUNE_FACTOR_PARTS_MOST;
  for (int64_t width = block; (width == block || width < 2 * most) && has_time(s); width *= 2)
    if (width >= least) TSR_TRY(try_shape(s, whole(width, block, false)));
  return TSR_OK;
}

/* Tries block columns of which a device has memory for a few: one is updated with another while the
 * next one arrives. The wider they are, the less often each is fetched. */
static tsr_status try_streamed(tsr_search *s) {
  int64_t columns = (int64_t)((double)smallest_budget(s) / bytes_of(s, 1));
  for (int held = 3; held <= TSR_TUNE_FACTOR_HELD; held++)
    for (int64_t block = TSR_TUNE_FACTOR_BLOCK; block <= TSR_TUNE_FACTOR_BLOCK_MOST && has_time(s);
         block *= 2) {
      int64_t width = columns / held / block * block;
      if (width > 0) TSR_TRY(try_shape(s, whole(width, block, true)));
    }
  return TSR_OK;
}

static tsr_status try_squares(tsr_search *s) {
  for (int64_t parts = TSR_TUNE_FACTOR_PARTS_LEAST;
       parts <= TSR_TUNE_FACTOR_PARTS_MOST && has_time(s); parts *= 2) {
    int64_t tile = (s->call->n + parts - 1) / parts;
    if (tile < TSR_TUNE_TILE_LEAST && s->best != NULL) break;
    TSR_TRY(try_shape(s, (shape){.width = tile}));
  }
  return TSR_OK;
}

/* With the width that the user wants. */
static tsr_status try_width(tsr_search *s, int64_t width) {
  bool early = !has_memory(s);
  for (int64_t block = TSR_TUNE_FACTOR_BLOCK; block < width && has_time(s); block *= 2)
    TSR_TRY(try_shape(s, whole(width, block, early)));
  TSR_TRY(try_shape(s, whole(width, 0, early)));
  return early || s->best == NULL ? try_shape(s, (shape){.width = width}) : TSR_OK;
}

tsr_status tsr_factor_search(tsr_search *s) {
  int64_t fixed = tsr_search_fixed_tile(s);
  /* The order of the sums must not depend on the number of devices or the budget. */
  if (s->options->reproducible) return try_shape(s, (shape){.width = fixed});
  if (fixed > 0) return try_width(s, fixed);
  for (int64_t block = TSR_TUNE_FACTOR_BLOCK; block <= TSR_TUNE_FACTOR_BLOCK_MOST; block *= 2)
    if (has_memory(s) && has_time(s) && (block < s->call->n || s->best == NULL))
      TSR_TRY(try_whole(s, block));
  if (s->best == NULL) TSR_TRY(try_streamed(s));
  return try_squares(s);
}
