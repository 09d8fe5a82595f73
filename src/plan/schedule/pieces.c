/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/pieces.h"

#include "base/least.h"
#include "blas/family.h"

/* Rows and columns of the pieces of a rows x cols tile: at most `bytes` bytes, whole columns if
 * possible. size: bytes of an element. */
static void shape(int64_t rows, int64_t cols, size_t size, int64_t bytes, int64_t *piece_rows,
                  int64_t *piece_cols) {
  int64_t most = bytes / (int64_t)size;
  if (most < 1) most = 1;
  *piece_rows = rows < most ? rows : most;
  int64_t fit = most / (rows ? rows : 1);
  if (fit < 1) fit = 1;
  int64_t parts = (cols + fit - 1) / fit;
  *piece_cols = parts > 1 ? (cols + parts - 1) / parts : cols;
}

/* min(extent, most); most = 0: no limit. */
static int64_t limited(int64_t extent, int64_t most) {
  return most > 0 && most < extent ? most : extent;
}

/* Cuts the rectangle of p into pieces of at most `bytes` bytes and most_rows x most_cols elements
 * (0: no limit). */
static void cut(const tsr_problem *problem, int matrix, int64_t bytes, int64_t most_rows,
                int64_t most_cols, tsr_piece_range *p) {
  shape(limited(p->rows, most_rows), limited(p->cols, most_cols), problem->size[matrix], bytes,
        &p->piece_rows, &p->piece_cols);
  p->down = (int)((p->rows + p->piece_rows - 1) / p->piece_rows);
  p->count = p->down * (int)((p->cols + p->piece_cols - 1) / p->piece_cols);
}

tsr_piece_range tsr_pieces_of(const tsr_problem *problem, const tsr_task_operand *o) {
  const tsr_tile_grid *grid = &problem->graph->grid[o->matrix];
  tsr_rect tile = tsr_tile_rect(problem, o->matrix, o->tile);
  tsr_piece_range p = {.row = tile.row0,
                       .col = tile.col0,
                       .rows = tile.row1 - tile.row0,
                       .cols = tile.col1 - tile.col0};
  cut(problem, o->matrix, problem->options->piece, grid->piece_rows, grid->piece_cols, &p);
  p.r0 = (int)((o->row - p.row) / p.piece_rows);
  p.r1 = (int)((o->row + o->rows - p.row + p.piece_rows - 1) / p.piece_rows);
  p.c0 = (int)((o->col - p.col) / p.piece_cols);
  p.c1 = (int)((o->col + o->cols - p.col + p.piece_cols - 1) / p.piece_cols);
  return p;
}

/* The pieces, of at most `bytes` bytes, of a rectangle by itself. */
static tsr_piece_range pieces_of_rect(const tsr_problem *problem, int matrix, tsr_rect rect,
                                      int64_t bytes) {
  tsr_piece_range p = {.row = rect.row0,
                       .col = rect.col0,
                       .rows = rect.row1 - rect.row0,
                       .cols = rect.col1 - rect.col0};
  cut(problem, matrix, bytes, 0, 0, &p);
  p.alone = true;
  p.r1 = p.down;
  p.c1 = p.count / p.down;
  return p;
}

tsr_piece_range tsr_pieces_alone(const tsr_problem *problem, const tsr_task_operand *o) {
  return pieces_of_rect(problem, o->matrix, tsr_operand_rect(o), problem->options->piece);
}

tsr_piece_range tsr_pieces_through(const tsr_problem *problem, const tsr_transfer *c,
                                   size_t bytes) {
  return pieces_of_rect(problem, c->matrix, tsr_transfer_rect(c), (int64_t)bytes);
}

/* ---- One piece ------------------------------------------------------------ */

/* Rows by which pieces are shortened, so that their columns begin aligned. */
enum { SHORTER = 64 };

/* A factorisation writes the squares on the diagonal of whole panels back, so that all of these
 * have to be there. */
