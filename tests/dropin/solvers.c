/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that knows nothing of Tessera: it solves and inverts with the LAPACK that it is linked
 * with. Arguments: which way, and the order of its matrices. Exits 0 when all results are right.
 *
 * All is made of a lower triangle L with a strong diagonal: A = L L^H, and its factor is L, or L^H
 * as an upper one. What a routine has no business with is NaN: the other triangle, rows beyond the
 * order, and a unit diagonal.
 */
#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 600, COLUMNS = 37, TYPES = 4 };
enum { POTRS, POSV, TRTRS, POTRI, TRTRI, ROUTINES };
static const char *const names[ROUTINES] = {"potrs", "posv", "trtrs", "potri", "trtri"};
static const char letters[TYPES] = {'s', 'd', 'c', 'z'};
static const double epsilon[TYPES] = {0x1p-24, 0x1p-53, 0x1p-24, 0x1p-53};

/* ---- Calls ---- */

/* How a routine is called. The spelling: a prefix, and a suffix that tells the width. */
typedef struct call {
  const char *before, *behind;
  int routine, type;
  char uplo, trans, diag;
  int64_t n, nrhs, lda, ldb;
} call;

static int has_b(const call *x) {
  return x->routine == POTRS || x->routine == POSV || x->routine == TRTRS;
}

static void *look_up(const call *x) {
  char name[32];
  snprintf(name, sizeof name, "%s%c%s%s", x->before, letters[x->type], names[x->routine],
           x->behind);
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == NULL) exit(3);
  return symbol;
}

typedef void (*with_b)(const char *uplo, const void *n, const void *nrhs, void *a, const void *lda,
                       void *b, const void *ldb, void *info, size_t);
typedef void (*triangular)(const char *uplo, const char *trans, const char *diag, const void *n,
                           const void *nrhs, void *a, const void *lda, void *b, const void *ldb,
                           void *info, size_t, size_t, size_t);
typedef void (*inverse)(const char *uplo, const void *n, void *a, const void *lda, void *info,
                        size_t);
typedef void (*triangle_inverse)(const char *uplo, const char *diag, const void *n, void *a,
                                 const void *lda, void *info, size_t, size_t);

/* The integers are 32 or 64 bits wide; the processor is little-endian, so that both read the
 * same. */
static void call_it(const call *x, void *a, void *b, void *info) {
  void *symbol = look_up(x);
  with_b solve;
  triangular solve_triangle;
  inverse invert;
  triangle_inverse invert_triangle;
  memcpy(&solve, &symbol, sizeof solve);
  memcpy(&solve_triangle, &symbol, sizeof solve_triangle);
  memcpy(&invert, &symbol, sizeof invert);
  memcpy(&invert_triangle, &symbol, sizeof invert_triangle);
  switch (x->routine) {
    case POTRS:
    case POSV:
      solve(&x->uplo, &x->n, &x->nrhs, a, &x->lda, b, &x->ldb, info, 1);
      break;
    case TRTRS:
      solve_triangle(&x->uplo, &x->trans, &x->diag, &x->n, &x->nrhs, a, &x->lda, b, &x->ldb, info,
                     1, 1, 1);
      break;
    case POTRI:
      invert(&x->uplo, &x->n, a, &x->lda, info, 1);
      break;
    default:
      invert_triangle(&x->uplo, &x->diag, &x->n, a, &x->lda, info, 1, 1);
  }
}

static long run(const call *x, void *a, void *b) {
  int32_t narrow = -99;
  int64_t wide = -99;
  int is_wide = strcmp(x->behind, "_64_") == 0;
  call_it(x, a, b, is_wide ? (void *)&wide : &narrow);
  return is_wide ? (long)wide : narrow;
}

/* ---- Matrices ---- */

static _Alignas(16) char a[(MOST + 3) * MOST * sizeof(double complex)], former_a[sizeof a];
static _Alignas(16) char b[(MOST + 5) * COLUMNS * sizeof(double complex)], former_b[sizeof b];
static double complex lower[MOST * MOST]; /* L */
static double complex right[MOST * COLUMNS];

static void put(const call *x, void *matrix, int64_t at, double complex value) {
  if (x->type == 0) ((float *)matrix)[at] = (float)creal(value);
  if (x->type == 1) ((double *)matrix)[at] = creal(value);
  if (x->type == 2) ((float complex *)matrix)[at] = (float complex)value;
  if (x->type == 3) ((double complex *)matrix)[at] = value;
}

