/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "front/offload/offload.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "blas/check.h"
#include "blas/family.h"
#include "blas/operation.h"
#include "cpu/blas.h"
#include "cpu/on_cpu.h"
#include "front/offload/inside.h"
#include "front/tuning.h"
#include "run/aside.h"

/* ---- Size ---- */

static bool is_small(const tsr_offload_state *state, const tsr_offload_call *call) {
  int type = tsr_type_index(call->what.type);
  return call->multiplications < atomic_load_explicit(&state->least[type], memory_order_relaxed);
}

/* ---- Before the devices are started ---- */

/*
 * Many a CPU's BLAS keeps a thread on each core that waits busily for the next call. Beside such
 * threads, starting devices takes longer than on an idle computer and delays the calls that are
 * made meanwhile. Once devices are started, staging threads get only a part of each core. So the
 * time of a call on devices counts TSR_TUNE_DOOR_STAGES_BESIDE times, and that of starting them
 * TSR_TUNE_DOOR_STARTS_BESIDE times.
 */

/* The seconds that the devices would have saved of a call that takes `seconds` on the CPU. */
static double savings_of(const tsr_offload_visit *visit, double seconds) {
  return fmax(0, seconds - TSR_TUNE_DOOR_STAGES_BESIDE * visit->plan_price);
}

/* Whether so many seconds saved are more than starting the devices costs. */
static bool start_pays(const tsr_offload_state *state, double saved) {
  return saved > TSR_TUNE_DOOR_STARTS_BESIDE * state->start_seconds;
}

/* Whether the calls so far, with this one, would have saved it. */
static bool start_pays_by_now(tsr_offload_state *state, const tsr_offload_visit *visit) {
  pthread_mutex_lock(&state->lock);
  double saved = state->would_have_saved + savings_of(visit, visit->cpu_price);
  pthread_mutex_unlock(&state->lock);
  return start_pays(state, saved);
}

/* Adds the savings of products that the CPU has done. The time of each counts as at most
 * TSR_TUNE_DOOR_HELD_UP times its price, so that one delayed call does not start the devices. */
static void note_savings(tsr_offload_state *state, const tsr_offload_visit *visit,
                         double products) {
  double seconds = fmin(visit->seconds, TSR_TUNE_DOOR_HELD_UP * visit->cpu_price);
  pthread_mutex_lock(&state->lock);
  state->would_have_saved += products * savings_of(visit, seconds);
  pthread_mutex_unlock(&state->lock);
}

/* Starts the devices in the background if that pays for later calls. The result says why this call
 * goes to the CPU, unless it waits for them. */
static tsr_offload_why weigh_start(tsr_offload_state *state, const tsr_offload_visit *visit) {
  if (!(visit->plan_price < visit->cpu_price)) return TSR_WHY_CPU_FASTER;
  if (!start_pays_by_now(state, visit)) return TSR_WHY_NOT_STARTED;
  tsr_offload_start(state, false);
  return TSR_WHY_STARTING;
}

/* Weighs a call that finds the devices not ready. A call that alone saves what their start costs
 * waits for its end: most scripts make one large call, and no later one would gain by it. */
static void await_devices(tsr_offload_state *state, const tsr_offload_work *work,
                          tsr_offload_visit *visit) {
  visit->plan_price = tsr_offload_device_seconds(&state->guess, work, true);
  visit->why = TSR_WHY_STARTING;
  if (atomic_load(&state->phase) == TSR_PHASE_IDLE) visit->why = weigh_start(state, visit);
  if (atomic_load(&state->phase) == TSR_PHASE_STARTING &&
      start_pays(state, savings_of(visit, visit->cpu_price)))
    tsr_offload_start(state, true);
}

/* ---- On the devices ---- */

/* Whether a call that failed with this status may have written to C. */
static bool may_have_written(tsr_status status) {
  return status == TSR_ERR_DEVICE || status == TSR_ERR_CHECK || status == TSR_ERR_INTERNAL;
}

/* Whether the CPU can repeat a call that may have written to C: not where C was an input (where
 * beta is not 0; B of trmm and trsm; all that LAPACK writes), which is lost then, or an operand is
 * on a device. */
