/* Queues, each served in order by a thread of its own, and the events between them. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cpu_blas.h"
#include "base/thread.h"
#include "engine/host/host.h"
#include "engine/host/internal.h"

/* ---- Points --------------------------------------------------------------- */

static host_point *point_create(void) {
  host_point *point = tsr_alloc_zero(1, sizeof *point);
  if (!point) return NULL;
  pthread_mutex_init(&point->lock, NULL);
  pthread_cond_init(&point->passed_now, NULL);
  point->references = 1;
  return point;
}

static host_point *point_take(host_point *point) {
  pthread_mutex_lock(&point->lock);
  point->references++;
  pthread_mutex_unlock(&point->lock);
  return point;
}

static void point_drop(host_point *point) {
  if (!point) return;
  pthread_mutex_lock(&point->lock);
  bool unused = --point->references == 0;
  pthread_mutex_unlock(&point->lock);
  if (!unused) return;
  pthread_cond_destroy(&point->passed_now);
  pthread_mutex_destroy(&point->lock);
  tsr_dealloc(point);
}

static void point_pass(host_point *point) {
  pthread_mutex_lock(&point->lock);
  point->passed = true;
  point->seconds = tsr_now();
  pthread_cond_broadcast(&point->passed_now);
  pthread_mutex_unlock(&point->lock);
}

static void point_await(host_point *point) {
  pthread_mutex_lock(&point->lock);
  while (!point->passed) pthread_cond_wait(&point->passed_now, &point->lock);
  pthread_mutex_unlock(&point->lock);
}

/* ---- The thread of a queue ------------------------------------------------ */

/* The first error of a device stays. */
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

/* One command in four after up to 300 us, the others at once. */
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

/* After an error a device carries out nothing more, but its events still pass: nobody waits
 * forever. */
static void run_command(tsr_queue *queue, host_command *command) {
  delay(queue);
  if (command->kind == HOST_RECORD) {
    point_pass(command->as.point);
  } else if (command->kind == HOST_WAIT) {
    point_await(command->as.point);
  } else if (!device_failed(queue->device)) {
    tsr_status status = run_work(queue, command);
    if (status != TSR_OK) device_fail(queue->device, status);
  }
}

static void command_destroy(host_command *command) {
  if (command->kind == HOST_RECORD || command->kind == HOST_WAIT) point_drop(command->as.point);
  tsr_dealloc(command);
}

/* The next command, when so many are carried out; NULL: the queue is to end and is empty. */
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
  return tsr_fail(TSR_ERR_ARGUMENT, "device %d of %d emulated ones", device, state->count);
}

tsr_status host_queue_create(tsr_engine_state *state, int device, tsr_queue_role role, void *native,
                             tsr_queue **made) {
  (void)native; /* there are no streams but ours */
  TSR_TRY(check_device(state, device));
  if (role == TSR_QUEUE_STAGING)
    return tsr_fail(TSR_ERR_INTERNAL, "a host lane is not a queue of an engine");
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

/* Waits for what is in the queue. */
void host_queue_destroy(tsr_queue *queue) {
  if (!queue) return;
  pthread_mutex_lock(&queue->lock);
  queue->stop = true;
  pthread_cond_signal(&queue->work);
  pthread_mutex_unlock(&queue->lock);
  if (queue->running) pthread_join(queue->thread, NULL);
  pthread_cond_destroy(&queue->work);
  pthread_mutex_destroy(&queue->lock);
  tsr_dealloc(queue->room);
  tsr_dealloc(queue);
}

/* The thread starts with the first command: most plans do not use every queue. */
static tsr_status start(tsr_queue *queue) {
  if (queue->running) return TSR_OK;
  if (!tsr_thread_start(serve, queue, &queue->thread))
    return tsr_fail(TSR_ERR_MEMORY, "cannot start the thread of an emulated queue");
  queue->running = true;
  return TSR_OK;
}

/* Puts a copy of *command at the end; takes over its point, also on failure. */
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
  if (command->kind == HOST_RECORD || command->kind == HOST_WAIT) point_drop(command->as.point);
  tsr_dealloc(entry);
  return status;
}

