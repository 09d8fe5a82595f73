/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: the level-3 routines, which take the type as an argument, from the table of
 * routines (blas/routines.def). */
#include <string.h>

#include "base/thread.h"
#include "blas/check.h"
#include "blas/routines.def"
#include "call/capture.h"
#include "cpu/on_cpu.h"
#include "front/context.h"

/* Bytes of alpha, or of beta (of_c), as the routine takes them. */
static size_t scalar_bytes(const tsr_level3 *what, bool of_c) {
  const tsr_operation_info *info = tsr_operation_get(what->operation);
  bool real = of_c ? info->real_beta : info->real_alpha;
  size_t size = tsr_type_get(what->type)->size;
  if (what->type == TSR_H || what->type == TSR_B) return sizeof(float);
  return real ? size / 2 : size;
}

/* Adds the call to the capture under way, if any. */
static void capture(tsr_context *context, const tsr_level3 *what,
                    const tsr_arithmetic_wish *arithmetic, const void *alpha, const void *a,
                    const void *b, const void *beta, void *c) {
  tsr_captured_step step = {
      .kind = TSR_CAPTURED_CALL, .what = *what, .arithmetic = *arithmetic, .a = a, .b = b, .c = c};
  bool has_beta = tsr_operation_get(what->operation)->has.beta;
  step.what.arithmetic = NULL; /* the program's text may not outlive the call */
  memcpy(step.alpha, alpha, scalar_bytes(what, false));
  if (has_beta) memcpy(step.beta, beta, scalar_bytes(what, true));
  tsr_capture_note_step(context->plans, &step);
}

static tsr_status carry_out(tsr_context *context, bool async, const tsr_arithmetic_wish *arithmetic,
                            tsr_call *call, const tsr_binding *binding, bool exchanged) {
  if (tsr_call_is_empty(call)) return TSR_OK;
  if (context->engine == NULL) return tsr_call_on_cpu(call, binding);
  TSR_TRY(tsr_context_place(context, call, binding, exchanged));
  tsr_context_choose_arithmetic(context, arithmetic, async, call);
  return tsr_context_call(context, call, binding, exchanged, async);
}

/* How a call is made: a step is an asynchronous call that no capture takes. */
typedef enum manner { BLOCKING, ASYNC, STEP } manner;

/* An asynchronous call becomes part of a capture only once it is submitted: a call that fails may
 * be repeated by the program. given: the arithmetic; NULL: what->arithmetic has it. */
static tsr_status run(tsr_context *context, manner how, const tsr_level3 *what,
                      const tsr_arithmetic_wish *given, const void *alpha, const void *a,
                      const void *b, const void *beta, void *c) {
  tsr_call call;
  tsr_binding binding;
  tsr_arithmetic_wish arithmetic;
  bool exchanged;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(tsr_call_level3(what, alpha, a, b, beta, c, true, &call, &binding, &exchanged));
  TSR_TRY(tsr_call_check_aliasing(&call, &binding, exchanged));
  if (given != NULL)
    arithmetic = *given;
  else
    TSR_TRY(tsr_context_arithmetic(context, what->arithmetic, &arithmetic));
  TSR_TRY(carry_out(context, how != BLOCKING, &arithmetic, &call, &binding, exchanged));
  if (how == ASYNC) capture(context, what, &arithmetic, alpha, a, b, beta, c);
  return TSR_OK;
}

tsr_status tsr_context_submit(tsr_context *context, const tsr_level3 *what,
                              const tsr_arithmetic_wish *arithmetic, const void *alpha,
                              const void *a, const void *b, const void *beta, void *c) {
  return run(context, ASYNC, what, arithmetic, alpha, a, b, beta, c);
}

tsr_status tsr_context_step(tsr_context *context, const tsr_level3 *what, const void *alpha,
                            const void *a, const void *b, const void *beta, void *c) {
  return run(context, STEP, what, NULL, alpha, a, b, beta, c);
}

TSR_ENTRY(tsr_level3_run, (context, what, alpha, a, b, beta, c), tsr_context *context,
          const tsr_level3 *what, const void *alpha, const void *a, const void *b, const void *beta,
          void *c) {
  return run(context, BLOCKING, what, NULL, alpha, a, b, beta, c);
}

TSR_ENTRY(tsr_level3_run_async, (context, what, alpha, a, b, beta, c), tsr_context *context,
          const tsr_level3 *what, const void *alpha, const void *a, const void *b, const void *beta,
          void *c) {
  return run(context, ASYNC, what, NULL, alpha, a, b, beta, c);
}

/* ---- The routines ----------------------------------------------------------- */

/* An argument as a parameter, and where it goes: a flag, an extent or a leading dimension to
 * tsr_level3, a scalar or a matrix to tsr_arguments. */
#define PARAMETER_FLAG(name, field, flag) tsr_##flag name
#define PARAMETER_EXTENT(name, field) int64_t name
#define PARAMETER_SCALAR(name, field) const void *name
#define PARAMETER_INPUT(name, ...) const void *name, int64_t ld##name
#define PARAMETER_RESULT(name, ...) void *name, int64_t ld##name
#define PARAMETER(x, kind, ...) , PARAMETER_##kind(__VA_ARGS__)

#define FIELD_FLAG(name, field, flag) .field = name,
#define FIELD_EXTENT(name, field) .field = name,
#define FIELD_SCALAR(name, field)
#define FIELD_INPUT(name, field, ...) .ld##field = ld##name,
#define FIELD_RESULT FIELD_INPUT
#define FIELD(x, kind, ...) FIELD_##kind(__VA_ARGS__)

#define GIVEN_FLAG(name, field, flag)
#define GIVEN_EXTENT(name, field)
#define GIVEN_SCALAR(name, field) .field = name,
#define GIVEN_INPUT(name, field, ...) .field = name,
#define GIVEN_RESULT GIVEN_INPUT
#define GIVEN(x, kind, ...) GIVEN_##kind(__VA_ARGS__)

#define ROUTINE(function, run, operation_, signature)                                         \
  tsr_status function(tsr_context *context, tsr_type type,                                    \
                      tsr_layout layout TSR_ARGUMENTS_##signature(PARAMETER, PARAMETER, 0)) { \
    const tsr_level3 what = {.operation = operation_,                                         \
                             .type = type,                                                    \
                             .layout = layout,                                                \
                             TSR_ARGUMENTS_##signature(FIELD, FIELD, 0)};                     \
    const tsr_arguments x = {TSR_ARGUMENTS_##signature(GIVEN, GIVEN, 0)};                     \
    return run(context, &what, x.alpha, x.a, x.b, x.beta, x.c);                               \
  }

#define BOTH(name, operation, signature, ...)                     \
  ROUTINE(tsr_##name, tsr_level3_run, TSR_##operation, signature) \
  ROUTINE(tsr_##name##_async, tsr_level3_run_async, TSR_##operation, signature)

TSR_ROUTINES(BOTH)
