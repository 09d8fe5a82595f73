/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>
#include <stdlib.h>

#include "case.h"
#include "parallel.h"
#include "random.h"

enum { LEAST_SAMPLES = 64, MOST_SAMPLES = 2500 };

/* ---- Entries -------------------------------------------------------------- */

typedef struct long_complex {
  long double re, im;
} long_complex;

/* Entry (row, col) of op(matrix), from the random generator. */
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

/* The entry of the result in long double; *scale: |alpha| |A| |B| + |beta| |C|, to which its
 * rounding error is proportional. */
static long_complex expected_entry(const bench_case *c, int64_t row, int64_t col,
                                   long double *scale) {
  const bench_line *line = c->line;
  const tsr_level3 *w = &line->what;
  long_complex sum = {0, 0};
  long double size = 0;
  for (int64_t l = 0; l < w->k; l++) {
    long_complex x = entry(c, 0, w->transa, row, l), y = entry(c, 1, w->transb, l, col);
    long_complex product = times(x, y);
    sum = (long_complex){sum.re + product.re, sum.im + product.im};
    size += size_of(product);
  }
  long_complex alpha = {line->alpha.re, line->alpha.im}, beta = {line->beta.re, line->beta.im};
  long_complex old = times(beta, entry(c, 2, TSR_NO_TRANS, row, col));
  sum = times(alpha, sum);
  *scale = size_of(alpha) * size + size_of(old);
  return (long_complex){sum.re + old.re, sum.im + old.im};
}

/* A checked entry of C. */
typedef struct bench_sample {
  const bench_case *c;
  int64_t row, col;
  double re, im; /* after the call */
  bool good;
} bench_sample;

/* A random index in part number `part` of an extent divided into `parts`. */
static int64_t choose_in(int64_t extent, int part, int parts, uint64_t seed, int number) {
  double at = (part + random_uniform(seed, (uint64_t)number)) / parts;
  return (int64_t)(at * (double)extent);
}

/* The four corners come first: errors of tiles occur at edges. */
static void choose_samples(const bench_case *c, int count, bench_sample *samples) {
  const tsr_level3 *w = &c->line->what;
  int side = (int)sqrt((double)count);
  for (int i = 0; i < count; i++) {
    int64_t row = i == 1 || i == 3 ? w->m - 1 : 0;
    int64_t col = i == 2 || i == 3 ? w->n - 1 : 0;
    if (i > 3) {
      row = choose_in(w->m, i % side, side, 31, i);
      col = choose_in(w->n, i / side % side, side, 37, i);
    }
    samples[i] = (bench_sample){.c = c, .row = row, .col = col};
  }
}

static void *place_of(const bench_sample *s) {
  const matrix_view *m = &s->c->stored[2];
  return (char *)m->data + (size_t)(s->row + s->col * m->rows) * element_size(m->type);
}

static int restore_sample(bench_sample *s) {
  const matrix_view *m = &s->c->stored[2];
  double re, im;
  char raw[16];
  random_element(m->type, bench_store_seed(2), s->row + s->col * m->rows, &re, &im);
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
    const tsr_level3 *w = &s->c->line->what;
    long double scale;
    long_complex wanted = expected_entry(s->c, s->row, s->col, &scale);
    long double error = size_of((long_complex){wanted.re - s->re, wanted.im - s->im});
    s->good = error <= element_bound(w->type, w->k) * scale;
  }
}

