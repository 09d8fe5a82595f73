/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels on residues. They are bound by memory. Their arithmetic is that of base/residues.h,
 * compiled without contraction; sums over a line are of integers, so that the order in which
 * threads add does not matter.
 */
#define TSR_RESIDUES_INLINE static __host__ __device__ inline

#include "kernel_names.h" /* of the vendor's folder, which the build names */

#include "base/residues.h"
#include "engine/gpu/residue_kernels.h"

namespace tsr_gpu {

const int WARP = 32; /* threads that read neighbouring elements */

/* ---- Residues by bytes -------------------------------------------------------- */

/* What reduces integers modulo p without divisions: an integer is the sum of its bytes times
 * factor, powers of 256 modulo p, whose bytes are packed; minus: what a negative one adds, since
 * its bytes stand for 2^64 more. inverse: 2^32 / p, rounded up. */
struct divisor {
  unsigned low, high, minus, inverse;
  int p;
};

struct divisors {
  int count;
  divisor of[TSR_MODULI_MOST];
};

divisors divisors_of(const tsr_moduli *moduli) {
  divisors d;
  d.count = moduli->count;
  for (int l = 0; l < d.count; l++) {
    unsigned p = (unsigned)moduli->modulus[l], power = 1 % p, packed[2] = {0, 0};
    for (int byte = 0; byte < 8; byte++) {
      packed[byte / 4] |= power << (8 * (byte % 4));
      power = power * 256 % p;
    }
    d.of[l] = divisor{packed[0], packed[1], (p - power) % p,
                      (unsigned)(((uint64_t)1 << 32) / p + (((uint64_t)1 << 32) % p != 0)), (int)p};
  }
  return d;
}

/* The sum of the products of the bytes of a and b, and c. */
__device__ unsigned dot_bytes(unsigned a, unsigned b, unsigned c) {
#ifdef __CUDA_ARCH__
  return __dp4a(a, b, c);
#else
  for (int byte = 0; byte < 32; byte += 8) c += (a >> byte & 255) * (b >> byte & 255);
  return c;
#endif
}

/* The residue of least magnitude of u < 2^20: the product with the inverse, which is too large by
 * less than u / 2^32, has the right whole part. */
__device__ int centred(unsigned u, const divisor &d) {
  int r = (int)(u - __umulhi(u, d.inverse) * (unsigned)d.p);
  return r >= (d.p + 1) / 2 ? r - d.p : r;
}

/* tsr_residue of 64 bits. */
__device__ int residue_of(int64_t x, const divisor &d) {
  unsigned u = dot_bytes((unsigned)x, d.low, x < 0 ? d.minus : 0);
  return centred(dot_bytes((unsigned)(x >> 32), d.high, u), d);
}

/* ---- Measuring lines ------------------------------------------------------------ */

/* While a line is measured, its record holds the sums, and the first bytes of its first plane the
 * bits of its greatest magnitude, which as integers have the order of the magnitudes; NaN comes
 * last. */
struct measured {
  unsigned long long *most;
  tsr_line_sums *sums;
  tsr_line *record;
};

__device__ measured measured_of(const tsr_gpu_residues &x, int planes, int64_t line) {
  char *block = (char *)x.block;
  measured m;
  m.most = (unsigned long long *)(block + (x.first + line) * x.ld);
  m.record = (tsr_line *)(block + tsr_residues_records(x.ld, x.lines, planes)) + x.first + line;
  m.sums = (tsr_line_sums *)m.record;
  return m;
}

__global__ void start_kernel(tsr_gpu_residues x, int planes) {
  int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= x.n) return;
  measured m = measured_of(x, planes, line);
  *m.most = 0;
  memset(m.sums, 0, sizeof *m.sums);
}

/* The magnitude of a part of an element (0: the real one); T is the type of its PARTS numbers. */
template <class T, int PARTS>
__device__ double magnitude(const tsr_gpu_residues &x, int64_t line, int64_t h, int part) {
  int64_t at = x.turned ? line + h * x.lda : h + line * x.lda;
  return fabs((double)((const T *)x.a)[at * PARTS + part]);
}