static double complex get(const call *x, const void *matrix, int64_t at) {
  if (x->type == 0) return (double)((const float *)matrix)[at];
  if (x->type == 1) return ((const double *)matrix)[at];
  if (x->type == 2) return (double complex)((const float complex *)matrix)[at];
  return ((const double complex *)matrix)[at];
}

/* A number from -1 to 1, exact in a float; of real types without an imaginary part. */
static double complex draw(const call *x) {
  static uint64_t state = 1;
  double part[2];
  for (int i = 0; i < 2; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    part[i] = (double)(state >> 44) * 0x1p-19 - 1;
  }
  return x->type < 2 ? part[0] : part[0] + part[1] * I;
}

/* Rounded to the type, so that the program's L is the routine's. */
static double complex rounded(const call *x, double complex value) {
  double complex held[1];
  put(x, held, 0, value);
  return get(x, held, 0);
}

static void draw_lower(const call *x) {
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->n; i++) {
      double complex value = draw(x) / (double)x->n;
      lower[i + j * x->n] = rounded(x, i > j ? value : i == j ? 2 + creal(draw(x)) / 2 : 0);
    }
}

/* Element (i, j) of A = L L^H. */
static double complex product(const call *x, int64_t i, int64_t j) {
  double complex sum = 0;
  for (int64_t k = 0; k <= i && k <= j; k++) sum += lower[i + k * x->n] * conj(lower[j + k * x->n]);
  return sum;
}

static int is_used(const call *x, int64_t i, int64_t j) {
  int has_diagonal = x->diag != 'U' || (x->routine != TRTRS && x->routine != TRTRI);
  if (i >= x->n) return 0;
  return i == j ? has_diagonal : (x->uplo == 'L') == (i > j);
}

/* The triangle that the routine is given: of A, or L, or L^H. */
static double complex given(const call *x, int64_t i, int64_t j) {
  if (x->routine == POSV) return product(x, i, j);
  return x->uplo == 'L' ? lower[i + j * x->n] : conj(lower[j + i * x->n]);
}

static void fill(const call *x) {
  draw_lower(x);
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->lda; i++)
      put(x, a, i + j * x->lda, is_used(x, i, j) ? given(x, i, j) : NAN);
  for (int64_t j = 0; j < x->nrhs; j++)
    for (int64_t i = 0; i < x->ldb; i++)
      put(x, b, i + j * x->ldb, i < x->n ? (right[i + j * x->n] = draw(x)) : NAN);
  memcpy(former_a, a, sizeof a);
  memcpy(former_b, b, sizeof b);
}

/* ---- What is right ---- */

/* y = op(L) v, with the diagonal that the routine sees. */
static void times_lower(const call *x, int adjoint, int unit, const double complex *v,
                        double complex *y) {
  for (int64_t i = 0; i < x->n; i++) {
    y[i] = unit ? v[i] : 0;
    for (int64_t k = 0; k < x->n; k++) {
      double complex l = adjoint ? conj(lower[k + i * x->n]) : lower[i + k * x->n];
      if (!unit || i != k) y[i] += l * v[k];
    }
  }
}

/* y = M v: M is A, or of triangular routines op(T), T being L or L^H. */
static void times_given(const call *x, char trans, const double complex *v, double complex *y) {
  static double complex between[MOST], turned[MOST];
  int unit = x->diag == 'U', adjoint = (x->uplo == 'U') != (trans != 'N');
  if (x->routine != TRTRS && x->routine != TRTRI) {
    times_lower(x, 1, 0, v, between);
    times_lower(x, 0, 0, between, y);
    return;
  }
  for (int64_t i = 0; i < x->n; i++) turned[i] = trans == 'T' ? conj(v[i]) : v[i];
  times_lower(x, adjoint, unit, turned, y);
  for (int64_t i = 0; i < x->n && trans == 'T'; i++) y[i] = conj(y[i]);
}

static int is_near(const call *x, const double complex *y, const double complex *z) {
  double most = 0;
  for (int64_t i = 0; i < x->n; i++)
    if (!(cabs(y[i] - z[i]) <= most)) most = cabs(y[i] - z[i]);
  return most <= 50 * (double)x->n * epsilon[x->type];
}

