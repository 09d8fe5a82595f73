/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: solvers of positive definite and of triangular systems, and inverses. */
#include "front/solve/solve.h"

#include "base/alloc.h"
#include "base/thread.h"
#include "call/capture.h"

/* A solver's call. */
typedef struct solving {
  tsr_steps steps;
  const tsr_solve *what;
  bool async;
  tsr_step_matrix a, b;
  char *scratch; /* of an inverse */
  int64_t *info; /* of the factorisation */
} solving;

/* ---- Steps ------------------------------------------------------------------ */

static tsr_status solve_factored(const solving *x) {
  return tsr_steps_solve(&x->steps, x->what->n, x->what->nrhs, x->a, x->b);
}

/* Without a factor a blocking call leaves B as it is, so that it waits for info. */
static tsr_status factor_and_solve(const solving *x) {
  TSR_TRY(tsr_step_potrf(&x->steps, x->what->n, x->a, x->info));
  if (x->what->nrhs == 0) return TSR_OK;
  if (!x->async) tsr_steps_await(&x->steps);
  return !x->async && *x->info > 0 ? TSR_OK : solve_factored(x);
}

static tsr_status solve_triangular(const solving *x) {
  const tsr_solve *w = x->what;
  return tsr_step_trsm(&x->steps, TSR_LEFT, w->trans, w->diag, w->n, w->nrhs, 1, x->a, x->b);
}

static tsr_status invert(const solving *x) {
  bool potri = x->what->routine == TSR_POTRI;
  tsr_diag diag = potri ? TSR_NON_UNIT : x->what->diag;
  TSR_TRY(tsr_inverse_of_triangle(&x->steps, diag, x->what->n, x->a, x->scratch));
  return potri ? tsr_square_of_triangle(&x->steps, x->what->n, x->a, x->scratch) : TSR_OK;
}

static tsr_status take_steps(const solving *x) {
  switch (x->what->routine) {
    case TSR_POTRS:
      return solve_factored(x);
    case TSR_POSV:
      return factor_and_solve(x);
    case TSR_TRTRS:
      return solve_triangular(x);
    default:
      return invert(x);
  }
}

/* ---- Around the steps -------------------------------------------------------- */

static bool is_inverse(const tsr_solve *w) {
  return w->routine == TSR_POTRI || w->routine == TSR_TRTRI;
}

/* A factor of posv is judged as it is made, and potrs takes any. */
tsr_status tsr_solve_find_singular(const tsr_steps *s, const tsr_solve *w, void *a,
                                   int64_t *place) {
  bool unit = w->routine != TSR_POTRI && w->diag == TSR_UNIT;
  *place = 0;
  if (w->routine == TSR_POTRS || w->routine == TSR_POSV || unit) return TSR_OK;
  return tsr_steps_find_zero(s, w->n, (tsr_step_matrix){a, w->lda}, place);
}

