/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Chooses how many devices a call uses: first guesses on all, half, a quarter, ... of the devices,
 * then descents.
 */
#include <math.h>
#include <stddef.h>

#include "base/alloc.h"
#include "plan/search/search.h"

/* ---- A number of devices ---- */

static tsr_strategy first_guess(const tsr_search *s, int devices, int64_t tile) {
  if (tile == 0) return tsr_panels_guess(s, devices);
  tsr_strategy strategy = tsr_search_tiles(s, devices, tile);
  if (s->options->reproducible) strategy.lazy = true;
  return strategy;
}

/* Tries a first guess. If it does not fit, it is tried once more with less memory: with C fetched
 * before the products, or, where C has to be added last, with C added where the products were
 * summed, since sums that gather at C's home do not share memory there. */
static tsr_status try_guess(tsr_search *s, const tsr_strategy *guess) {
  tsr_strategy strategy = *guess;
  tsr_candidate made;
  TSR_TRY(tsr_search_try(s, &strategy, &made));
  if (s->best != NULL || !strategy.lazy) return TSR_OK;
  bool needed = s->options->reproducible || tsr_strategy_must_be_lazy(&strategy, &s->problem);
  if (needed && !strategy.add_at_home) return TSR_OK;
  strategy.lazy = needed;
  strategy.add_at_home = false;
  return tsr_search_try(s, &strategy, &made);
}

static bool is_free(const tsr_search *s, tsr_strategy_kind kind) {
  return s->kinds >> kind & 1;
}

/* Tries panels, or tiles of the extent that is fixed, on that many devices; if these do not fit, C
 * blocks. C blocks are cut to the budget, so what one of them lacks says nothing about the budget
 * that the call needs: the misfit stays that of the first guess. */
static tsr_status search_devices(tsr_search *s, int devices) {
  int64_t tile = tsr_search_fixed_tile(s);
  tsr_strategy strategy = first_guess(s, devices, tile);
  if (is_free(s, strategy.kind)) TSR_TRY(try_guess(s, &strategy));
  bool lines = tsr_call_has_form(s->call);
  if (s->kinds == 1u << TSR_SLICES || (s->kinds == 1u << TSR_BANDS && !lines)) {
    strategy =
        s->kinds >> TSR_BANDS & 1 ? tsr_bands_guess(s, devices) : tsr_slices_guess(s, devices);
    return try_guess(s, &strategy);
  }
  if (s->best && s->best->blocking.rows == 0) return TSR_OK;
  if (lines && tsr_search_family(s) != TSR_TRIANGLE)
    return is_free(s, TSR_BANDS) ? tsr_line_bands_search(s, devices) : TSR_OK;
  if (!is_free(s, TSR_TILES)) return TSR_OK;
  tsr_misfit misfit = s->misfit;
  TSR_TRY(tsr_c_blocks_search(s, devices, tile));
  s->misfit = misfit;
  return TSR_OK;
}

/* Plans a call whose C is mapped to devices. If that does not fit, the mapping is dropped, and C is
 * computed anywhere. */
static tsr_status search_mapped(tsr_search *s) {
  if (s->mapping == NULL) return TSR_OK;
  int64_t tile = tsr_search_fixed_tile(s);
  if (tile == 0 && s->kinds == 1u << TSR_TILES) tile = tsr_search_tile_by_shape(s->call);
  tsr_strategy strategy = first_guess(s, s->mapping->grid_rows * s->mapping->grid_cols, tile);
  if (is_free(s, strategy.kind)) TSR_TRY(try_guess(s, &strategy));
  if (s->best != NULL) return TSR_OK;
  s->mapping = NULL;
  s->map_use = TSR_MAP_NO_ROOM;
  s->problem.mapped = false;
  s->tried.count = 0;
  return TSR_OK;
}

/* Lower bound on the time of a plan on that many devices, s: flops / rate. */
static double least_on(const tsr_search *s, int devices) {
  double speed = 0, rate = tsr_machine_rate_limit(s->machine, s->call->type, 0);
  for (int i = 0; i < devices; i++)
    speed += tsr_machine_speed(s->machine, s->order[i], s->call->type);
  if (tsr_call_scales_only(s->call) || rate <= 0) return 0;
  return tsr_call_flops(s->call) / (rate * speed);
}

static bool may_win(const tsr_search *s, int devices) {
  return s->best == NULL || least_on(s, devices) < TSR_TUNE_FEWER_DEVICES * s->best->seconds;
}

/* Tries first guesses on all devices, on half of them, and so on, while there is time. */
static tsr_status search_halves(tsr_search *s) {
  int all = s->best == NULL ? s->devices : 0;
  for (int devices = all; devices >= 1; devices /= 2) {
    if (may_win(s, devices)) TSR_TRY(search_devices(s, devices));
    if (s->best) tsr_search_set_allowed(s);
    if (s->best && (s->exact || !tsr_search_in_time(s))) break;
  }
  return TSR_OK;
}

/* ---- Fewer devices ---- */

/* The best candidate on each number of devices that was tried, the best first, and starts for other
 * limits. The struct is too large for a small stack. */
typedef struct entries {
  tsr_candidate list[TSR_MACHINE_DEVICES];
  int count;
  tsr_candidate starts[TSR_PANEL_LIMITS];
} entries;

