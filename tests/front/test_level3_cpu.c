/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Every operation, flag, layout and kind of scalar against plain loops over what the matrices mean.
 * Whatever must not be read is NaN; whatever must not be written is compared. */
#include <complex.h>
#include <math.h>

#include "level3.h"

/* Not every C library has CMPLX for every compiler. */
static double complex complex_of(double re, double im) {
  const double parts[2] = {re, im};
  double complex number;
  memcpy(&number, parts, sizeof number);
  return number;
}

typedef double complex number;

enum { A, B, C, PAD = 3 };

/* A stored matrix, and its storage as it was. */
typedef struct matrix {
  char type, layout;
  int64_t rows, cols, ld;
  size_t bytes;
  char *now, *was;
} matrix;

static tsr_context *context;
static uint64_t seed;

static double random_unit(void) { /* in (-1, 1) */
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(seed >> 33) / 0x1p30 - 1;
}

static int is_complex(char type) {
  return type == 'c' || type == 'z';
}

static int is_single(char type) {
  return type == 's' || type == 'c';
}

static size_t size_of(char type) {
  return (is_single(type) ? 4u : 8u) << is_complex(type);
}

static void put(char type, void *at, number value) {
  double parts[2] = {creal(value), cimag(value)};
  float singles[2] = {(float)parts[0], (float)parts[1]};
  memcpy(at, is_single(type) ? (void *)singles : (void *)parts, size_of(type));
}

static number get(char type, const void *at) {
  double parts[2] = {0, 0};
  float singles[2] = {0, 0};
  memcpy(is_single(type) ? (void *)singles : (void *)parts, at, size_of(type));
  return is_single(type) ? complex_of(singles[0], singles[1]) : complex_of(parts[0], parts[1]);
}

static size_t offset_of(const matrix *x, int64_t i, int64_t j) {
  return (size_t)(x->layout == 'C' ? i + j * x->ld : i * x->ld + j) * size_of(x->type);
}

static number element(const matrix *x, int64_t i, int64_t j) {
  return get(x->type, x->was + offset_of(x, i, j));
}

/* All NaN. */
static matrix make(const tsr_level3 *w, int64_t rows, int64_t cols) {
  matrix x = {.type = (char)w->type, .layout = (char)w->layout, .rows = rows, .cols = cols};
  x.ld = (x.layout == 'C' ? rows : cols) + PAD;
  x.bytes = (size_t)(x.ld * (x.layout == 'C' ? cols : rows)) * size_of(x.type);
  x.was = malloc(x.bytes), x.now = malloc(x.bytes);
  assert_true(x.was && x.now);
  for (size_t at = 0; at < x.bytes; at += size_of(x.type))
    put(x.type, x.was + at, complex_of(NAN, NAN));
  return x;
}

static void drop(matrix *x) {
  free(x->was), free(x->now);
}

static int in_triangle(char uplo, int64_t i, int64_t j) {
  return uplo == 'G' || (uplo == 'L' ? i >= j : i <= j);
}

static void set(matrix *x, int64_t i, int64_t j, number value) {
  put(x->type, x->was + offset_of(x, i, j), value);
}

static number random_number(char type) {
  double re = random_unit(), im = random_unit();
  return complex_of(re, is_complex(type) ? im : 0);
}

static void fill(matrix *x, char uplo) {
  for (int64_t j = 0; j < x->cols; ++j)
    for (int64_t i = 0; i < x->rows; ++i)
      if (in_triangle(uplo, i, j)) set(x, i, j, random_number(x->type));
}

/* ---- What the operations are ---- */

static int sided(const tsr_level3 *w) {
  return w->operation == TSR_SYMM || w->operation == TSR_HEMM || w->operation == TSR_TRMM ||
         w->operation == TSR_TRSM;
}

static int in_place(const tsr_level3 *w) {
  return w->operation == TSR_TRMM || w->operation == TSR_TRSM;
}

static int symmetric(const tsr_level3 *w) {
  return w->operation == TSR_SYMM || w->operation == TSR_HEMM;
}

static int rank_k(const tsr_level3 *w) {
  return w->operation >= TSR_SYRK && w->operation <= TSR_HER2K;
}

static int hermitian(const tsr_level3 *w) {
  return w->operation == TSR_HEMM || w->operation == TSR_HERK || w->operation == TSR_HER2K;
}

