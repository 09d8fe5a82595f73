/*
 * Composition: a call starts from what earlier ones left on the devices, and leaves there what it
 * computed. All of it happens in the order of submission, under one lock.
 */
#include "engine/host/host.h"
#include "front/compose_inside.h"

/* ---- What is on the devices ----------------------------------------------- */

/* Emulated devices' memory is the host's, and is filled when it is taken. */
static const size_t emulated_block = 64 << 10;

tsr_status tsr_compose_open(tsr_context *context) {
  if (context->store != NULL) return TSR_OK;
  size_t limit[TSR_MAX_DEVICES + 1];
  pthread_mutex_lock(&context->lock);
  for (int d = 0; d < context->devices; d++) limit[d] = context->planning.budget[d];
  limit[context->devices] = 4 * context->planning.ring; /* of several plans side by side */
  pthread_mutex_unlock(&context->lock);
  size_t block = context->engine == &tsr_engine_host ? emulated_block : 0;
  return tsr_store_create(context->engine, context->state, context->devices, limit, block,
                          &context->store);
}

/* After a call that failed nobody knows what the devices hold. */
static void drop_lost(tsr_context *context) {
  if (context->store == NULL || !atomic_exchange(&context->lost, false)) return;
  tsr_runner_drain(context->runner);
  tsr_store_clear(context->store);
}

void tsr_compose_begin(tsr_context *context) {
  pthread_mutex_lock(&context->composing);
  drop_lost(context);
}

void tsr_compose_end(tsr_context *context) {
  pthread_mutex_unlock(&context->composing);
}

static bool begin_if(tsr_context *context, bool (*has)(const tsr_store *store)) {
  pthread_mutex_lock(&context->composing);
  drop_lost(context);
  if (context->store != NULL && has(context->store)) return true;
  pthread_mutex_unlock(&context->composing);
  return false;
}

/* When nothing stays on devices there is nothing to do: false. */
static bool begin_if_any(tsr_context *context) {
  return begin_if(context, tsr_store_has_stays);
}

/* Of operands that are used and at home in host memory. */
static void regions_of(const tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                       tsr_region region[TSR_OPERANDS]) {
  size_t size = tsr_type_get(call->type)->size;
  bool reads = !tsr_call_scales_only(call);
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &call->operand[x];
    region[x] = (tsr_region){NULL, o->rows, o->cols, o->ld, size};
    if (o->location >= context->devices && (reads || x == TSR_C_))
      region[x].base = binding->base[x];
  }
}

/* ---- Making room ---------------------------------------------------------- */

/* Everything comes home and is forgotten; the memory goes back to the devices. */
static tsr_status evict_all(tsr_context *context) {
  tsr_region home;
  while (tsr_store_newer(context->store, &home))
    TSR_TRY(tsr_compose_bring_along(context, &home, TSR_GENERAL, true));
  tsr_runner_drain(context->runner);
  tsr_store_clear(context->store);
  tsr_store_trim(context->store);
  return TSR_OK;
}

/* What was given back already, then what was used longest ago and is not in the view. *any: there
 * was something. */
static tsr_status evict_oldest(tsr_context *context, const tsr_view *view, bool *any) {
  tsr_region home;
  bool dirty;
  *any = tsr_store_has_retired(context->store);
  if (*any) {
    tsr_compose_await_retired(context);
    return TSR_OK;
  }
  tsr_stay *oldest = tsr_store_oldest(context->store, view, &home, &dirty);
  *any = oldest != NULL;
  if (!*any) return TSR_OK;
  if (dirty) TSR_TRY(tsr_compose_bring_along(context, &home, TSR_GENERAL, false));
  tsr_store_drop(context->store, oldest);
  return TSR_OK;
}

/* ---- Calls ---------------------------------------------------------------- */

/* A call on its way. */
typedef struct composed {
  tsr_context *context;
  const tsr_call *call;
  const tsr_binding *binding;
  bool exchanged;
  tsr_region region[TSR_OPERANDS];
  tsr_view view;
  bool fits; /* false: something has to make room first */
} composed;

/* What crosses C is not what memory holds any more, once the call is in: it is forgotten before,
 * when home has the same, since the call must not fail after it was submitted. */
static tsr_status settle_crossings(composed *x) {
  for (int i = 0; i < TSR_OPERANDS; i++)
    TSR_TRY(tsr_compose_bring_crossing(x->context, &x->region[i], false));
  TSR_TRY(tsr_store_forget_crossing(x->context->store, &x->region[TSR_C_]));
  tsr_compose_stamp(x->context, &x->region[TSR_C_], 1);
  return TSR_OK;
}

static tsr_status submit_call(composed *x, const tsr_plan *plan) {
  tsr_context *context = x->context;
  int short_of = -1;
  tsr_ticket *ticket;
  tsr_status status = tsr_compose_submit(context, plan, x->binding, &x->view, &short_of, &ticket);
  if (status == TSR_ERR_MEMORY && short_of >= 0) {
    x->fits = false;
    return TSR_OK;
  }
  if (status != TSR_OK) return status;
  if (tsr_ticket_brings_home(ticket)) tsr_compose_note_coming(context, &x->region[TSR_C_], ticket);
  tsr_context_keep_for_later(context, ticket);
  return TSR_OK;
}

