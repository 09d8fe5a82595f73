/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/choose.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/descent.h"
#include "base/vec.h"
#include "cluster/plan/knobs.h"
#include "cluster/tuning.h"

/* A strategy and its score: predicted time in s, plus the price of its memory. */
typedef struct candidate {
  double score; /* INFINITY: its cut does not fit */
  tsr_pstrategy strategy;
} candidate;

/* A cut that was replayed, and its score. */
typedef struct tried {
  tsr_cut cut;
  double score;
} tried;

typedef struct chooser {
  tsr_pproblem problem;
  TSR_VEC(tried) tried;
  candidate found; /* the best strategy so far */
  tsr_choice best; /* its cut and prediction */
} chooser;

/* ---- One strategy -------------------------------------------------------------- */

/* The first coordinate that owns the most indices. */
static int most_at(const tsr_axis *axis) {
  int best = 0;
  for (int i = 1; i < axis->count; i++)
    if (tsr_axis_local(axis, i) > tsr_axis_local(axis, best)) best = i;
  return best;
}

void tsr_representative(const tsr_distribution *distribution, int which, int me[2]) {
  me[0] = (most_at(&distribution->rows) + which * (distribution->rows.count / 2)) %
          distribution->rows.count;
  me[1] = (most_at(&distribution->cols) + which * (distribution->cols.count / 2)) %
          distribution->cols.count;
}

/* *f: the forecast of the slowest representative. */
static tsr_status forecast(const tsr_arranged *arranged, tsr_costs *costs,
                           const tsr_summa_schedule *schedule, tsr_forecast *f) {
  for (int which = 0; which < TSR_REPRESENTATIVES; which++) {
    int me[2];
    tsr_forecast one;
    tsr_representative(&arranged->distribution, which, me);
    TSR_TRY(tsr_replay(schedule, costs, me, arranged->moved, &one, NULL));
    if (which == 0 || one.seconds > f->seconds) *f = one;
  }
  return TSR_OK;
}

/* Writes the forecast of choice->cut to choice->forecast. */
static tsr_status forecast_cut(tsr_pproblem *p, tsr_choice *choice) {
  tsr_summa_schedule schedule;
  TSR_TRY(tsr_summa_schedule_make(&p->arranged->distribution, &choice->cut, p->arranged->moves,
                                  &schedule));
  tsr_status status = forecast(p->arranged, &p->costs, &schedule, &choice->forecast);
  tsr_summa_schedule_free(&schedule);
  return status;
}

static bool same_cut(const tsr_cut *a, const tsr_cut *b) {
  bool same = a->depth == b->depth && a->first == b->first && a->lookahead == b->lookahead &&
              a->together == b->together && a->at_once == b->at_once;
  for (int i = 0; i < 2; i++)
    same = same && a->block[i] == b->block[i] && a->later[i] == b->later[i] &&
           a->held[i] == b->held[i];
  return same;
}

static const tried *find_tried(const chooser *x, const tsr_cut *cut) {
  for (size_t i = 0; i < x->tried.count; i++)
    if (same_cut(&x->tried.items[i].cut, cut)) return &x->tried.items[i];
  return NULL;
}

/* Replays a cut unless that was done before, and keeps it if it is the best so far. Without memory
 * for the list of tried cuts, a cut may be replayed twice. */
static tsr_status try_cut(chooser *x, const tsr_cut *cut, double price, candidate *made) {
  tsr_choice choice = {.cut = *cut};
  const tried *known = find_tried(x, cut);
  if (known != NULL) made->score = known->score;
  if (known != NULL) return TSR_OK;
  TSR_TRY(forecast_cut(&x->problem, &choice));
  made->score = choice.forecast.seconds * (1 + price);
  tried trial = {*cut, made->score};
  (void)TSR_VEC_PUSH(&x->tried, trial);
  if (!(made->score < x->found.score)) return TSR_OK;
  x->found = *made;
  x->best = choice;
  x->problem.best = choice.forecast.seconds;
  return TSR_OK;
}

static tsr_status try_strategy(chooser *x, const tsr_pstrategy *strategy, candidate *made) {
  tsr_cut cut;
  double price;
  *made = (candidate){INFINITY, *strategy};
  TSR_TRY(tsr_pstrategy_cut(&x->problem, strategy, &cut, &price));
  return isfinite(price) ? try_cut(x, &cut, price, made) : TSR_OK;
}

/* ---- The descent ----------------------------------------------------------------- */

