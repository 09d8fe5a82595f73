/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Level-3 routines by products of blocks: the triangle (of A, or of C in a rank-k update) is halved
 * until its parts are small enough; what lies beside the parts are products, GEMMs, which vendors
 * tune best. The parts are left to the vendor's routine, except those of symm, hemm and trmm, which
 * become GEMMs, too (filled.c, triangle.c). The plan asks for this way (blocks in tsr_kernel_args)
 * where the probe found it faster than the vendor's routine alone.
 *
 * The halves are called 1 and 2, and off is the block of the stored triangle beside them: A21 or
 * A12.
 */
#include "engine/gpu/internal.h"

/* A routine whose triangle is halved. */
typedef struct halving {
  tsr_queue *queue;
  const tsr_kernel_args *x;
  int64_t half, rest; /* orders of the parts 1 and 2 */
  const void *off;    /* rest x half or half x rest, in A; NULL: a rank-k update */
} halving;

static const void *element(const tsr_kernel_args *x, const void *matrix, int64_t row,
                           int64_t column, int64_t ld) {
  return (const char *)matrix + (size_t)(row + column * ld) * tsr_type_get(x->type)->size;
}

static void *element_of_c(const tsr_kernel_args *x, int64_t row, int64_t column) {
  return (void *)(uintptr_t)element(x, x->c, row, column, x->ldc);
}

static tsr_status gemm(const halving *h, tsr_kernel_args product) {
  product.kernel = TSR_KERNEL_GEMM;
  product.type = h->x->type;
  product.ldc = h->x->ldc;
  return gpu_gemm(h->queue, &product);
}

static const tsr_scalar one = {1, 0}, minus_one = {-1, 0};

/* ---- A triangle of A: symm, hemm, trmm, trsm -------------------------------- */

/* Part 1 or 2: with its diagonal block of A, and its rows (columns, if A is on the right) of B and
 * C. */
static tsr_kernel_args part_of(const halving *h, int part) {
  const tsr_kernel_args *x = h->x;
  int64_t first = part == 1 ? 0 : h->half, order = part == 1 ? h->half : h->rest;
  bool left = x->side != TSR_RIGHT;
  tsr_kernel_args y = *x;
  y.a = element(x, x->a, first, first, x->lda);
  if (x->b) y.b = left ? element(x, x->b, first, 0, x->ldb) : element(x, x->b, 0, first, x->ldb);
  y.c = left ? element_of_c(x, first, 0) : element_of_c(x, 0, first);
  *(left ? &y.m : &y.n) = order;
  return y;
}

/* C of the part `to` = alpha op(off) S + beta C, or alpha S op(off) + beta C with A on the right; S
 * is the other part of `from`. */
static tsr_status multiply(const halving *h, int to, tsr_op op, const void *from, int64_t ld,
                           tsr_scalar alpha, tsr_scalar beta) {
  const tsr_kernel_args *x = h->x;
  bool left = x->side != TSR_RIGHT;
  int64_t at = to == 1 ? h->half : 0, order = to == 1 ? h->half : h->rest;
  int64_t inner = to == 1 ? h->rest : h->half;
  const void *source = left ? element(x, from, at, 0, ld) : element(x, from, 0, at, ld);
  tsr_kernel_args c = part_of(h, to);
  return gemm(h, (tsr_kernel_args){.transa = left ? op : TSR_NO_TRANS,
                                   .transb = left ? TSR_NO_TRANS : op,
                                   .m = left ? order : x->m,
                                   .n = left ? x->n : order,
                                   .k = inner,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .a = left ? h->off : source,
                                   .b = left ? source : h->off,
                                   .c = c.c,
                                   .lda = left ? x->lda : ld,
                                   .ldb = left ? ld : x->lda});
}

/* The block of A that is not stored is the transpose of off, or its conjugate. */
static tsr_status multiply_symmetric(const halving *h) {
  const tsr_kernel_args *x = h->x;
  bool hermitian = tsr_kernel_get(x->kernel)->traits & TSR_HERMITIAN;
  tsr_op other = hermitian ? TSR_CONJ_TRANS : TSR_TRANS;
  bool left = x->side != TSR_RIGHT, lower = x->uplo != TSR_UPPER;
  /* On the left part 2 takes A21, on the right A12. */
  tsr_op of_2 = lower == left ? TSR_NO_TRANS : other, of_1 = lower == left ? other : TSR_NO_TRANS;
  tsr_kernel_args first = part_of(h, 1), second = part_of(h, 2);
  TSR_TRY(gpu_blocked(h->queue, &first));
  TSR_TRY(gpu_blocked(h->queue, &second));
  TSR_TRY(multiply(h, 1, of_1, x->b, x->ldb, x->alpha, one));
  return multiply(h, 2, of_2, x->b, x->ldb, x->alpha, one);
}

/* The part of C to which a product with off is added. With A on the left that is the part whose
 * rows of op(A) go through off; with A on the right, whose columns do. */
static int part_with_off(const tsr_kernel_args *x) {
  bool lower = (x->uplo != TSR_UPPER) == (x->transa == TSR_NO_TRANS);
  return lower == (x->side != TSR_RIGHT) ? 2 : 1;
}

static tsr_status multiply_triangular(const halving *h) {
  const tsr_kernel_args *x = h->x;
  tsr_kernel_args first = part_of(h, 1), second = part_of(h, 2);
  TSR_TRY(gpu_blocked(h->queue, &first));
  TSR_TRY(gpu_blocked(h->queue, &second));
  return multiply(h, part_with_off(x), x->transa, x->b, x->ldb, x->alpha, one);
}

