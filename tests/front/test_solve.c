/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Solvers: potrs, posv, trtrs, potri, trtri and pocon, by the CPU and by emulated devices,
 * blocking, asynchronous and captured, in all types and layouts. Nothing outside the triangle that
 * a routine may touch is read (it holds NaN) or written. */
#include <complex.h>
#include <math.h>
#include "front.h"

typedef double complex number;

/* ---- Matrices --------------------------------------------------------------- */

typedef struct matrix {
  tsr_type type;
  tsr_layout layout;
  int64_t m, n, ld;
  void *at;
} matrix;

static bool is_complex(tsr_type type) {
  return type == TSR_C || type == TSR_Z;
}

static size_t size_of(tsr_type type) {
  return type == TSR_S ? 4 : type == TSR_Z ? 16 : 8;
}

static double unit_of(tsr_type type) {
  return type == TSR_S || type == TSR_C ? 0x1p-24 : 0x1p-53;
}

static size_t bytes_of(const matrix *x) {
  return size_of(x->type) * (size_t)(x->ld * (x->layout == TSR_COL_MAJOR ? x->n : x->m));
}

static matrix make(tsr_type type, tsr_layout layout, int64_t m, int64_t n) {
  matrix x = {type, layout, m, n, (layout == TSR_COL_MAJOR ? m : n) + 3, NULL};
  x.at = malloc(bytes_of(&x));
  memset(x.at, 0xff, bytes_of(&x)); /* NaN */
  return x;
}

static int64_t place(const matrix *x, int64_t i, int64_t j) {
  return x->layout == TSR_COL_MAJOR ? i + j * x->ld : j + i * x->ld;
}

static number get(const matrix *x, int64_t i, int64_t j) {
  int64_t at = place(x, i, j);
  if (x->type == TSR_S) return ((float *)x->at)[at];
  if (x->type == TSR_D) return ((double *)x->at)[at];
  if (x->type == TSR_C) return ((float complex *)x->at)[at];
  return ((number *)x->at)[at];
}

static void put(const matrix *x, int64_t i, int64_t j, number value) {
  int64_t at = place(x, i, j);
  if (x->type == TSR_S) ((float *)x->at)[at] = (float)creal(value);
  if (x->type == TSR_D) ((double *)x->at)[at] = creal(value);
  if (x->type == TSR_C) ((float complex *)x->at)[at] = (float complex)value;
  if (x->type == TSR_Z) ((number *)x->at)[at] = value;
}

/* ---- Systems ---------------------------------------------------------------- */

static uint64_t state = 1;

static double random_part(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(state >> 11) * 0x1p-52 - 1;
}

static number random_number(tsr_type type) {
  double re = random_part();
  return is_complex(type) ? re + random_part() * I : re;
}

static bool is_stored(tsr_uplo uplo, int64_t i, int64_t j) {
  return uplo == TSR_LOWER ? i >= j : i <= j;
}

/* A triangle whose inverse is about as large as itself, beside NaN. */
static matrix make_triangle(tsr_type type, tsr_layout layout, tsr_uplo uplo, tsr_diag diag,
                            int64_t n) {
  matrix x = make(type, layout, n, n);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      if (!is_stored(uplo, i, j) || (i == j && diag == TSR_UNIT)) continue;
      put(&x, i, j, i == j ? 2 + random_part() / 2 : random_number(type) / (double)n);
    }
  return x;
}

/* A positive definite matrix, one triangle of it, beside NaN. */
static matrix make_definite(tsr_type type, tsr_layout layout, tsr_uplo uplo, int64_t n) {
  matrix x = make(type, layout, n, n);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++)
      if (is_stored(uplo, i, j))
        put(&x, i, j, i == j ? 3 + random_part() : random_number(type) / (double)n);
  return x;
}

/* Element (i, j) of the triangle, or of the Hermitian matrix of which it is stored. */
static number of_triangle(const matrix *x, tsr_uplo uplo, tsr_diag diag, int64_t i, int64_t j) {
  if (i == j && diag == TSR_UNIT) return 1;
  return is_stored(uplo, i, j) ? get(x, i, j) : 0;
}

