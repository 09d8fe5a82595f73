#include "reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* op(X), dense, column by column, with the sizes of its elements. */
typedef struct dense {
  int64_t rows, cols;
  double *re, *im, *size;
} dense;

static void dense_free(dense *d) {
  free(d->re), free(d->im), free(d->size);
  *d = (dense){0};
}

static double *numbers(int64_t count) {
  return calloc(count > 0 ? (size_t)count : 1, sizeof(double));
}

static bool dense_load(const operand *o, bool row_major, char trans, int64_t rows, int64_t cols,
                       dense *d) {
  *d = (dense){rows, cols, numbers(rows * cols), numbers(rows * cols), numbers(rows * cols)};
  if (!d->re || !d->im || !d->size) return dense_free(d), false;
  bool exchange = (trans != 'N') != row_major;
  for (int64_t j = 0; j < cols; ++j)
    for (int64_t i = 0; i < rows; ++i) {
      int64_t at = i + j * rows;
      element_get(o->type, operand_at(o, o->image, exchange ? j : i, exchange ? i : j), &d->re[at],
                  &d->im[at]);
      if (trans == 'C') d->im[at] = -d->im[at];
      d->size[at] = fabs(d->re[at]) + fabs(d->im[at]);
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

bool reference_create(const problem *p, const operand *c, reference *made) {
  int64_t count = p->m * p->n;
  *made = (reference){p->m, p->n, numbers(count), numbers(count), numbers(count)};
  if (!made->re || !made->im || !made->bound) return reference_destroy(made), false;
  bool rows = p->layout == 'R';
  for (int64_t j = 0; j < p->n; ++j)
    for (int64_t i = 0; i < p->m; ++i)
      element_get(c->type, operand_at(c, c->image, rows ? j : i, rows ? i : j),
                  &made->re[i + j * p->m], &made->im[i + j * p->m]);
  return true;
}

void reference_destroy(reference *r) {
  free(r->re), free(r->im), free(r->bound);
  memset(r, 0, sizeof *r);
}

/* Unit roundoff of sums, of what is stored, and of what multiplications make of their inputs. */
static void roundoff(const problem *p, double *sum, double *store, double *input) {
  bool wide = p->type == 'd' || p->type == 'z';
  *sum = wide ? 0x1p-53 : 0x1p-24;
  *store = p->type == 'h' ? 0x1p-11 : p->type == 'b' ? 0x1p-8 : *sum;
  /* TF32 keeps ten bits, and may cut; engines without it multiply in float. */
  *input = p->type == 't' && strcmp(p->engine, "cuda") == 0 ? 3 * 0x1p-10 : 0;
}

typedef struct product {
  double *re, *im, *size;
} product;

static bool product_make(const problem *p, const dense *a, const dense *b, product *made) {
  int64_t m = p->m, n = p->n, k = p->k, count = m * n;
  *made = (product){numbers(count), numbers(count), numbers(count)};
  if (!made->re || !made->im || !made->size) return false;
  accumulate(m, n, k, 1, a->re, b->re, made->re);
  accumulate(m, n, k, 1, a->size, b->size, made->size);
  if (!problem_is_complex(p)) return true;
  accumulate(m, n, k, -1, a->im, b->im, made->re);
  accumulate(m, n, k, 1, a->re, b->im, made->im);
  accumulate(m, n, k, 1, a->im, b->re, made->im);
  return true;
}

/* r = alpha product + beta r, with the bound
 *   8 (k + 2) eps |alpha| |A| |B| + 8 eps |beta C| + 2 eps_store |C|, and what C was off before. */
static void combine(const problem *p, const product *x, reference *r) {
  double alpha[2], beta[2], sum, store, input;
  problem_scalar(p, 0, &alpha[0], &alpha[1]);
  problem_scalar(p, 1, &beta[0], &beta[1]);
  roundoff(p, &sum, &store, &input);
  double alpha_size = fabs(alpha[0]) + fabs(alpha[1]), beta_size = fabs(beta[0]) + fabs(beta[1]);
  double tiny = p->type == 'h' ? 0x1p-24 : 1e-36; /* subnormals have no relative error */
  for (int64_t i = 0; i < r->m * r->n; ++i) {
    double re = 0, im = 0, bound = tiny, old = fabs(r->re[i]) + fabs(r->im[i]);
    if (alpha_size > 0) {
      re = alpha[0] * x->re[i] - alpha[1] * x->im[i];
      im = alpha[0] * x->im[i] + alpha[1] * x->re[i];
      bound += (8 * (double)(p->k + 2) * sum + input) * alpha_size * x->size[i];
    }
    if (beta_size > 0) {
      re += beta[0] * r->re[i] - beta[1] * r->im[i];
      im += beta[0] * r->im[i] + beta[1] * r->re[i];
      bound += 8 * sum * beta_size * old + beta_size * r->bound[i];
    }
    r->re[i] = re, r->im[i] = im;
    r->bound[i] = bound + 2 * store * (fabs(re) + fabs(im));
  }
}

bool reference_gemm(const problem *p, const operand *a, const operand *b, reference *r) {
  dense left = {0}, right = {0};
  product x = {0};
  bool reads = p->alpha != '0' && p->k > 0;
  bool ok = !reads || (dense_load(a, p->layout == 'R', p->ta, p->m, p->k, &left) &&
                       dense_load(b, p->layout == 'R', p->tb, p->k, p->n, &right));
  if (ok && reads) ok = product_make(p, &left, &right, &x);
  if (ok && !reads)
    ok = (x.re = numbers(p->m * p->n)) && (x.im = numbers(p->m * p->n)) &&
         (x.size = numbers(p->m * p->n));
  if (ok) combine(p, &x, r);
  free(x.re), free(x.im), free(x.size);
  dense_free(&left);
  dense_free(&right);
  return ok;
}

bool reference_compare(const problem *p, const reference *r, const operand *c,
                       const unsigned char *bytes, char *wrong, size_t room) {
  bool rows = p->layout == 'R';
  for (int64_t j = 0; j < r->n; ++j)
    for (int64_t i = 0; i < r->m; ++i) {
      int64_t at = i + j * r->m;
      double re, im;
      element_get(c->type, operand_at(c, bytes, rows ? j : i, rows ? i : j), &re, &im);
      double off = fabs(re - r->re[at]) + fabs(im - r->im[at]);
      if (off <= r->bound[at]) continue; /* false for NaN */
      snprintf(wrong, room,
               "C(%" PRId64 ",%" PRId64 ") is %.17g%+.17gi, must be %.17g%+.17gi within %.3g", i, j,
               re, im, r->re[at], r->im[at], r->bound[at]);
      return false;
    }
  return true;
}
