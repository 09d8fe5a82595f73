/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks of a machine. Every message names the field and the remedy. */
#include <math.h>
#include <stdio.h>

#include "machine/machine.h"

enum { PLACE = 64 };

/* Numbers are below this, so that no sum or product of them overflows. */
#define MOST 1e30

static tsr_status check_positive(const char *place, const char *field, double value) {
  if (value > 0 && value < MOST) return TSR_OK;
  return tsr_fail(TSR_ERR_MACHINE, "%s.%s is %g; it must be more than 0", place, field, value);
}

static tsr_status check_not_negative(const char *place, const char *field, double value) {
  if (value >= 0 && value < MOST) return TSR_OK;
  return tsr_fail(TSR_ERR_MACHINE, "%s.%s is %g; it must be 0 or more", place, field, value);
}

/* A start takes microseconds; more than TSR_MOST_START is a mistake of the unit. */
static tsr_status check_start(const char *place, const char *field, double seconds) {
  if (seconds >= 0 && seconds <= TSR_MOST_START) return TSR_OK;
  return tsr_fail(TSR_ERR_MACHINE, "%s.%s is %g; it must be 0 to %g, in seconds", place, field,
                  seconds, TSR_MOST_START);
}

static tsr_status check_ascending(const char *place, const char *field, const double *values,
                                  int count) {
  for (int i = 0; i < count; i++) {
    TSR_TRY(check_positive(place, field, values[i]));
    if (i > 0 && values[i] <= values[i - 1])
      return tsr_fail(TSR_ERR_MACHINE, "%s.%s has %g behind %g; put them in ascending order", place,
                      field, values[i], values[i - 1]);
  }
  return TSR_OK;
}

static tsr_status check_counts(const tsr_machine *machine) {
  if (machine->devices < 0 || machine->devices > TSR_MACHINE_DEVICES)
    return tsr_fail(TSR_ERR_MACHINE, "devices is %d; it must be 0 to %d", machine->devices,
                    TSR_MACHINE_DEVICES);
  if (machine->nodes < 1 || machine->nodes > TSR_MACHINE_NODES)
    return tsr_fail(TSR_ERR_MACHINE,
                    "nodes is %d; a machine needs 1 to %d host memory nodes, since matrices and "
                    "the calling program live there",
                    machine->nodes, TSR_MACHINE_NODES);
  if (machine->channels < 0 || machine->channels > TSR_MACHINE_CHANNELS)
    return tsr_fail(TSR_ERR_MACHINE, "channels is %d; it must be 0 to %d", machine->channels,
                    TSR_MACHINE_CHANNELS);
  return TSR_OK;
}

static tsr_status check_device(const tsr_machine *machine, int index) {
  const tsr_device *device = &machine->device[index];
  char place[PLACE];
  snprintf(place, sizeof place, "devices[%d]", index);
  TSR_TRY(check_positive(place, "speed", device->speed));
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    TSR_TRY(check_not_negative(place, "speeds", device->type_speed[i]));
  TSR_TRY(check_positive(place, "memory", device->memory));
  TSR_TRY(check_positive(place, "memory_rate", device->memory_rate));
  TSR_TRY(check_not_negative(place, "kernel_latency", device->kernel_latency));
  if (device->host_node < machine->devices ||
      device->host_node >= machine->devices + machine->nodes)
    return tsr_fail(TSR_ERR_MACHINE, "%s.host_node is %d; name a host memory node, %d to %d", place,
                    device->host_node, machine->devices, machine->devices + machine->nodes - 1);
  return TSR_OK;
}

static tsr_status check_curve(const char *place, const char *name, const tsr_curve *curve) {
  char what[PLACE];
  if (curve->count < 0 || curve->count > TSR_CURVE_POINTS)
    return tsr_fail(TSR_ERR_MACHINE, "%s.%s has %d points; it may have 0 to %d", place, name,
                    curve->count, TSR_CURVE_POINTS);
  snprintf(what, sizeof what, "%s size", name);
  TSR_TRY(check_ascending(place, what, curve->size, curve->count));
  snprintf(what, sizeof what, "%s rate", name);
  for (int i = 0; i < curve->count; i++) TSR_TRY(check_positive(place, what, curve->rate[i]));
  return TSR_OK;
}

