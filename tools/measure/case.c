/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"

#include <stdlib.h>
#include <string.h>

/* ---- Creating a case ---- */

static bool is_triangular(const bench_line *line, int operand) {
  tsr_operation operation = line->what.operation;
  return operand == 0 && (operation == TSR_TRMM || operation == TSR_TRSM);
}

/* Whether the operand is the extra B of trmm, for a peer that does not work in place: it has the
 * extents of the written matrix. */
static bool is_spare(const bench_line *line, int operand) {
  return line->what.operation == TSR_TRMM && operand == 1 && line->peer;
}

static void extents_of(const bench_line *line, int operand, int64_t *rows, int64_t *cols) {
  operation_stored(&line->what, is_spare(line, operand) ? 2 : operand, rows, cols);
}

int bench_case_expect(const bench_line *line, bool hosts, bench_store *store) {
  int64_t rows, cols;
  int code = TOOL_OK;
  for (int i = 0; i < 3 && !code; i++) {
    extents_of(line, i, &rows, &cols);
    if (!operation_has(line->what.operation, i) && !is_spare(line, i)) continue;
    if (hosts && line->homes[i].kind == HOME_DEVICE) continue;
    int which = is_triangular(line, i) ? STORE_TRIANGLE : i;
    code = bench_store_expect(store, which, line->homes[i], rows * cols);
  }
  if (!code && line->composed)
    code = bench_store_expect(store, STORE_TRIANGLE, line->homes[0], rows * cols);
  return code;
}

static int get_matrix(bench_case *c, int operand, bench_store *store) {
  const bench_line *line = c->line;
  const tsr_level3 *w = &line->what;
  int64_t rows, cols;
  void *data = NULL;
  int code = TOOL_OK;
  bool triangle = is_triangular(line, operand);
  extents_of(line, operand, &rows, &cols);
  if (operation_has(w->operation, operand) || is_spare(line, operand))
    code = bench_store_get(store, triangle ? STORE_TRIANGLE : operand, line->homes[operand],
                           triangle ? w->k : 0, &data);
  c->stored[operand] = matrix_of(w->type, data, true, rows, cols);
  /* trmm and trsm read what they write: not what other routines left, such as a large triangle. */
  if (!code && operand == 2 && is_triangular(line, 0))
    code = bench_store_renew(store, operand, line->homes[operand]);
  return code;
}

/* Sets up a composed case: trsm solves A X = B in place of B, then gemm computes C = C - D X, whose
 * operands D, X and C are the case's stored[0] to [2]. */
static int get_composed(bench_case *c, bench_store *store) {
  const tsr_level3 *w = &c->line->what;
  void *data = NULL;
  int code = bench_store_get(store, STORE_TRIANGLE, c->line->homes[0], w->n, &data);
  c->triangle = matrix_of(w->type, data, true, w->n, w->n);
  c->alpha = scalar_for(w->type, (scalar){-1, 0});
  c->solve = c->product;
  c->solve.what.operation = TSR_TRSM;
  c->solve.what.side = TSR_LEFT;
  c->solve.what.uplo = TSR_LOWER;
  c->solve.what.diag = TSR_NON_UNIT;
  c->solve.alpha = &c->beta;
  c->solve.a = data;
  c->solve.b = NULL;
  c->solve.c = (void *)c->product.b;
  return code;
}

int bench_case_create(const bench_line *line, bench_store *store, bench_case *c) {
  int code = TOOL_OK;
  *c = (bench_case){.line = line, .context = store->context};
  for (int i = 0; i < 3 && !code; i++) code = get_matrix(c, i, store);
  c->alpha = scalar_for(line->what.type, line->alpha);
  c->beta = scalar_for(line->what.type, line->beta);
  c->product = (bench_product){line->what,        &c->alpha, c->stored[0].data,
                               c->stored[1].data, &c->beta,  (void *)c->stored[2].data};
  if (!code && line->composed) code = get_composed(c, store);
  if (!code && line->by == BENCH_PLAN) code = bench_case_plan(line, c->context, &c->plan);
  if (!code && line->by == BENCH_DOOR && !(c->door = bench_peer_open("door", 0)))
    code = TOOL_FAILED;
  return code;
}

