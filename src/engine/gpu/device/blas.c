/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The vendor's BLAS of a queue: errors, starting and stopping, and arguments in the vendor's types.
 */
#include "engine/gpu/internal.h"

tsr_status gpu_blas_fail(gpuBlasStatus error, const char *what, int device) {
  (void)gpuLastError();
  tsr_status status = error == gpuBlasNoMemory ? TSR_ERR_MEMORY : TSR_ERR_DEVICE;
  return tsr_fail(status, GPU_BLAS " on device %d: %s failed: %s (%s, %d)", device, what,
                  gpuBlasStatusString(error), gpuBlasStatusName(error), (int)error);
}

/* The workspace is set after the stream, because setting a stream resets the workspace. */
tsr_status gpu_blas_start(tsr_queue *queue) {
  size_t bytes = queue->device->workspace;
  gpuError error = queue->workspace ? gpuSuccess : gpuMalloc(&queue->workspace, bytes);
  if (error == gpuErrorMemory)
    return gpu_fail(TSR_ERR_MEMORY, error, "allocating a workspace", queue->index);
  GPU_TRY(error, "allocating a workspace", queue->index);
  GPU_BLAS_TRY(gpuBlasCreate(&queue->blas), "starting", queue->index);
  GPU_BLAS_TRY(gpuBlasSetStream(queue->blas, queue->stream), "setting a stream", queue->index);
  GPU_BLAS_TRY(gpuBlasSetWorkspace(queue->blas, queue->workspace, bytes), "setting a workspace",
               queue->index);
  return TSR_OK;
}

void gpu_blas_stop(tsr_queue *queue) {
  gpu_solver_stop(queue);
  if (queue->blas) (void)gpuBlasDestroy(queue->blas);
  if (queue->workspace) (void)gpuFree(queue->workspace);
  if (queue->scratch) (void)gpuFree(queue->scratch);
  if (queue->residues) (void)gpuFree(queue->residues);
  queue->blas = NULL;
  queue->workspace = queue->scratch = queue->residues = NULL;
}

/* ---- Arguments ------------------------------------------------------------ */

gpu_scalar gpu_scalar_of(tsr_type type, tsr_scalar value) {
  if (type == TSR_D || type == TSR_Z) return (gpu_scalar){.d = {value.re, value.im}};
  return (gpu_scalar){.s = {(float)value.re, (float)value.im}};
}

gpuBlasOp gpu_op_of(tsr_type type, tsr_op op) {
  if (op == TSR_NO_TRANS) return gpuBlasOpN;
  bool conjugates = op == TSR_CONJ_TRANS && tsr_type_get(type)->complex_valued;
  return conjugates ? gpuBlasOpC : gpuBlasOpT;
}
