/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * First guesses for calls that do not fit the budgets: a formula lists C blocks that should fit
 * (c_block.c), and the best of them are replayed.
 */
#include <math.h>

#include "base/alloc.h"
#include "plan/search/c_block.h"
#include "plan/search/partition.h"
#include "plan/search/search.h"

/* ---- First guesses -------------------------------------------------------- */

static tsr_strategy base_of(const tsr_search *s, int devices) {
  tsr_strategy strategy = tsr_search_tiles(s, devices, 0);
  strategy.serpentine = !s->options->reproducible; /* reproducible results need one order of k */
  strategy.lazy = s->options->reproducible || tsr_strategy_must_be_lazy(&strategy, &s->problem);
  strategy.piece = TSR_TUNE_TIGHT_PIECE;
  return strategy;
}

/* Tries `count` guesses, the best first. Until one fits, all are tried, however long that takes;
 * afterwards only the first `first`, and only those that the formula expects to take no longer than
 * `longest`, s. */
static tsr_status try_guesses(tsr_search *s, const tsr_c_block *guess, int count, int first,
                              double longest) {
  tsr_candidate made;
  tsr_strategy last = {0};
  for (int i = 0; i < count; i++) {
    tsr_strategy strategy = guess[i].strategy;
    if (s->best && (i >= first || guess[i].seconds > longest || !tsr_search_in_time(s))) break;
    tsr_forced_apply(&s->forced, &s->problem, &strategy);
    if (tsr_strategy_same(&strategy, &last)) continue; /* guesses differ only in forced knobs */
    TSR_TRY(tsr_search_try(s, &strategy, &made));
    last = strategy;
  }
  return TSR_OK;
}

static double shorter(int64_t extent, int64_t tile) {
  return (double)(extent < tile ? extent : tile);
}

/* Whether at least two tiles fit some budget, which every operation needs. Asking first saves
 * cutting a large call into tiles that cannot fit. A call that only scales C has no tiles of A and
 * B. */
static bool may_fit(const tsr_search *s, int64_t tile) {
  double m = shorter(s->call->m, tile), n = shorter(s->call->n, tile),
         k = shorter(s->call->k, tile);
  double inputs = tsr_call_scales_only(s->call) ? 0 : fmax(m * k, k * n);
  double most = fmax(m * n, inputs) * (double)tsr_type_get(s->call->type)->size;
  for (int d = 0; d < s->machine->devices; d++)
    if (2 * most <= (double)s->options->budget[d]) return true;
  return false;
}

/* Tries square tiles, from the largest extent down, until one fits: the fallback when the formula
 * finds no C block. */
static tsr_status try_single_tiles(tsr_search *s, int devices, int64_t tile) {
  int64_t least = tsr_search_least_tile(s->call);
  int64_t extent = s->call->m > s->call->n ? s->call->m : s->call->n;
  if (extent < s->call->k) extent = s->call->k;
  int64_t largest =
      tile > 0 ? tile
               : tsr_power_of_two_near((double)extent, TSR_TUNE_TILE_LEAST, TSR_TUNE_TILE_MOST);
  if (tile == 0 && largest < least) largest = least;
  for (int64_t t = largest; !s->best && t >= least; t /= 2) {
    tsr_strategy strategy = tsr_search_tiles(s, devices, t);
    tsr_candidate made;
    if (s->options->reproducible) strategy.lazy = true;
    tsr_forced_apply(&s->forced, &s->problem, &strategy); /* its tile may be another one */
    if (may_fit(s, strategy.tile)) TSR_TRY(tsr_search_try(s, &strategy, &made));
    if (tile > 0) break;
  }
  return TSR_OK;
}

/* The time that the formula estimates for the best C block of all grids, s; INFINITY: none fits. */
static double expected(const tsr_c_block_question *q) {
  double best = INFINITY;
  for (int rows = q->devices; rows >= 1; rows--) {
    tsr_c_block guess;
    if (q->devices % rows == 0 && tsr_c_block_guess(q, rows, 1, &guess) > 0)
      best = fmin(best, guess.seconds);
  }
  return best;
}

static tsr_status try_grids_with(tsr_search *s, const tsr_c_block_question *q, double longest,
                                 tsr_c_block guess[TSR_TUNE_TIGHT_GUESSES]) {
  int first = q->base.partition ? TSR_TUNE_TIGHT_FIRST_PARTITIONED : TSR_TUNE_TIGHT_FIRST;
  for (int rows = q->devices; rows >= 1; rows--) {
    if (q->devices % rows) continue;
    int count = tsr_c_block_guess(q, rows, TSR_TUNE_TIGHT_GUESSES, guess);
    TSR_TRY(try_guesses(s, guess, count, first, longest));
  }
  return TSR_OK;
}

/* Tries the best guesses of every grid. best: the formula's time of the best guess of all grids, s.
 * Times of the formula are compared only with each other, not with replayed ones. The guesses are
 * too large for a small stack. */
static tsr_status try_grids(tsr_search *s, const tsr_c_block_question *q, double best) {
  tsr_c_block *guess = tsr_alloc(TSR_TUNE_TIGHT_GUESSES * sizeof *guess);
  if (guess == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to plan a call");
  tsr_status status = try_grids_with(s, q, TSR_TUNE_TIGHT_HOPELESS * best, guess);
  tsr_dealloc(guess);
  return status;
}

/* Tries C blocks of one size, and, if devices differ, C blocks by each device's budget, of which
 * the replay then learns the shares of C. Those that the formula expects to be quicker come first.
 */
static tsr_status try_all(tsr_search *s, const tsr_c_block_question *q) {
  tsr_partition_question d = {s->machine, s->call, s->options->budget, s->heat};
  tsr_c_block_question partitioned = *q;
  partitioned.base.partition = true;
  double even = expected(q);
  if (s->options->reproducible || !tsr_partition_differs(&d, q->order, q->devices))
    return try_grids(s, q, even);
  double best = fmin(even, expected(&partitioned));
  TSR_TRY(try_grids(s, best < even ? &partitioned : q, best));
  if (best < even && s->best != NULL) {
    tsr_candidate at = s->found;
    TSR_TRY(tsr_search_descend_shares(s, &at));
  }
  return try_grids(s, best < even ? q : &partitioned, best);
}

tsr_status tsr_c_blocks_search(tsr_search *s, int devices, int64_t tile) {
  tsr_c_block_question q = {.machine = s->machine,
                            .call = s->call,
                            .budget = s->options->budget,
                            .order = s->order,
                            .devices = devices,
                            .base = base_of(s, devices),
                            .tile = tile,
                            .heat = s->heat};
  TSR_TRY(try_all(s, &q));
  return try_single_tiles(s, devices, tile);
}
