/* What is on the devices moves: home, away from what the host has changed, to where it is mapped.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "front/compose_inside.h"
#include "plan/schedule/moves.h"
#include "run/place.h"

/* ---- What is on its way home ---------------------------------------------- */

static bool may_touch(const tsr_region *a, const tsr_region *b) {
  tsr_rect at;
  return tsr_region_relate(a, b, &at) != TSR_APART;
}

/* One that cannot be noted is waited for. */
void tsr_compose_note_coming(tsr_context *context, const tsr_region *region,
                             const tsr_ticket *ticket) {
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
  const tsr_plan *plan;
  int short_of = -1;
  *again = false;
  TSR_TRY(tsr_compose_find_plan(context, request, view, &plan));
  tsr_status status = tsr_compose_submit(context, plan, binding, view, &short_of, ticket);
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

/* Submits the copies of what lies along the region. *ticket is NULL where there are none. */
static tsr_status begin_along(tsr_context *context, const tsr_region *region, tsr_uplo uplo,
                              tsr_ticket **ticket) {
  tsr_request request = {.kind = TSR_REQUEST_HOME, .uplo = uplo};
  TSR_TRY(move_region(context, &request, TSR_C_, region, ticket));
  if (*ticket == NULL) return TSR_OK;
  tsr_compose_note_coming(context, region, *ticket);
  tsr_compose_stamp(context, region, 1);
  return TSR_OK;
}

/* What lies along the region. */
tsr_status tsr_compose_bring_along(tsr_context *context, const tsr_region *region, tsr_uplo uplo,
                                   bool wait) {
  tsr_ticket *ticket;
  TSR_TRY(begin_along(context, region, uplo, &ticket));
  if (ticket != NULL && wait) return tsr_context_collect(context, ticket);
  if (ticket != NULL) tsr_context_keep_for_later(context, ticket);
  return TSR_OK;
}

/* What crosses it. */
tsr_status tsr_compose_bring_crossing(tsr_context *context, const tsr_region *region, bool wait) {
  tsr_region part;
  while (tsr_store_crossing(context->store, region, &part))
    TSR_TRY(tsr_compose_bring_along(context, &part, TSR_GENERAL, wait));
  return TSR_OK;
}

static tsr_status bring_home(tsr_context *context, const tsr_region *region, tsr_uplo uplo,
                             tsr_tickets *own) {
  tsr_ticket *ticket;
  TSR_TRY(begin_along(context, region, uplo, &ticket));
  if (ticket != NULL && own == NULL) tsr_context_keep_for_later(context, ticket);
  if (ticket == NULL || own == NULL || TSR_VEC_PUSH(own, ticket)) return TSR_OK;
  return tsr_context_collect(context, ticket);
}

tsr_status tsr_compose_bring_home(tsr_context *context, const tsr_region *region, tsr_uplo uplo,
                                  tsr_tickets *own) {
  tsr_region part;
  if (context->store == NULL) return TSR_OK;
  TSR_TRY(tsr_compose_check(context, region, 1));
  while (tsr_store_crossing(context->store, region, &part))
    TSR_TRY(bring_home(context, &part, TSR_GENERAL, own));
  return bring_home(context, region, uplo, own);
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
 * that is put aside meanwhile, when no call reads it or brings something home to it any more. */
static tsr_status bring_around(tsr_context *context, const tsr_region *region) {
  size_t bytes = (size_t)region->rows * (size_t)region->cols * region->size;
  char *aside = tsr_alloc(bytes);
  if (aside == NULL)
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to put %zu bytes of a matrix aside", bytes);
  tsr_runner_drain(context->runner);
  copy_columns(region, aside, true);
  tsr_status status = tsr_compose_bring_crossing(context, region, true);
  copy_columns(region, aside, false);
  tsr_dealloc(aside);
  return status;
}

tsr_status tsr_compose_invalidate(tsr_context *context, const tsr_region *region) {
  tsr_region part;
  if (context->store == NULL) return TSR_OK;
  if (tsr_store_crossing(context->store, region, &part)) TSR_TRY(bring_around(context, region));
  return tsr_compose_forget(context, region);
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
    if (status == TSR_OK && ticket != NULL) tsr_context_keep_for_later(context, ticket);
    if (status == TSR_OK) return TSR_OK;
  }
  tsr_log(TSR_LOG_INFO, "nothing was distributed: %s", tsr_message());
  return status == TSR_ERR_MEMORY ? TSR_OK : status;
}

tsr_status tsr_compose_distribute(tsr_context *context, const tsr_region *region,
                                  const tsr_mapping *mapping) {
  TSR_TRY(tsr_compose_open(context));
  TSR_TRY(tsr_compose_check(context, region, 1));
  TSR_TRY(tsr_compose_bring_crossing(context, region, false));
  TSR_TRY(distribute(context, region, mapping));
  tsr_compose_stamp(context, region, 1);
  return TSR_OK;
}
