/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/costs.h"

#include <math.h>

#include "base/types.h"
#include "cluster/tuning.h"

tsr_costs tsr_costs_quick(const tsr_grid *grid, tsr_type type, bool reads_result) {
  const tsr_context_facts *f = &grid->model.facts;
  tsr_costs costs = {.planner = grid->model.planner,
                     .type = type,
                     .reads_result = reads_result,
                     .bandwidth = f->network_bandwidth,
                     .latency = f->network_latency,
                     .pack_rate = TSR_TUNE_PACKING_THREADS *
                                  (f->staging_rate > 0 ? f->staging_rate : TSR_TUNE_PACKING_RATE),
                     .host = grid->model.host,
                     .write_back = 1};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) costs.stage[i][j] = 1;
  return costs;
}

static tsr_status predict(const tsr_costs *c, int64_t m, int64_t n, int64_t k, int quick,
                          tsr_accumulation *cost) {
  static const double zero[2] = {0, 0}; /* as a value of any type */
  return tsr_plan_accumulation(c->planner, c->type, m, n, k, c->host.up > 0 ? 0 : TSR_HOST,
                               c->reads_result ? NULL : zero, quick, cost);
}

/* The time of the write-back of an m x n block of C. seconds: as the machine predicts it. The
 * machine does not know that other processes use host memory at the same time; the measured rate
 * host.down includes that. */
static double write_back_of(const tsr_costs *c, int64_t m, int64_t n, double seconds) {
  double bytes = (double)m * (double)n * (double)tsr_type_get(c->type)->size;
  return c->host.down > 0 ? fmax(seconds, bytes / c->host.down) : seconds;
}

static double *field_of(tsr_accumulation *cost, int stage, int field) {
  tsr_stage *s = stage == 0 ? &cost->first : &cost->next;
  return field == 0 ? &s->alone : field == 1 ? &s->kernels : &s->copies;
}

tsr_status tsr_costs_plan(tsr_costs *c, int64_t m, int64_t n, int64_t k) {
  tsr_accumulation planned, quick;
  TSR_TRY(predict(c, m, n, k, 0, &planned));
  TSR_TRY(predict(c, m, n, k, 1, &quick));
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) {
      double by_formula = *field_of(&quick, i, j);
      c->stage[i][j] = by_formula > 0 ? *field_of(&planned, i, j) / by_formula : 1;
    }
  c->write_back = quick.home > 0 ? planned.home / quick.home : 1;
  c->known = 0;
  return TSR_OK;
}

static void correct(const tsr_costs *c, tsr_accumulation *cost) {
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) *field_of(cost, i, j) *= c->stage[i][j];
  cost->home *= c->write_back;
}

tsr_status tsr_costs_ask(tsr_costs *c, int64_t m, int64_t n, int64_t k, tsr_accumulation *cost) {
  int known = c->known < TSR_COSTS_KNOWN ? c->known : TSR_COSTS_KNOWN;
  for (int i = 0; i < known; i++) {
    const tsr_known_cost *x = &c->cost[i];
    if (x->m != m || x->n != n || x->k != k) continue;
    *cost = x->cost;
    return TSR_OK;
  }
  tsr_known_cost made = {.m = m, .n = n, .k = k};
  TSR_TRY(predict(c, m, n, k, 1, &made.cost));
  correct(c, &made.cost);
  made.cost.home = write_back_of(c, m, n, made.cost.home);
  c->cost[c->known++ % TSR_COSTS_KNOWN] = made;
  *cost = made.cost;
  return TSR_OK;
}
