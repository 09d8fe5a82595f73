/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "call/request.h"

#include "base/alloc.h"
#include "base/log.h"
#include "call/capture.h"
#include "call/masked.h"
#include "plan/mapping.h"
#include "plan/schedule/moves.h"

/* ---- Making a plan ---------------------------------------------------------- */

static tsr_status plan_on_all(const tsr_machine *machine, const tsr_request *request,
                              const tsr_plan_options *options, tsr_plan **plan) {
  switch (request->kind) {
    case TSR_REQUEST_WRITE_BACK:
      return tsr_plan_write_back(machine, request->call, request->uplo, options, plan);
    case TSR_REQUEST_DISTRIBUTE:
      return tsr_plan_distribute(machine, request->call, request->mapping, options, plan);
    default:
      return tsr_plan_make(machine, request->call, options, plan);
  }
}

static tsr_status plan_under_mask(const tsr_machine *machine, const tsr_request *request,
                                  const tsr_plan_options *options, tsr_plan **plan) {
  tsr_masked masked;
  tsr_request narrow = *request;
  TSR_TRY(tsr_masked_make(machine, request->call, request->mapping, options, &masked));
  narrow.call = &masked.call;
  narrow.mapping = request->mapping != NULL ? &masked.mapping : NULL;
  tsr_status status = plan_on_all(masked.machine, &narrow, &masked.options, plan);
  if (status == TSR_OK) tsr_masked_widen(&masked, request->call, *plan);
  tsr_masked_free(&masked);
  return status;
}

static tsr_status plan_for(const tsr_machine *machine, const tsr_request *request,
                           const tsr_plan_options *options, tsr_plan **plan) {
  return (tsr_is_masked(machine, options) ? plan_under_mask : plan_on_all)(machine, request,
                                                                           options, plan);
}

static tsr_status plan_and_verify(tsr_plans *plans, const tsr_request *request,
                                  const tsr_plan_options *options, tsr_plan **plan) {
  pthread_rwlock_rdlock(&plans->machine_lock);
  tsr_status status = plan_for(plans->machine, request, options, plan);
  if (status == TSR_OK && plans->check && (*plan)->devices > 0) {
    status = tsr_plan_verify(*plan, plans->machine, options->budget);
    if (status != TSR_OK) tsr_plan_free(*plan);
  }
  pthread_rwlock_unlock(&plans->machine_lock);
  return status;
}

/* Applies the request to the context's options. */
static void set_request(const tsr_request *request, tsr_plan_options *options) {
  options->residency = request->residency;
  options->mapping = request->mapping;
  if (request->rest) options->strategy = NULL;
  for (int d = 0; request->kept != NULL && d < TSR_MACHINE_DEVICES; d++) {
    size_t kept = request->kept[d], budget = options->budget[d];
    options->budget[d] = budget > kept ? budget - kept : 0;
  }
}

/* Plans the call natively where it is not to be computed in a form, or cannot be. */
static tsr_status plan_natively(tsr_plans *plans, const tsr_request *request,
                                const tsr_plan_options *options, tsr_plan **plan) {
  tsr_call native = tsr_call_natively(request->call);
  tsr_request other = *request;
  other.call = &native;
  return plan_and_verify(plans, &other, options, plan);
}

static void note_other(const tsr_plan *other, tsr_plan *plan) {
  plan->other.seconds = other->seconds;
  plan->other.arithmetic = other->call.arithmetic;
  plan->other.promise = other->call.promise;
}

/* Makes a native plan beside the one in a form, and keeps the one that is predicted to be faster.
 */
static tsr_status take_faster(tsr_plans *plans, const tsr_request *request,
                              const tsr_plan_options *options, tsr_plan **plan) {
  tsr_plan *native;
  TSR_TRY(plan_natively(plans, request, options, &native));
  bool faster = native->seconds < (*plan)->seconds;
  tsr_plan *taken = faster ? native : *plan, *other = faster ? *plan : native;
  note_other(other, taken);
  tsr_plan_free(other);
  *plan = taken;
  return TSR_OK;
}

/* Whether memory is why a call is not computed in a form: the value of plan->form_need, which
 * says what each value means. */
static size_t form_need(const tsr_plans *plans, const tsr_request *request,
                        const tsr_plan_options *options) {
  size_t need = tsr_plan_form_need(request->call, options);
  bool lacks = false;
  if (request->residency != NULL) return SIZE_MAX; /* cached blocks do not share memory */
  for (int d = 0; d < plans->machine->devices; d++) lacks |= options->budget[d] < need;
  return lacks ? need : 0;
}

