/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Checks that a plan computes what its call asks for, whatever the operation, the algorithm and the
 * cuts. After R. Freivalds, "Probabilistic machines can use less running time" (1977): the values
 * are random elements of a finite field. So arithmetic is exact, and a plan that sums anything but
 * the right products passes with a probability of about 2^-60.
 *
 * Every command treats all elements between two cuts alike, so one of them is enough. The plan is
 * carried out on a small problem with one index for each interval between cuts, or two where the
 * triangle of an element matters. The contents of A and B never change, and the regions have shown
 * that they are present where they are read. So copies of A and B are not carried out, and cut
 * nothing. An element of C or W that no command has written stays marked as not written, in copies
 * too (the unused triangle of a tile may be copied). Using such an element, or writing it back, is
 * an error.
 *
 * Cost: a kernel takes one multiplication for each combination of the intervals within it, which
 * are few, since other commands cut where it does: about 1 us for each command. Memory: 24 bytes
 * for each element of C and W of the small problem in each buffer.
 */
#include "plan/verify/algebra.h"

/* ---- Copies ---- */

static tsr_status copy(tsr_algebra *x, uint32_t c) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  int32_t from = command->buffer[0], to = command->buffer[1];
  if (!tsr_algebra_is_result(x, from)) return TSR_OK;
  tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, tsr_command_rect(command, 0));
  tsr_uplo uplo = tsr_form_unpack(command->form).uplo;
  for (size_t j = r.col; j < r.col + r.cols; j++)
    for (size_t i = r.row; i < r.row + r.rows; i++) {
      if (!tsr_in_triangle(uplo, i, j)) continue;
      tsr_small_element *copied = tsr_algebra_element(x, from, i, j);
      if (to == TSR_C_ && copied->command == TSR_NOT_WRITTEN)
        return tsr_verify_fail(x->v, c, "writes back elements of C that no kernel has written");
      *tsr_algebra_element(x, to, i, j) = *copied;
    }
  return TSR_OK;
}

/* ---- Kernels ---- */

/* Whether a kernel that is confined to a triangle uses an element of its c. The diagonal ends in
 * the last row and column of an upper trapezoid; a triangle has as many rows as columns. */
static bool is_used(tsr_uplo uplo, const tsr_dense *c, size_t row, size_t col) {
  size_t above = uplo == TSR_UPPER ? c->rows - c->cols : 0;
  return tsr_in_triangle(uplo, row, col + above);
}

/* Loads an operand into x->operand[i]. uplo: the elements outside of this triangle become 0, and
 * need not have been written. */
static tsr_status load(tsr_algebra *x, uint32_t c, int i, tsr_uplo uplo) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  int32_t buffer = command->buffer[i];
  uint8_t matrix = x->v->plan->buffers.items[buffer].matrix;
  tsr_small_rect r = tsr_algebra_shrink(x, matrix, tsr_command_rect(command, i));
  tsr_dense *to = &x->operand[i];
  TSR_TRY(tsr_dense_resize(to, r.rows, r.cols));
  for (size_t col = 0; col < r.cols; col++)
    for (size_t row = 0; row < r.rows; row++) {
      tsr_field *value = tsr_dense_at(to, row, col);
      *value = tsr_field_zero;
      if (!is_used(uplo, to, row, col)) continue;
      if (!tsr_algebra_is_result(x, buffer)) {
        *value = tsr_algebra_original(x, matrix, r.row + row, r.col + col);
        continue;
      }
      tsr_small_element *from = tsr_algebra_element(x, buffer, r.row + row, r.col + col);
      if (from->command == TSR_NOT_WRITTEN)
        return tsr_verify_fail(x->v, c,
                               "operand %c: reads elements of %s that no kernel has written",
                               "abc"[i], tsr_matrix_name(matrix));
      *value = from->value;
    }
  return TSR_OK;
}

/* Elements beside the trapezoid of a GEMMT count as not written. */
static void store(tsr_algebra *x, uint32_t c, tsr_uplo uplo) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, tsr_command_rect(command, 2));
  const tsr_dense *from = &x->operand[2];
  for (size_t j = 0; j < r.cols; j++)
    for (size_t i = 0; i < r.rows; i++)
      if (is_used(uplo, from, i, j))
        *tsr_algebra_element(x, command->buffer[2], r.row + i, r.col + j) =
            (tsr_small_element){*tsr_dense_at(from, i, j), c};
      else if (command->kernel == TSR_KERNEL_GEMMT)
        tsr_algebra_element(x, command->buffer[2], r.row + i, r.col + j)->command = TSR_NOT_WRITTEN;
}