/* Solves the part without off first, and subtracts its solution times off from the other part. */
static tsr_status solve(const halving *h) {
  const tsr_kernel_args *x = h->x;
  int later = part_with_off(x);
  tsr_kernel_args first = part_of(h, 3 - later), second = part_of(h, later);
  TSR_TRY(gpu_blocked(h->queue, &first));
  TSR_TRY(multiply(h, later, x->transa, x->c, x->ldc, minus_one, x->alpha));
  second.alpha = one;
  return gpu_blocked(h->queue, &second);
}

/* ---- A triangle of C: rank-k updates ---------------------------------------- */

/* Rows `first` and later of op(matrix). */
static const void *rows_of(const tsr_kernel_args *x, const void *matrix, int64_t ld,
                           int64_t first) {
  if (matrix == NULL) return NULL;
  return x->transa == TSR_NO_TRANS ? element(x, matrix, first, 0, ld)
                                   : element(x, matrix, 0, first, ld);
}

static tsr_kernel_args update_part(const halving *h, int part) {
  const tsr_kernel_args *x = h->x;
  int64_t first = part == 1 ? 0 : h->half;
  tsr_kernel_args y = *x;
  y.a = rows_of(x, x->a, x->lda, first);
  y.b = rows_of(x, x->b, x->ldb, first);
  y.c = element_of_c(x, first, first);
  y.m = y.n = part == 1 ? h->half : h->rest;
  return y;
}

/* The block of C beside the parts = alpha times rows of op(a) times rows of op(b), transposed; plus
 * beta times the block. */
static tsr_status update_beside(const halving *h, const void *a, int64_t lda, const void *b,
                                int64_t ldb, tsr_scalar alpha, tsr_scalar beta) {
  const tsr_kernel_args *x = h->x;
  bool hermitian = tsr_kernel_get(x->kernel)->traits & TSR_HERMITIAN;
  bool lower = x->uplo != TSR_UPPER, plain = x->transa == TSR_NO_TRANS;
  int64_t row = lower ? h->half : 0, column = lower ? 0 : h->half;
  return gemm(h, (tsr_kernel_args){.transa = plain ? TSR_NO_TRANS : x->transa,
                                   .transb = !plain      ? TSR_NO_TRANS
                                             : hermitian ? TSR_CONJ_TRANS
                                                         : TSR_TRANS,
                                   .m = lower ? h->rest : h->half,
                                   .n = lower ? h->half : h->rest,
                                   .k = x->k,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .a = rows_of(x, a, lda, row),
                                   .b = rows_of(x, b, ldb, column),
                                   .c = element_of_c(x, row, column),
                                   .lda = lda,
                                   .ldb = ldb});
}

static tsr_status update(const halving *h) {
  const tsr_kernel_args *x = h->x;
  bool hermitian = tsr_kernel_get(x->kernel)->traits & TSR_HERMITIAN;
  tsr_kernel_args first = update_part(h, 1), second = update_part(h, 2);
  tsr_scalar other = {x->alpha.re, hermitian ? -x->alpha.im : x->alpha.im};
  TSR_TRY(gpu_blocked(h->queue, &first));
  TSR_TRY(gpu_blocked(h->queue, &second));
  if (x->kernel == TSR_KERNEL_SYRK || x->kernel == TSR_KERNEL_HERK)
    return update_beside(h, x->a, x->lda, x->a, x->lda, x->alpha, x->beta);
  TSR_TRY(update_beside(h, x->a, x->lda, x->b, x->ldb, x->alpha, x->beta));
  return update_beside(h, x->b, x->ldb, x->a, x->lda, other, one);
}

/* ---- Any of them -------------------------------------------------------------- */

static tsr_status (*const ways[TSR_KERNEL_COUNT])(const halving *) = {
    [TSR_KERNEL_SYMM] = multiply_symmetric,
    [TSR_KERNEL_HEMM] = multiply_symmetric,
    [TSR_KERNEL_SYRK] = update,
    [TSR_KERNEL_HERK] = update,
    [TSR_KERNEL_SYR2K] = update,
    [TSR_KERNEL_HER2K] = update,
    [TSR_KERNEL_TRMM] = multiply_triangular,
    [TSR_KERNEL_TRSM] = solve,
};

static tsr_status compute_leaf(tsr_queue *queue, const tsr_kernel_args *x) {
  if (x->kernel == TSR_KERNEL_TRMM && tsr_kernel_reads_c(x)) return gpu_need_scratch(queue);
  return gpu_can_fill(queue, x) ? gpu_multiply_filled(queue, x) : gpu_level3(queue, x);
}

tsr_status gpu_blocked(tsr_queue *queue, const tsr_kernel_args *x) {
  bool of_c = tsr_kernel_get(x->kernel)->traits & TSR_TRIANGLE_OF_C;
  int64_t order = of_c || x->side == TSR_RIGHT ? x->n : x->m, leaf = x->blocks;
  if (gpu_can_multiply(queue, x)) return gpu_multiply_triangle(queue, x);
  if (order <= leaf) return compute_leaf(queue, x);
  int64_t half = (order / 2 + leaf - 1) / leaf * leaf;
  halving h = {.queue = queue, .x = x, .half = half, .rest = order - half};
  bool lower = x->uplo != TSR_UPPER;
  if (!of_c) h.off = element(x, x->a, lower ? half : 0, lower ? 0 : half, x->lda);
  return ways[x->kernel](&h);
}
