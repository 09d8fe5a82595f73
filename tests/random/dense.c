/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "dense.h"

#include <math.h>
#include <stdlib.h>

static double *numbers(int64_t count) {
  return calloc(count > 0 ? (size_t)count : 1, sizeof(double));
}

bool dense_create(int64_t rows, int64_t cols, dense *d) {
  int64_t count = rows * cols;
  *d = (dense){rows, cols, numbers(count), numbers(count), numbers(count)};
  if (d->re && d->im && d->size) return true;
  return dense_destroy(d), false;
}

void dense_destroy(dense *d) {
  free(d->re), free(d->im), free(d->size);
  *d = (dense){0};
}

bool dense_load(const operand *o, bool row_major, char trans, dense *d) {
  bool exchange = (trans != 'N') != row_major;
  int64_t fast = o->shape.fast, slow = o->shape.slow;
  if (!dense_create(exchange ? slow : fast, exchange ? fast : slow, d)) return false;
  for (int64_t j = 0; j < d->cols; ++j)
    for (int64_t i = 0; i < d->rows; ++i) {
      int64_t at = i + j * d->rows;
      operand_value(o, o->image, exchange ? j : i, exchange ? i : j, &d->re[at], &d->im[at]);
      if (trans == 'C') d->im[at] = -d->im[at];
      d->size[at] = fabs(d->re[at]) + fabs(d->im[at]);
    }
  return true;
}

bool dense_transpose(const dense *x, char trans, dense *d) {
  bool exchange = trans != 'N';
  if (!dense_create(exchange ? x->cols : x->rows, exchange ? x->rows : x->cols, d)) return false;
  for (int64_t j = 0; j < d->cols; ++j)
    for (int64_t i = 0; i < d->rows; ++i) {
      int64_t to = i + j * d->rows, from = exchange ? j + i * x->rows : to;
      d->re[to] = x->re[from], d->size[to] = x->size[from];
      d->im[to] = trans == 'C' ? -x->im[from] : x->im[from];
    }
  return true;
}

/* c += sign a b, all dense and real. */
static void accumulate(int64_t m, int64_t n, int64_t k, double sign, const double *a,
                       const double *b, double *c) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t l = 0; l < k; ++l) {
      double factor = sign * b[l + j * k];
      const double *from = a + l * m;
      double *to = c + j * m;
      for (int64_t i = 0; i < m; ++i) to[i] += factor * from[i];
    }
}

bool dense_multiply(const dense *a, const dense *b, bool complex, dense *d) {
  int64_t m = a->rows, n = b->cols, k = a->cols;
  if (!dense_create(m, n, d)) return false;
  accumulate(m, n, k, 1, a->re, b->re, d->re);
  accumulate(m, n, k, 1, a->size, b->size, d->size);
  if (!complex) return true;
  accumulate(m, n, k, -1, a->im, b->im, d->re);
  accumulate(m, n, k, 1, a->re, b->im, d->im);
  accumulate(m, n, k, 1, a->im, b->re, d->im);
  return true;
}
