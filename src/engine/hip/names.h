/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names for the functions of the HIP runtime and of rocBLAS: all that the C sources of ../gpu use.
 */
#ifndef TSR_ENGINE_HIP_NAMES_H
#define TSR_ENGINE_HIP_NAMES_H

#include <string.h>

#include "functions.h"

#define GPU_ENGINE tsr_engine_hip
#define GPU_NAME "hip"
#define GPU_FABRIC "rccl"
#define GPU_RUNTIME "HIP"
#define GPU_BLAS "rocBLAS"
#define GPU_CONNECTIONS "GPU_MAX_HW_QUEUES" /* 4, unless it is set */
#define GPU_CONNECTIONS_MOST "16"

/* ---- Runtime -------------------------------------------------------------- */

#define gpuError hipError_t
#define gpuSuccess hipSuccess
#define gpuErrorNotReady hipErrorNotReady
#define gpuErrorMemory hipErrorOutOfMemory
#define gpuErrorNoDevice hipErrorNoDevice
#define gpuErrorDriver hipErrorInsufficientDriver
#define gpuErrorPeerOn hipErrorPeerAccessAlreadyEnabled
#define gpuErrorRegistered hipErrorHostMemoryAlreadyRegistered
#define gpuErrorNotRegistered hipErrorHostMemoryNotRegistered
#define gpuErrorInvalidValue hipErrorInvalidValue
#define gpuErrorNotSupported hipErrorNotSupported
#define gpuErrorName tsr_hip.hipGetErrorName
#define gpuErrorString tsr_hip.hipGetErrorString
#define gpuLastError tsr_hip.hipGetLastError

#define gpuDeviceCount tsr_hip.hipGetDeviceCount
#define gpuGetDevice tsr_hip.hipGetDevice
#define gpuSetDevice tsr_hip.hipSetDevice
#define gpuMemGetInfo tsr_hip.hipMemGetInfo
#define gpuCanAccessPeer tsr_hip.hipDeviceCanAccessPeer
#define gpuEnablePeer tsr_hip.hipDeviceEnablePeerAccess

#define gpuMalloc tsr_hip.hipMalloc
#define gpuFree tsr_hip.hipFree
#define gpuHostAlloc tsr_hip.hipHostMalloc
/* Coherent by name: the CPU then reads what copies wrote as soon as their event is complete,
 * whatever flags events have. With another flag alone the runtime makes memory that is not
 * coherent, unless HIP_HOST_COHERENT=1 (hipamd's hip_memory.cpp). */
#define gpuHostAllocPortable (hipHostMallocPortable | hipHostMallocCoherent)
#define gpuHostFree tsr_hip.hipHostFree
#define gpuHostRegister tsr_hip.hipHostRegister
#define gpuHostRegisterPortable hipHostRegisterPortable
#define gpuHostUnregister tsr_hip.hipHostUnregister
#define gpuMemset tsr_hip.hipMemset

#define gpuStream hipStream_t
#define gpuStreamCreate tsr_hip.hipStreamCreateWithPriority
#define gpuStreamDestroy tsr_hip.hipStreamDestroy
#define gpuStreamQuery tsr_hip.hipStreamQuery
#define gpuStreamSynchronize tsr_hip.hipStreamSynchronize
#define gpuStreamWaitEvent tsr_hip.hipStreamWaitEvent
#define gpuStreamNonBlocking hipStreamNonBlocking
#define gpuPriorityRange tsr_hip.hipDeviceGetStreamPriorityRange

#define gpuEvent hipEvent_t
#define gpuEventCreate tsr_hip.hipEventCreateWithFlags
#define gpuEventDefault hipEventDefault
#define gpuEventDisableTiming hipEventDisableTiming
#define gpuEventDestroy tsr_hip.hipEventDestroy
#define gpuEventRecord tsr_hip.hipEventRecord
#define gpuEventQuery tsr_hip.hipEventQuery
#define gpuEventSynchronize tsr_hip.hipEventSynchronize
#define gpuEventElapsed tsr_hip.hipEventElapsedTime

#define gpuMemcpy tsr_hip.hipMemcpyAsync
#define gpuMemcpy2D tsr_hip.hipMemcpy2DAsync
#define gpuMemcpyPeer tsr_hip.hipMemcpyPeerAsync
#define gpuMemcpyKind hipMemcpyKind
#define gpuMemcpyIn hipMemcpyHostToDevice
#define gpuMemcpyOut hipMemcpyDeviceToHost
#define gpuMemcpyInside hipMemcpyDeviceToDevice
#define gpuMemcpyDefault hipMemcpyDefault

