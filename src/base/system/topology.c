/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/system/topology.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/environment.h"
#include "base/log.h"

static tsr_topology topology;

void tsr_topology_read(tsr_topology *t) {
  memset(t, 0, sizeof *t);
  if (tsr_environment_is_trusted())
    tsr_topology_read_hwloc(t);
  else
    snprintf(t->source, sizeof t->source, "the program's caller is not trusted");
}

static void read_once(void) {
  tsr_topology_read(&topology);
  tsr_log(TSR_LOG_INFO, "topology: %s, host memory nodes: %d", topology.source, topology.nodes);
}

const tsr_topology *tsr_topology_get(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, read_once);
  return &topology;
}

int tsr_topology_near(const tsr_topology *t, const char *address) {
  unsigned domain, bus, device, function;
  if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) return -1;
  for (int i = 0; i < t->gpus; i++) {
    const tsr_pci_gpu *gpu = &t->gpu[i];
    if (gpu->domain == domain && gpu->bus == bus && gpu->device == device &&
        gpu->function == function)
      return gpu->node;
  }
  return -1;
}
