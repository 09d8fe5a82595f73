/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/layout/view.h"

#include <string.h>

#include "base/types.h"

static tsr_axis axis_of(const tsr_grid *grid, const tsr_pmatrix *x, int direction) {
  const int64_t *ends = direction == 0 ? x->row_ends : x->col_ends;
  if (ends != NULL)
    return tsr_axis_irregular(ends, direction == 0 ? x->row_blocks : x->col_blocks,
                              direction == 0 ? x->row_source : x->col_source,
                              grid->extent[direction]);
  int64_t block = direction == 0 ? x->mb : x->nb, first = direction == 0 ? x->imb : x->inb;
  return (tsr_axis){.extent = direction == 0 ? x->m : x->n,
                    .first = first > 0 ? first : block,
                    .block = block,
                    .source = direction == 0 ? x->row_source : x->col_source,
                    .count = grid->extent[direction]};
}

tsr_view tsr_view_make(const tsr_pmatrix *x, int64_t i, int64_t j, int64_t rows, int64_t cols,
                       tsr_op op) {
  const tsr_grid *grid = x->grid;
  tsr_axis whole[2] = {axis_of(grid, x, 0), axis_of(grid, x, 1)};
  tsr_axis part[2] = {tsr_axis_part(&whole[0], i, rows), tsr_axis_part(&whole[1], j, cols)};
  int weight[2] = {grid->extent[1], 1};
  int64_t stride[2] = {1, x->ld};
  tsr_view view = {.size = tsr_type_get(x->type)->size,
                   .conjugate = op == TSR_CONJ_TRANS && tsr_type_get(x->type)->complex_valued};
  for (int d = 0; d < 2; d++) {
    int from = op == TSR_NO_TRANS ? d : 1 - d;
    view.axis[d] = part[from];
    view.weight[d] = weight[from];
    view.me[d] = grid->me[from];
    view.stride[d] = stride[from];
  }
  int64_t offset = tsr_axis_before(&whole[0], grid->me[0], i) +
                   tsr_axis_before(&whole[1], grid->me[1], j) * x->ld;
  view.base = x->data != NULL ? (char *)x->data + offset * (int64_t)view.size : NULL;
  return view;
}

int64_t tsr_view_local(const tsr_view *view, int direction) {
  return tsr_axis_local(&view->axis[direction], view->me[direction]);
}

char *tsr_view_at(const tsr_view *view, int64_t row, int64_t col) {
  int64_t offset = tsr_axis_before(&view->axis[0], view->me[0], row) * view->stride[0] +
                   tsr_axis_before(&view->axis[1], view->me[1], col) * view->stride[1];
  return view->base + offset * (int64_t)view->size;
}

/* ---- Elements ------------------------------------------------------------- */

/* The size is a constant here, so that the compiler makes each memcpy one load and one store. */
#define COPY_COLUMN(bytes)                                 \
  for (int64_t i = 0; i < rows; i++) {                     \
    memcpy(to + i * to_step, from + i * from_step, bytes); \
  }

static void copy_column(size_t size, int64_t rows, const char *from, int64_t from_step, char *to,
                        int64_t to_step) {
  if (size == 2) {
    COPY_COLUMN(2)
  } else if (size == 4) {
    COPY_COLUMN(4)
  } else if (size == 8) {
    COPY_COLUMN(8)
  } else {
    COPY_COLUMN(16)
  }
}

void tsr_block_copy(size_t size, const int64_t extent[2], const char *from,
                    const int64_t from_stride[2], char *to, const int64_t to_stride[2]) {
  int64_t bytes = (int64_t)size;
  bool whole = from_stride[0] == 1 && to_stride[0] == 1;
  for (int64_t j = 0; j < extent[1]; j++) {
    const char *source = from + j * from_stride[1] * bytes;
    char *target = to + j * to_stride[1] * bytes;
    if (whole)
      memcpy(target, source, (size_t)(extent[0] * bytes));
    else
      copy_column(size, extent[0], source, from_stride[0] * bytes, target, to_stride[0] * bytes);
  }
}

void tsr_block_conjugate(size_t size, int64_t count, char *elements) {
  if (size == 8) {
    float *x = (float *)(void *)elements;
    for (int64_t i = 0; i < count; i++) x[2 * i + 1] = -x[2 * i + 1];
  } else {
    double *x = (double *)(void *)elements;
    for (int64_t i = 0; i < count; i++) x[2 * i + 1] = -x[2 * i + 1];
  }
}
