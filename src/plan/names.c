/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/names.h"

#include <stdio.h>

#include "blas/operation.h"
#include "plan/axes.h"

const char *tsr_matrix_name(int matrix) {
  static const char *const names[TSR_MATRICES] = {"A",  "B",   "C",   "W", "RA",
                                                  "RB", "RA2", "RB2", "V"};
  return matrix >= 0 && matrix < TSR_MATRICES ? names[matrix] : "?";
}

const char *tsr_asked_matrix_name(const tsr_call *call, int matrix) {
  return tsr_matrix_name(tsr_call_asked_matrix(call, matrix));
}

bool tsr_plan_is_interleaved(const tsr_plan *plan, int location) {
  return plan->machine_nodes > 1 && location == plan->machine_devices + plan->machine_nodes;
}

const char *tsr_plan_location_name(const tsr_plan *plan, int location, tsr_name *name) {
  int node = location - plan->machine_devices;
  if (tsr_plan_is_interleaved(plan, location))
    snprintf(name->text, sizeof name->text, "hosts");
  else
    snprintf(name->text, sizeof name->text, "%s %d", node < 0 ? "device" : "host",
             node < 0 ? location : node);
  return name->text;
}

const char *tsr_queue_name(const tsr_plan_queue *queue, tsr_name *name) {
  static const char *const roles[] = {"in", "out", "peer to", "compute", "add", "staging", "user"};
  const char *role = queue->role <= TSR_QUEUE_USER ? roles[queue->role] : "?";
  bool numbered = queue->role == TSR_QUEUE_PEER || queue->role == TSR_QUEUE_COMPUTE ||
                  queue->role == TSR_QUEUE_STAGING;
  if (queue->role == TSR_QUEUE_PEER && queue->index == TSR_ANY_PEER)
    snprintf(name->text, sizeof name->text, "peers");
  else if (numbered)
    snprintf(name->text, sizeof name->text, "%s %d", role, queue->index);
  else
    snprintf(name->text, sizeof name->text, "%s", role);
  return name->text;
}

static const tsr_buffer *buffer_at(const tsr_plan *plan, int32_t index) {
  bool known = index >= 0 && (size_t)index < plan->buffers.count;
  return known ? &plan->buffers.items[index] : NULL;
}

const char *tsr_command_name(const tsr_plan *plan, const tsr_command *command, tsr_name *name) {
  if (command->kind == TSR_COMMAND_COPY) {
    const tsr_buffer *from = buffer_at(plan, command->buffer[0]);
    snprintf(name->text, sizeof name->text, "copy of %s",
             from == NULL ? "?" : tsr_asked_matrix_name(&plan->call, from->matrix));
  } else {
    bool known = command->kind == TSR_COMMAND_KERNEL && command->kernel < TSR_KERNEL_COUNT;
    snprintf(name->text, sizeof name->text, "%s",
             known ? tsr_kernel_get((tsr_kernel)command->kernel)->name : "unknown command");
  }
  return name->text;
}

static void describe_copy(const tsr_plan *plan, const tsr_command *command, tsr_name *name) {
  const tsr_buffer *from = buffer_at(plan, command->buffer[0]);
  const tsr_buffer *to = buffer_at(plan, command->buffer[1]);
  tsr_name what, source, target, queue;
  tsr_command_name(plan, command, &what);
  tsr_queue_name(&plan->queue[command->queue], &queue);
  if (from == NULL || to == NULL)
    snprintf(name->text, sizeof name->text, "%.20s, queue %.20s", what.text, queue.text);
  else
    snprintf(name->text, sizeof name->text, "%.16s from %.16s to %.16s, queue %.16s", what.text,
             tsr_plan_location_name(plan, from->location, &source),
             tsr_plan_location_name(plan, to->location, &target), queue.text);
}