static tsr_field alpha_of(const tsr_algebra *x, const tsr_command *command) {
  if (command->flags & TSR_FLAG_ALPHA_ONE) return tsr_field_one;
  if (command->flags & TSR_FLAG_ALPHA_MINUS) return tsr_field_negate(tsr_field_one);
  return command->flags & TSR_FLAG_ALPHA_CONJ ? tsr_field_conj(x->alpha) : x->alpha;
}

static tsr_field beta_of(const tsr_algebra *x, const tsr_command *command) {
  if (command->flags & TSR_FLAG_BETA) return x->beta;
  if (command->flags & TSR_FLAG_BETA_ALPHA) return x->alpha;
  return command->flags & TSR_FLAG_BETA_ONE ? tsr_field_one : tsr_field_zero;
}

/* c = beta c. The diagonal of a Hermitian c is made real. */
static void scale(tsr_dense *c, tsr_field beta, bool hermitian) {
  for (size_t j = 0; j < c->cols; j++)
    for (size_t i = 0; i < c->rows; i++) {
      tsr_field *value = tsr_dense_at(c, i, j);
      if (hermitian && i == j) value->im = 0;
      *value = tsr_field_multiply(beta, *value);
    }
}

static void add_product(const tsr_dense *left, const tsr_dense *right, tsr_uplo uplo,
                        tsr_dense *c) {
  for (size_t j = 0; j < c->cols; j++)
    for (size_t i = 0; i < c->rows; i++) {
      if (!is_used(uplo, c, i, j)) continue;
      tsr_field *value = tsr_dense_at(c, i, j);
      *value = tsr_field_add(*value, tsr_factors_product(left, right, i, j, 0, left->rows));
    }
}

/* c += alpha a. */
static void add_multiple(const tsr_dense *a, tsr_field alpha, tsr_dense *c) {
  for (size_t e = 0; e < c->rows * c->cols; e++)
    c->at[e] = tsr_field_add(c->at[e], tsr_field_multiply(alpha, a->at[e]));
}

/* One of the two products of a Hermitian update has a diagonal that is not real. */
static void make_real(tsr_dense *c) {
  for (size_t i = 0; i < c->rows && i < c->cols; i++) tsr_dense_at(c, i, i)->im = 0;
}

static tsr_status compute(tsr_algebra *x, const tsr_command *command, tsr_uplo uplo) {
  tsr_dense *c = &x->operand[2];
  tsr_formula f = {(tsr_kernel)command->kernel,
                   tsr_form_unpack(command->form),
                   alpha_of(x, command),
                   &x->operand[0],
                   &x->operand[1],
                   c};
  if (f.kernel == TSR_KERNEL_TRSM) return tsr_formula_solve(&f, &x->left, c);
  bool product = tsr_kernel_get(f.kernel)->bound_by_memory == false && command->k > 0;
  bool unreal = tsr_kernel_multiplies_forms(f.kernel) && f.form.diag == TSR_UNIT;
  bool hermitian = f.kernel == TSR_KERNEL_HERK || f.kernel == TSR_KERNEL_HER2K || unreal;
  if (product) TSR_TRY(tsr_formula_factors(&f, &x->left, &x->right));
  scale(c, beta_of(x, command), hermitian);
  if (product) add_product(&x->left, &x->right, uplo, c);
  if (unreal) make_real(c);
  if (f.kernel == TSR_KERNEL_ADD) add_multiple(&x->operand[0], f.alpha, c);
  return TSR_OK;
}

/* Residues of A and B need no algebra, as copies of A and B need none: the check of the command's
 * form has shown that they are of the right elements, and A and B never change. Residues of C stand
 * for the elements that C has when they are made. */
static tsr_status make_residues(tsr_algebra *x, uint32_t c) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  if (!tsr_algebra_is_result(x, command->buffer[2])) return TSR_OK;
  TSR_TRY(load(x, c, 0, TSR_GENERAL));
  uint8_t matrix = x->v->plan->buffers.items[command->buffer[2]].matrix;
  tsr_small_rect r = tsr_algebra_shrink(x, matrix, tsr_command_rect(command, 2));
  bool turned = tsr_form_unpack(command->form).transa != TSR_NO_TRANS;
  for (size_t line = 0; line < r.cols; line++)
    for (size_t k = 0; k < r.rows; k++)
      *tsr_algebra_element(x, command->buffer[2], r.row + k, r.col + line) = (tsr_small_element){
          *tsr_dense_at(&x->operand[0], turned ? line : k, turned ? k : line), c};
  return TSR_OK;
}

