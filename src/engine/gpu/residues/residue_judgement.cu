/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whether the accuracy of a product in residues can be promised, and the native product where it
 * cannot. The arithmetic is that of arithmetic/residues.h and arithmetic/cpu_residues.c, compiled without
 * contraction.
 */
#define TSR_RESIDUES_INLINE static __host__ __device__ inline

#include "kernel_names.h" /* of the vendor's folder, which the build names */

#include "arithmetic/residues.h"
#include "engine/gpu/residues/residue_elements.h"
#include "engine/gpu/residues/residue_kernels.h"

namespace tsr_gpu {

/* ---- Judging ---------------------------------------------------------------------- */

const int JUDGES = 256;

__device__ void join(tsr_worst *a, const tsr_worst *b) {
  a->finite = a->finite && b->finite;
  a->any = a->any || b->any;
  a->room = a->room < b->room ? a->room : b->room;
  a->sum = a->sum > b->sum ? a->sum : b->sum;
  for (int t = 0; t < 12; t++)
    a->at_least[t] = a->at_least[t] < b->at_least[t] ? a->at_least[t] : b->at_least[t];
}

/* What holds for lines first .. end - 1, in worst[0]; `thread` is one of JUDGES. */
__device__ void find_worst(const tsr_line *lines, int64_t first, int64_t end, int thread,
                           tsr_worst *worst) {
  tsr_worst mine = tsr_worst_start();
  for (int64_t i = first + thread; i < end; i += JUDGES) tsr_worst_add(&mine, &lines[i]);
  worst[thread] = mine;
  __syncthreads();
  for (int half = JUDGES / 2; half > 0; half /= 2) {
    if (thread < half) join(&worst[thread], &worst[thread + half]);
    __syncthreads();
  }
}

/* The blocks along x share the lines, those of y = 0 the rows, those of y = 1 the columns. */
__global__ void GPU_THREADS(JUDGES)
    worst_kernel(const tsr_line *rows, whole m, const tsr_line *columns, whole n,
                 tsr_worst *found) {
  __shared__ tsr_worst worst[JUDGES];
  bool is_row = blockIdx.y == 0;
  int64_t count = is_row ? m : n, share = (count + gridDim.x - 1) / gridDim.x;
  int64_t first = blockIdx.x * share, end = first + share < count ? first + share : count;
  find_worst(is_row ? rows : columns, first, end, threadIdx.x, worst);
  if (threadIdx.x == 0) found[blockIdx.y * gridDim.x + blockIdx.x] = worst[0];
}

/* One block; `shares` of rows have been judged, and as many of columns. */
__global__ void GPU_THREADS(2 * TSR_GPU_JUDGING_BLOCKS)
    judge_kernel(const tsr_worst *found, int shares, whole k, int complex_valued, double tolerance,
                 bool overlaps, tsr_gpu_judgement *judgement, int32_t *verdict) {
  __shared__ tsr_worst worst[2][TSR_GPU_JUDGING_BLOCKS];
  int i = threadIdx.x, side = threadIdx.y;
  worst[side][i] = found[side * shares + i];
  __syncthreads();
  if (i > 0 || side > 0) return;
  for (int s = 1; s < shares; s++) {
    join(&worst[0][0], &worst[0][s]);
    join(&worst[1][0], &worst[1][s]);
  }
  const tsr_worst *a = &worst[0][0], *b = &worst[1][0];
  bool promised = tsr_verdict(a, b, k, complex_valued != 0, tolerance);
  judgement->undecided = !promised && overlaps && a->finite && b->finite;
  judgement->refused = !promised && !judgement->undecided;
  if (judgement->refused && verdict != NULL) *verdict = 1;
}

/* ---- Without residues --------------------------------------------------------------- */

/* A block computes a square of c, of which a thread has one of SIDE x SIDE elements, and loads DEEP
 * elements of each line at a time. Lines in shared memory are by element, with a gap that keeps
 * threads that store neighbours of a line in different banks. */
const int SIDE = 4, ACROSS = 16, SQUARE = SIDE * ACROSS, DEEP = 16, NATIVES = ACROSS * ACROSS;

template <class T>
struct lines {
  T at[DEEP][SQUARE + 1];
};

__device__ float fused(float x, float y, float z) {
  return fmaf(x, y, z);
}

__device__ double fused(double x, double y, double z) {
  return fma(x, y, z);
}

/* sum + x y, in the order of operations of arithmetic/cpu_residues.c. */
template <class R>
__device__ R plus_product(R sum, R x, R y) {
  return fused(x, y, sum);
}

template <class R>
__device__ pair_of<R> plus_product(pair_of<R> sum, pair_of<R> x, pair_of<R> y) {
  return pair_of<R>{fused(-x.im, y.im, fused(x.re, y.re, sum.re)),
                    fused(x.im, y.re, fused(x.re, y.im, sum.im))};
}

template <class R>
__device__ void finish(const tsr_gpu_native &x, R sum, bool real, R *c) {
  R product = (R)x.alpha[0] * sum;
  if (x.beta[0] == 0) {
    *c = product;
    return;
  }
  R kept = (R)x.beta[0] * *c;
  *c = product + kept;
}

template <class R>
__device__ pair_of<R> times(const double factor[2], pair_of<R> x) {
  R re = (R)factor[0], im = (R)factor[1];
  return pair_of<R>{fused(-im, x.im, re * x.re), fused(im, x.re, re * x.im)};
}

template <class R>
__device__ void finish(const tsr_gpu_native &x, pair_of<R> sum, bool real, pair_of<R> *c) {
  pair_of<R> result = times<R>(x.alpha, sum);
  if ((R)x.beta[0] != 0 || (R)x.beta[1] != 0) {
    pair_of<R> kept = times<R>(x.beta, pair_of<R>{c->re, real ? 0 : c->im});
    result = pair_of<R>{result.re + kept.re, result.im + kept.im};
  }
  if (real) result.im = 0;
  *c = result;
}

/* Elements h0 .. of the lines from `first` on; 0 beyond the last line and element. */
template <class T>
__device__ void load_lines(const T *from, int64_t ld, int64_t first, int64_t count, int64_t h0,
                           int64_t k, lines<T> &to) {
  for (int e = threadIdx.x; e < SQUARE * DEEP; e += NATIVES) {
    int i = e / DEEP, h = e % DEEP;
    bool inside = first + i < count && h0 + h < k;
    to.at[h][i] = inside ? from[(first + i) * ld + h0 + h] : T{};
  }
}

template <class T>
__device__ void sum_products(const lines<T> &a, const lines<T> &b, int64_t count, int row,
                             int column, T sums[SIDE][SIDE]) {
  for (int h = 0; h < DEEP && h < count; h++)
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++)
        sums[i][j] =
            plus_product(sums[i][j], a.at[h][row + i * ACROSS], b.at[h][column + j * ACROSS]);
}

