/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * GEMMT by squares: the trapezoid of c, or only the square on C's diagonal, is cut into small
 * squares, and one batch of the vendor's BLAS multiplies those that touch it. So few elements
 * are computed that nobody wants, and all squares together fill the device. Two GEMMs multiply the
 * rows and columns at the edges of c that do not fill a square.
 *
 * arithmetic/kernel.h says when this is faster than one GEMM of all of c, with the measured times.
 */
#include <limits.h>

#include "engine/gpu/internal.h"

/* How a trapezoid is cut. */
typedef struct cut {
  const tsr_kernel_args *x;
  int64_t side;
  int64_t rows, columns; /* of squares */
  int64_t first;         /* the row of c where the squares begin */
} cut;

static bool is_lower(const tsr_kernel_args *x) {
  return x->uplo == TSR_LOWER;
}

/* The squares of a trapezoid begin at the end of c where its diagonal is. */
static cut cut_of(const tsr_kernel_args *x, int64_t side) {
  cut q = {.x = x, .side = side, .columns = x->n / side};
  int64_t extent = is_lower(x) ? x->m : x->m - x->n % side;
  q.rows = extent / side;
  if (!tsr_kernel_all_in_squares(x->type)) q.rows = q.columns;
  if (!is_lower(x)) q.first = extent - q.rows * side;
  return q;
}

/* A GEMM of some rows and columns of c. */
static tsr_status rest(tsr_queue *queue, const tsr_kernel_args *x, int64_t row, int64_t rows,
                       int64_t column, int64_t columns) {
  if (rows <= 0 || columns <= 0) return TSR_OK;
  tsr_kernel_args part = tsr_kernel_part(x, rows, columns, x->k, row, column, 0);
  return gpu_gemm(queue, &part);
}

/* Multiplies the parts of c that no square covers: rows below or above the squares, and the last
 * columns. */
static tsr_status multiply_rest(tsr_queue *queue, const cut *q) {
  const tsr_kernel_args *x = q->x;
  int64_t squares = q->columns * q->side, end = q->first + q->rows * q->side;
  if (!is_lower(x)) {
    TSR_TRY(rest(queue, x, 0, q->first, 0, squares));
    return rest(queue, x, 0, x->m, squares, x->n - squares);
  }
  TSR_TRY(rest(queue, x, end, x->m - end, 0, squares));
  return rest(queue, x, squares, x->m - squares, squares, x->n - squares);
}

static tsr_status list_squares(const tsr_queue *queue, const cut *q, const tsr_kernel_args *one) {
  const tsr_kernel_args *x = q->x;
  int64_t size = (int64_t)tsr_type_get(x->type)->size, step = q->side * size;
  tsr_gpu_trapezoid list = {.uplo = (char)x->uplo,
                            .rows = q->rows,
                            .columns = q->columns,
                            .a = one->a,
                            .b = one->b,
                            .c = one->c,
                            .step_a = x->transa == TSR_NO_TRANS ? step : step * x->lda,
                            .step_b = x->transb == TSR_NO_TRANS ? step * x->ldb : step,
                            .row_of_c = step,
                            .column_of_c = step * x->ldc,
                            .to = queue->scratch};
  int error = tsr_gpu_trapezoid_launch(&list, queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", queue->index);
  return TSR_OK;
}

static tsr_status multiply_squares(tsr_queue *queue, const cut *q) {
  tsr_kernel_args one = tsr_kernel_part(q->x, q->side, q->side, q->x->k, q->first, 0, 0);
  TSR_TRY(list_squares(queue, q, &one));
  return gpu_gemm_list(queue, &one, queue->scratch,
                       (int)tsr_gpu_trapezoid_squares(q->rows, q->columns));
}

/* Whether the lists of the squares fit the queue's scratch memory, and the vendor's int takes every
 * extent. */
static bool can_list(tsr_queue *queue, const cut *q) {
  const tsr_kernel_args *x = q->x;
  int64_t count = tsr_gpu_trapezoid_squares(q->rows, q->columns);
  bool fits = count * 3 * (int64_t)sizeof(void *) <= TSR_FILLED_MOST && x->k <= INT_MAX &&
              x->lda <= INT_MAX && x->ldb <= INT_MAX && x->ldc <= INT_MAX;
  return fits && gpu_scratch(queue) == gpuSuccess;
}

tsr_status gpu_gemmt(tsr_queue *queue, const tsr_kernel_args *x) {
  int64_t side = x->blocks > 0 && !x->wide ? tsr_kernel_square(x->type, x->m, x->n) : 0;
  if (side == 0) return gpu_gemm(queue, x);
  cut q = cut_of(x, side);
  if (!can_list(queue, &q)) return gpu_gemm(queue, x);
  if (!queue->blas) TSR_TRY(gpu_blas_start(queue));
  TSR_TRY(multiply_squares(queue, &q));
  return multiply_rest(queue, &q);
}
