/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One candidate of the search: a strategy is cut, built, scheduled and replayed, and its plan is
 * kept if it is the best so far.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "blas/build.h"
#include "plan/cache.h"
#include "plan/search/mapped.h"
#include "plan/search/partition.h"
#include "plan/search/search.h"

/* ---- Plans ---------------------------------------------------------------- */

static uint32_t routines_by_blocks(const tsr_search *s) {
  uint32_t bits = 0;
  for (int kernel = 0; kernel < TSR_KERNEL_COUNT; kernel++)
    if (tsr_search_takes_blocks(s, (tsr_kernel)kernel)) bits |= UINT32_C(1) << kernel;
  return bits;
}

static void residency_free(tsr_residency **residency) {
  if (*residency) tsr_residency_free(*residency);
  tsr_dealloc(*residency);
  *residency = NULL;
}

void tsr_plan_clear(tsr_plan *plan) {
  TSR_VEC_FREE(&plan->commands);
  TSR_VEC_FREE(&plan->waits);
  TSR_VEC_FREE(&plan->buffers);
  residency_free(&plan->after);
  residency_free(&plan->before);
}

void tsr_plan_free(tsr_plan *plan) {
  if (!plan) return;
  tsr_plan_clear(plan);
  tsr_dealloc(plan);
}

void tsr_plan_move(tsr_plan *from, tsr_plan *to) {
  *to = *from;
  tsr_dealloc(from);
}

/* The memory of the last plan that lost is used again: a large plan has hundreds of megabytes,
 * which the system must clear when they are new. */
tsr_plan *tsr_search_plan_new(tsr_search *s) {
  tsr_plan *plan = s->spare != NULL ? s->spare : tsr_alloc_zero(1, sizeof *plan);
  s->spare = NULL;
  if (!plan) return NULL;
  *plan = (tsr_plan){.commands = {plan->commands.items, 0, plan->commands.room},
                     .waits = {plan->waits.items, 0, plan->waits.room},
                     .buffers = {plan->buffers.items, 0, plan->buffers.room}};
  plan->call = *s->call;
  plan->machine_devices = s->machine->devices;
  plan->machine_nodes = s->machine->nodes;
  plan->reproducible = s->options->reproducible;
  plan->heat = s->heat;
  plan->by_blocks = routines_by_blocks(s);
  memcpy(plan->budget, s->options->budget, sizeof plan->budget);
  return plan;
}

/* Keeps the memory of a plan that lost for the next candidate; plan may be NULL. */
static void keep_memory(tsr_search *s, tsr_plan *plan) {
  if (!plan) return;
  tsr_plan_free(s->spare);
  residency_free(&plan->after);
  residency_free(&plan->before);
  s->spare = plan;
}

/* ---- One candidate -------------------------------------------------------- */

/* Bytes of a copy: the strategy's piece, or a whole tile if that is 0, but at most a gigabyte,
 * since the staging ring holds two copies. */
static int64_t piece_bytes(const tsr_search *s, const tsr_strategy *strategy) {
  static const int64_t most = TSR_TUNE_COPY_MOST;
  if (strategy->piece > 0) return strategy->piece;
  int64_t size = (int64_t)tsr_type_get(tsr_type_get(s->call->type)->wide)->size;
  bool fits =
      strategy->tile > 0 && strategy->tile < 32768; /* so that the square does not overflow */
  int64_t bytes = fits ? strategy->tile * strategy->tile * size : most;
  return bytes < most ? bytes : most;
}

/* Sets how many tasks copies run ahead, in the sequence of the tasks of all devices. In a product
 * the devices take turns in this sequence; with a triangle the number is about right, too. */
static void set_lookahead(const tsr_strategy *strategy, const tsr_tiling *t,
                          tsr_schedule_options *options) {
  int64_t depth = strategy->depth > 0 ? strategy->depth : 1, devices = t->grid_rows * t->grid_cols;
  for (int g = 0; g < devices; g++) {
    tsr_pass block = t->pass;
    if (t->passes != NULL) block = t->passes[g];
    options->lookahead[t->device[g]] =
        (int64_t)block.rows * block.cols * devices * depth * strategy->lookahead / 100;
  }
}

