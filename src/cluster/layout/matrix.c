/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Distributed matrices: checks, and the functions that make and destroy them. */
#include <string.h>

#include "base/alloc.h"
#include "base/flags.h"
#include "base/thread.h"
#include "base/types.h"
#include "cluster/layout/view.h"

/* ---- Checks --------------------------------------------------------------- */

static tsr_status at_least(const char *name, const char *field, int64_t value, int64_t least) {
  if (value >= least) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s->%s is %lld; give at least %lld", name, field,
                  (long long)value, (long long)least);
}

static tsr_status source_is(const char *name, const char *field, int value, int count) {
  if (value >= 0 && value < count) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s->%s is %d; the grid has 0 to %d in that direction", name,
                  field, value, count - 1);
}

tsr_status tsr_op_check(const char *name, tsr_op op) {
  if (op == TSR_NO_TRANS || op == TSR_TRANS || op == TSR_CONJ_TRANS) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s is %d%s; give TSR_NO_TRANS, TSR_TRANS or TSR_CONJ_TRANS",
                  name, (int)op, tsr_flag_of_cblas((int)op));
}

static tsr_status check_type(const char *name, tsr_type type) {
  if (tsr_pmatrix_has_type(type)) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s->type is %d; distributed matrices are of type TSR_S, "
                  "TSR_D, TSR_C, TSR_Z, TSR_H or TSR_B",
                  name, (int)type);
}

/* Ends of irregular blocks increase to the extent. */
static tsr_status check_ends(const char *name, const char *field, const int64_t *ends,
                             int64_t blocks, int64_t extent) {
  TSR_TRY(at_least(name, field[0] == 'r' ? "row_blocks" : "col_blocks", blocks, 0));
  for (int64_t b = 0; b < blocks; b++)
    if (ends[b] <= (b > 0 ? ends[b - 1] : 0))
      return tsr_fail(TSR_ERR_ARGUMENT,
                      "%s->%s[%lld] is %lld and the block begins at %lld; give each block at least "
                      "one index",
                      name, field, (long long)b, (long long)ends[b],
                      (long long)(b > 0 ? ends[b - 1] : 0));
  int64_t last = blocks > 0 ? ends[blocks - 1] : 0;
  if (last == extent) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "the last of %lld entries of %s->%s is %lld, and the matrix ends at %lld; give "
                  "the ends of all blocks",
                  (long long)blocks, name, field, (long long)last, (long long)extent);
}

static tsr_status check_blocks(const char *name, const tsr_pmatrix *x, int direction) {
  bool rows = direction == 0;
  const int64_t *ends = rows ? x->row_ends : x->col_ends;
  if (ends != NULL)
    return check_ends(name, rows ? "row_ends" : "col_ends", ends,
                      rows ? x->row_blocks : x->col_blocks, rows ? x->m : x->n);
  TSR_TRY(at_least(name, rows ? "mb" : "nb", rows ? x->mb : x->nb, 1));
  return at_least(name, rows ? "imb" : "inb", rows ? x->imb : x->inb, 0);
}

static tsr_status check_layout(const char *name, const tsr_pmatrix *x) {
  TSR_TRY(check_type(name, x->type));
  TSR_TRY(at_least(name, "m", x->m, 0));
  TSR_TRY(at_least(name, "n", x->n, 0));
  TSR_TRY(check_blocks(name, x, 0));
  TSR_TRY(check_blocks(name, x, 1));
  TSR_TRY(source_is(name, "row_source", x->row_source, x->grid->extent[0]));
  return source_is(name, "col_source", x->col_source, x->grid->extent[1]);
}

static tsr_status check_storage(const char *name, const tsr_pmatrix *x) {
  int64_t rows, cols;
  TSR_TRY(tsr_pmatrix_extents(x, &rows, &cols));
  TSR_TRY(at_least(name, "ld", x->ld, rows > 0 ? rows : 1));
  if (x->data != NULL || rows == 0 || cols == 0) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s->data is NULL; this process has %lld x %lld elements of the matrix", name,
                  (long long)rows, (long long)cols);
}

