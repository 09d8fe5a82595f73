/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the search promises: a plan on all devices that may be used is no slower than on a part of
 * them. bench/choices.py says what its other choices are worth.
 */
#include "planning.h"

static tsr_plan *plan_of(const tsr_machine *machine, const tsr_call *call, bool obey,
                         const char *strategy) {
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  options.obey_devices = obey;
  options.no_cpu = true;
  options.strategy = strategy;
  options.search_seconds = 0;
  must(tsr_plan_make(machine, call, &options, &plan));
  must(tsr_plan_verify(plan, machine, options.budget));
  return plan;
}

static double predicted(const tsr_machine *machine, const tsr_call *call, bool obey,
                        const char *strategy) {
  tsr_plan *plan = plan_of(machine, call, obey, strategy);
  double seconds = plan->seconds;
  tsr_plan_free(plan);
  return seconds;
}

static tsr_call product(const tsr_machine *machine, int64_t n, int64_t k, const char *homes) {
  planning_case c = {'d', 'N', 'N', n, n, k, 1, 1, homes, 0};
  return planning_call(machine, &c);
}

/* ---- Fewer devices -------------------------------------------------------- */

/* On the first count of the machine's devices, among which the homes are. */
static double on_first(const tsr_machine *machine, int count, int64_t n, int64_t k,
                       const char *homes) {
  const int first[TSR_MACHINE_DEVICES] = {0, 1, 2, 3, 4, 5, 6, 7};
  tsr_machine *part = NULL;
  must(tsr_machine_select(machine, first, count, &part));
  tsr_call call = product(part, n, k, homes);
  double seconds = predicted(part, &call, true, NULL);
  tsr_machine_destroy(part);
  return seconds;
}

static void check_fewer(const tsr_machine *machine, int64_t n, int64_t k, const char *homes) {
  tsr_call call = product(machine, n, k, homes);
  double free = predicted(machine, &call, false, NULL);
  for (int count = 1; count <= machine->devices; count++) {
    double part = on_first(machine, count, n, k, homes);
    if (free > planning_noise * part)
      fail_msg("%d x %d x %d, home %s: %g s, but %g s on %d devices", (int)n, (int)n, (int)k, homes,
               free, part, count);
  }
}

static void test_fewer(void **state) {
  (void)state;
  tsr_machine *machine = planning_shipped("h200x8.json");
  check_fewer(machine, 16384, 1024, "000");
  check_fewer(machine, 8192, 512, "000");
  check_fewer(machine, 2048, 2048, "000");
  check_fewer(machine, 512, 512, "000");
  tsr_machine_destroy(machine);
}

