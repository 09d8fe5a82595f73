/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Measures the cost of the BLAS doors for a call that goes to the CPU. It is the processor time of
 * one call of dgemm_ and of cblas_dgemm with N = 1 on a BLAS that computes nothing
 * (door_cost_blas.c), and of dgetrf with N = 200 of the LAPACK that the loader finds. Each is
 * called directly and with the doors preloaded. "Local" ways load BLAS and LAPACK outside the
 * global scope, as Python does, so that the doors look up where each caller's calls go; "reported"
 * ones have every call counted for a report.
 *
 *   door_cost [ROUNDS]
 *   LD_LIBRARY_PATH=DIRECTORY_OF_NETLIB_LAPACK:DIRECTORY_OF_NETLIB_BLAS door_cost
 *
 * Each way of calling runs in processes of its own, since a process decides once whether it has
 * devices. The ways take turns, ROUNDS times (default: 15). The program prints medians over the
 * rounds; for dgetrf, the median of its time / the direct way's time in the same round. DOORS and
 * BLAS are the paths of libtessera_blas and of the BLAS that computes nothing.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void (*gemm_function)(const char *, const char *, const int *, const int *, const int *,
                              const double *, const double *, const int *, const double *,
                              const int *, const double *, double *, const int *, size_t, size_t);
typedef void (*cblas_function)(int, int, int, int, int, int, double, const double *, int,
                               const double *, int, double, double *, int);
typedef void (*getrf_function)(const int *, const int *, double *, const int *, int *, int *);

enum { WAYS = 9, MOST_ROUNDS = 1000, CALLS = 200000, SAMPLES = 9, LARGE = 128 };
enum { GEMM, CBLAS, GETRF, FIGURES };

static const struct {
  const char *name, *settings[4];
  int preloads; /* the doors are preloaded */
  int local;    /* BLAS and LAPACK are loaded outside the global scope */
  int starts;   /* a first product starts the devices; dgetrf is not timed, as it would use them */
} ways[WAYS] = {
    {"direct", {NULL}, 0, 0, 0},
    {"TESSERA_OFFLOAD=never", {"TESSERA_OFFLOAD=never", NULL}, 1, 0, 0},
    {"no device", {"TESSERA_ENGINE=cpu", NULL}, 1, 0, 0},
    {"no device, local", {"TESSERA_ENGINE=cpu", NULL}, 1, 1, 0},
    {"emulated devices", {"TESSERA_ENGINE=host", NULL}, 1, 0, 0},
    {"the same, local", {"TESSERA_ENGINE=host", NULL}, 1, 1, 0},
    {"the same, started",
     {"TESSERA_ENGINE=host", "TESSERA_OFFLOAD=always", "TESSERA_MIN_SIZE=64", NULL},
     1,
     0,
     1},
    {"no device, reported", {"TESSERA_ENGINE=cpu", "TESSERA_REPORT=/dev/null", NULL}, 1, 0, 0},
    {"emulated, reported", {"TESSERA_ENGINE=host", "TESSERA_REPORT=/dev/null", NULL}, 1, 0, 0},
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[count / 2];
}

/* ---- A process that measures one way ---- */

static void look_up(const char *name, void *function) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == NULL) exit(3);
  memcpy(function, &symbol, sizeof symbol);
}

/* Seconds of one dgemm_ of n = 1. */
static double time_gemm(void) {
  static const double one = 1, x = 1;
  static const int n = 1;
  double samples[SAMPLES], c = 0;
  gemm_function gemm;
  look_up("dgemm_", &gemm);
  for (int s = 0; s < SAMPLES; s++) {
    double began = now();
    for (int i = 0; i < CALLS; i++)
      gemm("N", "N", &n, &n, &n, &one, &x, &n, &x, &n, &one, &c, &n, 1, 1);
    samples[s] = (now() - began) / CALLS;
  }
  return median(samples, SAMPLES);
}

static double time_cblas(void) {
  static const double x = 1;
  double samples[SAMPLES], c = 0;
  cblas_function gemm;
  look_up("cblas_dgemm", &gemm);
  for (int s = 0; s < SAMPLES; s++) {
    double began = now();
    for (int i = 0; i < CALLS; i++) gemm(102, 111, 111, 1, 1, 1, 1, &x, 1, &x, 1, 1, &c, 1);
    samples[s] = (now() - began) / CALLS;
  }
  return median(samples, SAMPLES);
}

/* Loads LAPACK's dgetrf; 0: not found. */
static int find_getrf(int scope, getrf_function *getrf) {
  void *library = dlopen("liblapack.so.3", RTLD_NOW | scope);
  void *symbol = library != NULL ? dlsym(library, "dgetrf_") : NULL;
  memcpy(getrf, &symbol, sizeof *getrf);
  return symbol != NULL;
}

