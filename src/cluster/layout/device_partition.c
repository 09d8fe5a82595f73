/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/layout/device_partition.h"

#include <stdint.h>
#include <string.h>

/* The index of a device among those that a process sees; -1: it does not see the device. */
static int find(const tsr_devices_facts *seen, const char *identity) {
  for (int i = 0; i < seen->devices; i++)
    if (strcmp(seen->identity[i], identity) == 0) return i;
  return -1;
}

static bool sees(const tsr_devices_facts *seen, const char *identity) {
  return find(seen, identity) >= 0;
}

bool tsr_device_partition_is_first(const tsr_devices_facts *seen, int rank) {
  const tsr_devices_facts *mine = &seen[rank];
  for (int p = 0; p < rank; p++) {
    int common = 0;
    for (int i = 0; i < mine->devices; i++) common += sees(&seen[p], mine->identity[i]);
    if (common == mine->devices && seen[p].devices == mine->devices) return false;
  }
  return true;
}

/* Devices that the same processes see are partitioned together. Of a device: its position among
 * these, how many they are, and the same of this process among those that see it. */
typedef struct position {
  int device, devices, process, processes;
} position;

static bool same_processes_see(const tsr_devices_facts *seen, int processes, const char *a,
                               const char *b) {
  for (int p = 0; p < processes; p++)
    if (sees(&seen[p], a) != sees(&seen[p], b)) return false;
  return true;
}

/* The first process that sees the device says in which order the devices are partitioned. */
static position find_position(const tsr_devices_facts *seen, int processes, int rank,
                              const char *identity) {
  position at = {0};
  const tsr_devices_facts *order = NULL;
  for (int p = 0; p < processes; p++) {
    if (!sees(&seen[p], identity)) continue;
    if (order == NULL) order = &seen[p];
    at.process += p < rank;
    at.processes++;
  }
  for (int i = 0; i < order->devices; i++) {
    if (strcmp(order->identity[i], identity) == 0) at.device = at.devices;
    at.devices += same_processes_see(seen, processes, order->identity[i], identity);
  }
  return at;
}

/* The processes that have the device, 0 if this one does not. Each has a contiguous range, since
 * neighbours are often near each other; or one device, if there are fewer than processes. */
static int sharing_of(const position *at) {
  int64_t devices = at->devices, processes = at->processes;
  if (devices >= processes)
    return at->device >= at->process * devices / processes &&
           at->device < (at->process + 1) * devices / processes;
  if (at->process * devices / processes != at->device) return 0;
  int sharing = 0;
  for (int64_t p = 0; p < processes; p++) sharing += p * devices / processes == at->device;
  return sharing;
}

void tsr_device_partition_find(const tsr_devices_facts *seen, int processes, int rank,
                               tsr_device_partition *partition) {
  *partition = (tsr_device_partition){.sharing = 1};
  for (int i = 0; i < seen[rank].devices; i++) {
    position at = find_position(seen, processes, rank, seen[rank].identity[i]);
    int sharing = sharing_of(&at);
    if (sharing == 0) continue;
    partition->index[partition->count++] = i;
    if (sharing > partition->sharing) partition->sharing = sharing;
  }
}
