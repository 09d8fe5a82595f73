/* Products whose extents are odd, in parts that GPUs are quick at. */
#include "base/kernel.h"

/* Loads of GPUs are of so many bytes, if columns begin and end at multiples of it. */
enum { LOAD = 16 };

static bool is_aligned(const void *base, int64_t ld, size_t size) {
  return (uintptr_t)base % LOAD == 0 && (size_t)ld * size % LOAD == 0;
}

static size_t size_of_c(const tsr_kernel_args *x) {
  const tsr_type_info *type = tsr_type_get(x->type);
  return x->wide ? tsr_type_get(type->wide)->size : type->size;
}

/* What of an extent is done first: all, or the greatest multiple of a load's elements. 0: neither
 * would be of use. Of an extent along which no operand is stored all. */
static int64_t bulk_of(int64_t extent, bool stored, int64_t least, int64_t granule) {
  if (!stored || extent % granule == 0) return extent;
  return extent < least ? 0 : extent / granule * granule;
}

/* Where C is narrower than sums are, a sum in two parts would be rounded twice. */
static bool may_add_twice(const tsr_kernel_args *x) {
  const tsr_type_info *type = tsr_type_get(x->type);
  return type->wide == type->type || x->wide;
}

static tsr_kernel_args part_of(const tsr_kernel_args *x, int64_t m, int64_t n, int64_t k,
                               int64_t row, int64_t column, int64_t depth) {
  size_t size = tsr_type_get(x->type)->size;
  bool across_a = x->transa != TSR_NO_TRANS, across_b = x->transb != TSR_NO_TRANS;
  int64_t a = across_a ? row * x->lda + depth : row + depth * x->lda;
  int64_t b = across_b ? column + depth * x->ldb : column * x->ldb + depth;
  tsr_kernel_args part = *x;
  part.m = m;
  part.n = n;
  part.k = k;
  part.a = (const char *)x->a + (size_t)a * size;
  part.b = (const char *)x->b + (size_t)b * size;
  part.c = (char *)x->c + (size_t)(row + column * x->ldc) * size_of_c(x);
  return part;
}

/* The extents of the bulk; false: there is no use in one. */
static bool cut(const tsr_kernel_args *x, int64_t least, int64_t *m, int64_t *n, int64_t *k) {
  size_t size = tsr_type_get(x->type)->size;
  int64_t granule = size < LOAD ? (int64_t)(LOAD / size) : 1;
  bool across_a = x->transa != TSR_NO_TRANS, across_b = x->transb != TSR_NO_TRANS;
  *m = bulk_of(x->m, true, least, granule); /* C is stored along it */
  *n = bulk_of(x->n, across_b, least, granule);
  *k = bulk_of(x->k, across_a || !across_b, least, granule);
  if (*m == 0 || *n == 0 || *k == 0) return false;
  if (*k < x->k && !may_add_twice(x)) return false;
  return (*m < x->m || *n < x->n || *k < x->k) && is_aligned(x->a, x->lda, size) &&
         is_aligned(x->b, x->ldb, size) && is_aligned(x->c, x->ldc, size_of_c(x));
}

int tsr_kernel_align(const tsr_kernel_args *x, int64_t least, tsr_kernel_args part[4]) {
  int64_t m, n, k;
  int count = 0;
  part[0] = *x;
  if (!cut(x, least, &m, &n, &k)) return 1;
  if (k < x->k) part[count++] = part_of(x, m, n, x->k - k, 0, 0, k);
  part[count] = part_of(x, m, n, k, 0, 0, 0);
  if (count++ > 0) part[1].beta = (tsr_scalar){1, 0};
  if (m < x->m) part[count++] = part_of(x, x->m - m, n, x->k, m, 0, 0);
  if (n < x->n) part[count++] = part_of(x, x->m, x->n - n, x->k, 0, n, 0);
  return count;
}
