/* The CPU's BLAS: how fast a large product is, and what a small call costs. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cpu_blas.h"
#include "run/probe.h"

enum { LARGE = 384, SMALL = 8, REPEATS = 3 };

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

/* The best of some: the first one also wakes the BLAS's threads. */
static tsr_status best_time(const tsr_kernel_args *args, double *seconds) {
  *seconds = 1e30;
  for (int i = 0; i < REPEATS; i++) {
    double start = tsr_now();
    TSR_TRY(tsr_cpu_kernel(args));
    double took = tsr_now() - start;
    if (took < *seconds) *seconds = took;
  }
  return TSR_OK;
}

static tsr_status measure(tsr_machine *machine, double *a) {
  double d, s, latency;
  size_t count = (size_t)LARGE * LARGE;
  for (size_t i = 0; i < 3 * count; i++) a[i] = 0.999 + (double)(i % 97);
  tsr_kernel_args args = product(TSR_D, LARGE, a, a + count, a + 2 * count);
  TSR_TRY(best_time(&args, &d));
  args = product(TSR_D, SMALL, a, a + count, a + 2 * count);
  TSR_TRY(best_time(&args, &latency));
  float *f = (float *)(void *)a;
  for (size_t i = 0; i < 3 * count; i++) f[i] = 0.999f + (float)(i % 97);
  args = product(TSR_S, LARGE, f, f + count, f + 2 * count);
  TSR_TRY(best_time(&args, &s));
  double flops = 2.0 * LARGE * LARGE * LARGE;
  double rates[TSR_TYPE_COUNT] = {flops / s,     flops / d,     flops / s, flops / d,
                                  flops / s / 2, flops / s / 2, flops / s};
  memcpy(machine->cpu_flops, rates, sizeof rates); /* 16 bits: by way of float, s d c z h b t */
  machine->cpu_latency = latency;
  return TSR_OK;
}

tsr_status tsr_probe_cpu(tsr_machine *machine) {
  size_t count = (size_t)LARGE * LARGE;
  double *data = tsr_alloc(3 * count * sizeof *data);
  if (data == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to measure the CPU's BLAS");
  tsr_status status = tsr_cpu_blas_load();
  if (status == TSR_OK) status = measure(machine, data);
  tsr_dealloc(data);
  return status;
}
