/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/panels.h"

#include "base/alloc.h"

static int least_common_multiple(int a, int b) {
  int x = a, y = b;
  while (y != 0) {
    int rest = x % y;
    x = y;
    y = rest;
  }
  return a / x * b;
}

/* The next panel of a pair of process column `col` and process row `row`: its first `depth` indices
 * from *cursor on, or fewer at the end (depth 0: none). Moves *cursor behind them. */
static tsr_panel take(const tsr_axis *a, const tsr_axis *b, int col, int row, int64_t depth,
                      int64_t *cursor) {
  tsr_panel panel = {*cursor, 0, row, col};
  tsr_span span = {*cursor, 0};
  while (panel.depth < depth && tsr_axis_common(a, col, b, row, a->extent, &span)) {
    int64_t wanted = depth - panel.depth, length = span.end - span.at;
    if (length > wanted) span.end = span.at + wanted;
    panel.depth += span.end - span.at;
    span.at = *cursor = span.end;
  }
  if (panel.depth == 0) *cursor = a->extent;
  return panel;
}

/* Pair number t of process rows and columns. Each pair comes once for t = 0 .. rows * cols - 1. The
 * first lcm(rows, cols) pairs are those that own indices of k if A and B have the same blocks. */
static void pair(int t, int rows, int cols, int *row, int *col) {
  *row = t % rows;
  *col = (t + t / least_common_multiple(rows, cols)) % cols;
}

/* Appends one panel of each pair that has indices left. False: no memory. */
static bool make_round(const tsr_axis *a, const tsr_axis *b, int64_t depth, int64_t *cursor,
                       tsr_panels *panels) {
  for (int t = 0; t < a->count * b->count; t++) {
    int row, col;
    pair(t, b->count, a->count, &row, &col);
    tsr_panel panel = take(a, b, col, row, depth, &cursor[t]);
    if (panel.depth > 0 && !TSR_VEC_PUSH(panels, panel)) return false;
  }
  return true;
}

/* The depth of panels in a round. Two rounds have depth `first` and later ones double it, so all
 * rounds before a round have together as many indices as that round. */
static int64_t depth_of(int round, int64_t first, int64_t depth) {
  for (int i = 1; i < round && first < depth; i++) first *= 2;
  return first < depth ? first : depth;
}

tsr_status tsr_panels_make(const tsr_axis *a, const tsr_axis *b, int64_t first, int64_t depth,
                           tsr_panels *panels) {
  int64_t *cursor = tsr_alloc_zero((size_t)a->count * (size_t)b->count, sizeof *cursor);
  bool made = cursor != NULL;
  size_t before = 0;
  for (int round = 0; made; round++, before = panels->count) {
    made = make_round(a, b, depth_of(round, first, depth), cursor, panels);
    if (panels->count == before) break;
  }
  tsr_dealloc(cursor);
  if (made) return TSR_OK;
  tsr_panels_free(panels);
  return tsr_fail(TSR_ERR_MEMORY, "no host memory for the order of the panels");
}

void tsr_panels_free(tsr_panels *panels) {
  TSR_VEC_FREE(panels);
}
