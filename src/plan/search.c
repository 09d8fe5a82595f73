/*
 * The search: recipes are tried on the model, from a first guess by steepest parameter, and the
 * plan with the least predicted time is kept, since a plan is used many times.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "blas/family.h"
#include "plan/recipe.h"
#include "plan/schedule.h"

typedef struct search {
  const tsr_machine *machine;
  const tsr_call *call;
  const tsr_plan_options *options;
  double began, spent, allowed;   /* spent and allowed: seconds of a computer that plans */
  int order[TSR_MACHINE_DEVICES]; /* devices, the preferred ones first */
  tsr_plan *best;                 /* NULL: none fits yet */
  tsr_recipe best_recipe;
  double runner_up;
  int candidates;
  bool wide; /* a partial C is of a wider type than C */
  double heat;
  tsr_forced forced; /* parts of the recipe that the user named */
} search;

/* ---- Plans ---------------------------------------------------------------- */

void tsr_plan_free(tsr_plan *plan) {
  if (!plan) return;
  TSR_VEC_FREE(&plan->commands);
  TSR_VEC_FREE(&plan->waits);
  TSR_VEC_FREE(&plan->buffers);
  if (plan->after) tsr_residency_free(plan->after);
  tsr_dealloc(plan->after);
  if (plan->before) tsr_residency_free(plan->before);
  tsr_dealloc(plan->before);
  tsr_dealloc(plan->times);
  tsr_dealloc(plan);
}

static tsr_plan *plan_new(const search *s) {
  tsr_plan *plan = tsr_alloc_zero(1, sizeof *plan);
  if (!plan) return NULL;
  plan->call = *s->call;
  plan->machine_devices = s->machine->devices;
  plan->reproducible = s->options->reproducible;
  plan->heat = s->heat;
  return plan;
}

static tsr_family family_of(const search *s) {
  return tsr_family_of(s->call->operation);
}

/* The partial C must have a place of its own when it is wider than C. */
static bool must_be_lazy(const search *s, const tsr_recipe *r) {
  int64_t part = r->tile > 0 ? r->tile : r->slab > 0 ? r->slab : TSR_RECIPE_LONGEST;
  return s->wide && s->call->k > part;
}

/* ---- One candidate -------------------------------------------------------- */

/* A whole tile, when copies are not cut: at most a gigabyte, since the staging ring holds two. */
static int64_t piece_bytes(const search *s, const tsr_recipe *r) {
  static const int64_t most = 1 << 30;
  if (r->piece > 0) return r->piece;
  int64_t size = (int64_t)tsr_type_get(tsr_type_get(s->call->type)->wide)->size;
  bool fits = r->tile > 0 && r->tile < 32768;
  int64_t bytes = fits ? r->tile * r->tile * size : most;
  return bytes < most ? bytes : most;
}

static tsr_status build(search *s, const tsr_recipe *r, const tsr_graph *graph, tsr_plan *plan,
                        bool *fits) {
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
  plan->grid_rows = r->grid_rows;
  plan->grid_cols = r->grid_cols;
  plan->devices = r->grid_rows * r->grid_cols;
  TSR_TRY(tsr_schedule(s->machine, graph, &options, plan, fits));
  return *fits ? tsr_plan_replay(plan, s->machine, &plan->seconds) : TSR_OK;
}

/* What a candidate costs is reckoned from its commands, not measured: the same call on the same
 * machine must get the same plan, whatever else the computer does. */
static double cost_of(const tsr_plan *plan) {
  static const double each = 10e-6, command = 0.4e-6;
  return each + command * (double)plan->commands.count;
}

/* What plans are compared by: of two with nearly the same time the one with fewer commands, which
 * has less that the model does not know of. */
static double score_of(const tsr_plan *plan) {
  return plan->seconds + 0.1e-6 * (double)plan->commands.count;
}

/* Keeps the better of the plan and the best one; frees the other. */
static bool keep_better(search *s, const tsr_recipe *r, tsr_plan *plan) {
  bool better = !s->best || score_of(plan) < score_of(s->best);
  double loser = better ? (s->best ? s->best->seconds : INFINITY) : plan->seconds;
  s->runner_up = fmin(s->runner_up, loser);
  tsr_plan_free(better ? s->best : plan);
  if (!better) return false;
  s->best = plan;
  s->best_recipe = *r;
  return true;
}