/* The lines and elements of a thread: threads x are along the direction in which elements are
 * neighbours. A block has WARP x ROWS threads. */
const int ROWS = 8;

struct part {
  int64_t line, lines, from, step;
};

__device__ part part_of(const tsr_gpu_residues &x) {
  part p;
  if (x.turned) {
    p.line = (int64_t)blockIdx.x * WARP + threadIdx.x;
    p.from = (int64_t)blockIdx.y * ROWS + threadIdx.y;
    p.step = (int64_t)gridDim.y * ROWS;
  } else {
    p.line = (int64_t)blockIdx.x * ROWS + threadIdx.y;
    p.from = (int64_t)blockIdx.y * WARP + threadIdx.x;
    p.step = (int64_t)gridDim.y * WARP;
  }
  return p;
}

/* The threads of a block that share a line: those of a column of threads if turned, else of a row.
 * The first of them adds what they have found, so that few additions are atomic. */
__device__ bool is_first(const tsr_gpu_residues &x) {
  return x.turned ? threadIdx.y == 0 : threadIdx.x == 0;
}

template <class V>
__device__ const V &found_by(const tsr_gpu_residues &x, const V found[ROWS][WARP], int sharer) {
  return x.turned ? found[sharer][threadIdx.x] : found[threadIdx.y][sharer];
}

template <class T, int PARTS>
__global__ void most_kernel(tsr_gpu_residues x, int planes) {
  __shared__ double found[ROWS][WARP];
  part p = part_of(x);
  bool inside = p.line < x.n;
  double most = 0;
  for (int64_t h = p.from; inside && h < x.k; h += p.step)
    for (int part = 0; part < PARTS; part++)
      most = tsr_greater(most, magnitude<T, PARTS>(x, p.line, h, part));
  found[threadIdx.y][threadIdx.x] = most;
  __syncthreads();
  if (!inside || !is_first(x)) return;
  for (int sharer = 1; sharer < (x.turned ? ROWS : WARP); sharer++)
    most = tsr_greater(most, found_by(x, found, sharer));
  unsigned long long bits;
  memcpy(&bits, &most, sizeof bits);
  if (bits != 0) atomicMax(measured_of(x, planes, p.line).most, bits);
}

__device__ double most_of(const measured &m) {
  double most;
  memcpy(&most, m.most, sizeof most);
  return most;
}

__device__ void add_sums(tsr_line_sums *to, const tsr_line_sums &more) {
  to->units += more.units;
  to->squares += more.squares;
  for (int t = 0; t < 12; t++) to->at_least[t] += more.at_least[t];
}

__device__ void add_atomically(tsr_line_sums *to, const tsr_line_sums &more) {
  if (more.units == 0) return;
  atomicAdd((unsigned long long *)&to->units, (unsigned long long)more.units);
  atomicAdd((unsigned long long *)&to->squares, (unsigned long long)more.squares);
  for (int t = 0; t < 12; t++)
    if (more.at_least[t] > 0) atomicAdd(&to->at_least[t], more.at_least[t]);
}

template <class T, int PARTS>
__global__ void sums_kernel(tsr_gpu_residues x, int planes) {
  __shared__ tsr_line_sums found[ROWS][WARP];
  part p = part_of(x);
  bool inside = p.line < x.n;
  double most = inside ? most_of(measured_of(x, planes, p.line)) : 0;
  bool counts = most > 0 && most < INFINITY;
  int top = counts ? tsr_top_of(most) : 0;
  tsr_line_sums sums;
  memset(&sums, 0, sizeof sums);
  for (int64_t h = p.from; counts && h < x.k; h += p.step)
    tsr_line_add(&sums, magnitude<T, PARTS>(x, p.line, h, 0),
                 PARTS == 2 ? magnitude<T, PARTS>(x, p.line, h, PARTS - 1) : 0, top);
  found[threadIdx.y][threadIdx.x] = sums;
  __syncthreads();
  if (!counts || !is_first(x)) return;
  for (int sharer = 1; sharer < (x.turned ? ROWS : WARP); sharer++)
    add_sums(&sums, found_by(x, found, sharer));
  add_atomically(measured_of(x, planes, p.line).sums, sums);
}

