/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The names of HIP that the kernels' sources (../gpu) use. */
#ifndef TSR_ENGINE_HIP_KERNEL_NAMES_H
#define TSR_ENGINE_HIP_KERNEL_NAMES_H

#if defined(__HIPCC_RTC__) || defined(__CUDACC_RTC__)
/* A compiler at run time knows what kernels need, and has neither headers nor launches. Its
 * integers of 64 bits, where it has any, differ between releases. */
typedef long long tsr_int64;
typedef unsigned long long tsr_uint64;
typedef int tsr_int32;
typedef unsigned tsr_uint32;
typedef signed char tsr_int8;
typedef unsigned char tsr_uint8;
#define int64_t tsr_int64
#define uint64_t tsr_uint64
#define int32_t tsr_int32
#define uint32_t tsr_uint32
#define int8_t tsr_int8
#define uint8_t tsr_uint8
#undef INT32_MIN
#undef INT32_MAX
#undef UINT32_MAX
#undef INT64_C
#undef INFINITY
#undef NULL
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_C(x) x##LL
#define NULL nullptr
#define INFINITY __int_as_float(0x7f800000)
#else
#include <hip/hip_runtime.h>

#define gpuStream hipStream_t
#define gpuSuccess hipSuccess
#define gpuErrorInvalidValue hipErrorInvalidValue
#define gpuLastError hipGetLastError /* launch.c has it */
#endif

/* Threads of a block at most: HIP's compiler takes 1024 otherwise, and gives a thread so few
 * registers that values go to memory. */
#define GPU_THREADS(most) __launch_bounds__(most)

/* The sum of the products of four bytes, and c: without signs, and with them. */
#if defined(__CUDA_ARCH__)
#define gpuDotUnsigned __dp4a
#define gpuDotSigned __dp4a
#elif defined(__HIP_DEVICE_COMPILE__) || defined(__HIPCC_RTC__)
extern "C" __device__ __attribute__((const)) unsigned __ockl_udot4(unsigned, unsigned, unsigned,
                                                                   bool);
extern "C" __device__ __attribute__((const)) int __ockl_sdot4(int, int, int, bool);
#define gpuDotUnsigned(a, b, c) __ockl_udot4(a, b, c, false)
#define gpuDotSigned(a, b, c) __ockl_sdot4(a, b, c, false)
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
