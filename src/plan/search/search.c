/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The search: strategies are replayed on the model, from first guesses by descents that change one
 * knob at a time, and the plan with the best score is kept. A plan is used many times, so that
 * searching pays.
 */
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "plan/search/mapped.h"
#include "plan/search/search.h"

static void describe(const tsr_search *s, tsr_plan *plan) {
  char strategy[200];
  const char *mapped = s->mapping != NULL ? "; C where it is mapped" : "";
  tsr_strategy_print(&s->found.strategy, strategy, sizeof strategy);
  int used = snprintf(plan->why, sizeof plan->why, "%s%s", strategy, mapped);
  if (isfinite(s->runner_up) && used > 0 && (size_t)used < sizeof plan->why)
    snprintf(plan->why + used, sizeof plan->why - (size_t)used, " (next best %+.1f %%)",
             100 * (s->runner_up / plan->seconds - 1));
}

static double cpu_time(const tsr_search *s) {
  double bytes = 0;
  for (int x = 0; x < TSR_OPERANDS; x++)
    bytes += (double)tsr_operand_bytes(&s->call->operand[x], s->call->type);
  return tsr_machine_cpu_time(s->machine, s->call->type, tsr_call_flops(s->call), bytes);
}

/* Whether the CPU's BLAS may compute the call and is predicted to take less time than the best
 * plan. */
static bool cpu_is_better(const tsr_search *s) {
  const tsr_machine *m = s->machine;
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (tsr_is_device(m, s->call->operand[x].location)) return false;
  if (m->devices == 0) return true;
  if (s->options->obey_devices || s->options->no_cpu || s->options->reproducible) return false;
  double cpu = cpu_time(s);
  return isfinite(cpu) && (!s->best || cpu < s->best->seconds);
}

static tsr_status plan_for_cpu(tsr_search *s) {
  tsr_plan_free(s->best);
  tsr_plan_free(s->spare);
  s->spare = NULL;
  s->best = tsr_search_plan_new(s);
  if (!s->best) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  double cpu = cpu_time(s);
  s->best->seconds = isfinite(cpu) ? cpu : 0;
  snprintf(s->best->why, sizeof s->best->why, "the CPU's BLAS");
  return TSR_OK;
}

/* Whether the CPU is predicted to take less than the floor, which no plan on devices beats. */
static bool cpu_is_best(const tsr_search *s) {
  return cpu_is_better(s) && cpu_time(s) < tsr_floor(s->machine, s->call);
}

/* Where devices differ, choices of them contend; if none of their plans fits, the call is planned
 * on any, for the sake of the error. */
static tsr_status search(tsr_search *s) {
  bool free = tsr_search_family(s) != TSR_FACTOR && !s->exact && s->options->residency == NULL &&
              s->mapping == NULL && !s->options->reproducible;
  if (free && tsr_search_devices_differ(s)) TSR_TRY(tsr_search_unlike(s));
  return s->best != NULL ? TSR_OK : tsr_search_all(s);
}

/* Finds s->best. An empty call gets a plan without commands, like one for the CPU. */
static tsr_status run_search(tsr_search *s) {
  if (tsr_call_is_empty(s->call) || cpu_is_best(s)) return plan_for_cpu(s);
  TSR_TRY(tsr_forced_check(&s->forced, &s->problem, &s->kinds));
  tsr_search_order_devices(s, TSR_ORDER_BY_BOTH);
  if (s->machine->devices > 0) TSR_TRY(search(s));
  if (cpu_is_better(s)) return plan_for_cpu(s);
  if (s->best != NULL) return TSR_OK;
  if (s->refused != NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "strategy: %s; leave it out", s->refused);
  return tsr_search_too_small(s);
}

double tsr_plan_cost(const tsr_plan *plan) {
  return plan->candidates * tsr_search_cost((double)plan->commands.count);
}

/* Frees unused memory: plans stay in the cache for long. */
static void trim(tsr_plan *plan) {
  TSR_VEC_TRIM(&plan->commands);
  TSR_VEC_TRIM(&plan->waits);
  TSR_VEC_TRIM(&plan->buffers);
}

static void set_up(tsr_search *s, const tsr_machine *machine, const tsr_call *call,
                   const tsr_plan_options *options) {
  s->machine = machine;
  s->call = call;
  s->options = options;
  s->devices = machine->devices;
  s->exact = options->obey_devices;
  s->began = tsr_now();
  s->allowed = s->runner_up = s->found.score = INFINITY;
  s->problem = (tsr_search_problem){.call = call,
                                    .machine = machine,
                                    .composed = options->residency != NULL,
                                    .reproducible = options->reproducible,
                                    .tile = options->tile};
  s->problem.realigned = tsr_search_realigned(s);
  s->heat = tsr_plan_heat(machine, call);
  if (options->mapping != NULL && !options->reproducible)
    s->map_use = tsr_mapped_use(options->mapping, machine, call);
  if (s->map_use == TSR_MAP_FOLLOWED) s->mapping = options->mapping;
  s->problem.mapped = s->mapping != NULL;
}

/* What the best plan tells of the search. */
static void finish(tsr_search *s) {
  if (s->best->devices > 0) describe(s, s->best);
  s->best->map_use = (uint8_t)s->map_use;
  trim(s->best);
  s->best->floor = tsr_call_is_empty(s->call) ? 0 : tsr_floor(s->machine, s->call);
  s->best->candidates = s->candidates;
  s->best->plan_seconds = tsr_now() - s->began;
}

static tsr_status find_best(tsr_search *s) {
  TSR_TRY(tsr_strategy_parse(s->options->strategy, &s->forced));
  tsr_status status = run_search(s);
  TSR_VEC_FREE(&s->tried);
  tsr_plan_free(s->spare);
  tsr_graph_free(&s->graph);
  return status;
}

/* The state of the search is too large for a small stack. */
tsr_status tsr_plan_make(const tsr_machine *machine, const tsr_call *call,
                         const tsr_plan_options *options, tsr_plan **plan) {
  tsr_search *s = tsr_alloc_zero(1, sizeof *s);
  if (s == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  set_up(s, machine, call, options);
  tsr_status status = find_best(s);
  if (status == TSR_OK) {
    finish(s);
    *plan = s->best;
  } else {
    tsr_plan_free(s->best);
  }
  tsr_dealloc(s);
  return status;
}
