/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/moves.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "plan/schedule/scheduler.h"
#include "plan/tuning.h"

/* Bytes of a copy: a matrix moves in some tens of copies, and the staging ring has several at a
 * time. */
static int64_t bytes_of_a_copy(const tsr_call *call, const tsr_plan_options *options) {
  static const int64_t most = TSR_TUNE_MOVE_PIECE, least = TSR_TUNE_MOVE_PIECE_LEAST;
  int64_t bytes = tsr_operand_bytes(&call->operand[TSR_A], call->type) +
                  tsr_operand_bytes(&call->operand[TSR_C_], call->type);
  int64_t share = (int64_t)(options->ring / TSR_TUNE_MOVE_RING_PARTS);
  if (share < bytes) bytes = share;
  return bytes < least ? least : bytes < most ? bytes : most;
}

tsr_call tsr_moves_call(int matrix, const tsr_operand *operand, size_t element) {
  static const char of_size[17] = {[2] = TSR_H, [4] = TSR_S, [8] = TSR_D, [16] = TSR_Z};
  tsr_call call = {.operation = TSR_GEMM,
                   .type = (tsr_type)of_size[element],
                   .transa = TSR_NO_TRANS,
                   .transb = TSR_NO_TRANS,
                   .side = TSR_LEFT,
                   .uplo = TSR_GENERAL,
                   .diag = TSR_NON_UNIT,
                   .m = operand->rows,
                   .alpha = TSR_ZERO,
                   .beta = TSR_ONE};
  *(matrix == TSR_C_ ? &call.n : &call.k) = operand->cols;
  const int64_t rows[] = {call.m, call.k, call.m}, cols[] = {call.k, call.n, call.n};
  for (int i = 0; i < TSR_OPERANDS; i++)
    call.operand[i] = (tsr_operand){.rows = rows[i],
                                    .cols = cols[i],
                                    .ld = rows[i] > 0 ? rows[i] : 1,
                                    .location = operand->location,
                                    .alignment = 4};
  call.operand[matrix] = *operand;
  return call;
}

void tsr_moves_triangle(tsr_uplo uplo, tsr_call *call) {
  call->operation = TSR_GEMMT;
  call->uplo = uplo;
}

/* ---- Parts common to all plans of moves ------------------------------------- */

static tsr_plan *plan_new(const tsr_machine *machine, const tsr_call *call) {
  tsr_plan *plan = tsr_alloc_zero(1, sizeof *plan);
  if (plan == NULL) return NULL;
  plan->call = *call;
  plan->moves = true;
  plan->machine_nodes = machine->nodes;
  plan->machine_devices = plan->devices = plan->grid_cols = machine->devices;
  plan->grid_rows = plan->candidates = 1;
  plan->heat = 1;
  return plan;
}

