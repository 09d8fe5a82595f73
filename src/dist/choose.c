#include "dist/choose.h"

#include <math.h>

#include "base/types.h"

enum {
  DEPTH = 1024,
  LOOKAHEAD = 2,
  LEAST_DEPTH = 256,
  MOST_DEPTH = 8192,
  LEAST_BLOCK = 64,
  BLOCKS_MOST = 8
};

/* Of the devices' budgets, since what is where leaves gaps. */
static const double usable = 0.9;

/* Host memory that the model takes for slots of its own accord, bytes. */
static const double slots_most = 8e9;

/* Calls that take longer are worth planning products for, s. */
static const double worth_planning = 4;

/* Of the predicted time, from which on C's way home is worth hiding. */
static const double home_share = 0.03;

/* A cut that takes more memory must gain so much. */
static const double gain_least = 0.01;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- One cut ----------------------------------------------------------------- */

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

tsr_status tsr_forecast_cut(const tsr_job *job, tsr_costs *costs, tsr_choice *choice) {
  tsr_summa_schedule schedule;
  TSR_TRY(tsr_summa_schedule_make(&job->deal, &choice->cut, job->moves, &schedule));
  tsr_status status = forecast(job, costs, &schedule, &choice->forecast);
  tsr_summa_schedule_free(&schedule);
  return status;
}

/* ---- What has room ------------------------------------------------------------- */

typedef struct chooser {
  const tsr_grid *grid;
  const tsr_job *job;
  tsr_costs costs;
  double memory; /* bytes of a device */
  double element;
  int64_t most[2]; /* own rows and columns of C, at most */
  tsr_choice best;
  bool any;
} chooser;

static double slots_of(const chooser *x, const tsr_cut *cut) {
  return (cut->lookahead + 1.0) * (double)(cut->block[0] + cut->block[1]) * (double)cut->depth *
         x->element;
}

/* Besides C there are the panels of the product under way, of the next one, and of the last one,
 * whose memory does not serve again before the one under way is done; and the slots, which may be
 * the first device's. */
static tsr_status fits(chooser *x, const tsr_cut *cut, bool *room) {
  enum { SETS = 3 };
  tsr_accumulation cost;
  *room = true;
  if (x->grid->model.facts.devices == 0) return TSR_OK;
  TSR_TRY(tsr_costs_ask(&x->costs, cut->block[0], cut->block[1], cut->depth, &cost));
  double needed = (cut->together ? 2.0 : 1.0) * (double)cost.result + SETS * (double)cost.inputs;
  if (x->grid->model.up_rate > 0) needed += slots_of(x, cut);
  *room = needed <= usable * x->memory;
  return TSR_OK;
}

/* So many of them side by side, all about as large. */
static int64_t part(int64_t extent, int64_t count) {
  int64_t even = (extent + count - 1) / count;
  int64_t round = (even + LEAST_BLOCK - 1) / LEAST_BLOCK * LEAST_BLOCK;
  return count == 1 ? extent : least(round, extent);
}

static void cut_blocks(const chooser *x, const int64_t count[2], tsr_cut *cut) {
  const int64_t *wish = x->grid->wishes.block;
  for (int d = 0; d < 2; d++)
    cut->block[d] = wish[d] > 0 ? least(wish[d], x->most[d]) : part(x->most[d], count[d]);
}

/* The largest blocks that have room, at least so many: the longer direction is cut, as far as the
 * user left it to us. */
static tsr_status set_blocks(chooser *x, int64_t blocks, tsr_cut *cut, bool *room) {
  const int64_t *wish = x->grid->wishes.block;
  int64_t count[2] = {1, 1};
  for (;;) {
    cut_blocks(x, count, cut);
    TSR_TRY(fits(x, cut, room));
    int longer = cut->block[1] > cut->block[0];
    if (wish[longer] > 0) longer = 1 - longer;
    bool enough = *room && count[0] * count[1] >= blocks;
    if (enough || wish[longer] > 0 || cut->block[longer] <= LEAST_BLOCK) return TSR_OK;
    count[longer]++;
  }
}

/* Lines of a piece of a message must fit what MPI counts with. */
static int64_t limit_depth(const chooser *x, int64_t depth) {
  int64_t longest = x->most[0] > x->most[1] ? x->most[0] : x->most[1];
  int64_t most = 64 * (TSR_MESSAGE_MOST / (int64_t)x->element) / longest;
  return depth < most ? depth : most > 0 ? most : 1;
}

/* ---- The best ------------------------------------------------------------------ */

/* Candidates come in the order of the memory that they take, about. */
static tsr_status try_cut(chooser *x, const tsr_cut *cut) {
  tsr_choice made = {.cut = *cut};
  TSR_TRY(tsr_forecast_cut(x->job, &x->costs, &made));
  double bound = x->any ? (1 - gain_least) * x->best.forecast.seconds : INFINITY;
  if (made.forecast.seconds < bound) x->best = made;
  x->any = true;
  return TSR_OK;
}

