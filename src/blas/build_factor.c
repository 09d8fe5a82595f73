/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The graph of a factorisation, left-looking. All that follows is said of L, the lower triangle; U
 * is its conjugate transpose, and so are its tiles.
 *
 * L is cut into block columns, which the devices own in turn. A block column begins at the
 * diagonal; its rows are one tile, or are cut into several. It is factored panel by panel, n_block
 * columns at a time. First comes the panel's head: its block on the diagonal loses the products of
 * all columns to its left, L_k L_k^H, and is factored. Then the rows below it lose theirs, L_ik
 * L_k^H, in one group for each tile, and are solved with the head. These products do not wait for
 * the head.
 *
 * So a block column waits for the one before it, which another device may have. With early products
 * it loses those of each block column to its left as soon as that is there, all panels at once, in
 * a group of their own; and a device that has no memory for all block columns fetches each of those
 * to the left once for all panels.
 */
#include "blas/build.h"

#include "base/alloc.h"
#include "base/least.h"

/* The graph as far as it has been built, and the groups that later groups must wait for. */
typedef struct tsr_factoring {
  tsr_builder *b;
  const tsr_cuts *cols, *rows; /* of L: block columns, and the rows of tiles */
  int32_t *finished; /* of each part of the rows: the group that has finished columns there last */
  int32_t *finished_by; /* of each block column: the last group of its first part of the rows */
  int32_t products;     /* the last group of early products; NO_GROUP: this block column has none */
} tsr_factoring;

enum { NO_GROUP = -1 };

static bool is_lower(const tsr_builder *b) {
  return b->call->uplo == TSR_LOWER;
}

static bool is_real(const tsr_builder *b) {
  return !tsr_type_get(b->call->type)->complex_valued;
}

/* A range of rows or columns of L. */
typedef struct span {
  int64_t begin, end;
} span;

static span part_of(const tsr_cuts *cuts, int i) {
  return (span){cuts->at[i], cuts->at[i + 1]};
}

static tsr_task_operand rectangle(const tsr_builder *b, tsr_access access, span rows, span cols) {
  if (!is_lower(b)) {
    span turned = rows;
    rows = cols;
    cols = turned;
  }
  return tsr_rectangle(b->graph, TSR_C_, access, rows.begin, rows.end - rows.begin, cols.begin,
                       cols.end - cols.begin);
}

/* A tile on the diagonal of a C that is in a device's memory is that device's: no device can write
 * a triangle to another one. So are the other tiles of a block column of several panels, which
 * would wait for all of them: other devices read whole tiles. */
static int16_t device_of(const tsr_factoring *f, int part, int col) {
  const tsr_operand *c = &f->b->call->operand[TSR_C_];
  const tsr_tiling *t = f->b->tiling;
  bool across = f->rows->at[part] <= f->cols->at[col] && f->cols->at[col] < f->rows->at[part + 1];
  bool parts = tsr_cut_length(f->cols, col) > t->n_block;
  if ((across || parts) && c->memory == TSR_DEVICE) return (int16_t)c->location;
  return t->device[col % (t->grid_rows * t->grid_cols)];
}

/* ---- Tasks ---------------------------------------------------------------- */

static tsr_task task_on(const tsr_builder *b, int16_t device, tsr_kernel kernel, tsr_form form,
                        span rows, span cols) {
  tsr_task task = {.kernel = (uint8_t)kernel, .form = tsr_form_pack(form), .device = device};
  task.operand[2] = rectangle(b, TSR_UPDATE, rows, cols);
  task.m = task.operand[2].rows;
  task.n = task.operand[2].cols;
  return task;
}

static tsr_op turned(const tsr_builder *b) {
  return is_real(b) ? TSR_TRANS : TSR_CONJ_TRANS;
}

/* The rows lose the products of the columns k: a rank-k update where they are those of the panel.
 */
static bool push_update(tsr_builder *b, int16_t device, span rows, span cols, span k) {
  bool lower = is_lower(b), across = rows.begin == cols.begin;
  tsr_form rank = {.transa = lower ? TSR_NO_TRANS : turned(b), .uplo = b->call->uplo};
  tsr_form product = {.transa = lower ? TSR_NO_TRANS : turned(b),
                      .transb = lower ? turned(b) : TSR_NO_TRANS};
  tsr_kernel kernel = !across ? TSR_KERNEL_GEMM : is_real(b) ? TSR_KERNEL_SYRK : TSR_KERNEL_HERK;
  tsr_task task = task_on(b, device, kernel, across ? rank : product, rows, cols);
  task.flags = TSR_FLAG_ALPHA_MINUS | TSR_FLAG_BETA_ONE;
  task.k = (int32_t)(k.end - k.begin);
  task.operand[0] = rectangle(b, TSR_READ, lower ? rows : cols, k);
  if (!across) task.operand[1] = rectangle(b, TSR_READ, lower ? cols : rows, k);
  return tsr_push_task(b, task);
}

/* How many of the first block columns have early products for another one: not the one before it,
 * whose products the first panel's head is to have at once. */
static int early_of(const tsr_factoring *f, int col) {
  bool early = f->b->tiling->early && f->rows->count == 1;
  return early && col > 0 ? col - 1 : 0;
}

/* The products of all columns to the left of a panel, but for the early ones. */
static bool push_updates(const tsr_factoring *f, int16_t device, span rows, span panel, int col) {
  for (int k = early_of(f, col); k < col; k++)
    if (!push_update(f->b, device, rows, panel, part_of(f->cols, k))) return false;
  span before = {f->cols->at[col], panel.begin};
  return before.begin == before.end || push_update(f->b, device, rows, panel, before);
}

