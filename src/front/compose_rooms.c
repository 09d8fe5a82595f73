/* Composed plans: rooms of the store for what they keep there; and how it is checked. */
#include "engine/host/host.h"
#include "front/compose_inside.h"

/* ---- Checking mode -------------------------------------------------------- */

tsr_status tsr_compose_check(tsr_context *context, const tsr_region *regions, int count) {
  if (!context->check) return TSR_OK;
  tsr_runner_drain(context->runner);
  for (int i = 0; i < count; i++) TSR_TRY(tsr_store_check(context->store, &regions[i]));
  return TSR_OK;
}

void tsr_compose_stamp(tsr_context *context, const tsr_region *regions, int count) {
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

tsr_status tsr_compose_forget(tsr_context *context, const tsr_region *region) {
  TSR_TRY(tsr_store_forget(context->store, region));
  tsr_compose_stamp(context, region, 1);
  return TSR_OK;
}

/* ---- Plans with rooms ----------------------------------------------------- */

tsr_status tsr_compose_find_plan(tsr_context *context, tsr_request *request, const tsr_view *view,
                                 const tsr_plan **plan) {
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
static tsr_status enter(tsr_context *context, const tsr_plan *plan, const tsr_binding *binding,
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
void tsr_compose_await_retired(tsr_context *context) {
  tsr_runner_drain(context->runner);
  tsr_store_reclaim(context->store, UINT64_MAX);
}

/* When memory is short: what was given back, then what calls that do not compose have left. */
static tsr_status take(tsr_context *context, const tsr_view *view, const tsr_plan *plan,
                       tsr_lodging *lodging, int *short_of) {
  tsr_store_reclaim(context->store, tsr_runner_completed(context->runner));
  tsr_status status = tsr_store_take(context->store, view, plan, lodging, short_of);
  if (status != TSR_ERR_MEMORY) return status;
  tsr_compose_await_retired(context);
  status = tsr_store_take(context->store, view, plan, lodging, short_of);
  if (status != TSR_ERR_MEMORY) return status;
  tsr_runner_trim(context->runner);
  return tsr_store_take(context->store, view, plan, lodging, short_of);
}

tsr_status tsr_compose_submit(tsr_context *context, const tsr_plan *plan,
                              const tsr_binding *binding, const tsr_view *view, int *short_of,
                              tsr_ticket **ticket) {
  tsr_lodging lodging;
  TSR_TRY(take(context, view, plan, &lodging, short_of));
  return enter(context, plan, binding, &lodging, short_of, ticket);
}
