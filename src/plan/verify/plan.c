/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks a plan as a whole, before any command: queues, homes, buffers, budgets. */
#include "blas/operation.h"
#include "plan/residency.h"
#include "plan/verify/verify.h"

static tsr_status check_queue(const tsr_verifier *v, int index) {
  const tsr_plan_queue *queue = &v->plan->queue[index];
  int devices = v->plan->machine_devices;
  tsr_name name;
  bool device = queue->location >= 0 && queue->location < devices;
  bool host = queue->location >= devices && queue->location < v->locations;
  if (queue->role >= TSR_QUEUE_USER || !(queue->role == TSR_QUEUE_STAGING ? host : device))
    return tsr_fail(TSR_ERR_CHECK,
                    "queue %d (%s) is at location %d, which cannot have such a queue", index,
                    tsr_queue_name(queue, &name), queue->location);
  if (queue->role == TSR_QUEUE_PEER && queue->index != TSR_ANY_PEER && queue->index >= devices)
    return tsr_fail(TSR_ERR_CHECK,
                    "queue %d of device %d sends to device %d, which is not on the machine", index,
                    queue->location, queue->index);
  return TSR_OK;
}

/* Whether the extents of an operand follow from the call's; an operand that the operation lacks has
 * none. */
static bool extents_fit(const tsr_call *call, int operand) {
  const tsr_operand *home = &call->operand[operand];
  tsr_axes spaces = tsr_call_spaces(call, operand);
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  if ((operand == TSR_B_ && !info->has.b) || (operand == TSR_A && !info->has.a))
    return home->rows == 0;
  return home->rows == tsr_call_extent(call, spaces.rows) &&
         home->cols == tsr_call_extent(call, spaces.cols);
}

static tsr_status check_home(const tsr_verifier *v, int operand) {
  const tsr_buffer *buffer = &v->plan->buffers.items[operand];
  const tsr_operand *home = &v->plan->call.operand[operand];
  if (!extents_fit(&v->plan->call, operand))
    return tsr_fail(TSR_ERR_CHECK, "%s is %lld x %lld, which does not fit the call",
                    tsr_matrix_name(operand), (long long)home->rows, (long long)home->cols);
  if (home->rows == 0 && buffer->rows == 0 && buffer->role == TSR_BUFFER_HOME) return TSR_OK;
  bool device = home->location >= 0 && home->location < v->plan->machine_devices;
  if (home->location < 0 || home->location >= v->locations ||
      device != (home->memory == TSR_DEVICE))
    return tsr_fail(TSR_ERR_CHECK,
                    "the home of %s is at location %d, which cannot have such memory",
                    tsr_matrix_name(operand), home->location);
  bool same = buffer->role == TSR_BUFFER_HOME && buffer->matrix == operand && buffer->row == 0 &&
              buffer->col == 0 && buffer->rows == home->rows && buffer->cols == home->cols &&
              buffer->ld == home->ld && buffer->location == home->location;
  if (same) return TSR_OK;
  return tsr_fail(TSR_ERR_CHECK, "buffer %d is not the home of %s as the call has it", operand,
                  tsr_matrix_name(operand));
}

/* Elements from the first to the last, both included; -1: more than any memory. */
static int64_t elements_needed(const tsr_buffer *buffer) {
  if (buffer->cols > 1 && buffer->ld > INT64_MAX / 64 / buffer->cols) return -1;
  return (buffer->cols - 1) * buffer->ld + buffer->rows;
}

/* Bytes that a block of residues has to have, and its alignment: that of its lines' records. */
static bool residues_fit(const tsr_verifier *v, const tsr_buffer *buffer) {
  const tsr_call *call = &v->plan->call;
  return tsr_call_has_form(call) && buffer->ld == tsr_form_ld(buffer->rows) &&
         buffer->bytes >= tsr_form_bytes(call->arithmetic, &call->promise, call->type, buffer->rows,
                                         buffer->cols);
}

static tsr_status check_memory(const tsr_verifier *v, size_t index) {
  const tsr_buffer *buffer = &v->plan->buffers.items[index];
  bool residues = tsr_is_lines(buffer->matrix);
  size_t element = residues ? sizeof(uint64_t) : tsr_matrix_element(&v->plan->call, buffer->matrix);
  int64_t needed = elements_needed(buffer);
  tsr_name place;
  tsr_plan_location_name(v->plan, buffer->location, &place);
  if (needed < 0 ||
      (residues ? !residues_fit(v, buffer) : buffer->bytes / element < (size_t)needed))
    return tsr_fail(TSR_ERR_CHECK, "buffer %zu (%s at %s) has %zu bytes, too few for %lld x %lld",
                    index, tsr_matrix_name(buffer->matrix), place.text, buffer->bytes,
                    (long long)buffer->rows, (long long)buffer->cols);
  size_t arena = v->plan->arena[buffer->location];
  if (buffer->offset % element != 0 || buffer->offset > arena ||
      buffer->bytes > arena - buffer->offset)
    return tsr_fail(TSR_ERR_CHECK,
                    "buffer %zu (%s at %s): bytes %zu..%zu are not in the arena of %zu bytes, or "
                    "not aligned",
                    index, tsr_matrix_name(buffer->matrix), place.text, buffer->offset,
                    buffer->offset + buffer->bytes - 1, arena);
  return TSR_OK;
}

