/* From a call to its plan, and from its plan to its end. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "blas/operation.h"
#include "front/capture.h"
#include "front/plan_object.h"
#include "plan/schedule/moves.h"
#include "run/place.h"
#include "run/meter.h"

/* ---- Places ---- */

tsr_status tsr_context_place(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                             bool exchanged) {
  bool reads = !tsr_call_scales_only(call);
  for (int i = 0; i < TSR_OPERANDS; i++)
    TSR_TRY(tsr_place_operand(context->pinner, context->devices, call->type,
                              tsr_operation_operand(call->operation, i, exchanged),
                              reads || i == TSR_C_ ? binding->base[i] : NULL, &call->operand[i]));
  return TSR_OK;
}

static bool is_on_device(const tsr_call *call) {
  for (int i = 0; i < TSR_OPERANDS; i++)
    if (call->operand[i].memory == TSR_DEVICE) return true;
  return false;
}

/* ---- Plans ---- */

static tsr_status plan_for(tsr_context *context, const tsr_request *request,
                           const tsr_plan_options *options, tsr_plan **plan) {
  switch (request->kind) {
    case TSR_REQUEST_HOME:
      return tsr_plan_bring_home(context->machine, request->call, request->uplo, options, plan);
    case TSR_REQUEST_DISTRIBUTE:
      return tsr_plan_distribute(context->machine, request->call, request->mapping, options, plan);
    default:
      return tsr_plan_make(context->machine, request->call, options, plan);
  }
}

static tsr_status plan_and_verify(tsr_context *context, const tsr_request *request,
                                  const tsr_plan_options *options, tsr_plan **plan) {
  pthread_rwlock_rdlock(&context->machine_lock);
  tsr_status status = plan_for(context, request, options, plan);
  if (status == TSR_OK && context->check && (*plan)->devices > 0) {
    status = tsr_plan_verify(*plan, context->machine, options->budget);
    if (status != TSR_OK) tsr_plan_free(*plan);
  }
  pthread_rwlock_unlock(&context->machine_lock);
  return status;
}

/* What the request changes of the context's settings. */
static void set_request(const tsr_request *request, tsr_plan_options *options) {
  options->residency = request->residency;
  options->mapping = request->mapping;
  for (int d = 0; request->kept != NULL && d < TSR_MACHINE_DEVICES; d++) {
    size_t kept = request->kept[d], budget = options->budget[d];
    options->budget[d] = budget > kept ? budget - kept : 0;
  }
}