static bool may_repeat(const tsr_offload_work *work) {
  bool in_place = !tsr_operation_get(work->asked->what.operation)->has.beta;
  return !in_place && work->part[0].beta == TSR_ZERO && !tsr_offload_work_is_on_device(work);
}

/* Decides after a failed call, which no device could do; lost: it may have written its results.
 * A device's failure that may have written them ends offloading in this process. */
static tsr_offload_verdict after_failure(tsr_offload_state *state, const tsr_offload_work *work,
                                         tsr_status status, bool lost, tsr_offload_visit *visit) {
  tsr_log(TSR_LOG_INFO, "a call goes to the CPU: %s", tsr_message());
  visit->why = TSR_WHY_FAILED;
  if (may_have_written(status)) {
    pthread_mutex_lock(&state->lock);
    tsr_offload_give_up(state, TSR_WHY_FAILED, tsr_message());
    pthread_mutex_unlock(&state->lock);
    lost = true;
  }
  return !lost || may_repeat(work) ? TSR_OFFLOAD_TO_CPU : TSR_OFFLOAD_LOST;
}

/* The price of calls like one. */
static tsr_offload_price *price_of(tsr_offload_state *state, const tsr_offload_work *work) {
  return tsr_offload_price_of(state, work->asked->what.operation);
}

static double lateness_of(tsr_offload_state *state, const tsr_offload_work *work) {
  return tsr_offload_lateness(price_of(state, work), work->asked->what.type, work->flops);
}

/* Whether the devices, predicted to take `seconds`, are faster than the CPU even with the lateness
 * of calls of this size. If lateness alone decides for the CPU, that is recorded. */
static bool is_cheaper(tsr_offload_state *state, const tsr_offload_work *work, double seconds,
                       const tsr_offload_visit *visit) {
  if (seconds >= visit->cpu_price) return false;
  if (seconds + lateness_of(state, work) < visit->cpu_price) return true;
  tsr_offload_price_spared(price_of(state, work), work->asked->what.type, visit->flops);
  return false;
}

/* A first estimate from the rates that the devices reach in the call's arithmetic: calls that look
 * slower on devices are spared the cost of locating their operands and of planning. */
static bool looks_cheaper(tsr_offload_state *state, const tsr_offload_work *work, bool staged,
                          tsr_offload_visit *visit) {
  visit->plan_price = tsr_offload_device_seconds(&state->reach, work, staged);
  return is_cheaper(state, work, visit->plan_price, visit);
}

/* The reason to use the devices whatever they cost; TSR_WHY_FASTER: no such reason, they are used
 * only if they are faster. */
static tsr_offload_why reason_of(const tsr_offload_state *state, const tsr_offload_work *work) {
  if (state->mode == TSR_OFFLOAD_ALWAYS) return TSR_WHY_ALWAYS;
  return tsr_offload_work_is_on_device(work) ? TSR_WHY_ON_DEVICE : TSR_WHY_FASTER;
}

static tsr_status offer_call(tsr_offload_state *state, const tsr_offload_work *work,
                             tsr_offer *offer, bool *lost) {
  if (work->steps > 1)
    return tsr_offload_offer_solver(state->context, &state->reach, work, offer, lost);
  return tsr_context_offer(state->context, &work->part[0], &work->binding[0], work->exchanged,
                           offer);
}

/* What the report and later prices learn from a call that devices have done. */
static void note_run(tsr_offload_state *state, const tsr_offload_work *work, const tsr_offer *offer,
                     tsr_offload_visit *visit) {
  tsr_log(TSR_LOG_DEBUG,
          "%.4g flops on %d devices took %.3f ms; predicted were %.3f ms, on the CPU %.3f ms",
          visit->flops, offer->devices, visit->seconds * 1e3, offer->seconds * 1e3,
          visit->cpu_price * 1e3);
  tsr_offload_price_run(price_of(state, work), work->asked->what.type, visit->flops, offer->seconds,
                        visit->seconds);
  if (tsr_offload_report_wanted() && tsr_offload_work_is_pageable(work))
    visit->staging = fmax(0, tsr_offload_device_seconds(&state->reach, work, true) -
                                 tsr_offload_device_seconds(&state->reach, work, false));
  visit->devices = offer->devices;
}

