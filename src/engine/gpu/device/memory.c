/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory of devices, pinned host memory, and the memory that a pointer points to. */
#include <string.h>

#include "engine/gpu/internal.h"

/* In checking mode, new memory is filled with this byte: a NaN of every type. A command that reads
 * such memory shows as NaNs in C; only the host engine tells which command it was. */
enum { POISON_BYTE = 0xff };

static tsr_status alloc_failed(gpuError error, size_t bytes, int device) {
  (void)gpuLastError();
  tsr_status status = error == gpuErrorMemory ? TSR_ERR_MEMORY : TSR_ERR_DEVICE;
  if (device == TSR_HOST)
    return tsr_fail(status, "cannot allocate %zu bytes of pinned host memory: %s", bytes,
                    gpuErrorString(error));
  return tsr_fail(
      status, "cannot allocate %zu bytes on " GPU_RUNTIME " device %d: %s; set a smaller budget",
      bytes, device, gpuErrorString(error));
}

/* Fills the memory and waits for that, because the engine's streams do not wait for the default
 * stream. */
static gpuError poison(int device, void *memory, size_t bytes) {
  if (device == TSR_HOST) {
    memset(memory, POISON_BYTE, bytes);
    return gpuSuccess;
  }
  gpuError error = gpuMemset(memory, POISON_BYTE, bytes);
  return error == gpuSuccess ? gpuStreamSynchronize(NULL) : error;
}

static tsr_status alloc_on(const tsr_engine_state *state, int device, size_t bytes,
                           void **pointer) {
  void *memory = NULL;
  int former = gpu_enter(&state->devices[device == TSR_HOST ? 0 : device]);
  gpuError error = device == TSR_HOST ? gpuHostAlloc(&memory, bytes, gpuHostAllocPortable)
                                      : gpuMalloc(&memory, bytes);
  if (error == gpuSuccess && state->check) error = poison(device, memory, bytes);
  gpu_leave(former);
  if (error != gpuSuccess) return alloc_failed(error, bytes, device);
  *pointer = memory;
  return TSR_OK;
}

tsr_status gpu_alloc(tsr_engine_state *state, int device, size_t bytes, void **pointer) {
  if (device != TSR_HOST) TSR_TRY(gpu_check_device(state, device));
  return alloc_on(state, device, bytes > 0 ? bytes : 1, pointer);
}

void gpu_free(tsr_engine_state *state, int device, void *pointer) {
  if (!pointer) return;
  bool host = device < 0 || device >= state->count;
  int former = gpu_enter(&state->devices[host ? 0 : device]);
  gpuError error = host ? gpuHostFree(pointer) : gpuFree(pointer);
  if (error != gpuSuccess) (void)gpuLastError(); /* a failed device's memory is gone anyway */
  gpu_leave(former);
}

static tsr_status pin_failed(gpuError error, void *pointer, size_t bytes, bool on) {
  (void)gpuLastError();
  bool users = error == gpuErrorRegistered || error == gpuErrorNotRegistered ||
               error == gpuErrorInvalidValue;
  tsr_status status = users                           ? TSR_ERR_ARGUMENT
                      : error == gpuErrorMemory       ? TSR_ERR_MEMORY
                      : error == gpuErrorNotSupported ? TSR_ERR_UNSUPPORTED
                                                      : TSR_ERR_DEVICE;
  if (!on) return tsr_fail(status, "unpinning %p: %s", pointer, gpuErrorString(error));
  return tsr_fail(status, "pinning %zu bytes at %p: %s", bytes, pointer, gpuErrorString(error));
}

tsr_status gpu_pin(tsr_engine_state *state, void *pointer, size_t bytes, bool on) {
  int former = gpu_enter(&state->devices[0]);
  gpuError error =
      on ? gpuHostRegister(pointer, bytes, gpuHostRegisterPortable) : gpuHostUnregister(pointer);
  gpu_leave(former);
  return error == gpuSuccess ? TSR_OK : pin_failed(error, pointer, bytes, on);
}

/* ---- The memory that a pointer points to ----------------------------------- */

/* Sets place to the allocation around the pointer. The allocation stays unknown if the driver fails
 * or answers with a range that does not contain the pointer. */
static void find_range(const tsr_engine_state *state, const void *pointer, tsr_place *place) {
  unsigned long long at = (unsigned long long)(uintptr_t)pointer, begin = 0;
  size_t bytes = 0;
  int error = -1;
  if (place->memory == TSR_DEVICE) {
    if (state->address_range) error = state->address_range(&begin, &bytes, at);
  } else if (state->pointer_attribute) {
    error = state->pointer_attribute(&begin, GPU_RANGE_BEGIN, at);
    if (error == 0) error = state->pointer_attribute(&bytes, GPU_RANGE_BYTES, at);
  }
  if (error != 0 || at < begin || at - begin >= bytes) return;
  place->begin = (const char *)(uintptr_t)begin;
  place->bytes = bytes;
}

static tsr_status find_device(const tsr_engine_state *state, int physical, tsr_place *place) {
  for (int d = 0; d < state->count; d++)
    if (state->devices[d].physical == physical) {
      place->device = d;
      return TSR_OK;
    }
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "the matrix is in the memory of " GPU_RUNTIME
                  " device %d, which is not among "
                  "the devices in use; add it to TESSERA_DEVICES",
                  physical);
}

tsr_status gpu_where(tsr_engine_state *state, const void *pointer, tsr_place *place) {
  tsr_place found = {.memory = TSR_PAGEABLE, .device = TSR_HOST};
  int device = 0;
  if (gpu_memory_of(pointer, &found.memory, &device) != gpuSuccess) {
    (void)gpuLastError(); /* some runtimes fail for pageable memory */
    found.memory = TSR_PAGEABLE;
  }
  if (found.memory == TSR_DEVICE) TSR_TRY(find_device(state, device, &found));
  if (found.memory != TSR_PAGEABLE) find_range(state, pointer, &found);
  *place = found;
  return TSR_OK;
}