/* Part of tsr_descent. No clock ends the search, because all processes must choose the same. */
static bool in_time(const void *state) {
  (void)state;
  return true;
}

/* Part of tsr_descent: the values to try of knob `turn`. */
static tsr_changes changes(const void *state, int turn, const void *from) {
  (void)state;
  const candidate *at = from;
  int knobs, count = 0;
  const tsr_pknob *knob = &tsr_pknobs(&knobs)[turn];
  while (count < TSR_PKNOB_VALUES && knob->value[count] >= 0) count++;
  return (tsr_changes){knob->change, tsr_pknob_value(knob, &at->strategy), knob->value, count};
}

/* Part of tsr_descent: makes and scores the strategy with knob `turn` at `value`. */
static tsr_status try_value(void *state, int turn, int64_t value, const void *from, void *to) {
  chooser *x = state;
  const candidate *at = from;
  candidate *made = to;
  int knobs;
  const tsr_pknob *knob = &tsr_pknobs(&knobs)[turn];
  tsr_pstrategy strategy = at->strategy;
  made->score = at->score;
  if (tsr_pknob_value(knob, &strategy) == value) return TSR_OK;
  if (knob->worth != NULL && !knob->worth(&x->problem, &strategy, value)) return TSR_OK;
  *tsr_pknob_in(knob, &strategy) = value;
  return try_strategy(x, &strategy, made);
}

static tsr_status descend(chooser *x, const tsr_pstrategy *from) {
  candidate at, made;
  tsr_descent d = {x, sizeof made, &made, 0, in_time, changes, try_value};
  (void)tsr_pknobs(&d.turns);
  TSR_TRY(try_strategy(x, from, &at));
  return tsr_descend(&d, &at);
}

/* ---- First guesses --------------------------------------------------------------- */

/* Where descents start: all of C as one block; a first row, or a first column, of blocks with half
 * of C; four equal blocks. Changing one knob at a time does not lead from one of these to another.
 */
static const tsr_pstrategy starts[] = {
    {.depth = 1024, .first = 128, .blocks = 1, .leading = {8, 8}, .later = 1},
    {.depth = 1024, .together = 1, .blocks = 1, .leading = {4, 8}, .later = 2, .keep = 1},
    {.depth = 1024, .together = 1, .blocks = 1, .leading = {8, 4}, .later = 2, .keep = 1},
    {.depth = 1024, .together = 1, .blocks = 4, .leading = {8, 8}, .later = 1, .keep = 1}};

/* If no cut fits, takes the cut with the least memory: the estimate of memory may be too high, and
 * the user may know better. */
static tsr_status take_least(chooser *x) {
  tsr_pstrategy strategy = {
      .depth = TSR_DEPTH_LEAST, .lookahead = 1, .blocks = 1, .leading = {8, 8}, .later = 1};
  candidate made;
  x->problem.any_memory = true;
  tsr_status status = try_strategy(x, &strategy, &made);
  x->problem.any_memory = false;
  return status;
}

/* Descends from all starts. They have the greatest lookahead: a panel that arrives too late costs
 * more than one that arrives too early. */
static tsr_status try_all(chooser *x) {
  int64_t lookahead =
      tsr_pproblem_uses_host(&x->problem) ? TSR_HOST_LOOKAHEAD_MOST : TSR_LOOKAHEAD_MOST;
  x->tried.count = 0;
  x->found.score = x->problem.best = INFINITY;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    tsr_pstrategy from = starts[i];
    from.lookahead = lookahead;
    TSR_TRY(descend(x, &from));
  }
  return isfinite(x->found.score) ? TSR_OK : take_least(x);
}

/* The paper's cut: nothing is tried. */
static tsr_status take_parsec(chooser *x, bool plan) {
  TSR_TRY(tsr_pproblem_parsec_cut(&x->problem, &x->best.cut));
  if (plan) {
    const tsr_cut *cut = &x->best.cut;
    int64_t k = x->problem.arranged->distribution.k_a.extent;
    TSR_TRY(tsr_costs_plan(&x->problem.costs, cut->block[0], cut->block[1],
                           cut->depth < k ? cut->depth : k));
  }
  return forecast_cut(&x->problem, &x->best);
}

/* Sets the costs by planning the products of the best cut. If the planner finds that they do not
 * fit the devices, the search is repeated with less memory. */
