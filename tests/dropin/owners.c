/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program without a BLAS that opens libraries with BLASes of their own, outside the global scope.
 * Arguments: a way, and the folder with the libraries. Exits 0 if each library's calls reach the
 * BLAS that it is linked with, as they do without us.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ONE = 1, TWO, INSIDE, THREADS = 4, CALLS = 2000 };
typedef double (*which_function)(void);
typedef void (*gemm_function)(const char *, const char *, const int *, const int *, const int *,
                              const double *, const double *, const int *, const double *,
                              const int *, const double *, double *, const int *, size_t, size_t);

static const char *folder;

static void *open_user(const char *name, int scope) {
  char path[1024];
  snprintf(path, sizeof path, "%s/libdropin_user_%s.so", folder, name);
  void *library = dlopen(path, RTLD_NOW | scope);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  return library;
}

static void *look_up(void *library, const char *name, void *function) {
  void *symbol = library != NULL ? dlsym(library, name) : NULL;
  memcpy(function, &symbol, sizeof symbol);
  return symbol;
}

/* Whether a library's calls reach the BLAS with this tag. */
static int reaches(void *library, int tag) {
  which_function which;
  if (look_up(library, "which_blas", &which) == NULL) return 0;
  double first = which(), second = which();
  if (first != tag || second != tag) fprintf(stderr, "%g, %g, not %d\n", first, second, tag);
  return first == tag && second == tag;
}

static int two(void) {
  void *one = open_user("one", RTLD_LOCAL), *other = open_user("two", RTLD_LOCAL);
  return reaches(other, TWO) && reaches(one, ONE) && reaches(other, TWO);
}

/* The second is opened when the first has called. */
static int later(void) {
  return reaches(open_user("one", RTLD_LOCAL), ONE) && reaches(open_user("two", RTLD_LOCAL), TWO);
}

static int inside(void) {
  void *one = open_user("one", RTLD_LOCAL), *in = open_user("inside", RTLD_LOCAL);
  return reaches(in, INSIDE) && reaches(one, ONE);
}

/* A library that is closed, and another one that may get its place. */
static int closed(void) {
  int right = 1;
  for (int i = 0; right && i < 8; i++) {
    void *library = open_user(i % 2 ? "one" : "two", RTLD_LOCAL);
    right = reaches(library, i % 2 ? ONE : TWO);
    dlclose(library);
    void *gone =
        dlopen(i % 2 ? "libdropin_user_one.so" : "libdropin_user_two.so", RTLD_LAZY | RTLD_NOLOAD);
    right &= gone == NULL; /* we keep no library that called */
  }
  return right;
}

static int deep(void) {
  return reaches(open_user("one", RTLD_LOCAL | RTLD_DEEPBIND), ONE) &&
         reaches(open_user("two", RTLD_LOCAL), TWO);
}

/* A BLAS for all to see, when another library is bound to its own. */
static int global(void) {
  void *one = open_user("one", RTLD_LOCAL);
  return reaches(one, ONE) && reaches(open_user("two", RTLD_GLOBAL), TWO) && reaches(one, ONE);
}

/* The door returns to the program, which has no BLAS: any one will do. */
static int tail(void) {
  static const int n = 1;
  static const double x = 1;
  gemm_function gemm;
  double c = 0;
  if (look_up(open_user("one", RTLD_LOCAL), "passed_on", &gemm) == NULL) return 0;
  for (int i = 0; i < 3; i++) gemm("N", "N", &n, &n, &n, &x, &x, &n, &x, &n, &x, &c, &n, 1, 1);
  return c == ONE;
}

static void *call_both(void *libraries) {
  void **library = libraries;
  which_function one, other;
  if (!look_up(library[0], "which_blas", &one) || !look_up(library[1], "which_blas", &other))
    return libraries;
  for (int i = 0; i < CALLS; i++)
    if (one() != ONE || other() != TWO) return libraries;
  return NULL;
}

static int threads(void) {
  void *library[] = {open_user("one", RTLD_LOCAL), open_user("two", RTLD_LOCAL)};
  pthread_t thread[THREADS];
  void *wrong = NULL;
  int right = 1;
  for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, call_both, library);
  for (int i = 0; i < THREADS; i++) right &= pthread_join(thread[i], &wrong) == 0 && wrong == NULL;
  return right;
}

static int forks(void) {
  void *one = open_user("one", RTLD_LOCAL);
  int right = reaches(one, ONE), status = 1;
  pid_t child = fork();
  if (child == 0) _exit(!(reaches(one, ONE) && reaches(open_user("two", RTLD_LOCAL), TWO)));
  return right && waitpid(child, &status, 0) == child && status == 0 && reaches(one, ONE);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(void);
  } ways[] = {{"two", two},       {"later", later},     {"inside", inside},
              {"closed", closed}, {"deep", deep},       {"global", global},
              {"tail", tail},     {"threads", threads}, {"forks", forks}};
  if (argc != 3) return 2;
  folder = argv[2];
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (strcmp(argv[1], ways[i].name) == 0) return ways[i].run() ? 0 : 1;
  return 2;
}
