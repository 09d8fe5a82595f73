/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels on residues. They are bound by memory. Their arithmetic is that of arithmetic/residues.h,
 * compiled without contraction; sums over a line are of integers, so that the order in which
 * threads add does not matter.
 */
#define TSR_RESIDUES_INLINE static __host__ __device__ inline

#include "kernel_names.h" /* of the vendor's folder, which the build names */

#include "arithmetic/residues.h"
#include "engine/gpu/residues/residue_dots.h"
#include "engine/gpu/residues/residue_elements.h"
#include "engine/gpu/residues/residue_kernels.h"

namespace tsr_gpu {

const int WARP = 32; /* threads that read neighbouring elements */

/* ---- Residues of sums -------------------------------------------------------- */

/* What reduces integers of 32 bits modulo p without divisions: an integer is the sum of its bytes
 * times factors, powers of 256 modulo p, whose bytes are packed. Integers of least magnitude come
 * from others, from 0 to p - 1, by half = p / 2. shift: half less 2^31, modulo p; it makes an
 * integer one that is not negative. inverse: 2^32 / p, rounded up. */
struct divisor {
  unsigned factors, shift, inverse;
  int p, half;
};

struct divisors {
  int count;
  divisor of[TSR_MODULI_MOST];
};

const unsigned SIGN = 1u << 31; /* of an integer */

divisor divisor_of(unsigned p) {
  divisor d = {};
  unsigned power = 1, half = p / 2;
  for (int byte = 0; byte < 4; byte++) {
    d.factors |= power << (8 * byte);
    /* The sign's bit is 128 times the factor of the upper byte. */
    if (byte == 3) d.shift = (half + p - 128 * power % p) % p;
    power = power * 256 % p;
  }
  d.inverse = (unsigned)((((uint64_t)1 << 32) + p - 1) / p);
  d.p = (int)p;
  d.half = (int)half;
  return d;
}

divisors divisors_of(const tsr_moduli *moduli) {
  divisors d;
  d.count = moduli->count;
  for (int l = 0; l < d.count; l++) d.of[l] = divisor_of((unsigned)moduli->modulus[l]);
  return d;
}

/* u - half modulo p, of least magnitude, for u < 2^20: the product with the inverse, which is too
 * large by less than u / 2^32, has the right whole part. */
__device__ int centred(unsigned u, const divisor &d) {
  return (int)u - d.half - (int)__umulhi(u, d.inverse) * d.p;
}

/* tsr_residue of 32 bits. */
__device__ int residue_of(int32_t x, const divisor &d) {
  return centred(dot_bytes((unsigned)x ^ SIGN, d.factors, d.shift), d);
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

__device__ measured measured_of(const tsr_gpu_residues &x, int element, int64_t line) {
  char *block = (char *)x.block;
  measured m;
  m.most = (unsigned long long *)(block + (x.first + line) * x.ld);
  m.record = (tsr_line *)(block + tsr_residues_records(x.ld, x.lines, element)) + x.first + line;
  m.sums = (tsr_line_sums *)m.record;
  return m;
}

__global__ void GPU_THREADS(256) start_kernel(tsr_gpu_residues x, int element) {
  int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= x.n) return;
  measured m = measured_of(x, element, line);
  *m.most = 0;
  *m.sums = tsr_line_sums{};
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
__global__ void GPU_THREADS(WARP *ROWS) most_kernel(tsr_gpu_residues x, int element) {
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
  if (bits != 0) atomicMax(measured_of(x, element, p.line).most, bits);
}

__device__ double most_of(const measured &m) {
  double most;
  memcpy(&most, m.most, sizeof most);
  return most;
}

/* The numbers of tsr_line_sums, one after the other. */
const int SUMS = 14;

__device__ void add_atomically(tsr_line_sums *to, int sum, unsigned long long more) {
  if (more == 0) return;
  if (sum >= 2)
    atomicAdd(&to->at_least[sum - 2], (unsigned)more);
  else
    atomicAdd((unsigned long long *)(sum == 0 ? &to->units : &to->squares), more);
}

/* What the threads of a block have found; one more in each row keeps rows in different banks. */
typedef unsigned long long found_sums[SUMS][ROWS][WARP + 1];

__device__ void note_sums(const tsr_line_sums &sums, found_sums found) {
  found[0][threadIdx.y][threadIdx.x] = sums.units;
  found[1][threadIdx.y][threadIdx.x] = sums.squares;
  for (int t = 0; t < 12; t++) found[2 + t][threadIdx.y][threadIdx.x] = sums.at_least[t];
}

/* Each of the block's sums of each of its lines is added up by one thread. */
__device__ void add_found(const tsr_gpu_residues &x, int element, const found_sums found) {
  int lines = x.turned ? WARP : ROWS, sharers = x.turned ? ROWS : WARP;
  int64_t first = (int64_t)blockIdx.x * lines;
  for (int e = threadIdx.y * WARP + threadIdx.x; e < lines * SUMS; e += WARP * ROWS) {
    int line = e % lines, sum = e / lines;
    unsigned long long all = 0;
    if (first + line >= x.n) continue;
    for (int i = 0; i < sharers; i++) all += x.turned ? found[sum][i][line] : found[sum][line][i];
    add_atomically(measured_of(x, element, first + line).sums, sum, all);
  }
}

template <class T, int PARTS>
__global__ void GPU_THREADS(WARP *ROWS) sums_kernel(tsr_gpu_residues x, int element) {
  __shared__ found_sums found;
  part p = part_of(x);
  double most = p.line < x.n ? most_of(measured_of(x, element, p.line)) : 0;
  bool counts = most > 0 && most < INFINITY;
  int top = counts ? tsr_top_of(most) : 0;
  tsr_line_sums sums;
  memset(&sums, 0, sizeof sums);
#pragma unroll 4
  for (int64_t h = p.from; counts && h < x.k; h += p.step)
    tsr_line_add(&sums, magnitude<T, PARTS>(x, p.line, h, 0),
                 PARTS == 2 ? magnitude<T, PARTS>(x, p.line, h, PARTS - 1) : 0, top);
  note_sums(sums, found);
  __syncthreads();
  add_found(x, element, found);
}

__global__ void GPU_THREADS(256)
    record_kernel(tsr_gpu_residues x, int element, int parts, double root) {
  int64_t line = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= x.n) return;
  measured m = measured_of(x, element, line);
  tsr_line_sums sums = *m.sums;
  *m.record = tsr_line_of(&sums, most_of(m), x.k * parts, root);
}

/* ---- Converting ------------------------------------------------------------------ */

/* A block converts LINES lines of some elements by way of shared memory, so that it reads
 * neighbours along the columns of a, and writes neighbours along k. */
const int LINES = 32, CONVERTERS = 256;

/* The elements of a line that a block converts at a time, and how many neighbours a thread does;
 * the tile of a complex type is as large. */
template <int PARTS>
struct deep {
  static const int value = 128 / PARTS, neighbours = 8 / PARTS;
};

/* Elements in shared memory. Threads that read neighbours of one line, and those that write one
 * element of each line, find them in different banks, because of a gap after the neighbours of each
 * thread and an odd length of lines. */
template <class T, int PARTS>
struct tile {
  static const int near = deep<PARTS>::neighbours;
  T part[PARTS][LINES][deep<PARTS>::value / near * (near + 1) + 1 - deep<PARTS>::value / near % 2];
};

template <int PARTS>
__device__ int place_in_line(int h) {
  return h + h / deep<PARTS>::neighbours;
}

template <class T, int PARTS>
__device__ void load_tile(const tsr_gpu_residues &x, int64_t h0, tile<T, PARTS> &to) {
  constexpr int DEEP = deep<PARTS>::value;
  int64_t line0 = (int64_t)blockIdx.x * LINES;
  for (int e = threadIdx.x; e < LINES * DEEP; e += CONVERTERS) {
    int i = x.turned ? e % LINES : e / DEEP, h = x.turned ? e / LINES : e % DEEP;
    bool inside = line0 + i < x.n && h0 + h < x.k;
    int64_t at = x.turned ? line0 + i + (h0 + h) * x.lda : h0 + h + (line0 + i) * x.lda;
    for (int part = 0; part < PARTS; part++) {
      T value = 0; /* not -0 beyond the matrix: a CPU writes 0 there, too */
      if (inside) value = ((const T *)x.a)[at * PARTS + part];
      if (inside && part == 1 && x.conjugated) value = -value;
      to.part[part][i][place_in_line<PARTS>(h)] = value;
    }
  }
}

/* Moduli in pairs. A double is reduced modulo the product of two, which is below 2^16, and the
 * rest, which a float holds, modulo each of them. Of an odd number of moduli the last has 1 beside
 * it. */
struct pairs {
  int count; /* of moduli */
  struct {
    double product, inverse;
    float p[2], inverse_p[2];
  } of[TSR_MODULI_MOST / 2];
};

pairs pairs_of(const tsr_moduli *moduli) {
  pairs all;
  all.count = moduli->count;
  for (int l = 0; l < all.count; l += 2) {
    int p[] = {moduli->modulus[l], l + 1 < all.count ? moduli->modulus[l + 1] : 1};
    auto &pair = all.of[l / 2];
    pair.product = p[0] * p[1];
    pair.inverse = 1 / pair.product;
    for (int i = 0; i < 2; i++) {
      pair.p[i] = (float)p[i];
      pair.inverse_p[i] = 1 / (float)p[i];
    }
  }
  return all;
}

/* Adding them rounds a number to an integer, to even in the middle, whose low bits are then those
 * of the sum. */
const double ROUND = 0x1.8p52;
const float ROUND_FLOAT = 0x1.8p23f;

/* x modulo the product of a pair, |x| < 2^63: an integer of magnitude 2^15 + 2^12 at most, since x
 * / product is off by less than 2^-4 before it is rounded. */
__device__ float rest_of(double x, double product, double inverse) {
  double quotient = (x * inverse + ROUND) - ROUND;
  int rest = __double2loint(fma(-quotient, product, x) + ROUND);
  return __int_as_float(0x4b400000 + rest) - ROUND_FLOAT; /* 0x4b400000: ROUND_FLOAT's bits */
}

/* x modulo p, of least magnitude, |x| <= 2^16: x / p is off by less than 2^-14 before it is
 * rounded, and with an odd p no nearer than 2^-9 to the middle of two integers. 128 and -128 are
 * the same byte. */
__device__ float centred_rest(float x, float p, float inverse) {
  float quotient = fmaf(x, inverse, ROUND_FLOAT) - ROUND_FLOAT;
  return fmaf(-quotient, p, x);
}

/* Neighbouring residues, packed. */
template <int COUNT>
struct alignas(COUNT) bytes {
  unsigned four[COUNT / 4];
};

__device__ unsigned low_byte(float residue) {
  return (unsigned)__float_as_int(residue + ROUND_FLOAT) & 255;
}

template <int COUNT>
__device__ void store(const float *r, char *to) {
  bytes<COUNT> all;
  for (int j = 0; j < COUNT; j += 4)
    all.four[j / 4] = low_byte(r[j]) | low_byte(r[j + 1]) << 8 | low_byte(r[j + 2]) << 16 |
                      low_byte(r[j + 3]) << 24;
  *(bytes<COUNT> *)to = all;
}

/* Writes the residues of a thread's neighbours to the planes of one modulus: real parts, imaginary
 * parts and the residues of their sums. */
template <int PARTS>
__device__ void store_residues(const float rest[PARTS][deep<PARTS>::neighbours], float p,
                               float inverse, int count, int l, char *to, int64_t plane) {
  constexpr int NEAR = deep<PARTS>::neighbours;
  float r[PARTS][NEAR];
  for (int part = 0; part < PARTS; part++) {
    for (int j = 0; j < NEAR; j++) r[part][j] = centred_rest(rest[part][j], p, inverse);
    store<NEAR>(r[part], to + (part * count + l) * plane);
  }
  if constexpr (PARTS == 2) {
    for (int j = 0; j < NEAR; j++) r[0][j] = centred_rest(r[0][j] + r[1][j], p, inverse);
    store<NEAR>(r[0], to + (2 * count + l) * plane);
  }
}

template <int PARTS>
__device__ void store_all(const pairs &moduli, const double whole[PARTS][deep<PARTS>::neighbours],
                          char *to, int64_t plane) {
  constexpr int NEAR = deep<PARTS>::neighbours;
  for (int l = 0; l < moduli.count; l += 2) {
    const auto pair = moduli.of[l / 2];
    float rest[PARTS][NEAR];
    for (int part = 0; part < PARTS; part++)
      for (int j = 0; j < NEAR; j++)
        rest[part][j] = rest_of(whole[part][j], pair.product, pair.inverse);
    for (int i = 0; i < 2 && l + i < moduli.count; i++)
      store_residues<PARTS>(rest, pair.p[i], pair.inverse_p[i], moduli.count, l + i, to, plane);
  }
}

/* Copies a thread's neighbours, elements h .. of line i of the tile. */
template <class T, int PARTS>
__device__ void keep_elements(const tile<T, PARTS> &from, int i, int h, T *to) {
  for (int j = 0; j < deep<PARTS>::neighbours; j++)
    for (int part = 0; part < PARTS; part++)
      to[j * PARTS + part] = from.part[part][i][place_in_line<PARTS>(h) + j];
}

template <class T, int PARTS>
__device__ void store_tile(const tsr_gpu_residues &x, const pairs &moduli, int element, int64_t h0,
                           const tile<T, PARTS> &from) {
  constexpr int NEAR = deep<PARTS>::neighbours, THREADS = deep<PARTS>::value / NEAR;
  int64_t line0 = (int64_t)blockIdx.x * LINES;
  char *block = (char *)x.block;
  const tsr_line *records =
      (const tsr_line *)(block + tsr_residues_records(x.ld, x.lines, element)) + x.first;
  int planes = (PARTS == 2 ? 3 : 1) * moduli.count;
  T *kept = (T *)(block + tsr_residues_kept(x.ld, x.lines, planes));
  for (int e = threadIdx.x; e < LINES * THREADS; e += CONVERTERS) {
    int i = e / THREADS, h = e % THREADS * NEAR;
    int64_t line = line0 + i;
    if (line >= x.n || h0 + h >= x.ld) continue;
    if (x.keeps_lines)
      keep_elements<T, PARTS>(from, i, h, kept + ((x.first + line) * x.ld + h0 + h) * PARTS);
    int exponent = records[line].exponent;
    bool finite = exponent != TSR_LINE_NOT_FINITE;
    double whole[PARTS][NEAR];
    for (int part = 0; part < PARTS; part++)
      for (int j = 0; j < NEAR; j++) {
        double value = (double)from.part[part][i][place_in_line<PARTS>(h) + j];
        whole[part][j] = finite ? tsr_rounded(value, exponent) : 0;
      }
    store_all<PARTS>(moduli, whole, block + (x.first + line) * x.ld + h0 + h, x.lines * x.ld);
  }
}

template <class T, int PARTS>
__global__ void GPU_THREADS(CONVERTERS)
    convert_kernel(tsr_gpu_residues x, pairs moduli, int element) {
  __shared__ tile<T, PARTS> elements;
  constexpr int DEEP = deep<PARTS>::value;
  for (int64_t h0 = (int64_t)blockIdx.y * DEEP; h0 < x.ld; h0 += (int64_t)gridDim.y * DEEP) {
    __syncthreads(); /* the tile's former elements have been used */
    load_tile<T, PARTS>(x, h0, elements);
    __syncthreads();
    store_tile<T, PARTS>(x, moduli, element, h0, elements);
  }
}

/* ---- From sums to C ------------------------------------------------------------------ */

__global__ void GPU_THREADS(256)
    fold_kernel(divisors d, const int32_t *parts, whole count, int first, int32_t *sums) {
  int64_t step = (int64_t)gridDim.x * blockDim.x;
  const divisor of = d.of[blockIdx.y % d.count];
  int64_t base = blockIdx.y * count;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    int r = residue_of(parts[base + i], of);
    sums[base + i] = first ? r : sums[base + i] + r;
  }
}

