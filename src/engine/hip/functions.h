/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The functions of HIP, rocBLAS and hiprtc that the engine calls. The engine is linked to none of
 * these libraries: load.c finds the functions by name, so that one build runs with ROCm 5, 6 and 7.
 */
#ifndef TSR_ENGINE_HIP_FUNCTIONS_H
#define TSR_ENGINE_HIP_FUNCTIONS_H

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <stdbool.h>

#include "rocblas.h"

#define TSR_HIP_RUNTIME(X)           \
  X(hipDeviceCanAccessPeer)          \
  X(hipDeviceEnablePeerAccess)       \
  X(hipDeviceGetAttribute)           \
  X(hipDeviceGetName)                \
  X(hipDeviceGetStreamPriorityRange) \
  X(hipDeviceGetUuid)                \
  X(hipEventCreateWithFlags)         \
  X(hipEventDestroy)                 \
  X(hipEventElapsedTime)             \
  X(hipEventQuery)                   \
  X(hipEventRecord)                  \
  X(hipEventSynchronize)             \
  X(hipFree)                         \
  X(hipGetDevice)                    \
  X(hipGetDeviceCount)               \
  X(hipGetErrorName)                 \
  X(hipGetErrorString)               \
  X(hipGetLastError)                 \
  X(hipHostFree)                     \
  X(hipHostMalloc)                   \
  X(hipHostRegister)                 \
  X(hipHostUnregister)               \
  X(hipMalloc)                       \
  X(hipMemGetAddressRange)           \
  X(hipMemGetInfo)                   \
  X(hipMemcpy2DAsync)                \
  X(hipMemcpyAsync)                  \
  X(hipMemcpyPeerAsync)              \
  X(hipMemset)                       \
  X(hipModuleGetFunction)            \
  X(hipModuleLaunchKernel)           \
  X(hipModuleLoadData)               \
  X(hipPointerGetAttribute)          \
  X(hipPointerGetAttributes)         \
  X(hipRuntimeGetVersion)            \
  X(hipSetDevice)                    \
  X(hipStreamCreateWithPriority)     \
  X(hipStreamDestroy)                \
  X(hipStreamQuery)                  \
  X(hipStreamSynchronize)            \
  X(hipStreamWaitEvent)

#define TSR_HIP_BLAS(X)              \
  X(rocblas_create_handle)           \
  X(rocblas_destroy_handle)          \
  X(rocblas_set_stream)              \
  X(rocblas_set_workspace)           \
  X(rocblas_set_atomics_mode)        \
  X(rocblas_status_to_string)        \
  X(rocblas_gemm_ex)                 \
  X(rocblas_gemm_strided_batched_ex) \
  X(rocblas_gemm_batched_ex)         \
  X(rocblas_ssymm)                   \
  X(rocblas_dsymm)                   \
  X(rocblas_csymm)                   \
  X(rocblas_zsymm)                   \
  X(rocblas_chemm)                   \
  X(rocblas_zhemm)                   \
  X(rocblas_ssyrk)                   \
  X(rocblas_dsyrk)                   \
  X(rocblas_csyrk)                   \
  X(rocblas_zsyrk)                   \
  X(rocblas_cherk)                   \
  X(rocblas_zherk)                   \
  X(rocblas_ssyr2k)                  \
  X(rocblas_dsyr2k)                  \
  X(rocblas_csyr2k)                  \
  X(rocblas_zsyr2k)                  \
  X(rocblas_cher2k)                  \
  X(rocblas_zher2k)                  \
  X(rocblas_strsm)                   \
  X(rocblas_dtrsm)                   \
  X(rocblas_ctrsm)                   \
  X(rocblas_ztrsm)

/* By another name in rocBLAS before 4.0 (rocblas.h). */
#define TSR_HIP_BLAS_TRMM(X) \
  X(rocblas_strmm)           \
  X(rocblas_dtrmm)           \
  X(rocblas_ctrmm)           \
  X(rocblas_ztrmm)

/* Before rocBLAS 4.0; NULL later. */
#define TSR_HIP_BLAS_LAYOUT(X) X(rocblas_query_int8_layout_flag)

/* Compiles kernels at run time. hiprtc is a library of its own since ROCm 5.3, part of the runtime
 * before. */
#define TSR_HIP_COMPILER(X) \
  X(hiprtcCreateProgram)    \
  X(hiprtcCompileProgram)   \
  X(hiprtcDestroyProgram)   \
  X(hiprtcGetCode)          \
  X(hiprtcGetCodeSize)      \
  X(hiprtcGetErrorString)   \
  X(hiprtcGetProgramLog)    \
  X(hiprtcGetProgramLogSize)

#define TSR_HIP_FIELD(name) __typeof__(&name) name;
typedef struct tsr_hip_functions {
  TSR_HIP_RUNTIME(TSR_HIP_FIELD)
  TSR_HIP_BLAS(TSR_HIP_FIELD)
  TSR_HIP_BLAS_TRMM(TSR_HIP_FIELD)
  TSR_HIP_BLAS_LAYOUT(TSR_HIP_FIELD)
  TSR_HIP_COMPILER(TSR_HIP_FIELD)
  /* Fills in hipDeviceProp_t, in the layout of the release (compile.c). */
  hipError_t (*get_properties)(void *properties, int device);
  int release;                /* of ROCm: 5, 6 or 7 */
  int version;                /* of the runtime: 10000000 major + 100000 minor + patch */
  const char *lacks_compiler; /* the library that lacks hiprtc; NULL: its functions were found */
} tsr_hip_functions;

/* Filled in by gpu_load; constant afterwards. */
extern tsr_hip_functions tsr_hip;

#endif