static void note_entry(const tsr_candidate *candidate, entries *e) {
  int at = e->count++;
  for (; at > 0 && e->list[at - 1].score > candidate->score; at--) e->list[at] = e->list[at - 1];
  e->list[at] = *candidate;
}

/* Above this score a candidate on another number of devices starts no descent. If all operands are
 * in device memory, a descent gains more, since it decides how much their home computes itself. */
static double hopeless(const tsr_search *s) {
  return s->found.score * (tsr_search_is_resident(s) ? TSR_TUNE_FEWER_DEVICES_HOPELESS_AT_HOME
                                                     : TSR_TUNE_FEWER_DEVICES_HOPELESS);
}

/* The best strategy so far, for another number of devices. */
static tsr_strategy like_the_best(const tsr_search *s, int devices) {
  switch (s->found.strategy.kind) {
    case TSR_SLICES:
      return tsr_slices_guess(s, devices);
    case TSR_BANDS:
      return tsr_bands_guess(s, devices);
    default:
      return tsr_panels_like(s, &s->found.strategy, devices);
  }
}

/* Tries another number of devices: first with a cut like the best so far, and by a first guess if
 * that is far behind the best. (A cut for one device that is home to all operands says nothing of
 * copies.) The entries get the better candidate, unless it is still far behind. */
static tsr_status try_number(tsr_search *s, int devices, entries *e) {
  tsr_candidate made;
  bool better;
  if (!may_win(s, devices)) return TSR_OK;
  tsr_strategy strategy = like_the_best(s, devices);
  TSR_TRY(tsr_search_try(s, &strategy, &made));
  if (made.score >= TSR_TUNE_FEWER_DEVICES_HOPELESS * s->found.score) {
    strategy = tsr_panels_guess(s, devices);
    TSR_TRY(tsr_search_try_for(s, &strategy, &made, &better));
  }
  if (tsr_slices_may_help(s, devices)) {
    strategy = tsr_slices_guess(s, devices);
    TSR_TRY(tsr_search_try_for(s, &strategy, &made, &better));
  }
  if (made.score < hopeless(s)) note_entry(&made, e);
  return TSR_OK;
}

/* Which limit binds depends on the number of devices, and which number is best depends on the limit
 * that the panels are cut for. So the best cut on one number of devices is tried on halves of the
 * machine's number, and the descent begins from the best of these. *devices: its number of devices.
 */
static tsr_status choose_number(tsr_search *s, entries *e, int *devices) {
  tsr_candidate at = s->found;
  int count, begun = s->best->devices;
  TSR_TRY(tsr_search_try_limits(s, &at, e->starts, &count));
  note_entry(&at, e);
  for (int other = s->devices; other >= 1; other /= 2)
    if (other != begun && tsr_search_in_time(s)) TSR_TRY(try_number(s, other, e));
  *devices = tsr_strategy_devices(&e->list[0].strategy);
  return tsr_search_from(s, &e->list[0]);
}

/* Where links bind, fewer devices may take no longer, and only a descent from each number of
 * devices shows which is best. These descents run at the same time, and the planning time that is
 * allowed grows by half. If all operands are in device memory, how much of the work their home
 * keeps depends on how the rest is cut, and one descent often ends where the home keeps all: while
 * time is left, each number is searched from all starts. */
static tsr_status search_others(tsr_search *s, entries *e, int searched) {
  e->count = 0;
  s->allowed *= TSR_TUNE_SEARCH_OTHER_DEVICES;
  for (int other = s->devices; other >= 1; other--)
    if (other != searched && tsr_search_in_time(s)) TSR_TRY(try_number(s, other, e));
  int count = e->count < TSR_SEARCH_STARTS ? e->count : TSR_SEARCH_STARTS;
  if (count > 0) TSR_TRY(tsr_search_descend_all(s, e->list, count));
  for (int i = 0; i < e->count && tsr_search_is_resident(s) && tsr_search_in_time(s); i++)
    TSR_TRY(tsr_search_from(s, &e->list[i]));
  return TSR_OK;
}

static tsr_status search_numbers(tsr_search *s) {
  int devices = 0;
  entries *e = tsr_alloc_zero(1, sizeof *e);
  if (e == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to plan a call");
  tsr_status status = choose_number(s, e, &devices);
  if (status == TSR_OK) status = search_others(s, e, devices);
  tsr_dealloc(e);
  return status;
}

/* Whether other numbers of devices are tried. Composed calls have time for about one guess. */
static bool is_number_free(const tsr_search *s) {
  return !s->exact && s->options->residency == NULL && s->mapping == NULL &&
         s->found.strategy.kind != TSR_TILES;
}

tsr_status tsr_search_all(tsr_search *s) {
  if (tsr_search_family(s) == TSR_FACTOR) return tsr_factor_search(s);
  TSR_TRY(search_mapped(s));
  TSR_TRY(search_halves(s));
  if (!s->best) return TSR_OK;
  tsr_search_set_allowed(s);
  tsr_search_set_enough(s);
  s->problem.tight = s->best->blocking.rows > 0;
  if (s->options->reproducible && !s->problem.tight) return TSR_OK;
  if (s->problem.tight) return tsr_search_descend_all(s, &s->found, 1);
  if (!is_number_free(s)) return tsr_search_from(s, &s->found);
  return search_numbers(s);
}
