/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The facts of devices and pointers, asked of CUDA. */
#include <stdio.h>
#include <string.h>

#include "engine/gpu/internal.h"
#include "engine/gpu/level3/factor_kernel.h"
#include "engine/gpu/residues/residue_products.h"

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

/* The UUID of a slice of a card (MIG), which only the driver tells; else *uuid stays as it is: the
 * card's. The driver's types are written as C's of the same sizes. */
static void read_slice_uuid(int device, unsigned char uuid[16]) {
  void *found[] = {gpuDriverFunction("cuDeviceGet"), gpuDriverFunction("cuDeviceGetUuid")};
  int (*get_handle)(int *handle, int ordinal);
  int (*get_uuid)(unsigned char *uuid, int handle);
  unsigned char of_slice[16];
  int handle;
  if (found[0] == NULL || found[1] == NULL) return;
  memcpy(&get_handle, &found[0], sizeof get_handle);
  memcpy(&get_uuid, &found[1], sizeof get_uuid);
  if (get_handle(&handle, device) == 0 && get_uuid(of_slice, handle) == 0)
    memcpy(uuid, of_slice, sizeof of_slice);
}

gpuError gpu_describe(int device, gpu_facts *facts) {
  struct cudaDeviceProp properties;
  int pitch = 0;
  gpuError error = cudaGetDeviceProperties(&properties, device);
  if (error == gpuSuccess) error = cudaDeviceGetAttribute(&pitch, cudaDevAttrMaxPitch, device);
  if (error != gpuSuccess) return error;
  *facts = (gpu_facts){.multiprocessors = properties.multiProcessorCount,
                       .products = tsr_gpu_has_products(device) != 0,
                       .factor = tsr_gpu_has_factor(device) != 0,
                       .max_pitch = (size_t)pitch,
                       /* The most that cuBLAS uses. With a workspace set by the caller, cuBLAS's
                        * results do not depend on the stream. */
                       .workspace = properties.major >= 9 ? 64 * MIB : 16 * MIB};
  snprintf(facts->name, sizeof facts->name, "%.*s", (int)sizeof facts->name - 1, properties.name);
  memcpy(facts->uuid, properties.uuid.bytes, sizeof facts->uuid);
  read_slice_uuid(device, facts->uuid);
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
