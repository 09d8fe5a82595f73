/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/whole_lines.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/types.h"
#include "cluster/plan/costs.h"
#include "cluster/run/local.h"
#include "cluster/tuning.h"
#include "cpu/blas.h"

static void note(tsr_whole_lines *x, tsr_status status) {
  if (status == TSR_OK || x->status != TSR_OK) return;
  x->status = status;
  tsr_error_take(status, &x->error);
}

/* ---- Layouts ----------------------------------------------------------------- */

/* All of k at each coordinate of the grid. */
static tsr_axis all_of(int64_t k, int count) {
  return (tsr_axis){.extent = k, .first = k, .block = k, .count = count, .everywhere = true};
}

/* The rows (0) or columns (1) of C, as the processes multiply them. */
static tsr_axis axis_of_c(const tsr_whole_lines *x, const tsr_view *given, int direction) {
  int64_t judged = x->how.judged;
  tsr_axis cut = {.extent = given->axis[direction].extent,
                  .first = judged,
                  .block = judged,
                  .source = 0,
                  .count = x->product->grid->extent[direction]};
  return judged > 0 ? cut : given->axis[direction];
}

static tsr_view view_of(const tsr_grid *grid, tsr_axis rows, tsr_axis cols, size_t size) {
  tsr_view view = {.axis = {rows, cols},
                   .weight = {grid->extent[1], 1},
                   .me = {grid->me[0], grid->me[1]},
                   .size = size};
  int64_t ld = tsr_view_local(&view, 0);
  view.stride[0] = 1;
  view.stride[1] = ld > 0 ? ld : 1;
  return view;
}

/* ---- The call ---------------------------------------------------------------- */

/* The product of whole lines, stored without gaps, and a part of C. */
static tsr_level3 gemm_of(const tsr_product *p, const int64_t part[2], int64_t ldc) {
  return (tsr_level3){.operation = TSR_GEMM,
                      .type = p->c.matrix.type,
                      .layout = TSR_COL_MAJOR,
                      .uplo = TSR_GENERAL,
                      .transa = p->a.op,
                      .transb = p->b.op,
                      .m = part[0],
                      .n = part[1],
                      .k = p->k,
                      .lda = p->a.op == TSR_NO_TRANS ? part[0] : p->k,
                      .ldb = p->b.op == TSR_NO_TRANS ? p->k : part[1],
                      .ldc = ldc};
}

/* ---- Forecast ---------------------------------------------------------------- */

/* The host memory that lines take, and what a process gets of them from others. */
static void count_lines(const tsr_whole_lines *x, tsr_lines_forecast *f) {
  tsr_view c = tsr_product_view(&x->product->c);
  for (int d = 0; d < 2; d++) {
    const tsr_axis axis = axis_of_c(x, &c, d);
    int sharing = x->product->grid->extent[1 - d];
    f->part[d] = tsr_axis_most(&axis);
    double lines = (double)f->part[d] * (double)x->product->k * (double)c.size;
    f->moved += lines * (sharing - 1) / sharing;
    f->memory += lines;
  }
}

/* s in which a process gets `moved` bytes, and packs and unpacks `copied`. */
static double moving_time(const tsr_grid *grid, double moved, double copied) {
  const tsr_costs costs = tsr_costs_quick(grid, TSR_D, false);
  return moved / costs.bandwidth + 2 * copied / costs.pack_rate;
}

tsr_status tsr_whole_lines_forecast(const tsr_product *p, const tsr_emulation_way *how,
                                    tsr_lines_forecast *f) {
  const tsr_whole_lines x = {.product = p, .how = *how};
  bool reads = tsr_product_reads_result(p);
  double back = 0;
  *f = (tsr_lines_forecast){0};
  count_lines(&x, f);
  f->before = moving_time(p->grid, f->moved, f->memory);
  if (tsr_emulation_judges(how)) { /* C moves, too */
    size_t size = tsr_type_get(p->c.matrix.type)->size;
    double c = (double)f->part[0] * (double)f->part[1] * (double)size;
    back = moving_time(p->grid, c, c);
    f->before += reads ? back : 0;
    f->moved += reads ? 2 * c : c;
    f->memory += c;
  }
  const tsr_level3 part = gemm_of(p, f->part, f->part[0]);
  TSR_TRY(
      tsr_emulation_predict(p->grid->model.planner, how, &part, p->alpha, p->beta, &f->product));
  f->seconds = f->before + f->product + back;
  return TSR_OK;
}