tsr_status tsr_context_make_plan(tsr_context *context, const tsr_request *request,
                                 const tsr_plan **plan) {
  pthread_mutex_lock(&context->lock);
  tsr_plan_options options = context->planning;
  bool forced = options.strategy != NULL;
  char *strategy = forced ? tsr_strdup(options.strategy) : NULL; /* another thread may set one */
  pthread_mutex_unlock(&context->lock);
  if (forced && strategy == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a strategy");
  options.strategy = strategy;
  set_request(request, &options);
  tsr_plan *made;
  tsr_status planned = plan_and_verify(context, request, &options, &made);
  tsr_dealloc(strategy);
  if (planned != TSR_OK) return planned;
  return tsr_plan_object_create(context, made, request->exchanged, plan);
}

static uint64_t digest_request(uint64_t digest, const tsr_request *request) {
  uint64_t words[] = {(uint64_t)request->kind, (uint64_t)request->exchanged,
                      (uint64_t)request->uplo, (uint64_t)request->halvings};
  digest = tsr_cache_digest(digest, words, sizeof words);
  if (request->mapping != NULL) digest = tsr_mapping_digest(digest, request->mapping);
  return request->residency != NULL ? tsr_residency_digest(digest, request->residency) : digest;
}

/* A plan may be had, and bound anew, by whoever made the call (tsr_plan_last): one in which A and B
 * changed places is not for a call in which they did not, though its commands would do. */
static tsr_status find_or_make(tsr_context *context, const tsr_request *request, uint64_t digest,
                               const tsr_plan **plan) {
  *plan = tsr_cache_find(context->cache, request->call, digest);
  if (*plan != NULL) return TSR_OK;
  TSR_TRY(tsr_context_make_plan(context, request, plan));
  tsr_cache_add(context->cache, request->call, digest, *plan);
  return TSR_OK;
}

tsr_status tsr_context_find_plan(tsr_context *context, const tsr_request *request,
                                 const tsr_plan **plan) {
  pthread_mutex_lock(&context->lock);
  uint64_t digest = context->digest;
  pthread_mutex_unlock(&context->lock);
  digest = digest_request(digest, request);
  tsr_planned key = {tsr_cache_key(request->call), digest};
  *plan = tsr_capture_find(context, &key);
  if (*plan == NULL) TSR_TRY(find_or_make(context, request, digest, plan));
  tsr_capture_note_plan(context, &key, *plan);
  return TSR_OK;
}

/* ---- The end of a call ---- */

/* Tells the user how far it is until it is over. Without memory to look, nothing is told. */
static void tell_progress(tsr_context *context, tsr_ticket *ticket) {
  static const double every = 0.1;
  pthread_mutex_lock(&context->lock);
  tsr_progress progress = context->progress;
  void *user = context->progress_user;
  pthread_mutex_unlock(&context->lock);
  tsr_meter *meter = NULL;
  if (progress == NULL || tsr_meter_create(ticket, &meter) != TSR_OK) return;
  const tsr_plan *plan = tsr_ticket_plan(ticket);
  const char *what = plan->moves ? "copies" : tsr_operation_name(plan->call.operation);
  while (!tsr_ticket_wait_for(ticket, every)) progress(user, tsr_meter_fraction(meter), what);
  progress(user, 1, what);
  tsr_meter_destroy(meter);
}

tsr_status tsr_context_collect(tsr_context *context, tsr_ticket *ticket) {
  const tsr_plan *plan = tsr_ticket_plan(ticket), *former = NULL;
  tsr_plan_object *object = tsr_plan_object_of(plan);
  tell_progress(context, ticket);
  tsr_status status = tsr_ticket_wait(ticket);
  float *times = tsr_ticket_take_times(ticket);
  if (status == TSR_OK) {
    pthread_mutex_lock(&context->lock);
    object->measured = tsr_ticket_seconds(ticket);
    tsr_timeline_keep(context, ticket, times);
    float *old = object->times;
    if (times != NULL) object->times = times;
    if (times != NULL) times = old;
    former = context->last;
    context->last = plan;
    pthread_mutex_unlock(&context->lock);
  }
  if (status != TSR_OK) atomic_store(&context->lost, true);
  tsr_dealloc(times);
  tsr_ticket_release(ticket);
  tsr_plan_unref(status == TSR_OK ? former : plan);
  return status;
}

void tsr_context_note_error(tsr_context *context, tsr_status status) {
  if (status == TSR_OK) return;
  pthread_mutex_lock(&context->lock);
  if (context->error.status == TSR_OK) tsr_error_take(status, &context->error);
  pthread_mutex_unlock(&context->lock);
}

/* The oldest asynchronous call, if it is complete or if all are to be waited for. */
static tsr_ticket *next_pending(tsr_context *context, bool all) {
  tsr_ticket *ticket = NULL;
  pthread_mutex_lock(&context->lock);
  if (context->pending.count > 0 && (all || tsr_ticket_done(context->pending.items[0]))) {
    ticket = context->pending.items[0];
    context->pending.count--;
    memmove(context->pending.items, context->pending.items + 1,
            context->pending.count * sizeof *context->pending.items);
  }
  pthread_mutex_unlock(&context->lock);
  return ticket;
}

void tsr_context_collect_pending(tsr_context *context) {
  pthread_mutex_lock(&context->collecting);
  for (tsr_ticket *ticket; (ticket = next_pending(context, true)) != NULL;)
    tsr_context_note_error(context, tsr_context_collect(context, ticket));
  pthread_mutex_unlock(&context->collecting);
}

/* A ticket that cannot be kept for later is waited for now. */
void tsr_context_keep_for_later(tsr_context *context, tsr_ticket *ticket) {
  pthread_mutex_lock(&context->lock);
  bool kept = TSR_VEC_PUSH(&context->pending, ticket);
  pthread_mutex_unlock(&context->lock);
  if (!kept) tsr_context_note_error(context, tsr_context_collect(context, ticket));
  /* Whoever takes a ticket notes its error before tsr_sync can find nothing pending. */
  if (pthread_mutex_trylock(&context->collecting) != 0) return;
  for (tsr_ticket *old; (old = next_pending(context, false)) != NULL;)
    tsr_context_note_error(context, tsr_context_collect(context, old));
  pthread_mutex_unlock(&context->collecting);
}

/* ---- Running ---- */

/* The last registration under way of what a call is bound to; 0: none is. */
static uint64_t last_registration(tsr_context *context, const tsr_call *call,
                                  const tsr_binding *binding) {
  uint64_t last = 0;
  for (int i = 0; i < TSR_OPERANDS; i++) {
    size_t bytes = (size_t)tsr_operand_bytes(&call->operand[i], call->type);
    uint64_t number = tsr_pinner_touching(context->pinner, binding->base[i], bytes);
    if (number > last) last = number;
  }
  return last;
}

static void count_traffic(tsr_context *context, const tsr_traffic *moved) {
  tsr_traffic *sum = &context->traffic;
  pthread_mutex_lock(&context->lock);
  sum->host_to_device += moved->host_to_device;
  sum->device_to_host += moved->device_to_host;
  sum->device_to_device += moved->device_to_device;
  sum->within_devices += moved->within_devices;
  sum->plans += moved->plans;
  pthread_mutex_unlock(&context->lock);
}

tsr_status tsr_context_submit(tsr_context *context, const tsr_plan *plan,
                              const tsr_binding *binding, const tsr_lodging *lodging, int *short_of,
                              tsr_ticket **ticket) {
  tsr_plan_object *object = tsr_plan_object_of(plan);
  tsr_submission submission = {.program = object->program,
                               .binding = *binding,
                               .rooms = lodging != NULL ? lodging->rooms : NULL,
                               .stays = lodging != NULL ? lodging->stays : NULL,
                               .arenas = lodging != NULL ? lodging->arena : NULL,
                               .trace = atomic_load(&context->trace),
                               .pinner = context->pinner,
                               .registration = last_registration(context, &plan->call, binding)};
  tsr_plan_ref(plan);
  tsr_status status = tsr_runner_submit(context->runner, &submission, ticket);
  if (status == TSR_OK)
    count_traffic(context, &object->moved);
  else
    tsr_plan_unref(plan);
  *short_of = submission.short_of;
  return status;
}

tsr_status tsr_context_run(tsr_context *context, const tsr_plan *plan, const tsr_binding *binding,
                           int *short_of) {
  tsr_ticket *ticket;
  TSR_TRY(tsr_context_submit(context, plan, binding, NULL, short_of, &ticket));
  return tsr_context_collect(context, ticket);
}

static tsr_status run_plan(tsr_context *context, const tsr_plan *plan, const tsr_binding *binding,
                           bool async, int *short_of) {
  if (!async) return tsr_context_run(context, plan, binding, short_of);
  tsr_ticket *ticket;
  TSR_TRY(tsr_context_submit(context, plan, binding, NULL, short_of, &ticket));
  tsr_compose_note(context, &plan->call, binding, ticket);
  tsr_context_keep_for_later(context, ticket);
  return TSR_OK;
}

static tsr_status call_on_cpu(tsr_context *context, const tsr_call *call,
                              const tsr_binding *binding) {
  TSR_TRY(tsr_context_wait_for_devices(context));
  return tsr_call_on_cpu(call, binding);
}

static void set_last(tsr_context *context, const tsr_plan *plan) {
  tsr_plan_ref(plan);
  pthread_mutex_lock(&context->lock);
  const tsr_plan *former = context->last;
  context->last = plan;
  pthread_mutex_unlock(&context->lock);
  tsr_plan_unref(former);
}

/* A call's way to a plan for which there is memory: budgets shrink until there is one, or until the
 * planner knows of none. */
typedef struct trial {
  bool again;
  int shrunk;                          /* so often */
  int location;                        /* that was short of memory last */
  size_t bytes[TSR_MACHINE_LOCATIONS]; /* that each had no room for last; 0: it was never short */
} trial;

/* What is kept on devices makes room first. Then budgets shrink, as long as the planner finds a
 * plan that needs less where memory was short: a ring has to hold a piece, whatever its budget is.
 */
static tsr_status make_room(tsr_context *context, const tsr_plan *plan, int short_of, trial *t) {
  bool evicted = false;
  size_t former = t->bytes[short_of], bytes = plan->arena[short_of];
  TSR_TRY(tsr_compose_evict(context, &evicted));
  t->again = evicted || former == 0 || bytes < former;
  if (evicted) return TSR_ERR_MEMORY;
  t->location = short_of;
  t->bytes[short_of] = bytes;
  if (t->again) tsr_budget_shrink(context, plan, short_of, t->shrunk++);
  return TSR_ERR_MEMORY;
}

/* There is none, since others have the memory. */
static tsr_status give_up(tsr_context *context, const trial *t) {
  char why[400];
  snprintf(why, sizeof why, "%s", tsr_message());
  const char *what = t->location < context->devices ? "device" : "staging memory, location";
  return tsr_fail(TSR_ERR_MEMORY,
                  "%s %d has no room for %zu bytes, which its budget allows (others may be using "
                  "its memory), and with less: %s",
                  what, t->location, t->bytes[t->location], why);
}

/* What devices have no memory for the CPU does, unless it cannot reach an operand, or its bits
 * would be others. The next call asks the devices again. */
static tsr_status do_without(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                             const trial *t) {
  (void)tsr_budget_restore(context);
  if (is_on_device(call) || context->planning.reproducible) return give_up(context, t);
  tsr_log(TSR_LOG_INFO, "the CPU's BLAS does a call: %s", tsr_message());
  return call_on_cpu(context, call, binding);
}

static bool is_short(const trial *t, tsr_status status) {
  return status == TSR_ERR_MEMORY && t->shrunk > 0;
}

/* What earlier calls had to do with may be too little for this one. */
static bool wants_more(tsr_context *context, const trial *t, tsr_status status) {
  return status == TSR_ERR_MEMORY && t->shrunk == 0 && tsr_budget_restore(context);
}

static tsr_status run_offer(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                            bool exchanged, tsr_offer *offer, trial *t) {
  const tsr_plan *plan;
  int short_of = -1;
  t->again = false;
  TSR_TRY(
      tsr_context_find_plan(context, &(tsr_request){.call = call, .exchanged = exchanged}, &plan));
  offer->seconds = plan->seconds;
  offer->devices = plan->devices;
  offer->taken = plan->devices > 0 && plan->seconds < offer->price;
  tsr_status status = TSR_OK;
  if (offer->taken) status = tsr_context_run(context, plan, binding, &short_of);
  if (status == TSR_ERR_MEMORY && short_of >= 0) status = make_room(context, plan, short_of, t);
  tsr_plan_unref(plan);
  return status;
}

static tsr_status run_call(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                           bool exchanged, bool async, trial *t) {
  const tsr_plan *plan;
  int short_of = -1;
  t->again = false;
  TSR_TRY(
      tsr_context_find_plan(context, &(tsr_request){.call = call, .exchanged = exchanged}, &plan));
  tsr_status status;
  if (plan->devices == 0) {
    status = call_on_cpu(context, call, binding);
    if (status == TSR_OK) set_last(context, plan);
  } else {
    status = run_plan(context, plan, binding, async, &short_of);
  }
  if (status == TSR_ERR_MEMORY && short_of >= 0) status = make_room(context, plan, short_of, t);
  tsr_plan_unref(plan);
  return status;
}

tsr_status tsr_context_call(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                            bool exchanged, bool async) {
  bool alone = true;
  trial t = {.again = true};
  tsr_status status = TSR_OK;
  tsr_budget_call(context);
  if (async && tsr_composes(context, call)) {
    status = tsr_compose_call(context, call, binding, exchanged, &alone);
    if (status != TSR_OK || !alone) return status;
  }
  TSR_TRY(tsr_compose_clear(context, call, binding));
  while (t.again) {
    status = run_call(context, call, binding, exchanged, async, &t);
    t.again |= wants_more(context, &t, status);
  }
  return is_short(&t, status) ? do_without(context, call, binding, &t) : status;
}

tsr_status tsr_context_offer(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                             bool exchanged, tsr_offer *offer) {
  trial t = {.again = true};
  tsr_status status = TSR_OK;
  tsr_budget_call(context);
  TSR_TRY(tsr_compose_clear(context, call, binding));
  while (t.again) {
    status = run_offer(context, call, binding, exchanged, offer, &t);
    t.again |= wants_more(context, &t, status);
  }
  if (!is_short(&t, status)) return status;
  (void)tsr_budget_restore(context);
  return give_up(context, &t);
}