/* ---- The range of an allocation ------------------------------------------- */

#define GPU_ADDRESS_RANGE "hipMemGetAddressRange"
#define GPU_POINTER_ATTRIBUTE "hipPointerGetAttribute"
enum { GPU_RANGE_BEGIN = 11, GPU_RANGE_BYTES = 12 }; /* HIP_POINTER_ATTRIBUTE_RANGE_... */

/* The runtime's function called name: one of the two above. */
static inline void *gpuDriverFunction(const char *name) {
  void *function = NULL;
  if (strcmp(name, GPU_ADDRESS_RANGE) == 0)
    memcpy(&function, &tsr_hip.hipMemGetAddressRange, sizeof function);
  else
    memcpy(&function, &tsr_hip.hipPointerGetAttribute, sizeof function);
  return function;
}

/* ---- BLAS ----------------------------------------------------------------- */

#define gpuBlas rocblas_handle
#define gpuBlasStatus rocblas_status
#define gpuBlasSuccess rocblas_status_success
#define gpuBlasNoMemory rocblas_status_memory_error
#define gpuBlasDestroy tsr_hip.rocblas_destroy_handle
#define gpuBlasSetStream tsr_hip.rocblas_set_stream
#define gpuBlasSetWorkspace tsr_hip.rocblas_set_workspace
#define gpuBlasStatusName tsr_hip.rocblas_status_to_string
#define gpuBlasStatusString tsr_hip.rocblas_status_to_string
#define gpuBlasOp rocblas_operation
#define gpuBlasOpN rocblas_operation_none
#define gpuBlasOpT rocblas_operation_transpose
#define gpuBlasOpC rocblas_operation_conjugate_transpose
#define gpuBlasType rocblas_datatype
#define gpuBlas16F rocblas_datatype_f16_r
#define gpuBlas16B rocblas_datatype_bf16_r
#define gpuBlas32F rocblas_datatype_f32_r
#define gpuBlas64F rocblas_datatype_f64_r
#define gpuBlas32C rocblas_datatype_f32_c
#define gpuBlas64C rocblas_datatype_f64_c
#define gpuBlas8I rocblas_datatype_i8_r
#define gpuBlas32I rocblas_datatype_i32_r
/* rocBLAS computes in a type of data. It has no TF32: products of type t are computed in fp32. */
#define gpuBlasCompute rocblas_datatype
#define gpuBlasCompute32 rocblas_datatype_f32_r
#define gpuBlasCompute32Fast rocblas_datatype_f32_r
#define gpuBlasCompute64 rocblas_datatype_f64_r
#define gpuBlasCompute32C rocblas_datatype_f32_c
#define gpuBlasCompute64C rocblas_datatype_f64_c
#define gpuBlasCompute32I rocblas_datatype_i32_r
#define gpuBlasSide rocblas_side
#define gpuBlasLeft rocblas_side_left
#define gpuBlasRight rocblas_side_right
#define gpuBlasUplo rocblas_fill
#define gpuBlasLower rocblas_fill_lower
#define gpuBlasUpper rocblas_fill_upper
#define gpuBlasDiag rocblas_diagonal
#define gpuBlasUnit rocblas_diagonal_unit
#define gpuBlasNonUnit rocblas_diagonal_non_unit
#define gpuBlasDefaultAlgorithm rocblas_gemm_algo_standard

/* Without atomic additions the same call gives the same bits. */
static inline rocblas_status gpuBlasCreate(rocblas_handle *handle) {
  rocblas_status status = tsr_hip.rocblas_create_handle(handle);
  if (status != rocblas_status_success) return status;
  return tsr_hip.rocblas_set_atomics_mode(*handle, rocblas_atomics_not_allowed);
}

/* rocBLAS writes to a fourth matrix, which may be C. */
static inline rocblas_status gpuBlasGemm(rocblas_handle handle, rocblas_operation transa,
                                         rocblas_operation transb, int m, int n, int k,
                                         const void *alpha, const void *a, rocblas_datatype a_type,
                                         int lda, const void *b, rocblas_datatype b_type, int ldb,
                                         const void *beta, void *c, rocblas_datatype c_type,
                                         int ldc, rocblas_datatype compute,
                                         rocblas_gemm_algo algorithm) {
  return tsr_hip.rocblas_gemm_ex(handle, transa, transb, m, n, k, alpha, a, a_type, lda, b, b_type,
                                 ldb, beta, c, c_type, ldc, c, c_type, ldc, compute, algorithm, 0,
                                 0);
}

