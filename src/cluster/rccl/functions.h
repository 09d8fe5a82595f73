/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The functions of the HIP runtime and of RCCL that the fabric calls; load.c finds them by name. */
#ifndef TSR_CLUSTER_RCCL_FUNCTIONS_H
#define TSR_CLUSTER_RCCL_FUNCTIONS_H

#include <hip/hip_runtime_api.h>

#include "base/status.h"
#include "rccl.h"

#define TSR_RCCL_RUNTIME(X)          \
  X(hipDeviceCanAccessPeer)          \
  X(hipDeviceEnablePeerAccess)       \
  X(hipDeviceGetAttribute)           \
  X(hipDeviceGetStreamPriorityRange) \
  X(hipDeviceGetUuid)                \
  X(hipEventCreateWithFlags)         \
  X(hipEventDestroy)                 \
  X(hipEventQuery)                   \
  X(hipEventRecord)                  \
  X(hipGetDevice)                    \
  X(hipGetErrorName)                 \
  X(hipGetErrorString)               \
  X(hipGetLastError)                 \
  X(hipMemcpy2DAsync)                \
  X(hipMemcpyAsync)                  \
  X(hipPointerGetAttribute)          \
  X(hipPointerGetAttributes)         \
  X(hipSetDevice)                    \
  X(hipStreamCreateWithPriority)     \
  X(hipStreamDestroy)                \
  X(hipStreamQuery)

#define TSR_RCCL_COLLECTIVES(X) \
  X(ncclBroadcast)              \
  X(ncclCommAbort)              \
  X(ncclCommDestroy)            \
  X(ncclCommGetAsyncError)      \
  X(ncclCommInitRank)           \
  X(ncclGetErrorString)         \
  X(ncclGetUniqueId)

#define TSR_RCCL_FIELD(name) __typeof__(&name) name;
typedef struct tsr_rccl_functions {
  TSR_RCCL_RUNTIME(TSR_RCCL_FIELD)
  TSR_RCCL_COLLECTIVES(TSR_RCCL_FIELD)
  TSR_RCCL_FIELD(ncclGetLastError) /* NULL before RCCL 2.13 */
  int release;                     /* of ROCm: 5, 6 or 7 */
} tsr_rccl_functions;

/* Filled in by tsr_rccl_load; constant afterwards. */
extern tsr_rccl_functions tsr_rccl;

/* Any thread may call it, any number of times. TSR_ERR_UNSUPPORTED names the library or the
 * function that is missing. */
tsr_status tsr_rccl_load(void);

#endif
