/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Keeps who wrote and who read which rectangle of a buffer, in a grid of cells. */
#include "base/alloc.h"
#include "base/least.h"
#include "plan/verify/verify.h"

/* ---- The grid ---- */

static int64_t cells_along(int64_t extent, int64_t cell) {
  return (extent + cell - 1) / cell;
}

static int64_t cell_extent(double mean, int64_t extent) {
  double twice = 2 * mean + 1;
  return twice < (double)extent ? (int64_t)twice : tsr_most(extent, 1);
}

void tsr_regions_start(tsr_regions *regions, tsr_rect all, double accesses, double mean_rows,
                       double mean_cols) {
  int64_t rows = all.row1 - all.row0, cols = all.col1 - all.col0;
  int64_t high = cell_extent(mean_rows, rows), wide = cell_extent(mean_cols, cols);
  while ((double)cells_along(rows, high) * (double)cells_along(cols, wide) > accesses + 1) {
    high = high < rows ? tsr_least(2 * high, rows) : high;
    wide = wide < cols ? tsr_least(2 * wide, cols) : wide;
  }
  *regions = (tsr_regions){.all = all, .cell_rows = high, .cell_cols = wide};
  regions->grid_rows = cells_along(rows, high);
  regions->grid_cols = cells_along(cols, wide);
}

void tsr_regions_stop(tsr_regions *regions) {
  int64_t count = regions->cells == NULL ? 0 : regions->grid_rows * regions->grid_cols;
  for (int64_t i = 0; i < count; i++) {
    TSR_VEC_FREE(&regions->cells[i].parts);
    TSR_VEC_FREE(&regions->cells[i].readings);
  }
  tsr_dealloc(regions->cells);
  regions->cells = NULL;
}

/* A walk over the cells that a rectangle overlaps. */
typedef struct walk {
  const tsr_regions *regions;
  tsr_rect rect, cell; /* cell: the part of rect in the cell at hand */
  int64_t row, col;
} walk;

static walk walk_start(const tsr_regions *regions, tsr_rect rect) {
  int64_t col = (rect.col0 - regions->all.col0) / regions->cell_cols;
  return (walk){regions, rect, rect, (rect.row0 - regions->all.row0) / regions->cell_rows - 1, col};
}

static tsr_rect cell_rect(const tsr_regions *regions, int64_t row, int64_t col) {
  tsr_rect cell = tsr_rect_make(regions->all.row0 + row * regions->cell_rows,
                                regions->all.col0 + col * regions->cell_cols, regions->cell_rows,
                                regions->cell_cols);
  return tsr_rect_intersect(cell, regions->all);
}

static tsr_cell *walk_next(walk *w) {
  const tsr_regions *regions = w->regions;
  if (regions->cells == NULL) return NULL;
  int64_t last_row = (w->rect.row1 - 1 - regions->all.row0) / regions->cell_rows;
  int64_t last_col = (w->rect.col1 - 1 - regions->all.col0) / regions->cell_cols;
  if (++w->row > last_row) {
    w->row = (w->rect.row0 - regions->all.row0) / regions->cell_rows;
    if (++w->col > last_col) return NULL;
  }
  w->cell = tsr_rect_intersect(w->rect, cell_rect(regions, w->row, w->col));
  return &regions->cells[w->row + w->col * regions->grid_rows];
}

/* ---- Accesses ---- */

tsr_status tsr_regions_find(const tsr_regions *regions, tsr_rect rect, tsr_parts *parts) {
  walk w = walk_start(regions, rect);
  for (tsr_cell *cell; (cell = walk_next(&w)) != NULL;) {
    for (size_t i = 0; i < cell->parts.count; i++) {
      tsr_part part = cell->parts.items[i];
      part.rect = tsr_rect_intersect(part.rect, rect);
      if (!tsr_rect_empty(part.rect) && !TSR_VEC_PUSH(parts, part)) return tsr_verify_no_memory();
    }
  }
  return TSR_OK;
}

uint32_t tsr_regions_conflict(const tsr_regions *regions, tsr_rect rect, bool write,
                              const tsr_order *order, uint32_t command) {
  walk w = walk_start(regions, rect);
  for (tsr_cell *cell; (cell = walk_next(&w)) != NULL;) {
    for (size_t i = 0; i < cell->parts.count; i++) {
      const tsr_part *part = &cell->parts.items[i];
      if (tsr_rect_meet(part->rect, rect) && !tsr_order_before(order, part->command, command))
        return part->command;
    }
    for (size_t i = 0; write && i < cell->readings.count; i++) {
      const tsr_reading *reading = &cell->readings.items[i];
      if (tsr_rect_meet(reading->rect, rect) && !tsr_order_before(order, reading->command, command))
        return reading->command;
    }
  }
  return TSR_NO_COMMAND;
}

