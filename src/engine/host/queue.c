/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Queues, each served in order by a thread of its own, and the events that order their commands. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "cpu/blas.h"
#include "engine/host/host.h"
#include "engine/host/internal.h"

/* ---- Recordings of events -------------------------------------------------- */

static host_recording *recording_create(void) {
  host_recording *recording = tsr_alloc_zero(1, sizeof *recording);
  if (!recording) return NULL;
  pthread_mutex_init(&recording->lock, NULL);
  pthread_cond_init(&recording->completed, NULL);
  recording->references = 1;
  return recording;
}

static host_recording *recording_retain(host_recording *recording) {
  pthread_mutex_lock(&recording->lock);
  recording->references++;
  pthread_mutex_unlock(&recording->lock);
  return recording;
}

static void recording_release(host_recording *recording) {
  if (!recording) return;
  pthread_mutex_lock(&recording->lock);
  bool unused = --recording->references == 0;
  pthread_mutex_unlock(&recording->lock);
  if (!unused) return;
  pthread_cond_destroy(&recording->completed);
  pthread_mutex_destroy(&recording->lock);
  tsr_dealloc(recording);
}

static void recording_complete(host_recording *recording) {
  pthread_mutex_lock(&recording->lock);
  recording->complete = true;
  recording->seconds = tsr_now();
  pthread_cond_broadcast(&recording->completed);
  pthread_mutex_unlock(&recording->lock);
}

static void recording_await(host_recording *recording) {
  pthread_mutex_lock(&recording->lock);
  while (!recording->complete) pthread_cond_wait(&recording->completed, &recording->lock);
  pthread_mutex_unlock(&recording->lock);
}

/* ---- The thread of a queue ------------------------------------------------ */

/* Keeps the error as the device's unless the device has one already. */
static void device_fail(host_device *device, tsr_status status) {
  pthread_mutex_lock(&device->lock);
  if (device->error.status == TSR_OK) tsr_error_take(status, &device->error);
  pthread_mutex_unlock(&device->lock);
}

static bool device_failed(host_device *device) {
  pthread_mutex_lock(&device->lock);
  bool failed = device->error.status != TSR_OK;
  pthread_mutex_unlock(&device->lock);
  return failed;
}

static atomic_bool hold_queues;

void tsr_engine_host_hold_queues(bool hold) {
  atomic_store(&hold_queues, hold);
}

/* With a delay seed, delays one command in four by up to 300 us. */
static void delay(tsr_queue *queue) {
  while (atomic_load(&hold_queues)) tsr_sleep(100e-6);
  if (queue->state->delay_seed == 0) return;
  queue->random = queue->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  uint32_t r = (uint32_t)(queue->random >> 33);
  if (r % 4 == 0) tsr_sleep((r / 4 % 300) * 1e-6);
}

static tsr_status run_work(tsr_queue *queue, const host_command *command) {
  if (command->fail)
    return tsr_fail(TSR_ERR_DEVICE, "%s was told to fail", host_place(queue, command));
  return command->kind == HOST_COPY ? host_run_copy(queue, command)
                                    : host_run_kernel(queue, command);
}

/* After an error the device runs no further copies and kernels, but its events still complete, so
 * that nobody waits for ever. */
static void run_command(tsr_queue *queue, host_command *command) {
  delay(queue);
  if (command->kind == HOST_RECORD) {
    recording_complete(command->as.recording);
  } else if (command->kind == HOST_WAIT) {
    recording_await(command->as.recording);
  } else if (!device_failed(queue->device)) {
    tsr_status status = run_work(queue, command);
    if (status != TSR_OK) device_fail(queue->device, status);
  }
}

static void command_destroy(host_command *command) {
  if (command->kind == HOST_RECORD || command->kind == HOST_WAIT)
    recording_release(command->as.recording);
  tsr_dealloc(command);
}

/* Notes the number of finished commands and waits for the next command, which the caller then owns.
 * NULL: the queue is empty and stops. */
static host_command *next_command(tsr_queue *queue, long finished) {
  pthread_mutex_lock(&queue->lock);
  queue->finished = finished;
  while (!queue->first && !queue->stop) pthread_cond_wait(&queue->work, &queue->lock);
  host_command *command = queue->first;
  if (command) {
    queue->first = command->next;
    if (!queue->first) queue->last = &queue->first;
  }
  pthread_mutex_unlock(&queue->lock);
  return command;
}

static void *serve(void *argument) {
  tsr_queue *queue = argument;
  host_command *command;
  for (long finished = 0; (command = next_command(queue, finished)); finished++) {
    run_command(queue, command);
    command_destroy(command);
  }
  return NULL;
}

/* ---- Queues --------------------------------------------------------------- */

