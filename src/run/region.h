/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Regions: matrices in the user's host memory, by address, and the overlap of two of them.
 */
#ifndef TSR_RUN_REGION_H
#define TSR_RUN_REGION_H

#include <stddef.h>

#include "base/rect.h"

typedef struct tsr_region {
  char *base; /* NULL: none */
  int64_t rows, cols, ld;
  size_t size; /* bytes of an element */
} tsr_region;

typedef enum tsr_relation {
  TSR_DISJOINT, /* no byte in common */
  TSR_ALIGNED,  /* overlap with the same ld and element grid: each has coordinates in the other */
  TSR_CROSSING  /* perhaps bytes in common, without common coordinates */
} tsr_relation;

/* The relation of first to region. If TSR_ALIGNED, *rect is first in region's coordinates, and may
 * reach beyond region. */
tsr_relation tsr_region_relate(const tsr_region *first, const tsr_region *region, tsr_rect *rect);

/* The columns of first that overlap the bytes from region's first to its last (gaps between its
 * columns included), with all their rows. */
tsr_rect tsr_region_crossed(const tsr_region *first, const tsr_region *region);

/* Extends the region to the least one that also holds `other`, if they have the same ld and element
 * grid and touch or overlap. False: it is as it was, since they do not or it holds it already. */
bool tsr_region_join(tsr_region *region, const tsr_region *other);

static inline tsr_rect tsr_region_all(const tsr_region *region) {
  return tsr_rect_make(0, 0, region->rows, region->cols);
}

static inline char *tsr_region_address(const tsr_region *region, int64_t row, int64_t col) {
  return region->base + (row + col * region->ld) * (int64_t)region->size;
}

static inline tsr_region tsr_region_part(const tsr_region *region, tsr_rect rect) {
  return (tsr_region){tsr_region_address(region, rect.row0, rect.col0), rect.row1 - rect.row0,
                      rect.col1 - rect.col0, region->ld, region->size};
}

#endif
