/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * librocblas.so.4 for an NVIDIA GPU: the functions that src/engine/hip/functions.h names, over
 * cuBLAS. A handle is cuBLAS's own. Prototypes are those of src/engine/hip/rocblas.h.
 */
#include "cuda_and_hip.h"

static cublasHandle_t handle_of(rocblas_handle handle) {
  return (cublasHandle_t)(void *)handle;
}

/* ---- Values ----------------------------------------------------------------- */

enum { ROCBLAS_INVALID_HANDLE = 1, ROCBLAS_INVALID_SIZE = 4, ROCBLAS_INTERNAL_ERROR = 6 };

static rocblas_status answer(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return rocblas_status_success;
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return (rocblas_status)ROCBLAS_INVALID_HANDLE;
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return rocblas_status_not_implemented;
    case CUBLAS_STATUS_INVALID_VALUE:
      return (rocblas_status)ROCBLAS_INVALID_SIZE;
    case CUBLAS_STATUS_ALLOC_FAILED:
      return rocblas_status_memory_error;
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return rocblas_status_arch_mismatch;
    default:
      return (rocblas_status)ROCBLAS_INTERNAL_ERROR;
  }
}

static cublasOperation_t operation_of(rocblas_operation operation) {
  return operation == rocblas_operation_none        ? CUBLAS_OP_N
         : operation == rocblas_operation_transpose ? CUBLAS_OP_T
                                                    : CUBLAS_OP_C;
}

static cublasSideMode_t side_of(rocblas_side side) {
  return side == rocblas_side_left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}

