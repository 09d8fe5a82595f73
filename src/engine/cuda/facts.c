/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What CUDA says of devices and pointers. */
#include <stdio.h>
#include <string.h>

#include "engine/gpu/internal.h"

#define MIB ((size_t)1 << 20)

/* The engine is linked to CUDA's libraries. */
tsr_status gpu_load(void) {
  return TSR_OK;
}

/* The runtime loads the code of a kernel with its first launch. */
tsr_status gpu_load_kernels(int device) {
  (void)device;
  return TSR_OK;
}

const char *gpu_why_no_device(void) {
  return "";
}

gpuError gpu_describe(int device, gpu_facts *facts) {
  struct cudaDeviceProp properties;
  int pitch = 0;
  gpuError error = cudaGetDeviceProperties(&properties, device);
  if (error == gpuSuccess) error = cudaDeviceGetAttribute(&pitch, cudaDevAttrMaxPitch, device);
  if (error != gpuSuccess) return error;
  *facts = (gpu_facts){.multiprocessors = properties.multiProcessorCount,
                       .max_pitch = (size_t)pitch,
                       /* The most that cuBLAS uses. With a workspace set by the caller, cuBLAS's
                        * results do not depend on the stream. */
                       .workspace = properties.major >= 9 ? 64 * MIB : 16 * MIB};
  snprintf(facts->name, sizeof facts->name, "%.*s", (int)sizeof facts->name - 1, properties.name);
  memcpy(facts->uuid, properties.uuid.bytes, sizeof facts->uuid);
  return cudaDeviceGetPCIBusId(facts->address, (int)sizeof facts->address, device);
}

gpuError gpu_memory_of(const void *pointer, tsr_memory *memory, int *device) {
  struct cudaPointerAttributes attributes = {0};
  gpuError error = cudaPointerGetAttributes(&attributes, pointer);
  if (error != gpuSuccess) return error;
  *memory = attributes.type == cudaMemoryTypeHost      ? TSR_PINNED
            : attributes.type == cudaMemoryTypeDevice  ? TSR_DEVICE
            : attributes.type == cudaMemoryTypeManaged ? TSR_MANAGED
                                                       : TSR_PAGEABLE;
  *device = attributes.device;
  return gpuSuccess;
}
