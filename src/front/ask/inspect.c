/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What this computer and this environment have for the library to work with: for tessera doctor. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/settings/settings.h"
#include "base/system/process_limits.h"
#include "base/thread.h"
#include "cpu/blas.h"
#include "front/context.h"
#include "front/kept_model.h"
#include "front/offload/inside.h"
#include "machine/installed.h"
#include "plan/search/knobs.h"
#include "run/near.h"
#include "tessera_model.h"

/* ---- Settings ---- */

static tsr_status check_settings(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_offload_wishes wishes;
  tsr_forced forced;
  tsr_machine *machine = NULL;
  int64_t tile;
  bool bind, peer;
  int devices;
  TSR_TRY(tsr_context_read_settings(&options));
  TSR_TRY(tsr_context_count_devices(options.devices, &devices));
  TSR_TRY(tsr_settings_tile(&tile));
  TSR_TRY(tsr_settings_bind(&bind));
  TSR_TRY(tsr_settings_peer(&peer));
  TSR_TRY(tsr_offload_read_wishes(&wishes));
  TSR_TRY(tsr_strategy_parse(tsr_setting_text("TESSERA_STRATEGY"), &forced));
  if (options.machine == NULL) return TSR_OK;
  tsr_status status = tsr_machine_load(options.machine, &machine);
  tsr_machine_destroy(machine);
  return status;
}

TSR_ENTRY_OF(const char *, tsr_settings_error, (), void) {
  return check_settings() == TSR_OK ? NULL : tsr_message();
}

static tsr_status check_output(const void *facts) {
  if (facts != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "facts is NULL; give the address of a struct to fill");
}

/* ---- The CPU's BLAS ---- */

TSR_ENTRY(tsr_blas_describe, (facts), tsr_blas_facts *facts) {
  TSR_TRY(check_output(facts));
  TSR_TRY(tsr_cpu_blas_load());
  tsr_cpu_blas_file(facts->file, sizeof facts->file);
  tsr_cpu_blas_version(facts->version, sizeof facts->version);
  facts->threads = tsr_cpu_blas_threads();
  return TSR_OK;
}

/* ---- Devices ---- */

static bool all_reach_each_other(const tsr_device_info *info, int devices) {
  for (int a = 0; a < devices; a++)
    for (int b = 0; b < devices; b++)
      if (a != b && !info[a].peer[b]) return false;
  return true;
}

static tsr_status open_for_a_moment(const char *name, const tsr_engine **engine,
                                    tsr_device_info info[TSR_MAX_DEVICES], int *devices) {
  const tsr_engine_options options = {.count = 0};
  tsr_engine_state *state;
  *engine = tsr_engine_find(name);
  if (*engine == NULL) return TSR_ERR_ENGINE; /* the search has recorded the message */
  TSR_TRY((*engine)->open(&options, &state, info, devices));
  (*engine)->close(state);
  return TSR_OK;
}

TSR_ENTRY(tsr_engine_describe, (name, facts), const char *name, tsr_engine_facts *facts) {
  tsr_device_info info[TSR_MAX_DEVICES];
  const tsr_engine *engine;
  int devices;
  TSR_TRY(check_output(facts));
  TSR_TRY(open_for_a_moment(name, &engine, info, &devices));
  *facts = (tsr_engine_facts){.devices = devices,
                              .memory = info[0].memory_total,
                              .peers = all_reach_each_other(info, devices)};
  snprintf(facts->name, sizeof facts->name, "%s", info[0].name);
  return TSR_OK;
}

/* ---- The topology ---- */

static void describe_nodes(const tsr_topology *topology, tsr_topology_facts *facts) {
  cpu_set_t allowed, both;
  bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  snprintf(facts->source, sizeof facts->source, "%s", topology->source);
  facts->here = topology->here;
  facts->nodes = topology->nodes;
  for (int i = 0; i < topology->nodes; i++) {
    const tsr_memory_node *node = &topology->node[i];
    CPU_AND(&both, &node->cpus, &allowed);
    facts->number[i] = node->number;
    facts->cpus[i] = CPU_COUNT(&node->cpus);
    facts->allowed[i] = known ? CPU_COUNT(&both) : facts->cpus[i];
    facts->memory[i] = node->memory;
  }
}

static tsr_status describe_near(const tsr_topology *topology, const char *name,
                                tsr_topology_facts *facts) {
  tsr_device_info info[TSR_MAX_DEVICES];
  tsr_near near;
  const tsr_engine *engine;
  TSR_TRY(open_for_a_moment(name, &engine, info, &facts->devices));
  tsr_near_find(topology, engine, info, facts->devices, &near);
  memcpy(facts->near, near.node, (size_t)facts->devices * sizeof *near.node);
  return TSR_OK;
}

TSR_ENTRY(tsr_topology_describe, (name, facts), const char *name, tsr_topology_facts *facts) {
  TSR_TRY(check_output(facts));
  const tsr_topology *topology = tsr_topology_get();
  tsr_topology_facts found = {.nodes = 0};
  bool bind;
  TSR_TRY(tsr_settings_bind(&bind));
  found.binds = bind && topology->here && topology->nodes > 1;
  describe_nodes(topology, &found);
  if (name != NULL) TSR_TRY(describe_near(topology, name, &found));
  *facts = found;
  return TSR_OK;
}

/* ---- Limits ---- */

TSR_ENTRY_VOID(tsr_process_limits_describe, (limits), tsr_process_limits *limits) {
  if (limits != NULL) tsr_process_limits_read("", limits);
}

/* ---- Machines ---- */

/* *path: the folder for measurements, which ends in a slash. */
static tsr_status find_folder(char *path, size_t room) {
  char *file;
  TSR_TRY(tsr_machine_cache_path("none", &file));
  strrchr(file, '/')[1] = '\0';
  snprintf(path, room, "%s", file);
  tsr_dealloc(file);
  return TSR_OK;
}

/* A measurement that another process is just writing is whole: it is renamed when it is complete.
 */
TSR_ENTRY(tsr_kept_describe, (device, facts), const char *device, tsr_kept_facts *facts) {
  tsr_kept_facts known = {.devices = 0};
  tsr_kept_model kept;
  TSR_TRY(check_output(facts));
  if (device == NULL) return tsr_fail(TSR_ERR_ARGUMENT, "device is NULL; give a device's name");
  TSR_TRY(find_folder(known.path, sizeof known.path));
  TSR_TRY(tsr_kept_model_find(device, &kept));
  if (kept.machine != NULL) {
    known.devices = kept.machine->devices;
    snprintf(known.path, sizeof known.path, "%s", kept.path);
  }
  tsr_kept_model_free(&kept);
  *facts = known;
  return TSR_OK;
}

int tsr_machine_installed(int index, char *name, size_t room) {
  tsr_installed installed;
  tsr_installed_list(&installed);
  if (index < 0 || index >= installed.count) return 0;
  snprintf(name, room, "%s", installed.name[index]);
  return 1;
}
