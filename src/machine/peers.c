/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Links between devices: without them, and as they would be over the devices' host links. */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "machine/machine.h"

/* ---- Without ---- */

static void drop_uses(tsr_channel *channel, int from, int to) {
  int kept = 0;
  for (int i = 0; i < channel->count; i++)
    if (channel->uses[i].from != from || channel->uses[i].to != to)
      channel->uses[kept++] = channel->uses[i];
  channel->count = kept;
}

static void drop_empty_channels(tsr_machine *machine) {
  int kept = 0;
  for (int i = 0; i < machine->channels; i++) {
    if (machine->channel[i].count > 0)
      machine->channel[kept++] = machine->channel[i];
    else
      tsr_dealloc(machine->channel[i].uses);
  }
  for (int i = kept; i < machine->channels; i++) machine->channel[i] = (tsr_channel){0};
  machine->channels = kept;
}

void tsr_machine_unlink(tsr_machine *machine, int from, int to) {
  machine->link[from][to] = (tsr_link){0};
  for (int i = 0; i < machine->channels; i++) drop_uses(&machine->channel[i], from, to);
  drop_empty_channels(machine);
}

bool tsr_machine_all_linked(const tsr_machine *machine) {
  for (int i = 0; i < machine->devices; i++)
    for (int j = 0; j < machine->devices; j++)
      if (i != j && machine->link[i][j].bandwidth <= 0) return false;
  return true;
}

/* ---- Over host links ---- */

/* The link of a device to its node (out), or from it. */
static const tsr_link *host_link(const tsr_machine *machine, int device, bool out) {
  int node = machine->device[device].host_node;
  return out ? &machine->link[device][node] : &machine->link[node][device];
}

/* The pairs that get a link, as bits: bit to of [from]. */
typedef struct pairs {
  uint32_t to[TSR_MACHINE_DEVICES];
} pairs;

static bool is_new(const pairs *p, int from, int to) {
  return p->to[from] >> to & 1;
}

static void add_links(tsr_machine *machine, pairs *added) {
  for (int i = 0; i < machine->devices; i++)
    for (int j = 0; j < machine->devices; j++) {
      const tsr_link *out = host_link(machine, i, true), *in = host_link(machine, j, false);
      if (i == j || machine->link[i][j].bandwidth > 0) continue;
      double rate = fmin(out->bandwidth, in->bandwidth);
      int here = machine->device[i].host_node, there = machine->device[j].host_node;
      if (here != there && machine->link[here][there].bandwidth > 0)
        rate = fmin(rate, machine->link[here][there].bandwidth);
      if (rate <= 0) continue;
      tsr_machine_set_link(machine, i, j, rate, fmax(out->latency, in->latency));
      added->to[i] |= (uint32_t)1 << j;
    }
}

/* One direction of a device's host link, which its copies from and to host memory and the new links
 * share. */
static tsr_status share_host_link(tsr_machine *machine, const pairs *added, int device, bool out) {
  char name[sizeof machine->channel[0].name];
  snprintf(name, sizeof name, "gpu%d host link %s", device, out ? "out" : "in");
  int channel = tsr_machine_add_channel(machine, name, host_link(machine, device, out)->bandwidth);
  for (int other = 0; other < tsr_machine_locations(machine); other++) {
    int from = out ? device : other, to = out ? other : device;
    bool host = !tsr_is_device(machine, other);
    if (other == device || machine->link[from][to].bandwidth <= 0) continue;
    if (host || is_new(added, from, to))
      TSR_TRY(tsr_machine_use_channel(machine, channel, from, to, 1));
  }
  return TSR_OK;
}

static tsr_status share_crossing(tsr_machine *machine, const pairs *added, int channel, int a,
                                 int b) {
  for (int i = 0; i < machine->devices; i++)
    for (int j = 0; j < machine->devices; j++) {
      bool crosses = machine->device[i].host_node == machine->devices + a &&
                     machine->device[j].host_node == machine->devices + b;
      if (crosses && is_new(added, i, j))
        TSR_TRY(tsr_machine_use_channel(machine, channel, i, j, 1));
    }
  return TSR_OK;
}

tsr_status tsr_machine_link_over_host(tsr_machine *machine) {
  pairs added = {{0}};
  int channels = machine->channels, a, b;
  add_links(machine, &added);
  for (int d = 0; d < machine->devices; d++) {
    TSR_TRY(share_host_link(machine, &added, d, true));
    TSR_TRY(share_host_link(machine, &added, d, false));
  }
  for (int c = 0; c < channels; c++)
    if (tsr_machine_is_crossing(machine, &machine->channel[c], &a, &b))
      TSR_TRY(share_crossing(machine, &added, c, a, b));
  return TSR_OK;
}
