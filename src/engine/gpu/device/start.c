/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Starts all devices in parallel: reads their properties and loads the code of first products. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "engine/gpu/internal.h"

/* ---- A device's properties -------------------------------------------------- */

static void write_identity(const unsigned char uuid[16], char *text) {
  char *at = text + sprintf(text, "GPU-");
  for (int i = 0; i < 16; i++)
    at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* What is known of a device that is not opened. */
tsr_status gpu_identify(int physical, gpu_facts *facts, tsr_device_info *info) {
  GPU_TRY(gpu_describe(physical, facts), "asking for its properties", physical);
  *info = (tsr_device_info){0};
  snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, facts->name);
  write_identity(facts->uuid, info->identity);
  memcpy(info->address, facts->address, sizeof info->address);
  return TSR_OK;
}

static tsr_status describe(gpu_device *device, tsr_device_info *info) {
  gpu_facts facts;
  int d = device->physical;
  GPU_TRY(gpuSetDevice(d), "making it current", d);
  TSR_TRY(gpu_identify(d, &facts, info));
  GPU_TRY(gpuPriorityRange(&device->low, &device->high), "asking for priorities", d);
  memcpy(device->address, facts.address, sizeof device->address);
  device->max_pitch = facts.max_pitch;
  device->blocks = 8 * facts.multiprocessors;
  device->workspace = facts.workspace;
  device->products = facts.products;
  device->factor = facts.factor;
  GPU_TRY(gpuMemGetInfo(&info->memory_free, &info->memory_total), "asking for its memory", d);
  return TSR_OK;
}

/* ---- Code ----------------------------------------------------------------- */

/* The first product of a type waits until the BLAS has loaded its code (NVIDIA H200 [ms]: d 45 to
 * 94, s 105, h 58, z 73). Opening the engine loads it, so that the user's first call need not wait.
 * All devices and types load in parallel, in the time of one. */
typedef struct loading {
  tsr_engine_state *state;
  int device, type;
  pthread_t thread;
  bool started;
} loading;

enum { SMALL = 64 }; /* extents of the product that loads a type's code */

static tsr_status multiply(tsr_queue *queue, const tsr_type_info *type, char *memory) {
  size_t bytes = SMALL * SMALL * tsr_type_get(type->wide)->size;
  tsr_kernel_args args = {.kernel = TSR_KERNEL_GEMM,
                          .type = type->type,
                          .transa = TSR_NO_TRANS,
                          .transb = TSR_NO_TRANS,
                          .wide = type->wide != type->type,
                          .m = SMALL,
                          .n = SMALL,
                          .k = SMALL,
                          .alpha = {1, 0},
                          .a = memory,
                          .b = memory + bytes,
                          .c = memory + 2 * bytes,
                          .lda = SMALL,
                          .ldb = SMALL,
                          .ldc = SMALL};
  return gpu_kernel(queue, &args);
}

/* Runs one product, without a workspace of the engine's, which would be large. An error here is
 * ignored: a call that meets it again will report it. */
static void *load(void *argument) {
  const loading *l = argument;
  const tsr_type_info *type = tsr_type_at(l->type);
  size_t bytes = 3 * SMALL * SMALL * tsr_type_get(type->wide)->size;
  tsr_queue queue = {
      .state = l->state, .device = &l->state->devices[l->device], .index = l->device};
  void *memory = NULL;
  bool ready =
      gpuSetDevice(queue.device->physical) == gpuSuccess &&
      gpuStreamCreate(&queue.stream, gpuStreamNonBlocking, queue.device->low) == gpuSuccess &&
      gpuMalloc(&memory, bytes) == gpuSuccess && gpuBlasCreate(&queue.blas) == gpuBlasSuccess &&
      gpuBlasSetStream(queue.blas, queue.stream) == gpuBlasSuccess;
  if (ready) (void)multiply(&queue, type, memory);
  if (queue.stream) (void)gpuStreamSynchronize(queue.stream);
  gpu_blas_stop(&queue);
  if (memory) (void)gpuFree(memory);
  if (queue.stream) (void)gpuStreamDestroy(queue.stream);
  (void)gpuLastError();
  return NULL;
}

static void load_types(tsr_engine_state *state, int device) {
  loading all[TSR_TYPE_COUNT];
  for (int t = 0; t < TSR_TYPE_COUNT; t++) {
    all[t] = (loading){.state = state, .device = device, .type = t};
    all[t].started = tsr_thread_start(load, &all[t], &all[t].thread);
  }
  for (int t = 0; t < TSR_TYPE_COUNT; t++)
    if (all[t].started) pthread_join(all[t].thread, NULL);
}

/* ---- All devices ---------------------------------------------------------- */

typedef struct starting {
  tsr_engine_state *state;
  tsr_device_info *info;
  int device;
  pthread_t thread;
  bool started;
  tsr_error error;
} starting;

static void *start(void *argument) {
  starting *s = argument;
  gpu_device *device = &s->state->devices[s->device];
  tsr_status status = describe(device, s->info);
  if (status == TSR_OK) status = gpu_load_kernels(device->physical);
  if (status == TSR_OK)
    load_types(s->state, s->device);
  else
    tsr_error_take(status, &s->error);
  return NULL;
}

/* If a device's thread cannot be started, the caller's thread starts the device. */
tsr_status gpu_start_devices(tsr_engine_state *state, tsr_device_info *info) {
  tsr_status status = TSR_OK;
  starting *all = tsr_alloc_zero((size_t)state->count, sizeof *all);
  if (all == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory to start devices");
  for (int d = 0; d < state->count; d++) {
    all[d].state = state;
    all[d].info = &info[d];
    all[d].device = d;
    all[d].started = tsr_thread_start(start, &all[d], &all[d].thread);
  }
  for (int d = 0; d < state->count; d++) {
    if (all[d].started)
      pthread_join(all[d].thread, NULL);
    else
      start(&all[d]);
    if (status == TSR_OK && all[d].error.status != TSR_OK) status = tsr_error_put(&all[d].error);
  }
  tsr_dealloc(all);
  return status;
}
