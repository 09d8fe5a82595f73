/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Cholesky factor of a block. The vendor's solver factors blocks of few columns; a larger block
 * is halved: A11 = L11 L11^H, L21 = A21 L11^-H, A22 - L21 L21^H = L22 L22^H (or the same of the
 * upper triangle), so that most of the work is in products.
 *
 * A block without a factor is noticed on the device: the solver's info and the first pivot that is
 * not positive (the solver does not notice NaN) become the verdict, unless an earlier part of the
 * block has given one. The kernels behind it compute in vain, and touch nothing else.
 */
#include "engine/gpu/internal.h"
#include "engine/gpu/tuning.h"

/* The part of a block from a diagonal element on. */
typedef struct part {
  tsr_queue *queue;
  tsr_kernel_args x;
  int first; /* its first row in the block */
} part;

static void *at(const tsr_kernel_args *x, int64_t row, int64_t column) {
  return (char *)x->c + (size_t)(row + column * x->ldc) * tsr_type_get(x->type)->size;
}

static tsr_status note_pivots(const part *p) {
  tsr_gpu_pivots pivots = {.type = (char)p->x.type,
                           .n = p->x.n,
                           .c = p->x.c,
                           .ldc = p->x.ldc,
                           .info = p->queue->scratch,
                           .first = p->first,
                           .verdict = p->x.verdict};
  if (pivots.verdict == NULL) return TSR_OK;
  int error = tsr_gpu_pivots_launch(&pivots, p->queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", p->queue->index);
  return TSR_OK;
}

/* The off-diagonal block becomes that of the factor, and the second half loses its square. */
static tsr_status update_second_half(const part *p, int64_t half) {
  const tsr_kernel_args *x = &p->x;
  bool lower = x->uplo == TSR_LOWER, real = !tsr_type_get(x->type)->complex_valued;
  tsr_op turned = real ? TSR_TRANS : TSR_CONJ_TRANS;
  int64_t rest = x->n - half;
  void *off = lower ? at(x, half, 0) : at(x, 0, half);
  tsr_kernel_args solve = {.kernel = TSR_KERNEL_TRSM,
                           .type = x->type,
                           .transa = turned,
                           .transb = TSR_NO_TRANS,
                           .side = lower ? TSR_RIGHT : TSR_LEFT,
                           .uplo = x->uplo,
                           .diag = TSR_NON_UNIT,
                           .m = lower ? rest : half,
                           .n = lower ? half : rest,
                           .alpha = {1, 0},
                           .a = x->c,
                           .c = off,
                           .lda = x->ldc,
                           .ldc = x->ldc};
  tsr_kernel_args update = {.kernel = real ? TSR_KERNEL_SYRK : TSR_KERNEL_HERK,
                            .type = x->type,
                            .transa = lower ? TSR_NO_TRANS : turned,
                            .uplo = x->uplo,
                            .m = rest,
                            .n = rest,
                            .k = half,
                            .alpha = {-1, 0},
                            .beta = {1, 0},
                            .a = off,
                            .c = at(x, half, half),
                            .lda = x->ldc,
                            .ldc = x->ldc};
  TSR_TRY(gpu_level3(p->queue, &solve));
  return gpu_level3(p->queue, &update);
}

static bool fits(const part *p, size_t bytes) {
  return p->x.n <= TSR_TUNE_SOLVER_ORDER && bytes <= gpu_scratch_bytes();
}

static tsr_status factor(const part *p) {
  size_t bytes = 0;
  if (p->x.n <= TSR_TUNE_SOLVER_ORDER) TSR_TRY(gpu_solver_room(p->queue, &p->x, &bytes));
  if (fits(p, bytes) || p->x.n == 1) {
    TSR_TRY(gpu_solver_potrf(p->queue, &p->x, p->queue->scratch, bytes));
    return note_pivots(p);
  }
  int64_t half = p->x.n / 2;
  part one = *p, other = *p;
  one.x.m = one.x.n = half;
  other.x.m = other.x.n = p->x.n - half;
  other.x.c = at(&p->x, half, half);
  other.first = p->first + (int)half;
  TSR_TRY(factor(&one));
  TSR_TRY(update_second_half(p, half));
  return factor(&other);
}

tsr_status gpu_potrf(tsr_queue *queue, const tsr_kernel_args *x) {
  TSR_TRY(tsr_kernel_check_int(x, GPU_BLAS));
  if (queue->blas == NULL) TSR_TRY(gpu_blas_start(queue));
  TSR_TRY(gpu_need_scratch(queue));
  return factor(&(part){queue, *x, 0});
}
