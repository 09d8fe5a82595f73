/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pieces: a tile is copied in pieces, rectangles that one copy moves each. The functions compute
 * the pieces of a tile; copies.h records which of them are at which device.
 */
#ifndef TSR_PLAN_SCHEDULE_PIECES_H
#define TSR_PLAN_SCHEDULE_PIECES_H

#include "plan/schedule/problem.h"

/* A rectangle of a matrix that one copy moves. */
typedef struct tsr_transfer {
  int matrix;
  int32_t tile;
  int64_t row, col, rows, cols;
  double bytes;
  tsr_segments segments; /* of the rectangle in the matrix */
  tsr_uplo uplo; /* LOWER, UPPER: only this triangle of the rectangle moves; else all of it */
} tsr_transfer;

/* The pieces of a tile, and the range of them that overlaps a rectangle. The index of a piece is
 * (its column of pieces) * down + (its row of pieces). */
typedef struct tsr_piece_range {
  int64_t row, col, rows, cols; /* the tile */
  int64_t piece_rows, piece_cols;
  int down;           /* pieces in a column */
  int r0, r1, c0, c1; /* overlapped by the rectangle: r0 .. r1 - 1, c0 .. c1 - 1 */
  int count;          /* pieces of the tile */
  bool alone;         /* of a rectangle by itself, all of which is wanted */
} tsr_piece_range;

static inline tsr_rect tsr_transfer_rect(const tsr_transfer *c) {
  return tsr_rect_make(c->row, c->col, c->rows, c->cols);
}

/* Whether the rectangle overlaps all pieces of the tile. */
static inline bool tsr_pieces_are_all(const tsr_piece_range *p) {
  return (p->r1 - p->r0) * (p->c1 - p->c0) == p->count;
}

/* The pieces of the operand's tile, and the range that overlaps the operand. */
tsr_piece_range tsr_pieces_of(const tsr_problem *problem, const tsr_task_operand *o);

/* The pieces of the operand's rectangle by itself, whatever the pieces of its tile. */
tsr_piece_range tsr_pieces_alone(const tsr_problem *problem, const tsr_task_operand *o);

/* The pieces of a transfer that goes through parts of a ring of so many bytes. */
tsr_piece_range tsr_pieces_through(const tsr_problem *problem, const tsr_transfer *c, size_t bytes);

/* The rectangle of the piece in row r and column c of a matrix's range. */
tsr_rect tsr_piece_rect(const tsr_problem *problem, int matrix, const tsr_piece_range *p, int r,
                        int c);

/* The piece in row r and column c as a transfer. */
tsr_transfer tsr_transfer_of(const tsr_problem *problem, const tsr_task_operand *o,
                             const tsr_piece_range *p, int r, int c);

/* The segments of a copy of whole columns or parts of them, of so many rows of a matrix. */
tsr_segments tsr_segments_of(const tsr_problem *problem, int matrix, int64_t rows);

/* Sets bytes and segments of a transfer from its rectangle. */
void tsr_transfer_weigh(const tsr_problem *problem, tsr_transfer *c);

/* Whether the transfer's rectangle has an element of the triangle; always true for TSR_GENERAL.
 * *part: TSR_GENERAL if all of the rectangle is in the triangle; uplo if it lies across the
 * diagonal. */
bool tsr_transfer_meets_triangle(const tsr_transfer *c, tsr_uplo uplo, tsr_uplo *part);

#endif
