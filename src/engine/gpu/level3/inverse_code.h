/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels that invert a triangle (solve.c): one inverts the blocks on its diagonal, another
 * joins pairs of inverted blocks. Their time is nearly all latency, so each does in one launch what
 * would be several products.
 */
#ifndef TSR_ENGINE_GPU_LEVEL3_INVERSE_CODE_H
#define TSR_ENGINE_GPU_LEVEL3_INVERSE_CODE_H

#include "engine/gpu/kernel_code.h"
#include "engine/gpu/level3/inverted.h"

namespace tsr_gpu {

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

/* A diagonal block of order TSR_GPU_INVERTED is cut into squares of order LEAF. The squares of the
 * lower triangle are in shared memory, row by row of squares, with one more element in each column
 * so that threads along a row of elements use different banks. */
enum {
  LEAF = 16,
  LEAVES = TSR_GPU_INVERTED / LEAF, /* along the diagonal */
  SQUARES = LEAVES * (LEAVES + 1) / 2,
  INVERT_THREADS = LEAF * LEAF
};

template <class T>
struct leaf {
  T x[LEAF][LEAF + 1]; /* [column][row] */
};

__device__ constexpr int square(int row, int column) {
  return row * (row + 1) / 2 + column;
}

/* A diagonal block of a triangle. An upper one is treated as a lower one whose rows and columns are
 * counted from the end. */
struct diagonal {
  bool lower;
  whole first;
  int order;