__global__ void record_kernel(tsr_gpu_residues x, int planes, int parts, double root) {
  int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= x.n) return;
  measured m = measured_of(x, planes, line);
  tsr_line_sums sums = *m.sums;
  *m.record = tsr_line_of(&sums, most_of(m), x.k * parts, root);
}

/* ---- Converting ------------------------------------------------------------------ */

/* A block converts LINES lines of some elements by way of shared memory, so that it reads
 * neighbours along the columns of a, and writes neighbours along k. */
const int LINES = 32, CONVERTERS = 256;

/* The elements of a line that a block converts at a time; the tile of a complex type is as large.
 */
template <int PARTS>
struct deep {
  static const int value = 128 / PARTS;
};

template <class T, int PARTS>
struct tile {
  T part[PARTS][LINES][deep<PARTS>::value + 1];
};

template <class T, int PARTS>
__device__ void load_tile(const tsr_gpu_residues &x, int64_t h0, tile<T, PARTS> &to) {
  constexpr int DEEP = deep<PARTS>::value;
  int64_t line0 = (int64_t)blockIdx.x * LINES;
  for (int e = threadIdx.x; e < LINES * DEEP; e += CONVERTERS) {
    int i = x.turned ? e % LINES : e / DEEP, h = x.turned ? e / LINES : e % DEEP;
    bool inside = line0 + i < x.n && h0 + h < x.k;
    int64_t at = x.turned ? line0 + i + (h0 + h) * x.lda : h0 + h + (line0 + i) * x.lda;
    for (int part = 0; part < PARTS; part++) {
      T value = inside ? ((const T *)x.a)[at * PARTS + part] : (T)0;
      to.part[part][i][h] = part == 1 && x.conjugated ? -value : value;
    }
  }
}

/* Four neighbouring residues, packed. */
__device__ unsigned packed(const int *r) {
  unsigned all = 0;
  for (int j = 0; j < 4; j++) all |= (unsigned)(r[j] & 255) << (8 * j);
  return all;
}

/* r += more, modulo p: the sum of two residues of least magnitude becomes one. */
__device__ int sum_of(int r, int more, const divisor &d) {
  int sum = r + more;
  if (sum >= (d.p + 1) / 2) sum -= d.p;
  return sum < -(d.p / 2) ? sum + d.p : sum;
}

/* Writes the residues of four neighbours to each plane; `plane` bytes lie between two of these. */
template <int PARTS>
__device__ void store_four(const divisors &d, const int64_t whole[PARTS][4], char *to,
                           int64_t plane) {
  for (int l = 0; l < d.count; l++) {
    int r[PARTS][4];
    for (int part = 0; part < PARTS; part++) {
      for (int j = 0; j < 4; j++) r[part][j] = residue_of(whole[part][j], d.of[l]);
      *(unsigned *)(to + (part * d.count + l) * plane) = packed(r[part]);
    }
    if constexpr (PARTS == 2) {
      for (int j = 0; j < 4; j++) r[0][j] = sum_of(r[0][j], r[1][j], d.of[l]);
      *(unsigned *)(to + (2 * d.count + l) * plane) = packed(r[0]);
    }
  }
}

template <class T, int PARTS>
__device__ void store_tile(const tsr_gpu_residues &x, const divisors &d, int planes, int64_t h0,
                           const tile<T, PARTS> &from) {
  constexpr int DEEP = deep<PARTS>::value;
  int64_t line0 = (int64_t)blockIdx.x * LINES;
  char *block = (char *)x.block;
  const tsr_line *records =
      (const tsr_line *)(block + tsr_residues_records(x.ld, x.lines, planes)) + x.first;
  for (int e = threadIdx.x; e < LINES * DEEP / 4; e += CONVERTERS) {
    int i = e / (DEEP / 4), h = e % (DEEP / 4) * 4;
    int64_t line = line0 + i;
    if (line >= x.n || h0 + h >= x.ld) continue;
    int exponent = records[line].exponent;
    bool finite = exponent != TSR_LINE_NOT_FINITE;
    int64_t whole[PARTS][4];
    for (int part = 0; part < PARTS; part++)
      for (int j = 0; j < 4; j++)
        whole[part][j] = finite ? tsr_integer_of((double)from.part[part][i][h + j], exponent) : 0;
    store_four<PARTS>(d, whole, block + (x.first + line) * x.ld + h0 + h, x.lines * x.ld);
  }
}