/* A part of the devices is one of those that share few links: pairs have one host link here. */
static void test_apart(void **state) {
  (void)state;
  tsr_machine *machine = planning_shipped("a100x8.json");
  tsr_call call = product(machine, 8192, 8192, "ppp");
  tsr_plan *plan = plan_of(machine, &call, true, "grid=1x4");
  for (int q = 0; q < plan->queues; q++)
    if (plan->queue[q].role == TSR_QUEUE_COMPUTE) assert_int_equal(plan->queue[q].location % 2, 0);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

static void test_obeyed(void **state) {
  (void)state;
  tsr_machine *machine = planning_shipped("h200x8.json");
  tsr_call call = product(machine, 512, 512, "000");
  tsr_plan *all = plan_of(machine, &call, true, NULL), *few = plan_of(machine, &call, false, NULL);
  assert_int_equal(all->devices, 8);
  assert_in_range(few->devices, 1, 8);
  assert_true(few->seconds <= all->seconds);
  tsr_plan_free(all), tsr_plan_free(few);
  tsr_machine_destroy(machine);
}

/* ---- Slices of k ---------------------------------------------------------- */

/* A product whose C is small: sending each element of A and B to one device, and then all sums of
 * C, takes less time than one device alone, and than sending all of A to each. */
static void check_slices(const tsr_machine *machine, int64_t n, int64_t k, double gain) {
  tsr_call call = product(machine, n, k, "000");
  tsr_plan *slices = plan_of(machine, &call, false, NULL);
  assert_int_equal(slices->slices, slices->devices);
  assert_true(slices->devices > 1 && slices->seconds >= slices->floor);
  assert_true(slices->seconds * gain < on_first(machine, 1, n, k, "000"));
  assert_true(slices->seconds * gain < predicted(machine, &call, false, "kind=panels"));
  tsr_plan_free(slices);
}

static void test_slices(void **state) {
  (void)state;
  tsr_machine *machine = planning_shipped("h200x4.json");
  check_slices(machine, 512, 1000000, 1.3);
  check_slices(machine, 2048, 262144, 1.1);
  tsr_call square = product(machine, 8192, 8192, "000");
  tsr_plan *panels = plan_of(machine, &square, false, NULL);
  assert_int_equal(panels->slices, 0);
  tsr_plan_free(panels);
  tsr_machine_destroy(machine);
}

/* Every type whose sums have no wider type, transposed or not, on any number of devices; with fewer
 * elements of k than devices, too. */
static void test_slices_of_all_kinds(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("gpu*4@nvlink:20 pcie:50 rate:50");
  for (const char *type = "sdcz"; *type; type++)
    for (int64_t k = 1; k < 2000; k = 7 * k + 2)
      for (int op = 0; op < 4; op++) {
        planning_case c = {*type, "NT"[op & 1], "NT"[op >> 1], 33, 70, k, 1, op > 1, "p01", 0};
        tsr_call call = planning_call(machine, &c);
        tsr_plan *plan = plan_of(machine, &call, false, "kind=slices kpanel=16,64 grid=1x3");
        assert_int_equal(plan->slices, 3);
        tsr_plan_free(plan);
      }
  tsr_machine_destroy(machine);
}

/* ---- Shares --------------------------------------------------------------- */

/* A C that is at home on one device comes back by its port: that device computes more than others,
 * the more so the less there is to compute. One device has all of it. */
static void test_home(void **state) {
  (void)state;
  tsr_machine *machine = planning_shipped("h200x4.json");
  tsr_call flat = product(machine, 16384, 1024, "pp0"),
           cube = product(machine, 32768, 32768, "000");
  double of_flat = tsr_plan_home_share(machine, &flat, 4, false);
  double of_cube = tsr_plan_home_share(machine, &cube, 4, false);
  assert_true(of_flat > of_cube && of_cube >= 1);
  assert_true(tsr_plan_home_share(machine, &cube, 1, false) == 1);
  tsr_machine_destroy(machine);
}

/* All operands at home on one of four GPUs, whose links are so slow that only a plan with a larger
 * share of C at home is faster than that GPU alone. */
static void test_home_and_helpers(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvlink:20 pcie:50 rate:50");
  tsr_call call = product(machine, 8192, 8192, "000");
  double free = predicted(machine, &call, false, NULL);
  double alone = on_first(machine, 1, 8192, 8192, "000");
  assert_true(free < 0.7 * alone);
  assert_true(free <= planning_noise * predicted(machine, &call, true, NULL));
  tsr_machine_destroy(machine);
}

/* The products of a device, and how many of them add to W. */
static int count_products(const tsr_plan *plan, int device, int *in_w) {
  int count = *in_w = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    bool product = c->kind == TSR_COMMAND_KERNEL && c->kernel == TSR_KERNEL_GEMM;
    if (!product || plan->queue[c->queue].location != device) continue;
    count++;
    *in_w += plan->buffers.items[c->buffer[2]].matrix == TSR_W;
  }
  return count;
}

/* A home of all operands computes its part in one kernel, into C, however the others' parts are
 * cut: in panels and in slices that it adds up itself. Where slices are added up by their owners,
 * it sums in W as they do. */
static void check_whole(const tsr_machine *machine, const char *strategy, bool whole) {
  tsr_call call = product(machine, 1024, 32768, "111");
  tsr_plan *plan = plan_of(machine, &call, true, strategy);
  int in_w, home = count_products(plan, 1, &in_w), other;
  if (whole != (home == 1 && in_w == 0)) fail_msg("%s: %d products, %d in W", strategy, home, in_w);
  assert_true(count_products(plan, 0, &other) > 1);
  tsr_plan_free(plan);
}

static void test_whole_at_home(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*2@nvlink:300 pcie:50 rate:50");
  check_whole(machine, "panels kpanel=1024,2048", true);
  check_whole(machine, "slices kpanel=1024,2048 add=home", true);
  check_whole(machine, "slices kpanel=1024,2048 add=owner", false);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fewer),
      cmocka_unit_test(test_apart),
      cmocka_unit_test(test_obeyed),
      cmocka_unit_test(test_slices),
      cmocka_unit_test(test_slices_of_all_kinds),
      cmocka_unit_test(test_home),
      cmocka_unit_test(test_home_and_helpers),
      cmocka_unit_test(test_whole_at_home),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
