#include <stdarg.h>
#include <stdio.h>

#include "plan/verify.h"

static const char *const operand_names[3] = {"operand a", "operand b", "operand c"};

tsr_status tsr_verify_fail(const tsr_verifier *v, uint32_t command, const char *format, ...) {
  char message[384];
  tsr_name name;
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  tsr_command_describe(v->plan, &v->plan->commands.items[command], &name);
  return tsr_fail(TSR_ERR_CHECK, "command %u (%s): %s", command, name.text, message);
}

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

/* Which of the three buffers a command has. */
static unsigned operands_of(const tsr_command *command) {
  if (command->kind == TSR_COMMAND_COPY) return 3;
  const unsigned of_kernel[TSR_KERNEL_COUNT] = {
      [TSR_KERNEL_GEMM] = 7, [TSR_KERNEL_ADD] = 5, [TSR_KERNEL_SCALE] = 4};
  return of_kernel[command->kernel];
}

static tsr_status check_buffers(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  unsigned operands = operands_of(command);
  for (int i = 0; i < 3; i++) {
    int32_t buffer = command->buffer[i];
    if (!(operands & (1u << i))) {
      if (buffer != TSR_NO_BUFFER) return tsr_verify_fail(v, c, "buffer %d has no use here", i);
    } else if (buffer < 0 || (size_t)buffer >= v->plan->buffers.count) {
      return tsr_verify_fail(v, c, "buffer %d is number %d, which there is not", i, buffer);
    }
  }
  return TSR_OK;
}

static tsr_status check_ranges(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  if (command->queue >= v->plan->queues)
    return tsr_verify_fail(v, c, "is on queue %d of %d", command->queue, v->plan->queues);
  if (command->kind > TSR_COMMAND_KERNEL ||
      (command->kind == TSR_COMMAND_KERNEL && command->kernel >= TSR_KERNEL_COUNT))
    return tsr_verify_fail(v, c, "there is no such command");
  bool inner = command->kind == TSR_COMMAND_KERNEL && command->kernel == TSR_KERNEL_GEMM;
  if (command->m <= 0 || command->n <= 0 || (inner && command->k <= 0))
    return tsr_verify_fail(v, c, "its extents are %d x %d x %d", command->m, command->n,
                           command->k);
  TSR_TRY(check_waits(v, c));
  return check_buffers(v, c);
}

/* ---- Rectangles ---- */

tsr_rect tsr_verify_rect(const tsr_call *call, const tsr_command *command, int i) {
  int64_t rows = command->m, cols = command->n;
  if (command->kind == TSR_COMMAND_COPY)
    return tsr_rect_make(command->row[0], command->col[0], rows, cols);
  bool gemm = command->kernel == TSR_KERNEL_GEMM;
  if (gemm && i == 0) cols = command->k;
  if (gemm && i == 1) rows = command->k;
  bool turned = gemm && i < 2 && (i == 0 ? call->transa : call->transb) != TSR_NO_TRANS;
  return tsr_rect_make(command->row[i], command->col[i], turned ? cols : rows,
                       turned ? rows : cols);
}

static tsr_status check_rect(const tsr_verifier *v, uint32_t c, int i, const char *what) {
  const tsr_command *command = &v->plan->commands.items[c];
  const tsr_buffer *buffer = &v->plan->buffers.items[command->buffer[i]];
  int at = command->kind == TSR_COMMAND_COPY ? 0 : i;
  if (command->row[at] > INT64_MAX / 2 || command->col[at] > INT64_MAX / 2)
    return tsr_verify_fail(v, c, "%s is beyond any matrix", what);
  tsr_rect rect = tsr_verify_rect(&v->plan->call, command, i);
  tsr_rect room = tsr_rect_make(buffer->row, buffer->col, buffer->rows, buffer->cols);
  if (tsr_rect_contains(room, rect)) return TSR_OK;
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
    case TSR_QUEUE_LANE:
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
  if (queue->role == TSR_QUEUE_LANE) return TSR_OK;
  if (v->machine != NULL && v->machine->link[from->location][to->location].bandwidth <= 0)
    return tsr_verify_fail(v, c, "there is no link between these locations");
  const tsr_buffer *host = queue->role == TSR_QUEUE_IN ? from : to;
  if (queue->role == TSR_QUEUE_PEER || host->role != TSR_BUFFER_HOME) return TSR_OK;
  if (pinned(&v->plan->call, host, tsr_verify_rect(&v->plan->call, command, 0))) return TSR_OK;
  return tsr_verify_fail(v, c, "%s is not pinned there, a lane must stage it",
                         tsr_matrix_name(host->matrix));
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
  return check_way(v, c, from, to);
}

