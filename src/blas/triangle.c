/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A triangle beside C: the tasks of one block of C. */
#include "blas/triangle.h"

/* The matrix in which a block is summed. */
static int sum_of(const tsr_builder *b) {
  return tsr_sums_in_copy(b) ? TSR_W : TSR_C_;
}

/* Whether op(A) is lower triangular. */
static bool acts_lower(const tsr_call *call) {
  return (call->uplo == TSR_LOWER) == (call->transa == TSR_NO_TRANS);
}

bool tsr_takes_before(const tsr_builder *b) {
  return tsr_is_left(b) == acts_lower(b->call);
}

bool tsr_goes_up(const tsr_builder *b) {
  if (tsr_is_symmetric(b)) return b->call->uplo == TSR_LOWER;
  return tsr_solves(b) == tsr_takes_before(b);
}

int16_t tsr_owner_of_lines(const tsr_builder *b, int f) {
  return tsr_is_left(b) ? tsr_owner_of(b->tiling, 0, f) : tsr_owner_of(b->tiling, f, 0);
}

/* ---- Rectangles ----------------------------------------------------------- */

/* The operand of a rectangle of C, B or the workspace W. In the direction in which A stands, it has
 * `length` indices from `at` on; in the other direction, the lines of the stripe. With A on the
 * left lines are columns, else rows. */
static tsr_task_operand lines_of(const tsr_builder *b, int matrix, tsr_access access,
                                 const tsr_stripe *s, int64_t at, int64_t length) {
  if (tsr_is_left(b)) return tsr_rectangle(b->graph, matrix, access, at, length, s->line, s->lines);
  return tsr_rectangle(b->graph, matrix, access, s->line, s->lines, at, length);
}

static bool push(tsr_builder *b, tsr_task task, const tsr_stripe *s, int64_t block) {
  task.m = (int32_t)(tsr_is_left(b) ? block : s->lines);
  task.n = (int32_t)(tsr_is_left(b) ? s->lines : block);
  task.device = s->device;
  bool formed = tsr_call_has_form(b->call) && task.kernel == TSR_KERNEL_GEMM;
  return formed ? tsr_push_product_of_lines(b, task) : tsr_push_task(b, task);
}

/* ---- One block ------------------------------------------------------------ */

tsr_block tsr_block_of(const tsr_builder *b, const tsr_stripe *s, int j, int tasks) {
  const tsr_cuts *cuts = &b->tiling->k;
  return (tsr_block){s, tsr_cut_begin(cuts, j), tsr_cut_length(cuts, j), tasks, false};
}

/* The op with which a product uses the part of A between a range of its order and a block. *stored:
 * TSR_TRANS if the stored triangle of a symmetric A has this part transposed. */
static tsr_op op_between(const tsr_builder *b, bool range_before, tsr_op *stored) {
  const tsr_call *call = b->call;
  if (!tsr_is_symmetric(b)) return *stored = call->transa;
  /* A on the left: the block is the rows of the wanted part of A; on the right: its columns. */
  bool wants_lower = tsr_is_left(b) == range_before;
  bool is_stored = wants_lower == (call->uplo == TSR_LOWER);
  *stored = is_stored ? TSR_NO_TRANS : TSR_TRANS;
  if (is_stored) return TSR_NO_TRANS;
  return call->operation == TSR_HEMM ? TSR_CONJ_TRANS : TSR_TRANS;
}

/* The scalars of a kernel that adds to a block: the first kernel on a block begins the sum, from
 * beta C or in W. */
static void begin_or_add(const tsr_builder *b, const tsr_block *k, tsr_task *task) {
  if (k->begun)
    task->flags |= TSR_FLAG_BETA_ONE;
  else if (!tsr_sums_in_copy(b))
    task->flags |= TSR_FLAG_BETA;
  if (b->call->alpha == TSR_ONE) task->flags |= TSR_FLAG_ALPHA_ONE;
}

static void set_product_scalars(const tsr_builder *b, const tsr_block *k, tsr_task *task) {
  const tsr_call *call = b->call;
  if (!tsr_solves(b)) {
    begin_or_add(b, k, task);
    return;
  }
  task->flags |= TSR_FLAG_ALPHA_MINUS;
  bool scales = !k->begun && call->alpha != TSR_ONE;
  task->flags |= scales ? TSR_FLAG_BETA_ALPHA : TSR_FLAG_BETA_ONE;
}

/* How the next task on a block uses C or W there: TSR_WRITE if it does not read old values. */
static tsr_access sum_access(const tsr_builder *b, const tsr_block *k) {
  if (k->begun || tsr_solves(b)) return TSR_UPDATE;
  return tsr_sums_in_copy(b) || b->call->beta == TSR_ZERO ? TSR_WRITE : TSR_UPDATE;
}

/* The operand in another form: A's, which belongs to the block, or those of the stripe. */
static tsr_task_operand in_form(const tsr_builder *b, int matrix, const tsr_block *k, int64_t from,
                                int64_t length) {
  bool of_a = (matrix == TSR_RA) == tsr_is_left(b);
  int64_t line = of_a ? k->at : k->stripe->line, lines = of_a ? k->length : k->stripe->lines;
  return tsr_rectangle(b->graph, matrix, TSR_READ, from, length, line, lines);
}

