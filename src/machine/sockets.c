/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Machines with several sockets: what crosses from one to another, interleaved memory, and copies
 * between nodes. */
#include <math.h>
#include <stdio.h>

#include "machine/machine.h"

/* ---- From socket to socket ---- */

/* The node of the socket that a location belongs to. */
static int node_of(const tsr_machine *machine, int location) {
  return tsr_is_device(machine, location) ? machine->device[location].host_node : location;
}

static bool crosses(const tsr_machine *machine, int from, int to, bool peers) {
  bool device_from = tsr_is_device(machine, from), device_to = tsr_is_device(machine, to);
  if (machine->link[from][to].bandwidth <= 0 || !(device_from || device_to)) return false;
  return (peers || !device_from || !device_to) && node_of(machine, from) != node_of(machine, to);
}

static void limit_curve(tsr_curve *curve, double rate) {
  for (int i = 0; i < curve->count; i++) curve->rate[i] = fmin(curve->rate[i], rate);
}

static void slow_down(tsr_link *link, double rate) {
  link->bandwidth = fmin(link->bandwidth, rate);
  limit_curve(&link->shape, rate);
  limit_curve(&link->close.shape, rate);
}

static tsr_status cross_over(tsr_machine *machine, int channel, int from, int to, double rate) {
  slow_down(&machine->link[from][to], rate);
  return tsr_machine_use_channel(machine, channel, from, to, 1);
}

/* Adds the channel of one direction. There is none if nothing crosses, as from a socket without
 * devices to another one. */
static tsr_status add_direction(tsr_machine *machine, int a, int b, double rate, bool peers) {
  int locations = machine->devices + machine->nodes, channel = -1;
  char name[sizeof machine->channel[0].name];
  snprintf(name, sizeof name, "sockets %d to %d", a - machine->devices, b - machine->devices);
  for (int from = 0; from < locations; from++)
    for (int to = 0; to < locations; to++) {
      bool here = node_of(machine, from) == a && node_of(machine, to) == b;
      if (!here || !crosses(machine, from, to, peers)) continue;
      if (channel < 0) channel = tsr_machine_add_channel(machine, name, rate);
      TSR_TRY(cross_over(machine, channel, from, to, rate));
    }
  return TSR_OK;
}

tsr_status tsr_machine_cross_one(tsr_machine *machine, int from, int to, double rate,
                                 double latency, bool peers) {
  TSR_TRY(add_direction(machine, from, to, rate, peers));
  tsr_machine_set_link(machine, from, to, rate, latency);
  return TSR_OK;
}

tsr_status tsr_machine_cross(tsr_machine *machine, double rate, double latency, bool peers) {
  int first = machine->devices, behind = machine->devices + machine->nodes;
  for (int a = first; a < behind; a++)
    for (int b = first; b < behind; b++)
      if (a != b) TSR_TRY(tsr_machine_cross_one(machine, a, b, rate, latency, peers));
  return TSR_OK;
}

bool tsr_machine_is_crossing(const tsr_machine *machine, const tsr_channel *channel, int *from,
                             int *to) {
  *from = *to = -1;
  for (int i = 0; i < channel->count; i++) {
    const tsr_channel_use *use = &channel->uses[i];
    if (tsr_channel_use_follows(machine, use)) continue;
    int a = node_of(machine, use->from) - machine->devices;
    int b = node_of(machine, use->to) - machine->devices;
    if (a == b || (*from >= 0 && (a != *from || b != *to))) return false;
    *from = a;
    *to = b;
  }
  return *from >= 0;
}

/* ---- Interleaved memory ---- */

/* The pages of a copy alternate between the nodes, so that its time is the sum of what an equal
 * part of its bytes takes over the link of each. */
static void interleave_links(tsr_machine *machine, int device, bool in) {
  int hosts = machine->devices + machine->nodes, near = machine->device[device].host_node;
  tsr_link *link = in ? &machine->link[hosts][device] : &machine->link[device][hosts];
  double seconds = 0, latency = 0;
  for (int node = machine->devices; node < hosts; node++) {
    const tsr_link *of = in ? &machine->link[node][device] : &machine->link[device][node];
    if (of->bandwidth <= 0) return;
    seconds += 1 / (of->bandwidth * machine->nodes);
    latency = fmax(latency, of->latency);
  }
  *link = in ? machine->link[near][device] : machine->link[device][near];
  slow_down(link, 1 / seconds);
  link->latency = latency;
}

/* The weight of a device's copies from or to interleaved memory: the mean of those of the nodes. */
static double mean_weight(const tsr_machine *machine, const tsr_channel *channel, int device,
                          bool in) {
  double sum = 0;
  for (int i = 0; i < channel->count; i++) {
    const tsr_channel_use *use = &channel->uses[i];
    int to = in ? use->to : use->from, other = in ? use->from : use->to;
    if (to == device && !tsr_is_device(machine, other)) sum += use->weight;
  }
  return sum / machine->nodes;
}