/* Whether C takes so long home that a part of it should go while the rest is computed. */
static tsr_status home_counts(chooser *x, const tsr_cut *cut, bool *counts) {
  tsr_accumulation cost;
  TSR_TRY(tsr_costs_ask(&x->costs, cut->block[0], cut->block[1], cut->depth, &cost));
  *counts = cost.home > home_share * x->best.forecast.seconds;
  return TSR_OK;
}

/* Two blocks at a time have room on the devices, or one. */
static tsr_status try_blocks(chooser *x, const tsr_cut *wanted, int64_t blocks) {
  bool set = x->grid->wishes.depth > 0 && x->grid->wishes.lookahead > 0, room;
  tsr_cut cut = *wanted;
  TSR_TRY(set_blocks(x, blocks, &cut, &room));
  bool whole = cut.block[0] == x->most[0] && cut.block[1] == x->most[1];
  if (cut.together && (whole || !room)) return TSR_OK;
  if (!room && x->any) return TSR_OK; /* another depth had room */
  if (slots_of(x, &cut) > slots_most && x->any && !set) return TSR_OK;
  return try_cut(x, &cut);
}

static tsr_status try_depth(chooser *x, int64_t depth, int lookahead) {
  tsr_cut cut = {
      .block = {x->most[0], x->most[1]}, .depth = depth, .lookahead = lookahead, .together = false};
  bool counts = false;
  TSR_TRY(try_blocks(x, &cut, 1));
  if (x->any) TSR_TRY(home_counts(x, &cut, &counts));
  cut.together = true;
  TSR_TRY(try_blocks(x, &cut, 1));
  for (int64_t blocks = 2; counts && blocks <= BLOCKS_MOST; blocks *= 2)
    TSR_TRY(try_blocks(x, &cut, blocks));
  return TSR_OK;
}

static tsr_status try_lookaheads(chooser *x, int64_t depth) {
  int wish = x->grid->wishes.lookahead;
  if (wish > 0) return try_depth(x, depth, wish);
  for (int lookahead = 1; lookahead <= 3; lookahead++) TSR_TRY(try_depth(x, depth, lookahead));
  return TSR_OK;
}

static tsr_status try_all(chooser *x) {
  int64_t wish = x->grid->wishes.depth, k = x->job->deal.k_a.extent;
  x->any = false;
  if (wish > 0) return try_lookaheads(x, limit_depth(x, wish));
  for (int64_t depth = LEAST_DEPTH; depth <= MOST_DEPTH; depth *= 2) {
    TSR_TRY(try_lookaheads(x, limit_depth(x, depth)));
    if (depth >= k || depth > limit_depth(x, depth)) break;
  }
  return TSR_OK;
}

/* The same bits whatever the machine: nothing is up to the model. */
static tsr_status take_fixed(chooser *x) {
  const tsr_wishes *w = &x->grid->wishes;
  tsr_cut cut = {.depth = limit_depth(x, w->depth > 0 ? w->depth : DEPTH),
                 .lookahead = w->lookahead > 0 ? w->lookahead : LOOKAHEAD};
  for (int d = 0; d < 2; d++)
    cut.block[d] = w->block[d] > 0 ? least(w->block[d], x->most[d]) : x->most[d];
  x->any = false;
  return try_cut(x, &cut);
}

/* What the planner finds to have no room is tried again with less of it. */
static tsr_status plan_products(chooser *x) {
  enum { ATTEMPTS = 6 };
  for (int i = 0; i < ATTEMPTS; i++) {
    const tsr_cut *cut = &x->best.cut;
    int64_t depth = least(cut->depth, x->job->deal.k_a.extent);
    tsr_status status = tsr_costs_plan(&x->costs, cut->block[0], cut->block[1], depth);
    if (status != TSR_ERR_MEMORY) return status;
    x->memory *= 0.8;
    TSR_TRY(try_all(x));
  }
  return TSR_OK;
}

tsr_status tsr_choose_cut(const tsr_grid *grid, const tsr_job *job, bool plan, tsr_choice *choice) {
  const tsr_context_facts *facts = &grid->model.facts;
  chooser x = {.grid = grid,
               .job = job,
               .costs = tsr_costs_quick(grid, job->type, job->reads_result),
               .memory = (double)facts->memory,
               .element = (double)tsr_type_get(job->type)->size,
               .most = {tsr_axis_most(&job->deal.rows), tsr_axis_most(&job->deal.cols)}};
  if (facts->reproducible) {
    TSR_TRY(take_fixed(&x));
  } else {
    TSR_TRY(try_all(&x));
    if (plan || x.best.forecast.seconds > worth_planning) {
      TSR_TRY(plan_products(&x));
      TSR_TRY(try_all(&x));
    }
  }
  *choice = x.best;
  return TSR_OK;
}
