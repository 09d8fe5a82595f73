/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: the timeline of a sequence of calls. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "front/context.h"
#include "plan/print/trace.h"

/* Starts or stops keeping traces and returns those kept so far, which the caller frees. */
static tsr_traces keep(tsr_calls *calls, bool keeping) {
  pthread_mutex_lock(&calls->lock);
  tsr_traces former = calls->traces;
  calls->traces = (tsr_traces){NULL, 0, 0};
  calls->keeping = keeping;
  atomic_store(&calls->trace, keeping || calls->always_traced);
  pthread_mutex_unlock(&calls->lock);
  return former;
}

TSR_ENTRY(tsr_timeline_begin, (context), tsr_context *context) {
  TSR_TRY(tsr_context_check(context));
  tsr_traces former = keep(&context->calls, true);
  tsr_traces_free(&former);
  return TSR_OK;
}

TSR_ENTRY(tsr_timeline_note, (context, name, seconds), tsr_context *context, const char *name,
          double seconds) {
  TSR_TRY(tsr_context_check(context));
  if (name == NULL) return tsr_fail(TSR_ERR_ARGUMENT, "name is NULL; give a text");
  if (!(seconds >= 0) || !isfinite(seconds))
    return tsr_fail(TSR_ERR_ARGUMENT, "seconds is %g; give 0 or more", seconds);
  tsr_traced noted = {.begin = tsr_now() - seconds, .seconds = seconds};
  strncpy(noted.name, name, sizeof noted.name - 1);
  tsr_calls *calls = &context->calls;
  pthread_mutex_lock(&calls->lock);
  bool good = !calls->keeping || TSR_VEC_PUSH(&calls->traces, noted);
  pthread_mutex_unlock(&calls->lock);
  return good ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a timeline");
}

/* ---- Writing -------------------------------------------------------------- */

/* The earliest begin of all entries: time 0 of the timeline. */
static double first_begin(const tsr_traces *list) {
  double first = INFINITY;
  for (size_t i = 0; i < list->count; i++) first = fmin(first, list->items[i].begin);
  return first;
}

static tsr_status write(tsr_plans *plans, const tsr_traces *list, tsr_text *text) {
  tsr_trace *trace = tsr_alloc(sizeof *trace);
  if (trace == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a timeline");
  double zero = first_begin(list);
  pthread_rwlock_rdlock(&plans->machine_lock);
  tsr_trace_begin(trace, plans->machine, text);
  pthread_rwlock_unlock(&plans->machine_lock);
  for (size_t i = 0; i < list->count; i++) {
    const tsr_traced *t = &list->items[i];
    if (t->plan != NULL)
      tsr_trace_plan(trace, t->plan, t->times, t->begin - zero);
    else
      tsr_trace_host(trace, t->name, t->begin - zero, t->seconds);
  }
  tsr_trace_end(trace);
  tsr_dealloc(trace);
  return TSR_OK;
}

static bool is_kept(tsr_calls *calls) {
  pthread_mutex_lock(&calls->lock);
  bool keeping = calls->keeping;
  pthread_mutex_unlock(&calls->lock);
  return keeping;
}

TSR_ENTRY(tsr_timeline_end, (context, text), tsr_context *context, char **text) {
  tsr_text written = TSR_TEXT_INIT;
  TSR_TRY(tsr_context_check(context));
  if (text == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "text is NULL; give the address of a pointer");
  if (!is_kept(&context->calls))
    return tsr_fail(TSR_ERR_ARGUMENT, "no timeline is kept; call tsr_timeline_begin first");
  tsr_calls_collect_pending(&context->calls);
  tsr_traces list = keep(&context->calls, false);
  tsr_status status = write(context->plans, &list, &written);
  if (status == TSR_OK) status = tsr_text_take(&written, text);
  tsr_text_free(&written);
  tsr_traces_free(&list);
  return status;
}
