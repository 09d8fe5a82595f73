/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/doors/pblas/mpi/operand.h"

#include "base/least.h"
#include "base/types.h"

/* One direction of a distributed matrix and of a part of it: rows (0) or columns (1). */
typedef struct direction {
  int64_t begin, extent; /* of the part, in indices */
  int64_t whole;         /* extent of the matrix */
  int64_t first, block;  /* extents of the first block and of the others */
  int source, count, me; /* coordinate with the first block; number of coordinates; our own */
  bool replicated;       /* every coordinate has all indices */
} direction;

static void look(const tsr_pblas_call *call, const tsr_pblas_matrix *x, int64_t rows, int64_t cols,
                 direction d[2]) {
  const tsr_pblas_grid *g = &call->grid;
  d[0] = (direction){x->i, rows, x->m, x->imb, x->mb, x->row_source, g->rows, g->row, false};
  d[1] = (direction){x->j, cols, x->n, x->inb, x->nb, x->col_source, g->cols, g->col, false};
  for (int i = 0; i < 2; i++) {
    d[i].replicated = d[i].source < 0 && d[i].count > 1;
    if (d[i].source < 0) d[i].source = 0;
  }
}

/* ---- Replicated: one block of the part for each coordinate --------------------- */

/* The extent of a block when the part is split evenly. */
static int64_t even(const direction *d) {
  int64_t block = (d->extent + d->count - 1) / d->count;
  return block > 0 ? block : 1;
}

/* The first index of a coordinate's block in a copy of the matrix. */
static int64_t begin_of(const direction *d, int whose) {
  return d->begin + tsr_least(whose * even(d), d->extent);
}

static int64_t extent_of(const direction *d, int whose) {
  return tsr_least(even(d), d->extent - (begin_of(d, whose) - d->begin));
}

/* The direction of a matrix that consists of the part alone, one even block for each coordinate. */
static direction split_evenly(const direction *d) {
  direction part = *d;
  part.begin = 0;
  part.whole = d->extent;
  part.first = part.block = even(d);
  return part;
}

/* ---- Views -------------------------------------------------------------------- */

static void *move(const tsr_pblas_matrix *x, tsr_type type, int64_t row, int64_t col) {
  if (x->data == NULL) return NULL;
  return (char *)x->data + (row + col * x->ld) * (int64_t)tsr_type_get(type)->size;
}

static tsr_pmatrix describe(const tsr_pblas_state *state, tsr_type type, const direction d[2]) {
  return (tsr_pmatrix){.grid = state->grid,
                       .type = type,
                       .m = d[0].whole,
                       .n = d[1].whole,
                       .mb = d[0].block,
                       .nb = d[1].block,
                       .imb = d[0].first,
                       .inb = d[1].first,
                       .row_source = d[0].source,
                       .col_source = d[1].source};
}

/* How many of a direction's first `indices` indices this process has, if the direction is not
 * replicated. */
static int64_t here(const tsr_pblas_state *state, const direction d[2], int which,
                    int64_t indices) {
  direction cut[2] = {d[0], d[1]};
  int64_t extent[2] = {0, 0};
  cut[which].whole = indices;
  tsr_pmatrix matrix = describe(state, TSR_S, cut);
  if (tsr_pmatrix_extents(&matrix, &extent[0], &extent[1]) != TSR_OK) return 0;
  return extent[which];
}

/* The number of a direction's indices that this process has. */
static int64_t local(const tsr_pblas_state *state, const direction d[2], int which) {
  return d[which].replicated ? d[which].whole : here(state, d, which, d[which].whole);
}

/* The leading dimension of the view; 0: the caller's is too small, which tsr_pgemm reports. A
 * process without columns may have any leading dimension >= 1, as in ScaLAPACK. */
