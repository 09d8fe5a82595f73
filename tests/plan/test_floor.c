/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The floor by GPU memory, for products with a short extent (docs/explain/floor.md). */
#include <math.h>

#include "chance.h"
#include "planning.h"

enum { SHORTS = 3, LONGS = 2, PLACES = 3, SIZE = 8 /* bytes of an element */ };
static const int64_t short_extents[SHORTS] = {1, 64, 512};
static const int64_t long_extents[LONGS] = {4096, 65536};

static tsr_call product(const tsr_machine *machine, int64_t m, int64_t n, int64_t k, double beta,
                        const char *homes) {
  planning_case c = {'d', 'N', 'N', m, n, k, 1, beta, homes, 0};
  return planning_call(machine, &c);
}

/* Seconds of A and B once and of C that many times, at the machine's rate of memory. */
static double memory_time(const tsr_machine *machine, int64_t m, int64_t n, int64_t k,
                          double times_c) {
  double elements = (double)m * (double)k + (double)k * (double)n + times_c * (double)m * (double)n;
  return SIZE * elements / machine->device[0].memory_rate;
}

/* Seconds until the first kernel of a device computes. */
static double start_of(const tsr_machine *machine) {
  return machine->submit_kernel + machine->device[0].kernel_latency;
}

static void assert_near(double value, double wanted, double relative) {
  if (!(fabs(value / wanted - 1) <= relative)) fail_msg("%.6g s, not %.6g s", value, wanted);
}

/* One device reads A, B and, unless beta is 0, C, and writes C. */
static void test_one_device(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*1 pcie:50 rate:50 hbm:1000");
  tsr_call adds = product(machine, 4096, 8192, 1, 1, "000"),
           writes = product(machine, 4096, 1, 8192, 0, "000"),
           computes = product(machine, 8192, 8192, 8192, 1, "000");
  double start = start_of(machine);
  assert_near(tsr_floor(machine, &adds), start + memory_time(machine, 4096, 8192, 1, 2), 1e-9);
  assert_near(tsr_floor(machine, &writes), start + memory_time(machine, 4096, 1, 8192, 1), 1e-9);
  assert_true(tsr_floor(machine, &computes) > 5 * memory_time(machine, 8192, 8192, 8192, 2));
  tsr_machine_destroy(machine);
}

/* A, B and C are spread so that no device is home to two of them: still all bytes / all memories.
 */
static void test_all_memories(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:50 rate:50 hbm:100");
  tsr_call call = product(machine, 8192, 8192, 16, 1, "ppp"),
           far = product(machine, 8192, 8192, 16, 1, "012");
  double all = memory_time(machine, 8192, 8192, 16, 2) / 4;
  assert_true(tsr_floor(machine, &call) >= all && tsr_floor(machine, &far) >= all);
  tsr_machine_destroy(machine);
}

/* Everything on one of two devices, k is 1 and beta is 1: for each share w of C that the other
 * device computes, C goes there and comes back at 100 GB/s (the link and the host's link), or the
 * home adds what comes back. The first is better here: 2 (1 - w) |C| / R = w |C| / L. */
static void test_home_lends(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*2@nvlink:50 pcie:50 rate:50 hbm:1000");
  tsr_call call = product(machine, 32768, 32768, 1, 1, "000");
  double c = 32768.0 * 32768 * SIZE, w = 2.0 / 1000 / (2.0 / 1000 + 1.0 / 100);
  assert_near(tsr_floor(machine, &call), 2 * (1 - w) * c / 1e12, 0.01);
  tsr_machine_destroy(machine);
}

/* No product of a short k is faster than the best one that was measured with that k. */
static void test_short_k(void **state) {
  (void)state;
  const int first[1] = {0};
  tsr_machine *all = planning_shipped("h200x4.json"), *one = NULL;
  must(tsr_machine_select(all, first, 1, &one));
  const tsr_rates *rates = &one->rates[tsr_type_index(TSR_D)];
  tsr_call call = product(one, 65536, 65536, (int64_t)rates->k[0], 0, "000");
  double best = 0, flops = 2.0 * 65536 * 65536 * rates->k[0];
  for (int i = 0; i < rates->areas; i++) best = fmax(best, rates->flops[i][0]);
  assert_near(tsr_floor(one, &call), start_of(one) + flops / best, 1e-9);
  tsr_machine_destroy(one);
  tsr_machine_destroy(all);
}

static double planned(const tsr_machine *machine, const tsr_call *call, double *floor) {
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  options.obey_devices = false;
  options.search_seconds = 0.1; /* 5 ms on an idle core find the same to 0.3 % */
  must(tsr_plan_make(machine, call, &options, &plan));
  double seconds = plan->seconds;
  *floor = plan->floor;
  tsr_plan_free(plan);
  return seconds;
}

