/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Inverses that are exact, of which every element is checked: a row of the triangle has at most two
 * elements beside its diagonal, and all of them are 1, -1 or, in complex types, i or -i. Then each
 * element of the inverse, and each sum on the way to it, is a whole number that every type has. NaN
 * is in all that must not be read, and in c.
 */
#ifndef TSR_TESTS_INVERSE_CASE_H
#define TSR_TESTS_INVERSE_CASE_H

#include "level3_case.h"

enum { INVERSE_FLAGS = 4, INVERSE_BESIDE = 2 };

/* A row of a lower triangle. */
typedef struct inverse_row {
  element diagonal, beside[INVERSE_BESIDE];
  int64_t column[INVERSE_BESIDE];
} inverse_row;

static element inverse_unit(tsr_type type) {
  static const element units[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  return units[random_below(tsr_type_get(type)->complex_valued ? 4 : 2)];
}

static inverse_row *inverse_rows(const tsr_kernel_args *x) {
  inverse_row *rows = malloc((size_t)x->n * sizeof *rows);
  assert_non_null(rows);
  for (int64_t i = 0; i < x->n; i++) {
    rows[i].diagonal = x->diag == TSR_UNIT ? (element){1, 0} : inverse_unit(x->type);
    for (int b = 0; b < INVERSE_BESIDE; b++) {
      rows[i].column[b] = i > b ? random_below(i) : i;
      rows[i].beside[b] = i > b ? inverse_unit(x->type) : (element){0, 0};
    }
    if (rows[i].column[0] == rows[i].column[1]) rows[i].beside[1] = (element){0, 0};
  }
  return rows;
}

/* Where element (i, j) of the lower triangle is: an upper one has its rows and columns from the
 * end.
 */
static int64_t inverse_at(const tsr_kernel_args *x, int64_t i, int64_t j, int64_t ld) {
  bool lower = x->uplo == TSR_LOWER;
  return (lower ? i : x->n - 1 - i) + (lower ? j : x->n - 1 - j) * ld;
}

static kernel_case inverse_make(tsr_kernel_args flags, int64_t order, const inverse_row *rows) {
  kernel_case test = {flags, {0, 0, 0}};
  tsr_kernel_args *x = &test.args;
  x->lda = order + random_below(5);
  x->ldc = order + random_below(5);
  void *a = case_matrix(x->type, TSR_GENERAL, order, order, x->lda, false, &test.bytes[0]);
  for (int64_t i = 0; i < order; i++) {
    for (int64_t j = 0; j < i; j++)
      element_set(x->type, a, inverse_at(x, i, j, x->lda), (element){0, 0});
    for (int b = INVERSE_BESIDE - 1; b >= 0; b--)
      if (rows[i].column[b] < i)
        element_set(x->type, a, inverse_at(x, i, rows[i].column[b], x->lda), rows[i].beside[b]);
    if (x->diag != TSR_UNIT) element_set(x->type, a, inverse_at(x, i, i, x->lda), rows[i].diagonal);
  }
  x->a = a;
  x->b = case_matrix(x->type, TSR_GENERAL, 0, 0, 1, false, &test.bytes[1]);
  x->c = case_matrix(x->type, TSR_GENERAL, order, order, x->ldc, false, &test.bytes[2]);
  return test;
}

/* Row i of the inverse: (row i of the identity - sum of beside times rows of the inverse) /
 * diagonal. */
static element *inverse_wanted(int64_t order, const inverse_row *rows) {
  element *want = calloc((size_t)(order * order), sizeof *want);
  assert_non_null(want);
  for (int64_t i = 0; i < order; i++) {
    element *row = want + i * order, by = conjugate(rows[i].diagonal); /* of size 1 */
    for (int b = 0; b < INVERSE_BESIDE; b++)
      for (int64_t j = 0; j < i; j++) {
        element e = times(rows[i].beside[b], want[rows[i].column[b] * order + j]);
        row[j] = plus(row[j], (element){-e.re, -e.im});
      }
    for (int64_t j = 0; j < i; j++) row[j] = times(by, row[j]);
    row[i] = by;
  }
  return want;
}

static void inverse_check(const kernel_case *test, const void *before, const element *want) {
  const tsr_kernel_args *x = &test->args;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->n; i++) {
      element got = element_get(x->type, x->c, inverse_at(x, i, j, x->ldc));
      if (got.re != want[i * x->n + j].re || got.im != want[i * x->n + j].im)
        level3_fail(test, i, j, got, want[i * x->n + j]);
    }
  case_check_rest(test, before);
}

static void inverse_run_one(kernel_runner run, void *user, tsr_type type, int f, int64_t order) {
  tsr_kernel_args flags = {.kernel = TSR_KERNEL_INVERT,
                           .type = type,
                           .transa = TSR_NO_TRANS,
                           .side = TSR_LEFT,
                           .uplo = f & 1 ? TSR_UPPER : TSR_LOWER,
                           .diag = f & 2 ? TSR_UNIT : TSR_NON_UNIT,
                           .m = order,
                           .n = order,
                           .k = order,
                           .alpha = {1, 0}};
  inverse_row *rows = inverse_rows(&flags);
  kernel_case test = inverse_make(flags, order, rows);
  element *want = inverse_wanted(order, rows);
  char *before = malloc(test.bytes[2]);
  assert_non_null(before);
  memcpy(before, test.args.c, test.bytes[2]);
  run(user, &test);
  inverse_check(&test, before, want);
  free(before);
  free(want);
  free(rows);
  case_free(&test);
}

/* Orders around those of blocks that engines invert and join. Of the larger ones every combination
 * of flags, or one of them by turns. */
static void inverse_run(kernel_runner run, void *user, bool by_turns) {
  static const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  static const int64_t orders[] = {1,   15,  16,  17,  31,  32,  33,  63,  64,  65,   97,
                                   127, 128, 129, 192, 255, 256, 257, 300, 512, 1000, 1024};
  enum { ALL = 14 }; /* of these orders */
  int count = (int)(sizeof orders / sizeof *orders);
  for (int o = 0; o < count; o++)
    for (int t = 0; t < 4; t++)
      for (int f = 0; f < INVERSE_FLAGS; f++)
        if (!by_turns || o < ALL || (o + t) % INVERSE_FLAGS == f)
          inverse_run_one(run, user, types[t], f, orders[o]);
}

#endif