/* ---- Kernels ---- */

static bool matrix_fits(const tsr_command *command, int i, int matrix) {
  if (command->kernel == TSR_KERNEL_GEMM)
    return i < 2 ? matrix == i : matrix == TSR_C_ || matrix == TSR_W;
  return matrix == (i == 0 ? TSR_W : TSR_C_);
}

static tsr_status check_operand(const tsr_verifier *v, uint32_t c, int i) {
  const tsr_command *command = &v->plan->commands.items[c];
  const tsr_buffer *buffer = &v->plan->buffers.items[command->buffer[i]];
  int location = v->plan->queue[command->queue].location;
  tsr_name name;
  if (!matrix_fits(command, i, buffer->matrix))
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

static tsr_status check_flags(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  const tsr_call *call = &v->plan->call;
  bool beta = command->flags & TSR_FLAG_BETA, beta_one = command->flags & TSR_FLAG_BETA_ONE;
  bool alpha_one = command->flags & TSR_FLAG_ALPHA_ONE, wide = command->flags & TSR_FLAG_WIDE;
  bool w = has_w(v, command), widens = tsr_type_get(call->type)->wide != call->type;
  if (beta && beta_one) return tsr_verify_fail(v, c, "beta cannot be the call's and 1");
  if (wide != (w && widens))
    return tsr_verify_fail(
        v, c, wide ? "is marked wide, its operands are not" : "is not marked wide, but W is");
  if (command->kernel == TSR_KERNEL_GEMM && alpha_one && call->alpha != TSR_ONE)
    return tsr_verify_fail(v, c, "leaves the call's alpha out");
  if (command->kernel == TSR_KERNEL_ADD && !alpha_one && call->alpha != TSR_ONE)
    return tsr_verify_fail(v, c, "multiplies W by alpha a second time");
  if (command->kernel == TSR_KERNEL_GEMM && beta && w)
    return tsr_verify_fail(v, c, "uses beta on W, which is no part of the call's C");
  if (command->kernel == TSR_KERNEL_SCALE && !beta)
    return tsr_verify_fail(v, c, "scales C by something else than beta");
  return TSR_OK;
}

/* The rows of op(A) and C, the columns of op(B) and C, and the k of both must be the same. */
static tsr_status check_agreement(const tsr_verifier *v, uint32_t c) {
  const tsr_command *command = &v->plan->commands.items[c];
  const int64_t *row = command->row, *col = command->col;
  if (command->kernel == TSR_KERNEL_ADD && (row[0] != row[2] || col[0] != col[2]))
    return tsr_verify_fail(
        v, c, "W at row %lld, column %lld is added to C at row %lld, column %lld",
        (long long)row[0], (long long)col[0], (long long)row[2], (long long)col[2]);
  if (command->kernel != TSR_KERNEL_GEMM) return TSR_OK;
  bool turn_a = v->plan->call.transa != TSR_NO_TRANS, turn_b = v->plan->call.transb != TSR_NO_TRANS;
  int64_t i = turn_a ? col[0] : row[0], ka = turn_a ? row[0] : col[0];
  int64_t kb = turn_b ? col[1] : row[1], j = turn_b ? row[1] : col[1];
  if (i != row[2] || j != col[2] || ka != kb)
    return tsr_verify_fail(
        v, c,
        "a gives rows from %lld and k from %lld, b k from %lld and columns from %lld, c is at "
        "row %lld, column %lld",
        (long long)i, (long long)ka, (long long)kb, (long long)j, (long long)row[2],
        (long long)col[2]);
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
  return check_agreement(v, c);
}

tsr_status tsr_verify_form(const tsr_verifier *v, uint32_t command) {
  TSR_TRY(check_ranges(v, command));
  bool copy = v->plan->commands.items[command].kind == TSR_COMMAND_COPY;
  return copy ? check_copy(v, command) : check_kernel(v, command);
}