/* Whether the plan is far from the floor: more than 1.2 of it. Such plans
 * spend most of the time beyond the floor in kernels with a small C or a short k
 * (docs/explain/floor.md). */
static bool check_shape(const tsr_machine *all, const tsr_machine *one, const int64_t shape[3]) {
  double floor, floor_of_one;
  tsr_call call = product(all, shape[0], shape[1], shape[2], 1, "000"),
           alone = product(one, shape[0], shape[1], shape[2], 1, "000");
  double seconds = planned(all, &call, &floor), on_one = planned(one, &alone, &floor_of_one);
  const double rounding = 1e-9; /* on one device the plan may take as long as the floor */
  if (floor > seconds * (1 + rounding) || floor_of_one > on_one * (1 + rounding) ||
      floor > floor_of_one)
    fail_msg("%lld x %lld x %lld: floors %.6g and %.6g s, plans %.6g and %.6g s",
             (long long)shape[0], (long long)shape[1], (long long)shape[2], floor, floor_of_one,
             seconds, on_one);
  if (seconds > 1.0001 * on_one)
    fail_msg("%lld x %lld x %lld: %.6g s, but %.6g s on one device", (long long)shape[0],
             (long long)shape[1], (long long)shape[2], seconds, on_one);
  if (seconds > 1.67 * floor)
    fail_msg("%lld x %lld x %lld: %.3f of the floor", (long long)shape[0], (long long)shape[1],
             (long long)shape[2], seconds / floor);
  return seconds > 1.2 * floor;
}

/* No plan of bench/skinny.py's shapes with everything on one of four devices is below the floor or
 * slower than that device, none is beyond 1.67 of the floor, and few are beyond 1.2. */
static void test_skinny(void **state) {
  (void)state;
  const int first[1] = {0};
  enum { FAR = 15 }; /* of 37 */
  tsr_machine *all = planning_shipped("h200x4.json"), *one = NULL;
  int far = 0;
  must(tsr_machine_select(all, first, 1, &one));
  for (int i = 0; i < PLACES * SHORTS * LONGS * LONGS; i++) {
    int place = i % PLACES, more = i / PLACES / SHORTS;
    int64_t shape[3], others[2] = {long_extents[more % LONGS], long_extents[more / LONGS]};
    for (int x = 0, used = 0; x < 3; x++)
      shape[x] = x == place ? short_extents[i / PLACES % SHORTS] : others[used++];
    far += check_shape(all, one, shape);
  }
  far += check_shape(all, one, (const int64_t[3]){512, 512, 1000000});
  if (far > FAR) fail_msg("%d products are beyond 1.2 of the floor, not %d", far, FAR);
  tsr_machine_destroy(one);
  tsr_machine_destroy(all);
}

/* ---- Random machines and calls ---- */

static double random_scale(int64_t most) {
  return exp(log((double)most) * (double)between(0, 1000) / 1000); /* 1 to most */
}

/* Rates that follow no rule: they rise or fall with k and with C, and at the power limit. */
static void set_random_rates(tsr_rates *rates) {
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++) {
      rates->flops[i][j] *= random_scale(8) / 4;
      rates->hot[i][j] = rates->flops[i][j] * random_scale(4) / 3;
    }
}

static tsr_machine *random_machine(void) {
  static const char *const fabrics[] = {"@nvswitch:300", "@nvlink:50", "@pcie", "@none"};
  char text[200];
  snprintf(text, sizeof text,
           "host:%d gpu*%d%s pcie:%d%s rate:%d hbm:%d,%d lat:%g launch:%g speed:1,%g",
           (int)between(20, 300), (int)between(2, 5), fabrics[between(0, 3)], (int)between(5, 60),
           between(0, 1) ? "" : "/pair", (int)between(1, 60), (int)between(100, 4000),
           (int)between(100, 4000), random_scale(100), random_scale(100),
           between(0, 2) ? 1 : random_scale(5) / 2);
  tsr_machine *machine = planning_machine(text);
  if (between(0, 1)) machine->submit_copy = machine->submit_kernel = 0;
  for (int i = 0; i < TSR_TYPE_COUNT && between(0, 2); i++) set_random_rates(&machine->rates[i]);
  return machine;
}

static char random_home(const tsr_machine *machine) {
  int64_t home = between(0, 9);
  return home == 9 ? 'h' : home == 8 ? 'p' : (char)('0' + (home < 5 ? 0 : home % machine->devices));
}

static int64_t random_extent(void) {
  return between(0, 2) ? (int64_t)random_scale(20000) : 16384;
}

/* Plans of random calls, mostly with operands on devices, in strategies that the search chooses or
 * that are forced, are not below the floor. */
