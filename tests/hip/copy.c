/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copies. They are asynchronous, and host memory is pinned: with other memory the runtime may wait
 * for the copy, so the engine never asks for that.
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

typedef struct copy {
  char *to;
  const char *from;
  size_t to_pitch, from_pitch, width, height;
} copy;

static void run_copy(void *argument) {
  const copy *c = argument;
  for (size_t row = 0; row < c->height; row++)
    memcpy(c->to + row * c->to_pitch, c->from + row * c->from_pitch, c->width);
}

/* Where a side of a copy is: a device, or HOST. */
enum { HOST = -1 };
static int side_of(const void *pointer) {
  pthread_mutex_lock(&hip_lock);
  const allocation *a = hip_find_locked(pointer);
  int device = a != NULL && a->kind == ON_DEVICE ? a->device : HOST;
  pthread_mutex_unlock(&hip_lock);
  return device;
}

/* A device's memory that is not allocated. */
static bool is_freed(const void *pointer) {
  return side_of(pointer) == HOST && hip_is_device_address(pointer);
}

static bool is_kind(hipMemcpyKind kind, int to, int from) {
  switch (kind) {
    case hipMemcpyHostToDevice:
      return to != HOST && from == HOST;
    case hipMemcpyDeviceToHost:
      return to == HOST && from != HOST;
    case hipMemcpyDeviceToDevice:
      return to != HOST && from != HOST;
    default:
      return kind == hipMemcpyDefault;
  }
}

/* A copy of the default kind goes by way of the host where devices do not reach each other, so each
 * side is looked at as its own device sees it. */
static hipError_t submit(const char *function, copy c, hipMemcpyKind kind, stream *s) {
  int to = side_of(c.to), from = side_of(c.from), device = s->handle.device;
  size_t to_bytes = (c.height - 1) * c.to_pitch + c.width;
  size_t from_bytes = (c.height - 1) * c.from_pitch + c.width;
  bool direct = kind == hipMemcpyDeviceToDevice;
  if (is_freed(c.to) || is_freed(c.from))
    return hip_misuse(hipErrorInvalidValue, "%s: memory at %p is freed", function,
                      is_freed(c.to) ? (const void *)c.to : c.from);
  if (!is_kind(kind, to, from))
    return hip_misuse(hipErrorInvalidMemcpyDirection,
                      "%s: kind %d, but the copy goes from %d to %d (-1: the host)", function,
                      (int)kind, from, to);
  if (to != device && from != device)
    return hip_misuse(hipErrorInvalidValue,
                      "%s: from %d to %d (-1: the host) on a stream of device %d", function, from,
                      to, device);
  c.to = hip_reach(c.to, to_bytes, direct || to == HOST ? device : to, function);
  c.from = hip_reach(c.from, from_bytes, direct || from == HOST ? device : from, function);
  if (c.to == NULL || c.from == NULL) return hipErrorInvalidValue;
  return hip_set(hip_submit(s, run_copy, &c, sizeof c));
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t given) {
  stream *s = hip_stream(given, "hipMemcpyAsync");
  if (s == NULL) return hipErrorInvalidHandle;
  if (bytes == 0) return hip_set(hipSuccess);
  return submit("hipMemcpyAsync", (copy){to, from, bytes, bytes, bytes, 1}, kind, s);
}

hipError_t hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                              size_t bytes, hipStream_t given) {
  stream *s = hip_stream(given, "hipMemcpyPeerAsync");
  if (s == NULL) return hipErrorInvalidHandle;
  if (side_of(to) != to_device || side_of(from) != from_device)
    return hip_misuse(hipErrorInvalidValue,
                      "hipMemcpyPeerAsync: from %d to %d, but the memory is of %d and %d (-1: none "
                      "that is allocated)",
                      from_device, to_device, side_of(from), side_of(to));
  if (bytes == 0) return hip_set(hipSuccess);
  return submit("hipMemcpyPeerAsync", (copy){to, from, bytes, bytes, bytes, 1}, hipMemcpyDefault,
                s);
}

hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t given) {
  const size_t most = hip_settings()->max_pitch;
  stream *s = hip_stream(given, "hipMemcpy2DAsync");
  if (s == NULL) return hipErrorInvalidHandle;
  if (width > to_pitch || width > from_pitch || to_pitch > most || from_pitch > most)
    return hip_misuse(hipErrorInvalidPitchValue,
                      "hipMemcpy2DAsync: width %zu, pitches %zu and %zu; the largest is %zu", width,
                      to_pitch, from_pitch, most);
  if (width == 0 || height == 0) return hip_set(hipSuccess);
  return submit("hipMemcpy2DAsync", (copy){to, from, to_pitch, from_pitch, width, height}, kind, s);
}

/* ---- Filling ------------------------------------------------------------------------ */

typedef struct filling {
  char *at;
  int value;
  size_t bytes;
} filling;

static void run_fill(void *argument) {
  const filling *f = argument;
  memset(f->at, f->value, f->bytes);
}

/* On the default stream of the current device. */
hipError_t hipMemset(void *at, int value, size_t bytes) {
  stream *s = hip_stream(NULL, "hipMemset");
  if (bytes == 0) return hip_set(hipSuccess);
  filling f = {hip_reach(at, bytes, hip_current(), "hipMemset"), value, bytes};
  if (f.at == NULL) return hipErrorInvalidValue;
  return hip_set(hip_submit(s, run_fill, &f, sizeof f));
}
