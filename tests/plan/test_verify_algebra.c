/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Whether a plan computes what its call asks for: operations in tiles, on two devices, are
 * accepted, and with one mistake refused; a kernel is accepted for the operation whose form it has.
 */
#include "plan/level3_plans.h"
#include "plan/mistakes.h"

/* ---- On two devices ---- */

static void accepts_tiles(void **state) {
  (void)state;
  accept(plan_syrk());
  accept(plan_syrk_with(TSR_ONE));
  accept(plan_trsm());
  accept(plan_inverses());
  accept(plan_hemm());
  accept(plan_potrf());
}

/* A form, packed, as a mistake gives it. */
enum { OP_T = 1, OP_C = 2, OP_BT = 4, LOWER = 16, UPPER = 32, RIGHT = 64, UNIT = 128 };

static const mistake mistakes[] = {
    /* syrk */
    {"syrk of the wrong triangle", plan_syrk, FORM, 2, UPPER,
     "rows 0..3, columns 0..3 of C are wrong: they hold the original"},
    {"syrk of no triangle", plan_syrk, FORM, 2, 0, "does not say which triangle its operand has"},
    {"syrk transposed", plan_syrk, FORM, 2, LOWER | OP_T,
     "command 2 (syrk on device 0, queue compute 0): operand a: columns of A cannot stand for rows "
     "of C"},
    {"herk for syrk", plan_syrk, KERNEL, 2, TSR_KERNEL_HERK, "are wrong; command 2 (herk"},
    {"conjugated product", plan_syrk, FORM, 3, OP_C << 2, "are wrong; command 3 (gemm"},
    {"wrong part of A", plan_syrk, ROW0, 8, 0, "rows 0..3, columns 4..7 of A are not in buffer 5"},
    {"syrk off the diagonal", plan_syrk, ROW2, 2, 4, "do not meet"},
    {"syrk of the wrong sign", plan_syrk, FLAGS, 8,
     TSR_FLAG_BETA_ONE | TSR_FLAG_ALPHA_MINUS | TSR_FLAG_EVENT,
     "at the end, rows 4..7, columns 4..7 of C are wrong; command 8 (syrk"},
    {"half of k forgotten", plan_syrk, K, 8, 3, "are wrong: k 7..7 is missing; command 8 (syrk"},
    {"half of k twice", plan_syrk, COL0, 8, 0, "are wrong; command 8 (syrk"},
    {"beta twice", plan_syrk, FLAGS, 8, TSR_FLAG_BETA | TSR_FLAG_EVENT,
     "are wrong; command 8 (syrk"},
    {"beta and one", plan_syrk, FLAGS, 8, TSR_FLAG_BETA | TSR_FLAG_BETA_ONE,
     "beta has more than one"},
    {"conj of alpha", plan_syrk, FLAGS, 3, TSR_FLAG_BETA | TSR_FLAG_ALPHA_CONJ | TSR_FLAG_EVENT,
     "are wrong; command 3 (gemm"},
    {"written back too early", plan_syrk, WAITS, 9, 0, "without waiting for command 8 (syrk"},
    {"C fetched in part", plan_syrk, N, 1, 3, "columns 3..3 of C are not there"},
    /* trsm */
    {"solved with the wrong triangle", plan_trsm, FORM, 2, UPPER, "are wrong; command 2 (trsm"},
    {"solved with the transpose", plan_trsm, FORM, 2, LOWER | OP_T, "are wrong; command 2 (trsm"},
    {"unit diagonal", plan_trsm, FORM, 8, LOWER | UNIT,
     "at the end, rows 4..7, columns 0..7 of C are wrong; command 8 (trsm"},
    {"solved from the right", plan_trsm, FORM, 2, LOWER | RIGHT, "are not in buffer"},
    {"trmm for trsm", plan_trsm, KERNEL, 8, TSR_KERNEL_TRMM, "buffer 1 is number -1"},
    {"wrong sign", plan_trsm, FLAGS, 7, TSR_FLAG_BETA_ALPHA | TSR_FLAG_ALPHA_ONE,
     "at the end, rows 4..7, columns 0..7 of C are wrong; command 8 (trsm"},
    {"alpha never", plan_trsm, FLAGS, 7, TSR_FLAG_BETA_ONE | TSR_FLAG_ALPHA_MINUS,
     "are wrong; command 8 (trsm"},
    {"alpha twice", plan_trsm, FLAGS, 8, TSR_FLAG_EVENT, "are wrong; command 8 (trsm"},
    {"update in part", plan_trsm, N, 7, 7,
     "at the end, rows 4..7, columns 7..7 of C are wrong; command 8 (trsm"},
    {"update lost", plan_trsm, FLAGS, 7, TSR_FLAG_ALPHA_MINUS, "are wrong; command 8 (trsm"},
    {"update with the wrong tile of A", plan_trsm, COL0, 7, 4,
     "operand a: columns from 4 of A do not meet rows from 0 of C"},
    {"update before its data", plan_trsm, WAIT0, 7, 6,
     "operand b: reads rows 0..3, columns 0..7 of C without waiting for command 3"},
    {"an operand upon itself", plan_trsm, BUFFER1, 7, 6, "rows 0..3, columns 0..7 of C are not in"},
    /* trsm by inverses */
    {"inverted the other triangle", plan_inverses, FORM, 2, UPPER, "not have the triangle of A"},
    {"inverted with ones", plan_inverses, FORM, 2, LOWER | UNIT, "not have the triangle of A"},
    {"inverted off the diagonal", plan_inverses, ROW0, 2, 4, "is not on the diagonal of A"},
    {"an inverse of another block", plan_inverses, ROW2, 2, 4, "are not in buffer"},
    {"half of a block inverted", plan_inverses, N, 2, 3, "the inverse is not at the place"},
    {"inverted into C", plan_inverses, BUFFER2, 2, 4, "operand c is of C"},
    {"an inverse that is solved", plan_inverses, KERNEL, 2, TSR_KERNEL_SOLVE, "is of A"},
    {"solved with the block itself", plan_inverses, KERNEL, 3, TSR_KERNEL_TRSM, "is of V"},
    {"solved with the transposed inverse", plan_inverses, FORM, 7, LOWER | OP_T,
     "are wrong; command 7 (solve"},
    {"solved with A", plan_inverses, BUFFER0, 3, 3, "operand a is of A"},
    {"another sign after the inverse", plan_inverses, FLAGS, 9,
     TSR_FLAG_ALPHA_MINUS | TSR_FLAG_EVENT, "are wrong; command 9 (solve"},
    {"inverted before A is there", plan_inverses, WAITS, 2, 0, "without waiting for command 0"},
    /* hemm */
    {"hemm of the wrong triangle", plan_hemm, FORM, 5, UPPER, "are wrong; command 9 (add"},
    {"hemm from the right", plan_hemm, FORM, 5, LOWER | RIGHT,
     "operand a: rows of A cannot stand for columns of W"},
    {"symm for hemm", plan_hemm, KERNEL, 4, TSR_KERNEL_SYMM,
     "at the end, rows 0..3, columns 0..3 of C are wrong; command 4 (symm"},
    {"transposed without conjugation", plan_hemm, FORM, 6, OP_T, "are wrong; command 9 (add"},
    {"not transposed", plan_hemm, FORM, 6, 0, "do not meet"},
    {"overwritten", plan_hemm, FLAGS, 8, 0,
     "at the end, rows 4..7, columns 4..7 of C are wrong; command 9 (add"},
    {"alpha twice in W", plan_hemm, FLAGS, 9, TSR_FLAG_EVENT, "are wrong; command 9 (add"},
    /* potrf */
    {"factored the other triangle", plan_potrf, FORM, 1, UPPER,
     "command 1 (potrf on device 0, queue compute 0): factors a block that lacks products"},
    {"trmm for trsm", plan_potrf, KERNEL, 2, TSR_KERNEL_TRMM, "buffer 1 is number -1"},
    {"solved without conjugation", plan_potrf, FORM, 2, LOWER | RIGHT | OP_T,
     "command 7 (potrf on device 1, queue compute 0): factors a block that lacks products"},
    {"solved without transposition", plan_potrf, FORM, 2, LOWER | RIGHT,
     "command 7 (potrf on device 1, queue compute 0): factors a block that lacks products"},
    {"a part solved", plan_potrf, M, 2, 3,
     "command 7 (potrf on device 1, queue compute 0): factors a block that lacks products"},
    {"updated with the wrong sign", plan_potrf, FLAGS, 6, TSR_FLAG_ALPHA_ONE | TSR_FLAG_BETA_ONE,
     "command 7 (potrf on device 1, queue compute 0): factors a block that lacks products"},
    {"overwritten by the update", plan_potrf, FLAGS, 6, TSR_FLAG_ALPHA_MINUS,
     "command 7 (potrf on device 1, queue compute 0): factors a block that lacks products"},
    {"updated with half", plan_potrf, K, 6, 2,
     "command 7 (potrf on device 1, queue compute 0): factors a block that lacks products"},
    {"syrk for herk", plan_potrf, KERNEL, 6, TSR_KERNEL_SYRK,
     "command 7 (potrf on device 1, queue compute 0): factors a block that lacks products"},
    {"updated before its data", plan_potrf, WAIT0, 6, 5,
     "operand a: reads rows 4..7, columns 0..3 of C without waiting for command 3"},
    {"not factored", plan_potrf, KERNEL, 7, TSR_KERNEL_SCALE,
     "at the end, rows 4..7, columns 4..7 of C are wrong; command 7 (scale"},
    {"a part factored", plan_potrf, N, 7, 3,
     "command 7 (potrf on device 1, queue compute 0): 4 x 3 have no triangle"},
    {"brought home too early", plan_potrf, WAIT0, 8, 5, "without waiting for command 7 (potrf"},
    {"sent before it was solved", plan_potrf, WAIT0, 3, 1,
     "waits for command 1, which has no event"},
    {"C scaled only", plan_hemm, M, 9, 4, "rows 4..7, columns 4..7 of C are not there"},
};

