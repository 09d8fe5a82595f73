/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run/region.h"

static char *end_of(const tsr_region *r) {
  return r->base + ((r->cols - 1) * r->ld + r->rows) * (int64_t)r->size;
}

static bool is_nothing(const tsr_region *r) {
  return r->base == NULL || r->rows == 0 || r->cols == 0;
}

/* For regions of the same ld and element grid: *rect is home in the region's coordinates. If home's
 * rows reach past ld, the next columns of the region's grid, home has two possible positions; if
 * both overlap the region, the relation is TSR_CROSSING. */
static tsr_relation relate_aligned(const tsr_region *home, const tsr_region *region, int64_t offset,
                                   tsr_rect *rect) {
  int64_t ld = region->ld, row = (offset % ld + ld) % ld, col = (offset - row) / ld;
  tsr_rect here = tsr_rect_make(row, col, home->rows, home->cols);
  tsr_rect next = tsr_rect_make(row - ld, col + 1, home->rows, home->cols);
  bool meets_here = tsr_rect_meet(here, tsr_region_all(region));
  bool meets_next = row + home->rows > ld && tsr_rect_meet(next, tsr_region_all(region));
  *rect = meets_here ? here : next;
  if (meets_here && meets_next) return TSR_CROSSING;
  return meets_here || meets_next ? TSR_ALIGNED : TSR_DISJOINT;
}

tsr_relation tsr_region_relate(const tsr_region *home, const tsr_region *region, tsr_rect *rect) {
  if (is_nothing(home) || is_nothing(region)) return TSR_DISJOINT;
  if (home->base >= end_of(region) || region->base >= end_of(home)) return TSR_DISJOINT;
  int64_t bytes = home->base - region->base, size = (int64_t)region->size;
  if (home->size != region->size || home->ld != region->ld || bytes % size != 0)
    return TSR_CROSSING;
  return relate_aligned(home, region, bytes / size, rect);
}

/* Whether the rectangles overlap or have a side or a corner in common. */
static bool touch(tsr_rect a, tsr_rect b) {
  return a.row0 <= b.row1 && b.row0 <= a.row1 && a.col0 <= b.col1 && b.col0 <= a.col1;
}

static tsr_rect hull(tsr_rect a, tsr_rect b) {
  return (tsr_rect){a.row0 < b.row0 ? a.row0 : b.row0, a.col0 < b.col0 ? a.col0 : b.col0,
                    a.row1 > b.row1 ? a.row1 : b.row1, a.col1 > b.col1 ? a.col1 : b.col1};
}

bool tsr_region_join(tsr_region *region, const tsr_region *other) {
  int64_t bytes = other->base - region->base, size = (int64_t)region->size, ld = region->ld;
  if (other->size != region->size || other->ld != ld || bytes % size != 0) return false;
  int64_t row = (bytes / size % ld + ld) % ld, col = (bytes / size - row) / ld;
  /* The first position, or that in the next column, above the region's first row. */
  for (int next = 0; next < 2; next++, row -= ld, col++) {
    tsr_rect there = tsr_rect_make(row, col, other->rows, other->cols);
    tsr_rect all = tsr_region_all(region), both = hull(all, there);
    if (!touch(all, there) || both.row1 - both.row0 > ld || tsr_rect_contains(all, there)) continue;
    *region = tsr_region_part(region, both);
    return true;
  }
  return false;
}

tsr_rect tsr_region_crossed(const tsr_region *home, const tsr_region *region) {
  int64_t step = home->ld * (int64_t)home->size, length = home->rows * (int64_t)home->size;
  int64_t begin = region->base - home->base, end = end_of(region) - home->base;
  int64_t first = begin - length < 0 ? 0 : (begin - length) / step + 1;
  int64_t last = end <= 0 ? 0 : (end + step - 1) / step;
  if (last > home->cols) last = home->cols;
  return (tsr_rect){0, first, home->rows, last};
}
