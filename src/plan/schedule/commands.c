/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/schedule/commands.h"

#include <string.h>

#include "base/alloc.h"
#include "plan/tuning.h"

enum { SLOT_IN, SLOT_OUT, SLOT_COMPUTE, SLOT_ADD };

/* The homes of the operands are buffers 0, 1 and 2. */
static bool add_homes(tsr_commands *c, const tsr_call *call) {
  for (int x = 0; x < TSR_OPERANDS; x++) {
    const tsr_operand *o = &call->operand[x];
    tsr_buffer home = {.rows = o->rows,
                       .cols = o->cols,
                       .ld = o->ld,
                       .role = TSR_BUFFER_HOME,
                       .matrix = (uint8_t)x,
                       .location = (int16_t)o->location};
    if (!TSR_VEC_PUSH(&c->plan->buffers, home)) return false;
  }
  return true;
}

tsr_status tsr_commands_init(tsr_commands *c, const tsr_problem *problem, tsr_plan *plan) {
  int threads = problem->machine->staging_threads > 0 ? problem->machine->staging_threads : 1;
  c->plan = plan;
  c->problem = problem;
  plan->staging_threads = threads;
  c->staging_queues = TSR_TUNE_STAGING_QUEUES_OF_A_THREAD * threads;
  if (c->staging_queues > TSR_PLAN_STAGING_QUEUES) c->staging_queues = TSR_PLAN_STAGING_QUEUES;
  if (problem->rings > 1) c->staging_queues /= problem->rings;
  if (c->staging_queues == 0) c->staging_queues = 1;
  memset(c->queue_of, -1, sizeof c->queue_of);
  memset(c->peer_queue, -1, sizeof c->peer_queue);
  memset(c->staging_queue, -1, sizeof c->staging_queue);
  c->queue_limit = problem->devices * (4 + problem->devices) + problem->rings * c->staging_queues;
  if (c->queue_limit > TSR_PLAN_QUEUES)
    return tsr_fail(TSR_ERR_UNSUPPORTED,
                    "%d devices need more queues than a plan has (%d): name fewer devices",
                    problem->devices, TSR_PLAN_QUEUES);
  size_t n = (size_t)c->queue_limit * (size_t)c->queue_limit;
  c->seen = tsr_alloc_zero(n, sizeof *c->seen);
  if (!c->seen || !add_homes(c, problem->call)) return tsr_problem_no_memory();
  return TSR_OK;
}

void tsr_commands_free(tsr_commands *c) {
  tsr_dealloc(c->seen);
}

/* ---- Queues --------------------------------------------------------------- */

static int16_t *place_of(tsr_commands *c, int device, tsr_queue_role role, int index) {
  switch (role) {
    case TSR_QUEUE_IN:
      return &c->queue_of[device][SLOT_IN];
    case TSR_QUEUE_OUT:
      return &c->queue_of[device][SLOT_OUT];
    case TSR_QUEUE_ADD:
      return &c->queue_of[device][SLOT_ADD];
    case TSR_QUEUE_PEER:
      return &c->peer_queue[device][index == TSR_ANY_PEER ? device : index];
    case TSR_QUEUE_STAGING:
      return &c->staging_queue[index];
    default:
      return &c->queue_of[device][SLOT_COMPUTE];
  }
}

int tsr_commands_queue(tsr_commands *c, int location, tsr_queue_role role, int index) {
  int16_t *place = place_of(c, location, role, index);
  tsr_plan *plan = c->plan;
  if (*place < 0) {
    *place = (int16_t)plan->queues;
    plan->queue[plan->queues++] =
        (tsr_plan_queue){(int16_t)location, (uint8_t)role, (uint8_t)index};
  }
  return *place;
}

int tsr_commands_next_staging(tsr_commands *c, int node) {
  int ring = c->problem->ring_of[node - c->problem->devices];
  int staging = c->next_staging[ring]++ % c->staging_queues;
  return tsr_commands_queue(c, node, TSR_QUEUE_STAGING, ring * c->staging_queues + staging);
}

/* ---- Commands ------------------------------------------------------------- */

/* Queues are in order. So a command needs one wait for each queue, for the queue's latest command,
 * and no wait if an earlier command of its own queue has waited for that command or a later one. */
int32_t tsr_commands_add(tsr_commands *c, tsr_command command) {
  tsr_plan *plan = c->plan;
  command.wait = (uint32_t)plan->waits.count;
  for (int i = 0; i < c->waiting_count; i++) {
    int queue = c->waiting_queue[i];
    uint32_t after = (uint32_t)c->waiting[i];
    uint32_t *seen = &c->seen[(size_t)command.queue * (size_t)c->queue_limit + (size_t)queue];
    if (queue == command.queue || *seen > after) continue;
    *seen = after + 1;
    if (!TSR_VEC_PUSH(&plan->waits, after)) return TSR_NOTHING;
    plan->commands.items[after].flags |= TSR_FLAG_EVENT;
    command.waits++;
  }
  c->waiting_count = 0;
  if (plan->commands.count >= INT32_MAX || !TSR_VEC_PUSH(&plan->commands, command))
    return TSR_NOTHING;
  int32_t index = (int32_t)plan->commands.count - 1;
  for (int i = 0; i < 3; i++)
    if (command.buffer[i] != TSR_NO_BUFFER) {
      tsr_buffer *buffer = &plan->buffers.items[command.buffer[i]];
      if (buffer->first == UINT32_MAX) buffer->first = (uint32_t)index;
      buffer->last = (uint32_t)index;
    }
  return index;
}

int32_t tsr_commands_add_buffer(tsr_commands *c, tsr_buffer buffer) {
  buffer.first = UINT32_MAX;
  if (!TSR_VEC_PUSH(&c->plan->buffers, buffer)) return TSR_NOTHING;
  return (int32_t)c->plan->buffers.count - 1;
}
