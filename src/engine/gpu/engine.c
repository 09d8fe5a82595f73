/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Opens and closes devices, and has the table of the engine. No other file calls this one. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/gpu/internal.h"

TSR_API extern const tsr_engine GPU_ENGINE;

/* ---- Which devices -------------------------------------------------------- */

static tsr_status count_devices(int *present) {
  gpuError error = gpuDeviceCount(present);
  if (error == gpuSuccess && *present > 0) return TSR_OK;
  (void)gpuLastError();
  if (error == gpuErrorDriver)
    return tsr_fail(TSR_ERR_ENGINE,
                    "no " GPU_RUNTIME
                    " driver, or one older than the runtime (%s); tessera doctor says which",
                    gpuErrorString(error));
  if (error == gpuSuccess || error == gpuErrorNoDevice)
    return tsr_fail(TSR_ERR_ENGINE, "no " GPU_RUNTIME " device is visible on this machine%s",
                    gpu_why_no_device());
  return tsr_fail(TSR_ERR_ENGINE, GPU_RUNTIME " cannot be used: %s (%s)", gpuErrorString(error),
                  gpuErrorName(error));
}

static bool listed(const int *list, int count, int value) {
  for (int i = 0; i < count; i++)
    if (list[i] == value) return true;
  return false;
}

static tsr_status choose_listed(tsr_engine_state *state, const tsr_engine_options *options,
                                int present) {
  if (options->count < 1 || options->count > TSR_MAX_DEVICES)
    return tsr_fail(TSR_ERR_ARGUMENT, "%d devices are asked for; there may be 1 to %d",
                    options->count, TSR_MAX_DEVICES);
  for (int d = 0; d < options->count; d++) {
    int physical = options->devices[d];
    if (physical < 0 || physical >= present)
      return tsr_fail(TSR_ERR_ARGUMENT, "device %d is asked for; this machine has 0 to %d",
                      physical, present - 1);
    if (listed(options->devices, d, physical))
      return tsr_fail(TSR_ERR_ARGUMENT, "device %d is asked for twice", physical);
    state->devices[d].physical = physical;
  }
  state->count = options->count;
  return TSR_OK;
}

static tsr_status choose_devices(tsr_engine_state *state, const tsr_engine_options *options) {
  int present = 0;
  TSR_TRY(count_devices(&present));
  if (options->devices) return choose_listed(state, options, present);
  if (options->count > present)
    return tsr_fail(TSR_ERR_ARGUMENT, "%d devices are asked for; this machine has %d",
                    options->count, present);
  state->count = options->count > 0 ? options->count : present;
  if (state->count > TSR_MAX_DEVICES) state->count = TSR_MAX_DEVICES;
  for (int d = 0; d < state->count; d++) state->devices[d].physical = d;
  return TSR_OK;
}

/* ---- Peer access ----------------------------------------------------------- */

/* Enables direct copies between the device from and every other. A pair without peer access is no
 * error: the driver copies through the host. */
static tsr_status enable_peers(tsr_engine_state *state, tsr_device_info *info, int from) {
  gpu_device *device = &state->devices[from];
  GPU_TRY(gpuSetDevice(device->physical), "making it current", device->physical);
  for (int to = 0; to < state->count; to++) {
    int can = 0;
    if (to == from) continue;
    gpuError error = gpuCanAccessPeer(&can, device->physical, state->devices[to].physical);
    if (error == gpuSuccess && can) error = gpuEnablePeer(state->devices[to].physical, 0);
    bool enabled = can && (error == gpuSuccess || error == gpuErrorPeerOn);
    if (error != gpuSuccess) (void)gpuLastError();
    device->peer[to] = info[from].peer[to] = enabled;
  }
  return TSR_OK;
}

/* ---- Open and close ------------------------------------------------------- */

static tsr_status open_devices(tsr_engine_state *state, tsr_device_info *info) {
  TSR_TRY(gpu_start_devices(state, info));
  for (int d = 0; d < state->count; d++) TSR_TRY(enable_peers(state, info, d));
  for (int d = 0; d < state->count; d++) TSR_TRY(gpu_clock_start(&state->devices[d]));
  return TSR_OK;
}

