/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Factorisations on emulated devices, planned, verified and carried out: every type, triangle and
 * layout, sizes at the edges of tiles, short budgets, and matrices without a factor. */
#include <complex.h>
#include <math.h>

#include "front.h"
#include "front/context.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

/* ---- Matrices ------------------------------------------------------------- */

typedef struct matrix {
  tsr_type type;
  tsr_layout layout;
  tsr_uplo uplo;
  int64_t n, ld;
  void *given, *factored; /* the latter is what the library works on */
} matrix;

static double complex get(const matrix *x, const void *of, int64_t i, int64_t j) {
  int64_t at = x->layout == TSR_COL_MAJOR ? i + j * x->ld : j + i * x->ld;
  switch (x->type) {
    case TSR_S:
      return ((const float *)of)[at];
    case TSR_D:
      return ((const double *)of)[at];
    case TSR_C:
      return ((const float complex *)of)[at];
    default:
      return ((const double complex *)of)[at];
  }
}

static void put(matrix *x, int64_t i, int64_t j, double complex value) {
  int64_t at = x->layout == TSR_COL_MAJOR ? i + j * x->ld : j + i * x->ld;
  if (x->type == TSR_S) ((float *)x->given)[at] = (float)creal(value);
  if (x->type == TSR_D) ((double *)x->given)[at] = creal(value);
  if (x->type == TSR_C) ((float complex *)x->given)[at] = (float complex)value;
  if (x->type == TSR_Z) ((double complex *)x->given)[at] = value;
}

static bool is_complex(tsr_type type) {
  return type == TSR_C || type == TSR_Z;
}

static size_t bytes_of(const matrix *x) {
  size_t size = x->type == TSR_S ? 4 : x->type == TSR_Z ? 16 : 8;
  return size * (size_t)(x->ld * (x->n > 0 ? x->n : 1));
}

static bool is_stored(const matrix *x, int64_t i, int64_t j) {
  return x->uplo == TSR_UPPER ? i <= j : i >= j;
}

/* re + im i, where either may be NaN. */
static double complex number(double re, double im) {
  double parts[2] = {re, im};
  double complex made;
  memcpy(&made, parts, sizeof made);
  return made;
}

static double part(int64_t i, int64_t j) {
  return sin(0.7 * (double)i + 2.3 * (double)j + 0.01 * (double)i * (double)j);
}

/* A matrix with a dominant diagonal, with NaN wherever nothing may be read. */
static matrix make(tsr_type type, tsr_layout layout, tsr_uplo uplo, int64_t n) {
  matrix x = {.type = type, .layout = layout, .uplo = uplo, .n = n, .ld = n + 3};
  x.given = malloc(bytes_of(&x));
  x.factored = malloc(bytes_of(&x));
  memset(x.given, 0xff, bytes_of(&x));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++)
      if (is_stored(&x, i, j)) {
        double imaginary = is_complex(type) ? i == j ? NAN : part(i + 5, j) : 0;
        put(&x, i, j, number(i == j ? 2.0 * (double)n + part(i, i) : part(i, j), imaginary));
      }
  memcpy(x.factored, x.given, bytes_of(&x));
  return x;
}

static void drop(matrix *x) {
  free(x->given);
  free(x->factored);
}

/* Element (i, j), i >= j, of the Hermitian matrix that is given, or of L or U^H. */
static double complex lower(const matrix *x, const void *of, int64_t i, int64_t j) {
  double complex value = x->uplo == TSR_LOWER ? get(x, of, i, j) : conj(get(x, of, j, i));
  return i == j ? creal(value) : value;
}

