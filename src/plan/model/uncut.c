/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/least.h"
#include "plan/model/uncut.h"

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

tsr_uncut_model tsr_uncut_model_of(int64_t m, int64_t n, int64_t k, int devices, int64_t tile) {
  tsr_uncut_model u = {.tile = tile, .grid_rows = tsr_uncut_grid_rows(devices)};
  u.grid_cols = devices / u.grid_rows;
  u.padding = padding(m, tile) + padding(n, tile) + padding(k, tile);
  u.overlap = devices / (parts(m, tile) * parts(n, tile) * parts(k, tile));
  u.latency = tile < NO_LATENCY ? NO_LATENCY * LATENCY_WEIGHT / (double)tile : 0;
  u.total = u.padding + u.overlap + u.latency;
  return u;
}

int tsr_uncut_grid_rows(int devices) {
  int rows = 1;
  for (int r = 2; r * r <= devices; r++)
    if (devices % r == 0) rows = r;
  return rows;
}

/* Trying each extent takes about 10 ns: less than a millisecond for extents of 32768. */
int64_t tsr_uncut_tile(int64_t m, int64_t n, int64_t k, int devices) {
  int rows = tsr_uncut_grid_rows(devices), cols = devices / rows;
  int64_t most = tsr_least(k, tsr_least((m + rows - 1) / rows, (n + cols - 1) / cols));
  if (most > MOST) most = MOST;
  int64_t best = most;
  double least = tsr_uncut_model_of(m, n, k, devices, most).total;
  for (int64_t tile = most - 1; tile >= LEAST; tile--) {
    double total = tsr_uncut_model_of(m, n, k, devices, tile).total;
    if (total >= least) continue;
    least = total;
    best = tile;
  }
  return best;
}
