/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Errors of the runtime, the current device and its energy, for all other files of the engine. */
#include "engine/gpu/internal.h"

tsr_status gpu_fail(tsr_status status, gpuError error, const char *what, int device) {
  (void)gpuLastError(); /* clears the error, or a later call of other code would report it */
  return tsr_fail(status, GPU_RUNTIME " device %d: %s failed: %s (%s, %d)", device, what,
                  gpuErrorString(error), gpuErrorName(error), (int)error);
}

tsr_status gpu_check_device(const tsr_engine_state *state, int device) {
  if (device >= 0 && device < state->count) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "device is %d; the opened devices are 0 to %d", device,
                  state->count - 1);
}

/* ---- The current device --------------------------------------------------- */

/* Asks the runtime each time: on a thread of the user, the user may have changed the device. */
gpuError gpu_use(const gpu_device *device) {
  int current = -1;
  gpuError error = gpuGetDevice(&current);
  if (error == gpuSuccess && current == device->physical) return gpuSuccess;
  return gpuSetDevice(device->physical);
}

int gpu_enter(const gpu_device *device) {
  int former = device->physical;
  (void)gpuGetDevice(&former);
  if (former != device->physical) (void)gpuSetDevice(device->physical);
  return former;
}

void gpu_leave(int former) {
  int current = former;
  (void)gpuGetDevice(&current);
  if (current != former) (void)gpuSetDevice(former);
}

tsr_status gpu_energy(tsr_engine_state *state, int device, double *joules) {
  TSR_TRY(gpu_check_device(state, device));
  return gpu_energy_at(state->devices[device].address, joules);
}