static number of_definite(const matrix *x, tsr_uplo uplo, int64_t i, int64_t j) {
  if (i == j) return creal(get(x, i, i));
  return is_stored(uplo, i, j) ? get(x, i, j) : conj(get(x, j, i));
}

static matrix make_sides(tsr_type type, tsr_layout layout, int64_t n, int64_t nrhs) {
  matrix x = make(type, layout, n, nrhs);
  for (int64_t j = 0; j < nrhs; j++)
    for (int64_t i = 0; i < n; i++) put(&x, i, j, random_number(type));
  return x;
}

static matrix copy_of(const matrix *x) {
  matrix made = *x;
  made.at = malloc(bytes_of(x));
  memcpy(made.at, x->at, bytes_of(x));
  return made;
}

static void drop(matrix *x) {
  free(x->at);
}

/* Nothing outside the triangle, or of its diagonal if that is not stored, was written. */
static void check_rest(const matrix *x, const matrix *was, tsr_uplo uplo, tsr_diag diag) {
  for (int64_t line = 0; line < x->n; line++)
    for (int64_t at = 0; at < x->ld; at++) {
      int64_t i = x->layout == TSR_COL_MAJOR ? at : line,
              j = x->layout == TSR_COL_MAJOR ? line : at;
      bool inside = at < x->n && is_stored(uplo, i, j) && !(i == j && diag == TSR_UNIT);
      size_t offset = (size_t)(at + line * x->ld) * size_of(x->type);
      if (!inside)
        assert_memory_equal((char *)x->at + offset, (char *)was->at + offset, size_of(x->type));
    }
}

/* ---- The forms of a call ------------------------------------------------------ */

typedef enum way { BLOCKING, ASYNC, CAPTURED, WAYS } way;

/* tile 0: the model's. devices NULL: the CPU. */
static tsr_context *create(const char *devices, size_t memory, int64_t tile) {
  tsr_context *context;
  char machine[80];
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = devices != NULL ? "host" : "cpu";
  options.devices = devices;
  snprintf(machine, sizeof machine, "host:200 gpu*%s@nvswitch:300 pcie:25/pair rate:19",
           devices != NULL ? devices : "1");
  options.machine = machine;
  options.memory = memory;
  options.check = 1;
  assert_ok(front_create_tiled(&options, tile, &context));
  return context;
}

/* A captured call is made twice, the second time from what the first one found. */
static void run(tsr_context *context, way how, const tsr_solve *what, matrix *a, matrix *b) {
  tsr_capture *capture;
  void *at = b != NULL ? b->at : NULL;
  if (how == BLOCKING) {
    assert_ok(tsr_solve_run(context, what, a->at, at));
    return;
  }
  if (how == CAPTURED) {
    matrix was = copy_of(a), was_b = copy_of(b != NULL ? b : a);
    assert_ok(tsr_capture_begin(context));
    assert_ok(tsr_solve_run_async(context, what, a->at, at));
    assert_ok(tsr_sync_home(context));
    assert_ok(tsr_capture_end(context, &capture));
    memcpy(a->at, was.at, bytes_of(a));
    if (b != NULL) memcpy(b->at, was_b.at, bytes_of(b));
    assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D));
    assert_ok(tsr_capture_run_async(capture));
    assert_ok(tsr_sync_home(context));
    tsr_capture_destroy(capture);
    drop(&was), drop(&was_b);
  } else {
    assert_ok(tsr_solve_run_async(context, what, a->at, at));
    assert_ok(tsr_sync_home(context));
  }
  assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D));
}

static tsr_solve request(tsr_solver routine, const matrix *a, tsr_uplo uplo, int64_t nrhs,
                         const matrix *b, int64_t *info) {
  return (tsr_solve){.routine = routine,
                     .type = a->type,
                     .layout = a->layout,
                     .uplo = uplo,
                     .trans = TSR_NO_TRANS,
                     .diag = TSR_NON_UNIT,
                     .n = a->n,
                     .nrhs = nrhs,
                     .lda = a->ld,
                     .ldb = b != NULL ? b->ld : 0,
                     .info = info};
}