/* Plans a call natively that was to be computed in a form, and could not be planned so. */
static tsr_status plan_instead(tsr_plans *plans, const tsr_request *request,
                               const tsr_plan_options *options, tsr_plan **plan) {
  tsr_log(TSR_LOG_INFO, "a product is planned natively, not emulated: %s", tsr_message());
  TSR_TRY(plan_natively(plans, request, options, plan));
  (*plan)->form_need = form_need(plans, request, options);
  return TSR_OK;
}

/* Whether a plan has products in a form. A triangle beside C that is cut into one block has none.
 */
static bool has_lines(const tsr_plan *plan) {
  bool any = false;
  for (size_t i = 0; i < plan->buffers.count; i++)
    any |= tsr_is_lines(plan->buffers.items[i].matrix);
  return any;
}

/* A call whose lines do not fit the budgets is planned natively, unless its bits must not depend
 * on the budgets. */
static tsr_status plan_any(tsr_plans *plans, const tsr_request *request,
                           const tsr_plan_options *options, tsr_plan **plan) {
  tsr_status status = plan_and_verify(plans, request, options, plan);
  if (!tsr_call_has_form(request->call)) return status;
  /* Words that only native plans can honour decide where either arithmetic would do. */
  if (status == TSR_ERR_ARGUMENT && request->call->faster)
    return plan_natively(plans, request, options, plan);
  if (status == TSR_ERR_MEMORY && !options->reproducible)
    return plan_instead(plans, request, options, plan);
  if (status == TSR_OK && (*plan)->devices > 0 && !has_lines(*plan)) {
    tsr_plan_free(*plan);
    return plan_natively(plans, request, options, plan);
  }
  if (status != TSR_OK || !request->call->faster) return status;
  status = take_faster(plans, request, options, plan);
  if (status != TSR_OK) tsr_plan_free(*plan);
  return status;
}

static tsr_status make(tsr_plans *plans, const tsr_request *request, tsr_plan **plan) {
  tsr_plan_options options;
  char *strategy;
  TSR_TRY(tsr_plans_planning(plans, &options, &strategy));
  set_request(request, &options);
  tsr_status status = plan_any(plans, request, &options, plan);
  tsr_dealloc(strategy);
  return status;
}

tsr_status tsr_request_make(tsr_plans *plans, const tsr_request *request, const tsr_plan **plan) {
  tsr_plan *made;
  TSR_TRY(make(plans, request, &made));
  if (made->map_use > TSR_MAP_FOLLOWED)
    tsr_log(TSR_LOG_INFO, "a call does not follow the map of its C: its verdict says why");
  return tsr_plan_object_create(plans, made, request->exchanged, plan);
}

/* ---- Finding a plan --------------------------------------------------------- */

/* The digest covers exchanged although the commands do not depend on it: the user may take the plan
 * (tsr_plan_last) and run it with other matrices, and A and B must mean the same as in the call. */
static uint64_t digest_request(uint64_t digest, const tsr_request *request) {
  uint64_t words[] = {(uint64_t)request->kind, (uint64_t)request->exchanged,
                      (uint64_t)request->uplo, (uint64_t)request->halvings,
                      (uint64_t)request->rest};
  digest = tsr_cache_digest(digest, words, sizeof words);
  if (request->mapping != NULL) digest = tsr_mapping_digest(digest, request->mapping);
  return request->residency != NULL ? tsr_residency_digest(digest, request->residency) : digest;
}

static tsr_status find_or_make(tsr_plans *plans, const tsr_request *request, uint64_t settings,
                               const tsr_plan **plan) {
  *plan = tsr_cache_find(plans->cache, request->call, settings);
  if (*plan != NULL) return TSR_OK;
  TSR_TRY(tsr_request_make(plans, request, plan));
  tsr_cache_add(plans->cache, request->call, settings, *plan);
  return TSR_OK;
}

tsr_status tsr_request_find(tsr_plans *plans, const tsr_request *request, const tsr_plan **plan) {
  pthread_mutex_lock(&plans->lock);
  uint64_t digest = plans->digest;
  bool captured = plans->capturing != NULL || plans->running != NULL;
  pthread_mutex_unlock(&plans->lock);
  tsr_plan_key key = {tsr_cache_key(request->call), digest_request(digest, request)};
  *plan = captured ? tsr_capture_find(plans, &key) : NULL;
  if (*plan == NULL) TSR_TRY(find_or_make(plans, request, key.settings, plan));
  if (captured) tsr_capture_note_plan(plans, &key, *plan);
  return TSR_OK;
}
