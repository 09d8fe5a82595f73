/* GEMM: the graph builder. */
#include "base/alloc.h"
#include "blas/graph.h"

static bool transposed(tsr_op op) {
  return op != TSR_NO_TRANS;
}

/* What the builder carries around. */
typedef struct builder {
  const tsr_call *call;
  const tsr_tiling *tiling;
  tsr_graph *graph;
  bool scales_only;
  bool wide; /* W is of the type's wide type */
} builder;

/* A part of C, all of whose rows belong to tile row i and columns to tile column j. */
typedef struct part {
  int i, j;
  int64_t col, cols;
} part;

static int64_t begin_of(const tsr_cuts *cuts, int i) {
  return cuts->at[i];
}

static int32_t length_of(const tsr_cuts *cuts, int i) {
  return (int32_t)(cuts->at[i + 1] - cuts->at[i]);
}

static int16_t owner_of(const tsr_tiling *t, int i, int j) {
  return t->device[i % t->grid_rows * t->grid_cols + j % t->grid_cols];
}

/* The rectangle of the stored matrix that is op() of rows r.. and columns c.. . */
static tsr_task_operand oriented(int matrix, tsr_op op, int64_t row, int32_t rows, int tile_row,
                                 int64_t col, int32_t cols, int tile_col, int tile_rows,
                                 int tile_cols) {
  tsr_task_operand o = {.matrix = (uint8_t)matrix, .access = TSR_READ};
  bool t = transposed(op);
  o.row = t ? col : row;
  o.col = t ? row : col;
  o.rows = t ? cols : rows;
  o.cols = t ? rows : cols;
  o.tile = t ? tile_col * tile_rows + tile_row : tile_row * tile_cols + tile_col;
  return o;
}

static tsr_task_operand part_of_c(const builder *b, int matrix, tsr_access access, part p) {
  const tsr_tiling *t = b->tiling;
  return (tsr_task_operand){.row = begin_of(&t->m, p.i),
                            .col = p.col,
                            .rows = length_of(&t->m, p.i),
                            .cols = (int32_t)p.cols,
                            .tile = p.i * t->n.count + p.j,
                            .matrix = (uint8_t)matrix,
                            .access = (uint8_t)access};
}

/* Whether the product of a part goes to W: not where its owner can add it to C in place. */
static bool goes_to_w(const builder *b, part p) {
  const tsr_tiling *t = b->tiling;
  if (!t->lazy || b->wide || t->lazy_everywhere) return t->lazy;
  return owner_of(t, p.i, p.j) != b->call->operand[TSR_C_].location;
}

static bool push(builder *b, tsr_task task, part p) {
  const tsr_tiling *t = b->tiling;
  task.m = length_of(&t->m, p.i);
  task.n = (int32_t)p.cols;
  if (task.device < 0) task.device = owner_of(t, p.i, p.j);
  return TSR_VEC_PUSH(&b->graph->tasks, task);
}

static bool push_product(builder *b, part p, int l) {
  const tsr_tiling *t = b->tiling;
  const tsr_call *call = b->call;
  bool first = l == 0, lazy = goes_to_w(b, p);
  tsr_form form = {.transa = call->transa, .transb = call->transb};
  tsr_task task = {.kernel = TSR_KERNEL_GEMM,
                   .form = tsr_form_pack(form),
                   .k = length_of(&t->k, l),
                   .device = -1};
  task.operand[0] = oriented(TSR_A, call->transa, begin_of(&t->m, p.i), length_of(&t->m, p.i), p.i,
                             begin_of(&t->k, l), task.k, l, t->m.count, t->k.count);
  task.operand[1] = oriented(TSR_B_, call->transb, begin_of(&t->k, l), task.k, l, p.col,
                             (int32_t)p.cols, p.j, t->k.count, t->n.count);
  bool reads = !first || (!lazy && call->beta != TSR_ZERO);
  task.operand[2] = part_of_c(b, lazy ? TSR_W : TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, p);
  if (!first)
    task.flags |= TSR_FLAG_BETA_ONE;
  else if (!lazy)
    task.flags |= TSR_FLAG_BETA;
  if (lazy && b->wide) task.flags |= TSR_FLAG_WIDE;
  if (call->alpha == TSR_ONE) task.flags |= TSR_FLAG_ALPHA_ONE;
  task.last = !lazy && l == t->k.count - 1;
  return push(b, task, p);
}

static bool push_addition(builder *b, part p) {
  if (!goes_to_w(b, p)) return true;
  bool reads = b->call->beta != TSR_ZERO;
  tsr_task task = {.kernel = TSR_KERNEL_ADD, .flags = TSR_FLAG_BETA | TSR_FLAG_ALPHA_ONE};
  task.operand[0] = part_of_c(b, TSR_W, TSR_READ, p);
  task.operand[2] = part_of_c(b, TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, p);
  if (b->wide) task.flags |= TSR_FLAG_WIDE;
  task.last = true;
  task.device = b->tiling->adder;
  return push(b, task, p);
}

static bool push_scaling(builder *b, part p) {
  bool reads = b->call->beta != TSR_ZERO;
  tsr_task task = {.kernel = TSR_KERNEL_SCALE, .flags = TSR_FLAG_BETA, .device = -1};
  task.operand[2] = part_of_c(b, TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, p);
  task.last = true;
  return push(b, task, p);
}

enum { STEP_SCALE = -2, STEP_ADD = -1 }; /* else a slab of k */

static bool push_step(builder *b, part p, int step) {
  if (step == STEP_SCALE) return push_scaling(b, p);
  if (step == STEP_ADD) return push_addition(b, p);
  return push_product(b, p, step);
}

/* Columns of the next kernel when rest are left of a pass. The taper halves what is left, so that
 * little remains to be brought home after the last kernel. */