static int64_t shorter_by(const tsr_problem *problem, int matrix) {
  const tsr_tile_grid *grid = &problem->graph->grid[matrix];
  if (matrix != TSR_C_) return SHORTER;
  return grid->piece_cols > 0 ? grid->piece_cols : grid->piece_rows;
}

/* Whether no kernel uses more of a matrix than a triangle. */
static bool is_triangle(const tsr_problem *problem, int matrix) {
  tsr_family family = tsr_family_of(problem->call->operation);
  return (matrix == TSR_A && family == TSR_TRIANGLE) || (matrix == TSR_C_ && family == TSR_FACTOR);
}

/* Without the other triangle: a piece across the diagonal begins where its first column meets the
 * diagonal, or ends where its last column does. */
static tsr_rect without_other_triangle(const tsr_problem *problem, int matrix,
                                       const tsr_piece_range *p, tsr_rect rect) {
  int64_t before = rect.col0 - p->col, all = rect.col1 - p->col, by = shorter_by(problem, matrix);
  tsr_rect kept = rect;
  if (p->row != p->col) return rect;
  if (problem->call->uplo == TSR_LOWER)
    kept.row0 = tsr_most(rect.row0, p->row + before / by * by);
  else
    kept.row1 = tsr_least(rect.row1, p->row + (all + by - 1) / by * by);
  return tsr_rect_empty(kept) ? rect : kept; /* empty: all of the piece is in the unread triangle */
}

tsr_rect tsr_piece_rect(const tsr_problem *problem, int matrix, const tsr_piece_range *p, int r,
                        int c) {
  tsr_rect rect = {.row0 = p->row + r * p->piece_rows, .col0 = p->col + c * p->piece_cols};
  rect.row1 = tsr_least(rect.row0 + p->piece_rows, p->row + p->rows);
  rect.col1 = tsr_least(rect.col0 + p->piece_cols, p->col + p->cols);
  if (!p->alone && is_triangle(problem, matrix))
    return without_other_triangle(problem, matrix, p, rect);
  return rect;
}

/* Matrices that are not operands have no home, and so no columns in host memory. */
tsr_segments tsr_segments_of(const tsr_problem *problem, int matrix, int64_t rows) {
  double size = (double)problem->size[matrix];
  int64_t ld = matrix < TSR_OPERANDS ? problem->call->operand[matrix].ld : 0;
  return (tsr_segments){(double)rows * size, (double)ld * size};
}

void tsr_transfer_weigh(const tsr_problem *problem, tsr_transfer *c) {
  size_t size = problem->size[c->matrix];
  c->bytes = (double)c->rows * (double)c->cols * (double)size;
  bool whole = c->matrix < TSR_OPERANDS && problem->call->operand[c->matrix].ld == c->rows;
  bool contiguous = whole && tsr_tile_ld(c->rows, size) == c->rows;
  c->segments =
      contiguous ? (tsr_segments){c->bytes, 0} : tsr_segments_of(problem, c->matrix, c->rows);
}

bool tsr_transfer_meets_triangle(const tsr_transfer *c, tsr_uplo uplo, tsr_uplo *part) {
  int64_t bottom = c->row + c->rows - 1, right = c->col + c->cols - 1;
  *part = uplo;
  if (uplo == TSR_GENERAL) return true;
  bool lower = uplo == TSR_LOWER;
  if (lower ? c->row >= right : bottom <= c->col) *part = TSR_GENERAL;
  return lower ? bottom >= c->col : c->row <= right;
}

tsr_transfer tsr_transfer_of(const tsr_problem *problem, const tsr_task_operand *o,
                             const tsr_piece_range *p, int r, int c) {
  tsr_rect rect = tsr_piece_rect(problem, o->matrix, p, r, c);
  tsr_transfer load = {.matrix = o->matrix,
                       .tile = o->tile,
                       .row = rect.row0,
                       .col = rect.col0,
                       .rows = rect.row1 - rect.row0,
                       .cols = rect.col1 - rect.col0};
  tsr_transfer_weigh(problem, &load);
  return load;
}
