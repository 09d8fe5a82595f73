/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Streams and events. A stream is a thread that runs its commands in order. Each record of an event
 * makes a point: the event's state, which later records replace, as the manual says that a wait
 * is for the latest record before it.
 */
#include "runtime.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernels/block.h"

typedef struct command {
  struct command *next;
  bool always; /* also if the device is lost */
  void (*run)(void *argument);
  char argument[];
} command;

/* ---- A stream's thread ----------------------------------------------------------- */

static void delay(unsigned *random) {
  if (hip_settings()->delay == 0) return;
  *random = *random * 1664525 + 1013904223;
  if (*random >> 30 == 0) usleep(*random >> 22 & 127);
}

/* Waits for a command; NULL: the stream ends. */
static command *next_command(stream *s) {
  pthread_mutex_lock(&hip_lock);
  while (s->first == NULL && !s->ends) pthread_cond_wait(&s->work, &hip_lock);
  command *c = s->first;
  pthread_mutex_unlock(&hip_lock);
  return c;
}

static void finish_command(stream *s) {
  pthread_mutex_lock(&hip_lock);
  command *done = s->first;
  s->first = done->next;
  if (s->first == NULL) s->last = &s->first;
  pthread_cond_broadcast(&hip_progress);
  pthread_mutex_unlock(&hip_lock);
  free(done);
}

/* What a device has not begun when it is lost does not run. */
static bool is_dying(int device) {
  pthread_mutex_lock(&hip_lock);
  bool dying = hip_devices[device].dying;
  pthread_mutex_unlock(&hip_lock);
  return dying;
}

static void *serve(void *argument) {
  stream *s = argument;
  unsigned random = hip_settings()->delay + (unsigned)(uintptr_t)s;
  for (command *c; (c = next_command(s)) != NULL; finish_command(s)) {
    delay(&random);
    if (c->always || !is_dying(s->handle.device)) c->run(c->argument);
  }
  hip_kernel_leave();
  return NULL;
}

/* Signals are for the program's threads. */
stream *hip_stream_make(int device) {
  stream *s = hip_handle_make(STREAM, sizeof *s);
  s->handle.device = device;
  s->last = &s->first;
  pthread_cond_init(&s->work, NULL);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&s->thread, NULL, serve, s);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error == 0 ? s : NULL;
}

stream *hip_stream(hipStream_t given, const char *function) {
  if (given != NULL) return hip_handle_check(given, STREAM, function) ? (stream *)given : NULL;
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  hip_device *d = &hip_devices[hip_current()];
  pthread_mutex_lock(&making);
  if (d->null == NULL) d->null = hip_stream_make(hip_current());
  pthread_mutex_unlock(&making);
  return d->null;
}

/* ---- Commands ---------------------------------------------------------------------- */

static void drain_stream(const stream *s) {
  pthread_mutex_lock(&hip_lock);
  while (s->first != NULL) pthread_cond_wait(&hip_progress, &hip_lock);
  pthread_mutex_unlock(&hip_lock);
}

/* Handles are only added, at the head of the list. */
void hip_drain(int device) {
  pthread_mutex_lock(&hip_lock);
  hip_handle *all = hip_handles;
  pthread_mutex_unlock(&hip_lock);
  for (hip_handle *h = all; h != NULL; h = h->next)
    if (h->kind == STREAM && h->device == device && !h->destroyed) drain_stream((stream *)h);
}

/* Once a device is known to be lost it touches no memory. */
static void lose(int device) {
  pthread_mutex_lock(&hip_lock);
  hip_devices[device].dying = true;
  pthread_cond_broadcast(&hip_progress);
  pthread_mutex_unlock(&hip_lock);
  hip_drain(device);
  pthread_mutex_lock(&hip_lock);
  hip_devices[device].lost = true;
  pthread_cond_broadcast(&hip_progress);
  pthread_mutex_unlock(&hip_lock);
}

