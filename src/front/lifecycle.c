/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Creating and destroying a context: all that belongs to it is started and stopped here. */
#include <unistd.h>

#include "base/alloc.h"
#include "base/settings/settings.h"
#include "base/system/process_limits.h"
#include "base/thread.h"
#include "call/capture.h"
#include "cpu/blas.h"
#include "front/context.h"
#include "front/left.h"
#include "tessera_model.h"

/* ---- Ending --------------------------------------------------------------- */

/* The plans outlive the context while the user holds a plan or a capture. */
TSR_ENTRY_VOID(tsr_context_destroy, (context), tsr_context *context) {
  if (context == NULL || context->process != getpid()) return; /* the parent process destroys it */
  tsr_calls *calls = &context->calls;
  tsr_calls_drop(calls);
  tsr_capture_free(context->plans->capturing);
  context->plans->capturing = NULL;
  tsr_runner_destroy(calls->runner);
  tsr_pinner_destroy(calls->pinner); /* after the runner, whose jobs wait for registrations */
  tsr_calls_end(calls);
  tsr_directory_end(&context->directory);
  tsr_context_free_blocks(context);
  if (context->engine != NULL) context->engine->close(context->state);
  tsr_plans_close(context->plans);
  pthread_mutex_destroy(&context->lock);
  tsr_dealloc(context);
}

/* ---- Beginning ------------------------------------------------------------ */

static tsr_status set_planning(tsr_context *context, const tsr_options *options) {
  tsr_plans *plans = context->plans;
  plans->check = options->check == 1;
  plans->run = context->engine != NULL;
  plans->emulated = plans->run && context->engine->traits.emulated;
  plans->planning.reproducible = options->reproducible == 1;
  plans->planning.no_cpu = options->engine != NULL || options->devices != NULL;
  plans->planning.obey_devices = tsr_context_obeys(options->devices);
  TSR_TRY(tsr_settings_tile(&plans->planning.tile));
  TSR_TRY(tsr_context_read_arithmetic(options->arithmetic, &plans->arithmetic));
  TSR_TRY(tsr_context_set_budgets(context, options));
  return tsr_set_strategy(context, tsr_setting_text("TESSERA_STRATEGY"));
}

static void set_tracing(tsr_calls *calls, const tsr_options *options) {
  calls->always_traced = options->trace != 0;
  atomic_store(&calls->trace, calls->always_traced);
}

static tsr_status start_runner(tsr_context *context) {
  if (context->engine == NULL) return TSR_OK;
  bool quick = context->engine->traits.quick_start;
  size_t room[TSR_MAX_DEVICES];
  for (int d = 0; d < context->devices; d++) room[d] = context->info[d].memory_free;
  tsr_runner_settings settings = {.cores = tsr_process_limits_cores(&context->limits),
                                  .near = &context->near,
                                  .poison = context->plans->check,
                                  .warm = !quick,
                                  .free_memory = quick ? NULL : room};
  TSR_TRY(tsr_runner_create(context->engine, context->state, context->devices, &settings,
                            &context->calls.runner));
  context->plans->all_devices = tsr_runner_well(context->calls.runner);
  atomic_store(&context->plans->devices, context->plans->all_devices);
  return TSR_OK;
}

static tsr_status check_options(const tsr_options *options) {
  if (options->check < -1 || options->check > 1)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "check is %d; give 0 (no), 1 (yes) or -1 (as TESSERA_CHECK says)",
                    options->check);
  if (options->reproducible < -1 || options->reproducible > 1)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "reproducible is %d; give 0 (no), 1 (yes) or -1 (as TESSERA_REPRODUCIBLE says)",
                    options->reproducible);
  return TSR_OK;
}

static tsr_status fill(tsr_context *context, const tsr_options *given) {
  tsr_options options;
  TSR_TRY(tsr_options_read(given, &options));
  TSR_TRY(check_options(&options));
  TSR_TRY(tsr_context_read_settings(&options));
  TSR_TRY(tsr_context_open_devices(context, &options));
  if (context->engine == NULL) TSR_TRY(tsr_cpu_blas_load());
  TSR_TRY(set_planning(context, &options));
  set_tracing(&context->calls, &options);
  TSR_TRY(
      tsr_pinner_create(context->engine, context->state, &context->near, &context->calls.pinner));
  context->near.places =
      context->near.binds && context->plans->machine->nodes == context->near.nodes;
  TSR_TRY(start_runner(context));
  context->directory.engine = context->engine;
  context->directory.state = context->state;
  context->directory.devices = context->devices;
  context->directory.near = &context->near;
  context->directory.again = tsr_left_again;
  context->directory.context = context;
  return TSR_OK;
}

static tsr_status create(const tsr_options *options, bool quiet, tsr_context **context) {
  tsr_context *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a context");
  tsr_status status = tsr_plans_create(made, &made->plans);
  if (status != TSR_OK) {
    tsr_dealloc(made);
    return status;
  }
  made->process = getpid();
  tsr_process_limits_read("", &made->limits);
  made->quiet = quiet;
  made->directory.plans = made->plans;
  made->directory.calls = &made->calls;
  pthread_mutex_init(&made->lock, NULL);
  tsr_calls_begin(&made->calls);
  tsr_directory_begin(&made->directory);
  status = fill(made, options);
  if (status == TSR_OK)
    *context = made;
  else
    tsr_context_destroy(made);
  return status;
}

TSR_ENTRY(tsr_context_create, (options, context), const tsr_options *options,
          tsr_context **context) {
  if (context == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "context is NULL; give the address of a tsr_context pointer");
  return create(options, false, context);
}

tsr_status tsr_context_create_quietly(const tsr_options *options, bool obey,
                                      tsr_context **context) {
  TSR_TRY(create(options, true, context));
  (*context)->plans->planning.no_cpu |= obey;
  tsr_plans_note_settings((*context)->plans);
  return TSR_OK;
}
