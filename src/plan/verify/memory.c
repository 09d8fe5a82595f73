/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Keeps which buffer has which bytes of a location, as commands take memory over from others. */
#include <string.h>

#include "base/alloc.h"
#include "plan/verify/verify.h"

tsr_status tsr_tenancy_start(tsr_tenancy *tenancy, const tsr_plan *plan) {
  *tenancy = (tsr_tenancy){.plan = plan};
  tenancy->tenant = tsr_alloc_zero(plan->buffers.count, sizeof *tenancy->tenant);
  if (tenancy->tenant == NULL) return tsr_verify_no_memory();
  for (size_t i = 0; i < plan->buffers.count; i++) {
    tsr_tenant *tenant = &tenancy->tenant[i];
    tenant->first_use = tenant->last_use = TSR_NO_COMMAND;
    tenant->successor = (uint32_t)i;
  }
  return TSR_OK;
}

void tsr_tenancy_stop(tsr_tenancy *tenancy) {
  size_t count = tenancy->tenant == NULL ? 0 : tenancy->plan->buffers.count;
  for (size_t i = 0; i < count; i++) {
    TSR_VEC_FREE(&tenancy->tenant[i].last);
    TSR_VEC_FREE(&tenancy->tenant[i].previous);
  }
  tsr_dealloc(tenancy->tenant);
  for (int at = 0; at < TSR_MACHINE_LOCATIONS; at++) TSR_VEC_FREE(&tenancy->at[at]);
}

/* Adds a command to a list that has the latest command of each queue. */
static tsr_status add_latest(const tsr_plan *plan, tsr_indices *list, uint32_t command) {
  const tsr_command *commands = plan->commands.items;
  for (size_t i = 0; i < list->count; i++) {
    if (commands[list->items[i]].queue != commands[command].queue) continue;
    if (list->items[i] < command) list->items[i] = command;
    return TSR_OK;
  }
  return TSR_VEC_PUSH(list, command) ? TSR_OK : tsr_verify_no_memory();
}

/* The index of the first range that ends after `begin`. */
static size_t find_range(const tsr_byte_ranges *ranges, size_t begin) {
  size_t low = 0, high = ranges->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ranges->items[middle].end > begin)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Replaces the ranges [from, to) by count others. */
static tsr_status splice(tsr_byte_ranges *ranges, size_t from, size_t to,
                         const tsr_byte_range *with, size_t count) {
  if (!TSR_VEC_RESERVE(ranges, count)) return tsr_verify_no_memory();
  tsr_byte_range *items = ranges->items;
  if (from + count != to)
    memmove(items + from + count, items + to, (ranges->count - to) * sizeof *items);
  memcpy(items + from, with, count * sizeof *items);
  ranges->count = ranges->count + count - (to - from);
  return TSR_OK;
}

/* The buffer takes memory from `old`: it must wait for the commands that used old. */
static tsr_status take_over(tsr_tenancy *tenancy, uint32_t old, uint32_t buffer) {
  tsr_tenant *before = &tenancy->tenant[old];
  if (before->successor == old) before->successor = buffer;
  for (size_t i = 0; i < before->last.count; i++)
    TSR_TRY(add_latest(tenancy->plan, &tenancy->tenant[buffer].previous, before->last.items[i]));
  return TSR_OK;
}

static tsr_status take(tsr_tenancy *tenancy, uint32_t buffer) {
  const tsr_buffer *taken = &tenancy->plan->buffers.items[buffer];
  tsr_byte_ranges *ranges = &tenancy->at[taken->location];
  tsr_byte_range mine = {taken->offset, taken->offset + taken->bytes, buffer}, with[3];
  size_t from = find_range(ranges, mine.begin), to = from, count = 0;
  while (to < ranges->count && ranges->items[to].begin < mine.end)
    TSR_TRY(take_over(tenancy, ranges->items[to++].buffer, buffer));
  /* Bytes of the first and of the last range outside of mine remain with their buffers: a later
   * buffer that takes them waits for the same commands. */
  if (to > from && ranges->items[from].begin < mine.begin)
    with[count++] =
        (tsr_byte_range){ranges->items[from].begin, mine.begin, ranges->items[from].buffer};
  with[count++] = mine;
  if (to > from && ranges->items[to - 1].end > mine.end)
    with[count++] =
        (tsr_byte_range){mine.end, ranges->items[to - 1].end, ranges->items[to - 1].buffer};
  return splice(ranges, from, to, with, count);
}

tsr_status tsr_tenancy_take(tsr_tenancy *tenancy, uint32_t buffer, uint32_t command) {
  tenancy->tenant[buffer].first_use = command;
  bool cached = tenancy->plan->buffers.items[buffer].role ==
                TSR_BUFFER_CACHED; /* cached blocks share no memory */
  return cached ? TSR_OK : take(tenancy, buffer);
}

tsr_status tsr_tenancy_use(tsr_tenancy *tenancy, uint32_t buffer, uint32_t command) {
  tenancy->tenant[buffer].last_use = command;
  return add_latest(tenancy->plan, &tenancy->tenant[buffer].last, command);
}

uint32_t tsr_tenancy_conflict(const tsr_tenancy *tenancy, uint32_t buffer, const tsr_order *order,
                              uint32_t command) {
  const tsr_indices *previous = &tenancy->tenant[buffer].previous;
  for (size_t i = 0; i < previous->count; i++)
    if (!tsr_order_before(order, previous->items[i], command)) return previous->items[i];
  return TSR_NO_COMMAND;
}
