/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Products across processes, of which each process computes a part as the whole product is
 * emulated.
 */
#include "base/thread.h"
#include "call/request.h"
#include "cpu/on_cpu.h"
#include "front/context.h"
#include "plan/search/search.h"
#include "run/place.h"
#include "tessera_model.h"

/* ---- How ------------------------------------------------------------------- */

/* The tiles by which a product of one process is judged. */
static int64_t judged_by(const tsr_context *context, const tsr_call *call) {
  const tsr_plan_options *options = &context->plans->planning;
  if (!options->reproducible) return 0;
  return options->tile > 0 ? options->tile : tsr_search_tile_by_shape(call);
}

TSR_ENTRY(tsr_emulation_find, (context, type, m, n, k, plan, how), tsr_context *context,
          tsr_type type, int64_t m, int64_t n, int64_t k, int plan, tsr_emulation_way *how) {
  tsr_call call = {.operation = TSR_GEMM, .type = type, .m = m, .n = n, .k = k, .alpha = TSR_OTHER};
  tsr_arithmetic_wish arithmetic;
  TSR_TRY(tsr_context_check(context));
  if (how == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "how is NULL; give the address of a tsr_emulation_way to fill");
  TSR_TRY(tsr_context_arithmetic(context, NULL, &arithmetic));
  *how = (tsr_emulation_way){0};
  tsr_arithmetic_print(&arithmetic, how->arithmetic);
  if (context->engine == NULL && (!plan || context->plans->machine->devices == 0)) return TSR_OK;
  tsr_context_choose_arithmetic(context, &arithmetic, false, &call);
  if (!tsr_call_has_form(&call)) return TSR_OK;
  how->products = call.arithmetic;
  how->faster = call.faster;
  how->accuracy = call.promise.accuracy;
  how->judged = judged_by(context, &call);
  return TSR_OK;
}

/* ---- A part ---------------------------------------------------------------- */

typedef struct part {
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
} part;

static tsr_status check_part(const tsr_context *context, const tsr_emulation_way *how) {
  TSR_TRY(tsr_context_check(context));
  if (how != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "how is NULL; give what tsr_emulation_find has filled");
}

/* Chooses the way that tsr_emulation_find has found, whatever is set for the context now. */
static void choose(const tsr_context *context, const tsr_emulation_way *how, tsr_call *call) {
  const tsr_arithmetic_wish arithmetic = {how->products != NULL ? TSR_EMULATED : TSR_NATIVE,
                                          how->products, how->accuracy};
  tsr_context_choose_arithmetic(context, &arithmetic, false, call);
  call->promise.judged = how->judged;
}

static tsr_status make(tsr_context *context, const tsr_emulation_way *how, const tsr_level3 *what,
                       const void *alpha, const void *a, const void *b, const void *beta, void *c,
                       part *x) {
  TSR_TRY(check_part(context, how));
  TSR_TRY(tsr_call_level3(what, alpha, a, b, beta, c, true, &x->call, &x->binding, &x->exchanged));
  if (context->engine == NULL) return TSR_OK;
  choose(context, how, &x->call);
  return tsr_context_place(context, &x->call, &x->binding, x->exchanged);
}

TSR_ENTRY(tsr_emulation_run, (context, how, what, alpha, a, b, beta, c), tsr_context *context,
          const tsr_emulation_way *how, const tsr_level3 *what, const void *alpha, const void *a,
          const void *b, const void *beta, void *c) {
  part x;
  TSR_TRY(make(context, how, what, alpha, a, b, beta, c, &x));
  if (context->engine == NULL) return tsr_call_on_cpu(&x.call, &x.binding);
  return tsr_context_call(context, &x.call, &x.binding, x.exchanged, false);
}

TSR_ENTRY(tsr_emulation_plan, (context, how, what, alpha, a, b, beta, c), tsr_context *context,
          const tsr_emulation_way *how, const tsr_level3 *what, const void *alpha, const void *a,
          const void *b, const void *beta, void *c) {
  const tsr_plan *plan;
  part x;
  TSR_TRY(make(context, how, what, alpha, a, b, beta, c, &x));
  if (context->engine == NULL) return TSR_OK;
  tsr_request request = {.call = &x.call, .exchanged = x.exchanged};
  TSR_TRY(tsr_request_find(context->plans, &request, &plan));
  tsr_plan_unref(plan);
  return TSR_OK;
}

/* Operands in pageable memory of the first node, as an allocator aligns them. */
static void place_in_host(tsr_plans *plans, tsr_call *call) {
  pthread_rwlock_rdlock(&plans->machine_lock);
  for (int x = 0; x < TSR_OPERANDS; x++) {
    tsr_operand *o = &call->operand[x];
    o->memory = TSR_PAGEABLE;
    o->location = tsr_machine_host(plans->machine, 0);
    o->pinned_begin = o->pinned_end = 0;
    o->alignment = tsr_place_alignment(0, o->ld * (int64_t)tsr_type_get(call->type)->size);
  }
  pthread_rwlock_unlock(&plans->machine_lock);
}

TSR_ENTRY(tsr_emulation_predict, (context, how, what, alpha, beta, seconds), tsr_context *context,
          const tsr_emulation_way *how, const tsr_level3 *what, const void *alpha, const void *beta,
          double *seconds) {
  const tsr_plan *plan;
  part x;
  TSR_TRY(check_part(context, how));
  if (seconds == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "seconds is NULL; give the address of a double to fill");
  TSR_TRY(tsr_call_level3(what, alpha, NULL, NULL, beta, NULL, false, &x.call, &x.binding,
                          &x.exchanged));
  place_in_host(context->plans, &x.call);
  choose(context, how, &x.call);
  tsr_request request = {.call = &x.call, .exchanged = x.exchanged};
  TSR_TRY(tsr_request_find(context->plans, &request, &plan));
  *seconds = plan->seconds;
  tsr_plan_unref(plan);
  return TSR_OK;
}
