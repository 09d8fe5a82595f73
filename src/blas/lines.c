/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "blas/lines.h"

#include "blas/family.h"

static bool is_left(int matrix) {
  return matrix == TSR_RA || matrix == TSR_RA2;
}

/* ---- Products and rank-k updates ---- */

/* Rows of op(A), and columns of op(B). */
static tsr_line_source of_product(const tsr_call *call, int matrix) {
  if (is_left(matrix))
    return (tsr_line_source){TSR_A, call->transa == TSR_NO_TRANS, call->transa == TSR_CONJ_TRANS};
  return (tsr_line_source){TSR_B_, call->transb != TSR_NO_TRANS, call->transb == TSR_CONJ_TRANS};
}

/* Rows of op(A) and op(B); the columns of a right factor are such rows, too, which a Hermitian
 * update conjugates. */
static tsr_line_source of_update(const tsr_call *call, int matrix) {
  bool second = matrix == TSR_RA2 || matrix == TSR_RB2, herk = call->operation == TSR_HERK;
  bool of_b = !herk && is_left(matrix) == second;
  bool hermitian = herk || call->operation == TSR_HER2K;
  bool conjugated = (call->transa == TSR_CONJ_TRANS) == is_left(matrix);
  return (tsr_line_source){of_b ? TSR_B_ : TSR_A, call->transa == TSR_NO_TRANS,
                           hermitian && conjugated};
}

/* ---- Beside a triangle ---- */

/* Element (row, col) of op(A), or of the symmetric A. along_row: the line goes along the row. */
static tsr_line_source of_triangle(const tsr_call *call, int64_t row, int64_t col, bool along_row) {
  bool symmetric = call->operation == TSR_SYMM || call->operation == TSR_HEMM;
  bool stored = symmetric ? (row > col) == (call->uplo == TSR_LOWER) : call->transa == TSR_NO_TRANS;
  bool conjugates = symmetric ? call->operation == TSR_HEMM : call->transa == TSR_CONJ_TRANS;
  return (tsr_line_source){TSR_A, stored == along_row, !stored && conjugates};
}

static tsr_line_source beside_triangle(const tsr_call *call, int matrix, int64_t k, int64_t line) {
  bool left = call->side == TSR_LEFT, of_a = left == is_left(matrix);
  int other = tsr_is_in_place(call->operation) ? TSR_C_ : TSR_B_;
  if (!of_a) return (tsr_line_source){other, !left, false};
  return left ? of_triangle(call, line, k, true) : of_triangle(call, k, line, false);
}

/* ---- All ---- */

tsr_line_source tsr_line_source_of(const tsr_call *call, int matrix, int64_t k, int64_t line) {
  if (tsr_family_of(call->operation) == TSR_TRIANGLE) return beside_triangle(call, matrix, k, line);
  bool product = call->operation == TSR_GEMM || call->operation == TSR_GEMMT;
  return product ? of_product(call, matrix) : of_update(call, matrix);
}

void tsr_line_factors(const tsr_call *call, int number, int *left, int *right) {
  *left = TSR_RA;
  *right = call->operation == TSR_SYRK ? TSR_RA : TSR_RB;
  if (number == 0) return;
  bool hermitian = call->operation == TSR_HER2K;
  *left = hermitian ? TSR_RA2 : TSR_RB;
  *right = hermitian ? TSR_RB2 : TSR_RA;
}
