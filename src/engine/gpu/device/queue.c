/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Streams and events. */
#include "base/alloc.h"
#include "base/clock.h"
#include "engine/gpu/internal.h"

/* ---- A device's clock ----------------------------------------------------- */

/* The runtime gives elapsed times as float milliseconds. Beyond this many, the resolution is
 * coarser than half a microsecond, and the base is set anew. */
#define LONGEST_MS 8000.0f

/* Sets the base to now. The caller holds the clock's lock, or no other thread knows the device yet.
 * The base is recorded twice, because the first record may include preparations of the runtime. */
static gpuError set_base(gpu_device *device) {
  for (int repeat = 0; repeat < 2; repeat++) {
    double before = tsr_now();
    gpuError error = gpuEventRecord(device->base, device->clock_stream);
    if (error == gpuSuccess) error = gpuEventSynchronize(device->base);
    if (error != gpuSuccess) return error;
    device->base_seconds = (before + tsr_now()) / 2;
  }
  return gpuSuccess;
}

static gpuError start_clock(gpu_device *device) {
  gpuError error = gpuStreamCreate(&device->clock_stream, gpuStreamNonBlocking, device->high);
  if (error == gpuSuccess) error = gpuEventCreate(&device->base, gpuEventDefault);
  return error == gpuSuccess ? set_base(device) : error;
}

tsr_status gpu_clock_start(gpu_device *device) {
  pthread_mutex_init(&device->clock, NULL);
  GPU_TRY(gpuSetDevice(device->physical), "making it current", device->physical);
  GPU_TRY(start_clock(device), "starting its clock", device->physical);
  return TSR_OK;
}

void gpu_clock_stop(gpu_device *device) {
  if (!device->clock_stream) return; /* open failed earlier: gpu_enter would start the device */
  int former = gpu_enter(device);
  if (device->base) (void)gpuEventDestroy(device->base);
  if (device->clock_stream) (void)gpuStreamDestroy(device->clock_stream);
  gpu_leave(former);
  pthread_mutex_destroy(&device->clock);
}

static gpuError read_clock(gpu_device *device, gpuEvent event, double *seconds) {
  float ms = 0;
  pthread_mutex_lock(&device->clock);
  gpuError error = gpuEventElapsed(&ms, device->base, event);
  if (error == gpuSuccess && (ms > LONGEST_MS || ms < -LONGEST_MS)) {
    error = set_base(device);
    if (error == gpuSuccess) error = gpuEventElapsed(&ms, device->base, event);
  }
  if (error == gpuSuccess) *seconds = device->base_seconds + ms * 1e-3;
  pthread_mutex_unlock(&device->clock);
  return error;
}

/* ---- Queues --------------------------------------------------------------- */

static tsr_status start_queue(tsr_queue *queue, tsr_queue_role role) {
  gpu_device *device = queue->device;
  /* Large kernels have the lowest priority: other commands wait for a late copy or small kernel. */
  int priority = role == TSR_QUEUE_COMPUTE ? device->low : device->high;
  if (queue->owned)
    GPU_TRY(gpuStreamCreate(&queue->stream, gpuStreamNonBlocking, priority), "making a stream",
            queue->index);
  return role == TSR_QUEUE_COMPUTE ? gpu_blas_start(queue) : TSR_OK;
}

tsr_status gpu_queue_create(tsr_engine_state *state, int device, tsr_queue_role role, void *native,
                            tsr_queue **made) {
  TSR_TRY(gpu_check_device(state, device));
  if (role == TSR_QUEUE_STAGING)
    return tsr_fail(TSR_ERR_INTERNAL, "a staging queue is not a queue of an engine");
  tsr_queue *queue = tsr_alloc_zero(1, sizeof *queue);
  if (!queue) return tsr_fail(TSR_ERR_MEMORY, "no memory for a queue");
  queue->state = state;
  queue->device = &state->devices[device];
  queue->index = device;
  queue->owned = role != TSR_QUEUE_USER;
  if (!queue->owned) queue->stream = (gpuStream)native;
  int former = gpu_enter(queue->device);
  tsr_status status = start_queue(queue, role);
  gpu_leave(former);
  if (status != TSR_OK) {
    gpu_queue_destroy(queue);
    return status;
  }
  *made = queue;
  return TSR_OK;
}

