/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Which calls are computed in a form (arithmetic/moduli.h), and what is left of them for native
 * ones.
 */
#include "base/thread.h"
#include "front/context.h"

tsr_status tsr_context_read_arithmetic(const char *given, tsr_arithmetic_wish *arithmetic) {
  const char *name = "TESSERA_ARITHMETIC";
  if (given != NULL) return tsr_parse_arithmetic("arithmetic", given, arithmetic);
  return tsr_parse_arithmetic(name, tsr_setting_text(name), arithmetic);
}

TSR_ENTRY(tsr_set_arithmetic, (context, arithmetic), tsr_context *context, const char *arithmetic) {
  tsr_arithmetic_wish set;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(tsr_context_read_arithmetic(arithmetic, &set));
  tsr_plans *plans = context->plans;
  pthread_mutex_lock(&plans->lock);
  plans->arithmetic = set;
  pthread_mutex_unlock(&plans->lock);
  return TSR_OK;
}

static bool has_kernels(const tsr_engine *engine, const tsr_arithmetic *arithmetic) {
  return engine == NULL || engine->traits.forms >> arithmetic->makes & 1;
}

/* The arithmetic that the user asks for, if the call can be computed so; NULL: natively. */
static const tsr_arithmetic *find_possible(const tsr_context *context,
                                           const tsr_arithmetic_wish *wish, const tsr_call *call) {
  const tsr_arithmetic *arithmetic = wish->products;
  if (arithmetic == NULL) arithmetic = tsr_residues_for(call->type, wish->accuracy, call->k);
  bool possible = arithmetic != NULL && has_kernels(context->engine, arithmetic) &&
                  tsr_arithmetic_has(arithmetic, call->type, call->k) &&
                  !tsr_call_scales_only(call);
  return possible ? arithmetic : NULL;
}

/* Whether the arithmetic that the user chose leaves a call native that could be emulated. The plan
 * that is predicted to be faster depends on the devices, so results that must have the same bits on
 * any number of them are native, too. So is trsm: emulated, it is at most 7 % faster (fp32, 16384,
 * on an H100), but takes several times as long where products of what it has solved are refused. */
static bool is_native(const tsr_context *context, const tsr_arithmetic_wish *arithmetic,
                      const tsr_call *call) {
  bool reproducible = context->plans->planning.reproducible;
  bool faster = arithmetic->kind == TSR_FASTER;
  return faster && (reproducible || call->operation == TSR_TRSM);
}

tsr_status tsr_context_arithmetic(tsr_context *context, const char *given,
                                  tsr_arithmetic_wish *arithmetic) {
  if (given != NULL) return tsr_parse_arithmetic("arithmetic", given, arithmetic);
  pthread_mutex_lock(&context->plans->lock);
  *arithmetic = context->plans->arithmetic;
  pthread_mutex_unlock(&context->plans->lock);
  return TSR_OK;
}

/* The parts of C that a blocking GEMM leaves are done by another call (tsr_native_part), unless
 * results are reproducible: then parts that are left have the same bits by every way of calling. */
void tsr_context_choose_arithmetic(const tsr_context *context, const tsr_arithmetic_wish *wish,
                                   bool async, tsr_call *call) {
  if (wish->kind == TSR_NATIVE) return; /* as a call is made */
  const tsr_arithmetic *possible = find_possible(context, wish, call);
  bool native = possible == NULL || is_native(context, wish, call);
  bool leaves = call->operation == TSR_GEMM && !async && !context->plans->planning.reproducible;
  call->arithmetic = native ? NULL : possible;
  call->faster = possible != NULL && wish->kind == TSR_FASTER;
  call->promise = tsr_promise_of(call->arithmetic, wish->accuracy, leaves);
  call->adds_last = !native && !call->faster && context->plans->machine->devices > 0;
}

static void *moved(void *base, tsr_type type, int64_t elements) {
  return (char *)base + elements * (int64_t)tsr_type_get(type)->size;
}

tsr_call tsr_native_part(const tsr_call *call, const tsr_binding *binding, tsr_rect rect,
                         tsr_binding *part) {
  tsr_call made = tsr_call_natively(call);
  const tsr_operand *o = call->operand;
  made.adds_last = true;
  made.m = rect.row1 - rect.row0;
  made.n = rect.col1 - rect.col0;
  *(call->transa == TSR_NO_TRANS ? &made.operand[TSR_A].rows : &made.operand[TSR_A].cols) = made.m;
  *(call->transb == TSR_NO_TRANS ? &made.operand[TSR_B_].cols : &made.operand[TSR_B_].rows) =
      made.n;
  made.operand[TSR_C_].rows = made.m;
  made.operand[TSR_C_].cols = made.n;
  *part = *binding;
  part->base[TSR_A] = moved(binding->base[TSR_A], call->type,
                            tsr_kernel_offset(call->transa, rect.row0, 0, o[TSR_A].ld));
  part->base[TSR_B_] = moved(binding->base[TSR_B_], call->type,
                             tsr_kernel_offset(call->transb, 0, rect.col0, o[TSR_B_].ld));
  part->base[TSR_C_] =
      moved(binding->base[TSR_C_], call->type, rect.row0 + rect.col0 * o[TSR_C_].ld);
  return made;
}
