/*
 * The search: recipes are tried on the model, from a first guess by steepest parameter, and the
 * plan with the least predicted time is kept, since a plan is used many times.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "plan/deal.h"
#include "plan/mapped.h"
#include "plan/search.h"

/* ---- Plans ---------------------------------------------------------------- */

static void residency_free(tsr_residency **residency) {
  if (*residency) tsr_residency_free(*residency);
  tsr_dealloc(*residency);
  *residency = NULL;
}

void tsr_plan_free(tsr_plan *plan) {
  if (!plan) return;
  TSR_VEC_FREE(&plan->commands);
  TSR_VEC_FREE(&plan->waits);
  TSR_VEC_FREE(&plan->buffers);
  residency_free(&plan->after);
  residency_free(&plan->before);
  tsr_dealloc(plan->times);
  tsr_dealloc(plan);
}

/* The memory of the last one that lost serves again: a large plan's is hundreds of megabytes, which
 * the system clears when they are new. */
static tsr_plan *plan_new(tsr_search *s) {
  tsr_plan *plan = s->spare != NULL ? s->spare : tsr_alloc_zero(1, sizeof *plan);
  s->spare = NULL;
  if (!plan) return NULL;
  *plan = (tsr_plan){.commands = {plan->commands.items, 0, plan->commands.room},
                     .waits = {plan->waits.items, 0, plan->waits.room},
                     .buffers = {plan->buffers.items, 0, plan->buffers.room}};
  plan->call = *s->call;
  plan->machine_devices = s->machine->devices;
  plan->reproducible = s->options->reproducible;
  plan->heat = s->heat;
  memcpy(plan->budget, s->options->budget, sizeof plan->budget);
  return plan;
}

/* A plan that lost, or none. */
static void set_aside(tsr_search *s, tsr_plan *plan) {
  if (!plan) return;
  tsr_plan_free(s->spare);
  residency_free(&plan->after);
  residency_free(&plan->before);
  s->spare = plan;
}

bool tsr_search_must_be_lazy(const tsr_search *s, const tsr_recipe *r) {
  int64_t part = r->tile > 0 ? r->tile : r->slab > 0 ? r->slab : TSR_RECIPE_LONGEST;
  return s->wide && s->call->k > part;
}

/* ---- One candidate -------------------------------------------------------- */

/* A whole tile, when copies are not cut: at most a gigabyte, since the staging ring holds two. */
static int64_t piece_bytes(const tsr_search *s, const tsr_recipe *r) {
  static const int64_t most = 1 << 30;
  if (r->piece > 0) return r->piece;
  int64_t size = (int64_t)tsr_type_get(tsr_type_get(s->call->type)->wide)->size;
  bool fits = r->tile > 0 && r->tile < 32768;
  int64_t bytes = fits ? r->tile * r->tile * size : most;
  return bytes < most ? bytes : most;
}

/* Of a product, all devices taking turns; with a triangle about as many. */
static void set_ahead(const tsr_recipe *r, const tsr_tiling *t, tsr_schedule_options *options) {
  int64_t depth = r->depth > 0 ? r->depth : 1, devices = t->grid_rows * t->grid_cols;
  for (int g = 0; g < devices; g++) {
    tsr_pass held = {r->hold_rows, r->hold_cols};
    if (t->passes != NULL) held = t->passes[g];
    options->ahead[t->device[g]] =
        (int64_t)held.rows * held.cols * devices * depth * r->ahead / 100;
  }
}

static tsr_deal_question deal_question(const tsr_search *s) {
  return (tsr_deal_question){s->machine, s->call, s->options->budget, s->heat};
}

/* What the smallest device has room for; where each holds what it can, the largest. */
static int32_t count_slots(const tsr_search *s, const tsr_recipe *r, const tsr_plan *plan) {
  tsr_deal_question q = deal_question(s);
  size_t slot = 1, room = (r->deals ? tsr_deal_most : tsr_deal_least)(&q, s->order, plan->devices);
  for (size_t i = TSR_OPERANDS; i < plan->buffers.count; i++)
    if (plan->buffers.items[i].role == TSR_BUFFER_TILE) slot = plan->buffers.items[i].bytes;
  return (int32_t)fmin((double)(room / slot), 1 << 20);
}

