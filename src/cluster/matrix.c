/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Distributed matrices: checks, and the functions that make and destroy them. */
#include <string.h>

#include "base/alloc.h"
#include "base/flags.h"
#include "base/thread.h"
#include "base/types.h"
#include "cluster/view.h"

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
  if (type == TSR_S || type == TSR_D || type == TSR_C || type == TSR_Z) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s->type is %d; distributed matrices are of type TSR_S, "
                  "TSR_D, TSR_C or TSR_Z",
                  name, (int)type);
}

static tsr_status check_layout(const char *name, const tsr_pmatrix *x) {
  TSR_TRY(check_type(name, x->type));
  TSR_TRY(at_least(name, "m", x->m, 0));
  TSR_TRY(at_least(name, "n", x->n, 0));
  TSR_TRY(at_least(name, "mb", x->mb, 1));
  TSR_TRY(at_least(name, "nb", x->nb, 1));
  TSR_TRY(at_least(name, "imb", x->imb, 0));
  TSR_TRY(at_least(name, "inb", x->inb, 0));
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

void tsr_record_add_matrix(tsr_record *record, const char *object, const tsr_pmatrix *x, int64_t i,
                           int64_t j) {
  if (x == NULL) return; /* tsr_pmatrix_check reports it */
  tsr_record_add(record, object, "type", x->type);
  tsr_record_add(record, object, "m", x->m);
  tsr_record_add(record, object, "n", x->n);
  tsr_record_add(record, object, "mb", x->mb);
  tsr_record_add(record, object, "nb", x->nb);
  tsr_record_add(record, object, "imb", x->imb > 0 ? x->imb : x->mb);
  tsr_record_add(record, object, "inb", x->inb > 0 ? x->inb : x->nb);
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
  tsr_status status = TSR_OK;
  if (matrix == NULL)
    status = tsr_fail(TSR_ERR_ARGUMENT, "matrix is NULL; give the address of a tsr_pmatrix");
  if (status == TSR_OK) status = allocate(&made);
  tsr_record record = tsr_record_begin(TSR_RECORD_MATRIX);
  tsr_record_add_matrix(&record, "matrix->", &made, 0, 0);
  status = tsr_agree(&grid->all, &record, status);
  if (status != TSR_OK) {
    tsr_free(grid->context, made.data);
    return status;
  }
  *matrix = made;
  return TSR_OK;
}

TSR_ENTRY_VOID(tsr_pmatrix_destroy, (matrix), tsr_pmatrix *matrix) {
  if (matrix == NULL || matrix->grid == NULL) return;
  tsr_free(matrix->grid->context, matrix->data);
  *matrix = (tsr_pmatrix){0};
}
