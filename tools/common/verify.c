/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "verify.h"

#include <math.h>

static bool apply(const matrix_view *matrix, const bool *skipped, const vectors *x, vectors *y) {
  const vectors_matrix general = {.view = *matrix, .skipped = skipped};
  return vectors_apply(&general, x, y);
}

static bool is_zero(scalar value) {
  return value.re == 0 && value.im == 0;
}

/* sum = alpha op(A) (op(B) x) + beta C0 x. As in the BLAS, A and B are not read if alpha is 0, nor
 * C0 if beta is 0. */
static bool expect(const verify_problem *p, const vectors *x, vectors *sum) {
  if (!vectors_create(sum, p->c.rows)) return false;
  vectors bx = {0}, abx = {0}, c0x = {0};
  bool good = true;
  if (!is_zero(p->alpha) && p->a.cols > 0) {
    good = apply(&p->b, p->skip_cols, x, &bx) && apply(&p->a, NULL, &bx, &abx);
    if (good) vectors_add(sum, &abx, p->alpha);
  }
  if (good && !is_zero(p->beta)) {
    good = apply(&p->c0, p->skip_cols, x, &c0x);
    if (good) vectors_add(sum, &c0x, p->beta);
  }
  vectors_destroy(&bx);
  vectors_destroy(&abx);
  vectors_destroy(&c0x);
  return good;
}

/*
 * The largest error of a row of C x that rounding explains. The errors of a row's sums may all have
 * one sign, so their bound is linear. The errors of storing C are independent of the random signs
 * of x: by Hoeffding's inequality their sum exceeds 7 sqrt(sum of squares) once in 1e10 rows. A
 * linear bound for them would accept a wrong entry of a 16-bit matrix.
 */
static double allowed_error(tsr_type type, int64_t n, int64_t k, const vectors *got,
                            const vectors *wanted, int64_t row) {
  /* Rounding in the check's own sums, of n and of k terms in double. */
  double own = ((double)n + (double)k + 8) * 0x1p-52;
  double stored = 7 * 1.25 * element_store_rounding(type) * sqrt(got->squares[row]);
  if (type == TSR_H) stored += (double)n * 0x1p-25; /* subnormal numbers */
  return (element_sum_bound(type, k) + own) * wanted->size[row] + stored;
}

void verify_compare(tsr_type type, int64_t n, int64_t k, const vectors *got, const vectors *wanted,
                    const bool *skip, verify_result *result) {
  double worst = -1;
  *result = (verify_result){0, element_sum_bound(type, k), true};
  for (int64_t i = 0; i < got->length; i++) {
    if (skip && skip[i]) continue;
    double allowed = allowed_error(type, n, k, got, wanted, i), scale = wanted->size[i];
    for (int v = 0; v < VECTORS; v++) {
      double error = hypot(got->re[v][i] - wanted->re[v][i], got->im[v][i] - wanted->im[v][i]);
      if (error == 0) continue;
      if (!(error <= allowed)) result->good = false; /* also if error is NaN */
      double part = error / allowed;
      if (isnan(part)) part = INFINITY;
      if (part <= worst) continue;
      worst = part;
      result->residual = scale > 0 ? error / scale : error;
      result->bound = scale > 0 ? allowed / scale : 0;
    }
  }
}

bool verify_product(const verify_problem *p, verify_result *result) {
  vectors x = {0}, got = {0}, wanted = {0};
  bool good = vectors_create(&x, p->c.cols);
  if (good) {
    vectors_randomise(&x);
    good = apply(&p->c, p->skip_cols, &x, &got) && expect(p, &x, &wanted);
  }
  if (good) verify_compare(p->type, p->c.cols, p->a.cols, &got, &wanted, p->skip_rows, result);
  vectors_destroy(&x);
  vectors_destroy(&got);
  vectors_destroy(&wanted);
  return good;
}
