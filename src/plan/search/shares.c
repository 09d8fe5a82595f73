/*
 * Shares of C. Panels are cut alike, or as much of a triangle into each, but the devices need not
 * take as long for them: blocks across a diagonal are computed whole, one device has to wait for
 * its operands longer than another, or has the smaller kernels. The replay tells.
 */
#include <math.h>
#include <string.h>

#include "plan/search/search.h"

static int place_of(const tsr_search *s, int devices, int device) {
  for (int g = 0; g < devices; g++)
    if (s->order[g] == device) return g;
  return -1;
}

void tsr_search_note_shares(tsr_search *s, const tsr_strategy *r, const tsr_plan *plan) {
  int devices = plan != NULL ? tsr_strategy_devices(r) : 0;
  memset(s->last.share, 0, sizeof s->last.share);
  for (size_t i = 0; plan != NULL && r->kind != TSR_TILES && i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL) continue;
    int g = place_of(s, devices, plan->queue[c->queue].location);
    if (g < 0) continue;
    s->last.share[g].end = fmax(s->last.share[g].end, (double)c->end);
    s->last.share[g].busy += (double)c->end - (double)c->begin;
  }
}

/* What is done in the time that a device has more, or less, than the mean. */
static uint16_t weight_after(uint16_t weight, const tsr_share *of, double mean) {
  double now = weight > 0 ? weight : TSR_STRATEGY_WEIGHT;
  double factor = 1 + (mean - of->end) / of->busy;
  return (uint16_t)fmin(UINT16_MAX, fmax(1, now * fmin(2, fmax(0.5, factor))));
}

/* Whether the devices differ by enough for a cut that is rounded to move. */
static bool deal(const tsr_share *of, int devices, uint16_t *weight) {
  static const double even = 0.01;
  double mean = 0, last = 0;
  for (int g = 0; g < devices; g++) {
    if (!(of[g].busy > 0)) return false;
    mean += of[g].end / devices;
    last = fmax(last, of[g].end);
  }
  if (last < mean * (1 + even)) return false;
  for (int g = 0; g < devices; g++) weight[g] = weight_after(weight[g], &of[g], mean);
  return true;
}

tsr_status tsr_search_shares(tsr_search *s, bool *better) {
  tsr_strategy r = s->at.strategy;
  int devices = r.grid_rows * r.grid_cols;
  *better = false;
  if (devices < 2 || r.kind == TSR_TILES || s->mapping != NULL) return TSR_OK;
  return deal(s->at.share, devices, r.weight) ? tsr_search_try(s, &r, better) : TSR_OK;
}
