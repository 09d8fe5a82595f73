/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that knows nothing of Tessera: it calls the BLAS that it is linked with, as programs
 * do, in ways that a library before that BLAS could get wrong. Argument: which. Exits 0 when all
 * results are right.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "float_modes.h"

enum { N = 96, ROW_MAJOR = 101, COL_MAJOR = 102, NO_TRANS = 111, TRANS = 112 };

enum { PATIENCE = 200 }; /* s: what takes longer hangs */

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t length_a, size_t length_b);
void cblas_dgemm(int layout, int transa, int transb, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc);

typedef struct problem {
  double a[N * N], b[N * N], c[N * N], expected[N * N];
} problem;

static problem *make(int seed) {
  problem *p = malloc(sizeof *p);
  if (p == NULL) exit(3);
  for (int i = 0; i < N * N; i++) {
    p->a[i] = (double)((i * 7 + seed) % 11 - 5);
    p->b[i] = (double)((i * 5 + 3 * seed) % 13 - 6);
    p->c[i] = p->expected[i] = (double)(i % 9 - 4);
  }
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int l = 0; l < N; l++) sum += p->a[i + l * N] * p->b[l + j * N];
      p->expected[i + j * N] = 2 * sum - p->expected[i + j * N];
    }
  return p;
}

/* Whole numbers: results are exact. */
static int is_right(const problem *p) {
  return memcmp(p->c, p->expected, sizeof p->c) == 0;
}

static int fortran(int seed) {
  const int n = N;
  const double two = 2, minus = -1;
  problem *p = make(seed);
  dgemm_("N", "n", &n, &n, &n, &two, p->a, &n, p->b, &n, &minus, p->c, &n, 1, 1);
  int right = is_right(p);
  free(p);
  return right;
}

/* The same numbers as rows: C' = B' A'. */
static int c_rows(int seed) {
  problem *p = make(seed);
  cblas_dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, N, N, N, 2, p->b, N, p->a, N, -1, p->c, N);
  int right = is_right(p);
  free(p);
  return right;
}

static int plain(void) {
  return fortran(1) && c_rows(2);
}

/* ---- The floating-point environment ---- */

/* Products of whole numbers, from the first call on, which starts the devices. The program's own
 * sums are not under way then. */
static int modes(void) {
  static const float_modes all[] = {{'u', 1, 0, 1}, {'z', 0, 1, 31}, {'n', 1, 0, 0}};
  char why[300];
  int right = 1;
  for (int i = 0; i < 3 && right; i++) {
    const int n = N;
    const double two = 2, minus = -1;
    problem *p = make(i);
    float_modes_set(&all[i]);
    float_state before = float_state_get();
    dgemm_("N", "n", &n, &n, &n, &two, p->a, &n, p->b, &n, &minus, p->c, &n, 1, 1);
    right = float_state_is(&before, 0, why, sizeof why);
    if (!right) printf("%s\n", why);
    right = right && is_right(p);
    free(p);
  }
  return right;
}

/* ---- Threads ---- */

enum { THREADS = 8, ROUNDS = 20 };

static void *call_often(void *argument) {
  int seed = (int)(intptr_t)argument, right = 1;
  for (int i = 0; i < ROUNDS; i++) right &= fortran(seed + i) & c_rows(seed + i);
  return (void *)(intptr_t)right;
}

static int threads(void) {
  pthread_t thread[THREADS];
  int right = 1;
  for (intptr_t i = 0; i < THREADS; i++)
    if (pthread_create(&thread[i], NULL, call_often, (void *)i) != 0) return 0;
  for (int i = 0; i < THREADS; i++) {
    void *result = NULL;
    pthread_join(thread[i], &result);
    right &= (int)(intptr_t)result;
  }
  return right;
}

/* A thread that is cancelled inside a call goes when the call is complete: the first one waits for
 * the devices' start. */
static void *call_cancelled(void *right) {
  pthread_cancel(pthread_self());
  *(int *)right = fortran(1) & c_rows(2);
  pthread_testcancel();
  *(int *)right = 0;
  return NULL;
}

