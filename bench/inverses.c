/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * This program measures the kernel INVERT, the inverse of a triangle, on a device. It writes a line
 * of CSV for each type and order of the triangle to standard output:
 *
 *   lower_us, upper_us   microseconds of a kernel, of a lower and of an upper triangle
 *
 *   tessera-bench-inverses [--engine NAME] [--orders N,N,..] [--seconds S]
 *
 * Each kernel is repeated for S seconds (0.1), in five turns of which the fastest counts; kernels
 * follow each other without gaps. The triangle is an identity, so that no device comes to its power
 * limit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic/kernel.h"
#include "one_device.h"

static one_device *device;

/* ---- A line of the table ---- */

static tsr_status tell(tsr_type type, int64_t order, const void *a, void *c, double limit) {
  static const tsr_uplo uplos[] = {TSR_LOWER, TSR_UPPER};
  double us[2];
  for (int u = 0; u < 2; u++) {
    tsr_kernel_args args = {.kernel = TSR_KERNEL_INVERT,
                            .type = type,
                            .transa = TSR_NO_TRANS,
                            .side = TSR_LEFT,
                            .uplo = uplos[u],
                            .diag = TSR_UNIT,
                            .m = order,
                            .n = order,
                            .k = order,
                            .alpha = {1, 0},
                            .a = a,
                            .c = c,
                            .lda = order,
                            .ldc = order};
    TSR_TRY(one_device_time(device, &args, limit, &us[u]));
  }
  printf("%c,%lld,%.1f,%.1f\n", (char)type, (long long)order, us[0], us[1]);
  fflush(stdout);
  return TSR_OK;
}

static tsr_status measure(tsr_type type, int64_t order, double limit) {
  void *a = NULL, *c = NULL;
  tsr_status status = one_device_zeros(device, type, order, order, &a);
  if (status == TSR_OK) status = one_device_zeros(device, type, order, order, &c);
  if (status == TSR_OK) status = tell(type, order, a, c, limit);
  if (a != NULL) device->engine->free(device->state, 0, a);
  if (c != NULL) device->engine->free(device->state, 0, c);
  return status;
}

/* ---- The program ---- */

typedef struct asked {
  const char *engine;
  numbers orders;
  double seconds;
} asked;

static bool read_options(int count, char **words, asked *x) {
  for (int i = 1; i + 1 < count; i += 2) {
    const char *name = words[i], *value = words[i + 1];
    bool good = false;
    if (strcmp(name, "--engine") == 0) good = (x->engine = value) != NULL;
    if (strcmp(name, "--orders") == 0) good = numbers_read(value, &x->orders);
    if (strcmp(name, "--seconds") == 0) good = (x->seconds = atof(value)) > 0;
    if (!good) return false;
  }
  return count % 2 == 1;
}

static tsr_status measure_all(one_device *on, const void *what) {
  const asked *x = what;
  const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  device = on;
  printf("type,order,lower_us,upper_us\n");
  tsr_status status = TSR_OK;
  for (int t = 0; t < 4; t++)
    for (int i = 0; i < x->orders.count && status == TSR_OK; i++)
      status = measure(types[t], x->orders.item[i], x->seconds);
  return status;
}

int main(int count, char **words) {
  asked x = {"host", {{256, 512, 1024}, 3}, 0.1};
  if (!read_options(count, words, &x)) {
    fprintf(stderr,
            "tessera-bench-inverses: options are --engine NAME, --orders N,.., --seconds S\n");
    return 2;
  }
  return one_device_run("tessera-bench-inverses", x.engine, measure_all, &x);
}
