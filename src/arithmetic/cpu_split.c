/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A number of fp32 is the sum of three parts of bf16, which have 8 bits each: part 0 is the number
 * rounded, part 1 what that leaves, part 2 the rest, exact but for numbers near fp32's least. A
 * product of two is the sum of the products of parts i and j with i + j <= 2; the others are below
 * 2^-24 of it. Line i of plane l begins at byte (l n + i) ld 2 of a block of n lines; ld is
 * tsr_form_ld, in parts.
 */
#include "arithmetic/cpu_split.h"

#include <string.h>

#include "arithmetic/arithmetic.h"

enum { PARTS = 3 };

static float value_of(uint16_t part) {
  uint32_t bits = (uint32_t)part << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The number rounded to bf16, to nearest and ties to even. An infinite value or a NaN keeps its
 * leading bits, and stays infinite or a NaN. */
static uint16_t round_to_part(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bool finite = (bits & 0x7f800000) != 0x7f800000;
  if (!finite) return (uint16_t)(bits >> 16 | ((bits & 0xffff) != 0));
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t *line_of(const void *block, const tsr_lines_range *of, int64_t ld, int plane,
                         int64_t line) {
  uint16_t *first = (uint16_t *)(uintptr_t)block;
  return first + ((int64_t)plane * of->lines + of->first + line) * ld;
}

static void split(const tsr_kernel_args *x) {
  const float *a = x->a;
  for (int64_t i = 0; i < x->n; i++)
    for (int64_t h = 0; h < x->ldc; h++) {
      float rest = h < x->m ? a[tsr_kernel_offset(x->transa, h, i, x->lda)] : 0;
      for (int l = 0; l < PARTS; l++) {
        uint16_t part = round_to_part(rest);
        line_of(x->c, &x->lines.of[2], x->ldc, l, i)[h] = part;
        rest -= value_of(part);
      }
    }
}

/* The small products are summed first. */
static float multiply(const tsr_kernel_args *x, int64_t i, int64_t j) {
  float sum[PARTS] = {0};
  for (int l = 0; l < PARTS; l++)
    for (int r = 0; l + r < PARTS; r++) {
      const uint16_t *left = line_of(x->a, &x->lines.of[0], x->lda, l, i);
      const uint16_t *right = line_of(x->b, &x->lines.of[1], x->ldb, r, j);
      for (int64_t h = 0; h < x->k; h++) sum[l + r] += value_of(left[h]) * value_of(right[h]);
    }
  return sum[2] + sum[1] + sum[0];
}

static void multiply_all(const tsr_kernel_args *x) {
  float *c = x->c, alpha = (float)x->alpha.re, beta = (float)x->beta.re;
  for (int64_t j = 0; j < x->n; j++) {
    int64_t begin, end;
    tsr_triangle_rows(x->uplo, j, x->m, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
      float *at = &c[i + j * x->ldc];
      float product = alpha * multiply(x, i, j);
      *at = beta != 0 ? product + beta * *at : product;
    }
  }
}

void tsr_cpu_split(const tsr_kernel_args *x) {
  if (x->kernel == TSR_KERNEL_SPLIT)
    split(x);
  else
    multiply_all(x);
}
