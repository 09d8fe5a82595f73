/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tile size of Anastasiadis et al., "Uncut-GEMMs: communication-aware matrix multiplication on
 * multi-GPU nodes", section III-A: the extent of square tiles that makes a sum of three penalties
 * least. It knows the extents and the number of devices, and no rate. Tessera finds its tiles by
 * replaying plans; the model serves comparisons (bench/tiles.py).
 */
#ifndef TSR_PLAN_MODEL_UNCUT_H
#define TSR_PLAN_MODEL_UNCUT_H

#include "tessera_model.h"

/* The penalties for tiles of that extent, of an m x n x k product on `devices` devices. All are at
 * least 1. */
tsr_uncut_model tsr_uncut_model_of(int64_t m, int64_t n, int64_t k, int devices, int64_t tile);

/* The extent with the least sum, from 128 to the least of k and of the extents of a device's part
 * of C; that least one alone if it is below 128, and no extent above 65536. Of equal sums the
 * largest extent is taken. */
int64_t tsr_uncut_tile(int64_t m, int64_t n, int64_t k, int devices);

/* The rows of the most square grid of that many devices; it has no more rows than columns. */
int tsr_uncut_grid_rows(int devices);

#endif
