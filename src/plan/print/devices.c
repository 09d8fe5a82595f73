/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Sets of devices in the user's words. */
#include "plan/print/limits.h"

tsr_device_set tsr_devices_used(const tsr_plan *plan) {
  tsr_device_set set = {{false}};
  for (size_t i = 0; i < plan->commands.count; i++) {
    int at = plan->queue[plan->commands.items[i].queue].location;
    if (at < plan->machine_devices && plan->commands.items[i].kind == TSR_COMMAND_KERNEL)
      set.has[at] = true;
  }
  return set;
}

int tsr_devices_count(const tsr_device_set *set) {
  int count = 0;
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) count += set->has[d];
  return count;
}

static int last_of(const tsr_device_set *set) {
  int last = -1;
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++)
    if (set->has[d]) last = d;
  return last;
}

static int first_of(const tsr_device_set *set) {
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++)
    if (set->has[d]) return d;
  return -1;
}

void tsr_devices_add(const tsr_device_set *set, tsr_text *text) {
  int count = tsr_devices_count(set), first = first_of(set), last = last_of(set);
  tsr_text_add(text, "GPU%s %d", count > 1 ? "s" : "", first);
  if (count > 3 && last - first == count - 1) {
    tsr_text_add(text, " to %d", last);
    return;
  }
  for (int d = first + 1; d <= last; d++)
    if (set->has[d]) tsr_text_add(text, "%s%d", d == last ? " and " : ", ", d);
}

/* ---- Shared links ---- */

static int other_end(const tsr_channel_use *use, int devices) {
  if (use->from < devices && use->to >= devices) return use->from;
  if (use->from >= devices && use->to < devices) return use->to;
  return -1;
}

/* The devices whose host links use the channel. */
static tsr_device_set sharers_of(const tsr_machine *machine, const tsr_channel *channel) {
  tsr_device_set set = {{false}};
  for (int i = 0; i < channel->count; i++) {
    int device = other_end(&channel->uses[i], machine->devices);
    if (device >= 0) set.has[device] = true;
  }
  return set;
}

static bool shares_with(const tsr_machine *machine, int device, const tsr_device_set *used) {
  for (int c = 0; c < machine->channels; c++) {
    tsr_device_set set = sharers_of(machine, &machine->channel[c]);
    if (!set.has[device] || tsr_devices_count(&set) == machine->devices) continue;
    for (int d = 0; d < machine->devices; d++)
      if (d != device && set.has[d] && used->has[d]) return true;
  }
  return false;
}

bool tsr_devices_share_links(const tsr_machine *machine, const tsr_device_set *used) {
  for (int d = 0; d < machine->devices; d++)
    if (!used->has[d] && !shares_with(machine, d, used)) return false;
  return true;
}
