/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the engine calls of rocBLAS, declared from its published interface, so that building needs
 * no rocBLAS. Pointers to elements and scalars are void pointers here; complex types differ from
 * C's only in name. Of rocBLAS for ROCm 5 (0.x to 3.x), 6 (4.x) and 7 (5.x); trmm is described
 * below.
 */
#ifndef TSR_ENGINE_HIP_ROCBLAS_H
#define TSR_ENGINE_HIP_ROCBLAS_H

#include <hip/hip_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

typedef struct _rocblas_handle *rocblas_handle;
typedef int32_t rocblas_int;
typedef int64_t rocblas_stride;

typedef enum rocblas_status {
  rocblas_status_success = 0,
  rocblas_status_not_implemented = 2,
  rocblas_status_memory_error = 5,
  rocblas_status_arch_mismatch = 15
} rocblas_status;

typedef enum rocblas_operation {
  rocblas_operation_none = 111,
  rocblas_operation_transpose = 112,
  rocblas_operation_conjugate_transpose = 113
} rocblas_operation;

typedef enum rocblas_fill { rocblas_fill_upper = 121, rocblas_fill_lower = 122 } rocblas_fill;

typedef enum rocblas_diagonal {
  rocblas_diagonal_non_unit = 131,
  rocblas_diagonal_unit = 132
} rocblas_diagonal;

typedef enum rocblas_side { rocblas_side_left = 141, rocblas_side_right = 142 } rocblas_side;

typedef enum rocblas_datatype {
  rocblas_datatype_f16_r = 150,
  rocblas_datatype_f32_r = 151,
  rocblas_datatype_f64_r = 152,
  rocblas_datatype_f32_c = 154,
  rocblas_datatype_f64_c = 155,
  rocblas_datatype_i8_r = 160,
  rocblas_datatype_i32_r = 162,
  rocblas_datatype_bf16_r = 168
} rocblas_datatype;

typedef enum rocblas_gemm_algo { rocblas_gemm_algo_standard = 0 } rocblas_gemm_algo;
/* How 8-bit integers lie in memory: packed, four neighbours along k are next to each other. Where a
 * is transposed and b is not, and k, leading dimensions and strides are multiples of four, both
 * layouts are the same. */
typedef enum rocblas_gemm_flags {
  rocblas_gemm_flags_none = 0,
  rocblas_gemm_flags_pack_int8x4 = 1
} rocblas_gemm_flags;

typedef enum rocblas_atomics_mode { rocblas_atomics_not_allowed = 0 } rocblas_atomics_mode;

rocblas_status rocblas_create_handle(rocblas_handle *handle);
rocblas_status rocblas_destroy_handle(rocblas_handle handle);
rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream);
rocblas_status rocblas_set_workspace(rocblas_handle handle, void *address, size_t bytes);
rocblas_status rocblas_set_atomics_mode(rocblas_handle handle, rocblas_atomics_mode mode);
const char *rocblas_status_to_string(rocblas_status status);
/* Tells the layout that a device's products of 8-bit integers have: before gfx908 only the packed
 * one. rocBLAS 4.0 removed it, with the packed layout. */
rocblas_status rocblas_query_int8_layout_flag(rocblas_handle handle, rocblas_gemm_flags *flag);

/* d = alpha op(a) op(b) + beta c; d may be c. alpha and beta are of the compute type. */
#define TSR_ROCBLAS_GEMM(name)                                                                    \
  rocblas_status name(rocblas_handle handle, rocblas_operation transa, rocblas_operation transb,  \
                      rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha,             \
                      const void *a, rocblas_datatype a_type, rocblas_int lda, const void *b,     \
                      rocblas_datatype b_type, rocblas_int ldb, const void *beta, const void *c,  \
                      rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type, \
                      rocblas_int ldd, rocblas_datatype compute, rocblas_gemm_algo algorithm,     \
                      int32_t solution, uint32_t flags)
#define TSR_ROCBLAS_GEMM_BATCH(name)                                                            \
  rocblas_status name(                                                                          \
      rocblas_handle handle, rocblas_operation transa, rocblas_operation transb, rocblas_int m, \
      rocblas_int n, rocblas_int k, const void *alpha, const void *a, rocblas_datatype a_type,  \
      rocblas_int lda, rocblas_stride stride_a, const void *b, rocblas_datatype b_type,         \
      rocblas_int ldb, rocblas_stride stride_b, const void *beta, const void *c,                \
      rocblas_datatype c_type, rocblas_int ldc, rocblas_stride stride_c, void *d,               \
      rocblas_datatype d_type, rocblas_int ldd, rocblas_stride stride_d, rocblas_int count,     \
      rocblas_datatype compute, rocblas_gemm_algo algorithm, int32_t solution, uint32_t flags)

