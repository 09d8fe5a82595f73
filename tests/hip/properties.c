/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Properties of devices: the name of the architecture alone, which is what the engine asks for. The
 * structure up to ROCm 5 is that of the header of ROCm 5; since ROCm 6 the function has another
 * name and the structure other offsets, and under the old name there is still the old one.
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

enum { BYTES_5 = 792, ARCHITECTURE_5 = 396, BYTES_6 = 1472, ARCHITECTURE_6 = 1160, MOST = 256 };

static hipError_t fill_in(void *properties, size_t bytes, size_t at, int device) {
  if (device < 0 || device >= hip_settings()->devices)
    return hip_misuse(hipErrorInvalidDevice, "hipGetDeviceProperties of %d", device);
  memset(properties, 0x5a, bytes); /* what the engine must not read has no sense */
  snprintf((char *)properties + at, MOST, "%s", hip_settings()->arch);
  return hip_set(hip_lost(device));
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device) {
  return fill_in(properties, BYTES_5, ARCHITECTURE_5, device);
}

#if TSR_ROCM >= 6
hipError_t hipGetDevicePropertiesR0600(void *properties, int device);
hipError_t hipGetDevicePropertiesR0600(void *properties, int device) {
  return fill_in(properties, BYTES_6, ARCHITECTURE_6, device);
}
#endif
