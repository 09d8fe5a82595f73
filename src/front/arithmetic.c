/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Which calls are computed in residues (arithmetic/moduli.h), and what is left of them for native
 * ones.
 */
#include "arithmetic/moduli.h"
#include "base/thread.h"
#include "front/context.h"

tsr_status tsr_context_read_arithmetic(const char *given, tsr_arithmetic *arithmetic) {
  const char *name = "TESSERA_ARITHMETIC";
  if (given != NULL) return tsr_parse_arithmetic("arithmetic", given, arithmetic);
  return tsr_parse_arithmetic(name, tsr_setting_text(name), arithmetic);
}

TSR_ENTRY(tsr_set_arithmetic, (context, arithmetic), tsr_context *context, const char *arithmetic) {
  tsr_arithmetic set;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(tsr_context_read_arithmetic(arithmetic, &set));
  tsr_plans *plans = context->plans;
  pthread_mutex_lock(&plans->lock);
  plans->arithmetic = set;
  pthread_mutex_unlock(&plans->lock);
  return TSR_OK;
}

static bool is_possible(const tsr_context *context, const tsr_call *call) {
  bool engine = context->engine == NULL || context->engine->traits.residues;
  return engine && tsr_moduli_of_type(call->type) > 0 && !tsr_call_scales_only(call) &&
         call->k <= TSR_MODULI_LONGEST;
}

/* Whether the arithmetic that the user chose leaves a call native that could be emulated. The plan
 * that is predicted to be faster depends on the devices, so results that must have the same bits on
 * any number of them are native, too. So is trsm: emulated, it is at most 7 % faster (fp32, 16384,
 * on an H100), but takes several times as long where products of what it has solved are refused. */
static bool is_native(const tsr_context *context, const tsr_arithmetic *arithmetic,
                      const tsr_call *call) {
  bool reproducible = context->plans->planning.reproducible;
  bool faster = arithmetic->kind == TSR_FASTER;
  return arithmetic->kind == TSR_NATIVE || (faster && call->operation == TSR_TRSM) ||
         (reproducible && faster);
}

static int moduli_of(const tsr_arithmetic *arithmetic, const tsr_call *call) {
  if (arithmetic->moduli > 0) return arithmetic->moduli;
  if (arithmetic->accuracy > 0) return tsr_moduli_for(call->type, arithmetic->accuracy, call->k);
  return tsr_moduli_of_type(call->type);
}

tsr_status tsr_context_arithmetic(tsr_context *context, const char *given,
                                  tsr_arithmetic *arithmetic) {
  if (given != NULL) return tsr_parse_arithmetic("arithmetic", given, arithmetic);
  pthread_mutex_lock(&context->plans->lock);
  *arithmetic = context->plans->arithmetic;
  pthread_mutex_unlock(&context->plans->lock);
  return TSR_OK;
}

/* The parts of C that a blocking GEMM leaves are done by another call (tsr_native_part), unless
 * results are reproducible: then parts that are left have the same bits by every way of calling. */
void tsr_context_choose_arithmetic(const tsr_context *context, const tsr_arithmetic *arithmetic,
                                   bool async, tsr_call *call) {
  bool possible = is_possible(context, call);
  bool native = !possible || is_native(context, arithmetic, call);
  call->moduli = native ? 0 : moduli_of(arithmetic, call);
  call->accuracy = native ? 0 : arithmetic->accuracy;
  call->faster = possible && arithmetic->kind == TSR_FASTER;
  bool leaves = call->operation == TSR_GEMM && !async && !context->plans->planning.reproducible;
  call->keeps_lines = !native && !leaves;
  call->adds_last = !native && !call->faster && context->plans->machine->devices > 0;
}

static void *moved(void *base, tsr_type type, int64_t elements) {
  return (char *)base + elements * (int64_t)tsr_type_get(type)->size;
}

tsr_call tsr_native_part(const tsr_call *call, const tsr_binding *binding, tsr_rect rect,
                         tsr_binding *part) {
  tsr_call made = *call;
  const tsr_operand *o = call->operand;
  made.moduli = 0;
  made.accuracy = 0;
  made.faster = false;
  made.keeps_lines = false;
  made.adds_last = true;
  made.judged = 0;
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