/* Seconds of one dgetrf; 0: no LAPACK is found. */
static double time_getrf(int scope) {
  enum { N = 200, REPEATS = 5 };
  static double matrix[N * N], a[N * N];
  static int pivot[N];
  double samples[SAMPLES];
  const int n = N;
  int info;
  getrf_function getrf;
  if (!find_getrf(scope, &getrf)) return 0;
  unsigned state = 1;
  for (int i = 0; i < N * N; i++) matrix[i] = (double)((state = state * 1664525 + 1013904223) >> 8);
  for (int s = 0; s < SAMPLES; s++) {
    double seconds = 0;
    for (int i = 0; i < REPEATS; i++) {
      memcpy(a, matrix, sizeof a);
      double began = now();
      getrf(&n, &n, a, &n, pivot, &info);
      seconds += now() - began;
    }
    samples[s] = seconds / REPEATS;
  }
  return median(samples, SAMPLES);
}

static void start_devices(void) {
  static double x[LARGE * LARGE], c[LARGE * LARGE];
  static const double one = 1;
  const int n = LARGE;
  gemm_function gemm;
  look_up("dgemm_", &gemm);
  gemm("N", "N", &n, &n, &n, &one, x, &n, x, &n, &one, c, &n, 1, 1);
}

/* Prints the seconds of one figure; dgetrf uses the BLAS that its LAPACK is linked with. */
static int measure(int way, int figure) {
  int scope = ways[way].local ? RTLD_LOCAL : RTLD_GLOBAL;
  if (figure != GETRF && dlopen(BLAS, RTLD_NOW | scope) == NULL) return 3;
  if (figure != GETRF && ways[way].starts) start_devices();
  if (figure == GETRF && ways[way].starts) return printf("0\n") < 0;
  double seconds = figure == GEMM    ? time_gemm()
                   : figure == CBLAS ? time_cblas()
                                     : time_getrf(scope);
  return printf("%.17g\n", seconds) < 0;
}

/* ---- All ways in turn ---- */

static void become(int way, int figure) {
  char numbers[2][16];
  for (int i = 0; ways[way].settings[i] != NULL; i++) putenv((char *)ways[way].settings[i]);
  if (ways[way].preloads) setenv("LD_PRELOAD", DOORS, 1);
  snprintf(numbers[0], sizeof numbers[0], "%d", way);
  snprintf(numbers[1], sizeof numbers[1], "%d", figure);
  execl("/proc/self/exe", "door_cost", numbers[0], numbers[1], (char *)NULL);
  _exit(3);
}

static double in_a_process(int way, int figure) {
  int ends[2], status = 1;
  char text[64] = "";
  if (pipe(ends) != 0) exit(1);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    become(way, figure);
  }
  close(ends[1]);
  if (child < 0 || read(ends[0], text, sizeof text - 1) <= 0) exit(1);
  close(ends[0]);
  waitpid(child, &status, 0);
  if (status != 0) exit(1);
  return atof(text);
}

static void print_file(const char *symbol) {
  Dl_info file;
  void *found = dlsym(RTLD_DEFAULT, symbol);
  if (found != NULL && dladdr(found, &file)) printf("%s of %s\n", symbol, file.dli_fname);
}

static void print_way(int way, double seconds[WAYS][FIGURES][MOST_ROUNDS], int rounds) {
  static double ratio[MOST_ROUNDS];
  for (int i = 0; i < rounds; i++) ratio[i] = seconds[way][GETRF][i] / seconds[0][GETRF][i];
  double gemm = median(seconds[way][GEMM], rounds), cblas = median(seconds[way][CBLAS], rounds);
  double getrf = median(ratio, rounds);
  printf("%-24s %12.1f %16.1f", ways[way].name, 1e9 * gemm, 1e9 * cblas);
  if (getrf > 0) printf(" %18.3f", getrf);
  printf("\n");
}

int main(int argc, char **argv) {
  static double seconds[WAYS][FIGURES][MOST_ROUNDS];
  getrf_function getrf;
  if (argc == 3) return measure(atoi(argv[1]), atoi(argv[2]));
  int rounds = argc == 2 ? atoi(argv[1]) : 15;
  if (rounds < 1 || rounds > MOST_ROUNDS) return 2;
  for (int round = 0; round < rounds; round++)
    for (int way = 0; way < WAYS; way++)
      for (int figure = 0; figure < FIGURES; figure++)
        seconds[way][figure][round] = in_a_process(way, figure);
  if (find_getrf(RTLD_GLOBAL, &getrf)) print_file("dgetrf_"), print_file("dgemm_");
  printf("%-24s %12s %16s %18s\n", "", "dgemm_ [ns]", "cblas_dgemm [ns]", "dgetrf / direct");
  for (int way = 0; way < WAYS; way++) print_way(way, seconds, rounds);
  return 0;
}