template <class T, int PARTS>
__global__ void convert_kernel(tsr_gpu_residues x, divisors d, int planes) {
  __shared__ tile<T, PARTS> elements;
  constexpr int DEEP = deep<PARTS>::value;
  for (int64_t h0 = (int64_t)blockIdx.y * DEEP; h0 < x.ld; h0 += (int64_t)gridDim.y * DEEP) {
    __syncthreads(); /* the tile's former elements have been used */
    load_tile<T, PARTS>(x, h0, elements);
    __syncthreads();
    store_tile<T, PARTS>(x, d, planes, h0, elements);
  }
}

/* Blocks of the grid along k, so that there are enough for a device and few atomic additions. */
unsigned parts_of(int64_t k, int64_t blocks, int step) {
  int64_t most = (k + 16 * step - 1) / (16 * step), wanted = 4096 / blocks + 1;
  return (unsigned)(wanted < most ? wanted : most);
}

template <class T, int PARTS>
void launch_residues(const tsr_gpu_residues &x, const tsr_moduli *moduli, gpuStream stream) {
  int planes = PARTS == 2 ? 3 * moduli->count : moduli->count;
  int wide = x.turned ? WARP : ROWS, step = x.turned ? ROWS : WARP;
  unsigned lines = (unsigned)((x.n + 255) / 256), blocks = (unsigned)((x.n + wide - 1) / wide);
  dim3 grid(blocks, parts_of(x.k, blocks, step)), threads(WARP, ROWS);
  int64_t deeps =
      (x.ld + deep<PARTS>::value - 1) / deep<PARTS>::value; /* up to 65535 blocks along y */
  dim3 tiles((unsigned)((x.n + LINES - 1) / LINES), (unsigned)(deeps < 65535 ? deeps : 65535));
  start_kernel<<<lines, 256, 0, stream>>>(x, planes);
  most_kernel<T, PARTS><<<grid, threads, 0, stream>>>(x, planes);
  sums_kernel<T, PARTS><<<grid, threads, 0, stream>>>(x, planes);
  record_kernel<<<lines, 256, 0, stream>>>(x, planes, PARTS, moduli->root);
  convert_kernel<T, PARTS><<<tiles, CONVERTERS, 0, stream>>>(x, divisors_of(moduli), planes);
}

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

/* What holds for all lines, in worst[0]; `thread` is one of JUDGES. */
__device__ void find_worst(const tsr_line *lines, int64_t count, int thread, tsr_worst *worst) {
  tsr_worst mine = tsr_worst_start();
  for (int64_t i = thread; i < count; i += JUDGES) tsr_worst_add(&mine, &lines[i]);
  worst[thread] = mine;
  __syncthreads();
  for (int half = JUDGES / 2; half > 0; half /= 2) {
    if (thread < half) join(&worst[thread], &worst[thread + half]);
    __syncthreads();
  }
}

/* One block; half of its threads see to the rows, the others to the columns. */
__global__ void judge_kernel(const tsr_line *rows, int64_t m, const tsr_line *columns, int64_t n,
                             int64_t k, int complex_valued, double tolerance, int *refused,
                             uint8_t *verdict) {
  __shared__ tsr_worst worst[2][JUDGES];
  int side = threadIdx.x / JUDGES;
  find_worst(side == 0 ? rows : columns, side == 0 ? m : n, threadIdx.x % JUDGES, worst[side]);
  if (threadIdx.x > 0) return;
  *refused = !tsr_verdict(&worst[0][0], &worst[1][0], k, complex_valued != 0, tolerance);
  if (*refused && verdict != NULL) *verdict = 1;
}