/* Plans and replays a recipe. *better: it is the best so far. */
static tsr_status try_recipe(search *s, const tsr_recipe *recipe, bool *better) {
  tsr_recipe forced = *recipe;
  const tsr_recipe *r = &forced;
  tsr_tiling tiling;
  tsr_graph graph = {0};
  bool fits = false;
  *better = false;
  tsr_recipe_force(&s->forced, &forced);
  if (forced.grid_rows * forced.grid_cols > s->machine->devices)
    return tsr_fail(TSR_ERR_ARGUMENT, "a grid of %d x %d needs more than the %d devices there are",
                    forced.grid_rows, forced.grid_cols, s->machine->devices);
  if (must_be_lazy(s, &forced)) forced.lazy = true;
  TSR_TRY(tsr_recipe_tiling(r, s->call, s->machine, s->order, &tiling));
  tiling.lazy_everywhere = s->options->reproducible;
  tsr_plan *plan = plan_new(s);
  tsr_status status = plan ? tsr_graph_build(s->call, &tiling, &graph)
                           : tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  if (status == TSR_OK) status = build(s, r, &graph, plan, &fits);
  tsr_graph_free(&graph);
  tsr_tiling_free(&tiling);
  s->candidates++;
  if (plan) s->spent += cost_of(plan);
  if (status == TSR_OK && fits)
    *better = keep_better(s, r, plan);
  else
    tsr_plan_free(plan);
  return status;
}

/* ---- Devices -------------------------------------------------------------- */

static bool is_home(const search *s, int device) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (s->call->operand[x].location == device) return true;
  return false;
}

