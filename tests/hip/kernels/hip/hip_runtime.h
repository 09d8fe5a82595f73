/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The language of HIP's kernels as C++ for the CPU, in place of HIP's header of this name. Threads
 * of a block take turns on one thread of the CPU (block.cpp), so that what they share is that
 * thread's.
 */
#ifndef TESTS_HIP_KERNELS_HIP_RUNTIME_H
#define TESTS_HIP_KERNELS_HIP_RUNTIME_H

#include <hip/hip_runtime_api.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "registered.h"

#undef __global__
#undef __host__
#undef __device__
#undef __shared__
#undef __launch_bounds__
#define __global__
#define __host__
#define __device__
#define __shared__ static thread_local
#define __launch_bounds__(threads)

struct hip_index {
  unsigned x, y, z;
};
extern thread_local hip_index threadIdx, blockIdx, blockDim, gridDim;

/* Until all threads of the block are here. */
extern "C" void hip_barrier(void);
#define __syncthreads hip_barrier

static inline float __uint_as_float(unsigned bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline unsigned __float_as_uint(float x) {
  unsigned bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline float __int_as_float(int bits) {
  return __uint_as_float((unsigned)bits);
}
static inline int __float_as_int(float x) {
  return (int)__float_as_uint(x);
}

static inline int __double2loint(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (int)(uint32_t)bits;
}
static inline double __hiloint2double(int high, int low) {
  uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline unsigned __umulhi(unsigned x, unsigned y) {
  return (unsigned)((uint64_t)x * y >> 32);
}

/* The threads of a launch take turns, so that these need not be atomic. */
template <class T>
T atomicAdd(T *to, T more) {
  T old = *to;
  *to = old + more;
  return old;
}
template <class T>
T atomicMax(T *to, T other) {
  T old = *to;
  if (other > old) *to = other;
  return old;
}

#endif
