/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks the form of one command: what it waits for, its buffers, ranges and rectangles. */
#include "blas/lines.h"
#include "plan/verify/verify.h"

static const char *const operand_names[3] = {"operand a", "operand b", "operand c"};

/* ---- Ranges ---- */

static tsr_status check_waits(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  if ((size_t)command->wait + command->waits > v->plan->waits.count)
    return tsr_verify_fail(v, c, "its waits are not in the list of waits");
  for (uint32_t i = 0; i < command->waits; i++) {
    uint32_t earlier = v->plan->waits.items[command->wait + i];
    if (earlier >= c) return tsr_verify_fail(v, c, "waits for command %u, a later one", earlier);
    if (!(v->plan->commands.items[earlier].flags & TSR_FLAG_EVENT))
      return tsr_verify_fail(v, c, "waits for command %u, which has no event", earlier);
  }
  return TSR_OK;
}

/* Whether the command is a HERK or HER2K with k = 0, which scales C and makes its diagonal real. */
static bool only_scales(const tsr_command *command) {
  return (command->kernel == TSR_KERNEL_HERK || command->kernel == TSR_KERNEL_HER2K) &&
         command->k == 0;
}

/* The buffers that a command must have, as bits. */
static unsigned operands_of(const tsr_command *command) {
  if (command->kind == TSR_COMMAND_COPY) return 3;
  if (only_scales(command)) return 4;
  unsigned operands = 0;
  for (int i = 0; i < 3; i++)
    if (tsr_kernel_get((tsr_kernel)command->kernel)->access[i] != TSR_NONE) operands |= 1u << i;
  return operands;
}

static tsr_status check_buffers(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  unsigned operands = operands_of(command);
  for (int i = 0; i < 3; i++) {
    int32_t buffer = command->buffer[i];
    if (!(operands & (1u << i))) {
      if (buffer != TSR_NO_BUFFER) return tsr_verify_fail(v, c, "buffer %d has no use here", i);
    } else if (buffer < 0 || (size_t)buffer >= v->plan->buffers.count) {
      return tsr_verify_fail(v, c, "buffer %d is number %d, which does not exist", i, buffer);
    }
  }
  return TSR_OK;
}

static bool sums_over_k(const tsr_command *command) {
  tsr_axes axes = tsr_command_axes(command, 0);
  return axes.rows == TSR_AXIS_K || axes.cols == TSR_AXIS_K;
}

static tsr_status check_ranges(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  if (command->queue >= v->plan->queues)
    return tsr_verify_fail(v, c, "is on queue %d of %d", command->queue, v->plan->queues);
  if (command->kind > TSR_COMMAND_KERNEL ||
      (command->kind == TSR_COMMAND_KERNEL && command->kernel >= TSR_KERNEL_COUNT))
    return tsr_verify_fail(v, c, "its kind or kernel is unknown");
  bool inner = command->kind == TSR_COMMAND_KERNEL && sums_over_k(command);
  bool sums = inner && !only_scales(command);
  if (command->m <= 0 || command->n <= 0 || (sums && command->k <= 0))
    return tsr_verify_fail(v, c, "its extents are %d x %d x %d", command->m, command->n,
                           command->k);
  TSR_TRY(check_waits(v, c));
  return check_buffers(v, c);
}

/* ---- Rectangles ---- */

static tsr_status check_rect(const tsr_verifier *v, uint32_t c, int i, const char *what) {
  const tsr_command *command = &v->plan->commands.items[c];
  const tsr_buffer *buffer = &v->plan->buffers.items[command->buffer[i]];
  int at = command->kind == TSR_COMMAND_COPY ? 0 : i;
  if (command->row[at] > INT64_MAX / 2 || command->col[at] > INT64_MAX / 2)
    return tsr_verify_fail(v, c, "%s is beyond any matrix", what);
  tsr_rect rect = tsr_command_rect(command, i);
  tsr_rect whole = tsr_rect_make(buffer->row, buffer->col, buffer->rows, buffer->cols);
  if (tsr_rect_contains(whole, rect)) return TSR_OK;
  return tsr_verify_fail(v, c, "%s: rows %lld..%lld, columns %lld..%lld of %s are not in buffer %d",
                         what, (long long)rect.row0, (long long)rect.row1 - 1, (long long)rect.col0,
                         (long long)rect.col1 - 1, tsr_matrix_name(buffer->matrix),
                         command->buffer[i]);
}

/* ---- Copies ---- */