/* A thread computes one sum. */
__global__ void GPU_THREADS(128) rest_kernel(tsr_gpu_rest x) {
  int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  int64_t i = blockIdx.y, l = blockIdx.z;
  if (j >= x.n) return;
  const int *a = (const int *)(x.a + l * x.plane_a + i * x.ld);
  const int *b = (const int *)(x.b + l * x.plane_b + j * x.ld);
  int sum = 0;
  for (int64_t h = 0; h < x.k / 4; h++) sum = dot_signed(a[h], b[h], sum);
  x.sums[l * x.step + i + j * x.ldc] = sum;
}

/* What is the same for all elements: the constants of the moduli, as doubles, and alpha. */
struct recovery {
  int count;
  double weight[TSR_MODULI_MOST][TSR_MODULI_DIGITS], product[TSR_MODULI_DIGITS];
  double inverse; /* of the product of the moduli */
  tsr_scaling alpha;
};

const double BASE = 0x1p42; /* of the digits */

recovery recovery_of(const tsr_gpu_recover &x, const tsr_moduli *moduli) {
  static_assert(TSR_MODULI_BITS == 42 && TSR_MODULI_DIGITS == 3, "as in integer_of");
  recovery r;
  r.count = moduli->count;
  for (int d = 0; d < TSR_MODULI_DIGITS; d++) r.product[d] = (double)moduli->product[d];
  for (int l = 0; l < r.count; l++)
    for (int d = 0; d < TSR_MODULI_DIGITS; d++) r.weight[l][d] = (double)moduli->weight[l][d];
  r.inverse = 1 / ((r.product[2] * BASE + r.product[1]) * BASE + r.product[0]);
  r.alpha = tsr_scaling_of(x.alpha[0]);
  return r;
}

