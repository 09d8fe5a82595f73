/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Machines with unlike devices: the planner takes those that help, in shares by their rates. */
/* Slow: 13 s of a core. */
#include <math.h>

#include "planning.h"
#include "problem.h"

enum { MACHINES = 30, ROOM = 320 };

/* How much longer than the best subset of the devices, tried by hand, a plan may take. */
static const double allowed = 1.05;

/* ---- Random machines ---- */

/* NUMBER,NUMBER,... of a random choice for each device. */
static int add_series(rng *r, const char *word, int devices, const double *values, int count,
                      char *text, int room) {
  int used = snprintf(text, (size_t)room, " %s:", word);
  for (int d = 0; d < devices; d++)
    used += snprintf(text + used, (size_t)(room - used), "%s%g", d > 0 ? "," : "",
                     values[rng_between(r, 0, count - 1)]);
  return used;
}

static void draw_machine(rng *r, char text[ROOM]) {
  static const double speeds[] = {1, 1, 0.8, 0.5, 0.3, 0.1, 0.04};
  static const double memories[] = {80, 40, 24, 12, 4};
  static const double links[] = {25, 25, 12, 6, 3, 1};
  static const char *const fabrics[] = {"none", "none", "pcie", "nvswitch:100", "nvlink:40"};
  static const double hosts[] = {20, 40, 100}, rates[] = {2, 10, 40};
  int devices = (int)rng_between(r, 2, 4);
  int used = snprintf(text, ROOM, "host:%g gpu*%d@%s rate:%g", hosts[rng_between(r, 0, 2)], devices,
                      fabrics[rng_between(r, 0, 4)], rates[rng_between(r, 0, 2)]);
  used += add_series(r, "speed", devices, speeds, 7, text + used, ROOM - used);
  used += add_series(r, "mem", devices, memories, 5, text + used, ROOM - used);
  add_series(r, "pcie", devices, links, 6, text + used, ROOM - used);
}

/* ---- The best subset ---- */

static tsr_plan *plan_of(const tsr_machine *machine, int64_t n, bool obey) {
  const planning_case what = {'d', 'N', 'N', n, n, n, 1, 1, "ppp", 0};
  tsr_call call = planning_call(machine, &what);
  tsr_plan_options options = {.obey_devices = obey, .no_cpu = true, .ring = 1 << 26};
  tsr_plan *plan = NULL;
  for (int d = 0; d < machine->devices; d++)
    options.budget[d] = (size_t)(0.8 * machine->device[d].memory);
  must(tsr_plan_make(machine, &call, &options, &plan));
  must(tsr_plan_verify(plan, machine, options.budget));
  return plan;
}

/* The least time over all sets of devices, each of which has to be used whole; *best: bits. */
static double best_of_subsets(const tsr_machine *machine, int64_t n, unsigned *best) {
  double least = INFINITY;
  for (unsigned set = 1; set < 1u << machine->devices; set++) {
    int list[TSR_MACHINE_DEVICES], count = 0;
    tsr_machine *part = NULL;
    for (int d = 0; d < machine->devices; d++)
      if (set >> d & 1) list[count++] = d;
    must(tsr_machine_select(machine, list, count, &part));
    tsr_plan *plan = plan_of(part, n, true);
    if (plan->seconds < least) {
      least = plan->seconds;
      *best = set;
    }
    tsr_plan_free(plan);
    tsr_machine_destroy(part);
  }
  return least;
}

static void never_slower_than_the_best_subset(void **state) {
  (void)state;
  static const int64_t extents[] = {2048, 6144, 12288};
  rng r = {24};
  int slower = 0;
  double worst = 0;
  for (int i = 0; i < MACHINES; i++) {
    char text[ROOM];
    tsr_machine *machine = NULL;
    unsigned best = 0;
    draw_machine(&r, text);
    int64_t n = extents[i % 3];
    must(tsr_machine_parse(text, &machine));
    double least = best_of_subsets(machine, n, &best);
    tsr_plan *plan = plan_of(machine, n, false);
    double ratio = plan->seconds / least;
    worst = fmax(worst, ratio);
    if (ratio > allowed) {
      print_message("%s, n %lld: %.4g ms, devices %#x alone %.4g ms (%.3f)\n", text, (long long)n,
                    1e3 * plan->seconds, best, 1e3 * least, ratio);
      slower++;
    }
    tsr_plan_free(plan);
    tsr_machine_destroy(machine);
  }
  print_message("worst %.3f\n", worst);
  assert_int_equal(slower, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(never_slower_than_the_best_subset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
