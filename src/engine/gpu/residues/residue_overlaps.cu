/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Judges products in residues by the overlap of their lines (arithmetic/judgement.h), on which the bits
 * of the CPU's verdicts depend: arithmetic/cpu_judgement.c has the same in plain C.
 *
 * One kernel makes a byte of each element of the lines, and another one multiplies them, in tiles
 * whose sums stay in registers. Both are launched for each product, since only the device knows
 * whether quantiles have decided, and then return at once.
 */
#define TSR_RESIDUES_INLINE static __host__ __device__ inline

#include "kernel_names.h" /* of the vendor's folder, which the build names */

#include "arithmetic/judgement.h"
#include "engine/gpu/residues/residue_dots.h"
#include "engine/gpu/residues/residue_elements.h"
#include "engine/gpu/residues/residue_kernels.h"

namespace tsr_gpu {

/* ---- Expanding ------------------------------------------------------------------- */

/* Threads of a block, and the neighbours in a line of which each makes bytes at a time. */
const int EXPANDERS = 256, FOUR = 4;

/* The number of a thread's neighbours, from the residues of their real or imaginary parts. */
__device__ void recover_numbers(const tsr_leading_moduli &m, const int8_t *from, int64_t plane,
                                uint64_t numbers[FOUR]) {
  tsr_whole sums[FOUR] = {};
  for (int l = 0; l < m.count; l++) {
    unsigned residues = *(const unsigned *)(from + l * plane);
    for (int j = 0; j < FOUR; j++)
      tsr_whole_add(&sums[j], &m, l, (int8_t)(residues >> (8 * j) & 255));
  }
  for (int j = 0; j < FOUR; j++) numbers[j] = tsr_whole_end(&sums[j], &m);
}

/* Makes the bytes of elements h .. h + 3 of a line. Returns the sum of their units, which is below
 * 2^31 over a line: k <= 2^17 times two parts of up to 2^12. */
template <int PARTS>
__device__ unsigned expand_neighbours(const tsr_gpu_overlapping &x, const tsr_leading_moduli &m,
                                      int moduli, int room, int64_t at) {
  uint64_t real[FOUR], imaginary[FOUR] = {};
  unsigned packed = 0, units = 0;
  recover_numbers(m, x.lines + at, x.plane, real);
  if (PARTS == 2) recover_numbers(m, x.lines + moduli * x.plane + at, x.plane, imaginary);
  for (int j = 0; j < FOUR; j++) {
    packed |= tsr_overlap_byte(real[j], imaginary[j], room) << (8 * j);
    if (room >= 12)
      units += (unsigned)(tsr_whole_units(real[j], room) + tsr_whole_units(imaginary[j], room));
  }
  *(unsigned *)(x.bytes + at) = packed;
  return units;
}

/* `across` neighbouring threads share a line: a power of two up to EXPANDERS. */
template <int PARTS>
__global__ void GPU_THREADS(EXPANDERS)
    expand_kernel(tsr_gpu_overlaps x, tsr_leading_moduli m, int across) {
  __shared__ unsigned units[EXPANDERS];
  if (!x.judgement->undecided || x.judgement->refused) return;
  const tsr_gpu_overlapping of = blockIdx.y == 0 ? x.rows : x.columns;
  int64_t lines = EXPANDERS / across, first = threadIdx.x % across;
  for (int64_t base = blockIdx.x * lines; base < of.count; base += gridDim.x * lines) {
    int64_t line = base + threadIdx.x / across;
    unsigned mine = 0;
    if (line < of.count)
      for (int64_t h = first * FOUR; h < x.ld; h += across * FOUR)
        mine += expand_neighbours<PARTS>(of, m, x.judged.moduli, of.records[line].room,
                                         line * x.ld + h);
    units[threadIdx.x] = mine;
    __syncthreads();
    if (first == 0 && line < of.count) {
      for (int i = 1; i < across; i++) mine += units[threadIdx.x + i];
      of.lost[line] = tsr_lost_elements(&of.records[line], mine, x.judged.k);
    }
    __syncthreads(); /* the units have been added up */
  }
}

/* ---- Multiplying ------------------------------------------------------------------- */

/* A block has a tile of TILE x TILE elements of C, of which each of its warps has HIGH x WIDE, and
 * loads LONG bytes of each line at a time, in pieces of PIECE. A warp's part consists of units of
 * 16 x 8 elements, which one instruction of tensor cores multiplies; a thread has four elements of
 * each, in the places in which these instructions have them. */
const int TILE = TSR_GPU_OVERLAPS_SIDE, HIGH = 64, WIDE = 32, LONG = 64, PIECE = 16;
const int THREADS_OF_WARP = 32, JUDGERS = TILE * TILE / (HIGH * WIDE) * THREADS_OF_WARP;
const int DOWN = HIGH / 16, RIGHT = WIDE / 8;    /* units of a warp's part */
const int LOADS = TILE * LONG / PIECE / JUDGERS; /* pieces of a thread */
const int PITCH = (LONG + PIECE) / 4;            /* words: 8 lines are in different banks */
const unsigned LEADING = 0x7f7f7f7f, COMMON = 0x01010101; /* the bits of four elements */

struct alignas(PIECE) piece {
  unsigned words[PIECE / 4];
};

struct alignas(PIECE) loaded {
  unsigned at[TILE][PITCH];
};

struct overlap_sums {
  unsigned least[DOWN][RIGHT][4], common[DOWN][RIGHT][4];
};

/* Where a thread is in its tile. Element e of unit (i, j) is in row row + 16 i + 8 (e / 2) and
 * column column + 8 j + e % 2, where the unit's rows are numbered by `across` and its columns by
 * `within`. */
struct judger {
  int row, column;    /* of the warp's part */
  int across, within; /* 0 .. 7 and 0 .. 3 */
};

__device__ judger judger_of(int thread) {
  int warp = thread / THREADS_OF_WARP, in_warp = thread % THREADS_OF_WARP;
  return judger{warp % (TILE / HIGH) * HIGH, warp / (TILE / HIGH) * WIDE, in_warp / 4, in_warp % 4};
}

/* A thread's pieces of lines first .. of an operand, from byte h on: 0 beyond the lines' ends.
 * Beyond the last line it is there once more. */
__device__ void fetch_pieces(const tsr_gpu_overlapping &x, int64_t ld, int64_t first, int64_t h,
                             piece to[LOADS]) {
  for (int p = 0; p < LOADS; p++) {
    int number = threadIdx.x + p * JUDGERS;
    int64_t line = first + number / (LONG / PIECE), at = h + number % (LONG / PIECE) * PIECE;
    if (line >= x.count) line = x.count - 1;
    to[p] = piece{};
    if (at < ld) to[p] = *(const piece *)(x.bytes + line * ld + at);
  }
}

__device__ void put_pieces(const piece from[LOADS], loaded &to) {
  for (int p = 0; p < LOADS; p++) {
    int number = threadIdx.x + p * JUDGERS;
    int line = number / (LONG / PIECE), word = number % (LONG / PIECE) * (PIECE / 4);
    *(piece *)&to.at[line][word] = from[p];
  }
}

/* Adds the products of 32 bytes of each line, from word `word` on. */
#ifdef gpuMultiplyUnits
__device__ void add_products(const loaded &a, const loaded &b, const judger &of, int word,
                             overlap_sums &sums) {
  unsigned columns[RIGHT][2];
  for (int j = 0; j < RIGHT; j++)
    for (int half = 0; half < 2; half++)
      columns[j][half] = b.at[of.column + 8 * j + of.across][word + of.within + 4 * half];
#pragma unroll
  for (int i = 0; i < DOWN; i++) {
    unsigned leading[4], common[4];
    for (int r = 0; r < 4; r++) {
      unsigned row = a.at[of.row + 16 * i + 8 * (r % 2) + of.across][word + of.within + r / 2 * 4];
      leading[r] = row & LEADING;
      common[r] = row >> 7 & COMMON;
    }
#pragma unroll
    for (int j = 0; j < RIGHT; j++) {
      gpuMultiplyUnits(sums.least[i][j], leading, columns[j][0] & LEADING, columns[j][1] & LEADING);
      gpuMultiplyUnits(sums.common[i][j], common, columns[j][0] >> 7 & COMMON,
                       columns[j][1] >> 7 & COMMON);
    }
  }
}
#else
__device__ void add_products(const loaded &a, const loaded &b, const judger &of, int word,
                             overlap_sums &sums) {
  for (int w = word; w < word + 8; w++)
#pragma unroll
    for (int e = 0; e < 4 * DOWN * RIGHT; e++) {
      int i = e / (4 * RIGHT), j = e / 4 % RIGHT, at = e % 4;
      unsigned row = a.at[of.row + 16 * i + 8 * (at / 2) + of.across][w];
      unsigned column = b.at[of.column + 8 * j + 2 * of.within + at % 2][w];
      sums.least[i][j][at] = dot_bytes(row & LEADING, column & LEADING, sums.least[i][j][at]);
      sums.common[i][j][at] =
          dot_bytes(row >> 7 & COMMON, column >> 7 & COMMON, sums.common[i][j][at]);
    }
}
#endif

/* The sums of the tile whose first element is (i0, j0). While some bytes are multiplied, the next
 * ones arrive. */
__device__ void multiply_tile(const tsr_gpu_overlaps &x, int64_t i0, int64_t j0, const judger &of,
                              loaded &a, loaded &b, overlap_sums &sums) {
  piece next_a[LOADS], next_b[LOADS];
  fetch_pieces(x.rows, x.ld, i0, 0, next_a);
  fetch_pieces(x.columns, x.ld, j0, 0, next_b);
  for (int64_t h = 0; h < x.ld; h += LONG) {
    __syncthreads(); /* the former bytes have been used */
    put_pieces(next_a, a);
    put_pieces(next_b, b);
    __syncthreads();
    fetch_pieces(x.rows, x.ld, i0, h + LONG, next_a);
    fetch_pieces(x.columns, x.ld, j0, h + LONG, next_b);
    for (int word = 0; word < LONG / 4; word += 8) add_products(a, b, of, word, sums);
  }
}

__device__ bool is_promised_at(const tsr_gpu_overlaps &x, int64_t i, int64_t j, unsigned least,
                               unsigned common) {
  if (i >= x.rows.count || j >= x.columns.count || !is_written(x.region, i, j)) return true;
  tsr_overlap overlap = {least, common + x.rows.lost[i] + x.columns.lost[j]};
  return tsr_is_promised(&x.judged, &x.rows.records[i], &x.columns.records[j], overlap);
}

/* Whether the accuracy of all of a thread's elements is promised. */
__device__ bool is_promised_for(const tsr_gpu_overlaps &x, int64_t i0, int64_t j0, const judger &of,
                                const overlap_sums &sums) {
  bool promised = true;
#pragma unroll
  for (int e = 0; e < 4 * DOWN * RIGHT; e++) {
    int i = e / (4 * RIGHT), j = e / 4 % RIGHT, at = e % 4;
    promised = is_promised_at(x, i0 + of.row + 16 * i + 8 * (at / 2) + of.across,
                              j0 + of.column + 8 * j + 2 * of.within + at % 2, sums.least[i][j][at],
                              sums.common[i][j][at]) &&
               promised;
  }
  return promised;
}

/* Tiles in bands of so many rows of them: those that are in work together, one on each of about 130
 * multiprocessors, have few different lines, which the second-level cache holds. */
const int BAND_OF_TILES = 8;

struct tile_place {
  int64_t row, column; /* of its first element */
};

__device__ tile_place tile_place_of(const tsr_gpu_overlaps &x, int64_t tile) {
  int64_t rows = (x.rows.count + TILE - 1) / TILE, columns = (x.columns.count + TILE - 1) / TILE;
  int64_t in_band = BAND_OF_TILES * columns, first = tile / in_band * BAND_OF_TILES;
  int64_t tall = rows - first < BAND_OF_TILES ? rows - first : BAND_OF_TILES;
  return tile_place{(first + tile % in_band % tall) * TILE, tile % in_band / tall * TILE};
}

/* Whether an element of the tile is written: that in a corner is, if any is. */
__device__ bool has_written(const tsr_gpu_region &region, const tile_place &of) {
  int64_t down = region.uplo == 'L' ? TILE - 1 : 0, across = region.uplo == 'U' ? TILE - 1 : 0;
  return is_written(region, of.row + down, of.column + across);
}

__global__ void GPU_THREADS(JUDGERS) overlap_kernel(tsr_gpu_overlaps x, whole tiles) {
  __shared__ loaded a, b;
  __shared__ int ends;
  if (!x.judgement->undecided) return;
  judger of = judger_of(threadIdx.x);
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    tile_place place = tile_place_of(x, tile);
    if (!has_written(x.region, place)) continue;
    if (threadIdx.x == 0) ends = x.judgement->refused; /* one thread reads what others may write */
    __syncthreads();
    if (ends) return;
    overlap_sums sums = {};
    multiply_tile(x, place.row, place.column, of, a, b, sums);
    if (is_promised_for(x, place.row, place.column, of, sums)) continue;
    x.judgement->refused = 1;
    if (x.verdict != NULL) *x.verdict = 1;
  }
}

}  // namespace tsr_gpu

