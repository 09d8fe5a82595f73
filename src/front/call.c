/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Carries a call out. If memory is short, copies that are kept on devices are evicted, then budgets
 * are reduced and the call is planned again, and in the end the CPU's BLAS does the call.
 */
#include <limits.h>
#include <stdio.h>

#include "base/log.h"
#include "blas/operation.h"
#include "call/request.h"
#include "call/retry.h"
#include "cpu/on_cpu.h"
#include "front/context.h"
#include "run/place.h"

/* ---- Places --------------------------------------------------------------- */

tsr_status tsr_context_place(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                             bool exchanged) {
  bool reads = !tsr_call_scales_only(call);
  for (int i = 0; i < TSR_OPERANDS; i++)
    TSR_TRY(tsr_place_operand(context->calls.pinner, context->devices, call->type,
                              tsr_operation_operand(call->operation, i, exchanged),
                              reads || i == TSR_C_ ? binding->base[i] : NULL, &call->operand[i]));
  for (int i = 0; i < TSR_OPERANDS; i++) tsr_plans_interleave(context->plans, &call->operand[i]);
  return TSR_OK;
}

/* ---- Running a plan ------------------------------------------------------- */

static tsr_status run_plan(tsr_context *context, const tsr_plan *plan, const tsr_binding *binding,
                           bool async, tsr_rects *refused, int *short_of) {
  tsr_calls *calls = &context->calls;
  if (!async) return tsr_calls_run(calls, plan, binding, refused, short_of);
  tsr_job *job;
  TSR_TRY(tsr_calls_submit(calls, plan, binding, NULL, short_of, &job));
  tsr_compose_note(&context->directory, &plan->call, binding, job);
  tsr_calls_keep(calls, job);
  return TSR_OK;
}

static tsr_status call_on_cpu(tsr_context *context, const tsr_call *call,
                              const tsr_binding *binding) {
  TSR_TRY(tsr_context_wait_for_devices(context));
  return tsr_call_on_cpu(call, binding);
}

/* ---- Attempts ------------------------------------------------------------- */

/* A call and how it is made; the argument of the functions of tsr_trial. */
typedef struct attempted {
  tsr_context *context;
  const tsr_call *call;
  const tsr_binding *binding;
  bool exchanged, async;
  bool rest;            /* it is a part of C that another plan has left */
  tsr_offer *offer;     /* NULL: the call is carried out whatever its plan costs */
  tsr_rects refused;    /* parts of C that the run in residues has left */
  const tsr_plan *plan; /* of that run, a reference; NULL: it has left none */
} attempted;

static tsr_status find_plan(const attempted *x, const tsr_plan **plan) {
  tsr_request request = {.call = x->call, .exchanged = x->exchanged, .rest = x->rest};
  return tsr_request_find(x->context->plans, &request, plan);
}

/* Takes over the reference to a plan that has run: it is needed if parts of C are left. */
static void keep_or_drop(attempted *x, const tsr_plan *plan) {
  bool left = x->refused.count > 0;
  if (left) x->plan = plan;
  if (!left) tsr_plan_unref(plan);
}

static tsr_status attempt_call(void *attempted_, tsr_shortage *shortage) {
  attempted *x = attempted_;
  const tsr_plan *plan;
  int short_of = -1;
  tsr_status status;
  TSR_TRY(find_plan(x, &plan));
  if (plan->devices == 0) {
    status = call_on_cpu(x->context, x->call, x->binding);
    if (status == TSR_OK) tsr_calls_set_last(&x->context->calls, plan);
  } else {
    status = run_plan(x->context, plan, x->binding, x->async, &x->refused, &short_of);
  }
  tsr_shortage_note(shortage, plan, short_of);
  keep_or_drop(x, plan);
  return status;
}

static tsr_status attempt_offer(void *attempted_, tsr_shortage *shortage) {
  attempted *x = attempted_;
  tsr_offer *offer = x->offer;
  const tsr_plan *plan;
  int short_of = -1;
  tsr_status status = TSR_OK;
  TSR_TRY(find_plan(x, &plan));
  offer->seconds = plan->seconds;
  offer->devices = plan->devices;
  offer->taken = plan->devices > 0 && plan->seconds < offer->price;
  if (offer->taken)
    status = tsr_calls_run(&x->context->calls, plan, x->binding, &x->refused, &short_of);
  tsr_shortage_note(shortage, plan, short_of);
  keep_or_drop(x, plan);
  return status;
}

static tsr_status evict_copies(void *attempted_, const tsr_shortage *shortage, bool *any) {
  attempted *x = attempted_;
  return tsr_compose_relieve(&x->context->directory, shortage->location, any);
}

static tsr_trial trial_of(attempted *x) {
  return (tsr_trial){.call = x,
                     .attempt = x->offer != NULL ? attempt_offer : attempt_call,
                     .relieve = evict_copies,
                     .plans = x->context->plans,
                     .most_shrinks = INT_MAX, /* until no plan fits the budget */
                     .restores = true};
}

/* ---- When every attempt ran short of memory -------------------------------- */

static bool is_short(const tsr_trial *t, tsr_status status) {
  return status == TSR_ERR_MEMORY && t->shrinks > 0;
}

/* Fails with TSR_ERR_MEMORY. The budgets allowed the allocations that failed, so the message names
 * other programs as a likely cause. */
static tsr_status fail_for_memory(const tsr_context *context, const tsr_trial *t) {
  char why[400];
  snprintf(why, sizeof why, "%s", tsr_message());
  int location = t->shortage.location;
  const char *what = location < context->devices ? "device" : "staging memory, location";
  return tsr_fail(TSR_ERR_MEMORY,
                  "%s %d cannot allocate %zu bytes, which its budget allows (other programs may "
                  "use its memory); with a smaller budget: %s",
                  what, location, t->shortage.bytes, why);
}

