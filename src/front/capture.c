/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: making, running, moving and printing captures. */
#include <stdlib.h>

#include "base/text.h"
#include "base/thread.h"
#include "call/capture.h"
#include "front/context.h"

/* ---- Making one ------------------------------------------------------------ */

/* Evicts all copies from the devices. A plan is found by the residency that it starts from, so a
 * capture and each of its runs start from the same one: no copy on a device. */
static tsr_status clear_devices(tsr_context *context) {
  bool any;
  return context->engine != NULL ? tsr_compose_evict(&context->directory, &any) : TSR_OK;
}

/* False: the context is capturing already. */
static bool set_capturing(tsr_plans *plans, tsr_capture *capture) {
  pthread_mutex_lock(&plans->lock);
  bool done = plans->capturing == NULL;
  if (done) plans->capturing = capture;
  pthread_mutex_unlock(&plans->lock);
  return done;
}

TSR_ENTRY(tsr_capture_begin, (context), tsr_context *context) {
  tsr_capture *made;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(clear_devices(context));
  TSR_TRY(tsr_capture_create(context->plans, &made));
  if (set_capturing(context->plans, made)) return TSR_OK;
  tsr_capture_free(made);
  return tsr_fail(TSR_ERR_ARGUMENT, "the context is capturing already; end that one first");
}

TSR_ENTRY(tsr_capture_end, (context, capture), tsr_context *context, tsr_capture **capture) {
  TSR_TRY(tsr_context_check(context));
  if (capture == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "capture is NULL; give the address of a pointer");
  tsr_plans *plans = context->plans;
  pthread_mutex_lock(&plans->lock);
  tsr_capture *s = plans->capturing;
  plans->capturing = NULL;
  pthread_mutex_unlock(&plans->lock);
  if (s == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "the context captures nothing; call tsr_capture_begin first");
  if (s->incomplete) {
    tsr_capture_free(s);
    return tsr_fail(TSR_ERR_MEMORY, "no host memory for all steps of the capture");
  }
  *capture = s;
  return TSR_OK;
}

TSR_ENTRY_VOID(tsr_capture_destroy, (capture), tsr_capture *capture) {
  tsr_capture_free(capture);
}

/* ---- Running it ------------------------------------------------------------ */

static tsr_status check_capture(const tsr_capture *capture) {
  if (capture != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "capture is NULL; make one with tsr_capture_begin and _end");
}

static tsr_status take_step(tsr_context *context, const tsr_captured_step *x) {
  const tsr_level3 *w = &x->what;
  switch (x->kind) {
    case TSR_CAPTURED_COHERENT:
      return tsr_coherent_async(context, w->uplo, w->m, w->n, x->c, w->ldc, w->type);
    case TSR_CAPTURED_HOME:
      return tsr_context_bring_home(context);
    case TSR_CAPTURED_INVALIDATE:
      return tsr_invalidate(context, w->m, w->n, x->c, w->ldc, w->type);
    case TSR_CAPTURED_RELEASE:
      return tsr_release(context, w->m, w->n, x->c, w->ldc, w->type);
    case TSR_CAPTURED_MAP:
      return tsr_map_block_cyclic(context, w->m, w->n, x->c, w->ldc, w->type, x->mb, x->nb, x->p,
                                  x->q, x->first);
    case TSR_CAPTURED_DISTRIBUTE:
      return tsr_distribute_block_cyclic_async(context, w->m, w->n, x->c, w->ldc, w->type, x->mb,
                                               x->nb, x->p, x->q, x->first);
    case TSR_CAPTURED_FACTOR:
      return tsr_factor_run_async(context, &x->factor, x->c);
    case TSR_CAPTURED_SOLVE:
      return tsr_solve_run_async(context, &x->solve, (void *)x->a, x->c);
    default:
      return tsr_context_submit(context, w, &x->arithmetic, x->alpha, x->a, x->b, x->beta, x->c);
  }
}

/* Lets calls of the context use the plans of the capture; NULL ends that. False: another capture is
 * being run. */
static bool set_running(tsr_plans *plans, const tsr_capture *capture) {
  pthread_mutex_lock(&plans->lock);
  bool done = capture == NULL || plans->running == NULL;
  if (done) plans->running = capture;
  pthread_mutex_unlock(&plans->lock);
  return done;
}

TSR_ENTRY(tsr_capture_run_async, (capture), tsr_capture *capture) {
  TSR_TRY(check_capture(capture));
  tsr_context *context = atomic_load(&capture->owner->context);
  if (context == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "the capture's context is destroyed; keep it");
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(clear_devices(context));
  if (!set_running(context->plans, capture))
    return tsr_fail(TSR_ERR_ARGUMENT, "another thread is starting a capture of this context");
  tsr_status status = TSR_OK;
  for (size_t i = 0; i < capture->steps.count && status == TSR_OK; i++)
    status = take_step(context, &capture->steps.items[i]);
  (void)set_running(context->plans, NULL);
  return status;
}

/* The address in `to` that corresponds to `at`, if `at` is in the `bytes` bytes from `from`; else
 * `at`. */
static const void *moved(const void *at, const char *from, size_t bytes, char *to) {
  uintptr_t offset = (uintptr_t)at - (uintptr_t)from;
  return at != NULL && (uintptr_t)at >= (uintptr_t)from && offset < bytes ? to + offset : at;
}

TSR_ENTRY(tsr_capture_move, (capture, from, bytes, to), tsr_capture *capture, const void *from,
          size_t bytes, void *to) {
  TSR_TRY(check_capture(capture));
  if (from == NULL || to == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give the address of %zu bytes",
                    from == NULL ? "from" : "to", bytes);
  for (size_t i = 0; i < capture->steps.count; i++) {
    tsr_captured_step *x = &capture->steps.items[i];
    x->a = moved(x->a, from, bytes, to);
    x->b = moved(x->b, from, bytes, to);
    x->c = (void *)moved(x->c, from, bytes, to);
    x->factor.info = (int64_t *)moved(x->factor.info, from, bytes, to);
  }
  return TSR_OK;
}

/* ---- Printing it ----------------------------------------------------------- */

static tsr_status write_plans(const tsr_capture *capture, tsr_format format, tsr_text *text) {
  bool json = format == TSR_JSON;
  tsr_text_add(text, "%s", json ? "[\n" : "");
  for (size_t i = 0; i < capture->plans.count; i++) {
    char *one;
    TSR_TRY(tsr_plan_print(capture->plans.items[i], format, &one));
    tsr_text_add(text, "%s%s%s", i == 0 ? "" : json ? ",\n" : "\n", one, json ? "" : "\n");
    free(one);
  }
  tsr_text_add(text, "%s", json ? "\n]\n" : "");
  return TSR_OK;
}

TSR_ENTRY(tsr_capture_print, (capture, format, text), const tsr_capture *capture, tsr_format format,
          char **text) {
  tsr_text written = TSR_TEXT_INIT;
  TSR_TRY(check_capture(capture));
  if (text == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "text is NULL; give the address of a pointer");
  if (format != TSR_TEXT && format != TSR_JSON && format != TSR_COMMANDS)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "format is %d; give TSR_TEXT, TSR_JSON or TSR_COMMANDS (a run is drawn by "
                    "tsr_timeline_begin and _end around it)",
                    (int)format);
  tsr_status status = write_plans(capture, format, &written);
  if (status == TSR_OK) status = tsr_text_take(&written, text);
  tsr_text_free(&written);
  return status;
}