/* *singular: the call is done, since its triangle is singular, as its info tells. */
static tsr_status find_singular(tsr_offload_state *state, const tsr_offload_work *work,
                                bool *singular) {
  *singular = false;
  if (!tsr_is_solver(work->asked->what.operation)) return TSR_OK;
  TSR_TRY(tsr_offload_find_singular(state->context, work->asked));
  *singular = *work->asked->info > 0;
  return TSR_OK;
}

/* Plans the call, whose operands' places and arithmetic are filled in, and runs the plan if the
 * devices are forced or faster. *taken: the call is done. *lost: it has failed, and may have
 * written its results. */
static tsr_status run_if_cheaper(tsr_offload_state *state, const tsr_offload_work *work,
                                 tsr_offload_visit *visit, bool *taken, bool *lost) {
  tsr_offload_why reason = reason_of(state, work);
  bool forced = reason != TSR_WHY_FASTER, singular;
  double began = tsr_now();
  tsr_offer offer = {.price = forced ? HUGE_VAL : visit->cpu_price - lateness_of(state, work)};
  if (!forced && !looks_cheaper(state, work, tsr_offload_work_is_pageable(work), visit))
    return TSR_OK;
  TSR_TRY(find_singular(state, work, &singular));
  *taken = singular;
  if (singular) {
    visit->why = TSR_WHY_EMPTY;
    return TSR_OK;
  }
  TSR_TRY(offer_call(state, work, &offer, lost));
  *taken = offer.taken;
  visit->plan_price = offer.seconds;
  if (!offer.taken) {
    (void)is_cheaper(state, work, offer.seconds, visit);
    return TSR_OK;
  }
  visit->seconds = tsr_now() - began;
  visit->why = reason;
  note_run(state, work, &offer, visit);
  return TSR_OK;
}

/* Without a device that works, later calls go to the CPU at no cost. */
static void note_devices(tsr_offload_state *state, bool taken, tsr_offload_visit *visit) {
  const tsr_runner *runner = state->context->calls.runner;
  if (tsr_runner_well(runner) != 0 || tsr_runner_may_ask(runner)) return;
  if (!taken) visit->why = TSR_WHY_FAILED;
  pthread_mutex_lock(&state->lock);
  tsr_offload_give_up(state, TSR_WHY_FAILED, "all devices have failed");
  pthread_mutex_unlock(&state->lock);
}

static bool needs_factors(tsr_operation operation) {
  return operation == TSR_OPERATION_OF(TSR_POTRF) || operation == TSR_OPERATION_OF_SOLVER(TSR_POSV);
}

/* Whether the devices do calls of this kind. If they factor no matrix, the program's LAPACK does,
 * whose own calls of the BLAS may be offloaded: how long it takes is not the CPU's time then. */
static bool may_do(const tsr_offload_state *state, const tsr_offload_work *work,
                   tsr_offload_visit *visit) {
  if (!needs_factors(work->asked->what.operation) || tsr_context_can_factor(state->context))
    return true;
  visit->why = TSR_WHY_NO_FACTORS;
  visit->flops = 0;
  return false;
}

/* Factorisations are native. */
static tsr_status choose_arithmetic(tsr_offload_state *state, tsr_offload_work *work) {
  tsr_arithmetic_wish arithmetic;
  if (tsr_family_of(work->part[work->parts - 1].operation) == TSR_FACTOR) return TSR_OK;
  TSR_TRY(tsr_context_arithmetic(state->context, NULL, &arithmetic));
  tsr_context_choose_arithmetic(state->context, &arithmetic, false, &work->part[work->parts - 1]);
  return TSR_OK;
}

static tsr_status place(tsr_offload_state *state, tsr_offload_work *work) {
  for (int i = 0; i < work->parts; i++)
    TSR_TRY(tsr_context_place(state->context, &work->part[i], &work->binding[i], work->exchanged));
  return TSR_OK;
}

