/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A call after one that failed, thousands of times: a blocking product is called while host memory
 * is out from some allocation on; then there is memory again, C is restored, and the same context
 * is asked for the same product, which must be right. If commands of the failed call outlive it,
 * they spoil the second one.
 *
 *   fault_repeats --seed 1 --count 5000 --busy 4
 *
 * --busy starts that many processes that only keep processors busy: commands outlive a call where
 * the threads that carry them out are held up, so a machine at rest shows little.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "chance.h"
#include "tessera_model.h"

enum {
  PRODUCTS = 8,        /* of a context, with one shape each */
  ROUNDS = 16,         /* repetitions of each */
  MOST_BUSY = 64,      /* processes */
  PATIENCE = 120,      /* seconds for one repetition */
  MOST_ALLOCS = 100000 /* more than a call makes */
};

typedef struct product {
  int64_t n;
  double alpha, beta;
  bool pinned;
  double *a, *b, *c; /* operands */
  double *was, *wanted;
  long allocations; /* that one call makes, about */
} product;

static tsr_context *context;
static char place[300]; /* the repetition at hand */
static int64_t repetitions, refused, wrong;

static void stop(const char *what) {
  printf("FAIL %s: %s: %s\n", place, what, tsr_message());
  exit(1);
}

/* ---- Data ---- */

/* Small whole numbers: sums are exact in any order. */
static void draw(double *x, int64_t count) {
  for (int64_t i = 0; i < count; i++) x[i] = (double)between(-9, 9);
}

static void *take(const product *p) {
  size_t bytes = (size_t)(p->n * p->n) * sizeof(double);
  void *memory = NULL;
  if (!p->pinned)
    memory = malloc(bytes);
  else if (tsr_malloc(context, TSR_HOST, bytes, &memory) != TSR_OK)
    stop("pinned memory");
  if (memory == NULL) stop("no memory");
  return memory;
}

static void give(const product *p, void *memory) {
  if (p->pinned)
    tsr_free(context, memory);
  else
    free(memory);
}

static void compute_wanted(product *p) {
  int64_t n = p->n;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      double sum = 0;
      for (int64_t l = 0; l < n; l++) sum += p->a[i + l * n] * p->b[l + j * n];
      p->wanted[i + j * n] = p->alpha * sum + p->beta * p->was[i + j * n];
    }
}

static tsr_status call(product *p) {
  int64_t n = p->n;
  return tsr_dgemm(context, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, p->alpha, p->a, n,
                   p->b, n, p->beta, p->c, n);
}

static void restore(product *p) {
  memcpy(p->c, p->was, (size_t)(p->n * p->n) * sizeof *p->c);
}

/* Once undisturbed, so that the plan is there; then with ever more allocations that succeed, for
 * how many a call makes. */
static void try_allocations(product *p) {
  tsr_status status = call(p);
  if (status != TSR_OK) stop("the first call");
  for (p->allocations = 8, status = TSR_ERR_MEMORY; status != TSR_OK; p->allocations *= 2) {
    if (p->allocations > MOST_ALLOCS) stop("so many allocations in one call");
    tsr_alloc_fail_from(p->allocations);
    status = call(p);
    tsr_alloc_fail_at(0);
  }
  p->allocations /= 2;
}

static void begin(product *p) {
  *p = (product){
      .n = between(16, 96), .alpha = (double)between(1, 3), .beta = (double)between(1, 2)};
  p->pinned = between(0, 1) == 1;
  int64_t count = p->n * p->n;
  double **all[] = {&p->a, &p->b, &p->c};
  for (int i = 0; i < 3; i++) draw(*all[i] = take(p), count);
  p->was = malloc((size_t)count * sizeof *p->was);
  p->wanted = malloc((size_t)count * sizeof *p->wanted);
  if (p->was == NULL || p->wanted == NULL) stop("no memory");
  draw(p->was, count);
  compute_wanted(p);
  try_allocations(p);
}

static void end(product *p) {
  give(p, p->a), give(p, p->b), give(p, p->c);
  free(p->was), free(p->wanted);
}

/* ---- One repetition ---- */

static bool is_right(const product *p, const char *when) {
  int64_t count = p->n * p->n, differ = 0, twice = 0, first = -1;
  for (int64_t i = 0; i < count; i++) {
    if (p->c[i] == p->wanted[i]) continue;
    if (first < 0) first = i;
    differ++;
    twice += p->c[i] == p->wanted[i] + p->beta * (p->wanted[i] - p->was[i]);
  }
  if (first < 0) return true;
  printf("FAIL %s: %s: %" PRId64 " of %" PRId64 " elements differ, %" PRId64
         " as if the call had been made twice; element %" PRId64 " is %g, must be %g (C was %g)\n",
         place, when, differ, count, twice, first, p->c[first], p->wanted[first], p->was[first]);
  fflush(stdout);
  return false;
}