/* max |A - L L^H| / (n u max |A|) over the first `order` rows and columns. */
static double error_of(const matrix *x, int64_t order) {
  double u = x->type == TSR_S || x->type == TSR_C ? 0x1p-24 : 0x1p-53, worst = 0;
  for (int64_t j = 0; j < order; j++)
    for (int64_t i = j; i < order; i++) {
      double complex sum = lower(x, x->given, i, j);
      for (int64_t k = 0; k <= j; k++)
        sum -= lower(x, x->factored, i, k) * conj(lower(x, x->factored, j, k));
      double error = cabs(sum);
      worst = isnan(error) ? INFINITY : fmax(worst, error);
    }
  return worst / ((double)x->n * u * 2 * (double)x->n);
}

static void check_rest_untouched(const matrix *x) {
  size_t size = bytes_of(x) / (size_t)(x->ld * x->n);
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->ld; i++) {
      int64_t row = x->layout == TSR_COL_MAJOR ? i : j, col = x->layout == TSR_COL_MAJOR ? j : i;
      size_t at = (size_t)(i + j * x->ld) * size;
      bool stored = i < x->n && is_stored(x, row, col);
      if (!stored) assert_memory_equal((char *)x->given + at, (char *)x->factored + at, size);
    }
}

/* ---- Contexts ------------------------------------------------------------- */

static tsr_context *create(const char *devices, size_t memory, int64_t tile) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context;
  options.engine = devices != NULL ? "host" : "cpu";
  options.devices = devices;
  options.memory = memory;
  options.check = 1;
  assert_ok(tile > 0 ? front_create_tiled(&options, tile, &context)
                     : tsr_context_create(&options, &context));
  return context;
}

static int64_t factor(tsr_context *context, matrix *x) {
  int64_t info = -1;
  assert_ok(tsr_potrf(context, x->type, x->layout, x->uplo, x->n, x->factored, x->ld, &info));
  check_rest_untouched(x);
  return info;
}

/* Factors a matrix of each type, triangle and layout. */
static void check_all(tsr_context *context, int64_t n, const char *types) {
  for (const char *type = types; *type != 0; type++)
    for (int form = 0; form < 4; form++) {
      matrix x = make((tsr_type)*type, form & 1 ? TSR_ROW_MAJOR : TSR_COL_MAJOR,
                      form & 2 ? TSR_UPPER : TSR_LOWER, n);
      assert_int_equal(factor(context, &x), 0);
      double error = error_of(&x, n);
      if (!(error <= 4)) fail_msg("%c, n = %d, form %d: error %g", *type, (int)n, form, error);
      drop(&x);
    }
}

/* ---- Tests ---------------------------------------------------------------- */

static void test_types(void **state) {
  (void)state;
  static const char *const devices[] = {"1", "2", "3", "8"};
  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
    tsr_context *context = create(devices[d], 0, 16);
    check_all(context, 70, "sdcz");
    tsr_context_destroy(context);
  }
}

static void test_edges(void **state) {
  (void)state;
  static const int64_t extents[] = {1, 2, 15, 16, 17, 31, 32, 33, 48, 49};
  tsr_context *context = create("2", 0, 16);
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
    check_all(context, extents[i], "dc");
  tsr_context_destroy(context);
}

static void test_short_memory(void **state) {
  (void)state;
  static const struct {
    const char *devices;
    size_t memory;
  } budgets[] = {{"1", 100 << 10}, {"1", 40 << 10}, {"3", 60 << 10}, {"8", 30 << 10}};
  for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
    tsr_context *context = create(budgets[i].devices, budgets[i].memory, 16);
    check_all(context, 200, "ds");
    tsr_context_destroy(context);
  }
}

/* Tiles as the planner chooses them. */
static void test_own_tiles(void **state) {
  (void)state;
  static const char *const devices[] = {"1", "2", "5"};
  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
    tsr_context *context = create(devices[d], 0, 0);
    check_all(context, 300, "dz");
    tsr_context_destroy(context);
  }
}

