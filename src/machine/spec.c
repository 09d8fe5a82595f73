/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The machine that a string describes: the parts that no word has filled are chosen, then it is
 * built. */
#include "machine/spec.h"

#include <math.h>
#include <stdio.h>

#include "machine/tuning.h"

#define GIGA 1e9
#define TERA 1e12
#define MICRO 1e-6

/* ---- Parts that no word has filled ---- */

static double or_else(double value, double otherwise) {
  return value > 0 ? value : otherwise;
}

static void choose_rates(double rate[TSR_TYPE_COUNT]) {
  double *s = &rate[tsr_type_index(TSR_S)], *d = &rate[tsr_type_index(TSR_D)];
  *d = or_else(*d, *s > 0 ? *s / 2 : 10);
  *s = or_else(*s, 2 * *d);
  double others[][2] = {
      {TSR_C, *s}, {TSR_Z, *d}, {TSR_T, 4 * *s}, {TSR_H, 8 * *s}, {TSR_B, 8 * *s}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    double *other = &rate[tsr_type_index((tsr_type)others[i][0])];
    *other = or_else(*other, others[i][1]);
  }
}

static int at_most(int value, int most) {
  return value < most ? value : most;
}

static void choose(tsr_spec *s) {
  s->nodes = s->nodes > 0 ? s->nodes : 1;
  s->host_to = or_else(s->host_to, 100);
  s->host_from = or_else(s->host_from, s->host_to);
  s->sockets = or_else(s->sockets, s->host_to / 2);
  s->memory = or_else(s->memory, 40);
  s->sharing = s->sharing > 0 ? s->sharing : s->devices;
  s->latency = or_else(s->latency, 8);
  s->launch = or_else(s->launch, 3);
  s->cpu = or_else(s->cpu, 500);
  s->staging_threads = s->staging_threads > 0 ? s->staging_threads
                                              : at_most(4 * (s->devices > 0 ? s->devices : 1), 16);
  s->thread_rate = or_else(s->thread_rate, 10);
  s->net_latency = or_else(s->net_latency, s->net > 0 ? 2 : 0);
  double threads = s->staging_threads * s->thread_rate, memory = s->nodes * s->host_to / 2;
  s->staging = or_else(s->staging, threads < memory ? threads : memory);
  choose_rates(s->rate);
}

/* ---- Building ---- */

/* Returns -1 if the machine has too many channels; tsr_machine_use_channel() then fails. */
static int add_channel(tsr_machine *machine, const char *what, int index, const char *way,
                       double capacity) {
  char name[sizeof machine->channel[0].name];
  snprintf(name, sizeof name, "%s%d %s", what, index, way);
  return tsr_machine_add_channel(machine, name, capacity * GIGA);
}

static double value_of(const tsr_series *list, int device, double otherwise) {
  return list->count > 0 ? list->value[at_most(device, list->count - 1)] : otherwise;
}

static void build_devices(const tsr_spec *s, tsr_machine *machine) {
  for (int i = 0; i < s->devices; i++) {
    tsr_device *device = &machine->device[i];
    *device = (tsr_device){.speed = value_of(&s->speed, i, 1),
                           .memory = value_of(&s->memory_word, i, s->memory) * GIGA,
                           .memory_rate = value_of(&s->hbm, i, 3000) * GIGA,
                           .kernel_latency = s->launch * MICRO,
                           .host_node = s->devices + i * s->nodes / s->devices};
    snprintf(device->name, sizeof device->name, "gpu%d", i);
  }
}

/* GB/s of a device's host link. */
static double pcie_of(const tsr_spec *s, int device) {
  return value_of(&s->pcie, device, 25);
}

static void build_links(const tsr_spec *s, tsr_machine *machine) {
  for (int i = 0; i < s->devices; i++) {
    for (int node = s->devices; node < s->devices + s->nodes; node++) {
      tsr_machine_set_link(machine, node, i, pcie_of(s, i) * GIGA, s->latency * MICRO);
      tsr_machine_set_link(machine, i, node, pcie_of(s, i) * GIGA, s->latency * MICRO);
    }
    for (int j = 0; j < s->devices && s->fabric != TSR_STRING_NONE; j++) {
      double over_host = fmin(pcie_of(s, i), pcie_of(s, j));
      double rate = s->fabric == TSR_STRING_PCIE ? over_host : s->fabric_rate;
      if (i != j) tsr_machine_set_link(machine, i, j, rate * GIGA, s->latency * MICRO);
    }
  }
}

/* The channel of a host memory node, which both directions use. */
static tsr_status build_host_channel(const tsr_spec *s, tsr_machine *machine, int node) {
  int channel = add_channel(machine, "host", node, "memory", s->host_to);
  double out = s->host_to / s->host_from;
  for (int i = 0; i < s->devices; i++) {
    TSR_TRY(tsr_machine_use_channel(machine, channel, s->devices + node, i, 1));
    TSR_TRY(tsr_machine_use_channel(machine, channel, i, s->devices + node, out));
  }
  return TSR_OK;
}

/* A channel for all copies into, or out of, the devices [first, behind), which share a host
 * link as fast as the fastest of theirs. */
