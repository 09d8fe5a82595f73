#include "bench_trial.h"

#include "bench_check.h"
#include "elements.h"

enum { WARM_UPS = 2, MOST_REPEATS = 1000 };

/* ---- Planning ---- */

static int make_plan(tsr_context *context, const bench_kind *kind, bench_shape s,
                     const bench_trial *trial, tsr_plan **plan) {
  scalar_value alpha = scalar_for(kind->type, kind->alpha);
  scalar_value beta = scalar_for(kind->type, kind->beta);
  tsr_home homes[3];
  for (int i = 0; i < 3; i++) homes[i] = home_for_library(kind->homes[i]);
  const tsr_level3 what = bench_describe(kind, s);
  tsr_status status = tsr_set_strategy(context, trial->strategy);
  if (status != TSR_OK) return tool_status(status);
  return tool_status(tsr_plan_level3(context, &what, &alpha, &beta, homes, plan));
}

/* ---- Running ---- */

static int execute(tsr_plan *plan, const bench_case *c, double *seconds) {
  const bench_product *p = &c->product;
  double begin = tool_now();
  tsr_status status = tsr_plan_execute(plan, p->alpha, p->a, p->b, p->beta, p->c);
  *seconds = tool_now() - begin;
  return tool_status(status);
}

static int time_plan(tsr_plan *plan, const bench_case *c, int repeat, double *median) {
  double seconds[MOST_REPEATS], ignored;
  int code = TOOL_OK, count = repeat < MOST_REPEATS ? repeat : MOST_REPEATS;
  for (int i = 0; i < WARM_UPS && code == TOOL_OK; i++) code = execute(plan, c, &ignored);
  for (int i = 0; i < count && code == TOOL_OK; i++) code = execute(plan, c, &seconds[i]);
  if (code == TOOL_OK) *median = tool_median(seconds, count);
  return code;
}

int bench_trial_run(tsr_context *context, const bench_kind *kind, bench_shape shape,
                    const bench_case *c, int repeat, bench_trial *trial) {
  tsr_plan *plan = NULL;
  trial->good = true;
  trial->measured = 0;
  int code = make_plan(context, kind, shape, trial, &plan);
  if (code == TOOL_OK) code = tool_status(tsr_plan_predict(plan, &trial->prediction));
  if (code == TOOL_OK && c) code = time_plan(plan, c, repeat, &trial->measured);
  tsr_plan_destroy(plan);
  return code;
}

int bench_trial_check(const bench_case *c, bench_trial *trial) {
  tsr_status status = tsr_set_strategy(c->context, trial->strategy);
  return status == TSR_OK ? bench_case_check(c, &trial->good) : tool_status(status);
}

/* ---- Figures ---- */

double bench_tera(tsr_type type, bench_shape shape, double seconds) {
  return seconds > 0 ? element_flops(type, shape.m, shape.n, shape.k) / seconds * 1e-12 : 0;
}

void bench_grid(int devices, int *rows, int *cols) {
  *rows = 1;
  for (int r = 1; r * r <= devices; r++) {
    if (devices % r == 0) *rows = r;
  }
  *cols = devices / *rows;
}
