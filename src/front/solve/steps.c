/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/solve/steps.h"

#include "base/alloc.h"

tsr_steps tsr_steps_of(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo) {
  return (tsr_steps){context, type, layout, uplo, tsr_type_get(type)->size, NULL};
}

tsr_step_matrix tsr_step_matrix_at(const tsr_steps *s, tsr_step_matrix of, int64_t row,
                                   int64_t col) {
  int64_t at = s->layout == TSR_ROW_MAJOR ? row * of.ld + col : row + col * of.ld;
  return (tsr_step_matrix){of.at + at * (int64_t)s->size, of.ld};
}

/* ---- Calls ------------------------------------------------------------------ */

/* -1, 0 or 1 in the type; the imaginary part is 0. */
static const void *scalar(const tsr_steps *s, int value) {
  static const double wide[3][2] = {{-1, 0}, {0, 0}, {1, 0}};
  static const float narrow[3][2] = {{-1, 0}, {0, 0}, {1, 0}};
  bool is_wide = s->type == TSR_D || s->type == TSR_Z;
  return is_wide ? (const void *)wide[value + 1] : narrow[value + 1];
}

/* Notes that a step was submitted, or has failed. */
static tsr_status note(const tsr_steps *s, tsr_status status) {
  if (status == TSR_OK && s->begun != NULL) *s->begun = true;
  return status;
}

static tsr_status level3(const tsr_steps *s, const tsr_level3 *what, int alpha, const char *a,
                         const char *b, const void *beta, char *c) {
  return note(s, tsr_context_step(s->context, what, scalar(s, alpha), a, b, beta, c));
}

static tsr_level3 request(const tsr_steps *s, tsr_operation operation) {
  return (tsr_level3){.operation = operation,
                      .type = s->type,
                      .layout = s->layout,
                      .uplo = s->uplo,
                      .transa = TSR_NO_TRANS,
                      .transb = TSR_NO_TRANS};
}

static tsr_status triangular(const tsr_steps *s, tsr_operation operation, tsr_side side, tsr_op op,
                             tsr_diag diag, int64_t m, int64_t n, int alpha, tsr_step_matrix a,
                             tsr_step_matrix b) {
  tsr_level3 what = request(s, operation);
  what.side = side, what.transa = op, what.diag = diag, what.m = m, what.n = n;
  what.lda = a.ld, what.ldc = b.ld;
  return level3(s, &what, alpha, a.at, NULL, NULL, b.at);
}

tsr_status tsr_step_trsm(const tsr_steps *s, tsr_side side, tsr_op op, tsr_diag diag, int64_t m,
                         int64_t n, int alpha, tsr_step_matrix a, tsr_step_matrix b) {
  return triangular(s, TSR_TRSM, side, op, diag, m, n, alpha, a, b);
}

tsr_status tsr_step_trmm(const tsr_steps *s, tsr_side side, tsr_op op, tsr_diag diag, int64_t m,
                         int64_t n, int alpha, tsr_step_matrix a, tsr_step_matrix b) {
  return triangular(s, TSR_TRMM, side, op, diag, m, n, alpha, a, b);
}

static tsr_status product(const tsr_steps *s, tsr_operation operation, int64_t n, int64_t k,
                          tsr_step_matrix a, tsr_step_matrix b, tsr_step_matrix c) {
  tsr_level3 what = request(s, operation);
  what.m = what.n = n, what.k = k, what.lda = a.ld, what.ldb = b.ld, what.ldc = c.ld;
  return level3(s, &what, 1, a.at, b.at, scalar(s, 0), c.at);
}

tsr_status tsr_step_gemm(const tsr_steps *s, int64_t n, tsr_step_matrix a, tsr_step_matrix b,
                         tsr_step_matrix c) {
  return product(s, TSR_GEMM, n, n, a, b, c);
}

tsr_status tsr_step_gemmt(const tsr_steps *s, int64_t n, int64_t k, tsr_step_matrix a,
                          tsr_step_matrix b, tsr_step_matrix c) {
  return product(s, TSR_GEMMT, n, k, a, b, c);
}

tsr_status tsr_step_herk(const tsr_steps *s, tsr_op op, int64_t n, int64_t k, int beta,
                         tsr_step_matrix a, tsr_step_matrix c) {
  bool is_complex = tsr_type_get(s->type)->complex_valued;
  tsr_level3 what = request(s, is_complex ? TSR_HERK : TSR_SYRK);
  what.transa = op, what.n = n, what.k = k, what.lda = a.ld, what.ldc = c.ld;
  return level3(s, &what, 1, a.at, NULL, scalar(s, beta), c.at);
}

