/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "factor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "dense.h"

/* NaN raises a flag, or a trap, on the CPU, which may do any call with a budget. */
static double bad_value(const problem *p) {
  static const double values[] = {-1, 0, -INFINITY, NAN};
  bool may_be_nan = p->devices > 0 && p->memory == 0;
  return values[p->seed % (may_be_nan ? 4 : 3)];
}

tsr_status factor_spoil(const problem *p, operand *c) {
  int64_t at = p->bad - 1;
  return operand_set(c, at, at, bad_value(p));
}

/* Loads L from a lower triangle, or U^H from an upper one. */
static bool load_lower(const problem *p, const operand *c, dense *made) {
  return dense_load(c, p->layout == 'R', p->uplo == 'L' ? 'N' : 'C', made);
}

/* |A - L L^H| in element (i, j), and |L| |L^H| there. */
static double error_at(const dense *a, const dense *l, int64_t i, int64_t j, double *size) {
  int64_t n = a->rows;
  double re = a->re[i + j * n], im = i == j ? 0 : a->im[i + j * n];
  *size = 0;
  for (int64_t k = 0; k <= j; ++k) {
    double x = l->re[i + k * n], y = l->im[i + k * n];
    double u = l->re[j + k * n], v = -l->im[j + k * n];
    re -= x * u - y * v;
    im -= x * v + y * u;
    *size += (fabs(x) + fabs(y)) * (fabs(u) + fabs(v));
  }
  return fabs(re) + fabs(im);
}

/* The bound is that of Higham, "Accuracy and Stability of Numerical Algorithms", theorem 10.3,
 * (n + 1) u |L| |L^H|, times 8 for complex numbers and sums of blocks. */
static bool compare(const problem *p, const dense *a, const dense *l, char *wrong, size_t room) {
  double u = p->type == 'd' || p->type == 'z' ? 0x1p-53 : 0x1p-24;
  for (int64_t j = 0; j < a->cols; ++j)
    for (int64_t i = j; i < a->rows; ++i) {
      double size, error = error_at(a, l, i, j, &size), most = 8 * (double)(p->n + 1) * u * size;
      if (error <= most) continue;
      snprintf(wrong, room, "L L^H is off by %.3g in (%" PRId64 ",%" PRId64 "), at most %.3g",
               error, i, j, most);
      return false;
    }
  return true;
}

bool factor_is_right(const problem *p, const operand *c, unsigned char const *bytes, int64_t info,
                     char *wrong, size_t room) {
  operand factored = *c;
  dense a = {0}, l = {0};
  snprintf(wrong, room, "info is %" PRId64 ", must be %" PRId64, info, p->bad);
  if (info != p->bad) return false;
  if (info > 0) return true;
  factored.image = (unsigned char *)bytes;
  snprintf(wrong, room, "out of memory");
  bool ok = load_lower(p, c, &a) && load_lower(p, &factored, &l) && compare(p, &a, &l, wrong, room);
  dense_destroy(&a), dense_destroy(&l);
  return ok;
}
