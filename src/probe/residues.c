/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures the kernels on residues (arithmetic/moduli.h) of the first device, with the usual moduli
 * of a type. */
#include <float.h>
#include <math.h>

#include "arithmetic/arithmetic.h"
#include "probe/bench.h"

/* The buffers of the bench: the matrix whose lines become residues, these, and C. */
enum { MATRIX, RESIDUES, RESULT };

/* Emulated devices take so long that only products of this extent are measured. */
enum { QUICK_MOST = 64 };

/* Products in residues with the type's usual moduli; NULL: the engine or the type has none. */
static const tsr_arithmetic *usual(const tsr_bench *b, tsr_type type) {
  bool has = b->engine->traits.forms >> TSR_KERNEL_RESIDUES & 1;
  return has ? tsr_residues_for(type, 0, 0) : NULL;
}

/* The residues of `lines` lines of k elements: columns, or rows if turned. */
static tsr_kernel_args conversion(const tsr_bench *b, tsr_type type, int64_t k, int64_t lines,
                                  bool turned) {
  tsr_kernel_args args = {.kernel = TSR_KERNEL_RESIDUES,
                          .type = type,
                          .transa = turned ? TSR_TRANS : TSR_NO_TRANS,
                          .transb = TSR_NO_TRANS,
                          .m = k,
                          .n = lines,
                          .alpha = {1, 0},
                          .a = b->buffer[0][MATRIX],
                          .lda = turned ? lines : k,
                          .c = b->buffer[0][RESIDUES],
                          .ldc = tsr_form_ld(k)};
  args.lines.arithmetic = usual(b, type);
  args.lines.of[2] = (tsr_lines_range){0, lines};
  return args;
}

/* C is the product of the lines with themselves; no accuracy is asked for. */
static tsr_kernel_args product(const tsr_bench *b, tsr_type type, int64_t area, int64_t k) {
  tsr_kernel_args args = {.kernel = TSR_KERNEL_RESIDUE_GEMM,
                          .type = type,
                          .transa = TSR_TRANS,
                          .transb = TSR_NO_TRANS,
                          .m = area,
                          .n = area,
                          .k = k,
                          .alpha = {1, 0},
                          .a = b->buffer[0][RESIDUES],
                          .b = b->buffer[0][RESIDUES],
                          .c = b->buffer[0][RESULT],
                          .lda = tsr_form_ld(k),
                          .ldb = tsr_form_ld(k),
                          .ldc = area};
  args.lines = (tsr_lines_args){.arithmetic = usual(b, type),
                                .tolerance = DBL_MAX,
                                .overlaps = b->engine->traits.overlaps, /* launches count */
                                .of = {{0, area}, {0, area}, {0, 0}}};
  return args;
}

static bool fits(const tsr_bench *b, tsr_type type, int64_t area, int64_t k) {
  size_t size = tsr_type_get(type)->size, long_side = (size_t)(area > k ? area : k);
  return tsr_form_bytes(usual(b, type), &(tsr_promise){0}, type, k, area) <= b->bytes &&
         (size_t)area * long_side * size <= b->bytes &&
         (!b->options->quick || long_side <= QUICK_MOST);
}

/* The row of the largest cube that fits. */
static int largest_row(const tsr_bench *b, tsr_type type, const tsr_rates *rates) {
  int row = rates->areas - 1;
  while (row > 0 && !fits(b, type, (int64_t)rates->area[row], (int64_t)rates->area[row])) row--;
  return row;
}

/* *each: seconds of a kernel, repeated for `limit` seconds, without the fixed cost of its launches,
 * after two that load its code and tell about how long it takes. */
