/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "machine/machine.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

tsr_status tsr_machine_create(tsr_machine **machine) {
  tsr_machine *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a machine: free some");
  *machine = made;
  return TSR_OK;
}

void tsr_machine_destroy(tsr_machine *machine) {
  if (machine == NULL) return;
  for (int i = 0; i < machine->channels; i++) tsr_dealloc(machine->channel[i].uses);
  tsr_dealloc(machine);
}

void tsr_location_name(const tsr_machine *machine, int location, char name[TSR_LOCATION_NAME]) {
  bool device = tsr_is_device(machine, location);
  int number = device ? location : location - machine->devices;
  if (number >= machine->nodes && !device)
    snprintf(name, TSR_LOCATION_NAME, "hosts");
  else
    snprintf(name, TSR_LOCATION_NAME, "%s%d", device ? "gpu" : "host", number);
}

int tsr_machine_host(const tsr_machine *machine, int node) {
  bool spread = machine->interleaved || node == TSR_INTERLEAVED;
  if (machine->nodes == 1) return machine->devices;
  return machine->devices + (spread ? machine->nodes : node);
}

bool tsr_machine_has_ring(const tsr_machine *machine, int node) {
  for (int d = 0; d < machine->devices; d++)
    if (machine->device[d].host_node == machine->devices + node) return true;
  return false;
}

int tsr_machine_rings(const tsr_machine *machine) {
  int rings = 0;
  for (int node = 0; node < machine->nodes; node++) rings += tsr_machine_has_ring(machine, node);
  return rings;
}

/* ---- Building ---- */

void tsr_machine_set_link(tsr_machine *machine, int from, int to, double bandwidth,
                          double latency) {
  tsr_link *link = &machine->link[from][to];
  link->bandwidth = bandwidth;
  link->latency = latency;
}

int tsr_machine_add_channel(tsr_machine *machine, const char *name, double capacity) {
  if (machine->channels >= TSR_MACHINE_CHANNELS) return -1;
  tsr_channel *channel = &machine->channel[machine->channels];
  *channel = (tsr_channel){.capacity = capacity};
  snprintf(channel->name, sizeof channel->name, "%s", name);
  return machine->channels++;
}

