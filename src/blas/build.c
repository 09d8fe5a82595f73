/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The graph of a call: limits of its size, the grids of its tiles, and the builder that makes its
 * tasks. */
#include "blas/build.h"

#include "blas/family.h"
#include "blas/operation.h"

/* ---- Limits --------------------------------------------------------------- */

/* Tasks of a graph: about 15 GB of them, far more than a useful plan has. Numbers of tiles fit an
 * int32_t. */
static const double most_tiles = 1 << 26;

static bool too_long(const tsr_cuts *cuts) {
  for (int i = 0; i < cuts->count; i++)
    if (cuts->at[i + 1] - cuts->at[i] > INT32_MAX) return true;
  return false;
}

/* TSR_ERR_MEMORY: the tiling makes more tasks than a plan can have. TSR_ERR_UNSUPPORTED: it makes
 * longer ones. */
static tsr_status check_tiling(const tsr_call *call, const tsr_tiling *t) {
  const char *name = tsr_operation_get(call->operation)->name;
  if (too_long(&t->m) || too_long(&t->n) || too_long(&t->k))
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "%s: tiles may not be longer than %d elements: force smaller ones "
                    "(TESSERA_TILE)",
                    name, INT32_MAX);
  double m = t->m.count, n = t->n.count, k = t->k.count > 0 ? t->k.count : 1;
  bool beside = tsr_family_of(call->operation) == TSR_TRIANGLE;
  if (tsr_call_has_form(call) && !beside && (t->k.count > 1 || t->lazy))
    return tsr_fail(TSR_ERR_INTERNAL, "%s in residues: k is cut, or C is added last", name);
  if (m * n * k <= most_tiles) return TSR_OK;
  return tsr_fail(TSR_ERR_MEMORY,
                  "%s: a plan of %.3g kernels (%d x %d x %d tiles) is too large: give larger tiles "
                  "(TESSERA_TILE) or a larger budget (TESSERA_MEMORY)",
                  name, m * n * k, t->m.count, t->n.count, t->k.count);
}

/* ---- Grids of tiles ------------------------------------------------------- */

static tsr_tile_grid grid_of(tsr_cuts rows, tsr_cuts cols, tsr_op op) {
  return op == TSR_NO_TRANS ? (tsr_tile_grid){.rows = rows, .cols = cols}
                            : (tsr_tile_grid){.rows = cols, .cols = rows};
}

/* A and B are cut as C and k are. In rank-k updates with two inputs both are n x k and cut
 * alike. */
static void set_product_grids(const tsr_call *call, const tsr_tiling *t, tsr_graph *graph) {
  bool both = tsr_family_of(call->operation) == TSR_RANK && call->operation != TSR_GEMMT;
  graph->grid[TSR_A] = grid_of(t->m, t->k_of_a.count > 0 ? t->k_of_a : t->k, call->transa);
  tsr_cuts n = t->n_of_b.count > 0 ? t->n_of_b : t->n, k = t->k_of_b.count > 0 ? t->k_of_b : t->k;
  graph->grid[TSR_B_] = both ? graph->grid[TSR_A] : grid_of(k, n, call->transb);
}

/* A is square and cut as the side of C that it is on. A and C are copied block by block. Copies may
 * be several blocks high, since short columns are slow to copy; but the matrix that arrives k-panel
 * by k-panel is copied in pieces no higher than the first k-panel. (trsm subtracts its first
 * k-panel from all blocks of a stripe.) */
static void set_triangle_grids(const tsr_call *call, const tsr_tiling *t, tsr_graph *graph) {
  bool left = call->side == TSR_LEFT;
  const tsr_cuts *order = left ? &t->m : &t->n;
  int64_t block = t->k.count > 0 ? tsr_cut_length(&t->k, 0) : 0;
  int64_t high = block * (t->span > 1 ? t->span : 1);
  graph->grid[TSR_A] =
      (tsr_tile_grid){.rows = *order, .cols = *order, .piece_rows = high, .piece_cols = block};
  graph->grid[TSR_C_].piece_rows = left ? high : 0;
  graph->grid[TSR_C_].piece_cols = left ? 0 : block;
  graph->grid[TSR_B_] = graph->grid[TSR_C_];
  if (t->inverses)
    graph->grid[TSR_V] = (tsr_tile_grid){.rows = *order, .cols = t->k, .shape = TSR_GRID_SQUARES};
  tsr_tile_grid *read = &graph->grid[tsr_is_in_place(call->operation) ? TSR_C_ : TSR_B_];
  bool by_k_panels = t->k_panel > 0 && call->operation != TSR_TRSM;
  if (by_k_panels && read->piece_rows > t->k_panel) read->piece_rows = t->k_panel;
}

