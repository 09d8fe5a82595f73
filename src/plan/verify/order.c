/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Keeps the order of commands, as vector clocks: which one is surely done when another begins. */
#include <string.h>

#include "base/alloc.h"
#include "plan/verify/verify.h"

tsr_status tsr_order_start(tsr_order *order, const tsr_plan *plan) {
  size_t commands = plan->commands.count, queues = (size_t)plan->queues;
  *order = (tsr_order){.plan = plan, .queues = queues};
  order->position = tsr_alloc_zero(commands + 1, sizeof *order->position);
  order->waiters = tsr_alloc_zero(commands + 1, sizeof *order->waiters);
  order->slot = tsr_alloc_zero(commands + 1, sizeof *order->slot);
  order->counts = tsr_alloc_zero(queues + 1, sizeof *order->counts);
  order->now = tsr_alloc_zero(queues * queues + 1, sizeof *order->now);
  if (order->position == NULL || order->waiters == NULL || order->slot == NULL ||
      order->counts == NULL || order->now == NULL)
    return tsr_verify_no_memory();
  /* Counted command by command, since two commands may share a part of the list of waits. */
  for (size_t c = 0; c < commands; c++)
    for (uint32_t i = 0; i < plan->commands.items[c].waits; i++)
      order->waiters[plan->waits.items[plan->commands.items[c].wait + i]]++;
  return TSR_OK;
}

void tsr_order_stop(tsr_order *order) {
  tsr_dealloc(order->position);
  tsr_dealloc(order->waiters);
  tsr_dealloc(order->slot);
  tsr_dealloc(order->counts);
  tsr_dealloc(order->now);
  TSR_VEC_FREE(&order->kept);
  TSR_VEC_FREE(&order->spare);
}

static void join(uint32_t *clock, const uint32_t *other, size_t queues) {
  for (size_t q = 0; q < queues; q++)
    if (clock[q] < other[q]) clock[q] = other[q];
}

/* Joins the clock of an awaited command. If that command is known to be done already, its clock has
 * been joined before. */
static tsr_status follow(tsr_order *order, uint32_t *clock, uint32_t earlier) {
  uint32_t queue = order->plan->commands.items[earlier].queue;
  if (clock[queue] <= order->position[earlier])
    join(clock, order->kept.items + order->slot[earlier] * order->queues, order->queues);
  if (--order->waiters[earlier] > 0) return TSR_OK;
  return TSR_VEC_PUSH(&order->spare, order->slot[earlier]) ? TSR_OK : tsr_verify_no_memory();
}

static tsr_status keep(tsr_order *order, uint32_t command, const uint32_t *clock, size_t queue) {
  if (order->spare.count > 0) {
    order->slot[command] = order->spare.items[--order->spare.count];
  } else {
    if (!TSR_VEC_RESERVE(&order->kept, order->queues)) return tsr_verify_no_memory();
    order->slot[command] = (uint32_t)(order->kept.count / order->queues);
    order->kept.count += order->queues;
  }
  uint32_t *slot = order->kept.items + order->slot[command] * order->queues;
  memcpy(slot, clock, order->queues * sizeof *slot);
  slot[queue] = order->position[command] + 1;
  return TSR_OK;
}

tsr_status tsr_order_enter(tsr_order *order, uint32_t command) {
  const tsr_command *entered = &order->plan->commands.items[command];
  uint32_t *clock = order->now + entered->queue * order->queues;
  order->position[command] = order->counts[entered->queue]++;
  clock[entered->queue] = order->position[command];
  for (uint32_t i = 0; i < entered->waits; i++)
    TSR_TRY(follow(order, clock, order->plan->waits.items[entered->wait + i]));
  return order->waiters[command] > 0 ? keep(order, command, clock, entered->queue) : TSR_OK;
}

bool tsr_order_before(const tsr_order *order, uint32_t earlier, uint32_t command) {
  if (earlier == TSR_NO_COMMAND) return true;
  const tsr_command *commands = order->plan->commands.items;
  const uint32_t *clock = order->now + commands[command].queue * order->queues;
  return earlier == command || order->position[earlier] < clock[commands[earlier].queue];
}