tsr_status tsr_machine_use_channel(tsr_machine *machine, int channel, int from, int to,
                                   double weight) {
  if (channel < 0 || channel >= machine->channels)
    return tsr_fail(TSR_ERR_MACHINE, "channel %d does not exist; a machine has at most %d of them",
                    channel, TSR_MACHINE_CHANNELS);
  tsr_channel *c = &machine->channel[channel];
  tsr_channel_use *uses = tsr_realloc(c->uses, ((size_t)c->count + 1) * sizeof *uses);
  if (uses == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for channel %s: free some", c->name);
  uses[c->count++] = (tsr_channel_use){from, to, weight};
  c->uses = uses;
  return TSR_OK;
}

/* ---- Copying and selecting ---- */

enum { GONE = -1 };

/* to[location of the machine] = its location in the selected machine, or GONE. */
typedef struct renumbering {
  int to[TSR_MACHINE_LOCATIONS];
} renumbering;

static tsr_status renumber(const tsr_machine *machine, const int *devices, int count,
                           renumbering *map) {
  for (int i = 0; i < TSR_MACHINE_LOCATIONS; i++) map->to[i] = GONE;
  for (int i = 0; i < count; i++) {
    int device = devices[i];
    if (device < 0 || device >= machine->devices)
      return tsr_fail(TSR_ERR_ARGUMENT,
                      "device %d was asked for; machine %s has %d devices, numbered from 0", device,
                      machine->name, machine->devices);
    if (map->to[device] != GONE)
      return tsr_fail(TSR_ERR_ARGUMENT, "device %d was asked for twice; name it once", device);
    map->to[device] = i;
  }
  int hosts = tsr_machine_locations(machine) - machine->devices;
  for (int i = 0; i < hosts; i++) map->to[machine->devices + i] = count + i;
  return TSR_OK;
}

static void select_locations(const tsr_machine *from, const renumbering *map, tsr_machine *to) {
  int locations = tsr_machine_locations(from);
  for (int i = 0; i < locations; i++) {
    int row = map->to[i];
    if (row == GONE) continue;
    if (tsr_is_device(from, i)) {
      to->device[row] = from->device[i];
      to->device[row].host_node = map->to[from->device[i].host_node];
    }
    for (int j = 0; j < locations; j++)
      if (map->to[j] != GONE) to->link[row][map->to[j]] = from->link[i][j];
  }
}

/* A channel that only uses are left of that follow from those of absent devices is left out. */
static tsr_status select_channel(const tsr_machine *from, const tsr_channel *channel,
                                 const renumbering *map, tsr_machine *to) {
  int index = GONE;
  for (int i = 0; i < channel->count; i++) {
    const tsr_channel_use *use = &channel->uses[i];
    if (map->to[use->from] == GONE || map->to[use->to] == GONE) continue;
    if (index == GONE && tsr_channel_use_follows(from, use)) continue;
    if (index == GONE) index = tsr_machine_add_channel(to, channel->name, channel->capacity);
    TSR_TRY(tsr_machine_use_channel(to, index, map->to[use->from], map->to[use->to], use->weight));
  }
  return TSR_OK;
}

/* Copies the fields that do not belong to one location, link or channel. */
static void select_rest(const tsr_machine *from, tsr_machine *to) {
  memcpy(to->name, from->name, sizeof to->name);
  memcpy(to->identity, from->identity, sizeof to->identity);
  memcpy(to->source, from->source, sizeof to->source);
  memcpy(to->measured, from->measured, sizeof to->measured);
  memcpy(to->about, from->about, sizeof to->about);
  to->origins = from->origins;
  to->host = from->host;
  to->nodes = from->nodes;
  to->interleaved = from->interleaved;
  memcpy(to->rates, from->rates, sizeof to->rates);
  memcpy(to->cpu_flops, from->cpu_flops, sizeof to->cpu_flops);
  to->cpu_latency = from->cpu_latency;
  to->staging_threads = from->staging_threads;
  to->thread_rate = from->thread_rate;
  to->staging_rate = from->staging_rate;
  to->staging_start = from->staging_start;
  to->submit_copy = from->submit_copy;
  to->submit_kernel = from->submit_kernel;
  to->submit_record = from->submit_record;
  to->submit_wait = from->submit_wait;
  to->turnaround = from->turnaround;
  to->network = from->network;
}

static tsr_status fill_selected(const tsr_machine *from, const renumbering *map, tsr_machine *to) {
  select_rest(from, to);
  select_locations(from, map, to);
  for (int i = 0; i < from->channels; i++)
    TSR_TRY(select_channel(from, &from->channel[i], map, to));
  return TSR_OK;
}

tsr_status tsr_machine_select(const tsr_machine *machine, const int *devices, int count,
                              tsr_machine **selected) {
  renumbering map;
  tsr_machine *made = NULL;
  TSR_TRY(renumber(machine, devices, count, &map));
  TSR_TRY(tsr_machine_create(&made));
  made->devices = count;
  tsr_status status = fill_selected(machine, &map, made);
  if (status != TSR_OK) {
    tsr_machine_destroy(made);
    return status;
  }
  *selected = made;
  return TSR_OK;
}

/* ---- Digest ---- */

/* FNV-1a with 64 bits. */
static uint64_t mix(uint64_t digest, const void *data, size_t bytes) {
  const unsigned char *p = data;
  for (size_t i = 0; i < bytes; i++) digest = (digest ^ p[i]) * UINT64_C(0x100000001b3);
  return digest;
}

static uint64_t mix_number(uint64_t digest, double number) {
  return mix(digest, &number, sizeof number);
}

static uint64_t mix_int(uint64_t digest, int64_t number) {
  return mix(digest, &number, sizeof number);
}

static uint64_t mix_device(uint64_t digest, const tsr_device *device) {
  digest = mix_number(digest, device->speed);
  for (int i = 0; i < TSR_TYPE_COUNT; i++) digest = mix_number(digest, device->type_speed[i]);
  digest = mix_number(digest, device->memory);
  digest = mix_number(digest, device->memory_rate);
  digest = mix_number(digest, device->kernel_latency);
  return mix_int(digest, device->host_node);
}

static uint64_t mix_curve(uint64_t digest, const tsr_curve *curve) {
  digest = mix_int(digest, curve->count);
  for (int i = 0; i < curve->count; i++) {
    digest = mix_number(digest, curve->size[i]);
    digest = mix_number(digest, curve->rate[i]);
  }
  return digest;
}

static uint64_t mix_link(uint64_t digest, const tsr_link *link) {
  if (link->bandwidth == 0) return mix_int(digest, -1);
  digest = mix_number(digest, link->bandwidth);
  digest = mix_number(digest, link->latency);
  digest = mix_curve(digest, &link->shape);
  if (link->close.shape.count == 0) return digest; /* as before there were any */
  return mix_curve(mix_number(digest, link->close.pitch), &link->close.shape);
}

static uint64_t mix_channel(uint64_t digest, const tsr_channel *channel) {
  digest = mix_number(digest, channel->capacity);
  digest = mix_int(digest, channel->count);
  for (int i = 0; i < channel->count; i++) {
    digest = mix_int(digest, channel->uses[i].from);
    digest = mix_int(digest, channel->uses[i].to);
    digest = mix_number(digest, channel->uses[i].weight);
  }
  return digest;
}

static uint64_t mix_emulated(uint64_t digest, const tsr_rates *rates) {
  const struct tsr_emulated *emulated = &rates->emulated;
  if (emulated->sustained <= 0) return digest; /* as before there were any */
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) digest = mix_number(digest, emulated->flops[i][j]);
  return mix_number(mix_number(digest, emulated->elements), emulated->sustained);
}

