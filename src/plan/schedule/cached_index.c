/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/cached_index.h"

#include <stdlib.h>

#include "base/alloc.h"

/* Most cells along one direction: 1024 cells in all, a small index beside thousands of blocks. */
enum { NONE = -1, MOST_CELLS = 32 };

/* ---- Cells ---------------------------------------------------------------- */

static int64_t at_least_one(int64_t x) {
  return x > 1 ? x : 1;
}

/* Cells along one direction, so that the grid has about as many cells as blocks. */
static int cells_along(size_t blocks) {
  int cells = 1;
  while (cells < MOST_CELLS && (size_t)cells * (size_t)cells < blocks) cells *= 2;
  return cells;
}

static bool make_cells(const tsr_operand *operand, size_t blocks, tsr_cached_cells *c) {
  c->down = c->across = cells_along(blocks);
  c->cell_rows = at_least_one((operand->rows + c->down - 1) / c->down);
  c->cell_cols = at_least_one((operand->cols + c->across - 1) / c->across);
  size_t count = (size_t)c->down * (size_t)c->across;
  c->first = tsr_alloc(sizeof *c->first * count);
  for (size_t i = 0; c->first != NULL && i < count; i++) c->first[i] = NONE;
  return c->first != NULL;
}

/* The cell of an index. Indices outside of the operand belong to the cells at its edge. */
static int cell_at(int64_t at, int64_t length, int cells) {
  int64_t cell = at < 0 ? 0 : at / length;
  return cell < cells ? (int)cell : cells - 1;
}

/* Cells [row0, row1] x [col0, col1] of a rectangle. */
typedef struct range {
  int row0, row1, col0, col1;
} range;

static range range_of(const tsr_cached_cells *c, tsr_rect r) {
  return (range){cell_at(r.row0, c->cell_rows, c->down), cell_at(r.row1 - 1, c->cell_rows, c->down),
                 cell_at(r.col0, c->cell_cols, c->across),
                 cell_at(r.col1 - 1, c->cell_cols, c->across)};
}

static int32_t *first_of(const tsr_cached_cells *c, int row, int col) {
  return &c->first[row + col * c->down];
}

/* ---- The index ------------------------------------------------------------ */

bool tsr_cached_index_init(tsr_cached_index *index, const tsr_call *call,
                           const size_t expected[TSR_OPERANDS]) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (!make_cells(&call->operand[x], expected[x], &index->cells[x])) return false;
  return true;
}

void tsr_cached_index_free(tsr_cached_index *index) {
  for (int x = 0; x < TSR_OPERANDS; x++) tsr_dealloc(index->cells[x].first);
  TSR_VEC_FREE(&index->links);
  TSR_VEC_FREE(&index->found);
  TSR_VEC_FREE(&index->asked);
}

bool tsr_cached_index_add(tsr_cached_index *index, const tsr_cached_block *block) {
  const tsr_cached_cells *c = &index->cells[block->matrix];
  range r = range_of(c, block->rect);
  int32_t number = (int32_t)index->asked.count;
  if (!TSR_VEC_PUSH(&index->asked, 0)) return false;
  for (int col = r.col0; col <= r.col1; col++)
    for (int row = r.row0; row <= r.row1; row++) {
      int32_t *first = first_of(c, row, col);
      if (!TSR_VEC_PUSH(&index->links, ((tsr_cached_link){number, *first}))) return false;
      *first = (int32_t)index->links.count - 1;
    }
  return true;
}

static int by_number(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

static bool ask_cell(tsr_cached_index *index, const tsr_residency *blocks, int32_t first,
                     tsr_rect rect) {
  for (int32_t i = first; i != NONE; i = index->links.items[i].next) {
    int32_t block = index->links.items[i].block;
    if (index->asked.items[block] == index->questions) continue;
    index->asked.items[block] = index->questions;
    if (!tsr_rect_meet(blocks->blocks.items[block].rect, rect)) continue;
    if (!TSR_VEC_PUSH(&index->found, block)) return false;
  }
  return true;
}

bool tsr_cached_index_ask(tsr_cached_index *index, const tsr_residency *blocks, int matrix,
                          tsr_rect rect) {
  const tsr_cached_cells *c = &index->cells[matrix];
  range r = range_of(c, rect);
  index->found.count = 0;
  index->questions++;
  for (int col = r.col0; col <= r.col1; col++)
    for (int row = r.row0; row <= r.row1; row++)
      if (!ask_cell(index, blocks, *first_of(c, row, col), rect)) return false;
  if (index->found.count > 1)
    qsort(index->found.items, index->found.count, sizeof *index->found.items, by_number);
  return true;
}

/* A block that contains the rectangle is in the list of the cell that the rectangle begins in. */
int32_t tsr_cached_index_holder(const tsr_cached_index *index, const tsr_residency *blocks,
                                int matrix, tsr_rect rect, int device) {
  const tsr_cached_cells *c = &index->cells[matrix];
  range r = range_of(c, rect);
  int32_t best = NONE;
  for (int32_t i = *first_of(c, r.row0, r.col0); i != NONE; i = index->links.items[i].next) {
    int32_t number = index->links.items[i].block;
    const tsr_cached_block *block = &blocks->blocks.items[number];
    if (block->device != device || !tsr_rect_contains(block->rect, rect)) continue;
    best = number; /* lists go from the latest block to the first */
  }
  return best;
}