/* W has the extents of C, once for each slice of k that a device multiplies, and a buffer is inside
 * one of them; another form has the extents of what it stands for. Only trsm has inverses. */
static bool inside_matrix(const tsr_plan *plan, const tsr_buffer *buffer) {
  const tsr_call *call = &plan->call;
  bool residues = tsr_is_lines(buffer->matrix), made = tsr_is_made(buffer->matrix);
  bool fits = buffer->matrix != TSR_V || call->operation == TSR_TRSM;
  const tsr_operand *whole =
      &call->operand[buffer->matrix < TSR_OPERANDS ? buffer->matrix : TSR_C_];
  tsr_axes spaces = tsr_call_spaces(call, buffer->matrix);
  int64_t rows = made ? tsr_call_extent(call, spaces.rows) : whole->rows;
  int64_t cols = made ? tsr_call_extent(call, spaces.cols) : whole->cols;
  int64_t times = buffer->matrix == TSR_W && plan->slices > 1 ? plan->slices : 1;
  return buffer->row >= 0 && buffer->col >= 0 && buffer->rows > 0 && buffer->cols > 0 &&
         buffer->rows <= rows && buffer->row <= rows - buffer->rows && buffer->cols <= cols &&
         buffer->col / cols < times && buffer->col % cols <= cols - buffer->cols &&
         buffer->ld >= buffer->rows && (!residues || tsr_call_has_form(call)) && fits;
}

/* Whether the buffer is a cached block of the plan's residency, of the same place and extents. */
static bool is_cached_block(const tsr_verifier *v, const tsr_buffer *buffer) {
  const tsr_residency *after = v->plan->after;
  if (after == NULL || buffer->offset >= after->blocks.count) return false;
  const tsr_cached_block *block = &after->blocks.items[buffer->offset];
  tsr_rect rect = tsr_rect_make(buffer->row, buffer->col, buffer->rows, buffer->cols);
  return block->device == buffer->location && block->matrix == buffer->matrix &&
         block->ld == buffer->ld && tsr_rect_contains(block->rect, rect) &&
         tsr_rect_contains(rect, block->rect);
}

static tsr_status check_buffer(const tsr_verifier *v, size_t index) {
  const tsr_buffer *buffer = &v->plan->buffers.items[index];
  int devices = v->plan->machine_devices;
  bool device = buffer->location >= 0 && buffer->location < devices;
  bool host = buffer->location >= devices && buffer->location < v->locations;
  if (buffer->matrix >= TSR_MATRICES ||
      !((buffer->role == TSR_BUFFER_TILE && device) || (buffer->role == TSR_BUFFER_STAGE && host) ||
        (buffer->role == TSR_BUFFER_CACHED && is_cached_block(v, buffer))))
    return tsr_fail(TSR_ERR_CHECK, "buffer %zu: there is no buffer of role %d at location %d",
                    index, buffer->role, buffer->location);
  if (!inside_matrix(v->plan, buffer))
    return tsr_fail(
        TSR_ERR_CHECK, "buffer %zu: %lld x %lld (ld %lld) at row %lld, column %lld is not in %s",
        index, (long long)buffer->rows, (long long)buffer->cols, (long long)buffer->ld,
        (long long)buffer->row, (long long)buffer->col, tsr_matrix_name(buffer->matrix));
  return buffer->role == TSR_BUFFER_CACHED ? TSR_OK : check_memory(v, index);
}

static tsr_status check_budgets(const tsr_verifier *v, const size_t *budgets) {
  for (int d = 0; budgets != NULL && d < v->plan->machine_devices; d++)
    if (v->plan->arena[d] > budgets[d])
      return tsr_fail(TSR_ERR_CHECK, "device %d: the plan needs %zu bytes, its budget is %zu", d,
                      v->plan->arena[d], budgets[d]);
  return TSR_OK;
}

tsr_status tsr_verify_plan(const tsr_verifier *v, const size_t *budgets) {
  const tsr_plan *plan = v->plan;
  if (plan->queues < 0 || plan->queues > TSR_PLAN_QUEUES ||
      plan->commands.count >= TSR_NO_COMMAND || plan->buffers.count > INT32_MAX)
    return tsr_fail(TSR_ERR_CHECK, "the plan has too many queues, commands or buffers");
  if (plan->machine_devices < 0 || plan->machine_devices > TSR_MACHINE_DEVICES ||
      (v->machine != NULL && v->machine->devices != plan->machine_devices))
    return tsr_fail(TSR_ERR_CHECK,
                    "the plan is for a machine of %d devices, this machine has another number",
                    plan->machine_devices);
  if (plan->buffers.count < TSR_OPERANDS)
    return tsr_fail(TSR_ERR_CHECK, "the plan has no buffers for the homes of A, B and C");
  for (int q = 0; q < plan->queues; q++) TSR_TRY(check_queue(v, q));
  for (int i = 0; i < TSR_OPERANDS; i++) TSR_TRY(check_home(v, i));
  for (size_t i = TSR_OPERANDS; i < plan->buffers.count; i++) TSR_TRY(check_buffer(v, i));
  return check_budgets(v, budgets);
}
