/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "run/program.h"

#include <string.h>

#include "base/alloc.h"
#include "plan/axes.h"
#include "plan/residency.h"

void tsr_program_destroy(tsr_program *program) {
  if (program == NULL) return;
  tsr_program_destroy(program->twin);
  void *parts[] = {program->by_device,     program->device_first, program->by_queue,
                   program->queue_first,   program->event,        program->rank,
                   program->flag,          program->watched,      program->complete,
                   program->staging_queue, program->used,         program->used_first,
                   program->queue,         program->use,          program->use_first};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) tsr_dealloc(parts[i]);
  tsr_dealloc(program);
}

uint32_t tsr_program_devices(const tsr_program *program) {
  return program->devices;
}

static bool allocate(tsr_program *p, size_t commands, size_t queues, size_t devices) {
  p->by_device = tsr_alloc_zero(commands, sizeof *p->by_device);
  p->by_queue = tsr_alloc_zero(commands, sizeof *p->by_queue);
  p->event = tsr_alloc_zero(commands, sizeof *p->event);
  p->rank = tsr_alloc_zero(commands, sizeof *p->rank);
  p->flag = tsr_alloc_zero(commands, sizeof *p->flag);
  p->watched = tsr_alloc_zero(commands, sizeof *p->watched);
  p->complete = tsr_alloc_zero(commands, sizeof *p->complete);
  p->device_first = tsr_alloc_zero(devices + 2, sizeof *p->device_first);
  p->queue_first = tsr_alloc_zero(queues + 2, sizeof *p->queue_first);
  p->staging_queue = tsr_alloc_zero(queues, sizeof *p->staging_queue);
  p->used = tsr_alloc_zero(queues, sizeof *p->used);
  p->used_first = tsr_alloc_zero(devices + 2, sizeof *p->used_first);
  p->queue = tsr_alloc_zero(queues, sizeof *p->queue);
  return p->by_device && p->by_queue && p->event && p->rank && p->flag && p->watched &&
         p->complete && p->device_first && p->queue_first && p->staging_queue && p->used &&
         p->used_first && p->queue;
}

static bool is_staging(const tsr_plan *plan, int queue) {
  return plan->queue[queue].role == TSR_QUEUE_STAGING;
}

static tsr_status check(const tsr_plan *plan) {
  int staging_queues = 0;
  for (int q = 0; q < plan->queues; q++) staging_queues += is_staging(plan, q);
  if (staging_queues > TSR_PLAN_STAGING_QUEUES)
    return tsr_fail(TSR_ERR_INTERNAL, "the plan has %d staging queues; there may be at most %d",
                    staging_queues, TSR_PLAN_STAGING_QUEUES);
  for (int q = 0; q < plan->queues; q++) {
    int location = plan->queue[q].location;
    bool device = location >= 0 && location < plan->machine_devices;
    if (device == is_staging(plan, q) || location >= TSR_MACHINE_LOCATIONS)
      return tsr_fail(TSR_ERR_INTERNAL,
                      "queue %d of the plan is at location %d, which its role excludes", q,
                      location);
  }
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->queue >= plan->queues || c->wait + (size_t)c->waits > plan->waits.count)
      return tsr_fail(TSR_ERR_INTERNAL,
                      "command %zu of the plan names a queue or a wait that does not exist", i);
  }
  return TSR_OK;
}

/* Counting sort of the commands by queue and, for devices, by device. */
static void sort(const tsr_plan *plan, tsr_program *p) {
  uint32_t count = (uint32_t)plan->commands.count;
  const tsr_command *commands = plan->commands.items;
  for (uint32_t i = 0; i < count; i++) {
    int q = commands[i].queue;
    p->queue_first[q + 2]++;
    if (!is_staging(plan, q)) p->device_first[plan->queue[q].location + 2]++;
  }
  for (int q = 0; q < plan->queues; q++) p->queue_first[q + 2] += p->queue_first[q + 1];
  for (int d = 0; d < plan->machine_devices; d++) p->device_first[d + 2] += p->device_first[d + 1];
  for (uint32_t i = 0; i < count; i++) {
    int q = commands[i].queue;
    p->by_queue[p->queue_first[q + 1]++] = i;
    if (is_staging(plan, q)) continue;
    int d = plan->queue[q].location;
    p->by_device[p->device_first[d + 1]++] = i;
  }
  for (int d = 0; d < plan->machine_devices; d++)
    for (uint32_t i = p->device_first[d]; i < p->device_first[d + 1]; i++)
      p->rank[p->by_device[i]] = i - p->device_first[d];
}