/* The first minor that is not positive is at this order; info is that, whoever finds it. */
static void check_info(tsr_context *context, int64_t n, int64_t order, double diagonal) {
  for (int upper = 0; upper < 2; upper++) {
    matrix x = make(TSR_D, TSR_COL_MAJOR, upper ? TSR_UPPER : TSR_LOWER, n);
    put(&x, order - 1, order - 1, diagonal);
    if (order + 20 <= n) put(&x, order + 19, order + 19, diagonal);
    memcpy(x.factored, x.given, bytes_of(&x));
    int64_t info = factor(context, &x);
    if (info != order) fail_msg("n = %d: info %d, not %d", (int)n, (int)info, (int)order);
    drop(&x);
  }
}

static void test_info(void **state) {
  (void)state;
  static const char *const devices[] = {"1", "3", "8"};
  static const int64_t orders[] = {1, 2, 16, 17, 33, 64, 69, 70};
  static const double diagonals[] = {-1, -1e300, NAN, -INFINITY};
  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
    tsr_context *context = create(devices[d], 0, 16);
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
      for (size_t v = 0; v < sizeof diagonals / sizeof *diagonals; v++)
        check_info(context, 70, orders[o], diagonals[v]);
    check_all(context, 70, "d"); /* a failure leaves nothing behind */
    tsr_context_destroy(context);
  }
}

/* Zeros: singular at once. */
static void test_zeros(void **state) {
  (void)state;
  tsr_context *context = create("2", 0, 16);
  matrix x = make(TSR_Z, TSR_ROW_MAJOR, TSR_LOWER, 40);
  for (int64_t j = 0; j < x.n; j++)
    for (int64_t i = j; i < x.n; i++) put(&x, i, j, 0);
  memcpy(x.factored, x.given, bytes_of(&x));
  assert_int_equal(factor(context, &x), 1);
  drop(&x);
  tsr_context_destroy(context);
}

static void test_empty(void **state) {
  (void)state;
  for (int devices = 0; devices < 2; devices++) {
    tsr_context *context = create(devices ? "2" : NULL, 0, 0);
    int64_t info = -1;
    assert_ok(tsr_potrf(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 0, NULL, 1, &info));
    assert_int_equal(info, 0);
    tsr_context_destroy(context);
  }
}

static void test_on_cpu(void **state) {
  (void)state;
  tsr_context *context = create(NULL, 0, 0);
  check_all(context, 33, "sdcz");
  check_info(context, 50, 7, -1);
  tsr_context_destroy(context);
}

/* ---- Ways of calling ------------------------------------------------------ */

/* Two factorisations and the product that makes the second one's matrix, in order. */
static void test_async(void **state) {
  (void)state;
  tsr_context *context = create("2", 0, 16);
  matrix first = make(TSR_D, TSR_COL_MAJOR, TSR_LOWER, 60);
  matrix second = make(TSR_D, TSR_COL_MAJOR, TSR_LOWER, 60);
  double zero = 0, three = 3;
  int64_t info[2] = {-1, -1};
  /* C = 3 C, so that the second factor is sqrt(3) times the first. */
  assert_ok(tsr_potrf_async(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 60, first.factored, first.ld,
                            &info[0]));
  assert_ok(tsr_syrk_async(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, TSR_NO_TRANS, 60, 0, &zero,
                           NULL, 60, &three, second.factored, second.ld));
  assert_ok(tsr_potrf_async(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 60, second.factored,
                            second.ld, &info[1]));
  assert_ok(tsr_sync_home(context));
  assert_int_equal(info[0], 0);
  assert_int_equal(info[1], 0);
  assert_true(error_of(&first, 60) <= 4);
  for (int64_t j = 0; j < 60; j++)
    for (int64_t i = j; i < 60; i++) {
      double one = creal(get(&first, first.factored, i, j));
      double other = creal(get(&second, second.factored, i, j));
      assert_true(fabs(other - sqrt(3) * one) <= 1e-12 * 60);
    }
  drop(&first), drop(&second);
  tsr_context_destroy(context);
}