static void rejects_single_mistakes(void **state) {
  (void)state;
  reject_all(mistakes, sizeof mistakes / sizeof *mistakes);
}

/* ---- More than one change ---- */

/* What is in the triangle that is not A, read as if it were. */
static void rejects_the_other_triangle(void **state) {
  (void)state;
  tsr_plan *plan = plan_hemm();
  tsr_command *product = &plan->commands.items[6];
  product->row[0] = 0;
  product->col[0] = 4;
  product->form = 0;
  reject_with(plan, "at the end, rows 0..3, columns 4..7 of C are wrong; command 9 (add");
}

/* The first rows as they were before they were solved for. */
static void rejects_a_stale_copy(void **state) {
  (void)state;
  tsr_plan *plan = plan_trsm();
  tsr_command *copy = &plan->commands.items[3];
  copy->buffer[0] = TSR_C_;
  copy->queue = queue_of(1, TSR_QUEUE_IN);
  copy->waits = 0;
  plan->commands.items[4].waits = 2; /* the write-back waits for it, so that all is in order */
  plan->commands.items[4].wait = (uint32_t)plan->waits.count;
  assert_true(TSR_VEC_PUSH(&plan->waits, 2) && TSR_VEC_PUSH(&plan->waits, 3));
  reject_with(plan, "at the end, rows 4..7, columns 0..7 of C are wrong; command 8 (trsm");
}

