/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Cholesky factor of a small block in one launch. The vendor's solver takes some fifty kernels
 * for a block of 512 columns, each of which waits for a free multiprocessor when a product runs
 * beside them; and its time is what a factorisation of a few thousand columns waits for.
 *
 * Eight neighbouring thread blocks (a cluster) have the lower triangle L in their shared memory; an
 * upper one is read and written as its conjugate transpose. The triangle is cut into square tiles,
 * whose rows go to the blocks in turn. Step k finishes the column k of tiles, left-looking:
 *
 *   1. the tile on the diagonal loses its last product, L_k,k-1 L_k,k-1^H;
 *   2. one warp of the block that has it factors it, and writes M = L_kk D^-1 to global memory, D
 *      the diagonal of L_kk; meanwhile the tiles below it lose their last product, and those of the
 *      next column all that are known;
 *   3. the blocks solve the tiles below it, Y M^H = A, X = Y D^-1, a thread for each row, and write
 *      them to global memory, too, from which later products read their right factors.
 *
 * What waits is a chain of 1, 2, 3, 1 ...: the barrier between 2 and 3 is on it, the one behind 3
 * is not. Y is used, and not X, because an element of Y waits for one operation less on the one
 * before it; an element of M in row c is at most sqrt(a_cc / pivot), which overflows for pivots
 * alone that are subnormal. All products are those of fp64 tensor cores, which are exact for the
 * elements of fp32 and as fast as its own.
 */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "engine/gpu/kernel_code.h"
#include "engine/gpu/level3/factor_kernel.h"

namespace tsr_gpu {

namespace groups = cooperative_groups;

const int TILE = 32;  /* rows and columns: the threads of a warp */
const int BLOCKS = 8; /* of a cluster: the most that every GPU with clusters has */
const int WARPS = 8, THREADS = WARPS * TILE;
const int SLICE = 8; /* columns of a tile that a warp updates: a tensor core's result */
const int AHEAD = 4; /* tiles whose right factors a warp loads at once: a second-level cache answers
                        in about 800 cycles, and a tile takes 150 to 600 */

/* ---- Elements ---------------------------------------------------------------- */

/* c - a conj(b) */
__device__ float less(float c, float a, float b) {
  return fmaf(-a, b, c);
}
__device__ double less(double c, double a, double b) {
  return fma(-a, b, c);
}
template <class R>
__device__ pair<R> less(pair<R> c, pair<R> a, pair<R> b) {
  return pair<R>{less(less(c.re, a.re, b.re), a.im, b.im),
                 less(less(c.im, a.im, b.re), -a.re, b.im)};
}

__device__ float times(float a, float r) {
  return a * r;
}
__device__ double times(double a, double r) {
  return a * r;
}
template <class R>
__device__ pair<R> times(pair<R> a, R r) {
  return pair<R>{a.re * r, a.im * r};
}

template <class T>
struct of {
  typedef T part; /* the type of the real part */
  static __device__ T from(T x) {
    return x;
  }
};
template <class R>
struct of<pair<R>> {
  typedef R part;
  static __device__ pair<R> from(R x) {
    return pair<R>{x, R(0)};
  }
};

/* The square root of a pivot, and its reciprocal. */
__device__ void root(float pivot, float *root, float *reciprocal) {
  *root = sqrtf(pivot);
  *reciprocal = 1 / *root;
}
/* The reciprocal is at hand sooner than a quotient by the root; one step of Newton's method makes
 * the root as good. */
__device__ void root(double pivot, double *root, double *reciprocal) {
  double r = rsqrt(pivot), s = pivot * r;
  *root = fma(fma(-s, s, pivot), r / 2, s);
  *reciprocal = r;
}

__device__ float of_place(float x, int place) {
  return __shfl_sync(~0u, x, place);
}
__device__ double of_place(double x, int place) {
  return __shfl_sync(~0u, x, place);
}
template <class R>
__device__ pair<R> of_place(pair<R> x, int place) {
  return pair<R>{of_place(x.re, place), of_place(x.im, place)};
}

/* ---- A block's part ------------------------------------------------------------ */

/* The rows of tiles of a block; tiles of the widest type would not fit twice. */
template <class T>
struct held {
  enum { ROWS = sizeof(T) < 16 ? 2 : 1, MOST = ROWS * BLOCKS };
  /* Tiles of the last block, which has the longest rows. */
  enum { TILES = ROWS * BLOCKS + (ROWS - 1) * ROWS / 2 * BLOCKS };
};

/* A column has 32 bytes more than its elements: a tensor core's left factors, of neighbouring rows
 * and four columns, are then in different banks. */
template <class T>
struct shared_tile {
  T x[TILE][TILE + 32 / sizeof(T)]; /* [column][row] */
};

/* A tile in global memory, or M. */
template <class T>
struct packed_tile {
  T x[TILE][TILE]; /* [column][row] */
};

template <class T>
struct memory {
  shared_tile<T> tiles[held<T>::TILES];
  packed_tile<T> m; /* column by column; its first row is 1 / D */
};

/* The kernel's argument. */
template <class T>
struct factoring {
  int n, tiles; /* tiles: along the diagonal */
  T *c;
  whole ldc;
  packed_tile<T> *finished; /* the tiles of L and, on the diagonal, M, row by row */
  int first;
  int *verdict;
};

template <class T>
struct block {
  const factoring<T> &x;
  memory<T> &own;
  int rank, warp, place;

