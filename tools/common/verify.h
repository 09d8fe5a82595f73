/*
 * Checks a finished product in O(n^2): C x against alpha op(A) (op(B) x) + beta C0 x for a few
 * random vectors x, in double precision.
 *
 * Source: Freivalds, "Probabilistic machines can use less running time" (1977), with a bound on the
 * rounding errors of each row.
 */
#ifndef TESSERA_VERIFY_H
#define TESSERA_VERIFY_H

#include "lanes.h"

typedef struct verify_problem {
  matrix_view a, b; /* op() applied: m x k, k x n */
  matrix_view c0;   /* m x n; not read when beta is 0 */
  matrix_view c;    /* the result */
  tsr_type type;    /* in which it was multiplied */
  scalar alpha, beta;
} verify_problem;

typedef struct verify_result {
  double residual; /* error of the worst row, over |alpha| |A| |B| |x| + |beta| |C0| |x| */
  double bound;    /* what rounding can make of it in that row */
  bool good;
} verify_result;

/* False when memory is out. */
bool verify_product(const verify_problem *problem, verify_result *result);

/* Compares rows of what was got with what was wanted: matrices of n columns whose entries are sums
 * of k terms. wanted has the magnitudes. */
void verify_compare(tsr_type type, int64_t n, int64_t k, const lanes *got, const lanes *wanted,
                    verify_result *result);

#endif