/* Gives an event to each command of a device for which another queue waits. */
static tsr_status number_events(const tsr_plan *plan, tsr_program *p) {
  uint32_t count = (uint32_t)plan->commands.count;
  const tsr_command *commands = plan->commands.items;
  for (uint32_t i = 0; i < count; i++) p->event[i] = TSR_NO_EVENT;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t w = 0; w < commands[i].waits; w++) {
      uint32_t awaited = plan->waits.items[commands[i].wait + w];
      if (awaited >= i)
        return tsr_fail(TSR_ERR_INTERNAL, "command %u of the plan waits for a later one", i);
      int q = commands[awaited].queue;
      if (q == commands[i].queue || is_staging(plan, q)) continue;
      if (is_staging(plan, commands[i].queue)) p->watched[awaited] = true;
      if (p->event[awaited] != TSR_NO_EVENT) continue;
      p->event[awaited] = p->events[plan->queue[q].location]++;
    }
  return TSR_OK;
}

/* ---- Cached blocks ---- */

/* The last uses of one cached block. If the list has PLACES uses, further uses by a queue are
 * merged into one rectangle. */
typedef TSR_VEC(tsr_program_use) uses;
enum { PLACES = 96 };

static bool is_same(const tsr_program_use *a, const tsr_program_use *b, bool any_place) {
  return a->queue == b->queue && a->wrote == b->wrote &&
         (any_place ||
          (tsr_rect_contains(a->rect, b->rect) && tsr_rect_contains(b->rect, a->rect)));
}

static tsr_rect around(tsr_rect a, tsr_rect b) {
  return (tsr_rect){a.row0 < b.row0 ? a.row0 : b.row0, a.col0 < b.col0 ? a.col0 : b.col0,
                    a.row1 > b.row1 ? a.row1 : b.row1, a.col1 > b.col1 ? a.col1 : b.col1};
}

/* Removes the uses within the rectangle of use, which writes: the plan orders it after them. */
static void drop_former(uses *list, const tsr_program_use *use) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++)
    if (!tsr_rect_contains(use->rect, list->items[i].rect)) list->items[kept++] = list->items[i];
  list->count = kept;
}

static bool add_use(uses *list, tsr_program_use use) {
  if (use.wrote) drop_former(list, &use);
  bool full = list->count >= PLACES;
  for (size_t i = list->count; i-- > 0;) {
    tsr_program_use *known = &list->items[i];
    if (!is_same(known, &use, full)) continue;
    known->command = use.command;
    known->rect = around(known->rect, use.rect);
    return true;
  }
  return TSR_VEC_PUSH(list, use);
}

static bool note_use(const tsr_plan *plan, uint32_t index, int operand, uses *lists) {
  const tsr_command *c = &plan->commands.items[index];
  if (c->buffer[operand] == TSR_NO_BUFFER) return true;
  const tsr_buffer *b = &plan->buffers.items[c->buffer[operand]];
  if (b->role != TSR_BUFFER_CACHED) return true;
  bool wrote = operand == (c->kind == TSR_COMMAND_COPY ? 1 : 2);
  return add_use(&lists[b->offset],
                 (tsr_program_use){tsr_command_rect(c, operand), index, c->queue, wrote});
}

static bool note_uses(const tsr_plan *plan, uses *lists) {
  for (uint32_t i = 0; i < plan->commands.count; i++)
    for (int x = 0; x < (plan->commands.items[i].kind == TSR_COMMAND_COPY ? 2 : 3); x++)
      if (!note_use(plan, i, x, lists)) return false;
  return true;
}