static void test_random(void **state) {
  (void)state;
  static const char *const strategies[] = {
      NULL,
      NULL,
      "kind=panels kpanel=64,512",
      "kind=slices kpanel=256,1024 add=home",
      "kind=slices kpanel=32,128 add=owner",
      "kind=tiles",
  };
  const char *count = getenv("TSR_TEST_PLANS");
  for (int i = 0, calls = count ? atoi(count) : 400; i < calls; i++) {
    chance_seed((uint64_t)i * 7919 + 1);
    tsr_machine *machine = random_machine();
    char homes[4] = {random_home(machine), random_home(machine), random_home(machine), 0};
    planning_case c = {.type = "dshz"[between(0, 3)],
                       .ta = 'N',
                       .tb = 'N',
                       .m = random_extent(),
                       .n = random_extent(),
                       .k = random_extent(),
                       .alpha = 1,
                       .beta = (double)between(0, 1),
                       .homes = between(0, 1) ? "000" : homes};
    tsr_call call = planning_call(machine, &c);
    tsr_plan_options options = planning_options(machine, 0);
    tsr_plan *plan = NULL;
    options.no_cpu = true;
    options.search_seconds = 1e-3; /* what is found by then does not matter */
    options.strategy = strategies[between(0, 5)];
    options.obey_devices = options.strategy != NULL || between(0, 1);
    if (tsr_plan_make(machine, &call, &options, &plan) != TSR_OK) {
      options.strategy = NULL; /* no plan of this call has that kind */
      must(tsr_plan_make(machine, &call, &options, &plan));
    }
    if (plan->seconds < (1 - 1e-6) * plan->floor)
      fail_msg(
          "call %d (%s): %cgemm %lld x %lld x %lld %s beta %g, %s: %.9g s, but a floor of "
          "%.9g",
          i, machine->name, c.type, (long long)c.m, (long long)c.n, (long long)c.k, c.homes, c.beta,
          options.strategy ? options.strategy : "-", plan->seconds, plan->floor);
    tsr_plan_free(plan);
    tsr_machine_destroy(machine);
  }
}

/* ---- Factorisations ---- */

/* Blocks on the diagonal, one after another, bind where everything else is fast. */
static void test_chain(void **state) {
  (void)state;
  tsr_machine *machine =
      planning_machine("host:9000 gpu*4@nvswitch:9000 pcie:9000 rate:60 hbm:9000");
  tsr_call call = planning_factor(machine, TSR_POTRF, TSR_D, 2048);
  assert_near(tsr_floor(machine, &call), 2048 * tsr_kernel_get(TSR_KERNEL_POTRF)->serial, 1e-9);
  tsr_machine_destroy(machine);
}

/* Plans of random factorisations, of block columns that arrive in one order or another, or squares,
 * with products early or late, are not below the floor. */
static void test_random_factors(void **state) {
  (void)state;
  const char *count = getenv("TSR_TEST_PLANS");
  for (int i = 0, calls = count ? atoi(count) : 200; i < calls; i++) {
    chance_seed((uint64_t)i * 7919 + 2);
    tsr_machine *machine = random_machine();
    char homes[4] = {'p', 'p', between(0, 1) ? 'p' : random_home(machine), 0}, strategy[100];
    int64_t n = 64 + (int64_t)random_scale(16384), tile = n / between(1, 24) + 1;
    tsr_call call = planning_factor(machine, TSR_POTRF, "dscz"[between(0, 3)], n);
    call.uplo = between(0, 1) ? TSR_LOWER : TSR_UPPER;
    planning_set_homes(machine, homes, &call);
    snprintf(strategy, sizeof strategy, "tile=%d block=%d span=%d any/products=%s", (int)tile,
             (int)(tile / between(1, 4) + 1), between(0, 1) ? 1 : 1000,
             between(0, 1) ? "early" : "late");
    tsr_plan_options options = planning_options(machine, 0);
    tsr_plan *plan = NULL;
    options.no_cpu = true;
    options.search_seconds = 1e-3; /* what is found by then does not matter */
    options.strategy = between(0, 2) ? strategy : NULL;
    options.obey_devices = between(0, 1);
    must(tsr_plan_make(machine, &call, &options, &plan));
    if (plan->seconds < (1 - 1e-6) * plan->floor)
      fail_msg("call %d (%s): %cpotrf of %lld, C %c, %s: %.9g s, but a floor of %.9g", i,
               machine->name, (char)call.type, (long long)n, homes[2],
               options.strategy ? options.strategy : "-", plan->seconds, plan->floor);
    tsr_plan_free(plan);
    tsr_machine_destroy(machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_device), cmocka_unit_test(test_all_memories),
      cmocka_unit_test(test_home_lends), cmocka_unit_test(test_short_k),
      cmocka_unit_test(test_skinny),     cmocka_unit_test(test_random),
      cmocka_unit_test(test_chain),      cmocka_unit_test(test_random_factors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