static hipError_t count_command(int device) {
  const hip_config *s = hip_settings();
  pthread_mutex_lock(&hip_lock);
  long number = ++hip_devices[device].commands;
  pthread_mutex_unlock(&hip_lock);
  if (s->lost_at >= 0 && device == s->lost_device && number > s->lost_at) lose(device);
  return hip_lost(device);
}

static hipError_t add_command(stream *to, command made, const void *argument, size_t bytes) {
  command *kept = malloc(sizeof *kept + bytes);
  if (kept == NULL) return hipErrorOutOfMemory;
  *kept = made;
  memcpy(kept->argument, argument, bytes);
  pthread_mutex_lock(&hip_lock);
  *to->last = kept;
  to->last = &kept->next;
  pthread_cond_signal(&to->work);
  pthread_mutex_unlock(&hip_lock);
  return hipSuccess;
}

hipError_t hip_submit(stream *to, void (*run)(void *), const void *argument, size_t bytes) {
  hipError_t error = count_command(to->handle.device);
  if (error != hipSuccess) return error;
  return add_command(to, (command){.run = run}, argument, bytes);
}

/* ---- Streams ------------------------------------------------------------------------- */

hipError_t hipStreamCreateWithPriority(hipStream_t *made, unsigned flags, int priority) {
  hipError_t error = hip_lost(hip_current());
  if (error != hipSuccess) return hip_set(error);
  if (flags != hipStreamNonBlocking)
    return hip_misuse(hipErrorInvalidValue,
                      "hipStreamCreateWithPriority: flags %#x; the engine's streams do not wait "
                      "for the default stream",
                      flags);
  if (priority < -1 || priority > 1)
    return hip_misuse(hipErrorInvalidValue, "hipStreamCreateWithPriority: priority %d", priority);
  stream *s = hip_stream_make(hip_current());
  if (s == NULL) return hip_set(hipErrorOutOfMemory);
  *made = (hipStream_t)s;
  return hip_set(hipSuccess);
}

/* Whether the stream has copies or kernels. What only marks a point touches no memory. */
static bool is_working(const stream *s) {
  bool working = false;
  pthread_mutex_lock(&hip_lock);
  for (const command *c = s->first; c != NULL; c = c->next) working |= !c->always;
  pthread_mutex_unlock(&hip_lock);
  return working;
}

static bool is_empty(const stream *s) {
  pthread_mutex_lock(&hip_lock);
  bool empty = s->first == NULL;
  pthread_mutex_unlock(&hip_lock);
  return empty;
}

/* The manual leaves open whether commands in the stream still run. */
hipError_t hipStreamDestroy(hipStream_t given) {
  if (!hip_handle_check(given, STREAM, "hipStreamDestroy")) return hipErrorInvalidHandle;
  stream *s = (stream *)given;
  hipError_t error = hip_lost(s->handle.device);
  if (is_working(s))
    error = hip_misuse(hipErrorInvalidHandle, "hipStreamDestroy: the stream has commands");
  pthread_mutex_lock(&hip_lock);
  s->handle.destroyed = s->ends = true;
  pthread_cond_signal(&s->work);
  pthread_mutex_unlock(&hip_lock);
  pthread_join(s->thread, NULL);
  return hip_set(error);
}

hipError_t hipStreamQuery(hipStream_t given) {
  const stream *s = hip_stream(given, "hipStreamQuery");
  if (s == NULL) return hipErrorInvalidHandle;
  bool empty = is_empty(s);
  hipError_t error = hip_lost(s->handle.device);
  if (error != hipSuccess) return hip_set(error);
  return hip_set(empty ? hipSuccess : hipErrorNotReady);
}

hipError_t hipStreamSynchronize(hipStream_t given) {
  const stream *s = hip_stream(given, "hipStreamSynchronize");
  if (s == NULL) return hipErrorInvalidHandle;
  drain_stream(s);
  return hip_set(hip_lost(s->handle.device));
}

/* ---- Events ------------------------------------------------------------------------------ */

/* What one record made. Guarded by hip_lock. */
typedef struct point {
  int users; /* the event, and commands */
  bool passed;
  struct timespec time;
} point;

