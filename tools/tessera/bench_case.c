#include "bench_case.h"

/* ---- Making one ---- */

tsr_level3 bench_describe(const bench_kind *kind, bench_shape shape) {
  tsr_level3 what = {.operation = kind->operation,
                     .type = kind->type,
                     .layout = TSR_COL_MAJOR,
                     .side = kind->side,
                     .uplo = kind->uplo,
                     .transa = kind->transa,
                     .transb = kind->transb,
                     .diag = kind->diag,
                     .m = shape.m,
                     .n = shape.n,
                     .k = shape.k};
  operation_complete(&what);
  return what;
}

static bool is_triangular(tsr_operation operation) {
  return operation == TSR_TRMM || operation == TSR_TRSM;
}

static int get_matrix(bench_case *c, int operand, bench_store *store) {
  const tsr_level3 *w = &c->product.what;
  home where = c->kind->homes[operand];
  void *data = NULL;
  int64_t rows, cols;
  /* The B that trmm has for a peer is as what is written. */
  bool spare = w->operation == TSR_TRMM && operand == 1;
  operation_stored(w, spare ? 2 : operand, &rows, &cols);
  c->stored[operand] = matrix_of(w->type, NULL, true, rows, cols);
  bool wanted = spare ? !c->kind->no_peer : operation_has(w->operation, operand);
  if (!wanted) return TOOL_OK;
  int code = is_triangular(w->operation) && operand == 0
                 ? bench_store_get_triangle(store, w->k, where, &data)
                 : bench_store_get(store, operand, where, &data);
  c->stored[operand].data = data;
  return code;
}

int bench_case_create(const bench_kind *kind, bench_shape shape, bench_store *store,
                      bench_case *c) {
  *c = (bench_case){.kind = kind, .shape = shape, .context = store->context};
  c->product.what = bench_describe(kind, shape);
  for (int i = 0; i < 3; i++) {
    int code = get_matrix(c, i, store);
    if (code != TOOL_OK) return code;
  }
  c->alpha = scalar_for(kind->type, kind->alpha);
  c->beta = scalar_for(kind->type, kind->beta);
  c->product.alpha = &c->alpha;
  c->product.beta = &c->beta;
  c->product.a = c->stored[0].data;
  c->product.b = c->stored[1].data;
  c->product.c = (void *)c->stored[2].data;
  return TOOL_OK;
}

/* ---- Running ---- */

int bench_case_run(const bench_case *c, double *seconds) {
  const bench_product *p = &c->product;
  double begin = tool_now();
  tsr_status status = tsr_level3_run(c->context, &p->what, p->alpha, p->a, p->b, p->beta, p->c);
  *seconds = tool_now() - begin;
  return tool_status(status);
}
