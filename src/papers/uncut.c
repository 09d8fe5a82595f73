/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tile size of Anastasiadis et al., "Uncut-GEMMs: communication-aware matrix multiplication on
 * multi-GPU nodes", section III-A: the extent of square tiles that makes a sum of three penalties
 * least. It knows the extents and the number of devices, and no rate. Tessera finds its tiles by
 * replaying plans; the model serves comparisons (bench/tiles.py).
 */
#include "base/least.h"
#include "base/thread.h"
#include "papers/check.h"
#include "tessera_papers.h"

/* The paper's T_min, the extent from which latencies do not count, its weight, and the smallest
 * extent that it tries; elements. */
#define NO_LATENCY 2048
#define LATENCY_WEIGHT 0.2
#define LEAST 128
/* The largest extent that is tried, elements: such a tile has 8 GiB in fp16. */
#define MOST 65536

static double parts(int64_t extent, int64_t tile) {
  return (double)((extent + tile - 1) / tile);
}

/* The part of an extent that one tile takes, if tiles leave a remainder. The paper prints the
 * reciprocal, extent / tile, which would rather cut without a remainder into the smallest tiles
 * than leave one; its program (PARALiA-GEMMex) has 1 / (extent / tile). */
static double padding(int64_t extent, int64_t tile) {
  return extent % tile != 0 ? (double)tile / (double)extent : 0;
}

/* The rows of the most square grid of that many devices; it has no more rows than columns. */
static int grid_rows_of(int devices) {
  int rows = 1;
  for (int r = 2; r * r <= devices; r++)
    if (devices % r == 0) rows = r;
  return rows;
}

/* The penalties for tiles of that extent, of an m x n x k product; all arguments are at least 1. */
static tsr_uncut_model model_of(int64_t m, int64_t n, int64_t k, int devices, int64_t tile) {
  tsr_uncut_model u = {.tile = tile, .grid_rows = grid_rows_of(devices)};
  u.grid_cols = devices / u.grid_rows;
  u.padding = padding(m, tile) + padding(n, tile) + padding(k, tile);
  u.overlap = devices / (parts(m, tile) * parts(n, tile) * parts(k, tile));
  u.latency = tile < NO_LATENCY ? NO_LATENCY * LATENCY_WEIGHT / (double)tile : 0;
  u.total = u.padding + u.overlap + u.latency;
  return u;
}

/* The extent with the least sum, from LEAST to the least of k and of the extents of a device's part
 * of C; that least one alone if it is below LEAST, and no extent above MOST. Of equal sums the
 * largest extent is taken. Trying each extent takes about 10 ns: less than a millisecond for
 * extents of 32768. */
static int64_t best_tile(int64_t m, int64_t n, int64_t k, int devices) {
  int rows = grid_rows_of(devices), cols = devices / rows;
  int64_t most = tsr_least(k, tsr_least((m + rows - 1) / rows, (n + cols - 1) / cols));
  if (most > MOST) most = MOST;
  int64_t best = most;
  double least = model_of(m, n, k, devices, most).total;
  for (int64_t tile = most - 1; tile >= LEAST; tile--) {
    double total = model_of(m, n, k, devices, tile).total;
    if (total >= least) continue;
    least = total;
    best = tile;
  }
  return best;
}

TSR_ENTRY(tsr_plan_uncut, (m, n, k, devices, tile, model), int64_t m, int64_t n, int64_t k,
          int devices, int64_t tile, tsr_uncut_model *model) {
  static const int64_t most = TSR_PAPERS_MOST;
  TSR_TRY(tsr_papers_check_address("model", model));
  if (m < 1 || n < 1 || k < 1 || m > most || n > most || k > most || devices < 1 || tile < 0)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "m, n and k are %lld, %lld and %lld, devices is %d and tile is %lld; give "
                    "extents of 1 to 2^40, 1 device or more, and a tile of 0 or more",
                    (long long)m, (long long)n, (long long)k, devices, (long long)tile);
  *model = model_of(m, n, k, devices, tile > 0 ? tile : best_tile(m, n, k, devices));
  return TSR_OK;
}
