/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The verifier lets right plans pass and no wrong one: a plan is spoiled in one place at a time,
 * and each time it must be refused with TSR_ERR_CHECK and a message.
 */
#include "planning.h"

static tsr_machine *machine;

/* Several tiles a device, beta, both kinds of host memory. */
static const planning_case base_case = {'d', 'N', 'T', 200, 180, 160, 1, 2, "php", 32};

static int make(void **state) {
  (void)state;
  machine = planning_machine("host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19");
  return 0;
}

static int end(void **state) {
  (void)state;
  tsr_machine_destroy(machine);
  return 0;
}

/* ---- Looking into a plan ---- */

static bool is_kernel(const tsr_command *c) {
  return c->kind == TSR_COMMAND_KERNEL;
}

static bool is_product(const tsr_command *c) {
  return is_kernel(c) && c->kernel == TSR_KERNEL_GEMM;
}

static bool is_write_back(const tsr_command *c) {
  return c->kind == TSR_COMMAND_COPY && c->buffer[1] == TSR_C_;
}

static bool is_fetch(const tsr_command *c) {
  return c->kind == TSR_COMMAND_COPY && c->buffer[0] == TSR_A;
}

static bool is_product_with_waits(const tsr_command *c) {
  return is_product(c) && c->waits > 0;
}

static bool is_write_back_with_waits(const tsr_command *c) {
  return is_write_back(c) && c->waits > 0;
}

static bool is_accumulating(const tsr_command *c) {
  return is_product(c) && (c->flags & TSR_FLAG_BETA_ONE);
}

static bool has_event(const tsr_command *c) {
  return c->flags & TSR_FLAG_EVENT;
}

/* The nth (from 0) command of a kind; the test ends if there are not so many. */
static tsr_command *find(tsr_plan *plan, bool (*is)(const tsr_command *), int nth) {
  for (size_t i = 0; i < plan->commands.count; ++i)
    if (is(&plan->commands.items[i]) && nth-- == 0) return &plan->commands.items[i];
  fail_msg("the plan has no such command to spoil");
  abort(); /* never: fail_msg does not return */
}

static uint32_t index_of(const tsr_plan *plan, const tsr_command *c) {
  return (uint32_t)(c - plan->commands.items);
}

static uint16_t queue_elsewhere(const tsr_plan *plan, uint16_t queue) {
  for (int q = 0; q < plan->queues; ++q)
    if (plan->queue[q].role == plan->queue[queue].role &&
        plan->queue[q].location != plan->queue[queue].location)
      return (uint16_t)q;
  fail_msg("the plan has one device only");
  return 0;
}

/* ---- Spoiling: each changes the plan or the budgets ---- */

static void drop_waits_of_a_kernel(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, is_product_with_waits, 0)->waits = 0;
}

static void drop_waits_of_a_write_back(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, is_write_back_with_waits, 0)->waits = 0;
}

static void wait_for_a_later_command(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_product_with_waits, 0);
  plan->waits.items[c->wait] = (uint32_t)plan->commands.count - 1;
}

static void wait_for_itself(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_product_with_waits, 0);
  plan->waits.items[c->wait] = index_of(plan, c);
}

static void drop_an_event(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, has_event, 0)->flags &= (uint8_t)~TSR_FLAG_EVENT;
}

static void shift_a_fetch(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_fetch, 0);
  c->row[0] += 1;
}

static void shrink_a_fetch(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, is_fetch, 0)->m -= 1;
}

static void shift_a_product(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_product, 1);
  c->col[2] += 1;
}

static void use_another_part_of_a(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, is_product, 0)->col[0] += 1;
}

static void leave_out_some_k(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, is_product, 2)->k -= 1;
}

static void leave_out_a_row(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, is_product, 2)->m -= 1;
}

static void forget_to_accumulate(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, is_accumulating, 0)->flags &= (uint8_t)~TSR_FLAG_BETA_ONE;
}

static void multiply_twice(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command copy = *find(plan, is_product, 0);
  assert_true(TSR_VEC_PUSH(&plan->commands, copy));
}

/* In place of another one, so that nothing else changes. */
static void multiply_one_tile_for_another(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *first = find(plan, is_product, 0), *second = find(plan, is_product, 1);
  memcpy(second->row, first->row, sizeof first->row);
  memcpy(second->col, first->col, sizeof first->col);
  memcpy(second->buffer, first->buffer, sizeof first->buffer);
  second->m = first->m, second->n = first->n, second->k = first->k;
}

/* An empty one stands in its place, so that nothing else changes. */
static void drop_a_write_back(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_write_back, 0);
  c->m = c->n = 0;
}

static void write_back_twice(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command copy = *find(plan, is_write_back, 0);
  assert_true(TSR_VEC_PUSH(&plan->commands, copy));
}

static void wrong_device(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_product, 0);
  c->queue = queue_elsewhere(plan, c->queue);
}

static void copy_on_a_wrong_device(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_fetch, 0);
  c->queue = queue_elsewhere(plan, c->queue);
}

static void queue_that_is_not(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, is_product, 0)->queue = (uint16_t)plan->queues;
}

static void small_budget(tsr_plan *plan, size_t *budgets) {
  budgets[0] = plan->arena[0] - 1;
}

static void small_arena(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  plan->arena[1] /= 2;
}