/* Copies the lists to p->use. Each command in them gets an event, for which later jobs wait. */
static bool list_uses(const tsr_plan *plan, const uses *lists, tsr_program *p) {
  size_t blocks = tsr_residency_count(plan->after), count = 0;
  for (size_t r = 0; r < blocks; r++) count += lists[r].count;
  p->use = tsr_alloc((count + 1) * sizeof *p->use);
  p->use_first = tsr_alloc_zero(blocks + 1, sizeof *p->use_first);
  if (p->use == NULL || p->use_first == NULL) return false;
  uint32_t at = 0;
  for (size_t r = 0; r < blocks; r++) {
    for (size_t i = 0; i < lists[r].count; i++) {
      uint32_t command = lists[r].items[i].command;
      p->use[at++] = lists[r].items[i];
      if (p->event[command] != TSR_NO_EVENT) continue;
      p->event[command] = p->events[plan->queue[plan->commands.items[command].queue].location]++;
    }
    p->use_first[r + 1] = at;
  }
  return true;
}

static tsr_status find_uses(const tsr_plan *plan, tsr_program *p) {
  size_t blocks = tsr_residency_count(plan->after);
  uses *lists = tsr_alloc_zero(blocks + 1, sizeof *lists);
  bool listed = lists != NULL && note_uses(plan, lists) && list_uses(plan, lists, p);
  for (size_t r = 0; lists != NULL && r < blocks; r++) TSR_VEC_FREE(&lists[r]);
  tsr_dealloc(lists);
  return listed ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan with cached blocks");
}

/* Lists the queues in use on each device, and the staging queues in use. */
static void find_users(const tsr_plan *plan, tsr_program *p) {
  int used = 0;
  for (int d = 0; d < plan->machine_devices; d++) {
    p->used_first[d] = (uint16_t)used;
    for (int q = 0; q < plan->queues; q++)
      if (plan->queue[q].location == d && p->queue_first[q] < p->queue_first[q + 1])
        p->used[used++] = (uint16_t)q;
    if (used > p->used_first[d]) p->devices |= 1u << d;
  }
  p->used_first[plan->machine_devices] = (uint16_t)used;
  for (int q = 0; q < plan->queues; q++)
    if (is_staging(plan, q) && p->queue_first[q] < p->queue_first[q + 1])
      p->staging_queue[p->staging_queues++] = (uint16_t)q;
  bool fewer = plan->staging_threads > 0 && plan->staging_threads < p->staging_queues;
  p->staging_threads = fewer ? plan->staging_threads : p->staging_queues;
}

/* Bit x if the buffer is the user's memory of operand x; 0: it is other memory. */
static uint8_t home_of(const tsr_plan *plan, int32_t buffer) {
  if (buffer == TSR_NO_BUFFER) return 0;
  const tsr_buffer *b = &plan->buffers.items[buffer];
  return b->role == TSR_BUFFER_HOME ? (uint8_t)(1 << b->matrix) : 0;
}

/* Finds the operands whose user memory commands read and write. A kernel counts as reading its C.
 */
static void find_homes(const tsr_plan *plan, tsr_program *p) {
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    bool copies = c->kind == TSR_COMMAND_COPY;
    for (int x = 0; x < (copies ? 1 : 3); x++) p->homes_read |= home_of(plan, c->buffer[x]);
    uint8_t home = home_of(plan, c->buffer[copies ? 1 : 2]);
    p->homes_written |= home;
    p->devices_write_back |= home != 0 && !is_staging(plan, c->queue);
  }
}

/* Whether copies (staging_queues: copies of staging queues) write to the user's memory. */
static bool writes_back(const tsr_plan *plan, bool staging_queues) {
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_COPY || (staging_queues && !is_staging(plan, c->queue))) continue;
    if (home_of(plan, c->buffer[1]) != 0) return true;
  }
  return false;
}

tsr_status tsr_program_create(const tsr_plan *plan, tsr_program **program) {
  TSR_TRY(check(plan));
  tsr_program *p = tsr_alloc_zero(1, sizeof *p);
  if (p == NULL ||
      !allocate(p, plan->commands.count, (size_t)plan->queues, (size_t)plan->machine_devices)) {
    tsr_program_destroy(p);
    return tsr_fail(TSR_ERR_MEMORY, "no host memory to run a plan of %zu commands",
                    plan->commands.count);
  }
  p->plan = plan;
  sort(plan, p);
  tsr_status status = number_events(plan, p);
  if (status == TSR_OK) status = find_uses(plan, p);
  if (status != TSR_OK) {
    tsr_program_destroy(p);
    return status;
  }
  find_users(plan, p);
  p->staging_writes_back = writes_back(plan, true);
  p->writes_back = writes_back(plan, false);
  find_homes(plan, p);
  *program = p;
  return TSR_OK;
}