static int cancelled(void) {
  pthread_t thread;
  int right = 0;
  alarm(PATIENCE); /* a lock that was left held is waited for without end */
  if (pthread_create(&thread, NULL, call_cancelled, &right) != 0) return 0;
  pthread_join(thread, NULL);
  return right & plain();
}

/* ---- Forks ---- */

/* Whether the child ends by itself, and well, before it must hang. */
static int ends_well(pid_t child) {
  int status = 1;
  for (int i = 0; i < PATIENCE * 100; i++) {
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) && !WEXITSTATUS(status);
    usleep(10000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return 0;
}

/* The child calls, and leaves by way of its exit handlers. */
static int fork_and_call(void) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) exit(plain() ? 0 : 1);
  return child > 0 && ends_well(child);
}

static int forks(void) {
  int right = plain();
  right &= fork_and_call();
  return right & plain();
}

static void *call_until(void *stop) {
  while (!*(volatile int *)stop) fortran(3);
  return NULL;
}

/* While another thread is in a call. */
static int busy_fork(void) {
  volatile int stop = 0;
  pthread_t thread;
  int right = plain();
  if (pthread_create(&thread, NULL, call_until, (void *)&stop) != 0) return 0;
  for (int i = 0; i < 10; i++) right &= fork_and_call();
  stop = 1;
  pthread_join(thread, NULL);
  return right & plain();
}

/* A daemon: all work is in the child. */
static int fork_first(void) {
  return fork_and_call();
}

/* ---- The rest ---- */

static int closed(void) {
  for (int file = 0; file < 3; file++) close(file);
  return plain();
}

static int streams_closed(void) {
  fclose(stdin), fclose(stdout), fclose(stderr);
  return plain();
}

/* Calls that a CPU of any speed takes longer for than fast devices are predicted to: of the result,
 * two columns are looked at. */
static int is_large_right(int n, const double *a, const double *b, const double *c) {
  for (int j = 0; j < n; j += n - 1)
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int l = 0; l < n; l++) sum += a[i + l * n] * b[l + j * n];
      if (c[i + j * n] != sum) return 0;
    }
  return 1;
}

static int large(int seed) {
  enum { LARGE = 640, ALL = LARGE * LARGE };
  const int n = LARGE;
  const double one = 1, none = 0;
  double *a = malloc(3 * ALL * sizeof *a), *b = a + ALL, *c = b + ALL;
  if (a == NULL) exit(3);
  for (int i = 0; i < ALL; i++) {
    a[i] = (double)((i * 7 + seed) % 11 - 5);
    b[i] = (double)((i * 5 + 3 * seed) % 13 - 6);
  }
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &none, c, &n, 1, 1);
  int right = is_large_right(n, a, b, c);
  free(a);
  return right;
}

/* As many large calls as PAUSES says, with a pause behind each, in which a background start goes
 * on: the results of all calls before, while and after. */
static int patient(void) {
  const char *pauses = getenv("PAUSES");
  int right = pauses != NULL, count = right ? atoi(pauses) : 0;
  for (int i = 0; i < count; i++) {
    right &= large(i);
    usleep(10000);
  }
  return right;
}

/* A program that ends while devices are started. */
static int hasty(void) {
  return fortran(1);
}

/* Through names that it looks up itself, as languages with a foreign function interface do. */
static int looked_up(void) {
  void (*gemm)(const char *, const char *, const int64_t *, const int64_t *, const int64_t *,
               const double *, const double *, const int64_t *, const double *, const int64_t *,
               const double *, double *, const int64_t *, size_t, size_t);
  const int64_t n = N;
  const double two = 2, minus = -1;
  void *symbol = dlsym(RTLD_DEFAULT, "dgemm_64_");
  if (symbol == NULL) return 0;
  memcpy(&gemm, &symbol, sizeof gemm);
  problem *p = make(5);
  gemm("N", "N", &n, &n, &n, &two, p->a, &n, p->b, &n, &minus, p->c, &n, 1, 1);
  int right = is_right(p);
  free(p);
  return right;
}