static bool pinned(const tsr_call *call, const tsr_buffer *home, tsr_rect rect) {
  const tsr_operand *operand = &call->operand[home->matrix];
  if (operand->memory == TSR_PINNED) return true;
  if (operand->memory != TSR_PAGEABLE) return false;
  int64_t element = (int64_t)tsr_matrix_element(call, home->matrix);
  int64_t begin = (rect.col0 * operand->ld + rect.row0) * element;
  int64_t end = ((rect.col1 - 1) * operand->ld + rect.row1) * element;
  return begin >= operand->pinned_begin && end <= operand->pinned_end;
}

static bool ends_fit(const tsr_plan *plan, const tsr_plan_queue *queue, const tsr_buffer *from,
                     const tsr_buffer *to) {
  bool host_from = from->location >= plan->machine_devices;
  bool host_to = to->location >= plan->machine_devices;
  switch (queue->role) {
    case TSR_QUEUE_IN:
      return host_from && to->location == queue->location;
    case TSR_QUEUE_OUT:
      return from->location == queue->location && host_to;
    case TSR_QUEUE_PEER:
      return from->location == queue->location && !host_to &&
             (queue->index == TSR_ANY_PEER || to->location == queue->index);
    case TSR_QUEUE_STAGING:
      return host_from && host_to &&
             (from->role == TSR_BUFFER_HOME) != (to->role == TSR_BUFFER_HOME);
    default:
      return false;
  }
}

static tsr_status check_way(const tsr_verifier *v, uint32_t c, const tsr_buffer *from,
                            const tsr_buffer *to) {
  const tsr_command *command = &v->plan->commands.items[c];
  const tsr_plan_queue *queue = &v->plan->queue[command->queue];
  if (!ends_fit(v->plan, queue, from, to))
    return tsr_verify_fail(v, c, "this queue cannot carry out such a copy");
  if (queue->role == TSR_QUEUE_STAGING || from->location == to->location) return TSR_OK;
  if (v->machine != NULL && v->machine->link[from->location][to->location].bandwidth <= 0)
    return tsr_verify_fail(v, c, "there is no link between these locations");
  const tsr_buffer *host = queue->role == TSR_QUEUE_IN ? from : to;
  if (queue->role == TSR_QUEUE_PEER || host->role != TSR_BUFFER_HOME) return TSR_OK;
  if (pinned(&v->plan->call, host, tsr_command_rect(command, 0))) return TSR_OK;
  return tsr_verify_fail(v, c, "%s is not pinned there, so a staging queue must copy it",
                         tsr_matrix_name(host->matrix));
}

/* Only a staging queue can copy a triangle: the part of C that the call may write. */
static tsr_status check_triangle(const tsr_verifier *v, uint32_t c, const tsr_buffer *to) {
  const tsr_command *command = &v->plan->commands.items[c];
  tsr_uplo uplo = tsr_form_unpack(command->form).uplo;
  bool staging = v->plan->queue[command->queue].role == TSR_QUEUE_STAGING;
  if (command->form == 0) return TSR_OK;
  if (staging && to->role == TSR_BUFFER_HOME && uplo == v->plan->call.uplo) return TSR_OK;
  return tsr_verify_fail(
      v, c, "only a staging queue can copy a triangle, and only that of C to its home");
}

static tsr_status check_copy(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  const tsr_buffer *from = &v->plan->buffers.items[command->buffer[0]];
  const tsr_buffer *to = &v->plan->buffers.items[command->buffer[1]];
  if (from == to || from->matrix != to->matrix)
    return tsr_verify_fail(v, c, "its buffers %d (%s) and %d (%s) are not two of one matrix",
                           command->buffer[0], tsr_matrix_name(from->matrix), command->buffer[1],
                           tsr_matrix_name(to->matrix));
  TSR_TRY(check_rect(v, c, 0, "source"));
  TSR_TRY(check_rect(v, c, 1, "target"));
  if (to->role == TSR_BUFFER_HOME && to->matrix != TSR_C_)
    return tsr_verify_fail(v, c, "writes into the home of %s", tsr_matrix_name(to->matrix));
  TSR_TRY(check_triangle(v, c, to));
  return check_way(v, c, from, to);
}

/* ---- Kernels ---- */

