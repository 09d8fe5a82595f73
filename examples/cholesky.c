/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Blocked Cholesky factorisation A = L L^T of a symmetric positive definite matrix in pinned host
 * memory, lower triangle, column-major, right-looking. The CPU's LAPACK factors the blocks on the
 * diagonal, one step ahead of the devices; all other blocks stay on the devices until the end.
 *
 *   cc cholesky.c $(pkg-config --cflags --libs tessera) -lopenblas -lm -o cholesky
 *   ./cholesky [N [NB [RUNS [TIMELINE.json]]]]
 *
 * Give LAPACK fewer threads than there are cores, so that the threads that submit to the devices
 * find a core: OPENBLAS_NUM_THREADS=16 is plenty for a block of 1024.
 *
 * Exit status 0: the residual is within rounding errors. The timeline is for ui.perfetto.dev.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tessera.h>

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

typedef struct problem {
  tsr_context *context;
  int64_t n, nb;
  double *a;      /* pinned; L overwrites A's lower triangle */
  double on_host; /* s spent in LAPACK */
} problem;

/* Prints why a call failed; true if it did. */
static int failed(tsr_status status) {
  if (status != TSR_OK) fprintf(stderr, "%s: %s\n", tsr_status_name(status), tsr_message());
  return status != TSR_OK;
}

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *at(const problem *p, int64_t row, int64_t col) {
  return p->a + row + col * p->n;
}

/* ---- The factorisation ---- */

static const double one = 1, minus_one = -1;

/* C = C - A A^T, the lower triangle. */
static tsr_status syrk(const problem *p, int64_t n, int64_t k, const double *a, double *c) {
  return tsr_syrk_async(p->context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, TSR_NO_TRANS, n, k, &minus_one,
                        a, p->n, &one, c, p->n);
}

/* C = C - A B^T */
static tsr_status gemm(const problem *p, int64_t m, int64_t n, int64_t k, const double *a,
                       const double *b, double *c) {
  return tsr_gemm_async(p->context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_TRANS, m, n, k,
                        &minus_one, a, p->n, b, p->n, &one, c, p->n);
}

/* X L^T = B, in place of B. */
static tsr_status trsm(const problem *p, int64_t m, int64_t n, const double *l, double *b) {
  return tsr_trsm_async(p->context, TSR_D, TSR_COL_MAJOR, TSR_RIGHT, TSR_LOWER, TSR_TRANS,
                        TSR_NON_UNIT, m, n, &one, l, p->n, b, p->n);
}

/* Waits for the diagonal block at k alone, while the devices go on, and factors it. The devices
 * still have the old block: tsr_invalidate makes them forget it. */
static int factor_diagonal(problem *p, int64_t k, int64_t width) {
  const int order = (int)width, ld = (int)p->n;
  int info;
  if (failed(tsr_coherent(p->context, TSR_LOWER, width, width, at(p, k, k), p->n, TSR_D))) return 1;
  double begin = now();
  dpotrf_("L", &order, at(p, k, k), &ld, &info);
  double seconds = now() - begin;
  p->on_host += seconds;
  if (info != 0) fprintf(stderr, "dpotrf: %d; the matrix is not positive definite\n", info);
  return info != 0 || failed(tsr_timeline_note(p->context, "dpotrf", seconds)) ||
         failed(tsr_invalidate(p->context, width, width, at(p, k, k), p->n, TSR_D));
}

/* Updates the columns right of the panel at column k: first the next diagonal block, which goes
 * home at once, then the part below that block, then the rest. */
static int update(const problem *p, int64_t k, int64_t width) {
  int64_t j = k + width, next = p->n - j < p->nb ? p->n - j : p->nb;
  int64_t r = j + next, rest = p->n - r;
  if (failed(syrk(p, next, width, at(p, j, k), at(p, j, j))) ||
      failed(tsr_coherent_async(p->context, TSR_LOWER, next, next, at(p, j, j), p->n, TSR_D)))
    return 1;
  if (rest == 0) return 0;
  return failed(gemm(p, rest, next, width, at(p, r, k), at(p, j, k), at(p, r, j))) ||
         failed(syrk(p, rest, width, at(p, r, k), at(p, r, r)));
}

static int factor(problem *p) {
  for (int64_t k = 0; k < p->n; k += p->nb) {
    int64_t width = p->n - k < p->nb ? p->n - k : p->nb, below = p->n - k - width;
    if (factor_diagonal(p, k, width)) return 1;
    if (below == 0) break;
    if (failed(trsm(p, below, width, at(p, k, k), at(p, k + width, k)))) return 1;
    if (update(p, k, width)) return 1;
  }
  return failed(tsr_coherent_async(p->context, TSR_LOWER, p->n, p->n, p->a, p->n, TSR_D)) ||
         failed(tsr_sync(p->context));
}

/* ---- The matrix and the check ---- */