static void test_capture(void **state) {
  (void)state;
  tsr_context *context = create("2", 0, 16);
  tsr_capture *capture;
  matrix x = make(TSR_C, TSR_COL_MAJOR, TSR_UPPER, 60);
  int64_t info = -1;
  assert_ok(tsr_capture_begin(context));
  assert_ok(tsr_potrf_async(context, x.type, x.layout, x.uplo, x.n, x.factored, x.ld, &info));
  assert_ok(tsr_sync_home(context));
  assert_ok(tsr_capture_end(context, &capture));
  for (int run = 0; run < 2; run++) {
    memcpy(x.factored, x.given, bytes_of(&x));
    info = -1;
    assert_ok(tsr_capture_run_async(capture));
    assert_ok(tsr_sync(context));
    assert_int_equal(info, 0);
    assert_true(error_of(&x, x.n) <= 4);
  }
  tsr_capture_destroy(capture);
  drop(&x);
  tsr_context_destroy(context);
}

/* A factor stays on the devices for a solve: B = L L^T X is solved by two calls, and nothing of L
 * goes home between them. */
static void test_composed(void **state) {
  (void)state;
  enum { ORDER = 90, COLUMNS = 40 };
  for (int devices = 1; devices <= 3; devices++) {
    tsr_context *context = create((const char *[]){"1", "2", "3"}[devices - 1], 0, 16);
    matrix a = make(TSR_D, TSR_COL_MAJOR, TSR_LOWER, ORDER);
    double x[ORDER * COLUMNS], b[ORDER * COLUMNS] = {0}, one = 1;
    int64_t info = -1;
    for (int i = 0; i < ORDER * COLUMNS; i++) x[i] = i % 7 - 3;
    for (int j = 0; j < COLUMNS; j++)
      for (int k = 0; k < ORDER; k++)
        for (int i = 0; i < ORDER; i++)
          b[i + j * ORDER] +=
              x[k + j * ORDER] * creal(get(&a, a.given, i > k ? i : k, i > k ? k : i));
    assert_ok(
        tsr_potrf_async(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, ORDER, a.factored, a.ld, &info));
    assert_memory_equal(a.factored, a.given, bytes_of(&a));
    for (int step = 0; step < 2; step++)
      assert_ok(tsr_trsm_async(context, TSR_D, TSR_COL_MAJOR, TSR_LEFT, TSR_LOWER,
                               step ? TSR_TRANS : TSR_NO_TRANS, TSR_NON_UNIT, ORDER, COLUMNS, &one,
                               a.factored, a.ld, b, ORDER));
    assert_ok(tsr_coherent(context, TSR_GENERAL, ORDER, COLUMNS, b, ORDER, TSR_D));
    assert_int_equal(info, 0);
    assert_memory_equal(a.factored, a.given, bytes_of(&a));
    for (int i = 0; i < ORDER * COLUMNS; i++) assert_true(fabs(b[i] - x[i]) <= 1e-11);
    assert_ok(tsr_sync_home(context));
    assert_true(error_of(&a, ORDER) <= 4);
    drop(&a);
    tsr_context_destroy(context);
  }
}

/* A matrix on a device, or in managed memory. */
static void test_places(void **state) {
  (void)state;
  tsr_context *context = create("2", 0, 16);
  for (int device = 0; device < 2; device++) {
    matrix x = make(TSR_D, TSR_COL_MAJOR, TSR_LOWER, 70);
    void *there;
    int64_t info = -1;
    assert_ok(tsr_malloc(context, device, bytes_of(&x), &there));
    assert_ok(tsr_memcpy(context, there, x.given, bytes_of(&x)));
    assert_ok(tsr_potrf(context, x.type, x.layout, x.uplo, x.n, there, x.ld, &info));
    assert_ok(tsr_memcpy(context, x.factored, there, bytes_of(&x)));
    assert_int_equal(info, 0);
    check_rest_untouched(&x);
    assert_true(error_of(&x, x.n) <= 4);
    tsr_free(context, there);
    drop(&x);
  }
  tsr_context_destroy(context);
}

