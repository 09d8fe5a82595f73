/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What emulated calls promise holds by every way of making a call: blocking, asynchronous, as a
 * plan of the user's, captured. Some of each C is refused, and computed natively.
 */
/* Slow: 9 s of a core. */
#include <math.h>

#include "front.h"

typedef enum way { BLOCKING, ASYNC, PLANNED, CAPTURED, WAYS } way;

static const char *const way_names[] = {"blocking", "asynchronous", "planned", "captured"};

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static void needs_residues(void) {
  const tsr_engine *engine = tsr_engine_find(front_engine());
  if (engine != NULL && !engine->traits.forms) skip();
}

static tsr_context *context_of(const char *devices, int reproducible) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = front_engine();
  options.devices = devices;
  options.check = 1;
  options.reproducible = reproducible;
  options.arithmetic = "emulated";
  if (!front_is_emulated()) options.machine = "host:200 gpu*1@nvswitch:300 pcie:25 rate:19";
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

/* ---- Data ---------------------------------------------------------------------- */

typedef struct data {
  tsr_level3 what;
  double alpha, beta;
  double *a, *b, *c, *old;
  int64_t rows, cols, k; /* of C; of the sums */
} data;

static double uniform(void) {
  return rand() / (double)RAND_MAX - 0.5;
}

/* Magnitudes that rise by 2^60 along some rows of A, fall along others, and do so along columns of
 * B, so that the certificate refuses the squares of C with these lines. */
static void fill(double *x, int64_t count, int64_t rows, bool by_column) {
  for (int64_t i = 0; i < count; i++) {
    int64_t row = i % rows, col = i / rows, line = by_column ? col : row;
    int step = (int)((by_column ? row : col) % 61), sign = by_column ? -1 : 1;
    int rise = line % 50 == 3 ? sign : line % 50 == 4 ? -sign : 0;
    x[i] = ldexp(uniform(), rise * step);
  }
}

static data make(tsr_operation operation, int64_t m, int64_t n, int64_t k) {
  bool square = operation != TSR_GEMM && operation != TSR_SYMM && operation != TSR_TRMM;
  bool beside = operation == TSR_SYMM || operation == TSR_TRMM || operation == TSR_TRSM;
  int64_t rows = square && !beside ? n : m, inner = beside ? m : k;
  data d = {.alpha = 1.25, .beta = 0.7, .rows = rows, .cols = n, .k = inner};
  d.what = (tsr_level3){operation,
                        TSR_D,
                        TSR_COL_MAJOR,
                        TSR_LEFT,
                        TSR_LOWER,
                        TSR_NO_TRANS,
                        TSR_NO_TRANS,
                        TSR_UNIT,
                        rows,
                        n,
                        k,
                        rows,
                        beside                                            ? rows
                        : operation == TSR_GEMM || operation == TSR_GEMMT ? k
                                                                          : n,
                        rows};
  d.a = malloc((size_t)(rows * inner) * sizeof *d.a);
  d.b = malloc((size_t)(inner * n + n * k) * sizeof *d.b);
  d.c = malloc((size_t)(rows * n) * sizeof *d.c);
  d.old = malloc((size_t)(rows * n) * sizeof *d.old);
  srand(3);
  fill(d.a, rows * inner, rows, false);
  fill(d.b, inner * n + n * k, d.what.ldb, true);
  fill(d.old, rows * n, rows, operation == TSR_TRMM || operation == TSR_TRSM);
  if (operation == TSR_TRSM)
    for (int64_t i = 0; i < rows * inner; i++)
      d.a[i] = ldexp(uniform(), i % rows % 50 == 3 ? (int)(i / rows % 61) - 68 : -8);
  return d;
}

static void drop(data *d) {
  free(d->a), free(d->b), free(d->c), free(d->old);
}

/* ---- Ways ---------------------------------------------------------------------- */

static void bring_home(tsr_context *t, const data *d) {
  assert_ok(tsr_coherent_async(t, TSR_GENERAL, d->rows, d->cols, d->c, d->what.ldc, TSR_D));
  assert_ok(tsr_sync(t));
  assert_ok(tsr_release(t, 0, 0, NULL, 1, TSR_D));
}

static void run_planned(tsr_context *t, const data *d) {
  const tsr_home homes[3] = {{TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}};
  tsr_plan *plan;
  assert_ok(tsr_plan_level3(t, &d->what, &d->alpha, &d->beta, homes, &plan));
  assert_ok(tsr_plan_execute(plan, &d->alpha, d->a, d->b, &d->beta, d->c));
  tsr_plan_destroy(plan);
}

/* The first run of the calls is taken back. */
static void run_captured(tsr_context *t, const data *d) {
  tsr_capture *capture;
  assert_ok(tsr_capture_begin(t));
  assert_ok(tsr_level3_run_async(t, &d->what, &d->alpha, d->a, d->b, &d->beta, d->c));
  assert_ok(tsr_capture_end(t, &capture));
  bring_home(t, d);
  memcpy(d->c, d->old, (size_t)(d->rows * d->cols) * sizeof *d->c);
  assert_ok(tsr_capture_run_async(capture));
  bring_home(t, d);
  tsr_capture_destroy(capture);
}