/* ---- Each routine --------------------------------------------------------------- */

enum { SIDES = 7 };

/* The largest element of op(A) X - B, in units of the rounding error of a sum of n terms. */
static double residual(const matrix *a, tsr_uplo uplo, tsr_op op, tsr_diag diag, bool definite,
                       const matrix *x, const matrix *b) {
  double worst = 0;
  for (int64_t c = 0; c < x->n; c++)
    for (int64_t i = 0; i < a->n; i++) {
      number sum = -get(b, i, c);
      double size = cabs(sum);
      for (int64_t j = 0; j < a->n; j++) {
        int64_t row = op == TSR_NO_TRANS ? i : j, col = op == TSR_NO_TRANS ? j : i;
        number e = definite ? of_definite(a, uplo, row, col) : of_triangle(a, uplo, diag, row, col);
        if (op == TSR_CONJ_TRANS) e = conj(e);
        sum += e * get(x, j, c), size += cabs(e * get(x, j, c));
      }
      worst = fmax(worst, isnan(cabs(sum)) ? INFINITY : cabs(sum) / size);
    }
  return worst / (unit_of(a->type) * (double)(a->n + 4));
}

static void check_posv(tsr_context *context, way how, tsr_type type, tsr_layout layout,
                       tsr_uplo uplo, int64_t n, bool at_once) {
  matrix a = make_definite(type, layout, uplo, n), given = copy_of(&a);
  matrix b = make_sides(type, layout, n, SIDES), was = copy_of(&b);
  int64_t info = -1;
  tsr_solve posv = request(TSR_POSV, &a, uplo, SIDES, &b, &info);
  tsr_solve potrs = request(TSR_POTRS, &a, uplo, SIDES, &b, NULL);
  if (at_once) {
    run(context, how, &posv, &a, &b);
  } else {
    assert_ok(tsr_potrf(context, type, layout, uplo, n, a.at, a.ld, &info));
    run(context, how, &potrs, &a, &b);
  }
  assert_int_equal(info, 0);
  assert_true(residual(&given, uplo, TSR_NO_TRANS, TSR_NON_UNIT, true, &b, &was) <= 4);
  check_rest(&a, &given, uplo, TSR_NON_UNIT);
  drop(&a), drop(&given), drop(&b), drop(&was);
}

static void check_trtrs(tsr_context *context, way how, tsr_type type, tsr_layout layout,
                        tsr_uplo uplo, tsr_op op, tsr_diag diag, int64_t n) {
  matrix a = make_triangle(type, layout, uplo, diag, n), given = copy_of(&a);
  matrix b = make_sides(type, layout, n, SIDES), was = copy_of(&b);
  int64_t info = -1;
  tsr_solve what = request(TSR_TRTRS, &a, uplo, SIDES, &b, &info);
  what.trans = op, what.diag = diag;
  run(context, how, &what, &a, &b);
  assert_int_equal(info, 0);
  assert_memory_equal(a.at, given.at, bytes_of(&a));
  assert_true(residual(&given, uplo, op, diag, false, &b, &was) <= 4);
  drop(&a), drop(&given), drop(&b), drop(&was);
}

/* The largest element of X A - 1 in columns that are tried, in the same units. */
static double off_identity(const matrix *a, const matrix *x, tsr_uplo uplo, tsr_diag diag,
                           bool definite) {
  double worst = 0;
  int64_t n = a->n, step = n > 40 ? n / 23 : 1;
  for (int64_t j = 0; j < n; j += step)
    for (int64_t i = 0; i < n; i++) {
      number sum = i == j ? -1 : 0;
      double size = 1;
      for (int64_t k = 0; k < n; k++) {
        number e = definite ? of_definite(a, uplo, k, j) : of_triangle(a, uplo, diag, k, j);
        number f = definite ? of_definite(x, uplo, i, k) : of_triangle(x, uplo, diag, i, k);
        sum += e * f, size += cabs(e * f);
      }
      worst = fmax(worst, isnan(cabs(sum)) ? INFINITY : cabs(sum) / size);
    }
  return worst / (unit_of(a->type) * (double)(n + 4));
}