static tsr_status check_operand(const tsr_verifier *v, uint32_t c, int i) {
  const tsr_command *command = &v->plan->commands.items[c];
  const tsr_buffer *buffer = &v->plan->buffers.items[command->buffer[i]];
  int location = v->plan->queue[command->queue].location;
  tsr_name name;
  if (i == 2 && buffer->matrix < TSR_C_)
    return tsr_verify_fail(v, c, "%s is of %s", operand_names[i], tsr_matrix_name(buffer->matrix));
  if (buffer->location != location)
    return tsr_verify_fail(v, c, "%s: buffer %d of %s is at %s", operand_names[i],
                           command->buffer[i], tsr_matrix_name(buffer->matrix),
                           tsr_plan_location_name(v->plan, buffer->location, &name));
  return check_rect(v, c, i, operand_names[i]);
}

static bool has_w(const tsr_verifier *v, const tsr_command *command) {
  for (int i = 0; i < 3; i++)
    if (command->buffer[i] != TSR_NO_BUFFER &&
        v->plan->buffers.items[command->buffer[i]].matrix == TSR_W)
      return true;
  return false;
}

/* Whether a command has more than one of the flags. */
static bool several(const tsr_command *command, unsigned flags) {
  unsigned set = command->flags & flags;
  return (set & (set - 1)) != 0;
}

static tsr_status check_flags(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  tsr_type type = v->plan->call.type;
  bool wide = command->flags & TSR_FLAG_WIDE;
  if (several(command, TSR_FLAG_BETA | TSR_FLAG_BETA_ONE | TSR_FLAG_BETA_ALPHA))
    return tsr_verify_fail(v, c, "beta has more than one of the values: the call's, 1, alpha");
  if (several(command, TSR_FLAG_ALPHA_ONE | TSR_FLAG_ALPHA_MINUS | TSR_FLAG_ALPHA_CONJ))
    return tsr_verify_fail(v, c, "alpha has more than one of the values: 1, -1, its conjugate");
  if (wide != (has_w(v, command) && tsr_type_get(type)->wide != type))
    return tsr_verify_fail(
        v, c, wide ? "is marked wide, its operands are not" : "is not marked wide, but W is");
  return TSR_OK;
}

static tsr_status check_form(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  bool triangle = tsr_kernel_get((tsr_kernel)command->kernel)->traits != 0 ||
                  command->kernel == TSR_KERNEL_GEMMT;
  if (triangle && tsr_form_unpack(command->form).uplo == TSR_GENERAL)
    return tsr_verify_fail(v, c, "does not say which triangle its operand has");
  return TSR_OK;
}

/* Whether an operand of a kernel is of a matrix that the kernel can use: another form, what it is
 * made of (source), or neither. The check of the results (algebra.c) finds out whether the right
 * elements are multiplied with each other. */
static bool matrix_fits(const tsr_command *command, int i, int matrix, int source) {
  if (tsr_kernel_makes_form(command->kernel))
    return i == 2 ? tsr_is_lines(matrix) : matrix == source;
  if (tsr_kernel_multiplies_forms(command->kernel))
    return i == 2 ? matrix == TSR_C_ || matrix == TSR_W : tsr_is_lines(matrix);
  switch (command->kernel) {
    case TSR_KERNEL_INVERT:
      return matrix == (i == 2 ? TSR_V : TSR_A);
    case TSR_KERNEL_SOLVE:
      return matrix == (i == 2 ? TSR_C_ : TSR_V);
    default:
      return !tsr_is_made(matrix);
  }
}

/* Checks that a kernel that uses a block of residues has all elements of its lines: a line has one
 * scale, which depends on all of them. */
static tsr_status check_lines(const tsr_verifier *v, uint32_t c, int i, int32_t elements) {
  const tsr_buffer *buffer = &v->plan->buffers.items[v->plan->commands.items[c].buffer[i]];
  if (elements == buffer->rows) return TSR_OK;
  return tsr_verify_fail(v, c,
                         "%s: has %d of %lld elements of a line, which has one scale for all of k",
                         operand_names[i], elements, (long long)buffer->rows);
}

/* Whether all elements of which residues are made have one source: those of a symmetric matrix lie
 * on one side of its diagonal. */
static bool has_one_source(const tsr_call *call, const tsr_command *command, int made,
                           const tsr_line_source *source) {
  int64_t row = command->row[2], col = command->col[2];
  tsr_line_source first = tsr_line_source_of(call, made, row, col + command->n - 1);
  tsr_line_source last = tsr_line_source_of(call, made, row + command->m - 1, col);
  return first.turned == source->turned && last.turned == source->turned;
}

