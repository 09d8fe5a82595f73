/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Copies of bytes, one- and two-dimensional. */
#include "engine/gpu/internal.h"

/* The kind of copy. Between devices without peer access the driver chooses the route. */
static gpuMemcpyKind kind_of(const tsr_engine_state *state, const tsr_copy_args *x) {
  if (x->from_device == TSR_HOST) return gpuMemcpyIn;
  if (x->to_device == TSR_HOST) return gpuMemcpyOut;
  bool direct = x->from_device == x->to_device || state->devices[x->from_device].peer[x->to_device];
  return direct ? gpuMemcpyInside : gpuMemcpyDefault;
}

static gpuError copy_run(const tsr_queue *queue, const tsr_copy_args *x, void *to, const void *from,
                         size_t bytes) {
  const gpu_device *devices = queue->state->devices;
  bool peer =
      x->from_device != TSR_HOST && x->to_device != TSR_HOST && x->from_device != x->to_device;
  if (peer)
    return gpuMemcpyPeer(to, devices[x->to_device].physical, from, devices[x->from_device].physical,
                         bytes, queue->stream);
  return gpuMemcpy(to, from, bytes, kind_of(queue->state, x), queue->stream);
}

/* Copies row by row: for pitches larger than the runtime's 2D copies take. Such rows are few, or
 * the matrix would not fit into memory. */
static gpuError copy_runs(const tsr_queue *queue, const tsr_copy_args *x) {
  gpuError error = gpuSuccess;
  for (size_t row = 0; row < x->height && error == gpuSuccess; row++)
    error = copy_run(queue, x, (char *)x->to + row * x->to_pitch,
                     (const char *)x->from + row * x->from_pitch, x->width);
  return error;
}

static gpuError copy_any(const tsr_queue *queue, const tsr_copy_args *x) {
  size_t limit = queue->device->max_pitch;
  if (x->height == 1 || (x->to_pitch == x->width && x->from_pitch == x->width))
    return copy_run(queue, x, x->to, x->from, x->width * x->height);
  if (x->to_pitch > limit || x->from_pitch > limit) return copy_runs(queue, x);
  return gpuMemcpy2D(x->to, x->to_pitch, x->from, x->from_pitch, x->width, x->height,
                     kind_of(queue->state, x), queue->stream);
}

tsr_status gpu_copy(tsr_queue *queue, const tsr_copy_args *args) {
  if (args->width == 0 || args->height == 0) return TSR_OK;
  GPU_TRY(gpu_use(queue->device), "making it current", queue->index);
  GPU_TRY(copy_any(queue, args), "a copy", queue->index);
  return TSR_OK;
}
