/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: the check of a context, its traffic, and functions that change its settings. */
#include "front/context.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "plan/search/knobs.h"
#include "tessera_model.h"

tsr_status tsr_context_check(const tsr_context *context) {
  if (context == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "context is NULL; make one with tsr_context_create");
  if (context->process == getpid()) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "context was made by process %ld, and this is process %ld, forked from it "
                  "without its threads; make another context here with tsr_context_create",
                  (long)context->process, (long)getpid());
}

int tsr_device_count(const tsr_context *context) {
  return context != NULL ? context->devices : 0;
}

static tsr_status check_device(const tsr_context *context, int device) {
  if (device >= 0 && device < context->devices) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "device is %d; the context has %d devices, numbered from 0",
                  device, context->devices);
}

TSR_ENTRY(tsr_device_number, (context, device, number), tsr_context *context, int device,
          int *number) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_device(context, device));
  if (number == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "number is NULL; give the address of an int");
  *number = context->number[device];
  return TSR_OK;
}

tsr_status tsr_context_wait_for_devices(tsr_context *context) {
  if (context->calls.runner == NULL) return TSR_OK;
  tsr_runner_drain(context->calls.runner);
  return atomic_load(&context->tied) ? tsr_runner_join(context->calls.runner) : TSR_OK;
}

TSR_ENTRY(tsr_context_traffic, (context, traffic), tsr_context *context, tsr_traffic *traffic) {
  TSR_TRY(tsr_context_check(context));
  if (traffic == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "traffic is NULL; give the address of a tsr_traffic");
  pthread_mutex_lock(&context->calls.lock);
  *traffic = context->calls.traffic;
  pthread_mutex_unlock(&context->calls.lock);
  return TSR_OK;
}

TSR_ENTRY(tsr_device_traffic, (context, device, traffic), tsr_context *context, int device,
          tsr_traffic *traffic) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_device(context, device));
  if (traffic == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "traffic is NULL; give the address of a tsr_traffic");
  tsr_runner_moved(context->calls.runner, device, traffic);
  return TSR_OK;
}

TSR_ENTRY(tsr_device_energy, (context, device, joules), tsr_context *context, int device,
          double *joules) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_device(context, device));
  if (joules == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "joules is NULL; give the address of a double");
  if (context->engine->energy == NULL)
    return tsr_fail(TSR_ERR_UNSUPPORTED, "devices of the %s engine have no energy counter",
                    context->engine->name);
  return context->engine->energy(context->state, device, joules);
}

void tsr_context_keep_scratch(tsr_context *context, void *memory) {
  pthread_mutex_lock(&context->lock);
  bool kept = context->calls.runner != NULL && TSR_VEC_PUSH(&context->scratch, memory);
  pthread_mutex_unlock(&context->lock);
  if (kept) return;
  if (context->calls.runner != NULL) tsr_runner_drain(context->calls.runner);
  tsr_dealloc(memory);
}

/* Memory that is kept from now on is of calls for which nobody may have waited. */
static tsr_scratch take_scratch(tsr_context *context) {
  pthread_mutex_lock(&context->lock);
  tsr_scratch taken = context->scratch;
  context->scratch = (tsr_scratch){NULL, 0, 0};
  pthread_mutex_unlock(&context->lock);
  return taken;
}

static void free_scratch(tsr_scratch *scratch) {
  for (size_t i = 0; i < scratch->count; i++) tsr_dealloc(scratch->items[i]);
  TSR_VEC_FREE(scratch);
}

tsr_status tsr_context_await_all(tsr_context *context) {
  tsr_calls *calls = &context->calls;
  tsr_scratch scratch = take_scratch(context);
  /* Errors of registrations come first: if memory could not be pinned, a call that uses it may fail
   * for that reason, and the first error is the one that the caller sees. */
  tsr_calls_note_error(calls, tsr_pinner_settle(calls->pinner));
  tsr_calls_collect_pending(calls);
  tsr_runner_drain(calls->runner); /* also waits for jobs that another thread is collecting */
  tsr_compose_note_sync(&context->directory);
  free_scratch(&scratch);
  return tsr_calls_take_error(calls);
}

TSR_ENTRY(tsr_sync, (context), tsr_context *context) {
  TSR_TRY(tsr_context_check(context));
  return context->calls.runner == NULL ? TSR_OK : tsr_context_await_all(context);
}

TSR_ENTRY(tsr_set_progress, (context, progress, user), tsr_context *context, tsr_progress progress,
          void *user) {
  TSR_TRY(tsr_context_check(context));
  pthread_mutex_lock(&context->calls.lock);
  context->calls.progress = progress;
  context->calls.progress_user = user;
  pthread_mutex_unlock(&context->calls.lock);
  return TSR_OK;
}

TSR_ENTRY(tsr_set_stream, (context, device, stream), tsr_context *context, int device,
          void *stream) {
  TSR_TRY(tsr_context_check(context));
  if (context->calls.runner == NULL)
    return tsr_fail(
        TSR_ERR_UNSUPPORTED,
        "device is %d, but the CPU's BLAS does this context's work: no device has streams", device);
  TSR_TRY(tsr_runner_tie(context->calls.runner, device, stream));
  if (stream != NULL) atomic_store(&context->tied, true);
  return TSR_OK;
}

TSR_ENTRY(tsr_set_strategy, (context, strategy), tsr_context *context, const char *strategy) {
  tsr_forced forced;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(tsr_strategy_parse(strategy, &forced));
  return tsr_plans_force(context->plans, strategy);
}

TSR_ENTRY(tsr_set_tile, (context, tile), tsr_context *context, int64_t tile) {
  TSR_TRY(tsr_context_check(context));
  if (tile < 0 || tile > INT32_MAX)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "tile is %lld; give the extent of a tile, or 0 to let the planner choose",
                    (long long)tile);
  tsr_plans *plans = context->plans;
  pthread_mutex_lock(&plans->lock);
  plans->planning.tile = tile;
  tsr_plans_note_settings(plans);
  pthread_mutex_unlock(&plans->lock);
  return TSR_OK;
}

TSR_ENTRY(tsr_trim, (context), tsr_context *context) {
  TSR_TRY(tsr_context_check(context));
  if (context->calls.runner != NULL) tsr_runner_trim(context->calls.runner);
  if (context->calls.runner != NULL) tsr_compose_trim(&context->directory);
  return TSR_OK;
}
