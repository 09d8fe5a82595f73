/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * trmm by GEMMs. Squares on A's diagonal are copied to the queue's scratch memory with zeros beside
 * their triangle, and multiplied as a whole. Products with the rest of the triangle are added, in
 * levels: first those with the blocks beside pairs of squares, then beside pairs of these, and so
 * on. Products of one level are independent of each other.
 *
 * The zeros of a square meet rows of B (columns, with A on the right) on which an element of the
 * result does not depend, and 0 times an infinity or NaN is NaN. So a kernel looks at every line of
 * B (a column, with A on the right a row), which costs one reading of B, and computes the result's
 * line as sums over the triangle alone if the line of B has such an element. If beta is 0 it does
 * so after the products. Else the sums need the old C, so they are made before the products, kept
 * in the scratch memory, and put into C after the products.
 */
#include <math.h>

#include "engine/gpu/internal.h"

/* One trmm, on some of its lines. */
typedef struct triangle {
  tsr_queue *queue;
  const tsr_kernel_args *x; /* m or n: the lines */
  int64_t leaf, ld;         /* order and leading dimension of the squares, one behind the other */
  int *mended;              /* for each line, whether `sums` has it */
  void *sums;               /* as C, but without gaps between columns */
} triangle;

enum { ALIGNMENT = 256, LINES_LEAST = 512, ROUND = 64 };

static bool is_left(const tsr_kernel_args *x) {
  return x->side != TSR_RIGHT;
}

static size_t size_of(const tsr_kernel_args *x) {
  return tsr_type_get(x->type)->size;
}

static int64_t leaf_of(const tsr_kernel_args *x) {
  int64_t order = gpu_order_of(x);
  return x->blocks > 0 && x->blocks < order ? x->blocks : order;
}

/* Columns of squares are aligned to a load, since products of others are slow
 * (tsr_kernel_minds_alignment). */
static int64_t ld_of(const tsr_kernel_args *x) {
  int64_t granule = tsr_kernel_granule(size_of(x));
  return (leaf_of(x) + granule - 1) / granule * granule;
}

/* Bytes of all squares; the last one may be smaller than there is memory for. */
static double bytes_of_squares(const tsr_kernel_args *x) {
  double leaf = (double)leaf_of(x);
  return ceil((double)gpu_order_of(x) / leaf) * leaf * (double)ld_of(x) * (double)size_of(x);
}

/* Lines whose sums fit the scratch memory beside the squares. */
static int64_t lines_at_once(const tsr_kernel_args *x) {
  double line = (double)gpu_order_of(x) * (double)size_of(x) + sizeof(int);
  double left = (double)gpu_scratch_bytes() - bytes_of_squares(x) - 2 * ALIGNMENT;
  return left > 0 ? (int64_t)(left / line) / ROUND * ROUND : 0;
}

bool gpu_can_multiply(tsr_queue *queue, const tsr_kernel_args *x) {
  int64_t lines = gpu_lines_of(x), least = lines < LINES_LEAST ? lines : LINES_LEAST;
  if (x->kernel != TSR_KERNEL_TRMM || bytes_of_squares(x) > TSR_FILLED_MOST) return false;
  if (tsr_kernel_reads_c(x) && lines_at_once(x) < least) return false;
  return gpu_scratch(queue) == gpuSuccess;
}

/* ---- Kernels ---------------------------------------------------------------- */

static tsr_status launched(const triangle *t, int error) {
  GPU_TRY((gpuError)error, "launching a kernel", t->queue->index);
  return TSR_OK;
}

static tsr_status make_squares(const triangle *t) {
  const tsr_kernel_args *x = t->x;
  tsr_gpu_squares squares = {.type = (char)x->type,
                             .uplo = (char)x->uplo,
                             .unit = x->diag == TSR_UNIT,
                             .n = gpu_order_of(x),
                             .leaf = t->leaf,
                             .a = x->a,
                             .lda = x->lda,
                             .squares = t->queue->scratch,
                             .ld = t->ld};
  return launched(t, tsr_gpu_squares_launch(&squares, t->queue->stream));
}