static tsr_status time_kernel(tsr_bench *b, const tsr_kernel_args *args, double limit,
                              double *each) {
  enum { MOST = 1 << 12 };
  double once;
  for (int i = 0; i < 2; i++) TSR_TRY(tsr_bench_kernels(b, 0, args, 1, false, &once));
  int repeats = once * MOST < limit ? MOST : once < limit ? (int)(limit / once) : 1;
  TSR_TRY(tsr_bench_kernels(b, 0, args, repeats, false, each));
  *each = fmax(*each - tsr_form_latency(&b->machine->device[0]), 0.3 * *each);
  return TSR_OK;
}

static tsr_status measure_point(tsr_bench *b, tsr_type type, int64_t area, int64_t k, double limit,
                                double *flops) {
  double each, once;
  tsr_kernel_args making = conversion(b, type, k, area, false), args = product(b, type, area, k);
  TSR_TRY(tsr_bench_kernels(b, 0, &making, 1, false, &once));
  TSR_TRY(time_kernel(b, &args, limit, &each));
  *flops = tsr_kernel_flops(TSR_KERNEL_GEMM, type, area, area, k) / each;
  return TSR_OK;
}

/* The rate of a product that is too large for the buffers: from one with fewer rows and columns it
 * grows as with a shorter k. */
static double extrapolated(const double flops[TSR_RATE_POINTS][TSR_RATE_POINTS], int i, int j) {
  if (i == 0) return flops[i][j - 1];
  if (j == 0) return flops[i - 1][j];
  return flops[i - 1][j] * fmax(1, flops[i][j - 1] / flops[i - 1][j - 1]);
}

static tsr_status measure_shapes(tsr_bench *b, tsr_type type, tsr_rates *rates) {
  double limit = b->options->quick ? 0 : TSR_TUNE_PROBE_KERNEL_TIME;
  struct tsr_emulated *to = &rates->emulated;
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) {
      int64_t area = (int64_t)rates->area[i], k = (int64_t)rates->k[j];
      if (fits(b, type, area, k))
        TSR_TRY(measure_point(b, type, area, k, limit, &to->flops[i][j]));
      else
        to->flops[i][j] = extrapolated(to->flops, i, j);
    }
  return TSR_OK;
}

/* The largest cube that fits, for so long that the device is at its power limit. What it loses by
 * that, larger products lose, too. */
static tsr_status measure_sustained(tsr_bench *b, tsr_type type, tsr_rates *rates) {
  double limit = b->options->quick ? 0 : TSR_TUNE_PROBE_SUSTAIN, warming, flops = 0;
  int row = largest_row(b, type, rates);
  int64_t n = (int64_t)rates->area[row];
  TSR_TRY(measure_point(b, type, n, n, limit, &warming));
  TSR_TRY(measure_point(b, type, n, n, limit, &flops));
  double best = tsr_rates_greatest(rates, rates->emulated.flops);
  rates->emulated.sustained = best * fmin(1, flops / rates->emulated.flops[row][row]);
  return TSR_OK;
}

/* Elements/s of which residues are made: the mean of columns and rows. */
static tsr_status measure_conversion(tsr_bench *b, tsr_type type, tsr_rates *rates) {
  double limit = b->options->quick ? 0 : TSR_TUNE_PROBE_KERNEL_TIME, each[2];
  int row = largest_row(b, type, rates);
  double n = rates->area[row];
  for (int turned = 0; turned < 2; turned++) {
    tsr_kernel_args args = conversion(b, type, (int64_t)n, (int64_t)n, turned == 1);
    TSR_TRY(time_kernel(b, &args, limit, &each[turned]));
  }
  rates->emulated.elements = 2 * n * n / (each[0] + each[1]);
  return TSR_OK;
}

tsr_status tsr_probe_residues(tsr_bench *b, tsr_type type) {
  tsr_rates *rates = &b->machine->rates[tsr_type_index(type)];
  if (usual(b, type) == NULL || !fits(b, type, (int64_t)rates->area[0], (int64_t)rates->k[0]))
    return TSR_OK;
  TSR_TRY(measure_conversion(b, type, rates));
  TSR_TRY(measure_shapes(b, type, rates));
  return measure_sustained(b, type, rates);
}