static int64_t ld_of(const tsr_pblas_state *state, const tsr_pblas_matrix *x,
                     const direction d[2]) {
  int64_t rows = local(state, d, 0), cols = local(state, d, 1);
  if (x->ld < 1) return 0;
  if (x->ld >= rows) return x->ld;
  return cols > 0 ? 0 : rows;
}

tsr_pblas_view tsr_pblas_view_of(const tsr_pblas_state *state, const tsr_pblas_call *call,
                                 const tsr_pblas_matrix *x, int64_t rows, int64_t cols) {
  direction d[2];
  int64_t moved[2] = {0, 0}; /* row and column of the view's first element in a copy */
  look(call, x, rows, cols, d);
  int64_t ld = ld_of(state, x, d);
  for (int i = 0; i < 2; i++) {
    if (!d[i].replicated) continue;
    moved[i] = begin_of(&d[i], d[i].me);
    d[i] = split_evenly(&d[i]);
  }
  tsr_pblas_view view = {describe(state, call->type, d), d[0].begin, d[1].begin};
  view.matrix.ld = ld;
  view.matrix.data = move(x, call->type, moved[0], moved[1]);
  return view;
}

/* ---- Copies of C -------------------------------------------------------------- */

/* The rows (which = 0) or columns (1) that coordinate `whose` sends. Replicated: those of its
 * block. Not replicated: all of the part that this process has, since the receivers have the same
 * ones. */
static void range(const tsr_pblas_state *state, const direction d[2], int which, int whose,
                  int64_t *begin, int64_t *extent) {
  const direction *x = &d[which];
  *begin = x->replicated ? begin_of(x, whose) : here(state, d, which, x->begin);
  *extent =
      x->replicated ? extent_of(x, whose) : here(state, d, which, x->begin + x->extent) - *begin;
}

/* Broadcasts a block as one element of a strided MPI type; the stride (ld) may differ from process
 * to process. */
static tsr_status broadcast(void *block, int64_t rows, int64_t cols, int64_t ld, size_t size,
                            int root, MPI_Comm comm) {
  MPI_Datatype type;
  MPI_Type_create_hvector((int)cols, (int)rows * (int)size, (MPI_Aint)(ld * (int64_t)size),
                          MPI_BYTE, &type);
  MPI_Type_commit(&type);
  int code = MPI_Bcast(block, 1, type, root, comm);
  MPI_Type_free(&type);
  if (code == MPI_SUCCESS) return TSR_OK;
  return tsr_fail(TSR_ERR_INTERNAL, "MPI_Bcast failed with code %d", code);
}

static tsr_status spread_one(const tsr_pblas_state *state, const tsr_pblas_call *call,
                             const tsr_pblas_matrix *x, const direction d[2], const int whose[2],
                             MPI_Comm comm, int root) {
  int64_t begin[2], extent[2];
  for (int i = 0; i < 2; i++) range(state, d, i, whose[i], &begin[i], &extent[i]);
  if (extent[0] == 0 || extent[1] == 0) return TSR_OK;
  return broadcast(move(x, call->type, begin[0], begin[1]), extent[0], extent[1], x->ld,
                   tsr_type_get(call->type)->size, root, comm);
}

tsr_status tsr_pblas_spread(tsr_pblas_state *state, const tsr_pblas_call *call,
                            const tsr_pblas_matrix *x, int64_t rows, int64_t cols) {
  direction d[2];
  look(call, x, rows, cols, d);
  bool both = d[0].replicated && d[1].replicated;
  if (!d[0].replicated && !d[1].replicated) return TSR_OK;
  MPI_Comm comm = both ? state->all : tsr_pblas_across(state, &call->grid, d[0].replicated ? 0 : 1);
  int owners[2] = {d[0].replicated ? d[0].count : 1, d[1].replicated ? d[1].count : 1};
  for (int root = 0; root < owners[0] * owners[1]; root++) {
    const int whose[2] = {root / owners[1], root % owners[1]};
    TSR_TRY(spread_one(state, call, x, d, whose, comm, root));
  }
  return TSR_OK;
}