/* In good order, but the other way round: brought home, then updated once more. */
static void rejects_an_early_write_back(void **state) {
  (void)state;
  tsr_plan *plan = plan_trsm();
  tsr_command *last = &plan->commands.items[8], solve = last[0];
  last[0] = last[1];
  last[1] = solve;
  last[0].flags |= TSR_FLAG_EVENT;
  plan->commands.items[7].flags |= TSR_FLAG_EVENT;
  plan->waits.items[last[0].wait] = 7;
  last[1].wait = (uint32_t)plan->waits.count;
  last[1].waits = 1;
  assert_true(TSR_VEC_PUSH(&plan->waits, 8));
  reject_with(plan, "at the end, rows 4..7, columns 0..7 of C are wrong; command 7 (gemm");
}

static void rejects_an_update_done_twice(void **state) {
  (void)state;
  tsr_plan *plan = plan_syrk();
  tsr_command again = plan->commands.items[8], out = plan->commands.items[9];
  plan->commands.count--;
  plan->waits.items[out.wait] = 9;
  again.flags |= TSR_FLAG_EVENT;
  assert_true(TSR_VEC_PUSH(&plan->commands, again) && TSR_VEC_PUSH(&plan->commands, out));
  reject_with(plan, "are wrong: k 4..7 is there twice; command 9 (syrk");
}

