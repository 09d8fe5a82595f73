/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The graph of GEMM. */
#include "blas/build.h"

static tsr_task_operand part_of_c(const tsr_builder *b, int matrix, tsr_access access,
                                  tsr_part_of_c p) {
  const tsr_tiling *t = b->tiling;
  return tsr_rectangle(b->graph, matrix, access, tsr_cut_begin(&t->m, p.i),
                       tsr_cut_length(&t->m, p.i), p.col, p.cols);
}

static bool push(tsr_builder *b, tsr_task task, tsr_part_of_c p) {
  task.m = tsr_cut_length(&b->tiling->m, p.i);
  task.n = (int32_t)p.cols;
  if (task.device < 0) task.device = tsr_owner_of(b->tiling, p.i, p.j);
  return tsr_push_task(b, task);
}

/* ---- In a form ------------------------------------------------------------ */

/* Adds the product of all of k to a part. */
static bool push_product_of_lines(tsr_builder *b, tsr_part_of_c p) {
  const tsr_tiling *t = b->tiling;
  const tsr_call *call = b->call;
  int64_t row = tsr_cut_begin(&t->m, p.i), rows = tsr_cut_length(&t->m, p.i);
  tsr_task task = {.flags = TSR_FLAG_BETA,
                   .m = (int32_t)rows,
                   .n = (int32_t)p.cols,
                   .k = (int32_t)call->k,
                   .device = tsr_owner_of(t, p.i, p.j),
                   .last = true};
  task.operand[0] = tsr_rectangle(b->graph, TSR_RA, TSR_READ, 0, call->k, row, rows);
  task.operand[1] = tsr_rectangle(b->graph, TSR_RB, TSR_READ, 0, call->k, p.col, p.cols);
  task.operand[2] = part_of_c(b, TSR_C_, call->beta != TSR_ZERO ? TSR_UPDATE : TSR_WRITE, p);
  if (call->alpha == TSR_ONE) task.flags |= TSR_FLAG_ALPHA_ONE;
  return tsr_push_product_of_lines(b, task);
}

/* ---- Natively ---------------------------------------------------------------- */

tsr_task tsr_gemm_task(const tsr_builder *b, int i, int64_t col, int64_t cols, int first,
                       int count) {
  const tsr_tiling *t = b->tiling;
  const tsr_call *call = b->call;
  tsr_form form = {.transa = call->transa, .transb = call->transb};
  int64_t k = tsr_cut_begin(&t->k, first), length = t->k.at[first + count] - k;
  tsr_task task = {
      .kernel = TSR_KERNEL_GEMM, .form = tsr_form_pack(form), .k = (int32_t)length, .device = -1};
  task.operand[0] = tsr_oriented(b->graph, TSR_A, call->transa, tsr_cut_begin(&t->m, i),
                                 tsr_cut_length(&t->m, i), k, length);
  task.operand[1] = tsr_oriented(b->graph, TSR_B_, call->transb, k, length, col, cols);
  if (call->alpha == TSR_ONE) task.flags |= TSR_FLAG_ALPHA_ONE;
  return task;
}

/* Adds the product of k-panel l (or of p.k_panels of them) to a part. */
static bool push_product(tsr_builder *b, tsr_part_of_c p, int l) {
  const tsr_call *call = b->call;
  bool first = l == b->first_k_panel, lazy = tsr_goes_to_w(b, p);
  int count = p.k_panels > 1 ? p.k_panels : 1, last = l + count - 1;
  tsr_task task = tsr_gemm_task(b, p.i, p.col, p.cols, l, count);
  bool reads = !first || (!lazy && call->beta != TSR_ZERO);
  task.operand[2] = part_of_c(b, lazy ? TSR_W : TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, p);
  if (!first)
    task.flags |= TSR_FLAG_BETA_ONE;
  else if (!lazy)
    task.flags |= TSR_FLAG_BETA;
  if (lazy && b->wide) task.flags |= TSR_FLAG_WIDE;
  task.last = !lazy && last == b->last_k_panel;
  return push(b, task, p);
}

/* C = beta C + W, for a part whose products were summed in W. */
static bool push_addition(tsr_builder *b, tsr_part_of_c p) {
  if (!tsr_goes_to_w(b, p)) return true;
  bool reads = b->call->beta != TSR_ZERO;
  tsr_task task = {.kernel = TSR_KERNEL_ADD, .flags = TSR_FLAG_BETA | TSR_FLAG_ALPHA_ONE};
  task.operand[0] = part_of_c(b, TSR_W, TSR_READ, p);
  task.operand[2] = part_of_c(b, TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, p);
  if (b->wide) task.flags |= TSR_FLAG_WIDE;
  task.last = true;
  task.device = b->tiling->adder;
  return push(b, task, p);
}

static bool push_scaling(tsr_builder *b, tsr_part_of_c p) {
  bool reads = b->call->beta != TSR_ZERO;
  tsr_task task = {.kernel = TSR_KERNEL_SCALE, .flags = TSR_FLAG_BETA, .device = -1};
  task.operand[2] = part_of_c(b, TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, p);
  task.last = true;
  return push(b, task, p);
}

static bool emit(tsr_builder *b, tsr_part_of_c p, int step) {
  if (step == TSR_STEP_SCALE) return push_scaling(b, p);
  if (step == TSR_STEP_ADD) return push_addition(b, p);
  return tsr_call_has_form(b->call) ? push_product_of_lines(b, p) : push_product(b, p, step);
}

bool tsr_build_gemm(tsr_builder *b) {
  b->emit = emit;
  return tsr_build_parts(b);
}