static bool is_on_device(const tsr_call *call) {
  for (int i = 0; i < TSR_OPERANDS; i++)
    if (call->operand[i].memory == TSR_DEVICE) return true;
  return false;
}

/* The CPU's BLAS does the call, unless an operand is in a device's memory or the context is
 * reproducible (the CPU's result has other bits): then the call fails. The full budgets are
 * restored for the next call. */
static tsr_status fall_back_to_cpu(const attempted *x, const tsr_trial *t) {
  tsr_plans *plans = x->context->plans;
  tsr_budget_restore(plans);
  if (is_on_device(x->call) || plans->planning.reproducible) return fail_for_memory(x->context, t);
  tsr_log(TSR_LOG_INFO, "the CPU's BLAS does a call: %s", tsr_message());
  return call_on_cpu(x->context, x->call, x->binding);
}

/* ---- What products in residues leave -------------------------------------- */

/*
 * The run in residues has written the other parts of C. So a part that it has left must not end in
 * TSR_ERR_MEMORY, which says that nothing was touched: the CPU's BLAS, which needs no memory of
 * ours, does the part where it may; else the error says that C is undefined.
 */

/* Computes a part natively, whatever that costs. */
static tsr_status call_natively(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                                bool exchanged) {
  TSR_TRY(tsr_context_place(context, call, binding, exchanged));
  attempted x = {
      .context = context, .call = call, .binding = binding, .exchanged = exchanged, .rest = true};
  tsr_trial trial = trial_of(&x);
  tsr_status status = tsr_retry(&trial);
  if (is_short(&trial, status)) tsr_budget_restore(context->plans);
  return status;
}

/* The native calls have become the last ones; the call's own plan becomes it again. */
static void note_refused(tsr_context *context, const tsr_plan *plan, int parts) {
  tsr_calls_set_last(&context->calls, plan);
  pthread_mutex_lock(&context->plans->lock);
  tsr_plan_object_of(plan)->refused = parts;
  pthread_mutex_unlock(&context->plans->lock);
}

static tsr_status fail_for_part(tsr_status status) {
  char why[400];
  snprintf(why, sizeof why, "%s", tsr_message());
  return tsr_fail(status == TSR_ERR_MEMORY ? TSR_ERR_DEVICE : status,
                  "C is undefined: a part of it could not be computed natively: %s", why);
}

static tsr_status do_part(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                          bool exchanged) {
  tsr_status status = call_natively(context, call, binding, exchanged);
  if (status == TSR_ERR_MEMORY && !is_on_device(call)) {
    tsr_log(TSR_LOG_INFO, "the CPU's BLAS does a part of a call: %s", tsr_message());
    status = call_on_cpu(context, call, binding);
  }
  return status == TSR_OK ? TSR_OK : fail_for_part(status);
}

tsr_status tsr_context_do_refused(tsr_context *context, const tsr_plan *plan,
                                  const tsr_binding *binding, bool exchanged, tsr_rects *refused) {
  tsr_status status = TSR_OK;
  for (size_t i = 0; i < refused->count && status == TSR_OK; i++) {
    tsr_binding part;
    tsr_call call = tsr_native_part(&plan->call, binding, refused->items[i].rect, &part);
    status = do_part(context, &call, &part, exchanged);
  }
  if (refused->count > 0) note_refused(context, plan, (int)refused->count);
  TSR_VEC_FREE(refused);
  return status;
}

/* ---- Calls ---------------------------------------------------------------- */

/* Makes the attempts, and what the last one has left. *in_vain: they ran short of memory, and no
 * element of C has been written. */
static tsr_status carry_out(attempted *x, tsr_trial *trial, bool *in_vain) {
  tsr_status status = tsr_retry(trial);
  *in_vain = is_short(trial, status);
  if (x->plan != NULL && status == TSR_OK)
    status = tsr_context_do_refused(x->context, x->plan, x->binding, x->exchanged, &x->refused);
  tsr_plan_unref(x->plan);
  TSR_VEC_FREE(&x->refused);
  return status;
}

tsr_status tsr_context_call(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                            bool exchanged, bool async) {
  attempted x = {
      .context = context, .call = call, .binding = binding, .exchanged = exchanged, .async = async};
  tsr_trial trial = trial_of(&x);
  bool alone = true, in_vain;
  tsr_budget_call(context->plans);
  if (async && tsr_composes(&context->directory, call)) {
    TSR_TRY(tsr_compose_call(&context->directory, call, binding, exchanged, &alone));
    if (!alone) return TSR_OK;
  }
  TSR_TRY(tsr_compose_clear(&context->directory, call, binding));
  tsr_status status = carry_out(&x, &trial, &in_vain);
  return in_vain ? fall_back_to_cpu(&x, &trial) : status;
}

tsr_status tsr_context_call_on_cpu(tsr_context *context, const tsr_call *call,
                                   const tsr_binding *binding) {
  TSR_TRY(tsr_compose_clear(&context->directory, call, binding));
  return call_on_cpu(context, call, binding);
}

tsr_status tsr_context_offer(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                             bool exchanged, tsr_offer *offer) {
  attempted x = {
      .context = context, .call = call, .binding = binding, .exchanged = exchanged, .offer = offer};
  tsr_trial trial = trial_of(&x);
  bool in_vain;
  tsr_budget_call(context->plans);
  TSR_TRY(tsr_compose_clear(&context->directory, call, binding));
  tsr_status status = carry_out(&x, &trial, &in_vain);
  if (!in_vain) return status;
  tsr_budget_restore(context->plans);
  return fail_for_memory(context, &trial);
}