static void check_inverse(tsr_context *context, way how, tsr_type type, tsr_layout layout,
                          tsr_uplo uplo, tsr_diag diag, int64_t n, bool definite) {
  matrix a =
      definite ? make_definite(type, layout, uplo, n) : make_triangle(type, layout, uplo, diag, n);
  matrix given = copy_of(&a);
  int64_t info = -1;
  if (definite) assert_ok(tsr_potrf(context, type, layout, uplo, n, a.at, a.ld, &info));
  tsr_solve what = request(definite ? TSR_POTRI : TSR_TRTRI, &a, uplo, 0, NULL, &info);
  what.diag = diag;
  info = -1;
  run(context, how, &what, &a, NULL);
  assert_int_equal(info, 0);
  assert_true(off_identity(&given, &a, uplo, diag, definite) <= 4);
  check_rest(&a, &given, uplo, diag);
  drop(&a), drop(&given);
}

static const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};

/* All types, layouts and triangles, and ways of calling in turn. */
static void check_all(tsr_context *context, int64_t n) {
  int turn = 0;
  for (int t = 0; t < 4; t++)
    for (int form = 0; form < 4; form++, turn++) {
      tsr_layout layout = form & 1 ? TSR_ROW_MAJOR : TSR_COL_MAJOR;
      tsr_uplo uplo = form & 2 ? TSR_UPPER : TSR_LOWER;
      static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
      way how = (way)(turn % WAYS);
      check_posv(context, how, types[t], layout, uplo, n, true);
      check_posv(context, (how + 1) % WAYS, types[t], layout, uplo, n, false);
      for (int op = 0; op < 3; op++)
        check_trtrs(context, (how + op) % WAYS, types[t], layout, uplo, ops[op],
                    (form + op) & 1 ? TSR_UNIT : TSR_NON_UNIT, n);
      check_inverse(context, how, types[t], layout, uplo, TSR_NON_UNIT, n, false);
      check_inverse(context, (how + 1) % WAYS, types[t], layout, uplo, TSR_UNIT, n, false);
      check_inverse(context, (how + 2) % WAYS, types[t], layout, uplo, TSR_NON_UNIT, n, true);
    }
}

static void test_on_cpu(void **unused) {
  (void)unused;
  tsr_context *context = create(NULL, 0, 0);
  check_all(context, 1);
  check_all(context, 37);
  tsr_context_destroy(context);
}

static void test_on_devices(void **unused) {
  (void)unused;
  for (int devices = 1; devices <= 3; devices += 2) {
    tsr_context *context = create(devices == 1 ? "1" : "3", 0, 16);
    check_all(context, 2);
    check_all(context, 61);
    tsr_context_destroy(context);
  }
}

/* Larger than what is inverted at once, in one type and form each. */
static void test_by_halves(void **unused) {
  (void)unused;
  enum { ORDER = 1100 };
  tsr_context *context = create("2", 0, 0);
  check_inverse(context, BLOCKING, TSR_D, TSR_COL_MAJOR, TSR_LOWER, TSR_NON_UNIT, ORDER, true);
  check_inverse(context, ASYNC, TSR_S, TSR_ROW_MAJOR, TSR_UPPER, TSR_NON_UNIT, ORDER, true);
  check_inverse(context, ASYNC, TSR_Z, TSR_COL_MAJOR, TSR_UPPER, TSR_UNIT, ORDER, false);
  check_inverse(context, BLOCKING, TSR_C, TSR_COL_MAJOR, TSR_LOWER, TSR_NON_UNIT, ORDER, false);
  tsr_context_destroy(context);
}

/* Less memory than the matrices need. */
static void test_with_little(void **unused) {
  (void)unused;
  tsr_context *context = create("2", 400 << 10, 0);
  for (int how = 0; how < 2; how++) {
    check_posv(context, (way)how, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 300, true);
    check_inverse(context, (way)how, TSR_D, TSR_COL_MAJOR, TSR_UPPER, TSR_NON_UNIT, 300, true);
  }
  tsr_context_destroy(context);
}

