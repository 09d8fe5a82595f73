/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which host memory node is near each device, on a computer with several, and threads and pinned
 * memory near devices. Nodes are indices, 0 .. nodes-1; node i is location devices + i of a machine
 * that has them.
 *
 * A thread is bound to CPUs of its node that the process may use (its affinity mask when the near
 * nodes were found), and only if there are as many of them as threads that want to run there.
 */
#ifndef TSR_RUN_NEAR_H
#define TSR_RUN_NEAR_H

#include "base/system/topology.h"
#include "engine/engine.h"

typedef struct tsr_near {
  int nodes;                 /* 0: one, or unknown: nothing is near or far */
  int node[TSR_MAX_DEVICES]; /* index of the node near each device; -1: unknown, or no device */
  int number[TSR_TOPOLOGY_NODES];     /* of each node, as the operating system counts */
  cpu_set_t cpus[TSR_TOPOLOGY_NODES]; /* of each node, those that this process may use */
  bool binds;                         /* threads are bound to CPUs near their devices */
  bool places; /* pinned memory is placed: the machine's nodes are this computer's */
} tsr_near;

/* A device is near the node that the topology has for its PCI address. Emulated devices have none;
 * they are spread over the nodes, as many consecutive ones on each. binds is set if the topology is
 * this computer's and has several nodes; places is not. */
void tsr_near_find(const tsr_topology *topology, const tsr_engine *engine,
                   const tsr_device_info *info, int devices, tsr_near *near);

/* Binds the calling thread to CPUs of the node if threads of them may be used; node -1: unknown.
 * Whether it is bound. */
bool tsr_near_bind(const tsr_near *near, int node, int threads);

/* Allocates pinned memory of the engine, as its alloc does, on the node; node = near->nodes:
 * interleaved over all nodes. Where memory is not placed, or the node does not exist, the system
 * chooses. */
tsr_status tsr_near_alloc(const tsr_near *near, const tsr_engine *engine, tsr_engine_state *state,
                          int node, size_t bytes, void **pointer);

/* The node on which host memory lies, from some of its pages, which takes some microseconds;
 * near->nodes: its pages are on several nodes, or not touched yet. The memory is placed. */
int tsr_near_where(const tsr_near *near, const void *memory, size_t bytes);

#endif
