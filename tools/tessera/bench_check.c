#include "bench_check.h"

#include <math.h>
#include <stdlib.h>

#include "parallel.h"
#include "random.h"

enum { SAMPLES = 64 };

static int64_t entries(const matrix_view *m) {
  return m->rows * m->cols;
}

/* ---- Entries -------------------------------------------------------------- */

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

/* An entry of C that is looked at. */
struct bench_sample {
  const bench_case *c;
  int64_t row, col;
  double re, im; /* as found */
  bool good;
};

/* Somewhere in the part-th of parts of an extent. */
static int64_t choose_in(int64_t extent, int part, int parts, uint64_t seed, int number) {
  double at = (part + random_uniform(seed, (uint64_t)number)) / parts;
  return (int64_t)(at * (double)extent);
}

/* The corners first: edges are where tiles go wrong. */
static void choose_samples(const bench_case *c, int count, bench_sample *samples) {
  int side = (int)sqrt((double)count);
  for (int i = 0; i < count; i++) {
    int64_t row = i == 1 || i == 3 ? c->shape.m - 1 : 0;
    int64_t col = i == 2 || i == 3 ? c->shape.n - 1 : 0;
    if (i > 3) {
      row = choose_in(c->shape.m, i % side, side, 31, i);
      col = choose_in(c->shape.n, i / side % side, side, 37, i);
    }
    samples[i] = (bench_sample){.c = c, .row = row, .col = col};
  }
}

static char *place_of(const bench_sample *s) {
  const matrix_view *m = &s->c->stored[2];
  return (char *)m->data + (size_t)(s->row + s->col * m->rows) * element_size(m->type);
}

/* C as it was filled once, where it will be looked at: calls have changed it since. */
static int restore_sample(const bench_sample *s) {
  const matrix_view *m = &s->c->stored[2];
  char raw[16];
  long_complex old = entry(s->c, 2, TSR_NO_TRANS, s->row, s->col);
  double re = (double)old.re, im = (double)old.im;
  element_store(m->type, raw, 0, 1, &re, &im);
  return tool_status(tsr_memcpy(s->c->context, place_of(s), raw, element_size(m->type)));
}

static int fetch_sample(bench_sample *s) {
  const matrix_view *m = &s->c->stored[2];
  char raw[16];
  int code = tool_status(tsr_memcpy(s->c->context, raw, place_of(s), element_size(m->type)));
  if (code == TOOL_OK) element_load(m->type, raw, 0, 1, &s->re, &s->im);
  return code;
}

static void judge_samples(void *user, int64_t begin, int64_t end) {
  bench_sample *samples = user;
  for (bench_sample *s = samples + begin; s < samples + end; s++) {
    long double scale;
    long_complex wanted = expected_entry(s->c, s->row, s->col, &scale);
    long double error = size_of((long_complex){wanted.re - s->re, wanted.im - s->im});
    s->good = error <= element_bound(s->c->kind->type, s->c->shape.k) * scale;
  }
}

static int begin_samples(bench_check *check) {
  const bench_case *c = check->c;
  int code = TOOL_OK;
  check->count = c->kind->samples > 0 ? c->kind->samples : SAMPLES;
  if (entries(&c->stored[2]) == 0) check->count = 0;
  check->samples = malloc((size_t)(check->count + 1) * sizeof *check->samples);
  if (!check->samples) return tool_fail("out of memory for the check");
  choose_samples(c, check->count, check->samples);
  for (int i = 0; i < check->count && !code; i++) code = restore_sample(&check->samples[i]);
  return code;
}

static int compare_samples(bench_check *check, bool *good) {
  int code = TOOL_OK;
  *good = true;
  for (int i = 0; i < check->count && !code; i++) code = fetch_sample(&check->samples[i]);
  if (code != TOOL_OK) return code;
  parallel_for(check->count, 1, judge_samples, check->samples);
  for (int i = 0; i < check->count; i++) *good = *good && check->samples[i].good;
  return TOOL_OK;
}

/* ---- Vectors -------------------------------------------------------------- */

/* The operand in host memory: itself, or a copy in *copy. */
static int fetch_matrix(const bench_case *c, int operand, void **copy, matrix_view *view) {
  const matrix_view *m = &c->stored[operand];
  size_t bytes = (size_t)entries(m) * element_size(m->type);
  *view = *m;
  if (c->kind->homes[operand].kind != HOME_DEVICE || bytes == 0) return TOOL_OK;
  if (!*copy) *copy = malloc(bytes);
  if (!*copy)
    return tool_fail("out of memory for the check: it needs %s", tool_bytes((double)bytes));
  view->data = *copy;
  return tool_status(tsr_memcpy(c->context, *copy, m->data, bytes));
}

static int fetch_matrices(bench_check *check, verify_call *call) {
  const bench_case *c = check->c;
  int code = TOOL_OK;
  *call = (verify_call){.what = c->product.what, .alpha = c->kind->alpha, .beta = c->kind->beta};
  for (int i = 0; i < 3 && !code; i++) {
    code = fetch_matrix(c, i, &check->copies[i], &call->stored[i]);
  }
  return code;
}

static int begin_vectors(bench_check *check) {
  verify_call call;
  int code = fetch_matrices(check, &call);
  if (code) return code;
  return verify_expect(&call, &check->sums) ? TOOL_OK : tool_fail("out of memory for the check");
}

static int compare_vectors(bench_check *check, bool *good) {
  verify_call call;
  verify_result result = {.good = false};
  int code = fetch_matrices(check, &call);
  if (!code && !verify_result_of(&call, &check->sums, &result)) {
    code = tool_fail("out of memory for the check");
  }
  *good = result.good;
  return code;
}

/* ---- Both ----------------------------------------------------------------- */

int bench_check_begin(const bench_case *c, bench_check *check) {
  *check = (bench_check){.c = c};
  return c->kind->check_all ? begin_vectors(check) : begin_samples(check);
}

int bench_check_compare(bench_check *check, bool *good) {
  *good = false;
  return (check->c->kind->check_all ? compare_vectors : compare_samples)(check, good);
}

void bench_check_end(bench_check *check) {
  verify_end(&check->sums);
  for (int i = 0; i < 3; i++) free(check->copies[i]);
  free(check->samples);
}

int bench_case_check(const bench_case *c, bool *good) {
  bench_check check = {0};
  double seconds;
  int code = bench_check_begin(c, &check);
  if (!code) code = bench_case_run(c, &seconds);
  if (!code) code = bench_check_compare(&check, good);
  bench_check_end(&check);
  return code;
}
