#include "cluster/choose.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/descent.h"
#include "base/vec.h"
#include "cluster/knobs.h"
#include "cluster/tuning.h"

/* A strategy, and what it is predicted to take. */
typedef struct candidate {
  double score; /* INFINITY: it is not possible */
  tsr_pstrategy strategy;
} candidate;

/* A cut that was replayed. */
typedef struct tried {
  tsr_cut cut;
  double score;
} tried;

typedef struct chooser {
  tsr_pproblem problem;
  TSR_VEC(tried) tried;
  candidate found; /* the best so far, */
  tsr_choice best; /* and what became of it */
} chooser;

/* ---- One strategy -------------------------------------------------------------- */

static int most_at(const tsr_axis *axis) {
  int best = 0;
  for (int i = 1; i < axis->count; i++)
    if (tsr_axis_local(axis, i) > tsr_axis_local(axis, best)) best = i;
  return best;
}

void tsr_representative(const tsr_deal *deal, int which, int me[2]) {
  me[0] = (most_at(&deal->rows) + which * (deal->rows.count / 2)) % deal->rows.count;
  me[1] = (most_at(&deal->cols) + which * (deal->cols.count / 2)) % deal->cols.count;
}

static tsr_status forecast(const tsr_job *job, tsr_costs *costs, const tsr_summa_schedule *schedule,
                           tsr_forecast *f) {
  for (int which = 0; which < TSR_REPRESENTATIVES; which++) {
    int me[2];
    tsr_forecast one;
    tsr_representative(&job->deal, which, me);
    TSR_TRY(tsr_replay(schedule, costs, me, job->moved, &one, NULL));
    if (which == 0 || one.seconds > f->seconds) *f = one;
  }
  return TSR_OK;
}

