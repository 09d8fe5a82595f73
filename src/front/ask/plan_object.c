/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: plans as objects. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "blas/family.h"
#include "blas/operation.h"
#include "call/request.h"
#include "call/retry.h"
#include "cpu/on_cpu.h"
#include "front/ask/alternatives.h"
#include "front/ask/picture.h"
#include "front/context.h"
#include "front/left.h"
#include "plan/print/estimate.h"
#include "plan/search/knobs.h"
#include "run/place.h"
#include "tessera_model.h"

TSR_ENTRY_VOID(tsr_plan_destroy, (plan), tsr_plan *plan) {
  tsr_plan_unref(plan);
}

static tsr_status check_plan(const tsr_plan *plan) {
  if (plan != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "plan is NULL; make one with tsr_plan_gemm or tsr_plan_last");
}

static tsr_status check_address(const char *name, const void *address) {
  if (address != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s is NULL; give its address", name);
}

/* ---- Making ---- */

static tsr_status check_home(const tsr_machine *machine, int index, tsr_home home) {
  if (home.memory < TSR_PAGEABLE || home.memory > TSR_DEVICE)
    return tsr_fail(TSR_ERR_ARGUMENT, "homes[%d].memory is %d; give one of tsr_memory", index,
                    (int)home.memory);
  bool device = home.memory == TSR_DEVICE;
  int most = device ? machine->devices : machine->nodes;
  int least = device ? 0 : TSR_INTERLEAVED;
  if (home.location >= least && home.location < most) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "homes[%d].location (%c) is %d; the machine has %s 0 to %d",
                  index, 'A' + index, home.location, device ? "devices" : "host memory nodes",
                  most - 1);
}

/* The operand's address is unknown when a plan is made for its home; it is assumed to be aligned as
 * memory from an allocator. */
static void set_home(const tsr_machine *machine, tsr_type type, tsr_home home,
                     tsr_operand *operand) {
  operand->memory = home.memory;
  operand->location =
      home.memory == TSR_DEVICE ? home.location : tsr_machine_host(machine, home.location);
  operand->pinned_begin = 0;
  operand->pinned_end = home.memory == TSR_PINNED ? tsr_operand_bytes(operand, type) : 0;
  operand->alignment = tsr_place_alignment(0, operand->ld * (int64_t)tsr_type_get(type)->size);
}

static bool has_operand(const tsr_call *call, int operand) {
  return operand != TSR_B_ || tsr_operation_get(call->operation)->has.b;
}

/* Holds machine_lock, since tsr_machine_probe may replace the machine. */
static tsr_status set_homes(tsr_context *context, bool exchanged, const tsr_home homes[3],
                            tsr_call *call) {
  tsr_status status = TSR_OK;
  pthread_rwlock_rdlock(&context->plans->machine_lock);
  for (int i = 0; i < TSR_OPERANDS && status == TSR_OK; i++) {
    int given = exchanged && i < 2 ? 1 - i : i;
    tsr_home home = has_operand(call, i) ? homes[given] : (tsr_home){TSR_PAGEABLE, 0};
    status = check_home(context->plans->machine, given, home);
    if (status == TSR_OK) set_home(context->plans->machine, call->type, home, &call->operand[i]);
  }
  pthread_rwlock_unlock(&context->plans->machine_lock);
  return status;
}

typedef struct making {
  tsr_context *context;
  tsr_request request;
  const tsr_plan *made;
} making;

static tsr_status try_making(void *making_, tsr_shortage *shortage) {
  making *x = making_;
  (void)shortage; /* a plan that is not run takes no memory of devices */
  return tsr_request_make(x->context->plans, &x->request, &x->made);
}

static tsr_status make_plan(tsr_context *context, const tsr_call *call, bool exchanged,
                            tsr_plan **plan) {
  making x = {.context = context, .request = {.call = call, .exchanged = exchanged}};
  tsr_trial trial = {.call = &x, .attempt = try_making, .plans = context->plans, .restores = true};
  TSR_TRY(tsr_retry(&trial));
  *plan = &tsr_plan_object_of(x.made)->plan;
  return TSR_OK;
}

TSR_ENTRY(tsr_plan_level3, (context, what, alpha, beta, homes, plan), tsr_context *context,
          const tsr_level3 *what, const void *alpha, const void *beta, const tsr_home homes[3],
          tsr_plan **plan) {
  tsr_call call;
  tsr_binding binding;
  tsr_arithmetic_wish arithmetic;
  bool exchanged;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_address("plan", plan));
  TSR_TRY(check_address("homes", homes));
  TSR_TRY(tsr_call_level3(what, alpha, NULL, NULL, beta, NULL, false, &call, &binding, &exchanged));
  TSR_TRY(set_homes(context, exchanged, homes, &call));
  TSR_TRY(tsr_context_arithmetic(context, what->arithmetic, &arithmetic));
  tsr_context_choose_arithmetic(context, &arithmetic, false, &call);
  return make_plan(context, &call, exchanged, plan);
}

