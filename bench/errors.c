/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * This program tells how accurate native and emulated products are on data that products are hard
 * for, against sums in quadruple precision. It writes a line of CSV for each family of data
 * (tests/arithmetic/hard_data.h) and type to standard output. native and emulated are the largest
 * |error| / (|A||B|) of an element in units of the type's unit roundoff u (complex: of
 * 2 sqrt(2) u), and bound, k + 2, is what is promised of both. natively: how many of the parts of C
 * the emulated product left to native ones.
 *
 * It fails, and says where, if an emulated element breaks the bound, if integers whose sums fit the
 * type do not come out exactly, or if infinite elements and NaN are elsewhere than natively.
 *
 *   tessera-bench-errors [--engine NAME] [--devices N] [--extent N] [--k N] [--long-k N]
 *
 * C is of extent x extent elements and sums k products. In the family "long" k is long-k, so that
 * sums of residues need several parts, and C has 4 x 4 elements.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic/hard_data.h"
#include "arithmetic/moduli.h"
#include "call/plans.h"

/* The options as given. Extents are in elements. */
typedef struct asked {
  const char *engine, *devices;
  long extent, k, long_k;
} asked;

static int fail(const char *what) {
  fprintf(stderr, "tessera-bench-errors: %s\n", what);
  return 2;
}

/* ---- One product ---- */

typedef struct product {
  hard_product x;
  void *a, *b, *c[2]; /* the results: native, emulated */
  size_t bytes;       /* of c */
} product;

static bool make(product *p, hard_family family, tsr_type type, int64_t extent, int64_t k) {
  size_t size = (size_t)hard_parts(type) * (hard_is_single(type) ? 4 : 8);
  p->x = (hard_product){.type = type,
                        .transa = TSR_NO_TRANS,
                        .transb = TSR_NO_TRANS,
                        .m = extent,
                        .n = extent,
                        .k = k,
                        .lda = extent,
                        .ldb = k,
                        .alpha = 1};
  p->bytes = (size_t)(extent * extent) * size;
  p->a = malloc((size_t)(extent * k) * size);
  p->b = malloc((size_t)(extent * k) * size);
  for (int i = 0; i < 2; i++) p->c[i] = malloc(p->bytes);
  if (!p->a || !p->b || !p->c[0] || !p->c[1]) return false;
  p->x.a = p->a;
  p->x.b = p->b;
  hard_fill(family, type, false, TSR_NO_TRANS, extent, k, extent, 1, p->a);
  hard_fill(family, type, true, TSR_NO_TRANS, extent, k, k, 2, p->b);
  return true;
}

static void drop(product *p) {
  free(p->a), free(p->b), free(p->c[0]), free(p->c[1]);
}

static tsr_status multiply(tsr_context *context, const product *p, void *c) {
  const hard_product *x = &p->x;
  const double one[2] = {1, 0}, zero[2] = {0, 0};
  const float single_one[2] = {1, 0}, single_zero[2] = {0, 0};
  bool single = hard_is_single(x->type);
  return tsr_gemm(context, x->type, TSR_COL_MAJOR, x->transa, x->transb, x->m, x->n, x->k,
                  single ? (const void *)single_one : one, x->a, x->lda, x->b, x->ldb,
                  single ? (const void *)single_zero : zero, c, x->m);
}

/* The largest |error| / (|A||B|) of an element in units of u. */
static double error_of(const product *p, const void *c) {
  hard_product x = p->x;
  x.c = c;
  return hard_worst(&x) * ((double)x.k + 2);
}

/* Whether all sums of k products of the integers fit the type. */
static bool sums_fit(const product *p) {
  double most = hard_is_single(p->x.type) ? 127.0 * 127 : 32768.0 * 32768;
  return most * (double)(p->x.k * hard_parts(p->x.type)) <
         (hard_is_single(p->x.type) ? 0x1p24 : 0x1p53);
}

/* ---- A line of the table ---- */

/* How many parts of C the context's last product had, and how many of them were done natively. */
static tsr_status count_parts(tsr_context *context, int *parts, int *natively) {
  tsr_plan *plan;
  *parts = 0;
  TSR_TRY(tsr_plan_last(context, &plan));
  for (size_t c = 0; c < plan->commands.count; c++)
    *parts += plan->commands.items[c].kind == TSR_COMMAND_KERNEL &&
              plan->commands.items[c].kernel == TSR_KERNEL_RESIDUE_GEMM;
  *natively = tsr_plan_object_of(plan)->refused;
  tsr_plan_destroy(plan);
  return TSR_OK;
}

