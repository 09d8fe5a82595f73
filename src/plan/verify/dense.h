/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Small dense matrices over the field of field.h, and the product or solution that a kernel or call
 * makes of its operands. Every operation but TRSM is a product of two factors. The owner of a
 * matrix frees it.
 */
#ifndef TSR_PLAN_VERIFY_DENSE_H
#define TSR_PLAN_VERIFY_DENSE_H

#include "arithmetic/kernel.h"
#include "base/status.h"
#include "plan/verify/field.h"

/* Column-major, ld = rows. `at` is kept between uses; capacity: elements allocated. */
typedef struct tsr_dense {
  size_t rows, cols;
  tsr_field *at;
  size_t capacity;
} tsr_dense;

/* Sets the extents of x; its old contents are lost. TSR_ERR_MEMORY. */
tsr_status tsr_dense_resize(tsr_dense *x, size_t rows, size_t cols);
void tsr_dense_free(tsr_dense *x);

static inline tsr_field *tsr_dense_at(const tsr_dense *x, size_t row, size_t col) {
  return &x->at[row + col * x->rows];
}

/* Whether an element is in a triangle, the diagonal included; always true for TSR_GENERAL. */
static inline bool tsr_in_triangle(tsr_uplo uplo, size_t row, size_t col) {
  return uplo == TSR_LOWER ? row >= col : uplo == TSR_UPPER ? row <= col : true;
}

/* An operation on stored operands. c: for TRSM, the solution. */
typedef struct tsr_formula {
  tsr_kernel kernel;
  tsr_form form;
  tsr_field alpha;
  const tsr_dense *a, *b, *c;
} tsr_formula;

/* Makes the factors: left^T right is what the kernel adds to beta c; left contains alpha. For TRSM
 * left is the triangle, without alpha, and right the solution; their product should equal alpha c.
 * TSR_ERR_MEMORY. */
tsr_status tsr_formula_factors(const tsr_formula *f, tsr_dense *left, tsr_dense *right);

/* The sum over k from k0 to before k1 of left(k, i) right(k, j). */
tsr_field tsr_factors_product(const tsr_dense *left, const tsr_dense *right, size_t i, size_t j,
                              size_t k0, size_t k1);

/* Solves TRSM in place of x, which is f->c; triangle is scratch. TSR_ERR_MEMORY. */
tsr_status tsr_formula_solve(const tsr_formula *f, tsr_dense *triangle, tsr_dense *x);

/* Whether TRSM finds the solution from its first row on (side left) or its first column on (side
 * right), not from the last. */
bool tsr_form_ascends(tsr_form form);

#endif
