/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Decides on a product and carries it out. All processes of the grid have to decide alike, since
 * processes that decide differently wait for ever. So a decision uses only values that are equal on
 * all of them: the arguments, the agreed facts and the agreed times.
 */
#include "base/clock.h"
#include "base/log.h"
#include "cluster/run/offer.h"
#include "front/doors/pblas/mpi/operand.h"

/* ---- Carrying out ------------------------------------------------------------- */

static tsr_status multiply(tsr_pblas_state *state, const tsr_pblas_call *x, bool *begun) {
  bool a_straight = x->transa == TSR_NO_TRANS, b_straight = x->transb == TSR_NO_TRANS;
  tsr_pblas_view a =
      tsr_pblas_view_of(state, x, &x->a, a_straight ? x->m : x->k, a_straight ? x->k : x->m);
  tsr_pblas_view b =
      tsr_pblas_view_of(state, x, &x->b, b_straight ? x->k : x->n, b_straight ? x->n : x->k);
  tsr_pblas_view c = tsr_pblas_view_of(state, x, &x->c, x->m, x->n);
  return tsr_pgemm_begun(state->grid, x->transa, x->transb, x->m, x->n, x->k, x->alpha, &a.matrix,
                         a.i, a.j, &b.matrix, b.i, b.j, x->beta, &c.matrix, c.i, c.j, begun);
}

static bool reads_c(const tsr_pblas_call *x) {
  return tsr_scalar_classify(tsr_scalar_read(x->type, x->beta)) != TSR_ZERO;
}

/* Why a call that failed goes to ScaLAPACK. */
static tsr_offload_why reason_of(tsr_status status) {
  if (status == TSR_ERR_ARGUMENT) return TSR_WHY_ARGUMENTS;
  return status == TSR_ERR_UNSUPPORTED ? TSR_WHY_OTHER_BITS : TSR_WHY_FAILED;
}

/* Carries the product out. If it fails, it fails on all processes. ScaLAPACK can then repeat it
 * (and report wrong arguments), unless C was changed and beta is not 0: then C is lost. */
static tsr_offload_verdict carry_out(tsr_pblas_state *state, const tsr_pblas_call *call,
                                     tsr_offload_visit *visit) {
  bool begun = false;
  tsr_status status = multiply(state, call, &begun);
  visit->devices = tsr_device_count(state->context);
  if (status == TSR_OK && tsr_pblas_spread(state, call, &call->c, call->m, call->n) != TSR_OK)
    return TSR_OFFLOAD_LOST; /* MPI failed on this process, which others may not have noticed */
  if (status == TSR_OK) return TSR_OFFLOAD_DONE;
  tsr_log(TSR_LOG_INFO, "a product of the PBLAS failed: %s", tsr_message());
  visit->why = reason_of(status);
  return begun && reads_c(call) ? TSR_OFFLOAD_LOST : TSR_OFFLOAD_TO_CPU;
}

/* ---- Deciding ----------------------------------------------------------------- */

static bool is_forced(const tsr_pblas_state *state) {
  return state->price.facts.reluctance == 0;
}

/* Starts the devices, and waits for that on all processes, once the calls so far would have saved
 * more time than starting costs. */
static void weigh_start(tsr_pblas_state *state, const tsr_pblas_call *call,
                        tsr_offload_visit *visit) {
  double saves = visit->cpu_price - visit->plan_price;
  visit->why = TSR_WHY_CPU_FASTER;
  if (!(saves > 0) && !is_forced(state)) return;
  visit->why = TSR_WHY_NOT_STARTED;
  state->would_have_saved += saves;
  if (!is_forced(state) && state->would_have_saved < state->price.facts.start) return;
  tsr_pblas_state_start(state, &call->grid);
  visit->why = state->why;
}

static bool is_for_devices(tsr_pblas_state *state, const tsr_pblas_call *call,
                           tsr_offload_visit *visit) {
  tsr_pblas_price *price = &state->price;
  visit->why = state->why;
  if (state->phase == TSR_PBLAS_NONE) return false;
  visit->why = TSR_WHY_SMALL;
  if (tsr_pblas_is_small(price, call)) return false;
  visit->flops = tsr_pblas_flops(call);
  visit->cpu_price = tsr_pblas_cpu_seconds(price, call);
  visit->plan_price = tsr_pblas_device_seconds(price, call);
  if (state->phase == TSR_PBLAS_IDLE) weigh_start(state, call, visit);
  if (state->phase != TSR_PBLAS_READY) return false;
  visit->why = is_forced(state) ? TSR_WHY_ALWAYS : TSR_WHY_FASTER;
  if (is_forced(state) ||
      tsr_pblas_is_cheaper(price, call->type, visit->flops, visit->plan_price, visit->cpu_price))
    return true;
  visit->why = TSR_WHY_CPU_FASTER;
  return false;
}

/* ---- Times -------------------------------------------------------------------- */

/* The seconds since `began`, the least of all processes: the process that came last waited for no
 * other. Collective. */
static double seconds_since(const tsr_pblas_call *call, double began) {
  return tsr_pblas_least(&call->grid, tsr_now() - began);
}

static void show_devices(tsr_pblas_state *state, const tsr_pblas_call *call,
                         const tsr_offload_visit *visit, double began) {
  if (visit->why != TSR_WHY_FASTER) return;
  tsr_offload_price_run(&state->price.seen, call->type, visit->flops, visit->plan_price,
                        seconds_since(call, began));
}

static bool wants_time(const tsr_pblas_state *state, const tsr_pblas_call *call,
                       const tsr_offload_visit *visit) {
  return !is_forced(state) && visit->flops > 0 &&
         tsr_pblas_wants_time(&state->price, call->type, visit->flops);
}

TSR_API tsr_pblas_offer_function tsr_pblas_offer;
tsr_offload_verdict tsr_pblas_offer(const tsr_pblas_call *call, tsr_offload_visit *visit) {
  tsr_pblas_state *state = tsr_pblas_state_get(&call->grid);
  if (state == NULL) return TSR_OFFLOAD_TO_CPU;
  if (is_for_devices(state, call, visit)) {
    double began = tsr_now();
    tsr_offload_verdict verdict = carry_out(state, call, visit);
    if (verdict == TSR_OFFLOAD_DONE) show_devices(state, call, visit, began);
    return verdict;
  }
  if (wants_time(state, call, visit)) visit->began = tsr_now();
  return TSR_OFFLOAD_TO_CPU;
}

TSR_API tsr_pblas_end_function tsr_pblas_end;
void tsr_pblas_end(const tsr_pblas_call *call, const tsr_offload_visit *visit) {
  if (visit->began == 0) return;
  tsr_pblas_state *state = tsr_pblas_state_get(&call->grid);
  tsr_pblas_show(&state->price, call->type, visit->flops, seconds_since(call, visit->began));
}
