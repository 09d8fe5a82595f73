/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "triangular.h"

#include <math.h>
#include <string.h>

static const double tiny = 1e-36; /* subnormals have no relative error */

static double size_of(double re, double im) {
  return fabs(re) + fabs(im);
}

/* b = alpha b; its sizes become those of its elements, and off what they were, times alpha. */
static void scale(const problem *p, dense *b, dense *off) {
  double re, im;
  problem_scalar(p, 0, &re, &im);
  for (int64_t i = 0; i < b->rows * b->cols; ++i) {
    double b_re = b->re[i], b_im = b->im[i];
    off->size[i] = size_of(re, im) * b->size[i];
    b->re[i] = re * b_re - im * b_im;
    b->im[i] = re * b_im + im * b_re;
    b->size[i] = size_of(b->re[i], b->im[i]);
  }
}

/* ---- Multiplying ---- */

/* x = a b with bounds 8 (order + 2) eps |A| |B|, and |A| times what b was off. */
static bool multiply(const dense *a, const dense *b, const dense *off, double eps, bool complex,
                     dense *x) {
  dense carried;
  if (!dense_multiply(a, off, false, &carried)) return false;
  bool ok = dense_multiply(a, b, complex, x);
  for (int64_t i = 0; ok && i < x->rows * x->cols; ++i)
    x->size[i] = tiny + carried.size[i] + 8 * (double)(a->cols + 2) * eps * x->size[i] +
                 2 * eps * size_of(x->re[i], x->im[i]);
  return dense_destroy(&carried), ok;
}

/* ---- Solving ---- */

/* Element i of the solution of one system from those before it.
 *
 * A solver is as good as its residual: |A x - b| <= r = 8 (order + 2) eps (|A| |x| + |b|). So x is
 * off by e with |A(i,i)| e(i) <= r(i) + sum of |A(i,l)| e(l), which also takes what b was off, as a
 * residual of one call could not. */
static void solve_one(const dense *a, int64_t i, int64_t first, int64_t last, double eps,
                      double *re, double *im, double *off) {
  double b_re = re[i], b_im = im[i], sizes = size_of(b_re, b_im), carried = off[i];
  for (int64_t l = first; l < last; ++l) {
    int64_t at = i + l * a->rows;
    b_re -= a->re[at] * re[l] - a->im[at] * im[l];
    b_im -= a->re[at] * im[l] + a->im[at] * re[l];
    sizes += a->size[at] * size_of(re[l], im[l]);
    carried += a->size[at] * off[l];
  }
  double d_re = a->re[i + i * a->rows], d_im = a->im[i + i * a->rows];
  double square = d_re * d_re + d_im * d_im, d_size = size_of(d_re, d_im);
  re[i] = (b_re * d_re + b_im * d_im) / square;
  im[i] = (b_im * d_re - b_re * d_im) / square;
  sizes += d_size * size_of(re[i], im[i]);
  off[i] = tiny + (8 * (double)(a->rows + 2) * eps * sizes + carried) * d_size / square;
}

/* The columns of b become the solutions of a x = b. */
static void solve(const dense *a, bool lower, double eps, dense *b, dense *off) {
  int64_t n = b->rows;
  for (int64_t j = 0; j < b->cols; ++j) {
    double *re = b->re + j * n, *im = b->im + j * n, *offs = off->size + j * n;
    for (int64_t step = 0; step < n; ++step) {
      int64_t i = lower ? step : n - 1 - step;
      solve_one(a, i, lower ? 0 : i + 1, lower ? i : n, eps, re, im, offs);
    }
  }
  memcpy(b->size, off->size, (size_t)(n * b->cols) * sizeof *b->size);
}

/* ---- Calls ---- */

/* From the left, with what it multiplies or divides already scaled. */
static bool apply_left(const problem *p, const dense *a, bool lower, double eps, dense *b,
                       dense *off) {
  dense x;
  if (p->operation == TSR_TRSM) return solve(a, lower, eps, b, off), true;
  if (!multiply(a, b, off, eps, problem_is_complex(p), &x)) return false;
  dense_destroy(b);
  return *b = x, true;
}

static bool transpose(dense *x) {
  dense other;
  if (!dense_transpose(x, 'T', &other)) return false;
  dense_destroy(x);
  return *x = other, true;
}

/* From the right is from the left with all transposed. */
static bool apply(const problem *p, dense *a, double eps, dense *b, dense *off) {
  bool right = p->side == 'R', lower = (p->uplo == 'L') == (p->ta == 'N');
  if (!right) return apply_left(p, a, lower, eps, b, off);
  return transpose(a) && transpose(b) && transpose(off) && apply_left(p, a, !lower, eps, b, off) &&
         transpose(b);
}

bool triangular_apply(const problem *p, const operand *a, double eps, dense *b) {
  dense factor = {0}, off = {0};
  if (p->alpha == '0') { /* neither is read */
    int64_t rows = b->rows, cols = b->cols;
    dense_destroy(b);
    return dense_create(rows, cols, b);
  }
  bool ok = dense_load(a, p->layout == 'R', p->ta, &factor) && dense_create(b->rows, b->cols, &off);
  if (ok) {
    scale(p, b, &off);
    ok = apply(p, &factor, eps, b, &off);
  }
  dense_destroy(&factor), dense_destroy(&off);
  return ok;
}
