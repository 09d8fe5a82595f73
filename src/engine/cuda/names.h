/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names for the functions of the CUDA runtime and of cuBLAS: all that the C sources of ../gpu use.
 */
#ifndef TSR_ENGINE_CUDA_NAMES_H
#define TSR_ENGINE_CUDA_NAMES_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#define GPU_ENGINE tsr_engine_cuda
#define GPU_NAME "cuda"
#define GPU_FABRIC "nccl"
#define GPU_RUNTIME "CUDA"
#define GPU_BLAS "cuBLAS"
#define GPU_CONNECTIONS "CUDA_DEVICE_MAX_CONNECTIONS" /* 8, unless it is set */
#define GPU_CONNECTIONS_MOST "32"

/* ---- Runtime -------------------------------------------------------------- */

#define gpuError cudaError_t
#define gpuSuccess cudaSuccess
#define gpuErrorNotReady cudaErrorNotReady
#define gpuErrorMemory cudaErrorMemoryAllocation
#define gpuErrorNoDevice cudaErrorNoDevice
#define gpuErrorDriver cudaErrorInsufficientDriver
#define gpuErrorPeerOn cudaErrorPeerAccessAlreadyEnabled
#define gpuErrorRegistered cudaErrorHostMemoryAlreadyRegistered
#define gpuErrorNotRegistered cudaErrorHostMemoryNotRegistered
#define gpuErrorInvalidValue cudaErrorInvalidValue
#define gpuErrorNotSupported cudaErrorNotSupported
#define gpuErrorName cudaGetErrorName
#define gpuErrorString cudaGetErrorString
#define gpuLastError cudaGetLastError

#define gpuDeviceCount cudaGetDeviceCount
#define gpuGetDevice cudaGetDevice
#define gpuSetDevice cudaSetDevice
#define gpuMemGetInfo cudaMemGetInfo
#define gpuCanAccessPeer cudaDeviceCanAccessPeer
#define gpuEnablePeer cudaDeviceEnablePeerAccess

#define gpuMalloc cudaMalloc
#define gpuFree cudaFree
#define gpuHostAlloc cudaHostAlloc
#define gpuHostAllocPortable cudaHostAllocPortable
#define gpuHostFree cudaFreeHost
#define gpuHostRegister cudaHostRegister
#define gpuHostRegisterPortable cudaHostRegisterPortable
#define gpuHostUnregister cudaHostUnregister
#define gpuMemset cudaMemset

#define gpuStream cudaStream_t
#define gpuStreamCreate cudaStreamCreateWithPriority
#define gpuStreamDestroy cudaStreamDestroy
#define gpuStreamQuery cudaStreamQuery
#define gpuStreamSynchronize cudaStreamSynchronize
#define gpuStreamWaitEvent cudaStreamWaitEvent
#define gpuStreamNonBlocking cudaStreamNonBlocking
#define gpuPriorityRange cudaDeviceGetStreamPriorityRange

#define gpuEvent cudaEvent_t
#define gpuEventCreate cudaEventCreateWithFlags
#define gpuEventDefault cudaEventDefault
#define gpuEventDisableTiming cudaEventDisableTiming
#define gpuEventDestroy cudaEventDestroy
#define gpuEventRecord cudaEventRecord
#define gpuEventQuery cudaEventQuery
#define gpuEventSynchronize cudaEventSynchronize
#define gpuEventElapsed cudaEventElapsedTime

#define gpuMemcpy cudaMemcpyAsync
#define gpuMemcpy2D cudaMemcpy2DAsync
#define gpuMemcpyPeer cudaMemcpyPeerAsync
#define gpuMemcpyKind enum cudaMemcpyKind
#define gpuMemcpyIn cudaMemcpyHostToDevice
#define gpuMemcpyOut cudaMemcpyDeviceToHost
#define gpuMemcpyInside cudaMemcpyDeviceToDevice
#define gpuMemcpyDefault cudaMemcpyDefault

/* ---- The driver's functions, found through the runtime -------------------- */

#define GPU_ADDRESS_RANGE "cuMemGetAddressRange"
#define GPU_POINTER_ATTRIBUTE "cuPointerGetAttribute"
enum { GPU_RANGE_BEGIN = 11, GPU_RANGE_BYTES = 12 }; /* CU_POINTER_ATTRIBUTE_RANGE_... */