/* One triangle of a product: many a BLAS has no such routine. */
static int triangle(void) {
  void (*gemmt)(int, int, int, int, int, int, double, const double *, int, const double *, int,
                double, double *, int);
  void *symbol = dlsym(RTLD_DEFAULT, "cblas_dgemmt");
  if (symbol == NULL) return 0;
  memcpy(&gemmt, &symbol, sizeof gemmt);
  problem *p = make(6);
  gemmt(COL_MAJOR, 122, NO_TRANS, NO_TRANS, N, N, 2, p->a, N, p->b, N, -1, p->c, N);
  int right = 1;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      right &= p->c[i + j * N] == (i >= j ? p->expected[i + j * N] : (double)((i + j * N) % 9 - 4));
  free(p);
  return right;
}

/* Conjugation without transposition, which OpenBLAS knows: of real numbers it is none. */
static int conjugated(void) {
  enum { CONJ_NO_TRANS = 114 };
  const int n = N;
  const double two = 2, minus = -1;
  problem *p = make(8), *q = make(9);
  dgemm_("R", "n", &n, &n, &n, &two, p->a, &n, p->b, &n, &minus, p->c, &n, 1, 1);
  cblas_dgemm(COL_MAJOR, NO_TRANS, CONJ_NO_TRANS, N, N, N, 2, q->a, N, q->b, N, -1, q->c, N);
  int right = is_right(p) && is_right(q);
  free(p);
  free(q);
  return right;
}

/* C begins in the last column of A: what comes of it is the BLAS's affair, which it reaches. Of the
 * last column nothing is multiplied by anything but 0, so that the result is known. */
static int shared(void) {
  problem *p = make(7);
  double *both = malloc(2 * sizeof p->a);
  if (both == NULL) exit(3);
  memcpy(both, p->a, sizeof p->a);
  for (int i = 0; i < N * N; i++)
    if (i % N == N - 1) p->b[i] = 0;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      p->expected[i + j * N] = 0;
      for (int l = 0; l < N - 1; l++) p->expected[i + j * N] += p->a[i + l * N] * p->b[l + j * N];
    }
  double *c = both + N * (N - 1);
  cblas_dgemm(COL_MAJOR, NO_TRANS, NO_TRANS, N, N, N, 1, both, N, p->b, N, 0, c, N);
  int right = memcmp(c, p->expected, sizeof p->expected) == 0;
  free(both), free(p);
  return right;
}

/* ---- While libraries are loaded ---- */

static void *load_and_unload(void *name) {
  for (void *plugin; (plugin = dlopen(name, RTLD_NOW)) != NULL;) dlclose(plugin);
  return NULL;
}

/* A first call looks for the BLAS of a wheel, which was loaded where the loader's search does not
 * see it, among all that is loaded. The loader has locks of its own. */
static void call_while_loading(const char *carried, char *plugin) {
  static const char *const names[] = {"scipy_sgemm_", "scipy_dgemm_", "scipy_cgemm_",
                                      "scipy_zgemm_"};
  const int n = 1, none = 0;
  const double one = 1;
  double c = 0;
  pthread_t thread;
  int *calls = NULL;
  void *library = dlopen(carried, RTLD_NOW | RTLD_LOCAL);
  if (library != NULL) calls = dlsym(library, "carried_calls");
  if (calls == NULL || pthread_create(&thread, NULL, load_and_unload, plugin) != 0) _exit(3);
  usleep(1000);
  for (int i = 0; i < 4; i++) {
    void (*gemm)(const char *, const char *, const int *, const int *, const int *, const double *,
                 const double *, const int *, const double *, const int *, const double *, double *,
                 const int *, size_t, size_t);
    void *symbol = dlsym(RTLD_DEFAULT, names[i]);
    if (symbol == NULL) _exit(4);
    memcpy(&gemm, &symbol, sizeof gemm);
    gemm("N", "N", &none, &none, &none, &one, &one, &n, &one, &n, &one, &c, &n, 1, 1);
  }
  _exit(*calls == 4 ? 0 : 1);
}

