/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The resources of jobs: queues, events, staging queues and arenas, made before a job is posted. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "run/aside.h"
#include "run/inside.h"

/* ---- Queues and events ---- */

static bool same(const tsr_plan_queue *a, const tsr_plan_queue *b) {
  return a->role == b->role && a->index == b->index;
}

tsr_status tsr_resource_queue(tsr_runner *runner, int device, tsr_plan_queue key,
                              tsr_queue **queue) {
  tsr_run_device *side = &runner->side[device];
  for (size_t i = 0; i < side->keys.count; i++)
    if (same(&side->keys.items[i], &key)) {
      *queue = side->queues.items[i];
      return TSR_OK;
    }
  if (!TSR_VEC_RESERVE(&side->keys, 1) || !TSR_VEC_RESERVE(&side->queues, 1))
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for a queue of device %d", device);
  TSR_TRY(
      runner->engine->queue_create(runner->state, device, (tsr_queue_role)key.role, NULL, queue));
  side->keys.items[side->keys.count++] = key;
  side->queues.items[side->queues.count++] = *queue;
  return TSR_OK;
}

/* Waits for the job that used the current set of events before, whose threads may be reading the
 * array that is about to move. That job was posted TSR_RUN_JOBS jobs ago, or was complete when the
 * sets started again at 0. */
static void await_set(tsr_runner *runner) {
  if (runner->posted >= TSR_RUN_JOBS)
    tsr_await_completed(runner, runner->posted - TSR_RUN_JOBS + 1);
}

tsr_status tsr_resource_events(tsr_runner *runner, int device, tsr_events *events, size_t count,
                               bool timed) {
  if (events->count >= count) return TSR_OK;
  await_set(runner);
  if (!TSR_VEC_RESERVE(events, count - events->count))
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for %zu events", count);
  while (events->count < count) {
    TSR_TRY(
        runner->engine->event_create(runner->state, device, timed, &events->items[events->count]));
    events->count++;
  }
  return TSR_OK;
}

static tsr_status reserve_events(tsr_runner *runner, const tsr_program *p, bool trace, int d) {
  tsr_run_device *side = &runner->side[d];
  size_t commands = p->device_first[d + 1] - p->device_first[d];
  size_t queues = (size_t)(p->used_first[d + 1] - p->used_first[d]);
  int set = runner->set;
  TSR_TRY(tsr_resource_events(runner, d, &side->events[set], trace ? 0 : p->events[d], false));
  TSR_TRY(tsr_resource_events(runner, d, &side->timed[set], trace ? commands : 0, true));
  return tsr_resource_events(runner, d, &side->last[set], queues, false);
}

static tsr_status resolve_queues(tsr_runner *runner, tsr_program *p, int d) {
  for (int i = p->used_first[d]; i < p->used_first[d + 1] && !p->resolved; i++)
    TSR_TRY(tsr_resource_queue(runner, d, p->plan->queue[p->used[i]], &p->queue[p->used[i]]));
  return TSR_OK;
}

static tsr_status reserve_device(tsr_runner *runner, tsr_program *p, bool trace, int d) {
  if (!(p->devices >> d & 1)) return TSR_OK;
  tsr_status status = resolve_queues(runner, p, d);
  if (status == TSR_OK) status = reserve_events(runner, p, trace, d);
  if (status == TSR_ERR_DEVICE) tsr_runner_blame(runner, d);
  return status;
}

/* ---- Staging queues ---- */

static tsr_status reserve_staging(tsr_runner *runner, int threads) {
  while (runner->staging_threads < threads) {
    tsr_worker *worker = &runner->staging[runner->staging_threads];
    *worker = (tsr_worker){.runner = runner, .device = -1, .staging = runner->staging_threads};
    TSR_TRY(tsr_worker_start(worker));
    runner->staging_threads++;
  }
  if (!tsr_may_spin(runner->cores, runner->devices + runner->staging_threads))
    atomic_store(&runner->spin, false);
  return TSR_OK;
}

/* ---- Arenas ---- */

tsr_status tsr_resource_reserve_arena(tsr_runner *runner, int location, size_t bytes) {
  tsr_arena *arena = &runner->arena[location];
  if (arena->bytes >= bytes) return TSR_OK;
  int device = location < runner->devices ? location : TSR_HOST;
  tsr_runner_settle(runner);
  double began = tsr_now();
  if (arena->base != NULL) runner->engine->free(runner->state, device, arena->base);
  *arena = (tsr_arena){0};
  TSR_TRY(device == TSR_HOST ? tsr_near_alloc(&runner->near, runner->engine, runner->state,
                                              location - runner->devices, bytes, &arena->base)
                             : runner->engine->alloc(runner->state, device, bytes, &arena->base));
  arena->bytes = bytes;
  tsr_log(TSR_LOG_DEBUG, "arena of location %d: %zu bytes in %.1f ms", location, bytes,
          1e3 * (tsr_now() - began));
  return TSR_OK;
}