/* Element (i, j) of A, i >= j: random in [-1, 1], and n on the diagonal. */
static double element(int64_t n, int64_t i, int64_t j) {
  uint64_t x = (uint64_t)(i + j * n + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return i == j ? (double)n : (double)(int64_t)(x ^ (x >> 31)) * 0x1p-63;
}

/* The upper triangle must not be read: it holds NaN. */
static void fill(const problem *p) {
  for (int64_t j = 0; j < p->n; j++) {
    for (int64_t i = 0; i < j; i++) *at(p, i, j) = NAN;
    for (int64_t i = j; i < p->n; i++) *at(p, i, j) = element(p->n, i, j);
  }
}

/* ax = A x, and the largest row sum of |A|. x has n elements, sum n zeros. */
static double apply_a(int64_t n, const double *x, double *ax, double *sum) {
  double norm = 0;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = j; i < n; i++) {
      double a = element(n, i, j);
      ax[i] += a * x[j], sum[i] += fabs(a);
      if (i != j) ax[j] += a * x[i], sum[j] += fabs(a);
    }
  }
  for (int64_t i = 0; i < n; i++) norm = fmax(norm, sum[i]);
  return norm;
}

/* y = L (L^T x): column by column of L. */
static void apply_l(const problem *p, const double *x, double *y) {
  for (int64_t j = 0; j < p->n; j++) {
    const double *l = at(p, 0, j);
    double dot = 0;
    for (int64_t i = j; i < p->n; i++) dot += l[i] * x[i];
    for (int64_t i = j; i < p->n; i++) y[i] += l[i] * dot;
  }
}

/* |A x - L L^T x| / (n |A| |x| eps) for a random x, in the maximum norm; about 1 or less if L is
 * right. */
static double residual(const problem *p) {
  double *x = calloc((size_t)p->n * 4, sizeof *x), worst = 0;
  if (x == NULL) return INFINITY;
  double *ax = x + p->n, *y = ax + p->n, *sum = y + p->n;
  for (int64_t i = 0; i < p->n; i++) x[i] = element(p->n + 1, i + 1, 0);
  double norm = apply_a(p->n, x, ax, sum);
  apply_l(p, x, y);
  for (int64_t i = 0; i < p->n; i++) {
    double error = fabs(ax[i] - y[i]);
    if (!(error <= worst)) worst = error; /* NaN stays */
  }
  free(x);
  return worst / ((double)p->n * norm * DBL_EPSILON);
}

/* ---- Running ---- */

static int write_timeline(const problem *p, const char *path) {
  char *text;
  if (failed(tsr_timeline_end(p->context, &text))) return 1;
  FILE *file = fopen(path, "w");
  int bad = file == NULL || fputs(text, file) == EOF;
  if (file != NULL) bad |= fclose(file) != 0;
  if (bad) perror(path);
  free(text);
  return bad;
}

static void report(const problem *p, double seconds, double error) {
  tsr_traffic moved;
  double n = (double)p->n;
  printf("n %lld, nb %lld, %d devices: %.3f s, %.1f GFLOP/s, %.3f s in dpotrf, residual %.2g\n",
         (long long)p->n, (long long)p->nb, tsr_device_count(p->context), seconds,
         n * n * n / 3 / seconds * 1e-9, p->on_host, error);
  if (failed(tsr_context_traffic(p->context, &moved))) return;
  printf("GB so far: %.3f host to device, %.3f device to host, %.3f device to device, %lld plans\n",
         moved.host_to_device * 1e-9, moved.device_to_host * 1e-9, moved.device_to_device * 1e-9,
         (long long)moved.plans);
}

/* Factors a new matrix in the same memory; the devices first forget the old one. */
static int run(problem *p, const char *timeline) {
  if (failed(tsr_release(p->context, p->n, p->n, p->a, p->n, TSR_D))) return 1;
  fill(p);
  if (timeline != NULL && failed(tsr_timeline_begin(p->context))) return 1;
  p->on_host = 0;
  double begin = now();
  if (factor(p)) return 1;
  double seconds = now() - begin, error = residual(p);
  report(p, seconds, error);
  if (timeline != NULL && write_timeline(p, timeline)) return 1;
  return !(error < 10);
}

static int64_t argument(int argc, char **argv, int index, int64_t initial) {
  long long value = argc > index ? atoll(argv[index]) : initial;
  return value > 0 ? value : initial;
}

int main(int argc, char **argv) {
  problem p = {.n = argument(argc, argv, 1, 1000), .nb = argument(argc, argv, 2, 128)};
  int64_t runs = argument(argc, argv, 3, 1);
  size_t bytes = (size_t)p.n * (size_t)p.n * sizeof *p.a;
  int code = 0;
  if (failed(tsr_context_create(NULL, &p.context))) return 1;
  code = failed(tsr_malloc(p.context, TSR_HOST, bytes, (void **)&p.a));
  for (int64_t i = 1; i <= runs && !code; i++)
    code = run(&p, i == runs && argc > 4 ? argv[4] : NULL);
  if (p.a != NULL) tsr_free(p.context, p.a);
  tsr_context_destroy(p.context);
  return code;
}