/* The digits of tsr_recovery, as doubles: the sum of 16 residues, of which one is up to 128 and the
 * others are up to 127, times a digit below 2^42 is below 2^53, and so exact. */
struct exact_sums {
  double digit[TSR_MODULI_DIGITS];
};

/* tsr_recovery_add. The residue becomes a double as the low bits of 2^52 + 2^31, which is faster
 * than converting. */
__device__ void add_residue(exact_sums *sums, const recovery &r, int l, int residue) {
  double value = __hiloint2double(0x43300000, residue ^ (int)SIGN) - (0x1p52 + 0x1p31);
  for (int d = 0; d < TSR_MODULI_DIGITS; d++)
    sums->digit[d] = fma(value, r.weight[l][d], sums->digit[d]);
}

/* tsr_recovery_end. The number of turns is rounded in another way than there, but to the same
 * integer: its error is below 2^-40, as it is at most 2^11 (tsr_moduli_fill has the margin). A
 * digit less turns times P's is a sum of residues times numbers below 2^42, but for the rounding of
 * turns, and so exact. */
__device__ tsr_pair integer_of(const exact_sums &sums, const recovery &r) {
  double turns = rint(((sums.digit[2] * BASE + sums.digit[1]) * BASE + sums.digit[0]) * r.inverse);
  double digit[TSR_MODULI_DIGITS], carry = 0;
  for (int d = 0; d < TSR_MODULI_DIGITS; d++) {
    digit[d] = fma(-turns, r.product[d], sums.digit[d]) + carry;
    if (d + 1 == TSR_MODULI_DIGITS) break;
    carry = floor(digit[d] * (1 / BASE));
    digit[d] = fma(-carry, BASE, digit[d]);
  }
  return tsr_integer_of_digits(digit);
}

