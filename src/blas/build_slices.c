/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The graph of a GEMM whose k is cut over the devices. Each device multiplies its slice of k,
 * k-panel by k-panel, and sums the products of all of C in a W of its own. Then C is added up, each
 * part of its columns by one device: first beta C and the W of the first slice, then the W of each
 * next one. The sums have that order whichever device is the first to end, so that equal plans give
 * equal bits. A device that is home to all operands and adds up C itself multiplies its slice in
 * one kernel, into C, and adds the W of the others to that.
 */
#include "blas/build.h"

enum { NO_PLACE = -1 };

/* The columns of W, for the sums of a place of the grid, that stand for columns [col, col + cols)
 * of C. */
static tsr_task_operand sums_of(const tsr_builder *b, int place, tsr_access access, int64_t col,
                                int64_t cols) {
  const tsr_call *call = b->call;
  return tsr_rectangle(b->graph, TSR_W, access, 0, call->m, place * call->n + col, cols);
}

static bool push_product(tsr_builder *b, int place, int k_panel, bool first) {
  tsr_task task = tsr_gemm_task(b, 0, 0, b->call->n, k_panel, 1);
  task.operand[2] = sums_of(b, place, first ? TSR_WRITE : TSR_UPDATE, 0, b->call->n);
  if (!first) task.flags |= TSR_FLAG_BETA_ONE;
  task.m = (int32_t)b->call->m;
  task.n = (int32_t)b->call->n;
  task.device = b->tiling->device[place];
  return tsr_push_task(b, task);
}

/* The product of a slice at the home of all operands: C = beta C + A B over parts [begin, end) of
 * k. */
static bool push_product_at_home(tsr_builder *b, int place, int begin, int end, bool last) {
  const tsr_call *call = b->call;
  bool reads = call->beta != TSR_ZERO;
  tsr_task task = tsr_gemm_task(b, 0, 0, call->n, begin, end - begin);
  task.operand[2] =
      tsr_rectangle(b->graph, TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, 0, call->m, 0, call->n);
  task.flags |= TSR_FLAG_BETA;
  task.m = (int32_t)call->m;
  task.n = (int32_t)call->n;
  task.device = b->tiling->device[place];
  task.last = last;
  return tsr_push_task(b, task);
}

/* C = beta C + W for part j of C, or C = C + W if it has the sums of another place already. */
static bool push_addition(tsr_builder *b, int j, int place, bool first, bool last) {
  const tsr_tiling *t = b->tiling;
  int64_t col = tsr_cut_begin(&t->n, j);
  int32_t cols = tsr_cut_length(&t->n, j);
  bool reads = !first || b->call->beta != TSR_ZERO;
  tsr_task task = {
      .kernel = TSR_KERNEL_ADD,
      .flags = first ? TSR_FLAG_ALPHA_ONE | TSR_FLAG_BETA : TSR_FLAG_ALPHA_ONE | TSR_FLAG_BETA_ONE,
      .m = (int32_t)b->call->m,
      .n = cols,
      .device = t->adder >= 0 ? t->adder : t->device[j],
      .last = last};
  task.operand[0] = sums_of(b, place, TSR_READ, col, cols);
  task.operand[2] =
      tsr_rectangle(b->graph, TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, 0, b->call->m, col, cols);
  return tsr_push_task(b, task);
}

/* Closes the group of the tasks from `first` on, which needs all groups before the number
 * `all_before`. */
static bool push_group(tsr_builder *b, size_t first, size_t all_before) {
  tsr_group group = {
      .first = first, .count = b->graph->tasks.count - first, .all_before = all_before};
  if (group.count == 0) return true;
  group.device = b->graph->tasks.items[first].device;
  return TSR_VEC_PUSH(&b->graph->groups, group);
}

/* The place of the last slice. */
static int last_place(const tsr_tiling *t) {
  return t->through[t->k.count - 1];
}

/* The place whose products are summed in C; NO_PLACE: all are summed in W. */
static int place_in_c(const tsr_builder *b) {
  for (int place = 0; place <= last_place(b->tiling); place++)
    if (tsr_is_whole_at(b->tiling, b->call, place)) return place;
  return NO_PLACE;
}

static bool push_slice_at_home(tsr_builder *b, int place) {
  const tsr_tiling *t = b->tiling;
  size_t first = b->graph->tasks.count;
  int begin = 0;
  while (begin < t->k.count && t->through[begin] != place) begin++;
  int end = begin;
  while (end < t->k.count && t->through[end] == place) end++;
  if (begin == end) return true;
  bool alone = t->through[0] == last_place(t);
  return push_product_at_home(b, place, begin, end, alone) && push_group(b, first, 0);
}

static bool push_slice(tsr_builder *b, int place) {
  const tsr_tiling *t = b->tiling;
  if (place == place_in_c(b)) return push_slice_at_home(b, place);
  size_t begin = b->graph->tasks.count;
  for (int l = 0; l < t->k.count; l++)
    if (t->through[l] == place && !push_product(b, place, l, b->graph->tasks.count == begin))
      return false;
  return push_group(b, begin, 0);
}

/* Adds to a part of C the sums of all places that have a slice: those up to the last k-panel's.
 * products: the number of the groups that make these sums. */
static bool push_sums(tsr_builder *b, int j, size_t products) {
  const tsr_tiling *t = b->tiling;
  size_t begin = b->graph->tasks.count;
  int in_c = place_in_c(b), last = last_place(t);
  if (last == in_c) last--;
  for (int place = 0; place <= last; place++)
    if (place != in_c && !push_addition(b, j, place, place == 0 && in_c == NO_PLACE, place == last))
      return false;
  return push_group(b, begin, products);
}

bool tsr_build_slices(tsr_builder *b) {
  const tsr_tiling *t = b->tiling;
  for (int place = 0; place <= last_place(t); place++)
    if (!push_slice(b, place)) return false;
  size_t products = b->graph->groups.count;
  for (int j = 0; j < t->n.count; j++)
    if (!push_sums(b, j, products)) return false;
  return true;
}
