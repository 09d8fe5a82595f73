/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Work on the devices outside of plans, while no job runs and the caller waits. */
#include <string.h>

#include "run/aside.h"
#include "run/inside.h"
#include "run/tuning.h"

/* Also after an error, because commands that a failed device has begun may still run. */
static tsr_status await_event(const tsr_runner *runner, tsr_queue_event *event) {
  tsr_backoff backoff = {0};
  tsr_status status = TSR_OK;
  for (bool complete = false; !complete; tsr_backoff_step(&backoff, tsr_spins(runner)))
    status = runner->engine->query(event, &complete, NULL);
  return status;
}

/* Waits also if recording failed: query then still answers. */
tsr_status tsr_direct_finish(tsr_runner *runner, tsr_queue *queue, tsr_queue_event *event) {
  (void)runner->engine->record(queue, event);
  return await_event(runner, event);
}

/* ---- The user's streams ---- */

/* On failure the former stream stays tied. */
static tsr_status tie(tsr_runner *runner, int device, void *native) {
  tsr_run_device *side = &runner->side[device];
  tsr_queue *user = NULL;
  if (native != NULL && side->mark == NULL)
    TSR_TRY(runner->engine->event_create(runner->state, device, false, &side->mark));
  if (native != NULL)
    TSR_TRY(runner->engine->queue_create(runner->state, device, TSR_QUEUE_USER, native, &user));
  if (side->user != NULL) runner->engine->queue_destroy(side->user);
  side->user = user;
  return TSR_OK;
}

tsr_status tsr_runner_tie(tsr_runner *runner, int device, void *native) {
  if (device < 0 || device >= runner->devices)
    return tsr_fail(TSR_ERR_ARGUMENT, "device is %d; the context has devices 0 to %d", device,
                    runner->devices - 1);
  tsr_runner_occupy(runner);
  tsr_status status = tie(runner, device, native);
  tsr_runner_leave(runner);
  return status;
}

static tsr_status join(void *argument) {
  tsr_runner *runner = argument;
  for (int d = 0; d < runner->devices; d++)
    if (runner->side[d].user != NULL)
      TSR_TRY(tsr_direct_finish(runner, runner->side[d].user, runner->side[d].mark));
  return TSR_OK;
}

tsr_status tsr_runner_join(tsr_runner *runner) {
  tsr_runner_occupy(runner);
  tsr_status status = tsr_aside(join, runner);
  tsr_runner_leave(runner);
  return status;
}

/* ---- One copy ---- */

typedef struct direct_copy {
  tsr_runner *runner;
  const tsr_copy_args *args;
  tsr_queue *queue;
  tsr_queue_event **events; /* two */
} direct_copy;

/* Also after a copy that failed: its first parts may be in flight. */
static tsr_status copy_at_once(const direct_copy *x) {
  tsr_error error;
  tsr_status copied = x->runner->engine->copy(x->queue, x->args);
  if (copied != TSR_OK) tsr_error_take(copied, &error);
  tsr_status ended = tsr_direct_finish(x->runner, x->queue, x->events[0]);
  return copied != TSR_OK ? tsr_error_put(&error) : ended;
}

/* Between the device and piece number i of the host's bytes, which is in its half of the ring. */
static tsr_status copy_piece(const direct_copy *x, char *half, size_t at, size_t bytes, int i) {
  tsr_copy_args piece = *x->args;
  piece.width = piece.from_pitch = piece.to_pitch = bytes;
  if (piece.from_device == TSR_HOST) {
    memcpy(half, (const char *)piece.from + at, bytes);
    piece.from = half;
    piece.to = (char *)piece.to + at;
  } else {
    piece.from = (const char *)piece.from + at;
    piece.to = half;
  }
  TSR_TRY(x->runner->engine->copy(x->queue, &piece));
  (void)x->runner->engine->record(x->queue, x->events[i % 2]); /* if it fails, query answers, too */
  return TSR_OK;
}

