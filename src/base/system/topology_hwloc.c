/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Reads the topology by hwloc 2. */
#include <stdio.h>

#include "base/system/topology.h"

#ifndef TSR_HWLOC

void tsr_topology_read_hwloc(tsr_topology *t) {
  snprintf(t->source, sizeof t->source, "this build does not know hwloc");
}

#else

#include <dlfcn.h>
#include <hwloc.h>
#include <pthread.h>
#include <string.h>

static const char library_name[] = "libhwloc.so.15"; /* of all hwloc 2 */

/* ---- hwloc's functions ---- */

static struct {
  unsigned (*get_api_version)(void);
  int (*topology_init)(hwloc_topology_t *topology);
  int (*topology_set_type_filter)(hwloc_topology_t topology, hwloc_obj_type_t type,
                                  enum hwloc_type_filter_e filter);
  int (*topology_load)(hwloc_topology_t topology);
  void (*topology_destroy)(hwloc_topology_t topology);
  int (*topology_is_thissystem)(hwloc_topology_t topology);
  hwloc_obj_t (*get_obj_by_depth)(hwloc_topology_t topology, int depth, unsigned index);
  int (*bitmap_next)(hwloc_const_bitmap_t bitmap, int previous);
  int (*bitmap_isset)(hwloc_const_bitmap_t bitmap, unsigned index);
} hwloc;

static const struct {
  const char *name;
  void *pointer; /* to the pointer to the function */
} functions[] = {
    {"hwloc_get_api_version", &hwloc.get_api_version},
    {"hwloc_topology_init", &hwloc.topology_init},
    {"hwloc_topology_set_type_filter", &hwloc.topology_set_type_filter},
    {"hwloc_topology_load", &hwloc.topology_load},
    {"hwloc_topology_destroy", &hwloc.topology_destroy},
    {"hwloc_topology_is_thissystem", &hwloc.topology_is_thissystem},
    {"hwloc_get_obj_by_depth", &hwloc.get_obj_by_depth},
    {"hwloc_bitmap_next", &hwloc.bitmap_next},
    {"hwloc_bitmap_isset", &hwloc.bitmap_isset},
};

static bool find_functions(void *library) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *function = dlsym(library, functions[i].name);
    if (function == NULL) return false;
    memcpy(functions[i].pointer, &function, sizeof function);
  }
  return true;
}

/* Loads hwloc, which then stays loaded. False: source says why it cannot be used. */
static bool load(tsr_topology *t) {
  void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(t->source, sizeof t->source, "hwloc is not installed (%s is not found)", library_name);
    return false;
  }
  unsigned version = find_functions(library) ? hwloc.get_api_version() : 0;
  if (version >> 16 == HWLOC_API_VERSION >> 16) return true;
  snprintf(t->source, sizeof t->source, "%s is not of hwloc %d", library_name,
           HWLOC_API_VERSION >> 16);
  (void)dlclose(library);
  return false;
}

/* ---- Nodes ---- */

static void read_cpus(hwloc_const_cpuset_t cpus, cpu_set_t *set) {
  CPU_ZERO(set);
  for (int i = hwloc.bitmap_next(cpus, -1); i >= 0; i = hwloc.bitmap_next(cpus, i))
    if (i < CPU_SETSIZE) CPU_SET(i, set);
}

/* Whether an earlier node has the same CPUs: then this one is a second kind of memory beside
 * them. */
static bool is_second(const tsr_topology *t, const cpu_set_t *cpus) {
  for (int i = 0; i < t->nodes; i++)
    if (CPU_EQUAL(&t->node[i].cpus, cpus)) return true;
  return false;
}

static void read_nodes(hwloc_topology_t topology, tsr_topology *t) {
  hwloc_obj_t node;
  for (unsigned i = 0;
       (node = hwloc.get_obj_by_depth(topology, HWLOC_TYPE_DEPTH_NUMANODE, i)) != NULL; i++) {
    cpu_set_t cpus;
    read_cpus(node->cpuset, &cpus);
    if (CPU_COUNT(&cpus) == 0 || is_second(t, &cpus)) continue;
    if (t->nodes == TSR_TOPOLOGY_NODES) {
      t->nodes = 0;
      return;
    }
    t->node[t->nodes++] = (tsr_memory_node){.number = (int)node->os_index,
                                            .cpus = cpus,
                                            .memory = (double)node->attr->numanode.local_memory};
  }
}

/* ---- GPUs ---- */

enum { DISPLAY = 0x03, COPROCESSOR = 0x0b40, ACCELERATOR = 0x12 }; /* PCI classes */

static bool may_be_gpu(unsigned class_id) {
  return class_id >> 8 == DISPLAY || class_id == COPROCESSOR || class_id >> 8 == ACCELERATOR;
}

/* The index of the only node among those of the device's nearest ancestor with CPUs; -1: there are
 * none, or several. */
static int node_of(const tsr_topology *t, hwloc_obj_t device) {
  hwloc_obj_t near = device->parent;
  int found = -1;
  while (near != NULL && near->cpuset == NULL) near = near->parent;
  for (int i = 0; near != NULL && i < t->nodes; i++) {
    if (!hwloc.bitmap_isset(near->nodeset, (unsigned)t->node[i].number)) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

static void read_gpus(hwloc_topology_t topology, tsr_topology *t) {
  hwloc_obj_t device;
  for (unsigned i = 0;
       (device = hwloc.get_obj_by_depth(topology, HWLOC_TYPE_DEPTH_PCI_DEVICE, i)) != NULL; i++) {
    const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;
    if (!may_be_gpu(pci->class_id) || t->gpus == TSR_TOPOLOGY_GPUS) continue;
    t->gpu[t->gpus++] =
        (tsr_pci_gpu){pci->domain, pci->bus, pci->dev, pci->func, node_of(t, device)};
  }
}

/* ---- Together ---- */

/* Of I/O devices only those of PCI are read: hwloc's plugins for CUDA, OpenCL and the like, which
 * would start these libraries in this process, do nothing then. */
static bool read_all(hwloc_topology_t topology, tsr_topology *t) {
  if (hwloc.topology_set_type_filter(topology, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_ALL) ||
      hwloc.topology_load(topology))
    return false;
  t->here = hwloc.topology_is_thissystem(topology);
  read_nodes(topology, t);
  read_gpus(topology, t);
  return true;
}

void tsr_topology_read_hwloc(tsr_topology *t) {
  static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
  hwloc_topology_t topology;
  pthread_mutex_lock(&loading);
  bool loaded = load(t);
  pthread_mutex_unlock(&loading);
  if (!loaded) return;
  bool made = hwloc.topology_init(&topology) == 0;
  unsigned version = hwloc.get_api_version();
  if (!made || !read_all(topology, t))
    snprintf(t->source, sizeof t->source, "hwloc cannot read it");
  else if (t->nodes == 0)
    snprintf(t->source, sizeof t->source, "hwloc finds no host memory node, or more than %d",
             TSR_TOPOLOGY_NODES);
  else
    snprintf(t->source, sizeof t->source, "hwloc %u.%u", version >> 16, version >> 8 & 0xff);
  if (made) hwloc.topology_destroy(topology);
}

#endif
