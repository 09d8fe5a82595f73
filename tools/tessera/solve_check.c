/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>

#include "finite.h"
#include "solve.h"
#include "vectors.h"

/* op(A) from the file, which has A also when the copy has become its factor. */
static vectors_matrix matrix_as_asked(const solve_job *job) {
  const solve_request *r = &job->request;
  vectors_matrix a = {.view = npy_view(&job->a_file), .uplo = r->uplo};
  a.structure = !r->definite                    ? VECTORS_TRIANGULAR
                : element_is_complex(job->type) ? VECTORS_HERMITIAN
                                                : VECTORS_SYMMETRIC;
  return r->definite ? a : vectors_matrix_op(a, r->trans);
}

/* Sets *norm to the greatest sum of magnitudes in a row of the matrix, and y to its product with
 * vectors of size 1; false: out of memory. */
static bool apply(const vectors_matrix *matrix, const vectors *x, vectors *y, double *norm) {
  *norm = 0;
  if (!vectors_apply(matrix, x, y)) return false;
  for (int64_t i = 0; i < y->length; i++) *norm = fmax(*norm, y->size[i]);
  return true;
}

/* *norm = ||A||; false: out of memory. */
static bool norm_of(const vectors_matrix *a, double *norm) {
  vectors x = {0}, y = {0};
  bool good = vectors_create(&x, a->view.cols);
  if (good) vectors_randomise(&x);
  good = good && apply(a, &x, &y, norm);
  vectors_destroy(&x);
  vectors_destroy(&y);
  return good;
}

/* The greatest difference of two results; a NaN is the greatest of all. */
static double greatest_difference(const vectors *p, const vectors *q) {
  double greatest = 0;
  for (int v = 0; v < VECTORS; v++) {
    for (int64_t i = 0; i < p->length; i++) {
      double error = hypot(p->re[v][i] - q->re[v][i], p->im[v][i] - q->im[v][i]);
      if (!(error <= greatest)) greatest = isnan(error) ? (double)INFINITY : error;
    }
  }
  return greatest;
}

/* The bound has a solve's own rounding, normwise (Higham, Accuracy and Stability of Numerical
 * Algorithms, chapters 8 and 10, where 4 (n + 4) u is ample), and that of the check's sums. */
static void judge(solve_job *job, double error, double scale) {
  solve_residual *r = &job->residual;
  bool wide = job->type == TSR_D || job->type == TSR_Z;
  double unit = (double)(job->n > 0 ? job->n : 1) * (wide ? 0x1p-53 : 0x1p-24);
  double own = ((double)job->n + (double)job->nrhs + 8) * 0x1p-52;
  r->value = scale > 0 ? error / scale : error;
  r->units = r->value / unit;
  r->bound = (element_sum_bound(job->type, job->n) + own) / unit;
  r->good = r->units <= r->bound;
}

/* Compares op(A) (X v) with B v for random vectors v. */
static bool compare(solve_job *job) {
  const vectors_matrix a = matrix_as_asked(job), b = {.view = npy_view(&job->b_file)},
                       x = {.view = npy_view(&job->x_file)};
  vectors v = {0}, xv = {0}, axv = {0}, bv = {0};
  double norm_a = 0, norm_x = 0, norm_b = 0;
  bool good = vectors_create(&v, job->nrhs);
  if (good) vectors_randomise(&v);
  good = good && norm_of(&a, &norm_a) && apply(&x, &v, &xv, &norm_x) &&
         apply(&b, &v, &bv, &norm_b) && vectors_apply(&a, &xv, &axv);
  if (good) judge(job, greatest_difference(&axv, &bv), norm_a * norm_x + norm_b);
  vectors_destroy(&v);
  vectors_destroy(&xv);
  vectors_destroy(&axv);
  vectors_destroy(&bv);
  return good;
}

/* Refuses a solution with NaN or infinities, for which there is no residual. */
static int check_finite(const solve_job *job) {
  const solve_request *r = &job->request;
  matrix_view x = npy_view(&job->x_file), b = npy_view(&job->b_file);
  nonfinite odd = nonfinite_find(&x, NULL, NULL);
  if (odd.count == 0) return TOOL_OK;
  nonfinite given = nonfinite_find(&b, NULL, NULL);
  if (given.count > 0) {
    return tool_fail("%s: the element at [%lld, %lld] is not finite; nothing written", r->b_path,
                     (long long)given.row, (long long)given.col);
  }
  return tool_fail(
      "the solution is not finite at [%lld, %lld]; nothing written; either the triangle of %s has "
      "NaN or infinities, or the solution is beyond the range of %s",
      (long long)odd.row, (long long)odd.col, r->a_path, element_name(job->type));
}

int solve_check(solve_job *job) {
  int code = check_finite(job);
  if (code) return code;
  if (!compare(job)) return tool_fail("out of memory for the check");
  if (job->residual.good) return TOOL_OK;
  return tool_fail(
      "the solution is wrong: its residual is %.3g n u, rounding explains %.3g n u; nothing "
      "written; 'tessera doctor' looks for what is broken",
      job->residual.units, job->residual.bound);
}