static int is_solution(const call *x) {
  static double complex column[MOST], back[MOST];
  int good = 1;
  for (int64_t j = 0; j < x->nrhs; j++) {
    for (int64_t i = 0; i < x->n; i++) column[i] = get(x, b, i + j * x->ldb);
    times_given(x, x->trans, column, back);
    good &= is_near(x, back, right + j * x->n);
  }
  return good;
}

/* An element of the inverse, of which A holds a triangle. */
static double complex inverse_at(const call *x, int64_t i, int64_t j) {
  if (is_used(x, i, j)) return get(x, a, i + j * x->lda);
  if (x->routine == POTRI) return conj(get(x, a, j + i * x->lda));
  return i == j ? 1 : 0;
}

/* Whether the inverse takes M v back to v. */
static int is_inverse(const call *x) {
  static double complex v[MOST], y[MOST], back[MOST];
  for (int64_t i = 0; i < x->n; i++) v[i] = draw(x);
  times_given(x, 'N', v, y);
  for (int64_t i = 0; i < x->n; i++) {
    back[i] = 0;
    for (int64_t k = 0; k < x->n; k++) back[i] += inverse_at(x, i, k) * y[k];
  }
  return is_near(x, back, v);
}

/* Whether the triangle is L, or L^H, as posv leaves it. */
static int is_factor(const call *x) {
  double most = 0;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = j; i < x->n; i++) {
      double complex held =
          x->uplo == 'L' ? get(x, a, i + j * x->lda) : conj(get(x, a, j + i * x->lda));
      double off = cabs(held - lower[i + j * x->n]);
      if (!(off <= most)) most = off;
    }
  return most <= 50 * (double)x->n * epsilon[x->type];
}

static int is_rest_untouched(const call *x) {
  int untouched = 1;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->lda; i++)
      untouched &= is_used(x, i, j) || isnan(creal(get(x, a, i + j * x->lda)));
  for (int64_t j = 0; j < x->nrhs; j++)
    for (int64_t i = x->n; i < x->ldb; i++) untouched &= isnan(creal(get(x, b, i + j * x->ldb)));
  return untouched;
}

static int is_same(const void *now, const void *former, size_t size) {
  return memcmp(now, former, size) == 0;
}

/* Whether the routine has written only what it returns. */
static int is_tidy(const call *x) {
  int reads_a = x->routine == POTRS || x->routine == TRTRS;
  return is_rest_untouched(x) && (!reads_a || is_same(a, former_a, sizeof a)) &&
         (has_b(x) || is_same(b, former_b, sizeof b));
}

static int tell(const call *x, long info, int good) {
  if (!good)
    fprintf(stderr, "%s%c%s%s %c%c%c %ld x %ld: info %ld\n", x->before, letters[x->type],
            names[x->routine], x->behind, x->uplo, x->trans, x->diag, (long)x->n, (long)x->nrhs,
            info);
  return good;
}

static int is_done(const call *x) {
  fill(x);
  long info = run(x, a, b);
  int right_now = has_b(x) ? is_solution(x) : is_inverse(x);
  if (x->routine == POSV) right_now &= is_factor(x);
  return tell(x, info, info == 0 && right_now && is_tidy(x));
}

/* ---- Ways ---- */

static call call_of(int routine, int type, char uplo, int64_t n) {
  return (call){"", "_", routine, type, uplo, 'N', 'N', n, COLUMNS, n + 3, n + 5};
}

/* With every op and diagonal that the routine has. */
static int flags(call x) {
  int good = 1;
  const char *ops = x.routine == TRTRS ? "NTC" : "N";
  const char *diagonals = x.routine == TRTRS || x.routine == TRTRI ? "NU" : "N";
  for (const char *op = ops; *op != '\0'; op++)
    for (const char *diagonal = diagonals; *diagonal != '\0'; diagonal++) {
      x.trans = *op, x.diag = *diagonal;
      good &= is_done(&x);
    }
  return good;
}

static int results(int64_t n) {
  static const int64_t columns[] = {COLUMNS, 1, 0};
  int good = 1;
  for (int i = 0; i < ROUTINES * TYPES * 2; i++) {
    call x = call_of(i / (2 * TYPES), i / 2 % TYPES, i % 2 == 0 ? 'L' : 'U', n);
    for (size_t c = 0; c < (has_b(&x) ? 3 : 1); c++) {
      x.nrhs = columns[c];
      good &= flags(x);
    }
  }
  return good;
}

