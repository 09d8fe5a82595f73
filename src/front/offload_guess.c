/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Guesses the machine from files alone, since asking the CUDA runtime would start it. The guess
 * serves only to decide whether starting the devices pays; once they are started, the engine says
 * which devices they are.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/environment.h"
#include "base/text.h"
#include "front/offload_inside.h"
#include "machine/shipped.h"
#include "run/probe.h"

#define DRIVER "/proc/driver/nvidia/gpus"

/* Reads the device's name from the driver's text, whose line is "Model: \t\t NVIDIA H200\n". */
static void read_model(const char *text, char *name, size_t room) {
  const char *model = strstr(text, "Model:");
  if (model == NULL) return;
  model += strlen("Model:");
  model += strspn(model, " \t");
  snprintf(name, room, "%.*s", (int)strcspn(model, "\n"), model);
}

static void describe(const char *root, const char *bus, tsr_device_info *info) {
  char path[512], *text;
  size_t length;
  *info = (tsr_device_info){.name = "NVIDIA GPU"};
  snprintf(path, sizeof path, "%s/%s/information", root, bus);
  if (tsr_text_read_file(path, &text, &length) != TSR_OK) return;
  read_model(text, info->name, sizeof info->name);
  tsr_dealloc(text);
}

int tsr_offload_list_nvidia(const char *root, tsr_device_info *info, int most) {
  int count = 0;
  DIR *folder = opendir(root);
  if (folder == NULL) return 0;
  for (struct dirent *entry; count < most && (entry = readdir(folder)) != NULL;)
    if (entry->d_name[0] != '.') describe(root, entry->d_name, &info[count++]);
  closedir(folder);
  return count;
}

/* Whether the entry at the start of a list names one of the present devices: by its number, or as
 * the beginning of "GPU-..." or "MIG-...". */
static bool names_device(const char *entry, int present) {
  int number = -1, used = 0;
  if (entry[0] == 'G' || entry[0] == 'M') return true;
  if (sscanf(entry, "%d%n", &number, &used) != 1) return false;
  return (entry[used] == ',' || entry[used] == '\0') && number >= 0 && number < present;
}

int tsr_offload_count_visible(const char *list, int present) {
  int count = 0;
  if (list == NULL) return present;
  while (count < present && names_device(list, present)) {
    count++;
    list += strcspn(list, ",");
    if (*list++ == '\0') break;
  }
  return count;
}

static tsr_machine *read_kept(const tsr_device_info *info) {
  char identity[192], *path;
  tsr_machine *kept = NULL;
  tsr_probe_identity(info, identity, sizeof identity);
  if (tsr_machine_cache_path(identity, &path) != TSR_OK) return NULL;
  if (access(path, R_OK) == 0 && tsr_machine_read(path, &kept) != TSR_OK) kept = NULL;
  tsr_dealloc(path);
  return kept;
}

/* *machine: the first `count` devices of the kept measurement, or all if it has fewer. */
static tsr_status choose_first(const tsr_machine *kept, int count, tsr_machine **machine) {
  int list[TSR_MAX_DEVICES];
  if (count > kept->devices) count = kept->devices;
  for (int d = 0; d < count; d++) list[d] = d;
  return tsr_machine_select(kept, list, count, machine);
}

static tsr_status guess_nvidia(const tsr_options *options, tsr_machine **machine, bool *measured) {
  tsr_device_info info[TSR_MAX_DEVICES];
  int present = tsr_offload_list_nvidia(DRIVER, info, TSR_MAX_DEVICES), wanted = 0;
  present = tsr_offload_count_visible(tsr_environment_get("CUDA_VISIBLE_DEVICES"), present);
  TSR_TRY(tsr_context_count_devices(options->devices, &wanted));
  int count = wanted > 0 && wanted < present ? wanted : present;
  if (present == 0) return TSR_OK;
  tsr_machine *kept = read_kept(info);
  *measured = kept != NULL;
  if (kept == NULL) return tsr_machine_shipped(info[0].name, count, machine);
  tsr_status status = choose_first(kept, count, machine);
  tsr_machine_destroy(kept);
  return status;
}

tsr_status tsr_offload_guess(const tsr_options *options, tsr_machine **machine, bool *measured) {
  const char *engine = options->engine;
  bool emulated = tsr_engine_emulates(engine);
  tsr_device_info any;
  int count = 0;
  *machine = NULL;
  *measured = true;
  if (engine != NULL && strcmp(engine, "cpu") == 0) return TSR_OK;
  if (options->machine != NULL && (emulated || tsr_offload_list_nvidia(DRIVER, &any, 1) > 0))
    return tsr_machine_load(options->machine, machine);
  if (!emulated) return guess_nvidia(options, machine, measured);
  *measured = false;
  TSR_TRY(tsr_context_count_devices(options->devices, &count));
  return tsr_context_emulated_machine(count > 0 ? count : 4, machine);
}
