/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The names of the CUDA runtime and of NCCL that ../gpu/fabric.c uses, and what names alone do not
 * say. */
#ifndef TSR_CLUSTER_NCCL_NAMES_H
#define TSR_CLUSTER_NCCL_NAMES_H

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cluster/tuning.h"

#define FABRIC tsr_fabric_nccl
#define FABRIC_NAME "nccl"
#define FABRIC_LIBRARY "NCCL"
#define GPU_RUNTIME "CUDA"

#define gpuError cudaError_t
#define gpuSuccess cudaSuccess
#define gpuErrorNotReady cudaErrorNotReady
#define gpuErrorPeerOn cudaErrorPeerAccessAlreadyEnabled
#define gpuErrorName cudaGetErrorName
#define gpuErrorString cudaGetErrorString
#define gpuLastError cudaGetLastError
#define gpuGetDevice cudaGetDevice
#define gpuSetDevice cudaSetDevice
#define gpuPriorityRange cudaDeviceGetStreamPriorityRange
#define gpuCanAccessPeer cudaDeviceCanAccessPeer
#define gpuEnablePeer cudaDeviceEnablePeerAccess
#define gpuStream cudaStream_t
#define gpuStreamCreate cudaStreamCreateWithPriority
#define gpuStreamNonBlocking cudaStreamNonBlocking
#define gpuStreamDestroy cudaStreamDestroy
#define gpuStreamQuery cudaStreamQuery
#define gpuEvent cudaEvent_t
#define gpuEventCreate cudaEventCreateWithFlags
#define gpuEventDisableTiming cudaEventDisableTiming
#define gpuEventDestroy cudaEventDestroy
#define gpuEventRecord cudaEventRecord
#define gpuEventQuery cudaEventQuery
#define gpuMemcpy cudaMemcpyAsync
#define gpuMemcpy2D cudaMemcpy2DAsync
#define gpuMemcpyIn cudaMemcpyHostToDevice
#define gpuMemcpyOut cudaMemcpyDeviceToHost
#define gpuMemcpyDefault cudaMemcpyDefault

#define gpuMaxPitch(pitch, device) cudaDeviceGetAttribute(pitch, cudaDevAttrMaxPitch, device)

typedef enum gpuMemory { gpuMemoryOther, gpuMemoryPinned, gpuMemoryDevice } gpuMemory;

static inline cudaError_t gpuMemoryOf(const void *pointer, gpuMemory *kind, int *device) {
  struct cudaPointerAttributes attributes = {0};
  cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
  if (error != cudaSuccess) return error;
  *kind = attributes.type == cudaMemoryTypeDevice ? gpuMemoryDevice
          : attributes.type == cudaMemoryTypeHost ? gpuMemoryPinned
                                                  : gpuMemoryOther;
  *device = attributes.device;
  return cudaSuccess;
}

static inline cudaError_t gpuUuid(int device, unsigned char uuid[16]) {
  struct cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error == cudaSuccess) memcpy(uuid, properties.uuid.bytes, 16);
  return error;
}

/* cuPointerGetAttribute of the driver; NULL: it has none. */
static inline void *gpuPointerAttribute(void) {
  static const char name[] = "cuPointerGetAttribute";
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  void *function = NULL;
#if CUDART_VERSION >= 12050
  cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : NULL;
}

/* The library is linked to CUDA and NCCL. Broadcasts of panels gain nothing from NVLink multicast,
 * and a fault in it also disables the other devices of a machine. NCCL reads the variable when it
 * is first used. */
static inline tsr_status fabric_load(void) {
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  return TSR_OK;
}

static inline const char *fabric_last_error(void) {
  return ncclGetLastError(NULL);
}

static inline ncclResult_t fabric_join(ncclComm_t *comm, int size, ncclUniqueId id, int rank) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.maxCTAs = TSR_TUNE_NCCL_BLOCKS;
  return ncclCommInitRankConfig(comm, size, id, rank, &config);
}

#endif