/* Slots for that many bands of A and of B, for a tile of C and for one of its products. */
static int64_t slots_held(const tsr_strategy *strategy) {
  return 2 * strategy->held + 2;
}

/* Bytes of each device that the strategy may use: with `held` no more than those slots. */
static void set_budget(const tsr_search *s, const tsr_strategy *strategy, const tsr_graph *graph,
                       size_t budget[TSR_MACHINE_DEVICES]) {
  memcpy(budget, s->options->budget, TSR_MACHINE_DEVICES * sizeof *budget);
  if (strategy->held == 0) return;
  size_t held = tsr_schedule_least_budget(s->call, graph, slots_held(strategy) - 2);
  for (int d = 0; d < s->machine->devices; d++)
    if (budget[d] > held) budget[d] = held;
}

static tsr_partition_question partition_question(const tsr_search *s) {
  return (tsr_partition_question){s->machine, s->call, s->options->budget, s->heat};
}

/* Slots of the smallest budget, or, if each device's C block fits its own budget, of the largest.
 */
static int32_t count_slots(const tsr_search *s, const tsr_strategy *strategy,
                           const tsr_plan *plan) {
  tsr_partition_question q = partition_question(s);
  size_t slot = 1, budget = (strategy->partition ? tsr_partition_most : tsr_partition_least)(
                       &q, s->order, plan->devices);
  if (strategy->held > 0) return (int32_t)slots_held(strategy);
  for (size_t i = TSR_OPERANDS; i < plan->buffers.count; i++)
    if (plan->buffers.items[i].role == TSR_BUFFER_TILE) slot = plan->buffers.items[i].bytes;
  return (int32_t)fmin((double)(budget / slot), TSR_TUNE_SLOTS_MOST);
}

static void note_blocking(const tsr_search *s, const tsr_strategy *strategy, const tsr_graph *graph,
                          tsr_plan *plan) {
  plan->blocking = (tsr_blocking){.rows = strategy->c_block_rows > 0 ? strategy->c_block_rows : 1,
                                  .cols = strategy->c_block_cols > 0 ? strategy->c_block_cols : 1,
                                  .depth = strategy->depth > 0 ? strategy->depth : 1,
                                  .lookahead = (float)strategy->lookahead / 100,
                                  .m = graph->grid[TSR_C_].rows.count,
                                  .n = graph->grid[TSR_C_].cols.count,
                                  .k = graph->depth,
                                  .slots = count_slots(s, strategy, plan),
                                  .partitioned = strategy->partition};
}

static void note_misfit(tsr_search *s, const tsr_plan *plan) {
  tsr_misfit most = {0};
  for (int d = 0; d < s->machine->devices; d++) {
    size_t need = plan->arena[d], budget = s->options->budget[d];
    size_t lack = need > budget ? need - budget : 0;
    if (lack > most.lack) most = (tsr_misfit){d, need, lack};
  }
  if (s->misfit.need == 0 || most.lack < s->misfit.lack) s->misfit = most;
}

static tsr_status build(tsr_search *s, const tsr_strategy *strategy, const tsr_tiling *tiling,
                        const tsr_graph *graph, tsr_plan *plan, bool *fits) {
  set_budget(s, strategy, graph, plan->budget);
  tsr_schedule_options options = {
      .piece = piece_bytes(s, strategy),
      .by_eta = strategy->by_eta,
      .policy = tsr_policy_of((tsr_routing)strategy->routing, strategy->relay,
                              !strategy->ignore_channels),
      .straight = strategy->straight,
      .realigned = s->problem.realigned,
      .budget = plan->budget,
      .ring = s->options->ring,
      .residency = s->options->residency};
  tsr_fit fit;
  set_lookahead(strategy, tiling, &options);
  bool slices = strategy->kind == TSR_SLICES;
  plan->devices = tsr_strategy_devices(strategy);
  plan->grid_rows = slices ? 1 : strategy->grid_rows;
  plan->grid_cols = slices ? 1 : strategy->grid_cols;
  plan->slices = slices ? plan->devices : 0;
  TSR_TRY(tsr_schedule(s->machine, graph, &options, plan, &fit));
  *fits = fit != TSR_FITS_NOT;
  if (!*fits && s->options->residency != NULL) note_misfit(s, plan);
  if (fit == TSR_FITS_TIGHT) note_blocking(s, strategy, graph, plan);
  return *fits ? tsr_plan_replay(plan, s->machine, &plan->seconds) : TSR_OK;
}

