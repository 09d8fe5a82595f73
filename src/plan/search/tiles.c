/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Square tiles: a first guess, tiles whose extent is fixed, and the smallest ones. */
#include <math.h>
#include <stddef.h>

#include "plan/search/search.h"

static int64_t longest(const tsr_call *call) {
  int64_t most = call->m > call->n ? call->m : call->n;
  return most > call->k ? most : call->k;
}

tsr_strategy tsr_search_tiles(const tsr_search *s, int devices, int64_t tile) {
  tsr_strategy strategy = {
      .kind = TSR_TILES, .tile = tile, .piece = TSR_TUNE_TILE_PIECE, .relay = true};
  tsr_panels_guess_grid(s->call, devices, &strategy);
  tsr_panels_set_lazy(s, &strategy);
  strategy.add_at_home = false; /* adding at home needs memory beside the tiles */
  return strategy;
}

int64_t tsr_search_tile_by_shape(const tsr_call *call) {
  return tsr_guess_of((double)longest(call), TSR_TUNE_TILE_BY_SHAPE);
}

int64_t tsr_search_fixed_tile(const tsr_search *s) {
  if (s->call->promise.judged > 0) return s->call->promise.judged;
  if (s->options->tile > 0) return s->options->tile;
  const int64_t *named = tsr_forced_named(&s->forced, offsetof(tsr_strategy, tile));
  if (named != NULL) return *named;
  return s->options->reproducible ? tsr_search_tile_by_shape(s->call) : 0;
}

static double parts_of(int64_t extent, int64_t tile) {
  return extent > 0 ? ceil((double)extent / (double)tile) : 1;
}

/* A plan of more than PLAN_KERNELS kernels takes gigabytes of host memory and half a minute, and
 * its kernels are so small that the CPU is faster. */
int64_t tsr_search_least_tile(const tsr_call *call) {
  int64_t tile = TSR_TUNE_TILE_LEAST;
  while (parts_of(call->m, tile) * parts_of(call->n, tile) * parts_of(call->k, tile) >
         TSR_TUNE_PLAN_KERNELS)
    tile *= 2;
  return tile;
}
