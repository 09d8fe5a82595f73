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

/* Adds a command to a list that has the latest one of each queue. */
static tsr_status add_latest(const tsr_plan *plan, tsr_indices *list, uint32_t command) {
  const tsr_command *commands = plan->commands.items;
  for (size_t i = 0; i < list->count; i++) {
    if (commands[list->items[i]].queue != commands[command].queue) continue;
    if (list->items[i] < command) list->items[i] = command;
    return TSR_OK;
  }
  return TSR_VEC_PUSH(list, command) ? TSR_OK : tsr_verify_no_memory();
}

/* The first of the holdings that ends behind begin. */
static size_t find_holding(const tsr_holdings *holdings, size_t begin) {
  size_t low = 0, high = holdings->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (holdings->items[middle].end > begin)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Puts count holdings in the place of [from, to). */
static tsr_status splice(tsr_holdings *holdings, size_t from, size_t to, const tsr_holding *with,
                         size_t count) {
  if (!TSR_VEC_RESERVE(holdings, count)) return tsr_verify_no_memory();
  tsr_holding *items = holdings->items;
  if (from + count != to)
    memmove(items + from + count, items + to, (holdings->count - to) * sizeof *items);
  memcpy(items + from, with, count * sizeof *items);
  holdings->count = holdings->count + count - (to - from);
  return TSR_OK;
}

static tsr_status succeed(tsr_tenancy *tenancy, uint32_t old, uint32_t buffer) {
  tsr_tenant *before = &tenancy->tenant[old];
  if (before->successor == old) before->successor = buffer;
  for (size_t i = 0; i < before->last.count; i++)
    TSR_TRY(add_latest(tenancy->plan, &tenancy->tenant[buffer].previous, before->last.items[i]));
  return TSR_OK;
}

static tsr_status take(tsr_tenancy *tenancy, uint32_t buffer) {
  const tsr_buffer *taken = &tenancy->plan->buffers.items[buffer];
  tsr_holdings *holdings = &tenancy->at[taken->location];
  tsr_holding mine = {taken->offset, taken->offset + taken->bytes, buffer}, with[3];
  size_t from = find_holding(holdings, mine.begin), to = from, count = 0;
  while (to < holdings->count && holdings->items[to].begin < mine.end)
    TSR_TRY(succeed(tenancy, holdings->items[to++].buffer, buffer));
  /* The ends of the first and of the last that stick out stay theirs: whoever takes them waits for
   * the same commands. */
  if (to > from && holdings->items[from].begin < mine.begin)
    with[count++] =
        (tsr_holding){holdings->items[from].begin, mine.begin, holdings->items[from].buffer};
  with[count++] = mine;
  if (to > from && holdings->items[to - 1].end > mine.end)
    with[count++] =
        (tsr_holding){mine.end, holdings->items[to - 1].end, holdings->items[to - 1].buffer};
  return splice(holdings, from, to, with, count);
}

tsr_status tsr_tenancy_take(tsr_tenancy *tenancy, uint32_t buffer, uint32_t command) {
  tenancy->tenant[buffer].first_use = command;
  bool room = tenancy->plan->buffers.items[buffer].role == TSR_BUFFER_CACHED; /* shares no memory */
  return room ? TSR_OK : take(tenancy, buffer);
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