static int has_b(const tsr_level3 *w) {
  return !in_place(w) && w->operation != TSR_SYRK && w->operation != TSR_HERK;
}

static char triangle_of_c(const tsr_level3 *w) {
  return w->operation == TSR_GEMMT || rank_k(w) ? (char)w->uplo : 'G';
}

/* Element (i, j) of the matrix that a stored triangle stands for. */
static number meant(const tsr_level3 *w, const matrix *a, int64_t i, int64_t j) {
  int stored = in_triangle((char)w->uplo, i, j);
  if (in_place(w) && i == j && w->diag == TSR_UNIT) return 1;
  if (in_place(w)) return stored ? element(a, i, j) : 0;
  if (hermitian(w) && i == j) return creal(element(a, i, j));
  if (stored) return element(a, i, j);
  number other = element(a, j, i);
  return hermitian(w) ? conj(other) : other;
}

static number turned(tsr_op op, number value) {
  return op == TSR_CONJ_TRANS ? conj(value) : value;
}

/* Element (i, j) of op(A) of any operation. */
static number of_a(const tsr_level3 *w, const matrix *a, int64_t i, int64_t j) {
  if (symmetric(w)) return meant(w, a, i, j);
  int64_t row = w->transa == TSR_NO_TRANS ? i : j, col = w->transa == TSR_NO_TRANS ? j : i;
  return turned(w->transa, in_place(w) ? meant(w, a, row, col) : element(a, row, col));
}

static number of_b(tsr_op op, const matrix *b, int64_t i, int64_t j) {
  return turned(op, op == TSR_NO_TRANS ? element(b, i, j) : element(b, j, i));
}

/* Element (i, j) of alpha times the products, without C. */
static number product(const tsr_level3 *w, number alpha, const matrix m[3], int64_t i, int64_t j) {
  number sum = 0, second = 0;
  const matrix *other = in_place(w) ? &m[C] : &m[B];
  if (rank_k(w)) {
    for (int64_t l = 0; l < w->k; ++l) {
      const matrix *y = has_b(w) ? &m[B] : &m[A];
      number left = of_a(w, &m[A], i, l), right = of_b(w->transa, y, j, l);
      number left2 = of_b(w->transa, y, i, l), right2 = of_a(w, &m[A], j, l);
      sum += left * (hermitian(w) ? conj(right) : right);
      if (has_b(w)) second += left2 * (hermitian(w) ? conj(right2) : right2);
    }
    return alpha * sum + (hermitian(w) ? conj(alpha) : alpha) * second;
  }
  if (!sided(w)) {
    for (int64_t l = 0; l < w->k; ++l) sum += of_a(w, &m[A], i, l) * of_b(w->transb, &m[B], l, j);
  } else if (w->side == TSR_LEFT) {
    for (int64_t l = 0; l < w->m; ++l) sum += of_a(w, &m[A], i, l) * element(other, l, j);
  } else {
    for (int64_t l = 0; l < w->n; ++l) sum += element(other, i, l) * of_a(w, &m[A], l, j);
  }
  return alpha * sum;
}

/* ---- A case ---- */

typedef struct scalars {
  number alpha, beta;
  char alpha_bytes[16], beta_bytes[16];
} scalars;

static number scalar(char class, int real) {
  if (class == '0' || class == '1') return class - '0';
  return real ? 0.75 : complex_of(0.75, -0.5);
}

static scalars make_scalars(const tsr_level3 *w, char alpha, char beta) {
  char type = (char)w->type;
  int real = !is_complex(type), herk = w->operation == TSR_HERK;
  scalars s = {.alpha = scalar(alpha, real || herk),
               .beta = scalar(beta, real || herk || w->operation == TSR_HER2K)};
  put(type, s.alpha_bytes, s.alpha);
  put(type, s.beta_bytes, s.beta);
  return s;
}

/* The diagonal's imaginary parts, which nobody may use. */
static void spoil_diagonal(matrix *x) {
  for (int64_t i = 0; i < x->rows; ++i) set(x, i, i, complex_of(creal(element(x, i, i)), 99));
}

