/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Guesses the machine from files alone, since asking the runtime would start it. The guess
 * serves only to decide whether starting the devices pays; once they are started, the engine says
 * which devices they are.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "front/kept_model.h"
#include "front/offload/inside.h"
#include "machine/shipped.h"

/* *machine: the first `count` devices of the kept measurement, or all if it has fewer. */
static tsr_status choose_first(const tsr_machine *kept, int count, tsr_machine **machine) {
  int list[TSR_MAX_DEVICES];
  if (count > kept->devices) count = kept->devices;
  for (int d = 0; d < count; d++) list[d] = d;
  return tsr_machine_select(kept, list, count, machine);
}

/* ---- Vendors ---- */

static int list_nvidia(tsr_device_info *info) {
  int present = tsr_offload_list_nvidia("/proc/driver/nvidia/gpus", info, TSR_MAX_DEVICES);
  return tsr_offload_count_visible(tsr_environment_get("CUDA_VISIBLE_DEVICES"), present);
}

/* HIP reads CUDA's variable where its own is empty; an empty list hides nothing. */
static const char *list_of_hip(void) {
  const char *list = tsr_environment_get("HIP_VISIBLE_DEVICES");
  if (list == NULL || *list == '\0') list = tsr_environment_get("CUDA_VISIBLE_DEVICES");
  return list != NULL && *list != '\0' ? list : NULL;
}

/* The driver's variable hides devices from the runtime, whose own variable numbers the rest. */
static int list_amd(tsr_device_info *info) {
  int present = tsr_offload_list_amd("", info, TSR_MAX_DEVICES);
  present = tsr_offload_count_visible(tsr_environment_get("ROCR_VISIBLE_DEVICES"), present);
  return tsr_offload_count_visible(list_of_hip(), present);
}

/* In the order in which the engines are tried. */
static const struct vendor {
  const char *engine;
  int (*list)(tsr_device_info *info);
} vendors[] = {{"cuda", list_nvidia}, {"hip", list_amd}};
enum { VENDORS = sizeof vendors / sizeof *vendors };

/* Lists the devices of the engine (NULL: of the first that has any); 0: none. */
static int list_devices(const char *engine, tsr_device_info *info) {
  int present = 0;
  for (int i = 0; i < VENDORS && present == 0; i++)
    if (engine == NULL || strcmp(engine, vendors[i].engine) == 0) present = vendors[i].list(info);
  return present;
}

/* ---- The guess ---- */

static tsr_status guess_gpus(const tsr_options *options, const tsr_device_info *info, int present,
                             tsr_machine **machine, bool *measured) {
  int wanted = 0;
  TSR_TRY(tsr_context_count_devices(options->devices, &wanted));
  if (present == 0) return TSR_OK;
  int count = wanted > 0 && wanted < present ? wanted : present;
  tsr_kept_model kept;
  (void)tsr_kept_model_find(info[0].name, &kept);
  *measured = kept.machine != NULL;
  if (kept.machine == NULL) return tsr_machine_shipped(info[0].name, count, machine);
  tsr_status status = choose_first(kept.machine, count, machine);
  tsr_kept_model_free(&kept);
  return status;
}

/* Devices of an engine that the user named count as present, though no file shows them: if there
 * are none, the engine says why when it is started. */
static int assume_devices(const tsr_options *options, tsr_device_info *info) {
  int wanted = 0;
  if (tsr_context_count_devices(options->devices, &wanted) != TSR_OK || wanted < 1) wanted = 1;
  if (wanted > TSR_MAX_DEVICES) wanted = TSR_MAX_DEVICES;
  for (int d = 0; d < wanted; d++) {
    info[d] = (tsr_device_info){0};
    snprintf(info[d].name, sizeof info[d].name, "device of %s", options->engine);
  }
  return wanted;
}

tsr_status tsr_offload_guess(const tsr_options *options, tsr_machine **machine, bool *measured) {
  const char *engine = options->engine;
  bool emulated = tsr_engine_emulates(engine);
  tsr_device_info info[TSR_MAX_DEVICES];
  int count = 0;
  *machine = NULL;
  *measured = true;
  if (engine != NULL && strcmp(engine, "cpu") == 0) return TSR_OK;
  int present = emulated ? 0 : list_devices(engine, info);
  if (engine != NULL && !emulated && present == 0) present = assume_devices(options, info);
  if (options->machine != NULL && (emulated || present > 0))
    return tsr_machine_load(options->machine, machine);
  if (!emulated) return guess_gpus(options, info, present, machine, measured);
  *measured = false;
  TSR_TRY(tsr_context_count_devices(options->devices, &count));
  return tsr_context_emulated_machine(count > 0 ? count : 4, machine);
}
