/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: factorisations. */
#include "base/thread.h"
#include "call/capture.h"
#include "cpu/on_cpu.h"
#include "front/attempt.h"

/* Adds the call to the capture under way, if any. */
static void capture(tsr_context *context, const tsr_factor *what, void *a) {
  tsr_captured_step step = {.kind = TSR_CAPTURED_FACTOR, .factor = *what, .c = a};
  tsr_capture_note_step(context->plans, &step);
}

static tsr_status ask_engine(const tsr_engine *engine) {
  if (engine->factors != NULL) return engine->factors();
  return tsr_fail(TSR_ERR_UNSUPPORTED,
                  "the engine %s factors no matrix on its devices: give one in host memory",
                  engine->name);
}

bool tsr_context_can_factor(const tsr_context *context) {
  return ask_engine(context->engine) == TSR_OK;
}

/* Whether the devices can do it. If they cannot, the CPU does, unless the matrix is on a device. */
static bool leaves_to_cpu(const tsr_context *context, const tsr_call *call, tsr_status *status) {
  *status = ask_engine(context->engine);
  return *status == TSR_ERR_UNSUPPORTED && call->operand[TSR_C_].memory != TSR_DEVICE;
}

static tsr_status carry_out(tsr_context *context, bool async, tsr_call *call,
                            const tsr_binding *binding) {
  if (context->engine == NULL || tsr_call_is_empty(call)) return tsr_call_on_cpu(call, binding);
  TSR_TRY(tsr_context_place(context, call, binding, false));
  tsr_status status;
  if (leaves_to_cpu(context, call, &status)) {
    TSR_TRY(tsr_compose_clear(&context->directory, call, binding, true));
    return tsr_context_call_on_cpu(context, call, binding);
  }
  TSR_TRY(status);
  return tsr_context_call(context, call, binding, false, async);
}

static tsr_status run(tsr_context *context, bool async, const tsr_factor *what, void *a) {
  tsr_call call;
  tsr_binding binding;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(tsr_call_factor(what, a, true, &call, &binding));
  return carry_out(context, async, &call, &binding);
}

tsr_status tsr_context_factor_step(tsr_context *context, const tsr_factor *what, void *a) {
  return run(context, true, what, a);
}

TSR_ENTRY(tsr_factor_run, (context, what, a), tsr_context *context, const tsr_factor *what,
          void *a) {
  return run(context, false, what, a);
}

TSR_ENTRY(tsr_factor_run_async, (context, what, a), tsr_context *context, const tsr_factor *what,
          void *a) {
  TSR_TRY(run(context, true, what, a));
  capture(context, what, a);
  return TSR_OK;
}

/* ---- The routines ----------------------------------------------------------- */

static tsr_factor potrf_of(tsr_type type, tsr_layout layout, tsr_uplo uplo, int64_t n, int64_t lda,
                           int64_t *info) {
  return (tsr_factor){TSR_POTRF, type, layout, uplo, n, lda, info};
}

tsr_status tsr_potrf(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                     int64_t n, void *a, int64_t lda, int64_t *info) {
  const tsr_factor what = potrf_of(type, layout, uplo, n, lda, info);
  return tsr_factor_run(context, &what, a);
}

tsr_status tsr_potrf_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                           int64_t n, void *a, int64_t lda, int64_t *info) {
  const tsr_factor what = potrf_of(type, layout, uplo, n, lda, info);
  return tsr_factor_run_async(context, &what, a);
}
