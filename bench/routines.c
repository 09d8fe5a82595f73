/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * This program measures the two ways of symm, hemm and trmm on a GPU beside a GEMM of the same
 * extents (docs/explain/hip.md, "Level-3 routines"). It writes a line of CSV for each routine,
 * type, order of the triangle and number of columns to standard output:
 *
 *   vendor_us, blocks_us, gemm_us   microseconds of a kernel by the vendor's routine, by products
 * of blocks, and of the GEMM
 *
 *   tessera-bench-routines [--engine NAME] [--orders N,N,..] [--lines N,N,..] [--seconds S]
 *     [--block N]
 *
 * --block is the order of the triangles that the products leave, in place of the one that suits. A
 * is on the left and lower. Each kernel is repeated for S seconds (0.02), in five turns of which
 * the fastest counts. The data are zeros, so that no device comes to its power limit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic/kernel.h"
#include "one_device.h"

static one_device *device;

enum { OPERANDS = 3 };

/* ---- A line of the table ---- */

/* The options of the command line. */
typedef struct asked {
  const char *engine;
  numbers orders, lines;
  double seconds;
  int block; /* 0: the one that suits */
} asked;

static tsr_status tell(const asked *x, tsr_kernel kernel, tsr_type type,
                       void *const operand[OPERANDS], int64_t order, int64_t lines) {
  double vendor, blocks, gemm;
  tsr_kernel_args args = {.kernel = kernel,
                          .type = type,
                          .transa = TSR_NO_TRANS,
                          .transb = TSR_NO_TRANS,
                          .side = TSR_LEFT,
                          .uplo = TSR_LOWER,
                          .diag = TSR_NON_UNIT,
                          .m = order,
                          .n = lines,
                          .k = order,
                          .alpha = {1, 0},
                          .a = operand[0],
                          .b = operand[1],
                          .c = operand[2],
                          .lda = order,
                          .ldb = order,
                          .ldc = order};
  tsr_kernel_args product = args;
  product.kernel = TSR_KERNEL_GEMM;
  product.uplo = TSR_GENERAL;
  TSR_TRY(one_device_time(device, &args, x->seconds, &vendor));
  args.blocks = x->block > 0 ? x->block : tsr_kernel_block(kernel, type);
  TSR_TRY(one_device_time(device, &args, x->seconds, &blocks));
  TSR_TRY(one_device_time(device, &product, x->seconds, &gemm));
  printf("%s,%c,%lld,%lld,%.1f,%.1f,%.1f\n", tsr_kernel_get(kernel)->name, (char)type,
         (long long)order, (long long)lines, vendor, blocks, gemm);
  fflush(stdout);
  return TSR_OK;
}

static tsr_status measure(const asked *x, tsr_type type, int64_t order, int64_t lines) {
  static const tsr_kernel kernels[] = {TSR_KERNEL_SYMM, TSR_KERNEL_HEMM, TSR_KERNEL_TRMM};
  void *operand[OPERANDS] = {NULL};
  tsr_status status = TSR_OK;
  for (int i = 0; i < OPERANDS && status == TSR_OK; i++)
    status = one_device_zeros(device, type, order, i == 0 ? order : lines, &operand[i]);
  for (int k = 0; k < 3 && status == TSR_OK; k++)
    if (kernels[k] != TSR_KERNEL_HEMM || tsr_type_get(type)->complex_valued)
      status = tell(x, kernels[k], type, operand, order, lines);
  for (int i = 0; i < OPERANDS; i++)
    if (operand[i] != NULL) device->engine->free(device->state, 0, operand[i]);
  return status;
}

/* ---- The program ---- */

static bool read_options(int count, char **words, asked *x) {
  for (int i = 1; i + 1 < count; i += 2) {
    const char *name = words[i], *value = words[i + 1];
    bool good = false;
    if (strcmp(name, "--engine") == 0) good = (x->engine = value) != NULL;
    if (strcmp(name, "--orders") == 0) good = numbers_read(value, &x->orders);
    if (strcmp(name, "--lines") == 0) good = numbers_read(value, &x->lines);
    if (strcmp(name, "--seconds") == 0) good = (x->seconds = atof(value)) > 0;
    if (strcmp(name, "--block") == 0) good = (x->block = atoi(value)) > 0;
    if (!good) return false;
  }
  return count % 2 == 1;
}

static tsr_status measure_all(one_device *on, const void *what) {
  const asked *x = what;
  const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  device = on;
  printf("routine,type,order,lines,vendor_us,blocks_us,gemm_us\n");
  tsr_status status = TSR_OK;
  for (int t = 0; t < 4; t++)
    for (int i = 0; i < x->orders.count; i++)
      for (int j = 0; j < x->lines.count && status == TSR_OK; j++)
        status = measure(x, types[t], x->orders.item[i], x->lines.item[j]);
  return status;
}

int main(int count, char **words) {
  asked x = {"host", {{512, 1024, 2048}, 3}, {{128, 256, 512, 1024, 2048, 4096}, 6}, 0.02, 0};
  if (!read_options(count, words, &x)) {
    fprintf(stderr,
            "tessera-bench-routines: options are --engine NAME, --orders N,.., "
            "--lines N,.., --seconds S, --block N\n");
    return 2;
  }
  return one_device_run("tessera-bench-routines", x.engine, measure_all, &x);
}