static tsr_status check_device(const tsr_engine_state *state, int device) {
  if (device >= 0 && device < state->count) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "device is %d; the emulated devices are 0 to %d", device,
                  state->count - 1);
}

tsr_status host_queue_create(tsr_engine_state *state, int device, tsr_queue_role role, void *native,
                             tsr_queue **made) {
  (void)native; /* emulated devices have no streams of the user */
  TSR_TRY(check_device(state, device));
  if (role == TSR_QUEUE_STAGING)
    return tsr_fail(TSR_ERR_INTERNAL, "a staging queue is not a queue of an engine");
  tsr_queue *queue = tsr_alloc_zero(1, sizeof *queue);
  if (!queue) return tsr_fail(TSR_ERR_MEMORY, "no memory for a queue");
  queue->state = state;
  queue->device = &state->devices[device];
  queue->role = role;
  pthread_mutex_lock(&queue->device->lock);
  queue->number = queue->device->queues++;
  pthread_mutex_unlock(&queue->device->lock);
  queue->random = state->delay_seed * 0x9E3779B97F4A7C15u + (uint64_t)device * 1000003u +
                  (uint64_t)queue->number * 7919u;
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->work, NULL);
  queue->last = &queue->first;
  *made = queue;
  return TSR_OK;
}

/* Waits for the commands in the queue. */
void host_queue_destroy(tsr_queue *queue) {
  if (!queue) return;
  pthread_mutex_lock(&queue->lock);
  queue->stop = true;
  pthread_cond_signal(&queue->work);
  pthread_mutex_unlock(&queue->lock);
  if (queue->running) pthread_join(queue->thread, NULL);
  pthread_cond_destroy(&queue->work);
  pthread_mutex_destroy(&queue->lock);
  tsr_dealloc(queue->scratch);
  tsr_dealloc(queue);
}

/* Starts the queue's thread, with the first command only: most plans do not use every queue. */
static tsr_status start(tsr_queue *queue) {
  TSR_TRY(host_refuse_command());
  if (queue->running) return TSR_OK;
  if (!tsr_thread_start(serve, queue, &queue->thread))
    return tsr_fail(TSR_ERR_MEMORY, "cannot start the thread of an emulated queue");
  queue->running = true;
  return TSR_OK;
}

/* Appends a copy of *command to the queue. Takes over the reference to its recording, also on
 * failure. */
static tsr_status submit(tsr_queue *queue, const host_command *command) {
  host_command *entry = tsr_alloc(sizeof *entry);
  pthread_mutex_lock(&queue->lock);
  tsr_status status = entry ? start(queue) : tsr_fail(TSR_ERR_MEMORY, "no memory for a command");
  if (status == TSR_OK) {
    *entry = *command;
    entry->number = ++queue->submitted;
    entry->next = NULL;
    *queue->last = entry;
    queue->last = &entry->next;
    pthread_cond_signal(&queue->work);
  }
  pthread_mutex_unlock(&queue->lock);
  if (status == TSR_OK) return TSR_OK;
  if (command->kind == HOST_RECORD || command->kind == HOST_WAIT)
    recording_release(command->as.recording);
  tsr_dealloc(entry);
  return status;
}

/* Refuses a copy between devices that do not reach each other. */
static tsr_status check_way(const tsr_engine_state *state, const tsr_copy_args *args) {
  int from = args->from_device, to = args->to_device;
  if (from == TSR_HOST || to == TSR_HOST || from == to || !(state->unlinked[from] >> to & 1))
    return TSR_OK;
  return tsr_fail(TSR_ERR_CHECK,
                  "a copy from emulated device %d to %d, which have no peer access: copy by way of "
                  "host memory",
                  from, to);
}

tsr_status host_copy(tsr_queue *queue, const tsr_copy_args *args) {
  TSR_TRY(check_way(queue->state, args));
  return submit(queue,
                &(host_command){.kind = HOST_COPY, .fail = host_must_fail(), .as.copy = *args});
}

/* Allocates the kernel's scratch memory at submission, where running out of memory is the caller's
 * error; on the queue's thread it would fail the device for good. */