/* Well-conditioned; the diagonal is NaN where it is not read. */
static void fill_triangular(const tsr_level3 *w, matrix *a) {
  for (int64_t j = 0; j < a->cols; ++j)
    for (int64_t i = 0; i < a->rows; ++i) {
      if (!in_triangle((char)w->uplo, i, j)) continue;
      number off = random_number(a->type) / (double)a->rows, on = 2 + random_unit();
      set(a, i, j, i != j ? off : w->diag == TSR_UNIT ? complex_of(NAN, NAN) : on);
    }
}

static void make_matrices(const tsr_level3 *w, const scalars *s, matrix m[3]) {
  int64_t order = w->side == TSR_LEFT ? w->m : w->n, rows = rank_k(w) ? w->n : w->m;
  int plain = w->transa == TSR_NO_TRANS, plain_b = w->transb == TSR_NO_TRANS;
  if (sided(w))
    m[A] = make(w, order, order), m[B] = make(w, w->m, w->n);
  else if (rank_k(w))
    m[A] = make(w, plain ? rows : w->k, plain ? w->k : rows), m[B] = make(w, m[A].rows, m[A].cols);
  else
    m[A] = make(w, plain ? w->m : w->k, plain ? w->k : w->m),
    m[B] = make(w, plain_b ? w->k : w->n, plain_b ? w->n : w->k);
  m[C] = make(w, w->m, w->n);
  if (in_place(w))
    fill_triangular(w, &m[A]);
  else
    fill(&m[A], symmetric(w) ? (char)w->uplo : 'G');
  fill(&m[B], 'G');
  if (s->beta != 0 || (in_place(w) && s->alpha != 0)) fill(&m[C], triangle_of_c(w));
  if (w->operation == TSR_HEMM) spoil_diagonal(&m[A]);
  if (rank_k(w) && hermitian(w) && s->beta != 0) spoil_diagonal(&m[C]);
}

static void describe(const tsr_level3 *w, const scalars *s, char text[200]) {
  snprintf(text, 200,
           "%s type %c layout %c side %c uplo %c trans %c%c diag %c %lld x %lld x %lld "
           "alpha %g%+gi beta %g%+gi",
           tsr_operation_name(w->operation), w->type, w->layout, w->side, w->uplo, w->transa,
           w->transb, w->diag, (long long)w->m, (long long)w->n, (long long)w->k, creal(s->alpha),
           cimag(s->alpha), creal(s->beta), cimag(s->beta));
}

static number wanted(const tsr_level3 *w, const scalars *s, const matrix m[3], int64_t i,
                     int64_t j) {
  number old = s->beta == 0 || in_place(w) ? 0 : element(&m[C], i, j);
  if (i == j && rank_k(w) && hermitian(w)) old = creal(old);
  return (s->alpha == 0 ? 0 : product(w, s->alpha, m, i, j)) + s->beta * old;
}

/* trsm: the product with what came out must be alpha B. */
static number solved(const tsr_level3 *w, const matrix m[3], int64_t i, int64_t j) {
  matrix out[3] = {m[A], m[B], m[C]};
  out[C].was = m[C].now;
  return product(w, 1, out, i, j);
}

static void compare(const tsr_level3 *w, const scalars *s, const matrix m[3]) {
  char text[200];
  int no_product = s->alpha == 0 || (!sided(w) && w->k == 0);
  int unchanged = !in_place(w) && no_product && s->beta == 1;
  double bound = (is_single((char)w->type) ? 0x1p-23 : 0x1p-52) * 8 * (double)(w->k + w->m + 8);
  describe(w, s, text);
  for (int64_t j = 0; j < w->n; ++j)
    for (int64_t i = 0; i < w->m; ++i) {
      if (!in_triangle(triangle_of_c(w), i, j)) continue;
      int solve = w->operation == TSR_TRSM && s->alpha != 0;
      number got = get(m[C].type, m[C].now + offset_of(&m[C], i, j)), is = got;
      number must = solve       ? s->alpha * element(&m[C], i, j)
                    : unchanged ? element(&m[C], i, j)
                                : wanted(w, s, m, i, j);
      if (solve) is = solved(w, m, i, j);
      if (!(cabs(is - must) <= bound))
        fail_msg("%s: C(%lld,%lld) is %g%+gi, must be %g%+gi", text, (long long)i, (long long)j,
                 creal(is), cimag(is), creal(must), cimag(must));
      if (i == j && !unchanged && rank_k(w) && hermitian(w) && cimag(got) != 0)
        fail_msg("%s: the diagonal is not real", text);
    }
}