/* Nothing is touched, but info. */
static int empty(int64_t n) {
  int good = 1;
  (void)n;
  for (int i = 0; i < ROUTINES * TYPES; i++) {
    call x = call_of(i / TYPES, i % TYPES, 'L', 0);
    x.nrhs = 0;
    fill(&x);
    long info = run(&x, a, b);
    good &= tell(&x, info, info == 0 && is_tidy(&x));
  }
  return good;
}

/* posv without a factor, whose info is the first minor that has none: B is as it was. */
static int indefinite(int64_t n) {
  const int64_t bad[] = {1, 16, 17, n};
  int good = 1;
  for (int i = 0; i < 4 * TYPES * 2; i++) {
    call x = call_of(POSV, i / 2 % TYPES, i % 2 == 0 ? 'L' : 'U', n);
    int64_t place = bad[i / (2 * TYPES)] - 1;
    fill(&x);
    put(&x, a, place * (x.lda + 1), -1);
    long info = run(&x, a, b);
    good &= tell(&x, info, info == place + 1 && is_tidy(&x) && is_same(b, former_b, sizeof b));
  }
  return good;
}

/* A zero on the diagonal: nothing is changed, and info tells the first. potrs takes any factor. */
static int singular(int64_t n) {
  const int64_t bad[] = {1, 17, n};
  int good = 1;
  for (int i = 0; i < 3 * TYPES * 6; i++) {
    call x = call_of(TRTRS + i / 2 % 3, i / 6 % TYPES, i % 2 == 0 ? 'L' : 'U', n);
    int64_t place = bad[i / (6 * TYPES)] - 1;
    fill(&x);
    put(&x, a, (n - 1) * (x.lda + 1), 0);
    put(&x, a, place * (x.lda + 1), 0);
    memcpy(former_a, a, sizeof a);
    long info = run(&x, a, b);
    good &=
        tell(&x, info,
             info == place + 1 && is_same(a, former_a, sizeof a) && is_same(b, former_b, sizeof b));
  }
  return good;
}

/* By names that no LAPACK here has, but those of Python's wheels. */
static int other_names(int64_t n) {
  static const char *const spellings[][2] = {{"scipy_", "_"}, {"", "_64_"}, {"scipy_", "_64_"}};
  int good = 1;
  for (int i = 0; i < ROUTINES * TYPES * 3; i++) {
    call x = call_of(i / (3 * TYPES), i / 3 % TYPES, i % 2 == 0 ? 'L' : 'U', n);
    x.before = spellings[i % 3][0], x.behind = spellings[i % 3][1];
    good &= is_done(&x);
  }
  return good;
}

/* ---- Wrong arguments ---- */

void xerbla_(const char *name, const int *position, size_t length);

void xerbla_(const char *name, const int *position, size_t length) {
  printf("told %.*s %d\n", (int)length, name, *position);
}

/* Each argument of a routine once, for the caller to compare with what is told without us. */
static void call_wrongly(const call *right_call) {
  for (int i = 0; i < 7; i++) {
    call x = *right_call;
    if (i == 0) x.uplo = '/';
    if (i == 1) x.trans = '/';
    if (i == 2) x.diag = '/';
    if (i == 3) x.n = -1;
    if (i == 4) x.nrhs = -1;
    if (i == 5) x.lda = x.n - 1;
    if (i == 6) x.ldb = x.n - 1;
    long info = run(&x, a, b);
    if (info < 0) printf("%s info %ld\n", names[x.routine], info);
  }
}

static int wrong(int64_t n) {
  for (int routine = 0; routine < ROUTINES; routine++) {
    call x = call_of(routine, 1, 'L', n);
    fill(&x);
    call_wrongly(&x);
  }
  return 1;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(int64_t n);
  } ways[] = {{"results", results},         {"empty", empty},
              {"indefinite", indefinite},   {"singular", singular},
              {"other_names", other_names}, {"wrong", wrong}};
  long n = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
  for (size_t i = 0; n > 0 && n <= MOST && i < sizeof ways / sizeof *ways; i++)
    if (strcmp(argv[1], ways[i].name) == 0) return ways[i].run(n) ? 0 : 1;
  return 2;
}
