/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Parts of GEMMs, and the cut of a GEMM with odd extents into parts that GPUs compute fast. */
#include "arithmetic/kernel.h"

static size_t size_of_c(const tsr_kernel_args *x) {
  const tsr_type_info *type = tsr_type_get(x->type);
  return x->wide ? tsr_type_get(type->wide)->size : type->size;
}

tsr_kernel_args tsr_kernel_part(const tsr_kernel_args *x, int64_t m, int64_t n, int64_t k,
                                int64_t row, int64_t column, int64_t depth) {
  int64_t size = (int64_t)tsr_type_get(x->type)->size, size_c = (int64_t)size_of_c(x);
  tsr_kernel_args part = *x;
  part.m = m;
  part.n = n;
  part.k = k;
  part.a = (const char *)x->a + tsr_kernel_offset(x->transa, row, depth, x->lda) * size;
  part.b = (const char *)x->b + tsr_kernel_offset(x->transb, depth, column, x->ldb) * size;
  part.c = (char *)x->c + (row + column * x->ldc) * size_c;
  return part;
}

/* ---- Aligned parts ---- */

static bool is_aligned(const void *base, int64_t ld, size_t size) {
  return (uintptr_t)base % TSR_KERNEL_LOAD == 0 && (size_t)ld * size % TSR_KERNEL_LOAD == 0;
}

/* How much of an extent the bulk takes: all of it if no operand is stored along it or if it is a
 * multiple of a load, else its greatest multiple of one. 0: the extent is too short for a cut. */
static int64_t bulk_of(int64_t extent, bool stored, int64_t least, int64_t granule) {
  if (!stored || extent % granule == 0) return extent;
  return extent < least ? 0 : extent / granule * granule;
}

/* The extents of the bulk; false: a cut is of no use. */
static bool cut(const tsr_kernel_args *x, int64_t least, int64_t *m, int64_t *n, int64_t *k) {
  size_t size = tsr_type_get(x->type)->size;
  int64_t granule = tsr_kernel_granule(size);
  bool across_a = x->transa != TSR_NO_TRANS, across_b = x->transb != TSR_NO_TRANS;
  *m = bulk_of(x->m, true, least, granule); /* C is stored along it */
  *n = bulk_of(x->n, across_b, least, granule);
  *k = bulk_of(x->k, across_a || !across_b, least, granule);
  if (*m == 0 || *n == 0 || *k == 0) return false;
  if (*k < x->k && tsr_kernel_rounds_sums(x->type, x->wide)) return false;
  return (*m < x->m || *n < x->n || *k < x->k) && is_aligned(x->a, x->lda, size) &&
         is_aligned(x->b, x->ldb, size) && is_aligned(x->c, x->ldc, size_of_c(x));
}

int tsr_kernel_align(const tsr_kernel_args *x, int64_t least, tsr_kernel_args part[4]) {
  int64_t m, n, k;
  int count = 0;
  part[0] = *x;
  if (!cut(x, least, &m, &n, &k)) return 1;
  if (k < x->k) part[count++] = tsr_kernel_part(x, m, n, x->k - k, 0, 0, k);
  part[count] = tsr_kernel_part(x, m, n, k, 0, 0, 0);
  if (count++ > 0) part[1].beta = (tsr_scalar){1, 0};
  if (m < x->m) part[count++] = tsr_kernel_part(x, x->m - m, n, x->k, m, 0, 0);
  if (n < x->n) part[count++] = tsr_kernel_part(x, x->m, x->n - n, x->k, 0, n, 0);
  return count;
}
