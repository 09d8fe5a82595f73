/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Attempts at a call. If memory is short, copies that are kept on devices are evicted, then budgets
 * are reduced and the call is planned again, and in the end the CPU's BLAS does the call.
 */
#include "front/attempt.h"

#include <limits.h>
#include <stdio.h>

#include "base/log.h"
#include "blas/operation.h"
#include "call/request.h"
#include "cpu/on_cpu.h"
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
                           bool exchanged, bool async, tsr_left *left, int *short_of) {
  tsr_calls *calls = &context->calls;
  if (!async) return tsr_calls_run(calls, plan, binding, left, short_of);
  tsr_job *job;
  TSR_TRY(tsr_calls_submit(calls, plan, binding, NULL, short_of, &job));
  tsr_compose_note(&context->directory, &plan->call, binding, exchanged, job);
  tsr_calls_keep(calls, job);
  return TSR_OK;
}

tsr_status tsr_context_call_on_cpu(tsr_context *context, const tsr_call *call,
                                   const tsr_binding *binding) {
  TSR_TRY(tsr_context_wait_for_devices(context));
  return tsr_call_on_cpu(call, binding);
}

/* An asynchronous call has not waited for those that write its operands. */
static tsr_status call_on_cpu(const tsr_attempt *x) {
  tsr_directory *directory = &x->context->directory;
  if (x->async) TSR_TRY(tsr_compose_clear(directory, x->call, x->binding, true));
  return tsr_context_call_on_cpu(x->context, x->call, x->binding);
}

bool tsr_attempt_is_on_device(const tsr_call *call) {
  for (int i = 0; i < TSR_OPERANDS; i++)
    if (call->operand[i].memory == TSR_DEVICE) return true;
  return false;
}

/* ---- Attempts ------------------------------------------------------------- */

static tsr_status find_plan(const tsr_attempt *x, const tsr_plan **plan) {
  tsr_request request = {.call = x->call, .exchanged = x->exchanged, .rest = x->rest};
  return tsr_request_find(x->context->plans, &request, plan);
}

/* A device may have failed before anything was submitted to the devices. */
static void note_refusal(tsr_attempt *x, tsr_status status) {
  uint32_t well = tsr_runner_well(x->context->calls.runner);
  if (status != TSR_ERR_DEVICE || x->left.why != TSR_LEFT_NOTHING) return;
  if (well == atomic_load(&x->context->plans->devices)) return;
  x->left = (tsr_left){.why = TSR_LEFT_BY_DEVICE, .how = TSR_JOB_LEFT_ALL};
}

/* Takes over the reference to a plan that has run: it is needed if something is left. */
static void keep_or_drop(tsr_attempt *x, const tsr_plan *plan, tsr_status status) {
  if (status != TSR_OK) note_refusal(x, status);
  bool left = x->left.why != TSR_LEFT_NOTHING;
  if (left) x->plan = plan;
  if (!left) tsr_plan_unref(plan);
}

/* The CPU's result has other bits, and it has no devices' memory. */
static tsr_status do_without_devices(const tsr_attempt *x) {
  const char *why = tsr_attempt_is_on_device(x->call) ? "a matrix is in the memory of a device"
                    : x->context->plans->planning.reproducible
                        ? "the CPU's result would have other bits (reproducible)"
                        : NULL;
  if (why == NULL) return call_on_cpu(x);
  return tsr_fail(TSR_ERR_DEVICE,
                  "all devices of the context have failed, and %s: make another context, or "
                  "start the program again",
                  why);
}

static tsr_status attempt_call(void *attempt_, tsr_shortage *shortage) {
  tsr_attempt *x = attempt_;
  const tsr_plan *plan;
  int short_of = -1;
  tsr_status status;
  if (tsr_runner_well(x->context->calls.runner) == 0) return do_without_devices(x);
  TSR_TRY(find_plan(x, &plan));
  if (plan->devices == 0) {
    status = call_on_cpu(x);
    if (status == TSR_OK) tsr_calls_set_last(&x->context->calls, plan);
  } else {
    status = run_plan(x->context, plan, x->binding, x->exchanged, x->async, &x->left, &short_of);
  }
  tsr_shortage_note(shortage, plan, short_of);
  keep_or_drop(x, plan, status);
  return status;
}

static tsr_status attempt_offer(void *attempt_, tsr_shortage *shortage) {
  tsr_attempt *x = attempt_;
  tsr_offer *offer = x->offer;
  const tsr_plan *plan;
  int short_of = -1;
  tsr_status status = TSR_OK;
  if (tsr_runner_well(x->context->calls.runner) == 0)
    return tsr_attempt_is_on_device(x->call) ? do_without_devices(x) : TSR_OK;
  TSR_TRY(find_plan(x, &plan));
  offer->seconds = plan->seconds;
  offer->devices = plan->devices;
  offer->taken = plan->devices > 0 && plan->seconds < offer->price;
  if (offer->taken)
    status = tsr_calls_run(&x->context->calls, plan, x->binding, &x->left, &short_of);
  tsr_shortage_note(shortage, plan, short_of);
  keep_or_drop(x, plan, status);
  return status;
}

static tsr_status evict_copies(void *attempt_, const tsr_shortage *shortage, bool *any) {
  tsr_attempt *x = attempt_;
  return tsr_compose_relieve(&x->context->directory, shortage->location, any);
}

tsr_status tsr_attempt_make(tsr_attempt *x, tsr_trial *trial) {
  *trial = (tsr_trial){.call = x,
                       .attempt = x->offer != NULL ? attempt_offer : attempt_call,
                       .relieve = x->alone ? NULL : evict_copies,
                       .plans = x->context->plans,
                       .most_shrinks = INT_MAX, /* until no plan fits the budget */
                       .restores = true};
  return tsr_retry(trial);
}

/* ---- When every attempt ran short of memory -------------------------------- */

bool tsr_attempt_is_in_vain(const tsr_trial *t, tsr_status status) {
  return status == TSR_ERR_MEMORY && t->shrinks > 0;
}

/* The budgets allowed the allocations that failed, so the message names other programs as a likely
 * cause. */
tsr_status tsr_attempt_fail_for_memory(const tsr_context *context, const tsr_trial *t) {
  char why[400];
  snprintf(why, sizeof why, "%s", tsr_message());
  int location = t->shortage.location;
  const char *what = location < context->devices ? "device" : "staging memory, location";
  return tsr_fail(TSR_ERR_MEMORY,
                  "%s %d cannot allocate %zu bytes, which its budget allows (other programs may "
                  "use its memory); with a smaller budget: %s",
                  what, location, t->shortage.bytes, why);
}

/* The call fails if an operand is in a device's memory or the context is reproducible (the CPU's
 * result has other bits). The full budgets are restored for the next call. */
tsr_status tsr_attempt_on_cpu(const tsr_attempt *x, const tsr_trial *t) {
  tsr_plans *plans = x->context->plans;
  tsr_budget_restore(plans);
  if (tsr_attempt_is_on_device(x->call) || plans->planning.reproducible)
    return tsr_attempt_fail_for_memory(x->context, t);
  tsr_log(TSR_LOG_INFO, "the CPU's BLAS does a call: %s", tsr_message());
  return call_on_cpu(x);
}
