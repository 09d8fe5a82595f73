/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The result that the call asks for, by its definition, and messages that say where a plan's result
 * differs. */
#include <stdio.h>

#include "blas/family.h"
#include "blas/operation.h"
#include "plan/verify/algebra.h"

static tsr_status resize_matrix(const tsr_algebra *x, int matrix, tsr_dense *whole) {
  tsr_axes spaces = tsr_call_spaces(x->call, matrix);
  return tsr_dense_resize(whole, x->space[spaces.rows].count, x->space[spaces.cols].count);
}

static tsr_status load_original(tsr_algebra *x, int matrix) {
  tsr_dense *whole = &x->operand[matrix];
  if (x->call->operand[matrix].rows == 0) return tsr_dense_resize(whole, 0, 0);
  TSR_TRY(resize_matrix(x, matrix, whole));
  for (size_t j = 0; j < whole->cols; j++)
    for (size_t i = 0; i < whole->rows; i++)
      *tsr_dense_at(whole, i, j) = tsr_algebra_original(x, matrix, i, j);
  return TSR_OK;
}

/* TRSM is defined by an equation that the solution has to fulfil. */
static tsr_status load_solution(tsr_algebra *x) {
  tsr_dense *whole = &x->operand[TSR_C_];
  TSR_TRY(resize_matrix(x, TSR_C_, whole));
  for (size_t j = 0; j < whole->cols; j++)
    for (size_t i = 0; i < whole->rows; i++)
      *tsr_dense_at(whole, i, j) = tsr_algebra_element(x, TSR_C_, i, j)->value;
  return TSR_OK;
}

static tsr_status make_factors(tsr_algebra *x) {
  const tsr_call *call = x->call;
  if (tsr_call_scales_only(call) || tsr_family_of(call->operation) == TSR_FACTOR) {
    TSR_TRY(tsr_dense_resize(&x->left, 0, 0));
    return tsr_dense_resize(&x->right, 0, 0);
  }
  bool solves = call->operation == TSR_TRSM;
  for (int matrix = 0; matrix < TSR_OPERANDS; matrix++)
    TSR_TRY(matrix == TSR_C_ && solves ? load_solution(x) : load_original(x, matrix));
  tsr_form form = {call->transa, call->transb, call->side, call->uplo, call->diag};
  int b = call->operation == TSR_TRMM ? TSR_C_ : TSR_B_; /* TRMM multiplies the old C */
  /* The call as one kernel on whole matrices. */
  tsr_formula f = {tsr_operation_get(call->operation)->kernel,
                   form,
                   x->alpha,
                   &x->operand[TSR_A],
                   &x->operand[b],
                   &x->operand[TSR_C_]};
  return tsr_formula_factors(&f, &x->left, &x->right);
}

/* beta times the old C, without the imaginary part of the diagonal, which HERK and HER2K ignore. 0
 * for TRMM and TRSM, whose C is a factor. */
static tsr_field kept(const tsr_algebra *x, size_t i, size_t j) {
  const tsr_call *call = x->call;
  if (!tsr_operation_get(call->operation)->has.beta || call->beta == TSR_ZERO)
    return tsr_field_zero;
  tsr_field old = tsr_algebra_original(x, TSR_C_, i, j);
  if (i == j && (call->operation == TSR_HERK || call->operation == TSR_HER2K)) old.im = 0;
  return tsr_field_multiply(x->beta, old);
}

/* The value of an element minus the right value; 0: right. */
static tsr_field difference(const tsr_algebra *x, size_t i, size_t j) {
  tsr_field value = tsr_algebra_element(x, TSR_C_, i, j)->value;
  tsr_field old = tsr_algebra_original(x, TSR_C_, i, j), wanted;
  if (tsr_call_has_triangular_c(x->call) && !tsr_in_triangle(x->call->uplo, i, j)) {
    wanted = old;
  } else if (tsr_family_of(x->call->operation) == TSR_FACTOR) {
    wanted = tsr_algebra_factor(x, i, j);
  } else {
    wanted = tsr_factors_product(&x->left, &x->right, i, j, 0, x->left.rows);
    wanted = tsr_field_add(wanted, kept(x, i, j));
    if (x->call->operation == TSR_TRSM && x->left.rows > 0)
      value = tsr_field_multiply(x->alpha, old);
  }
  return tsr_field_add(value, tsr_field_negate(wanted));
}

/* ---- Messages ---- */

/* The indices first .. last of a space that an index of the small problem stands for. */
static void interval(const tsr_small_space *space, size_t index, int64_t *first, int64_t *last) {
  size_t e = 0;
  while (e + 2 < space->ends.count && space->first[e + 1] <= index) e++;
  *first = space->ends.items[e];
  *last = space->ends.items[e + 1] - 1;
}

