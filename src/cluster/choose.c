#include "cluster/choose.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/types.h"
#include "cluster/tuning.h"

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

void tsr_representative(const tsr_distribution *distribution, int which, int me[2]) {
  me[0] = (most_at(&distribution->rows) + which * (distribution->rows.count / 2)) %
          distribution->rows.count;
  me[1] = (most_at(&distribution->cols) + which * (distribution->cols.count / 2)) %
          distribution->cols.count;
}

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

/* Of a cut that is given: choice->cut. */
static tsr_status forecast_cut(const tsr_arranged *arranged, tsr_costs *costs, tsr_choice *choice) {
  tsr_summa_schedule schedule;
  TSR_TRY(
      tsr_summa_schedule_make(&arranged->distribution, &choice->cut, arranged->moves, &schedule));
  tsr_status status = forecast(arranged, costs, &schedule, &choice->forecast);
  tsr_summa_schedule_free(&schedule);
  return status;
}

/* ---- What has room ------------------------------------------------------------- */

typedef struct chooser {
  const tsr_grid *grid;
  const tsr_arranged *arranged;
  tsr_costs costs;
  double memory; /* bytes of a device */
  double element;
  int64_t most[2]; /* own rows and columns of C, at most */
  int64_t panels;  /* of the cuts that are being looked at */
  tsr_choice best;
  bool any;
} chooser;

static bool has_host_slots(const chooser *x) {
  return x->grid->model.host.up == 0;
}

static double slot_of(const chooser *x, const tsr_cut *cut, int operand) {
  return (double)cut->block[operand] * (double)cut->depth * x->element;
}

static int slot_count(const chooser *x, const tsr_cut *cut, int operand) {
  const int blocks[2] = {tsr_cut_blocks(cut, 0, x->most[0]), tsr_cut_blocks(cut, 1, x->most[1])};
  return tsr_cut_slots(cut, operand, x->panels, blocks);
}

static double slots_of(const chooser *x, const tsr_cut *cut) {
  return slot_count(x, cut, 0) * slot_of(x, cut, 0) + slot_count(x, cut, 1) * slot_of(x, cut, 1);
}

/* Besides C there are the panels of the product under way, of the next one, and of the last one,
 * whose memory does not serve again before the one under way is done; and the slots, which may be
 * the first device's. Less than 0: so much is missing. */
static tsr_status find_room(chooser *x, const tsr_cut *cut, double *bytes) {
  enum { SETS = 3 }; /* of panels, as above */
  tsr_accumulation cost;
  *bytes = INFINITY;
  if (x->grid->model.facts.devices == 0) return TSR_OK;
  TSR_TRY(tsr_costs_ask(&x->costs, cut->block[0], cut->block[1], cut->depth, &cost));
  double needed = (cut->together ? 2.0 : 1.0) * (double)cost.result + SETS * (double)cost.inputs;
  if (!has_host_slots(x)) needed += slots_of(x, cut);
  *bytes = TSR_TUNE_USABLE_MEMORY * x->memory - needed;
  return TSR_OK;
}

static bool wants_much_host(const chooser *x, const tsr_cut *cut) {
  return has_host_slots(x) && slots_of(x, cut) > TSR_TUNE_SLOTS_MEMORY;
}

static tsr_status fits(chooser *x, const tsr_cut *cut, bool *room) {
  double bytes;
  TSR_TRY(find_room(x, cut, &bytes));
  *room = bytes >= 0;
  return TSR_OK;
}