/* ---- From sums to C ------------------------------------------------------------------ */

/* tsr_residue of 32 bits. */
__device__ int residue_of_sum(int x, const divisor &d) {
  unsigned u = dot_bytes((unsigned)x, d.low, 0);
  /* A negative sum's bytes stand for 2^32 more; 2^32 is factor 4 of the bytes. */
  return centred(x < 0 ? u + (unsigned)d.p - (d.high & 255) : u, d);
}

__global__ void fold_kernel(divisors d, const int32_t *parts, int64_t count, int first,
                            int32_t *sums) {
  int64_t step = (int64_t)gridDim.x * blockDim.x;
  const divisor of = d.of[blockIdx.y % d.count];
  int64_t base = blockIdx.y * count;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    int r = residue_of_sum(parts[base + i], of);
    sums[base + i] = first ? r : sums[base + i] + r;
  }
}

__device__ int dot_signed(int a, int b, int c) {
#ifdef __CUDA_ARCH__
  return __dp4a(a, b, c);
#else
  for (int byte = 0; byte < 32; byte += 8) c += (int)(int8_t)(a >> byte) * (int8_t)(b >> byte);
  return c;
#endif
}

/* A thread computes one sum. */
__global__ void rest_kernel(tsr_gpu_rest x) {
  int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  int64_t i = blockIdx.y, l = blockIdx.z;
  if (j >= x.n) return;
  const int *a = (const int *)(x.a + l * x.plane_a + i * x.ld);
  const int *b = (const int *)(x.b + l * x.plane_b + j * x.ld);
  int sum = 0;
  for (int64_t h = 0; h < x.k / 4; h++) sum = dot_signed(a[h], b[h], sum);
  x.sums[l * x.step + i + j * x.ldc] = sum;
}

/* The residue of element (i, j) of a plane of modulus l. */
__device__ int residue_at(const tsr_gpu_recover &x, const divisors &d, int plane, int l, int64_t i,
                          int64_t j) {
  return residue_of_sum(x.sums[plane * x.step + i + j * x.ld_sums], d.of[l]);
}

template <class T>
__device__ void recover_real(const tsr_gpu_recover &x, const tsr_moduli &moduli, const divisors &d,
                             int64_t i, int64_t j, int power, T *c) {
  tsr_recovery r = tsr_recovery_start();
  for (int l = 0; l < moduli.count; l++)
    tsr_recovery_add(&r, &moduli, l, residue_at(x, d, l, l, i, j));
  double old = x.beta[0] == 0 ? 0 : (double)*c;
  *c = (T)tsr_recovered_update(tsr_recovery_end(&r, &moduli), power, x.alpha[0], x.beta[0], old);
}

template <class T>
__device__ void recover_complex(const tsr_gpu_recover &x, const tsr_moduli &moduli,
                                const divisors &d, int64_t i, int64_t j, int power, T *c) {
  tsr_recovery re = tsr_recovery_start(), im = tsr_recovery_start();
  int count = moduli.count;
  for (int l = 0; l < count; l++) {
    int p = d.of[l].p, reals = residue_at(x, d, l, l, i, j);
    int imaginaries = residue_at(x, d, count + l, l, i, j);
    int sums = residue_at(x, d, 2 * count + l, l, i, j);
    tsr_recovery_add(&re, &moduli, l, tsr_residue(reals - imaginaries, p));
    tsr_recovery_add(&im, &moduli, l, tsr_residue(sums - reals - imaginaries, p));
  }
  tsr_complex alpha = {x.alpha[0], x.alpha[1]}, beta = {x.beta[0], x.beta[1]}, old = {0, 0};
  if (beta.re != 0 || beta.im != 0) old = tsr_complex{(double)c[0], (double)c[1]};
  tsr_complex result = tsr_recovered_complex(
      tsr_recovery_end(&re, &moduli), tsr_recovery_end(&im, &moduli), power, alpha, beta, old);
  c[0] = (T)result.re;
  c[1] = (T)result.im;
}

