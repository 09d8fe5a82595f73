/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The native door: an estimate of the condition of a positive definite matrix from its factor.
 *
 * The 1-norm of the inverse is estimated as LAPACK's lacn2 does (Higham, FORTRAN codes for
 * estimating the one-norm of a real or complex matrix, ACM TOMS 14, 1988, algorithms 4.1 and 5.1):
 * from a few solves with one column, whose factor stays on the devices. The inverse is symmetric or
 * Hermitian, so that a solve with its adjoint is the same solve.
 */
#include <complex.h>
#include <math.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "front/solve/solve.h"

/* An estimate under way. */
typedef struct estimate {
  tsr_steps steps;
  int64_t n;
  tsr_step_matrix a;
  tsr_step_matrix column; /* in the type */
  double complex *x;      /* the column */
  bool *sign;             /* of a real column: which elements were not negative */
} estimate;

/* ---- The column -------------------------------------------------------------- */

static void put_column(const estimate *e) {
  for (int64_t i = 0; i < e->n; i++) {
    char *at = e->column.at + i * (int64_t)e->steps.size;
    if (e->steps.type == TSR_S) *(float *)at = (float)creal(e->x[i]);
    if (e->steps.type == TSR_D) *(double *)at = creal(e->x[i]);
    if (e->steps.type == TSR_C) *(float complex *)at = (float complex)e->x[i];
    if (e->steps.type == TSR_Z) *(double complex *)at = e->x[i];
  }
}

static void take_column(const estimate *e) {
  for (int64_t i = 0; i < e->n; i++) {
    const char *at = e->column.at + i * (int64_t)e->steps.size;
    if (e->steps.type == TSR_S) e->x[i] = *(const float *)at;
    if (e->steps.type == TSR_D) e->x[i] = *(const double *)at;
    if (e->steps.type == TSR_C) e->x[i] = *(const float complex *)at;
    if (e->steps.type == TSR_Z) e->x[i] = *(const double complex *)at;
  }
}

/* x = A^-1 x; *norm: its 1-norm. */
static tsr_status solve(const estimate *e, double *norm) {
  const tsr_steps *s = &e->steps;
  put_column(e);
  TSR_TRY(tsr_steps_solve(s, e->n, 1, e->a, e->column));
  TSR_TRY(tsr_steps_end(s, e->n, 1, e->column));
  take_column(e);
  *norm = 0;
  for (int64_t i = 0; i < e->n; i++) *norm += cabs(e->x[i]);
  return TSR_OK;
}

/* x becomes its elements' signs. Whether they are those of last time: then a real estimate has
 * converged. */
static bool take_signs(const estimate *e) {
  bool is_complex = tsr_type_get(e->steps.type)->complex_valued, same = !is_complex;
  for (int64_t i = 0; i < e->n; i++) {
    double size = cabs(e->x[i]);
    bool sign = creal(e->x[i]) >= 0;
    same = same && e->sign[i] == sign;
    e->sign[i] = sign;
    e->x[i] = !is_complex ? (sign ? 1 : -1) : size > 0 ? e->x[i] / size : 1;
  }
  return same;
}

static int64_t place_of_largest(const estimate *e) {
  int64_t best = 0;
  for (int64_t i = 1; i < e->n; i++)
    if (cabs(e->x[i]) > cabs(e->x[best])) best = i;
  return best;
}

/* ---- The norm ---------------------------------------------------------------- */

/* A column whose signs alternate and whose elements grow: it finds what the others may miss. */
static tsr_status try_alternating(const estimate *e, double *norm) {
  double found;
  for (int64_t i = 0; i < e->n; i++)
    e->x[i] = (i % 2 == 0 ? 1 : -1) * (1 + (double)i / (double)(e->n > 1 ? e->n - 1 : 1));
  TSR_TRY(solve(e, &found));
  *norm = fmax(*norm, 2 * found / (3 * (double)e->n));
  return TSR_OK;
}