static tsr_status plan_products(chooser *x) {
  tsr_pproblem *p = &x->problem;
  for (int i = 0; i < TSR_TUNE_CUT_ATTEMPTS; i++) {
    const tsr_cut *cut = &x->best.cut;
    int64_t k = p->arranged->distribution.k_a.extent, depth = cut->depth < k ? cut->depth : k;
    tsr_status status = tsr_costs_plan(&p->costs, cut->block[0], cut->block[1], depth);
    if (status != TSR_ERR_MEMORY) return status;
    p->memory *= TSR_TUNE_CUT_RETRY;
    TSR_TRY(try_all(x));
  }
  return TSR_OK;
}

static tsr_status search(chooser *x, bool plan) {
  if (x->problem.grid->wishes.rule == TSR_CUT_PARSEC) return take_parsec(x, plan);
  TSR_TRY(try_all(x));
  if (!plan && x->best.forecast.seconds <= TSR_TUNE_WORTH_PLANNING) return TSR_OK;
  TSR_TRY(plan_products(x));
  return try_all(x);
}

static tsr_status choose(const tsr_grid *grid, const tsr_arranged *arranged, bool plan,
                         tsr_choice *choice) {
  chooser x = {0};
  TSR_TRY(tsr_pproblem_make(grid, arranged, &x.problem));
  tsr_status status = search(&x, plan);
  TSR_VEC_FREE(&x.tried);
  if (status == TSR_OK) *choice = x.best;
  return status;
}

/* ---- Choices that are kept -------------------------------------------------------- */

enum { KEPT = 16 };

/* The rates on which a choice depends, beside what is constant for a grid. */
typedef struct links {
  double bandwidth, latency;
  tsr_host_rates host;
} links;

typedef struct kept {
  tsr_arranged arranged;
  tsr_wishes wishes;
  links links;
  tsr_choice choice;
} kept;

struct tsr_choices {
  int count;       /* choices made so far */
  kept kept[KEPT]; /* the last ones, as a ring */
};

tsr_status tsr_choices_create(tsr_choices **choices) {
  *choices = tsr_alloc_zero(1, sizeof **choices);
  return *choices != NULL ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a grid");
}

void tsr_choices_destroy(tsr_choices *choices) {
  tsr_dealloc(choices);
}

static bool same_axis(const tsr_axis *a, const tsr_axis *b) {
  return a->extent == b->extent && a->first == b->first && a->block == b->block &&
         a->source == b->source && a->count == b->count && a->blocks == b->blocks &&
         a->offset == b->offset && a->digest == b->digest;
}

static bool same_arranged(const tsr_arranged *a, const tsr_arranged *b) {
  return same_axis(&a->distribution.rows, &b->distribution.rows) &&
         same_axis(&a->distribution.cols, &b->distribution.cols) &&
         same_axis(&a->distribution.k_a, &b->distribution.k_a) &&
         same_axis(&a->distribution.k_b, &b->distribution.k_b) && a->type == b->type &&
         a->reads_result == b->reads_result && a->moves[0] == b->moves[0] &&
         a->moves[1] == b->moves[1];
}

static bool same_wishes(const tsr_wishes *a, const tsr_wishes *b) {
  return a->depth == b->depth && a->lookahead == b->lookahead && a->block[0] == b->block[0] &&
         a->block[1] == b->block[1] && a->rule == b->rule;
}

static links links_of(const tsr_model *model) {
  return (links){model->facts.network_bandwidth, model->facts.network_latency, model->host};
}

static const kept *find(const tsr_grid *grid, const tsr_arranged *arranged) {
  links now = links_of(&grid->model);
  for (int i = 0; i < KEPT && i < grid->choices->count; i++) {
    const kept *k = &grid->choices->kept[i];
    if (same_arranged(&k->arranged, arranged) && same_wishes(&k->wishes, &grid->wishes) &&
        memcmp(&k->links, &now, sizeof now) == 0)
      return k;
  }
  return NULL;
}

/* With `plan`, choices are neither looked up nor kept: a kept choice may come from the formula, and
 * a caller that asks for planning wants the planner's times. */
tsr_status tsr_choose_cut(const tsr_grid *grid, const tsr_arranged *arranged, bool plan,
                          tsr_choice *choice) {
  if (grid->choices == NULL || plan) return choose(grid, arranged, plan, choice);
  const kept *known = find(grid, arranged);
  if (known != NULL) {
    *choice = known->choice;
    return TSR_OK;
  }
  TSR_TRY(choose(grid, arranged, plan, choice));
  kept *made = &grid->choices->kept[grid->choices->count++ % KEPT];
  *made = (kept){*arranged, grid->wishes, links_of(&grid->model), *choice};
  return TSR_OK;
}
