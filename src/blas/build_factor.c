/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The graph of a factorisation, left-looking. C is cut into square tiles by the same cuts in both
 * directions. For the lower triangle tile (i, j), i >= j, loses the products of the tiles of L to
 * its left, L_ik L_jk^H for all k < j; then the tile on the diagonal is factored, and one below it
 * is solved with L_jj^H. The upper triangle is the same in its rows: tile (j, i) loses U_kj^H U_ki,
 * and is solved with U_jj^H from the left.
 *
 * All tasks of a tile are one group, so each tile is written to by one device, once. It needs the
 * group of the tile before it, which has needed all tiles to the left of both factors' rows, and
 * that of the tile on the diagonal.
 */
#include "blas/build.h"

static bool is_lower(const tsr_builder *b) {
  return b->call->uplo == TSR_LOWER;
}

static bool is_real(const tsr_builder *b) {
  return !tsr_type_get(b->call->type)->complex_valued;
}

/* Tile (i, j) of L, or of U^H, i >= j. */
static tsr_task_operand tile(const tsr_builder *b, tsr_access access, int i, int j) {
  const tsr_cuts *cuts = &b->tiling->m;
  int row = is_lower(b) ? i : j, col = is_lower(b) ? j : i;
  return tsr_rectangle(b->graph, TSR_C_, access, tsr_cut_begin(cuts, row),
                       tsr_cut_length(cuts, row), tsr_cut_begin(cuts, col),
                       tsr_cut_length(cuts, col));
}

/* A tile on the diagonal of a C that is in a device's memory is that device's: no device can write
 * a triangle to another one. */
static int16_t device_of(const tsr_builder *b, int i, int j) {
  const tsr_operand *c = &b->call->operand[TSR_C_];
  if (i == j && c->memory == TSR_DEVICE) return (int16_t)c->location;
  return is_lower(b) ? tsr_owner_of(b->tiling, i, j) : tsr_owner_of(b->tiling, j, i);
}

static tsr_task task_on(const tsr_builder *b, tsr_kernel kernel, tsr_form form, int i, int j) {
  tsr_task task = {.kernel = (uint8_t)kernel, .form = tsr_form_pack(form)};
  task.operand[2] = tile(b, TSR_UPDATE, i, j);
  task.m = task.operand[2].rows;
  task.n = task.operand[2].cols;
  task.device = device_of(b, i, j);
  return task;
}

/* C_ij -= L_ik L_jk^H, or its conjugate transpose. On the diagonal that is a rank-k update. */
static bool push_update(tsr_builder *b, int i, int j, int k) {
  bool lower = is_lower(b), across = i == j;
  tsr_op turned = is_real(b) ? TSR_TRANS : TSR_CONJ_TRANS;
  tsr_form rank = {.transa = lower ? TSR_NO_TRANS : turned, .uplo = b->call->uplo};
  tsr_form product = {.transa = lower ? TSR_NO_TRANS : turned,
                      .transb = lower ? turned : TSR_NO_TRANS};
  tsr_kernel kernel = !across ? TSR_KERNEL_GEMM : is_real(b) ? TSR_KERNEL_SYRK : TSR_KERNEL_HERK;
  tsr_task task = task_on(b, kernel, across ? rank : product, i, j);
  task.flags = TSR_FLAG_ALPHA_MINUS | TSR_FLAG_BETA_ONE;
  task.k = tsr_cut_length(&b->tiling->m, k);
  task.operand[0] = tile(b, TSR_READ, lower ? i : j, k);
  if (!across) task.operand[1] = tile(b, TSR_READ, lower ? j : i, k);
  return tsr_push_task(b, task);
}

static bool push_factor(tsr_builder *b, int j) {
  tsr_task task = task_on(b, TSR_KERNEL_POTRF, (tsr_form){.uplo = b->call->uplo}, j, j);
  task.k = task.n;
  task.last = true;
  return tsr_push_task(b, task);
}

static bool push_solve(tsr_builder *b, int i, int j) {
  tsr_form form = {.transa = is_real(b) ? TSR_TRANS : TSR_CONJ_TRANS,
                   .side = is_lower(b) ? TSR_RIGHT : TSR_LEFT,
                   .uplo = b->call->uplo,
                   .diag = TSR_NON_UNIT};
  tsr_task task = task_on(b, TSR_KERNEL_TRSM, form, i, j);
  task.flags = TSR_FLAG_ALPHA_ONE;
  task.operand[0] = tile(b, TSR_READ, j, j);
  task.k = task.operand[0].rows;
  task.last = true;
  return tsr_push_task(b, task);
}

/* The group of tile (i, j): groups are numbered column by column of L. */
static int32_t group_of(const tsr_builder *b, int i, int j) {
  int64_t count = b->tiling->m.count;
  return (int32_t)(j * count - (int64_t)j * (j - 1) / 2 + i - j);
}

static bool push_group(tsr_builder *b, size_t first, int i, int j) {
  tsr_graph *graph = b->graph;
  tsr_group group = {.first = first,
                     .count = graph->tasks.count - first,
                     .needs = graph->needs.count,
                     .device = graph->tasks.items[first].device};
  if (j > 0 && !TSR_VEC_PUSH(&graph->needs, group_of(b, i, j - 1))) return false;
  if (i > j && !TSR_VEC_PUSH(&graph->needs, group_of(b, j, j))) return false;
  group.needed = graph->needs.count - group.needs;
  return TSR_VEC_PUSH(&graph->groups, group);
}

static bool push_tile(tsr_builder *b, int i, int j) {
  size_t first = b->graph->tasks.count;
  for (int k = 0; k < j; k++)
    if (!push_update(b, i, j, k)) return false;
  return (i == j ? push_factor(b, j) : push_solve(b, i, j)) && push_group(b, first, i, j);
}

bool tsr_build_factor(tsr_builder *b) {
  int count = b->tiling->m.count;
  for (int j = 0; j < count; j++)
    for (int i = j; i < count; i++)
      if (!push_tile(b, i, j)) return false;
  return true;
}