tsr_status tsr_resource_reserve_rings(tsr_runner *runner, const tsr_machine *machine,
                                      size_t bytes) {
  for (int node = 0; node < machine->nodes; node++)
    if (tsr_machine_has_ring(machine, node))
      TSR_TRY(tsr_resource_reserve_arena(runner, runner->devices + node,
                                         bytes / (size_t)tsr_machine_rings(machine)));
  return TSR_OK;
}

/* The arenas that a plan needs. */
typedef struct arena_request {
  tsr_runner *runner;
  const tsr_plan *plan;
  atomic_int short_of; /* the first location without enough memory; TSR_MACHINE_LOCATIONS: none */
} arena_request;

static tsr_status reserve_requested(void *argument, int location) {
  arena_request *a = argument;
  tsr_status status = tsr_resource_reserve_arena(a->runner, location, a->plan->arena[location]);
  if (status == TSR_ERR_DEVICE && location < a->runner->devices)
    tsr_runner_blame(a->runner, location);
  int first = atomic_load(&a->short_of);
  while (status == TSR_ERR_MEMORY && location < first &&
         !atomic_compare_exchange_weak(&a->short_of, &first, location))
    continue;
  return status;
}

/* Whether arenas are allocated on all devices in parallel: if several devices need a large one, for
 * which the runtime takes 10 ms whatever the size (measured). */
static bool pays_aside(const tsr_runner *runner, const tsr_plan *plan) {
  int count = 0;
  for (int d = 0; d < runner->devices; d++)
    count += plan->arena[d] > runner->arena[d].bytes && plan->arena[d] >= TSR_TUNE_ASIDE_LARGE;
  return count > 1;
}

static tsr_status reserve_arenas(tsr_runner *runner, const tsr_plan *plan, int *short_of) {
  arena_request a = {runner, plan, TSR_MACHINE_LOCATIONS};
  tsr_status status = TSR_OK;
  if (pays_aside(runner, plan)) {
    tsr_runner_settle(runner);
    status = tsr_aside_each(runner->devices, reserve_requested, &a);
  }
  for (int l = 0; l < TSR_MACHINE_LOCATIONS && status == TSR_OK; l++)
    status = reserve_requested(&a, l);
  if (status == TSR_ERR_MEMORY) *short_of = atomic_load(&a.short_of);
  return status;
}

tsr_status tsr_resource_reserve(tsr_runner *runner, tsr_program *program, bool trace, bool arenas,
                                int *short_of) {
  const tsr_plan *plan = program->plan;
  if (plan->machine_devices != runner->devices)
    return tsr_fail(TSR_ERR_ARGUMENT, "the plan is for a machine of %d devices, not of %d",
                    plan->machine_devices, runner->devices);
  if (arenas) TSR_TRY(reserve_arenas(runner, plan, short_of));
  for (int d = 0; d < runner->devices; d++) TSR_TRY(reserve_device(runner, program, trace, d));
  program->resolved = true;
  return reserve_staging(runner, tsr_staging_threads(runner, program));
}

/* ---- Giving back ---- */

void tsr_resource_trim(tsr_runner *runner) {
  for (int l = 0; l < TSR_MACHINE_LOCATIONS; l++) {
    int device = l < runner->devices ? l : TSR_HOST;
    if (runner->arena[l].base != NULL)
      runner->engine->free(runner->state, device, runner->arena[l].base);
    runner->arena[l] = (tsr_arena){0};
  }
}

void tsr_resource_poison(tsr_runner *runner, const tsr_plan *plan) {
  tsr_runner_settle(runner);
  for (int l = 0; l < TSR_MACHINE_LOCATIONS; l++)
    if (plan->arena[l] > 0) runner->engine->poison(runner->arena[l].base, plan->arena[l]);
}

static void free_events(const tsr_runner *runner, tsr_events *events) {
  for (size_t i = 0; i < events->count; i++) runner->engine->event_destroy(events->items[i]);
  TSR_VEC_FREE(events);
}

static void free_side(tsr_runner *runner, tsr_run_device *side) {
  for (size_t i = 0; i < side->queues.count; i++)
    runner->engine->queue_destroy(side->queues.items[i]);
  if (side->user != NULL) runner->engine->queue_destroy(side->user);
  if (side->mark != NULL) runner->engine->event_destroy(side->mark);
  for (int set = 0; set < TSR_RUN_JOBS; set++) {
    free_events(runner, &side->events[set]);
    free_events(runner, &side->timed[set]);
    free_events(runner, &side->last[set]);
  }
  TSR_VEC_FREE(&side->queues);
  TSR_VEC_FREE(&side->keys);
  tsr_dealloc(side->cursor);
}

void tsr_resource_free(tsr_runner *runner) {
  for (int d = 0; d < runner->devices; d++) free_side(runner, &runner->side[d]);
  tsr_resource_trim(runner);
}
