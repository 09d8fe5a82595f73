/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The problem of a scheduler: the graph of tasks, its call and machine, and the options of the
 * search. All parts of the scheduler read the problem.
 *
 * Invariant: the problem does not change while a scheduler works. It owns nothing: whatever it
 * points to outlives the scheduler.
 */
#ifndef TSR_PLAN_SCHEDULE_PROBLEM_H
#define TSR_PLAN_SCHEDULE_PROBLEM_H

#include "base/rect.h"
#include "plan/schedule/schedule.h"

/* The index for "no command", "no buffer", "no list" or "no slot". */
enum { TSR_NOTHING = -1 };

typedef struct tsr_problem {
  const tsr_machine *machine;
  const tsr_call *call;
  const tsr_graph *graph;
  const tsr_schedule_options *options;
  size_t size[TSR_MATRICES];      /* bytes of an element */
  int devices;                    /* of the machine */
  int rings;                      /* number of staging rings: of nodes that are near a device */
  int ring_of[TSR_MACHINE_NODES]; /* number of each node's ring */
} tsr_problem;

tsr_problem tsr_problem_of(const tsr_machine *machine, const tsr_call *call, const tsr_graph *graph,
                           const tsr_schedule_options *options);

/* Records the error "no host memory for a plan". Returns TSR_ERR_MEMORY. */
tsr_status tsr_problem_no_memory(void);

static inline bool tsr_on_host(const tsr_problem *problem, int location) {
  return location >= problem->devices;
}

/* Whether the device is the matrix's home and kernels use the matrix there, without a copy. */
static inline bool tsr_is_at_home(const tsr_problem *problem, int matrix, int device) {
  if (matrix >= TSR_OPERANDS || problem->call->operand[matrix].location != device) return false;
  return matrix == TSR_C_ || !(problem->options->realigned >> matrix & 1);
}

/* Whether a matrix's tiles lie in cached blocks. With residency, those of every operand at home in
 * host memory do. */
static inline bool tsr_has_cached_blocks(const tsr_problem *problem, int matrix) {
  return problem->options->residency != NULL && matrix < TSR_OPERANDS &&
         !tsr_is_device(problem->machine, problem->call->operand[matrix].location);
}

/* ---- Tiles ---------------------------------------------------------------- */

static inline tsr_rect tsr_tile_rect(const tsr_problem *problem, int matrix, int32_t tile) {
  const tsr_tile_grid *grid = &problem->graph->grid[matrix];
  int i = tile / grid->cols.count, j = tile % grid->cols.count;
  tsr_rect rect = {grid->rows.at[i], grid->cols.at[j], grid->rows.at[i + 1], grid->cols.at[j + 1]};
  switch (grid->shape) {
    case TSR_GRID_WHOLE:
      break;
    case TSR_GRID_SQUARES:
      rect.row0 = rect.col0;
      rect.row1 = rect.col1;
      break;
    case TSR_GRID_DOWN:
      if (rect.row0 < rect.col0) rect.row0 = rect.col0;
      break;
    case TSR_GRID_RIGHT:
      if (rect.col0 < rect.row0) rect.col0 = rect.row0;
      break;
  }
  return rect;
}

static inline tsr_rect tsr_operand_rect(const tsr_task_operand *o) {
  return tsr_rect_make(o->row, o->col, o->rows, o->cols);
}

/* A rectangle of a tile as an operand that a task reads. */
tsr_task_operand tsr_part_of_tile(int matrix, int32_t tile, tsr_rect rect);

/* The operand that has to be copied to a device before a task can run there: of another form the
 * rectangle that it is made of, else the operand itself. */
static inline tsr_task_operand tsr_operand_source(const tsr_problem *problem,
                                                  const tsr_task_operand *o) {
  return tsr_is_made(o->matrix) ? tsr_made_source(problem->call, problem->graph, o) : *o;
}

/* The leading dimension [elements] of a tile with that many rows. It aligns columns, since kernels
 * are slow on unaligned ones. */
int64_t tsr_tile_ld(int64_t rows, size_t size);

/* The next multiple of TSR_TILE_ALIGN. */
size_t tsr_tile_round_up(size_t bytes);

/* Bytes of memory for a tile with that leading dimension, rounded up. */
size_t tsr_tile_bytes(int64_t ld, int64_t cols, size_t size);

/* Bytes of the largest tile of all matrices that tasks use. */
size_t tsr_tile_largest(const tsr_call *call, const tsr_graph *graph);

#endif