static cublasFillMode_t fill_of(rocblas_fill fill) {
  return fill == rocblas_fill_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

static cublasDiagType_t diagonal_of(rocblas_diagonal diagonal) {
  return diagonal == rocblas_diagonal_unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

static cudaDataType_t type_of(rocblas_datatype type) {
  switch (type) {
    case rocblas_datatype_f16_r:
      return CUDA_R_16F;
    case rocblas_datatype_bf16_r:
      return CUDA_R_16BF;
    case rocblas_datatype_f32_r:
      return CUDA_R_32F;
    case rocblas_datatype_f64_r:
      return CUDA_R_64F;
    case rocblas_datatype_f32_c:
      return CUDA_C_32F;
    case rocblas_datatype_i8_r:
      return CUDA_R_8I;
    case rocblas_datatype_i32_r:
      return CUDA_R_32I;
    default:
      return CUDA_C_64F;
  }
}

static cublasComputeType_t compute_of(rocblas_datatype type) {
  if (type == rocblas_datatype_i32_r) return CUBLAS_COMPUTE_32I;
  bool wide = type == rocblas_datatype_f64_r || type == rocblas_datatype_f64_c;
  return wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}

/* ---- Handles ---------------------------------------------------------------- */

rocblas_status rocblas_create_handle(rocblas_handle *handle) {
  return answer(cublasCreate((cublasHandle_t *)handle));
}

rocblas_status rocblas_destroy_handle(rocblas_handle handle) {
  return answer(cublasDestroy(handle_of(handle)));
}

rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream) {
  return answer(cublasSetStream(handle_of(handle), (cudaStream_t)(void *)stream));
}

rocblas_status rocblas_set_workspace(rocblas_handle handle, void *address, size_t bytes) {
  return answer(cublasSetWorkspace(handle_of(handle), address, bytes));
}

rocblas_status rocblas_set_atomics_mode(rocblas_handle handle, rocblas_atomics_mode mode) {
  return answer(cublasSetAtomicsMode(handle_of(handle), mode == rocblas_atomics_not_allowed
                                                            ? CUBLAS_ATOMICS_NOT_ALLOWED
                                                            : CUBLAS_ATOMICS_ALLOWED));
}

const char *rocblas_status_to_string(rocblas_status status) {
  switch ((int)status) {
    case rocblas_status_success:
      return "rocblas_status_success";
    case ROCBLAS_INVALID_HANDLE:
      return "rocblas_status_invalid_handle";
    case rocblas_status_not_implemented:
      return "rocblas_status_not_implemented";
    case ROCBLAS_INVALID_SIZE:
      return "rocblas_status_invalid_size";
    case rocblas_status_memory_error:
      return "rocblas_status_memory_error";
    case rocblas_status_arch_mismatch:
      return "rocblas_status_arch_mismatch";
    default:
      return "rocblas_status_internal_error";
  }
}

/* ---- Products --------------------------------------------------------------- */

/* cuBLAS has no fourth matrix: d must be c, as the engine calls it. */
TSR_ROCBLAS_GEMM(rocblas_gemm_ex) {
  (void)algorithm, (void)solution, (void)flags;
  if (c != d || c_type != d_type || ldc != ldd) return rocblas_status_not_implemented;
  return answer(cublasGemmEx(handle_of(handle), operation_of(transa), operation_of(transb), m, n, k,
                             alpha, a, type_of(a_type), lda, b, type_of(b_type), ldb, beta, d,
                             type_of(d_type), ldd, compute_of(compute), CUBLAS_GEMM_DEFAULT));
}

TSR_ROCBLAS_GEMM_BATCH(rocblas_gemm_strided_batched_ex) {
  (void)algorithm, (void)solution, (void)flags;
  if (c != d || c_type != d_type || ldc != ldd || stride_c != stride_d)
    return rocblas_status_not_implemented;
  return answer(cublasGemmStridedBatchedEx(
      handle_of(handle), operation_of(transa), operation_of(transb), m, n, k, alpha, a,
      type_of(a_type), lda, stride_a, b, type_of(b_type), ldb, stride_b, beta, d, type_of(d_type),
      ldd, stride_d, count, compute_of(compute), CUBLAS_GEMM_DEFAULT));
}

TSR_ROCBLAS_GEMM_LISTS(rocblas_gemm_batched_ex) {
  (void)algorithm, (void)solution, (void)flags;
  if (c != d || c_type != d_type || ldc != ldd) return rocblas_status_not_implemented;
  return answer(cublasGemmBatchedEx(handle_of(handle), operation_of(transa), operation_of(transb),
                                    m, n, k, alpha, a, type_of(a_type), lda, b, type_of(b_type),
                                    ldb, beta, d, type_of(d_type), ldd, count, compute_of(compute),
                                    CUBLAS_GEMM_DEFAULT));
}

/* ---- The other routines, one shape for all types ------------------------------ */

#define SYMM(rocblas, cublas)                                                                     \
  TSR_ROCBLAS_SYMM(rocblas) {                                                                     \
    return answer(cublas(handle_of(handle), side_of(side), fill_of(uplo), m, n, alpha, a, lda, b, \
                         ldb, beta, c, ldc));                                                     \
  }
#define SYRK(rocblas, cublas)                                                                   \
  TSR_ROCBLAS_SYRK(rocblas) {                                                                   \
    return answer(cublas(handle_of(handle), fill_of(uplo), operation_of(trans), n, k, alpha, a, \
                         lda, beta, c, ldc));                                                   \
  }
#define SYR2K(rocblas, cublas)                                                                  \
  TSR_ROCBLAS_SYR2K(rocblas) {                                                                  \
    return answer(cublas(handle_of(handle), fill_of(uplo), operation_of(trans), n, k, alpha, a, \
                         lda, b, ldb, beta, c, ldc));                                           \
  }
#define TRMM(rocblas, cublas)                                                                  \
  TSR_ROCBLAS_TRMM(rocblas) {                                                                  \
    return answer(cublas(handle_of(handle), side_of(side), fill_of(uplo), operation_of(trans), \
                         diagonal_of(diag), m, n, alpha, a, lda, b, ldb, c, ldc));             \
  }
#define TRSM(rocblas, cublas)                                                                  \
  TSR_ROCBLAS_TRSM(rocblas) {                                                                  \
    return answer(cublas(handle_of(handle), side_of(side), fill_of(uplo), operation_of(trans), \
                         diagonal_of(diag), m, n, alpha, a, lda, b, ldb));                     \
  }

SYMM(rocblas_ssymm, cublasSsymm)
SYMM(rocblas_dsymm, cublasDsymm)
SYMM(rocblas_csymm, cublasCsymm)
SYMM(rocblas_zsymm, cublasZsymm)
SYMM(rocblas_chemm, cublasChemm)
SYMM(rocblas_zhemm, cublasZhemm)
SYRK(rocblas_ssyrk, cublasSsyrk)
SYRK(rocblas_dsyrk, cublasDsyrk)
SYRK(rocblas_csyrk, cublasCsyrk)
SYRK(rocblas_zsyrk, cublasZsyrk)
SYRK(rocblas_cherk, cublasCherk)
SYRK(rocblas_zherk, cublasZherk)
SYR2K(rocblas_ssyr2k, cublasSsyr2k)
SYR2K(rocblas_dsyr2k, cublasDsyr2k)
SYR2K(rocblas_csyr2k, cublasCsyr2k)
SYR2K(rocblas_zsyr2k, cublasZsyr2k)
SYR2K(rocblas_cher2k, cublasCher2k)
SYR2K(rocblas_zher2k, cublasZher2k)
TRMM(rocblas_strmm, cublasStrmm)
TRMM(rocblas_dtrmm, cublasDtrmm)
TRMM(rocblas_ctrmm, cublasCtrmm)
TRMM(rocblas_ztrmm, cublasZtrmm)
TRSM(rocblas_strsm, cublasStrsm)
TRSM(rocblas_dtrsm, cublasDtrsm)
TRSM(rocblas_ctrsm, cublasCtrsm)
TRSM(rocblas_ztrsm, cublasZtrsm)