static tsr_status check_close(const char *place, const tsr_link *link) {
  const struct tsr_close *close = &link->close;
  TSR_TRY(check_curve(place, "close.shape", &close->shape));
  if (close->shape.count == 0) return TSR_OK;
  TSR_TRY(check_positive(place, "close.pitch", close->pitch));
  if (close->shape.size[close->shape.count - 1] > close->pitch)
    return tsr_fail(TSR_ERR_MACHINE,
                    "%s.close.shape has segments of %g bytes, longer than its pitch of %g; leave "
                    "them out, or raise close.pitch",
                    place, close->shape.size[close->shape.count - 1], close->pitch);
  if (link->shape.count > 0) return TSR_OK;
  return tsr_fail(TSR_ERR_MACHINE,
                  "%s has close, but no shape; give the rates of segments that are farther apart "
                  "as shape, or remove close",
                  place);
}

static tsr_status check_link(const tsr_machine *machine, int from, int to) {
  const tsr_link *link = &machine->link[from][to];
  char place[PLACE], from_name[TSR_LOCATION_NAME], to_name[TSR_LOCATION_NAME];
  tsr_location_name(machine, from, from_name);
  tsr_location_name(machine, to, to_name);
  snprintf(place, sizeof place, "link %s -> %s", from_name, to_name);
  TSR_TRY(check_not_negative(place, "bandwidth", link->bandwidth));
  if (link->bandwidth == 0) return TSR_OK;
  if (from == to) return tsr_fail(TSR_ERR_MACHINE, "%s leads to itself; remove it", place);
  TSR_TRY(check_not_negative(place, "latency", link->latency));
  TSR_TRY(check_curve(place, "shape", &link->shape));
  return check_close(place, link);
}

static tsr_status check_reached(const tsr_machine *machine, int device) {
  for (int node = machine->devices; node < machine->devices + machine->nodes; node++)
    if (machine->link[node][device].bandwidth > 0 && machine->link[device][node].bandwidth > 0)
      return TSR_OK;
  return tsr_fail(TSR_ERR_MACHINE,
                  "gpu%d cannot be reached: give it links from and to a host memory node", device);
}

static tsr_status check_use(const tsr_machine *machine, const tsr_channel *channel, int index) {
  const tsr_channel_use *use = &channel->uses[index];
  int locations = tsr_machine_locations(machine);
  char place[PLACE];
  snprintf(place, sizeof place, "channel \"%s\".uses[%d]", channel->name, index);
  if (use->from < 0 || use->from >= locations || use->to < 0 || use->to >= locations)
    return tsr_fail(TSR_ERR_MACHINE, "%s names locations %d and %d; the machine has 0 to %d", place,
                    use->from, use->to, locations - 1);
  if (machine->link[use->from][use->to].bandwidth == 0)
    return tsr_fail(TSR_ERR_MACHINE, "%s names an absent link (locations %d -> %d); remove it",
                    place, use->from, use->to);
  return check_positive(place, "weight", use->weight);
}

static tsr_status check_channel(const tsr_machine *machine, const tsr_channel *channel) {
  char place[PLACE];
  snprintf(place, sizeof place, "channel \"%s\"", channel->name);
  TSR_TRY(check_positive(place, "capacity", channel->capacity));
  if (channel->count < 1)
    return tsr_fail(TSR_ERR_MACHINE, "%s has no uses; name the links that share it, or remove it",
                    place);
  for (int i = 0; i < channel->count; i++) TSR_TRY(check_use(machine, channel, i));
  return TSR_OK;
}

static tsr_status check_emulated(const tsr_rates *rates, tsr_type type) {
  const struct tsr_emulated *emulated = &rates->emulated;
  char place[PLACE];
  snprintf(place, sizeof place, "rates.%c.emulated", (char)type);
  if (emulated->sustained == 0 && emulated->elements == 0) return TSR_OK;
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++)
      TSR_TRY(check_positive(place, "flops", emulated->flops[i][j]));
  TSR_TRY(check_positive(place, "elements", emulated->elements));
  return check_positive(place, "sustained", emulated->sustained);
}

