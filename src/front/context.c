#include "front/context.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cpu_blas.h"
#include "base/settings.h"
#include "base/thread.h"
#include "plan/search/knobs.h"

tsr_status tsr_context_check(const tsr_context *context) {
  if (context == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "context is NULL; make one with tsr_context_create");
  if (context->process == getpid()) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "context is process %ld's, and this is %ld, forked from it without its threads; "
                  "make a context of its own with tsr_context_create",
                  (long)context->process, (long)getpid());
}

/* ---- Ending ---- */

void tsr_context_unref(tsr_context *context) {
  if (atomic_fetch_sub(&context->references, 1) != 1) return;
  tsr_machine_destroy(context->machine);
  pthread_rwlock_destroy(&context->machine_lock);
  pthread_mutex_destroy(&context->lock);
  pthread_mutex_destroy(&context->collecting);
  pthread_mutex_destroy(&context->composing);
  tsr_dealloc(context->strategy);
  tsr_dealloc(context);
}

TSR_ENTRY_VOID(tsr_context_destroy, (context), tsr_context *context) {
  if (context == NULL || context->process != getpid()) return; /* the parent's: left to it */
  tsr_context_collect_pending(context);
  TSR_VEC_FREE(&context->pending);
  tsr_capture_destroy(context->capturing);
  context->capturing = NULL;
  const tsr_plan *last = context->last;
  context->last = NULL;
  tsr_plan_unref(last);
  tsr_timeline_drop(context);
  tsr_cache_destroy(context->cache);
  tsr_runner_destroy(context->runner);
  tsr_pinner_destroy(context->pinner); /* behind the jobs, which wait for it */
  tsr_store_destroy(context->store);
  TSR_VEC_FREE(&context->mapped);
  TSR_VEC_FREE(&context->coming);
  tsr_context_free_blocks(context);
  if (context->engine != NULL) context->engine->close(context->state);
  atomic_store(&context->closed, true);
  tsr_context_unref(context);
}

/* ---- Making ---- */

static tsr_status set_planning(tsr_context *context, const tsr_options *options) {
  context->check = options->check == 1;
  context->always_traced = options->trace != 0;
  atomic_store(&context->trace, context->always_traced);
  context->planning.reproducible = options->reproducible == 1;
  context->planning.no_cpu = options->engine != NULL || options->devices != NULL;
  context->planning.obey_devices = tsr_context_obeys(options->devices);
  context->planning.tile = options->tile;
  TSR_TRY(tsr_budget_begin(context, options));
  return tsr_set_strategy(context, options->strategy);
}

void tsr_context_note_settings(tsr_context *context) {
  const tsr_plan_options *p = &context->planning;
  uint64_t words[] = {tsr_machine_digest(context->machine),
                      p->reproducible,
                      p->obey_devices,
                      p->no_cpu,
                      (uint64_t)p->tile,
                      p->ring};
  context->digest = tsr_cache_digest(0, words, sizeof words);
  context->digest = tsr_cache_digest(context->digest, p->budget, sizeof p->budget);
  if (p->strategy != NULL)
    context->digest = tsr_cache_digest(context->digest, p->strategy, strlen(p->strategy));
}

static tsr_status start_runner(tsr_context *context) {
  if (context->engine == NULL) return TSR_OK;
  bool emulated = context->engine == &tsr_engine_host;
  size_t room[TSR_MAX_DEVICES];
  for (int d = 0; d < context->devices; d++) room[d] = context->info[d].memory_free;
  tsr_runner_settings settings = {
      .poison = context->check && emulated, .warm = !emulated, .room = emulated ? NULL : room};
  return tsr_runner_create(context->engine, context->state, context->devices, &settings,
                           &context->runner);
}

static tsr_status check_options(const tsr_options *options) {
  if (options->tile < 0 || options->tile > INT32_MAX)
    return tsr_fail(TSR_ERR_ARGUMENT, "tile is %lld; give the extent of tiles, 0 for the model's",
                    (long long)options->tile);
  if (options->check < -1 || options->check > 1)
    return tsr_fail(TSR_ERR_ARGUMENT, "check is %d; give 0, 1 or -1", options->check);
  if (options->reproducible < -1 || options->reproducible > 1)
    return tsr_fail(TSR_ERR_ARGUMENT, "reproducible is %d; give 0, 1 or -1", options->reproducible);
  return TSR_OK;
}

static tsr_status fill(tsr_context *context, const tsr_options *given) {
  static const tsr_options all_default = TSR_OPTIONS_DEFAULT;
  tsr_options options = given != NULL ? *given : all_default;
  TSR_TRY(check_options(&options));
  TSR_TRY(tsr_settings_fill(&options));
  TSR_TRY(tsr_context_open_devices(context, &options));
  if (context->engine == NULL || context->engine == &tsr_engine_host) TSR_TRY(tsr_cpu_blas_load());
  TSR_TRY(set_planning(context, &options));
  TSR_TRY(tsr_pinner_create(context->engine, context->state, &context->pinner));
  TSR_TRY(tsr_cache_create(tsr_plan_ref, tsr_plan_unref, &context->cache));
  return start_runner(context);
}

