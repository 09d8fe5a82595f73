#include "verify.h"

#include <math.h>

static bool apply(const matrix_view *matrix, const lanes *x, lanes *y) {
  const lanes_matrix general = {.view = *matrix};
  return lanes_apply(&general, x, y);
}

static bool is_zero(scalar value) {
  return value.re == 0 && value.im == 0;
}

/* alpha op(A) (op(B) x) + beta C0 x. What BLAS does not read is not read here either. */
static bool expect(const verify_problem *p, const lanes *x, lanes *sum) {
  if (!lanes_create(sum, p->c.rows)) return false;
  lanes bx = {0}, abx = {0}, c0x = {0};
  bool good = true;
  if (!is_zero(p->alpha) && p->a.cols > 0) {
    good = apply(&p->b, x, &bx) && apply(&p->a, &bx, &abx);
    if (good) lanes_add(sum, &abx, p->alpha);
  }
  if (good && !is_zero(p->beta)) {
    good = apply(&p->c0, x, &c0x);
    if (good) lanes_add(sum, &c0x, p->beta);
  }
  lanes_destroy(&bx);
  lanes_destroy(&abx);
  lanes_destroy(&c0x);
  return good;
}

/*
 * What rounding may do to a row of C x. The sums of a row may all err in one direction: their bound
 * is linear. The rounding of what is stored meets signs of x that it knows nothing of, so that by
 * Hoeffding's inequality seven times the root of the sum of squares is exceeded once in 1e10 rows;
 * a linear bound would let a wrong entry of a 16-bit matrix pass.
 */
static double allowed_error(tsr_type type, int64_t n, int64_t k, const lanes *got,
                            const lanes *wanted, int64_t row) {
  /* The check's own sums, of n and of k terms in double, err too. */
  double own = ((double)n + (double)k + 8) * 0x1p-52;
  double stored = 7 * 1.25 * element_store_rounding(type) * sqrt(got->squares[row]);
  if (type == TSR_H) stored += (double)n * 0x1p-25; /* subnormal numbers */
  return (element_sum_bound(type, k) + own) * wanted->size[row] + stored;
}

void verify_compare(tsr_type type, int64_t n, int64_t k, const lanes *got, const lanes *wanted,
                    verify_result *result) {
  double worst = -1;
  *result = (verify_result){0, element_sum_bound(type, k), true};
  for (int64_t i = 0; i < got->length; i++) {
    double allowed = allowed_error(type, n, k, got, wanted, i), scale = wanted->size[i];
    for (int v = 0; v < LANES; v++) {
      double error = hypot(got->re[v][i] - wanted->re[v][i], got->im[v][i] - wanted->im[v][i]);
      if (error == 0) continue;
      if (!(error <= allowed)) result->good = false; /* NaN is wrong too */
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
  lanes x = {0}, got = {0}, wanted = {0};
  bool good = lanes_create(&x, p->c.cols);
  if (good) {
    lanes_randomise(&x);
    good = apply(&p->c, &x, &got) && expect(p, &x, &wanted);
  }
  if (good) verify_compare(p->type, p->c.cols, p->a.cols, &got, &wanted, result);
  lanes_destroy(&x);
  lanes_destroy(&got);
  lanes_destroy(&wanted);
  return good;
}