TSR_ENTRY(tsr_plan_factor, (context, what, home, plan), tsr_context *context,
          const tsr_factor *what, tsr_home home, tsr_plan **plan) {
  const tsr_home homes[TSR_OPERANDS] = {{TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}, home};
  tsr_call call;
  tsr_binding binding;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_address("plan", plan));
  TSR_TRY(tsr_call_factor(what, NULL, false, &call, &binding));
  TSR_TRY(set_homes(context, false, homes, &call));
  return make_plan(context, &call, false, plan);
}

TSR_ENTRY(tsr_plan_gemm,
          (context, type, layout, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, homes, plan),
          tsr_context *context, tsr_type type, tsr_layout layout, tsr_op transa, tsr_op transb,
          int64_t m, int64_t n, int64_t k, const void *alpha, int64_t lda, int64_t ldb,
          const void *beta, int64_t ldc, const tsr_home homes[3], tsr_plan **plan) {
  tsr_level3 what = {.operation = TSR_GEMM,
                     .type = type,
                     .layout = layout,
                     .transa = transa,
                     .transb = transb,
                     .m = m,
                     .n = n,
                     .k = k,
                     .lda = lda,
                     .ldb = ldb,
                     .ldc = ldc};
  return tsr_plan_level3(context, &what, alpha, beta, homes, plan);
}

/* ---- Running ---- */

static tsr_status check_class(const char *name, tsr_scalar_class wanted, tsr_scalar value) {
  static const char *const words[] = {"0", "1", "neither 0 nor 1"};
  tsr_scalar_class class = tsr_scalar_classify(value);
  if (class == wanted) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s is %s, but the plan is for one that is %s; make another plan", name,
                  words[class], words[wanted]);
}

static tsr_status bind_scalars(const tsr_call *call, const void *alpha, const void *beta,
                               tsr_binding *binding) {
  TSR_TRY(check_address("alpha", alpha));
  binding->alpha = tsr_operation_alpha(call->operation, call->type, alpha);
  TSR_TRY(check_class("alpha", call->alpha, binding->alpha));
  if (tsr_operation_get(call->operation)->has.beta) TSR_TRY(check_address("beta", beta));
  binding->beta = tsr_operation_beta(call->operation, call->type, binding->alpha, beta);
  return check_class("beta", call->beta, binding->beta);
}

/* Whether an operand can stand where the plan expects one. Where the plan expects pageable memory,
 * host memory of any kind fits if all bytes that the plan expects to be pinned are pinned. */
static bool fits(const tsr_operand *expected, const tsr_operand *found) {
  if (expected->memory == TSR_DEVICE || found->memory == TSR_DEVICE)
    return expected->memory == found->memory && expected->location == found->location;
  if (expected->memory == TSR_PAGEABLE)
    return expected->pinned_begin == expected->pinned_end ||
           (found->pinned_begin <= expected->pinned_begin &&
            expected->pinned_end <= found->pinned_end);
  return expected->memory == found->memory;
}

static tsr_status check_places(tsr_context *context, const tsr_plan *plan,
                               const tsr_binding *binding, bool exchanged) {
  static const char *const words[] = {"pageable host memory", "pinned host memory",
                                      "managed memory", "the memory of a device"};
  tsr_call found = plan->call;
  TSR_TRY(tsr_context_place(context, &found, binding, exchanged));
  for (int i = 0; i < TSR_OPERANDS; i++) {
    const tsr_operand *expected = &plan->call.operand[i], *is = &found.operand[i];
    bool used = i == TSR_C_ || !tsr_call_scales_only(&plan->call);
    if (!used || fits(expected, is)) continue;
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "%s is in %s (location %d, bytes %lld to %lld pinned), but the plan is for %s "
                    "(location %d, bytes %lld to %lld pinned); make a plan for the places that the "
                    "matrices have",
                    tsr_operation_operand(found.operation, i, exchanged), words[is->memory],
                    is->location, (long long)is->pinned_begin, (long long)is->pinned_end,
                    words[expected->memory], expected->location, (long long)expected->pinned_begin,
                    (long long)expected->pinned_end);
  }
  return TSR_OK;
}