static int64_t next_chunk(const tsr_tiling *t, int step, int64_t rest) {
  bool last = step < 0 || step == t->k.count - 1;
  int64_t chunk = last ? t->chunk_last : step == 0 ? t->chunk_first : t->chunk;
  if (last && t->chunk_least > 0 && rest < 2 * chunk) {
    int64_t half = (rest / 2 + 63) / 64 * 64;
    chunk = half < t->chunk_least ? t->chunk_least : half < chunk ? half : chunk;
  }
  return chunk < rest ? chunk : rest;
}

/* What a pass covers at one device: local tiles li .. li_end-1 by lj .. lj_end-1 of the device at
 * (row, col) of the grid. */
typedef struct pass {
  int row, col, li, li_end, lj, lj_end;
} pass;

/* Chunks of one local column of tiles. */
static bool push_column(builder *b, const pass *p, int lj, int step) {
  const tsr_tiling *t = b->tiling;
  int j = lj * t->grid_cols + p->col;
  if (j >= t->n.count) return true;
  int64_t width = length_of(&t->n, j);
  for (int64_t from = 0, length; from < width; from += length) {
    length = next_chunk(t, step, width - from);
    part c = {.j = j, .col = begin_of(&t->n, j) + from, .cols = length};
    for (int li = p->li; li < p->li_end; li++) {
      c.i = li * t->grid_rows + p->row;
      if (c.i < t->m.count && !push_step(b, c, step)) return false;
    }
  }
  return true;
}

static bool push_pass_step(builder *b, const pass *p, int step) {
  for (int lj = p->lj; lj < p->lj_end; lj++)
    if (!push_column(b, p, lj, step)) return false;
  return true;
}

static bool push_steps(builder *b, const pass *p) {
  if (b->scales_only) return push_pass_step(b, p, STEP_SCALE);
  for (int l = 0; l < b->tiling->k.count; l++)
    if (!push_pass_step(b, p, l)) return false;
  return !b->tiling->lazy || push_pass_step(b, p, STEP_ADD);
}

static bool push_group(builder *b, const pass *p) {
  tsr_group group = {.first = b->graph->tasks.count};
  if (!push_steps(b, p)) return false;
  group.count = b->graph->tasks.count - group.first;
  if (group.count == 0) return true;
  group.device = b->graph->tasks.items[group.first].device;
  return TSR_VEC_PUSH(&b->graph->groups, group);
}

static int least(int a, int b) {
  return a < b ? a : b;
}

static bool push_pass(builder *b, pass p) {
  for (p.row = 0; p.row < b->tiling->grid_rows; p.row++)
    for (p.col = 0; p.col < b->tiling->grid_cols; p.col++)
      if (!push_group(b, &p)) return false;
  return true;
}

static bool push_all(builder *b) {
  const tsr_tiling *t = b->tiling;
  int rows = (t->m.count + t->grid_rows - 1) / t->grid_rows;
  int cols = (t->n.count + t->grid_cols - 1) / t->grid_cols;
  int step_rows = t->pass_rows ? t->pass_rows : rows,
      step_cols = t->pass_cols ? t->pass_cols : cols;
  for (int lj = 0; lj < cols; lj += step_cols)
    for (int li = 0; li < rows; li += step_rows) {
      pass p = {0, 0, li, least(li + step_rows, rows), lj, least(lj + step_cols, cols)};
      if (!push_pass(b, p)) return false;
    }
  return true;
}

static void set_grids(const tsr_call *call, const tsr_tiling *t, tsr_graph *graph) {
  tsr_tile_grid a = {t->m, t->k}, a_t = {t->k, t->m};
  tsr_tile_grid b = {t->k, t->n}, b_t = {t->n, t->k};
  graph->grid[TSR_A] = transposed(call->transa) ? a_t : a;
  graph->grid[TSR_B_] = transposed(call->transb) ? b_t : b;
  graph->grid[TSR_C_] = graph->grid[TSR_W] = (tsr_tile_grid){t->m, t->n};
}

/* About 15 GB of tasks, far beyond what a plan is good for; numbers of tiles stay within an
 * int32_t.
 */
static const double most_tiles = 1 << 26;

static bool too_long(const tsr_cuts *cuts) {
  for (int i = 0; i < cuts->count; i++)
    if (cuts->at[i + 1] - cuts->at[i] > INT32_MAX) return true;
  return false;
}

static tsr_status check_count(const tsr_tiling *t) {
  if (too_long(&t->m) || too_long(&t->n) || too_long(&t->k))
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "gemm: tiles may not be longer than %d elements: force smaller ones "
                    "(TESSERA_TILE)",
                    INT32_MAX);
  double m = t->m.count, n = t->n.count, k = t->k.count > 0 ? t->k.count : 1;
  if (m * n * k <= most_tiles) return TSR_OK;
  return tsr_fail(
      TSR_ERR_MEMORY,
      "gemm: a plan of %.3g kernels (%d x %d x %d tiles) is too large: give larger tiles "
      "(TESSERA_TILE) or a larger budget (TESSERA_MEMORY)",
      m * n * k, t->m.count, t->n.count, t->k.count);
}

tsr_status tsr_graph_gemm(const tsr_call *call, const tsr_tiling *tiling, tsr_graph *graph) {
  builder b = {call, tiling, graph, tsr_call_scales_only(call), false};
  *graph = (tsr_graph){0};
  b.wide = tiling->lazy && tsr_type_get(call->type)->wide != call->type;
  TSR_TRY(check_count(tiling));
  set_grids(call, tiling, graph);
  if (push_all(&b)) return TSR_OK;
  tsr_graph_free(graph);
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for the graph of a gemm: use larger tiles");
}