/* Sums are in C, or in t->sums if the old C is read. */
static tsr_gpu_mend mend_of(const triangle *t) {
  const tsr_kernel_args *x = t->x;
  bool reads = tsr_kernel_reads_c(x);
  return (tsr_gpu_mend){.type = (char)x->type,
                        .uplo = (char)x->uplo,
                        .op = (char)x->transa,
                        .unit = x->diag == TSR_UNIT,
                        .right = !is_left(x),
                        .order = gpu_order_of(x),
                        .lines = gpu_lines_of(x),
                        .alpha = {x->alpha.re, x->alpha.im},
                        .beta = {x->beta.re, x->beta.im},
                        .a = x->a,
                        .lda = x->lda,
                        .b = x->b,
                        .ldb = x->ldb,
                        .old = reads ? x->c : NULL,
                        .ldold = x->ldc,
                        .c = reads ? t->sums : x->c,
                        .ldc = reads ? x->m : x->ldc,
                        .mended = reads ? t->mended : NULL};
}

static tsr_status mend(const triangle *t) {
  tsr_gpu_mend sums = mend_of(t);
  return launched(t, tsr_gpu_mend_launch(&sums, t->queue->stream));
}

static tsr_status put_sums(const triangle *t) {
  tsr_gpu_mend sums = mend_of(t);
  return launched(t, tsr_gpu_put_lines_launch(&sums, t->x->c, t->x->ldc, t->queue->stream));
}

/* ---- Products --------------------------------------------------------------- */

/* The address of rows `at` and later of B or C (columns, with A on the right). */
static const void *part_at(const triangle *t, const void *matrix, int64_t at, int64_t ld) {
  return (const char *)matrix + (size_t)(is_left(t->x) ? at : at * ld) * size_of(t->x);
}

/* Rows (columns, with A on the right) `to` .. `to` + order of C = alpha op(a) times `inner` ones of
 * B from `from` on, + beta C. */
static tsr_kernel_args product_of(const triangle *t, const void *a, int64_t lda, int64_t to,
                                  int64_t order, int64_t from, int64_t inner, tsr_scalar beta) {
  const tsr_kernel_args *x = t->x;
  bool left = is_left(x);
  const void *b = part_at(t, x->b, from, x->ldb);
  return (tsr_kernel_args){.kernel = TSR_KERNEL_GEMM,
                           .type = x->type,
                           .transa = left ? x->transa : TSR_NO_TRANS,
                           .transb = left ? TSR_NO_TRANS : x->transa,
                           .m = left ? order : x->m,
                           .n = left ? x->n : order,
                           .k = inner,
                           .alpha = x->alpha,
                           .beta = beta,
                           .a = left ? a : b,
                           .b = left ? b : a,
                           .c = (void *)(uintptr_t)part_at(t, x->c, to, x->ldc),
                           .lda = left ? lda : x->ldb,
                           .ldb = left ? x->ldb : lda,
                           .ldc = x->ldc};
}

/* Whether products of one level are a batch: each is too small to fill a device, or batches are as
 * fast as larger products. Measured on an NVIDIA H200 (CUDA 13.0) with k = 512 and more: batches of
 * 8192 columns reach 0.92 to 1 of a GEMM's rate in fp32, 0.72 to 0.8 in fp64, where a product of
 * 512 x 512 elements reaches 0.7. */
static bool is_batch(const tsr_kernel_args *product) {
  bool is_double = product->type == TSR_D || product->type == TSR_Z;
  return !is_double || (double)product->m * (double)product->n <= 512 * 512;
}

static const void *moved(const void *matrix, int64_t elements, size_t size) {
  return (const char *)matrix + (size_t)elements * size;
}

/* `count` products. Each begins step_a elements of A, and `step` rows of B and C (columns, with A
 * on the right), after the one before. */
static tsr_status multiply(const triangle *t, tsr_kernel_args product, int count, int64_t step_a,
                           int64_t step) {
  bool left = is_left(t->x);
  int64_t step_b = left ? step : step * t->x->ldb, step_c = left ? step : step * t->x->ldc;
  gpu_batch batch = {count, left ? step_a : step_b, left ? step_b : step_a, step_c};
  if (count > 1 && is_batch(&product)) return gpu_gemm_batch(t->queue, &product, batch);
  for (int i = 0; i < count; i++) {
    TSR_TRY(gpu_gemm(t->queue, &product));
    product.a = moved(product.a, batch.step_a, size_of(t->x));
    product.b = moved(product.b, batch.step_b, size_of(t->x));
    product.c = (void *)(uintptr_t)moved(product.c, step_c, size_of(t->x));
  }
  return TSR_OK;
}