static bool push_factor(tsr_builder *b, int16_t device, span panel) {
  tsr_form form = {.uplo = b->call->uplo};
  tsr_task task = task_on(b, device, TSR_KERNEL_POTRF, form, panel, panel);
  task.k = task.n;
  task.last = true;
  return tsr_push_task(b, task);
}

static bool push_solve(tsr_builder *b, int16_t device, span rows, span panel) {
  tsr_form form = {.transa = turned(b),
                   .side = is_lower(b) ? TSR_RIGHT : TSR_LEFT,
                   .uplo = b->call->uplo,
                   .diag = TSR_NON_UNIT};
  tsr_task task = task_on(b, device, TSR_KERNEL_TRSM, form, rows, panel);
  task.flags = TSR_FLAG_ALPHA_ONE;
  task.operand[0] = rectangle(b, TSR_READ, panel, panel);
  task.k = task.operand[0].rows;
  task.last = true;
  return tsr_push_task(b, task);
}

/* ---- Groups --------------------------------------------------------------- */

/* Makes a group of the tasks from `first` on, which needs some others (NO_GROUP: none). Returns its
 * number; NO_GROUP: no memory. */
static int32_t push_group(tsr_builder *b, size_t first, const int32_t *needs, int count) {
  tsr_graph *graph = b->graph;
  tsr_group group = {.first = first,
                     .count = graph->tasks.count - first,
                     .needs = graph->needs.count,
                     .device = graph->tasks.items[first].device};
  for (int i = 0; i < count; i++)
    if (needs[i] != NO_GROUP && !TSR_VEC_PUSH(&graph->needs, needs[i])) return NO_GROUP;
  group.needed = graph->needs.count - group.needs;
  return TSR_VEC_PUSH(&graph->groups, group) ? (int32_t)graph->groups.count - 1 : NO_GROUP;
}

/* A block column, which is one tile, loses the products of the one with number k. */
static bool push_early(tsr_factoring *f, int col, int k) {
  span all = part_of(f->cols, col), below = {all.end, f->rows->at[1]}, from = part_of(f->cols, k);
  int16_t device = device_of(f, 0, col);
  size_t first = f->b->graph->tasks.count;
  if (!push_update(f->b, device, all, all, from)) return false;
  if (below.begin < below.end && !push_update(f->b, device, below, all, from)) return false;
  f->products = push_group(f->b, first, (int32_t[]){f->products, f->finished_by[k]}, 2);
  return f->products != NO_GROUP;
}

/* The head of a panel. Returns its group. */
static int32_t push_head(const tsr_factoring *f, span panel, int part, int col) {
  int16_t device = device_of(f, part, col);
  size_t first = f->b->graph->tasks.count;
  if (!push_updates(f, device, panel, panel, col) || !push_factor(f->b, device, panel))
    return NO_GROUP;
  return push_group(f->b, first, (int32_t[]){f->finished[part], f->products}, 2);
}

/* The rows of a panel in a part. */
static bool push_rows(tsr_factoring *f, span rows, span panel, int part, int col, int32_t head) {
  int16_t device = device_of(f, part, col);
  size_t first = f->b->graph->tasks.count;
  if (!push_updates(f, device, rows, panel, col) || !push_solve(f->b, device, rows, panel))
    return false;
  int32_t group = push_group(f->b, first, (int32_t[]){f->finished[part], head}, 2);
  f->finished[part] = group;
  return group != NO_GROUP;
}

static bool push_panel(tsr_factoring *f, span panel, int col) {
  int across = tsr_cut_at(f->rows, panel.begin); /* a panel may begin inside a part */
  int32_t head = push_head(f, panel, across, col);
  if (head == NO_GROUP) return false;
  for (int part = across; part < f->rows->count; part++) {
    span rows = part_of(f->rows, part);
    if (part == across) rows.begin = panel.end;
    if (rows.begin < rows.end && !push_rows(f, rows, panel, part, col, head)) return false;
  }
  return true;
}

static bool push_block_column(tsr_factoring *f, int col) {
  span all = part_of(f->cols, col);
  int64_t width = f->b->tiling->n_block;
  f->products = NO_GROUP;
  for (int k = 0; k < early_of(f, col); k++)
    if (!push_early(f, col, k)) return false;
  for (int64_t at = all.begin; at < all.end; at += width)
    if (!push_panel(f, (span){at, tsr_least(at + width, all.end)}, col)) return false;
  f->finished_by[col] = f->finished[0];
  return true;
}

/* ---- The whole ------------------------------------------------------------ */

bool tsr_build_factor(tsr_builder *b) {
  const tsr_tiling *t = b->tiling;
  bool lower = is_lower(b);
  tsr_factoring f = {.b = b, .cols = lower ? &t->n : &t->m, .rows = lower ? &t->m : &t->n};
  f.finished = tsr_alloc(sizeof *f.finished * ((size_t)f.rows->count + 1));
  f.finished_by = tsr_alloc(sizeof *f.finished_by * ((size_t)f.cols->count + 1));
  bool done = f.finished != NULL && f.finished_by != NULL;
  for (int i = 0; done && i < f.rows->count; i++) f.finished[i] = NO_GROUP;
  for (int col = 0; done && col < f.cols->count; col++) done = push_block_column(&f, col);
  tsr_dealloc(f.finished);
  tsr_dealloc(f.finished_by);
  return done;
}