tsr_status host_copy(tsr_queue *queue, const tsr_copy_args *args) {
  return submit(queue,
                &(host_command){.kind = HOST_COPY, .fail = host_must_fail(), .as.copy = *args});
}

/* A device that runs out of memory while it works fails for good: what a kernel needs is taken when
 * it is submitted. */
tsr_status host_kernel(tsr_queue *queue, const tsr_kernel_args *args) {
  size_t bytes = tsr_cpu_kernel_room(args);
  if (bytes > 0 && queue->room == NULL) queue->room = tsr_alloc(bytes);
  if (bytes > 0 && queue->room == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for an emulated device's conversions");
  return submit(queue,
                &(host_command){.kind = HOST_KERNEL, .fail = host_must_fail(), .as.kernel = *args});
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
  point_drop(event->point);
  pthread_mutex_destroy(&event->lock);
  tsr_dealloc(event);
}

static tsr_status put_point(tsr_queue *queue, host_point **made) {
  host_point *point = point_create();
  if (!point) return tsr_fail(TSR_ERR_MEMORY, "no memory to record an event");
  point_take(point); /* one for the queue, one for the event */
  tsr_status status = submit(queue, &(host_command){.kind = HOST_RECORD, .as.point = point});
  if (status == TSR_OK)
    *made = point;
  else
    point_drop(point);
  return status;
}

static long submitted_to(tsr_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  long submitted = queue->submitted;
  pthread_mutex_unlock(&queue->lock);
  return submitted;
}

/* Without memory for a point the event counts the queue's commands. */
tsr_status host_record(tsr_queue *queue, tsr_queue_event *event) {
  host_point *point = NULL;
  tsr_status status = put_point(queue, &point);
  long number = submitted_to(queue);
  pthread_mutex_lock(&event->lock);
  host_point *former = event->point;
  event->point = point;
  event->behind = queue;
  event->number = number;
  pthread_mutex_unlock(&event->lock);
  point_drop(former);
  return status;
}

/* The recording, with a reference; NULL and a failure when there is none. */
static host_point *last_point(tsr_queue_event *event) {
  pthread_mutex_lock(&event->lock);
  host_point *point = event->point ? point_take(event->point) : NULL;
  pthread_mutex_unlock(&event->lock);
  if (!point)
    tsr_fail(TSR_ERR_CHECK, "an event of emulated device %d is used that is not recorded",
             event->device->index);
  return point;
}

tsr_status host_wait(tsr_queue *queue, tsr_queue_event *event) {
  host_point *point = last_point(event);
  if (!point) return TSR_ERR_CHECK;
  return submit(queue, &(host_command){.kind = HOST_WAIT, .as.point = point});
}

static tsr_status device_status(host_device *device) {
  pthread_mutex_lock(&device->lock);
  tsr_status status = device->error.status == TSR_OK ? TSR_OK : tsr_error_put(&device->error);
  pthread_mutex_unlock(&device->lock);
  return status;
}

/* Whether an event that could not be recorded has passed; false: it was, or never. */
static bool passes_by_count(tsr_queue_event *event, bool *passed) {
  pthread_mutex_lock(&event->lock);
  tsr_queue *queue = event->point ? NULL : event->behind;
  long number = event->number;
  pthread_mutex_unlock(&event->lock);
  if (!queue) return false;
  pthread_mutex_lock(&queue->lock);
  *passed = queue->finished >= number;
  pthread_mutex_unlock(&queue->lock);
  return true;
}

/* After an error of the device events still pass, and *passed still tells: who waits for a device
 * that failed must know when it has stopped. */
tsr_status host_query(tsr_queue_event *event, bool *passed, double *seconds) {
  if (passes_by_count(event, passed)) return device_status(event->device);
  host_point *point = last_point(event);
  if (!point) return TSR_ERR_CHECK;
  pthread_mutex_lock(&point->lock);
  *passed = point->passed;
  if (point->passed && seconds && event->timed) *seconds = point->seconds;
  pthread_mutex_unlock(&point->lock);
  point_drop(point);
  /* Behind the look at the point: an error before the event is there by now. */
  return device_status(event->device);
}
