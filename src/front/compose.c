/*
 * Composition: a call starts from what earlier ones left on the devices, and leaves there what it
 * computed. All of it happens in the order of submission, under one lock.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/host/host.h"
#include "front/compose.h"
#include "plan/moves.h"
#include "run/place.h"

/* ---- What is on the devices ----------------------------------------------- */

/* Emulated devices' memory is the host's, and is filled when it is taken. */
static const size_t emulated_block = 64 << 10;

static tsr_status open_store(tsr_context *context) {
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

tsr_status tsr_compose_begin(tsr_context *context) {
  pthread_mutex_lock(&context->composing);
  drop_lost(context);
  tsr_status status = open_store(context);
  if (status != TSR_OK) pthread_mutex_unlock(&context->composing);
  return status;
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

/* ---- Checking mode -------------------------------------------------------- */

static tsr_status check_homes(tsr_context *context, const tsr_region *regions, int count) {
  if (!context->check) return TSR_OK;
  tsr_runner_drain(context->runner);
  for (int i = 0; i < count; i++) TSR_TRY(tsr_store_check(context->store, &regions[i]));
  return TSR_OK;
}

static void stamp_homes(tsr_context *context, const tsr_region *regions, int count) {
  if (!context->check) return;
  tsr_runner_drain(context->runner);
  for (int i = 0; i < count; i++) tsr_store_stamp(context->store, &regions[i]);
}

static void poison_new(const tsr_context *context, const tsr_plan *plan,
                       const tsr_lodging *lodging) {
  if (!context->check || context->engine != &tsr_engine_host) return;
  for (size_t i = 0; i < lodging->count; i++)
    if (plan->after->rooms.items[i].bytes > 0)
      tsr_engine_host_poison(lodging->rooms[i], plan->after->rooms.items[i].bytes);
  for (int l = 0; l <= context->devices; l++)
    if (plan->arena[l] > 0) tsr_engine_host_poison(lodging->arena[l], plan->arena[l]);
}

static tsr_status forget(tsr_context *context, const tsr_region *region) {
  TSR_TRY(tsr_store_forget(context->store, region));
  stamp_homes(context, region, 1);
  return TSR_OK;
}

/* ---- Plans with rooms ----------------------------------------------------- */

static tsr_status find_plan(tsr_context *context, tsr_request *request, const tsr_view *view,
                            tsr_plan **plan) {
  size_t kept[TSR_MACHINE_DEVICES] = {0};
  pthread_mutex_lock(&context->lock);
  for (int d = 0; d < context->devices; d++) kept[d] = context->planning.budget[d];
  pthread_mutex_unlock(&context->lock);
  for (int d = 0; d < context->devices; d++) {
    size_t used = tsr_store_used(context->store, d), left = kept[d] > used ? kept[d] - used : 0;
    kept[d] -= left >> request->halvings;
  }
  request->residency = &view->seen;
  request->kept = kept;
  return tsr_context_find_plan(context, request, plan);
}

/* Enters the plan; from here on the store says what will be there when it is done. *short_of as in
 * tsr_submission. */
static tsr_status enter(tsr_context *context, tsr_plan *plan, const tsr_binding *binding,
                        tsr_lodging *lodging, int *short_of, tsr_ticket **ticket) {
  poison_new(context, plan, lodging);
  tsr_status status = tsr_context_submit(context, plan, binding, lodging, short_of, ticket);
  if (status != TSR_OK) {
    tsr_store_give(context->store, plan, lodging);
    return status;
  }
  tsr_store_note(context->store, plan, lodging, tsr_ticket_number(*ticket));
  return TSR_OK;
}

/* What was given back serves again when the jobs that may use it are complete. */
static void await_retired(tsr_context *context) {
  tsr_runner_drain(context->runner);
  tsr_store_reclaim(context->store, UINT64_MAX);
}

/* When memory is short: what was given back, then what calls that do not compose have left. */
static tsr_status take(tsr_context *context, const tsr_view *view, const tsr_plan *plan,
                       tsr_lodging *lodging, int *short_of) {
  tsr_store_reclaim(context->store, tsr_runner_completed(context->runner));
  tsr_status status = tsr_store_take(context->store, view, plan, lodging, short_of);
  if (status != TSR_ERR_MEMORY) return status;
  await_retired(context);
  status = tsr_store_take(context->store, view, plan, lodging, short_of);
  if (status != TSR_ERR_MEMORY) return status;
  tsr_runner_trim(context->runner);
  return tsr_store_take(context->store, view, plan, lodging, short_of);
}

static tsr_status submit(tsr_context *context, tsr_plan *plan, const tsr_binding *binding,
                         const tsr_view *view, int *short_of, tsr_ticket **ticket) {
  tsr_lodging lodging;
  TSR_TRY(take(context, view, plan, &lodging, short_of));
  return enter(context, plan, binding, &lodging, short_of, ticket);
}

/* ---- What is on its way home ---------------------------------------------- */

static bool may_touch(const tsr_region *a, const tsr_region *b) {
  tsr_rect at;
  return tsr_region_relate(a, b, &at) != TSR_APART;
}

/* One that cannot be noted is waited for. */
static void note_coming(tsr_context *context, const tsr_region *region, const tsr_ticket *ticket) {
  tsr_homecoming coming = {*region, tsr_ticket_number(ticket)};
  uint64_t completed = tsr_runner_completed(context->runner);
  size_t kept = 0;
  for (size_t i = 0; i < context->coming.count; i++)
    if (context->coming.items[i].number >= completed)
      context->coming.items[kept++] = context->coming.items[i];
  context->coming.count = kept;
  if (!TSR_VEC_PUSH(&context->coming, coming)) tsr_runner_await(context->runner, coming.number);
}

bool tsr_compose_coming(tsr_context *context, const tsr_region *region, uint64_t *number) {
  bool any = false;
  for (size_t i = 0; i < context->coming.count; i++) {
    const tsr_homecoming *coming = &context->coming.items[i];
    if (!may_touch(&coming->region, region) || (any && coming->number < *number)) continue;
    *number = coming->number;
    any = true;
  }
  return any;
}

/* ---- Moves ---------------------------------------------------------------- */

/* *again: there was too little staging memory, and the next plan will need less. */
static tsr_status try_move(tsr_context *context, tsr_request *request, const tsr_binding *binding,
                           const tsr_view *view, int attempt, tsr_ticket **ticket, bool *again) {
  tsr_plan *plan;
  int short_of = -1;
  *again = false;
  TSR_TRY(find_plan(context, request, view, &plan));
  tsr_status status = submit(context, plan, binding, view, &short_of, ticket);
  if (status == TSR_ERR_MEMORY && short_of == context->devices) {
    tsr_budget_shrink(context, plan, short_of, attempt);
    *again = true;
  }
  tsr_plan_unref(plan);
  return status;
}

static tsr_status move_in_view(tsr_context *context, tsr_request *request,
                               const tsr_binding *binding, const tsr_view *view,
                               tsr_ticket **ticket) {
  enum { ATTEMPTS = 8 };
  bool again = true;
  tsr_status status = TSR_OK;
  for (int i = 0; i < ATTEMPTS && again; i++)
    status = try_move(context, request, binding, view, i, ticket, &again);
  return status;
}

/* Moves a region as an operand (A or C) of the call that stands for it. *ticket is NULL where there
 * was nothing to do. */
static tsr_status move_region(tsr_context *context, tsr_request *request, int matrix,
                              const tsr_region *region, tsr_ticket **ticket) {
  tsr_operand operand = {
      .rows = region->rows, .cols = region->cols, .ld = region->ld, .location = context->devices};
  tsr_call call = tsr_moves_call(matrix, &operand, region->size);
  tsr_binding binding = {.base = {NULL}};
  tsr_region regions[TSR_OPERANDS] = {{0}};
  tsr_view view;
  binding.base[matrix] = region->base;
  regions[matrix] = *region;
  request->call = &call;
  *ticket = NULL;
  TSR_TRY(tsr_place_operand(context->pinner, context->devices, call.type, "matrix", region->base,
                            &call.operand[matrix]));
  TSR_TRY(tsr_store_view(context->store, regions, &view));
  tsr_status status = TSR_OK;
  if (request->kind != TSR_REQUEST_HOME || tsr_view_has_newer(&view))
    status = move_in_view(context, request, &binding, &view, ticket);
  tsr_view_free(&view);
  return status;
}

/* Of a ticket, if there is one. */
static tsr_status leave(tsr_context *context, tsr_ticket *ticket, bool wait) {
  if (ticket == NULL) return TSR_OK;
  if (wait) return tsr_context_collect(context, ticket);
  tsr_context_keep_for_later(context, ticket);
  return TSR_OK;
}

/* What lies along the region. */
static tsr_status bring_along(tsr_context *context, const tsr_region *region, tsr_uplo uplo,
                              bool wait) {
  tsr_request request = {.kind = TSR_REQUEST_HOME, .uplo = uplo};
  tsr_ticket *ticket;
  TSR_TRY(move_region(context, &request, TSR_C_, region, &ticket));
  if (ticket == NULL) return TSR_OK;
  note_coming(context, region, ticket);
  stamp_homes(context, region, 1);
  return leave(context, ticket, wait);
}

/* What crosses it. */
static tsr_status bring_crossing(tsr_context *context, const tsr_region *region, bool wait) {
  tsr_region part;
  while (tsr_store_crossing(context->store, region, &part))
    TSR_TRY(bring_along(context, &part, TSR_GENERAL, wait));
  return TSR_OK;
}

tsr_status tsr_compose_bring_home(tsr_context *context, const tsr_region *region, tsr_uplo uplo) {
  TSR_TRY(check_homes(context, region, 1));
  TSR_TRY(bring_crossing(context, region, false));
  return bring_along(context, region, uplo, false);
}

/* Between a region and memory of its own, column after column. */
static void copy_columns(const tsr_region *region, char *packed, bool save) {
  size_t length = (size_t)region->rows * region->size;
  for (int64_t j = 0; j < region->cols; j++, packed += length) {
    char *column = tsr_region_address(region, 0, j);
    memcpy(save ? packed : column, save ? column : packed, length);
  }
}

/* What crosses the region comes home by whole columns, which would undo what the host has changed:
 * that is put aside meanwhile. */
static tsr_status bring_around(tsr_context *context, const tsr_region *region) {
  size_t bytes = (size_t)region->rows * (size_t)region->cols * region->size;
  char *aside = tsr_alloc(bytes);
  if (aside == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to put %zu bytes of a matrix aside", bytes);
  copy_columns(region, aside, true);
  tsr_status status = bring_crossing(context, region, true);
  copy_columns(region, aside, false);
  tsr_dealloc(aside);
  return status;
}

tsr_status tsr_compose_invalidate(tsr_context *context, const tsr_region *region) {
  tsr_region part;
  if (tsr_store_crossing(context->store, region, &part)) TSR_TRY(bring_around(context, region));
  return forget(context, region);
}

/* As much as there is room for: the pieces of memory that are free may be too small for blocks that
 * the budget has room for, so in the end half of it is tried, and so on. */
static tsr_status distribute(tsr_context *context, const tsr_region *region,
                             const tsr_mapping *mapping) {
  enum { ATTEMPTS = 4 };
  tsr_request request = {.kind = TSR_REQUEST_DISTRIBUTE, .mapping = mapping};
  tsr_status status = TSR_ERR_MEMORY;
  for (int i = 0; i < ATTEMPTS && status == TSR_ERR_MEMORY; i++) {
    tsr_ticket *ticket;
    request.halvings = i;
    status = move_region(context, &request, TSR_A, region, &ticket);
    if (status == TSR_OK) return leave(context, ticket, false);
  }
  tsr_log(TSR_LOG_INFO, "nothing was distributed: %s", tsr_message());
  return status == TSR_ERR_MEMORY ? TSR_OK : status;
}

tsr_status tsr_compose_distribute(tsr_context *context, const tsr_region *region,
                                  const tsr_mapping *mapping) {
  TSR_TRY(check_homes(context, region, 1));
  TSR_TRY(bring_crossing(context, region, false));
  TSR_TRY(distribute(context, region, mapping));
  stamp_homes(context, region, 1);
  return TSR_OK;
}

/* ---- Making room ---------------------------------------------------------- */

/* Everything comes home and is forgotten; the memory goes back to the devices. */
static tsr_status evict_all(tsr_context *context) {
  tsr_region home;
  while (tsr_store_newer(context->store, &home))
    TSR_TRY(bring_along(context, &home, TSR_GENERAL, true));
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
    await_retired(context);
    return TSR_OK;
  }
  tsr_stay *oldest = tsr_store_oldest(context->store, view, &home, &dirty);
  *any = oldest != NULL;
  if (!*any) return TSR_OK;
  if (dirty) TSR_TRY(bring_along(context, &home, TSR_GENERAL, false));
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

static tsr_status settle_crossings(composed *x) {
  for (int i = 0; i < TSR_OPERANDS; i++) TSR_TRY(bring_crossing(x->context, &x->region[i], false));
  return TSR_OK;
}

/* What crosses C is not what memory holds any more, once the call is in. */
static tsr_status submit_call(composed *x, tsr_plan *plan) {
  tsr_context *context = x->context;
  int short_of = -1;
  tsr_ticket *ticket;
  tsr_status status = submit(context, plan, x->binding, &x->view, &short_of, &ticket);
  if (status == TSR_ERR_MEMORY && short_of >= 0) {
    x->fits = false;
    return TSR_OK;
  }
  if (status != TSR_OK) return status;
  if (tsr_ticket_brings_home(ticket)) note_coming(context, &x->region[TSR_C_], ticket);
  tsr_context_keep_for_later(context, ticket);
  return tsr_store_forget_crossing(context->store, &x->region[TSR_C_]);
}

/* A plan that does not fit beside what is kept: *plan is NULL. */
static tsr_status find_fitting(composed *x, tsr_plan **plan) {
  tsr_mapping mapping;
  tsr_request request = {.call = x->call, .exchanged = x->exchanged};
  if (tsr_mapping_of(x->context, &x->region[TSR_C_], &mapping)) request.mapping = &mapping;
  *plan = NULL;
  tsr_status status = find_plan(x->context, &request, &x->view, plan);
  return status == TSR_ERR_MEMORY ? TSR_OK : status;
}

/* *alone: the CPU is to do it. */
static tsr_status plan_and_submit(composed *x, bool *alone) {
  tsr_plan *plan;
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
  TSR_TRY(check_homes(x->context, x->region, TSR_OPERANDS));
  TSR_TRY(settle_crossings(x));
  do TSR_TRY(attempt(x, alone));
  while (!x->fits && !*alone);
  if (*alone) return evict_all(x->context);
  stamp_homes(x->context, x->region, TSR_OPERANDS);
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
  TSR_TRY(tsr_compose_begin(context));
  regions_of(context, call, binding, x.region);
  tsr_status status = compose(&x, alone);
  tsr_compose_end(context);
  return status;
}

void tsr_compose_note(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                      const tsr_ticket *ticket) {
  tsr_region region[TSR_OPERANDS];
  regions_of(context, call, binding, region);
  if (region[TSR_C_].base == NULL) return;
  pthread_mutex_lock(&context->composing);
  note_coming(context, &region[TSR_C_], ticket);
  pthread_mutex_unlock(&context->composing);
}

/* ---- Work that knows nothing of it ---------------------------------------- */

static tsr_status clear_region(tsr_context *context, const tsr_region *region) {
  TSR_TRY(bring_crossing(context, region, true));
  TSR_TRY(bring_along(context, region, TSR_GENERAL, true));
  return forget(context, region);
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
  tsr_status status = bring_crossing(context, &region, true);
  if (status == TSR_OK) status = forget(context, &region);
  tsr_compose_end(context);
  return status;
}

void tsr_compose_forget_bytes(tsr_context *context, const void *base, size_t bytes) {
  tsr_region region = bytes_at(base, bytes);
  if (!begin_if_any(context)) return;
  (void)forget(context, &region);
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