/* A plan that does not fit beside what is kept: *plan is NULL. */
static tsr_status find_fitting(composed *x, const tsr_plan **plan) {
  tsr_mapping mapping;
  tsr_request request = {.call = x->call, .exchanged = x->exchanged};
  if (tsr_mapping_of(x->context, &x->region[TSR_C_], &mapping)) request.mapping = &mapping;
  *plan = NULL;
  tsr_status status = tsr_compose_find_plan(x->context, &request, &x->view, plan);
  return status == TSR_ERR_MEMORY ? TSR_OK : status;
}

/* *alone: the CPU is to do it. */
static tsr_status plan_and_submit(composed *x, bool *alone) {
  const tsr_plan *plan;
  TSR_TRY(find_fitting(x, &plan));
  x->fits = plan != NULL;
  if (plan == NULL) return TSR_OK;
  *alone = plan->devices == 0;
  tsr_status status = *alone ? TSR_OK : submit_call(x, plan);
  tsr_plan_unref(plan);
  return status;
}

/* One attempt, in a view of what is there. When something has to make room for it, that which was
 * used longest ago does; when nothing is left that could, the call is carried out alone. */
static tsr_status attempt(composed *x, bool *alone) {
  x->fits = true;
  TSR_TRY(tsr_store_view(x->context->store, x->region, &x->view));
  tsr_status status = plan_and_submit(x, alone);
  bool any = true;
  if (status == TSR_OK && !x->fits) status = evict_oldest(x->context, &x->view, &any);
  tsr_view_free(&x->view);
  *alone |= !any;
  return status;
}

static tsr_status compose(composed *x, bool *alone) {
  *alone = false;
  TSR_TRY(tsr_compose_check(x->context, x->region, TSR_OPERANDS));
  TSR_TRY(settle_crossings(x));
  do TSR_TRY(attempt(x, alone));
  while (!x->fits && !*alone);
  if (*alone) return evict_all(x->context);
  tsr_compose_stamp(x->context, x->region, TSR_OPERANDS);
  return TSR_OK;
}

bool tsr_composes(const tsr_context *context, const tsr_call *call) {
  if (context->planning.reproducible) return false; /* bits must not depend on what is where */
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (call->operand[x].rows > 0 && call->operand[x].location >= context->devices) return true;
  return false;
}

tsr_status tsr_compose_call(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                            bool exchanged, bool *alone) {
  composed x = {.context = context, .call = call, .binding = binding, .exchanged = exchanged};
  tsr_compose_begin(context);
  regions_of(context, call, binding, x.region);
  tsr_status status = tsr_compose_open(context);
  if (status == TSR_OK) status = compose(&x, alone);
  tsr_compose_end(context);
  return status;
}

void tsr_compose_note(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                      const tsr_ticket *ticket) {
  tsr_region region[TSR_OPERANDS];
  regions_of(context, call, binding, region);
  if (region[TSR_C_].base == NULL) return;
  pthread_mutex_lock(&context->composing);
  tsr_compose_note_coming(context, &region[TSR_C_], ticket);
  pthread_mutex_unlock(&context->composing);
}

/* ---- Work that knows nothing of it ---------------------------------------- */

static tsr_status clear_region(tsr_context *context, const tsr_region *region) {
  TSR_TRY(tsr_compose_bring_crossing(context, region, true));
  TSR_TRY(tsr_compose_bring_along(context, region, TSR_GENERAL, true));
  return tsr_compose_forget(context, region);
}

tsr_status tsr_compose_clear(tsr_context *context, const tsr_call *call,
                             const tsr_binding *binding) {
  tsr_region region[TSR_OPERANDS];
  tsr_status status = TSR_OK;
  if (!begin_if_any(context)) return TSR_OK;
  regions_of(context, call, binding, region);
  for (int x = 0; x < TSR_OPERANDS && status == TSR_OK; x++)
    if (region[x].base != NULL) status = clear_region(context, &region[x]);
  tsr_compose_end(context);
  return status;
}

static tsr_region bytes_at(const void *base, size_t bytes) {
  return (tsr_region){(char *)base, (int64_t)bytes, 1, (int64_t)bytes, 1};
}

tsr_status tsr_compose_clear_bytes(tsr_context *context, const void *base, size_t bytes) {
  tsr_region region = bytes_at(base, bytes);
  if (!begin_if_any(context)) return TSR_OK;
  tsr_status status = tsr_compose_bring_crossing(context, &region, true);
  if (status == TSR_OK) status = tsr_compose_forget(context, &region);
  tsr_compose_end(context);
  return status;
}

void tsr_compose_forget_bytes(tsr_context *context, const void *base, size_t bytes) {
  tsr_region region = bytes_at(base, bytes);
  if (!begin_if_any(context)) return;
  (void)tsr_compose_forget(context, &region);
  tsr_compose_end(context);
}

static bool holds_memory(const tsr_store *store) {
  return tsr_store_held(store) > 0;
}

tsr_status tsr_compose_evict(tsr_context *context, bool *any) {
  *any = false;
  if (!begin_if(context, holds_memory)) return TSR_OK;
  size_t before = tsr_store_held(context->store);
  tsr_status status = evict_all(context);
  *any = tsr_store_held(context->store) < before;
  tsr_compose_end(context);
  return status;
}

void tsr_compose_limit(tsr_context *context, int device, size_t bytes) {
  pthread_mutex_lock(&context->composing);
  if (context->store != NULL) tsr_store_limit(context->store, device, bytes);
  pthread_mutex_unlock(&context->composing);
}

void tsr_compose_trim(tsr_context *context) {
  pthread_mutex_lock(&context->composing);
  if (context->store != NULL) {
    tsr_runner_drain(context->runner);
    tsr_store_trim(context->store);
  }
  pthread_mutex_unlock(&context->composing);
}
