/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The CUDA engine's queues and events on a runtime that is only imitated: what the engine makes of
 * a runtime that cannot record an event. Of CUDA this needs nothing but the headers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/gpu/internal.h"

/* What the imitated runtime answers. */
static struct { gpuError record, event, stream; } says;

/* ---- The runtime ---------------------------------------------------------- */

gpuError gpuEventRecord(gpuEvent event, gpuStream stream) {
  (void)event, (void)stream;
  return says.record;
}
gpuError gpuEventQuery(gpuEvent event) {
  (void)event;
  return says.event;
}
gpuError gpuStreamQuery(gpuStream stream) {
  (void)stream;
  return says.stream;
}
gpuError gpuStreamWaitEvent(gpuStream stream, gpuEvent event, unsigned int flags) {
  (void)stream, (void)event, (void)flags;
  return gpuSuccess;
}
gpuError gpuStreamCreate(gpuStream *stream, unsigned int flags, int priority) {
  static int one;
  (void)flags, (void)priority;
  *stream = (gpuStream)(void *)&one;
  return gpuSuccess;
}
gpuError gpuStreamDestroy(gpuStream stream) {
  (void)stream;
  return gpuSuccess;
}
gpuError gpuStreamSynchronize(gpuStream stream) {
  (void)stream;
  return gpuSuccess;
}
gpuError gpuEventCreate(gpuEvent *event, unsigned int flags) {
  static int one;
  (void)flags;
  *event = (gpuEvent)(void *)&one;
  return gpuSuccess;
}
gpuError gpuEventDestroy(gpuEvent event) {
  (void)event;
  return gpuSuccess;
}
gpuError gpuEventSynchronize(gpuEvent event) {
  (void)event;
  return gpuSuccess;
}
gpuError gpuEventElapsed(float *ms, gpuEvent begin, gpuEvent end) {
  (void)begin, (void)end;
  *ms = 1;
  return gpuSuccess;
}
gpuError gpuSetDevice(int device) {
  (void)device;
  return gpuSuccess;
}
gpuError gpuLastError(void) {
  return gpuSuccess;
}

/* ---- The rest of the engine ------------------------------------------------ */

tsr_status gpu_fail(tsr_status status, gpuError error, const char *what, int device) {
  return tsr_fail(status, "device %d: %s failed: %d", device, what, (int)error);
}
tsr_status gpu_check_device(const tsr_engine_state *state, int device) {
  (void)state, (void)device;
  return TSR_OK;
}
int gpu_enter(const gpu_device *device) {
  return device->physical;
}
void gpu_leave(int former) {
  (void)former;
}
gpuError gpu_use(const gpu_device *device) {
  (void)device;
  return gpuSuccess;
}
tsr_status gpu_blas_start(tsr_queue *queue) {
  (void)queue;
  return TSR_OK;
}
void gpu_blas_stop(tsr_queue *queue) {
  (void)queue;
}

/* ---- Tests ---------------------------------------------------------------- */

static tsr_engine_state state;
static tsr_queue *queue;
static tsr_queue_event *event;

static int begin(void **unused) {
  (void)unused;
  assert_int_equal(gpu_clock_start(&state.devices[0]), TSR_OK);
  assert_int_equal(gpu_queue_create(&state, 0, TSR_QUEUE_IN, NULL, &queue), TSR_OK);
  return gpu_event_create(&state, 0, true, &event) == TSR_OK ? 0 : 1;
}

static int end(void **unused) {
  (void)unused;
  gpu_event_destroy(event);
  gpu_queue_destroy(queue);
  gpu_clock_stop(&state.devices[0]);
  return 0;
}

static void expect(tsr_status status, bool past) {
  bool passed = !past;
  assert_int_equal(gpu_query(event, &passed, NULL), status);
  assert_int_equal(passed, past);
}

static void record(gpuError answer) {
  says.record = answer;
  assert_int_equal(gpu_record(queue, event), answer == gpuSuccess ? TSR_OK : TSR_ERR_DEVICE);
}

static void tells_what_is_recorded(void **unused) {
  (void)unused;
  record(gpuSuccess);
  says.stream = gpuErrorNotReady; /* there is more in the queue */
  says.event = gpuErrorNotReady;
  expect(TSR_OK, false);
  says.event = gpuSuccess;
  expect(TSR_OK, true);
  assert_int_equal(gpu_wait(queue, event), TSR_OK);
}

/* The event's former recording has passed, and says nothing. */
static void asks_the_queue_instead(void **unused) {
  (void)unused;
  says.event = gpuSuccess;
  record(gpuErrorMemory);
  says.stream = gpuErrorNotReady;
  expect(TSR_OK, false);
  assert_int_equal(gpu_wait(queue, event), TSR_ERR_CHECK);
  says.stream = gpuSuccess;
  expect(TSR_OK, true);
  says.event = gpuErrorNotReady;
  record(gpuSuccess);
  expect(TSR_OK, false);
}

/* A device that is lost does nothing more; a runtime without memory does not say so. */
static void tells_errors_apart(void **unused) {
  (void)unused;
  for (int recorded = 0; recorded < 2; recorded++) {
    record(recorded ? gpuSuccess : gpuErrorMemory);
    says.stream = says.event = gpuErrorMemory;
    expect(TSR_ERR_DEVICE, false);
    says.stream = says.event = cudaErrorIllegalAddress;
    expect(TSR_ERR_DEVICE, true);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tells_what_is_recorded),
      cmocka_unit_test(asks_the_queue_instead),
      cmocka_unit_test(tells_errors_apart),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