/* Columns of the inverse, each where the last one's dual is largest. */
static tsr_status try_columns(const estimate *e, double *norm) {
  enum { MOST_COLUMNS = 5 }; /* as lacn2's ITMAX */
  double dual;
  int64_t at;
  TSR_TRY(solve(e, &dual));
  at = place_of_largest(e);
  for (int column = 2; column <= MOST_COLUMNS; column++) {
    double former = *norm, found;
    for (int64_t i = 0; i < e->n; i++) e->x[i] = i == at;
    TSR_TRY(solve(e, &found));
    *norm = found;
    if (take_signs(e)) return TSR_OK;
    if (found <= former) return TSR_OK;
    TSR_TRY(solve(e, &dual));
    int64_t last = at;
    at = place_of_largest(e);
    if (cabs(e->x[last]) == cabs(e->x[at])) return TSR_OK;
  }
  return TSR_OK;
}

static tsr_status norm_of_inverse(const estimate *e, double *norm) {
  for (int64_t i = 0; i < e->n; i++) e->x[i] = 1 / (double)e->n, e->sign[i] = false;
  TSR_TRY(solve(e, norm));
  if (e->n == 1) return TSR_OK;
  (void)take_signs(e);
  TSR_TRY(try_columns(e, norm));
  return try_alternating(e, norm);
}

static tsr_status estimate_norm(estimate *e, double *norm) {
  size_t n = (size_t)e->n;
  e->column =
      (tsr_step_matrix){tsr_alloc(n * e->steps.size), e->steps.layout == TSR_ROW_MAJOR ? 1 : e->n};
  e->x = tsr_alloc(n * sizeof *e->x);
  e->sign = tsr_alloc(n * sizeof *e->sign);
  bool there = e->column.at != NULL && e->x != NULL && e->sign != NULL;
  return there ? norm_of_inverse(e, norm)
               : tsr_fail(TSR_ERR_MEMORY, "no host memory for a column: free some");
}

/* A step that was begun before another one failed may still use the column. */
static void free_all(estimate *e) {
  if (e->column.at != NULL) {
    (void)tsr_steps_drop(&e->steps, e->n, 1, e->column);
    tsr_steps_await(&e->steps);
  }
  tsr_dealloc(e->column.at);
  tsr_dealloc(e->x);
  tsr_dealloc(e->sign);
}

/* ---- The call ---------------------------------------------------------------- */

static tsr_status check(const tsr_solve *what, const void *a, double anorm, const double *rcond) {
  TSR_TRY(tsr_solve_check(what, a, NULL));
  if (!(anorm >= 0))
    return tsr_fail(TSR_ERR_ARGUMENT, "pocon: anorm = %g: give the 1-norm of the matrix", anorm);
  if (rcond == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "pocon: rcond = NULL: give the address of a double");
  return TSR_OK;
}

static tsr_status run(estimate *e, double anorm, double *rcond) {
  double norm = 0;
  *rcond = e->n == 0 ? 1 : 0;
  if (e->n == 0 || anorm == 0) return TSR_OK;
  tsr_status status = estimate_norm(e, &norm);
  tsr_error error = {.status = TSR_OK};
  if (status != TSR_OK) tsr_error_take(status, &error);
  free_all(e);
  tsr_status came = tsr_steps_end(&e->steps, e->n, e->n, e->a);
  if (error.status != TSR_OK) return tsr_error_put(&error);
  if (norm > 0 && isfinite(norm)) *rcond = 1 / norm / anorm;
  return came;
}

TSR_ENTRY(tsr_pocon, (context, type, layout, uplo, n, a, lda, anorm, rcond), tsr_context *context,
          tsr_type type, tsr_layout layout, tsr_uplo uplo, int64_t n, const void *a, int64_t lda,
          double anorm, double *rcond) {
  TSR_TRY(tsr_context_check(context));
  tsr_solve what = tsr_solve_flags(&(tsr_solve){.routine = (tsr_solver)TSR_POCON,
                                                .type = type,
                                                .layout = layout,
                                                .uplo = uplo,
                                                .n = n,
                                                .lda = lda});
  double found;
  TSR_TRY(check(&what, a, anorm, rcond));
  estimate e = {.steps = tsr_steps_of(context, what.type, what.layout, what.uplo),
                .n = n,
                .a = {(char *)a, lda}};
  TSR_TRY(run(&e, anorm, &found));
  *rcond = found;
  return TSR_OK;
}