/* Waits for piece number i, and takes it out of the ring. */
static tsr_status end_piece(const direct_copy *x, const char *half, size_t at, size_t bytes,
                            int i) {
  TSR_TRY(await_event(x->runner, x->events[i % 2]));
  if (x->args->to_device == TSR_HOST) memcpy((char *)x->args->to + at, half, bytes);
  return TSR_OK;
}

/* While a piece is copied between a half of the ring and the device, the one before or after it is
 * copied between the other half and the user's memory. */
static tsr_status copy_pieces(const direct_copy *x, char *ring) {
  const size_t most = TSR_TUNE_COPY_PIECE, all = x->args->width;
  int count = (int)((all + most - 1) / most);
  tsr_status status = TSR_OK;
  for (int i = 0; i <= count && status == TSR_OK; i++) {
    size_t at = (size_t)i * most, before = at - most;
    char *half = ring + (size_t)(i % 2) * most, *other = ring + (size_t)((i + 1) % 2) * most;
    if (i < count) status = copy_piece(x, half, at, all - at < most ? all - at : most, i);
    if (i > 0 && status == TSR_OK)
      status = end_piece(x, other, before, all - before < most ? all - before : most, i - 1);
  }
  return status;
}

/* Whether the host's side is pageable memory, or begins as pinned memory and goes on as pageable.
 * Runtimes copy that in ways of their own, HIP's even before it returns. */
static bool is_pageable(const tsr_runner *runner, const tsr_copy_args *args) {
  bool up = args->from_device == TSR_HOST, down = args->to_device == TSR_HOST;
  const char *host = up ? args->from : args->to;
  tsr_place place;
  if (!up && !down) return false;
  if (runner->engine->where(runner->state, host, &place) != TSR_OK) return false;
  bool ends_early = place.bytes > 0 && args->width > place.bytes - (size_t)(host - place.begin);
  return place.memory == TSR_PAGEABLE || ends_early;
}

/* The location of the staging ring near the copy's device. */
static int ring_of(const direct_copy *x) {
  const tsr_near *near = &x->runner->near;
  int device = x->args->to_device == TSR_HOST ? x->args->from_device : x->args->to_device;
  bool known = near->places && near->node[device] >= 0;
  return x->runner->devices + (known ? near->node[device] : 0);
}

/* Without memory for the ring the runtime copies as it can. */
static tsr_status copy_by_ring(const direct_copy *x) {
  tsr_runner *runner = x->runner;
  int ring = ring_of(x);
  if (tsr_resource_reserve_arena(runner, ring, (size_t)2 * TSR_TUNE_COPY_PIECE) != TSR_OK)
    return copy_at_once(x);
  tsr_error error;
  tsr_status copied = copy_pieces(x, runner->arena[ring].base);
  if (copied == TSR_OK) return TSR_OK;
  tsr_error_take(copied, &error);
  (void)tsr_direct_finish(runner, x->queue, x->events[0]);
  return tsr_error_put(&error);
}

static tsr_status copy(void *argument) {
  direct_copy *x = argument;
  tsr_runner *runner = x->runner;
  const tsr_copy_args *args = x->args;
  bool up = args->from_device == TSR_HOST, down = args->to_device == TSR_HOST;
  int device = up ? args->to_device : args->from_device;
  tsr_plan_queue key = {.role = up     ? TSR_QUEUE_IN
                                : down ? TSR_QUEUE_OUT
                                       : TSR_QUEUE_PEER,
                        .index = (uint8_t)(up || down ? 0 : args->to_device)};
  TSR_TRY(tsr_resource_queue(runner, device, key, &x->queue));
  tsr_events *events = &runner->side[device].last[0];
  TSR_TRY(tsr_resource_events(runner, device, events, 2, false));
  x->events = events->items;
  return args->height == 1 && is_pageable(runner, args) ? copy_by_ring(x) : copy_at_once(x);
}

tsr_status tsr_runner_copy(tsr_runner *runner, const tsr_copy_args *args) {
  tsr_runner_occupy(runner);
  direct_copy x = {.runner = runner, .args = args};
  tsr_status status = tsr_aside(copy, &x);
  tsr_runner_leave(runner);
  return status;
}