/* Of a cut that is given: choice->cut. */
static tsr_status forecast_cut(tsr_pproblem *p, tsr_choice *choice) {
  tsr_summa_schedule schedule;
  TSR_TRY(tsr_summa_schedule_make(&p->job->deal, &choice->cut, p->job->moves, &schedule));
  tsr_status status = forecast(p->job, &p->costs, &schedule, &choice->forecast);
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

/* Without memory to note it down a cut is replayed again, perhaps. */
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

/* All processes must choose alike, so no clock ends it. */
static bool in_time(const void *state) {
  (void)state;
  return true;
}

static tsr_changes changes(const void *state, int turn, const void *from) {
  (void)state;
  const candidate *at = from;
  int knobs, count = 0;
  const tsr_pknob *knob = &tsr_pknobs(&knobs)[turn];
  while (count < TSR_PKNOB_VALUES && knob->value[count] >= 0) count++;
  return (tsr_changes){knob->change, tsr_pknob_value(knob, &at->strategy), knob->value, count};
}

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

/* One knob at a time does not lead from one of these to the others: all of C at once, a first row
 * or column of blocks with half of C, and equal blocks. */
static const tsr_pstrategy starts[] = {
    {.depth = 1024, .first = 128, .blocks = 1, .leading = {8, 8}, .later = 1},
    {.depth = 1024, .together = 1, .blocks = 1, .leading = {4, 8}, .later = 2, .keep = 1},
    {.depth = 1024, .together = 1, .blocks = 1, .leading = {8, 4}, .later = 2, .keep = 1},
    {.depth = 1024, .together = 1, .blocks = 4, .leading = {8, 8}, .later = 1, .keep = 1}};

/* Nothing has room: the cut with the least memory, since the user may know better. */
static tsr_status take_least(chooser *x) {
  tsr_pstrategy strategy = {
      .depth = TSR_DEPTH_LEAST, .lookahead = 1, .blocks = 1, .leading = {8, 8}, .later = 1};
  candidate made;
  x->problem.any_memory = true;
  tsr_status status = try_strategy(x, &strategy, &made);
  x->problem.any_memory = false;
  return status;
}

/* Descents begin with the deepest lookahead: a panel that is late costs more than one that is
 * early. */
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

static tsr_status take_fixed(chooser *x) {
  x->best.cut = tsr_pproblem_fixed_cut(&x->problem);
  return forecast_cut(&x->problem, &x->best);
}

/* What the planner finds to have no room is tried again with less of it. */
static tsr_status plan_products(chooser *x) {
  tsr_pproblem *p = &x->problem;
  for (int i = 0; i < TSR_TUNE_CUT_ATTEMPTS; i++) {
    const tsr_cut *cut = &x->best.cut;
    int64_t k = p->job->deal.k_a.extent, depth = cut->depth < k ? cut->depth : k;
    tsr_status status = tsr_costs_plan(&p->costs, cut->block[0], cut->block[1], depth);
    if (status != TSR_ERR_MEMORY) return status;
    p->memory *= TSR_TUNE_CUT_RETRY;
    TSR_TRY(try_all(x));
  }
  return TSR_OK;
}

static tsr_status search(chooser *x, bool plan) {
  if (x->problem.grid->model.facts.reproducible) return take_fixed(x);
  TSR_TRY(try_all(x));
  if (!plan && x->best.forecast.seconds <= TSR_TUNE_WORTH_PLANNING) return TSR_OK;
  TSR_TRY(plan_products(x));
  return try_all(x);
}

static tsr_status choose(const tsr_grid *grid, const tsr_job *job, bool plan, tsr_choice *choice) {
  chooser x = {0};
  TSR_TRY(tsr_pproblem_make(grid, job, &x.problem));
  tsr_status status = search(&x, plan);
  TSR_VEC_FREE(&x.tried);
  if (status == TSR_OK) *choice = x.best;
  return status;
}

/* ---- What was chosen before ------------------------------------------------------- */

enum { KEPT = 16 };

/* What the model takes for what is between processes, and between them and their devices. */
typedef struct links {
  double bandwidth, latency;
  tsr_host_rates host;
} links;

typedef struct kept {
  tsr_job job;
  tsr_wishes wishes;
  links links;
  tsr_choice choice;
} kept;

struct tsr_choices {
  int count; /* ever */
  kept kept[KEPT];
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
         a->source == b->source && a->count == b->count;
}

static bool same_job(const tsr_job *a, const tsr_job *b) {
  return same_axis(&a->deal.rows, &b->deal.rows) && same_axis(&a->deal.cols, &b->deal.cols) &&
         same_axis(&a->deal.k_a, &b->deal.k_a) && same_axis(&a->deal.k_b, &b->deal.k_b) &&
         a->type == b->type && a->reads_result == b->reads_result && a->moves[0] == b->moves[0] &&
         a->moves[1] == b->moves[1];
}

static bool same_wishes(const tsr_wishes *a, const tsr_wishes *b) {
  return a->depth == b->depth && a->lookahead == b->lookahead && a->block[0] == b->block[0] &&
         a->block[1] == b->block[1];
}

static links links_of(const tsr_model *model) {
  return (links){model->facts.network_bandwidth, model->facts.network_latency, model->host};
}

static const kept *find(const tsr_grid *grid, const tsr_job *job) {
  links now = links_of(&grid->model);
  for (int i = 0; i < KEPT && i < grid->choices->count; i++) {
    const kept *k = &grid->choices->kept[i];
    if (same_job(&k->job, job) && same_wishes(&k->wishes, &grid->wishes) &&
        memcmp(&k->links, &now, sizeof now) == 0)
      return k;
  }
  return NULL;
}

/* What the planner was asked for is not kept: who asks wants to know it exactly. */
tsr_status tsr_choose_cut(const tsr_grid *grid, const tsr_job *job, bool plan, tsr_choice *choice) {
  if (grid->choices == NULL || plan) return choose(grid, job, plan, choice);
  const kept *known = find(grid, job);
  if (known != NULL) {
    *choice = known->choice;
    return TSR_OK;
  }
  TSR_TRY(choose(grid, job, plan, choice));
  kept *made = &grid->choices->kept[grid->choices->count++ % KEPT];
  *made = (kept){*job, grid->wishes, links_of(&grid->model), *choice};
  return TSR_OK;
}
