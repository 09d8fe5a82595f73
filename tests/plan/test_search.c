/*
 * What the search promises: a plan on all devices that may be used is no slower than on a part of
 * them, or than simple choices; and it stays within the time it is given.
 */
#include "planning.h"

static tsr_machine *shipped(const char *file) {
  char path[512];
  const char *root = getenv("TESSERA_SOURCE_DIR");
  snprintf(path, sizeof path, "%s/machines/%s", root && *root ? root : ".", file);
  return planning_machine(path);
}

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
  static const double noise = 1.08; /* what climbs from different starts differ by */
  tsr_call call = product(machine, n, k, homes);
  double free = predicted(machine, &call, false, NULL);
  for (int count = 1; count <= machine->devices; count++) {
    double part = on_first(machine, count, n, k, homes);
    if (free > noise * part)
      fail_msg("%d x %d x %d, home %s: %g s, but %g s on %d devices", (int)n, (int)n, (int)k, homes,
               free, part, count);
  }
}

static void test_fewer(void **state) {
  (void)state;
  tsr_machine *machine = shipped("h200x8.json");
  check_fewer(machine, 16384, 1024, "000");
  check_fewer(machine, 8192, 512, "000");
  check_fewer(machine, 2048, 2048, "000");
  check_fewer(machine, 512, 512, "000");
  tsr_machine_destroy(machine);
}

/* A part of the devices is one of those that share few links: pairs have one host link here. */
static void test_apart(void **state) {
  (void)state;
  tsr_machine *machine = shipped("a100x8.json");
  tsr_call call = product(machine, 8192, 8192, "ppp");
  tsr_plan *plan = plan_of(machine, &call, true, "grid=1x4");
  for (int q = 0; q < plan->queues; q++)
    if (plan->queue[q].role == TSR_QUEUE_COMPUTE) assert_int_equal(plan->queue[q].location % 2, 0);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

static void test_obeyed(void **state) {
  (void)state;
  tsr_machine *machine = shipped("h200x8.json");
  tsr_call call = product(machine, 512, 512, "000");
  tsr_plan *all = plan_of(machine, &call, true, NULL), *few = plan_of(machine, &call, false, NULL);
  assert_int_equal(all->devices, 8);
  assert_in_range(few->devices, 1, 7);
  assert_true(few->seconds <= all->seconds);
  tsr_plan_free(all), tsr_plan_free(few);
  tsr_machine_destroy(machine);
}

/* ---- Simple choices ------------------------------------------------------- */

static tsr_call rank_update(const tsr_machine *machine, tsr_operation operation, int64_t n,
                            const char *homes) {
  tsr_call call = product(machine, n, n, homes), rank;
  tsr_level3 what = {.operation = operation,
                     .type = (tsr_type)'d',
                     .layout = TSR_COL_MAJOR,
                     .uplo = TSR_LOWER,
                     .transa = TSR_NO_TRANS,
                     .n = n,
                     .k = n,
                     .lda = n,
                     .ldb = n,
                     .ldc = n};
  tsr_binding binding;
  bool exchanged;
  double one[2] = {1, 0};
  must(tsr_call_level3(&what, one, NULL, NULL, one, NULL, false, &rank, &binding, &exchanged));
  for (int x = 0; x < TSR_OPERANDS; x++) {
    bool there = rank.operand[x].rows > 0;
    rank.operand[x].memory = call.operand[x].memory;
    rank.operand[x].location = call.operand[x].location;
    rank.operand[x].pinned_end = there ? call.operand[x].pinned_end : 0;
    rank.operand[x].alignment = 4;
  }
  return rank;
}

static void check_simple(const tsr_machine *machine, const tsr_call *call, const char *strategy) {
  static const double noise = 1.02;
  double found = predicted(machine, call, true, NULL);
  double simple = predicted(machine, call, true, strategy);
  if (found > noise * simple)
    fail_msg("%s of %d: %g s, but %g s with %s", tsr_operation_name(call->operation), (int)call->n,
             found, simple, strategy);
}

/* Blocks on the diagonal are computed at C's home: narrow chunks, and no tapering. */
static void test_rank(void **state) {
  (void)state;
  tsr_machine *paper = shipped("a100x8.json");
  static const char *const whole = "kpanel=0 nblock.last=512 taper=0 piece=32M c=first";
  for (int64_t n = 4096; n <= 16384; n *= 2) {
    tsr_call syrk = rank_update(paper, TSR_SYRK, n, "000");
    tsr_call syr2k = rank_update(paper, TSR_SYR2K, n, "000");
    check_simple(paper, &syrk, whole);
    check_simple(paper, &syr2k, whole);
  }
  tsr_machine_destroy(paper);
}

/* A C that is at home on one device comes back by its port: it should compute more than others. */
static void test_home(void **state) {
  (void)state;
  tsr_machine *machine = shipped("h200x4.json");
  tsr_call call = product(machine, 16384, 1024, "pp0");
  check_simple(machine, &call, "grid=1x4 share=150 kpanel=0 c=last add=home");
  assert_true(tsr_plan_home_share(machine, &call, 4) > 1.5);
  tsr_call large = product(machine, 32768, 32768, "000");
  assert_true(tsr_plan_home_share(machine, &large, 4) < 1.1);
  assert_true(tsr_plan_home_share(machine, &large, 1) == 1);
  tsr_machine_destroy(machine);
}

/* Pageable: all devices work on the columns that are staged, so the grid is of rows. */
static void test_staged(void **state) {
  (void)state;
  tsr_machine *machine = shipped("h200x8.json");
  tsr_call call = product(machine, 28672, 1792, "hhh");
  check_simple(machine, &call, "grid=8x1 kpanel=0 nblock=256,256,256 c=last");
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fewer), cmocka_unit_test(test_apart), cmocka_unit_test(test_obeyed),
      cmocka_unit_test(test_rank),  cmocka_unit_test(test_home),  cmocka_unit_test(test_staged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
