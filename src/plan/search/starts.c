/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where descents begin. Changing one knob at a time does not lead from a good plan for one limit to
 * a good plan for another, so a descent begins from each good start. Each runs on a thread of its
 * own, with the planning time of one. Its result does not depend on the other descents or on the
 * number of cores. If a thread cannot be started, the caller's thread runs its descent.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "plan/search/search.h"

/* ---- Descents on threads ---- */

typedef struct descender {
  tsr_search search;
  tsr_candidate at;
  pthread_t thread;
  bool started;
  tsr_error error;
} descender;

static void *run(void *argument) {
  descender *d = argument;
  tsr_status status = tsr_search_descend(&d->search, &d->at);
  if (status != TSR_OK) tsr_error_take(status, &d->error);
  return NULL;
}

void tsr_search_branch(const tsr_search *s, tsr_search *own) {
  *own = *s;
  own->best = own->spare = NULL;
  own->found.score = own->runner_up = INFINITY;
  own->candidates = 0;
  memset(&own->graph, 0, sizeof own->graph);
  memset(&own->tried, 0, sizeof own->tried);
  for (size_t i = 0; i < s->tried.count; i++)
    (void)TSR_VEC_PUSH(&own->tried,
                       s->tried.items[i]); /* without host memory a strategy may be tried twice */
}

void tsr_search_merge(tsr_search *s, tsr_search *own) {
  s->spent = fmax(s->spent, own->spent);
  s->candidates += own->candidates;
  s->runner_up = fmin(s->runner_up, own->runner_up);
  if (own->best != NULL) tsr_search_keep(s, &own->found, own->best);
  tsr_plan_free(own->spare);
  tsr_graph_free(&own->graph);
  TSR_VEC_FREE(&own->tried);
}

