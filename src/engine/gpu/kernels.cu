/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kernels that the vendor's BLAS lacks; the first is c = alpha a + beta c for every type. It is
 * bound by memory: a thread handles 16 bytes of c at a time if the columns are aligned, and the
 * number of blocks is small enough to run beside a GEMM. In a triangle a thread handles single
 * elements, so that nothing outside the triangle is written; tiles on a diagonal are few.
 */
#include "engine/gpu/kernels.h"

#include "kernel_names.h" /* of the vendor's folder, which the build names */

namespace tsr_gpu {

template <class R>
struct pair {
  R re, im;
};

/* traits<T>: value is the type in which T is computed; load and store convert to it and back. */
template <class T>
struct real {
  typedef T value;
  static __device__ T load(T x) {
    return x;
  }
  static __device__ T store(T x) {
    return x;
  }
  static T scalar(const double *s) {
    return (T)s[0];
  }
};

template <class T>
struct traits;
template <>
struct traits<float> : real<float> {};
template <>
struct traits<double> : real<double> {};
template <class R>
struct traits<pair<R>> : real<pair<R>> {
  static pair<R> scalar(const double *s) {
    return pair<R>{(R)s[0], (R)s[1]};
  }
};
template <>
struct traits<gpuHalf> {
  typedef float value;
  static __device__ float load(gpuHalf x) {
    return gpuHalfToFloat(x);
  }
  static __device__ gpuHalf store(float x) {
    return gpuFloatToHalf(x);
  }
  static float scalar(const double *s) {
    return (float)s[0];
  }
};
template <>
struct traits<gpuBfloat16> {
  typedef float value;
  static __device__ float load(gpuBfloat16 x) {
    return gpuBfloat16ToFloat(x);
  }
  static __device__ gpuBfloat16 store(float x) {
    return gpuFloatToBfloat16(x);
  }
  static float scalar(const double *s) {
    return (float)s[0];
  }
};

__device__ float product(float a, float b) {
  return a * b;
}
__device__ double product(double a, double b) {
  return a * b;
}
template <class R>
__device__ pair<R> product(pair<R> a, pair<R> b) {
  return pair<R>{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ float sum(float a, float b) {
  return a + b;
}
__device__ double sum(double a, double b) {
  return a + b;
}
template <class R>
__device__ pair<R> sum(pair<R> a, pair<R> b) {
  return pair<R>{a.re + b.re, a.im + b.im};
}

/* V elements that one instruction loads or stores. They are aligned to min(16, V * sizeof(T))
 * bytes. If V is 1, the address is the user's, of which nothing but alignof(T) is known: for a
 * complex T that is the alignment of its real part. */
template <class T, int V>
struct alignas(V == 1               ? alignof(T)
               : V * sizeof(T) < 16 ? V * sizeof(T)
                                    : 16) pack {
  T x[V];
};

template <class A, class C, int V, bool HAS_A, bool READS_C>
__global__ void add_kernel(int64_t m, int64_t n, typename traits<C>::value alpha, const A *a,
                           int64_t lda, typename traits<C>::value beta, C *c, int64_t ldc) {
  int64_t step_i = (int64_t)gridDim.x * blockDim.x, step_j = (int64_t)gridDim.y * blockDim.y;
  int64_t from_i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  int64_t from_j = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
  for (int64_t j = from_j; j < n; j += step_j) {
    for (int64_t i = from_i; i < m / V; i += step_i) {
      pack<A, V> pa = {};
      pack<C, V> pc = {};
      if (HAS_A) pa = *(const pack<A, V> *)(a + j * lda + i * V);
      if (READS_C) pc = *(const pack<C, V> *)(c + j * ldc + i * V);
#pragma unroll
      for (int v = 0; v < V; v++) {
        typename traits<C>::value r = {};
        if (HAS_A) r = product(alpha, traits<A>::load(pa.x[v]));
        if (READS_C) {
          typename traits<C>::value s = product(beta, traits<C>::load(pc.x[v]));
          r = HAS_A ? sum(r, s) : s;
        }
        pc.x[v] = traits<C>::store(r);
      }
      *(pack<C, V> *)(c + j * ldc + i * V) = pc;
    }
  }
}

__device__ float real_part(float x) {
  return x;
}
__device__ double real_part(double x) {
  return x;
}
template <class R>
__device__ pair<R> real_part(pair<R> x) {
  return pair<R>{x.re, R(0)};
}

/* c = alpha a + beta c in one triangle. hermitian: the imaginary parts of the diagonal are not used
 * and become 0. */
template <class A, class C, bool HAS_A, bool READS_C>
__global__ void add_triangle_kernel(bool lower, bool hermitian, int64_t n,
                                    typename traits<C>::value alpha, const A *a, int64_t lda,
                                    typename traits<C>::value beta, C *c, int64_t ldc) {
  int64_t step_i = (int64_t)gridDim.x * blockDim.x, step_j = (int64_t)gridDim.y * blockDim.y;
  int64_t from_i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  int64_t from_j = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
  for (int64_t j = from_j; j < n; j += step_j) {
    for (int64_t i = from_i; i < n; i += step_i) {
      if (lower ? i < j : i > j) continue;
      typename traits<C>::value r = {};
      if (HAS_A) r = product(alpha, traits<A>::load(a[i + j * lda]));
      if (READS_C) {
        typename traits<C>::value old = traits<C>::load(c[i + j * ldc]);
        typename traits<C>::value s = product(beta, hermitian && i == j ? real_part(old) : old);
        r = HAS_A ? sum(r, s) : s;
      }
      c[i + j * ldc] = traits<C>::store(hermitian && i == j ? real_part(r) : r);
    }
  }
}

/* The shape of a launch: a block's 256 threads lie along a column; if the column is shorter, the
 * others take the next columns. At most blocks thread blocks. */
struct shape {
  dim3 grid, block;
};

shape shape_of(int64_t rows, int64_t columns, int blocks) {
  const int threads = 256;
  int x = 1;
  while (x < threads && x < rows) x *= 2;
  int y = threads / x;
  int64_t gx = (rows + x - 1) / x, gy = (columns + y - 1) / y;
  if (gx > blocks) gx = blocks;
  int64_t most_y = blocks / gx;
  if (most_y > 65535) most_y = 65535;
  if (gy > most_y) gy = most_y;
  return shape{dim3((unsigned)gx, (unsigned)gy), dim3((unsigned)x, (unsigned)y)};
}

template <class A, class C, int V, bool HAS_A, bool READS_C>
void launch_shaped(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  shape s = shape_of(x.m / V, x.n, blocks);
  add_kernel<A, C, V, HAS_A, READS_C>
      <<<s.grid, s.block, 0, stream>>>(x.m, x.n, traits<C>::scalar(x.alpha), (const A *)x.a, x.lda,
                                       traits<C>::scalar(x.beta), (C *)x.c, x.ldc);
}

template <class A, class C, bool HAS_A, bool READS_C>
void launch_triangle(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  shape s = shape_of(x.n, x.n, blocks);
  add_triangle_kernel<A, C, HAS_A, READS_C><<<s.grid, s.block, 0, stream>>>(
      x.uplo == 'L', x.hermitian != 0, x.n, traits<C>::scalar(x.alpha), (const A *)x.a, x.lda,
      traits<C>::scalar(x.beta), (C *)x.c, x.ldc);
}

template <class A, class C, int V, bool HAS_A, bool READS_C>
void launch_part(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  if (x.uplo == 'L' || x.uplo == 'U')
    launch_triangle<A, C, HAS_A, READS_C>(x, blocks, stream);
  else
    launch_shaped<A, C, V, HAS_A, READS_C>(x, blocks, stream);
}

template <class A, class C, int V>
void launch_packed(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  bool reads_c = x.beta[0] != 0 || x.beta[1] != 0;
  if (x.a && reads_c)
    launch_part<A, C, V, true, true>(x, blocks, stream);
  else if (x.a)
    launch_part<A, C, V, true, false>(x, blocks, stream);
  else if (reads_c)
    launch_part<A, C, V, false, true>(x, blocks, stream);
  else
    launch_part<A, C, V, false, false>(x, blocks, stream);
}

bool aligned(const void *p, int64_t ld, size_t size) {
  return (uintptr_t)p % 16 == 0 && (size_t)ld * size % 16 == 0;
}

template <class A, class C>
void launch(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  const int V = sizeof(C) == 16 ? 2 : (int)(16 / sizeof(C));
  bool packs =
      x.m % V == 0 && aligned(x.c, x.ldc, sizeof(C)) && (!x.a || aligned(x.a, x.lda, sizeof(A)));
  if (packs)
    launch_packed<A, C, V>(x, blocks, stream);
  else
    launch_packed<A, C, 1>(x, blocks, stream);
}

/* For a 16-bit type: a and c may be of its wide type, float. */
template <class T>
void launch_half(const tsr_gpu_add &x, int blocks, gpuStream stream) {
  if (x.wide_c)
    launch<float, float>(x, blocks, stream);
  else if (x.wide_a)
    launch<float, T>(x, blocks, stream);
  else
    launch<T, T>(x, blocks, stream);
}

template <class R>
__global__ void real_diagonal_kernel(int64_t n, pair<R> *c, int64_t ldc) {
  int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i + i * ldc].im = R(0);
}

template <class R>
void launch_real_diagonal(int64_t n, void *c, int64_t ldc, gpuStream stream) {
  const int threads = 256;
  unsigned blocks = (unsigned)((n + threads - 1) / threads);
  real_diagonal_kernel<R><<<blocks, threads, 0, stream>>>(n, (pair<R> *)c, ldc);
}

/* ---- Inverses of the blocks on a diagonal --------------------------------- */

__device__ float negated(float x) {
  return -x;
}
__device__ double negated(double x) {
  return -x;
}
template <class R>
__device__ pair<R> negated(pair<R> x) {
  return pair<R>{-x.re, -x.im};
}

__device__ float reciprocal(float x) {
  return 1 / x;
}
__device__ double reciprocal(double x) {
  return 1 / x;
}
/* Smith's algorithm: no square is formed that could overflow. */
template <class R>
__device__ pair<R> reciprocal(pair<R> x) {
  if (fabs(x.re) >= fabs(x.im)) {
    R ratio = x.im / x.re, d = 1 / (x.re + x.im * ratio);
    return pair<R>{d, -ratio * d};
  }
  R ratio = x.re / x.im, d = 1 / (x.im + x.re * ratio);
  return pair<R>{ratio * d, -d};
}

template <class T>
struct unity {
  static __device__ T value() {
    return T(1);
  }
};
template <class R>
struct unity<pair<R>> {
  static __device__ pair<R> value() {
    return pair<R>{R(1), R(0)};
  }
};

/* Each thread block inverts one diagonal block, with one thread for each element, by elimination in
 * place. In a lower triangle, elimination step k completes row k of the inverse and adds that row's
 * contribution to the rows below; column k of A is no longer needed and becomes column k of the
 * inverse. An upper triangle is treated as a lower one whose rows and columns are counted from the
 * end. */
template <class T>
__global__ void __launch_bounds__(TSR_GPU_INVERTED *TSR_GPU_INVERTED)
    invert_kernel(bool lower, bool unit, int64_t n, const T *a, int64_t lda, T *inverse) {
  const int N = TSR_GPU_INVERTED;
  __shared__ T x[N][N + 1];
  int64_t first = (int64_t)blockIdx.x * N;
  int order = n - first < N ? (int)(n - first) : N;
  int row = threadIdx.x, column = threadIdx.y;
  bool inside = row < order && column < order;
  int i = lower || row >= order ? row : order - 1 - row;
  int j = lower || column >= order ? column : order - 1 - column;
  T mine = i == j ? unity<T>::value() : T{};
  if (inside && (i > j || (i == j && !unit))) mine = a[first + row + (first + column) * lda];
  if (i == j) mine = reciprocal(mine);
  x[i][j] = mine;
  for (int k = 0; k < order; k++) {
    __syncthreads();
    T pivot = x[k][k], across = x[k][j], factor = x[i][k];
    __syncthreads();
    if (i < k || j > k || i == j) continue;
    T finished = j < k ? product(pivot, across) : pivot;
    mine = i == k ? finished : sum(j < k ? mine : T{}, product(negated(factor), finished));
    x[i][j] = mine;
  }
  if (inside) inverse[first + row + (first + column) * n] = mine;
  int64_t begin = lower ? 0 : first + order, end = lower ? first : n;
  for (int64_t r = begin + row; column < order && r < end; r += N)
    inverse[r + (first + column) * n] = T{};
}

template <class T>
void launch_invert(const tsr_gpu_invert &x, gpuStream stream) {
  const int N = TSR_GPU_INVERTED;
  unsigned blocks = (unsigned)((x.n + N - 1) / N);
  invert_kernel<T><<<blocks, dim3(N, N), 0, stream>>>(x.uplo == 'L', x.unit != 0, x.n,
                                                      (const T *)x.a, x.lda, (T *)x.inverse);
}

}  // namespace tsr_gpu

using namespace tsr_gpu;

extern "C" int tsr_gpu_add_launch(const tsr_gpu_add *x, int blocks, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->m <= 0 || x->n <= 0) return gpuSuccess;
  switch (x->type) {
    case 's':
    case 't':
      launch<float, float>(*x, blocks, stream);
      break;
    case 'd':
      launch<double, double>(*x, blocks, stream);
      break;
    case 'c':
      launch<pair<float>, pair<float>>(*x, blocks, stream);
      break;
    case 'z':
      launch<pair<double>, pair<double>>(*x, blocks, stream);
      break;
    case 'h':
      launch_half<gpuHalf>(*x, blocks, stream);
      break;
    case 'b':
      launch_half<gpuBfloat16>(*x, blocks, stream);
      break;
    default:
      return gpuErrorInvalidValue;
  }
  return gpuLastError();
}

extern "C" int tsr_gpu_real_diagonal_launch(char type, int64_t n, void *c, int64_t ldc,
                                            void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (n <= 0) return gpuSuccess;
  if (type == 'c')
    launch_real_diagonal<float>(n, c, ldc, stream);
  else if (type == 'z')
    launch_real_diagonal<double>(n, c, ldc, stream);
  else
    return gpuErrorInvalidValue;
  return gpuLastError();
}

extern "C" int tsr_gpu_invert_launch(const tsr_gpu_invert *x, void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  if (x->n <= 0) return gpuSuccess;
  switch (x->type) {
    case 's':
      launch_invert<float>(*x, stream);
      break;
    case 'd':
      launch_invert<double>(*x, stream);
      break;
    case 'c':
      launch_invert<pair<float>>(*x, stream);
      break;
    case 'z':
      launch_invert<pair<double>>(*x, stream);
      break;
    default:
      return gpuErrorInvalidValue;
  }
  return gpuLastError();
}
