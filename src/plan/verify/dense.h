/*
 * Small dense matrices over the field of verify_field.h, and what a kernel or a call makes of its
 * operands: everything but TRSM is a product of two factors. Whoever has a matrix frees it.
 */
#ifndef TSR_PLAN_VERIFY_DENSE_H
#define TSR_PLAN_VERIFY_DENSE_H

#include "base/kernel.h"
#include "base/status.h"
#include "plan/verify/field.h"

/* Column-major, without gaps. at is kept between uses: room is what it has. */
typedef struct tsr_dense {
  size_t rows, cols;
  tsr_field *at;
  size_t room;
} tsr_dense;

/* Gives x these extents; what it holds is lost. TSR_ERR_MEMORY. */
tsr_status tsr_dense_resize(tsr_dense *x, size_t rows, size_t cols);
void tsr_dense_free(tsr_dense *x);

static inline tsr_field *tsr_dense_at(const tsr_dense *x, size_t row, size_t col) {
  return &x->at[row + col * x->rows];
}

/* Whether an element is in a triangle, the diagonal included; all are in TSR_GENERAL. */
static inline bool tsr_in_triangle(tsr_uplo uplo, size_t row, size_t col) {
  return uplo == TSR_LOWER ? row >= col : uplo == TSR_UPPER ? row <= col : true;
}

/* What is computed of stored operands. c is the solution (TRSM). */
typedef struct tsr_formula {
  tsr_kernel kernel;
  tsr_form form;
  tsr_field alpha;
  const tsr_dense *a, *b, *c;
} tsr_formula;

/* The factors, alpha in the left one, so that left^T right is what the kernel adds to beta c; of
 * TRSM what should equal alpha c: the triangle (without alpha) and the solution. */
tsr_status tsr_formula_factors(const tsr_formula *f, tsr_dense *left, tsr_dense *right);

/* The sum over k from k0 to before k1 of left(k, i) right(k, j). */
tsr_field tsr_factors_product(const tsr_dense *left, const tsr_dense *right, size_t i, size_t j,
                              size_t k0, size_t k1);

/* TRSM in place of x, which is f->c. */
tsr_status tsr_formula_solve(const tsr_formula *f, tsr_dense *triangle, tsr_dense *x);

/* Whether TRSM finds the rows of the solution (of side right its columns) from the first one on. */
bool tsr_form_ascends(tsr_form form);

#endif