tsr_status tsr_whole_lines_pay(const tsr_product *p, const tsr_emulation_way *how, double seconds,
                               tsr_lines_forecast *f, bool *pay) {
  double processes = (double)p->grid->extent[0] * p->grid->extent[1];
  double m = (double)p->m, n = (double)p->n, k = (double)p->k;
  double parts = (m * k + k * n + m * n) * (double)tsr_type_get(p->c.matrix.type)->size / processes;
  *pay = false;
  if (!p->grid->model.facts.residues || seconds < TSR_TUNE_LINES_WORTH) return TSR_OK;
  tsr_status status = tsr_whole_lines_forecast(p, how, f);
  if (status == TSR_ERR_MEMORY) return TSR_OK;
  *pay = status == TSR_OK && f->seconds < seconds && f->memory <= TSR_TUNE_LINES_MEMORY * parts;
  return status;
}

/* ---- Memory ------------------------------------------------------------------ */

static tsr_status make_room(tsr_whole_lines *x, int operand, int64_t rows, int64_t cols) {
  x->storage[operand] = tsr_alloc((size_t)(rows * cols) * x->c.size);
  if (x->storage[operand] != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_MEMORY,
                  "no host memory for %s of an emulated product: %lld x %lld elements here; use "
                  "more processes, or compute natively (TESSERA_ARITHMETIC)",
                  operand == 0   ? "the rows of A"
                  : operand == 1 ? "the columns of B"
                                 : "the part of C",
                  (long long)rows, (long long)cols);
}

/* The layout of C, and memory for its part, where it is not multiplied in place. */
static tsr_status place_c(tsr_whole_lines *x, const tsr_view *given) {
  x->c = *given;
  if (!tsr_emulation_judges(&x->how)) return TSR_OK;
  x->c = view_of(x->product->grid, axis_of_c(x, given, 0), axis_of_c(x, given, 1), given->size);
  TSR_TRY(make_room(x, 2, tsr_view_local(&x->c, 0), tsr_view_local(&x->c, 1)));
  x->c.base = x->storage[2];
  return TSR_OK;
}

static tsr_status add_move(tsr_whole_lines *x, const tsr_view *from, const tsr_view *to) {
  tsr_grid *grid = x->product->grid;
  TSR_TRY(tsr_exchange_create(grid, &grid->work, from, to, &x->moves[x->count]));
  x->count++;
  return TSR_OK;
}

/* A factor as it is stored: native products of it may depend on how it is read. Complex elements
 * are conjugated when they are. */
static tsr_view factor_view(const tsr_poperand *x) {
  tsr_view view = tsr_product_view(x);
  view.conjugate = false;
  return view;
}

/* Lines of op(A) or op(B) in memory of this process, stored as the factor is. */
static void place_lines(tsr_view *to, tsr_op op, char *storage, int64_t rows, int64_t cols) {
  bool plain = op == TSR_NO_TRANS;
  to->base = storage;
  to->stride[0] = plain ? 1 : cols;
  to->stride[1] = plain ? rows : 1;
}

/* Brings each process the rows of op(A). */
static tsr_status move_a(tsr_whole_lines *x) {
  const tsr_product *p = x->product;
  const tsr_grid *grid = p->grid;
  tsr_view from = factor_view(&p->a);
  int64_t rows = tsr_view_local(&x->c, 0);
  tsr_view to = view_of(grid, x->c.axis[0], all_of(p->k, grid->extent[1]), x->c.size);
  TSR_TRY(make_room(x, 0, rows, p->k));
  place_lines(&to, p->a.op, x->storage[0], rows, p->k);
  return add_move(x, &from, &to);
}

/* Brings each process the columns of op(B). */
static tsr_status move_b(tsr_whole_lines *x) {
  const tsr_product *p = x->product;
  const tsr_grid *grid = p->grid;
  tsr_view from = factor_view(&p->b);
  int64_t cols = tsr_view_local(&x->c, 1);
  tsr_view to = view_of(grid, all_of(p->k, grid->extent[0]), x->c.axis[1], x->c.size);
  TSR_TRY(make_room(x, 1, p->k, cols));
  place_lines(&to, p->b.op, x->storage[1], p->k, cols);
  return add_move(x, &from, &to);
}

static tsr_status prepare_moves(tsr_whole_lines *x) {
  const tsr_product *p = x->product;
  tsr_view c = tsr_product_view(&p->c);
  TSR_TRY(place_c(x, &c));
  TSR_TRY(move_a(x));
  TSR_TRY(move_b(x));
  bool moves = x->storage[2] != NULL;
  if (moves && tsr_product_reads_result(p)) TSR_TRY(add_move(x, &c, &x->c));
  x->before = x->count;
  return moves ? add_move(x, &x->c, &c) : TSR_OK;
}

