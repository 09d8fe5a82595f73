/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * trsm by the inverse of the triangle A: inv(op(A)) = op(inv(A)), so A is inverted as stored. A
 * line is a right-hand side: a column of C if A is on the left, else a row.
 *
 * If tsr_kernel_inverts says so, this is faster than the vendor's trsm, whose time grows with the
 * order of A even for few lines. Measured on an NVIDIA H200, fp64, order 512, for 2048, 4096 and
 * 8192 lines, when the inverse took 91 us: 0.113, 0.142 and 0.200 ms; the vendor's: 0.194, 0.211
 * and 0.498 ms. On an H100 the inverse takes 40 us now.
 *
 * Steps: invert the diagonal blocks; join neighbouring pairs of inverted blocks until one is left;
 * multiply the lines by the inverse into the result buffer; copy the result back to C. The kernels
 * INVERT and SOLVE are the first two and the last two of them, so that many SOLVE can use one
 * inverse, and get the same bits as a trsm that makes its own.
 *
 * As in MAGMA and rocBLAS, which invert diagonal blocks, the bound of the residual of X has the
 * condition number of the inverted triangle as a factor, which the bound of substitution has not
 * (Du Croz and Higham, "Stability of methods for matrix inversion", IMA J. Numer. Anal. 12, 1992).
 * An infinity or NaN in a line of C, or from a zero on the diagonal, may spread over that line of
 * X.
 */
#include "engine/gpu/internal.h"
#include "engine/gpu/tuning.h"

/* The scratch memory suits the largest triangle of the largest type (LARGEST bytes an element), so
 * that it is allocated only once: an allocation takes the runtime 10 ms for each device that this
 * one reaches. */
enum { LARGEST = 16, ALIGNMENT = 256, ROUND = 64 };
static const size_t inverse_most = (size_t)TSR_INVERTS_MOST * TSR_INVERTS_MOST * LARGEST;
static const size_t result_most = TSR_TUNE_SOLVE_RESULT; /* more lines are solved in batches */

/* One trsm, and the parts of the queue's scratch memory. */
typedef struct solution {
  tsr_queue *queue;
  const tsr_kernel_args *x;
  size_t size;            /* bytes of an element */
  int64_t order;          /* of the triangle */
  int64_t lines, at_once; /* right-hand sides, and those of one batch */
  void *inverse;          /* that INVERT or trsm makes: c, or in the scratch memory */
  int64_t ld;             /* of it, or of the a of SOLVE */
  char *between;          /* the first product of join */
  char *result;           /* the solved lines of a batch */
  const void *by;         /* the inverse to multiply by: `inverse`, or the a of SOLVE */
} solution;

