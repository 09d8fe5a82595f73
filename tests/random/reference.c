/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "triangular.h"

bool reference_create(const problem *p, const operand *c, dense *made) {
  if (!dense_load(c, p->layout == 'R', 'N', made)) return false;
  memset(made->size, 0, (size_t)(made->rows * made->cols) * sizeof *made->size);
  return true;
}

/* Unit roundoff of sums, of what is stored, and of what multiplications make of their inputs; the
 * last with the accuracy that is asked for, twice since real and imaginary errors are summed. */
static void roundoff(const problem *p, double *sum, double *store, double *input) {
  bool wide = p->type == 'd' || p->type == 'z';
  *sum = wide ? 0x1p-53 : 0x1p-24;
  *store = p->type == 'h' ? 0x1p-11 : p->type == 'b' ? 0x1p-8 : *sum;
  /* TF32 keeps ten bits, and may cut; engines without it multiply in float. */
  *input = p->type == 't' && strcmp(p->engine, "cuda") == 0 ? 3 * 0x1p-10 : 0;
  if (p->digits > 0) *input += 2 * pow(10, -p->digits);
}

/* ---- Products ---- */

/* A factor of C = alpha X + beta C. */
typedef struct scalar {
  double re, im, size;
} scalar;

static scalar scalar_of(const problem *p, int which) {
  scalar s;
  problem_scalar(p, which, &s.re, &s.im);
  s.size = fabs(s.re) + fabs(s.im);
  return s;
}

/* to += factor from, and the same of sizes. */
static void add(scalar factor, const dense *from, dense *to) {
  for (int64_t i = 0; i < to->rows * to->cols; ++i) {
    to->re[i] += factor.re * from->re[i] - factor.im * from->im[i];
    to->im[i] += factor.re * from->im[i] + factor.im * from->re[i];
    to->size[i] += factor.size * from->size[i];
  }
}

/* to += factor op(a) op(b), of dense matrices. */
static bool add_product(const problem *p, scalar factor, const dense *a, const dense *b,
                        dense *to) {
  dense x;
  if (!dense_multiply(a, b, problem_is_complex(p), &x)) return false;
  add(factor, &x, to);
  return dense_destroy(&x), true;
}

/* to = alpha op(A) op(B)^T, and for two operands + alpha op(B) op(A)^T, or so of Hermitian ones. */
static bool update(const problem *p, const dense *a, const dense *b, dense *to) {
  char trans = problem_hermitian(p) ? 'C' : 'T';
  bool two = problem_kind_of(p) == KIND_UPDATE_TWO;
  scalar alpha = scalar_of(p, 0), other = alpha;
  dense right = {0}, left = {0};
  if (problem_hermitian(p)) other.im = -other.im;
  bool ok = dense_transpose(two ? b : a, trans, &right) && add_product(p, alpha, a, &right, to);
  if (ok && two) ok = dense_transpose(a, trans, &left) && add_product(p, other, b, &left, to);
  dense_destroy(&right), dense_destroy(&left);
  return ok;
}

/* x += alpha times what the operation multiplies. */
static bool multiply(const problem *p, const operand set[3], dense *x) {
  bool rows = p->layout == 'R';
  problem_kind kind = problem_kind_of(p);
  dense a = {0}, b = {0};
  char trans = kind == KIND_PRODUCT ? p->tb : kind == KIND_UPDATE_TWO ? p->ta : 'N';
  bool ok = dense_load(&set[0], rows, kind == KIND_SYMMETRIC ? 'N' : p->ta, &a) &&
            (!problem_has(p, 1) || dense_load(&set[1], rows, trans, &b));
  bool exchange = kind == KIND_SYMMETRIC && p->side == 'R';
  if (ok && (kind == KIND_PRODUCT || kind == KIND_SYMMETRIC))
    ok = add_product(p, scalar_of(p, 0), exchange ? &b : &a, exchange ? &a : &b, x);
  else if (ok)
    ok = update(p, &a, &b, x);
  dense_destroy(&a), dense_destroy(&b);
  return ok;
}

/* c = x + beta c, with the bound
 *   8 (depth + 2) eps |alpha| |A| |B| + 8 eps |beta C| + 2 eps_store |C| + eps_store |alpha A B|,
 * since a product may be stored before it is added, and what C was off before.
 */
static void combine(const problem *p, const dense *x, int64_t depth, dense *c) {
  double sum, store, input;
  scalar beta = scalar_of(p, 1);
  roundoff(p, &sum, &store, &input);
  double tiny = p->type == 'h' ? 0x1p-24 : 1e-36; /* subnormals have no relative error */
  for (int64_t i = 0; i < c->rows * c->cols; ++i) {
    double re = x->re[i], im = x->im[i];
    double bound = tiny + (8 * (double)(depth + 2) * sum + input) * x->size[i];
    bound += store * (fabs(re) + fabs(im));
    if (beta.size > 0) {
      re += beta.re * c->re[i] - beta.im * c->im[i];
      im += beta.re * c->im[i] + beta.im * c->re[i];
      bound += beta.size * (8 * sum * (fabs(c->re[i]) + fabs(c->im[i])) + c->size[i]);
    }
    c->re[i] = re, c->im[i] = im;
    c->size[i] = bound + 2 * store * (fabs(re) + fabs(im));
  }
}

static bool apply_product(const problem *p, const operand set[3], int64_t depth, dense *c) {
  dense x;
  if (!dense_create(c->rows, c->cols, &x)) return false;
  bool ok = p->alpha == '0' || depth == 0 || multiply(p, set, &x);
  if (ok) combine(p, &x, depth, c);
  return dense_destroy(&x), ok;
}

bool reference_apply(const problem *p, const operand set[3], dense *c) {
  int64_t rows, cols, depth;
  double sum, store, input;
  problem_extents(p, &rows, &cols, &depth);
  if (problem_has_beta(p)) return apply_product(p, set, depth, c);
  roundoff(p, &sum, &store, &input);
  return triangular_apply(p, &set[0], sum, c);
}

/* ---- Comparing ---- */

/* Further off than it may be; also when it is NaN. */
static bool too_far(const dense *expected, int64_t at, bool must_be_real, double re, double im) {
  double off = fabs(re - expected->re[at]) + fabs(im - expected->im[at]);
  return !(off <= expected->size[at]) || (must_be_real && im != 0);
}

bool reference_compare(const problem *p, const dense *expected, const operand *c,
                       const unsigned char *bytes, char *wrong, size_t room) {
  bool row_major = p->layout == 'R';
  for (int64_t j = 0; j < expected->cols; ++j)
    for (int64_t i = 0; i < expected->rows; ++i) {
      int64_t at = i + j * expected->rows, fast = row_major ? j : i, slow = row_major ? i : j;
      double re, im;
      if (!stored_inside(&c->shape, fast, slow)) continue;
      element_get(c->type, operand_at(c, bytes, fast, slow), &re, &im);
      if (!too_far(expected, at, i == j && c->shape.real_diagonal, re, im)) continue;
      snprintf(wrong, room,
               "C(%" PRId64 ",%" PRId64 ") is %.17g%+.17gi, must be %.17g%+.17gi within %.3g", i, j,
               re, im, expected->re[at], expected->im[at], expected->size[at]);
      return false;
    }
  return true;
}
