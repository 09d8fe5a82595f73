/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every wait of real plans is taken away in turn. What the verifier then says of the order must be
 * what comparing all pairs of commands says.
 */
#include "planning.h"

#include "plan/verify/verify.h"

/* ---- By comparing all pairs ---- */

typedef struct access {
  int32_t buffer;
  tsr_rect rect;
  bool write;
} access;

/* A plan with, for each command, the set of those that are done before it begins. */
typedef struct pairs {
  const tsr_plan *plan;
  size_t words;
  uint64_t *before;
} pairs;

static int accesses_of(const tsr_command *command, access found[3]) {
  bool copy = command->kind == TSR_COMMAND_COPY;
  int count = 0;
  for (int i = 0; i < 3; i++)
    if (command->buffer[i] != TSR_NO_BUFFER)
      found[count++] =
          (access){command->buffer[i], tsr_command_rect(command, i), i == (copy ? 1 : 2)};
  return count;
}

static bool overlap(const tsr_plan *plan, const access *a, const access *b) {
  if (a->buffer == b->buffer)
    return a->rect.row0 < b->rect.row1 && b->rect.row0 < a->rect.row1 &&
           a->rect.col0 < b->rect.col1 && b->rect.col0 < a->rect.col1;
  const tsr_buffer *x = &plan->buffers.items[a->buffer], *y = &plan->buffers.items[b->buffer];
  return x->role != TSR_BUFFER_HOME && y->role != TSR_BUFFER_HOME && x->location == y->location &&
         x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes;
}

static bool conflict(const tsr_plan *plan, size_t a, size_t b) {
  access x[3], y[3];
  int nx = accesses_of(&plan->commands.items[a], x);
  int ny = accesses_of(&plan->commands.items[b], y);
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      if ((x[i].write || y[j].write) && overlap(plan, &x[i], &y[j])) return true;
  return false;
}

static void follow(pairs *p, size_t command, size_t earlier) {
  uint64_t *mine = p->before + command * p->words;
  for (size_t w = 0; w < p->words; w++) mine[w] |= p->before[earlier * p->words + w];
  mine[earlier / 64] |= UINT64_C(1) << earlier % 64;
}

static void fill(pairs *p) {
  size_t latest[TSR_PLAN_QUEUES];
  for (int q = 0; q < TSR_PLAN_QUEUES; q++) latest[q] = SIZE_MAX;
  for (size_t c = 0; c < p->plan->commands.count; c++) {
    const tsr_command *command = &p->plan->commands.items[c];
    if (latest[command->queue] != SIZE_MAX) follow(p, c, latest[command->queue]);
    for (int i = 0; i < command->waits; i++)
      follow(p, c, p->plan->waits.items[command->wait + (uint32_t)i]);
    latest[command->queue] = c;
  }
}

static bool ordered(const tsr_plan *plan) {
  size_t count = plan->commands.count;
  pairs p = {plan, (count + 63) / 64, calloc(count * ((count + 63) / 64), sizeof(uint64_t))};
  bool all = true;
  fill(&p);
  for (size_t c = 0; all && c < count; c++)
    for (size_t e = 0; all && e < c; e++)
      if (!(p.before[c * p.words + e / 64] >> e % 64 & 1)) all = !conflict(plan, e, c);
  free(p.before);
  return all;
}

/* ---- The same by the verifier ---- */

/* Returns how many of the waits could be spared; the plan is as before. */
static int spare_each_wait(tsr_plan *plan, const tsr_machine *machine) {
  int spared = 0;
  for (size_t c = 0; c < plan->commands.count; c++) {
    tsr_command *command = &plan->commands.items[c];
    uint32_t *waits = plan->waits.items + command->wait;
    for (int i = 0; i < command->waits; i++) {
      uint32_t taken = waits[i], last = waits[command->waits - 1];
      waits[i] = last;
      command->waits--;
      bool verified = tsr_plan_verify(plan, machine, NULL) == TSR_OK;
      if (verified != ordered(plan))
        fail_msg("without its wait for %u, command %zu is %s", taken, c,
                 verified ? "accepted" : tsr_message());
      spared += verified;
      waits[command->waits++] = last;
      waits[i] = taken;
    }
  }
  return spared;
}

/* memory: of each device; ring: of staging. Small ones make buffers share memory. */
static void compare(const planning_case *what, size_t memory, size_t ring) {
  tsr_machine *machine = planning_machine("host:200 gpu*3@nvswitch:300 pcie:25/pair rate:60");
  tsr_call call = planning_call(machine, what);
  tsr_plan_options options = planning_options(machine, what->tile);
  tsr_plan *plan = NULL;
  for (int d = 0; d < machine->devices; d++) options.budget[d] = memory;
  options.ring = ring;
  tsr_status status = tsr_plan_make(machine, &call, &options, &plan);
  if (status != TSR_OK) fail_msg("%s", tsr_message());
  assert_true(ordered(plan));
  assert_int_equal(tsr_plan_verify(plan, machine, NULL), TSR_OK);
  assert_true(spare_each_wait(plan, machine) < (int)plan->waits.count);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

static void with_room(void **state) {
  (void)state;
  compare(&(planning_case){'d', 'N', 'N', 200, 180, 160, 1.5, 0.5, "ppp", 48}, 1 << 24, 1 << 24);
  compare(&(planning_case){'h', 'N', 'T', 200, 180, 160, 1.5, 0.5, "hhh", 48}, 1 << 24, 1 << 24);
  compare(&(planning_case){'d', 'T', 'N', 200, 180, 160, 1.5, 0, "011", 48}, 1 << 24, 1 << 24);
}

static void with_little_memory(void **state) {
  (void)state;
  compare(&(planning_case){'d', 'N', 'N', 200, 180, 160, 1.5, 0.5, "ppp", 32}, 220000, 1 << 16);
  compare(&(planning_case){'d', 'N', 'T', 200, 180, 160, 1.5, 0, "php", 32}, 220000, 1 << 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(with_room),
      cmocka_unit_test(with_little_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