static tsr_status multiply_squares(const triangle *t) {
  const tsr_kernel_args *x = t->x;
  int64_t leaf = t->leaf, order = gpu_order_of(x), whole = order / leaf, at = whole * leaf;
  const void *squares = t->queue->scratch;
  tsr_scalar beta = tsr_kernel_reads_c(x) ? x->beta : (tsr_scalar){0, 0};
  if (whole > 0)
    TSR_TRY(multiply(t, product_of(t, squares, t->ld, 0, leaf, 0, leaf, beta), (int)whole,
                     t->ld * leaf, leaf));
  if (at == order) return TSR_OK;
  const void *last = moved(squares, whole * t->ld * leaf, size_of(x));
  return multiply(t, product_of(t, last, t->ld, at, order - at, at, order - at, beta), 1, 0, 0);
}

/* Adds the products with the blocks beside `count` pairs of triangles, of orders half and rest, the
 * first pair at the row first. */
static tsr_status multiply_beside(const triangle *t, int64_t first, int64_t half, int64_t rest,
                                  int count) {
  static const tsr_scalar one = {1, 0};
  const tsr_kernel_args *x = t->x;
  bool lower = x->uplo == TSR_LOWER;
  int64_t second = first + half, row = lower ? second : first, column = lower ? first : second;
  /* The second part of C takes the first one of B if op(A), seen from B, is lower. */
  bool to_second = (lower == (x->transa == TSR_NO_TRANS)) == is_left(x);
  const void *a = moved(x->a, row + column * x->lda, size_of(x));
  tsr_kernel_args product = to_second ? product_of(t, a, x->lda, second, rest, first, half, one)
                                      : product_of(t, a, x->lda, first, half, second, rest, one);
  return multiply(t, product, count, 2 * half * (x->lda + 1), 2 * half);
}

static tsr_status multiply_level(const triangle *t, int64_t half) {
  int64_t order = gpu_order_of(t->x), pairs = order / (2 * half), first = 2 * half * pairs;
  int64_t rest = order - first - half;
  if (pairs > 0) TSR_TRY(multiply_beside(t, 0, half, half, (int)pairs));
  return rest > 0 ? multiply_beside(t, first, half, rest, 1) : TSR_OK;
}

/* ---- All -------------------------------------------------------------------- */

/* The lines of *x; the squares are made. */
static tsr_status multiply_lines(triangle t, const tsr_kernel_args *x) {
  t.x = x;
  bool reads = tsr_kernel_reads_c(x);
  if (reads) TSR_TRY(mend(&t));
  TSR_TRY(multiply_squares(&t));
  for (int64_t half = t.leaf; half < gpu_order_of(x); half *= 2) TSR_TRY(multiply_level(&t, half));
  return reads ? put_sums(&t) : mend(&t);
}

/* The part of a trmm from line `first` on. */
static tsr_kernel_args lines_from(const tsr_kernel_args *x, int64_t first, int64_t lines) {
  tsr_kernel_args part = *x;
  bool left = is_left(x);
  *(left ? &part.n : &part.m) = lines;
  part.b = moved(x->b, left ? first * x->ldb : first, size_of(x));
  part.c = (void *)(uintptr_t)moved(x->c, left ? first * x->ldc : first, size_of(x));
  return part;
}

static char *aligned(char *address) {
  return address + (ALIGNMENT - (uintptr_t)address % ALIGNMENT) % ALIGNMENT;
}

tsr_status gpu_multiply_triangle(tsr_queue *queue, const tsr_kernel_args *x) {
  TSR_TRY(tsr_kernel_check_int(x, GPU_BLAS));
  TSR_TRY(gpu_need_scratch(queue));
  if (!queue->blas) TSR_TRY(gpu_blas_start(queue));
  triangle t = {.queue = queue, .x = x, .leaf = leaf_of(x), .ld = ld_of(x)};
  int64_t lines = gpu_lines_of(x), most = tsr_kernel_reads_c(x) ? lines_at_once(x) : lines;
  TSR_TRY(make_squares(&t));
  t.sums = aligned((char *)queue->scratch + (size_t)bytes_of_squares(x));
  for (int64_t first = 0; first < lines; first += most) {
    int64_t some = lines - first < most ? lines - first : most;
    tsr_kernel_args part = lines_from(x, first, some);
    t.mended = (int *)(void *)aligned((char *)t.sums +
                                      (size_t)some * (size_t)gpu_order_of(x) * size_of(x));
    TSR_TRY(multiply_lines(t, &part));
  }
  return TSR_OK;
}