/* beta is 0: the other triangle of a tile is fetched all the same, since it comes home with it. */
static void rejects_half_a_tile(void **state) {
  (void)state;
  tsr_plan *plan = plan_syrk_with(TSR_ZERO);
  accept(plan_syrk_with(TSR_ZERO));
  plan->commands.items[6].m = 1; /* one row of the tile of C is fetched */
  reject_with(plan,
              "command 9 (copy of C from device 1 to host 0, queue out): writes back elements "
              "of C that no kernel has written");
}

/* A X = alpha B in one kernel; two copies bring the triangle of A, of which the second (the first,
 * of an upper triangle) has so many rows. */
static tsr_plan *plan_of_strips(tsr_uplo uplo, int rows) {
  const tsr_form form = {TSR_NO_TRANS, TSR_NO_TRANS, TSR_LEFT, uplo, TSR_NON_UNIT};
  tsr_plan *plan = level3_plan(TSR_TRSM, TSR_D, form, TSR_OTHER, TSR_ONE);
  int in = queue_of(0, TSR_QUEUE_IN), short_col = uplo == TSR_LOWER ? 4 : 0;
  int a = new_buffer(plan, TSR_A, 0, 0, 0, 8, 8), c = new_buffer(plan, TSR_C_, 0, 0, 0, 8, 8);
  add_copy(plan, in, TSR_A, a, 0, 4 - short_col, 8, 4, END);
  add_copy(plan, in, TSR_A, a, uplo == TSR_LOWER ? 8 - rows : 0, short_col, rows, 4, END);
  add_copy(plan, in, TSR_C_, c, 0, 0, 8, 8, END);
  add_kernel(plan, 0, TSR_KERNEL_TRSM, form, 0, (spot){a, 0, 0}, nowhere, (spot){c, 0, 0}, 8, 8, 8,
             2, END);
  add_copy(plan, queue_of(0, TSR_QUEUE_OUT), c, TSR_C_, 0, 0, 8, 8, 3, END);
  return plan_finish(plan);
}

/* The triangle must be there, the rest of the square need not. */
static void wants_the_triangle_alone(void **state) {
  (void)state;
  accept(plan_of_strips(TSR_LOWER, 4));
  accept(plan_of_strips(TSR_UPPER, 4));
  reject_with(plan_of_strips(TSR_LOWER, 3),
              "operand a: rows 4..4, columns 4..7 of A are not there");
  reject_with(plan_of_strips(TSR_UPPER, 3),
              "operand a: rows 3..3, columns 0..3 of A are not there");
}

/* ---- One kernel, all forms ---- */

static const tsr_op ops[3] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};

/* The forms of an operation that has operands of these kinds, by number; false: no more. */
static bool form_at(tsr_operation operation, int number, tsr_form *form) {
  *form = (tsr_form){ops[number % 3], TSR_NO_TRANS, number / 3 % 2 ? TSR_RIGHT : TSR_LEFT,
                     number / 6 % 2 ? TSR_UPPER : TSR_LOWER, number / 12 % 2 ? TSR_UNIT : 'N'};
  bool triangular = operation == TSR_TRMM || operation == TSR_TRSM;
  bool square = triangular || operation == TSR_SYMM || operation == TSR_HEMM;
  bool hermitian = operation == TSR_HERK || operation == TSR_HER2K;
  if (form->diag == TSR_UNIT && !triangular) form->uplo = TSR_GENERAL; /* there is no such form */
  if (form->side == TSR_RIGHT && !square) form->uplo = TSR_GENERAL;
  if (square && !triangular && form->transa != TSR_NO_TRANS) form->uplo = TSR_GENERAL;
  if (!square && form->transa == (hermitian ? TSR_TRANS : TSR_CONJ_TRANS)) form->uplo = TSR_GENERAL;
  return number < 24;
}