/* ---- What LAPACK says ------------------------------------------------------------ */

/* A minor that is not positive: B stays. A zero on the diagonal: all stays. */
static void test_info(void **unused) {
  (void)unused;
  for (int engine = 0; engine < 2; engine++) {
    tsr_context *context = create(engine ? "2" : NULL, 0, 16);
    matrix a = make_definite(TSR_D, TSR_COL_MAJOR, TSR_LOWER, 50);
    matrix b = make_sides(TSR_D, TSR_COL_MAJOR, 50, SIDES), was = copy_of(&b);
    int64_t info = -1;
    put(&a, 20, 20, -1);
    assert_ok(tsr_posv(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 50, SIDES, a.at, a.ld, b.at, b.ld,
                       &info));
    assert_int_equal(info, 21);
    assert_memory_equal(b.at, was.at, bytes_of(&b));
    info = -1;
    assert_ok(tsr_posv_async(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 50, SIDES, a.at, a.ld, b.at,
                             b.ld, &info));
    assert_ok(tsr_sync(context));
    assert_true(info > 0);
    assert_ok(tsr_release(context, 0, 0, NULL, 1, TSR_D));
    drop(&a), drop(&b), drop(&was);

    matrix t = make_triangle(TSR_Z, TSR_ROW_MAJOR, TSR_UPPER, TSR_NON_UNIT, 50);
    matrix c = make_sides(TSR_Z, TSR_ROW_MAJOR, 50, SIDES);
    put(&t, 33, 33, 0);
    matrix t_was = copy_of(&t), c_was = copy_of(&c);
    for (int async = 0; async < 2; async++) {
      int64_t found[3] = {-1, -1, -1};
      assert_ok((async ? tsr_trtrs_async : tsr_trtrs)(context, TSR_Z, TSR_ROW_MAJOR, TSR_UPPER,
                                                      TSR_TRANS, TSR_NON_UNIT, 50, SIDES, t.at,
                                                      t.ld, c.at, c.ld, &found[0]));
      assert_ok((async ? tsr_trtri_async : tsr_trtri)(context, TSR_Z, TSR_ROW_MAJOR, TSR_UPPER,
                                                      TSR_NON_UNIT, 50, t.at, t.ld, &found[1]));
      assert_ok((async ? tsr_potri_async : tsr_potri)(context, TSR_Z, TSR_ROW_MAJOR, TSR_UPPER, 50,
                                                      t.at, t.ld, &found[2]));
      assert_ok(tsr_sync_home(context));
      for (int i = 0; i < 3; i++) assert_int_equal(found[i], 34);
      assert_memory_equal(t.at, t_was.at, bytes_of(&t));
      assert_memory_equal(c.at, c_was.at, bytes_of(&c));
    }
    drop(&t), drop(&t_was), drop(&c), drop(&c_was);
    tsr_context_destroy(context);
  }
}

/* A matrix in a device's memory, singular and not. */
static void test_on_a_device(void **unused) {
  (void)unused;
  tsr_context *context = create("2", 0, 16);
  matrix a = make_triangle(TSR_D, TSR_COL_MAJOR, TSR_LOWER, TSR_NON_UNIT, 70), given = copy_of(&a);
  void *there;
  int64_t info = -1;
  assert_ok(tsr_malloc(context, 1, bytes_of(&a), &there));
  assert_ok(tsr_memcpy(context, there, a.at, bytes_of(&a)));
  assert_ok(
      tsr_trtri(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, TSR_NON_UNIT, 70, there, a.ld, &info));
  assert_int_equal(info, 0);
  assert_ok(tsr_memcpy(context, a.at, there, bytes_of(&a)));
  assert_true(off_identity(&given, &a, TSR_LOWER, TSR_NON_UNIT, false) <= 4);
  put(&a, 69, 69, 0);
  assert_ok(tsr_memcpy(context, there, a.at, bytes_of(&a)));
  assert_ok(
      tsr_trtri(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, TSR_NON_UNIT, 70, there, a.ld, &info));
  assert_int_equal(info, 70);
  tsr_free(context, there);
  drop(&a), drop(&given);
  tsr_context_destroy(context);
}