  /* The number of a row of tiles, and where its tiles begin. */
  __device__ int row(int h) const {
    return rank + h * BLOCKS;
  }
  __device__ int last() const { /* row; negative: it has none */
    return (x.tiles - 1 - rank + BLOCKS) / BLOCKS * BLOCKS - BLOCKS + rank;
  }
  __device__ bool has(int row) const {
    return row % BLOCKS == rank;
  }
  __device__ shared_tile<T> &tile(int h, int column) const {
    return own.tiles[h * (rank + 1) + column];
  }
  __device__ packed_tile<T> &finished(int row, int column) const {
    return x.finished[row * (row + 1) / 2 + column];
  }
};

/* An element of L in the user's matrix. */
template <bool LOWER, class T>
__device__ T &element(const factoring<T> &x, int row, int column) {
  return LOWER ? x.c[row + column * x.ldc] : x.c[column + row * x.ldc];
}
template <bool LOWER, class T>
__device__ T turned(T value) {
  return LOWER ? value : conjugate(value);
}

/* Beyond the matrix L goes on as an identity. The threads are along a column of the user's matrix.
 */
template <bool LOWER, class T>
__device__ T read(const factoring<T> &x, int row, int column) {
  if (row < column) return T{};
  if (row >= x.n) return of<T>::from(row == column ? 1 : 0);
  T value = element<LOWER>(x, row, column);
  return row == column ? real_part(value) : turned<LOWER>(value);
}

/* Reads a row of tiles, some at once so that their loads overlap. */
template <bool LOWER, class T>
__device__ void read_row(const block<T> &b, int h) {
  const int TOGETHER = 8, EACH = TILE / WARPS;
  int row = b.row(h);
  for (int first = 0; first <= row; first += TOGETHER) {
    T value[TOGETHER][EACH];
#pragma unroll
    for (int t = 0; t < TOGETHER; t++)
#pragma unroll
      for (int s = 0; s < EACH; s++) {
        int across = b.warp + s * WARPS, i = LOWER ? b.place : across, j = LOWER ? across : b.place;
        value[t][s] = read<LOWER>(b.x, row * TILE + i, (first + t) * TILE + j);
      }
#pragma unroll
    for (int t = 0; t < TOGETHER; t++)
#pragma unroll
      for (int s = 0; s < EACH; s++) {
        int across = b.warp + s * WARPS, i = LOWER ? b.place : across, j = LOWER ? across : b.place;
        if (first + t <= row) b.tile(h, first + t).x[j][i] = value[t][s];
      }
  }
}

/* Writes a tile to the user's matrix by those warps from `from` on. */
template <bool LOWER, int COLUMN, class T>
__device__ void write(const block<T> &b, const T (&tile)[TILE][COLUMN], int row, int column,
                      int from) {
  for (int across = b.warp - from; across < TILE; across += WARPS - from) {
    int i = LOWER ? b.place : across, j = LOWER ? across : b.place;
    int r = row * TILE + i, c = column * TILE + j;
    if (r < b.x.n && r >= c) element<LOWER>(b.x, r, c) = turned<LOWER>(tile[j][i]);
  }
}

/* ---- Products ------------------------------------------------------------------ */

/* What a warp updates of a column of tiles: rows of a tile in the row h from `first` on, half of
 * them unless it is the whole tile, and SLICE columns from `slice` on. */
struct unit {
  int h, first, slice;
  bool whole_tile;
};

/* A block that has two rows of tiles below `above` updates both, else half a tile by a warp. Its
 * last row is below `above`. */
template <class T>
__device__ unit unit_of(const block<T> &b, int number, int above) {
  int last = held<T>::ROWS - 1, half = number / (WARPS / 2);
  bool first_row = b.row(0) > above, both = last > 0 && first_row && b.row(last) < b.x.tiles;
  int h = both ? half : first_row ? 0 : last;
  return unit{h, both ? 0 : half * (TILE / 2), number % (WARPS / 2) * SLICE, both};
}

/* Of the operands of a tensor core, a product of 16 x 16 and 16 x 8, a thread gives DEEP of each
 * row and column. Smaller instructions have half of the rate. */
const int HIGH = 16, DEEP = 4, STEPS = TILE / HIGH;
const int ACROSS = TILE / 4; /* rows that threads are along; four threads share a row */

__device__ void multiply(double (&c)[4], const double (&a)[2][DEEP], const double (&b)[DEEP]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, "
      "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0][0]), "d"(a[1][0]), "d"(a[0][1]), "d"(a[1][1]), "d"(a[0][2]), "d"(a[1][2]),
        "d"(a[0][3]), "d"(a[1][3]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

template <class T>
struct left_factor {
  T x[2][DEEP];
};
template <class T>
struct right_factor {
  T x[STEPS][DEEP];
};

/* Sums of a conj(b): a thread has two neighbours in a row, and those eight rows below. */
template <class T>
struct sums {
  double re[4] = {0, 0, 0, 0};
  __device__ void add(const left_factor<T> &a, const T (&b)[DEEP]) {
    double left[2][DEEP], right[DEEP];
#pragma unroll
    for (int k = 0; k < DEEP; k++) {
      left[0][k] = a.x[0][k];
      left[1][k] = a.x[1][k];
      right[k] = b[k];
    }
    multiply(re, left, right);
  }
  __device__ T value(int e) const {
    return T(re[e]);
  }
};
template <class R>
struct sums<pair<R>> {
  double re[4] = {0, 0, 0, 0}, im[4] = {0, 0, 0, 0};
  __device__ void add(const left_factor<pair<R>> &a, const pair<R> (&b)[DEEP]) {
    double left[2][DEEP], right_re[DEEP], right_im[DEEP];
#pragma unroll
    for (int k = 0; k < DEEP; k++) {
      left[0][k] = a.x[0][k].re;
      left[1][k] = a.x[1][k].re;
      right_re[k] = b[k].re;
      right_im[k] = -b[k].im;
    }
    multiply(re, left, right_re);
    multiply(im, left, right_im);
#pragma unroll
    for (int k = 0; k < DEEP; k++) {
      left[0][k] = a.x[0][k].im;
      left[1][k] = a.x[1][k].im;
      right_im[k] = b[k].im;
    }
    multiply(re, left, right_im);
    multiply(im, left, right_re);
  }
  __device__ pair<R> value(int e) const {
    return pair<R>{R(re[e]), R(im[e])};
  }
};

template <class T, class tile>
__device__ void load(const block<T> &b, right_factor<T> &to, const tile &from, int slice) {
#pragma unroll
  for (int s = 0; s < STEPS; s++)
#pragma unroll
    for (int k = 0; k < DEEP; k++)
      to.x[s][k] = from.x[s * HIGH + k * 4 + b.place % 4][slice + b.place / 4];
}

template <int GROUPS, class T>
__device__ void add_products(const block<T> &b, unit u, const shared_tile<T> &left,
                             const right_factor<T> &right, sums<T> (&total)[GROUPS]) {
#pragma unroll
  for (int s = 0; s < STEPS; s++)
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
      left_factor<T> part;
#pragma unroll
      for (int k = 0; k < DEEP; k++)
#pragma unroll
        for (int e = 0; e < 2; e++)
          part.x[e][k] =
              left.x[s * HIGH + k * 4 + b.place % 4][u.first + g * HIGH + e * ACROSS + b.place / 4];
      total[g].add(part, right.x[s]);
    }
}

template <int GROUPS, class T>
__device__ void subtract(const block<T> &b, unit u, const sums<T> (&total)[GROUPS],
                         shared_tile<T> &from) {
#pragma unroll
  for (int g = 0; g < GROUPS; g++)
#pragma unroll
    for (int e = 0; e < 4; e++) {
      int row = u.first + g * HIGH + e / 2 * ACROSS + b.place / 4;
      T &x = from.x[u.slice + 2 * (b.place % 4) + e % 2][row];
      x = less(x, total[g].value(e), of<T>::from(1));
    }
}

template <int GROUPS, class T>
__device__ void update(const block<T> &b, unit u, int column, int from, int to) {
  const int TOGETHER = sizeof(T) < 16 ? AHEAD : AHEAD / 2; /* as registers allow */
  sums<T> total[GROUPS];
  right_factor<T> next[TOGETHER];
#pragma unroll
  for (int t = 0; t < TOGETHER; t++)
    if (from + t < to) load(b, next[t], b.finished(column, from + t), u.slice);
  for (int first = from; first < to; first += TOGETHER) {
    right_factor<T> now[TOGETHER];
#pragma unroll
    for (int t = 0; t < TOGETHER; t++) {
      now[t] = next[t];
      int later = first + TOGETHER + t;
      if (later < to) load(b, next[t], b.finished(column, later), u.slice);
    }
#pragma unroll
    for (int t = 0; t < TOGETHER; t++)
      if (first + t < to) add_products(b, u, b.tile(u.h, first + t), now[t], total);
  }
  subtract(b, u, total, b.tile(u.h, column));
}

/* In the rows below `above` the tiles of a column lose the products of the columns [from, to), by
 * the warps from `first` on. */
template <class T>
__device__ void update_column(const block<T> &b, int above, int column, int from, int to,
                              int first) {
  if (column >= b.x.tiles || from >= to || b.last() <= above) return;
  for (int number = b.warp - first; number < WARPS; number += WARPS - first) {
    unit u = unit_of(b, number, above);
    if (u.whole_tile)
      update<TILE / HIGH>(b, u, column, from, to);
    else
      update<TILE / HIGH / 2>(b, u, column, from, to);
  }
}

/* ---- 1: its last product ---------------------------------------------------------- */

/* Both factors are the block's own tile beside it. */
template <class T>
__device__ void update_diagonal(const block<T> &b, int k) {
  const int GROUPS = TILE / HIGH / 2;
  int half = b.warp / (WARPS / 2), h = k / BLOCKS;
  unit u = {h, half * (TILE / 2), b.warp % (WARPS / 2) * SLICE, false};
  const shared_tile<T> &beside = b.tile(h, k - 1);
  right_factor<T> right;
  load(b, right, beside, u.slice);
  sums<T> total[GROUPS];
  add_products(b, u, beside, right, total);
  subtract(b, u, total, b.tile(h, k));
}

/* ---- 2: the tile on the diagonal ------------------------------------------------- */

/* By one warp, of which a thread has a row. */
template <class T>
__device__ void factor_diagonal(const block<T> &b, int k) {
  typedef typename of<T>::part part;
  shared_tile<T> &tile = b.tile(k / BLOCKS, k);
  packed_tile<T> &m = b.finished(k, k);
  T a[TILE];
  int wrong = TILE;
#pragma unroll
  for (int j = 0; j < TILE; j++) a[j] = tile.x[j][b.place];
  part pivot = of_place(real_of(a[0]), 0), reciprocals = 0;
#pragma unroll
  for (int j = 0; j < TILE; j++) {
    part diagonal, reciprocal;
    if (!(pivot > 0) && wrong == TILE) wrong = j;
    root(pivot, &diagonal, &reciprocal);
    T l = b.place < j ? T{} : b.place == j ? of<T>::from(diagonal) : times(a[j], reciprocal);
    /* The next pivot does not wait for what the threads exchange. */
    if (j + 1 < TILE) pivot = of_place(real_of(less(a[j + 1], l, l)), j + 1);
    tile.x[j][b.place] = l;
    m.x[j][b.place] = times(l, reciprocal);
    if (b.place == j) reciprocals = reciprocal;
    __syncwarp();
    T of_column[TILE];
#pragma unroll
    for (int c = j + 1; c < TILE; c++) of_column[c] = tile.x[j][c];
#pragma unroll
    for (int c = j + 1; c < TILE; c++) a[c] = less(a[c], l, of_column[c]);
  }
  m.x[b.place][0] = of<T>::from(reciprocals);
  if (b.place == 0 && wrong < TILE && b.x.verdict != nullptr && *b.x.verdict == 0)
    *b.x.verdict = b.x.first + k * TILE + wrong + 1;
}

/* ---- 3: the tiles below it -------------------------------------------------------- */

/* The upper triangle of M is free: its first row has the reciprocals of D. */
template <class T>
__device__ void fetch(const block<T> &b, int k) {
  const int EACH = TILE * TILE / THREADS;
  const T *from = &b.finished(k, k).x[0][0];
  T value[EACH], *to = &b.own.m.x[0][0];
#pragma unroll
  for (int s = 0; s < EACH; s++) value[s] = from[threadIdx.x + s * THREADS];
#pragma unroll
  for (int s = 0; s < EACH; s++) to[threadIdx.x + s * THREADS] = value[s];
}

/* A thread has a row of the tile. */
template <class T>
__device__ void solve(const block<T> &b, int h, int k) {
  shared_tile<T> &tile = b.tile(h, k);
  packed_tile<T> &finished = b.finished(b.row(h), k);
  T a[TILE];
#pragma unroll
  for (int j = 0; j < TILE; j++) a[j] = tile.x[j][b.place];
#pragma unroll
  for (int j = 0; j < TILE; j++)
#pragma unroll
    for (int c = j + 1; c < TILE; c++) a[c] = less(a[c], a[j], b.own.m.x[j][c]);
#pragma unroll
  for (int j = 0; j < TILE; j++)
    tile.x[j][b.place] = finished.x[j][b.place] = times(a[j], real_of(b.own.m.x[j][0]));
}

template <bool LOWER, class T>
__device__ void write_column(const block<T> &b, int column, int from) {
  for (int h = 0; h < held<T>::ROWS; h++)
    if (b.row(h) > column && b.row(h) < b.x.tiles)
      write<LOWER>(b, b.tile(h, column).x, b.row(h), column, from);
}

template <bool LOWER, class T>
__device__ void finish_column(const block<T> &b, int k) {
  const int SOLVING = held<T>::ROWS; /* warps */
  if (b.warp < SOLVING) {
    if (b.row(b.warp) > k && b.row(b.warp) < b.x.tiles) solve(b, b.warp, k);
    return;
  }
  if (b.has(k)) write<LOWER>(b, b.tile(k / BLOCKS, k).x, k, k, SOLVING);
  if (k > 0) write_column<LOWER>(b, k - 1, SOLVING);
}

/* ---- The whole ------------------------------------------------------------------ */

template <class T, bool LOWER>
__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(THREADS)
    factor_kernel(factoring<T> x) {
  extern __shared__ __align__(16) char bytes[];
  groups::cluster_group cluster = groups::this_cluster();
  block<T> b = {x, *reinterpret_cast<memory<T> *>(bytes), (int)cluster.block_rank(),
                (int)threadIdx.x / TILE, (int)threadIdx.x % TILE};
  for (int h = 0; h < held<T>::ROWS; h++)
    if (b.row(h) < x.tiles) read_row<LOWER>(b, h);
  cluster.barrier_arrive();
  for (int k = 0; k < x.tiles; k++) {
    bool factors = b.has(k) && b.warp == 0;
    __syncthreads();
    if (b.has(k) && k > 0) update_diagonal(b, k);
    __syncthreads();
    if (factors) factor_diagonal(b, k);
    cluster.barrier_wait(); /* for the tiles of column k - 1 */
    if (!factors) {
      if (k > 0) update_column(b, k, k, k - 1, k, b.has(k));
      update_column(b, k, k + 1, 0, k, b.has(k));
    }
    cluster.sync(); /* for M */
    fetch(b, k);
    __syncthreads();
    finish_column<LOWER>(b, k);
    cluster.barrier_arrive();
  }
  cluster.barrier_wait();
}

template <class T, bool LOWER>
int launch(const tsr_gpu_factor &args, cudaStream_t stream) {
  int n = (int)args.n;
  factoring<T> x = {n,           (n + TILE - 1) / TILE,       (T *)args.c,
                    args.ldc,    (packed_tile<T> *)args.room, args.first,
                    args.verdict};
  int bytes = (int)sizeof(memory<T>);
  cudaError_t error = cudaFuncSetAttribute(factor_kernel<T, LOWER>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  factor_kernel<T, LOWER><<<BLOCKS, THREADS, bytes, stream>>>(x);
  return cudaGetLastError();
}

template <class T>
int launch(const tsr_gpu_factor &args, cudaStream_t stream) {
  return args.uplo == 'L' ? launch<T, true>(args, stream) : launch<T, false>(args, stream);
}

static_assert(held<double>::MOST * TILE == TSR_GPU_FACTOR_MOST &&
                  held<pair<double>>::MOST * TILE == TSR_GPU_FACTOR_MOST / 2,
              "factor_kernel.h says otherwise");
static_assert(held<double>::MOST * (held<double>::MOST + 1) / 2 * sizeof(packed_tile<double>) <=
                  TSR_GPU_FACTOR_ROOM,
              "too little room");

}  // namespace tsr_gpu

/* The code is for that capability alone. */
extern "C" int tsr_gpu_has_factor(int device) {
  int major = 0, minor = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return major == 9 && minor == 0;
}

extern "C" int tsr_gpu_factor_launch(const tsr_gpu_factor *args, void *stream) {
  using namespace tsr_gpu;
  cudaStream_t on = (cudaStream_t)stream;
  switch (args->type) {
    case 's':
      return launch<float>(*args, on);
    case 'd':
      return launch<double>(*args, on);
    case 'c':
      return launch<pair<float>>(*args, on);
    default:
      return launch<pair<double>>(*args, on);
  }
}