static tsr_status check_rates(const tsr_rates *rates, tsr_type type) {
  char place[PLACE];
  snprintf(place, sizeof place, "rates.%c", (char)type);
  if (rates->areas == 0 && rates->ks == 0) return TSR_OK;
  if (rates->areas < 1 || rates->areas > TSR_RATE_POINTS || rates->ks < 1 ||
      rates->ks > TSR_RATE_POINTS)
    return tsr_fail(TSR_ERR_MACHINE, "%s has %d areas and %d values of k; give 1 to %d of each",
                    place, rates->areas, rates->ks, TSR_RATE_POINTS);
  TSR_TRY(check_ascending(place, "area", rates->area, rates->areas));
  TSR_TRY(check_ascending(place, "k", rates->k, rates->ks));
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) {
      TSR_TRY(check_positive(place, "flops", rates->flops[i][j]));
      TSR_TRY(check_positive(place, "hot", rates->hot[i][j]));
    }
  for (int i = 0; i < TSR_KERNEL_COUNT; i++) {
    const struct tsr_routine *routine = &rates->routine[i];
    if (routine->vendor == 0 && routine->blocks == 0) continue;
    TSR_TRY(check_positive(place, tsr_kernel_get((tsr_kernel)i)->name, routine->vendor));
    TSR_TRY(check_positive(place, tsr_kernel_get((tsr_kernel)i)->name, routine->blocks));
  }
  TSR_TRY(check_curve(place, "narrow", &rates->narrow));
  TSR_TRY(check_curve(place, "trapezoid", &rates->trapezoid));
  TSR_TRY(check_emulated(rates, type));
  return check_positive(place, "sustained", rates->sustained);
}

/* Some device must have rates, or without devices the CPU. */
static tsr_status check_computes(const tsr_machine *machine) {
  bool devices = false, cpu = false;
  for (int i = 0; i < TSR_TYPE_COUNT; i++) {
    devices |= machine->rates[i].areas > 0;
    cpu |= machine->cpu_flops[i] > 0;
  }
  if (machine->devices > 0 && !devices)
    return tsr_fail(TSR_ERR_MACHINE, "rates is empty; give the rate of one type at least");
  if (machine->devices == 0 && !cpu)
    return tsr_fail(TSR_ERR_MACHINE,
                    "there is no device, and cpu.flops is empty; give one or the other");
  return TSR_OK;
}

static tsr_status check_host(const tsr_machine *machine) {
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    TSR_TRY(check_not_negative("cpu", "flops", machine->cpu_flops[i]));
  TSR_TRY(check_not_negative("cpu", "latency", machine->cpu_latency));
  TSR_TRY(check_not_negative("submit", "copy", machine->submit_copy));
  TSR_TRY(check_not_negative("submit", "kernel", machine->submit_kernel));
  TSR_TRY(check_start("submit", "record", machine->submit_record));
  TSR_TRY(check_start("submit", "wait", machine->submit_wait));
  TSR_TRY(check_start("submit", "turnaround", machine->turnaround));
  TSR_TRY(check_start("staging", "start", machine->staging_start));
  TSR_TRY(check_not_negative("network", "bandwidth", machine->network.bandwidth));
  TSR_TRY(check_not_negative("network", "latency", machine->network.latency));
  if (machine->staging_threads < 0 || (machine->staging_threads == 0 && machine->devices > 0))
    return tsr_fail(TSR_ERR_MACHINE, "staging.threads is %d; devices need 1 or more",
                    machine->staging_threads);
  if (machine->staging_threads == 0) return TSR_OK;
  TSR_TRY(check_positive("staging", "thread_rate", machine->thread_rate));
  return check_positive("staging", "rate", machine->staging_rate);
}

tsr_status tsr_machine_check(const tsr_machine *machine) {
  TSR_TRY(check_counts(machine));
  int locations = tsr_machine_locations(machine);
  for (int i = 0; i < machine->devices; i++) TSR_TRY(check_device(machine, i));
  for (int i = 0; i < locations; i++)
    for (int j = 0; j < locations; j++) TSR_TRY(check_link(machine, i, j));
  for (int i = 0; i < machine->devices; i++) TSR_TRY(check_reached(machine, i));
  for (int i = 0; i < machine->channels; i++) TSR_TRY(check_channel(machine, &machine->channel[i]));
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    TSR_TRY(check_rates(&machine->rates[i], tsr_type_at(i)->type));
  TSR_TRY(check_computes(machine));
  return check_host(machine);
}