/* What a kernel left in a W like C becomes m x n of C. */
static void add_result(tsr_plan *plan, int w, int row, int col, int m, int n) {
  add_kernel(plan, 0, TSR_KERNEL_ADD, (tsr_form){.transa = TSR_NO_TRANS}, TSR_FLAG_ALPHA_ONE,
             (spot){w, row, col}, nowhere, (spot){TSR_C_, row, col}, m, n, 0, END);
}

static tsr_plan *plan_of_trmm(tsr_form form, tsr_form kernel_form) {
  tsr_plan *plan = level3_in_place(TSR_TRMM, TSR_Z, form, TSR_ONE);
  int w = new_buffer(plan, TSR_W, 0, 0, 0, 8, 8);
  add_kernel(plan, 0, TSR_KERNEL_TRMM, kernel_form, 0, (spot){TSR_A, 0, 0}, (spot){TSR_C_, 0, 0},
             (spot){w, 0, 0}, 8, 8, 8, END);
  add_result(plan, w, 0, 0, 8, 8);
  return plan_finish(plan);
}

static tsr_plan *plan_of_one(tsr_operation operation, tsr_form form, tsr_kernel kernel,
                             tsr_form kernel_form) {
  if (operation == TSR_TRMM) return plan_of_trmm(form, kernel_form);
  bool in_place = operation == TSR_TRSM;
  tsr_plan *plan = level3_in_place(operation, TSR_Z, form, in_place ? TSR_ONE : TSR_OTHER);
  bool has_b = plan->call.operand[TSR_B_].rows > 0;
  add_kernel(plan, 0, kernel, kernel_form, in_place ? 0 : TSR_FLAG_BETA, (spot){TSR_A, 0, 0},
             has_b ? (spot){TSR_B_, 0, 0} : nowhere, (spot){TSR_C_, 0, 0}, 8, 8, 8, END);
  return plan_finish(plan);
}

/* The kernel of the call's form is right, one of any other form is not. */
static void check_forms(tsr_operation operation, tsr_kernel kernel) {
  tsr_form asked, done;
  for (int i = 0; form_at(operation, i, &asked); i++)
    for (int j = 0; asked.uplo != TSR_GENERAL && form_at(operation, j, &done); j++) {
      if (done.uplo == TSR_GENERAL) continue;
      tsr_plan *plan = plan_of_one(operation, asked, kernel, done);
      tsr_status status = tsr_plan_verify(plan, NULL, NULL);
      if (status != (i == j ? TSR_OK : TSR_ERR_CHECK))
        fail_msg("operation %d: form %d done as form %d: %s %s", operation, i, j,
                 tsr_status_name(status), tsr_message());
      plan_release(plan);
    }
}

static void accepts_a_form_for_itself_alone(void **state) {
  (void)state;
  for (int i = 0; i <= TSR_HER2K - TSR_SYMM; i++)
    check_forms((tsr_operation)(TSR_SYMM + i), (tsr_kernel)(TSR_KERNEL_SYMM + i));
  check_forms(TSR_TRMM, TSR_KERNEL_TRMM);
  check_forms(TSR_TRSM, TSR_KERNEL_TRSM);
}

/* ---- Triangles in two steps, all forms ---- */

/* Whether op(A) of a form is lower. */
static bool is_lower(tsr_form form) {
  return (form.uplo == TSR_LOWER) == (form.transa == TSR_NO_TRANS);
}

/* The tile of the product or solution that depends on itself alone. */
static int first_tile(tsr_form form) {
  return is_lower(form) == (form.side == TSR_LEFT) ? 0 : TILE;
}

/* A tile of all rows or columns of C, or of a W like it. */
static spot tile_at(tsr_form form, int buffer, int tile) {
  return form.side == TSR_LEFT ? (spot){buffer, tile, 0} : (spot){buffer, 0, tile};
}

