/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * This program tells what judging a product in residues costs (docs/explain/arithmetic.md, "The
 * certificate"). It writes three lines of CSV for each type and extent to standard output:
 *
 *   quantiles   uniform data, which quantiles promise; overlaps are switched off
 *   launches    the same data, with the kernels of overlaps, which find that nothing is undecided
 *   overlaps    lines like those of Hilbert's matrix, which overlaps decide
 *
 * seconds are those of the product of extent x extent x extent elements by one device, whose
 * residues have been made; refused: whether its accuracy could not be promised, so that nothing was
 * computed; share: seconds / seconds of the first line - 1. A refused product tells nothing about
 * the cost.
 *
 *   tessera-bench-judging [--engine NAME] [--extents N,N,..] [--seconds S]
 *
 * Each product is repeated for S seconds (1).
 */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic/arithmetic.h"
#include "arithmetic/hard_data.h"
#include "arithmetic/kernel.h"
#include "arithmetic/moduli.h"
#include "base/clock.h"
#include "one_device.h"

static one_device *device;

/* ---- Memory of the device ---- */

enum { MATRIX, RESIDUES_OF_A, RESIDUES_OF_B, RESULT, BLOCKS };

typedef struct blocks {
  void *device[BLOCKS], *host;
  int32_t *verdict; /* of pinned memory, as the host is */
} blocks;

static tsr_status make(size_t matrix, size_t residues, blocks *b) {
  for (int i = 0; i < BLOCKS; i++) {
    bool has_residues = i == RESIDUES_OF_A || i == RESIDUES_OF_B;
    TSR_TRY(
        device->engine->alloc(device->state, 0, has_residues ? residues : matrix, &b->device[i]));
  }
  TSR_TRY(device->engine->alloc(device->state, TSR_HOST, matrix, &b->host));
  void *verdict;
  TSR_TRY(device->engine->alloc(device->state, TSR_HOST, 16, &verdict));
  b->verdict = verdict;
  return TSR_OK;
}

static void drop(blocks *b) {
  for (int i = 0; i < BLOCKS; i++)
    if (b->device[i] != NULL) device->engine->free(device->state, 0, b->device[i]);
  if (b->host != NULL) device->engine->free(device->state, TSR_HOST, b->host);
  if (b->verdict != NULL) device->engine->free(device->state, TSR_HOST, b->verdict);
}

/* ---- A line of the table ---- */

/* The residues of lines of n elements of a family of data; second: of B's. */
static tsr_status convert(const blocks *b, tsr_type type, hard_family family, bool second,
                          int64_t n) {
  size_t bytes = (size_t)(n * n) * tsr_type_get(type)->size;
  hard_fill(family, type, true, TSR_NO_TRANS, n, n, n, 1 + (uint64_t)second, b->host);
  tsr_copy_args copy = {b->device[MATRIX], b->host, 0, TSR_HOST, bytes, bytes, bytes, 1};
  tsr_kernel_args args = {.kernel = TSR_KERNEL_RESIDUES,
                          .type = type,
                          .transa = TSR_NO_TRANS,
                          .transb = TSR_NO_TRANS,
                          .m = n,
                          .n = n,
                          .alpha = {1, 0},
                          .a = b->device[MATRIX],
                          .lda = n,
                          .c = b->device[second ? RESIDUES_OF_B : RESIDUES_OF_A],
                          .ldc = tsr_residues_ld(n)};
  args.lines.arithmetic = tsr_residues_of(tsr_moduli_of_type(type));
  args.lines.of[2] = (tsr_lines_range){0, n};
  TSR_TRY(device->engine->copy(device->queue, &copy));
  TSR_TRY(device->engine->kernel(device->queue, &args));
  return one_device_wait(device);
}

static tsr_kernel_args product(const blocks *b, tsr_type type, int64_t n, bool overlaps) {
  tsr_kernel_args args = {.kernel = TSR_KERNEL_RESIDUE_GEMM,
                          .type = type,
                          .transa = TSR_TRANS,
                          .transb = TSR_NO_TRANS,
                          .m = n,
                          .n = n,
                          .k = n,
                          .alpha = {1, 0},
                          .a = b->device[RESIDUES_OF_A],
                          .b = b->device[RESIDUES_OF_B],
                          .c = b->device[RESULT],
                          .lda = tsr_residues_ld(n),
                          .ldb = tsr_residues_ld(n),
                          .ldc = n};
  int moduli = tsr_moduli_of_type(type);
  args.lines = (tsr_lines_args){.arithmetic = tsr_residues_of(moduli),
                                .tolerance = tsr_moduli_tolerance(type, moduli, n),
                                .overlaps = overlaps,
                                .of = {{0, n}, {0, n}, {0, 0}}};
  args.verdict = b->verdict;
  return args;
}

/* *each: seconds of a product, repeated for `limit` seconds after one that loads its code. */
static tsr_status time_product(const tsr_kernel_args *args, double limit, double *each) {
  TSR_TRY(device->engine->kernel(device->queue, args));
  TSR_TRY(one_device_wait(device));
  double begin = tsr_now();
  int repeats = 0;
  do {
    for (int i = 0; i < 4; i++) TSR_TRY(device->engine->kernel(device->queue, args));
    TSR_TRY(one_device_wait(device));
    repeats += 4;
    *each = (tsr_now() - begin) / repeats;
  } while (tsr_now() - begin < limit);
  return TSR_OK;
}

static tsr_status tell(const blocks *b, const char *name, tsr_type type, int64_t n, bool overlaps,
                       double limit, double *first) {
  double each;
  tsr_kernel_args args = product(b, type, n, overlaps);
  *b->verdict = 0;
  TSR_TRY(time_product(&args, limit, &each));
  if (*first == 0) *first = each;
  printf("%s,%c,%lld,%d,%d,%.6g,%.4f\n", name, (char)type, (long long)n,
         args.lines.arithmetic->number, *b->verdict, each, each / *first - 1);
  fflush(stdout);
  return TSR_OK;
}

static tsr_status tell_extent(const blocks *b, tsr_type type, int64_t n, double limit) {
  double first = 0;
  for (int side = 0; side < 2; side++) TSR_TRY(convert(b, type, HARD_UNIFORM, side == 1, n));
  TSR_TRY(tell(b, "quantiles", type, n, false, limit, &first));
  TSR_TRY(tell(b, "launches", type, n, true, limit, &first));
  for (int side = 0; side < 2; side++) TSR_TRY(convert(b, type, HARD_HILBERT, side == 1, n));
  return tell(b, "overlaps", type, n, true, limit, &first);
}

static tsr_status measure(tsr_type type, int64_t n, double limit) {
  blocks b = {0};
  tsr_status status =
      make((size_t)(n * n) * tsr_type_get(type)->size,
           tsr_form_bytes(tsr_residues_for(type, 0, 0), &(tsr_promise){0}, type, n, n), &b);
  if (status == TSR_OK) status = tell_extent(&b, type, n, limit);
  drop(&b);
  return status;
}

/* ---- The program ---- */

typedef struct asked {
  const char *engine;
  numbers extents;
  double seconds;
} asked;

static bool read_options(int count, char **words, asked *x) {
  for (int i = 1; i + 1 < count; i += 2) {
    const char *name = words[i], *value = words[i + 1];
    bool good = false;
    if (strcmp(name, "--engine") == 0) good = (x->engine = value) != NULL;
    if (strcmp(name, "--extents") == 0) good = numbers_read(value, &x->extents);
    if (strcmp(name, "--seconds") == 0) good = (x->seconds = atof(value)) > 0;
    if (!good) return false;
  }
  return count % 2 == 1;
}

static tsr_status measure_all(one_device *on, const void *what) {
  const asked *x = what;
  const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  device = on;
  printf("judged,type,n,moduli,refused,seconds,share\n");
  tsr_status status = TSR_OK;
  for (int t = 0; t < 4 && status == TSR_OK; t++)
    for (int i = 0; i < x->extents.count && status == TSR_OK; i++)
      status = measure(types[t], x->extents.item[i], x->seconds);
  return status;
}

int main(int count, char **words) {
  asked x = {.engine = "host", .extents = {{256}, 1}, .seconds = 1};
  if (!read_options(count, words, &x)) {
    fprintf(stderr,
            "tessera-bench-judging: options are --engine NAME, --extents N,.., "
            "--seconds S\n");
    return 2;
  }
  return one_device_run("tessera-bench-judging", x.engine, measure_all, &x);
}