static void set_factors_in_form(const tsr_builder *b, const tsr_block *k, int64_t from,
                                int64_t length, tsr_task *task) {
  task->operand[0] = in_form(b, TSR_RA, k, from, length);
  task->operand[1] = in_form(b, TSR_RB, k, from, length);
}

static void set_factors(const tsr_builder *b, const tsr_block *k, int64_t from, int64_t length,
                        tsr_task *task) {
  tsr_op stored, op = op_between(b, from < k->at, &stored);
  int source = tsr_is_symmetric(b) ? TSR_B_ : TSR_C_, a = tsr_is_left(b) ? 0 : 1;
  tsr_form form = {.transa = tsr_is_left(b) ? op : TSR_NO_TRANS,
                   .transb = tsr_is_left(b) ? TSR_NO_TRANS : op};
  task->form = tsr_form_pack(form);
  task->operand[a] = tsr_is_left(b)
                         ? tsr_oriented(b->graph, TSR_A, stored, k->at, k->length, from, length)
                         : tsr_oriented(b->graph, TSR_A, stored, from, length, k->at, k->length);
  task->operand[1 - a] = lines_of(b, source, TSR_READ, k->stripe, from, length);
}

bool tsr_push_product(tsr_builder *b, tsr_block *k, int64_t from, int64_t length) {
  tsr_task task = {.kernel = TSR_KERNEL_GEMM, .k = (int32_t)length};
  bool formed = tsr_call_has_form(b->call);
  (formed ? set_factors_in_form : set_factors)(b, k, from, length, &task);
  task.operand[2] = lines_of(b, sum_of(b), sum_access(b, k), k->stripe, k->at, k->length);
  set_product_scalars(b, k, &task);
  task.last = --k->left == 0 && !tsr_solves(b) && !tsr_sums_in_copy(b);
  k->begun = true;
  return push(b, task, k->stripe, k->length);
}

static void set_own_scalars(const tsr_builder *b, const tsr_block *k, tsr_task *task) {
  if (!tsr_solves(b)) {
    begin_or_add(b, k, task);
    return;
  }
  if (k->begun || b->call->alpha == TSR_ONE)
    task->flags |= TSR_FLAG_ALPHA_ONE; /* the first product applied alpha */
}

bool tsr_push_own_kernel(tsr_builder *b, tsr_block *k) {
  static const uint8_t kernels[TSR_OPERATION_COUNT] = {[TSR_SYMM] = TSR_KERNEL_SYMM,
                                                       [TSR_HEMM] = TSR_KERNEL_HEMM,
                                                       [TSR_TRMM] = TSR_KERNEL_TRMM,
                                                       [TSR_TRSM] = TSR_KERNEL_TRSM};
  const tsr_call *call = b->call;
  tsr_form form = {.transa = tsr_is_symmetric(b) ? TSR_NO_TRANS : call->transa,
                   .side = call->side,
                   .uplo = call->uplo,
                   .diag = call->diag};
  tsr_task task = {
      .kernel = kernels[call->operation], .form = tsr_form_pack(form), .k = (int32_t)k->length};
  int other = tsr_multiplies(b) ? TSR_C_ : TSR_B_;
  int first = b->tiling->inverses ? TSR_V : TSR_A;
  task.operand[0] = tsr_rectangle(b->graph, first, TSR_READ, k->at, k->length, k->at, k->length);
  if (first == TSR_V) {
    task.kernel = TSR_KERNEL_SOLVE;
    b->graph->used |= 1u << TSR_A;
  }
  if (!tsr_solves(b)) task.operand[1] = lines_of(b, other, TSR_READ, k->stripe, k->at, k->length);
  task.operand[2] = lines_of(b, sum_of(b), sum_access(b, k), k->stripe, k->at, k->length);
  set_own_scalars(b, k, &task);
  task.last = --k->left == 0 && !tsr_sums_in_copy(b);
  k->begun = true;
  return push(b, task, k->stripe, k->length);
}

bool tsr_push_result(tsr_builder *b, const tsr_block *k) {
  bool adds = tsr_is_symmetric(b), reads = adds && b->call->beta != TSR_ZERO;
  tsr_task task = {.kernel = TSR_KERNEL_ADD, .flags = TSR_FLAG_ALPHA_ONE, .last = true};
  if (adds) task.flags |= TSR_FLAG_BETA;
  task.operand[0] = lines_of(b, TSR_W, TSR_READ, k->stripe, k->at, k->length);
  task.operand[2] =
      lines_of(b, TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, k->stripe, k->at, k->length);
  return push(b, task, k->stripe, k->length);
}

bool tsr_push_scaled(tsr_builder *b, const tsr_block *k) {
  bool reads = b->call->beta != TSR_ZERO;
  tsr_task task = {.kernel = TSR_KERNEL_SCALE, .flags = TSR_FLAG_BETA, .last = true};
  task.operand[2] =
      lines_of(b, TSR_C_, reads ? TSR_UPDATE : TSR_WRITE, k->stripe, k->at, k->length);
  return push(b, task, k->stripe, k->length);
}
