/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The computer's topology: its host memory nodes, the CPUs of each, and the PCI addresses of GPUs
 * near each. Larger servers have one node for each socket.
 *
 * hwloc finds it out. libhwloc is loaded when the topology is first asked for, so a computer
 * without it works, too: its topology is then unknown, and nothing is placed. hwloc reads variables
 * of its own: HWLOC_XMLFILE and HWLOC_SYNTHETIC name another topology, HWLOC_THISSYSTEM=1 says that
 * it is this computer's. In a program whose caller is not trusted (base/environment.h) hwloc, which
 * loads plugins from where its variables say, is not used.
 */
#ifndef TSR_BASE_SYSTEM_TOPOLOGY_H
#define TSR_BASE_SYSTEM_TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

enum { TSR_TOPOLOGY_NODES = 8, TSR_TOPOLOGY_GPUS = 128 };

/* A host memory node that has CPUs. */
typedef struct tsr_memory_node {
  int number; /* as the operating system counts */
  cpu_set_t cpus;
  double memory; /* bytes; 0: unknown */
} tsr_memory_node;

/* A PCI device of a class to which GPUs belong. */
typedef struct tsr_pci_gpu {
  unsigned domain, bus, device, function;
  int node; /* index of the node that it is near; -1: near none, or near several */
} tsr_pci_gpu;

typedef struct tsr_topology {
  char source[160]; /* "hwloc 2.9.0"; of an unknown topology: why it is unknown */
  bool here; /* it is the topology of this computer: threads and memory may be placed by it */
  int nodes; /* 0: unknown. Memory nodes without CPUs, such as those of GPUs, do not count;
                nor does any of a computer that has more than TSR_TOPOLOGY_NODES */
  tsr_memory_node node[TSR_TOPOLOGY_NODES]; /* ascending by number */
  int gpus;
  tsr_pci_gpu gpu[TSR_TOPOLOGY_GPUS];
} tsr_topology;

/* This process's topology, which is read once, at the first call. */
const tsr_topology *tsr_topology_get(void);

/* Reads the topology anew. */
void tsr_topology_read(tsr_topology *topology);

/* The index of the node near the GPU with a PCI address such as "0000:3b:00.0"; -1: none, or
 * unknown. */
int tsr_topology_near(const tsr_topology *topology, const char *address);

/* Whether hwloc would be used (this build knows it, and the caller is trusted) and what it finds;
 * topology_hwloc.c. The caller has zeroed *topology; nodes stays 0 if source says why. */
void tsr_topology_read_hwloc(tsr_topology *topology);

#endif
