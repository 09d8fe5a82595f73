/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Cholesky factor of a block. A small block is factored by the kernel of factor_kernel.h if the
 * device has it, or by the vendor's solver. A larger one is halved: A11 = L11 L11^H, L21 = A21
 * L11^-H, A22 - L21 L21^H = L22 L22^H (or the same of the upper triangle), so that most of the work
 * is in products.
 *
 * A block without a factor is noticed on the device: the first pivot that is not positive (of the
 * solver, which does not notice NaN, that or its info) becomes the verdict, unless an earlier part
 * of the block has given one. The kernels behind it compute in vain, and touch nothing else.
 */
#include "arithmetic/halves.h"
#include "engine/gpu/internal.h"
#include "engine/gpu/level3/factor_kernel.h"
#include "engine/gpu/tuning.h"

/* The part of a block from a diagonal element on. */
typedef struct part {
  tsr_queue *queue;
  tsr_kernel_args x;
  int first; /* its first row in the block */
} part;

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

/* False: the device has no such kernel, or no room for it. */
static bool factor_by_kernel(const part *p) {
  const tsr_kernel_args *x = &p->x;
  if (!p->queue->device->factor || x->n > tsr_gpu_factor_most((char)x->type)) return false;
  tsr_gpu_factor args = {.type = (char)x->type,
                         .uplo = (char)x->uplo,
                         .n = x->n,
                         .c = x->c,
                         .ldc = x->ldc,
                         .room = p->queue->scratch,
                         .first = p->first,
                         .verdict = x->verdict};
  return tsr_gpu_factor_launch(&args, p->queue->stream) == gpuSuccess;
}

static bool fits(const part *p, size_t bytes) {
  return p->x.n <= TSR_TUNE_SOLVER_ORDER && bytes <= gpu_scratch_bytes();
}

static tsr_status factor(const part *p) {
  size_t bytes = 0;
  if (factor_by_kernel(p)) return TSR_OK;
  if (p->x.n <= TSR_TUNE_SOLVER_ORDER) TSR_TRY(gpu_solver_room(p->queue, &p->x, &bytes));
  if (fits(p, bytes) || p->x.n == 1) {
    TSR_TRY(gpu_solver_potrf(p->queue, &p->x, p->queue->scratch, bytes));
    return note_pivots(p);
  }
  tsr_halves h = tsr_halves_of(&p->x, p->x.n / 2);
  TSR_TRY(factor(&(part){p->queue, h.first, p->first}));
  TSR_TRY(gpu_level3(p->queue, &h.solve));
  TSR_TRY(gpu_level3(p->queue, &h.update));
  return factor(&(part){p->queue, h.second, p->first + (int)h.first.n});
}

tsr_status gpu_potrf(tsr_queue *queue, const tsr_kernel_args *x) {
  TSR_TRY(tsr_kernel_check_int(x, GPU_BLAS));
  if (queue->blas == NULL) TSR_TRY(gpu_blas_start(queue));
  TSR_TRY(gpu_need_scratch(queue));
  return factor(&(part){queue, *x, 0});
}
