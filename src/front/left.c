/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/left.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "blas/family.h"
#include "run/region.h"

/* ---- For accuracy --------------------------------------------------------- */

/*
 * The run in a form has written the other parts of C. So a part that it has left must not end in
 * TSR_ERR_MEMORY, which says that nothing was touched: the CPU's BLAS, which needs no memory of
 * ours, does the part where it may; else the error says that C is undefined.
 */

static tsr_status attempt(tsr_attempt *x);

/* Computes a part natively, whatever that costs. */
static tsr_status call_natively(const tsr_attempt *x, tsr_call *call, const tsr_binding *binding) {
  TSR_TRY(tsr_context_place(x->context, call, binding, x->exchanged));
  tsr_attempt part = {.context = x->context,
                      .call = call,
                      .binding = binding,
                      .exchanged = x->exchanged,
                      .alone = x->alone,
                      .rest = true};
  return attempt(&part);
}

/* The native calls have become the last ones; the call's own plan becomes it again. */
static void note_refused(tsr_context *context, const tsr_plan *plan, int parts) {
  tsr_calls_set_last(&context->calls, plan);
  pthread_mutex_lock(&context->plans->lock);
  tsr_plan_object_of(plan)->refused = parts;
  pthread_mutex_unlock(&context->plans->lock);
}

/* Puts "C is undefined" and the reason before the message. TSR_ERR_MEMORY would say that nothing
 * was touched. */
static tsr_status fail_undefined(tsr_status status, const char *how) {
  char why[400];
  snprintf(why, sizeof why, "%s", tsr_message());
  return tsr_fail(status == TSR_ERR_MEMORY ? TSR_ERR_DEVICE : status, "C is undefined%s: %s", how,
                  why);
}

static tsr_status fail_for_part(tsr_status status) {
  return fail_undefined(status, ": a part of it could not be computed natively");
}

static tsr_status do_part(const tsr_attempt *x, tsr_call *call, const tsr_binding *binding) {
  tsr_status status = call_natively(x, call, binding);
  if (status == TSR_ERR_MEMORY && !tsr_attempt_is_on_device(call)) {
    tsr_log(TSR_LOG_INFO, "the CPU's BLAS does a part of a call: %s", tsr_message());
    status = tsr_context_call_on_cpu(x->context, call, binding);
  }
  return status == TSR_OK ? TSR_OK : fail_for_part(status);
}

static tsr_status after_accuracy(tsr_attempt *x) {
  tsr_rects *parts = &x->left.parts;
  tsr_status status = TSR_OK;
  for (size_t i = 0; i < parts->count && status == TSR_OK; i++) {
    tsr_binding part;
    tsr_call call = tsr_native_part(&x->plan->call, x->binding, parts->items[i].rect, &part);
    status = do_part(x, &call, &part);
  }
  note_refused(x->context, x->plan, (int)parts->count);
  return status;
}

/* ---- Which devices work ----------------------------------------------------- */

static void use_those_that_work(tsr_context *context) {
  uint32_t well = tsr_runner_well(context->calls.runner);
  if (well != atomic_load(&context->plans->devices)) tsr_plans_use(context->plans, well);
}

void tsr_left_choose_devices(tsr_context *context) {
  if (tsr_runner_may_ask(context->calls.runner)) tsr_runner_ask(context->calls.runner, UINT32_MAX);
  use_those_that_work(context);
}

/* The device that failed is not used again in this call, unless a matrix is in its memory. */
static void choose_other_devices(const tsr_attempt *x) {
  uint32_t homes = 0;
  for (int i = 0; i < TSR_OPERANDS; i++)
    if (x->call->operand[i].location < x->context->devices)
      homes |= 1u << x->call->operand[i].location;
  tsr_runner_ask(x->context->calls.runner, homes);
  use_those_that_work(x->context);
}

/* ---- By a device ------------------------------------------------------------ */

static tsr_status fail_for_device(tsr_status status) {
  return fail_undefined(status,
                        ", since a device failed when parts of C had been written: give C its "
                        "values again and repeat the call");
}

/* Whether the old contents of C are not needed. */
static bool replaces_c(const tsr_call *call) {
  return call->beta == TSR_ZERO && !tsr_is_in_place(call->operation);
}

static tsr_region region_of(const tsr_call *call, const tsr_binding *binding) {
  const tsr_operand *c = &call->operand[TSR_C_];
  return (tsr_region){binding->base[TSR_C_], c->rows, c->cols, c->ld,
                      tsr_type_get(call->type)->size};
}

/* Copies a shape of one region to the other. */
static void copy_shape(const tsr_region *from, const tsr_region *to, tsr_shape shape) {
  tsr_rect r = shape.rect;
  for (int64_t j = r.col0; j < r.col1; j++) {
    int64_t diagonal = r.row0 + j - r.col0;
    int64_t begin = shape.uplo == TSR_LOWER ? diagonal : r.row0;
    int64_t end = shape.uplo == TSR_UPPER ? diagonal + 1 : r.row1;
    memcpy(tsr_region_address(to, begin, j), tsr_region_address(from, begin, j),
           (size_t)(end - begin) * from->size);
  }
}

