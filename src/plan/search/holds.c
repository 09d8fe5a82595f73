/*
 * Holds: strategies for budgets that do not suffice for everything. A formula lists those that
 * should do (hold.c), the best of them are replayed, and from the best one parameter after the
 * other is changed.
 */
#include <math.h>
#include <string.h>

#include "plan/search/deal.h"
#include "plan/search/hold.h"
#include "plan/search/search.h"

enum { GUESSES = 8, FIRST = 3, FIRST_DEALT = 2 };

/* ---- Changes --------------------------------------------------------------- */

/* A strategy with one thing changed; false: there is no such one. */
typedef bool (*change)(const tsr_search *s, tsr_strategy *r);

/* Where devices differ: by how long each took. */
static bool dealt_again(const tsr_search *s, tsr_strategy *r) {
  if (!r->partition || !tsr_strategy_same(r, &s->best_strategy)) return false;
  tsr_deal_again(s->best, s->order, r);
  return true;
}

/* One change again and again while it helps. */
static tsr_status follow(tsr_search *s, change with, bool *any) {
  bool better = true;
  while (better && tsr_search_in_time(s)) {
    tsr_strategy r = s->at.strategy;
    if (!with(s, &r)) break;
    tsr_forced_apply(&s->forced, &s->problem, &r);
    if (memcmp(&r, &s->at.strategy, sizeof r) == 0) break; /* what was changed is forced */
    TSR_TRY(tsr_search_try(s, &r, &better));
    *any |= better;
  }
  return TSR_OK;
}

/* ---- First guesses -------------------------------------------------------- */

static tsr_strategy base_of(const tsr_search *s, int devices) {
  tsr_strategy r = tsr_search_tiles(s, devices, 0);
  r.serpentine = !s->options->reproducible; /* the order of k depends on the shape alone */
  r.lazy = s->options->reproducible || tsr_strategy_must_be_lazy(&r, &s->problem);
  r.piece = 32 << 20;
  return r;
}

/* Until one fits all guesses are tried, however long that takes; when one has, so many of them,
 * unless the formula thinks less of them. */
static tsr_status try_guesses(tsr_search *s, const tsr_hold *guess, int count, int first) {
  static const double hopeless = 1.1;
  bool better;
  tsr_strategy last = {0};
  for (int i = 0; i < count; i++) {
    tsr_strategy r = guess[i].strategy;
    if (s->best && (i >= first || !tsr_search_in_time(s))) break;
    if (s->best && guess[i].seconds > hopeless * s->best->seconds) break;
    tsr_forced_apply(&s->forced, &s->problem, &r);
    if (memcmp(&r, &last, sizeof r) == 0) continue; /* what differs is forced */
    TSR_TRY(tsr_search_try(s, &r, &better));
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
  int64_t largest = tile > 0 ? tile : tsr_power_of_two_near((double)extent, 16, 16384);
  if (tile == 0 && largest < least) largest = least;
  for (int64_t t = largest; !s->best && t >= least; t /= 2) {
    tsr_strategy r = tsr_search_tiles(s, devices, t);
    bool better;
    if (s->options->reproducible) r.lazy = true;
    if (may_fit(s, t)) TSR_TRY(tsr_search_try(s, &r, &better));
    if (tile > 0) break;
  }
  return TSR_OK;
}

/* For every grid the best that a formula knows of. */
static tsr_status try_grids(tsr_search *s, const tsr_hold_question *q) {
  tsr_hold guess[GUESSES];
  for (int rows = q->devices; rows >= 1; rows--) {
    if (q->devices % rows) continue;
    int count = tsr_hold_guess(q, rows, GUESSES, guess);
    TSR_TRY(try_guesses(s, guess, count, q->base.partition ? FIRST_DEALT : FIRST));
  }
  return TSR_OK;
}

/* What the formula expects of the best. */
static double expected(const tsr_hold_question *q) {
  double best = INFINITY;
  for (int rows = q->devices; rows >= 1; rows--) {
    tsr_hold guess;
    if (q->devices % rows == 0 && tsr_hold_guess(q, rows, 1, &guess) > 0)
      best = fmin(best, guess.seconds);
  }
  return best;
}

/* Devices that differ may have holds of their own. Where they reach each other little is left to be
 * gained: those with more room serve the others as a cache. */
static tsr_status try_all(tsr_search *s, const tsr_hold_question *q) {
  static const double sure = 0.95; /* formulas err by more */
  tsr_deal_question d = {s->machine, s->call, s->options->budget, s->heat};
  tsr_hold_question dealt = *q;
  dealt.base.partition = true;
  if (s->options->reproducible || !tsr_deal_differs(&d, q->order, q->devices))
    return try_grids(s, q);
  double even = expected(q);
  bool first = expected(&dealt) < even, any = false;
  TSR_TRY(try_grids(s, first ? &dealt : q));
  if (first) TSR_TRY(follow(s, dealt_again, &any));
  if (first && s->best != NULL && s->best->seconds < sure * even) return TSR_OK;
  return try_grids(s, first ? q : &dealt);
}

tsr_status tsr_holds_search(tsr_search *s, int devices, int64_t tile) {
  tsr_hold_question q = {.machine = s->machine,
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

/* ---- Steps ---------------------------------------------------------------- */

static bool higher(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  return ++r->c_block_rows > 1;
}

static bool lower(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  return --r->c_block_rows > 0;
}

static bool wider(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  return ++r->c_block_cols > 1;
}

static bool narrower(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  return --r->c_block_cols > 0;
}

static bool deeper(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  return ++r->depth > 1;
}

static bool shallower(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  return --r->depth > 0;
}

static bool farther(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  r->lookahead = r->lookahead < 25 ? 25 : 2 * r->lookahead;
  return r->lookahead <= 800;
}

static bool nearer(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  r->lookahead /= 2;
  return true;
}

static bool smaller_tiles(const tsr_search *s, tsr_strategy *r) {
  r->tile = r->tile * 7 / 8;
  return s->options->tile == 0 && !s->options->reproducible && r->tile >= 16;
}

static bool larger_tiles(const tsr_search *s, tsr_strategy *r) {
  r->tile = r->tile * 8 / 7;
  return s->options->tile == 0 && !s->options->reproducible;
}

static bool smaller_pieces(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  r->piece /= 2;
  return r->piece >= 2 << 20;
}

static bool larger_pieces(const tsr_search *s, tsr_strategy *r) {
  (void)s;
  r->piece *= 2;
  return r->piece <= 256 << 20;
}

static const change changes[] = {
    dealt_again, farther,  nearer,        deeper,       shallower,      higher,       lower,
    wider,       narrower, smaller_tiles, larger_tiles, smaller_pieces, larger_pieces};
enum { CHANGES = sizeof changes / sizeof *changes };

tsr_status tsr_holds_descend(tsr_search *s) {
  bool any = true, better;
  while (any && tsr_search_in_time(s)) {
    any = false;
    for (int i = 0; i < CHANGES; i++) TSR_TRY(follow(s, changes[i], &any));
    if (s->options->reproducible || !tsr_search_in_time(s)) continue;
    TSR_TRY(tsr_search_other_lazy(s, &better));
    any |= better;
  }
  return TSR_OK;
}