/* Two buffers that are alive at once, at one device. */
static void overlapping_buffers(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  for (size_t i = 0; i < plan->buffers.count; ++i)
    for (size_t j = i + 1; j < plan->buffers.count; ++j) {
      tsr_buffer *x = &plan->buffers.items[i], *y = &plan->buffers.items[j];
      if (x->role != TSR_BUFFER_TILE || y->role != TSR_BUFFER_TILE) continue;
      if (x->location != y->location || x->last < y->first || y->last < x->first) continue;
      y->offset = x->offset + 8;
      return;
    }
  fail_msg("the plan has no two buffers at once");
}

static void buffer_too_small(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_product, 0);
  plan->buffers.items[c->buffer[2]].bytes /= 2;
}

static void leading_dimension_too_small(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_product, 0);
  tsr_buffer *b = &plan->buffers.items[c->buffer[0]];
  b->ld = b->rows - 1;
}

/* A buffer like the one it should be, which nobody ever wrote. */
static void source_never_written(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_product, 0);
  tsr_buffer fresh = plan->buffers.items[c->buffer[0]];
  fresh.offset = plan->arena[fresh.location];
  fresh.first = fresh.last = index_of(plan, c);
  plan->arena[fresh.location] += fresh.bytes;
  c->buffer[0] = (int32_t)plan->buffers.count;
  assert_true(TSR_VEC_PUSH(&plan->buffers, fresh));
}

static void no_such_buffer(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  find(plan, is_product, 0)->buffer[1] = (int32_t)plan->buffers.count;
}

static void operands_exchanged(tsr_plan *plan, size_t *budgets) {
  (void)budgets;
  tsr_command *c = find(plan, is_product, 0);
  int32_t a = c->buffer[0];
  c->buffer[0] = c->buffer[1], c->buffer[1] = a;
}

static const struct {
  const char *name;
  void (*spoil)(tsr_plan *plan, size_t *budgets);
} spoilers[] = {
    {"drop waits of a kernel", drop_waits_of_a_kernel},
    {"drop waits of a write-back", drop_waits_of_a_write_back},
    {"wait for a later command", wait_for_a_later_command},
    {"wait for itself", wait_for_itself},
    {"drop an event", drop_an_event},
    {"shift a fetch", shift_a_fetch},
    {"shrink a fetch", shrink_a_fetch},
    {"shift a product", shift_a_product},
    {"use another part of A", use_another_part_of_a},
    {"leave out some k", leave_out_some_k},
    {"leave out a row", leave_out_a_row},
    {"forget to accumulate", forget_to_accumulate},
    {"multiply twice", multiply_twice},
    {"multiply one tile for another", multiply_one_tile_for_another},
    {"drop a write-back", drop_a_write_back},
    {"write back twice", write_back_twice},
    {"a kernel on a wrong device", wrong_device},
    {"a copy on a wrong device", copy_on_a_wrong_device},
    {"a queue that is not", queue_that_is_not},
    {"a small budget", small_budget},
    {"a small arena", small_arena},
    {"overlapping buffers", overlapping_buffers},
    {"a buffer too small", buffer_too_small},
    {"a leading dimension too small", leading_dimension_too_small},
    {"a source never written", source_never_written},
    {"no such buffer", no_such_buffer},
    {"operands exchanged", operands_exchanged},
};
enum { SPOILERS = sizeof spoilers / sizeof *spoilers };

static void budgets_of(const tsr_plan *plan, size_t *budgets) {
  memset(budgets, 0, TSR_MACHINE_LOCATIONS * sizeof *budgets);
  for (int d = 0; d < machine->devices; ++d) budgets[d] = plan->arena[d];
}

static void test_right_plans_pass(void **state) {
  (void)state;
  static const planning_case right[] = {
      {'d', 'N', 'T', 200, 180, 160, 1, 2, "php", 32},
      {'s', 'T', 'N', 70, 90, 110, 2, 0, "hhh", 16},
      {'z', 'C', 'C', 65, 64, 63, 1, 1, "01h", 17},
      {'h', 'N', 'N', 100, 100, 100, 1, 1, "ppp", 32},
      {'d', 'N', 'N', 40, 40, 40, 0, 2, "ppp", 16},
      {'d', 'N', 'N', 500, 500, 500, 1, 1, "hh1", 0},
  };
  for (size_t i = 0; i < sizeof right / sizeof *right; ++i) {
    tsr_plan *plan = planning_plan(machine, &right[i]);
    size_t budgets[TSR_MACHINE_LOCATIONS];
    budgets_of(plan, budgets);
    if (tsr_plan_verify(plan, machine, budgets) != TSR_OK)
      fail_msg("case %zu: %s", i, tsr_message());
    if (tsr_plan_verify(plan, machine, NULL) != TSR_OK) fail_msg("case %zu: %s", i, tsr_message());
    tsr_plan_free(plan);
  }
}

static void test_spoiled(void **state) {
  int i = (int)(intptr_t)*state;
  tsr_plan *plan = planning_plan(machine, &base_case);
  size_t budgets[TSR_MACHINE_LOCATIONS];
  budgets_of(plan, budgets);
  spoilers[i].spoil(plan, budgets);
  tsr_status status = tsr_plan_verify(plan, machine, budgets);
  if (status != TSR_ERR_CHECK)
    fail_msg("after \"%s\" the verifier says %s", spoilers[i].name, tsr_status_name(status));
  assert_true(strlen(tsr_message()) > 10);
  tsr_plan_free(plan);
}

int main(void) {
  struct CMUnitTest tests[SPOILERS + 1] = {cmocka_unit_test(test_right_plans_pass)};
  for (int i = 0; i < SPOILERS; ++i)
    tests[i + 1] =
        (struct CMUnitTest){spoilers[i].name, test_spoiled, NULL, NULL, (void *)(intptr_t)i};
  return cmocka_run_group_tests(tests, make, end);
}