/* A line has one scale, and so all elements that are multiplied at a time: all of k, or
 * beside a triangle one block of A's order, since the part of A beside the diagonal has another
 * extent for each block, and trsm solves C block by block. Both factors of a rank-k update are cut
 * as the columns of C, which are cut at least as finely as its rows. */
static void set_line_grids(const tsr_call *call, const tsr_tiling *t, tsr_graph *graph) {
  tsr_family family = tsr_family_of(call->operation);
  bool rank = family == TSR_RANK, beside = family == TSR_TRIANGLE;
  tsr_tile_grid left = {.rows = t->k, .cols = rank ? t->n : t->m};
  tsr_tile_grid right = {.rows = t->k, .cols = t->n};
  if (beside && call->side == TSR_LEFT) left.cols = t->k;
  if (beside && call->side == TSR_RIGHT) right.cols = t->k;
  graph->grid[TSR_RA] = left;
  if (call->operation != TSR_SYRK) graph->grid[TSR_RB] = right;
  if (call->operation != TSR_HER2K) return;
  graph->grid[TSR_RA2] = left;
  graph->grid[TSR_RB2] = right;
}

/* A tile of a factorisation begins at the diagonal, and a copy of it has no columns of two panels
 * (of the upper triangle no rows), so that a panel waits for its own alone. */
static void set_factor_grid(const tsr_call *call, const tsr_tiling *t, tsr_graph *graph) {
  bool lower = call->uplo == TSR_LOWER;
  tsr_tile_grid *c = &graph->grid[TSR_C_];
  c->shape = lower ? TSR_GRID_DOWN : TSR_GRID_RIGHT;
  *(lower ? &c->piece_cols : &c->piece_rows) = t->n_block;
}

static void set_grids(const tsr_call *call, const tsr_tiling *t, tsr_graph *graph) {
  graph->grid[TSR_C_] = graph->grid[TSR_W] = (tsr_tile_grid){.rows = t->m, .cols = t->n};
  if (tsr_call_has_form(call)) set_line_grids(call, t, graph);
  if (t->through != NULL) graph->grid[TSR_W].cols = t->n_of_w;
  if (t->through != NULL && t->adder >= 0) graph->grid[TSR_C_].cols = t->n_of_b; /* one tile */
  tsr_family family = tsr_family_of(call->operation);
  if (family == TSR_TRIANGLE)
    set_triangle_grids(call, t, graph);
  else if (family == TSR_FACTOR)
    set_factor_grid(call, t, graph);
  else
    set_product_grids(call, t, graph);
}

/* ---- The graph ------------------------------------------------------------ */

tsr_status tsr_graph_build(const tsr_call *call, const tsr_tiling *tiling, tsr_graph *graph) {
  static bool (*const builders[])(tsr_builder * b) = {[TSR_PRODUCT] = tsr_build_gemm,
                                                      [TSR_RANK] = tsr_build_rank,
                                                      [TSR_TRIANGLE] = tsr_build_triangle,
                                                      [TSR_FACTOR] = tsr_build_factor};
  tsr_builder b = {
      .call = call, .tiling = tiling, .graph = graph, .scales_only = tsr_call_scales_only(call)};
  *graph = (tsr_graph){.tasks = {graph->tasks.items, 0, graph->tasks.room},
                       .groups = {graph->groups.items, 0, graph->groups.room},
                       .needs = {graph->needs.items, 0, graph->needs.room}};
  b.wide = tiling->lazy && tsr_type_get(call->type)->wide != call->type;
  TSR_TRY(check_tiling(call, tiling));
  set_grids(call, tiling, graph);
  graph->depth = tiling->k.count;
  bool (*builder)(tsr_builder *) =
      tiling->through != NULL ? tsr_build_slices : builders[tsr_family_of(call->operation)];
  if (builder(&b)) return TSR_OK;
  tsr_graph_free(graph);
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for the graph of a %s: use larger tiles",
                  tsr_operation_get(call->operation)->name);
}