typedef struct event {
  hip_handle handle;
  bool timed;
  point *point; /* of the latest record; NULL: it was not recorded */
} event;

static void leave_locked(point *p) {
  if (p != NULL && --p->users == 0) free(p);
}

/* The event's point with one more user. NULL: it was not recorded. */
static point *enter_point(event *e) {
  pthread_mutex_lock(&hip_lock);
  point *p = e->point;
  if (p != NULL) p->users++;
  pthread_mutex_unlock(&hip_lock);
  return p;
}

static void leave_point(point *p) {
  pthread_mutex_lock(&hip_lock);
  leave_locked(p);
  pthread_mutex_unlock(&hip_lock);
}

static bool has_passed(const point *p) {
  pthread_mutex_lock(&hip_lock);
  bool passed = p->passed;
  pthread_mutex_unlock(&hip_lock);
  return passed;
}

static long later_seconds; /* the devices' clocks go before the host's so much */

void hip_test_advance(long seconds) {
  pthread_mutex_lock(&hip_lock);
  later_seconds += seconds;
  pthread_mutex_unlock(&hip_lock);
}

/* A clock that no other work on the computer moves: ns that slow routines took, and EACH for every
 * time that is taken. */
static int64_t spent;

enum { EACH = 10000, SECOND = 1000000000 }; /* ns */

void hip_spend(double seconds) {
  pthread_mutex_lock(&hip_lock);
  spent += (int64_t)(seconds * SECOND);
  pthread_mutex_unlock(&hip_lock);
}

static struct timespec now_locked(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_sec += later_seconds;
  if (!hip_settings()->slow) return time;
  spent += EACH;
  return (struct timespec){spent / SECOND, spent % SECOND};
}

static void pass(void *argument) {
  point *p = *(point **)argument;
  pthread_mutex_lock(&hip_lock);
  p->time = now_locked();
  p->passed = true;
  leave_locked(p);
  pthread_cond_broadcast(&hip_progress);
  pthread_mutex_unlock(&hip_lock);
}

typedef struct wait {
  point *point;
  int device; /* that waits */
} wait;

static void await(void *argument) {
  const wait *w = argument;
  pthread_mutex_lock(&hip_lock);
  while (!w->point->passed && !hip_devices[w->device].dying)
    pthread_cond_wait(&hip_progress, &hip_lock);
  leave_locked(w->point);
  pthread_mutex_unlock(&hip_lock);
}

hipError_t hipEventCreateWithFlags(hipEvent_t *made, unsigned flags) {
  hipError_t error = hip_lost(hip_current());
  if (error != hipSuccess) return hip_set(error);
  if ((flags & ~(unsigned)hipEventDisableTiming) != 0)
    return hip_misuse(hipErrorInvalidValue, "hipEventCreateWithFlags: flags %#x", flags);
  event *e = hip_handle_make(EVENT, sizeof *e);
  e->timed = (flags & hipEventDisableTiming) == 0;
  *made = (hipEvent_t)e;
  return hip_set(hipSuccess);
}

hipError_t hipEventDestroy(hipEvent_t given) {
  if (!hip_handle_check(given, EVENT, "hipEventDestroy")) return hipErrorInvalidHandle;
  event *e = (event *)given;
  pthread_mutex_lock(&hip_lock);
  e->handle.destroyed = true;
  leave_locked(e->point);
  e->point = NULL;
  pthread_mutex_unlock(&hip_lock);
  return hip_set(hip_lost(e->handle.device));
}