/* Beside the triangle of C all must be as it was. */
static void check_rest(const tsr_level3 *w, const scalars *s, const matrix m[3]) {
  char text[200];
  describe(w, s, text);
  for (int64_t j = 0; j < w->n; ++j)
    for (int64_t i = 0; i < w->m; ++i)
      if (in_triangle(triangle_of_c(w), i, j)) {
        size_t at = offset_of(&m[C], i, j);
        memcpy(m[C].now + at, m[C].was + at, size_of(m[C].type));
      }
  for (int x = A; x <= C; ++x)
    if (memcmp(m[x].now, m[x].was, m[x].bytes) != 0) fail_msg("%s: %c was changed", text, "ABC"[x]);
}

static tsr_status by_plan(const tsr_level3 *w, const level3_data *x) {
  tsr_home homes[3] = {{TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}};
  tsr_plan *plan;
  tsr_status status = tsr_plan_level3(context, w, x->alpha, x->beta, homes, &plan);
  if (status != TSR_OK) return status;
  status = tsr_plan_execute(plan, x->alpha, x->a, x->b, x->beta, x->c);
  tsr_plan_destroy(plan);
  return status;
}

/* What asynchronous calls leave on devices comes home, and their memory may become another's. */
static tsr_status take_home(const tsr_level3 *w, const level3_data *x) {
  int rows = w->layout == TSR_ROW_MAJOR;
  tsr_status status = tsr_coherent_async(context, TSR_GENERAL, rows ? w->n : w->m,
                                         rows ? w->m : w->n, x->c, w->ldc, w->type);
  if (status == TSR_OK) status = tsr_sync(context);
  return status == TSR_OK ? tsr_release(context, 0, 0, NULL, 1, w->type) : status;
}

/* Doors in turn; plans, too, where there are any for every operation. */
static tsr_status call_door(const tsr_level3 *w, const level3_data *x) {
  static int turn;
  int plans = tsr_device_count(context) == 0, door = turn++ % (4 + plans);
  if (door == 4) return by_plan(w, x);
  tsr_status status = level3_call(context, (level3_door)door, w, x);
  return status == TSR_OK ? take_home(w, x) : status;
}

static void try(tsr_level3 w, char alpha, char beta) {
  matrix m[3];
  char text[200];
  scalars s = make_scalars(&w, alpha, beta);
  if (triangle_of_c(&w) != 'G') w.m = w.n;
  make_matrices(&w, &s, m);
  for (int x = A; x <= C; ++x) memcpy(m[x].now, m[x].was, m[x].bytes);
  w.lda = m[A].ld, w.ldb = m[B].ld, w.ldc = m[C].ld;
  level3_data data = {s.alpha_bytes, m[A].now, has_b(&w) ? m[B].now : NULL,
                      in_place(&w) ? NULL : s.beta_bytes, m[C].now};
  describe(&w, &s, text);
  if (call_door(&w, &data) != TSR_OK) fail_msg("%s: %s", text, tsr_message());
  compare(&w, &s, m);
  check_rest(&w, &s, m);
  for (int x = A; x <= C; ++x) drop(&m[x]);
}

/* ---- All of them ---- */

static void try_scalars(const tsr_level3 *w) {
  for (const char *alpha = "01x"; *alpha; ++alpha)
    for (const char *beta = "01x"; *beta; ++beta) {
      if (in_place(w) && *beta != '1') continue;
      try(*w, *alpha, *beta);
    }
}

static void try_shapes(tsr_level3 w) {
  static const int shapes[][3] = {{1, 1, 1}, {5, 7, 4}, {7, 5, 9}, {17, 16, 0}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    w.m = shapes[i][0], w.n = shapes[i][1], w.k = shapes[i][2];
    try_scalars(&w);
  }
}

static int takes(const tsr_level3 *w) {
  if (!is_complex((char)w->type))
    return w->operation != TSR_HEMM && w->operation != TSR_HERK && w->operation != TSR_HER2K;
  if (rank_k(w)) return w->transa != (hermitian(w) ? TSR_TRANS : TSR_CONJ_TRANS);
  return 1;
}

