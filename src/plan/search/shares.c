/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Shares of C, learnt from the replay. Panels begin with shares by the devices' speeds, but devices
 * may need different times for them: blocks across the diagonal are computed whole, a device waits
 * longer for its operands than another, or has smaller kernels. C blocks begin with shares by a
 * formula of budgets and speeds, which the replay corrects.
 */
#include <math.h>

#include "plan/search/search.h"

static int place_of(const tsr_search *s, int devices, int device) {
  for (int g = 0; g < devices; g++)
    if (s->order[g] == device) return g;
  return -1;
}

static bool is_one_device_home(const tsr_search *s) {
  const tsr_operand *o = s->call->operand;
  return o[TSR_A].location == o[TSR_C_].location && o[TSR_B_].location == o[TSR_C_].location &&
         tsr_is_device(s->machine, o[TSR_C_].location);
}

bool tsr_search_is_whole_at_home(const tsr_search *s, const tsr_strategy *strategy) {
  bool cuts = (strategy->kind == TSR_PANELS || strategy->kind == TSR_SLICES) &&
              tsr_strategy_devices(strategy) > 1;
  return cuts && tsr_search_family(s) == TSR_PRODUCT && is_one_device_home(s) &&
         !tsr_call_has_form(s->call) && !tsr_call_scales_only(s->call) &&
         s->call->k <= TSR_STRATEGY_LONGEST && s->options->residency == NULL &&
         !s->options->reproducible && s->problem.realigned == 0;
}

bool tsr_search_leaves_home(const tsr_search *s, const tsr_strategy *strategy) {
  return tsr_strategy_devices(strategy) > 1 && is_one_device_home(s) &&
         s->options->residency == NULL;
}

/* In slices all devices add up C at the end, at about the same time. The end of a device's products
 * shows whether its slice is too long. */
static void note_command(const tsr_plan *plan, const tsr_command *c, bool copies,
                         tsr_place_prediction *of) {
  bool kernel = c->kind == TSR_COMMAND_KERNEL;
  if (plan->slices > 0 && c->kernel == TSR_KERNEL_ADD) return;
  if (kernel || copies) of->end = fmax(of->end, (double)c->end);
  if (!kernel) return;
  of->busy += (double)c->end - (double)c->begin;
  of->flops += tsr_kernel_flops((tsr_kernel)c->kernel, plan->call.type, c->m, c->n, c->k);
}

void tsr_shares_note(const tsr_search *s, const tsr_plan *plan, tsr_candidate *made) {
  bool tiles = tsr_strategy_has_tiles(&made->strategy);
  bool whole = tsr_search_is_whole_at_home(s, &made->strategy);
  int devices = tsr_strategy_devices(&made->strategy);
  if (plan == NULL || (tiles && !made->strategy.partition)) return;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    int device = plan->queue[c->queue].location, g = place_of(s, devices, device);
    bool copies = tiles || (whole && device != s->call->operand[TSR_C_].location);
    if (g >= 0) note_command(plan, c, copies, &made->share[g]);
  }
}

bool tsr_shares_are_free(const tsr_search *s, const tsr_candidate *at) {
  return tsr_strategy_devices(&at->strategy) > 1 && s->mapping == NULL &&
         (!tsr_strategy_has_tiles(&at->strategy) || at->strategy.partition);
}

/* ---- Panels and stripes ---- */

/* The weight after one step: scaled by the work that the device does in the time that it has more,
 * or less, than the mean, within limits. */
static uint16_t weight_after(uint16_t weight, const tsr_place_prediction *of, double mean) {
  double now = weight > 0 ? weight : TSR_STRATEGY_WEIGHT;
  double factor = 1 + (mean - of->end) / of->busy;
  double step = fmin(TSR_TUNE_SHARE_STEP_MOST, fmax(TSR_TUNE_SHARE_STEP_LEAST, factor));
  return (uint16_t)fmin(UINT16_MAX, fmax(1, now * step));
}

/* Sets weights that even out the devices' end times. False: a device has no kernels, or end times
 * differ by too little to move a cut, since cuts are rounded. */
static bool even_out(const tsr_place_prediction *of, int devices, uint16_t *weight) {
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

/* ---- Beside a home of all operands ---- */

/* Sets weights by which all devices would end at the same time if each one's time were proportional
 * to its share: the home's is, in one kernel, and the others' is, where links bind. False: a device
 * has no kernels, or the times differ by too little. */
static bool even_out_home(const tsr_place_prediction *of, int devices, uint16_t *weight) {
  double most = 0, least = INFINITY;
  for (int g = 0; g < devices; g++) {
    if (!(of[g].busy > 0)) return false;
    most = fmax(most, of[g].end);
    least = fmin(least, of[g].end);
  }
  if (most < least * (1 + TSR_TUNE_SHARES_EVEN)) return false;
  for (int g = 0; g < devices; g++) {
    double now = weight[g] > 0 ? weight[g] : TSR_STRATEGY_WEIGHT;
    weight[g] =
        (uint16_t)fmin(UINT16_MAX, fmax(1, now * sqrt(least / of[g].end * most / of[g].end)));
  }
  return true;
}

/* ---- C blocks ---- */

/* Sets weights proportional to each device's flops / time. False: nothing is known. */
static bool weigh_by_rate(const tsr_place_prediction *of, int devices, uint16_t *weight) {
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
  bool whole = tsr_search_is_whole_at_home(s, &at->strategy);
  return (at->strategy.kind == TSR_TILES ? weigh_by_rate
          : whole                        ? even_out_home
                                         : even_out)(at->share, devices, strategy->weight);
}
