/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A mapping: the device of each block of a matrix, partitioned 2D block-cyclically over a grid of
 * devices.
 */
#ifndef TSR_PLAN_MAPPING_H
#define TSR_PLAN_MAPPING_H

#include "machine/machine.h"
#include "plan/cache.h"

/* Element (i, j) of the matrix lives at
 * device[((row + i) / block_rows % grid_rows) * grid_cols + (col + j) / block_cols % grid_cols]. */
typedef struct tsr_mapping {
  int64_t row, col; /* place of the matrix's first element in the mapped matrix; not negative */
  int64_t block_rows, block_cols;
  int grid_rows, grid_cols;
  int16_t device[TSR_MACHINE_DEVICES];
} tsr_mapping;

/* What became of the map of C that a call's plan was made with. */
typedef enum tsr_map_use {
  TSR_MAP_NONE,        /* there was none */
  TSR_MAP_FOLLOWED,    /* C is computed where it is mapped */
  TSR_MAP_C_ON_DEVICE, /* C is in the memory of a device, and is used there */
  TSR_MAP_NO_DEVICE,   /* it names a location that is no device */
  TSR_MAP_BY_LINES,    /* the operation gives each line of C to one device, and the map does not */
  TSR_MAP_FACTOR,      /* a factorisation has block columns of its own */
  TSR_MAP_TOO_FINE,    /* it would make thousands of kernels that are too small */
  TSR_MAP_NO_ROOM      /* a device lacks memory for its blocks */
} tsr_map_use;

/* The device of element (i, j). */
static inline int tsr_mapping_device(const tsr_mapping *mapping, int64_t i, int64_t j) {
  int64_t down = (mapping->row + i) / mapping->block_rows % mapping->grid_rows;
  int64_t right = (mapping->col + j) / mapping->block_cols % mapping->grid_cols;
  return mapping->device[down * mapping->grid_cols + right];
}

/* Extends the digest `before` by a mapping. */
static inline uint64_t tsr_mapping_digest(uint64_t before, const tsr_mapping *m) {
  const int64_t words[] = {m->row,        m->col,       m->block_rows,
                           m->block_cols, m->grid_rows, m->grid_cols};
  uint64_t digest = tsr_cache_digest(before, words, sizeof words);
  size_t devices = (size_t)m->grid_rows * (size_t)m->grid_cols;
  return tsr_cache_digest(digest, m->device, devices * sizeof *m->device);
}

#endif