static void test_plans(void **state) {
  (void)state;
  tsr_context *context = create("2", 0, 0);
  tsr_factor what = {.routine = TSR_POTRF,
                     .type = TSR_D,
                     .layout = TSR_COL_MAJOR,
                     .uplo = TSR_LOWER,
                     .n = 500,
                     .lda = 500};
  static const tsr_format formats[] = {TSR_TEXT,  TSR_JSON,          TSR_COMMANDS, TSR_TIMELINE_SVG,
                                       TSR_LOADS, TSR_TIMELINE_JSON, TSR_VERDICT};
  tsr_plan *plan;
  char *text;
  assert_ok(tsr_plan_factor(context, &what, (tsr_home){TSR_PINNED, 0}, &plan));
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    assert_ok(tsr_plan_print(plan, formats[f], &text));
    if (formats[f] == TSR_TEXT) assert_non_null(strstr(text, "potrf"));
    free(text);
  }
  double one = 1, c = 0;
  assert_int_equal(tsr_plan_execute(plan, &one, NULL, NULL, NULL, &c), TSR_ERR_ARGUMENT);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
}

/* ---- Wrong arguments ------------------------------------------------------ */

static void test_arguments(void **state) {
  (void)state;
  tsr_context *context = create("1", 0, 0);
  double a[4] = {4, 1, 1, 4};
  int64_t info = 77;
  assert_refused(tsr_potrf(context, TSR_H, TSR_COL_MAJOR, TSR_LOWER, 2, a, 2, &info),
                 TSR_ERR_ARGUMENT, "type");
  assert_refused(tsr_potrf(context, TSR_D, (tsr_layout)5, TSR_LOWER, 2, a, 2, &info),
                 TSR_ERR_ARGUMENT, "layout");
  assert_refused(tsr_potrf(context, TSR_D, TSR_COL_MAJOR, TSR_GENERAL, 2, a, 2, &info),
                 TSR_ERR_ARGUMENT, "uplo");
  assert_refused(tsr_potrf(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, -1, a, 2, &info),
                 TSR_ERR_ARGUMENT, "n = -1");
  assert_refused(tsr_potrf(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 2, NULL, 2, &info),
                 TSR_ERR_ARGUMENT, "a = NULL");
  assert_refused(tsr_potrf(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 2, a, 1, &info),
                 TSR_ERR_ARGUMENT, "lda = 1");
  assert_refused(tsr_potrf(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 2, a, 2, NULL),
                 TSR_ERR_ARGUMENT, "info = NULL");
  tsr_factor none = {.routine = TSR_FACTORISATION_COUNT};
  assert_refused(tsr_factor_run(context, &none, a), TSR_ERR_ARGUMENT, "routine");
  assert_refused(tsr_factor_run(context, NULL, a), TSR_ERR_ARGUMENT, "what");
  tsr_level3 level3 = {.operation = TSR_OPERATION_COUNT, .type = TSR_D, .uplo = TSR_LOWER, .n = 2};
  assert_refused(tsr_level3_run(context, &level3, a, a, a, a, a), TSR_ERR_ARGUMENT, "operation");
  assert_int_equal(info, 77);
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_types, clear),
                                     cmocka_unit_test_setup(test_edges, clear),
                                     cmocka_unit_test_setup(test_own_tiles, clear),
                                     cmocka_unit_test_setup(test_short_memory, clear),
                                     cmocka_unit_test_setup(test_info, clear),
                                     cmocka_unit_test_setup(test_zeros, clear),
                                     cmocka_unit_test_setup(test_empty, clear),
                                     cmocka_unit_test_setup(test_on_cpu, clear),
                                     cmocka_unit_test_setup(test_async, clear),
                                     cmocka_unit_test_setup(test_composed, clear),
                                     cmocka_unit_test_setup(test_capture, clear),
                                     cmocka_unit_test_setup(test_places, clear),
                                     cmocka_unit_test_setup(test_plans, clear),
                                     cmocka_unit_test_setup(test_arguments, clear)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