static void add_solve(tsr_plan *plan, tsr_form form, int tile, int flags) {
  bool left = form.side == TSR_LEFT;
  add_kernel(plan, 0, TSR_KERNEL_TRSM, form, flags, (spot){TSR_A, tile, tile}, nowhere,
             tile_at(form, TSR_C_, tile), left ? TILE : 8, left ? 8 : TILE, TILE, END);
}

static void add_multiply(tsr_plan *plan, tsr_form form, int tile, int w) {
  bool left = form.side == TSR_LEFT;
  add_kernel(plan, 0, TSR_KERNEL_TRMM, form, 0, (spot){TSR_A, tile, tile},
             tile_at(form, TSR_C_, tile), tile_at(form, w, tile), left ? TILE : 8, left ? 8 : TILE,
             TILE, END);
}

static void add_tile_result(tsr_plan *plan, tsr_form form, int tile, int w) {
  bool left = form.side == TSR_LEFT;
  add_result(plan, w, left ? tile : 0, left ? 0 : tile, left ? TILE : 8, left ? 8 : TILE);
}

/* What tile `from` of C adds to tile `to` of c. */
static void add_update(tsr_plan *plan, tsr_form form, int from, int to, int c, int flags) {
  bool left = form.side == TSR_LEFT, turn = form.transa != TSR_NO_TRANS;
  spot off = {TSR_A, left != turn ? to : from, left != turn ? from : to};
  tsr_form product = {.transa = left ? form.transa : TSR_NO_TRANS,
                      .transb = left ? TSR_NO_TRANS : form.transa};
  spot b = tile_at(form, TSR_C_, from);
  add_kernel(plan, 0, TSR_KERNEL_GEMM, product, flags, left ? off : b, left ? b : off,
             tile_at(form, c, to), left ? TILE : 8, left ? 8 : TILE, TILE, END);
}

static tsr_plan *plan_tiled_trsm(tsr_form form) {
  tsr_plan *plan = level3_in_place(TSR_TRSM, TSR_Z, form, TSR_ONE);
  int first = first_tile(form), second = TILE - first;
  add_solve(plan, form, first, 0);
  add_update(plan, form, first, second, TSR_C_, TSR_FLAG_ALPHA_MINUS | TSR_FLAG_BETA_ALPHA);
  add_solve(plan, form, second, TSR_FLAG_ALPHA_ONE);
  return plan_finish(plan);
}

/* In order the tile that depends on both comes first, while the other one is as it was. */
static tsr_plan *plan_tiled_trmm(tsr_form form, bool in_order) {
  tsr_plan *plan = level3_in_place(TSR_TRMM, TSR_Z, form, TSR_ONE);
  int first = first_tile(form), second = TILE - first, w = new_buffer(plan, TSR_W, 0, 0, 0, 8, 8);
  for (int step = 0; step < 2; step++) {
    bool both = (step == 0) == in_order;
    int tile = both ? second : first;
    add_multiply(plan, form, tile, w);
    if (both) add_update(plan, form, first, second, w, TSR_FLAG_BETA_ONE);
    add_tile_result(plan, form, tile, w);
  }
  return plan_finish(plan);
}

/* The last of three commands comes first: what it needs is not solved yet. */
static tsr_plan *plan_reversed_trsm(tsr_form form) {
  tsr_plan *plan = plan_tiled_trsm(form);
  tsr_command first = plan->commands.items[0];
  plan->commands.items[0] = plan->commands.items[2];
  plan->commands.items[2] = first;
  return plan_finish(plan);
}

static void accepts_triangles_in_order(void **state) {
  (void)state;
  tsr_form form;
  for (int i = 0; form_at(TSR_TRSM, i, &form); i++) {
    accept(plan_tiled_trsm(form));
    accept(plan_tiled_trmm(form, true));
    reject_with(plan_reversed_trsm(form), "at the end, ");
    reject_with(plan_tiled_trmm(form, false), "at the end, ");
  }
}

/* ---- Other operations in tiles, all forms ---- */

static bool has_two(tsr_operation operation) {
  return operation == TSR_SYR2K || operation == TSR_HER2K;
}

