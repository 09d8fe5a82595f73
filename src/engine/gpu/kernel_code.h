/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kernels that the vendor's BLAS lacks; the first is c = alpha a + beta c for every type. It is
 * bound by memory: a thread handles 16 bytes of c at a time if the columns are aligned, and the
 * number of blocks is small enough to run beside a GEMM. In a triangle a thread handles single
 * elements, so that nothing outside the triangle is written; tiles on a diagonal are few.
 *
 * kernels.cu launches them. They are also compiled without it, at run time (kernels_alone.cu): by
 * compilers that have no headers and, for a number of 64 bits, a type of their own. A kernel's name
 * has its types in it, so extents are of one that is the same everywhere.
 */
#ifndef TSR_ENGINE_GPU_KERNEL_CODE_H
#define TSR_ENGINE_GPU_KERNEL_CODE_H

#include "kernel_names.h" /* of the vendor's folder, which the build names */

namespace tsr_gpu {

typedef long long whole;

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
};

template <class T>
struct traits;
template <>
struct traits<float> : real<float> {};
template <>
struct traits<double> : real<double> {};
template <class R>
struct traits<pair<R>> : real<pair<R>> {};
template <>
struct traits<gpuHalf> {
  typedef float value;
  static __device__ float load(gpuHalf x) {
    return gpuHalfToFloat(x);
  }
  static __device__ gpuHalf store(float x) {
    return gpuFloatToHalf(x);
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
};

inline __device__ float product(float a, float b) {
  return a * b;
}
inline __device__ double product(double a, double b) {
  return a * b;
}
template <class R>
__device__ pair<R> product(pair<R> a, pair<R> b) {
  return pair<R>{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline __device__ float sum(float a, float b) {
  return a + b;
}
inline __device__ double sum(double a, double b) {
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
__global__ void add_kernel(whole m, whole n, typename traits<C>::value alpha, const A *a, whole lda,
                           typename traits<C>::value beta, C *c, whole ldc) {
  whole step_i = (whole)gridDim.x * blockDim.x, step_j = (whole)gridDim.y * blockDim.y;
  whole from_i = (whole)blockIdx.x * blockDim.x + threadIdx.x;
  whole from_j = (whole)blockIdx.y * blockDim.y + threadIdx.y;
  for (whole j = from_j; j < n; j += step_j) {
    for (whole i = from_i; i < m / V; i += step_i) {
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

inline __device__ float real_part(float x) {
  return x;
}
inline __device__ double real_part(double x) {
  return x;
}
template <class R>
__device__ pair<R> real_part(pair<R> x) {
  return pair<R>{x.re, R(0)};
}

/* c = alpha a + beta c in one triangle. hermitian: the imaginary parts of the diagonal are not used
 * and become 0. */
template <class A, class C, bool HAS_A, bool READS_C>
__global__ void add_triangle_kernel(bool lower, bool hermitian, whole n,
                                    typename traits<C>::value alpha, const A *a, whole lda,
                                    typename traits<C>::value beta, C *c, whole ldc) {
  whole step_i = (whole)gridDim.x * blockDim.x, step_j = (whole)gridDim.y * blockDim.y;
  whole from_i = (whole)blockIdx.x * blockDim.x + threadIdx.x;
  whole from_j = (whole)blockIdx.y * blockDim.y + threadIdx.y;
  for (whole j = from_j; j < n; j += step_j) {
    for (whole i = from_i; i < n; i += step_i) {
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

template <class R>
__global__ void real_diagonal_kernel(whole n, pair<R> *c, whole ldc) {
  whole i = (whole)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i + i * ldc].im = R(0);
}

/* ---- The pivots of a factored block ------------------------------------------ */

inline __device__ float real_of(float x) {
  return x;
}
inline __device__ double real_of(double x) {
  return x;
}
template <class R>
__device__ R real_of(pair<R> x) {
  return x.re;
}

const int PIVOT_THREADS = 256;

/* One block. A comparison with NaN is false: NaN is no pivot. */
template <class T>
__global__ void pivots_kernel(int n, const T *c, whole ldc, const int *info, int first,
                              int *verdict) {
  __shared__ int found[PIVOT_THREADS];
  int least = n;
  for (int j = (int)threadIdx.x; j < least; j += PIVOT_THREADS)
    if (!(real_of(c[j + j * ldc]) > 0)) least = j;
  found[threadIdx.x] = least;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int t = 1; t < PIVOT_THREADS; t++) least = found[t] < least ? found[t] : least;
  if (*info > 0 && *info <= least) least = *info - 1;
  if (least < n && *verdict == 0) *verdict = first + least + 1;
}

/* ---- The whole of a symmetric matrix ---------------------------------------- */

inline __device__ float conjugate(float x) {
  return x;
}
inline __device__ double conjugate(double x) {
  return x;
}
template <class R>
__device__ pair<R> conjugate(pair<R> x) {
  return pair<R>{x.re, -x.im};
}

/* Rows and columns of a tile, and the columns that a thread block copies at once. */
enum { FILLED = 32, FILL_STEP = 8 };

/* Each thread block copies a square tile of the stored triangle and writes its mirror image, both
 * along columns, by way of shared memory. Thread blocks of tiles outside of the triangle have
 * nothing to do. */
template <class T>
__global__ void __launch_bounds__(FILLED *FILL_STEP)
    fill_kernel(bool lower, bool hermitian, whole n, const T *a, whole lda, T *full, whole ld) {
  const int N = FILLED;
  __shared__ T x[N][N + 1];
  whole row = (whole)blockIdx.x * N, column = (whole)blockIdx.y * N;
  if (lower ? row < column : row > column) return;
  int t = threadIdx.x;
  for (int s = threadIdx.y; s < N; s += FILL_STEP) {
    whole i = row + t, j = column + s;
    if (i >= n || j >= n || (lower ? i < j : i > j)) continue;
    T value = a[i + j * lda];
    if (hermitian && i == j) value = real_part(value);
    x[s][t] = value;
    full[i + j * ld] = value;
  }
  __syncthreads();
  for (int s = threadIdx.y; s < N; s += FILL_STEP) {
    whole i = row + s, j = column + t; /* of the stored element */
    if (i >= n || j >= n || (lower ? i <= j : i >= j)) continue;
    full[j + i * ld] = hermitian ? conjugate(x[t][s]) : x[t][s];
  }
}

/* ---- Squares of a triangle --------------------------------------------------- */

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

/* Each thread block copies a square tile of a square on the diagonal (blockIdx.z), or writes zeros.
 */
template <class T>
__global__ void __launch_bounds__(FILLED *FILL_STEP)
    squares_kernel(bool lower, bool unit, whole n, whole leaf, const T *a, whole lda, T *squares,
                   whole ld) {
  const int N = FILLED;
  whole first = blockIdx.z * leaf, order = n - first < leaf ? n - first : leaf;
  whole i = (whole)blockIdx.x * N + threadIdx.x;
  a += first + first * lda;
  squares += first * ld;
  for (int s = threadIdx.y; s < N; s += FILL_STEP) {
    whole j = (whole)blockIdx.y * N + s;
    if (i >= order || j >= order) continue;
    bool inside = lower ? i >= j : i <= j;
    T value = T{};
    if (inside) value = unit && i == j ? unity<T>::value() : a[i + j * lda];
    squares[i + j * ld] = value;
  }
}

inline __device__ bool is_finite(float x) {
  return x - x == 0;
}
inline __device__ bool is_finite(double x) {
  return x - x == 0;
}
template <class R>
__device__ bool is_finite(pair<R> x) {
  return is_finite(x.re) && is_finite(x.im);
}

/* A triangular factor and one line of the other: element e of the product is the sum of
 * op(a)(e, k) b(k), from the right of b(k) op(a)(k, e). */
template <class T>
struct line_product {
  bool before; /* k <= e, else k >= e */
  bool down;   /* op(a)(e, k), or (k, e) of the right side, is at a[e + k * lda]; else transposed */
  bool conj, unit;
  whole order;
  const T *a;
  whole lda;
  const T *b;
  whole step; /* between elements of b */

  __device__ T at(whole e) const {
    T total = unit ? b[e * step] : T{};
    whole from = before ? 0 : unit ? e + 1 : e, to = !before ? order : unit ? e : e + 1;
    for (whole k = from; k < to; k++) {
      T factor = down ? a[e + k * lda] : a[k + e * lda];
      total = sum(total, product(conj ? conjugate(factor) : factor, b[k * step]));
    }
    return total;
  }
};

/* Lines of a thread block if a line is a row of b, so that its threads read parts of columns. */
enum { MEND_ROWS = 8, MEND_ACROSS = 32 };

/* The arguments of mend_kernel but for matrices and scalars; tsr_gpu_mend explains them. */
struct mending {
  bool right, lower, unit;
  char op;
  whole order, lines, lda, ldb, ldold, ldc;
};

template <class T>
__global__ void __launch_bounds__(MEND_ROWS *MEND_ACROSS)
    mend_kernel(mending x, T alpha, const T *a, const T *b, T beta, const T *old, T *c,
                int *mended) {
  const int THREADS = MEND_ROWS * MEND_ACROSS;
  __shared__ int wrong[MEND_ROWS];
  int t = threadIdx.x + MEND_ROWS * threadIdx.y, here = x.right ? MEND_ROWS : 1;
  int mine = x.right ? threadIdx.x : 0;
  whole first = (whole)blockIdx.x * here;
  whole step = x.right ? x.ldb : 1, next = x.right ? 1 : x.ldb; /* in a line, to the next line */
  if (t < MEND_ROWS) wrong[t] = 0;
  __syncthreads();
  bool finite = true;
  if (first + mine < x.lines) {
    const T *line = b + (first + mine) * next;
#pragma unroll 8
    for (whole k = x.right ? threadIdx.y : t; k < x.order; k += x.right ? MEND_ACROSS : THREADS)
      finite = finite && is_finite(line[k * step]);
  }
  if (!finite) wrong[mine] = 1;
  __syncthreads();
  if (mended && t < here && first + t < x.lines) mended[first + t] = wrong[t];
  bool plain = x.op == 'N', op_lower = x.lower == plain;
  for (int l = 0; l < here; l++) {
    if (!wrong[l]) continue;
    whole line = first + l;
    line_product<T> of = {op_lower != x.right,
                          plain != x.right,
                          x.op == 'C',
                          x.unit,
                          x.order,
                          a,
                          x.lda,
                          b + line * next,
                          step};
    for (whole e = t; e < x.order; e += THREADS) {
      whole row = x.right ? line : e, column = x.right ? e : line;
      T value = product(alpha, of.at(e));
      if (old) value = sum(value, product(beta, old[row + column * x.ldold]));
      c[row + column * x.ldc] = value;
    }
  }
}

/* The thread blocks of mend_kernel copy its lines. */
template <class T>
__global__ void __launch_bounds__(MEND_ROWS *MEND_ACROSS)
    put_lines_kernel(mending x, const T *from, const int *mended, T *c, whole ldc) {
  int t = threadIdx.x + MEND_ROWS * threadIdx.y, here = x.right ? MEND_ROWS : 1;
  for (int l = 0; l < here; l++) {
    whole line = (whole)blockIdx.x * here + l;
    if (line >= x.lines || !mended[line]) continue;
    for (whole e = t; e < x.order; e += MEND_ROWS * MEND_ACROSS) {
      whole row = x.right ? line : e, column = x.right ? e : line;
      c[row + column * ldc] = from[row + column * x.ldc];
    }
  }
}

/* ---- Addresses of the squares of a trapezoid -------------------------------- */

/* The place in the lists of the first square of a column. An upper trapezoid's columns are as high
 * as a lower one's, in the opposite order. */
template <bool LOWER>
__device__ whole squares_before(whole rows, whole columns, whole column) {
  whole first = LOWER ? rows : rows - columns + 1, steps = column * (column - 1) / 2;
  return column * first + (LOWER ? -steps : steps);
}

/* One thread for each square of c; those outside of the trapezoid have nothing to do. */
template <bool LOWER>
__global__ void trapezoid_kernel(whole rows, whole columns, const char *a, const char *b, char *c,
                                 whole step_a, whole step_b, whole row_of_c, whole column_of_c,
                                 const void **to) {
  whole row = (whole)blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y;
  whole begin = LOWER ? column : 0, end = LOWER ? rows : rows - columns + column + 1;
  if (row < begin || row >= end) return;
  whole all = squares_before<LOWER>(rows, columns, columns);
  whole at = squares_before<LOWER>(rows, columns, column) + row - begin;
  to[at] = a + row * step_a;
  to[all + at] = b + column * step_b;
  to[2 * all + at] = c + row * row_of_c + column * column_of_c;
}

}  // namespace tsr_gpu

#endif
