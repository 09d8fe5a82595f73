/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The names of the HIP runtime and of RCCL that ../gpu/fabric.c uses, and what names alone do not
 * say. */
#ifndef TSR_CLUSTER_RCCL_NAMES_H
#define TSR_CLUSTER_RCCL_NAMES_H

#include <string.h>

#include "functions.h"

#define FABRIC tsr_fabric_rccl
#define FABRIC_NAME "rccl"
#define FABRIC_LIBRARY "RCCL"
#define GPU_RUNTIME "HIP"

#define gpuError hipError_t
#define gpuSuccess hipSuccess
#define gpuErrorNotReady hipErrorNotReady
#define gpuErrorPeerOn hipErrorPeerAccessAlreadyEnabled
#define gpuErrorName tsr_rccl.hipGetErrorName
#define gpuErrorString tsr_rccl.hipGetErrorString
#define gpuLastError tsr_rccl.hipGetLastError
#define gpuGetDevice tsr_rccl.hipGetDevice
#define gpuSetDevice tsr_rccl.hipSetDevice
#define gpuPriorityRange tsr_rccl.hipDeviceGetStreamPriorityRange
#define gpuCanAccessPeer tsr_rccl.hipDeviceCanAccessPeer
#define gpuEnablePeer tsr_rccl.hipDeviceEnablePeerAccess
#define gpuStream hipStream_t
#define gpuStreamCreate tsr_rccl.hipStreamCreateWithPriority
#define gpuStreamNonBlocking hipStreamNonBlocking
#define gpuStreamDestroy tsr_rccl.hipStreamDestroy
#define gpuStreamQuery tsr_rccl.hipStreamQuery
#define gpuEvent hipEvent_t
#define gpuEventCreate tsr_rccl.hipEventCreateWithFlags
#define gpuEventDisableTiming hipEventDisableTiming
#define gpuEventDestroy tsr_rccl.hipEventDestroy
#define gpuEventRecord tsr_rccl.hipEventRecord
#define gpuEventQuery tsr_rccl.hipEventQuery
#define gpuMemcpy tsr_rccl.hipMemcpyAsync
#define gpuMemcpy2D tsr_rccl.hipMemcpy2DAsync
#define gpuMemcpyIn hipMemcpyHostToDevice
#define gpuMemcpyOut hipMemcpyDeviceToHost
#define gpuMemcpyDefault hipMemcpyDefault

#define gpuMaxPitch(pitch, device) \
  tsr_rccl.hipDeviceGetAttribute(pitch, hipDeviceAttributeMaxPitch, device)

#define ncclBroadcast tsr_rccl.ncclBroadcast
#define ncclCommAbort tsr_rccl.ncclCommAbort
#define ncclCommDestroy tsr_rccl.ncclCommDestroy
#define ncclCommGetAsyncError tsr_rccl.ncclCommGetAsyncError
#define ncclGetErrorString tsr_rccl.ncclGetErrorString
#define ncclGetUniqueId tsr_rccl.ncclGetUniqueId

typedef enum gpuMemory { gpuMemoryOther, gpuMemoryPinned, gpuMemoryDevice } gpuMemory;

/* The first field of hipPointerAttribute_t is the kind: host 0, device 1 up to ROCm 5; host 1,
 * device 2 since. Memory that the runtime does not know is an error up to ROCm 5, and nobody's. */
static inline hipError_t gpuMemoryOf(const void *pointer, gpuMemory *kind, int *device) {
  hipPointerAttribute_t attributes;
  int type, host = tsr_rccl.release >= 6 ? 1 : 0;
  memset(&attributes, 0, sizeof attributes);
  hipError_t error = tsr_rccl.hipPointerGetAttributes(&attributes, pointer);
  if (error != hipSuccess) return error;
  memcpy(&type, &attributes, sizeof type);
  *kind = attributes.isManaged ? gpuMemoryOther
          : type == host       ? gpuMemoryPinned
          : type == host + 1   ? gpuMemoryDevice
                               : gpuMemoryOther;
  *device = attributes.device;
  return hipSuccess;
}

static inline hipError_t gpuUuid(int device, unsigned char uuid[16]) {
  hipUUID found;
  hipError_t error = tsr_rccl.hipDeviceGetUuid(&found, device);
  if (error == hipSuccess) memcpy(uuid, found.bytes, 16);
  return error;
}

static inline void *gpuPointerAttribute(void) {
  void *function = NULL;
  memcpy(&function, &tsr_rccl.hipPointerGetAttribute, sizeof function);
  return function;
}

static inline tsr_status fabric_load(void) {
  return tsr_rccl_load();
}

static inline const char *fabric_last_error(void) {
  return tsr_rccl.ncclGetLastError != NULL ? tsr_rccl.ncclGetLastError(NULL) : NULL;
}

/* The function that takes a structure of settings came later, and the structure differs between
 * releases. */
static inline ncclResult_t fabric_join(ncclComm_t *comm, int size, ncclUniqueId id, int rank) {
  return tsr_rccl.ncclCommInitRank(comm, size, id, rank);
}

#endif