static tsr_status interleave_channel(tsr_machine *machine, int index, int device, bool in) {
  int hosts = machine->devices + machine->nodes, from = in ? hosts : device,
      to = in ? device : hosts;
  double weight = mean_weight(machine, &machine->channel[index], device, in);
  if (weight == 0 || machine->link[from][to].bandwidth <= 0) return TSR_OK;
  return tsr_machine_use_channel(machine, index, from, to, weight);
}

static tsr_status interleave(tsr_machine *machine) {
  for (int d = 0; d < machine->devices; d++)
    for (int in = 0; in < 2; in++) {
      interleave_links(machine, d, in);
      for (int c = 0; c < machine->channels; c++) TSR_TRY(interleave_channel(machine, c, d, in));
    }
  return TSR_OK;
}

/* ---- Copies between nodes ---- */

/* What a byte that leaves (in: enters) the node's memory loads the channel with: the mean weight of
 * the node's links to devices; 0 unless the channel is that of the node's memory alone, which every
 * link of the node uses. */
static double memory_weight(const tsr_machine *machine, const tsr_channel *channel, int node,
                            bool in) {
  double sum = 0;
  int links = 0, uses = 0;
  for (int d = 0; d < machine->devices; d++)
    links += machine->link[in ? d : node][in ? node : d].bandwidth > 0;
  for (int i = 0; i < channel->count; i++) {
    const tsr_channel_use *use = &channel->uses[i];
    if (tsr_channel_use_follows(machine, use)) continue;
    if (use->from != node && use->to != node) return 0;
    if ((in ? use->to : use->from) != node) continue;
    sum += use->weight;
    uses++;
  }
  return uses > 0 && uses == links ? sum / uses : 0;
}

/* The load of a channel by a byte that a thread copies from node to node. */
static double weight_between(const tsr_machine *machine, const tsr_channel *channel, int from,
                             int to) {
  int a, b;
  if (tsr_machine_is_crossing(machine, channel, &a, &b))
    return a == from - machine->devices && b == to - machine->devices;
  return memory_weight(machine, channel, from, false) + memory_weight(machine, channel, to, true);
}

/* The bytes/s of one thread's copy between interleaved memory and a node: an equal part of the
 * bytes takes the link of each other node. 0: a link is missing. */
static double interleaved_rate(const tsr_machine *machine, int node, bool in) {
  double seconds = 0;
  for (int other = machine->devices; other < machine->devices + machine->nodes; other++) {
    const tsr_link *of = in ? &machine->link[node][other] : &machine->link[other][node];
    if (other == node) continue;
    if (of->bandwidth <= 0) return 0;
    seconds += 1 / (of->bandwidth * machine->nodes);
  }
  return 1 / seconds;
}

/* All bytes of a copy between two nodes. */
static tsr_status join_nodes(tsr_machine *machine, int index, int from, int to) {
  double weight = weight_between(machine, &machine->channel[index], from, to);
  if (weight == 0 || machine->link[from][to].bandwidth <= 0) return TSR_OK;
  return tsr_machine_use_channel(machine, index, from, to, weight);
}

/* Those parts of a copy between interleaved memory and a node that lie on other nodes. */
static tsr_status join_interleaved(tsr_machine *machine, int index, int node, bool in) {
  int hosts = machine->devices + machine->nodes, from = in ? node : hosts, to = in ? hosts : node;
  double weight = 0;
  for (int other = machine->devices; other < hosts; other++)
    if (other != node)
      weight +=
          weight_between(machine, &machine->channel[index], in ? node : other, in ? other : node) /
          machine->nodes;
  if (weight == 0 || machine->link[from][to].bandwidth <= 0) return TSR_OK;
  return tsr_machine_use_channel(machine, index, from, to, weight);
}

/* Staging threads copy between a matrix on one node and a ring on another. Such a copy crosses, and
 * loads the memory of both. Within a node, the rate of the threads is limit enough. */
static tsr_status join(tsr_machine *machine) {
  int first = machine->devices, hosts = machine->devices + machine->nodes;
  for (int node = first; node < hosts; node++)
    for (int in = 0; in < 2; in++) {
      int from = in ? node : hosts, to = in ? hosts : node;
      machine->link[from][to] = (tsr_link){.bandwidth = interleaved_rate(machine, node, in)};
    }
  for (int c = 0; c < machine->channels; c++)
    for (int node = first; node < hosts; node++) {
      for (int other = first; other < hosts; other++)
        if (other != node) TSR_TRY(join_nodes(machine, c, node, other));
      TSR_TRY(join_interleaved(machine, c, node, false));
      TSR_TRY(join_interleaved(machine, c, node, true));
    }
  return TSR_OK;
}

tsr_status tsr_machine_complete(tsr_machine *machine) {
  if (machine->nodes == 1) return TSR_OK;
  TSR_TRY(interleave(machine));
  return join(machine);
}