static int loading(void) {
  const char *folder = getenv("CARRIED_IN");
  char carried[1024], plugin[1024];
  int right = folder != NULL;
  snprintf(carried, sizeof carried, "%s/libscipy_openblas_test.so", right ? folder : "");
  snprintf(plugin, sizeof plugin, "%s/libdropin_plugin.so", right ? folder : "");
  for (int i = 0; i < 60 && right; i++) {
    pid_t child = fork();
    if (child == 0) call_while_loading(carried, plugin);
    right = child > 0 && ends_well(child);
  }
  return right;
}

/* ---- Wrong arguments ---- */

#ifdef OWN_XERBLA

static struct {
  char name[32];
  long position;
  int wide; /* 2: the handler of wheels */
} told;

static void note(const char *name, size_t length, long position, int wide) {
  snprintf(told.name, sizeof told.name, "%.*s", (int)length, name);
  told.position = position;
  told.wide = wide;
}

void xerbla_(const char *name, const int *position, size_t length);
void xerbla_64_(const char *name, const int64_t *position, size_t length);
void scipy_xerbla_64_(const char *name, const int64_t *position, size_t length);
void cblas_xerbla(int position, const char *name, const char *format, ...);
void scipy_cblas_xerbla64_(int64_t position, const char *name, const char *format, ...);

void xerbla_(const char *name, const int *position, size_t length) {
  note(name, length, *position, 0);
}

void xerbla_64_(const char *name, const int64_t *position, size_t length) {
  note(name, length, (long)*position, 1);
}

void scipy_xerbla_64_(const char *name, const int64_t *position, size_t length) {
  note(name, length, (long)*position, 2);
}

void cblas_xerbla(int position, const char *name, const char *format, ...) {
  (void)format;
  note(name, strlen(name), position, 0);
}

void scipy_cblas_xerbla64_(int64_t position, const char *name, const char *format, ...) {
  (void)format;
  note(name, strlen(name), (long)position, 2);
}

static void show_told(void) {
  printf("%s %ld %d\n", told.name, told.position, told.wide);
  told.name[0] = '\0';
}

static int was_told(const char *name, long position, int wide) {
  int right = strcmp(told.name, name) == 0 && told.position == position && told.wide == wide;
  if (!right) fprintf(stderr, "told %s %ld %d\n", told.name, told.position, told.wide);
  return right;
}

typedef void (*gemm_64)(const char *, const char *, const int64_t *, const int64_t *,
                        const int64_t *, const double *, const double *, const int64_t *,
                        const double *, const int64_t *, const double *, double *, const int64_t *,
                        size_t, size_t);
typedef void (*cblas_gemm_64)(int, int, int, int64_t, int64_t, int64_t, double, const double *,
                              int64_t, const double *, int64_t, double, double *, int64_t);
typedef void (*gemmtr)(const char *, const char *, const char *, const int *, const int *,
                       const double *, const double *, const int *, const double *, const int *,
                       const double *, double *, const int *, size_t, size_t, size_t);

static void *look_up(const char *name) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == NULL) exit(3);
  return symbol;
}

static double x[16], z[16];

/* Calls that every BLAS has: what their handlers are told is for the script to compare with what
 * they are told without us. */
static int wrong(void) {
  const int n = 4, less = 3;
  const double one = 1;
  dgemm_("N", "N", &n, &n, &n, &one, x, &less, x, &n, &one, z, &n, 1, 1);
  show_told();
  dgemm_("/", "N", &n, &n, &n, &one, x, &less, x, &n, &one, z, &n, 1, 1);
  show_told();
  cblas_dgemm(COL_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1, x, less, x, n, 1, z, n);
  show_told();
  cblas_dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1, x, less, x, n, 1, z, n);
  show_told();
  cblas_dgemm(99, NO_TRANS, NO_TRANS, n, n, n, 1, x, n, x, n, 1, z, n);
  show_told();
  cblas_dgemm(COL_MAJOR, NO_TRANS, 99, n, n, n, 1, x, n, x, n, 1, z, n);
  show_told();
  return 1;
}

