/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The order in which devices are preferred. */
#include <math.h>

#include "plan/search/host.h"
#include "plan/search/search.h"

static bool is_home(const tsr_search *s, int device) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (s->call->operand[x].location == device) return true;
  return false;
}

double tsr_search_shared_rate(const tsr_search *s, int device, int chosen) {
  int host = tsr_search_host(s->machine, s->call);
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

/* Bytes/s to a device from all other devices that are homes of operands, in sum. */
static double rate_to_homes(const tsr_search *s, int device) {
  double rate = 0;
  for (int h = 0; h < s->machine->devices; h++)
    if (h != device && is_home(s, h)) rate += s->machine->link[h][device].bandwidth;
  return rate;
}

/* Homes of operands come first: 1e15 bytes/s is more than any rate. Next is always the device that
 * adds most to the rate from the host and from the homes. If rates are equal but for rounding
 * (1e-9), the lower number comes first. */
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
