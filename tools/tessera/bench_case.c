#include "bench_case.h"

#include <math.h>
#include <stdlib.h>

#include "parallel.h"
#include "random.h"
#include "verify_level3.h"

enum { SAMPLES = 64 };

/* ---- Making one ---- */

static int64_t entries(const matrix_view *m) {
  return m->rows * m->cols;
}

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
  if (!spare && !operation_has(w->operation, operand)) return TOOL_OK;
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

/* ---- Running and checking ---- */

int bench_case_run(const bench_case *c, double *seconds) {
  const bench_product *p = &c->product;
  double begin = tool_now();
  tsr_status status =
      tsr_level3_run(c->context, &p->what, p->alpha, p->a, p->b, p->beta, p->c);
  *seconds = tool_now() - begin;
  return tool_status(status);
}

typedef struct long_complex {
  long double re, im;
} long_complex;

/* Entry (row, col) of op(matrix), computed again. */
static long_complex entry(const bench_case *c, int index, tsr_op op, int64_t row, int64_t col) {
  const matrix_view *m = &c->stored[index];
  int64_t at = op == TSR_NO_TRANS ? row + col * m->rows : col + row * m->rows;
  double re, im;
  random_element(m->type, bench_store_seed(index), at, &re, &im);
  if (op == TSR_CONJ_TRANS) im = -im;
  return (long_complex){re, im};
}

static long_complex times(long_complex x, long_complex y) {
  return (long_complex){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static long double size_of(long_complex x) {
  return x.im == 0 ? fabsl(x.re) : hypotl(x.re, x.im);
}

/* The exact entry of the result, and the scale of its rounding errors. */
static long_complex expected_entry(const bench_case *c, int64_t row, int64_t col,
                                   long double *scale) {
  const bench_kind *kind = c->kind;
  long_complex sum = {0, 0};
  long double size = 0;
  for (int64_t l = 0; l < c->shape.k; l++) {
    long_complex x = entry(c, 0, kind->transa, row, l), y = entry(c, 1, kind->transb, l, col);
    long_complex product = times(x, y);
    sum = (long_complex){sum.re + product.re, sum.im + product.im};
    size += size_of(product);
  }
  long_complex alpha = {kind->alpha.re, kind->alpha.im}, beta = {kind->beta.re, kind->beta.im};
  long_complex old = times(beta, entry(c, 2, TSR_NO_TRANS, row, col));
  sum = times(alpha, sum);
  *scale = size_of(alpha) * size + size_of(old);
  return (long_complex){sum.re + old.re, sum.im + old.im};
}

/* Entries of C that are looked at. */
typedef struct sample {
  const bench_case *c;
  int64_t row, col;
  double re, im; /* as found */
  bool good;
} sample;

/* The corners first: edges are where tiles go wrong. */
static void choose_samples(const bench_case *c, sample *samples) {
  for (int i = 0; i < SAMPLES; i++) {
    int64_t row = i == 1 || i == 3 ? c->shape.m - 1 : 0;
    int64_t col = i == 2 || i == 3 ? c->shape.n - 1 : 0;
    if (i > 3) {
      row = (int64_t)(random_uniform(31, (uint64_t)i) * (double)c->shape.m);
      col = (int64_t)(random_uniform(37, (uint64_t)i) * (double)c->shape.n);
    }
    samples[i] = (sample){.c = c, .row = row, .col = col};
  }
}

static char *place_of(const sample *s) {
  const matrix_view *m = &s->c->stored[2];
  return (char *)m->data + (size_t)(s->row + s->col * m->rows) * element_size(m->type);
}

/* C as it was filled once, where it will be looked at: calls have changed it since. */
static int restore_sample(const sample *s) {
  const matrix_view *m = &s->c->stored[2];
  char raw[16];
  long_complex old = entry(s->c, 2, TSR_NO_TRANS, s->row, s->col);
  double re = (double)old.re, im = (double)old.im;
  element_store(m->type, raw, 0, 1, &re, &im);
  return tool_status(tsr_memcpy(s->c->context, place_of(s), raw, element_size(m->type)));
}

static int fetch_sample(sample *s) {
  const matrix_view *m = &s->c->stored[2];
  char raw[16];
  int code = tool_status(tsr_memcpy(s->c->context, raw, place_of(s), element_size(m->type)));
  if (code == TOOL_OK) element_load(m->type, raw, 0, 1, &s->re, &s->im);
  return code;
}

static void judge_samples(void *user, int64_t begin, int64_t end) {
  sample *samples = user;
  for (sample *s = samples + begin; s < samples + end; s++) {
    long double scale;
    long_complex wanted = expected_entry(s->c, s->row, s->col, &scale);
    long double error = size_of((long_complex){wanted.re - s->re, wanted.im - s->im});
    s->good = error <= element_bound(s->c->kind->type, s->c->shape.k) * scale;
  }
}

static int check_samples(const bench_case *c, bool *good) {
  sample samples[SAMPLES];
  double seconds;
  int code = TOOL_OK;
  *good = true;
  if (entries(&c->stored[2]) == 0) return TOOL_OK;
  choose_samples(c, samples);
  for (int i = 0; i < SAMPLES && code == TOOL_OK; i++) code = restore_sample(&samples[i]);
  if (code == TOOL_OK) code = bench_case_run(c, &seconds);
  for (int i = 0; i < SAMPLES && code == TOOL_OK; i++) code = fetch_sample(&samples[i]);
  if (code != TOOL_OK) return code;
  parallel_for(SAMPLES, 1, judge_samples, samples);
  for (int i = 0; i < SAMPLES; i++) *good = *good && samples[i].good;
  return TOOL_OK;
}

/* ---- Checking all of it ---- */

/* The operand in host memory: itself, or a copy in *copy. */
static int fetch_matrix(const bench_case *c, int operand, void **copy, matrix_view *view) {
  const matrix_view *m = &c->stored[operand];
  size_t bytes = (size_t)entries(m) * element_size(m->type);
  *view = *m;
  if (c->kind->homes[operand].kind != HOME_DEVICE || bytes == 0) return TOOL_OK;
  if (!*copy) *copy = malloc(bytes);
  if (!*copy) return tool_fail("out of memory for the check: it needs %s", tool_bytes((double)bytes));
  view->data = *copy;
  return tool_status(tsr_memcpy(c->context, *copy, m->data, bytes));
}

static int compare_call(const bench_case *c, void *copies[3], verify_sums *sums, bool *good) {
  verify_call call = {.what = c->product.what, .alpha = c->kind->alpha, .beta = c->kind->beta};
  verify_result result = {.good = false};
  double seconds;
  int code = TOOL_OK;
  for (int i = 0; i < 3 && !code; i++) code = fetch_matrix(c, i, &copies[i], &call.stored[i]);
  if (!code && !verify_expect(&call, sums)) code = tool_fail("out of memory for the check");
  if (!code) code = bench_case_run(c, &seconds);
  if (!code) code = fetch_matrix(c, 2, &copies[2], &call.stored[2]);
  if (!code && !verify_result_of(&call, sums, &result)) {
    code = tool_fail("out of memory for the check");
  }
  *good = result.good;
  return code;
}

static int check_all(const bench_case *c, bool *good) {
  void *copies[3] = {NULL, NULL, NULL};
  verify_sums sums = {0};
  int code = compare_call(c, copies, &sums, good);
  verify_end(&sums);
  for (int i = 0; i < 3; i++) free(copies[i]);
  return code;
}

int bench_case_check(const bench_case *c, bool *good) {
  return c->kind->check_all ? check_all(c, good) : check_samples(c, good);
}
