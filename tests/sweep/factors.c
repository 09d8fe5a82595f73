/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Factorisations: by name and as data, blocking and asynchronous, and their plans. The factor is of
 * small whole numbers, with powers of two on the diagonal, so that it has the same bits in any
 * order of the sums, and whether a row is divided or multiplied by the inverse. */
#include <stdlib.h>

#include "world.h"

static double factor_at(int i, int j) {
  return i == j ? 1 << i % 3 : (i * 7 + j * 5) % 3 - 1;
}

/* C becomes the product L L^T; its lower triangle is to be L. */
static void expect(void *world_) {
  world *w = world_;
  double *c = w->was[C], *l = w->expected;
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int k = 0; k <= i && k <= j; k++) sum += factor_at(i, k) * factor_at(j, k);
      c[i + j * N] = sum;
      l[i + j * N] = i >= j ? factor_at(i, j) : sum;
    }
  w->info = -1;
  world_reset(w);
}

static tsr_factor request(world *w) {
  return (tsr_factor){.routine = TSR_POTRF,
                      .type = TSR_D,
                      .layout = TSR_COL_MAJOR,
                      .uplo = TSR_LOWER,
                      .n = N,
                      .lda = N,
                      .info = &w->info};
}

static tsr_status named(void *world_) {
  world *w = world_;
  return CALLED(tsr_potrf)(w->context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, N, w->matrix[C], N,
                           &w->info);
}

static tsr_status named_async(void *world_) {
  world *w = world_;
  return CALLED(tsr_potrf_async)(w->context, TSR_D, TSR_COL_MAJOR, TSR_LOWER, N, w->matrix[C], N,
                                 &w->info);
}

static tsr_status run(void *world_) {
  world *w = world_;
  tsr_factor what = request(w);
  return CALLED(tsr_factor_run)(w->context, &what, w->matrix[C]);
}

static tsr_status run_async(void *world_) {
  world *w = world_;
  tsr_factor what = request(w);
  return CALLED(tsr_factor_run_async)(w->context, &what, w->matrix[C]);
}

static void check_right(world *w) {
  HOLD(w->info == 0);
  HOLD(world_holds(w, C, TSR_D, w->expected));
}

/* A call that was refused for want of memory has touched nothing, and is right when made again. */
static void check(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead) return;
  HOLD(world_inputs_kept(w));
  if (sweep_done(o)) check_right(w);
  if (!sweep_refused(o)) return;
  HOLD(world_kept(w));
  HOLD(w->info == -1);
  HOLD(w->visit->call(w) == TSR_OK);
  HOLD(tsr_sync(w->context) == TSR_OK);
  check_right(w);
}

/* The factor of an asynchronous call stays on the devices until it is brought home. */
static void check_async(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead) return;
  HOLD(world_inputs_kept(w));
  if (sweep_refused(o)) {
    HOLD(world_kept(w));
    HOLD(w->info == -1);
    HOLD(w->visit->call(w) == TSR_OK);
  }
  if (!sweep_done(o) && !sweep_refused(o)) return;
  world_comes_right(w, TSR_D);
  HOLD(w->info == 0);
}

static tsr_status plan(void *world_) {
  world *w = world_;
  tsr_factor what = request(w);
  return CALLED(tsr_plan_factor)(w->context, &what, (tsr_home){TSR_PAGEABLE, 0}, &w->plan);
}

static void check_plan(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead) return;
  if (sweep_refused(o)) HOLD(plan(w) == TSR_OK);
  tsr_plan_destroy(w->plan);
  w->plan = NULL;
}

#define VISIT(name, call, setup) \
  { name, NULL, expect, call, check, 0, false, setup }
#define ASYNC(name, call, setup) \
  { name, NULL, expect, call, check_async, 0, false, setup }

const sweep_visit factor_visits[] = {
    VISIT("potrf", named, ""),
    ASYNC("potrf_async", named_async, ""),
    VISIT("factor_run by the CPU", run, SETUP_CPU),
    VISIT("factor_run where little fits", run, SETUP_TIGHT),
    VISIT("factor_run, reproducible", run, SETUP_EXACT),
    VISIT("factor_run of pinned memory", run, SETUP_PINNED),
    VISIT("factor_run of a device's memory", run, SETUP_DEVICE),
    ASYNC("factor_run_async", run_async, SETUP_TRACE),
    ASYNC("factor_run_async where little fits", run_async, SETUP_TIGHT),
    ASYNC("factor_run_async, reproducible", run_async, SETUP_EXACT),
    ASYNC("factor_run_async of pinned memory", run_async, SETUP_PINNED),
    ASYNC("factor_run_async of a device's memory", run_async, SETUP_DEVICE),
    ASYNC("factor_run_async by the CPU", run_async, SETUP_CPU),
    {"plan_factor", NULL, NULL, plan, check_plan, 0, false, ""},
    {0},
};