/* A square of c, whose first element is (i0, j0). */
template <class T>
__device__ void multiply_square(const tsr_gpu_native &x, int64_t i0, int64_t j0, lines<T> &a,
                                lines<T> &b) {
  int row = threadIdx.x % ACROSS, column = threadIdx.x / ACROSS;
  T sums[SIDE][SIDE] = {};
  for (int64_t h0 = 0; h0 < x.k; h0 += DEEP) {
    __syncthreads(); /* the former elements have been used */
    load_lines((const T *)x.a, x.lda, i0, x.m, h0, x.k, a);
    load_lines((const T *)x.b, x.ldb, j0, x.n, h0, x.k, b);
    __syncthreads();
    sum_products(a, b, x.k - h0, row, column, sums);
  }
  for (int j = 0; j < SIDE; j++)
    for (int i = 0; i < SIDE; i++) {
      int64_t at = i0 + row + i * ACROSS, across = j0 + column + j * ACROSS;
      if (at >= x.m || across >= x.n || !is_written(x.region, at, across)) continue;
      finish(x, sums[i][j], is_real(x.region, at, across), (T *)x.c + at + across * x.ldc);
    }
}

template <class T>
__global__ void GPU_THREADS(NATIVES) native_kernel(tsr_gpu_native x) {
  __shared__ lines<T> a, b;
  if (!*x.refused) return;
  int64_t down = (x.m + SQUARE - 1) / SQUARE, across = (x.n + SQUARE - 1) / SQUARE;
  for (int64_t square = blockIdx.x; square < down * across; square += gridDim.x)
    multiply_square<T>(x, square % down * SQUARE, square / down * SQUARE, a, b);
}

}  // namespace tsr_gpu

/* ---- Launches ------------------------------------------------------------------------ */

#ifndef TSR_KERNELS_ALONE
namespace tsr_gpu {

/* Blocks of native_kernel: about twice what an H100 runs at a time; mostly they have nothing to do,
 * so that more would cost time. */
const int64_t MOST_NATIVES = 1024;

template <class T>
void launch_native(const tsr_gpu_native &x, gpuStream stream) {
  int64_t squares = (x.m + SQUARE - 1) / SQUARE * ((x.n + SQUARE - 1) / SQUARE);
  unsigned blocks = (unsigned)(squares < MOST_NATIVES ? squares : MOST_NATIVES);
  native_kernel<T><<<blocks, NATIVES, 0, stream>>>(x);
}

}  // namespace tsr_gpu

using namespace tsr_gpu;

extern "C" int tsr_gpu_judge_launch(const tsr_line *rows, int64_t m, const tsr_line *columns,
                                    int64_t n, int64_t k, int complex_valued, double tolerance,
                                    int overlaps, tsr_gpu_judgement *judgement, int32_t *verdict,
                                    void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  int64_t most = (m > n ? m : n) / JUDGES + 1;
  int shares = most < TSR_GPU_JUDGING_BLOCKS ? (int)most : TSR_GPU_JUDGING_BLOCKS;
  const int OWN = 64; /* bytes of *judgement, so that records begin at cache lines */
  static_assert(OWN + 2 * TSR_GPU_JUDGING_BLOCKS * sizeof(tsr_worst) <= TSR_GPU_JUDGING_ROOM,
                "what the blocks find has room");
  tsr_worst *found = (tsr_worst *)((char *)judgement + OWN);
  worst_kernel<<<dim3(shares, 2), JUDGES, 0, stream>>>(rows, m, columns, n, found);
  judge_kernel<<<1, dim3(shares, 2), 0, stream>>>(found, shares, k, complex_valued, tolerance,
                                                  overlaps != 0, judgement, verdict);
  return gpuLastError();
}

extern "C" int tsr_gpu_native_launch(const tsr_gpu_native *x, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  switch (x->type) {
    case 's':
      launch_native<float>(*x, stream);
      break;
    case 'd':
      launch_native<double>(*x, stream);
      break;
    case 'c':
      launch_native<pair_of<float>>(*x, stream);
      break;
    case 'z':
      launch_native<pair_of<double>>(*x, stream);
      break;
    default:
      return gpuErrorInvalidValue;
  }
  return gpuLastError();
}

#endif