static void repeat(product *p) {
  long nth = (long)between(1, p->allocations);
  size_t length = strlen(place);
  snprintf(place + length, sizeof place - length, ", allocation %ld fails", nth);
  alarm(PATIENCE);
  restore(p);
  tsr_alloc_fail_from(nth);
  tsr_status first = call(p);
  tsr_alloc_fail_at(0);
  bool right = first != TSR_OK || is_right(p, "the first call");
  restore(p);
  if (call(p) != TSR_OK) {
    printf("FAIL %s: the second call: %s\n", place, tsr_message());
    right = false;
  } else {
    right = is_right(p, "the second call") && right;
  }
  alarm(0);
  place[length] = '\0';
  repetitions++;
  refused += first != TSR_OK;
  wrong += !right;
}

static void run_context(uint64_t seed, int64_t number, int64_t most) {
  static const char *const counts[] = {"1", "2", "3"};
  tsr_options options = TSR_OPTIONS_DEFAULT;
  chance_seed(seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)number);
  options.engine = "host";
  int devices = (int)between(1, 3);
  options.devices = counts[devices - 1];
  options.machine = devices == 1   ? "host:200 gpu*1 pcie:25 rate:19"
                    : devices == 2 ? "host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19"
                                   : "host:200 gpu*3@nvswitch:300 pcie:25/pair rate:19";
  int tile = between(0, 1) ? 32 : 16;
  if (tsr_context_create(&options, &context) != TSR_OK) stop("a context");
  if (tsr_set_tile(context, tile) != TSR_OK) stop("tiles");
  for (int i = 0; i < PRODUCTS; i++) {
    product p;
    snprintf(place, sizeof place, "context %" PRId64 ", product %d", number, i);
    begin(&p);
    snprintf(place, sizeof place,
             "context %" PRId64 " (%d devices, tile %d), product %d (n %d, alpha %g, beta %g, %s)",
             number, devices, tile, i, (int)p.n, p.alpha, p.beta, p.pinned ? "pinned" : "pageable");
    for (int r = 0; r < ROUNDS && repetitions < most; r++) repeat(&p);
    end(&p);
  }
  tsr_context_destroy(context);
}

/* ---- The program ---- */

static pid_t busy[MOST_BUSY];
static int busy_count;

static void end_busy(void) {
  for (int i = 0; i < busy_count; i++) kill(busy[i], SIGKILL), waitpid(busy[i], NULL, 0);
}

static void keep_busy(int count) {
  pid_t parent = getpid();
  for (; busy_count < count && busy_count < MOST_BUSY; busy_count++) {
    busy[busy_count] = fork();
    if (busy[busy_count] < 0) return;
    if (busy[busy_count] > 0) continue;
    for (volatile uint64_t i = 0; i % (1 << 20) != 0 || getppid() == parent; i++) continue;
    _exit(0);
  }
}

static void on_alarm(int number) {
  (void)number;
  static const char hangs[] = "\nFAIL (hangs) ";
  ssize_t written = write(STDOUT_FILENO, hangs, sizeof hangs - 1);
  written = write(STDOUT_FILENO, place, strlen(place));
  written = write(STDOUT_FILENO, "\n", 1);
  (void)written;
  _exit(1);
}

int main(int argc, char **argv) {
  int64_t count = 5000;
  uint64_t seed = 1;
  int processes = 0;
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--count") == 0)
      count = strtoll(value, NULL, 10);
    else if (strcmp(argv[i], "--seed") == 0)
      seed = strtoull(value, NULL, 10);
    else if (strcmp(argv[i], "--busy") == 0)
      processes = atoi(value);
    else
      return fputs("usage: fault_repeats [--seed S] [--count N] [--busy PROCESSES]\n", stderr), 2;
  }
  for (const tsr_setting *s = tsr_settings(); s->name; ++s) unsetenv(s->name);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  signal(SIGALRM, on_alarm);
  keep_busy(processes);
  atexit(end_busy);
  for (int64_t i = 0; repetitions < count; i++) run_context(seed, i, count);
  printf("%" PRId64 " calls failed for want of memory\n", refused);
  printf("%" PRId64 " passed, %" PRId64 " failed\n", repetitions - wrong, wrong);
  return wrong == 0 ? 0 : 1;
}