static void add_rank_diagonal(tsr_plan *plan, tsr_form form, int tile) {
  tsr_operation operation = plan->call.operation;
  bool turn = form.transa != TSR_NO_TRANS;
  spot a = {TSR_A, turn ? 0 : tile, turn ? tile : 0}, b = {TSR_B_, a.row, a.col};
  add_kernel(plan, 0, (tsr_kernel)(operation - TSR_SYRK + TSR_KERNEL_SYRK), form, TSR_FLAG_BETA, a,
             has_two(operation) ? b : nowhere, (spot){TSR_C_, tile, tile}, TILE, TILE, 8, END);
}

/* C[i, j] += op(X)[i] op(Y)[j]^T, or ^H. */
static void add_rank_product(tsr_plan *plan, tsr_form form, int x, int y, int i, int j, int flags) {
  tsr_operation operation = plan->call.operation;
  tsr_op turn = operation == TSR_HERK || operation == TSR_HER2K ? TSR_CONJ_TRANS : TSR_TRANS;
  bool turned = form.transa != TSR_NO_TRANS;
  tsr_form product = {.transa = form.transa, .transb = turned ? TSR_NO_TRANS : turn};
  add_kernel(plan, 0, TSR_KERNEL_GEMM, product, flags, (spot){x, turned ? 0 : i, turned ? i : 0},
             (spot){y, turned ? 0 : j, turned ? j : 0}, (spot){TSR_C_, i, j}, TILE, TILE, 8, END);
}

static tsr_plan *plan_rank_update(tsr_operation operation, tsr_form form, int second) {
  tsr_plan *plan = level3_in_place(operation, TSR_Z, form, TSR_OTHER);
  int i = form.uplo == TSR_LOWER ? TILE : 0, j = TILE - i;
  int y = has_two(operation) ? TSR_B_ : TSR_A;
  add_rank_diagonal(plan, form, 0);
  add_rank_diagonal(plan, form, TILE);
  add_rank_product(plan, form, TSR_A, y, i, j, TSR_FLAG_BETA);
  if (has_two(operation)) add_rank_product(plan, form, y, TSR_A, i, j, second);
  return plan_finish(plan);
}

static void accepts_rank_updates(void **state) {
  (void)state;
  tsr_form form;
  for (tsr_operation operation = TSR_SYRK; operation <= TSR_HER2K; operation++)
    for (int i = 0; form_at(operation, i, &form); i++) {
      if (form.uplo == TSR_GENERAL) continue;
      int with = TSR_FLAG_BETA_ONE, conj = with | TSR_FLAG_ALPHA_CONJ;
      bool conjugates = operation == TSR_HER2K;
      accept(plan_rank_update(operation, form, conjugates ? conj : with));
      if (has_two(operation))
        reject_with(plan_rank_update(operation, form, conjugates ? with : conj), "are wrong; ");
    }
}

/* C[to] = A[to, to] B[to] + A[to, from] B[from], and from the right alike. */
static void add_symmetric(tsr_plan *plan, tsr_form form, int to, bool conj) {
  bool left = form.side == TSR_LEFT, hermitian = plan->call.operation == TSR_HEMM;
  int from = TILE - to, row = left ? to : from, col = TILE - row;
  bool mirrored = (form.uplo == TSR_LOWER) != (row > col);
  tsr_op op = !mirrored ? TSR_NO_TRANS : conj ? TSR_CONJ_TRANS : TSR_TRANS;
  tsr_form product = {.transa = left ? op : TSR_NO_TRANS, .transb = left ? TSR_NO_TRANS : op};
  spot off = {TSR_A, mirrored ? col : row, mirrored ? row : col};
  spot b = left ? (spot){TSR_B_, from, 0} : (spot){TSR_B_, 0, from};
  spot c = left ? (spot){TSR_C_, to, 0} : (spot){TSR_C_, 0, to};
  int m = left ? TILE : 8, n = left ? 8 : TILE;
  add_kernel(plan, 0, hermitian ? TSR_KERNEL_HEMM : TSR_KERNEL_SYMM, form, TSR_FLAG_BETA,
             (spot){TSR_A, to, to}, (spot){TSR_B_, c.row, c.col}, c, m, n, TILE, END);
  add_kernel(plan, 0, TSR_KERNEL_GEMM, product, TSR_FLAG_BETA_ONE, left ? off : b, left ? b : off,
             c, m, n, TILE, END);
}