static tsr_status make(const tsr_machine *machine, const tsr_call *call,
                       const tsr_plan_options *options, const tsr_graph *graph,
                       tsr_schedule_work work, const void *what, tsr_plan **made) {
  double began = tsr_now();
  tsr_fit fit = TSR_FITS_NOT;
  tsr_schedule_options schedule = {.piece = bytes_of_a_copy(call, options),
                                   .policy = tsr_policy_default(),
                                   .budget = options->budget,
                                   .ring = options->ring,
                                   .residency = options->residency};
  tsr_plan *plan = plan_new(machine, call);
  if (plan == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  tsr_status status = tsr_schedule_with(machine, graph, &schedule, work, what, plan, &fit);
  if (status == TSR_OK && fit == TSR_FITS_NOT)
    status =
        tsr_fail(TSR_ERR_INTERNAL, "a plan that only moves a matrix does not fit into the budgets");
  if (status == TSR_OK) status = tsr_plan_replay(plan, machine, &plan->seconds);
  plan->plan_seconds = tsr_now() - began;
  if (status == TSR_OK)
    *made = plan;
  else
    tsr_plan_free(plan);
  return status;
}

/* ---- Home ----------------------------------------------------------------- */

static bool write_back_shape(tsr_scheduler *s, tsr_shape shape) {
  tsr_task_operand part = tsr_part_of_tile(TSR_C_, 0, shape.rect);
  return tsr_rect_empty(shape.rect) ||
         (tsr_route_write_back_newer(&s->routes, &part, (tsr_uplo)shape.uplo) &&
          tsr_residency_note_written_back(s->blocks.after, TSR_C_, shape));
}

/* A triangle is written back by stripes of columns, each in two parts: the triangle on the
 * diagonal, and the rectangle below it or above it. */
static bool write_back_matrix(tsr_scheduler *s, const void *what) {
  tsr_uplo uplo = *(const tsr_uplo *)what;
  const tsr_operand *c = &s->problem.call->operand[TSR_C_];
  tsr_rect all = tsr_rect_make(0, 0, c->rows, c->cols);
  if (uplo == TSR_GENERAL) return write_back_shape(s, tsr_shape_of(all));
  int64_t width = c->cols / TSR_TUNE_MOVE_STRIPES;
  if (width < TSR_TUNE_MOVE_STRIPE_LEAST) width = TSR_TUNE_MOVE_STRIPE_LEAST;
  for (int64_t col = 0; col < c->cols; col += width) {
    int64_t end = col + width < c->cols ? col + width : c->cols;
    tsr_rect rest =
        uplo == TSR_LOWER ? (tsr_rect){end, col, c->rows, end} : (tsr_rect){0, col, col, end};
    if (!write_back_shape(s, (tsr_shape){{col, col, end, end}, uplo}) ||
        !write_back_shape(s, tsr_shape_of(rest)))
      return false;
  }
  return true;
}

tsr_status tsr_plan_write_back(const tsr_machine *machine, const tsr_call *call, tsr_uplo uplo,
                               const tsr_plan_options *options, tsr_plan **plan) {
  const tsr_operand *c = &call->operand[TSR_C_];
  int64_t rows[2] = {0, c->rows}, cols[2] = {0, c->cols};
  tsr_graph graph = {.grid[TSR_C_] = {.rows = {1, rows}, .cols = {1, cols}}};
  TSR_TRY(make(machine, call, options, &graph, write_back_matrix, &uplo, plan));
  snprintf((*plan)->why, sizeof(*plan)->why, "what is newer on devices, brought home");
  return TSR_OK;
}

/* ---- To devices ----------------------------------------------------------- */

typedef struct distribution {
  const tsr_mapping *mapping;
  const size_t *budget;
} distribution;

/* Cuts an extent at the boundaries of blocks. The matrix begins `before` elements after the
 * beginning of the mapped matrix. */
static tsr_status cut_blocks(int64_t extent, int64_t before, int64_t block, tsr_cuts *cuts) {
  TSR_TRY(tsr_cuts_uniform(extent + before % block, block, cuts));
  for (int i = 0; i <= cuts->count; i++) {
    cuts->at[i] -= before % block;
    if (cuts->at[i] < 0) cuts->at[i] = 0;
  }
  return TSR_OK;
}

static bool fetch_block(tsr_scheduler *s, int32_t tile, tsr_rect rect, int device, size_t *left) {
  size_t size = s->problem.size[TSR_A];
  size_t bytes =
      (size_t)tsr_tile_ld(rect.row1 - rect.row0, size) * (size_t)(rect.col1 - rect.col0) * size;
  if (tsr_cached_blocks_have(&s->blocks, TSR_A, rect, device)) bytes = 0;
  if (bytes > *left) return true;
  *left -= bytes;
  tsr_task_operand block = tsr_part_of_tile(TSR_A, tile, rect);
  s->copies.readers[TSR_A][tile] = 1u << device;
  return tsr_route_fetch(&s->routes, &block, device);
}

static bool distribute(tsr_scheduler *s, const void *what) {
  const distribution *d = what;
  const tsr_mapping *m = d->mapping;
  const tsr_tile_grid *grid = &s->problem.graph->grid[TSR_A];
  size_t left[TSR_MACHINE_DEVICES];
  for (int i = 0; i < s->problem.devices; i++) left[i] = d->budget[i];
  for (int j = 0; j < grid->cols.count; j++)
    for (int i = 0; i < grid->rows.count; i++) {
      tsr_rect rect = {grid->rows.at[i], grid->cols.at[j], grid->rows.at[i + 1],
                       grid->cols.at[j + 1]};
      int device = tsr_mapping_device(m, rect.row0, rect.col0);
      int32_t tile = i * grid->cols.count + j;
      if (!tsr_rect_empty(rect) && !fetch_block(s, tile, rect, device, &left[device])) return false;
    }
  return true;
}

tsr_status tsr_plan_distribute(const tsr_machine *machine, const tsr_call *call,
                               const tsr_mapping *mapping, const tsr_plan_options *options,
                               tsr_plan **plan) {
  const tsr_operand *a = &call->operand[TSR_A];
  tsr_graph graph = {0};
  tsr_cuts rows = {0}, cols = {0};
  tsr_status status = cut_blocks(a->rows, mapping->row, mapping->block_rows, &rows);
  if (status == TSR_OK) status = cut_blocks(a->cols, mapping->col, mapping->block_cols, &cols);
  if (status == TSR_OK) {
    graph.grid[TSR_A] = (tsr_tile_grid){.rows = rows, .cols = cols};
    distribution what = {mapping, options->budget};
    status = make(machine, call, options, &graph, distribute, &what, plan);
  }
  if (status == TSR_OK)
    snprintf((*plan)->why, sizeof(*plan)->why, "blocks of %lld x %lld over %d x %d devices",
             (long long)mapping->block_rows, (long long)mapping->block_cols, mapping->grid_rows,
             mapping->grid_cols);
  tsr_cuts_free(&rows);
  tsr_cuts_free(&cols);
  return status;
}