/* ---- Launches ------------------------------------------------------------------------ */

#ifndef TSR_KERNELS_ALONE
namespace tsr_gpu {

/* Blocks of each kernel: an H100 runs more threads of the first one at a time than these have, but
 * memory bounds it, and twice as many as it runs of the second one. Mostly they have nothing to do,
 * so that more would cost time. */
const int64_t MOST_EXPANDING = 512, MOST_JUDGING = 264;

int64_t fewer(int64_t a, int64_t b) {
  return a < b ? a : b;
}

template <int PARTS>
void launch_expand(const tsr_gpu_overlaps &x, const tsr_leading_moduli &m, gpuStream stream) {
  int across = 1;
  while (across < EXPANDERS && across * FOUR < x.ld) across *= 2;
  int64_t lines = x.rows.count > x.columns.count ? x.rows.count : x.columns.count;
  int64_t blocks = (lines * across + EXPANDERS - 1) / EXPANDERS;
  dim3 grid((unsigned)fewer(blocks, MOST_EXPANDING), 2);
  expand_kernel<PARTS><<<grid, EXPANDERS, 0, stream>>>(x, m, across);
}

}  // namespace tsr_gpu

using namespace tsr_gpu;

extern "C" int tsr_gpu_overlaps_launch(const tsr_gpu_overlaps *x, const tsr_leading_moduli *leading,
                                       void *stream_pointer) {
  gpuStream stream = (gpuStream)stream_pointer;
  int64_t tiles = ((x->rows.count + TILE - 1) / TILE) * ((x->columns.count + TILE - 1) / TILE);
  if (x->judged.complex_valued)
    launch_expand<2>(*x, *leading, stream);
  else
    launch_expand<1>(*x, *leading, stream);
  overlap_kernel<<<(unsigned)fewer(tiles, MOST_JUDGING), JUDGERS, 0, stream>>>(*x, tiles);
  return gpuLastError();
}

#endif
