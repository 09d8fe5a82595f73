/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the runner makes of a plan whose tiles are in cached blocks. */
#include "plan/planning.h"
#include "plan/residency.h"
#include "run/program.h"

/* Of a square product whose tiles stay on the devices, which have nothing yet. */
static tsr_plan *plan_in_rooms(const tsr_machine *machine, const char *strategy) {
  const planning_case square = {'d', 'N', 'N', 3000, 3000, 3000, 1, 1, "ppp", 0};
  const tsr_residency nothing = {0};
  tsr_call call = planning_call(machine, &square);
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  options.residency = &nothing;
  options.strategy = strategy;
  must(tsr_plan_make(machine, &call, &options, &plan));
  return plan;
}

/* The last commands of a kind that write to a cached block of C, as later jobs find them. */
static int count_writers(const tsr_program *p, tsr_kernel kernel) {
  const tsr_plan *plan = p->plan;
  int count = 0;
  for (uint32_t i = 0; i < p->use_first[plan->after->blocks.count]; i++) {
    const tsr_command *c = &plan->commands.items[p->use[i].command];
    bool adds = c->kind == TSR_COMMAND_KERNEL && c->kernel == kernel;
    if (adds && p->use[i].wrote)
      count += plan->buffers.items[c->buffer[2]].role == TSR_BUFFER_CACHED;
  }
  return count;
}

static int count_kernels(const tsr_plan *plan, tsr_kernel kernel) {
  int count = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    count += c->kind == TSR_COMMAND_KERNEL && c->kernel == kernel;
  }
  return count;
}

/* C comes in hundreds of copies, to each part of which something is added: what later brings C home
 * waits for each part alone, not for the last one. */
static void parts_of_a_room_are_waited_for_one_by_one(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*2 pcie:25 rate:50");
  tsr_plan *plan = plan_in_rooms(
      machine, "grid=1x2 kind=panels kpanel=500 nblock=256,256,256 taper=0 c=last piece=128K");
  int added = count_kernels(plan, TSR_KERNEL_ADD);
  assert_true(added >= 10);
  tsr_program *program = NULL;
  must(tsr_program_create(plan, &program));
  assert_int_equal(count_writers(program, TSR_KERNEL_ADD), added);
  tsr_program_destroy(program);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_a_room_are_waited_for_one_by_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