/* The flags of a product: the layout of 8-bit integers, which is the packed one on some devices. It
 * is the same as the other one in the engine's products (residues.c). */
static inline uint32_t gpuBlasFlags(rocblas_handle handle, rocblas_datatype type) {
  rocblas_gemm_flags flags = rocblas_gemm_flags_none;
  if (type == rocblas_datatype_i8_r && tsr_hip.rocblas_query_int8_layout_flag != NULL)
    (void)tsr_hip.rocblas_query_int8_layout_flag(handle, &flags);
  return (uint32_t)flags;
}

static inline rocblas_status gpuBlasGemmStridedBatched(
    rocblas_handle handle, rocblas_operation transa, rocblas_operation transb, int m, int n, int k,
    const void *alpha, const void *a, rocblas_datatype a_type, int lda, int64_t stride_a,
    const void *b, rocblas_datatype b_type, int ldb, int64_t stride_b, const void *beta, void *c,
    rocblas_datatype c_type, int ldc, int64_t stride_c, int count, rocblas_datatype compute,
    rocblas_gemm_algo algorithm) {
  return tsr_hip.rocblas_gemm_strided_batched_ex(
      handle, transa, transb, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type, ldb, stride_b,
      beta, c, c_type, ldc, stride_c, c, c_type, ldc, stride_c, count, compute, algorithm, 0,
      gpuBlasFlags(handle, a_type));
}

static inline rocblas_status gpuBlasGemmBatched(
    rocblas_handle handle, rocblas_operation transa, rocblas_operation transb, int m, int n, int k,
    const void *alpha, const void *const *a, rocblas_datatype a_type, int lda, const void *const *b,
    rocblas_datatype b_type, int ldb, const void *beta, void *const *c, rocblas_datatype c_type,
    int ldc, int count, rocblas_datatype compute, rocblas_gemm_algo algorithm) {
  return tsr_hip.rocblas_gemm_batched_ex(handle, transa, transb, m, n, k, alpha, a, a_type, lda, b,
                                         b_type, ldb, beta, c, c_type, ldc, (void *)(uintptr_t)c,
                                         c_type, ldc, count, compute, algorithm, 0, 0);
}

/* ---- The other routines of the BLAS --------------------------------------- */

#define gpuBlasSsymm tsr_hip.rocblas_ssymm
#define gpuBlasDsymm tsr_hip.rocblas_dsymm
#define gpuBlasCsymm tsr_hip.rocblas_csymm
#define gpuBlasZsymm tsr_hip.rocblas_zsymm
#define gpuBlasChemm tsr_hip.rocblas_chemm
#define gpuBlasZhemm tsr_hip.rocblas_zhemm
#define gpuBlasSsyrk tsr_hip.rocblas_ssyrk
#define gpuBlasDsyrk tsr_hip.rocblas_dsyrk
#define gpuBlasCsyrk tsr_hip.rocblas_csyrk
#define gpuBlasZsyrk tsr_hip.rocblas_zsyrk
#define gpuBlasSsyr2k tsr_hip.rocblas_ssyr2k
#define gpuBlasDsyr2k tsr_hip.rocblas_dsyr2k
#define gpuBlasCsyr2k tsr_hip.rocblas_csyr2k
#define gpuBlasZsyr2k tsr_hip.rocblas_zsyr2k
#define gpuBlasStrmm tsr_hip.rocblas_strmm
#define gpuBlasDtrmm tsr_hip.rocblas_dtrmm
#define gpuBlasCtrmm tsr_hip.rocblas_ctrmm
#define gpuBlasZtrmm tsr_hip.rocblas_ztrmm
#define gpuBlasStrsm tsr_hip.rocblas_strsm
#define gpuBlasDtrsm tsr_hip.rocblas_dtrsm
#define gpuBlasCtrsm tsr_hip.rocblas_ctrsm
#define gpuBlasZtrsm tsr_hip.rocblas_ztrsm
#define gpuBlasCherk tsr_hip.rocblas_cherk
#define gpuBlasZherk tsr_hip.rocblas_zherk
#define gpuBlasCher2k tsr_hip.rocblas_cher2k
#define gpuBlasZher2k tsr_hip.rocblas_zher2k

#endif