/* Capacity of a channel that a device's host link would share with the devices chosen already. */
static double shared_rate(const search *s, int device, int chosen) {
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
static void order_devices(search *s) {
  bool taken[TSR_MACHINE_DEVICES] = {false};
  for (int i = 0; i < s->machine->devices; i++) {
    int best = -1;
    double best_score = -1;
    for (int d = 0; d < s->machine->devices; d++) {
      if (taken[d]) continue;
      double score = shared_rate(s, d, i) + (is_home(s, d) ? 1e15 : 0);
      if (score > best_score * (1 + 1e-9)) {
        best = d;
        best_score = score;
      }
    }
    taken[best] = true;
    s->order[i] = best;
  }
}

/* ---- First guesses -------------------------------------------------------- */

static int64_t power_of_two_near(double x, int64_t least, int64_t most) {
  int64_t p = least;
  while (p < most && (double)p * 1.5 < x) p *= 2;
  return p;
}

static bool may_be_lazy(const search *s, const tsr_recipe *r) {
  if (family_of(s) == TSR_TRIANGLE) return false;
  return must_be_lazy(s, r) || s->options->reproducible ||
         (s->call->beta != TSR_ZERO && !tsr_call_scales_only(s->call));
}

static void set_lazy(const search *s, tsr_recipe *r) {
  const tsr_operand *o = s->call->operand;
  bool shares = o[TSR_C_].location == o[TSR_A].location || o[TSR_C_].location == o[TSR_B_].location;
  r->lazy = may_be_lazy(s, r) && (must_be_lazy(s, r) || shares);
}

/* Seconds of transfers over seconds of kernels. */
static double transfer_share(const search *s, int devices) {
  double flops = tsr_call_flops(s->call), bytes = 0, link = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (s->call->operand[x].location >= s->machine->devices)
      bytes += (double)tsr_operand_bytes(&s->call->operand[x], s->call->type);
  for (int i = 0; i < devices; i++) link += shared_rate(s, s->order[i], i);
  double rate = s->machine->rates[tsr_type_index(s->call->type)].sustained;
  return link > 0 && flops > 0 ? bytes / link * rate * devices / flops : 0;
}

static void guess_grid(const tsr_call *call, int devices, tsr_recipe *r) {
  /* Columns of C are contiguous: cut them unless C is flat. */
  bool flat = call->m > 4 * call->n;
  r->grid_rows = flat ? devices : 1;
  r->grid_cols = flat ? 1 : devices;
}

/* Some tens of copies of each operand at a device: enough to keep the links busy side by side, few
 * enough that each one's start does not count. */
static int64_t guess_piece(const tsr_call *call, int devices) {
  double bytes = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    bytes += (double)tsr_operand_bytes(&call->operand[x], call->type);
  return power_of_two_near(bytes / devices / 48, 4 << 20, 32 << 20);
}

/* Blocks long enough for good kernels, and stripes narrow enough to begin before all of B is there.
 * trsm needs but one block to begin, and what it takes to solve one depends little on the lines. */
static void guess_blocks(const search *s, int devices, tsr_recipe *r) {
  const tsr_call *call = s->call;
  bool left = call->side == TSR_LEFT, solves = call->operation == TSR_TRSM;
  int64_t order = left ? call->m : call->n, lines = (left ? call->n : call->m) / devices;
  r->block = power_of_two_near((double)order / (solves ? 32 : 8), 256, solves ? 1024 : 2048);
  r->chunk = power_of_two_near((double)lines / (solves ? 1 : 8), 256, 4096);
  r->span = power_of_two_near(fmin(4096, (double)order / 8) / (double)r->block, 1, 32);
  r->chunk_least = 0; /* a narrow stripe goes through all blocks, too */
}

static tsr_recipe guess(const search *s, int devices) {
  tsr_recipe r = {.streams = 1, .chunk_least = 128, .relay = true};
  guess_grid(s->call, devices, &r);
  r.piece = guess_piece(s->call, devices);
  if (family_of(s) == TSR_TRIANGLE) {
    guess_blocks(s, devices, &r);
    return r;
  }
  double columns = (double)s->call->n / r.grid_cols;
  if (transfer_share(s, devices) > 1) {
    r.chunk_first = r.chunk = r.chunk_last = power_of_two_near(columns / 6, 64, 1024);
  } else {
    r.slab = power_of_two_near((double)s->call->k / 24, 256, 1024);
    r.chunk_first = 1024;
    r.chunk = 4096;
    r.chunk_last = 1024;
  }
  set_lazy(s, &r);
  return r;
}

/* ---- Steps ---------------------------------------------------------------- */

enum { STEPS = 10, OPTIONS = 8 };

/* Parameters that the search changes one at a time; a value of -1 ends a list. */
static const struct {
  size_t field;
  int64_t value[OPTIONS];
} steps[STEPS] = {
    {offsetof(tsr_recipe, slab), {0, 256, 512, 1024, 2048, 4096, -1}},
    {offsetof(tsr_recipe, slab_most), {0, 1024, 2048, 4096, 8192, -1}},
    {offsetof(tsr_recipe, chunk_last), {256, 512, 1024, 2048, 4096, 0, -1}},
    {offsetof(tsr_recipe, chunk_first), {512, 1024, 2048, 0, -1}},
    {offsetof(tsr_recipe, piece), {4 << 20, 8 << 20, 16 << 20, 32 << 20, -1}},
    {offsetof(tsr_recipe, span), {1, 2, 4, 8, 16, 32, -1}},
    {offsetof(tsr_recipe, block), {1024, 2048, 512, 4096, 256, -1}},
    {offsetof(tsr_recipe, chunk), {512, 1024, 2048, 4096, 8192, 0, -1}},
    {offsetof(tsr_recipe, chunk_least), {0, 128, 256, 512, -1}},
    {offsetof(tsr_recipe, home_share), {100, 112, 125, 150, 175, 200, 300, -1}},
};

static bool in_time(const search *s) {
  return s->spent < s->allowed;
}

/* A or B is at home on a device. */
static bool has_device_home(const search *s) {
  return tsr_is_device(s->machine, s->call->operand[TSR_A].location) ||
         tsr_is_device(s->machine, s->call->operand[TSR_B_].location);
}

/* Whether the family's panels depend on a parameter. Beside a triangle there are blocks and
 * stripes, else slabs; rank-k updates have the chunks of the last slab in all. */
static bool has_field(const search *s, size_t field) {
  bool is_block = field == offsetof(tsr_recipe, block) || field == offsetof(tsr_recipe, span);
  bool is_chunk = field == offsetof(tsr_recipe, chunk);
  bool is_any = field == offsetof(tsr_recipe, piece) || field == offsetof(tsr_recipe, chunk_least);
  switch (family_of(s)) {
    case TSR_TRIANGLE:
      return is_any || is_block || is_chunk;
    case TSR_RANK:
      return !is_block && !is_chunk && field != offsetof(tsr_recipe, chunk_first);
    default:
      return !is_block;
  }
}

static tsr_status try_value(search *s, size_t field, int64_t value, bool *better) {
  tsr_recipe r = s->best_recipe;
  int64_t *place = (int64_t *)((char *)&r + field);
  *better = false;
  if (*place == value || !has_field(s, field)) return TSR_OK;
  if (field == offsetof(tsr_recipe, slab_most) && (r.slab == 0 || value > s->call->k))
    return TSR_OK;
  if (field == offsetof(tsr_recipe, home_share) && !has_device_home(s)) return TSR_OK;
  *place = value;
  if (must_be_lazy(s, &r)) r.lazy = true;
  return try_recipe(s, &r, better);
}

static tsr_status try_order(search *s, bool *better) {
  tsr_recipe r = s->best_recipe;
  *better = false;
  if (r.tile == 0) return TSR_OK; /* a group for each device: there is one order */
  r.by_eta = !r.by_eta;
  return try_recipe(s, &r, better);
}

static tsr_status try_lazy(search *s, bool *better) {
  tsr_recipe r = s->best_recipe;
  *better = false;
  r.lazy = !r.lazy;
  if ((r.lazy && !may_be_lazy(s, &r)) || (!r.lazy && must_be_lazy(s, &r))) return TSR_OK;
  return try_recipe(s, &r, better);
}

static tsr_status try_adder(search *s, bool *better) {
  tsr_recipe r = s->best_recipe;
  *better = false;
  if (!r.lazy || !tsr_is_device(s->machine, s->call->operand[TSR_C_].location)) return TSR_OK;
  r.add_at_home = !r.add_at_home;
  return try_recipe(s, &r, better);
}

static tsr_status try_grids(search *s, int devices, bool *better) {
  *better = false;
  if (family_of(s) != TSR_PRODUCT) return TSR_OK; /* their panels lie side by side */
  for (int rows = 1; rows <= devices && in_time(s); rows++) {
    if (devices % rows || rows == s->best_recipe.grid_rows) continue;
    tsr_recipe r = s->best_recipe;
    bool is_better;
    r.grid_rows = rows;
    r.grid_cols = devices / rows;
    TSR_TRY(try_recipe(s, &r, &is_better));
    *better |= is_better;
  }
  return TSR_OK;
}

/* Changes one parameter after the other while that helps and there is time. */
static tsr_status descend(search *s) {
  int devices = s->best->devices;
  bool any = true, better;
  while (any && in_time(s)) {
    any = false;
    TSR_TRY(try_grids(s, devices, &better));
    any |= better;
    for (int i = 0; i < STEPS && s->best_recipe.tile == 0; i++)
      for (int v = 0; v < OPTIONS && steps[i].value[v] >= 0 && in_time(s); v++) {
        TSR_TRY(try_value(s, steps[i].field, steps[i].value[v], &better));
        any |= better;
      }
    TSR_TRY(try_order(s, &better));
    any |= better;
    TSR_TRY(try_lazy(s, &better));
    any |= better;
    TSR_TRY(try_adder(s, &better));
    any |= better;
  }
  return TSR_OK;
}

/* ---- Strategies ----------------------------------------------------------- */

static int64_t longest(const tsr_call *call) {
  int64_t most = call->m > call->n ? call->m : call->n;
  return most > call->k ? most : call->k;
}

static tsr_recipe tile_recipe(const search *s, int devices, int64_t tile) {
  tsr_recipe r = {.tile = tile, .piece = 8 << 20, .streams = 1, .relay = true};
  guess_grid(s->call, devices, &r);
  set_lazy(s, &r);
  return r;
}

/* Square tiles, for budgets that panels do not fit: the largest that fit, and smaller ones as long
 * as they are better. */
static tsr_status search_tiles(search *s, int devices) {
  static const int64_t least = 16;
  int64_t tile = power_of_two_near((double)longest(s->call), least, 16384);
  for (int worse = 0; tile >= least && worse < 2; tile /= 2) {
    tsr_recipe r = tile_recipe(s, devices, tile);
    bool better;
    TSR_TRY(try_recipe(s, &r, &better));
    worse += s->best && !better;
  }
  return TSR_OK;
}

/* Tiles that depend on the shape alone, so that the bits do not depend on the devices. */
static int64_t reproducible_tile(const tsr_call *call) {
  return power_of_two_near((double)longest(call) / 8, 128, 2048);
}

static tsr_status search_devices(search *s, int devices) {
  bool better;
  if (s->options->reproducible || s->options->tile > 0) {
    int64_t tile = s->options->tile > 0 ? s->options->tile : reproducible_tile(s->call);
    tsr_recipe r = tile_recipe(s, devices, tile);
    if (s->options->reproducible) r.lazy = true;
    return try_recipe(s, &r, &better);
  }
  tsr_recipe r = guess(s, devices);
  TSR_TRY(try_recipe(s, &r, &better));
  return s->best ? TSR_OK : search_tiles(s, devices);
}

static void set_allowed(search *s) {
  static const double share = 0.05, least = 5e-3, most = 20e-3;
  double allowed = fmin(most, fmax(least, share * s->best->seconds));
  if (s->options->search_seconds > 0) allowed = s->options->search_seconds;
  s->allowed = allowed;
}

static tsr_status search_all(search *s) {
  int all = s->machine->devices;
  for (int devices = all; devices >= 1; devices = devices > 1 ? devices / 2 : 0) {
    TSR_TRY(search_devices(s, devices));
    if (s->options->obey_devices && s->best) break;
  }
  if (!s->best) return TSR_OK;
  set_allowed(s);
  return s->options->reproducible ? TSR_OK : descend(s);
}

/* ---- Ends ----------------------------------------------------------------- */

static tsr_status too_small(search *s) {
  int64_t tile = s->options->tile > 0       ? s->options->tile
                 : s->options->reproducible ? reproducible_tile(s->call)
                                            : 16;
  tsr_recipe r = tile_recipe(s, 1, tile);
  tsr_tiling tiling;
  tsr_graph graph;
  char tiles[40] = "panels";
  tsr_recipe_force(&s->forced, &r);
  if (s->options->reproducible || must_be_lazy(s, &r)) r.lazy = true;
  if (r.tile > 0) snprintf(tiles, sizeof tiles, "tiles of %" PRId64, r.tile);
  TSR_TRY(tsr_recipe_tiling(&r, s->call, s->machine, s->order, &tiling));
  tsr_status status = tsr_graph_build(s->call, &tiling, &graph);
  if (status == TSR_OK) {
    size_t smallest = SIZE_MAX;
    for (int d = 0; d < s->machine->devices; d++)
      if (s->options->budget[d] < smallest) smallest = s->options->budget[d];
    status = tsr_fail(TSR_ERR_MEMORY,
                      "a budget of %zu bytes for each device is too small for %s: give at least "
                      "%zu bytes (TESSERA_MEMORY)%s",
                      smallest, tiles, tsr_schedule_least_budget(s->call, &graph),
                      s->options->tile > 0 ? " or smaller tiles (TESSERA_TILE)" : "");
    tsr_graph_free(&graph);
  }
  tsr_tiling_free(&tiling);
  return status;
}

static void describe(const search *s, tsr_plan *plan) {
  char recipe[200];
  tsr_recipe_print(&s->best_recipe, recipe, sizeof recipe);
  int used = snprintf(plan->why, sizeof plan->why, "%s", recipe);
  if (isfinite(s->runner_up) && used > 0 && (size_t)used < sizeof plan->why)
    snprintf(plan->why + used, sizeof plan->why - (size_t)used, " (next best %+.1f %%)",
             100 * (s->runner_up / plan->seconds - 1));
}

static double cpu_time(const search *s) {
  double bytes = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    bytes += (double)tsr_operand_bytes(&s->call->operand[x], s->call->type);
  return tsr_machine_cpu_time(s->machine, s->call->type, tsr_call_flops(s->call), bytes);
}

/* Whether the CPU's BLAS may do the call, and is predicted to be quicker. */
static bool cpu_is_better(const search *s) {
  const tsr_machine *m = s->machine;
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (tsr_is_device(m, s->call->operand[x].location)) return false;
  if (m->devices == 0) return true;
  if (s->options->obey_devices || s->options->reproducible) return false;
  double cpu = cpu_time(s);
  return isfinite(cpu) && (!s->best || cpu < s->best->seconds);
}

static tsr_status plan_for_cpu(search *s) {
  tsr_plan_free(s->best);
  s->best = plan_new(s);
  if (!s->best) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  double cpu = cpu_time(s);
  s->best->seconds = isfinite(cpu) ? cpu : 0;
  snprintf(s->best->why, sizeof s->best->why, "the CPU's BLAS");
  return TSR_OK;
}

/* A call that changes nothing has a plan without commands. */
static tsr_status run_search(search *s) {
  if (tsr_call_is_empty(s->call)) return plan_for_cpu(s);
  order_devices(s);
  if (s->machine->devices > 0) TSR_TRY(search_all(s));
  if (cpu_is_better(s)) return plan_for_cpu(s);
  return s->best ? TSR_OK : too_small(s);
}

tsr_status tsr_plan_make(const tsr_machine *machine, const tsr_call *call,
                         const tsr_plan_options *options, tsr_plan **plan) {
  search s = {.machine = machine,
              .call = call,
              .options = options,
              .began = tsr_now(),
              .allowed = INFINITY,
              .runner_up = INFINITY};
  s.wide = tsr_type_get(call->type)->wide != call->type;
  s.heat = tsr_plan_heat(machine, call);
  TSR_TRY(tsr_recipe_parse(options->recipe, &s.forced));
  tsr_status status = run_search(&s);
  if (status != TSR_OK) {
    tsr_plan_free(s.best);
    return status;
  }
  if (s.best->devices > 0) describe(&s, s.best);
  s.best->floor = tsr_call_is_empty(call) ? 0 : tsr_floor(machine, call);
  s.best->candidates = s.candidates;
  s.best->plan_seconds = tsr_now() - s.began;
  *plan = s.best;
  return TSR_OK;
}
