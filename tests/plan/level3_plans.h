/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Plans made by hand of operations other than products, 8 x 8, in tiles of 4. Tile 0 has rows (or
 * columns) 0..3, tile 1 has 4..7.
 */
#ifndef TEST_LEVEL3_PLANS_H
#define TEST_LEVEL3_PLANS_H

#include "plan/small_plans.h"

enum { TILE = 4 };

/* The 8 x 8 operation; B is there if the operation has one. */
static inline tsr_plan *level3_plan(tsr_operation operation, tsr_type type, tsr_form form,
                                    tsr_scalar_class alpha, tsr_scalar_class beta) {
  tsr_plan *plan = small_plan(type, TSR_PINNED, alpha, beta);
  plan->call.operation = operation;
  plan->call.transa = form.transa;
  plan->call.transb = form.transb;
  plan->call.side = form.side;
  plan->call.uplo = form.uplo;
  plan->call.diag = form.diag;
  bool has_b = operation != TSR_SYRK && operation != TSR_HERK && operation != TSR_TRMM &&
               operation != TSR_TRSM && operation < TSR_OPERATION_COUNT;
  if (has_b) return plan;
  plan->call.operand[TSR_B_] = (tsr_operand){0};
  plan->buffers.items[TSR_B_] = (tsr_buffer){.role = TSR_BUFFER_HOME, .matrix = TSR_B_};
  return plan;
}

/* An operand of a kernel: its buffer and where it begins. */
typedef struct spot {
  int buffer, row, col;
} spot;

static const spot nowhere = {TSR_NO_BUFFER, 0, 0};

/* A kernel on c of m x n; waits as add_gemm's. */
static inline int add_kernel(tsr_plan *plan, int device, tsr_kernel kernel, tsr_form form,
                             int flags, spot a, spot b, spot c, int m, int n, int k, ...) {
  tsr_command command = {.row = {a.row, b.row, c.row},
                         .col = {a.col, b.col, c.col},
                         .buffer = {a.buffer, b.buffer, c.buffer},
                         .m = m,
                         .n = n,
                         .k = k,
                         .flags = (uint8_t)flags,
                         .form = tsr_form_pack(form),
                         .queue = queue_of(device, TSR_QUEUE_COMPUTE),
                         .kind = TSR_COMMAND_KERNEL,
                         .kernel = (uint8_t)kernel};
  va_list waits;
  va_start(waits, k);
  int index = add_waiting(plan, command, waits);
  va_end(waits);
  return index;
}

/* The lower triangle of C = alpha A A^T + beta C. Device 0 has the first four columns, the rest is
 * device 1's, which sums over two halves of k. */
static inline tsr_plan *plan_syrk_with(tsr_scalar_class beta) {
  const tsr_form lower = {TSR_NO_TRANS, TSR_NO_TRANS, TSR_LEFT, TSR_LOWER, TSR_NON_UNIT};
  const tsr_form product = {.transa = TSR_NO_TRANS, .transb = TSR_TRANS};
  tsr_plan *plan = level3_plan(TSR_SYRK, TSR_Z, lower, TSR_OTHER, beta);
  int in0 = queue_of(0, TSR_QUEUE_IN), in1 = queue_of(1, TSR_QUEUE_IN);
  int a0 = new_buffer(plan, TSR_A, 0, 0, 0, 8, 8), c0 = new_buffer(plan, TSR_C_, 0, 0, 0, 8, 4);
  int a1 = new_buffer(plan, TSR_A, 1, 4, 0, 4, 8), c1 = new_buffer(plan, TSR_C_, 1, 4, 4, 4, 4);
  add_copy(plan, in0, TSR_A, a0, 0, 0, 8, 8, END);  /* 0 */
  add_copy(plan, in0, TSR_C_, c0, 0, 0, 8, 4, END); /* 1 */
  add_kernel(plan, 0, TSR_KERNEL_SYRK, lower, TSR_FLAG_BETA, (spot){a0, 0, 0}, nowhere,
             (spot){c0, 0, 0}, 4, 4, 8, 1, END); /* 2 */
  add_kernel(plan, 0, TSR_KERNEL_GEMM, product, TSR_FLAG_BETA, (spot){a0, 4, 0}, (spot){a0, 0, 0},
             (spot){c0, 4, 0}, 4, 4, 8, END);                                 /* 3 */
  add_copy(plan, queue_of(0, TSR_QUEUE_OUT), c0, TSR_C_, 0, 0, 8, 4, 3, END); /* 4 */
  add_copy(plan, in1, TSR_A, a1, 4, 0, 4, 8, END);                            /* 5 */
  add_copy(plan, in1, TSR_C_, c1, 4, 4, 4, 4, END);                           /* 6 */
  for (int k = 0; k < 8; k += 4)                                              /* 7, 8 */
    add_kernel(plan, 1, TSR_KERNEL_SYRK, lower, k == 0 ? TSR_FLAG_BETA : TSR_FLAG_BETA_ONE,
               (spot){a1, 4, k}, nowhere, (spot){c1, 4, 4}, 4, 4, 4, 6, END);
  add_copy(plan, queue_of(1, TSR_QUEUE_OUT), c1, TSR_C_, 4, 4, 4, 4, 8, END); /* 9 */
  return plan_finish(plan);
}