static int complain(const char *name, const product *p, const char *what) {
  fprintf(stderr, "tessera-bench-errors: %s, %c: %s\n", name, (char)p->x.type, what);
  return 1;
}

/* The number of faults of the emulated product. */
static int check(const char *name, hard_family family, const product *p, double error) {
  int faults = 0;
  if (!(error <= (double)p->x.k + 2)) faults += complain(name, p, "the bound is broken");
  if (family == HARD_INTEGER && sums_fit(p) && error != 0)
    faults += complain(name, p, "integers are not exact");
  if (hard_misplaced(p->x.type, p->x.m * p->x.n, p->c[1], p->c[0]) != 0)
    faults += complain(name, p, "infinite elements or NaN are elsewhere than natively");
  return faults;
}

/* Adds a line to the table; contexts: the native one, the emulated one. */
static tsr_status tell(tsr_context *const contexts[2], const char *name, hard_family family,
                       const product *p, int *faults) {
  int parts, natively;
  for (int i = 0; i < 2; i++) TSR_TRY(multiply(contexts[i], p, p->c[i]));
  TSR_TRY(count_parts(contexts[1], &parts, &natively));
  double native = error_of(p, p->c[0]), emulated = error_of(p, p->c[1]);
  printf("%s,%c,%lld,%lld,%.3g,%.3g,%lld,%d,%d,%d\n", name, (char)p->x.type, (long long)p->x.m,
         (long long)p->x.k, native, emulated, (long long)p->x.k + 2, tsr_moduli_of_type(p->x.type),
         parts, natively);
  fflush(stdout);
  *faults += check(name, family, p, emulated);
  return TSR_OK;
}

static tsr_status tell_family(tsr_context *const contexts[2], const char *name, hard_family family,
                              int64_t extent, int64_t k, int *faults) {
  const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  tsr_status status = TSR_OK;
  for (int t = 0; t < 4 && status == TSR_OK; t++) {
    product p;
    status = make(&p, family, types[t], extent, k)
                 ? tell(contexts, name, family, &p, faults)
                 : tsr_fail(TSR_ERR_MEMORY, "no host memory: give a smaller --extent or --long-k");
    drop(&p);
  }
  return status;
}

static tsr_status tell_all(tsr_context *const contexts[2], const asked *x, int *faults) {
  printf("family,type,n,k,native,emulated,bound,moduli,parts,natively\n");
  for (int family = 0; family < HARD_FAMILIES; family++)
    TSR_TRY(
        tell_family(contexts, hard_names[family], (hard_family)family, x->extent, x->k, faults));
  return tell_family(contexts, "long", HARD_UNIFORM, 4, x->long_k, faults);
}

/* ---- The program ---- */

static bool read_extent(const char *text, long *value) {
  char *end;
  *value = strtol(text, &end, 10);
  return *end == '\0' && *value > 0 && *value < 1000000;
}

static bool read_options(int count, char **words, asked *x) {
  for (int i = 1; i + 1 < count; i += 2) {
    const char *name = words[i], *value = words[i + 1];
    bool good = false;
    if (strcmp(name, "--engine") == 0) good = (x->engine = value) != NULL;
    if (strcmp(name, "--devices") == 0) good = (x->devices = value) != NULL;
    if (strcmp(name, "--extent") == 0) good = read_extent(value, &x->extent);
    if (strcmp(name, "--k") == 0) good = read_extent(value, &x->k);
    if (strcmp(name, "--long-k") == 0) good = read_extent(value, &x->long_k);
    if (!good) return false;
  }
  return count % 2 == 1;
}

int main(int count, char **words) {
  asked x = {.engine = "host", .devices = "2", .extent = 100, .k = 200, .long_k = 70000};
  if (!read_options(count, words, &x))
    return fail("options are --engine NAME, --devices N, --extent N, --k N, --long-k N");
  tsr_context *contexts[2] = {NULL, NULL};
  tsr_status status = TSR_OK;
  int faults = 0;
  for (int i = 0; i < 2 && status == TSR_OK; i++) {
    tsr_options options = TSR_OPTIONS_DEFAULT;
    options.engine = x.engine;
    options.devices = x.devices;
    options.arithmetic = i == 0 ? "native" : "emulated";
    status = tsr_context_create(&options, &contexts[i]);
  }
  if (status == TSR_OK) status = tell_all(contexts, &x, &faults);
  if (status != TSR_OK) fail(tsr_message());
  for (int i = 0; i < 2; i++) tsr_context_destroy(contexts[i]);
  return status != TSR_OK ? 2 : faults > 0;
}