static uint64_t mix_rates(uint64_t digest, const tsr_rates *rates) {
  digest = mix_int(digest, rates->areas);
  digest = mix_int(digest, rates->ks);
  if (rates->areas == 0) return digest;
  digest = mix_number(digest, rates->sustained);
  for (int i = 0; i < rates->areas; i++) digest = mix_number(digest, rates->area[i]);
  for (int j = 0; j < rates->ks; j++) digest = mix_number(digest, rates->k[j]);
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++)
      digest = mix_number(mix_number(digest, rates->flops[i][j]), rates->hot[i][j]);
  for (int i = 0; i < TSR_KERNEL_COUNT; i++) {
    const struct tsr_routine *routine = &rates->routine[i];
    if (routine->vendor <= 0) continue; /* as before there were any */
    digest = mix_number(mix_number(mix_int(digest, i), routine->vendor), routine->blocks);
  }
  digest = mix_curve(mix_emulated(digest, rates), &rates->narrow);
  return rates->trapezoid.count == 0 ? digest : mix_curve(digest, &rates->trapezoid);
}

/* Nothing is mixed in for a machine of which these are unknown, so that the plans and digests of
 * older machine files stay. */
static uint64_t mix_starts(uint64_t digest, const tsr_machine *machine) {
  const double starts[] = {machine->staging_start, machine->submit_record, machine->submit_wait,
                           machine->turnaround};
  for (int i = 0; i < (int)(sizeof starts / sizeof *starts); i++)
    if (starts[i] > 0) digest = mix_number(mix_int(digest, i), starts[i]);
  return digest;
}

static uint64_t mix_rest(uint64_t digest, const tsr_machine *machine) {
  digest = mix_number(digest, machine->cpu_latency);
  digest = mix_int(digest, machine->staging_threads);
  digest = mix_number(digest, machine->thread_rate);
  digest = mix_number(digest, machine->staging_rate);
  digest = mix_number(digest, machine->submit_copy);
  return mix_starts(mix_number(digest, machine->submit_kernel), machine);
}

uint64_t tsr_machine_digest(const tsr_machine *machine) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  int locations = tsr_machine_locations(machine);
  digest = mix_int(digest, machine->devices);
  digest = mix_int(digest, machine->nodes);
  digest = mix_int(digest, machine->interleaved);
  for (int i = 0; i < machine->devices; i++) digest = mix_device(digest, &machine->device[i]);
  for (int i = 0; i < locations; i++)
    for (int j = 0; j < locations; j++) digest = mix_link(digest, &machine->link[i][j]);
  digest = mix_int(digest, machine->channels);
  for (int i = 0; i < machine->channels; i++) digest = mix_channel(digest, &machine->channel[i]);
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    digest = mix_rates(digest, &machine->rates[i]);
    digest = mix_number(digest, machine->cpu_flops[i]);
  }
  return mix_rest(digest, machine);
}