/* Time of all copies in sum / number of devices, s. */
static double link_time(const tsr_plan *plan) {
  double sum = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind == TSR_COMMAND_COPY) sum += (double)c->end - (double)c->begin;
  }
  return sum / plan->devices;
}

/* When the last command ends that is not a product at the home of all operands, s. */
static double end_of_others(const tsr_search *s, const tsr_plan *plan) {
  double end = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    const tsr_plan_queue *queue = &plan->queue[c->queue];
    bool own = queue->location == s->call->operand[TSR_C_].location && c->kernel == TSR_KERNEL_GEMM;
    if (c->kind != TSR_COMMAND_KERNEL || !own) end = fmax(end, (double)c->end);
  }
  return end;
}

/*
 * The score by which plans are compared: the predicted time plus small terms, all in s.
 * - Commands: if two plans take nearly the same time, the one with fewer commands is better, since
 *   the model does not know all that a command costs.
 * - Reloads: if a call does not fit, the plan that loads less is better, since others may use the
 *   links, too.
 * - Draining: if C stays on the devices, it will probably be wanted at home before long. Half of
 *   the time that this would take after the plan's end counts.
 * - Balance: a home of all operands may be the last to end, however the others' parts are cut. The
 *   plan whose other devices end sooner is better, since they can take more of the work next.
 * - Leaving home: other devices that help the home of all operands must gain more than predictions
 *   may be off. With less they would be kept from other work for nothing.
 * - Rows in parts make columns shorter. Links lose more by that than measurements of them show, so
 *   such a plan must gain something.
 */
static double score_of(const tsr_search *s, const tsr_strategy *strategy, const tsr_plan *plan) {
  double reloads = plan->blocking.rows > 0 ? TSR_TUNE_SCORE_OF_RELOADS * link_time(plan) : 0;
  double draining = plan->after != NULL ? tsr_plan_drained(plan, s->machine) - plan->seconds : 0;
  double commands = fmin(TSR_TUNE_SCORE_OF_COMMAND * (double)plan->commands.count,
                         TSR_TUNE_SCORE_OF_COMMANDS_MOST * plan->seconds);
  double parted = strategy->row_parts > 1 ? TSR_TUNE_SCORE_OF_ROW_PARTS * plan->seconds : 0;
  double others = tsr_search_is_whole_at_home(s, strategy)
                      ? TSR_TUNE_SCORE_OF_OTHERS * end_of_others(s, plan)
                      : 0;
  double leaving =
      tsr_search_leaves_home(s, strategy) ? TSR_TUNE_SCORE_OF_LEAVING * plan->seconds : 0;
  return plan->seconds + commands + reloads + TSR_TUNE_SCORE_OF_DRAINING * draining + parted +
         others + leaving;
}

void tsr_search_keep(tsr_search *s, const tsr_candidate *candidate, tsr_plan *plan) {
  bool better = !s->best || candidate->score < s->found.score;
  double loser = better ? (s->best ? s->best->seconds : INFINITY) : plan->seconds;
  s->runner_up = fmin(s->runner_up, loser);
  keep_memory(s, better ? s->best : plan);
  if (!better) return;
  s->best = plan;
  s->found = *candidate;
}

