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

#define gpuHalf __half
#define gpuHalfToFloat __half2float
#define gpuFloatToHalf __float2half_rn
#define gpuBfloat16 __nv_bfloat16
#define gpuBfloat16ToFloat __bfloat162float
#define gpuFloatToBfloat16 __float2bfloat16_rn

#endif
