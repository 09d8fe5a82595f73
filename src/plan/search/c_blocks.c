/*
 * First guesses for budgets that do not suffice for everything: a formula lists the C blocks that
 * should do (c_block.c), and the best of them are replayed.
 */
#include <math.h>

#include "base/alloc.h"
#include "plan/search/deal.h"
#include "plan/search/c_block.h"
#include "plan/search/search.h"

/* ---- First guesses -------------------------------------------------------- */

static tsr_strategy base_of(const tsr_search *s, int devices) {
  tsr_strategy r = tsr_search_tiles(s, devices, 0);
  r.serpentine = !s->options->reproducible; /* the order of k depends on the shape alone */
  r.lazy = s->options->reproducible || tsr_strategy_must_be_lazy(&r, &s->problem);
  r.piece = TSR_TUNE_TIGHT_PIECE;
  return r;
}

/* Until one fits all guesses are tried, however long that takes; when one has, so many of them, if
 * the formula expects them to take no longer than that. */
static tsr_status try_guesses(tsr_search *s, const tsr_c_block *guess, int count, int first,
                              double longest) {
  tsr_candidate made;
  tsr_strategy last = {0};
  for (int i = 0; i < count; i++) {
    tsr_strategy r = guess[i].strategy;
    if (s->best && (i >= first || guess[i].seconds > longest || !tsr_search_in_time(s))) break;
    tsr_forced_apply(&s->forced, &s->problem, &r);
    if (tsr_strategy_same(&r, &last)) continue; /* what differs is forced */
    TSR_TRY(tsr_search_try(s, &r, &made));
    last = r;
  }
  return TSR_OK;
}

static double shorter(int64_t extent, int64_t tile) {
  return (double)(extent < tile ? extent : tile);
}

/* No operation does with less than two tiles on a device: spares cutting all of a large call into
 * tiles to learn that. One that scales C has tiles of nothing else. */
static bool may_fit(const tsr_search *s, int64_t tile) {
  double m = shorter(s->call->m, tile), n = shorter(s->call->n, tile),
         k = shorter(s->call->k, tile);
  double inputs = tsr_call_scales_only(s->call) ? 0 : fmax(m * k, k * n);
  double most = fmax(m * n, inputs) * (double)tsr_type_get(s->call->type)->size;
  for (int d = 0; d < s->machine->devices; d++)
    if (2 * most <= (double)s->options->budget[d]) return true;
  return false;
}

/* Square tiles one by one: what is left when a formula does not know what fits. */
static tsr_status try_single_tiles(tsr_search *s, int devices, int64_t tile) {
  int64_t least = tsr_search_least_tile(s->call);
  int64_t extent = s->call->m > s->call->n ? s->call->m : s->call->n;
  if (extent < s->call->k) extent = s->call->k;
  int64_t largest =
      tile > 0 ? tile
               : tsr_power_of_two_near((double)extent, TSR_TUNE_TILE_LEAST, TSR_TUNE_TILE_MOST);
  if (tile == 0 && largest < least) largest = least;
  for (int64_t t = largest; !s->best && t >= least; t /= 2) {
    tsr_strategy r = tsr_search_tiles(s, devices, t);
    tsr_candidate made;
    if (s->options->reproducible) r.lazy = true;
    if (may_fit(s, t)) TSR_TRY(tsr_search_try(s, &r, &made));
    if (tile > 0) break;
  }
  return TSR_OK;
}

/* What the formula expects of the best. */
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

/* For every grid the best that the formula knows of; best: of all grids. The formula's seconds are
 * compared with each other alone. The guesses are too large for a small stack. */
static tsr_status try_grids(tsr_search *s, const tsr_c_block_question *q, double best) {
  tsr_c_block *guess = tsr_alloc(TSR_TUNE_TIGHT_GUESSES * sizeof *guess);
  if (guess == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to plan a call");
  tsr_status status = try_grids_with(s, q, TSR_TUNE_TIGHT_HOPELESS * best, guess);
  tsr_dealloc(guess);
  return status;
}

/* Devices that differ may have C blocks of their own; the replay says then what share of C each of
 * them should have. */
static tsr_status try_all(tsr_search *s, const tsr_c_block_question *q) {
  tsr_deal_question d = {s->machine, s->call, s->options->budget, s->heat};
  tsr_c_block_question dealt = *q;
  dealt.base.partition = true;
  double even = expected(q);
  if (s->options->reproducible || !tsr_deal_differs(&d, q->order, q->devices))
    return try_grids(s, q, even);
  double best = fmin(even, expected(&dealt));
  TSR_TRY(try_grids(s, best < even ? &dealt : q, best));
  if (best < even && s->best != NULL) {
    tsr_candidate at = s->found;
    TSR_TRY(tsr_search_descend_shares(s, &at));
  }
  return try_grids(s, best < even ? q : &dealt, best);
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