static inline tsr_plan *plan_syrk(void) {
  return plan_syrk_with(TSR_OTHER);
}

/* A X = alpha B, A lower. Device 0 finds the first four rows and sends them to device 1. */
static inline tsr_plan *plan_trsm(void) {
  const tsr_form lower = {TSR_NO_TRANS, TSR_NO_TRANS, TSR_LEFT, TSR_LOWER, TSR_NON_UNIT};
  const tsr_form product = {.transa = TSR_NO_TRANS, .transb = TSR_NO_TRANS};
  tsr_plan *plan = level3_plan(TSR_TRSM, TSR_D, lower, TSR_OTHER, TSR_ONE);
  int in0 = queue_of(0, TSR_QUEUE_IN), in1 = queue_of(1, TSR_QUEUE_IN);
  int a0 = new_buffer(plan, TSR_A, 0, 0, 0, 4, 4), c0 = new_buffer(plan, TSR_C_, 0, 0, 0, 4, 8);
  int a1 = new_buffer(plan, TSR_A, 1, 4, 0, 4, 8), c1 = new_buffer(plan, TSR_C_, 1, 4, 0, 4, 8);
  int x0 = new_buffer(plan, TSR_C_, 1, 0, 0, 4, 8);
  add_copy(plan, in0, TSR_A, a0, 0, 0, 4, 4, END);  /* 0 */
  add_copy(plan, in0, TSR_C_, c0, 0, 0, 4, 8, END); /* 1 */
  add_kernel(plan, 0, TSR_KERNEL_TRSM, lower, 0, (spot){a0, 0, 0}, nowhere, (spot){c0, 0, 0}, 4, 8,
             4, 1, END);                                                      /* 2 */
  add_copy(plan, queue_of(0, TSR_QUEUE_PEER), c0, x0, 0, 0, 4, 8, 2, END);    /* 3 */
  add_copy(plan, queue_of(0, TSR_QUEUE_OUT), c0, TSR_C_, 0, 0, 4, 8, 2, END); /* 4 */
  add_copy(plan, in1, TSR_A, a1, 4, 0, 4, 8, END);                            /* 5 */
  add_copy(plan, in1, TSR_C_, c1, 4, 0, 4, 8, END);                           /* 6 */
  add_kernel(plan, 1, TSR_KERNEL_GEMM, product, TSR_FLAG_ALPHA_MINUS | TSR_FLAG_BETA_ALPHA,
             (spot){a1, 4, 0}, (spot){x0, 0, 0}, (spot){c1, 4, 0}, 4, 8, 4, 3, 6, END); /* 7 */
  add_kernel(plan, 1, TSR_KERNEL_TRSM, lower, TSR_FLAG_ALPHA_ONE, (spot){a1, 4, 4}, nowhere,
             (spot){c1, 4, 0}, 4, 8, 4, END);                                 /* 8 */
  add_copy(plan, queue_of(1, TSR_QUEUE_OUT), c1, TSR_C_, 4, 0, 4, 8, 8, END); /* 9 */
  return plan_finish(plan);
}

/* A = L L^H of the 8 x 8 matrix in C. Device 0 has the first four columns, and sends the block
 * below the diagonal to device 1, which has the rest. */