static tsr_offload_verdict offer(tsr_offload_state *state, tsr_offload_work *work,
                                 tsr_offload_visit *visit) {
  bool taken = false, lost = false;
  if (!may_do(state, work, visit)) return TSR_OFFLOAD_TO_CPU;
  visit->why = TSR_WHY_CPU_FASTER;
  tsr_status status = choose_arithmetic(state, work);
  if (status == TSR_OK && state->mode == TSR_OFFLOAD_AUTO &&
      !looks_cheaper(state, work, false, visit))
    return TSR_OFFLOAD_TO_CPU;
  if (status == TSR_OK) status = place(state, work);
  if (status == TSR_OK) status = run_if_cheaper(state, work, visit, &taken, &lost);
  if (status != TSR_OK) return after_failure(state, work, status, lost, visit);
  note_devices(state, taken, visit);
  return taken ? TSR_OFFLOAD_DONE : TSR_OFFLOAD_TO_CPU;
}

/* ---- Deciding where a call goes ---- */

/* The phase that decides about the call. Where it is not READY, visit->why says why. */
static int settle_phase(tsr_offload_state *state, const tsr_offload_work *work,
                        tsr_offload_visit *visit) {
  if (state->mode == TSR_OFFLOAD_ALWAYS) tsr_offload_start(state, true);
  int phase = atomic_load(&state->phase);
  if (phase == TSR_PHASE_IDLE || phase == TSR_PHASE_STARTING) await_devices(state, work, visit);
  phase = atomic_load(&state->phase);
  if (phase == TSR_PHASE_NONE) visit->why = (tsr_offload_why)atomic_load(&state->why);
  return phase;
}

static tsr_offload_verdict decide_here(tsr_offload_state *state, const tsr_offload_call *x,
                                       tsr_offload_visit *visit) {
  tsr_offload_work work;
  visit->why = TSR_WHY_EMPTY;
  if (tsr_offload_work_of(x, &work) != TSR_OK || tsr_offload_work_check_aliasing(&work) != TSR_OK)
    return TSR_OFFLOAD_TO_CPU; /* wrong arguments: the CPU's BLAS reports them in its own way */
  if (tsr_offload_work_is_empty(&work)) return TSR_OFFLOAD_TO_CPU;
  visit->flops = work.flops;
  visit->cpu_price = tsr_offload_cpu_seconds(price_of(state, &work), &work);
  if (settle_phase(state, &work, visit) != TSR_PHASE_READY) return TSR_OFFLOAD_TO_CPU;
  return offer(state, &work, visit);
}

typedef struct decision {
  tsr_offload_state *state;
  const tsr_offload_call *call;
  tsr_offload_visit *visit;
  tsr_offload_verdict verdict;
} decision;

static tsr_status decide_aside(void *argument) {
  decision *d = argument;
  d->verdict = decide_here(d->state, d->call, d->visit);
  return d->verdict == TSR_OFFLOAD_LOST ? TSR_ERR_DEVICE
                                        : TSR_OK; /* an error passes its message on */
}

/* Decides on a thread of its own if the caller's stack is short: a program may call from threads
 * whose stack is just large enough for its BLAS. */
static tsr_offload_verdict decide(tsr_offload_state *state, const tsr_offload_call *call,
                                  tsr_offload_visit *visit) {
  if (!tsr_stack_is_short()) return decide_here(state, call, visit);
  decision d = {state, call, visit, TSR_OFFLOAD_TO_CPU};
  visit->why = TSR_WHY_FAILED; /* stays if no thread can be started */
  (void)tsr_aside(decide_aside, &d);
  return d.verdict;
}

/* Nothing here waits, so that no cancellation of the thread need be put off: the call costs less.
 */
bool tsr_offload_is_small(const tsr_offload_call *call, tsr_offload_visit *visit) {
  tsr_offload_state *state = tsr_offload_get();
  *visit = (tsr_offload_visit){.why = TSR_WHY_SMALL, .products = call->products};
  if (atomic_load_explicit(&state->phase, memory_order_relaxed) == TSR_PHASE_NONE)
    visit->why = (tsr_offload_why)atomic_load_explicit(&state->why, memory_order_relaxed);
  if (!is_small(state, call)) return false;
  visit->counted = tsr_offload_report_wanted();
  if (visit->counted && tsr_offload_report_count(&call->what, visit)) visit->began = tsr_now();
  return true;
}