tsr_status tsr_pmatrix_check(const tsr_grid *grid, const char *name, const tsr_pmatrix *x,
                             bool data) {
  if (x == NULL) return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give a distributed matrix", name);
  if (x->grid != grid)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "%s->grid is another grid than that of the call; give a matrix on the same",
                    name);
  TSR_TRY(check_layout(name, x));
  return data ? check_storage(name, x) : TSR_OK;
}

static tsr_status check_range(const char *name, const char *what, int64_t at, int64_t extent,
                              int64_t whole) {
  if (extent < 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "the part of %s has %lld %ss; give at least 0", name,
                    (long long)extent, what);
  if (at >= 0 && at <= whole && extent <= whole - at) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "the part of %s has %lld %ss from %lld; the matrix has %lld, counted from 0",
                  name, (long long)extent, what, (long long)at, (long long)whole);
}

tsr_status tsr_pmatrix_check_part(const char *name, const tsr_pmatrix *x, int64_t i, int64_t j,
                                  int64_t rows, int64_t cols) {
  TSR_TRY(check_range(name, "row", i, rows, x->m));
  return check_range(name, "column", j, cols, x->n);
}

/* Of irregular blocks their number and a digest, and no extents. The list is looked at only if its
 * entries can be there. */
static void add_blocks(tsr_record *record, const char *object, const tsr_pmatrix *x,
                       int direction) {
  bool rows = direction == 0;
  const int64_t *ends = rows ? x->row_ends : x->col_ends;
  int64_t blocks = rows ? x->row_blocks : x->col_blocks, block = rows ? x->mb : x->nb;
  int64_t first = rows ? x->imb : x->inb;
  bool listed = ends != NULL && blocks >= 0;
  tsr_axis axis = {0};
  if (listed) axis = tsr_axis_irregular(ends, blocks, 0, 1);
  tsr_record_add(record, object, rows ? "mb" : "nb", listed ? 0 : block);
  tsr_record_add(record, object, rows ? "imb" : "inb", listed ? 0 : first > 0 ? first : block);
  tsr_record_add(record, object, rows ? "row_blocks" : "col_blocks", listed ? blocks : 0);
  tsr_record_add(record, object, rows ? "row_ends (digest)" : "col_ends (digest)",
                 (int64_t)axis.digest);
}

void tsr_record_add_matrix(tsr_record *record, const char *object, const tsr_pmatrix *x, int64_t i,
                           int64_t j) {
  if (x == NULL) return; /* tsr_pmatrix_check reports it */
  tsr_record_add(record, object, "type", x->type);
  tsr_record_add(record, object, "m", x->m);
  tsr_record_add(record, object, "n", x->n);
  add_blocks(record, object, x, 0);
  add_blocks(record, object, x, 1);
  tsr_record_add(record, object, "row_source", x->row_source);
  tsr_record_add(record, object, "col_source", x->col_source);
  tsr_record_add(record, object, "first row", i);
  tsr_record_add(record, object, "first column", j);
}

/* ---- Public functions ----------------------------------------------------- */

TSR_ENTRY(tsr_pmatrix_extents, (x, rows, cols), const tsr_pmatrix *x, int64_t *rows,
          int64_t *cols) {
  if (x == NULL) return tsr_fail(TSR_ERR_ARGUMENT, "matrix is NULL; give a distributed matrix");
  TSR_TRY(tsr_grid_check(x->grid));
  TSR_TRY(check_layout("matrix", x));
  tsr_view all = tsr_view_make(x, 0, 0, x->m, x->n, TSR_NO_TRANS);
  if (rows != NULL) *rows = tsr_view_local(&all, 0);
  if (cols != NULL) *cols = tsr_view_local(&all, 1);
  return TSR_OK;
}

static tsr_status allocate(tsr_pmatrix *x) {
  int64_t rows, cols, size = 0, bytes;
  TSR_TRY(tsr_pmatrix_extents(x, &rows, &cols));
  size = (int64_t)tsr_type_get(x->type)->size;
  x->ld = rows > 0 ? rows : 1;
  if (cols > 0 && x->ld > INT64_MAX / size / cols)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for %lld x %lld elements", (long long)rows,
                    (long long)cols);
  bytes = x->ld * cols * size;
  return tsr_malloc(x->grid->context, TSR_HOST, (size_t)bytes, &x->data);
}

