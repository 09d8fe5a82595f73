/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/axes.h"

#include "blas/family.h"

/* ---- Matrices ---- */

bool tsr_call_has_triangular_c(const tsr_call *call) {
  tsr_family family = tsr_family_of(call->operation);
  return family == TSR_RANK || family == TSR_FACTOR;
}

static bool is_rank_k(const tsr_call *call) {
  return tsr_family_of(call->operation) == TSR_RANK && call->operation != TSR_GEMMT;
}

static bool has_square_a(const tsr_call *call) {
  return tsr_family_of(call->operation) == TSR_TRIANGLE;
}

tsr_uplo tsr_call_triangle_of(const tsr_call *call, int operand) {
  bool of_a = operand == TSR_A && has_square_a(call) && !tsr_call_has_form(call);
  bool of_c = operand == TSR_C_ && tsr_call_has_triangular_c(call);
  return of_a || of_c ? call->uplo : TSR_GENERAL;
}

static tsr_axes turned(tsr_axes axes, bool turn) {
  return turn ? (tsr_axes){axes.cols, axes.rows} : axes;
}

/* Beside a triangle k goes along A's order. */
static tsr_axes line_spaces(const tsr_call *call, int matrix, uint8_t m, uint8_t n) {
  uint8_t k = !has_square_a(call) ? TSR_AXIS_K : call->side == TSR_LEFT ? m : n;
  return (tsr_axes){k, matrix == TSR_RA || matrix == TSR_RA2 ? m : n};
}

tsr_axes tsr_call_spaces(const tsr_call *call, int matrix) {
  uint8_t m = TSR_AXIS_I, n = tsr_call_has_triangular_c(call) ? m : TSR_AXIS_J;
  if (matrix == TSR_C_ || matrix == TSR_W) return (tsr_axes){m, n};
  if (tsr_is_lines(matrix)) return line_spaces(call, matrix, m, n);
  if (has_square_a(call)) {
    uint8_t order = call->side == TSR_LEFT ? m : n;
    return matrix == TSR_A || matrix == TSR_V ? (tsr_axes){order, order} : (tsr_axes){m, n};
  }
  if (is_rank_k(call) || matrix == TSR_A)
    return turned((tsr_axes){m, TSR_AXIS_K}, call->transa != TSR_NO_TRANS);
  return turned((tsr_axes){TSR_AXIS_K, n}, call->transb != TSR_NO_TRANS);
}

tsr_rect tsr_call_rect_of_c(const tsr_call *call, tsr_rect rect) {
  int64_t cols = call->operand[TSR_C_].cols, before = cols > 0 ? rect.col0 / cols * cols : 0;
  return (tsr_rect){rect.row0, rect.col0 - before, rect.row1, rect.col1 - before};
}

int64_t tsr_call_extent(const tsr_call *call, int space) {
  return space == TSR_AXIS_I ? call->m : space == TSR_AXIS_J ? call->n : call->k;
}

bool tsr_call_is_square(const tsr_call *call, int space) {
  if (tsr_call_has_triangular_c(call)) return space == TSR_AXIS_I;
  return has_square_a(call) && space == tsr_call_spaces(call, TSR_A).rows;
}

/* ---- Kernels ---- */

tsr_axes tsr_command_axes(const tsr_command *command, int i) {
  tsr_form form = tsr_form_unpack(command->form);
  uint8_t order = form.side == TSR_LEFT ? TSR_AXIS_I : TSR_AXIS_J;
  const tsr_axes c = {TSR_AXIS_I, TSR_AXIS_J}, square = {order, order};
  const tsr_axes a = {TSR_AXIS_I, TSR_AXIS_K}, b = {TSR_AXIS_K, TSR_AXIS_J};
  if (command->kind == TSR_COMMAND_COPY || i == 2) return c;
  if (tsr_kernel_makes_form(command->kernel)) return turned(c, form.transa != TSR_NO_TRANS);
  if (tsr_kernel_is_product(command->kernel))
    return i == 0 ? turned(a, form.transa != TSR_NO_TRANS) : turned(b, form.transb != TSR_NO_TRANS);
  switch (command->kernel) {
    case TSR_KERNEL_SYRK:
    case TSR_KERNEL_HERK:
    case TSR_KERNEL_SYR2K:
    case TSR_KERNEL_HER2K:
      return turned(a, form.transa != TSR_NO_TRANS);
    case TSR_KERNEL_SYMM:
    case TSR_KERNEL_HEMM:
    case TSR_KERNEL_TRMM:
    case TSR_KERNEL_TRSM:
    case TSR_KERNEL_SOLVE:
      return i == 0 ? square : c;
    default:
      return c;
  }
}

static int64_t length(const tsr_command *command, int axis) {
  return axis == TSR_AXIS_I ? command->m : axis == TSR_AXIS_J ? command->n : command->k;
}

tsr_rect tsr_command_rect(const tsr_command *command, int i) {
  tsr_axes axes = tsr_command_axes(command, i);
  int at = command->kind == TSR_COMMAND_COPY ? 0 : i;
  return tsr_rect_make(command->row[at], command->col[at], length(command, axes.rows),
                       length(command, axes.cols));
}

bool tsr_command_reads_c(const tsr_call *call, const tsr_command *command) {
  if (command->kernel == TSR_KERNEL_INVERT) return false;
  if (command->kernel == TSR_KERNEL_TRSM || command->kernel == TSR_KERNEL_SOLVE) return true;
  if (command->flags & TSR_FLAG_BETA) return call->beta != TSR_ZERO;
  if (command->flags & TSR_FLAG_BETA_ALPHA) return call->alpha != TSR_ZERO;
  return command->flags & TSR_FLAG_BETA_ONE;
}
