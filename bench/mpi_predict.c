/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Predicts products across processes by replaying their schedules; every process has the machine of
 * --machine. */
#include "mpi.h"

/* *peak: the rate [flops/s] of a device in kernels of large products, from
 * tsr_plan_accumulation. */
static int find_peak(tsr_context *context, const mpi_case *c, int devices, double *peak) {
  enum { LARGE = 16384 };
  tsr_accumulation a;
  int64_t n = (int64_t)LARGE * devices;
  int code =
      tool_status(tsr_plan_accumulation(context, c->type, LARGE, n, LARGE, TSR_HOST, NULL, 1, &a));
  if (!code) *peak = element_flops(c->type, LARGE, n, LARGE) / a.next.kernels / devices;
  return code;
}

static tsr_pmatrix matrix(const mpi_case *c, tsr_grid *grid, int64_t rows, int64_t cols) {
  return (tsr_pmatrix){
      .grid = grid, .type = c->type, .m = rows, .n = cols, .mb = c->block, .nb = c->block, .ld = 1};
}

static int replay(const mpi_case *c, tsr_grid *grid, mpi_row *row) {
  scalar_value one = scalar_for(c->type, (scalar){1, 0}), zero = scalar_for(c->type, (scalar){0});
  tsr_pmatrix x = matrix(c, grid, c->m, c->k), y = matrix(c, grid, c->k, c->n),
              z = matrix(c, grid, c->m, c->n);
  tsr_pplan *plan = NULL;
  int code = cut_apply(&c->words.cut, grid);
  if (!code)
    code = tool_status(tsr_pgemm_plan(grid, TSR_NO_TRANS, TSR_NO_TRANS, c->m, c->n, c->k, &one, &x,
                                      0, 0, &y, 0, 0, &zero, &z, 0, 0, &plan));
  if (!code) code = tool_status(tsr_pplan_predict(plan, &row->p));
  row->predicted = row->p.seconds;
  tsr_pplan_destroy(plan);
  return code;
}

static int predict(const mpi_case *c, tsr_context *context, tsr_grid *grid, mpi_row *row) {
  tsr_context_facts facts;
  int code = tool_status(tsr_context_describe(context, &facts));
  if (code) return code;
  row->devices = facts.devices;
  row->memory = facts.memory;
  row->network = c->words.cut.network > 0 ? 1e9 * c->words.cut.network : facts.network_bandwidth;
  code = find_peak(context, c, facts.devices > 0 ? facts.devices : 1, &row->peak);
  return code ? code : replay(c, grid, row);
}

int mpi_predict(const mpi_case *c, mpi_row *row) {
  settings with = c->words.settings;
  tsr_context *context = NULL;
  tsr_grid *grid = NULL;
  int rows = (int)c->grid[0], cols = (int)c->grid[1];
  *row = (mpi_row){.c = c, .rows = rows, .cols = cols, .processes = rows * cols, .transport = "-"};
  with.engine = "cpu"; /* opens no devices, since it only plans */
  int code = settings_open(&with, &context);
  if (!code) code = tool_status(tsr_grid_imagine(context, rows, cols, &grid));
  if (!code) code = predict(c, context, grid, row);
  tsr_grid_destroy(grid);
  tsr_context_destroy(context);
  return code;
}
