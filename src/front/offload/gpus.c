/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists GPUs from the files of each vendor's driver. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "front/offload/inside.h"

/* ---- NVIDIA ---- */

/* Reads the device's name from the driver's text, whose line is "Model: \t\t NVIDIA H200\n". */
static void read_model(const char *text, char *name, size_t room) {
  const char *model = strstr(text, "Model:");
  if (model == NULL) return;
  model += strlen("Model:");
  model += strspn(model, " \t");
  snprintf(name, room, "%.*s", (int)strcspn(model, "\n"), model);
}

static void describe_nvidia(const char *root, const char *bus, tsr_device_info *info) {
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
    if (entry->d_name[0] != '.') describe_nvidia(root, entry->d_name, &info[count++]);
  closedir(folder);
  return count;
}

/* ---- AMD ---- */

enum { PATH = 512 };

/* The text of a file, which the caller deallocates; NULL: it cannot be read. A missing file is no
 * error, so it is not asked for. */
static char *read_text(const char *path) {
  char *text;
  size_t length;
  if (access(path, R_OK) != 0) return NULL;
  return tsr_text_read_file(path, &text, &length) == TSR_OK ? text : NULL;
}

/* The number after a word that begins a line, in a driver's properties ("device_id 29857"); -1:
 * there is none. */
static long property(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, word, length) == 0 && line[length] == ' ')
      return strtol(line + length, NULL, 10);
  }
  return -1;
}

/* The card's revision, which the driver of its display interface shows ("0x00"). */
static long revision_of(const char *root, long minor) {
  char path[PATH];
  snprintf(path, sizeof path, "%s/sys/class/drm/renderD%ld/device/revision", root, minor);
  char *text = read_text(path);
  long revision = text != NULL ? strtol(text, NULL, 16) : -1;
  tsr_dealloc(text);
  return revision;
}

/* Finds a device in libdrm's list, whose lines are "74A1,<tab>00,<tab>AMD Instinct MI300X". */
static bool find_name(const char *list, long device, long revision, char *name, size_t room) {
  for (const char *line = list; line != NULL; line = strchr(line, '\n')) {
    unsigned id, its_revision;
    int used = 0;
    line += *line == '\n';
    if (sscanf(line, "%x, %x, %n", &id, &its_revision, &used) != 2 || used == 0) continue;
    if (id != device || its_revision != revision) continue;
    snprintf(name, room, "%.*s", (int)strcspn(line + used, "\r\n"), line + used);
    return true;
  }
  return false;
}

/* The name under which the runtime knows the device: it has libdrm's list, too. */
static void name_amd(const char *root, long device, long minor, tsr_device_info *info) {
  static const char *const lists[] = {"/usr/share/libdrm/amdgpu.ids",
                                      "/opt/amdgpu/share/libdrm/amdgpu.ids"};
  long revision = revision_of(root, minor);
  bool found = false;
  *info = (tsr_device_info){.name = "AMD GPU"};
  for (int i = 0; i < 2 && !found; i++) {
    char path[PATH];
    snprintf(path, sizeof path, "%s%s", root, lists[i]);
    char *list = read_text(path);
    found = list != NULL && find_name(list, device, revision, info->name, sizeof info->name);
    tsr_dealloc(list);
  }
}

/* Whether node `node` of the driver is a GPU, which is then described. CPUs are nodes, too, without
 * SIMD units. */
static bool describe_amd(const char *root, int node, bool *there, tsr_device_info *info) {
  char path[PATH];
  snprintf(path, sizeof path, "%s/sys/class/kfd/kfd/topology/nodes/%d/properties", root, node);
  char *text = read_text(path);
  *there = text != NULL;
  bool gpu = text != NULL && property(text, "simd_count") > 0;
  if (gpu) name_amd(root, property(text, "device_id"), property(text, "drm_render_minor"), info);
  tsr_dealloc(text);
  return gpu;
}

int tsr_offload_list_amd(const char *root, tsr_device_info *info, int most) {
  bool there = true;
  int count = 0;
  for (int node = 0; there && count < most; node++)
    count += describe_amd(root, node, &there, &info[count]);
  return count;
}

/* ---- Variables that hide devices ---- */

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