/* The residue of number `at` of a plane of modulus l, whose sums are reduced first if there are
 * any. */
template <bool HAS_SUMS>
__device__ int residue_at(const tsr_gpu_recover &x, const divisors &d, int l, unsigned at) {
  return HAS_SUMS ? residue_of(x.sums[at], d.of[l]) : x.residues[at];
}

/* A block recovers RECOVERERS rows of COLUMNS columns; a thread has a row, so that it reads the
 * row's record once and the moduli's constants once for all columns. The room that the residues or
 * sums are in is so small that their numbers fit 32 bits. */
const int RECOVERERS = 256;

template <int PARTS>
struct columns {
  static const int value = 4 / PARTS;
};

template <bool HAS_SUMS>
__device__ void sum_elements(const tsr_gpu_recover &x, const recovery &r, const divisors &d,
                             const unsigned at[4], exact_sums sums[1][4]) {
  unsigned step = (unsigned)x.step;
#pragma unroll 4
  for (int l = 0; l < r.count; l++)
    for (int j = 0; j < 4; j++)
      add_residue(&sums[0][j], r, l, residue_at<HAS_SUMS>(x, d, l, l * step + at[j]));
}

/* The same of complex elements, by the products of real parts, imaginary parts and their sums. */
template <bool HAS_SUMS>
__device__ void sum_elements(const tsr_gpu_recover &x, const recovery &r, const divisors &d,
                             const unsigned at[2], exact_sums sums[2][2]) {
  unsigned count = r.count, step = (unsigned)x.step;
#pragma unroll 2
  for (unsigned l = 0; l < count; l++)
    for (int j = 0; j < 2; j++) {
      int re = residue_at<HAS_SUMS>(x, d, l, l * step + at[j]);
      int im = residue_at<HAS_SUMS>(x, d, l, (count + l) * step + at[j]);
      int both = residue_at<HAS_SUMS>(x, d, l, (2 * count + l) * step + at[j]);
      add_residue(&sums[0][j], r, l, residue_of(re - im, d.of[l]));
      add_residue(&sums[1][j], r, l, residue_of(both - re - im, d.of[l]));
    }
}

