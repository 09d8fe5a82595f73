/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * symm and hemm by one GEMM: the stored triangle of A is copied to the queue's scratch memory as a
 * whole square, mirrored (for hemm also conjugated, with a real diagonal), and multiplied. The GEMM
 * has the same flops as the routine, and copying reads and writes 1.5 times the square.
 *
 * Measured on an NVIDIA H200: cuBLAS's ssymm with a triangle of order 1024 and 1024 columns takes
 * 196 us, its dsymm 77; GEMMs of these extents take 68 and 52.
 */
#include "engine/gpu/internal.h"

/* The leading dimension of the square: its columns are aligned to a load, since products of others
 * are slow (tsr_kernel_minds_alignment). */
static int64_t ld_of(const tsr_kernel_args *x) {
  int64_t granule = tsr_kernel_granule(tsr_type_get(x->type)->size);
  return (gpu_order_of(x) + granule - 1) / granule * granule;
}

bool gpu_can_fill(tsr_queue *queue, const tsr_kernel_args *x) {
  if (x->kernel != TSR_KERNEL_SYMM && x->kernel != TSR_KERNEL_HEMM) return false;
  double bytes = (double)ld_of(x) * (double)gpu_order_of(x) * (double)tsr_type_get(x->type)->size;
  return bytes <= TSR_FILLED_MOST && gpu_scratch(queue) == gpuSuccess;
}

static tsr_status fill(const tsr_queue *queue, const tsr_kernel_args *x) {
  tsr_gpu_fill square = {.type = (char)x->type,
                         .uplo = (char)x->uplo,
                         .hermitian = x->kernel == TSR_KERNEL_HEMM,
                         .n = gpu_order_of(x),
                         .a = x->a,
                         .lda = x->lda,
                         .full = queue->scratch,
                         .ld = ld_of(x)};
  int error = tsr_gpu_fill_launch(&square, queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", queue->index);
  return TSR_OK;
}

tsr_status gpu_multiply_filled(tsr_queue *queue, const tsr_kernel_args *x) {
  bool left = x->side != TSR_RIGHT;
  tsr_kernel_args product = *x;
  product.kernel = TSR_KERNEL_GEMM;
  product.uplo = TSR_GENERAL;
  product.transa = product.transb = TSR_NO_TRANS;
  product.k = gpu_order_of(x);
  product.a = left ? queue->scratch : x->b;
  product.b = left ? x->b : queue->scratch;
  product.lda = left ? ld_of(x) : x->ldb;
  product.ldb = left ? x->ldb : ld_of(x);
  TSR_TRY(fill(queue, x));
  return gpu_gemm(queue, &product);
}
