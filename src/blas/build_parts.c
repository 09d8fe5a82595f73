/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the builders share: rectangles of matrices, the owners of parts, and the walk through the
 * parts of C that products and rank-k updates have in common.
 */
#include "blas/build.h"

#include "base/alloc.h"
#include "base/least.h"

/* ---- Pieces of tasks ------------------------------------------------------ */

/* The row of the grid that owns a part of m. */
static int row_of(const tsr_tiling *t, int i) {
  return t->down != NULL ? t->down[i] : i % t->grid_rows;
}

/* The column of the grid that owns a part of n: in turn, or every second round from right to
 * left. */
static int col_of(const tsr_tiling *t, int j) {
  if (t->across != NULL) return t->across[j];
  int round = j / t->grid_cols, place = j % t->grid_cols;
  return t->alternates && round % 2 ? t->grid_cols - 1 - place : place;
}

int16_t tsr_owner_of(const tsr_tiling *t, int i, int j) {
  return t->device[row_of(t, i) * t->grid_cols + col_of(t, j)];
}

/* Sorts parts by the place (row or column of the grid) that owns them. False: no memory. */
static bool assign(const tsr_tiling *t, int parts, int places,
                   int (*place_of)(const tsr_tiling *t, int part), tsr_owners *d) {
  d->part = tsr_alloc(sizeof *d->part * ((size_t)parts + 1));
  d->first = tsr_alloc_zero((size_t)places + 2, sizeof *d->first);
  if (!d->part || !d->first) {
    tsr_owners_free(d);
    return false;
  }
  for (int i = 0; i < parts; i++) d->first[place_of(t, i) + 2]++;
  for (int p = 0; p < places; p++) d->first[p + 2] += d->first[p + 1];
  for (int i = 0; i < parts; i++) d->part[d->first[place_of(t, i) + 1]++] = i;
  return true;
}

bool tsr_owners_of_rows(const tsr_tiling *t, tsr_owners *owners) {
  return assign(t, t->m.count, t->grid_rows, row_of, owners);
}

bool tsr_owners_of_cols(const tsr_tiling *t, tsr_owners *owners) {
  return assign(t, t->n.count, t->grid_cols, col_of, owners);
}

void tsr_owners_free(tsr_owners *owners) {
  tsr_dealloc(owners->part);
  tsr_dealloc(owners->first);
  *owners = (tsr_owners){NULL, NULL};
}

tsr_pass tsr_pass_of(const tsr_tiling *t, int row, int col) {
  return t->passes != NULL ? t->passes[row * t->grid_cols + col] : t->pass;
}

bool tsr_goes_to_w(const tsr_builder *b, tsr_part_of_c p) {
  const tsr_tiling *t = b->tiling;
  if (!t->lazy || b->wide || t->lazy_everywhere) return t->lazy;
  return tsr_owner_of(t, p.i, p.j) != b->call->operand[TSR_C_].location;
}

static bool is_home_of_all(const tsr_call *call, int device) {
  bool all = true;
  for (int x = 0; x < TSR_OPERANDS; x++) all &= call->operand[x].location == device;
  return all;
}

bool tsr_is_whole_at(const tsr_tiling *t, const tsr_call *call, int place) {
  bool in_c = t->through == NULL || t->adder == t->device[place];
  return t->whole_at_home && !t->lazy_everywhere && in_c && is_home_of_all(call, t->device[place]);
}

