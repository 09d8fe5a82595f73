/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which devices the variables leave, and in which order, as ROCr (amd_filter_device.cpp) and the
 * HIP runtime (rocdevice.cpp) read them: ROCR_VISIBLE_DEVICES first, then HIP_VISIBLE_DEVICES among
 * what is left or, if that is empty, CUDA_VISIBLE_DEVICES. What follows the first entry that means
 * no device does not count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime.h"

typedef struct devices {
  int count, physical[MOST_DEVICES];
} devices;

void hip_uuid(int physical, char text[17]) {
  snprintf(text, 17, "7e55e2a%09x", (unsigned)physical);
}

/* The place in the list of the only device whose UUID begins so; -1: there is none. */
static int find_uuid(const devices *d, const char *entry) {
  int found = -1;
  size_t length = strlen(entry);
  for (int i = 0; i < d->count; i++) {
    char whole[32] = "GPU-";
    hip_uuid(d->physical[i], whole + 4);
    if (length < 5 || strncasecmp(whole, entry, length) != 0) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

static int find_entry(const devices *d, const char *entry) {
  if (strncasecmp(entry, "GPU-", 4) == 0) return find_uuid(d, entry);
  char *end;
  long index = strtol(entry, &end, 10);
  return end != entry && *end == '\0' && index >= 0 && index < d->count ? (int)index : -1;
}

static bool has(const devices *d, int physical) {
  for (int i = 0; i < d->count; i++)
    if (d->physical[i] == physical) return true;
  return false;
}

static void keep_listed(devices *d, const char *list) {
  devices kept = {.count = 0};
  char text[256], *rest = text;
  snprintf(text, sizeof text, "%s", list);
  for (char *entry; (entry = strsep(&rest, ",")) != NULL;) {
    int at = find_entry(d, entry);
    if (at < 0) break;
    if (!has(&kept, d->physical[at])) kept.physical[kept.count++] = d->physical[at];
  }
  *d = kept;
}

int hip_visible(int present, int physical[MOST_DEVICES]) {
  devices d = {.count = present};
  const char *below = getenv("ROCR_VISIBLE_DEVICES"), *above = getenv("HIP_VISIBLE_DEVICES");
  if (above == NULL || *above == '\0') above = getenv("CUDA_VISIBLE_DEVICES");
  for (int i = 0; i < present; i++) d.physical[i] = i;
  if (below != NULL) keep_listed(&d, below);
  if (above != NULL && *above != '\0') keep_listed(&d, above);
  memcpy(physical, d.physical, sizeof d.physical);
  return d.count;
}
