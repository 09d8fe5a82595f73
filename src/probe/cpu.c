/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The CPU's BLAS: the rate of a large product and the time of a small one. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cpu/blas.h"
#include "probe/probe.h"
#include "probe/tuning.h"

enum { MOST = TSR_TUNE_PROBE_CPU_MOST, SMALL = 8, REPEATS = 3, MOST_REPEATS = 100 };

static tsr_kernel_args product(tsr_type type, int64_t n, const void *a, const void *b, void *c) {
  return (tsr_kernel_args){.kernel = TSR_KERNEL_GEMM,
                           .type = type,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .m = n,
                           .n = n,
                           .k = n,
                           .alpha = {1, 0},
                           .a = a,
                           .b = b,
                           .c = c,
                           .lda = n,
                           .ldb = n,
                           .ldc = n};
}

/* *seconds: the least time of several runs; the first ones also wake the BLAS's threads. */
static tsr_status best_time(const tsr_kernel_args *args, double *seconds) {
  double first = tsr_now();
  *seconds = INFINITY;
  for (int i = 0;
       i < REPEATS || (i < MOST_REPEATS && tsr_now() - first < TSR_TUNE_PROBE_CPU_PATIENCE); i++) {
    double start = tsr_now();
    TSR_TRY(tsr_cpu_kernel(args));
    *seconds = fmin(*seconds, tsr_now() - start);
  }
  return TSR_OK;
}

/* *rate [flops/s]: of the first product that takes at least PROBE_CPU_LONG, else of the largest. a,
 * b and c lie one after another in data. */
static tsr_status measure_rate(tsr_type type, char *data, double *rate) {
  for (int64_t n = TSR_TUNE_PROBE_CPU_LEAST; n <= MOST; n *= 2) {
    size_t bytes = (size_t)(n * n) * tsr_type_get(type)->size;
    tsr_kernel_args args = product(type, n, data, data + bytes, data + 2 * bytes);
    double seconds;
    TSR_TRY(best_time(&args, &seconds));
    *rate = tsr_kernel_flops(TSR_KERNEL_GEMM, type, n, n, n) / fmax(seconds, 1e-9);
    if (seconds > TSR_TUNE_PROBE_CPU_LONG) break;
  }
  return TSR_OK;
}

static tsr_status measure(tsr_machine *machine, double *data) {
  double d, s;
  float *floats = (float *)(void *)data;
  size_t count = 3 * (size_t)MOST * MOST;
  for (size_t i = 0; i < count; i++) data[i] = 0.999 + (double)(i % 97);
  TSR_TRY(measure_rate(TSR_D, (char *)data, &d));
  tsr_kernel_args args = product(TSR_D, SMALL, data, data + count / 3, data + 2 * count / 3);
  TSR_TRY(best_time(&args, &machine->cpu_latency));
  for (size_t i = 0; i < count; i++) floats[i] = 0.999f + (float)(i % 97);
  TSR_TRY(measure_rate(TSR_S, (char *)data, &s));
  double rates[TSR_TYPE_COUNT] = {s, d, s, d, s / 2, s / 2, s};
  /* In the order s d c z h b t; the 16-bit types are converted to float and back. */
  memcpy(machine->cpu_flops, rates, sizeof rates);
  return TSR_OK;
}

/* Rates that were found beside other programs are too low, and say so. */
tsr_status tsr_probe_cpu(tsr_machine *machine) {
  bool loaded = tsr_probe_is_loaded("");
  size_t count = (size_t)MOST * MOST;
  double *data = tsr_alloc(3 * count * sizeof *data);
  if (data == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to measure the CPU's BLAS");
  tsr_status status = tsr_cpu_blas_load();
  if (status == TSR_OK) status = measure(machine, data);
  if (loaded) machine->origins.of[TSR_FIGURE_CPU] = TSR_ORIGIN_UNDER_LOAD;
  tsr_dealloc(data);
  return status;
}
