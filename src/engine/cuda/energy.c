/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The energy counter of a card, which NVIDIA's management library (NVML) reads. The library comes
 * with the driver and is opened when a counter is first asked for. Its types are written as C's of
 * the same sizes, so that its header is not needed. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "engine/gpu/internal.h"

static struct {
  const char *missing; /* why there are no counters; NULL: they can be read */
  int (*start)(void);
  int (*find)(const char *address, void **card);
  int (*energy)(void *card, unsigned long long *millijoules); /* since the driver was loaded */
} nvml;

static bool find_function(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

/* The library stays open and started, since starting it takes up to seconds. */
static void load(void) {
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  nvml.missing = "libnvidia-ml.so.1 cannot be opened; it comes with the driver";
  if (library == NULL) return;
  nvml.missing = "libnvidia-ml.so.1 lacks functions; it is older than CUDA 9";
  if (!find_function(library, "nvmlInit_v2", &nvml.start) ||
      !find_function(library, "nvmlDeviceGetHandleByPciBusId_v2", &nvml.find) ||
      !find_function(library, "nvmlDeviceGetTotalEnergyConsumption", &nvml.energy))
    return;
  nvml.missing = "NVML does not start here";
  if (nvml.start() == 0) nvml.missing = NULL;
}

tsr_status gpu_energy_at(const char *address, double *joules) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  unsigned long long millijoules;
  void *card;
  pthread_once(&once, load);
  if (nvml.missing != NULL)
    return tsr_fail(TSR_ERR_UNSUPPORTED, "no energy counter can be read: %s", nvml.missing);
  if (nvml.find(address, &card) != 0 || nvml.energy(card, &millijoules) != 0)
    return tsr_fail(TSR_ERR_UNSUPPORTED, "the GPU at %s has no energy counter that can be read",
                    address);
  *joules = 1e-3 * (double)millijoules;
  return TSR_OK;
}
