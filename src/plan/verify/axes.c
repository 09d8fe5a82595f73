/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks that the operands of a kernel agree: equal indices begin alike. */
#include "plan/verify/verify.h"

/* The beginning of a kernel index, by the first operand that has the index. */
typedef struct origin {
  bool known, cols;
  uint8_t space;
  int64_t begin;
  int operand;
} origin;

static const char *side_name(bool cols) {
  return cols ? "columns" : "rows";
}

static int matrix_of(const tsr_verifier *v, uint32_t c, int i) {
  return v->plan->buffers.items[v->plan->commands.items[c].buffer[i]].matrix;
}

static tsr_status check_agreement(const tsr_verifier *v, uint32_t c, const origin *first,
                                  const origin *one) {
  if (first->space == one->space && first->begin == one->begin) return TSR_OK;
  const char *mine = tsr_matrix_name(matrix_of(v, c, one->operand));
  const char *other = tsr_matrix_name(matrix_of(v, c, first->operand));
  if (first->space != one->space)
    return tsr_verify_fail(v, c, "operand %c: %s of %s cannot stand for %s of %s",
                           "abc"[one->operand], side_name(one->cols), mine, side_name(first->cols),
                           other);
  return tsr_verify_fail(v, c, "operand %c: %s from %lld of %s do not meet %s from %lld of %s",
                         "abc"[one->operand], side_name(one->cols), (long long)one -> begin, mine,
                         side_name(first->cols), (long long)first -> begin, other);
}

static tsr_status check_axis(const tsr_verifier *v, uint32_t c, int i, bool cols,
                             origin origins[3]) {
  const tsr_command *command = &v->plan->commands.items[c];
  tsr_axes axes = tsr_command_axes(command, i);
  tsr_axes spaces = tsr_call_spaces(&v->plan->call, matrix_of(v, c, i));
  tsr_rect rect = tsr_command_rect(command, i);
  if (matrix_of(v, c, i) == TSR_W) rect = tsr_call_rect_of_c(&v->plan->call, rect);
  origin one = {true, cols, cols ? spaces.cols : spaces.rows, cols ? rect.col0 : rect.row0, i};
  origin *first = &origins[cols ? axes.cols : axes.rows];
  if (first->known) return check_agreement(v, c, first, &one);
  *first = one;
  return TSR_OK;
}

/* The diagonal of a trapezoid's square must be C's. */
static tsr_status check_trapezoid(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  tsr_rect rect = tsr_call_rect_of_c(&v->plan->call, tsr_command_rect(command, 2));
  bool lower = tsr_form_unpack(command->form).uplo == TSR_LOWER;
  if (command->m >= command->n && (lower ? rect.row0 == rect.col0 : rect.row1 == rect.col1))
    return TSR_OK;
  return tsr_verify_fail(v, c, "the trapezoid of %d x %d does not lie on C's diagonal", command->m,
                         command->n);
}

tsr_status tsr_verify_agreement(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  origin origins[3] = {{false}, {false}, {false}};
  for (int i = 2; i >= 0; i--) {
    if (command->buffer[i] == TSR_NO_BUFFER) continue;
    TSR_TRY(check_axis(v, c, i, false, origins));
    TSR_TRY(check_axis(v, c, i, true, origins));
  }
  if (command->kernel == TSR_KERNEL_GEMMT) return check_trapezoid(v, c);
  if (tsr_kernel_triangle((tsr_kernel)command->kernel, command->form) == TSR_GENERAL) return TSR_OK;
  if (command->m == command->n)
    return check_agreement(v, c, &origins[TSR_AXIS_I], &origins[TSR_AXIS_J]);
  return tsr_verify_fail(v, c, "%d x %d have no triangle", command->m, command->n);
}