  __device__ whole at(int i, int j, whole ld) const {
    whole row = first + (lower ? i : order - 1 - i), column = first + (lower ? j : order - 1 - j);
    return row + column * ld;
  }
};

/* Reads the lower triangle of a block, with the reciprocals of the diagonal. A block of a smaller
 * order goes on as an identity. */
template <class T>
__device__ void read_diagonal(diagonal block, bool unit, const T *a, whole lda, leaf<T> *squares) {
  const int N = TSR_GPU_INVERTED, AT_ONCE = INVERT_THREADS / N;
  int i = threadIdx.x % N;
#pragma unroll
  for (int s = 0; s < N / AT_ONCE; s++) {
    int j = threadIdx.x / N + s * AT_ONCE;
    if (i < j) continue;
    T value = i == j ? unity<T>::value() : T{};
    if (i < block.order && (i > j || !unit)) value = a[block.at(i, j, lda)];
    squares[square(i / LEAF, j / LEAF)].x[j % LEAF][i % LEAF] = i == j ? reciprocal(value) : value;
  }
}

/* Inverts the squares on the diagonal: each of the first threads solves for a column of the
 * inverse by elimination. */
template <class T>
__device__ void invert_leaves(leaf<T> *squares) {
  int p = threadIdx.x / LEAF, j = threadIdx.x % LEAF;
  bool mine = p < LEAVES;
  leaf<T> &l = squares[mine ? square(p, p) : 0];
  T column[LEAF];
#pragma unroll
  for (int i = 0; i < LEAF; i++) column[i] = i == j ? unity<T>::value() : T{};
#pragma unroll
  for (int k = 0; k < LEAF; k++) {
    if (!mine || k < j) continue;
    column[k] = product(l.x[k][k], column[k]);
#pragma unroll
    for (int i = k + 1; i < LEAF; i++)
      column[i] = sum(column[i], product(negated(l.x[k][i]), column[k]));
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < LEAF; i++)
    if (mine) l.x[j][i] = column[i];
  __syncthreads();
}

/* Joins all pairs of neighbouring inverted blocks of M squares along the diagonal: the block A21
 * below the first one becomes -inv(A22) (A21 inv(A11)). Each thread has the same element of every
 * square of A21. */
template <int M, class T>
__device__ void join_leaves(leaf<T> *squares) {
  const int PAIRS = LEAVES / (2 * M);
  int i = threadIdx.x % LEAF, j = threadIdx.x / LEAF;
#pragma unroll
  for (int step = 0; step < 2; step++) {
    T total[PAIRS][M][M] = {};
#pragma unroll
    for (int e = 0; e < PAIRS * M; e++) {
      int pair = e / M, r = e % M, one = 2 * M * pair, two = one + M;
#pragma unroll 4
      for (int k = 0; k < LEAF; k++) {
        T left[M], right[M];
#pragma unroll
        for (int p = 0; p < M; p++)
          left[p] = step == 0 ? squares[square(two + p, one + r)].x[k][i]
                    : p >= r  ? squares[square(two + p, two + r)].x[k][i]
                              : T{};
#pragma unroll
        for (int q = 0; q < M; q++)
          right[q] = step == 1 ? squares[square(two + r, one + q)].x[j][k]
                     : q <= r  ? squares[square(one + r, one + q)].x[j][k]
                               : T{};
#pragma unroll
        for (int p = 0; p < M; p++)
#pragma unroll
          for (int q = 0; q < M; q++)
            if (step == 0 ? q <= r : p >= r)
              total[pair][p][q] = sum(total[pair][p][q], product(left[p], right[q]));
      }
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < PAIRS * M * M; e++) {
      int pair = e / (M * M), p = e / M % M, q = e % M, one = 2 * M * pair, two = one + M;
      T value = total[pair][p][q];
      squares[square(two + p, one + q)].x[j][i] = step == 0 ? value : negated(value);
    }
    __syncthreads();
  }
}

/* Writes a block: `squares`, of which NULL are zeros, and zeros in the other triangle. */
template <class T>
__device__ void write_diagonal(diagonal block, const leaf<T> *squares, T *inverse, whole ld) {
  const int N = TSR_GPU_INVERTED, AT_ONCE = INVERT_THREADS / N;
  int i = threadIdx.x % N;
#pragma unroll
  for (int s = 0; s < N / AT_ONCE; s++) {
    int j = threadIdx.x / N + s * AT_ONCE;
    if (i >= block.order || j >= block.order) continue;
    T value = T{};
    if (i >= j) value = squares[square(i / LEAF, j / LEAF)].x[j % LEAF][i % LEAF];
    inverse[block.at(i, j, ld)] = value;
  }
}

/* Writes zeros to a block of `inverse`, which begins at `row` and `column`. */
template <class T>
__device__ void clear_block(whole n, whole row, whole column, T *inverse, whole ld) {
  const int N = TSR_GPU_INVERTED;
  whole i = row + threadIdx.x % N;
  for (whole j = column + threadIdx.x / N; j < column + N; j += INVERT_THREADS / N)
    if (i < n && j < n) inverse[i + j * ld] = T{};
}

/* The thread blocks are a square. Each of those on its diagonal inverts a diagonal block: first the
 * leaves, then pairs of blocks are joined. Thread blocks in the other triangle write zeros. */
template <class T>
__global__ void __launch_bounds__(INVERT_THREADS)
    invert_kernel(bool lower, bool unit, whole n, const T *a, whole lda, T *inverse, whole ld) {
  const int N = TSR_GPU_INVERTED;
  __shared__ leaf<T> squares[SQUARES];
  whole row = (whole)blockIdx.x * N, column = (whole)blockIdx.y * N;
  if (row != column) {
    if (lower ? row < column : row > column) clear_block(n, row, column, inverse, ld);
    return;
  }
  diagonal block = {lower, row, n - row < N ? (int)(n - row) : N};
  read_diagonal(block, unit, a, lda, squares);
  __syncthreads();
  invert_leaves(squares);
  join_leaves<1>(squares);
  join_leaves<2>(squares);
  write_diagonal(block, squares, inverse, ld);
}

/* ---- Pairs of inverted blocks ---------------------------------------------- */

/*
 * Two neighbouring inverted blocks, the first of order HALF, are joined: the block of the inverse
 * beside them becomes -P (A Q), where A is the block of the triangle there, P the inverted block in
 * its rows and Q the one in its columns. A thread block computes a stripe of its columns.
 *
 * The left factor of a product, A or P, is read from memory once: each warp has every eighth of its
 * columns, and each thread some of their rows. The right factor, Q or A Q, is in shared memory. In
 * the end the sums of all warps are added.
 */
enum {
  WARP_THREADS = 32,
  JOIN_WARPS = 8,
  JOIN_THREADS = WARP_THREADS * JOIN_WARPS,
  TOGETHER = WARP_THREADS / JOIN_WARPS /* of WARP_THREADS columns, those of a thread */
};

template <class T, int HALF, bool LOWER>
struct joining {
  enum {
    /* The columns of a stripe. The narrower it is, the more thread blocks there are; the wider, the
     * more products each value of a left factor serves. */
    WIDTH = sizeof(T) < 16 ? 4 : 2,
    ROWS = HALF / WARP_THREADS, /* of a thread */
    ALL = HALF / JOIN_WARPS,    /* columns of a thread */
    /* A thread loads a chunk of its columns while it multiplies the chunk before; two chunks are to
     * fit in half of the 255 registers that a thread can have. */
    MOST = (sizeof(T) < 16 ? 32 : 16) / ROWS,
    STEPS = ALL < MOST ? ALL : MOST,
    CHUNKS = ALL / STEPS
  };

  struct chunk {
    T x[STEPS][ROWS];
  };
  typedef T sums[ROWS][WIDTH];
  typedef pack<T, WIDTH> line; /* a row of a right factor */
  typedef T parts[JOIN_WARPS][WIDTH][HALF];

  /* Whether elements are other than zero: in block row r and block column k, of WARP_THREADS, of P,
   * or in block row k of the stripe of Q. */
  static __device__ bool of_p(int r, int k) {
    return LOWER ? r >= k : r <= k;
  }
  static __device__ bool of_q(int k, int stripe) {
    return LOWER ? (k + 1) * WARP_THREADS > stripe : k * WARP_THREADS < stripe + WIDTH;
  }

