/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Carries a call out: by an attempt and, if that leaves anything, by what does the rest. */
#include "front/context.h"
#include "front/left.h"

/* ---- Calls ---------------------------------------------------------------- */

/* Makes the attempts, and what the last one has left. *in_vain: they ran short of memory, and no
 * element of C has been written. */
static tsr_status carry_out(tsr_attempt *x, tsr_trial *trial, bool *in_vain) {
  tsr_status status = tsr_attempt_make(x, trial);
  *in_vain = tsr_attempt_is_in_vain(trial, status);
  return x->left.why == TSR_LEFT_NOTHING ? status : tsr_left_do(x, status);
}

/* Made again after the results that it uses were. *alone: as tsr_compose_call. */
static tsr_status compose(const tsr_attempt *x, bool *alone) {
  tsr_directory *directory = &x->context->directory;
  tsr_status status;
  do {
    *alone = true;
    if (tsr_runner_well(x->context->calls.runner) == 0) return TSR_OK;
    status = tsr_compose_call(directory, x->call, x->binding, x->exchanged, alone);
  } while (tsr_compose_has_losses(directory, status) ||
           (status == TSR_ERR_DEVICE && tsr_left_has_failed_devices(x->context)));
  return status;
}

tsr_status tsr_context_call(tsr_context *context, tsr_call *call, const tsr_binding *binding,
                            bool exchanged, bool async) {
  tsr_attempt x = {
      .context = context, .call = call, .binding = binding, .exchanged = exchanged, .async = async};
  tsr_trial trial;
  bool alone = true, in_vain;
  tsr_budget_call(context->plans);
  if (tsr_left_has_failed_devices(context)) tsr_left_choose_devices(context);
  if (async && tsr_composes(&context->directory, call)) {
    TSR_TRY(compose(&x, &alone));
    if (!alone) return TSR_OK;
  }
  if (tsr_compose_is_used(&context->directory))
    TSR_TRY(tsr_compose_clear(&context->directory, call, binding, !async));
  tsr_status status = carry_out(&x, &trial, &in_vain);
  return in_vain ? tsr_attempt_on_cpu(&x, &trial) : status;
}

tsr_status tsr_context_offer(tsr_context *context, const tsr_call *call, const tsr_binding *binding,
                             bool exchanged, tsr_offer *offer) {
  tsr_attempt x = {
      .context = context, .call = call, .binding = binding, .exchanged = exchanged, .offer = offer};
  tsr_trial trial;
  bool in_vain;
  tsr_budget_call(context->plans);
  if (tsr_left_has_failed_devices(context)) tsr_left_choose_devices(context);
  if (tsr_compose_is_used(&context->directory))
    TSR_TRY(tsr_compose_clear(&context->directory, call, binding, true));
  tsr_status status = carry_out(&x, &trial, &in_vain);
  if (!in_vain) return status;
  tsr_budget_restore(context->plans);
  return tsr_attempt_fail_for_memory(context, &trial);
}