const char *tsr_command_describe(const tsr_plan *plan, const tsr_command *command, tsr_name *name) {
  tsr_name what, location, queue;
  if (command->queue >= plan->queues || command->queue >= TSR_PLAN_QUEUES)
    return tsr_command_name(plan, command, name);
  if (command->kind == TSR_COMMAND_COPY) {
    describe_copy(plan, command, name);
    return name->text;
  }
  const tsr_plan_queue *where = &plan->queue[command->queue];
  snprintf(name->text, sizeof name->text, "%.20s on %.20s, queue %.20s",
           tsr_command_name(plan, command, &what),
           tsr_plan_location_name(plan, where->location, &location), tsr_queue_name(where, &queue));
  return name->text;
}

const char *tsr_call_name(const tsr_call *planned, tsr_name *name) {
  const tsr_call asked = tsr_call_as_asked(planned), *call = &asked;
  const tsr_operation_info *info = tsr_operation_get(call->operation);
  char flags[6] = "", *end = flags; /* in the routine's order */
  if (info->has.side) *end++ = (char)call->side;
  if (info->has.uplo) *end++ = (char)call->uplo;
  if (info->has.transa) *end++ = (char)call->transa;
  if (info->has.transb) *end++ = (char)call->transb;
  if (info->has.diag) *end++ = (char)call->diag;
  snprintf(name->text, sizeof name->text, "%c%s %s", (char)call->type, info->name, flags);
  return name->text;
}

const char *tsr_home_name(const tsr_plan *plan, const tsr_operand *home, tsr_name *name) {
  static const char *const kinds[] = {"pageable", "pinned", "managed", "memory of"};
  tsr_name location;
  tsr_plan_location_name(plan, home->location, &location);
  if (home->memory == TSR_DEVICE)
    snprintf(name->text, sizeof name->text, "%.20s", location.text);
  else if (home->memory == TSR_PAGEABLE && home->pinned_end > home->pinned_begin)
    snprintf(name->text, sizeof name->text, "partly pinned, %.20s", location.text);
  else
    snprintf(name->text, sizeof name->text, "%s, %.20s", kinds[home->memory], location.text);
  return name->text;
}

size_t tsr_matrix_element(const tsr_call *call, int matrix) {
  if (tsr_is_lines(matrix))
    return tsr_call_has_form(call)
               ? (size_t)tsr_form_element(call->arithmetic, &call->promise, call->type)
               : 0;
  const tsr_type_info *info = tsr_type_get(call->type);
  return matrix == TSR_W ? tsr_type_get(info->wide)->size : info->size;
}

double tsr_command_bytes(const tsr_plan *plan, const tsr_command *command) {
  const tsr_buffer *from = buffer_at(plan, command->buffer[0]);
  if (command->kind != TSR_COMMAND_COPY || from == NULL) return 0;
  return (double)command->m * command->n * (double)tsr_matrix_element(&plan->call, from->matrix);
}

tsr_segments tsr_command_segments(const tsr_plan *plan, const tsr_command *c) {
  const tsr_buffer *from = &plan->buffers.items[c->buffer[0]];
  double size = (double)tsr_matrix_element(&plan->call, from->matrix);
  double column = (double)c->m * size;
  for (int i = 0; i < 2; i++) {
    const tsr_buffer *b = &plan->buffers.items[c->buffer[i]];
    if (b->location >= plan->machine_devices && b->ld != c->m)
      return (tsr_segments){column, (double)b->ld * size};
  }
  return (tsr_segments){column * (double)c->n, 0};
}

double tsr_command_kernel_bytes(const tsr_plan *plan, const tsr_command *c) {
  return tsr_machine_kernel_bytes((tsr_kernel)c->kernel, plan->call.type, c->m, c->n, c->k,
                                  (c->flags & TSR_FLAG_WIDE) != 0,
                                  tsr_command_reads_c(&plan->call, c));
}

int tsr_plan_home_node(const tsr_plan *plan) {
  int node = -1, devices = plan->machine_devices;
  for (int i = 0; i < TSR_OPERANDS; i++) {
    const tsr_operand *operand = &plan->call.operand[i];
    if (operand->rows == 0 || operand->location < devices) continue;
    if (node >= 0 && operand->location != devices + node) return -1;
    node = operand->location - devices;
  }
  return plan->machine_nodes > 1 && node < plan->machine_nodes ? node : -1;
}