/* So many of them side by side, all about as large. */
static int64_t part(int64_t extent, int64_t count) {
  int64_t even = (extent + count - 1) / count;
  int64_t round = (even + TSR_TUNE_BLOCK_LEAST - 1) / TSR_TUNE_BLOCK_LEAST * TSR_TUNE_BLOCK_LEAST;
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
    if (enough || wish[longer] > 0 || cut->block[longer] <= TSR_TUNE_BLOCK_LEAST) return TSR_OK;
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

/* Replaying it would take long, and it is hardly the best. */
static bool is_too_fine(const chooser *x, const tsr_cut *cut) {
  double down = tsr_cut_blocks(cut, 0, x->most[0]), across = tsr_cut_blocks(cut, 1, x->most[1]);
  return cut->depth < TSR_TUNE_DEPTH_MOST && x->panels > 1 &&
         x->panels * down * across > TSR_TUNE_PRODUCTS_MOST;
}

/* Candidates come in the order of the memory that they take, about. */
static tsr_status try_cut(chooser *x, const tsr_cut *cut) {
  tsr_choice made = {.cut = *cut};
  TSR_TRY(forecast_cut(x->arranged, &x->costs, &made));
  double bound = x->any ? (1 - TSR_TUNE_CUT_GAIN) * x->best.forecast.seconds : INFINITY;
  if (made.forecast.seconds < bound) x->best = made;
  x->any = true;
  return TSR_OK;
}

/* Whether C takes so long home that a part of it should go while the rest is computed. */
static tsr_status home_counts(chooser *x, const tsr_cut *cut, bool *counts) {
  tsr_accumulation cost;
  TSR_TRY(tsr_costs_ask(&x->costs, cut->block[0], cut->block[1], cut->depth, &cost));
  *counts = cost.home > TSR_TUNE_HOME_COUNTS * x->best.forecast.seconds;
  return TSR_OK;
}

/* More slots of an operand, as far as there is room: so many in all. Whether that is enough. */
static bool hold(const chooser *x, int operand, int64_t slots, double *room, tsr_cut *cut) {
  tsr_cut full = *cut;
  int now = slot_count(x, cut, operand);
  full.held[operand] = (int)least(slots, TSR_SLOTS_MOST);
  int wanted = slot_count(x, &full, operand) - now, more = wanted;
  double slot = slot_of(x, cut, operand);
  if (more < 1 || slot <= 0) return true;
  if (more * slot > *room) more = *room > 0 ? (int)(*room / slot) : 0;
  *room -= more * slot;
  cut->held[operand] = now + more;
  return more == wanted;
}

/* Panels of B stay while the blocks of a column are gone through, and those of the next column come
 * meanwhile; panels of A stay for all columns. *all: none is sent twice then. */
static tsr_status hold_panels(chooser *x, tsr_cut *cut, bool *all) {
  double room, slots = slots_of(x, cut);
  int64_t down = tsr_cut_blocks(cut, 0, x->most[0]), across = tsr_cut_blocks(cut, 1, x->most[1]);
  *all = true;
  TSR_TRY(find_room(x, cut, &room));
  if (has_host_slots(x)) room = TSR_TUNE_SLOTS_MEMORY - slots;
  if (down > 1) *all = hold(x, TSR_SUMMA_B, x->panels + cut->lookahead, &room, cut);
  if (across > 1) *all = hold(x, TSR_SUMMA_A, x->panels * down, &room, cut) && *all;
  return TSR_OK;
}

/* Where the first device has room for all panels they stay there: replay does not see all that a
 * busy way up to it costs (other processes are as late as this one, or later). */
static tsr_status try_slots(chooser *x, const tsr_cut *cut) {
  tsr_cut more = *cut;
  bool all;
  TSR_TRY(hold_panels(x, &more, &all));
  if (all && !has_host_slots(x)) return try_cut(x, &more);
  TSR_TRY(try_cut(x, cut));
  bool same = more.held[0] == cut->held[0] && more.held[1] == cut->held[1];
  return same ? TSR_OK : try_cut(x, &more);
}

/* Two blocks at a time have room on the devices, or one. */
static tsr_status try_blocks(chooser *x, const tsr_cut *wanted, int64_t blocks) {
  bool set = x->grid->wishes.depth > 0 && x->grid->wishes.lookahead > 0, room;
  tsr_cut cut = *wanted;
  TSR_TRY(set_blocks(x, blocks, &cut, &room));
  bool whole = cut.block[0] == x->most[0] && cut.block[1] == x->most[1];
  if (cut.together && (whole || !room)) return TSR_OK;
  if (!room && x->any) return TSR_OK; /* another depth had room */
  if (wants_much_host(x, &cut) && x->any && !set) return TSR_OK;
  if (x->grid->wishes.depth == 0 && is_too_fine(x, &cut)) return TSR_OK;
  return try_slots(x, &cut);
}

/* One block, and how many panels there are. */
static tsr_status begin_cut(chooser *x, int64_t depth, int64_t first, int lookahead, tsr_cut *cut) {
  tsr_panels panels = {0};
  *cut = (tsr_cut){.block = {x->most[0], x->most[1]},
                   .depth = depth,
                   .first = first,
                   .lookahead = lookahead,
                   .at_once = !has_host_slots(x)};
  TSR_TRY(tsr_cut_panels(&x->arranged->distribution, cut, &panels));
  x->panels = (int64_t)panels.count;
  tsr_panels_free(&panels);
  return TSR_OK;
}

/* First so many eighths of C in one direction, then the rest in so many parts: the last one is
 * smaller and sooner home, or what must come up before the first one is complete is less. */
static tsr_status try_share(chooser *x, const tsr_cut *wanted, int direction, int eighths,
                            int parts) {
  tsr_cut cut = *wanted;
  bool room;
  cut.block[direction] = part(eighths * x->most[direction], 8);
  if (cut.block[direction] >= x->most[direction]) return TSR_OK;
  cut.later[direction] =
      least(cut.block[direction], part(x->most[direction] - cut.block[direction], parts));
  TSR_TRY(fits(x, &cut, &room));
  if (!room || is_too_fine(x, &cut) || wants_much_host(x, &cut)) return TSR_OK;
  return try_slots(x, &cut);
}

static tsr_status try_shares(chooser *x, const tsr_cut *wanted, int parts) {
  static const int eighths[] = {5, 4, 3};
  const int64_t *wish = x->grid->wishes.block;
  if (wish[0] > 0 || wish[1] > 0) return TSR_OK;
  for (int direction = 0; direction < 2; direction++)
    for (size_t i = 0; i < sizeof eighths / sizeof *eighths; i++)
      TSR_TRY(try_share(x, wanted, direction, eighths[i], parts));
  return TSR_OK;
}

/* Nothing hides the way home of the last block: the later ones are cut again. */
static tsr_status try_tails(chooser *x, int64_t depth, int64_t first, int lookahead) {
  tsr_cut cut;
  TSR_TRY(begin_cut(x, depth, first, lookahead, &cut));
  cut.together = true;
  for (int parts = 2; parts <= TSR_TUNE_TAIL_PARTS; parts *= 2) TSR_TRY(try_shares(x, &cut, parts));
  return TSR_OK;
}

static tsr_status try_depth(chooser *x, int64_t depth, int64_t first, int lookahead) {
  tsr_cut cut;
  bool counts = false;
  TSR_TRY(begin_cut(x, depth, first, lookahead, &cut));
  TSR_TRY(try_blocks(x, &cut, 1));
  if (x->any) TSR_TRY(home_counts(x, &cut, &counts));
  cut.together = true;
  TSR_TRY(try_blocks(x, &cut, 1));
  for (int64_t blocks = 2; counts && blocks <= TSR_TUNE_BLOCKS_MOST; blocks *= 2)
    TSR_TRY(try_blocks(x, &cut, blocks));
  return counts ? try_shares(x, &cut, 1) : TSR_OK;
}

/* The memory of a device is there anyway, and a panel that is late costs more than one that is
 * early: the deepest comes first. */
static tsr_status try_lookaheads(chooser *x, int64_t depth, int64_t first) {
  static const int host[] = {1, 2, 3, 0}, device[] = {16, 4, 1, 0};
  int wish = x->grid->wishes.lookahead;
  if (wish > 0) return try_depth(x, depth, first, wish);
  for (const int *lookahead = has_host_slots(x) ? host : device; *lookahead > 0; lookahead++)
    TSR_TRY(try_depth(x, depth, first, *lookahead));
  return TSR_OK;
}

static tsr_status try_depths(chooser *x) {
  int64_t wish = x->grid->wishes.depth, k = x->arranged->distribution.k_a.extent;
  if (wish > 0) return try_lookaheads(x, limit_depth(x, wish), 0);
  for (int64_t depth = TSR_TUNE_DEPTH_LEAST; depth <= TSR_TUNE_DEPTH_MOST; depth *= 2) {
    int64_t most = limit_depth(x, depth), first = most / TSR_TUNE_PANEL_GROWTH;
    TSR_TRY(try_lookaheads(x, most, 0));
    if (first >= TSR_TUNE_FIRST_LEAST) TSR_TRY(try_lookaheads(x, most, first));
    if (depth >= k || depth > limit_depth(x, depth)) break;
  }
  return TSR_OK;
}

static tsr_status try_all(chooser *x) {
  bool counts;
  x->any = false;
  TSR_TRY(try_depths(x));
  TSR_TRY(home_counts(x, &x->best.cut, &counts));
  if (!counts) return TSR_OK;
  tsr_cut best = x->best.cut;
  TSR_TRY(try_tails(x, best.depth, best.first, best.lookahead));
  int64_t deeper = limit_depth(x, least(2 * best.depth, TSR_TUNE_DEPTH_MOST));
  bool is_new = deeper > best.depth && best.depth < x->arranged->distribution.k_a.extent;
  if (x->grid->wishes.depth > 0 || !is_new) return TSR_OK;
  return try_tails(x, deeper, best.first, best.lookahead);
}

/* The same bits whatever the machine: nothing is up to the model. */
static tsr_status take_fixed(chooser *x) {
  const tsr_wishes *w = &x->grid->wishes;
  tsr_cut cut = {.depth = limit_depth(x, w->depth > 0 ? w->depth : TSR_TUNE_DEPTH),
                 .lookahead = w->lookahead > 0 ? w->lookahead : TSR_TUNE_LOOKAHEAD,
                 .at_once = !has_host_slots(x)};
  for (int d = 0; d < 2; d++)
    cut.block[d] = w->block[d] > 0 ? least(w->block[d], x->most[d]) : x->most[d];
  x->any = false;
  return try_cut(x, &cut);
}

/* What the planner finds to have no room is tried again with less of it. */
static tsr_status plan_products(chooser *x) {
  for (int i = 0; i < TSR_TUNE_CUT_ATTEMPTS; i++) {
    const tsr_cut *cut = &x->best.cut;
    int64_t depth = least(cut->depth, x->arranged->distribution.k_a.extent);
    tsr_status status = tsr_costs_plan(&x->costs, cut->block[0], cut->block[1], depth);
    if (status != TSR_ERR_MEMORY) return status;
    x->memory *= TSR_TUNE_CUT_RETRY;
    TSR_TRY(try_all(x));
  }
  return TSR_OK;
}

static tsr_status choose(const tsr_grid *grid, const tsr_arranged *arranged, bool plan,
                         tsr_choice *choice) {
  const tsr_context_facts *facts = &grid->model.facts;
  chooser x = {.grid = grid,
               .arranged = arranged,
               .costs = tsr_costs_quick(grid, arranged->type, arranged->reads_result),
               .memory = (double)facts->memory,
               .element = (double)tsr_type_get(arranged->type)->size,
               .most = {tsr_axis_most(&arranged->distribution.rows),
                        tsr_axis_most(&arranged->distribution.cols)}};
  if (facts->reproducible) {
    TSR_TRY(take_fixed(&x));
  } else {
    TSR_TRY(try_all(&x));
    if (plan || x.best.forecast.seconds > TSR_TUNE_WORTH_PLANNING) {
      TSR_TRY(plan_products(&x));
      TSR_TRY(try_all(&x));
    }
  }
  *choice = x.best;
  return TSR_OK;
}

/* ---- What was chosen before ------------------------------------------------------- */

enum { KEPT = 16 }; /* choices: the oldest one goes */

/* What the model takes for what is between processes, and between them and their devices. */
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
         a->block[1] == b->block[1];
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

/* What the planner was asked for is not kept: who asks wants to know it exactly. */
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