static void run(tsr_context *t, const data *d, way w) {
  memcpy(d->c, d->old, (size_t)(d->rows * d->cols) * sizeof *d->c);
  if (w == BLOCKING)
    assert_ok(tsr_level3_run(t, &d->what, &d->alpha, d->a, d->b, &d->beta, d->c));
  else if (w == PLANNED)
    run_planned(t, d);
  else if (w == CAPTURED)
    run_captured(t, d);
  else
    assert_ok(tsr_level3_run_async(t, &d->what, &d->alpha, d->a, d->b, &d->beta, d->c));
  if (w == ASYNC) bring_home(t, d);
}

/* ---- Bits ---------------------------------------------------------------------- */

/* With reproducible results the bits are the same by every way, on any number of devices. */
static void bits_are_the_same_by_every_way(void **state) {
  (void)state;
  needs_residues();
  static const tsr_operation operations[] = {TSR_GEMM, TSR_GEMMT, TSR_SYRK, TSR_SYR2K,
                                             TSR_SYMM, TSR_TRMM,  TSR_TRSM};
  static const char *const devices[] = {"1", "2", "3", "8"};
  for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
    data d = make(operations[o], 260, 260, 150);
    size_t bytes = (size_t)(d.rows * d.cols) * sizeof *d.c;
    double *first = malloc(bytes);
    for (int i = 0; i < (front_is_emulated() ? 4 : 1); i++)
      for (way w = BLOCKING; w < WAYS; w++) {
        tsr_context *t = context_of(devices[i], 1);
        run(t, &d, w);
        if (w == BLOCKING && !front_last_says(t, "computed natively"))
          fail_msg("operation %d: nothing was refused", (int)operations[o]);
        if (i == 0 && w == BLOCKING) memcpy(first, d.c, bytes);
        if (memcmp(first, d.c, bytes) != 0)
          fail_msg("operation %d, %s on %s devices: other bits than blocking on one",
                   (int)operations[o], way_names[w], devices[i]);
        tsr_context_destroy(t);
      }
    free(first);
    drop(&d);
  }
}

/* ---- Rounding of beta C ----------------------------------------------------------- */

/* The worst error beyond (k + 2) u |alpha| (|A||B|), in units of u |beta C|. */
static double worst_of(const data *d) {
  const long double u = 0x1p-53L;
  long double worst = 0;
  const tsr_level3 *x = &d->what;
  for (int64_t j = 0; j < d->cols; j++)
    for (int64_t i = 0; i < d->rows; i++) {
      long double exact = (long double)d->beta * d->old[i + j * x->ldc], magnitude = 0;
      for (int64_t p = 0; p < d->k; p++) {
        long double term = (long double)d->a[i + p * x->lda] * d->b[p + j * x->ldb] * d->alpha;
        exact += term;
        magnitude += fabsl(term);
      }
      long double error = fabsl(d->c[i + j * x->ldc] - exact) - (d->k + 2) * u * magnitude;
      worst = fmaxl(worst, error / (u * fabsl(d->beta * d->old[i + j * x->ldc])));
    }
  return (double)worst;
}

/* C is large beside A B, so that each rounding of C shows. */
static data make_small_product(int64_t m, int64_t n, int64_t k) {
  data d = make(TSR_GEMM, m, n, k);
  for (int64_t i = 0; i < m * k; i++) d.a[i] *= 0x1p-80;
  for (int64_t i = 0; i < m * n; i++) d.old[i] = 1.5 + uniform();
  return d;
}

/* beta C is rounded twice at most, however k would be cut natively. */
static void beta_c_is_added_once(void **state) {
  (void)state;
  needs_residues();
  static const struct {
    int64_t m, n, k, tile;
    const char *strategy;
  } cases[] = {{40, 40, 40, 4, NULL},
               {8, 8, 2000, 0, NULL},
               {150, 120, 1500, 0, NULL},
               {120, 100, 300, 0, "panels/c=first panels/kpanel=16"},
               {120, 100, 300, 0, "any/c=first any/kpanel=16"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (way w = BLOCKING; w < WAYS; w++) {
      data d = make_small_product(cases[i].m, cases[i].n, cases[i].k);
      tsr_context *t = context_of(front_is_emulated() ? "2" : "1", 0);
      assert_ok(tsr_set_tile(t, cases[i].tile));
      assert_ok(tsr_set_strategy(t, cases[i].strategy));
      run(t, &d, w);
      if (w == BLOCKING) assert_true(front_last_says(t, "computed natively"));
      double worst = worst_of(&d);
      if (!(worst <= 2))
        fail_msg("%d x %d x %d, tile %d, %s: an error of %g u |beta C|", (int)d.rows, (int)d.cols,
                 (int)d.k, (int)cases[i].tile, way_names[w], worst);
      tsr_context_destroy(t);
      drop(&d);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_are_the_same_by_every_way),
      cmocka_unit_test(beta_c_is_added_once),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
