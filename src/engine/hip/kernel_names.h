/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The names of HIP that ../gpu/kernel_code.h and kernels.cu use. */
#ifndef TSR_ENGINE_HIP_KERNEL_NAMES_H
#define TSR_ENGINE_HIP_KERNEL_NAMES_H

/* A compiler at run time knows what kernels need, and has neither headers nor launches. */
#if !defined(__HIPCC_RTC__) && !defined(__CUDACC_RTC__)
#include <hip/hip_runtime.h>

#define gpuStream hipStream_t
#define gpuSuccess hipSuccess
#define gpuErrorInvalidValue hipErrorInvalidValue
#define gpuLastError hipGetLastError /* launch.c has it */
#endif

/* The compiler's own 16-bit type, and one of ours: HIP's headers for them differ between versions.
 */
typedef _Float16 gpuHalf;
struct gpuBfloat16 {
  unsigned short bits;
};

static __device__ inline float gpuHalfToFloat(gpuHalf x) {
  return (float)x;
}
static __device__ inline gpuHalf gpuFloatToHalf(float x) {
  return (gpuHalf)x;
}

static __device__ inline float gpuBfloat16ToFloat(gpuBfloat16 x) {
  return __uint_as_float((unsigned)x.bits << 16);
}

/* Rounds to the nearest, ties to even; a NaN stays one. */
static __device__ inline gpuBfloat16 gpuFloatToBfloat16(float x) {
  unsigned bits = __float_as_uint(x);
  if (x != x) return gpuBfloat16{(unsigned short)(bits >> 16 | 0x40)};
  bits += 0x7fff + (bits >> 16 & 1);
  return gpuBfloat16{(unsigned short)(bits >> 16)};
}

#endif