/* The addresses of a, b, c and d are those of lists of addresses in the device's memory. */
#define TSR_ROCBLAS_GEMM_LISTS(name)                                                              \
  rocblas_status name(rocblas_handle handle, rocblas_operation transa, rocblas_operation transb,  \
                      rocblas_int m, rocblas_int n, rocblas_int k, const void *alpha,             \
                      const void *a, rocblas_datatype a_type, rocblas_int lda, const void *b,     \
                      rocblas_datatype b_type, rocblas_int ldb, const void *beta, const void *c,  \
                      rocblas_datatype c_type, rocblas_int ldc, void *d, rocblas_datatype d_type, \
                      rocblas_int ldd, rocblas_int count, rocblas_datatype compute,               \
                      rocblas_gemm_algo algorithm, int32_t solution, uint32_t flags)

TSR_ROCBLAS_GEMM(rocblas_gemm_ex);
TSR_ROCBLAS_GEMM_LISTS(rocblas_gemm_batched_ex);
TSR_ROCBLAS_GEMM_BATCH(rocblas_gemm_strided_batched_ex);

/* The other routines have one shape for all types. */
#define TSR_ROCBLAS_SYMM(name)                                                                    \
  rocblas_status name(rocblas_handle handle, rocblas_side side, rocblas_fill uplo, rocblas_int m, \
                      rocblas_int n, const void *alpha, const void *a, rocblas_int lda,           \
                      const void *b, rocblas_int ldb, const void *beta, void *c, rocblas_int ldc)
#define TSR_ROCBLAS_SYRK(name)                                                           \
  rocblas_status name(rocblas_handle handle, rocblas_fill uplo, rocblas_operation trans, \
                      rocblas_int n, rocblas_int k, const void *alpha, const void *a,    \
                      rocblas_int lda, const void *beta, void *c, rocblas_int ldc)
#define TSR_ROCBLAS_SYR2K(name)                                                                   \
  rocblas_status name(rocblas_handle handle, rocblas_fill uplo, rocblas_operation trans,          \
                      rocblas_int n, rocblas_int k, const void *alpha, const void *a,             \
                      rocblas_int lda, const void *b, rocblas_int ldb, const void *beta, void *c, \
                      rocblas_int ldc)
#define TSR_ROCBLAS_TRSM(name)                                                                   \
  rocblas_status name(rocblas_handle handle, rocblas_side side, rocblas_fill uplo,               \
                      rocblas_operation trans, rocblas_diagonal diag, rocblas_int m,             \
                      rocblas_int n, const void *alpha, const void *a, rocblas_int lda, void *b, \
                      rocblas_int ldb)
/* c = alpha op(a) b. rocBLAS before 4.0 calls this rocblas_Xtrmm_outofplace, and its rocblas_Xtrmm
 * overwrites b; since 4.0 rocblas_Xtrmm is this. */
#define TSR_ROCBLAS_TRMM(name)                                                          \
  rocblas_status name(rocblas_handle handle, rocblas_side side, rocblas_fill uplo,      \
                      rocblas_operation trans, rocblas_diagonal diag, rocblas_int m,    \
                      rocblas_int n, const void *alpha, const void *a, rocblas_int lda, \
                      const void *b, rocblas_int ldb, void *c, rocblas_int ldc)

TSR_ROCBLAS_SYMM(rocblas_ssymm);
TSR_ROCBLAS_SYMM(rocblas_dsymm);
TSR_ROCBLAS_SYMM(rocblas_csymm);
TSR_ROCBLAS_SYMM(rocblas_zsymm);
TSR_ROCBLAS_SYMM(rocblas_chemm);
TSR_ROCBLAS_SYMM(rocblas_zhemm);
TSR_ROCBLAS_SYRK(rocblas_ssyrk);
TSR_ROCBLAS_SYRK(rocblas_dsyrk);
TSR_ROCBLAS_SYRK(rocblas_csyrk);
TSR_ROCBLAS_SYRK(rocblas_zsyrk);
TSR_ROCBLAS_SYRK(rocblas_cherk);
TSR_ROCBLAS_SYRK(rocblas_zherk);
TSR_ROCBLAS_SYR2K(rocblas_ssyr2k);
TSR_ROCBLAS_SYR2K(rocblas_dsyr2k);
TSR_ROCBLAS_SYR2K(rocblas_csyr2k);
TSR_ROCBLAS_SYR2K(rocblas_zsyr2k);
TSR_ROCBLAS_SYR2K(rocblas_cher2k);
TSR_ROCBLAS_SYR2K(rocblas_zher2k);
TSR_ROCBLAS_TRMM(rocblas_strmm);
TSR_ROCBLAS_TRMM(rocblas_dtrmm);
TSR_ROCBLAS_TRMM(rocblas_ctrmm);
TSR_ROCBLAS_TRMM(rocblas_ztrmm);
TSR_ROCBLAS_TRSM(rocblas_strsm);
TSR_ROCBLAS_TRSM(rocblas_dtrsm);
TSR_ROCBLAS_TRSM(rocblas_ctrsm);
TSR_ROCBLAS_TRSM(rocblas_ztrsm);

#endif