/* Sets how long planning may take. A call that does not fit the budgets takes seconds, so that its
 * limit is larger. A composed call is short, mostly, and is planned while the devices run earlier
 * calls: they must not run out of work. For an update in a sequence (tsr_panels_is_update), the
 * layout that it leaves on the devices matters more than its own time; the search sees only the
 * time, so that it stops after the first guess. */
void tsr_search_set_allowed(tsr_search *s) {
  bool tight = s->best->blocking.rows > 0, composed = s->options->residency != NULL;
  double limit = tight ? TSR_TUNE_SEARCH_MOST_TIGHT : TSR_TUNE_SEARCH_MOST;
  double from = composed ? TSR_TUNE_SEARCH_LEAST_COMPOSED : TSR_TUNE_SEARCH_LEAST;
  double allowed = fmin(limit, fmax(from, TSR_TUNE_SEARCH_SHARE * s->best->seconds));
  if (tsr_panels_is_update(s)) allowed = 0;
  if (s->options->search_seconds > 0) allowed = s->options->search_seconds;
  s->allowed = allowed;
}

/* Sets the time that ends the search: the floor, the start of a kernel, which a call takes whose
 * operands are where they are needed, and the turnaround of a call. It is not set for plans that
 * load tiles several times or leave C on the devices: among those a plan of the same time may have
 * a better score. */
void tsr_search_set_enough(tsr_search *s) {
  if (s->best->blocking.rows > 0 || s->options->residency != NULL) return;
  double start = s->machine->device[s->order[0]].kernel_latency;
  s->enough =
      tsr_floor(s->machine, s->call) + TSR_TUNE_ENOUGH_STARTS * start + s->machine->turnaround;
}

bool tsr_search_is_lazy_everywhere(const tsr_search *s) {
  bool promised = !tsr_call_has_form(s->call) && tsr_call_adds_last(s->call);
  return promised || s->options->reproducible || s->problem.realigned >> TSR_C_ & 1;
}

/* Makes the tiling of a strategy. If C follows a mapping, its parts and owners are the mapping's;
 * if devices differ, tsr_partition_set sets the owners. The caller frees it. */
static tsr_status cut(const tsr_search *s, const tsr_strategy *strategy, tsr_tiling *tiling) {
  TSR_TRY(tsr_strategy_tiling(strategy, s->call, s->machine, s->order, tiling));
  tiling->lazy_everywhere = tsr_search_is_lazy_everywhere(s);
  tiling->whole_at_home = tsr_search_is_whole_at_home(s, strategy);
  bool partitions = strategy->partition && strategy->kind == TSR_TILES;
  if (s->mapping == NULL && !partitions) return TSR_OK;
  tsr_partition_question q = partition_question(s);
  tsr_status status = s->mapping != NULL ? tsr_mapped_set(s->mapping, s->call, tiling)
                                         : tsr_partition_set(&q, strategy, tiling);
  if (status != TSR_OK) tsr_tiling_free(tiling);
  return status;
}

/* Products in a form sum over all of k at once, and add C to that: panels do, and square tiles do
 * not. Beside a triangle they sum over a block of its order, as stripes and tiles do. */
static void constrain_form(const tsr_search *s, tsr_strategy *strategy, bool *is_void) {
  *is_void = strategy->kind == TSR_SLICES ||
             (strategy->kind == TSR_TILES && !tsr_tiles_are_possible(&s->problem));
  strategy->k_panel = strategy->k_panel_most = 0;
  strategy->lazy = strategy->add_at_home = 0;
}

/* A device keeps inverses of blocks that engines invert. *is_void: forced ones are larger. */
static void constrain_inverses(tsr_search *s, tsr_strategy *strategy, bool *is_void) {
  if (!strategy->inverses || tsr_strategy_may_invert(strategy, s->call)) return;
  strategy->inverses = false;
  if (!tsr_forced_named(&s->forced, offsetof(tsr_strategy, inverses))) return;
  *is_void = true;
  s->refused = "inverses=shared: engines invert blocks of A of an order of at most 1024";
}