static tsr_status create(const tsr_options *options, bool quiet, tsr_context **context) {
  tsr_context *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a context");
  atomic_store(&made->references, 1);
  made->process = getpid();
  made->quiet = quiet;
  pthread_rwlock_init(&made->machine_lock, NULL);
  pthread_mutex_init(&made->lock, NULL);
  pthread_mutex_init(&made->collecting, NULL);
  pthread_mutex_init(&made->composing, NULL);
  tsr_status status = fill(made, options);
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
  (*context)->planning.no_cpu |= obey;
  tsr_context_note_settings(*context);
  return TSR_OK;
}

/* ---- Small questions and orders ---- */

int tsr_device_count(const tsr_context *context) {
  return context != NULL ? context->devices : 0;
}

tsr_status tsr_context_wait_for_devices(tsr_context *context) {
  if (context->runner == NULL) return TSR_OK;
  tsr_runner_drain(context->runner);
  return atomic_load(&context->tied) ? tsr_runner_join(context->runner) : TSR_OK;
}

TSR_ENTRY(tsr_context_traffic, (context, traffic), tsr_context *context, tsr_traffic *traffic) {
  TSR_TRY(tsr_context_check(context));
  if (traffic == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "traffic is NULL; give the address of what is to be filled");
  pthread_mutex_lock(&context->lock);
  *traffic = context->traffic;
  pthread_mutex_unlock(&context->lock);
  return TSR_OK;
}

TSR_ENTRY(tsr_device_traffic, (context, device, traffic), tsr_context *context, int device,
          tsr_traffic *traffic) {
  TSR_TRY(tsr_context_check(context));
  if (device < 0 || device >= context->devices)
    return tsr_fail(TSR_ERR_ARGUMENT, "device is %d; the context has %d", device, context->devices);
  if (traffic == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "traffic is NULL; give the address of what is to be filled");
  tsr_runner_moved(context->runner, device, traffic);
  return TSR_OK;
}

TSR_ENTRY(tsr_sync, (context), tsr_context *context) {
  TSR_TRY(tsr_context_check(context));
  if (context->runner == NULL) return TSR_OK;
  /* First: where a call fails for want of memory that could not be pinned, that is the cause. */
  tsr_context_note_error(context, tsr_pinner_settle(context->pinner));
  tsr_context_collect_pending(context);
  tsr_runner_drain(context->runner); /* calls that another thread is collecting */
  pthread_mutex_lock(&context->lock);
  tsr_error error = context->error;
  context->error.status = TSR_OK;
  pthread_mutex_unlock(&context->lock);
  return error.status == TSR_OK ? TSR_OK : tsr_error_put(&error);
}

TSR_ENTRY(tsr_set_progress, (context, progress, user), tsr_context *context, tsr_progress progress,
          void *user) {
  TSR_TRY(tsr_context_check(context));
  pthread_mutex_lock(&context->lock);
  context->progress = progress;
  context->progress_user = user;
  pthread_mutex_unlock(&context->lock);
  return TSR_OK;
}

TSR_ENTRY(tsr_set_stream, (context, device, stream), tsr_context *context, int device,
          void *stream) {
  TSR_TRY(tsr_context_check(context));
  if (context->runner == NULL)
    return tsr_fail(
        TSR_ERR_UNSUPPORTED,
        "the CPU's BLAS does this context's work: there is no device %d to have streams", device);
  TSR_TRY(tsr_runner_tie(context->runner, device, stream));
  if (stream != NULL) atomic_store(&context->tied, true);
  return TSR_OK;
}

TSR_ENTRY(tsr_set_strategy, (context, strategy), tsr_context *context, const char *strategy) {
  tsr_forced forced;
  char *words = NULL;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(tsr_strategy_parse(strategy, &forced));
  if (strategy != NULL) {
    words = tsr_strdup(strategy);
    if (words == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a strategy");
  }
  pthread_mutex_lock(&context->lock);
  char *former = context->strategy;
  context->strategy = words;
  context->planning.strategy = words;
  tsr_context_note_settings(context);
  pthread_mutex_unlock(&context->lock);
  tsr_dealloc(former);
  return TSR_OK;
}

TSR_ENTRY(tsr_trim, (context), tsr_context *context) {
  TSR_TRY(tsr_context_check(context));
  if (context->runner != NULL) tsr_runner_trim(context->runner);
  if (context->runner != NULL) tsr_compose_trim(context);
  return TSR_OK;
}
