/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Products that are larger than devices' memory: what is held, what is loaded. bench/choices.py
 * says what little memory costs. */
#include <math.h>

#include "plan/model/loads.h"
#include "planning.h"

/* A plan with that many bytes for each device, verified. Searches stop where those of users do. */
static tsr_plan *plan_within(const tsr_machine *machine, const planning_case *what,
                             const size_t *budget, const char *strategy) {
  tsr_call call = planning_call(machine, what);
  tsr_plan_options options = planning_options(machine, what->tile);
  tsr_plan *plan = NULL;
  options.search_seconds = 0;
  options.strategy = strategy;
  memcpy(options.budget, budget, sizeof options.budget);
  tsr_status status = tsr_plan_make(machine, &call, &options, &plan);
  if (status == TSR_OK) status = tsr_plan_verify(plan, machine, budget);
  if (status != TSR_OK) fail_msg("%s", tsr_message());
  return plan;
}

static const size_t *alike(size_t bytes) {
  static size_t budget[TSR_MACHINE_DEVICES];
  for (int d = 0; d < TSR_MACHINE_DEVICES; d++) budget[d] = bytes;
  return budget;
}

static const char *const four = "host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19";

static void words_are_obeyed(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(four);
  planning_case what = {'d', 'N', 'T', 900, 800, 700, 1, 0.5, "ppp", 0};
  tsr_plan *plan = plan_within(machine, &what, alike(900000),
                               "grid=2x2 tile=50 even=no cblock=3x2 depth=2 lookahead=50 c=first");
  assert_int_equal(plan->blocking.rows, 3);
  assert_int_equal(plan->blocking.cols, 2);
  assert_int_equal(plan->blocking.depth, 2);
  assert_true(plan->blocking.lookahead == 0.5F);
  assert_int_equal(plan->blocking.m, 18);
  assert_int_equal(plan->blocking.n, 16);
  assert_int_equal(plan->blocking.k, 14);
  assert_int_equal(plan->blocking.slots,
                   900000 / 20480); /* 50 x 50 doubles, in units of 512 bytes */
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

static void what_fits_is_not_held(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(four);
  planning_case what = {'d', 'N', 'N', 900, 800, 700, 1, 0.5, "ppp", 0};
  tsr_plan *plan = plan_within(machine, &what, alike(64 << 20), NULL);
  assert_int_equal(plan->blocking.rows, 0);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

static void budgets_may_differ(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(four);
  const planning_case cases[] = {{'d', 'N', 'N', 900, 800, 700, 1, 0.5, "ppp", 0},
                                 {'s', 'T', 'N', 500, 1200, 700, 1, 1, "p0h", 0},
                                 {'h', 'N', 'N', 700, 600, 900, 1, 1, "php", 0}};
  size_t budget[TSR_MACHINE_DEVICES] = {300000, 600000, 50000, 2000000};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsr_plan *plan = plan_within(machine, &cases[i], budget, NULL);
    assert_true(plan->blocking.rows > 0);
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

/* Where devices cannot give each other what they load, one with little room would hold up all. */
static void larger_budgets_do_more(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*2 pcie:25 rate:50");
  const planning_case cases[] = {{'d', 'N', 'N', 40000, 40000, 40000, 1, 1, "ppp", 0},
                                 {'s', 'T', 'N', 60000, 30000, 40000, 1, 0, "ppp", 0}};
  size_t budget[TSR_MACHINE_DEVICES] = {(size_t)16e9, (size_t)3e8};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsr_plan *mixed = plan_within(machine, &cases[i], budget, NULL);
    tsr_plan *even = plan_within(machine, &cases[i], budget, "partition=even");
    assert_true(mixed->blocking.partitioned && !even->blocking.partitioned);
    if (mixed->seconds > even->seconds)
      fail_msg("case %d: %g s, dealt evenly %g", (int)i, mixed->seconds, even->seconds);
    tsr_plan_free(mixed);
    tsr_plan_free(even);
  }
  tsr_machine_destroy(machine);
}

/* One without room does nothing, rather than have all others work on tiny tiles: the plan is no
 * slower than that of the machine without this device. */
static void no_room_no_work(void **state) {
  (void)state;
  const int others[] = {0, 2, 3};
  tsr_machine *machine = planning_shipped("h200x4.json"), *part = NULL;
  must(tsr_machine_select(machine, others, 3, &part));
  planning_case what = {'d', 'N', 'N', 70000, 70000, 70000, 1, 1, "ppp", 0};
  size_t budget[TSR_MACHINE_DEVICES] = {(size_t)16e9, (size_t)1e6, (size_t)16e9, (size_t)16e9};
  tsr_plan *plan = plan_within(machine, &what, budget, NULL);
  tsr_plan *without = plan_within(part, &what, alike((size_t)16e9), NULL);
  assert_true(plan->arena[1] == 0);
  assert_true(plan->seconds <= planning_noise * without->seconds);
  tsr_plan_free(plan);
  tsr_plan_free(without);
  tsr_machine_destroy(machine);
  tsr_machine_destroy(part);
}

/* Budgets that are about the same are no reason. */
static void alike_is_alike(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(four);
  planning_case what = {'d', 'N', 'N', 900, 800, 700, 1, 0.5, "ppp", 0};
  size_t budget[TSR_MACHINE_DEVICES] = {500000, 510000, 505000, 500000};
  tsr_plan *plan = plan_within(machine, &what, budget, NULL);
  assert_true(plan->blocking.rows > 0 && !plan->blocking.partitioned);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

/* No device loads more than the equation says for the same hold, nor less than it must. */
static void check_loads(const tsr_machine *machine, const planning_case *what, size_t bytes,
                        const char *strategy) {
  tsr_plan *plan = plan_within(machine, what, alike(bytes), strategy);
  tsr_loads loads[TSR_MACHINE_DEVICES];
  char which;
  double equation = tsr_loads_paper(plan, &which);
  tsr_loads_count(plan, loads);
  for (int d = 0; d < machine->devices; d++) {
    double all = loads[d].host + loads[d].peers;
    if (all > 1.001 * equation || all < loads[d].bound)
      fail_msg("%s: device %d loads %g bytes; equation (1%c) has %g, the bound is %g", strategy, d,
               all, which, equation, loads[d].bound);
  }
  tsr_plan_free(plan);
}

static void loads_are_those_of_the_equation(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(four);
  planning_case what = {'d', 'N', 'N', 1600, 1600, 1600, 1, 0.5, "ppp", 0};
  check_loads(machine, &what, 1 << 20,
              "grid=2x2 tile=50 even=no cblock=4x4 depth=1 lookahead=25 c=first");
  check_loads(machine, &what, 1 << 20,
              "grid=2x2 tile=50 even=no cblock=4x2 depth=2 lookahead=50 c=first");
  check_loads(machine, &what, 2 << 20,
              "grid=1x4 tile=50 even=no cblock=8x4 depth=1 lookahead=25 c=first");
  tsr_machine_destroy(machine);
}

/* On a grid of 2 x 2 two devices load each tile, one of them from the other where they reach each
 * other: half of what is loaded comes from peers, but for the edges. */
static void peers_give_half(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine(four);
  planning_case what = {'d', 'N', 'N', 1600, 1600, 1600, 1, 0, "ppp", 0};
  tsr_loads loads[TSR_MACHINE_DEVICES];
  double host = 0, peers = 0;
  tsr_plan *plan = plan_within(machine, &what, alike(1 << 20),
                               "grid=2x2 tile=50 even=no cblock=4x4 depth=1 lookahead=25");
  tsr_loads_count(plan, loads);
  for (int d = 0; d < machine->devices; d++) host += loads[d].host, peers += loads[d].peers;
  assert_true(peers >= 0.45 * (host + peers));
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

/* What fits into less memory fits into more: a plan with more is no slower. */
static void more_memory_is_not_slower(void **state) {
  (void)state;
  tsr_machine *machine = planning_shipped("h200x4.json");
  planning_case what = {'d', 'N', 'N', 70000, 70000, 70000, 1, 1, "ppp", 0};
  static const double budgets[] = {2e9, 4e9, 16e9, 130e9};
  double last = INFINITY;
  for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
    tsr_plan *plan = plan_within(machine, &what, alike((size_t)budgets[i]), NULL);
    if (plan->seconds > last)
      fail_msg("%g bytes: %g s, with less memory %g s", budgets[i], plan->seconds, last);
    last = plan->seconds;
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_obeyed),
      cmocka_unit_test(what_fits_is_not_held),
      cmocka_unit_test(budgets_may_differ),
      cmocka_unit_test(loads_are_those_of_the_equation),
      cmocka_unit_test(larger_budgets_do_more),
      cmocka_unit_test(no_room_no_work),
      cmocka_unit_test(alike_is_alike),
      cmocka_unit_test(peers_give_half),
      cmocka_unit_test(more_memory_is_not_slower),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