/* An asynchronous call's scratch memory is kept until tsr_sync. */
static tsr_status with_scratch(solving *x) {
  int64_t n = x->what->n;
  x->scratch = tsr_alloc((size_t)tsr_inverse_scratch(n) * x->steps.size);
  if (x->scratch == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for the steps of an inverse: free some");
  tsr_inverse_fill(&x->steps, n, x->scratch);
  tsr_status status = take_steps(x);
  tsr_status dropped = tsr_inverse_drop(&x->steps, n, x->scratch);
  if (x->async) {
    tsr_context_keep_scratch(x->steps.context, x->scratch);
  } else {
    tsr_steps_await(&x->steps);
    tsr_dealloc(x->scratch);
  }
  return status != TSR_OK ? status : dropped;
}

/* Brings all that a blocking call has read or written home, also after a failure: the program may
 * change it afterwards. */
static tsr_status end(const solving *x, tsr_status status) {
  const tsr_solve *w = x->what;
  tsr_error error = {.status = TSR_OK};
  if (x->async) return status;
  if (status != TSR_OK) tsr_error_take(status, &error);
  tsr_steps_await(&x->steps); /* the factorisation writes info, which is this call's own */
  tsr_status came = tsr_steps_end(&x->steps, w->n, w->n, x->a);
  if (x->b.at != NULL && came == TSR_OK) came = tsr_steps_end(&x->steps, w->n, w->nrhs, x->b);
  return error.status != TSR_OK ? tsr_error_put(&error) : came;
}

static tsr_status carry_out(solving *x) {
  const tsr_solve *w = x->what;
  int64_t singular = 0, made = 0;
  bool factors = w->routine == TSR_POSV;
  if (w->n > 0) TSR_TRY(tsr_solve_find_singular(&x->steps, w, x->a.at, &singular));
  bool nothing = w->n == 0 || singular > 0 || (x->b.at == NULL && !is_inverse(w) && !factors);
  x->info = x->async && factors ? w->info : &made;
  if (!nothing) TSR_TRY(end(x, is_inverse(w) ? with_scratch(x) : take_steps(x)));
  bool later = x->async && factors && !nothing; /* the factorisation tells info */
  if (w->info != NULL && !later) *w->info = singular > 0 ? singular : made;
  return TSR_OK;
}

/* ---- Calls ------------------------------------------------------------------ */

int64_t tsr_solve_steps(tsr_solver routine, int64_t n) {
  switch (routine) {
    case TSR_POTRS:
      return 2;
    case TSR_POSV:
      return 3;
    case TSR_TRTRS:
      return 1;
    default:
      return (routine == TSR_POTRI ? 2 : 1) * tsr_inverse_steps(n);
  }
}

static tsr_status run(tsr_context *context, bool async, const tsr_solve *what, void *a, void *b,
                      bool *begun) {
  TSR_TRY(tsr_context_check(context));
  if (what == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "solve: what = NULL: give the address of the description");
  if ((unsigned)what->routine >= TSR_SOLVER_COUNT)
    return tsr_fail(TSR_ERR_ARGUMENT, "solve: routine = %d: give one of tsr_solver",
                    (int)what->routine);
  tsr_solve w = tsr_solve_flags(what);
  TSR_TRY(tsr_solve_check(&w, a, b));
  bool has_b = !is_inverse(&w) && w.nrhs > 0;
  solving x = {.steps = tsr_steps_of(context, w.type, w.layout, w.uplo),
               .what = &w,
               .async = async,
               .a = {a, w.lda},
               .b = {has_b ? b : NULL, w.ldb}};
  x.steps.begun = begun;
  return carry_out(&x);
}

tsr_status tsr_context_solve(tsr_context *context, const tsr_solve *what, void *a, void *b,
                             bool *begun) {
  *begun = false;
  return run(context, false, what, a, b, begun);
}

static void capture(tsr_context *context, const tsr_solve *what, void *a, void *b) {
  tsr_captured_step step = {.kind = TSR_CAPTURED_SOLVE, .solve = *what, .a = a, .c = b};
  tsr_capture_note_step(context->plans, &step);
}

TSR_ENTRY(tsr_solve_run, (context, what, a, b), tsr_context *context, const tsr_solve *what,
          void *a, void *b) {
  return run(context, false, what, a, b, NULL);
}

TSR_ENTRY(tsr_solve_run_async, (context, what, a, b), tsr_context *context, const tsr_solve *what,
          void *a, void *b) {
  TSR_TRY(run(context, true, what, a, b, NULL));
  capture(context, what, a, b);
  return TSR_OK;
}

/* ---- The routines ----------------------------------------------------------- */

#define BOTH(name, parameters, matrix_b, ...)                        \
  tsr_status tsr_##name parameters {                                 \
    const tsr_solve what = {__VA_ARGS__};                            \
    return tsr_solve_run(context, &what, (void *)a, matrix_b);       \
  }                                                                  \
  tsr_status tsr_##name##_async parameters {                         \
    const tsr_solve what = {__VA_ARGS__};                            \
    return tsr_solve_run_async(context, &what, (void *)a, matrix_b); \
  }

BOTH(potrs,
     (tsr_context * context, tsr_type type, tsr_layout layout, tsr_uplo uplo, int64_t n,
      int64_t nrhs, const void *a, int64_t lda, void *b, int64_t ldb),
     b, .routine = TSR_POTRS, .type = type, .layout = layout, .uplo = uplo, .n = n, .nrhs = nrhs,
     .lda = lda, .ldb = ldb)
BOTH(posv,
     (tsr_context * context, tsr_type type, tsr_layout layout, tsr_uplo uplo, int64_t n,
      int64_t nrhs, void *a, int64_t lda, void *b, int64_t ldb, int64_t *info),
     b, .routine = TSR_POSV, .type = type, .layout = layout, .uplo = uplo, .n = n, .nrhs = nrhs,
     .lda = lda, .ldb = ldb, .info = info)
BOTH(trtrs,
     (tsr_context * context, tsr_type type, tsr_layout layout, tsr_uplo uplo, tsr_op trans,
      tsr_diag diag, int64_t n, int64_t nrhs, const void *a, int64_t lda, void *b, int64_t ldb,
      int64_t *info),
     b, .routine = TSR_TRTRS, .type = type, .layout = layout, .uplo = uplo, .trans = trans,
     .diag = diag, .n = n, .nrhs = nrhs, .lda = lda, .ldb = ldb, .info = info)
BOTH(potri,
     (tsr_context * context, tsr_type type, tsr_layout layout, tsr_uplo uplo, int64_t n, void *a,
      int64_t lda, int64_t *info),
     NULL, .routine = TSR_POTRI, .type = type, .layout = layout, .uplo = uplo, .n = n, .lda = lda,
     .info = info)
BOTH(trtri,
     (tsr_context * context, tsr_type type, tsr_layout layout, tsr_uplo uplo, tsr_diag diag,
      int64_t n, void *a, int64_t lda, int64_t *info),
     NULL, .routine = TSR_TRTRI, .type = type, .layout = layout, .uplo = uplo, .diag = diag, .n = n,
     .lda = lda, .info = info)
