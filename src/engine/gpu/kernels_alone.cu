/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels without their launches, for compilers at run time: the build puts the files in place
 * of their lines here, and has the engine contain the text. As no launch asks for a kernel here,
 * each template that is launched is asked for below; a test compares the two.
 */
#define TSR_KERNELS_ALONE
#include "engine/gpu/kernel_code.h"
#include "engine/gpu/level3/inverse_code.h"
#include "engine/gpu/residues/residue_kernels.cu"
#include "engine/gpu/residues/residue_judgement.cu"
#include "engine/gpu/residues/residue_overlaps.cu"

namespace tsr_gpu {

#define ADD(A, C, V, HAS_A, READS_C)                            \
  template __global__ void add_kernel<A, C, V, HAS_A, READS_C>( \
      whole, whole, traits<C>::value, const A *, whole, traits<C>::value, C *, whole);
#define ADD_TRIANGLE(A, C, HAS_A, READS_C)                            \
  template __global__ void add_triangle_kernel<A, C, HAS_A, READS_C>( \
      bool, bool, whole, traits<C>::value, const A *, whole, traits<C>::value, C *, whole);

/* V: what launch() of kernels.cu chooses for the type of C. */
#define ADDS(A, C, V)             \
  ADD(A, C, V, true, true)        \
  ADD(A, C, V, true, false)       \
  ADD(A, C, V, false, true)       \
  ADD(A, C, V, false, false)      \
  ADD(A, C, 1, true, true)        \
  ADD(A, C, 1, true, false)       \
  ADD(A, C, 1, false, true)       \
  ADD(A, C, 1, false, false)      \
  ADD_TRIANGLE(A, C, true, true)  \
  ADD_TRIANGLE(A, C, true, false) \
  ADD_TRIANGLE(A, C, false, true) \
  ADD_TRIANGLE(A, C, false, false)

ADDS(float, float, 4)
ADDS(double, double, 2)
ADDS(pair<float>, pair<float>, 2)
ADDS(pair<double>, pair<double>, 2)
ADDS(gpuHalf, gpuHalf, 8)
ADDS(float, gpuHalf, 8)
ADDS(gpuBfloat16, gpuBfloat16, 8)
ADDS(float, gpuBfloat16, 8)

#define DIAGONAL(R) template __global__ void real_diagonal_kernel<R>(whole, pair<R> *, whole);

DIAGONAL(float)
DIAGONAL(double)

#define PIVOTS(T) \
  template __global__ void pivots_kernel<T>(int, const T *, whole, const int *, int, int *);

PIVOTS(float)
PIVOTS(double)
PIVOTS(pair<float>)
PIVOTS(pair<double>)

#define JOIN(T, HALF, LOWER) \
  template __global__ void join_kernel<T, HALF, LOWER>(whole, const T *, whole, T *, whole);
#define INVERT(T)                                                                             \
  template __global__ void invert_kernel<T>(bool, bool, whole, const T *, whole, T *, whole); \
  JOIN(T, TSR_GPU_INVERTED, true)                                                             \
  JOIN(T, TSR_GPU_INVERTED, false)                                                            \
  JOIN(T, TSR_GPU_JOINED, true)                                                               \
  JOIN(T, TSR_GPU_JOINED, false)

INVERT(float)
INVERT(double)
INVERT(pair<float>)
INVERT(pair<double>)

#define FILL(T) \
  template __global__ void fill_kernel<T>(bool, bool, whole, const T *, whole, T *, whole);

FILL(float)
FILL(double)
FILL(pair<float>)
FILL(pair<double>)

#define MEND(T)                                                                                \
  template __global__ void squares_kernel<T>(bool, bool, whole, whole, const T *, whole, T *,  \
                                             whole);                                           \
  template __global__ void mend_kernel<T>(mending, T, const T *, const T *, T, const T *, T *, \
                                          int *);                                              \
  template __global__ void put_lines_kernel<T>(mending, const T *, const int *, T *, whole);

MEND(float)
MEND(double)
MEND(pair<float>)
MEND(pair<double>)
#define TRAPEZOID(LOWER)                                                                     \
  template __global__ void trapezoid_kernel<LOWER>(whole, whole, const char *, const char *, \
                                                   char *, whole, whole, whole, whole,       \
                                                   const void **);

TRAPEZOID(true)
TRAPEZOID(false)

/* T: of the PARTS numbers of an element, E. */
#define RESIDUES(T, E, PARTS)                                                                    \
  template __global__ void most_kernel<T, PARTS>(tsr_gpu_residues, int);                         \
  template __global__ void sums_kernel<T, PARTS>(tsr_gpu_residues, int);                         \
  template __global__ void convert_kernel<T, PARTS>(tsr_gpu_residues, pairs, int);               \
  template __global__ void recover_kernel<E, PARTS, true>(tsr_gpu_recover, recovery, divisors);  \
  template __global__ void recover_kernel<E, PARTS, false>(tsr_gpu_recover, recovery, divisors); \
  template __global__ void native_kernel<E>(tsr_gpu_native);

RESIDUES(float, float, 1)
RESIDUES(double, double, 1)
RESIDUES(float, pair_of<float>, 2)
RESIDUES(double, pair_of<double>, 2)

template __global__ void expand_kernel<1>(tsr_gpu_overlaps, tsr_leading_moduli, int);
template __global__ void expand_kernel<2>(tsr_gpu_overlaps, tsr_leading_moduli, int);

}  // namespace tsr_gpu