static tsr_status build_pcie_channel(const tsr_spec *s, tsr_machine *machine, int first, bool in) {
  int behind = at_most(first + s->sharing, s->devices), locations = s->devices + s->nodes;
  double capacity = 0;
  for (int i = first; i < behind; i++)
    capacity = pcie_of(s, i) > capacity ? pcie_of(s, i) : capacity;
  int channel =
      add_channel(machine, "pcie", first / s->sharing, in ? "to GPUs" : "from GPUs", capacity);
  for (int i = first; i < behind; i++) {
    for (int j = s->fabric == TSR_STRING_PCIE ? 0 : s->devices; j < locations; j++) {
      if (i == j) continue;
      TSR_TRY(tsr_machine_use_channel(machine, channel, in ? j : i, in ? i : j, 1));
    }
  }
  return TSR_OK;
}

/* Without sharing, with one node, and no copies between devices, only one copy at a time can be on
 * a device's host link, and the link's bandwidth is limit enough. */
static bool needs_pcie_channels(const tsr_spec *s) {
  return s->sharing > 1 || s->nodes > 1 || s->fabric == TSR_STRING_PCIE;
}

/* The channel of a device's way into, or out of, the switch, which its copies to and from all other
 * devices share. */
static tsr_status build_switch_channel(const tsr_spec *s, tsr_machine *machine, int device,
                                       bool in) {
  int channel =
      add_channel(machine, "gpu", device, in ? "from others" : "to others", s->fabric_rate);
  for (int other = 0; other < s->devices; other++) {
    if (other == device) continue;
    TSR_TRY(tsr_machine_use_channel(machine, channel, in ? other : device, in ? device : other, 1));
  }
  return TSR_OK;
}

static tsr_status build_channels(const tsr_spec *s, tsr_machine *machine) {
  for (int node = 0; node < s->nodes && s->devices > 0; node++)
    TSR_TRY(build_host_channel(s, machine, node));
  for (int i = 0; i < s->devices && needs_pcie_channels(s); i += s->sharing) {
    TSR_TRY(build_pcie_channel(s, machine, i, true));
    TSR_TRY(build_pcie_channel(s, machine, i, false));
  }
  bool switched = s->fabric == TSR_STRING_NVSWITCH && s->devices > 1;
  for (int i = 0; i < s->devices && switched; i++) {
    TSR_TRY(build_switch_channel(s, machine, i, true));
    TSR_TRY(build_switch_channel(s, machine, i, false));
  }
  return TSR_OK;
}

static void build_rest(const tsr_spec *s, tsr_machine *machine) {
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    const tsr_type_info *type = tsr_type_at(i);
    bool twice = type->epsilon > 0x1p-50; /* sums in fp32: twice the rate of fp64 */
    if (s->devices > 0) tsr_machine_set_rate(machine, type->type, s->rate[i] * TERA);
    machine->cpu_flops[i] = s->cpu * GIGA * (twice ? 2 : 1);
  }
  machine->cpu_latency = TSR_TUNE_CPU_LATENCY;
  machine->staging_threads = s->staging_threads;
  machine->thread_rate = s->thread_rate * GIGA;
  machine->staging_rate = s->staging * GIGA;
  machine->submit_copy = TSR_TUNE_SUBMIT_COPY;
  machine->submit_kernel = TSR_TUNE_SUBMIT_KERNEL;
  machine->network = (tsr_network){s->net * GIGA, s->net_latency * MICRO};
}

static void remove_links(const tsr_spec *s, tsr_machine *machine) {
  for (int i = 0; i < s->devices; i++)
    for (int j = 0; j < s->devices; j++)
      if (s->unlinked[i] >> j & 1) tsr_machine_unlink(machine, i, j);
}

/* Links of their own, which share nothing: a pair that is named leaves the host links. */
static void link_pairs(const tsr_spec *s, tsr_machine *machine) {
  for (int i = 0; i < s->devices && s->pairs.any; i++)
    for (int j = 0; j < s->devices; j++) {
      double rate = or_else(s->pairs.rate[i][j], s->pairs.count[i][j] * s->fabric_rate);
      if (rate <= 0 && s->fabric == TSR_STRING_PCIE) continue;
      if (machine->link[i][j].bandwidth > 0) tsr_machine_unlink(machine, i, j);
      if (rate > 0) tsr_machine_set_link(machine, i, j, rate * GIGA, s->latency * MICRO);
    }
}

tsr_status tsr_spec_build(tsr_spec *s, const char *string, tsr_machine *machine) {
  choose(s);
  snprintf(machine->name, sizeof machine->name, "%s", string);
  snprintf(machine->source, sizeof machine->source, "string");
  machine->devices = s->devices;
  machine->nodes = s->nodes;
  machine->interleaved = s->interleaved;
  build_devices(s, machine);
  build_links(s, machine);
  build_rest(s, machine);
  TSR_TRY(build_channels(s, machine));
  TSR_TRY(tsr_machine_cross(machine, s->sockets * GIGA, s->latency * MICRO,
                            s->fabric == TSR_STRING_PCIE));
  TSR_TRY(tsr_machine_complete(machine));
  remove_links(s, machine);
  link_pairs(s, machine);
  return tsr_machine_check(machine);
}