static size_t aligned(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static solution solution_of(tsr_queue *queue, const tsr_kernel_args *x) {
  solution s = {.queue = queue, .x = x, .size = tsr_type_get(x->type)->size};
  s.order = gpu_order_of(x);
  s.lines = gpu_lines_of(x);
  size_t line = (size_t)s.order * s.size;
  s.at_once = (int64_t)(result_most / line / ROUND * ROUND);
  char *scratch = queue->scratch;
  s.between = scratch + aligned((size_t)s.order * line);
  s.result = s.between + aligned((size_t)s.order * line / 4);
  s.inverse = x->kernel == TSR_KERNEL_INVERT ? x->c : scratch;
  s.ld = x->kernel == TSR_KERNEL_INVERT ? x->ldc : s.order;
  s.by = s.inverse;
  if (x->kernel == TSR_KERNEL_SOLVE) {
    s.by = x->a;
    s.ld = x->lda;
  }
  return s;
}

static void *element(const void *matrix, const solution *s, int64_t row, int64_t column,
                     int64_t ld) {
  return (char *)(uintptr_t)matrix + (size_t)(row + column * ld) * s->size;
}

/* ---- The inverse ---------------------------------------------------------- */

/* Joins count pairs of neighbouring diagonal blocks, of orders half and rest, the first pair at the
 * row first: computes the off-diagonal block of the inverse, -inv(A22) A21 inv(A11) in a lower
 * triangle, -inv(A11) A12 inv(A22) in an upper one. */
static tsr_status join(const solution *s, int64_t first, int64_t half, int64_t rest, int count) {
  const tsr_kernel_args *x = s->x;
  bool lower = x->uplo == TSR_LOWER;
  int64_t row = first + (lower ? half : 0), column = first + (lower ? 0 : half);
  int64_t rows = lower ? rest : half, columns = lower ? half : rest;
  int64_t step_a = 2 * half * (x->lda + 1), step = 2 * half * (s->ld + 1);
  int64_t between = rows * columns;
  tsr_kernel_args product = {.kernel = TSR_KERNEL_GEMM,
                             .type = x->type,
                             .transa = TSR_NO_TRANS,
                             .transb = TSR_NO_TRANS,
                             .m = rows,
                             .n = columns,
                             .k = columns,
                             .alpha = {1, 0},
                             .a = element(x->a, s, row, column, x->lda),
                             .b = element(s->inverse, s, column, column, s->ld),
                             .c = s->between,
                             .lda = x->lda,
                             .ldb = s->ld,
                             .ldc = rows};
  TSR_TRY(gpu_gemm_batch(s->queue, &product, (gpu_batch){count, step_a, step, between}));
  product.k = rows;
  product.alpha.re = -1;
  product.a = element(s->inverse, s, row, row, s->ld);
  product.b = s->between;
  product.c = element(s->inverse, s, row, column, s->ld);
  product.lda = product.ldc = s->ld;
  product.ldb = rows;
  return gpu_gemm_batch(s->queue, &product, (gpu_batch){count, step, between, step});
}

/* Joins all pairs of inverted blocks of order half. The last pair's second block may be smaller; a
 * last block without a partner is left as it is. */
static tsr_status join_all(const solution *s, int64_t half) {
  int64_t pairs = s->order / (2 * half), first = 2 * half * pairs, rest = s->order - first - half;
  if (pairs > 0) TSR_TRY(join(s, 0, half, half, (int)pairs));
  return rest > 0 ? join(s, first, half, rest, 1) : TSR_OK;
}

static tsr_status invert(const solution *s) {
  const tsr_kernel_args *x = s->x;
  tsr_gpu_invert triangle = {.type = (char)x->type,
                             .uplo = (char)x->uplo,
                             .unit = x->diag == TSR_UNIT,
                             .n = s->order,
                             .a = x->a,
                             .lda = x->lda,
                             .inverse = s->inverse,
                             .ld = s->ld};
  int error = tsr_gpu_invert_launch(&triangle, s->queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", s->queue->index);
  int half = TSR_GPU_INVERTED;
  for (; half <= TSR_GPU_JOINED && half < s->order; half *= 2) {
    error = tsr_gpu_join_launch(&triangle, half, s->queue->stream);
    GPU_TRY((gpuError)error, "launching a kernel", s->queue->index);
  }
  for (; half < s->order; half *= 2) TSR_TRY(join_all(s, half));
  return TSR_OK;
}

/* ---- The lines ------------------------------------------------------------ */

/* The product that solves lines [first, first + lines): result = alpha op(inverse) C or, from the
 * right, alpha C op(inverse). */
static tsr_kernel_args product_of(const solution *s, int64_t first, int64_t lines) {
  const tsr_kernel_args *x = s->x;
  bool left = x->side != TSR_RIGHT;
  const void *c = left ? element(x->c, s, 0, first, x->ldc) : element(x->c, s, first, 0, x->ldc);
  int64_t rows = left ? s->order : lines;
  return (tsr_kernel_args){.kernel = TSR_KERNEL_GEMM,
                           .type = x->type,
                           .transa = left ? x->transa : TSR_NO_TRANS,
                           .transb = left ? TSR_NO_TRANS : x->transa,
                           .m = rows,
                           .n = left ? lines : s->order,
                           .k = s->order,
                           .alpha = x->alpha,
                           .a = left ? s->by : c,
                           .b = left ? c : s->by,
                           .c = s->result,
                           .lda = left ? s->ld : x->ldc,
                           .ldb = left ? x->ldc : s->ld,
                           .ldc = rows};
}

static tsr_status solve_lines(const solution *s, int64_t first, int64_t lines) {
  tsr_kernel_args product = product_of(s, first, lines);
  bool left = s->x->side != TSR_RIGHT;
  size_t width = (size_t)product.m * s->size;
  tsr_copy_args back = {.to = element(s->x->c, s, left ? 0 : first, left ? first : 0, s->x->ldc),
                        .from = s->result,
                        .to_device = s->queue->index,
                        .from_device = s->queue->index,
                        .to_pitch = (size_t)s->x->ldc * s->size,
                        .from_pitch = width,
                        .width = width,
                        .height = (size_t)product.n};
  TSR_TRY(gpu_gemm(s->queue, &product));
  return gpu_copy(s->queue, &back);
}

static tsr_status solve_all(const solution *s) {
  for (int64_t first = 0; first < s->lines; first += s->at_once) {
    int64_t left = s->lines - first;
    TSR_TRY(solve_lines(s, first, left < s->at_once ? left : s->at_once));
  }
  return TSR_OK;
}

tsr_status gpu_solve_by_inverse(tsr_queue *queue, const tsr_kernel_args *x) {
  solution s = solution_of(queue, x);
  TSR_TRY(invert(&s));
  return solve_all(&s);
}

size_t gpu_scratch_bytes(void) {
  return inverse_most + inverse_most / 4 + result_most;
}

gpuError gpu_scratch(tsr_queue *queue) {
  _Static_assert((int)TSR_TUNE_SOLVE_RESULT >= (int)TSR_FILLED_MOST,
                 "filled.c has too little memory");
  if (queue->scratch) return gpuSuccess;
  gpuError error = gpuMalloc(&queue->scratch, gpu_scratch_bytes());
  if (error == gpuSuccess) return error;
  (void)gpuLastError();
  queue->scratch = NULL;
  return error;
}

/* If there is no memory, or the device has failed, the answer is false: the vendor's trsm then runs
 * or reports the error. */
bool gpu_can_invert(tsr_queue *queue, const tsr_kernel_args *x) {
  return tsr_kernel_inverts(gpu_order_of(x), gpu_lines_of(x)) && gpu_scratch(queue) == gpuSuccess;
}

tsr_status gpu_need_scratch(tsr_queue *queue) {
  gpuError error = gpu_scratch(queue);
  if (error == gpuSuccess) return TSR_OK;
  return gpu_fail(error == gpuErrorMemory ? TSR_ERR_MEMORY : TSR_ERR_DEVICE, error,
                  "allocating memory for triangles", queue->index);
}

/* ---- INVERT and SOLVE ------------------------------------------------------- */

tsr_status gpu_invert(tsr_queue *queue, const tsr_kernel_args *x) {
  TSR_TRY(gpu_need_scratch(queue));
  solution s = solution_of(queue, x);
  return invert(&s);
}

tsr_status gpu_solve(tsr_queue *queue, const tsr_kernel_args *x) {
  TSR_TRY(gpu_need_scratch(queue));
  solution s = solution_of(queue, x);
  return solve_all(&s);
}