static void note_hold(const tsr_search *s, const tsr_recipe *r, const tsr_graph *graph,
                      tsr_plan *plan) {
  plan->hold = (tsr_plan_hold){.rows = r->hold_rows > 0 ? r->hold_rows : 1,
                               .cols = r->hold_cols > 0 ? r->hold_cols : 1,
                               .depth = r->depth > 0 ? r->depth : 1,
                               .ahead = (float)r->ahead / 100,
                               .m = graph->grid[TSR_C_].rows.count,
                               .n = graph->grid[TSR_C_].cols.count,
                               .k = graph->depth,
                               .slots = count_slots(s, r, plan),
                               .dealt = r->deals};
}

static tsr_status build(tsr_search *s, const tsr_recipe *r, const tsr_tiling *tiling,
                        const tsr_graph *graph, tsr_plan *plan, bool *fits) {
  tsr_schedule_options options = {.piece = piece_bytes(s, r),
                                  .streams = r->streams,
                                  .relay = r->relay,
                                  .by_eta = r->by_eta,
                                  .routing = r->routing,
                                  .ignore_channels = r->ignore_channels,
                                  .copy_homes = s->options->reproducible,
                                  .budget = s->options->budget,
                                  .ring = s->options->ring,
                                  .residency = s->options->residency};
  tsr_fit fit;
  set_ahead(r, tiling, &options);
  plan->grid_rows = r->grid_rows;
  plan->grid_cols = r->grid_cols;
  plan->devices = r->grid_rows * r->grid_cols;
  TSR_TRY(tsr_schedule(s->machine, graph, &options, plan, &fit));
  *fits = fit != TSR_FITS_NOT;
  if (fit == TSR_FITS_TIGHT) note_hold(s, r, graph, plan);
  return *fits ? tsr_plan_replay(plan, s->machine, &plan->seconds) : TSR_OK;
}

/* What a candidate costs is reckoned from its commands, not measured: the same call on the same
 * machine must get the same plan, whatever else the computer does. */
static double cost_of(const tsr_plan *plan) {
  static const double each = 10e-6, command = 0.4e-6;
  return each + command * (double)plan->commands.count;
}

/* Seconds for which links are busy, a device. */
static double link_time(const tsr_plan *plan) {
  double sum = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind == TSR_COMMAND_COPY) sum += (double)c->end - (double)c->begin;
  }
  return sum / plan->devices;
}

/* What plans are compared by: of two with nearly the same time the one with fewer commands, which
 * has less that the model does not know of; and of those that load again what did not fit the one
 * that loads less, since others may use the links, too. Where C stays it is probably wanted at home
 * before long: half of the time that this would take beyond the plan's counts. */
static double score_of(const tsr_search *s, const tsr_plan *plan) {
  static const double share = 0.02, wanted = 0.5;
  double reloads = plan->hold.rows > 0 ? share * link_time(plan) : 0;
  double draining = plan->after != NULL ? tsr_plan_drained(plan, s->machine) - plan->seconds : 0;
  return plan->seconds + 0.1e-6 * (double)plan->commands.count + reloads + wanted * draining;
}

/* Keeps the better of the plan and the best one; frees the other. */
static void keep_better(tsr_search *s, const tsr_recipe *r, double score, tsr_plan *plan) {
  bool better = !s->best || score < s->best_score;
  double loser = better ? (s->best ? s->best->seconds : INFINITY) : plan->seconds;
  s->runner_up = fmin(s->runner_up, loser);
  set_aside(s, better ? s->best : plan);
  if (!better) return;
  s->best = plan;
  s->best_score = score;
  s->best_recipe = *r;
}

static bool climb_to(tsr_search *s, const tsr_recipe *r, double score) {
  if (!(score < s->at_score)) return false;
  s->at = *r;
  s->at_score = score;
  return true;
}

/* A call that does not fit is a long one, whatever the memory. A composed one is short, mostly, and
 * planned while the devices do those before it: they must not run out of work. */
static void set_allowed(tsr_search *s) {
  static const double share = 0.05, least = 5e-3, least_composed = 0.2e-3, most = 20e-3,
                      most_held = 1;
  double limit = s->best->hold.rows > 0 ? most_held : most;
  double from = s->options->residency != NULL ? least_composed : least;
  double allowed = fmin(limit, fmax(from, share * s->best->seconds));
  if (s->options->search_seconds > 0) allowed = s->options->search_seconds;
  s->allowed = allowed;
}