/* Solves with the identity. */
static tsr_status make_inverse(tsr_algebra *x, uint32_t c) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  TSR_TRY(load(x, c, 0, TSR_GENERAL));
  tsr_dense *inverse = &x->operand[2];
  size_t order = x->operand[0].rows;
  TSR_TRY(tsr_dense_resize(inverse, order, order));
  for (size_t j = 0; j < order; j++)
    for (size_t i = 0; i < order; i++)
      *tsr_dense_at(inverse, i, j) = i == j ? tsr_field_one : tsr_field_zero;
  tsr_formula f = {.kernel = TSR_KERNEL_TRSM,
                   .form = tsr_form_unpack(command->form),
                   .alpha = tsr_field_one,
                   .a = &x->operand[0],
                   .c = inverse};
  TSR_TRY(tsr_formula_solve(&f, &x->left, inverse));
  tsr_small_rect r = tsr_algebra_shrink(x, TSR_V, tsr_command_rect(command, 2));
  for (size_t j = 0; j < order; j++)
    for (size_t i = 0; i < order; i++)
      *tsr_algebra_element(x, command->buffer[2], r.row + i, r.col + j) =
          (tsr_small_element){*tsr_dense_at(inverse, i, j), c};
  return TSR_OK;
}

/* The block must be what earlier blocks of the factor have left of C; it becomes the factor's. */
static tsr_status factor(tsr_algebra *x, uint32_t c) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  tsr_uplo uplo = tsr_form_unpack(command->form).uplo;
  TSR_TRY(load(x, c, 2, uplo));
  tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, tsr_command_rect(command, 2));
  for (size_t j = 0; j < r.cols; j++)
    for (size_t i = 0; i < r.rows; i++) {
      if (!tsr_in_triangle(uplo, i, j)) continue;
      tsr_field *value = tsr_dense_at(&x->operand[2], i, j);
      if (!tsr_field_equal(*value, tsr_algebra_rest(x, r.row + i, r.col + j, r.row)))
        return tsr_verify_fail(x->v, c, "factors a block that lacks products, or has some twice");
      *value = tsr_algebra_factor(x, r.row + i, r.col + j);
    }
  store(x, c, uplo);
  return TSR_OK;
}

static tsr_status do_kernel(tsr_algebra *x, uint32_t c) {
  const tsr_command *command = &x->v->plan->commands.items[c];
  if (tsr_kernel_makes_form(command->kernel)) return make_residues(x, c);
  if (command->kernel == TSR_KERNEL_INVERT) return make_inverse(x, c);
  if (command->kernel == TSR_KERNEL_POTRF) return factor(x, c);
  tsr_uplo uplo = tsr_kernel_triangle((tsr_kernel)command->kernel, command->form);
  tsr_uplo of_a = command->kernel == TSR_KERNEL_ADD ? uplo : TSR_GENERAL;
  if (command->kernel == TSR_KERNEL_TRSM) of_a = tsr_form_unpack(command->form).uplo;
  if (command->buffer[0] != TSR_NO_BUFFER) TSR_TRY(load(x, c, 0, of_a));
  if (command->buffer[1] != TSR_NO_BUFFER) TSR_TRY(load(x, c, 1, TSR_GENERAL));
  if (tsr_command_reads_c(x->call, command)) {
    TSR_TRY(load(x, c, 2, uplo));
  } else {
    tsr_small_rect r = tsr_algebra_shrink(x, TSR_C_, tsr_command_rect(command, 2));
    TSR_TRY(tsr_dense_resize(&x->operand[2], r.rows, r.cols));
    for (size_t e = 0; e < r.rows * r.cols; e++) x->operand[2].at[e] = tsr_field_zero;
  }
  TSR_TRY(compute(x, command, uplo));
  store(x, c, uplo);
  return TSR_OK;
}

/* ---- The whole ---- */

static tsr_status carry_out(tsr_algebra *x) {
  const tsr_plan *plan = x->v->plan;
  tsr_algebra_fill_cached_blocks(x);
  for (uint32_t c = 0; c < plan->commands.count; c++)
    TSR_TRY(plan->commands.items[c].kind == TSR_COMMAND_COPY ? copy(x, c) : do_kernel(x, c));
  TSR_TRY(tsr_algebra_check_cached_blocks(x));
  return tsr_algebra_compare(x);
}

tsr_status tsr_verify_algebra(const tsr_verifier *v) {
  tsr_algebra x;
  tsr_status status = tsr_algebra_start(&x, v);
  if (status == TSR_OK) status = carry_out(&x);
  tsr_algebra_stop(&x);
  return status;
}
