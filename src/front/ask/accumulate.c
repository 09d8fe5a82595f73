/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tsr_plan_accumulation: the predicted time of a sequence of products that update the same C, which
 * stays on the devices between them. */
#include "base/thread.h"
#include "compose/accumulate.h"
#include "front/context.h"

/* Sets where the operands lie. inputs is the place of A and B: a device, or TSR_HOST for pinned
 * host memory. C is in pinned host memory. */
static tsr_status set_places(const tsr_machine *machine, int inputs, tsr_call *call) {
  if (inputs != TSR_HOST && (inputs < 0 || inputs >= machine->devices))
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "inputs is %d; give one of the machine's %d devices, or TSR_HOST", inputs,
                    machine->devices);
  for (int x = 0; x < TSR_OPERANDS; x++) {
    tsr_operand *o = &call->operand[x];
    bool at_host = x == TSR_C_ || inputs == TSR_HOST;
    o->memory = at_host ? TSR_PINNED : TSR_DEVICE;
    o->location = at_host ? tsr_machine_host(machine, 0) : inputs;
    o->pinned_begin = 0;
    o->pinned_end = tsr_operand_bytes(o, call->type);
    o->alignment = 4;
  }
  return TSR_OK;
}

static tsr_status make_call(tsr_context *context, tsr_type type, int64_t m, int64_t n, int64_t k,
                            int inputs, const void *beta, tsr_call *call) {
  static const float one[4] = {1, 0, 0, 0};
  static const double wide_one[2] = {1, 0};
  bool wide = type == TSR_D || type == TSR_Z;
  const void *alpha = wide ? (const void *)wide_one : (const void *)one;
  tsr_level3 what = {.operation = TSR_GEMM,
                     .type = type,
                     .layout = TSR_COL_MAJOR,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .m = m,
                     .n = n,
                     .k = k,
                     .lda = m > 0 ? m : 1,
                     .ldb = k > 0 ? k : 1,
                     .ldc = m > 0 ? m : 1};
  tsr_binding binding;
  bool exchanged;
  TSR_TRY(tsr_call_level3(&what, alpha, NULL, NULL, beta != NULL ? beta : alpha, NULL, false, call,
                          &binding, &exchanged));
  tsr_plans *plans = context->plans;
  pthread_rwlock_rdlock(&plans->machine_lock);
  tsr_status status = set_places(plans->machine, inputs, call);
  pthread_rwlock_unlock(&plans->machine_lock);
  return status;
}

TSR_ENTRY(tsr_plan_accumulation, (context, type, m, n, k, inputs, beta, quick, predicted),
          tsr_context *context, tsr_type type, int64_t m, int64_t n, int64_t k, int inputs,
          const void *beta, int quick, tsr_accumulation *predicted) {
  tsr_call first, next;
  TSR_TRY(tsr_context_check(context));
  if (predicted == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "predicted is NULL; give the address of a tsr_accumulation");
  TSR_TRY(make_call(context, type, m, n, k, inputs, beta, &first));
  TSR_TRY(make_call(context, type, m, n, k, inputs, NULL, &next));
  if (tsr_call_is_empty(&next)) {
    *predicted = (tsr_accumulation){0};
    return TSR_OK;
  }
  tsr_plans *plans = context->plans;
  if (!quick) return tsr_accumulate_by_plans(plans, &first, &next, predicted);
  pthread_rwlock_rdlock(&plans->machine_lock);
  tsr_accumulate_by_formula(plans->machine, &first, predicted);
  pthread_rwlock_unlock(&plans->machine_lock);
  return TSR_OK;
}