/* Nothing to do, and nothing is touched. */
static void test_empty(void **unused) {
  (void)unused;
  tsr_context *context = create("1", 0, 16);
  double b = 5, rcond = -1;
  int64_t info = -1;
  assert_ok(tsr_posv(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 0, 3, NULL, 1, NULL, 1, &info));
  assert_int_equal(info, 0);
  assert_ok(tsr_potrs(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 1, 0, &b, 1, NULL, 1));
  assert_ok(tsr_trtri(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, TSR_NON_UNIT, 0, NULL, 1, &info));
  assert_ok(tsr_pocon(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 0, NULL, 1, 1, &rcond));
  assert_true(rcond == 1);
  assert_true(b == 5);
  /* posv without right-hand sides factors. */
  b = 4;
  assert_ok(tsr_posv(context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 1, 0, &b, 1, NULL, 1, &info));
  assert_true(b == 2);
  tsr_context_destroy(context);
}

/* ---- The condition --------------------------------------------------------------- */

/* Diagonal matrices, whose condition is known and found exactly, and a full one within the factor
 * of 3 that the method promises in practice. */
static void test_condition(void **unused) {
  (void)unused;
  for (int engine = 0; engine < 2; engine++)
    for (int t = 0; t < 4; t++) {
      tsr_context *context = create(engine ? "2" : NULL, 0, 16);
      tsr_uplo uplo = t & 1 ? TSR_UPPER : TSR_LOWER;
      matrix a = make(types[t], t & 1 ? TSR_ROW_MAJOR : TSR_COL_MAJOR, 40, 40);
      double rcond = -1;
      for (int64_t j = 0; j < 40; j++)
        for (int64_t i = 0; i < 40; i++)
          if (is_stored(uplo, i, j)) put(&a, i, j, i == j ? (i == 17 ? 0.25 : 1) : 0);
      assert_ok(tsr_pocon(context, a.type, a.layout, uplo, 40, a.at, a.ld, 1, &rcond));
      assert_true(fabs(rcond - 0.0625) <= 0.0625 * 1e-6);
      assert_ok(tsr_pocon(context, a.type, a.layout, uplo, 40, a.at, a.ld, 0, &rcond));
      assert_true(rcond == 0);
      drop(&a);
      tsr_context_destroy(context);
    }
}

static void test_condition_of_full(void **unused) {
  (void)unused;
  tsr_context *context = create("2", 0, 16);
  for (int t = 0; t < 4; t++) {
    matrix a = make_definite(types[t], TSR_COL_MAJOR, TSR_LOWER, 60), inverse;
    double norm = 0, of_inverse = 0, rcond = -1;
    int64_t info;
    matrix given = copy_of(&a);
    assert_ok(tsr_potrf(context, a.type, a.layout, TSR_LOWER, 60, a.at, a.ld, &info));
    inverse = copy_of(&a);
    assert_ok(tsr_potri(context, a.type, a.layout, TSR_LOWER, 60, inverse.at, a.ld, &info));
    for (int64_t j = 0; j < 60; j++) {
      double column = 0, column_of_inverse = 0;
      for (int64_t i = 0; i < 60; i++) {
        column += cabs(of_definite(&given, TSR_LOWER, i, j));
        column_of_inverse += cabs(of_definite(&inverse, TSR_LOWER, i, j));
      }
      norm = fmax(norm, column), of_inverse = fmax(of_inverse, column_of_inverse);
    }
    matrix kept = copy_of(&a);
    assert_ok(tsr_pocon(context, a.type, a.layout, TSR_LOWER, 60, a.at, a.ld, norm, &rcond));
    double is = 1 / (norm * of_inverse);
    assert_true(rcond >= is * 0.99 && rcond <= 3 * is);
    assert_memory_equal(a.at, kept.at, bytes_of(&a));
    drop(&a), drop(&given), drop(&inverse), drop(&kept);
  }
  tsr_context_destroy(context);
}