/* C that is added at its home is fetched last. *is_void: it is forced to be fetched first. */
static void constrain_adding(tsr_search *s, tsr_strategy *strategy, bool *is_void) {
  const int64_t *home = tsr_forced_named(&s->forced, offsetof(tsr_strategy, add_at_home));
  if (strategy->lazy || home == NULL || *home == 0) return;
  bool first = tsr_forced_named(&s->forced, offsetof(tsr_strategy, lazy)) != NULL;
  strategy->lazy = !first && tsr_strategy_may_be_lazy(strategy, &s->problem);
  strategy->add_at_home = strategy->lazy;
  *is_void |= !strategy->lazy;
  if (!strategy->lazy)
    s->refused = "add=home: only C that is fetched last (c=last) is added at its home";
}

/* Sets the forced knobs, the mapping's grid, and that C is added last where it must be. *is_void:
 * the strategy cannot honour a forced knob; s->refused says why. */
static tsr_status apply_constraints(tsr_search *s, tsr_strategy *strategy, bool *is_void) {
  tsr_family family = tsr_search_family(s);
  bool in_a_row = strategy->kind == TSR_STRIPES || strategy->kind == TSR_SLICES ||
                  (strategy->kind == TSR_PANELS && family == TSR_RANK);
  if (in_a_row && tsr_forced_named(&s->forced, offsetof(tsr_strategy, grid_cols)))
    strategy->grid_rows = 1;
  tsr_forced_apply(&s->forced, &s->problem, strategy);
  if (s->mapping != NULL) {
    if (strategy->kind == TSR_PANELS) strategy->row_parts = 1;
    strategy->grid_rows = s->mapping->grid_rows;
    strategy->grid_cols = s->mapping->grid_cols;
  }
  if (tsr_strategy_devices(strategy) > s->machine->devices)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "strategy: grid=%dx%d needs more devices than the %d of the machine; "
                    "give fewer",
                    (int)strategy->grid_rows, (int)strategy->grid_cols, s->machine->devices);
  constrain_inverses(s, strategy, is_void);
  if (tsr_call_has_form(s->call)) {
    bool is_void_too = false;
    constrain_form(s, strategy, &is_void_too);
    *is_void |= is_void_too;
    return TSR_OK;
  }
  if (*is_void) return TSR_OK;
  bool must = tsr_strategy_must_be_lazy(strategy, &s->problem);
  *is_void = must && !strategy->lazy && tsr_forced_named(&s->forced, offsetof(tsr_strategy, lazy));
  if (*is_void)
    s->refused =
        "c=first: C must be added last, since sums in parts of k need a wider type than C's, k is "
        "cut over the devices, C is not used in place, or emulated products promise one rounding "
        "of beta C";
  if (must) strategy->lazy = true;
  constrain_adding(s, strategy, is_void);
  if (!strategy->lazy) strategy->add_at_home = false;
  return TSR_OK;
}

/* ---- Strategies that make the same plan -------------------------------------- */

static uint64_t add_cuts(uint64_t digest, const tsr_cuts *cuts) {
  return tsr_cache_digest(digest, cuts->at, sizeof *cuts->at * (size_t)(cuts->count + 1));
}

static int64_t widest(const tsr_cuts *cuts) {
  int64_t most = 0;
  for (int i = 0; i < cuts->count; i++)
    if (tsr_cut_length(cuts, i) > most) most = tsr_cut_length(cuts, i);
  return most;
}

/* 0, which stands for all columns, if the n-block is as wide as the widest part of C. */
static int64_t effective(int64_t n_block, int64_t most) {
  return n_block >= most ? 0 : n_block;
}

/* A digest of all that decides a plan: the cuts, in place of the knobs that led to them, and the
 * other knobs. */