/* real: the imaginary part counts as 0 and becomes 0. */
template <class T>
__device__ void update(const tsr_gpu_recover &x, const recovery &r, int power, tsr_pair re,
                       tsr_pair im, bool real, pair_of<T> *c) {
  tsr_complex alpha = {x.alpha[0], x.alpha[1]}, beta = {x.beta[0], x.beta[1]}, old = {0, 0};
  if (beta.re != 0 || beta.im != 0) old = tsr_complex{(double)c->re, real ? 0 : (double)c->im};
  tsr_complex result = tsr_recovered_complex(re, im, power, alpha, beta, old);
  if (real) result.im = 0;
  *c = pair_of<T>{(T)result.re, (T)result.im};
}

template <class T>
__device__ void update(const tsr_gpu_recover &x, const recovery &r, int power, tsr_pair re,
                       tsr_pair im, bool real, T *c) {
  double old = x.beta[0] == 0 ? 0 : (double)*c;
  *c = (T)tsr_recovered_update(re, power, r.alpha, x.beta[0], old);
}

template <class T, int PARTS, bool HAS_SUMS>
__global__ void GPU_THREADS(RECOVERERS) recover_kernel(tsr_gpu_recover x, recovery r, divisors d) {
  constexpr int COLUMNS = columns<PARTS>::value;
  int64_t i = (int64_t)blockIdx.x * RECOVERERS + threadIdx.x;
  int64_t j0 = (int64_t)blockIdx.y * COLUMNS;
  if (i >= x.m) return;
  T *c = (T *)x.c + i + j0 * x.ldc;
  int count = x.n - j0 < COLUMNS ? (int)(x.n - j0) : COLUMNS;
  bool keeps = x.beta[0] != 0 || x.beta[1] != 0;
  if (*x.refused) {
    for (int j = 0; j < count && !keeps && !x.leaves; j++)
      if (is_written(x.region, i, j0 + j)) c[j * x.ldc] = T{};
    return;
  }
  exact_sums sums[PARTS][COLUMNS] = {};
  unsigned at[COLUMNS]; /* columns beyond the last one are the last one once more */
  for (int j = 0; j < COLUMNS; j++)
    at[j] = (unsigned)(i + (j0 + (j < count ? j : count - 1)) * x.ld);
  sum_elements<HAS_SUMS>(x, r, d, at, sums);
  int exponent = x.rows[i].exponent;
  for (int j = 0; j < COLUMNS; j++) {
    if (j >= count) break;
    if (!is_written(x.region, i, j0 + j)) continue;
    int power = -(exponent + x.columns[j0 + j].exponent);
    update(x, r, power, integer_of(sums[0][j], r), integer_of(sums[PARTS - 1][j], r),
           is_real(x.region, i, j0 + j), c + j * x.ldc);
  }
}

}  // namespace tsr_gpu

