/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state of a plan that is carried out on a small problem. small.c makes the problem, algebra.c
 * carries the plan out, cached.c has the cached blocks before and after the plan, and result.c
 * compares C with what the call asks for.
 */
#ifndef TSR_PLAN_VERIFY_ALGEBRA_H
#define TSR_PLAN_VERIFY_ALGEBRA_H

#include "blas/lines.h"
#include "plan/verify/dense.h"
#include "plan/verify/verify.h"

/* The indices of a space, cut where a rectangle begins or ends. An interval between two cuts has
 * one index in the small problem; or two, if the space is square and the interval is longer than
 * one index. */
typedef struct tsr_small_space {
  TSR_VEC(int64_t) ends; /* ascending: interval e is [ends[e], ends[e + 1]) */
  uint32_t *first;       /* index of the small problem at which each interval begins */
  size_t count;          /* number of indices of the small problem */
} tsr_small_space;

/* An element of the small problem in a buffer, and the kernel that computed it. */
typedef struct tsr_small_element {
  tsr_field value;
  uint32_t command; /* TSR_NO_COMMAND: the user wrote the value; TSR_NOT_WRITTEN: nobody did */
} tsr_small_element;

#define TSR_NOT_WRITTEN (UINT32_MAX - 1)

/* The rectangle of a buffer in the small problem, and the index of its first element in
 * `elements`. */
typedef struct tsr_small_buffer {
  size_t row, col, rows, first;
} tsr_small_buffer;

typedef struct tsr_algebra {
  const tsr_verifier *v;
  const tsr_call *call;
  bool complex_valued;
  tsr_field alpha, beta; /* of the call */
  tsr_small_space space[TSR_AXES];
  tsr_small_buffer *buffers; /* [buffer] of C or W; those of A and B never change, and need none */
  tsr_small_element *elements;       /* elements of all buffers, column-major */
  tsr_dense operand[3], left, right; /* scratch */
} tsr_algebra;

/* ---- small.c ---- */

/* Makes the small problem of a plan. C at home has the user's values; all other elements of C and W
 * count as not written. The caller calls tsr_algebra_stop even if this fails. TSR_ERR_MEMORY. */
tsr_status tsr_algebra_start(tsr_algebra *x, const tsr_verifier *v);
void tsr_algebra_stop(tsr_algebra *x);

/* Whether the buffer is of C or W, whose elements change, of residues that are made of C, or of
 * inverses. */
static inline bool tsr_algebra_is_result(const tsr_algebra *x, int32_t buffer) {
  uint8_t matrix = x->v->plan->buffers.items[buffer].matrix;
  if (tsr_is_lines(matrix)) return tsr_line_source_of(x->call, matrix, 0, 0).matrix == TSR_C_;
  return matrix == TSR_C_ || matrix == TSR_W || matrix == TSR_V;
}

/* A factorisation is checked from its end: most elements of a field have no root, so the factor is
 * chosen, and the C before the call is its product. Element (row, col) of the factor, which is that
 * of L or of U. */
tsr_field tsr_algebra_factor(const tsr_algebra *x, size_t row, size_t col);

/* Elements first .. of the sum over k that C's element (row, col) is of the factor. */
tsr_field tsr_algebra_rest(const tsr_algebra *x, size_t row, size_t col, size_t first);

/* An element of a matrix before the call, whether or not the call may read it. */
tsr_field tsr_algebra_original(const tsr_algebra *x, int matrix, size_t row, size_t col);

static inline tsr_small_element *tsr_algebra_element(const tsr_algebra *x, int32_t buffer,
                                                     size_t row, size_t col) {
  const tsr_small_buffer *b = &x->buffers[buffer];
  return &x->elements[b->first + row - b->row + (col - b->col) * b->rows];
}

/* A rectangle of a matrix in the small problem. */
typedef struct tsr_small_rect {
  size_t row, col, rows, cols;
} tsr_small_rect;

tsr_small_rect tsr_algebra_shrink(const tsr_algebra *x, int matrix, tsr_rect rect);

/* ---- cached.c ---- */

/* Sets the cached blocks of C to their values at the start. A stale home of C gets values that are
 * not C's. */
void tsr_algebra_fill_cached_blocks(tsr_algebra *x);

/* Checks the end of the plan. Where a cached block is newer than the home, its values count as C's.
 * Everything that plan->after says is valid in a cached block must equal C. TSR_ERR_CHECK. */
tsr_status tsr_algebra_check_cached_blocks(tsr_algebra *x);

/* ---- result.c ---- */

/* Compares C at home with what the call asks for. TSR_ERR_CHECK. */
tsr_status tsr_algebra_compare(tsr_algebra *x);

#endif
