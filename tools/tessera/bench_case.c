#include "bench_case.h"

#include <math.h>
#include "parallel.h"
#include "random.h"

enum { SAMPLES = 64 };

/* ---- Making one ---- */

static int64_t entries(const matrix_view *m) {
  return m->rows * m->cols;
}

static matrix_view stored_matrix(tsr_type type, tsr_op op, int64_t rows, int64_t cols) {
  bool turned = op != TSR_NO_TRANS;
  return matrix_of(type, NULL, true, turned ? cols : rows, turned ? rows : cols);
}

static int64_t ld_of(const matrix_view *m) {
  return m->rows > 1 ? m->rows : 1;
}

static void describe_product(bench_case *c) {
  const bench_kind *kind = c->kind;
  c->alpha = scalar_for(kind->type, kind->alpha);
  c->beta = scalar_for(kind->type, kind->beta);
  c->product = (bench_product){.type = kind->type,
                               .transa = kind->transa,
                               .transb = kind->transb,
                               .m = c->shape.m,
                               .n = c->shape.n,
                               .k = c->shape.k,
                               .lda = ld_of(&c->stored[0]),
                               .ldb = ld_of(&c->stored[1]),
                               .ldc = ld_of(&c->stored[2]),
                               .alpha = &c->alpha,
                               .a = c->stored[0].data,
                               .b = c->stored[1].data,
                               .beta = &c->beta,
                               .c = (void *)c->stored[2].data};
}

int bench_case_create(const bench_kind *kind, bench_shape shape, bench_store *store,
                      bench_case *c) {
  *c = (bench_case){.kind = kind, .shape = shape, .context = store->context};
  c->stored[0] = stored_matrix(kind->type, kind->transa, shape.m, shape.k);
  c->stored[1] = stored_matrix(kind->type, kind->transb, shape.k, shape.n);
  c->stored[2] = stored_matrix(kind->type, TSR_NO_TRANS, shape.m, shape.n);
  for (int i = 0; i < 3; i++) {
    void *data = NULL;
    int code = bench_store_get(store, i, kind->homes[i], &data);
    if (code != TOOL_OK) return code;
    c->stored[i].data = data;
  }
  describe_product(c);
  return TOOL_OK;
}

/* ---- Running and checking ---- */

int bench_case_run(const bench_case *c, double *seconds) {
  const bench_product *p = &c->product;
  double begin = tool_now();
  tsr_status status = tsr_gemm(c->context, p->type, TSR_COL_MAJOR, p->transa, p->transb, p->m, p->n,
                               p->k, p->alpha, p->a, p->lda, p->b, p->ldb, p->beta, p->c, p->ldc);
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

int bench_case_check(const bench_case *c, bool *good) {
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
