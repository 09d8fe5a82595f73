/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans across processes: making, destroying and asking them. */
#include "arithmetic/arithmetic.h"
#include "base/alloc.h"
#include "base/thread.h"
#include "base/types.h"
#include "cluster/plan/arrange.h"
#include "cluster/plan/pplan.h"

/* ---- Making ------------------------------------------------------------------ */

static tsr_status check_kind(const tsr_product *p) {
  if (p->grid->extent[0] * p->grid->extent[1] == 1)
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "the grid has one process, where a product is a tsr_gemm; plan it with "
                    "tsr_plan_gemm");
  if (p->m > 0 && p->n > 0 && tsr_product_reads_inputs(p)) return TSR_OK;
  return tsr_fail(
      TSR_ERR_ARGUMENT,
      "m is %lld, n %lld and k %lld, or alpha is 0: nothing is multiplied; give extents "
      "of at least 1 and another alpha",
      (long long)p->m, (long long)p->n, (long long)p->k);
}

/* Replays the schedule for each representative; keeps times and forecast of the slowest. */
static tsr_status replay(tsr_pplan *plan, const tsr_arranged *arranged, tsr_costs *costs) {
  double slowest = -1;
  size_t steps = plan->schedule.steps.count;
  plan->times = tsr_alloc_zero(steps + 1, sizeof *plan->times);
  if (plan->times == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan");
  for (int which = 0; which < TSR_REPRESENTATIVES; which++) {
    int me[2];
    tsr_forecast f;
    tsr_representative(&arranged->distribution, which, me);
    TSR_TRY(tsr_replay(&plan->schedule, costs, me, arranged->moved, &f, plan->times));
    if (f.seconds <= slowest) continue;
    slowest = f.seconds;
    plan->me[0] = me[0], plan->me[1] = me[1];
  }
  return tsr_replay(&plan->schedule, costs, plan->me, arranged->moved, &plan->forecast,
                    plan->times);
}

/* Sets the costs by planning a product of the cut. */
static tsr_status plan_costs(const tsr_pplan *plan, tsr_costs *costs) {
  const tsr_summa_schedule *s = &plan->schedule;
  tsr_status status =
      tsr_costs_plan(costs, s->cut.block[0], s->cut.block[1], s->deepest > 0 ? s->deepest : 1);
  /* Blocks that the user set may not fit the devices; then the formula's times stay. */
  return status == TSR_ERR_MEMORY ? TSR_OK : status;
}

/* Whether the product is emulated, and what that takes. */
static tsr_status choose_arithmetic(const tsr_product *p, tsr_pplan *plan) {
  const tsr_grid *grid = p->grid;
  bool pay;
  TSR_TRY(tsr_emulation_find(grid->context, p->c.matrix.type, p->m, p->n, p->k, grid->model_only,
                             &plan->how));
  TSR_TRY(tsr_product_check_cut(p, &plan->how));
  TSR_TRY(tsr_product_check_bits(p, &plan->how));
  if (plan->how.products == NULL) return TSR_OK;
  if (!plan->how.faster) return tsr_whole_lines_forecast(p, &plan->how, &plan->lines);
  TSR_TRY(tsr_whole_lines_pay(p, &plan->how, plan->forecast.seconds, &plan->lines, &pay));
  if (!pay) tsr_emulation_forget(&plan->how);
  return TSR_OK;
}

static tsr_status fill(const tsr_product *p, tsr_pplan *plan) {
  tsr_arrangement x;
  TSR_TRY(tsr_arrange(p, true, &x));
  tsr_arranged arranged = tsr_arranged_of(p, &x);
  TSR_TRY(tsr_summa_schedule_make(&arranged.distribution, &x.choice.cut, arranged.moves,
                                  &plan->schedule));
  plan->product = *p;
  plan->moves[0] = arranged.moves[0], plan->moves[1] = arranged.moves[1];
  plan->costs = tsr_costs_quick(p->grid, arranged.type, arranged.reads_result);
  TSR_TRY(plan_costs(plan, &plan->costs));
  TSR_TRY(replay(plan, &arranged, &plan->costs));
  return choose_arithmetic(p, plan);
}

TSR_ENTRY(tsr_pgemm_plan,
          (grid, transa, transb, m, n, k, alpha, a, ia, ja, b, ib, jb, beta, c, ic, jc, plan),
          tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
          const void *alpha, const tsr_pmatrix *a, int64_t ia, int64_t ja, const tsr_pmatrix *b,
          int64_t ib, int64_t jb, const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc,
          tsr_pplan **plan) {
  TSR_TRY(tsr_grid_check(grid));
  if (plan == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "plan is NULL; give the address of a pointer");
  tsr_product p =
      tsr_product_make(grid, transa, transb, m, n, k, alpha, a, ia, ja, b, ib, jb, beta, c, ic, jc);
  TSR_TRY(tsr_product_check(&p, false));
  TSR_TRY(check_kind(&p));
  tsr_pplan *made = tsr_alloc_zero(1, sizeof *made);
  if (made == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan");
  tsr_status status = fill(&p, made);
  if (status == TSR_OK)
    *plan = made;
  else
    tsr_pplan_destroy(made);
  return status;
}

TSR_ENTRY_VOID(tsr_pplan_destroy, (plan), tsr_pplan *plan) {
  if (plan == NULL) return;
  tsr_summa_schedule_free(&plan->schedule);
  tsr_dealloc(plan->times);
  tsr_dealloc(plan);
}

/* ---- Asking ------------------------------------------------------------------- */

tsr_status tsr_pplan_check(const tsr_pplan *plan) {
  if (plan != NULL) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "plan is NULL; make one with tsr_pgemm_plan");
}

/* The summary of an emulated product. */
static tsr_pprediction lines_summary(const tsr_pplan *plan) {
  const tsr_lines_forecast *f = &plan->lines;
  return (tsr_pprediction){.seconds = f->seconds,
                           .kernels = f->product,
                           .fill = f->before,
                           .received = f->moved,
                           .sent = f->moved,
                           .block_rows = f->part[0],
                           .block_cols = f->part[1],
                           .later_rows = f->part[0],
                           .later_cols = f->part[1],
                           .blocks_down = 1,
                           .blocks_across = 1,
                           .depth = plan->product.k,
                           .panels = 1,
                           .products = 1,
                           .steps = tsr_emulation_judges(&plan->how) ? 3 : 2,
                           .moves_a = 1,
                           .moves_b = 1,
                           .held = {1, 1},
                           .slots = (size_t)f->memory,
                           .moduli = plan->how.products != NULL ? plan->how.products->number : 0,
                           .native = plan->forecast.seconds};
}

/* The summary of a product by panels. */
static tsr_pprediction panels_summary(const tsr_pplan *plan) {
  const tsr_summa_schedule *s = &plan->schedule;
  const tsr_forecast *f = &plan->forecast;
  size_t bytes[2];
  tsr_summa_slot_bytes(s, tsr_type_get(plan->product.c.matrix.type)->size, bytes);
  return (tsr_pprediction){.seconds = f->seconds,
                           .kernels = f->kernels,
                           .fill = f->fill,
                           .starved = f->starved,
                           .changing = f->changing,
                           .received = f->received,
                           .sent = f->sent,
                           .block_rows = s->cut.block[0],
                           .block_cols = s->cut.block[1],
                           .later_rows = tsr_cut_later(&s->cut, 0),
                           .later_cols = tsr_cut_later(&s->cut, 1),
                           .blocks_down = s->blocks[0],
                           .blocks_across = s->blocks[1],
                           .together = s->cut.together,
                           .depth = s->deepest,
                           .lookahead = s->cut.lookahead,
                           .panels = (int64_t)s->panels.count,
                           .products = s->products,
                           .steps = (int64_t)s->steps.count,
                           .moves_a = plan->moves[0],
                           .moves_b = plan->moves[1],
                           .held = {s->slots[0], s->slots[1]},
                           .slots = (size_t)s->slots[0] * bytes[0] + (size_t)s->slots[1] * bytes[1],
                           .native = f->seconds};
}

tsr_pprediction tsr_pplan_summary(const tsr_pplan *plan) {
  return plan->how.products != NULL ? lines_summary(plan) : panels_summary(plan);
}

TSR_ENTRY(tsr_pplan_predict, (plan, prediction), const tsr_pplan *plan,
          tsr_pprediction *prediction) {
  TSR_TRY(tsr_pplan_check(plan));
  if (prediction == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "prediction is NULL; give the address of a tsr_pprediction");
  *prediction = tsr_pplan_summary(plan);
  return TSR_OK;
}
