/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What a call of a door does: the calls that it is priced and planned by. */
#include "blas/check.h"
#include "blas/family.h"
#include "blas/operation.h"
#include "front/offload/inside.h"
#include "front/solve/solve.h"

/* ---- Parts ---- */

static tsr_status add_level3(const tsr_level3 *what, const tsr_offload_call *x,
                             tsr_offload_work *work) {
  int i = work->parts++;
  return tsr_call_level3(what, x->alpha, x->a, x->b, x->beta, x->c, true, &work->part[i],
                         &work->binding[i], &work->exchanged);
}

static tsr_status add_factor(const tsr_offload_call *x, int64_t n, void *a, int64_t lda,
                             tsr_offload_work *work) {
  int i = work->parts++;
  const tsr_factor what = {TSR_POTRF, x->what.type, x->what.layout, x->what.uplo, n, lda, x->info};
  return tsr_call_factor(&what, a, true, &work->part[i], &work->binding[i]);
}

/* op(A) X = B: of trtrs as it is, else with the factor. */
static tsr_status add_solve(const tsr_offload_call *x, tsr_offload_work *work) {
  static const double wide[2] = {1, 0};
  static const float narrow[2] = {1, 0};
  bool itself = TSR_SOLVER_OF(x->what.operation) == TSR_TRTRS;
  tsr_offload_call solve = *x;
  solve.what.operation = TSR_TRSM;
  solve.what.side = TSR_LEFT;
  if (!itself) solve.what.transa = TSR_NO_TRANS, solve.what.diag = TSR_NON_UNIT;
  solve.alpha = x->what.type == TSR_D || x->what.type == TSR_Z ? (const void *)wide : narrow;
  return add_level3(&solve.what, &solve, work);
}

static tsr_status add_solver(const tsr_offload_call *x, tsr_offload_work *work) {
  const tsr_level3 *w = &x->what;
  tsr_solver routine = TSR_SOLVER_OF(w->operation);
  bool is_inverse = routine == TSR_POTRI || routine == TSR_TRTRI;
  bool solves = !is_inverse && (w->n > 0 || routine != TSR_POSV);
  work->steps = (double)tsr_solve_steps(routine, is_inverse ? w->n : w->m);
  work->again = routine == TSR_POTRS || routine == TSR_POTRI || (routine == TSR_POSV && solves);
  if (is_inverse) return add_factor(x, w->n, x->c, w->ldc, work);
  if (routine == TSR_POSV) TSR_TRY(add_factor(x, w->m, (void *)x->a, w->lda, work));
  return solves ? add_solve(x, work) : TSR_OK;
}

static double flops_of(const tsr_offload_work *work) {
  double flops = 0, last = 0;
  for (int i = 0; i < work->parts; i++) flops += last = tsr_call_flops(&work->part[i]);
  return flops + work->again * last;
}

/* ---- The whole ---- */

static tsr_status add_parts(const tsr_offload_call *x, tsr_offload_work *work) {
  tsr_operation operation = x->what.operation;
  if (tsr_is_solver(operation)) return add_solver(x, work);
  if (tsr_is_of_lapack(operation)) return add_factor(x, x->what.n, x->c, x->what.ldc, work);
  return add_level3(&x->what, x, work);
}

tsr_status tsr_offload_work_of(const tsr_offload_call *x, tsr_offload_work *work) {
  work->asked = x;
  work->parts = work->again = 0;
  work->steps = 1;
  work->exchanged = false;
  TSR_TRY(add_parts(x, work));
  work->flops = flops_of(work);
  return TSR_OK;
}

tsr_status tsr_offload_work_check_aliasing(const tsr_offload_work *work) {
  for (int i = 0; i < work->parts; i++)
    TSR_TRY(tsr_call_check_aliasing(&work->part[i], &work->binding[i], work->exchanged));
  return TSR_OK;
}

bool tsr_offload_work_is_empty(const tsr_offload_work *work) {
  return tsr_call_is_empty(&work->part[0]);
}

bool tsr_offload_work_is_on_device(const tsr_offload_work *work) {
  bool is = false;
  for (int i = 0; i < work->parts; i++)
    for (int x = 0; x < TSR_OPERANDS; x++) is |= work->part[i].operand[x].memory == TSR_DEVICE;
  return is;
}

bool tsr_offload_work_is_pageable(const tsr_offload_work *work) {
  bool is = false;
  for (int i = 0; i < work->parts; i++)
    for (int x = 0; x < TSR_OPERANDS; x++)
      is |= work->part[i].operand[x].memory == TSR_PAGEABLE && work->part[i].operand[x].rows > 0;
  return is;
}