template <class T, int PARTS>
__global__ void recover_kernel(tsr_gpu_recover x, tsr_moduli moduli, divisors d) {
  int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  int64_t j = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= x.m || j >= x.n) return;
  T *c = (T *)x.c + (i + j * x.ldc) * PARTS;
  if (*x.refused) {
    bool keeps = x.beta[0] != 0 || x.beta[1] != 0;
    for (int part = 0; part < PARTS && !keeps; part++) c[part] = 0;
    return;
  }
  int power = -(x.rows[i].exponent + x.columns[j].exponent);
  if constexpr (PARTS == 2)
    recover_complex<T>(x, moduli, d, i, j, power, c);
  else
    recover_real<T>(x, moduli, d, i, j, power, c);
}

template <class T, int PARTS>
void launch_recover(const tsr_gpu_recover &x, const tsr_moduli *moduli, gpuStream stream) {
  dim3 threads(64, 4);
  dim3 grid((unsigned)((x.m + 63) / 64), (unsigned)((x.n + 3) / 4));
  recover_kernel<T, PARTS><<<grid, threads, 0, stream>>>(x, *moduli, divisors_of(moduli));
}

}  // namespace tsr_gpu

using namespace tsr_gpu;

extern "C" int tsr_gpu_residues_launch(const tsr_gpu_residues *x, const tsr_moduli *moduli,
                                       void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  switch (x->type) {
    case 's':
      launch_residues<float, 1>(*x, moduli, stream);
      break;
    case 'd':
      launch_residues<double, 1>(*x, moduli, stream);
      break;
    case 'c':
      launch_residues<float, 2>(*x, moduli, stream);
      break;
    case 'z':
      launch_residues<double, 2>(*x, moduli, stream);
      break;
    default:
      return gpuErrorInvalidValue;
  }
  return gpuLastError();
}

extern "C" int tsr_gpu_judge_launch(const tsr_line *rows, int64_t m, const tsr_line *columns,
                                    int64_t n, int64_t k, int complex_valued, double tolerance,
                                    int *refused, uint8_t *verdict, void *stream_pointer) {
  judge_kernel<<<1, 2 * JUDGES, 0, (gpuStream)stream_pointer>>>(
      rows, m, columns, n, k, complex_valued, tolerance, refused, verdict);
  return gpuLastError();
}

extern "C" int tsr_gpu_fold_launch(const tsr_moduli *moduli, int planes, const int32_t *parts,
                                   int64_t count, int first, int32_t *sums, void *stream_pointer) {
  int64_t blocks = (count + 1023) / 1024;
  dim3 grid((unsigned)(blocks < 4096 ? blocks : 4096), (unsigned)planes);
  fold_kernel<<<grid, 256, 0, (gpuStream)stream_pointer>>>(divisors_of(moduli), parts, count, first,
                                                           sums);
  return gpuLastError();
}

extern "C" int tsr_gpu_rest_launch(const tsr_gpu_rest *x, void *stream_pointer) {
  if (x->m <= 0 || x->n <= 0) return gpuSuccess;
  dim3 grid((unsigned)((x->n + 127) / 128), (unsigned)x->m, (unsigned)x->planes);
  rest_kernel<<<grid, 128, 0, (gpuStream)stream_pointer>>>(*x);
  return gpuLastError();
}

extern "C" int tsr_gpu_recover_launch(const tsr_gpu_recover *x, const tsr_moduli *moduli,
                                      void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  switch (x->type) {
    case 's':
      launch_recover<float, 1>(*x, moduli, stream);
      break;
    case 'd':
      launch_recover<double, 1>(*x, moduli, stream);
      break;
    case 'c':
      launch_recover<float, 2>(*x, moduli, stream);
      break;
    case 'z':
      launch_recover<double, 2>(*x, moduli, stream);
      break;
    default:
      return gpuErrorInvalidValue;
  }
  return gpuLastError();
}
