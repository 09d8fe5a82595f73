/*
 * Which devices are tried, and what on each set of them.
 */
#include <math.h>

#include "plan/search.h"

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

/* Bytes/s between a device and the devices that are homes. */
static double rate_to_homes(const tsr_search *s, int device) {
  double rate = 0;
  for (int h = 0; h < s->machine->devices; h++)
    if (h != device && is_home(s, h)) rate += s->machine->link[h][device].bandwidth;
  return rate;
}

/* Homes of operands first, then those that add most to the rate from the host and the homes. */
void tsr_search_order_devices(tsr_search *s) {
  bool taken[TSR_MACHINE_DEVICES] = {false};
  for (int i = 0; i < s->machine->devices; i++) {
    int best = -1;
    double best_score = -1;
    for (int d = 0; d < s->machine->devices; d++) {
      if (taken[d]) continue;
      double score = is_home(s, d) ? 1e15 : tsr_search_shared_rate(s, d, i) + rate_to_homes(s, d);
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
int64_t tsr_search_reproducible_tile(const tsr_call *call) {
  return tsr_power_of_two_near((double)longest(call) / 8, 128, 2048);
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
  int64_t tile = s->options->tile > 0       ? s->options->tile
                 : s->options->reproducible ? tsr_search_reproducible_tile(s->call)
                                            : 0;
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

/* Seconds that no plan on so many devices can beat: their kernels. */
static double least_on(const tsr_search *s, int devices) {
  double speed = 0, rate = tsr_machine_rate_limit(s->machine, s->call->type, 0);
  for (int i = 0; i < devices; i++) speed += s->machine->device[s->order[i]].speed;
  if (tsr_call_scales_only(s->call) || rate <= 0) return 0;
  return tsr_call_flops(s->call) / (rate * speed);
}

static bool may_win(const tsr_search *s, int devices) {
  static const double gain = 0.99;
  return s->best == NULL || least_on(s, devices) < gain * s->best->seconds;
}

/* A first look at all devices, then at half of them, and so on. */
static tsr_status search_halves(tsr_search *s) {
  int all = s->best == NULL ? s->machine->devices : 0;
  for (int devices = all; devices >= 1; devices /= 2) {
    if (may_win(s, devices)) TSR_TRY(search_devices(s, devices));
    if (s->options->obey_devices && s->best) break;
  }
  return TSR_OK;
}

/* A number of devices, and what its first guess came to. */
typedef struct entry {
  int devices;
  tsr_trial trial;
} entry;

/* First guesses on all numbers of devices that may do better than the best plan so far; those that
 * come close to it, the best first. */
static tsr_status find_entries(tsr_search *s, entry list[TSR_MACHINE_DEVICES], int *count) {
  static const double hopeless = 1.3;
  int searched = s->best->devices;
  *count = 0;
  for (int devices = s->machine->devices; devices >= 1 && tsr_search_in_time(s); devices--) {
    bool moved;
    if (devices == searched || !may_win(s, devices)) continue;
    tsr_recipe r = tsr_panels_guess(s, devices);
    s->at_score = INFINITY;
    TSR_TRY(tsr_search_try(s, &r, &moved));
    if (!(s->at_score < hopeless * s->best_score)) continue;
    int at = (*count)++;
    for (; at > 0 && list[at - 1].trial.score > s->at_score; at--) list[at] = list[at - 1];
    list[at] = (entry){devices, {s->at, s->at_score}};
  }
  return TSR_OK;
}

/* Where devices wait for each other's data fewer of them may be as quick, and which number is best
 * shows only when each has been climbed from: for half as long again, half of what is left each. */
static tsr_status search_fewer(tsr_search *s) {
  entry list[TSR_MACHINE_DEVICES];
  int count;
  if (s->options->obey_devices || s->options->residency != NULL) return TSR_OK;
  double end = fmax(s->spent, s->allowed) + s->allowed / 2;
  s->allowed = end;
  TSR_TRY(find_entries(s, list, &count));
  for (int i = 0; i < count; i++) {
    s->allowed = (s->spent + end) / 2;
    s->at = list[i].trial.recipe;
    s->at_score = list[i].trial.score;
    TSR_TRY(tsr_panels_descend(s, list[i].devices));
  }
  return TSR_OK;
}

tsr_status tsr_search_all(tsr_search *s) {
  TSR_TRY(search_mapped(s));
  TSR_TRY(search_halves(s));
  if (!s->best) return TSR_OK;
  tsr_search_set_allowed(s);
  tsr_search_set_enough(s);
  if (s->best->hold.rows > 0) return tsr_holds_descend(s);
  if (s->options->reproducible) return TSR_OK;
  TSR_TRY(tsr_panels_descend(s, s->best->devices));
  return s->mapping == NULL && s->at.tile == 0 ? search_fewer(s) : TSR_OK;
}
