/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The inverse of a triangle, and the product of a triangle with its adjoint, in place, by halves:
 * all but squares on the diagonal is done by trmm, trsm and herk. The order of the steps is that of
 * LAPACK's trtri and lauum, which keeps the residual small: a rectangle is multiplied with one
 * inverse and solved with the other half's triangle (Du Croz and Higham, Stability of methods for
 * matrix inversion, 1992, method 2B).
 *
 * A square on the diagonal is done beside its place, in scratch memory: first the identity, then
 * the square's memory.
 */
#include <string.h>

#include "front/solve/solve.h"
#include "front/tuning.h"

/* The identity and the memory beside it, each of the order of the largest square on the diagonal.
 */
typedef struct scratch {
  tsr_step_matrix identity, beside;
} scratch;

static int64_t order_of_squares(int64_t n) {
  return n < TSR_TUNE_INVERSE_SQUARE ? n : TSR_TUNE_INVERSE_SQUARE;
}

int64_t tsr_inverse_scratch(int64_t n) {
  int64_t order = order_of_squares(n);
  return 2 * order * order;
}

/* Three of each square, and two between the halves of all that is larger. */
int64_t tsr_inverse_steps(int64_t n) {
  int64_t squares = (n + TSR_TUNE_INVERSE_SQUARE - 1) / TSR_TUNE_INVERSE_SQUARE;
  return 3 * squares + 2 * (squares - 1);
}

static scratch scratch_at(const tsr_steps *s, int64_t n, char *memory) {
  int64_t order = order_of_squares(n);
  return (scratch){{memory, order}, {memory + order * order * (int64_t)s->size, order}};
}

void tsr_inverse_fill(const tsr_steps *s, int64_t n, char *memory) {
  int64_t order = order_of_squares(n);
  bool is_wide = s->type == TSR_D || s->type == TSR_Z;
  memset(memory, 0, (size_t)tsr_inverse_scratch(n) * s->size);
  for (int64_t i = 0; i < order; i++) {
    char *at = memory + i * (order + 1) * (int64_t)s->size;
    if (is_wide)
      *(double *)at = 1;
    else
      *(float *)at = 1;
  }
}

tsr_status tsr_inverse_drop(const tsr_steps *s, int64_t n, char *memory) {
  int64_t order = order_of_squares(n);
  scratch m = scratch_at(s, n, memory);
  tsr_status status = tsr_steps_drop(s, order, order, m.identity);
  tsr_status other = tsr_steps_drop(s, order, order, m.beside);
  return status != TSR_OK ? status : other;
}

/* The order of the first half: whole squares, so that only the last square is smaller. */
static int64_t first_half(int64_t n) {
  int64_t square = TSR_TUNE_INVERSE_SQUARE, squares = (n + square - 1) / square;
  return squares / 2 * square;
}

/* The parts of a triangle that is done by halves. */
typedef struct halves {
  int64_t first, rest;
  tsr_step_matrix upper_left, beside,
      lower_right; /* beside: below the first half, or right of it */
} halves;

static halves halves_of(const tsr_steps *s, int64_t n, tsr_step_matrix a) {
  int64_t first = first_half(n);
  bool lower = s->uplo == TSR_LOWER;
  return (halves){first, n - first, a,
                  tsr_step_matrix_at(s, a, lower ? first : 0, lower ? 0 : first),
                  tsr_step_matrix_at(s, a, first, first)};
}

/* ---- The inverse ------------------------------------------------------------ */

/* The inverse is made beside the triangle and copied into it: without its diagonal if that is not
 * stored, by a triangle that begins one row lower, or one column further right. */
static tsr_status invert_square(const tsr_steps *s, tsr_diag diag, int64_t n, tsr_step_matrix a,
                                const scratch *m) {
  int64_t skip = diag == TSR_UNIT, down = s->uplo == TSR_LOWER ? skip : 0, right = skip - down;
  TSR_TRY(tsr_step_gemm(s, n, m->identity, m->identity, m->beside));
  TSR_TRY(tsr_step_trsm(s, TSR_LEFT, TSR_NO_TRANS, diag, n, n, 1, a, m->beside));
  return tsr_step_gemmt(s, n - skip, n, tsr_step_matrix_at(s, m->beside, down, 0),
                        tsr_step_matrix_at(s, m->identity, 0, right),
                        tsr_step_matrix_at(s, a, down, right));
}

static tsr_status invert(const tsr_steps *s, tsr_diag diag, int64_t n, tsr_step_matrix a,
                         const scratch *m) {
  if (n <= TSR_TUNE_INVERSE_SQUARE) return invert_square(s, diag, n, a, m);
  halves h = halves_of(s, n, a);
  bool lower = s->uplo == TSR_LOWER;
  tsr_step_matrix before = lower ? h.lower_right : h.upper_left, after = lower ? a : h.lower_right;
  int64_t rows = lower ? h.rest : h.first, cols = lower ? h.first : h.rest;
  TSR_TRY(invert(s, diag, rows, before, m));
  TSR_TRY(tsr_step_trmm(s, TSR_LEFT, TSR_NO_TRANS, diag, rows, cols, 1, before, h.beside));
  TSR_TRY(tsr_step_trsm(s, TSR_RIGHT, TSR_NO_TRANS, diag, rows, cols, -1, after, h.beside));
  return invert(s, diag, cols, after, m);
}

tsr_status tsr_inverse_of_triangle(const tsr_steps *s, tsr_diag diag, int64_t n, tsr_step_matrix a,
                                   char *memory) {
  scratch m = scratch_at(s, n, memory);
  return invert(s, diag, n, a, &m);
}

/* ---- The square ------------------------------------------------------------- */

/* L^H L takes the place of a lower L, and U U^H that of an upper U. */
static tsr_op op_of(const tsr_steps *s) {
  return s->uplo == TSR_LOWER ? TSR_CONJ_TRANS : TSR_NO_TRANS;
}

static tsr_status square_square(const tsr_steps *s, int64_t n, tsr_step_matrix a,
                                const scratch *m) {
  TSR_TRY(tsr_step_gemm(s, n, m->identity, m->identity, m->beside));
  TSR_TRY(tsr_step_trmm(s, TSR_LEFT, TSR_NO_TRANS, TSR_NON_UNIT, n, n, 1, a, m->beside));
  return tsr_step_herk(s, op_of(s), n, n, 0, m->beside, a);
}

static tsr_status square(const tsr_steps *s, int64_t n, tsr_step_matrix a, const scratch *m) {
  if (n <= TSR_TUNE_INVERSE_SQUARE) return square_square(s, n, a, m);
  halves h = halves_of(s, n, a);
  bool lower = s->uplo == TSR_LOWER;
  int64_t rows = lower ? h.rest : h.first, cols = lower ? h.first : h.rest;
  TSR_TRY(square(s, h.first, a, m));
  TSR_TRY(tsr_step_herk(s, op_of(s), h.first, h.rest, 1, h.beside, a));
  TSR_TRY(tsr_step_trmm(s, lower ? TSR_LEFT : TSR_RIGHT, TSR_CONJ_TRANS, TSR_NON_UNIT, rows, cols,
                        1, h.lower_right, h.beside));
  return square(s, h.rest, h.lower_right, m);
}

tsr_status tsr_square_of_triangle(const tsr_steps *s, int64_t n, tsr_step_matrix a, char *memory) {
  scratch m = scratch_at(s, n, memory);
  return square(s, n, a, &m);
}