/* ---- Wrong arguments ---------------------------------------------------------------- */

#define REFUSED(call, text)                                                            \
  do {                                                                                 \
    assert_int_equal(call, TSR_ERR_ARGUMENT);                                          \
    if (strstr(tsr_message(), text) == NULL) fail_msg("%s: %s", #call, tsr_message()); \
  } while (0)

static void test_arguments(void **unused) {
  (void)unused;
  tsr_context *c = create("1", 0, 16);
  double a[16] = {0}, b[8] = {0}, rcond;
  int64_t info = 7;
  tsr_solve wrong = {.routine = TSR_SOLVER_COUNT};
  REFUSED(tsr_solve_run(c, NULL, a, b), "what = NULL");
  REFUSED(tsr_solve_run(c, &wrong, a, b), "routine = 5");
  REFUSED(tsr_potrs(c, TSR_H, TSR_COL_MAJOR, TSR_LOWER, 4, 2, a, 4, b, 4), "potrs: type");
  REFUSED(tsr_potrs(c, TSR_D, (tsr_layout)9, TSR_LOWER, 4, 2, a, 4, b, 4), "potrs: layout = 9");
  REFUSED(tsr_potrs(c, TSR_D, TSR_COL_MAJOR, (tsr_uplo)9, 4, 2, a, 4, b, 4), "potrs: uplo = 9");
  REFUSED(tsr_potrs(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, -1, 2, a, 4, b, 4), "potrs: n = -1");
  REFUSED(tsr_potrs(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, -2, a, 4, b, 4), "potrs: nrhs = -2");
  REFUSED(tsr_potrs(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, 2, NULL, 4, b, 4), "potrs: a = NULL");
  REFUSED(tsr_potrs(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, 2, a, 3, b, 4), "potrs: lda = 3");
  REFUSED(tsr_potrs(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, 2, a, 4, NULL, 4), "potrs: b = NULL");
  REFUSED(tsr_potrs(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, 2, a, 4, b, 3), "potrs: ldb = 3");
  REFUSED(tsr_potrs(c, TSR_D, TSR_ROW_MAJOR, TSR_LOWER, 4, 2, a, 4, b, 1), "potrs: ldb = 1");
  REFUSED(tsr_potrs(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, 2, a, 4, a + 8, 4), "overlaps");
  REFUSED(tsr_posv(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, 2, a, 4, b, 4, NULL), "posv: info");
  REFUSED(
      tsr_trtrs(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, (tsr_op)5, TSR_UNIT, 4, 2, a, 4, b, 4, &info),
      "trtrs: trans = 5");
  REFUSED(tsr_trtri(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, (tsr_diag)5, 4, a, 4, &info),
          "trtri: diag = 5");
  REFUSED(tsr_potri(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, a, 4, NULL), "potri: info");
  REFUSED(tsr_pocon(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, a, 3, 1, &rcond), "pocon: lda = 3");
  REFUSED(tsr_pocon(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, a, 4, -1, &rcond), "pocon: anorm = -1");
  REFUSED(tsr_pocon(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, a, 4, NAN, &rcond), "anorm = nan");
  REFUSED(tsr_pocon(c, TSR_D, TSR_COL_MAJOR, TSR_LOWER, 4, a, 4, 1, NULL), "rcond = NULL");
  assert_int_equal(info, 7);
  tsr_context_destroy(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_on_cpu),
                                     cmocka_unit_test(test_on_devices),
                                     cmocka_unit_test(test_by_halves),
                                     cmocka_unit_test(test_with_little),
                                     cmocka_unit_test(test_info),
                                     cmocka_unit_test(test_on_a_device),
                                     cmocka_unit_test(test_empty),
                                     cmocka_unit_test(test_condition),
                                     cmocka_unit_test(test_condition_of_full),
                                     cmocka_unit_test(test_arguments)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