/* Adds a reading. An earlier reading inside its rectangle, which the order puts before it, is
 * dropped: a write that comes after the new reading comes after the old one. */
static tsr_status read_cell(tsr_cell *cell, tsr_reading reading, const tsr_order *order) {
  size_t kept = 0;
  for (size_t i = 0; i < cell->readings.count; i++) {
    tsr_reading other = cell->readings.items[i];
    if (tsr_rect_contains(reading.rect, other.rect) &&
        tsr_order_before(order, other.command, reading.command))
      continue;
    cell->readings.items[kept++] = other;
  }
  cell->readings.count = kept;
  return TSR_VEC_PUSH(&cell->readings, reading) ? TSR_OK : tsr_verify_no_memory();
}

tsr_status tsr_regions_read(tsr_regions *regions, tsr_rect rect, const tsr_order *order,
                            uint32_t command) {
  walk w = walk_start(regions, rect);
  for (tsr_cell *cell; (cell = walk_next(&w)) != NULL;)
    TSR_TRY(read_cell(cell, (tsr_reading){w.cell, command}, order));
  return TSR_OK;
}

static tsr_status write_cell(tsr_cell *cell, tsr_part written) {
  size_t old = cell->parts.count, kept = 0;
  for (size_t i = 0; i < old; i++) {
    tsr_part part = cell->parts.items[i];
    tsr_rect pieces[4];
    int count = tsr_rect_subtract(part.rect, written.rect, pieces);
    if (count == 0) continue;
    part.rect = pieces[0];
    cell->parts.items[kept++] = part;
    for (int p = 1; p < count; p++) {
      part.rect = pieces[p];
      if (!TSR_VEC_PUSH(&cell->parts, part)) return tsr_verify_no_memory();
    }
  }
  /* Close the gap between the parts that were kept and those that were added behind. */
  for (size_t i = old; i < cell->parts.count; i++) cell->parts.items[kept++] = cell->parts.items[i];
  cell->parts.count = kept;
  return TSR_VEC_PUSH(&cell->parts, written) ? TSR_OK : tsr_verify_no_memory();
}

static void forget_readings(tsr_cell *cell, tsr_rect written) {
  size_t kept = 0;
  for (size_t i = 0; i < cell->readings.count; i++)
    if (!tsr_rect_contains(written, cell->readings.items[i].rect))
      cell->readings.items[kept++] = cell->readings.items[i];
  cell->readings.count = kept;
}

tsr_status tsr_regions_write(tsr_regions *regions, tsr_rect rect, uint32_t command) {
  if (tsr_rect_empty(rect)) return TSR_OK;
  if (regions->cells == NULL) {
    size_t count = (size_t)(regions->grid_rows * regions->grid_cols);
    regions->cells = tsr_alloc_zero(count, sizeof *regions->cells);
    if (regions->cells == NULL) return tsr_verify_no_memory();
  }
  walk w = walk_start(regions, rect);
  for (tsr_cell *cell; (cell = walk_next(&w)) != NULL;) {
    TSR_TRY(write_cell(cell, (tsr_part){w.cell, command}));
    forget_readings(cell, w.cell);
  }
  return TSR_OK;
}

/* ---- Holes ---- */

static tsr_status find_hole(const tsr_parts *parts, tsr_rect rect, tsr_rect *hole) {
  tsr_rects left = {NULL, 0, 0}; /* the rest that no part covers */
  bool enough = tsr_rects_add(&left, rect);
  for (size_t i = 0; enough && i < parts->count; i++)
    enough = tsr_rects_subtract(&left, parts->items[i].rect);
  *hole = enough && left.count > 0 ? left.items[0].rect : rect;
  tsr_rects_free(&left);
  return enough ? TSR_OK : tsr_verify_no_memory();
}

tsr_status tsr_parts_fill(const tsr_parts *parts, tsr_rect rect, bool *fill, tsr_rect *hole) {
  double covered = 0;
  for (size_t i = 0; i < parts->count; i++) covered += tsr_rect_area(parts->items[i].rect);
  *fill = covered >= tsr_rect_area(rect);
  return *fill ? TSR_OK : find_hole(parts, rect, hole);
}
