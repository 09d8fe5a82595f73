/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the digest of a golden plan sees, and what it does not: each part of a plan is changed
 * alone.
 */
#include "plan/golden_call.h"
#include "plan/planning.h"
#include "plan/residency.h"

static const char line[] = "h200x2 hgemm TN 3000x2000x9000 hpp";

static uint64_t digest_of(const tsr_plan *plan, const tsr_machine *machine) {
  golden_result result = {.name = ""};
  golden_plan_note(plan, machine, &result);
  uint64_t digest = golden_result_digest(&result);
  golden_result_free(&result);
  return digest;
}

/* A plan that starts from nothing and leaves something on its devices. */
static tsr_plan *make(golden_call *c) {
  static const tsr_residency nothing;
  tsr_plan *plan = NULL;
  golden_call_read(line, c);
  c->options.residency = &nothing;
  must(tsr_plan_make(c->machine, &c->call, &c->options, &plan));
  assert_true(plan->after != NULL && plan->after->blocks.count > 0);
  return plan;
}

/* The first command of a kind that waits for another one. */
static tsr_command *find(tsr_plan *plan, tsr_command_kind kind) {
  for (size_t i = 0; i < plan->commands.count; i++) {
    tsr_command *c = &plan->commands.items[i];
    if (c->kind == kind && c->waits > 0) return c;
  }
  fail_msg("the plan has no such command");
  return NULL;
}

/* Sees a change of a part of the plan, and that all is as it was once that is undone. */
#define SEES(part, value)                                           \
  do {                                                              \
    int64_t kept = (int64_t)(part);                                 \
    (part) = (value);                                               \
    if (digest_of(plan, c.machine) == whole) fail_msg("%s", #part); \
    (part) = kept;                                                  \
    assert_true(digest_of(plan, c.machine) == whole);               \
  } while (0)

#define OVERLOOKS(part, value)                                      \
  do {                                                              \
    (part) = (value);                                               \
    if (digest_of(plan, c.machine) != whole) fail_msg("%s", #part); \
  } while (0)

static void commands_are_seen(void **state) {
  (void)state;
  golden_call c;
  tsr_plan *plan = make(&c);
  uint64_t whole = digest_of(plan, c.machine);
  tsr_command *kernel = find(plan, TSR_COMMAND_KERNEL), *copy = find(plan, TSR_COMMAND_COPY);
  tsr_buffer *buffer = &plan->buffers.items[kernel->buffer[0]];
  SEES(kernel->kernel, kernel->kernel == TSR_KERNEL_SYMM ? TSR_KERNEL_ADD : TSR_KERNEL_SYMM);
  SEES(kernel->m, kernel->m + 1);
  SEES(kernel->n, kernel->n + 1);
  SEES(kernel->k, kernel->k + 1);
  for (int x = 0; x < TSR_OPERANDS; x++) {
    if (kernel->buffer[x] == TSR_NO_BUFFER) continue;
    SEES(kernel->row[x], kernel->row[x] + 8);
    SEES(kernel->col[x], kernel->col[x] + 8);
    SEES(kernel->buffer[x], x);
  }
  SEES(kernel->queue, kernel->queue + 1);
  SEES(kernel->waits, kernel->waits - 1);
  for (int bit = 0; bit < 8; bit++) {
    SEES(kernel->flags, kernel->flags ^ 1U << bit);
    if (bit != 5)
      SEES(kernel->form, kernel->form ^ 1U << bit); /* 5: a third triangle there is not */
  }
  SEES(copy->m, copy->m + 1);
  SEES(copy->row[0], copy->row[0] + 8);
  SEES(copy->buffer[1], 0);
  SEES(copy->kind, TSR_COMMAND_KERNEL);
  SEES(plan->waits.items[copy->wait], plan->waits.items[copy->wait] + 1);
  SEES(buffer->offset, buffer->offset + 512);
  SEES(buffer->ld, buffer->ld + 1);
  SEES(buffer->location, !buffer->location);
  SEES(buffer->matrix, TSR_W);
  SEES(plan->queue[kernel->queue].index, plan->queue[kernel->queue].index + 1);
  SEES(plan->queue[kernel->queue].role, TSR_QUEUE_IN);
  tsr_cached_block *room = &plan->after->blocks.items[plan->after->blocks.count - 1];
  SEES(room->device, !room->device);
  SEES(room->rect.row1, room->rect.row1 + 1);
  SEES(room->valid.count, 0);
  SEES(plan->commands.count, plan->commands.count - 1);
  SEES(plan->buffers.count, plan->buffers.count - 1);
  tsr_plan_free(plan);
  golden_call_free(&c);
}

static void exchange_queues(tsr_plan *plan, int a, int b) {
  tsr_plan_queue kept = plan->queue[a];
  plan->queue[a] = plan->queue[b];
  plan->queue[b] = kept;
  for (size_t i = 0; i < plan->commands.count; i++) {
    uint16_t *queue = &plan->commands.items[i].queue;
    *queue = (uint16_t)(*queue == a ? b : *queue == b ? a : *queue);
  }
}

static void exchange_buffers(tsr_plan *plan, int a, int b) {
  tsr_buffer kept = plan->buffers.items[a];
  plan->buffers.items[a] = plan->buffers.items[b];
  plan->buffers.items[b] = kept;
  for (size_t i = 0; i < plan->commands.count; i++)
    for (int x = 0; x < TSR_OPERANDS; x++) {
      int32_t *buffer = &plan->commands.items[i].buffer[x];
      *buffer = *buffer == a ? b : *buffer == b ? a : *buffer;
    }
}

/* Times, and the numbers of what has no order. */
static void times_and_numbers_are_not(void **state) {
  (void)state;
  golden_call c;
  tsr_plan *plan = make(&c);
  uint64_t whole = digest_of(plan, c.machine);
  tsr_command *kernel = find(plan, TSR_COMMAND_KERNEL);
  OVERLOOKS(kernel->begin, kernel->begin + 1);
  OVERLOOKS(kernel->end, kernel->end + 1);
  OVERLOOKS(plan->seconds, 1);
  OVERLOOKS(plan->candidates, 1);
  OVERLOOKS(plan->why[0], '?');
  exchange_queues(plan, 0, plan->queues - 1);
  assert_true(digest_of(plan, c.machine) == whole);
  exchange_buffers(plan, TSR_OPERANDS, (int)plan->buffers.count - 1);
  assert_true(digest_of(plan, c.machine) == whole);
  tsr_plan_free(plan);
  golden_call_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(commands_are_seen),
                                     cmocka_unit_test(times_and_numbers_are_not)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
