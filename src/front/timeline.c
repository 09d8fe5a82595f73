/* Timelines of whole sequences of calls. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "front/context.h"
#include "plan/print/timeline.h"

/* ---- Keeping -------------------------------------------------------------- */

typedef TSR_VEC(tsr_traced) traced_list;

static void drop(traced_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    tsr_plan_unref(list->items[i].plan);
    tsr_dealloc(list->items[i].times);
  }
  TSR_VEC_FREE(list);
}

/* The caller holds the lock. */
static traced_list take(tsr_context *context) {
  traced_list list = {context->traced.items, context->traced.count, context->traced.room};
  context->traced.items = NULL;
  context->traced.count = context->traced.room = 0;
  return list;
}

/* A call for which there is no memory is missing from the timeline, and nothing else. */
void tsr_timeline_keep(tsr_context *context, const tsr_ticket *ticket, const float *times) {
  if (!context->keeping || times == NULL) return;
  const tsr_plan *plan = tsr_ticket_plan(ticket);
  tsr_traced kept = {.plan = plan, .begin = tsr_ticket_entered(ticket)};
  size_t bytes = 2 * plan->commands.count * sizeof *times;
  kept.times = tsr_alloc(bytes > 0 ? bytes : 1);
  if (kept.times == NULL || !TSR_VEC_PUSH(&context->traced, kept)) {
    tsr_dealloc(kept.times);
    return;
  }
  memcpy(kept.times, times, bytes);
  tsr_plan_ref(plan);
}

void tsr_timeline_drop(tsr_context *context) {
  traced_list list = take(context);
  drop(&list);
}

/* Makes tracing begin or end; what was kept so far. */
static traced_list keep(tsr_context *context, bool keeping) {
  pthread_mutex_lock(&context->lock);
  traced_list former = take(context);
  context->keeping = keeping;
  atomic_store(&context->trace, keeping || context->always_traced);
  pthread_mutex_unlock(&context->lock);
  return former;
}

TSR_ENTRY(tsr_timeline_begin, (context), tsr_context *context) {
  TSR_TRY(tsr_context_check(context));
  traced_list former = keep(context, true);
  drop(&former);
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
  pthread_mutex_lock(&context->lock);
  bool good = !context->keeping || TSR_VEC_PUSH(&context->traced, noted);
  pthread_mutex_unlock(&context->lock);
  return good ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a timeline");
}

/* ---- Writing -------------------------------------------------------------- */

/* Time begins with the first of what is shown. */
static double first_begin(const traced_list *list) {
  double first = INFINITY;
  for (size_t i = 0; i < list->count; i++) first = fmin(first, list->items[i].begin);
  return first;
}

static tsr_status write(tsr_context *context, const traced_list *list, tsr_text *text) {
  tsr_trace *trace = tsr_alloc(sizeof *trace);
  if (trace == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a timeline");
  double zero = first_begin(list);
  pthread_rwlock_rdlock(&context->machine_lock);
  tsr_trace_begin(trace, context->machine, text);
  pthread_rwlock_unlock(&context->machine_lock);
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

static bool is_kept(tsr_context *context) {
  pthread_mutex_lock(&context->lock);
  bool keeping = context->keeping;
  pthread_mutex_unlock(&context->lock);
  return keeping;
}

TSR_ENTRY(tsr_timeline_end, (context, text), tsr_context *context, char **text) {
  tsr_text written = TSR_TEXT_INIT;
  TSR_TRY(tsr_context_check(context));
  if (text == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "text is NULL; give the address of a pointer");
  if (!is_kept(context))
    return tsr_fail(TSR_ERR_ARGUMENT, "no timeline is kept; call tsr_timeline_begin first");
  tsr_context_collect_pending(context);
  traced_list list = keep(context, false);
  tsr_status status = write(context, &list, &written);
  if (status == TSR_OK) status = tsr_text_take(&written, text);
  tsr_text_free(&written);
  drop(&list);
  return status;
}