/* All flags that the operation has. */
static void try_flags(tsr_level3 w) {
  const char *sides = sided(&w) ? "LR" : "L", *uplos = w.operation == TSR_GEMM ? "G" : "LU";
  const char *transas = symmetric(&w) ? "N" : "NTC", *diags = in_place(&w) ? "NU" : "N";
  const char *transbs = w.operation == TSR_GEMM || w.operation == TSR_GEMMT ? "NTC" : "N";
  for (const char *side = sides; *side; ++side)
    for (const char *uplo = uplos; *uplo; ++uplo)
      for (const char *transa = transas; *transa; ++transa)
        for (const char *transb = transbs; *transb; ++transb)
          for (const char *diag = diags; *diag; ++diag) {
            w.side = (tsr_side)*side, w.uplo = (tsr_uplo)*uplo, w.diag = (tsr_diag)*diag;
            w.transa = (tsr_op)*transa, w.transb = (tsr_op)*transb;
            if (takes(&w)) try_shapes(w);
          }
}

static void try_operation(tsr_operation operation) {
  for (const char *type = "sdcz"; *type; ++type)
    for (const char *layout = "CR"; *layout; ++layout)
      try_flags((tsr_level3){
          .operation = operation, .type = (tsr_type)*type, .layout = (tsr_layout)*layout});
}

#define DEFINE_TEST(name, operation)      \
  static void test_##name(void **state) { \
    (void)state;                          \
    try_operation(operation);             \
  }

DEFINE_TEST(gemm, TSR_GEMM)
DEFINE_TEST(gemmt, TSR_GEMMT)
DEFINE_TEST(symm, TSR_SYMM)
DEFINE_TEST(hemm, TSR_HEMM)
DEFINE_TEST(syrk, TSR_SYRK)
DEFINE_TEST(herk, TSR_HERK)
DEFINE_TEST(syr2k, TSR_SYR2K)
DEFINE_TEST(her2k, TSR_HER2K)
DEFINE_TEST(trmm, TSR_TRMM)
DEFINE_TEST(trsm, TSR_TRSM)

/* Larger than the squares that gemmt's triangles are cut from. */
static void test_large_gemmt(void **state) {
  (void)state;
  tsr_level3 w = {.operation = TSR_GEMMT, .side = TSR_LEFT, .diag = TSR_NON_UNIT, .n = 301, .k = 5};
  for (const char *type = "sz"; *type; ++type)
    for (const char *trans = "NTC"; *trans; ++trans)
      for (const char *layout = "CR"; *layout; ++layout)
        for (const char *uplo = "LU"; *uplo; ++uplo) {
          w.type = (tsr_type)*type, w.layout = (tsr_layout)*layout, w.uplo = (tsr_uplo)*uplo;
          w.transa = (tsr_op)*trans, w.transb = *trans == 'N' ? TSR_CONJ_TRANS : TSR_NO_TRANS;
          try(w, 'x', 'x');
          try(w, '1', '0');
        }
}

/* On a context with devices. */
static void test_devices(void **state) {
  (void)state;
  tsr_context *kept = context;
  context = front_context();
  for (int o = 0; o < TSR_OPERATION_COUNT; ++o)
    try_shapes((tsr_level3){.operation = (tsr_operation)o,
                            .type = TSR_Z,
                            .layout = TSR_ROW_MAJOR,
                            .side = TSR_RIGHT,
                            .uplo = o == TSR_GEMM ? TSR_GENERAL : TSR_UPPER,
                            .transa = TSR_NO_TRANS,
                            .transb = TSR_NO_TRANS,
                            .diag = TSR_NON_UNIT});
  tsr_context_destroy(context);
  context = kept;
}

static int make_cpu(void **state) {
  (void)state;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  front_clear_environment();
  options.engine = "cpu";
  assert_ok(tsr_context_create(&options, &context));
  return 0;
}

static int end(void **state) {
  (void)state;
  tsr_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gemm),        cmocka_unit_test(test_gemmt),
      cmocka_unit_test(test_symm),        cmocka_unit_test(test_hemm),
      cmocka_unit_test(test_syrk),        cmocka_unit_test(test_herk),
      cmocka_unit_test(test_syr2k),       cmocka_unit_test(test_her2k),
      cmocka_unit_test(test_trmm),        cmocka_unit_test(test_trsm),
      cmocka_unit_test(test_large_gemmt), cmocka_unit_test(test_devices),
  };
  return cmocka_run_group_tests(tests, make_cpu, end);
}