tsr_status tsr_step_potrf(const tsr_steps *s, int64_t n, tsr_step_matrix a, int64_t *info) {
  tsr_factor what = {TSR_POTRF, s->type, s->layout, s->uplo, n, a.ld, info};
  return note(s, tsr_context_factor_step(s->context, &what, a.at));
}

tsr_status tsr_steps_solve(const tsr_steps *s, int64_t n, int64_t nrhs, tsr_step_matrix a,
                           tsr_step_matrix b) {
  tsr_op first = s->uplo == TSR_LOWER ? TSR_NO_TRANS : TSR_CONJ_TRANS;
  tsr_op second = s->uplo == TSR_LOWER ? TSR_CONJ_TRANS : TSR_NO_TRANS;
  TSR_TRY(tsr_step_trsm(s, TSR_LEFT, first, TSR_NON_UNIT, n, nrhs, 1, a, b));
  return tsr_step_trsm(s, TSR_LEFT, second, TSR_NON_UNIT, n, nrhs, 1, a, b);
}

/* ---- Between and after calls ----------------------------------------------- */

void tsr_steps_await(const tsr_steps *s) {
  tsr_runner *runner = s->context->calls.runner;
  uint64_t next = runner != NULL ? tsr_runner_submitted(runner) : 0;
  if (next > 0) tsr_runner_await(runner, next - 1);
}

/* The matrix as it is stored, by columns. */
static tsr_stored stored(const tsr_steps *s, int64_t m, int64_t n, tsr_step_matrix of) {
  bool by_rows = s->layout == TSR_ROW_MAJOR;
  return (tsr_stored){by_rows ? n : m, by_rows ? m : n, of.at, of.ld, s->type};
}

tsr_status tsr_steps_end(const tsr_steps *s, int64_t m, int64_t n, tsr_step_matrix of) {
  tsr_stored x = stored(s, m, n, of);
  tsr_status came = tsr_context_bring(s->context, &x);
  tsr_status forgotten = tsr_context_drop(s->context, &x);
  return came != TSR_OK ? came : forgotten;
}

tsr_status tsr_steps_drop(const tsr_steps *s, int64_t m, int64_t n, tsr_step_matrix of) {
  tsr_stored x = stored(s, m, n, of);
  return tsr_context_drop(s->context, &x);
}

/* ---- The diagonal ----------------------------------------------------------- */

static bool is_zero(const tsr_steps *s, const char *element) {
  switch (s->type) {
    case TSR_S:
      return *(const float *)element == 0;
    case TSR_D:
      return *(const double *)element == 0;
    case TSR_C:
      return ((const float *)element)[0] == 0 && ((const float *)element)[1] == 0;
    default:
      return ((const double *)element)[0] == 0 && ((const double *)element)[1] == 0;
  }
}

static int64_t first_zero(const tsr_steps *s, int64_t n, const char *at, int64_t step) {
  for (int64_t i = 0; i < n; i++)
    if (is_zero(s, at + i * step * (int64_t)s->size)) return i + 1;
  return 0;
}

/* Copies the diagonal of a matrix in a device's memory. */
static tsr_status fetch_diagonal(const tsr_steps *s, int64_t n, tsr_step_matrix a, int device,
                                 char *diagonal) {
  TSR_TRY(tsr_context_wait_for_devices(s->context));
  tsr_copy_args args = {diagonal, a.at,     TSR_HOST, device, s->size, (size_t)(a.ld + 1) * s->size,
                        s->size,  (size_t)n};
  return tsr_runner_copy(s->context->calls.runner, &args);
}

tsr_status tsr_steps_find_zero(const tsr_steps *s, int64_t n, tsr_step_matrix a, int64_t *place) {
  tsr_place found = {.memory = TSR_PAGEABLE};
  tsr_stored x = stored(s, n, n, a);
  if (s->context->engine != NULL)
    TSR_TRY(s->context->engine->where(s->context->state, a.at, &found));
  if (found.memory != TSR_DEVICE) {
    TSR_TRY(tsr_context_bring(s->context, &x));
    *place = first_zero(s, n, a.at, a.ld + 1);
    return TSR_OK;
  }
  char *diagonal = tsr_alloc(s->size * (size_t)n);
  if (diagonal == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a diagonal: free some");
  tsr_status status = fetch_diagonal(s, n, a, found.device, diagonal);
  if (status == TSR_OK) *place = first_zero(s, n, diagonal, 1);
  tsr_dealloc(diagonal);
  return status;
}