/* The floor, and one kernel's start: what a call takes whose operands are where they are wanted. Of
 * plans that load again, or leave something on devices, there are better ones that take as long. */
static void set_enough(tsr_search *s) {
  if (s->best->hold.rows > 0 || s->options->residency != NULL) return;
  double start = s->machine->device[s->order[0]].kernel_latency;
  s->enough = tsr_floor(s->machine, s->call) + 1.1 * start;
}

/* The tiling of a recipe; of a C that follows its mapping with that one's parts, or dealt by what
 * devices make of their room. */
static tsr_status cut(const tsr_search *s, const tsr_recipe *r, tsr_tiling *tiling) {
  TSR_TRY(tsr_recipe_tiling(r, s->call, s->machine, s->order, tiling));
  tiling->lazy_everywhere = s->options->reproducible;
  bool deals = r->deals && r->tile > 0;
  if (s->mapping == NULL && !deals) return TSR_OK;
  tsr_deal_question q = deal_question(s);
  tsr_status status = s->mapping != NULL ? tsr_mapped_set(s->mapping, s->call, tiling)
                                         : tsr_deal_set(&q, r, tiling);
  if (status != TSR_OK) tsr_tiling_free(tiling);
  return status;
}

/* What is forced, and what follows from it. */
static tsr_status settle(const tsr_search *s, tsr_recipe *r) {
  tsr_recipe_force(&s->forced, r);
  if (s->mapping != NULL) {
    r->grid_rows = s->mapping->grid_rows;
    r->grid_cols = s->mapping->grid_cols;
  }
  if (r->grid_rows * r->grid_cols > s->machine->devices)
    return tsr_fail(TSR_ERR_ARGUMENT, "a grid of %d x %d needs more than the %d devices there are",
                    r->grid_rows, r->grid_cols, s->machine->devices);
  if (tsr_search_must_be_lazy(s, r)) r->lazy = true;
  return TSR_OK;
}

/* What is known of a recipe that makes the same plan; NULL: it was not tried. */
static const tsr_trial *find_trial(const tsr_search *s, const tsr_recipe *simple) {
  for (size_t i = 0; i < s->tried.count; i++)
    if (tsr_recipe_same(&s->tried.items[i].recipe, simple)) return &s->tried.items[i];
  return NULL;
}

static tsr_status make_candidate(tsr_search *s, const tsr_recipe *r, tsr_plan **made) {
  tsr_tiling tiling;
  bool fits = false;
  TSR_TRY(cut(s, r, &tiling));
  tsr_plan *plan = plan_new(s);
  tsr_status status = plan ? tsr_graph_build(s->call, &tiling, &s->graph)
                           : tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  if (status == TSR_OK) status = build(s, r, &tiling, &s->graph, plan, &fits);
  tsr_tiling_free(&tiling);
  s->candidates++;
  if (plan) s->spent += cost_of(plan);
  *made = status == TSR_OK && fits ? plan : NULL;
  if (!*made) set_aside(s, plan);
  return status;
}

/* Plans and replays a recipe. *better: the climb has moved there. Without memory to note it down it
 * is tried again, perhaps. */
tsr_status tsr_search_try(tsr_search *s, const tsr_recipe *recipe, bool *better) {
  tsr_recipe r = *recipe;
  tsr_plan *plan = NULL;
  *better = false;
  TSR_TRY(settle(s, &r));
  tsr_trial trial = {.recipe = r, .score = INFINITY};
  tsr_recipe_simplify(s->call, s->machine, &trial.recipe);
  const tsr_trial *known = find_trial(s, &trial.recipe);
  if (!known) {
    TSR_TRY(make_candidate(s, &r, &plan));
    if (plan) trial.score = score_of(s, plan);
    if (plan) keep_better(s, &r, trial.score, plan);
    (void)TSR_VEC_PUSH(&s->tried, trial);
    if (s->best && s->best->hold.rows > 0) set_allowed(s);
  }
  s->last_score = known ? known->score : trial.score;
  *better = climb_to(s, &r, s->last_score);
  return TSR_OK;
}

/* ---- Devices -------------------------------------------------------------- */

static bool is_home(const tsr_search *s, int device) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (s->call->operand[x].location == device) return true;
  return false;
}

