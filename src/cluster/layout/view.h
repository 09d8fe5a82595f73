/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A view: op() of a part of a distributed matrix as one process sees it. It says which process owns
 * which index in both directions, and where this process's own elements are. A transposed view has
 * its two directions exchanged, so code that works on views needs no case for transposition.
 */
#ifndef TSR_CLUSTER_LAYOUT_VIEW_H
#define TSR_CLUSTER_LAYOUT_VIEW_H

#include <stddef.h>

#include "cluster/layout/axis.h"
#include "cluster/run/grid.h"

typedef struct tsr_view {
  tsr_axis axis[2];  /* rows and columns of the view */
  int weight[2];     /* the process at coordinates (x, y) in the axes has rank
                        x * weight[0] + y * weight[1] */
  int me[2];         /* this process's coordinates in the axes */
  int64_t stride[2]; /* elements from one own row, or column, to the next */
  char *base;        /* the first own element of the part */
  size_t size;       /* bytes of an element */
  bool conjugate;    /* the view's elements are the conjugates of the stored ones */
} tsr_view;

/* TSR_ERR_ARGUMENT if a field of the matrix is wrong or the matrix is not on the grid. `name` is
 * the matrix's name in the message. data: the matrix must have storage. */
tsr_status tsr_pmatrix_check(const tsr_grid *grid, const char *name, const tsr_pmatrix *matrix,
                             bool data);

/* Whether distributed matrices may be of the type. */
static inline bool tsr_pmatrix_has_type(tsr_type type) {
  return type == TSR_S || type == TSR_D || type == TSR_C || type == TSR_Z || type == TSR_H ||
         type == TSR_B;
}

/* TSR_ERR_ARGUMENT if the part of rows x cols at (i, j) is not inside the matrix. */
tsr_status tsr_pmatrix_check_part(const char *name, const tsr_pmatrix *matrix, int64_t i, int64_t j,
                                  int64_t rows, int64_t cols);

/* TSR_ERR_ARGUMENT if op is no value of tsr_op; `name` is the argument's. */
tsr_status tsr_op_check(const char *name, tsr_op op);

/* Adds to a record the fields of a matrix that must be the same on all processes, and where its
 * part begins: (i, j). Nothing if the matrix is NULL. */
void tsr_record_add_matrix(tsr_record *record, const char *object, const tsr_pmatrix *matrix,
                           int64_t i, int64_t j);

/* op() of the stored part of rows x cols at (i, j). Matrix and part must have been checked. */
tsr_view tsr_view_make(const tsr_pmatrix *matrix, int64_t i, int64_t j, int64_t rows, int64_t cols,
                       tsr_op op);

/* The number of own rows (direction 0) or columns (1) of a view. */
int64_t tsr_view_local(const tsr_view *view, int direction);

/* The address of this process's first element in row >= row and column >= col of the view. */
char *tsr_view_at(const tsr_view *view, int64_t row, int64_t col);

/* Copies extent[0] x extent[1] elements of `size` bytes (2, 4, 8 or 16). Strides are in elements.
 */
void tsr_block_copy(size_t size, const int64_t extent[2], const char *from,
                    const int64_t from_stride[2], char *to, const int64_t to_stride[2]);

/* Conjugates `count` complex elements of 8 or 16 bytes. */
void tsr_block_conjugate(size_t size, int64_t count, char *elements);

#endif
