/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The order in which devices are preferred. */
#include <math.h>

#include "plan/search/host.h"
#include "plan/search/search.h"

/* Added to each time, s, since a device may need none. */
#define LEAST_TIME 1e-12
/* Takes from a time what an order does not go by, but for a remainder that decides between equal
 * devices. */
#define SIDE_ISSUE 1e4

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

/* Bytes of the operands that are not on the device. */
static double bytes_for(const tsr_search *s, int device) {
  double bytes = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (s->call->operand[x].location != device)
      bytes += (double)tsr_operand_bytes(&s->call->operand[x], s->call->type);
  return bytes;
}

/* Calls per second of the device alone: its kernels, then all bytes of the operands over its share
 * of the links. A home of an operand waits for nothing, so that of devices of one speed it comes
 * first. */
static double worth(const tsr_search *s, tsr_device_order by, int device, int chosen) {
  double rate = tsr_machine_rate_limit(s->machine, s->call->type, s->heat);
  double flops = tsr_call_scales_only(s->call) ? 0 : tsr_call_flops(s->call);
  double kernels =
      rate > 0 ? flops / (rate * tsr_machine_speed(s->machine, device, s->call->type)) : 0;
  double link = tsr_search_shared_rate(s, device, chosen) + rate_to_homes(s, device);
  double copies = is_home(s, device) ? 0 : bytes_for(s, device) / link;
  if (by == TSR_ORDER_BY_KERNELS) copies /= SIDE_ISSUE;
  bool stays = s->exact && is_home(s, device); /* all devices are used, and homes come first */
  if (by == TSR_ORDER_BY_LINKS || stays) kernels /= SIDE_ISSUE;
  return 1 / (kernels + copies + LEAST_TIME);
}

/* Next is always the device that adds most. If devices are equal but for rounding (1e-9), the lower
 * number comes first. */
void tsr_search_order_devices(tsr_search *s, tsr_device_order by) {
  bool taken[TSR_MACHINE_DEVICES] = {false};
  for (int i = 0; i < s->machine->devices; i++) {
    int best = -1;
    double most = -1;
    for (int d = 0; d < s->machine->devices; d++) {
      double now = taken[d] ? -1 : worth(s, by, d, i);
      if (now <= most * (1 + 1e-9) || taken[d]) continue;
      best = d;
      most = now;
    }
    taken[best] = true;
    s->order[i] = best;
  }
}