/* Capacity of a channel that a device's host link would share with the devices chosen already. */
double tsr_search_shared_rate(const tsr_search *s, int device, int chosen) {
  int host = s->machine->devices;
  double rate = s->machine->link[host][device].bandwidth;
  for (int c = 0; c < s->machine->channels; c++) {
    const tsr_channel *channel = &s->machine->channel[c];
    int users = 0;
    bool uses = false;
    for (int u = 0; u < channel->count; u++) {
      if (channel->uses[u].from != host) continue;
      uses |= channel->uses[u].to == device;
      for (int i = 0; i < chosen; i++) users += channel->uses[u].to == s->order[i];
    }
    if (uses) rate = fmin(rate, channel->capacity / (users + 1));
  }
  return rate;
}

/* Homes of operands first, then those that add most to the rate from the host. */
static void order_devices(tsr_search *s) {
  bool taken[TSR_MACHINE_DEVICES] = {false};
  for (int i = 0; i < s->machine->devices; i++) {
    int best = -1;
    double best_score = -1;
    for (int d = 0; d < s->machine->devices; d++) {
      if (taken[d]) continue;
      double score = tsr_search_shared_rate(s, d, i) + (is_home(s, d) ? 1e15 : 0);
      if (score > best_score * (1 + 1e-9)) {
        best = d;
        best_score = score;
      }
    }
    taken[best] = true;
    s->order[i] = best;
  }
}

/* ---- Strategies ----------------------------------------------------------- */

static int64_t longest(const tsr_call *call) {
  int64_t most = call->m > call->n ? call->m : call->n;
  return most > call->k ? most : call->k;
}

tsr_recipe tsr_search_tiles(const tsr_search *s, int devices, int64_t tile) {
  tsr_recipe r = {.tile = tile, .piece = 8 << 20, .streams = 1, .relay = true};
  tsr_panels_guess_grid(s->call, devices, &r);
  tsr_panels_set_lazy(s, &r);
  return r;
}

/* Tiles that depend on the shape alone, so that the bits do not depend on the devices. */
static int64_t reproducible_tile(const tsr_call *call) {
  return tsr_power_of_two_near((double)longest(call) / 8, 128, 2048);
}

int64_t tsr_search_told_tile(const tsr_search *s) {
  if (s->options->tile > 0) return s->options->tile;
  return s->options->reproducible ? reproducible_tile(s->call) : 0;
}

static tsr_recipe first_guess(const tsr_search *s, int devices, int64_t tile) {
  if (tile == 0) return tsr_panels_guess(s, devices);
  tsr_recipe r = tsr_search_tiles(s, devices, tile);
  if (s->options->reproducible) r.lazy = true;
  return r;
}

/* A partial C beside C takes room: where that is too much, C comes before the products. */
static tsr_status try_guess(tsr_search *s, const tsr_recipe *guess) {
  tsr_recipe r = *guess;
  bool better;
  TSR_TRY(tsr_search_try(s, &r, &better));
  if (s->best != NULL || !r.lazy || s->options->reproducible || tsr_search_must_be_lazy(s, &r))
    return TSR_OK;
  r.lazy = false;
  return tsr_search_try(s, &r, &better);
}

/* Tiles that are told are tried as they come; what does not fit otherwise is held in parts. */
static tsr_status search_devices(tsr_search *s, int devices) {
  int64_t tile = tsr_search_told_tile(s);
  tsr_recipe r = first_guess(s, devices, tile);
  TSR_TRY(try_guess(s, &r));
  if (s->best && s->best->hold.rows == 0) return TSR_OK;
  return tsr_holds_search(s, devices, tile);
}

/* Where C is computed is given. One that has no room there is computed anywhere. */
static tsr_status search_mapped(tsr_search *s) {
  if (s->mapping == NULL) return TSR_OK;
  tsr_recipe r = first_guess(s, s->mapping->grid_rows * s->mapping->grid_cols, s->options->tile);
  TSR_TRY(try_guess(s, &r));
  if (s->best != NULL) return TSR_OK;
  s->mapping = NULL;
  s->tried.count = 0;
  return TSR_OK;
}