static tsr_status check_pointers(const tsr_call *call, const void *a, const void *b,
                                 const void *c) {
  const char *written = tsr_operation_operand(call->operation, TSR_C_, false);
  bool reads = !tsr_call_scales_only(call), reads_b = reads && has_operand(call, TSR_B_);
  if (reads) TSR_TRY(check_address("a", a));
  if (reads_b) TSR_TRY(check_address("b", b));
  return check_address(written, c);
}

static tsr_status execute_on_cpu(tsr_context *context, tsr_plan_object *object,
                                 const tsr_binding *binding) {
  TSR_TRY(tsr_context_wait_for_devices(context));
  double start = tsr_now();
  TSR_TRY(tsr_call_on_cpu(&object->plan.call, binding));
  pthread_mutex_lock(&context->plans->lock);
  object->measured = tsr_now() - start;
  pthread_mutex_unlock(&context->plans->lock);
  return TSR_OK;
}

/* Runs the plan of the attempt, which the user gave. If its memory cannot be allocated even after
 * evicting copies, the call fails: no other plan is made. */
static tsr_status try_execution(void *execution_, tsr_shortage *shortage) {
  tsr_attempt *x = execution_;
  int short_of = -1;
  tsr_status status = tsr_calls_run(&x->context->calls, x->plan, x->binding, &x->left, &short_of);
  tsr_shortage_note(shortage, x->plan, short_of);
  return status;
}

static tsr_status evict_copies(void *execution_, const tsr_shortage *shortage, bool *any) {
  tsr_attempt *x = execution_;
  return tsr_compose_relieve(&x->context->directory, shortage->location, any);
}

/* Whether all devices that the plan uses work. */
static bool can_run(tsr_context *context, const tsr_plan_object *object) {
  if (tsr_left_has_failed_devices(context)) tsr_left_choose_devices(context);
  return (tsr_program_devices(object->program) & ~tsr_runner_well(context->calls.runner)) == 0;
}

static tsr_status execute(tsr_context *context, const tsr_plan *plan, const tsr_binding *binding,
                          bool exchanged) {
  tsr_call call = plan->call;
  tsr_attempt x = {
      .context = context, .call = &call, .binding = binding, .exchanged = exchanged, .plan = plan};
  tsr_trial trial = {.call = &x, .attempt = try_execution, .relieve = evict_copies};
  if (!can_run(context, tsr_plan_object_of(plan)))
    return tsr_context_call(context, &call, binding, exchanged, false);
  tsr_plan_ref(plan);
  return tsr_left_do(&x, tsr_retry(&trial));
}

TSR_ENTRY(tsr_plan_execute, (plan, alpha, a, b, beta, c), tsr_plan *plan, const void *alpha,
          const void *a, const void *b, const void *beta, void *c) {
  TSR_TRY(check_plan(plan));
  tsr_plan_object *object = tsr_plan_object_of(plan);
  tsr_context *context = atomic_load(&object->owner->context);
  const tsr_call *call = &plan->call;
  bool exchanged = object->exchanged;
  tsr_binding binding = {.base = {(void *)(exchanged ? b : a), (void *)(exchanged ? a : b), c}};
  if (tsr_family_of(call->operation) == TSR_FACTOR)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "the plan is a factorisation's; tsr_factor_run finds it again and tells info");
  TSR_TRY(bind_scalars(call, alpha, beta, &binding));
  if (plan->after != NULL)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "the plan was made for an asynchronous call and starts from the copies that "
                    "were on the devices then; make one with tsr_plan_level3");
  if (context == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "the plan's context is destroyed; keep it while plans run");
  if (tsr_call_is_empty(call)) return TSR_OK;
  TSR_TRY(check_pointers(call, a, b, c));
  TSR_TRY(tsr_call_check_aliasing(call, &binding, exchanged));
  if (context->engine == NULL && plan->devices > 0)
    return tsr_fail(TSR_ERR_ENGINE,
                    "the plan is for %d devices that are not here; name engine \"host\" to emulate "
                    "them",
                    plan->devices);
  if (context->engine != NULL) TSR_TRY(check_places(context, plan, &binding, exchanged));
  if (context->engine != NULL)
    TSR_TRY(tsr_compose_clear(&context->directory, call, &binding, true));
  if (plan->devices == 0) return execute_on_cpu(context, object, &binding);
  return execute(context, plan, &binding, exchanged);
}

/* ---- Predicting and printing ---- */