TSR_ENTRY_OF(tsr_offload_verdict, tsr_offload, (call, visit), const tsr_offload_call *call,
             tsr_offload_visit *visit) {
  if (tsr_offload_is_small(call, visit)) return TSR_OFFLOAD_TO_CPU;
  tsr_offload_verdict verdict = decide(tsr_offload_get(), call, visit);
  if (verdict == TSR_OFFLOAD_DONE && tsr_offload_report_wanted())
    tsr_offload_report_add(TSR_FAMILY_BLAS, &call->what, visit);
  if (verdict == TSR_OFFLOAD_TO_CPU) visit->began = tsr_now();
  return verdict;
}

void tsr_offload_foreign(const tsr_offload_call *call, tsr_offload_visit *visit) {
  (void)tsr_offload_get(); /* reads whether a report is wanted */
  *visit = (tsr_offload_visit){.why = TSR_WHY_FOREIGN, .products = call->products};
  if (tsr_offload_report_wanted()) visit->began = tsr_now();
}

bool tsr_offload_is_over(void) {
  const tsr_offload_state *state = tsr_offload_get();
  return atomic_load(&state->phase) == TSR_PHASE_NONE && !tsr_offload_report_wanted();
}

const _Atomic double *tsr_offload_unasked(tsr_type type) {
  return &tsr_offload_get()->unasked[tsr_type_index(type)];
}

void tsr_offload_prepare(void) {
  (void)tsr_offload_get();
}

/* Learns from calls like one that the CPU has done, each in done->seconds. Of which size a call is
 * too small to ask about, the level-3 BLAS decides. */
static void learn(tsr_offload_state *state, const tsr_level3 *what, const tsr_offload_visit *done,
                  double products) {
  tsr_offload_price *price = tsr_offload_price_of(state, what->operation);
  if (done->flops > 0 && tsr_offload_price_show(price, what->type, done->flops, done->seconds) &&
      price == &state->price)
    tsr_offload_set_least_of(state, what->type);
  if (done->why == TSR_WHY_NOT_STARTED) note_savings(state, done, products);
}

TSR_ENTRY_VOID(tsr_offload_end, (call, visit), const tsr_offload_call *call,
               const tsr_offload_visit *visit) {
  if (visit->began == 0) return;
  tsr_offload_state *state = tsr_offload_get();
  tsr_offload_visit done = *visit;
  done.seconds = tsr_now() - visit->began;
  learn(state, &call->what, &done, 1);
  if (done.counted)
    tsr_offload_report_time(&call->what, &done);
  else if (tsr_offload_report_wanted())
    tsr_offload_report_add(TSR_FAMILY_BLAS, &call->what, &done);
}

/* ---- Products of a batch ---- */

TSR_ENTRY_OF(tsr_offload_verdict, tsr_offload_product, (call, visit), const tsr_offload_call *call,
             tsr_offload_visit *visit) {
  tsr_offload_state *state = tsr_offload_get();
  *visit = (tsr_offload_visit){.why = TSR_WHY_SMALL};
  return is_small(state, call) ? TSR_OFFLOAD_TO_CPU : decide(state, call, visit);
}

TSR_ENTRY_VOID(tsr_offload_product_end, (call, visit, products), const tsr_offload_call *call,
               const tsr_offload_visit *visit, double products) {
  learn(tsr_offload_get(), &call->what, visit, products);
}

TSR_ENTRY_VOID(tsr_offload_batch_end, (call, visit), const tsr_offload_call *call,
               const tsr_offload_visit *visit) {
  tsr_offload_visit done = *visit;
  if (!tsr_offload_report_wanted()) return;
  if (done.began > 0) done.seconds = tsr_now() - done.began;
  if (!done.counted)
    tsr_offload_report_add(TSR_FAMILY_BLAS, &call->what, &done);
  else if (done.began > 0)
    tsr_offload_report_time(&call->what, &done);
}

TSR_ENTRY(tsr_offload_alone, (x), const tsr_offload_call *x) {
  tsr_offload_work work;
  if (tsr_is_solver(x->what.operation)) return tsr_offload_solve_alone(x);
  TSR_TRY(tsr_offload_work_of(x, &work));
  return tsr_offload_work_is_empty(&work) ? TSR_OK
                                          : tsr_call_on_cpu(&work.part[0], &work.binding[0]);
}
