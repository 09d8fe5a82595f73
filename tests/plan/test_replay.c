/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The times that the replay adds to those of commands: their submission by one thread for each
 * device, which waits for staged copies; the start of staging; the turnaround of a call. */
#include <math.h>

#include "planning.h"

static const char machine_string[] = "host:200 gpu*2@nvswitch:300 pcie:25 rate:19";

static const planning_case pinned = {'d', 'N', 'N', 3000, 2000, 2500, 1, 1, "ppp", 500},
                           pageable = {'d', 'N', 'N', 3000, 2000, 2500, 1, 1, "hhh", 500},
                           resident = {'d', 'N', 'N', 3000, 2000, 2500, 1, 1, "000", 500};

/* The plan's time on a machine; the begin and end of its commands are set. */
static double replayed(tsr_plan *plan, const tsr_machine *machine) {
  double seconds;
  must(tsr_plan_replay(plan, machine, &seconds));
  return seconds;
}

static bool is_staged(const tsr_plan *plan, const tsr_command *command) {
  return plan->queue[command->queue].role == TSR_QUEUE_STAGING;
}

static const tsr_command *awaited(const tsr_plan *plan, const tsr_command *command, int wait) {
  return &plan->commands.items[plan->waits.items[command->wait + (uint32_t)wait]];
}

static void assert_near(double a, double b) {
  if (fabs(a - b) > 1e-9 + 1e-6 * fabs(b)) fail_msg("%g is not %g", a, b);
}

static void a_call_has_a_turnaround(void **state) {
  (void)state;
  const planning_case *cases[] = {&pinned, &pageable, &resident};
  tsr_machine *machine = planning_machine(machine_string);
  for (int i = 0; i < 3; i++) {
    tsr_plan *plan = planning_plan(machine, cases[i]);
    double before = replayed(plan, machine);
    machine->turnaround = 12e-6;
    assert_near(replayed(plan, machine), before + 12e-6);
    machine->turnaround = 0;
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

static void staging_starts(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(machine_string);
  tsr_plan *fetches = planning_plan(machine, &pinned), *stages = planning_plan(machine, &pageable);
  double before = replayed(fetches, machine), staged = replayed(stages, machine);
  machine->staging_start = 1e-3;
  assert_near(replayed(fetches, machine), before);
  assert_near(replayed(stages, machine), staged + 1e-3);
  for (size_t i = 0; i < stages->commands.count; i++) {
    const tsr_command *c = &stages->commands.items[i];
    if (is_staged(stages, c)) assert_true((double)c->begin >= 0.999e-3);
  }
  tsr_plan_free(fetches);
  tsr_plan_free(stages);
  tsr_machine_destroy(machine);
}

/* A submitter that takes so long that nothing else counts: each device's commands then begin one
 * after another, when the sum of the times of all before is over. */
static void commands_are_submitted_one_after_another(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(machine_string);
  tsr_plan *plan = planning_plan(machine, &pinned);
  double at[2] = {0};
  machine->submit_copy = 2e-3;
  machine->submit_kernel = 3e-3;
  machine->submit_record = 5e-3;
  machine->submit_wait = 7e-3;
  (void)replayed(plan, machine);
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    int device = plan->queue[c->queue].location;
    at[device] += c->kind == TSR_COMMAND_COPY ? 2e-3 : 3e-3;
    if (c->flags & TSR_FLAG_EVENT) at[device] += 5e-3;
    for (int w = 0; w < c->waits; w++)
      if (awaited(plan, c, w)->queue != c->queue) at[device] += 7e-3;
    if ((double)c->begin < at[device] * 0.9999)
      fail_msg("command %zu begins at %g, before %g", i, (double)c->begin, at[device]);
  }
  assert_true(at[0] > 0.1 && at[1] > 0.1);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

/* A command that waits for a staged copy is submitted once that has ended, and submission takes its
 * time then. */
static void submission_waits_for_staged_copies(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(machine_string);
  tsr_plan *plan = planning_plan(machine, &pageable);
  int waiting = 0;
  double quick = replayed(plan, machine);
  machine->submit_copy = 300e-6;
  assert_true(replayed(plan, machine) > quick);
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    for (int w = 0; w < c->waits && !is_staged(plan, c); w++) {
      if (!is_staged(plan, awaited(plan, c, w))) continue;
      assert_true((double)c->begin >= (double)awaited(plan, c, w)->end + 299e-6);
      waiting++;
    }
  }
  assert_true(waiting > 10);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_call_has_a_turnaround),
      cmocka_unit_test(staging_starts),
      cmocka_unit_test(commands_are_submitted_one_after_another),
      cmocka_unit_test(submission_waits_for_staged_copies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
