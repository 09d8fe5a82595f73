/*
 * Regions: matrices in the user's host memory, by address, and how two of them lie to each other.
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

/* Apart: no byte in common. Along: in common, with the same grid of elements and columns, so that
 * one has its place in the other's coordinates. Across: perhaps in common, but not so. */
typedef enum tsr_relation { TSR_DISJOINT, TSR_ALIGNED, TSR_CROSSING } tsr_relation;

/* Along: *rect is where region has the first one, of which it need not hold all. */
tsr_relation tsr_region_relate(const tsr_region *first, const tsr_region *region, tsr_rect *rect);

/* The columns of the first that have a byte in common with all that is between the region's ends.
 */
tsr_rect tsr_region_crossed(const tsr_region *first, const tsr_region *region);

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
