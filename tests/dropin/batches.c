/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that multiplies in batches, through each of the symbols for doubles. Prints how many
 * calls and products its BLAS (batch_blas.c, if it is that) was given, and exits 0 if all results
 * are right. Arguments: none; "wide": also with 64-bit integers; "empty": a batch without groups;
 * "wrong": calls with wrong arguments, after which C is as before.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { COL_MAJOR = 102, ROW_MAJOR = 101, NO_TRANS = 111, MOST = 40, PRODUCTS = 9, GROUPS = 4 };

/* Groups: some of their products are small, the second group is empty. */
static const int sizes[GROUPS] = {3, 0, 2, 4}, extents[GROUPS] = {5, 7, MOST, 6};

static double a[PRODUCTS][MOST * MOST], b[PRODUCTS][MOST * MOST], c[PRODUCTS][MOST * MOST],
    before[PRODUCTS][MOST * MOST];
static const double *of_a[PRODUCTS], *of_b[PRODUCTS];
static double *of_c[PRODUCTS];

static void *look_up(const char *name) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == NULL) fprintf(stderr, "no %s\n", name);
  return symbol;
}

static void fill(void) {
  for (int p = 0; p < PRODUCTS; p++) {
    of_a[p] = a[p], of_b[p] = b[p], of_c[p] = c[p];
    for (int i = 0; i < MOST * MOST; i++) {
      a[p][i] = (double)((i * 7 + p) % 11 - 5);
      b[p][i] = (double)((i * 5 + 3 * p) % 13 - 6);
      before[p][i] = c[p][i] = (double)((i + p) % 9 - 4);
    }
  }
}

/* Whether one C is 2 A B - C, with all leading dimensions `ld`, in rows or columns. */
static int is_right(int p, int n, int ld, int rows, double alpha) {
  int right = 1;
  for (int j = 0; j < MOST; j++)
    for (int i = 0; i < MOST; i++) {
      int at = rows ? i * MOST + j : i + j * MOST;
      if (ld != MOST) continue;
      double sum = 0;
      for (int l = 0; l < n; l++)
        sum += (rows ? a[p][i * ld + l] : a[p][i + l * ld]) *
               (rows ? b[p][l * ld + j] : b[p][l + j * ld]);
      double want = i < n && j < n ? alpha * sum - before[p][at] : before[p][at];
      right &= c[p][at] == want;
    }
  return right;
}

static int all_right(int rows) {
  int right = 1, p = 0;
  for (int g = 0; g < GROUPS; g++)
    for (int i = 0; i < sizes[g]; i++, p++) right &= is_right(p, extents[g], MOST, rows, g + 2);
  return right;
}

/* ---- In groups ---- */

#define IN_GROUPS(INT, name, symbol_of_fortran, symbol_of_c)                                      \
  static int name(int fortran, int rows) {                                                        \
    INT n[GROUPS], ld[GROUPS], size[GROUPS], groups = GROUPS;                                     \
    double alpha[GROUPS], beta[GROUPS];                                                           \
    int flags[GROUPS];                                                                            \
    for (int g = 0; g < GROUPS; g++) {                                                            \
      n[g] = extents[g], ld[g] = MOST, size[g] = sizes[g], flags[g] = NO_TRANS;                   \
      alpha[g] = g + 2, beta[g] = -1;                                                             \
    }                                                                                             \
    void (*f)(const char *, const char *, const INT *, const INT *, const INT *, const double *,  \
              const double **, const INT *, const double **, const INT *, const double *,         \
              double **, const INT *, const INT *, const INT *, size_t, size_t);                  \
    void (*of_cblas)(int, const int *, const int *, const INT *, const INT *, const INT *,        \
                     const double *, const double **, const INT *, const double **, const INT *,  \
                     const double *, double **, const INT *, INT, const INT *);                   \
    void *symbol = look_up(fortran ? symbol_of_fortran : symbol_of_c);                            \
    if (symbol == NULL) return 0;                                                                 \
    memcpy(&f, &symbol, sizeof f);                                                                \
    memcpy(&of_cblas, &symbol, sizeof of_cblas);                                                  \
    fill();                                                                                       \
    if (fortran)                                                                                  \
      f("NNNN", "NNNN", n, n, n, alpha, of_a, ld, of_b, ld, beta, of_c, ld, &groups, size, 1, 1); \
    else                                                                                          \
      of_cblas(rows ? ROW_MAJOR : COL_MAJOR, flags, flags, n, n, n, alpha, of_a, ld, of_b, ld,    \
               beta, of_c, ld, groups, size);                                                     \
    return all_right(rows);                                                                       \
  }