/* The driver's function called name; NULL if the driver lacks it. */
static inline void *gpuDriverFunction(const char *name) {
  void *function = NULL;
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
  cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : NULL;
}

/* ---- BLAS ----------------------------------------------------------------- */

#define gpuBlas cublasHandle_t
#define gpuBlasStatus cublasStatus_t
#define gpuBlasSuccess CUBLAS_STATUS_SUCCESS
#define gpuBlasNoMemory CUBLAS_STATUS_ALLOC_FAILED
#define gpuBlasCreate cublasCreate
#define gpuBlasDestroy cublasDestroy
#define gpuBlasSetStream cublasSetStream
#define gpuBlasSetWorkspace cublasSetWorkspace
#define gpuBlasStatusName cublasGetStatusName
#define gpuBlasStatusString cublasGetStatusString
#define gpuBlasOp cublasOperation_t
#define gpuBlasOpN CUBLAS_OP_N
#define gpuBlasOpT CUBLAS_OP_T
#define gpuBlasOpC CUBLAS_OP_C
#define gpuBlasCompute cublasComputeType_t
#define gpuBlasCompute32 CUBLAS_COMPUTE_32F
#define gpuBlasCompute32Fast CUBLAS_COMPUTE_32F_FAST_TF32
#define gpuBlasCompute64 CUBLAS_COMPUTE_64F
#define gpuBlasCompute32C CUBLAS_COMPUTE_32F
#define gpuBlasCompute64C CUBLAS_COMPUTE_64F
#define gpuBlasCompute32I CUBLAS_COMPUTE_32I
#define gpuBlasType cudaDataType_t
#define gpuBlas8I CUDA_R_8I
#define gpuBlas32I CUDA_R_32I
#define gpuBlas16F CUDA_R_16F
#define gpuBlas16B CUDA_R_16BF
#define gpuBlas32F CUDA_R_32F
#define gpuBlas64F CUDA_R_64F
#define gpuBlas32C CUDA_C_32F
#define gpuBlas64C CUDA_C_64F
#define gpuBlasSide cublasSideMode_t
#define gpuBlasLeft CUBLAS_SIDE_LEFT
#define gpuBlasRight CUBLAS_SIDE_RIGHT
#define gpuBlasUplo cublasFillMode_t
#define gpuBlasLower CUBLAS_FILL_MODE_LOWER
#define gpuBlasUpper CUBLAS_FILL_MODE_UPPER
#define gpuBlasDiag cublasDiagType_t
#define gpuBlasUnit CUBLAS_DIAG_UNIT
#define gpuBlasNonUnit CUBLAS_DIAG_NON_UNIT
#define gpuBlasDefaultAlgorithm CUBLAS_GEMM_DEFAULT
#define gpuBlasGemm cublasGemmEx
#define gpuBlasGemmStridedBatched cublasGemmStridedBatchedEx
#define gpuBlasGemmBatched cublasGemmBatchedEx
#if CUBLAS_VERSION >= 120000
#define gpuBlasGemm64 cublasGemmEx_64
#endif

/* ---- The other routines of the BLAS --------------------------------------- */

#define gpuBlasSsymm cublasSsymm
#define gpuBlasDsymm cublasDsymm
#define gpuBlasCsymm cublasCsymm
#define gpuBlasZsymm cublasZsymm
#define gpuBlasChemm cublasChemm
#define gpuBlasZhemm cublasZhemm
#define gpuBlasSsyrk cublasSsyrk
#define gpuBlasDsyrk cublasDsyrk
#define gpuBlasCsyrk cublasCsyrk
#define gpuBlasZsyrk cublasZsyrk
#define gpuBlasCherk cublasCherk
#define gpuBlasZherk cublasZherk
#define gpuBlasSsyr2k cublasSsyr2k
#define gpuBlasDsyr2k cublasDsyr2k
#define gpuBlasCsyr2k cublasCsyr2k
#define gpuBlasZsyr2k cublasZsyr2k
#define gpuBlasCher2k cublasCher2k
#define gpuBlasZher2k cublasZher2k
#define gpuBlasStrmm cublasStrmm
#define gpuBlasDtrmm cublasDtrmm
#define gpuBlasCtrmm cublasCtrmm
#define gpuBlasZtrmm cublasZtrmm
#define gpuBlasStrsm cublasStrsm
#define gpuBlasDtrsm cublasDtrsm
#define gpuBlasCtrsm cublasCtrsm
#define gpuBlasZtrsm cublasZtrsm

#endif
