/*
 * Shares of C, learnt from the replay. Panels are cut alike, or as much of a triangle into each,
 * but the devices need not take as long for them: blocks across a diagonal are computed whole, one
 * device waits for its operands longer than another, or has the smaller kernels. C blocks are
 * partitioned by what each device can do with its budget, of which a formula knows less than the
 * replay.
 */
#include <math.h>

#include "plan/search/search.h"

static int place_of(const tsr_search *s, int devices, int device) {
  for (int g = 0; g < devices; g++)
    if (s->order[g] == device) return g;
  return -1;
}

static void note_command(const tsr_plan *plan, const tsr_command *c, bool tiles, tsr_share *of) {
  bool kernel = c->kind == TSR_COMMAND_KERNEL;
  if (kernel || tiles) of->end = fmax(of->end, (double)c->end);
  if (!kernel) return;
  of->busy += (double)c->end - (double)c->begin;
  of->flops += tsr_kernel_flops((tsr_kernel)c->kernel, plan->call.type, c->m, c->n, c->k);
}

void tsr_shares_note(const tsr_search *s, const tsr_plan *plan, tsr_candidate *made) {
  bool tiles = made->strategy.kind == TSR_TILES;
  int devices = tsr_strategy_devices(&made->strategy);
  if (plan == NULL || (tiles && !made->strategy.partition)) return;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    int g = place_of(s, devices, plan->queue[c->queue].location);
    if (g >= 0) note_command(plan, c, tiles, &made->share[g]);
  }
}

bool tsr_shares_are_free(const tsr_search *s, const tsr_candidate *at) {
  return tsr_strategy_devices(&at->strategy) > 1 && s->mapping == NULL &&
         (at->strategy.kind != TSR_TILES || at->strategy.partition);
}

/* ---- Panels and stripes ---- */

/* What is done in the time that a device has more, or less, than the mean. */
static uint16_t weight_after(uint16_t weight, const tsr_share *of, double mean) {
  double now = weight > 0 ? weight : TSR_STRATEGY_WEIGHT;
  double factor = 1 + (mean - of->end) / of->busy;
  double step = fmin(TSR_TUNE_SHARE_STEP_MOST, fmax(TSR_TUNE_SHARE_STEP_LEAST, factor));
  return (uint16_t)fmin(UINT16_MAX, fmax(1, now * step));
}

/* Whether the devices differ by enough for a cut that is rounded to move. */
static bool even_out(const tsr_share *of, int devices, uint16_t *weight) {
  double mean = 0, last = 0;
  for (int g = 0; g < devices; g++) {
    if (!(of[g].busy > 0)) return false;
    mean += of[g].end / devices;
    last = fmax(last, of[g].end);
  }
  if (last < mean * (1 + TSR_TUNE_SHARES_EVEN)) return false;
  for (int g = 0; g < devices; g++) weight[g] = weight_after(weight[g], &of[g], mean);
  return true;
}

/* ---- C blocks ---- */

/* By what each device did in its time. */
static bool deal_by_rate(const tsr_share *of, int devices, uint16_t *weight) {
  double best = 0;
  for (int g = 0; g < devices; g++)
    if (of[g].end > 0) best = fmax(best, of[g].flops / of[g].end);
  if (!(best > 0)) return false;
  for (int g = 0; g < devices; g++)
    weight[g] =
        of[g].end > 0 ? (uint16_t)(TSR_STRATEGY_WEIGHT * of[g].flops / of[g].end / best) : 0;
  return true;
}

bool tsr_shares_learn(const tsr_search *s, const tsr_candidate *at, tsr_strategy *strategy) {
  int devices = tsr_strategy_devices(&at->strategy);
  *strategy = at->strategy;
  if (!tsr_shares_are_free(s, at)) return false;
  return (at->strategy.kind == TSR_TILES ? deal_by_rate : even_out)(at->share, devices,
                                                                    strategy->weight);
}