/* In most cuts all parts are as long as the first one, so that is tried first. */
int tsr_cut_at(const tsr_cuts *cuts, int64_t at) {
  if (cuts->count < 2) return 0;
  int64_t guess = at / cuts->at[1];
  if (guess < cuts->count && cuts->at[guess] <= at && at < cuts->at[guess + 1]) return (int)guess;
  int low = 0, high = cuts->count - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (cuts->at[middle] <= at)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

tsr_task_operand tsr_rectangle(const tsr_graph *graph, int matrix, tsr_access access, int64_t row,
                               int64_t rows, int64_t col, int64_t cols) {
  const tsr_tile_grid *grid = &graph->grid[matrix];
  int i = tsr_cut_at(&grid->rows, row), j = tsr_cut_at(&grid->cols, col);
  return (tsr_task_operand){.row = row,
                            .col = col,
                            .rows = (int32_t)rows,
                            .cols = (int32_t)cols,
                            .tile = i * grid->cols.count + j,
                            .matrix = (uint8_t)matrix,
                            .access = (uint8_t)access};
}

tsr_task_operand tsr_oriented(const tsr_graph *graph, int matrix, tsr_op op, int64_t row,
                              int64_t rows, int64_t col, int64_t cols) {
  if (op == TSR_NO_TRANS) return tsr_rectangle(graph, matrix, TSR_READ, row, rows, col, cols);
  return tsr_rectangle(graph, matrix, TSR_READ, col, cols, row, rows);
}

bool tsr_push_task(tsr_builder *b, tsr_task task) {
  for (int i = 0; i < 3; i++)
    if (task.operand[i].access != TSR_NONE) b->graph->used |= 1u << task.operand[i].matrix;
  return TSR_VEC_PUSH(&b->graph->tasks, task);
}

/* ---- Through the parts of C ----------------------------------------------- */

/* The n-block from a column on when one k-panel is all of k. N-blocks double from the first on, so
 * that the first kernel waits for few columns and the others are wide. */
static int64_t grown(const tsr_tiling *t, int64_t from) {
  int64_t n_block = t->n_block_first > from ? t->n_block_first : from;
  return n_block < t->n_block_last ? n_block : t->n_block_last;
}

/* Columns of the next kernel in a step, from column `from` of a tile on, of which `rest` columns
 * are left. The taper halves the rest, so that little is left to write back after the last
 * kernel. */
static int64_t next_n_block(const tsr_builder *b, int step, int64_t from, int64_t rest) {
  const tsr_tiling *t = b->tiling;
  bool last = b->uniform || step < 0 || step == b->last_k_panel;
  bool only = !b->adds_at_once && b->first_k_panel == b->last_k_panel;
  int64_t n_block = only                       ? grown(t, from)
                    : last                     ? t->n_block_last
                    : step == b->first_k_panel ? t->n_block_first
                                               : t->n_block;
  if (last && t->n_block_least > 0 && rest < 2 * n_block) {
    int64_t half = (rest / 2 + 63) / 64 * 64;
    n_block = half < t->n_block_least ? t->n_block_least : half < n_block ? half : n_block;
  }
  return n_block < rest ? n_block : rest;
}

/* A pass: the tiles of C in rows row[li] .. row[li_end - 1] and columns col[lj] .. col[lj_end -
 * 1]. */
typedef struct pass {
  const int *row, *col; /* rows and columns of tiles that the device owns */
  int li, li_end, lj, lj_end;
  bool backwards; /* through k, from its end */
} pass;

/* The k-panels that are added to one tile of C before the next tile, in the order of the pass: the
 * first of them, and how many. Or TSR_STEP_SCALE or TSR_STEP_ADD, with count 1. */
typedef struct stretch {
  int first, count;
  bool backwards;
} stretch;

static int k_panel_of(const stretch *s, int i) {
  return s->backwards ? s->first - i : s->first + i;
}

/* In a rank-k update some parts are complete without an addition, and copies back to C must come in
 * the order in which parts are complete. */
static bool push_part(tsr_builder *b, tsr_part_of_c part, int step) {
  if (!b->emit(b, part, step)) return false;
  bool last = step == b->last_k_panel;
  return !b->adds_at_once || !last || b->emit(b, part, TSR_STEP_ADD);
}

static bool push_stretch(tsr_builder *b, tsr_part_of_c part, const stretch *s) {
  for (int i = 0; i < s->count; i++)
    if (!push_part(b, part, k_panel_of(s, i))) return false;
  return true;
}

/* The n-blocks of one of the device's columns of tiles. */
static bool push_column(tsr_builder *b, const pass *p, int j, const stretch *s) {
  const tsr_tiling *t = b->tiling;
  int64_t width = tsr_cut_length(&t->n, j);
  for (int64_t from = 0, length; from < width; from += length) {
    length = next_n_block(b, k_panel_of(s, s->count - 1), from, width - from);
    tsr_part_of_c c = {.j = j, .col = tsr_cut_begin(&t->n, j) + from, .cols = length};
    for (int li = p->li; li < p->li_end; li++) {
      c.i = p->row[li];
      if (!push_stretch(b, c, s)) return false;
    }
  }
  return true;
}

static bool push_columns(tsr_builder *b, const pass *p, stretch s) {
  for (int lj = p->lj; lj < p->lj_end; lj++)
    if (!push_column(b, p, p->col[lj], &s)) return false;
  return true;
}

/* A part of A: rows li .. li_end-1 of a pass, and k_panels k-panels from k_panel on, which are one
 * product. */
typedef struct part_of_a {
  int li, li_end, k_panel, k_panels;
} part_of_a;

/* The number of parts of A by which a leading block grows: k-panels, or, if one k-panel is all of
 * k, rows of tiles. */
static int leading_parts(const tsr_builder *b, const pass *p) {
  int k_panels = b->tiling->k.count;
  return k_panels > 1 ? k_panels : p->li_end - p->li;
}

static part_of_a leading_part(const tsr_builder *b, const pass *p, int first, int count) {
  if (b->tiling->k.count > 1) return (part_of_a){p->li, p->li_end, first, count};
  return (part_of_a){p->li + first, p->li + first + count, 0, 1};
}

/* The share that the first `parts` parts have of A. */
static double leading_share(const tsr_builder *b, const pass *p, int parts) {
  const tsr_tiling *t = b->tiling;
  if (t->k.count > 1) return (double)t->k.at[parts] / (double)b->call->k;
  int64_t rows = 0, all = 0;
  for (int li = p->li; li < p->li_end; li++) {
    int64_t length = tsr_cut_length(&t->m, p->row[li]);
    all += length;
    if (li - p->li < parts) rows += length;
  }
  return (double)rows / (double)all;
}

/* Columns of B for tile column j that have arrived with the first `parts` parts of A. A and B
 * arrive at the same rate in bytes, so that the leading block that can be multiplied grows
 * fastest. */
static int64_t open_columns(const tsr_builder *b, const pass *p, int j, int parts) {
  static const int64_t align = 128; /* as the planner cuts C: CUT_ALIGN in plan/tuning.def */
  int64_t width = tsr_cut_length(&b->tiling->n, j);
  if (parts == leading_parts(b, p)) return width;
  double share = leading_share(b, p, parts) * (double)b->call->m / (double)b->call->n;
  double columns = share * (double)width / align;
  return columns * align < (double)width ? (int64_t)columns * align : width;
}

/* The n-blocks of columns [from, end) of a tile, each multiplied with one part of A. */
static bool push_open(tsr_builder *b, const pass *p, int j, int64_t from, int64_t end,
                      part_of_a a) {
  const tsr_tiling *t = b->tiling;
  int64_t width = tsr_cut_length(&t->n, j);
  for (int64_t length; from < end; from += length) {
    length = next_n_block(b, a.k_panel + a.k_panels - 1, from, width - from);
    if (length > end - from) length = end - from;
    tsr_part_of_c c = {
        .j = j, .col = tsr_cut_begin(&t->n, j) + from, .cols = length, .k_panels = a.k_panels};
    for (int li = a.li; li < a.li_end; li++) {
      c.i = p->row[li];
      if (!b->emit(b, c, a.k_panel)) return false;
    }
  }
  return true;
}

/* A leading block, part by part of A: each part is multiplied with the columns that arrived before
 * it, then the next columns are multiplied with all parts so far. */
static bool push_leading(tsr_builder *b, const pass *p) {
  for (int i = 0; i < leading_parts(b, p); i++)
    for (int lj = p->lj; lj < p->lj_end; lj++) {
      int j = p->col[lj];
      int64_t before = i > 0 ? open_columns(b, p, j, i) : 0, after = open_columns(b, p, j, i + 1);
      if (!push_open(b, p, j, 0, before, leading_part(b, p, i, 1))) return false;
      if (!push_open(b, p, j, before, after, leading_part(b, p, 0, i + 1))) return false;
    }
  return true;
}

static bool push_k_panels(tsr_builder *b, const pass *p) {
  int count = b->tiling->k.count, depth = b->tiling->depth > 0 ? b->tiling->depth : 1;
  for (int l = 0; l < count; l += depth) {
    stretch s = {p->backwards ? count - 1 - l : l, tsr_least(depth, count - l), p->backwards};
    if (!push_columns(b, p, s)) return false;
  }
  return true;
}

static bool push_steps(tsr_builder *b, const pass *p) {
  int count = b->tiling->k.count;
  if (b->scales_only) return push_columns(b, p, (stretch){TSR_STEP_SCALE, 1, false});
  b->first_k_panel = p->backwards ? count - 1 : 0;
  b->last_k_panel = p->backwards ? 0 : count - 1;
  if (!(b->tiling->leading ? push_leading : push_k_panels)(b, p)) return false;
  return b->adds_at_once || push_columns(b, p, (stretch){TSR_STEP_ADD, 1, false});
}

static bool push_group(tsr_builder *b, const pass *p) {
  tsr_group group = {.first = b->graph->tasks.count};
  if (!push_steps(b, p)) return false;
  group.count = b->graph->tasks.count - group.first;
  if (group.count == 0) return true;
  group.device = b->graph->tasks.items[group.first].device;
  return TSR_VEC_PUSH(&b->graph->groups, group);
}

static int parts_of(int count, int step) {
  return (count + step - 1) / step;
}

/* All passes over the rows and columns of tiles that a device owns. In serpentine order
 * neighbouring passes share rows or columns of tiles, and go through k in opposite directions. */
static bool push_passes(tsr_builder *b, const int *row, int rows, const int *col, int cols,
                        tsr_pass shape) {
  int step_rows = shape.rows > 0 ? shape.rows : rows, down = parts_of(rows, step_rows);
  int step_cols = shape.cols > 0 ? shape.cols : cols, across = parts_of(cols, step_cols);
  bool serpentine = b->tiling->serpentine;
  for (int y = 0; y < across; y++)
    for (int i = 0; i < down; i++) {
      int x = serpentine && y % 2 ? down - 1 - i : i, li = x * step_rows, lj = y * step_cols;
      pass p = {row,  col, li, tsr_least(li + step_rows, rows), lj, tsr_least(lj + step_cols, cols),
                false};
      p.backwards = serpentine && (y * down + i) % 2;
      if (!push_group(b, &p)) return false;
    }
  return true;
}

/* All parts of a device, each in one kernel. */
static bool push_whole(tsr_builder *b, const int *row, int rows, const int *col, int cols) {
  const tsr_tiling *t = b->tiling;
  tsr_group group = {.first = b->graph->tasks.count};
  b->first_k_panel = 0;
  b->last_k_panel = t->k.count - 1;
  for (int lj = 0; lj < cols; lj++)
    for (int li = 0; li < rows; li++) {
      tsr_part_of_c c = {.i = row[li],
                         .j = col[lj],
                         .col = tsr_cut_begin(&t->n, col[lj]),
                         .cols = tsr_cut_length(&t->n, col[lj]),
                         .k_panels = t->k.count};
      if (c.cols > 0 && tsr_cut_length(&t->m, c.i) > 0 && !b->emit(b, c, 0)) return false;
    }
  group.count = b->graph->tasks.count - group.first;
  if (group.count == 0) return true;
  group.device = b->graph->tasks.items[group.first].device;
  return TSR_VEC_PUSH(&b->graph->groups, group);
}

static bool push_device(tsr_builder *b, const tsr_owners *rows, const tsr_owners *cols, int r,
                        int c) {
  const tsr_tiling *t = b->tiling;
  const int *row = rows->part + rows->first[r], *col = cols->part + cols->first[c];
  int down = rows->first[r + 1] - rows->first[r], across = cols->first[c + 1] - cols->first[c];
  if (down == 0 || across == 0) return true;
  if (!b->wide && tsr_is_whole_at(t, b->call, r * t->grid_cols + c))
    return push_whole(b, row, down, col, across);
  return push_passes(b, row, down, col, across, tsr_pass_of(t, r, c));
}

static bool push_devices(tsr_builder *b, const tsr_owners *rows, const tsr_owners *cols) {
  const tsr_tiling *t = b->tiling;
  for (int r = 0; r < t->grid_rows; r++)
    for (int c = 0; c < t->grid_cols; c++)
      if (!push_device(b, rows, cols, r, c)) return false;
  return true;
}

bool tsr_build_parts(tsr_builder *b) {
  tsr_owners rows = {NULL, NULL}, cols = {NULL, NULL};
  bool done = tsr_owners_of_rows(b->tiling, &rows) && tsr_owners_of_cols(b->tiling, &cols) &&
              push_devices(b, &rows, &cols);
  tsr_owners_free(&rows);
  tsr_owners_free(&cols);
  return done;
}
