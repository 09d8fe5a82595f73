/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/problem.h"

#include "plan/names.h"
#include "plan/tuning.h"

static void number_rings(tsr_problem *problem) {
  const tsr_machine *machine = problem->machine;
  for (int node = 0; node < machine->nodes; node++)
    problem->ring_of[node] = tsr_machine_has_ring(machine, node) ? problem->rings++ : TSR_NOTHING;
}

tsr_problem tsr_problem_of(const tsr_machine *machine, const tsr_call *call, const tsr_graph *graph,
                           const tsr_schedule_options *options) {
  tsr_problem problem = {.machine = machine,
                         .call = call,
                         .graph = graph,
                         .options = options,
                         .devices = machine->devices};
  for (int x = 0; x < TSR_MATRICES; x++) problem.size[x] = tsr_matrix_element(call, x);
  number_rings(&problem);
  return problem;
}

tsr_status tsr_problem_no_memory(void) {
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
}

/* ---- Tiles ---------------------------------------------------------------- */

tsr_task_operand tsr_part_of_tile(int matrix, int32_t tile, tsr_rect rect) {
  return (tsr_task_operand){.row = rect.row0,
                            .col = rect.col0,
                            .rows = (int32_t)(rect.row1 - rect.row0),
                            .cols = (int32_t)(rect.col1 - rect.col0),
                            .tile = tile,
                            .matrix = (uint8_t)matrix,
                            .access = TSR_READ};
}

/* A long column begins at a cache line (TSR_TUNE_LINE), which costs at most 3 % of its memory. A
 * short one begins at a multiple of a load; kernels are slower there. */
int64_t tsr_tile_ld(int64_t rows, size_t size) {
  int64_t bytes = rows * (int64_t)size;
  int64_t step =
      bytes < TSR_TUNE_LONG_COLUMN ? tsr_kernel_granule(size) : TSR_TUNE_LINE / (int64_t)size;
  return (rows + step - 1) / step * step;
}

size_t tsr_tile_round_up(size_t bytes) {
  return (bytes + TSR_TILE_ALIGN - 1) / TSR_TILE_ALIGN * TSR_TILE_ALIGN;
}

size_t tsr_tile_bytes(int64_t ld, int64_t cols, size_t size) {
  return tsr_tile_round_up((size_t)ld * (size_t)cols * size);
}

size_t tsr_tile_memory(const tsr_call *call, int matrix, int64_t rows, int64_t cols, int64_t *ld) {
  size_t size = tsr_matrix_element(call, matrix);
  bool lines = tsr_is_lines(matrix);
  *ld = lines ? tsr_form_ld(rows) : tsr_tile_ld(rows, size);
  return lines ? tsr_tile_round_up(
                     tsr_form_bytes(call->arithmetic, &call->promise, call->type, rows, cols))
               : tsr_tile_bytes(*ld, cols, size);
}

static int64_t longest(const tsr_cuts *cuts) {
  int64_t most = 0;
  for (int i = 0; i < cuts->count; i++) {
    int64_t length = cuts->at[i + 1] - cuts->at[i];
    if (length > most) most = length;
  }
  return most;
}

size_t tsr_tile_largest(const tsr_call *call, const tsr_graph *graph) {
  size_t most = 0;
  for (int x = 0; x < TSR_MATRICES; x++) {
    if (!(graph->used >> x & 1)) continue;
    const tsr_tile_grid *grid = &graph->grid[x];
    int64_t ld;
    bool square = grid->shape == TSR_GRID_SQUARES;
    int64_t cols = longest(&grid->cols), rows = square ? cols : longest(&grid->rows);
    size_t bytes = tsr_tile_memory(call, x, rows, cols, &ld);
    if (bytes > most) most = bytes;
  }
  return most;
}
