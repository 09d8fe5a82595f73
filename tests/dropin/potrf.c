/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that knows nothing of Tessera: it factors matrices with the LAPACK that it is linked
 * with, in every type and either triangle. Argument: which way. Exits 0 when all results are right.
 */
#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 70, LD = N + 3, BAD = 41 };

typedef void (*potrf)(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t);
typedef void (*potrf_64)(const char *uplo, const int64_t *n, void *a, const int64_t *lda,
                         int64_t *info, size_t);

void spotrf_(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t length);
void dpotrf_(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t length);
void cpotrf_(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t length);
void zpotrf_(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t length);

static const struct {
  char letter;
  size_t bytes;
  double epsilon;
  potrf factor;
} types[] = {{'s', sizeof(float), 0x1p-24, spotrf_},
             {'d', sizeof(double), 0x1p-53, dpotrf_},
             {'c', sizeof(float complex), 0x1p-24, cpotrf_},
             {'z', sizeof(double complex), 0x1p-53, zpotrf_}};
enum { TYPES = 4 };

/* ---- Matrices ---- */

static _Alignas(16) char matrix[LD * N * sizeof(double complex)];

static void put(int type, int i, int j, double complex value) {
  void *at = matrix + (size_t)(i + j * LD) * types[type].bytes;
  if (type == 0) *(float *)at = (float)creal(value);
  if (type == 1) *(double *)at = creal(value);
  if (type == 2) *(float complex *)at = (float complex)value;
  if (type == 3) *(double complex *)at = value;
}

static double complex get(int type, int i, int j) {
  const void *at = matrix + (size_t)(i + j * LD) * types[type].bytes;
  if (type == 0) return (double)*(const float *)at;
  if (type == 1) return *(const double *)at;
  return type == 2 ? (double complex) * (const float complex *)at : *(const double complex *)at;
}

/* An element of a matrix whose diagonal outweighs the rest of each row. */
static double complex element(int type, int i, int j) {
  if (i == j) return 2 * N;
  int row = i > j ? i : j, column = i > j ? j : i;
  double real = ((7 * row + 3 * column) % 11 - 5) / 4.0;
  double imaginary = type < 2 ? 0 : ((5 * row + 2 * column) % 7 - 3) / 4.0;
  return real + (i > j ? imaginary : -imaginary) * I;
}

static int is_used(char uplo, int i, int j) {
  return i < N && (uplo == 'L' ? i >= j : i <= j);
}

/* All elements outside the triangle are NaN. */
static void fill(int type, char uplo) {
  for (int j = 0; j < N; j++)
    for (int i = 0; i < LD; i++) put(type, i, j, is_used(uplo, i, j) ? element(type, i, j) : NAN);
}

static int is_rest_untouched(int type, char uplo) {
  int untouched = 1;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < LD; i++) untouched &= is_used(uplo, i, j) || isnan(creal(get(type, i, j)));
  return untouched;
}

/* An element of the lower factor, or of the conjugate transpose of the upper one. */
static double complex factor_at(int type, char uplo, int i, int j) {
  return uplo == 'L' ? get(type, i, j) : conj(get(type, j, i));
}

static int is_factor(int type, char uplo) {
  double largest = 0;
  for (int j = 0; j < N; j++)
    for (int i = j; i < N; i++) {
      double complex left = element(type, i, j);
      for (int l = 0; l <= j; l++)
        left -= factor_at(type, uplo, i, l) * conj(factor_at(type, uplo, j, l));
      if (!(cabs(left) <= largest)) largest = cabs(left);
    }
  return largest <= 2 * N * types[type].epsilon * 2 * N;
}

/* ---- Ways ---- */

static int is_right(int type, char uplo, long info) {
  int right = info == 0 && is_rest_untouched(type, uplo) && is_factor(type, uplo);
  if (!right) fprintf(stderr, "%cpotrf %c: info %ld\n", types[type].letter, uplo, info);
  return right;
}

static int factors(void) {
  const int n = N, ld = LD;
  int right = 1;
  for (int i = 0; i < 2 * TYPES; i++) {
    int type = i / 2, info = -99;
    char uplo = i % 2 == 0 ? 'L' : 'U', letter = (char)(i < 4 ? uplo : uplo - 'A' + 'a');
    fill(type, uplo);
    types[type].factor(&letter, &n, matrix, &ld, &info, 1);
    right &= is_right(type, uplo, info);
  }
  return right;
}

/* Of matrices that have none. */
static int none(void) {
  const int n = N, ld = LD;
  int right = 1;
  for (int i = 0; i < 2 * TYPES; i++) {
    int type = i / 2, info = -99;
    char uplo = i % 2 == 0 ? 'L' : 'U';
    fill(type, uplo);
    put(type, BAD - 1, BAD - 1, -1);
    types[type].factor(&uplo, &n, matrix, &ld, &info, 1);
    right &= info == BAD && is_rest_untouched(type, uplo);
  }
  return right;
}

static int empty(void) {
  const int n = 0, ld = 1;
  int right = 1;
  for (int type = 0; type < TYPES; type++) {
    int info = -99;
    types[type].factor("L", &n, matrix, &ld, &info, 1);
    right &= info == 0;
  }
  return right;
}

static void *look_up(const char *before, char letter, const char *behind) {
  char name[32];
  snprintf(name, sizeof name, "%s%cpotrf_%s", before, letter, behind);
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == NULL) exit(3);
  return symbol;
}

/* By names that no LAPACK here has, but those of Python's wheels. */
static int other_names(void) {
  const int64_t wide_n = N, wide_ld = LD;
  const int n = N, ld = LD;
  int right = 1;
  for (int type = 0; type < TYPES; type++) {
    int info = -99;
    int64_t wide[2] = {-99, -99};
    potrf of_scipy;
    memcpy(&of_scipy, &(void *){look_up("scipy_", types[type].letter, "")}, sizeof of_scipy);
    fill(type, 'L');
    of_scipy("L", &n, matrix, &ld, &info, 1);
    right &= is_right(type, 'L', info);
    for (int i = 0; i < 2; i++) {
      potrf_64 of_numpy;
      void *symbol = look_up(i == 0 ? "" : "scipy_", types[type].letter, "64_");
      memcpy(&of_numpy, &symbol, sizeof of_numpy);
      fill(type, 'U');
      of_numpy("U", &wide_n, matrix, &wide_ld, &wide[i], 1);
      right &= is_right(type, 'U', (long)wide[i]);
    }
  }
  return right;
}

/* ---- Wrong arguments ---- */

void xerbla_(const char *name, const int *position, size_t length);

void xerbla_(const char *name, const int *position, size_t length) {
  printf("told %.*s %d\n", (int)length, name, *position);
}

/* For the caller to compare with what is told without us. */
static int wrong(void) {
  const int n = N, less = N - 1, ld = LD, negative = -1;
  int info[3] = {-99, -99, -99};
  dpotrf_("/", &n, matrix, &ld, &info[0], 1);
  dpotrf_("L", &negative, matrix, &ld, &info[1], 1);
  dpotrf_("L", &n, matrix, &less, &info[2], 1);
  printf("info %d %d %d\n", info[0], info[1], info[2]);
  return 1;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(void);
  } ways[] = {{"factors", factors},
              {"none", none},
              {"empty", empty},
              {"other_names", other_names},
              {"wrong", wrong}};
  for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++)
    if (strcmp(argv[1], ways[i].name) == 0) return ways[i].run() ? 0 : 1;
  return 2;
}
