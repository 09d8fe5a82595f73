/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Work on the devices outside of plans, while no job runs and the caller waits. */
#include "run/aside.h"
#include "run/inside.h"

/* Waits also if recording failed (query then still answers) and after an error, because commands
 * that a failed device has begun may still run. */
tsr_status tsr_direct_finish(tsr_runner *runner, tsr_queue *queue, tsr_queue_event *event) {
  tsr_backoff backoff = {0};
  tsr_status status = TSR_OK;
  (void)runner->engine->record(queue, event);
  for (bool complete = false; !complete; tsr_backoff_step(&backoff, tsr_spins(runner)))
    status = runner->engine->query(event, &complete, NULL);
  return status;
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
} direct_copy;

static tsr_status copy(void *argument) {
  tsr_runner *runner = ((direct_copy *)argument)->runner;
  const tsr_copy_args *args = ((direct_copy *)argument)->args;
  bool up = args->from_device == TSR_HOST, down = args->to_device == TSR_HOST;
  int device = up ? args->to_device : args->from_device;
  tsr_plan_queue key = {.role = up     ? TSR_QUEUE_IN
                                : down ? TSR_QUEUE_OUT
                                       : TSR_QUEUE_PEER,
                        .index = (uint8_t)(up || down ? 0 : args->to_device)};
  tsr_queue *queue;
  TSR_TRY(tsr_resource_queue(runner, device, key, &queue));
  tsr_events *events = &runner->side[device].last[0];
  TSR_TRY(tsr_resource_events(runner, device, events, 1, false));
  tsr_error error;
  tsr_status copied = runner->engine->copy(queue, args);
  if (copied != TSR_OK) tsr_error_take(copied, &error);
  /* Also after a copy that failed: its first parts may be in flight. */
  tsr_status ended = tsr_direct_finish(runner, queue, events->items[0]);
  return copied != TSR_OK ? tsr_error_put(&error) : ended;
}

tsr_status tsr_runner_copy(tsr_runner *runner, const tsr_copy_args *args) {
  tsr_runner_occupy(runner);
  tsr_status status = tsr_aside(copy, &(direct_copy){runner, args});
  tsr_runner_leave(runner);
  return status;
}
