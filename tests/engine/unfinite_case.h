/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * trmm of a B with infinities and NaN against naive loops over the triangle alone: an element of
 * the result that does not depend on such an element of B is as finite as without it, and the
 * others are the infinity or NaN that the loops give.
 */
#ifndef TSR_TESTS_UNFINITE_CASE_H
#define TSR_TESTS_UNFINITE_CASE_H

#include "level3_case.h"

/* Makes about one element in 64 of B, and one in every problem, an infinity or a NaN. */
static void unfinite_put(kernel_case *test) {
  static const double values[] = {INFINITY, -INFINITY, NAN};
  const tsr_kernel_args *x = &test->args;
  void *b = (void *)(uintptr_t)x->b;
  int64_t row = random_below(x->m), column = random_below(x->n);
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++) {
      if (random_below(64) > 0 && (i != row || j != column)) continue;
      element e = element_get(x->type, b, i + j * x->ldb);
      *(tsr_type_get(x->type)->complex_valued && random_below(2) ? &e.im : &e.re) =
          values[random_below(3)];
      element_set(x->type, b, i + j * x->ldb, e);
    }
}

/* As `times`, but of real numbers no imaginary part becomes NaN. */
static element unfinite_times(const tsr_kernel_args *x, element a, element b) {
  return tsr_type_get(x->type)->complex_valued ? times(a, b) : (element){a.re * b.re, 0};
}

/* Whether element (i, j) of op(a) is in the triangle. */
static bool unfinite_is_stored(const tsr_kernel_args *x, int64_t i, int64_t j) {
  bool plain = x->transa == TSR_NO_TRANS;
  return in_triangle(x->uplo, plain ? i : j, plain ? j : i);
}

static sum unfinite_wanted(const tsr_kernel_args *x, const void *before, int64_t i, int64_t j) {
  element alpha = {x->alpha.re, x->alpha.im}, beta = {x->beta.re, x->beta.im};
  sum s = {{0, 0}, 0};
  for (int64_t l = 0; l < order_of_a(x); l++) {
    bool right = x->side == TSR_RIGHT, one = x->diag == TSR_UNIT && l == (right ? j : i);
    if (right ? !unfinite_is_stored(x, l, j) : !unfinite_is_stored(x, i, l)) continue;
    element b = element_get(x->type, x->b, right ? i + l * x->ldb : l + j * x->ldb);
    add_to(&s, one ? b : unfinite_times(x, right ? op_a_get(x, l, j) : op_a_get(x, i, l), b));
  }
  s = (sum){unfinite_times(x, alpha, s.value), size_of(alpha) * s.scale};
  if (tsr_kernel_reads_c(x))
    add_to(&s, unfinite_times(x, beta, element_get(x->type, before, i + j * x->ldc)));
  return s;
}

static bool unfinite_is_like(double got, double want, double bound) {
  if (isnan(want)) return isnan(got);
  return isinf(want) || !isfinite(bound) ? got == want : fabs(got - want) <= bound;
}

static void unfinite_check_element(const kernel_case *test, const void *before, int64_t i,
                                   int64_t j) {
  const tsr_kernel_args *x = &test->args;
  sum want = unfinite_wanted(x, before, i, j);
  element got = element_get(x->type, x->c, i + j * x->ldc);
  double bound = 8 * ((double)x->k + 4) * tsr_type_get(x->type)->epsilon * want.scale;
  if (!unfinite_is_like(got.re, want.value.re, bound) ||
      !unfinite_is_like(got.im, want.value.im, bound))
    level3_fail(test, i, j, got, want.value);
}

static void unfinite_check(const kernel_case *test, const void *before) {
  const tsr_kernel_args *x = &test->args;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++) unfinite_check_element(test, before, i, j);
  case_check_rest(test, before);
}

/* One line in a thousand and the last ones; A is on the left. */
static inline void unfinite_check_lines(const kernel_case *test, const void *before) {
  const tsr_kernel_args *x = &test->args;
  for (int64_t j = 0; j < x->n; j += j + 1000 < x->n ? 997 : 1)
    for (int64_t i = 0; i < x->m; i++) unfinite_check_element(test, before, i, j);
  case_check_rest(test, before);
}

/* count random problems for each combination of the flags of trmm. */
static inline void unfinite_run(kernel_runner run, void *user, tsr_type type, int count,
                                int64_t most) {
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  for (int f = 0; f < 24 * count; f++) {
    tsr_kernel_args flags = {.kernel = TSR_KERNEL_TRMM,
                             .type = type,
                             .transa = ops[f / 8 % 3],
                             .side = f & 1 ? TSR_RIGHT : TSR_LEFT,
                             .uplo = f & 2 ? TSR_UPPER : TSR_LOWER,
                             .diag = f & 4 ? TSR_UNIT : TSR_NON_UNIT};
    kernel_case test = level3_make(flags, most);
    bool reads = tsr_kernel_reads_inputs(&test.args) && test.args.m > 0 && test.args.n > 0;
    if (reads) unfinite_put(&test);
    case_run(run, user, &test, reads ? unfinite_check : level3_check);
  }
}

#endif
