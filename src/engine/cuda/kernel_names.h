/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The names of CUDA that the kernels' sources (../gpu) use. */
#ifndef TSR_ENGINE_CUDA_KERNEL_NAMES_H
#define TSR_ENGINE_CUDA_KERNEL_NAMES_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define gpuStream cudaStream_t
#define gpuSuccess cudaSuccess
#define gpuErrorInvalidValue cudaErrorInvalidValue
#define gpuLastError cudaGetLastError

/* The threads of a block at most, for compilers that need to know; nvcc chooses well without. */
#define GPU_THREADS(most)

/* The sum of the products of four bytes, and c: without signs, and with them. */
#ifdef __CUDA_ARCH__
#define gpuDotUnsigned __dp4a
#define gpuDotSigned __dp4a
#endif

/* Adds to 16 x 8 sums, four of each thread of a warp, the products of 16 rows and 8 columns of 32
 * bytes without signs, by tensor cores. "Matrix Fragments for mma.m16n8k32" in NVIDIA's PTX ISA has
 * the places. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
static __device__ inline void gpu_multiply_units(unsigned sums[4], const unsigned rows[4],
                                                 unsigned column, unsigned column_after) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(column), "r"(column_after));
}
#define gpuMultiplyUnits gpu_multiply_units
#endif

#define gpuHalf __half
#define gpuHalfToFloat __half2float
#define gpuFloatToHalf __float2half_rn
#define gpuBfloat16 __nv_bfloat16
#define gpuBfloat16ToFloat __bfloat162float
#define gpuFloatToBfloat16 __float2bfloat16_rn

#endif