static inline tsr_plan *plan_potrf(void) {
  const tsr_form lower = {TSR_NO_TRANS, TSR_NO_TRANS, TSR_LEFT, TSR_LOWER, TSR_NON_UNIT};
  const tsr_form solve = {TSR_CONJ_TRANS, TSR_NO_TRANS, TSR_RIGHT, TSR_LOWER, TSR_NON_UNIT};
  tsr_plan *plan = level3_plan(TSR_OPERATION_OF(TSR_POTRF), TSR_Z, lower, TSR_ONE, TSR_ONE);
  plan->call.operand[TSR_A] = (tsr_operand){0};
  plan->buffers.items[TSR_A] = (tsr_buffer){.role = TSR_BUFFER_HOME, .matrix = TSR_A};
  int in0 = queue_of(0, TSR_QUEUE_IN), in1 = queue_of(1, TSR_QUEUE_IN);
  int c0 = new_buffer(plan, TSR_C_, 0, 0, 0, 8, 4), c1 = new_buffer(plan, TSR_C_, 1, 4, 4, 4, 4);
  int l1 = new_buffer(plan, TSR_C_, 1, 4, 0, 4, 4);
  add_copy(plan, in0, TSR_C_, c0, 0, 0, 8, 4, END); /* 0 */
  add_kernel(plan, 0, TSR_KERNEL_POTRF, lower, 0, nowhere, nowhere, (spot){c0, 0, 0}, 4, 4, 4, 0,
             END); /* 1 */
  add_kernel(plan, 0, TSR_KERNEL_TRSM, solve, TSR_FLAG_ALPHA_ONE, (spot){c0, 0, 0}, nowhere,
             (spot){c0, 4, 0}, 4, 4, 4, END);                                 /* 2 */
  add_copy(plan, queue_of(0, TSR_QUEUE_PEER), c0, l1, 4, 0, 4, 4, 2, END);    /* 3 */
  add_copy(plan, queue_of(0, TSR_QUEUE_OUT), c0, TSR_C_, 0, 0, 8, 4, 2, END); /* 4 */
  add_copy(plan, in1, TSR_C_, c1, 4, 4, 4, 4, END);                           /* 5 */
  add_kernel(plan, 1, TSR_KERNEL_HERK, lower, TSR_FLAG_ALPHA_MINUS | TSR_FLAG_BETA_ONE,
             (spot){l1, 4, 0}, nowhere, (spot){c1, 4, 4}, 4, 4, 4, 3, 5, END); /* 6 */
  add_kernel(plan, 1, TSR_KERNEL_POTRF, lower, 0, nowhere, nowhere, (spot){c1, 4, 4}, 4, 4, 4,
             END);                                                            /* 7 */
  add_copy(plan, queue_of(1, TSR_QUEUE_OUT), c1, TSR_C_, 4, 4, 4, 4, 7, END); /* 8 */
  return plan_finish(plan);
}

/* A X = alpha B, A lower, by inverses of A's blocks, which device 0 makes once for both halves of
 * X's columns. */
static inline tsr_plan *plan_inverses(void) {
  const tsr_form lower = {TSR_NO_TRANS, TSR_NO_TRANS, TSR_LEFT, TSR_LOWER, TSR_NON_UNIT};
  const tsr_form product = {.transa = TSR_NO_TRANS, .transb = TSR_NO_TRANS};
  tsr_plan *plan = level3_plan(TSR_TRSM, TSR_D, lower, TSR_OTHER, TSR_ONE);
  int in = queue_of(0, TSR_QUEUE_IN), out = queue_of(0, TSR_QUEUE_OUT);
  int a = new_buffer(plan, TSR_A, 0, 0, 0, 8, 8), c = new_buffer(plan, TSR_C_, 0, 0, 0, 8, 8);
  int v0 = new_buffer(plan, TSR_V, 0, 0, 0, 4, 4), v1 = new_buffer(plan, TSR_V, 0, 4, 4, 4, 4);
  add_copy(plan, in, TSR_A, a, 0, 0, 8, 8, END);  /* 0 */
  add_copy(plan, in, TSR_C_, c, 0, 0, 8, 8, END); /* 1 */
  for (int j = 0; j < 8; j += 4) {                /* 2 to 6; 7 to 9 */
    if (j == 0)
      add_kernel(plan, 0, TSR_KERNEL_INVERT, lower, TSR_FLAG_ALPHA_ONE, (spot){a, 0, 0}, nowhere,
                 (spot){v0, 0, 0}, 4, 4, 4, 0, 1, END);
    add_kernel(plan, 0, TSR_KERNEL_SOLVE, lower, 0, (spot){v0, 0, 0}, nowhere, (spot){c, 0, j}, 4,
               4, 4, END);
    add_kernel(plan, 0, TSR_KERNEL_GEMM, product, TSR_FLAG_ALPHA_MINUS | TSR_FLAG_BETA_ALPHA,
               (spot){a, 4, 0}, (spot){c, 0, j}, (spot){c, 4, j}, 4, 4, 4, END);
    if (j == 0)
      add_kernel(plan, 0, TSR_KERNEL_INVERT, lower, TSR_FLAG_ALPHA_ONE, (spot){a, 4, 4}, nowhere,
                 (spot){v1, 4, 4}, 4, 4, 4, END);
    add_kernel(plan, 0, TSR_KERNEL_SOLVE, lower, TSR_FLAG_ALPHA_ONE, (spot){v1, 4, 4}, nowhere,
               (spot){c, 4, j}, 4, 4, 4, END);
  }
  add_copy(plan, out, c, TSR_C_, 0, 0, 8, 8, 9, END); /* 10 */
  return plan_finish(plan);
}