/* Each element of C depends on its own old value alone. So the call is made with a copy of C, in
 * which the parts that are left come right, and these are copied back. */
static tsr_status do_in_copy(const tsr_attempt *x, const tsr_rects *parts, char *memory) {
  tsr_call call = *x->call;
  tsr_binding binding = *x->binding;
  tsr_region c = region_of(x->call, x->binding), copy = c;
  copy.base = memory;
  copy.ld = c.rows;
  copy_shape(&c, &copy, tsr_shape_of(tsr_region_all(&c)));
  binding.base[TSR_C_] = memory;
  call.operand[TSR_C_].ld = copy.ld;
  TSR_TRY(tsr_context_place(x->context, &call, &binding, x->exchanged));
  tsr_attempt y = {.context = x->context,
                   .call = &call,
                   .binding = &binding,
                   .exchanged = x->exchanged,
                   .alone = x->alone};
  TSR_TRY(attempt(&y));
  for (size_t i = 0; i < parts->count; i++) copy_shape(&copy, &c, parts->items[i]);
  return TSR_OK;
}

static tsr_status do_parts(const tsr_attempt *x, const tsr_rects *parts) {
  const tsr_operand *c = &x->call->operand[TSR_C_];
  size_t bytes = (size_t)c->rows * (size_t)c->cols * tsr_type_get(x->call->type)->size;
  char *memory = tsr_alloc(bytes);
  if (memory == NULL) return fail_for_device(TSR_ERR_DEVICE);
  tsr_status status = do_in_copy(x, parts, memory);
  tsr_dealloc(memory);
  return status == TSR_OK ? TSR_OK : fail_for_device(status);
}

static bool has_parts(const tsr_attempt *x, const tsr_left *left) {
  return left->how == TSR_JOB_LEFT_PARTS && !tsr_is_in_place(x->call->operation) &&
         x->call->operand[TSR_C_].memory != TSR_DEVICE;
}

static tsr_status after_device(tsr_attempt *x, tsr_status status) {
  tsr_left left = x->left;
  tsr_trial trial;
  x->left = (tsr_left){TSR_LEFT_NOTHING};
  x->offer = NULL; /* the offer was taken */
  tsr_log(TSR_LOG_INFO, "a device failed, and others go on: %s", tsr_message());
  if (left.how == TSR_JOB_LEFT_ALL || replaces_c(x->call)) {
    choose_other_devices(x);
    status = tsr_attempt_make(x, &trial);
    if (tsr_attempt_is_in_vain(&trial, status)) status = tsr_attempt_on_cpu(x, &trial);
    bool ended = status != TSR_OK && x->left.why == TSR_LEFT_NOTHING;
    if (ended && left.how != TSR_JOB_LEFT_ALL) status = fail_for_device(status);
  } else if (has_parts(x, &left)) {
    choose_other_devices(x);
    status = do_parts(x, &left.parts);
  } else {
    status = fail_for_device(status);
  }
  tsr_left_free(&left);
  return status;
}

/* ---- Whatever the reason ---------------------------------------------------- */

tsr_status tsr_left_do(tsr_attempt *x, tsr_status status) {
  while (x->left.why == TSR_LEFT_BY_DEVICE) {
    tsr_plan_unref(x->plan);
    x->plan = NULL;
    status = after_device(x, status);
  }
  if (x->left.why == TSR_LEFT_FOR_ACCURACY && status == TSR_OK) status = after_accuracy(x);
  tsr_plan_unref(x->plan);
  x->plan = NULL;
  tsr_left_free(&x->left);
  return status;
}

/* An attempt at a part, and what it leaves. */
static tsr_status attempt(tsr_attempt *x) {
  tsr_trial trial;
  tsr_status status = tsr_attempt_make(x, &trial);
  bool in_vain = tsr_attempt_is_in_vain(&trial, status);
  if (x->left.why != TSR_LEFT_NOTHING) status = tsr_left_do(x, status);
  if (in_vain && x->rest) tsr_budget_restore(x->context->plans);
  return in_vain && !x->rest ? tsr_attempt_on_cpu(x, &trial) : status;
}

/* ---- Calls of the journal --------------------------------------------------- */

tsr_status tsr_left_again(void *context, const tsr_call *call, const tsr_binding *binding,
                          bool exchanged) {
  tsr_call placed = *call;
  TSR_TRY(tsr_context_place(context, &placed, binding, exchanged));
  tsr_attempt x = {.context = context,
                   .call = &placed,
                   .binding = binding,
                   .exchanged = exchanged,
                   .alone = true};
  return attempt(&x);
}