/* Puts a new point into the stream, and makes it the event's. */
static hipError_t record(event *e, stream *s) {
  point *made = calloc(1, sizeof *made);
  if (made == NULL) return hipErrorOutOfMemory;
  made->users = 2;
  hipError_t error = add_command(s, (command){.always = true, .run = pass}, &made, sizeof made);
  if (error != hipSuccess) {
    free(made);
    return error;
  }
  pthread_mutex_lock(&hip_lock);
  leave_locked(e->point);
  e->point = made;
  pthread_mutex_unlock(&hip_lock);
  return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t given, hipStream_t to) {
  if (!hip_handle_check(given, EVENT, "hipEventRecord")) return hipErrorInvalidHandle;
  event *e = (event *)given;
  stream *s = hip_stream(to, "hipEventRecord");
  if (s == NULL) return hipErrorInvalidHandle;
  if (s->handle.device != e->handle.device)
    return hip_misuse(hipErrorInvalidHandle,
                      "hipEventRecord: the event is of device %d, the stream of device %d",
                      e->handle.device, s->handle.device);
  hipError_t error = count_command(s->handle.device);
  return hip_set(error == hipSuccess ? record(e, s) : error);
}

/* The point of an event. NULL: a misuse, reported. */
static point *point_of(hipEvent_t given, const char *function) {
  if (!hip_handle_check(given, EVENT, function)) return NULL;
  point *p = enter_point((event *)given);
  if (p == NULL) hip_misuse(hipErrorInvalidHandle, "%s: the event was not recorded", function);
  return p;
}

hipError_t hipStreamWaitEvent(hipStream_t waits, hipEvent_t given, unsigned flags) {
  stream *s = hip_stream(waits, "hipStreamWaitEvent");
  if (s == NULL) return hipErrorInvalidHandle;
  if (flags != 0) return hip_misuse(hipErrorInvalidValue, "hipStreamWaitEvent: flags %#x", flags);
  wait w = {point_of(given, "hipStreamWaitEvent"), s->handle.device};
  if (w.point == NULL) return hipErrorInvalidHandle;
  hipError_t error = count_command(w.device);
  if (error == hipSuccess)
    error = add_command(s, (command){.always = true, .run = await}, &w, sizeof w);
  if (error != hipSuccess) leave_point(w.point);
  return hip_set(error);
}

hipError_t hipEventQuery(hipEvent_t given) {
  point *p = point_of(given, "hipEventQuery");
  if (p == NULL) return hipErrorInvalidHandle;
  bool passed = has_passed(p); /* asked first: a device that is not dying afterwards ran it */
  hipError_t error = hip_lost(((event *)given)->handle.device);
  if (error == hipSuccess && !passed) error = hipErrorNotReady;
  leave_point(p);
  return hip_set(error);
}

hipError_t hipEventSynchronize(hipEvent_t given) {
  point *p = point_of(given, "hipEventSynchronize");
  if (p == NULL) return hipErrorInvalidHandle;
  pthread_mutex_lock(&hip_lock);
  while (!p->passed) pthread_cond_wait(&hip_progress, &hip_lock);
  leave_locked(p);
  pthread_mutex_unlock(&hip_lock);
  return hip_set(hip_lost(((event *)given)->handle.device));
}

/* ---- Times ---------------------------------------------------------------------------------- */

static hipError_t time_of(hipEvent_t given, struct timespec *time) {
  point *p = point_of(given, "hipEventElapsedTime");
  if (p == NULL) return hipErrorInvalidHandle;
  bool passed = has_passed(p), timed = ((event *)given)->timed;
  *time = p->time;
  leave_point(p);
  if (!timed)
    return hip_misuse(hipErrorInvalidHandle, "hipEventElapsedTime: an event has no times");
  return passed ? hipSuccess : hipErrorNotReady;
}

/* Devices count whole ticks of 10 ns, of a clock of their own. */
static double ticks_of(struct timespec time) {
  return (double)time.tv_sec * 1e8 + (double)(time.tv_nsec / 10);
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop) {
  struct timespec from, to;
  hipError_t error = time_of(start, &from);
  if (error == hipSuccess) error = time_of(stop, &to);
  if (error != hipSuccess) return hip_set(error);
  int device = ((event *)start)->handle.device;
  if (device != ((event *)stop)->handle.device)
    return hip_misuse(hipErrorInvalidHandle, "hipEventElapsedTime: events of two devices");
  *ms = (float)((ticks_of(to) - ticks_of(from)) * 1e-5);
  return hip_set(hip_lost(device));
}