tsr_status tsr_search_descend_all(tsr_search *s, const tsr_candidate *from, int count) {
  tsr_status status = TSR_OK;
  if (count == 1) {
    tsr_candidate at = from[0];
    return tsr_search_descend(s, &at);
  }
  descender *all = tsr_alloc((size_t)count * sizeof *all); /* too large for a small stack */
  if (all == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for %d searches", count);
  for (int i = 0; i < count; i++) {
    all[i] = (descender){.at = from[i]};
    tsr_search_branch(s, &all[i].search);
  }
  for (int i = 1; i < count; i++) all[i].started = tsr_thread_start(run, &all[i], &all[i].thread);
  for (int i = 0; i < count; i++)
    if (!all[i].started) run(&all[i]);
  for (int i = 0; i < count; i++) {
    if (all[i].started) pthread_join(all[i].thread, NULL);
    if (status == TSR_OK && all[i].error.status != TSR_OK) status = tsr_error_put(&all[i].error);
    tsr_search_merge(s, &all[i].search);
  }
  tsr_dealloc(all);
  return status;
}

/* ---- Starts ---- */

typedef struct starts {
  tsr_candidate list[TSR_SEARCH_STARTS];
  int count;
} starts;

static void add(const tsr_candidate *from, starts *all) {
  for (int i = 0; i < all->count; i++)
    if (tsr_strategy_same(&all->list[i].strategy, &from->strategy)) return;
  if (all->count < TSR_SEARCH_STARTS) all->list[all->count++] = *from;
}

static tsr_status try_start(tsr_search *s, const tsr_strategy *strategy, starts *all) {
  tsr_candidate made;
  TSR_TRY(tsr_search_try(s, strategy, &made));
  if (isfinite(made.score)) add(&made, all);
  return TSR_OK;
}

/* ---- Limits ---- */

static void insert(const tsr_candidate *trial, int count, tsr_candidate *sorted) {
  int at = count;
  for (; at > 0 && sorted[at - 1].score > trial->score; at--) sorted[at] = sorted[at - 1];
  sorted[at] = *trial;
}

/* Tries stripes with k-panels, whose kernels begin with the first k-panel. They are the first start
 * if kernels bind, else the second. */
static tsr_status try_k_panels(tsr_search *s, tsr_candidate *at,
                               tsr_candidate good[TSR_PANEL_LIMITS], int *count) {
  tsr_candidate wide;
  tsr_strategy strategy;
  bool first;
  if (!tsr_search_in_time(s) || !tsr_stripes_with_k_panels(s, &at->strategy, &strategy, &first))
    return TSR_OK;
  TSR_TRY(tsr_search_try(s, &strategy, &wide));
  if (!isfinite(wide.score)) return TSR_OK;
  *count = 1;
  good[0] = first ? *at : wide;
  if (first) *at = wide;
  return TSR_OK;
}

/* Composed calls have time for about one guess. */
tsr_status tsr_search_try_limits(tsr_search *s, tsr_candidate *at,
                                 tsr_candidate good[TSR_PANEL_LIMITS], int *count) {
  tsr_strategy list[TSR_PANEL_LIMITS];
  *count = 0;
  if (s->options->residency != NULL || tsr_strategy_has_tiles(&at->strategy) ||
      at->strategy.kind == TSR_SLICES)
    return TSR_OK;
  if (at->strategy.kind == TSR_STRIPES) return try_k_panels(s, at, good, count);
  int all = tsr_panels_for_limits(s, &at->strategy, list);
  for (int i = 0; i < all && tsr_search_in_time(s); i++) {
    tsr_candidate made;
    TSR_TRY(tsr_search_try(s, &list[i], &made));
    if (!isfinite(made.score)) continue;
    if (tsr_panels_are_shared_anew(s) && made.score < TSR_TUNE_SHARES_HOPEFUL * s->found.score)
      TSR_TRY(tsr_search_descend_shares(s, &made));
    insert(&made, (*count)++, good);
  }
  if (*count > 0 && good[0].score < at->score) *at = good[0];
  return TSR_OK;
}

/* ---- From all of them ---- */

/* Chooses the grid. Which limit binds depends on the grid, so that on another grid the other good
 * starts are tried, too. */
static tsr_status choose_grid(tsr_search *s, tsr_candidate *at, const tsr_candidate *others,
                              int count) {
  int64_t rows = at->strategy.grid_rows;
  double least = at->score;
  bool better;
  TSR_TRY(tsr_search_descend_grid(s, at));
  if (at->strategy.grid_rows == rows) return TSR_OK;
  for (int i = 0;
       i < count && others[i].score < TSR_TUNE_GRID_STARTS * least && tsr_search_in_time(s); i++) {
    tsr_strategy strategy = others[i].strategy;
    strategy.grid_rows = at->strategy.grid_rows;
    strategy.grid_cols = at->strategy.grid_cols;
    TSR_TRY(tsr_search_try_for(s, &strategy, at, &better));
  }
  return TSR_OK;
}

/* The best candidate, good ones for other limits, and the starts of descents. The struct is too
 * large for a small stack. */
typedef struct beginning {
  tsr_candidate at, others[TSR_PANEL_LIMITS];
  int count;
  starts all;
} beginning;

/* Fills the list with starts that differ from the best candidate in what a descent does not change:
 * slices, the same with rows in parts, and the same with a growing leading block, where these are
 * possible. Returns how many. */
static int other_starts(const tsr_search *s, const tsr_strategy *at, tsr_strategy list[3]) {
  int count = 0, devices = tsr_strategy_devices(at);
  if (tsr_slices_may_help(s, devices)) list[count++] = tsr_slices_guess(s, devices);
  if (tsr_search_family(s) != TSR_PRODUCT || at->kind != TSR_PANELS) return count;
  list[count] = *at;
  list[count++].row_parts = TSR_TUNE_START_ROW_PARTS;
  list[count] = *at;
  if (tsr_panels_lead(s, &list[count])) count++;
  return count;
}

/* Descends from the best candidate, from starts of other kinds, and from good ones for other
 * limits. */
static tsr_status from_all(tsr_search *s, beginning *b) {
  const tsr_candidate *at = &b->at;
  tsr_strategy list[3];
  add(at, &b->all);
  if (s->options->residency != NULL || !tsr_search_in_time(s))
    return tsr_search_descend_all(s, at, 1);
  int count = other_starts(s, &at->strategy, list);
  for (int i = 0; i < count; i++) TSR_TRY(try_start(s, &list[i], &b->all));
  for (int i = 0; i < b->count; i++) add(&b->others[i], &b->all);
  return tsr_search_descend_all(s, b->all.list, b->all.count);
}

/* Planning time of bands, s, at one kernel for each tile of C. */
static double cost_of_bands(const tsr_call *call, int64_t tile) {
  double rows = ceil((double)call->m / (double)tile), cols = ceil((double)call->n / (double)tile);
  return tsr_search_cost(rows * cols);
}

/* Tries bands after everything else, beyond the time that planning may take: one candidate, which
 * must not cost the others a try, and which takes no longer than all of them. (With a short k the
 * formula gives tiles of a few rows.) A descent follows where time is left and bands come near. */
static tsr_status try_bands(tsr_search *s, int devices) {
  tsr_candidate made;
  if (!tsr_bands_may_help(s, devices)) return TSR_OK;
  double spent = s->spent;
  tsr_strategy strategy = tsr_bands_guess(s, devices);
  if (cost_of_bands(s->call, strategy.tile) > s->allowed) return TSR_OK;
  TSR_TRY(tsr_search_try(s, &strategy, &made));
  s->spent = spent;
  if (made.score > TSR_TUNE_BANDS_HOPEFUL * s->found.score || !tsr_search_in_time(s)) return TSR_OK;
  return tsr_search_descend(s, &made);
}

static tsr_status begin(tsr_search *s, beginning *b) {
  int devices = tsr_strategy_devices(&b->at.strategy);
  TSR_TRY(tsr_search_try_limits(s, &b->at, b->others, &b->count));
  TSR_TRY(choose_grid(s, &b->at, b->others, b->count));
  TSR_TRY(from_all(s, b));
  return b->at.strategy.kind == TSR_BANDS ? TSR_OK : try_bands(s, devices);
}

tsr_status tsr_search_from(tsr_search *s, const tsr_candidate *at) {
  beginning *b = tsr_alloc_zero(1, sizeof *b);
  if (b == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to plan a call");
  b->at = *at;
  tsr_status status = begin(s, b);
  tsr_dealloc(b);
  return status;
}