IN_GROUPS(int32_t, in_groups, "dgemm_batch_", "cblas_dgemm_batch")
IN_GROUPS(int64_t, in_groups_64, "dgemm_batch_64_", "scipy_cblas_dgemm_batch64_")

/* ---- At distances ---- */

static int at_distances(int fortran, int rows) {
  const int n = 30, ld = MOST, stride = MOST * MOST, size = PRODUCTS;
  const double two = 2, minus = -1;
  void (*f)(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const int *, const double *, const int *, const int *,
            const double *, double *, const int *, const int *, const int *, size_t, size_t);
  void (*of_cblas)(int, int, int, int, int, int, double, const double *, int, int, const double *,
                   int, int, double, double *, int, int, int);
  void *symbol = look_up(fortran ? "dgemm_batch_strided_" : "cblas_dgemm_batch_strided");
  if (symbol == NULL) return 0;
  memcpy(&f, &symbol, sizeof f);
  memcpy(&of_cblas, &symbol, sizeof of_cblas);
  fill();
  if (fortran)
    f("N", "N", &n, &n, &n, &two, a[0], &ld, &stride, b[0], &ld, &stride, &minus, c[0], &ld,
      &stride, &size, 1, 1);
  else
    of_cblas(rows ? ROW_MAJOR : COL_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 2, a[0], ld, stride, b[0],
             ld, stride, -1, c[0], ld, stride, size);
  int right = 1;
  for (int p = 0; p < PRODUCTS; p++) right &= is_right(p, n, MOST, rows, 2);
  return right;
}

/* ---- Wrong arguments ---- */

/* The last group is wrong: nothing of the others may be done either. */
static int wrong(void) {
  const int n[2] = {MOST, -1}, ld[2] = {MOST, MOST}, size[2] = {1, 1},
            flags[2] = {NO_TRANS, NO_TRANS};
  const double two[2] = {2, 2}, minus[2] = {-1, -1};
  void (*of_cblas)(int, const int *, const int *, const int *, const int *, const int *,
                   const double *, const double **, const int *, const double **, const int *,
                   const double *, double **, const int *, int, const int *);
  void *symbol = look_up("cblas_dgemm_batch");
  if (symbol == NULL) return 0;
  memcpy(&of_cblas, &symbol, sizeof of_cblas);
  fill();
  of_cblas(COL_MAJOR, flags, flags, n, n, n, two, of_a, ld, of_b, ld, minus, of_c, ld, 2, size);
  return memcmp(c, before, sizeof c) == 0;
}

/* A batch without groups, behind which others are offloaded as ever. */
static int empty(void) {
  void (*of_cblas)(int, const int *, const int *, const int *, const int *, const int *,
                   const double *, const double **, const int *, const double **, const int *,
                   const double *, double **, const int *, int, const int *);
  void *symbol = look_up("cblas_dgemm_batch");
  if (symbol == NULL) return 0;
  memcpy(&of_cblas, &symbol, sizeof of_cblas);
  of_cblas(COL_MAJOR, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           0, NULL);
  return in_groups(0, 0);
}

static void show(const char *name) {
  const int *number = dlsym(RTLD_DEFAULT, name);
  if (number != NULL) printf("%s %d\n", name, *number);
}

int main(int argc, char **argv) {
  int right = 1;
  if (argc == 2 && strcmp(argv[1], "wrong") == 0) {
    right = wrong();
  } else if (argc == 2 && strcmp(argv[1], "empty") == 0) {
    right = empty();
  } else {
    for (int way = 0; way < 3; way++)
      right &= in_groups(way == 0, way == 2) & at_distances(way == 0, way == 2);
    if (argc == 2 && strcmp(argv[1], "wide") == 0) right &= in_groups_64(1, 0) & in_groups_64(0, 1);
  }
  show("batch_calls");
  show("batch_products");
  show("batch_wrong");
  return right ? 0 : 1;
}