/* ---- Launches ------------------------------------------------------------------------ */

#ifndef TSR_KERNELS_ALONE
namespace tsr_gpu {

/* Blocks of the grid along k, so that there are enough for a device and few atomic additions. */
unsigned parts_of(int64_t k, int64_t blocks, int step) {
  int64_t most = (k + 16 * step - 1) / (16 * step), wanted = 4096 / blocks + 1;
  return (unsigned)(wanted < most ? wanted : most);
}

template <class T, int PARTS>
void launch_residues(const tsr_gpu_residues &x, const tsr_moduli *moduli, gpuStream stream) {
  int element = (PARTS == 2 ? 3 : 1) * moduli->count;
  if (x.keeps_lines) element += PARTS * (int)sizeof(T);
  int wide = x.turned ? WARP : ROWS, step = x.turned ? ROWS : WARP;
  unsigned lines = (unsigned)((x.n + 255) / 256), blocks = (unsigned)((x.n + wide - 1) / wide);
  dim3 grid(blocks, parts_of(x.k, blocks, step)), threads(WARP, ROWS);
  int64_t deeps =
      (x.ld + deep<PARTS>::value - 1) / deep<PARTS>::value; /* up to 65535 blocks along y */
  dim3 tiles((unsigned)((x.n + LINES - 1) / LINES), (unsigned)(deeps < 65535 ? deeps : 65535));
  start_kernel<<<lines, 256, 0, stream>>>(x, element);
  most_kernel<T, PARTS><<<grid, threads, 0, stream>>>(x, element);
  sums_kernel<T, PARTS><<<grid, threads, 0, stream>>>(x, element);
  record_kernel<<<lines, 256, 0, stream>>>(x, element, PARTS, moduli->root);
  convert_kernel<T, PARTS><<<tiles, CONVERTERS, 0, stream>>>(x, pairs_of(moduli), element);
}

template <class T, int PARTS>
void launch_recover(const tsr_gpu_recover &x, const tsr_moduli *moduli, gpuStream stream) {
  const int COLUMNS = columns<PARTS>::value;
  dim3 grid((unsigned)((x.m + RECOVERERS - 1) / RECOVERERS),
            (unsigned)((x.n + COLUMNS - 1) / COLUMNS));
  recovery r = recovery_of(x, moduli);
  divisors d = divisors_of(moduli);
  if (x.sums != NULL)
    recover_kernel<T, PARTS, true><<<grid, RECOVERERS, 0, stream>>>(x, r, d);
  else
    recover_kernel<T, PARTS, false><<<grid, RECOVERERS, 0, stream>>>(x, r, d);
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
      launch_recover<pair_of<float>, 2>(*x, moduli, stream);
      break;
    case 'z':
      launch_recover<pair_of<double>, 2>(*x, moduli, stream);
      break;
    default:
      return gpuErrorInvalidValue;
  }
  return gpuLastError();
}

#endif