/* Finds the range of k that an element lacks, or has twice. False: the error is another one. */
static bool find_k(const tsr_algebra *x, size_t i, size_t j, tsr_field wrong, size_t *k0,
                   size_t *k1) {
  tsr_field lacking = tsr_field_negate(wrong);
  for (size_t from = 0; from < x->left.rows; from++) {
    tsr_field sum = tsr_field_zero;
    for (size_t k = from; k < x->left.rows; k++) {
      sum = tsr_field_add(sum, tsr_factors_product(&x->left, &x->right, i, j, k, k + 1));
      *k0 = from;
      *k1 = k;
      if (tsr_field_equal(sum, wrong) || tsr_field_equal(sum, lacking)) return true;
    }
  }
  return false;
}

enum { SEARCHED = 512 }; /* most intervals of k that are searched, so that the search ends soon */

static void explain_k(const tsr_algebra *x, size_t i, size_t j, tsr_field wrong, char *text,
                      size_t size) {
  const tsr_small_space *space = &x->space[TSR_AXIS_K];
  size_t k0, k1;
  if (x->left.rows != space->count ||
      tsr_call_spaces(x->call, TSR_A).rows == tsr_call_spaces(x->call, TSR_A).cols)
    return;
  if (space->count > SEARCHED || !find_k(x, i, j, wrong, &k0, &k1)) return;
  int64_t first, last, unused;
  interval(space, k0, &first, &unused);
  interval(space, k1, &unused, &last);
  tsr_field sum = tsr_factors_product(&x->left, &x->right, i, j, k0, k1 + 1);
  snprintf(text, size, ": k %lld..%lld %s", (long long)first, (long long)last,
           tsr_field_equal(sum, wrong) ? "is there twice" : "is missing");
}

static void explain(const tsr_algebra *x, size_t i, size_t j, tsr_field wrong, char *text,
                    size_t size) {
  const tsr_small_element *found = tsr_algebra_element(x, TSR_C_, i, j);
  if (found->command == TSR_NO_COMMAND)
    snprintf(text, size, ": they hold the original");
  else if (tsr_call_has_triangular_c(x->call) && !tsr_in_triangle(x->call->uplo, i, j))
    snprintf(text, size, ": they are not in the triangle that may change");
  else if (tsr_field_equal(tsr_field_negate(wrong), kept(x, i, j)))
    snprintf(text, size, ": beta C is missing");
  else
    explain_k(x, i, j, wrong, text, size);
}

static tsr_status report(const tsr_algebra *x, size_t i, size_t j, tsr_field wrong) {
  tsr_axes spaces = tsr_call_spaces(x->call, TSR_C_);
  uint32_t by = tsr_algebra_element(x, TSR_C_, i, j)->command;
  int64_t row0, row1, col0, col1;
  char why[96] = "", last[160] = "";
  tsr_name name;
  interval(&x->space[spaces.rows], i, &row0, &row1);
  interval(&x->space[spaces.cols], j, &col0, &col1);
  explain(x, i, j, wrong, why, sizeof why);
  if (by != TSR_NO_COMMAND)
    snprintf(last, sizeof last, "; command %u (%s) computed them last", by,
             tsr_command_describe(x->v->plan, &x->v->plan->commands.items[by], &name));
  return tsr_fail(TSR_ERR_CHECK,
                  "at the end, rows %lld..%lld, columns %lld..%lld of C are wrong%s%s",
                  (long long)row0, (long long)row1, (long long)col0, (long long)col1, why, last);
}

/* Compares elements in the order in which TRSM finds them. Then the equation of the first wrong
 * element is wrong by that element alone, since its predecessors are right. */
tsr_status tsr_algebra_compare(tsr_algebra *x) {
  const tsr_call *call = x->call;
  tsr_axes spaces = tsr_call_spaces(call, TSR_C_);
  size_t rows = x->space[spaces.rows].count, cols = x->space[spaces.cols].count;
  tsr_form form = {call->transa, call->transb, call->side, call->uplo, call->diag};
  bool descends = call->operation == TSR_TRSM && !tsr_form_ascends(form);
  TSR_TRY(make_factors(x));
  for (size_t column = 0; column < cols; column++)
    for (size_t row = 0; row < rows; row++) {
      size_t i = descends && call->side == TSR_LEFT ? rows - 1 - row : row;
      size_t j = descends && call->side == TSR_RIGHT ? cols - 1 - column : column;
      tsr_field wrong = difference(x, i, j);
      if (!tsr_field_equal(wrong, tsr_field_zero)) return report(x, i, j, wrong);
    }
  return TSR_OK;
}