/* Checks how residues are made: from lines along the source, conjugated or not. */
static tsr_status check_making(const tsr_verifier *v, uint32_t c, const tsr_line_source *source) {
  const tsr_command *command = &v->plan->commands.items[c];
  tsr_form form = tsr_form_unpack(command->form);
  const char *name = tsr_matrix_name(source->matrix);
  if ((form.transb == TSR_CONJ_TRANS) != source->conjugated)
    return tsr_verify_fail(v, c, source->conjugated ? "does not conjugate %s" : "conjugates %s",
                           name);
  if ((form.transa != TSR_NO_TRANS) != source->turned)
    return tsr_verify_fail(v, c, "lines are %s of %s", source->turned ? "columns" : "rows", name);
  if (!has_one_source(&v->plan->call, command, v->plan->buffers.items[command->buffer[2]].matrix,
                      source))
    return tsr_verify_fail(v, c, "reads %s across its diagonal", name);
  return check_lines(v, c, 2, command->m);
}

/* Checks that inverses are made, and used, of squares on A's diagonal with its triangle. */
static tsr_status check_inverse(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  const tsr_call *call = &v->plan->call;
  tsr_form form = tsr_form_unpack(command->form);
  bool inverts = command->kernel == TSR_KERNEL_INVERT;
  if (!inverts && command->kernel != TSR_KERNEL_SOLVE) return TSR_OK;
  if (form.uplo != call->uplo || form.diag != call->diag)
    return tsr_verify_fail(v, c, "does not have the triangle of A");
  if (command->row[0] != command->col[0])
    return tsr_verify_fail(v, c, "operand a is not on the diagonal of A");
  if (!inverts || (command->row[2] == command->row[0] && command->col[2] == command->col[0] &&
                   command->m == command->n))
    return TSR_OK;
  return tsr_verify_fail(v, c, "the inverse is not at the place of its block");
}

/* Checks which matrices a kernel's operands are of, and the kernels on residues. */
static tsr_status check_residues(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  const tsr_call *call = &v->plan->call;
  int made = v->plan->buffers.items[command->buffer[2]].matrix;
  bool makes = tsr_kernel_makes_form(command->kernel);
  tsr_line_source source = {TSR_A, false, false};
  if (makes && tsr_is_lines(made))
    source = tsr_line_source_of(call, made, command->row[2], command->col[2]);
  for (int i = 0; i < 3; i++) {
    if (command->buffer[i] == TSR_NO_BUFFER) continue;
    int matrix = v->plan->buffers.items[command->buffer[i]].matrix;
    if (!matrix_fits(command, i, matrix, source.matrix))
      return tsr_verify_fail(v, c, "%s is of %s", operand_names[i], tsr_matrix_name(matrix));
  }
  if (!makes && !tsr_kernel_multiplies_forms(command->kernel)) return TSR_OK;
  if (!tsr_call_has_form(call))
    return tsr_verify_fail(v, c, "the call is not computed in residues");
  if (command->kernel != (makes ? call->arithmetic->makes : call->arithmetic->multiplies))
    return tsr_verify_fail(v, c, "is no kernel of the call's arithmetic");
  if (makes) return check_making(v, c, &source);
  TSR_TRY(check_lines(v, c, 0, command->k));
  return check_lines(v, c, 1, command->k);
}

/* The rectangles of operands a and b must not overlap that of c. */
static tsr_status check_disjoint(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  tsr_rect written = tsr_command_rect(command, 2);
  for (int i = 0; i < 2; i++)
    if (command->buffer[i] == command->buffer[2] &&
        tsr_rect_meet(tsr_command_rect(command, i), written))
      return tsr_verify_fail(v, c, "%s and operand c overlap in buffer %d", operand_names[i],
                             command->buffer[2]);
  return TSR_OK;
}

static tsr_status check_kernel(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  uint8_t role = v->plan->queue[command->queue].role;
  if (role != TSR_QUEUE_COMPUTE && role != TSR_QUEUE_ADD)
    return tsr_verify_fail(v, c, "this queue cannot carry out kernels");
  for (int i = 0; i < 3; i++)
    if (command->buffer[i] != TSR_NO_BUFFER) TSR_TRY(check_operand(v, c, i));
  TSR_TRY(check_flags(v, c));
  TSR_TRY(check_form(v, c));
  TSR_TRY(check_residues(v, c));
  TSR_TRY(check_inverse(v, c));
  TSR_TRY(tsr_verify_agreement(v, c));
  return check_disjoint(v, c);
}

tsr_status tsr_verify_form(const tsr_verifier *v, uint32_t command) {
  TSR_TRY(check_ranges(v, command));
  bool copy = v->plan->commands.items[command].kind == TSR_COMMAND_COPY;
  return copy ? check_copy(v, command) : check_kernel(v, command);
}
