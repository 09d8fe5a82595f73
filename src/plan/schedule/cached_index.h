/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An index of cached blocks by place: which blocks of an operand overlap a rectangle, or contain
 * it.
 *
 * Each operand is cut into a grid of cells, and each cell lists the blocks that overlap it. A
 * matrix that is partitioned block-cyclically has thousands of cached blocks, of which a few
 * overlap a tile.
 */
#ifndef TSR_PLAN_SCHEDULE_CACHED_INDEX_H
#define TSR_PLAN_SCHEDULE_CACHED_INDEX_H

#include "blas/call.h"
#include "plan/residency.h"

/* A block in the list of a cell; next is -1 at the end. */
typedef struct tsr_cached_link {
  int32_t block, next;
} tsr_cached_link;

typedef struct tsr_cached_cells {
  int64_t cell_rows, cell_cols;
  int down, across;
  int32_t *first; /* [row + column * down]: first link of the cell's list */
} tsr_cached_cells;

typedef struct tsr_cached_index {
  tsr_cached_cells cells[TSR_OPERANDS];
  TSR_VEC(tsr_cached_link) links;
  TSR_VEC(int32_t) found;  /* blocks found by the last question, ascending */
  TSR_VEC(uint32_t) asked; /* for each block: the last question that came across it */
  uint32_t questions;
} tsr_cached_index;

/* expected: about how many blocks each operand will have. A zeroed index may be freed. False: no
 * host memory. */
bool tsr_cached_index_init(tsr_cached_index *index, const tsr_call *call,
                           const size_t expected[TSR_OPERANDS]);
void tsr_cached_index_free(tsr_cached_index *index);

/* Adds a block. Blocks are numbered from 0 as they are added. False: no host memory. */
bool tsr_cached_index_add(tsr_cached_index *index, const tsr_cached_block *block);

/* Finds the blocks of an operand that overlap the rectangle: index->found, until the next question.
 * False: no host memory. */
bool tsr_cached_index_ask(tsr_cached_index *index, const tsr_residency *blocks, int matrix,
                          tsr_rect rect);

/* The block of least number, of an operand at the device, that contains the rectangle; -1: none. */
int32_t tsr_cached_index_holder(const tsr_cached_index *index, const tsr_residency *blocks,
                                int matrix, tsr_rect rect, int device);

#endif
