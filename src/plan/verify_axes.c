/*
 * Which indices the rows and columns of operands are. A kernel's are those of its c (i, j) and what
 * is summed over (k). A matrix's are of the call's spaces, and where a matrix is square by nature,
 * because it is symmetric or triangular, its rows and columns are of one space.
 */
#include "plan/verify.h"

/* ---- Matrices ---- */

static bool is_rank_k(const tsr_call *call) {
  return call->operation >= TSR_SYRK && call->operation <= TSR_HER2K;
}

bool tsr_verify_triangular_c(const tsr_call *call) {
  return is_rank_k(call) || call->operation == TSR_GEMMT;
}

static bool has_square_a(const tsr_call *call) {
  return call->operation == TSR_SYMM || call->operation == TSR_HEMM ||
         call->operation == TSR_TRMM || call->operation == TSR_TRSM;
}

static tsr_axes turned(tsr_axes axes, bool turn) {
  return turn ? (tsr_axes){axes.cols, axes.rows} : axes;
}

tsr_axes tsr_verify_spaces(const tsr_call *call, int matrix) {
  uint8_t m = TSR_AXIS_I, n = tsr_verify_triangular_c(call) ? m : TSR_AXIS_J;
  if (matrix == TSR_C_ || matrix == TSR_W) return (tsr_axes){m, n};
  if (has_square_a(call)) {
    uint8_t order = call->side == TSR_LEFT ? m : n;
    return matrix == TSR_A ? (tsr_axes){order, order} : (tsr_axes){m, n};
  }
  if (is_rank_k(call) || matrix == TSR_A)
    return turned((tsr_axes){m, TSR_AXIS_K}, call->transa != TSR_NO_TRANS);
  return turned((tsr_axes){TSR_AXIS_K, n}, call->transb != TSR_NO_TRANS);
}

int64_t tsr_verify_extent(const tsr_call *call, int space) {
  return space == TSR_AXIS_I ? call->m : space == TSR_AXIS_J ? call->n : call->k;
}

bool tsr_verify_square(const tsr_call *call, int space) {
  if (tsr_verify_triangular_c(call)) return space == TSR_AXIS_I;
  return has_square_a(call) && space == tsr_verify_spaces(call, TSR_A).rows;
}

/* ---- Kernels ---- */

tsr_axes tsr_verify_axes(const tsr_command *command, int i) {
  tsr_form form = tsr_form_unpack(command->form);
  uint8_t order = form.side == TSR_LEFT ? TSR_AXIS_I : TSR_AXIS_J;
  const tsr_axes c = {TSR_AXIS_I, TSR_AXIS_J}, square = {order, order};
  const tsr_axes a = {TSR_AXIS_I, TSR_AXIS_K}, b = {TSR_AXIS_K, TSR_AXIS_J};
  if (command->kind == TSR_COMMAND_COPY || i == 2) return c;
  switch (command->kernel) {
    case TSR_KERNEL_GEMM:
      return i == 0 ? turned(a, form.transa != TSR_NO_TRANS)
                    : turned(b, form.transb != TSR_NO_TRANS);
    case TSR_KERNEL_SYRK:
    case TSR_KERNEL_HERK:
    case TSR_KERNEL_SYR2K:
    case TSR_KERNEL_HER2K:
      return turned(a, form.transa != TSR_NO_TRANS);
    case TSR_KERNEL_SYMM:
    case TSR_KERNEL_HEMM:
    case TSR_KERNEL_TRMM:
    case TSR_KERNEL_TRSM:
      return i == 0 ? square : c;
    default:
      return c;
  }
}

static int64_t length(const tsr_command *command, int axis) {
  return axis == TSR_AXIS_I ? command->m : axis == TSR_AXIS_J ? command->n : command->k;
}

tsr_rect tsr_verify_rect(const tsr_command *command, int i) {
  tsr_axes axes = tsr_verify_axes(command, i);
  int at = command->kind == TSR_COMMAND_COPY ? 0 : i;
  return tsr_rect_make(command->row[at], command->col[at], length(command, axes.rows),
                       length(command, axes.cols));
}

bool tsr_verify_reads_c(const tsr_call *call, const tsr_command *command) {
  if (command->kernel == TSR_KERNEL_TRMM) return false;
  if (command->kernel == TSR_KERNEL_TRSM) return true;
  if (command->flags & TSR_FLAG_BETA) return call->beta != TSR_ZERO;
  if (command->flags & TSR_FLAG_BETA_ALPHA) return call->alpha != TSR_ZERO;
  return command->flags & TSR_FLAG_BETA_ONE;
}

/* ---- Agreement ---- */

/* Where one of a kernel's indices begins, by the first operand that has it. */
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

static tsr_status meet(const tsr_verifier *v, uint32_t c, const origin *first, const origin *one) {
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
  tsr_axes axes = tsr_verify_axes(command, i);
  tsr_axes spaces = tsr_verify_spaces(&v->plan->call, matrix_of(v, c, i));
  origin one = {true, cols, cols ? spaces.cols : spaces.rows,
                cols ? command->col[i] : command->row[i], i};
  origin *first = &origins[cols ? axes.cols : axes.rows];
  if (first->known) return meet(v, c, first, &one);
  *first = one;
  return TSR_OK;
}

tsr_status tsr_verify_agreement(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  origin origins[3] = {{false}, {false}, {false}};
  for (int i = 2; i >= 0; i--) {
    if (command->buffer[i] == TSR_NO_BUFFER) continue;
    TSR_TRY(check_axis(v, c, i, false, origins));
    TSR_TRY(check_axis(v, c, i, true, origins));
  }
  if (tsr_kernel_triangle((tsr_kernel)command->kernel, command->form) == TSR_GENERAL) return TSR_OK;
  if (command->m == command->n) return meet(v, c, &origins[TSR_AXIS_I], &origins[TSR_AXIS_J]);
  return tsr_verify_fail(v, c, "%d x %d have no triangle", command->m, command->n);
}
