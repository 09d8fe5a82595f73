/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run/near.h"

#include <stdint.h>

#include "base/log.h"
#include "base/system/numa.h"
#include "run/aside.h"
#include "run/tuning.h"

/* ---- Finding ---- */

static void find_devices(const tsr_topology *topology, const tsr_engine *engine,
                         const tsr_device_info *info, int devices, tsr_near *near) {
  for (int d = 0; d < devices; d++)
    near->node[d] = engine->traits.emulated ? d * near->nodes / devices
                                            : tsr_topology_near(topology, info[d].address);
}

/* Without a known affinity mask no CPU may be used. */
static void find_cpus(const tsr_topology *topology, tsr_near *near) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
  for (int i = 0; i < near->nodes; i++) {
    near->number[i] = topology->node[i].number;
    CPU_AND(&near->cpus[i], &topology->node[i].cpus, &allowed);
  }
}

void tsr_near_find(const tsr_topology *topology, const tsr_engine *engine,
                   const tsr_device_info *info, int devices, tsr_near *near) {
  *near = (tsr_near){.nodes = topology->nodes > 1 ? topology->nodes : 0};
  for (int d = 0; d < TSR_MAX_DEVICES; d++) near->node[d] = -1;
  if (near->nodes == 0) return;
  find_devices(topology, engine, info, devices, near);
  find_cpus(topology, near);
  near->binds = topology->here;
}

/* ---- Threads ---- */

bool tsr_near_bind(const tsr_near *near, int node, int threads) {
  if (!near->binds || node < 0 || CPU_COUNT(&near->cpus[node]) < threads) return false;
  return tsr_numa_run_on(&near->cpus[node]);
}

/* ---- Memory ---- */

typedef struct allocation {
  const tsr_near *near;
  const tsr_engine *engine;
  tsr_engine_state *state;
  int node;
  size_t bytes;
  void **pointer;
} allocation;

/* Runs on a thread of its own, whose CPUs and memory policy nobody needs afterwards. Drivers take
 * the pages of pinned memory from the thread's nodes, or from where it runs. */
static tsr_status allocate(void *argument) {
  const allocation *a = argument;
  bool spread = a->node == a->near->nodes;
  const int *numbers = spread ? a->near->number : &a->near->number[a->node];
  if (!spread) (void)tsr_near_bind(a->near, a->node, 1);
  if (!tsr_numa_take_memory_from(numbers, spread ? a->near->nodes : 1))
    tsr_log(TSR_LOG_INFO, "the system does not place memory on node %d", *numbers);
  return a->engine->alloc(a->state, TSR_HOST, a->bytes, a->pointer);
}

tsr_status tsr_near_alloc(const tsr_near *near, const tsr_engine *engine, tsr_engine_state *state,
                          int node, size_t bytes, void **pointer) {
  allocation a = {near, engine, state, node, bytes, pointer};
  if (!near->places || node > near->nodes) return engine->alloc(state, TSR_HOST, bytes, pointer);
  return tsr_aside(allocate, &a);
}

/* ---- Where memory lies ---- */

enum { PAGE = 4096, PAGES = TSR_TUNE_WHERE_PAGES };

static void choose_pages(const void *memory, size_t bytes, const void *pages[PAGES]) {
  uintptr_t first = (uintptr_t)memory / PAGE, last = ((uintptr_t)memory + bytes - 1) / PAGE;
  for (uintptr_t i = 0; i < PAGES; i++)
    pages[i] = (const void *)((first + (last - first) * i / (PAGES - 1)) * PAGE);
}

/* A node that has all known pages but one of PAGES has the memory. */
int tsr_near_where(const tsr_near *near, const void *memory, size_t bytes) {
  const void *pages[PAGES];
  int numbers[PAGES], known = 0;
  if (bytes == 0) return near->nodes;
  choose_pages(memory, bytes, pages);
  if (!tsr_numa_find_pages(pages, PAGES, numbers)) return near->nodes;
  for (int i = 0; i < PAGES; i++) known += numbers[i] >= 0;
  for (int node = 0; node < near->nodes; node++) {
    int here = 0;
    for (int i = 0; i < PAGES; i++) here += numbers[i] == near->number[node];
    if (here > 0 && PAGES * here >= (PAGES - 1) * known) return node;
  }
  return near->nodes;
}
