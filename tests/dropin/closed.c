/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that opens a library for all to see, calls a routine of it by its name, closes the
 * library, and goes on with another one. Arguments: "blas" or "pblas", and the two libraries; the
 * first one may be a path from here. Exits 0 when all results are right.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

typedef void (*gemm_function)(const char *, const char *, const int *, const int *, const int *,
                              const double *, const double *, const int *, const double *,
                              const int *, const double *, double *, const int *, size_t, size_t);
typedef void (*pgemm_function)(const char *, const char *, const int *, const int *, const int *,
                               const double *, const double *, const int *, const int *,
                               const int *, const double *, const int *, const int *, const int *,
                               const double *, double *, const int *, const int *, const int *);

static int look_up(const char *name, void *function) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static int product(void) {
  const int n = 2;
  const double two = 2, minus = -1, a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  double c[] = {1, 1, 1, 1};
  gemm_function gemm;
  if (!look_up("dgemm_", &gemm)) return 0;
  gemm("N", "N", &n, &n, &n, &two, a, &n, b, &n, &minus, c, &n, 1, 1);
  return c[0] == 45 && c[1] == 67 && c[2] == 61 && c[3] == 91;
}

/* fake_scalapack.c computes nothing. */
static int distributed_product(void) {
  const int one = 1, n = 8, whole[9] = {1, 0, 8, 8, 4, 4, 0, 0, 8};
  const double scalar = 1;
  static double x[64];
  pgemm_function gemm;
  if (!look_up("pdgemm_", &gemm)) return 0;
  gemm("N", "N", &n, &n, &n, &scalar, x, &one, &one, whole, x, &one, &one, whole, &scalar, x, &one,
       &one, whole);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  int (*call)(void) = strcmp(argv[1], "blas") == 0 ? product : distributed_product;
  void *first = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
  if (first == NULL || chdir("/") != 0 || !call() || !call()) return 1;
  dlclose(first);
  if (dlopen(argv[3], RTLD_NOW | RTLD_GLOBAL) == NULL) return 1;
  return call() && call() ? 0 : 1;
}