static tsr_status search_all(tsr_search *s) {
  TSR_TRY(search_mapped(s));
  int all = s->best == NULL ? s->machine->devices : 0;
  for (int devices = all; devices >= 1; devices = devices > 1 ? devices / 2 : 0) {
    TSR_TRY(search_devices(s, devices));
    if (s->options->obey_devices && s->best) break;
  }
  if (!s->best) return TSR_OK;
  set_allowed(s);
  set_enough(s);
  if (s->best->hold.rows > 0) return tsr_holds_descend(s);
  return s->options->reproducible ? TSR_OK : tsr_panels_descend(s);
}

/* ---- Ends ----------------------------------------------------------------- */

static void describe(const tsr_search *s, tsr_plan *plan) {
  char recipe[200];
  const char *mapped = s->mapping != NULL ? "; C where it is mapped" : "";
  tsr_recipe_print(&s->best_recipe, recipe, sizeof recipe);
  int used = snprintf(plan->why, sizeof plan->why, "%s%s", recipe, mapped);
  if (isfinite(s->runner_up) && used > 0 && (size_t)used < sizeof plan->why)
    snprintf(plan->why + used, sizeof plan->why - (size_t)used, " (next best %+.1f %%)",
             100 * (s->runner_up / plan->seconds - 1));
}

static double cpu_time(const tsr_search *s) {
  double bytes = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    bytes += (double)tsr_operand_bytes(&s->call->operand[x], s->call->type);
  return tsr_machine_cpu_time(s->machine, s->call->type, tsr_call_flops(s->call), bytes);
}

/* Whether the CPU's BLAS may do the call, and is predicted to be quicker. */
static bool cpu_is_better(const tsr_search *s) {
  const tsr_machine *m = s->machine;
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (tsr_is_device(m, s->call->operand[x].location)) return false;
  if (m->devices == 0) return true;
  if (s->options->obey_devices || s->options->reproducible) return false;
  double cpu = cpu_time(s);
  return isfinite(cpu) && (!s->best || cpu < s->best->seconds);
}

static tsr_status plan_for_cpu(tsr_search *s) {
  tsr_plan_free(s->best);
  tsr_plan_free(s->spare);
  s->spare = NULL;
  s->best = plan_new(s);
  if (!s->best) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  double cpu = cpu_time(s);
  s->best->seconds = isfinite(cpu) ? cpu : 0;
  snprintf(s->best->why, sizeof s->best->why, "the CPU's BLAS");
  return TSR_OK;
}

/* A call that changes nothing has a plan without commands. */
static tsr_status run_search(tsr_search *s) {
  if (tsr_call_is_empty(s->call)) return plan_for_cpu(s);
  order_devices(s);
  if (s->machine->devices > 0) TSR_TRY(search_all(s));
  if (cpu_is_better(s)) return plan_for_cpu(s);
  return s->best ? TSR_OK : tsr_search_too_small(s);
}

/* Plans are kept for long. */
static void trim(tsr_plan *plan) {
  TSR_VEC_TRIM(&plan->commands);
  TSR_VEC_TRIM(&plan->waits);
  TSR_VEC_TRIM(&plan->buffers);
}

tsr_status tsr_plan_make(const tsr_machine *machine, const tsr_call *call,
                         const tsr_plan_options *options, tsr_plan **plan) {
  tsr_search s = {.machine = machine,
                  .call = call,
                  .options = options,
                  .began = tsr_now(),
                  .allowed = INFINITY,
                  .at_score = INFINITY,
                  .runner_up = INFINITY};
  s.wide = tsr_type_get(call->type)->wide != call->type;
  s.heat = tsr_plan_heat(machine, call);
  if (options->mapping != NULL && !options->reproducible &&
      tsr_mapped_follows(options->mapping, machine, call))
    s.mapping = options->mapping;
  TSR_TRY(tsr_recipe_parse(options->recipe, &s.forced));
  tsr_status status = run_search(&s);
  TSR_VEC_FREE(&s.tried);
  tsr_plan_free(s.spare);
  tsr_graph_free(&s.graph);
  if (status != TSR_OK) {
    tsr_plan_free(s.best);
    return status;
  }
  if (s.best->devices > 0) describe(&s, s.best);
  trim(s.best);
  s.best->floor = tsr_call_is_empty(call) ? 0 : tsr_floor(machine, call);
  s.best->candidates = s.candidates;
  s.best->plan_seconds = tsr_now() - s.began;
  *plan = s.best;
  return TSR_OK;
}