/* ---- The product of this process ------------------------------------------------ */

typedef tsr_status what_to_do(tsr_context *context, const tsr_emulation_way *how,
                              const tsr_level3 *what, const void *alpha, const void *a,
                              const void *b, const void *beta, void *c);

static tsr_status with_lines(const tsr_whole_lines *x, what_to_do *what) {
  const tsr_product *p = x->product;
  int64_t rows = tsr_view_local(&x->c, 0), cols = tsr_view_local(&x->c, 1);
  if (rows == 0 || cols == 0) return TSR_OK;
  const int64_t part[2] = {rows, cols};
  const tsr_level3 gemm = gemm_of(p, part, x->c.stride[1]);
  return what(p->grid->context, &x->how, &gemm, p->alpha, x->storage[0], x->storage[1], p->beta,
              x->c.base);
}

/* Without memory for the product on devices the CPU's BLAS does it, unless results must be
 * reproducible: other processes may have written their parts of C already. */
static tsr_status by_cpu(const tsr_whole_lines *x) {
  const tsr_product *p = x->product;
  int64_t rows = tsr_view_local(&x->c, 0), cols = tsr_view_local(&x->c, 1);
  tsr_kernel_args args = {.kernel = TSR_KERNEL_GEMM,
                          .type = p->c.matrix.type,
                          .transa = p->a.op,
                          .transb = p->b.op,
                          .m = rows,
                          .n = cols,
                          .k = p->k,
                          .alpha = tsr_scalar_read(p->c.matrix.type, p->alpha),
                          .beta = tsr_scalar_read(p->c.matrix.type, p->beta),
                          .a = x->storage[0],
                          .b = x->storage[1],
                          .c = x->c.base,
                          .lda = p->a.op == TSR_NO_TRANS ? rows : p->k,
                          .ldb = p->b.op == TSR_NO_TRANS ? p->k : cols,
                          .ldc = x->c.stride[1]};
  tsr_log(TSR_LOG_INFO, "the CPU's BLAS does a product of this process: %s", tsr_message());
  TSR_TRY(tsr_cpu_blas_load());
  return tsr_cpu_kernel(&args);
}

/* Multiplies. C will be written in host memory where it moves back, so devices drop their copies.
 */
static tsr_status multiply(const tsr_whole_lines *x) {
  const tsr_product *p = x->product;
  tsr_view c = tsr_product_view(&p->c);
  tsr_local_part part = {c.base, tsr_view_local(&c, 0), tsr_view_local(&c, 1), p->c.matrix.ld};
  tsr_status status = with_lines(x, tsr_emulation_run);
  if (status == TSR_ERR_MEMORY && !tsr_emulation_judges(&x->how)) status = by_cpu(x);
  TSR_TRY(status);
  return x->storage[2] != NULL ? tsr_local_renew(p->grid, p->c.matrix.type, &part) : TSR_OK;
}

/* ---- From beginning to end ------------------------------------------------------- */

tsr_status tsr_whole_lines_create(const tsr_product *product, const tsr_emulation_way *how,
                                  tsr_whole_lines *x) {
  *x = (tsr_whole_lines){.product = product, .how = *how};
  tsr_status status = prepare_moves(x);
  if (status == TSR_OK && tsr_emulation_judges(how)) status = with_lines(x, tsr_emulation_plan);
  if (status != TSR_OK) tsr_whole_lines_destroy(x);
  return status;
}

bool tsr_whole_lines_poll(tsr_whole_lines *x) {
  for (; x->at < x->count; x->at++) {
    if (x->at == x->before && !x->multiplied) break;
    if (!tsr_exchange_poll(&x->moves[x->at])) return false;
    note(x, tsr_exchange_result(&x->moves[x->at]));
  }
  if (!x->multiplied && x->status == TSR_OK) note(x, multiply(x));
  bool moves = !x->multiplied && x->at < x->count;
  x->multiplied = true;
  return moves ? tsr_whole_lines_poll(x) : true;
}

tsr_status tsr_whole_lines_result(const tsr_whole_lines *x) {
  return x->status == TSR_OK ? TSR_OK : tsr_error_put(&x->error);
}

void tsr_whole_lines_destroy(tsr_whole_lines *x) {
  for (int i = 0; i < x->count; i++) tsr_exchange_destroy(&x->moves[i]);
  for (int i = 0; i < 3; i++) tsr_dealloc(x->storage[i]);
  *x = (tsr_whole_lines){0};
}