  /* IS_P: the left factor is P, else A. */
  template <bool IS_P>
  static __device__ void load(chunk &to, int c, const T *left, whole ld, int rows, int columns,
                              int stripe) {
    int place = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS;
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      int step = c * STEPS + s, column = warp + step * JOIN_WARPS;
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        int row = place + r * WARP_THREADS;
        bool used = row < rows && column < columns &&
                    (IS_P ? of_p(r, step / TOGETHER) : of_q(step / TOGETHER, stripe));
        to.x[s][r] = used ? left[row + column * ld] : T{};
      }
    }
  }

  template <bool IS_P>
  static __device__ void multiply(sums &total, const chunk &from, int c, const line *right,
                                  int stripe) {
    int warp = threadIdx.x / WARP_THREADS;
#pragma unroll
    for (int t = 0; t < STEPS; t += TOGETHER) {
      int k = (c * STEPS + t) / TOGETHER;
      if (!IS_P && !of_q(k, stripe)) continue;
#pragma unroll
      for (int s = t; s < t + TOGETHER; s++) {
        line factor = right[warp + (c * STEPS + s) * JOIN_WARPS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
          for (int w = 0; w < WIDTH; w++)
            if (!IS_P || of_p(r, k))
              total[r][w] = sum(total[r][w], product(from.x[s][r], factor.x[w]));
      }
    }
  }

  static __device__ void clear(sums &total) {
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int w = 0; w < WIDTH; w++) total[r][w] = T{};
  }

  static __device__ void share(const sums &total, parts &to) {
    int place = threadIdx.x % WARP_THREADS, warp = threadIdx.x / WARP_THREADS;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int w = 0; w < WIDTH; w++) to[warp][w][place + r * WARP_THREADS] = total[r][w];
  }

  static __device__ T total_of(const parts &from, int row, int w) {
    T total = from[0][w][row];
#pragma unroll
    for (int warp = 1; warp < JOIN_WARPS; warp++) total = sum(total, from[warp][w][row]);
    return total;
  }
};

/* Joins pair blockIdx.y; its second block may be smaller. */
template <class T, int HALF, bool LOWER>
__global__ void __launch_bounds__(JOIN_THREADS)
    join_kernel(whole n, const T *a, whole lda, T *inverse, whole ld) {
  typedef joining<T, HALF, LOWER> by;
  const int WIDTH = by::WIDTH, CHUNKS = by::CHUNKS;
  __shared__ typename by::line right[HALF];
  __shared__ typename by::parts parts;
  whole first = (whole)blockIdx.y * 2 * HALF, second = first + HALF;
  int rest = n - second < HALF ? (int)(n - second) : HALF;
  int rows = LOWER ? rest : HALF, columns = LOWER ? HALF : rest, stripe = (int)blockIdx.x * WIDTH;
  if (stripe >= columns) return;
  whole row = LOWER ? second : first, column = LOWER ? first : second;
  const T *p = inverse + row + row * ld, *q = inverse + column + (column + stripe) * ld;
  T *result = inverse + row + (column + stripe) * ld;
  a += row + column * lda;

  typename by::chunk now, next;
  by::template load<false>(now, 0, a, lda, rows, columns, stripe);
  for (int e = threadIdx.x; e < HALF * WIDTH; e += JOIN_THREADS) {
    int k = e % HALF, w = e / HALF;
    right[k].x[w] = k < columns && stripe + w < columns ? q[k + w * ld] : T{};
  }
  __syncthreads();
  typename by::sums total;
  by::clear(total);
#pragma unroll
  for (int c = 0; c < CHUNKS; c++) {
    if (c + 1 < CHUNKS)
      by::template load<false>(next, c + 1, a, lda, rows, columns, stripe);
    else
      by::template load<true>(next, 0, p, ld, rows, rows, stripe);
    by::template multiply<false>(total, now, c, right, stripe);
    now = next;
  }
  by::share(total, parts);
  __syncthreads();
  for (int e = threadIdx.x; e < HALF * WIDTH; e += JOIN_THREADS)
    right[e % HALF].x[e / HALF] = by::total_of(parts, e % HALF, e / HALF);
  __syncthreads();
  by::clear(total);
#pragma unroll
  for (int c = 0; c < CHUNKS; c++) {
    if (c + 1 < CHUNKS) by::template load<true>(next, c + 1, p, ld, rows, rows, stripe);
    by::template multiply<true>(total, now, c, right, stripe);
    now = next;
  }
  by::share(total, parts);
  __syncthreads();
  for (int e = threadIdx.x; e < HALF * WIDTH; e += JOIN_THREADS) {
    int i = e % HALF, w = e / HALF;
    if (i < rows && stripe + w < columns) result[i + w * ld] = negated(by::total_of(parts, i, w));
  }
}

}  // namespace tsr_gpu

#endif