void bench_case_destroy(bench_case *c) {
  tsr_plan_destroy(c->plan);
  bench_peer_close(c->door);
  *c = (bench_case){0};
}

/* Forces the case's knobs (strategy=), or TESSERA_STRATEGY if it has none. */
static int force_words(const bench_line *line, tsr_context *context) {
  const char *words = line->words.strategy;
  return tool_status(tsr_set_strategy(context, words ? words : getenv("TESSERA_STRATEGY")));
}

int bench_case_plan(const bench_line *line, tsr_context *context, tsr_plan **plan) {
  const tsr_level3 *w = &line->what;
  scalar_value alpha = scalar_for(w->type, line->alpha), beta = scalar_for(w->type, line->beta);
  tsr_home homes[3];
  for (int i = 0; i < 3; i++) homes[i] = home_for_library(line->homes[i]);
  int code = force_words(line, context);
  return code ? code : tool_status(tsr_plan_level3(context, w, &alpha, &beta, homes, plan));
}

/* ---- Running ---- */

typedef tsr_status (*level3_call)(tsr_context *context, const tsr_level3 *what, const void *alpha,
                                  const void *a, const void *b, const void *beta, void *c);

static tsr_status call(const bench_case *c, level3_call function) {
  const bench_product *p = &c->product, *s = &c->solve;
  tsr_status status = TSR_OK;
  if (c->line->composed)
    status = function(c->context, &s->what, s->alpha, s->a, NULL, s->beta, s->c);
  if (status == TSR_OK)
    status = function(c->context, &p->what, p->alpha, p->a, p->b, p->beta, p->c);
  return status;
}

/* Starts the write-back of an operand whose home is host memory. */
static tsr_status write_back(const bench_case *c, int operand) {
  const matrix_view *m = &c->stored[operand];
  if (c->line->homes[operand].kind == HOME_DEVICE) return TSR_OK;
  return tsr_coherent_async(c->context, TSR_GENERAL, m->rows, m->cols, m->data, m->rows, m->type);
}

static tsr_status call_async(const bench_case *c, double *returned) {
  double begin = tool_now();
  tsr_status status = call(c, tsr_level3_run_async);
  *returned = tool_now() - begin;
  if (status == TSR_OK && c->line->composed) status = write_back(c, 1);
  if (status == TSR_OK) status = write_back(c, 2);
  tsr_status synced = tsr_sync(c->context);
  tsr_status released = tsr_release(c->context, 0, 0, NULL, 1, c->line->what.type);
  if (status == TSR_OK) status = synced;
  return status == TSR_OK ? released : status;
}

static int call_door(const bench_case *c) {
  if (bench_peer_run(c->door, &c->product)) return TOOL_OK;
  return tool_fail("the BLAS door has no %s of this type", bench_line_op(c->line));
}

int bench_case_call(const bench_case *c, double *returned) {
  const bench_product *p = &c->product;
  *returned = 0;
  switch (c->line->by) {
    case BENCH_DOOR:
      return call_door(c);
    case BENCH_PLAN:
      return tool_status(tsr_plan_execute(c->plan, p->alpha, p->a, p->b, p->beta, p->c));
    case BENCH_ASYNC:
      return tool_status(call_async(c, returned));
    default:
      return tool_status(call(c, tsr_level3_run));
  }
}

int bench_case_turn_to(const bench_case *c) {
  if (c->line->by == BENCH_DOOR || c->line->by == BENCH_PLAN) return TOOL_OK;
  return force_words(c->line, c->context);
}

int bench_case_run(const bench_case *c, double *seconds) {
  double returned;
  int code = bench_case_turn_to(c);
  double begin = tool_now();
  if (!code) code = bench_case_call(c, &returned);
  *seconds = tool_now() - begin;
  return code;
}