TSR_ENTRY(tsr_plan_predict, (plan, prediction), const tsr_plan *plan, tsr_prediction *prediction) {
  TSR_TRY(check_plan(plan));
  TSR_TRY(check_address("prediction", prediction));
  const tsr_plan_object *object = tsr_plan_object_of(plan);
  tsr_plans *owner = object->owner;
  pthread_mutex_lock(&owner->lock);
  tsr_plan_summary(plan, object->measured, prediction);
  pthread_mutex_unlock(&owner->lock);
  pthread_rwlock_rdlock(&owner->machine_lock);
  prediction->digits = tsr_estimate_digits(plan, owner->machine);
  pthread_rwlock_unlock(&owner->machine_lock);
  return TSR_OK;
}

TSR_ENTRY(tsr_plan_floor, (plan, rate, seconds), const tsr_plan *plan, double rate,
          double *seconds) {
  TSR_TRY(check_plan(plan));
  TSR_TRY(check_address("seconds", seconds));
  if (!(rate > 0))
    return tsr_fail(TSR_ERR_ARGUMENT, "rate is %g; give the flops/s of a device", rate);
  tsr_plans *owner = tsr_plan_object_of(plan)->owner;
  pthread_rwlock_rdlock(&owner->machine_lock);
  bool native = plan->devices > 0 && !tsr_call_has_form(&plan->call);
  *seconds = native ? tsr_floor_at(owner->machine, &plan->call, rate) : plan->floor;
  pthread_rwlock_unlock(&owner->machine_lock);
  return TSR_OK;
}

TSR_ENTRY(tsr_print_knobs, (text), char **text) {
  if (text == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "text is NULL; give the address of a pointer");
  tsr_text knobs = TSR_TEXT_INIT;
  tsr_knobs_print(&knobs);
  return tsr_text_take(&knobs, text);
}

/* Whether the times of a plan mean nothing: its devices are emulated, and they ran it, or the
 * machine is the one that is made up for them. The caller holds machine_lock and the lock. */
static bool is_rehearsal(const tsr_plan_object *object) {
  const tsr_plans *owner = object->owner;
  bool made_up = strcmp(owner->machine->source, "built-in") == 0;
  return owner->emulated && object->plan.devices > 0 && (made_up || object->measured > 0);
}

static tsr_known what_is_known(const tsr_plan_object *object) {
  return (tsr_known){.measured = {object->measured, object->times},
                     .refused = object->refused,
                     .rehearsal = is_rehearsal(object),
                     .alternatives = object->alternatives};
}

/* Alternatives of a rehearsal would mean nothing, either. The caller holds machine_lock. */
static void plan_alternatives(tsr_plan_object *object) {
  pthread_mutex_lock(&object->owner->lock);
  bool rehearsal = is_rehearsal(object);
  pthread_mutex_unlock(&object->owner->lock);
  if (!rehearsal) (void)tsr_alternatives_of(object);
}

TSR_ENTRY(tsr_plan_print, (plan, format, text), const tsr_plan *plan, tsr_format format,
          char **text) {
  TSR_TRY(check_plan(plan));
  TSR_TRY(check_address("text", text));
  if ((int)format < TSR_TEXT || format > TSR_JSON_ALONE)
    return tsr_fail(TSR_ERR_ARGUMENT, "format is %d; give one of tsr_format", (int)format);
  tsr_plan_object *object = tsr_plan_object_of(plan);
  tsr_plans *owner = object->owner;
  tsr_text written = TSR_TEXT_INIT;
  pthread_rwlock_rdlock(&owner->machine_lock);
  if (format == TSR_VERDICT || format == TSR_JSON) plan_alternatives(object);
  pthread_mutex_lock(&owner->lock);
  tsr_known known = what_is_known(object);
  tsr_status status = format == TSR_TIMELINE_SVG
                          ? tsr_picture_draw(plan, owner->machine, &known, &written)
                          : tsr_plan_write(plan, owner->machine, &known, format, &written);
  pthread_mutex_unlock(&owner->lock);
  pthread_rwlock_unlock(&owner->machine_lock);
  if (status == TSR_OK) status = tsr_text_take(&written, text);
  tsr_text_free(&written);
  return status;
}

TSR_ENTRY(tsr_plan_last, (context, plan), tsr_context *context, tsr_plan **plan) {
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(check_address("plan", plan));
  pthread_mutex_lock(&context->calls.lock);
  const tsr_plan *last = context->calls.last;
  if (last != NULL) tsr_plan_ref(last);
  pthread_mutex_unlock(&context->calls.lock);
  if (last == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "the context has completed no planned call yet; make a call first");
  *plan = &tsr_plan_object_of(last)->plan;
  return TSR_OK;
}