/* C = alpha A B, A Hermitian with its lower triangle. Device 0 has four columns in one kernel,
 * device 1 the others in four, into W, which it adds to nothing. */
static inline tsr_plan *plan_hemm(void) {
  const tsr_form lower = {TSR_NO_TRANS, TSR_NO_TRANS, TSR_LEFT, TSR_LOWER, TSR_NON_UNIT};
  const tsr_form plain = {.transa = TSR_NO_TRANS, .transb = TSR_NO_TRANS};
  const tsr_form turned = {.transa = TSR_CONJ_TRANS, .transb = TSR_NO_TRANS};
  tsr_plan *plan = level3_plan(TSR_HEMM, TSR_Z, lower, TSR_OTHER, TSR_ZERO);
  int a[2], b[2], c[2], got[2];
  for (int d = 0; d < 2; d++) { /* 0, 1; 2, 3 */
    a[d] = new_buffer(plan, TSR_A, d, 0, 0, 8, 8);
    b[d] = new_buffer(plan, TSR_B_, d, 0, 4 * d, 8, 4);
    c[d] = new_buffer(plan, TSR_C_, d, 0, 4 * d, 8, 4);
    add_copy(plan, queue_of(d, TSR_QUEUE_IN), TSR_A, a[d], 0, 0, 8, 8, END);
    got[d] = add_copy(plan, queue_of(d, TSR_QUEUE_IN), TSR_B_, b[d], 0, 4 * d, 8, 4, END);
  }
  int w = new_buffer(plan, TSR_W, 1, 0, 4, 8, 4);
  add_kernel(plan, 0, TSR_KERNEL_HEMM, lower, 0, (spot){a[0], 0, 0}, (spot){b[0], 0, 0},
             (spot){c[0], 0, 0}, 8, 4, 8, got[0], END); /* 4 */
  add_kernel(plan, 1, TSR_KERNEL_HEMM, lower, 0, (spot){a[1], 0, 0}, (spot){b[1], 0, 4},
             (spot){w, 0, 4}, 4, 4, 4, got[1], END); /* 5 */
  add_kernel(plan, 1, TSR_KERNEL_GEMM, turned, TSR_FLAG_BETA_ONE, (spot){a[1], 4, 0},
             (spot){b[1], 4, 4}, (spot){w, 0, 4}, 4, 4, 4, END); /* 6 */
  add_kernel(plan, 1, TSR_KERNEL_GEMM, plain, 0, (spot){a[1], 4, 0}, (spot){b[1], 0, 4},
             (spot){w, 4, 4}, 4, 4, 4, END); /* 7 */
  add_kernel(plan, 1, TSR_KERNEL_HEMM, lower, TSR_FLAG_BETA_ONE, (spot){a[1], 4, 4},
             (spot){b[1], 4, 4}, (spot){w, 4, 4}, 4, 4, 4, END); /* 8 */
  add_kernel(plan, 1, TSR_KERNEL_ADD, plain, TSR_FLAG_ALPHA_ONE | TSR_FLAG_BETA, (spot){w, 0, 4},
             nowhere, (spot){c[1], 0, 4}, 8, 4, 0, END); /* 9 */
  for (int d = 0; d < 2; d++)                            /* 10, 11 */
    add_copy(plan, queue_of(d, TSR_QUEUE_OUT), c[d], TSR_C_, 0, 4 * d, 8, 4, d == 0 ? 4 : 9, END);
  return plan_finish(plan);
}

/* All that the call has is at device 0, which works on C in place. */
static inline tsr_plan *level3_in_place(tsr_operation operation, tsr_type type, tsr_form form,
                                        tsr_scalar_class beta) {
  tsr_plan *plan = level3_plan(operation, type, form, TSR_OTHER, beta);
  for (int i = 0; i < TSR_OPERANDS; i++)
    if (plan->call.operand[i].rows > 0) move_home(plan, i, 0);
  return plan;
}

#endif