static int begin_samples(bench_check *check) {
  const tsr_level3 *w = &check->c->line->what;
  double entries = (double)w->m * (double)w->n, wanted = entries / 2e6;
  int code = TOOL_OK;
  check->count = (int)fmin(fmax(wanted, LEAST_SAMPLES), MOST_SAMPLES);
  if (entries == 0) check->count = 0;
  check->samples = malloc((size_t)(check->count + 1) * sizeof *check->samples);
  if (!check->samples) return tool_fail("out of memory for the check");
  choose_samples(check->c, check->count, check->samples);
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

/* *view: the operand in host memory; if it is on a device, a copy of it in *copy. */
static int fetch_matrix(const bench_case *c, int operand, void **copy, matrix_view *view) {
  const matrix_view *m = &c->stored[operand];
  size_t bytes = (size_t)(m->rows * m->cols) * element_size(m->type);
  *view = *m;
  if (c->line->homes[operand].kind != HOME_DEVICE || bytes == 0 || !m->data) return TOOL_OK;
  if (!*copy) *copy = malloc(bytes);
  if (!*copy)
    return tool_fail("out of memory for the check: it needs %s", tool_bytes((double)bytes));
  view->data = *copy;
  return tool_status(tsr_memcpy(c->context, *copy, m->data, bytes));
}

/* Fetches the matrices and describes the checked call. For a composed case alpha is 0: in C = C - D
 * X the term D X is added later, when X is known. */
static int fetch_matrices(bench_check *check, verify_call *call) {
  const bench_case *c = check->c;
  int code = TOOL_OK;
  *call = (verify_call){.what = c->product.what, .alpha = c->line->alpha, .beta = c->line->beta};
  if (c->line->composed) call->alpha = (scalar){0, 0};
  for (int i = 0; i < 3 && !code; i++)
    code = fetch_matrix(c, i, &check->copies[i], &call->stored[i]);
  return code;
}

static verify_call solve_call(const bench_case *c) {
  return (verify_call){
      .what = c->solve.what, .alpha = {1, 0}, .stored = {c->triangle, c->stored[1], c->stored[1]}};
}

static int begin_vectors(bench_check *check) {
  verify_call call, solve = solve_call(check->c);
  int code = fetch_matrices(check, &call);
  if (code) return code;
  bool room = verify_expect(&call, &check->sums);
  if (room && check->c->line->composed) room = verify_expect(&solve, &check->solved);
  return room ? TOOL_OK : tool_fail("out of memory for the check");
}

/* For a composed case: checks X against its equation and completes the expected C: wanted = wanted
 * - D X x. False: out of memory. */
static bool compare_solved(bench_check *check, bool *good) {
  const bench_case *c = check->c;
  const vectors_matrix d = {.view = c->stored[0]}, x = {.view = c->stored[1]};
  verify_call solve = solve_call(c);
  verify_result solved;
  vectors inner = {0}, outer = {0};
  bool done = verify_result_of(&solve, &check->solved, &solved) &&
              vectors_apply(&x, &check->sums.x, &inner) && vectors_apply(&d, &inner, &outer);
  if (done) vectors_add(&check->sums.wanted, &outer, (scalar){-1, 0});
  *good = done && solved.good;
  vectors_destroy(&inner);
  vectors_destroy(&outer);
  return done;
}

static int compare_vectors(bench_check *check, bool *good) {
  verify_call call;
  verify_result result = {.good = false};
  bool solved = true, room = true;
  int code = fetch_matrices(check, &call);
  if (!code && check->c->line->composed) room = compare_solved(check, &solved);
  if (!code && (!room || !verify_result_of(&call, &check->sums, &result)))
    code = tool_fail("out of memory for the check");
  *good = result.good && solved;
  return code;
}

int bench_check_digest(const bench_case *c, uint64_t *digest) {
  matrix_view view;
  void *copy = NULL;
  int code = fetch_matrix(c, 2, &copy, &view);
  if (!code)
    *digest = bench_digest(view.data, (size_t)(view.rows * view.cols) * element_size(view.type));
  free(copy);
  return code;
}

/* ---- Both ----------------------------------------------------------------- */

static bool by_samples(const bench_case *c) {
  return c->line->what.operation == TSR_GEMM && !c->line->composed;
}

int bench_check_begin(const bench_case *c, bench_check *check) {
  *check = (bench_check){.c = c};
  return by_samples(c) ? begin_samples(check) : begin_vectors(check);
}

int bench_check_compare(bench_check *check, bool *good) {
  *good = false;
  return by_samples(check->c) ? compare_samples(check, good) : compare_vectors(check, good);
}

void bench_check_end(bench_check *check) {
  verify_end(&check->sums);
  verify_end(&check->solved);
  for (int i = 0; i < 3; i++) free(check->copies[i]);
  free(check->samples);
}
