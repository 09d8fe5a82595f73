/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Runs any kernel: ADD and SCALE by kernels.cu, GEMM by gemm.c, GEMMT by trapezoid.c, those on
 * residues by residues.c, POTRF by potrf.c, the other routines by level3.c. */
#include "engine/gpu/internal.h"

/* c = alpha a + beta c, or c = beta c if a is NULL; with x->uplo only in that triangle. */
static tsr_status add(const tsr_queue *queue, const tsr_kernel_args *x, const void *a, bool wide_c,
                      bool hermitian) {
  tsr_gpu_add args = {.type = (char)x->type,
                      .uplo = (char)x->uplo,
                      .wide_a = x->wide,
                      .wide_c = wide_c,
                      .hermitian = hermitian,
                      .m = x->m,
                      .n = x->n,
                      .alpha = {x->alpha.re, x->alpha.im},
                      .beta = {x->beta.re, x->beta.im},
                      .a = a,
                      .lda = x->lda,
                      .c = x->c,
                      .ldc = x->ldc};
  int error = tsr_gpu_add_launch(&args, queue->device->blocks, queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", queue->index);
  return TSR_OK;
}

static tsr_status scale_only(const tsr_queue *queue, const tsr_kernel_args *x) {
  unsigned traits = tsr_kernel_get(x->kernel)->traits;
  tsr_kernel_args scale = tsr_kernel_without_inputs(x);
  if (tsr_scalar_classify(scale.beta) == TSR_ONE) return TSR_OK;
  return add(queue, &scale, NULL, scale.wide, traits & TSR_TRIANGLE_OF_C && traits & TSR_HERMITIAN);
}

/* The vendor's trmm does not add to c, so a trmm that does is computed by blocks. */
static tsr_status level3(tsr_queue *queue, const tsr_kernel_args *x) {
  tsr_kernel_args y = *x;
  if (x->blocks == 0 && x->kernel == TSR_KERNEL_TRMM && tsr_kernel_reads_c(x))
    y.blocks = tsr_kernel_block(x->kernel, x->type);
  return y.blocks > 0 ? gpu_blocked(queue, &y) : gpu_level3(queue, x);
}

/* ---- Any kernel ----------------------------------------------------------- */

tsr_status gpu_kernel(tsr_queue *queue, const tsr_kernel_args *x) {
  TSR_TRY(tsr_kernel_check(x));
  if (x->m <= 0 || x->n <= 0) return TSR_OK;
  GPU_TRY(gpu_use(queue->device), "making it current", queue->index);
  if (!tsr_kernel_reads_inputs(x)) return scale_only(queue, x);
  switch (x->kernel) {
    case TSR_KERNEL_GEMM:
      return gpu_gemm(queue, x);
    case TSR_KERNEL_GEMMT:
      return gpu_gemmt(queue, x);
    case TSR_KERNEL_POTRF:
      return gpu_potrf(queue, x);
    case TSR_KERNEL_ADD:
      return add(queue, x, x->a, false, false);
    case TSR_KERNEL_RESIDUES:
      return gpu_make_residues(queue, x);
    case TSR_KERNEL_RESIDUE_GEMM:
      return gpu_residue_gemm(queue, x);
    default:
      return level3(queue, x);
  }
}
