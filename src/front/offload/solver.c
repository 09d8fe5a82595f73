/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Solvers of LAPACK for the doors: whether devices do one, and how. */
#include <math.h>
#include <unistd.h>

#include "call/request.h"
#include "front/offload/inside.h"
#include "front/solve/solve.h"

/* ---- The call ---- */

/* Of a routine with a B, n is the order of A and m that of the call, as in a trsm. */
static tsr_solve solve_of(const tsr_offload_call *x) {
  const tsr_level3 *w = &x->what;
  tsr_solver routine = TSR_SOLVER_OF(w->operation);
  bool is_inverse = routine == TSR_POTRI || routine == TSR_TRTRI;
  return (tsr_solve){.routine = routine,
                     .type = w->type,
                     .layout = w->layout,
                     .uplo = w->uplo,
                     .trans = w->transa,
                     .diag = w->diag,
                     .n = is_inverse ? w->n : w->m,
                     .nrhs = w->n,
                     .lda = is_inverse ? w->ldc : w->lda,
                     .ldb = w->ldc,
                     .info = x->info};
}

static void *triangle_of(const tsr_offload_call *x) {
  tsr_solver routine = TSR_SOLVER_OF(x->what.operation);
  return routine == TSR_POTRI || routine == TSR_TRTRI ? x->c : (void *)x->a;
}

static tsr_status solve(tsr_context *context, const tsr_offload_call *x, bool *begun) {
  const tsr_solve what = solve_of(x);
  *x->info = 0; /* that potrs has is LAPACK's alone */
  return tsr_context_solve(context, &what, triangle_of(x), x->c, begun);
}

tsr_status tsr_offload_find_singular(tsr_context *context, const tsr_offload_call *x) {
  const tsr_solve what = solve_of(x);
  tsr_steps steps = tsr_steps_of(context, what.type, what.layout, what.uplo);
  return tsr_solve_find_singular(&steps, &what, triangle_of(x), x->info);
}

/* ---- On devices ---- */

/* Adds the predicted time of a part, as if it were a call by itself. */
static tsr_status foresee(tsr_context *context, const tsr_call *part, tsr_offer *offer) {
  const tsr_request request = {.call = part};
  const tsr_plan *plan;
  TSR_TRY(tsr_request_find(context->plans, &request, &plan));
  offer->seconds += plan->seconds;
  if (plan->devices > offer->devices) offer->devices = plan->devices;
  tsr_plan_unref(plan);
  return TSR_OK;
}

tsr_status tsr_offload_offer_solver(tsr_context *context, const tsr_reach *reach,
                                    const tsr_offload_work *work, tsr_offer *offer, bool *lost) {
  bool begun;
  *lost = false;
  if (tsr_runner_well(context->calls.runner) == 0) return TSR_OK;
  offer->seconds = tsr_offload_later_seconds(reach, work);
  for (int i = 0; i < work->parts; i++) TSR_TRY(foresee(context, &work->part[i], offer));
  offer->taken = offer->devices > 0 && offer->seconds < offer->price;
  if (!offer->taken) return TSR_OK;
  tsr_status status = solve(context, work->asked, &begun);
  *lost = status != TSR_OK && begun;
  return status;
}

/* ---- On the CPU ---- */

/* A context without devices; the caller holds the lock. A child that was forked needs its own, and
 * its parent's is lost to it. */
static tsr_status find_alone(tsr_context **context) {
  static tsr_context *alone;
  static pid_t process;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "cpu";
  if (alone == NULL || process != getpid())
    TSR_TRY(tsr_context_create_quietly(&options, false, &alone));
  process = getpid();
  *context = alone;
  return TSR_OK;
}

tsr_status tsr_offload_solve_alone(const tsr_offload_call *x) {
  tsr_offload_state *state = tsr_offload_get();
  tsr_context *context = NULL;
  bool begun;
  pthread_mutex_lock(&state->lock);
  tsr_status status = find_alone(&context);
  pthread_mutex_unlock(&state->lock);
  return status == TSR_OK ? solve(context, x, &begun) : status;
}