static int wrong_64(void) {
  const int64_t n = 4, less = 3;
  const double one = 1;
  gemm_64 gemm, of_wheels;
  cblas_gemm_64 cblas_of_wheels;
  memcpy(&gemm, &(void *){look_up("dgemm_64_")}, sizeof gemm);
  memcpy(&of_wheels, &(void *){look_up("scipy_dgemm_64_")}, sizeof of_wheels);
  memcpy(&cblas_of_wheels, &(void *){look_up("scipy_cblas_dgemm64_")}, sizeof cblas_of_wheels);
  gemm("N", "N", &n, &n, &n, &one, x, &n, x, &less, &one, z, &n, 1, 1);
  int right = was_told("DGEMM ", 10, 1);
  of_wheels("N", "N", &n, &n, &n, &one, x, &less, x, &n, &one, z, &n, 1, 1);
  right &= was_told("DGEMM ", 8, 2);
  cblas_of_wheels(COL_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1, x, less, x, n, 1, z, n);
  return right & was_told("cblas_dgemm", 9, 2);
}

/* Routines that the BLAS behind us has not, if there is one: we tell of them. The reference CBLAS
 * tells of the transposed call, and lets the handler turn it. */
static int wrong_ours(void) {
  const int n = 4, negative = -1;
  const double one = 1;
  gemmtr triangle_of;
  memcpy(&triangle_of, &(void *){look_up("dgemmtr_")}, sizeof triangle_of);
  triangle_of("U", "N", "N", &negative, &n, &one, x, &n, x, &n, &one, z, &n, 1, 1, 1);
  return was_told("DGEMMTR", 4, 0) & wrong_64();
}

/* Without another BLAS. */
static int wrong_alone(void) {
  const int n = 4, less = 3;
  const double one = 1;
  dgemm_("N", "N", &n, &n, &n, &one, x, &less, x, &n, &one, z, &n, 1, 1);
  int right = was_told("DGEMM ", 8, 0);
  dgemm_("/", "N", &n, &n, &n, &one, x, &less, x, &n, &one, z, &n, 1, 1);
  right &= was_told("DGEMM ", 1, 0);
  cblas_dgemm(ROW_MAJOR, NO_TRANS, NO_TRANS, n, n, n, 1, x, less, x, n, 1, z, n);
  right &= was_told("cblas_dgemm", 9, 0);
  cblas_dgemm(99, NO_TRANS, NO_TRANS, n, n, n, 1, x, n, x, n, 1, z, n);
  right &= was_told("cblas_dgemm", 1, 0);
  cblas_dgemm(COL_MAJOR, NO_TRANS, 99, n, n, n, 1, x, n, x, n, 1, z, n);
  right &= was_told("cblas_dgemm", 3, 0);
  return right & wrong_ours();
}

#else
static int wrong(void) {
  return 0;
}
static int wrong_ours(void) {
  return 0;
}
static int wrong_alone(void) {
  return 0;
}
#endif

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(void);
  } ways[] = {
      {"plain", plain},           {"threads", threads},
      {"cancelled", cancelled},   {"forks", forks},
      {"busy_fork", busy_fork},   {"fork_first", fork_first},
      {"closed", closed},         {"streams_closed", streams_closed},
      {"patient", patient},       {"hasty", hasty},
      {"looked_up", looked_up},   {"triangle", triangle},
      {"shared", shared},         {"wrong", wrong},
      {"wrong_ours", wrong_ours}, {"wrong_alone", wrong_alone},
      {"loading", loading},       {"modes", modes},
      {"conjugated", conjugated},
  };
  for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++)
    if (strcmp(argv[1], ways[i].name) == 0) return ways[i].run() ? 0 : 1;
  return 2;
}
