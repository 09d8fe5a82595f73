/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A second arithmetic, fp32 split into parts of bf16 (arithmetic/cpu_split.c), is a row and its
 * kernels: nothing that plans, predicts, places or runs a call knows of it. So calls are planned,
 * verified and carried out with it here, on emulated devices, which have its kernels.
 */
#include <math.h>

#include "front/context.h"
#include "front.h"
#include "tessera_model.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static tsr_context *split_context(const char *devices, size_t memory) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = "host";
  options.devices = devices;
  options.memory = memory;
  options.check = 1;
  /* Beside a triangle that is one block, all products are native: tiles are small. */
  assert_ok(front_create_tiled(&options, memory > 0 ? 0 : 32, &context));
  context->plans->arithmetic =
      (tsr_arithmetic_wish){.kind = TSR_EMULATED, .products = &tsr_split_arithmetic};
  return context;
}

/* ---- A matrix and its elements ---- */

typedef struct matrix {
  float *x;
  int64_t rows, cols;
} matrix;

static matrix make(int64_t rows, int64_t cols, int seed) {
  matrix a = {malloc((size_t)(rows * cols) * sizeof *a.x), rows, cols};
  assert_non_null(a.x);
  uint64_t s = (uint64_t)seed * 2654435761u + 1;
  for (int64_t i = 0; i < rows * cols; i++) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    a.x[i] = (float)((double)(s >> 11) / 0x1p52 - 1);
  }
  return a;
}

/* Element (i, j) of the matrix that a routine reads in place of its A. */
static double element(const tsr_level3 *w, const matrix *a, int64_t i, int64_t j) {
  bool outside = w->uplo == TSR_LOWER ? i < j : i > j;
  if (w->operation == TSR_SYMM) return outside ? a->x[j + i * a->rows] : a->x[i + j * a->rows];
  if (w->operation == TSR_TRMM) return outside ? 0 : a->x[i + j * a->rows];
  return w->transa == TSR_NO_TRANS ? a->x[i + j * a->rows] : a->x[j + i * a->rows];
}

/* The error of c as a part of what is promised: 4 (k + 4) u sums of magnitudes, u that of fp32. */
static double worst_of(const tsr_level3 *w, const matrix *a, const matrix *b, const matrix *old,
                       const matrix *c, int64_t k) {
  double worst = 0, alpha = 0.75, beta = w->operation == TSR_TRMM ? 0 : -0.5;
  bool rank = w->operation == TSR_SYRK;
  for (int64_t j = 0; j < c->cols; j++)
    for (int64_t i = rank ? j : 0; i < c->rows; i++) {
      double start = beta * old->x[i + j * c->rows], sum = start, all = fabs(start);
      for (int64_t h = 0; h < k; h++) {
        double right = rank                        ? element(w, a, j, h)
                       : w->transb == TSR_NO_TRANS ? b->x[h + j * b->rows]
                                                   : b->x[j + h * b->rows];
        double term = alpha * element(w, a, i, h) * right;
        sum += term;
        all += fabs(term);
      }
      double bound = 4 * (double)(k + 4) * 0x1p-24 * all;
      worst = fmax(worst, fabs(c->x[i + j * c->rows] - sum) / bound);
    }
  return worst;
}

/* ---- Calls ---- */

/* Calls the routine with random operands, blocking or composed, and compares C. */
static void check(tsr_context *context, tsr_level3 w, bool async, int seed) {
  const float alpha = 0.75f, beta = -0.5f;
  bool square = w.operation == TSR_SYMM || w.operation == TSR_TRMM;
  bool in_place = w.operation == TSR_TRMM;
  int64_t k = square ? w.m : w.k;
  bool plain_a = w.transa == TSR_NO_TRANS, plain_b = w.transb == TSR_NO_TRANS;
  matrix a = square ? make(w.m, w.m, seed) : make(plain_a ? w.m : k, plain_a ? k : w.m, seed);
  matrix b = plain_b ? make(k, w.n, seed + 1) : make(w.n, k, seed + 1);
  matrix c = make(w.m, w.n, seed + 2), old = make(w.m, w.n, seed + 2);
  const matrix all[] = {a, b, c};
  if (in_place) memcpy(c.x, b.x, (size_t)(w.m * w.n) * sizeof *c.x);
  w.type = TSR_S;
  w.layout = TSR_COL_MAJOR;
  w.lda = a.rows, w.ldb = b.rows, w.ldc = c.rows;
  if (async) {
    assert_ok(tsr_level3_run_async(context, &w, &alpha, a.x, b.x, &beta, c.x));
    assert_ok(tsr_coherent(context, TSR_GENERAL, w.m, w.n, c.x, w.ldc, w.type));
    assert_ok(tsr_sync(context));
    for (int i = 0; i < 3; i++)
      assert_ok(tsr_release(context, all[i].rows, all[i].cols, all[i].x, all[i].rows, TSR_S));
  } else {
    assert_ok(tsr_level3_run(context, &w, &alpha, a.x, b.x, &beta, c.x));
    assert_true(front_last_says(context, "with 3 parts"));
  }
  double worst = worst_of(&w, &a, &b, &old, &c, k);
  if (worst > 1) fail_msg("operation %d: error %g of the bound", (int)w.operation, worst);
  free(a.x), free(b.x), free(c.x), free(old.x);
}

static const tsr_level3 calls[] = {
    {.operation = TSR_GEMM, .m = 70, .n = 90, .k = 50},
    {.operation = TSR_GEMM, .transa = TSR_TRANS, .transb = TSR_TRANS, .m = 33, .n = 65, .k = 130},
    {.operation = TSR_SYRK, .uplo = TSR_LOWER, .m = 60, .n = 60, .k = 40},
    {.operation = TSR_SYMM, .side = TSR_LEFT, .uplo = TSR_UPPER, .m = 80, .n = 45},
    {.operation = TSR_TRMM,
     .side = TSR_LEFT,
     .uplo = TSR_LOWER,
     .diag = TSR_NON_UNIT,
     .m = 75,
     .n = 64},
};

static void test_calls(void **state) {
  (void)state;
  const char *const devices[] = {"1", "2", "4"};
  for (int d = 0; d < 3; d++) {
    tsr_context *context = split_context(devices[d], 0);
    for (size_t i = 0; i < 2 * (sizeof calls / sizeof *calls); i++) {
      tsr_level3 w = calls[i / 2];
      if (w.transa == 0) w.transa = TSR_NO_TRANS;
      if (w.transb == 0) w.transb = TSR_NO_TRANS;
      if (w.side == 0) w.side = TSR_LEFT;
      check(context, w, i % 2 == 1, (int)(10 * i) + d);
    }
    tsr_context_destroy(context);
  }
}

/* With a budget that blocks of the form exceed. */
static void test_short_memory(void **state) {
  (void)state;
  tsr_context *context = split_context("2", 400 << 10);
  tsr_level3 w = calls[0];
  w.transa = w.transb = TSR_NO_TRANS;
  w.side = TSR_LEFT;
  w.m = w.n = 300;
  w.k = 200;
  check(context, w, false, 7);
  tsr_context_destroy(context);
}

/* A type that the arithmetic lacks is computed natively. */
static void test_other_types(void **state) {
  (void)state;
  tsr_context *context = split_context("2", 0);
  front_assert_works(context);
  assert_false(front_last_says(context, "parts"));
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_calls, clear),
      cmocka_unit_test_setup(test_short_memory, clear),
      cmocka_unit_test_setup(test_other_types, clear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