static tsr_plan *plan_symmetric(tsr_operation operation, tsr_form form, bool conj) {
  tsr_plan *plan = level3_in_place(operation, TSR_C, form, TSR_OTHER);
  add_symmetric(plan, form, 0, conj);
  add_symmetric(plan, form, TILE, conj);
  return plan_finish(plan);
}

static void accepts_symmetric_products(void **state) {
  (void)state;
  tsr_form form;
  for (tsr_operation operation = TSR_SYMM; operation <= TSR_HEMM; operation++)
    for (int i = 0; form_at(operation, i, &form); i++) {
      if (form.uplo == TSR_GENERAL) continue;
      accept(plan_symmetric(operation, form, operation == TSR_HEMM));
      reject_with(plan_symmetric(operation, form, operation == TSR_SYMM), "are wrong; ");
    }
}

/* ---- One triangle of a product ---- */

static tsr_plan *plan_by_w(tsr_operation operation, tsr_kernel kernel, tsr_uplo added) {
  const tsr_form form = {TSR_NO_TRANS, TSR_NO_TRANS, TSR_LEFT, TSR_UPPER, TSR_NON_UNIT};
  tsr_form addition = form;
  addition.uplo = added;
  tsr_plan *plan = level3_in_place(operation, TSR_Z, form, TSR_OTHER);
  int w = new_buffer(plan, TSR_W, 0, 0, 0, 8, 8);
  add_kernel(plan, 0, kernel, form, 0, (spot){TSR_A, 0, 0},
             kernel == TSR_KERNEL_GEMM ? (spot){TSR_B_, 0, 0} : nowhere, (spot){w, 0, 0}, 8, 8, 8,
             END);
  add_kernel(plan, 0, TSR_KERNEL_ADD, addition, TSR_FLAG_ALPHA_ONE | TSR_FLAG_BETA, (spot){w, 0, 0},
             nowhere, (spot){TSR_C_, 0, 0}, 8, 8, 0, END);
  return plan_finish(plan);
}

static void accepts_one_triangle_added(void **state) {
  (void)state;
  accept(plan_by_w(TSR_GEMMT, TSR_KERNEL_GEMM, TSR_UPPER));
  reject_with(
      plan_by_w(TSR_GEMMT, TSR_KERNEL_GEMM, TSR_GENERAL),
      "rows 0..7, columns 0..7 of C are wrong: they are not in the triangle that may change");
  reject_with(plan_by_w(TSR_GEMMT, TSR_KERNEL_GEMM, TSR_LOWER), "they are not in the triangle");
  accept(plan_by_w(TSR_SYRK, TSR_KERNEL_SYRK, TSR_UPPER));
  reject_with(plan_by_w(TSR_SYRK, TSR_KERNEL_SYRK, TSR_GENERAL),
              "operand a: reads elements of W that no kernel has written");
}

/* The imaginary part of the diagonal of a Hermitian C counts as 0, and has to become 0. */
static void rejects_an_imaginary_diagonal(void **state) {
  (void)state;
  reject_with(plan_by_w(TSR_HERK, TSR_KERNEL_HERK, TSR_UPPER), "of C are wrong; command 1 (add");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepts_tiles),
      cmocka_unit_test(rejects_single_mistakes),
      cmocka_unit_test(rejects_the_other_triangle),
      cmocka_unit_test(rejects_a_stale_copy),
      cmocka_unit_test(rejects_an_early_write_back),
      cmocka_unit_test(rejects_an_update_done_twice),
      cmocka_unit_test(rejects_half_a_tile),
      cmocka_unit_test(wants_the_triangle_alone),
      cmocka_unit_test(accepts_a_form_for_itself_alone),
      cmocka_unit_test(accepts_triangles_in_order),
      cmocka_unit_test(accepts_rank_updates),
      cmocka_unit_test(accepts_symmetric_products),
      cmocka_unit_test(accepts_one_triangle_added),
      cmocka_unit_test(rejects_an_imaginary_diagonal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