static uint64_t digest_of(const tsr_search *s, const tsr_strategy *strategy, const tsr_tiling *t) {
  tsr_strategy simple = *strategy;
  tsr_strategy_simplify(s->call, s->machine, &simple);
  bool clamps = simple.kind == TSR_PANELS && tsr_search_family(s) == TSR_PRODUCT;
  int64_t most = clamps ? widest(&t->n) : INT64_MAX;
  simple.n_block_first = effective(simple.n_block_first, most);
  simple.n_block = effective(simple.n_block, most);
  simple.n_block_last = effective(simple.n_block_last, most);
  uint64_t digest = tsr_strategy_digest(&simple, tsr_search_family(s));
  const int64_t whole[] = {t->k_of_a.count > 0 && t->k.count > 1,
                           t->n_of_b.count > 0 && t->n.count > 1, t->leading};
  digest = tsr_cache_digest(digest, whole, sizeof whole);
  if (t->through != NULL)
    digest = tsr_cache_digest(digest, t->through, sizeof *t->through * (size_t)t->k.count);
  if (simple.partition) digest = tsr_cache_digest(digest, simple.weight, sizeof simple.weight);
  return add_cuts(add_cuts(add_cuts(digest, &t->m), &t->n), &t->k);
}

/* The earlier strategy that made the same plan; NULL: none did. */
static const tsr_tried *find_tried(const tsr_search *s, uint64_t digest) {
  for (size_t i = 0; i < s->tried.count; i++)
    if (s->tried.items[i].digest == digest) return &s->tried.items[i];
  return NULL;
}

/* ---- Trying --------------------------------------------------------------- */

static tsr_status make_candidate(tsr_search *s, const tsr_strategy *strategy,
                                 const tsr_tiling *tiling, tsr_plan **made) {
  bool fits = false;
  tsr_plan *plan = tsr_search_plan_new(s);
  tsr_status status = plan ? tsr_graph_build(s->call, tiling, &s->graph)
                           : tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  if (status == TSR_OK) status = build(s, strategy, tiling, &s->graph, plan, &fits);
  s->candidates++;
  if (plan) s->spent += tsr_search_cost((double)plan->commands.count);
  *made = status == TSR_OK && fits ? plan : NULL;
  if (!*made) keep_memory(s, plan);
  return status;
}

/* Plans the candidate, or takes the score of an earlier one with the same plan. Without host memory
 * to note the trial, the strategy may be planned again. */
static tsr_status try_tiling(tsr_search *s, const tsr_tiling *tiling, tsr_candidate *made) {
  tsr_tried trial = {digest_of(s, &made->strategy, tiling), INFINITY};
  const tsr_tried *known = find_tried(s, trial.digest);
  tsr_plan *plan = NULL;
  if (known) made->score = known->score;
  if (known) return TSR_OK;
  TSR_TRY(make_candidate(s, &made->strategy, tiling, &plan));
  tsr_shares_note(s, plan, made);
  if (plan) made->score = trial.score = score_of(s, &made->strategy, plan);
  if (plan) tsr_search_keep(s, made, plan);
  (void)TSR_VEC_PUSH(&s->tried, trial);
  if (s->best && s->best->blocking.rows > 0) tsr_search_set_allowed(s);
  return TSR_OK;
}

tsr_status tsr_search_try(tsr_search *s, const tsr_strategy *strategy, tsr_candidate *made) {
  tsr_tiling tiling;
  bool is_void = false;
  *made = (tsr_candidate){.strategy = *strategy, .score = INFINITY};
  TSR_TRY(apply_constraints(s, &made->strategy, &is_void));
  if (is_void) return TSR_OK;
  TSR_TRY(cut(s, &made->strategy, &tiling));
  tsr_status status = try_tiling(s, &tiling, made);
  tsr_tiling_free(&tiling);
  return status;
}

tsr_status tsr_search_try_for(tsr_search *s, const tsr_strategy *strategy, tsr_candidate *at,
                              bool *better) {
  tsr_candidate made;
  TSR_TRY(tsr_search_try(s, strategy, &made));
  *better = made.score < at->score;
  if (*better) *at = made;
  return TSR_OK;
}
