/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Checks a finished product in O(n^2): compares C x with alpha op(A) (op(B) x) + beta C0 x for
 * three random vectors x, in double precision.
 *
 * Source: Freivalds, "Probabilistic machines can use less running time" (1977), with a bound on the
 * rounding errors of each row.
 */
#ifndef TESSERA_VERIFY_H
#define TESSERA_VERIFY_H

#include "vectors.h"

typedef struct verify_problem {
  matrix_view a, b; /* op() applied: m x k, k x n */
  matrix_view c0;   /* m x n; not read when beta is 0 */
  matrix_view c;    /* the result */
  tsr_type type;    /* in which it was multiplied */
  scalar alpha, beta;
  const bool *skip_rows, *skip_cols; /* of C, that are not checked; NULL: none */
} verify_problem;

typedef struct verify_result {
  double residual; /* error of the worst row / (|alpha| |A| |B| |x| + |beta| |C0| |x|) */
  double bound;    /* the largest residual that rounding explains in that row */
  bool good;       /* no row's error exceeds its bound */
} verify_result;

/* Checks the product; false: out of memory. */
bool verify_product(const verify_problem *problem, verify_result *result);

/* Compares the products of the vectors with the result (got) and with the formula (wanted), for a
 * result of n columns whose entries are sums of k terms. The bound comes from wanted->size and
 * got->squares. skip: rows that are not compared; NULL: none. */
void verify_compare(tsr_type type, int64_t n, int64_t k, const vectors *got, const vectors *wanted,
                    const bool *skip, verify_result *result);

#endif