static void drop(tsr_pmatrix *x) {
  tsr_free(x->grid->context, x->data);
  tsr_dealloc((void *)x->row_ends);
  tsr_dealloc((void *)x->col_ends);
  *x = (tsr_pmatrix){0};
}

/* Gives the matrix its storage on all processes, or drops it on all of them. status: this process's
 * so far. */
static tsr_status create(tsr_pmatrix *made, tsr_status status, tsr_pmatrix *matrix) {
  if (status == TSR_OK && matrix == NULL)
    status = tsr_fail(TSR_ERR_ARGUMENT, "matrix is NULL; give the address of a tsr_pmatrix");
  if (status == TSR_OK) status = allocate(made);
  tsr_record record = tsr_record_begin(TSR_RECORD_MATRIX);
  tsr_record_add_matrix(&record, "matrix->", made, 0, 0);
  status = tsr_agree(&made->grid->all, &record, status);
  if (status != TSR_OK) {
    tsr_error error;
    tsr_error_take(status, &error);
    drop(made);
    return tsr_error_put(&error);
  }
  *matrix = *made;
  return TSR_OK;
}

TSR_ENTRY(tsr_pmatrix_create, (grid, type, m, n, mb, nb, row_source, col_source, matrix),
          tsr_grid *grid, tsr_type type, int64_t m, int64_t n, int64_t mb, int64_t nb,
          int row_source, int col_source, tsr_pmatrix *matrix) {
  TSR_TRY(tsr_grid_check_real(grid));
  tsr_pmatrix made = {.grid = grid,
                      .type = type,
                      .m = m,
                      .n = n,
                      .mb = mb,
                      .nb = nb,
                      .row_source = row_source,
                      .col_source = col_source};
  return create(&made, TSR_OK, matrix);
}

/* Copies a list of ends; *extent: the last one. name: the argument's. */
static tsr_status copy_ends(const char *name, const int64_t *ends, int64_t blocks,
                            const int64_t **copy, int64_t *extent) {
  if (blocks < 0 || blocks >= INT64_MAX / 8)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s has %lld blocks; give at least 0", name,
                    (long long)blocks);
  if (ends == NULL && blocks > 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give the ends of %lld blocks", name,
                    (long long)blocks);
  int64_t *made = tsr_alloc((size_t)(blocks + 1) * sizeof *made);
  if (made == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for the ends of %lld blocks",
                    (long long)blocks);
  for (int64_t b = 0; b < blocks; b++) made[b] = ends[b];
  *copy = made;
  *extent = blocks > 0 ? ends[blocks - 1] : 0;
  return TSR_OK;
}

TSR_ENTRY(tsr_pmatrix_create_irregular,
          (grid, type, row_blocks, row_ends, col_blocks, col_ends, row_source, col_source, matrix),
          tsr_grid *grid, tsr_type type, int64_t row_blocks, const int64_t *row_ends,
          int64_t col_blocks, const int64_t *col_ends, int row_source, int col_source,
          tsr_pmatrix *matrix) {
  TSR_TRY(tsr_grid_check_real(grid));
  tsr_pmatrix made = {.grid = grid,
                      .type = type,
                      .row_source = row_source,
                      .col_source = col_source,
                      .row_blocks = row_blocks,
                      .col_blocks = col_blocks};
  tsr_status status = copy_ends("row_ends", row_ends, row_blocks, &made.row_ends, &made.m);
  if (status == TSR_OK)
    status = copy_ends("col_ends", col_ends, col_blocks, &made.col_ends, &made.n);
  return create(&made, status, matrix);
}

TSR_ENTRY_VOID(tsr_pmatrix_destroy, (matrix), tsr_pmatrix *matrix) {
  if (matrix != NULL && matrix->grid != NULL) drop(matrix);
}