/* Waits for the queue's commands, but on a user's stream for nothing: other work may be on it. */
void gpu_queue_destroy(tsr_queue *queue) {
  if (!queue) return;
  int former = gpu_enter(queue->device);
  if (queue->owned && queue->stream) (void)gpuStreamSynchronize(queue->stream);
  gpu_blas_stop(queue);
  if (queue->owned && queue->stream) (void)gpuStreamDestroy(queue->stream);
  (void)gpuLastError();
  gpu_leave(former);
  tsr_dealloc(queue);
}

/* ---- Events --------------------------------------------------------------- */

tsr_status gpu_event_create(tsr_engine_state *state, int device, bool timed,
                            tsr_queue_event **made) {
  TSR_TRY(gpu_check_device(state, device));
  tsr_queue_event *event = tsr_alloc_zero(1, sizeof *event);
  if (!event) return tsr_fail(TSR_ERR_MEMORY, "no memory for an event");
  event->device = &state->devices[device];
  event->index = device;
  event->timed = timed;
  int former = gpu_enter(event->device);
  gpuError error = gpuEventCreate(&event->event, timed ? gpuEventDefault : gpuEventDisableTiming);
  gpu_leave(former);
  if (error != gpuSuccess) {
    tsr_dealloc(event);
    return gpu_fail(TSR_ERR_DEVICE, error, "making an event", device);
  }
  *made = event;
  return TSR_OK;
}

void gpu_event_destroy(tsr_queue_event *event) {
  if (!event) return;
  int former = gpu_enter(event->device);
  if (gpuEventDestroy(event->event) != gpuSuccess) (void)gpuLastError();
  gpu_leave(former);
  tsr_dealloc(event);
}

tsr_status gpu_record(tsr_queue *queue, tsr_queue_event *event) {
  event->unrecorded = queue;
  GPU_TRY(gpu_use(queue->device), "making it current", queue->index);
  GPU_TRY(gpuEventRecord(event->event, queue->stream), "recording an event", queue->index);
  event->unrecorded = NULL;
  return TSR_OK;
}

tsr_status gpu_wait(tsr_queue *queue, tsr_queue_event *event) {
  if (event->unrecorded)
    return tsr_fail(TSR_ERR_CHECK,
                    "an event of " GPU_RUNTIME " device %d is used but was not recorded",
                    event->index);
  GPU_TRY(gpu_use(queue->device), "making it current", queue->index);
  GPU_TRY(gpuStreamWaitEvent(queue->stream, event->event, 0), "waiting for an event", queue->index);
  return TSR_OK;
}

tsr_status gpu_query(tsr_queue_event *event, bool *complete, double *seconds) {
  tsr_queue *unrecorded = event->unrecorded;
  gpuError error = gpu_use(event->device);
  if (error == gpuSuccess)
    error = unrecorded ? gpuStreamQuery(unrecorded->stream) : gpuEventQuery(event->event);
  if (error == gpuErrorNotReady) {
    (void)gpuLastError();
    *complete = false;
    return TSR_OK;
  }
  /* After an error the device is lost and runs nothing more, so the event counts as complete. If
   * the runtime lacks host memory, that says nothing about the device. */
  *complete = error != gpuErrorMemory;
  if (error == gpuSuccess && seconds && event->timed && !unrecorded)
    error = read_clock(event->device, event->event, seconds);
  GPU_TRY(error, "an earlier command", event->index);
  return TSR_OK;
}

/* An error of any command of the device ends all its streams. */
tsr_status gpu_check(tsr_engine_state *state, int device) {
  gpu_device *of = &state->devices[device];
  int former = gpu_enter(of);
  gpuError error = gpuStreamQuery(of->clock_stream);
  if (error == gpuErrorNotReady) error = gpuSuccess;
  (void)gpuLastError();
  gpu_leave(former);
  GPU_TRY(error, "an earlier command", device);
  return TSR_OK;
}

/* The base of the clock is an event that is waited for. A call that was refused leaves its error
 * behind, which would be reported for the next one. */
tsr_status gpu_recover(tsr_engine_state *state, int device) {
  gpu_device *of = &state->devices[device];
  int former = gpu_enter(of);
  (void)gpuLastError();
  pthread_mutex_lock(&of->clock);
  gpuError error = set_base(of);
  pthread_mutex_unlock(&of->clock);
  gpu_leave(former);
  GPU_TRY(error, "asking whether it works", device);
  return TSR_OK;
}