tsr_status host_kernel(tsr_queue *queue, const tsr_kernel_args *args) {
  size_t bytes = tsr_cpu_kernel_room(args);
  if (bytes > 0 && queue->scratch == NULL) queue->scratch = tsr_alloc(bytes);
  if (bytes > 0 && queue->scratch == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for an emulated device's kernel: free 3 MiB");
  return submit(queue, &(host_command){.kind = HOST_KERNEL,
                                       .fail = host_must_fail(),
                                       .scratch = bytes > 0 ? queue->scratch : NULL,
                                       .as.kernel = *args});
}

/* ---- Events --------------------------------------------------------------- */

tsr_status host_event_create(tsr_engine_state *state, int device, bool timed,
                             tsr_queue_event **made) {
  TSR_TRY(check_device(state, device));
  tsr_queue_event *event = tsr_alloc_zero(1, sizeof *event);
  if (!event) return tsr_fail(TSR_ERR_MEMORY, "no memory for an event");
  event->device = &state->devices[device];
  event->timed = timed;
  pthread_mutex_init(&event->lock, NULL);
  *made = event;
  return TSR_OK;
}

void host_event_destroy(tsr_queue_event *event) {
  if (!event) return;
  recording_release(event->recording);
  pthread_mutex_destroy(&event->lock);
  tsr_dealloc(event);
}

static tsr_status submit_recording(tsr_queue *queue, host_recording **made) {
  host_recording *recording = recording_create();
  if (!recording) return tsr_fail(TSR_ERR_MEMORY, "no memory to record an event");
  recording_retain(recording); /* one reference for the queue, one for the event */
  tsr_status status =
      submit(queue, &(host_command){.kind = HOST_RECORD, .as.recording = recording});
  if (status == TSR_OK)
    *made = recording;
  else
    recording_release(recording);
  return status;
}

static long submitted_to(tsr_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  long submitted = queue->submitted;
  pthread_mutex_unlock(&queue->lock);
  return submitted;
}

/* If there is no memory for a recording, host_query compares the event's number with the count of
 * finished commands. */
tsr_status host_record(tsr_queue *queue, tsr_queue_event *event) {
  host_recording *recording = NULL;
  tsr_status status = submit_recording(queue, &recording);
  long number = submitted_to(queue);
  pthread_mutex_lock(&event->lock);
  host_recording *former = event->recording;
  event->recording = recording;
  event->queue = queue;
  event->number = number;
  pthread_mutex_unlock(&event->lock);
  recording_release(former);
  return status;
}

/* The event's recording, with a reference for the caller. NULL: there is none; tsr_message() says
 * so. */
static host_recording *last_recording(tsr_queue_event *event) {
  pthread_mutex_lock(&event->lock);
  host_recording *recording = event->recording ? recording_retain(event->recording) : NULL;
  pthread_mutex_unlock(&event->lock);
  if (!recording)
    tsr_fail(TSR_ERR_CHECK, "an event of emulated device %d is used but was not recorded",
             event->device->index);
  return recording;
}

tsr_status host_wait(tsr_queue *queue, tsr_queue_event *event) {
  host_recording *recording = last_recording(event);
  if (!recording) return TSR_ERR_CHECK;
  return submit(queue, &(host_command){.kind = HOST_WAIT, .as.recording = recording});
}

static tsr_status device_status(host_device *device) {
  pthread_mutex_lock(&device->lock);
  tsr_status status = device->error.status == TSR_OK ? TSR_OK : tsr_error_put(&device->error);
  pthread_mutex_unlock(&device->lock);
  return status;
}

tsr_status host_check(tsr_engine_state *state, int device) {
  return device_status(&state->devices[device]);
}

/* Forgets a check's error: the commands that it accused read data which a failed device had not
 * written. */
tsr_status host_recover(tsr_engine_state *state, int index) {
  host_device *device = &state->devices[index];
  pthread_mutex_lock(&device->lock);
  bool passes = device->error.status == TSR_ERR_CHECK || host_errors_pass();
  if (passes) device->error.status = TSR_OK;
  pthread_mutex_unlock(&device->lock);
  return device_status(device);
}

/* For an event whose recording failed: tells by the queue's count whether it is complete. False:
 * the event has a recording, or recording it was never tried. */
static bool query_unrecorded(tsr_queue_event *event, bool *complete) {
  pthread_mutex_lock(&event->lock);
  tsr_queue *queue = event->recording ? NULL : event->queue;
  long number = event->number;
  pthread_mutex_unlock(&event->lock);
  if (!queue) return false;
  pthread_mutex_lock(&queue->lock);
  *complete = queue->finished >= number;
  pthread_mutex_unlock(&queue->lock);
  return true;
}

/* *complete is set also after an error of the device: a caller that waits for a failed device must
 * learn when it has stopped. */
tsr_status host_query(tsr_queue_event *event, bool *complete, double *seconds) {
  if (query_unrecorded(event, complete)) return device_status(event->device);
  host_recording *recording = last_recording(event);
  if (!recording) return TSR_ERR_CHECK;
  pthread_mutex_lock(&recording->lock);
  *complete = recording->complete;
  if (recording->complete && seconds && event->timed) *seconds = recording->seconds;
  pthread_mutex_unlock(&recording->lock);
  recording_release(recording);
  /* After the recording was read: an error of a command before the event is noted by then. */
  return device_status(event->device);
}
