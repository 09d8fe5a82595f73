/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Redistribution from one layout to another. Scattering and gathering are redistributions from and
 * to a layout of one block. */
#include "base/flags.h"
#include "base/thread.h"
#include "cluster/layout/exchange.h"
#include "cluster/run/async_queue.h"

/* ---- Between distributed matrices ------------------------------------------ */

typedef struct part {
  const tsr_pmatrix *matrix;
  int64_t i, j;
} part;

static tsr_status check(const tsr_grid *grid, tsr_op op, int64_t m, int64_t n, const part *from,
                        const part *to) {
  TSR_TRY(tsr_op_check("op", op));
  TSR_TRY(tsr_pmatrix_check(grid, "from", from->matrix, true));
  TSR_TRY(tsr_pmatrix_check(grid, "to", to->matrix, true));
  if (from->matrix->type != to->matrix->type)
    return tsr_fail(TSR_ERR_ARGUMENT, "from->type is '%c' and to->type '%c'; give the same type",
                    from->matrix->type, to->matrix->type);
  TSR_TRY(tsr_pmatrix_check_part("from", from->matrix, from->i, from->j, op == TSR_NO_TRANS ? m : n,
                                 op == TSR_NO_TRANS ? n : m));
  return tsr_pmatrix_check_part("to", to->matrix, to->i, to->j, m, n);
}

/* Waits until host memory has what earlier asynchronous calls computed of a matrix. */
static tsr_status settle(tsr_context *context, const tsr_pmatrix *x) {
  int64_t rows, cols;
  if (tsr_device_count(context) == 0) return TSR_OK;
  TSR_TRY(tsr_pmatrix_extents(x, &rows, &cols));
  if (rows == 0 || cols == 0) return TSR_OK;
  return tsr_coherent(context, TSR_GENERAL, rows, cols, x->data, x->ld, x->type);
}

/* Drops the devices' copies of a matrix, since host memory was written. */
static tsr_status drop_copies(tsr_context *context, const tsr_pmatrix *x) {
  int64_t rows, cols;
  if (tsr_device_count(context) == 0) return TSR_OK;
  TSR_TRY(tsr_pmatrix_extents(x, &rows, &cols));
  if (rows == 0 || cols == 0) return TSR_OK;
  return tsr_invalidate(context, rows, cols, x->data, x->ld, x->type);
}

static tsr_status prepare(tsr_grid *grid, tsr_op op, int64_t m, int64_t n, const part *from,
                          const part *to, tsr_exchange *exchange) {
  bool straight = op == TSR_NO_TRANS;
  TSR_TRY(check(grid, op, m, n, from, to));
  TSR_TRY(tsr_sync(grid->context));
  TSR_TRY(settle(grid->context, from->matrix));
  TSR_TRY(settle(grid->context, to->matrix));
  tsr_view source =
      tsr_view_make(from->matrix, from->i, from->j, straight ? m : n, straight ? n : m, op);
  tsr_view target = tsr_view_make(to->matrix, to->i, to->j, m, n, TSR_NO_TRANS);
  return tsr_exchange_create(grid, &grid->all, &source, &target, exchange);
}

/* Redistributes op() of an m x n part; collective. record: the arguments, for agreement. */
static tsr_status carry_out(tsr_grid *grid, const tsr_record *record, tsr_op op, int64_t m,
                            int64_t n, const part *from, const part *to) {
  tsr_exchange exchange = {0};
  tsr_async_queue_drain(grid->queue);
  tsr_status status = prepare(grid, op, m, n, from, to, &exchange);
  status = tsr_agree(&grid->all, record, status);
  if (status == TSR_OK) {
    status = tsr_exchange_run(&exchange);
    if (status == TSR_OK) status = drop_copies(grid->context, to->matrix);
    status = tsr_agree(&grid->all, NULL, status);
  }
  tsr_exchange_destroy(&exchange);
  return status;
}

TSR_ENTRY(tsr_redistribute, (grid, op, m, n, from, ia, ja, to, ib, jb), tsr_grid *grid, tsr_op op,
          int64_t m, int64_t n, const tsr_pmatrix *from, int64_t ia, int64_t ja,
          const tsr_pmatrix *to, int64_t ib, int64_t jb) {
  TSR_TRY(tsr_grid_check_real(grid));
  op = (tsr_op)tsr_flag_letter(TSR_FLAG_OP, (int)op);
  tsr_record record = tsr_record_begin(TSR_RECORD_REDISTRIBUTE);
  tsr_record_add(&record, "", "op", op);
  tsr_record_add(&record, "", "m", m);
  tsr_record_add(&record, "", "n", n);
  tsr_record_add_matrix(&record, "from->", from, ia, ja);
  tsr_record_add_matrix(&record, "to->", to, ib, jb);
  part source = {from, ia, ja}, target = {to, ib, jb};
  return carry_out(grid, &record, op, m, n, &source, &target);
}

/* ---- From and to one process ----------------------------------------------- */

/* A matrix with the extents of `like`, all of it on process (row, col), in memory `full`. */
static tsr_pmatrix in_one_place(tsr_grid *grid, int row, int col, const void *full, int64_t ld,
                                const tsr_pmatrix *like) {
  bool here = grid->me[0] == row && grid->me[1] == col;
  return (tsr_pmatrix){.grid = grid,
                       .type = like->type,
                       .m = like->m,
                       .n = like->n,
                       .mb = like->m > 0 ? like->m : 1,
                       .nb = like->n > 0 ? like->n : 1,
                       .row_source = row,
                       .col_source = col,
                       /* Other processes own no elements; their ld passes every check. */
                       .ld = here ? ld : INT64_MAX,
                       .data = here ? (void *)full : NULL};
}

static tsr_record one_place_record(tsr_record_call call, int row, int col,
                                   const tsr_pmatrix *matrix) {
  tsr_record record = tsr_record_begin(call);
  tsr_record_add(&record, "", "row", row);
  tsr_record_add(&record, "", "col", col);
  tsr_record_add_matrix(&record, "matrix->", matrix, 0, 0);
  return record;
}

/* Stands for a matrix that is NULL, whose layout cannot be copied; carry_out() reports the error.
 */
static const tsr_pmatrix nothing = {.type = TSR_S};

TSR_ENTRY(tsr_scatter, (grid, row, col, full, ld, to), tsr_grid *grid, int row, int col,
          const void *full, int64_t ld, const tsr_pmatrix *to) {
  TSR_TRY(tsr_grid_check_real(grid));
  const tsr_pmatrix *like = to != NULL ? to : &nothing;
  tsr_record record = one_place_record(TSR_RECORD_SCATTER, row, col, to);
  tsr_pmatrix whole = in_one_place(grid, row, col, full, ld, like);
  part source = {&whole, 0, 0}, target = {to, 0, 0};
  return carry_out(grid, &record, TSR_NO_TRANS, like->m, like->n, &source, &target);
}

TSR_ENTRY(tsr_gather, (grid, row, col, from, full, ld), tsr_grid *grid, int row, int col,
          const tsr_pmatrix *from, void *full, int64_t ld) {
  TSR_TRY(tsr_grid_check_real(grid));
  const tsr_pmatrix *like = from != NULL ? from : &nothing;
  tsr_record record = one_place_record(TSR_RECORD_GATHER, row, col, from);
  tsr_pmatrix whole = in_one_place(grid, row, col, full, ld, like);
  part source = {from, 0, 0}, target = {&whole, 0, 0};
  return carry_out(grid, &record, TSR_NO_TRANS, like->m, like->n, &source, &target);
}