static void find_driver_functions(tsr_engine_state *state) {
  void *range = gpuDriverFunction(GPU_ADDRESS_RANGE);
  void *attribute = gpuDriverFunction(GPU_POINTER_ATTRIBUTE);
  memcpy(&state->address_range, &range, sizeof range);
  memcpy(&state->pointer_attribute, &attribute, sizeof attribute);
}

static void gpu_close(tsr_engine_state *state) {
  if (!state) return;
  for (int d = 0; d < state->count; d++) gpu_clock_stop(&state->devices[d]);
  tsr_dealloc(state);
}

static tsr_status open_state(tsr_engine_state *state, const tsr_engine_options *options,
                             tsr_device_info *info) {
  TSR_TRY(choose_devices(state, options));
  int former = -1;
  if (gpuGetDevice(&former) != gpuSuccess) former = state->devices[0].physical;
  tsr_status status = open_devices(state, info);
  if (status == TSR_OK) find_driver_functions(state);
  gpu_leave(former);
  return status;
}

static tsr_status gpu_open(const tsr_engine_options *options, tsr_engine_state **opened,
                           tsr_device_info *info, int *count) {
  /* If there are more streams than hardware queues, streams share a queue and delay one another.
   * The runtime reads the variable when it starts. */
  setenv(GPU_CONNECTIONS, GPU_CONNECTIONS_MOST, 0);
  tsr_device_info found[TSR_MAX_DEVICES];
  TSR_TRY(gpu_load());
  tsr_engine_state *state = tsr_alloc_zero(1, sizeof *state);
  if (!state) return tsr_fail(TSR_ERR_MEMORY, "no memory to open " GPU_RUNTIME " devices");
  state->check = options->check;
  tsr_status status = open_state(state, options, found);
  if (status != TSR_OK) {
    gpu_close(state);
    return status;
  }
  memcpy(info, found, (size_t)state->count * sizeof *info);
  *count = state->count;
  *opened = state;
  return TSR_OK;
}

static tsr_status list_devices(tsr_engine_state *state, const tsr_engine_options *options,
                               tsr_device_info *info) {
  gpu_facts facts;
  TSR_TRY(choose_devices(state, options));
  for (int d = 0; d < state->count; d++)
    TSR_TRY(gpu_identify(state->devices[d].physical, &facts, &info[d]));
  return TSR_OK;
}

/* The variable is set here as well, since the runtime may start here. */
static tsr_status gpu_list(const tsr_engine_options *options, tsr_device_info *info, int *count) {
  setenv(GPU_CONNECTIONS, GPU_CONNECTIONS_MOST, 0);
  TSR_TRY(gpu_load());
  tsr_engine_state *state = tsr_alloc_zero(1, sizeof *state);
  if (!state) return tsr_fail(TSR_ERR_MEMORY, "no memory to list " GPU_RUNTIME " devices");
  tsr_status status = list_devices(state, options, info);
  if (status == TSR_OK) *count = state->count;
  tsr_dealloc(state);
  return status;
}

const tsr_engine GPU_ENGINE = {
    .name = GPU_NAME,
    .traits = {.forms = 1u << TSR_KERNEL_RESIDUES,
               .overlaps = true,
               .blocks = true,
               .fabric = GPU_FABRIC},
    .open = gpu_open,
    .close = gpu_close,
    .list = gpu_list,
    .alloc = gpu_alloc,
    .free = gpu_free,
    .pin = gpu_pin,
    .queue_create = gpu_queue_create,
    .queue_destroy = gpu_queue_destroy,
    .event_create = gpu_event_create,
    .event_destroy = gpu_event_destroy,
    .record = gpu_record,
    .wait = gpu_wait,
    .query = gpu_query,
    .check = gpu_check,
    .recover = gpu_recover,
    .copy = gpu_copy,
    .kernel = gpu_kernel,
    .where = gpu_where,
    .energy = gpu_energy,
    .factors = gpu_solver_load,
};
