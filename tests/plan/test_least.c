/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Budgets that are too small: every operation names the least that would do, and that does. */
#include "planning.h"

enum { ORDER = 200, TILE = 32 };

/* Extents that differ, where they may. */
static tsr_call make_call(const tsr_machine *machine, tsr_operation operation, tsr_type type,
                          tsr_side side) {
  static const double alpha[2] = {2, 0}, beta[2] = {0.5, 0};
  bool sided = operation == TSR_SYMM || operation == TSR_HEMM || operation == TSR_TRMM ||
               operation == TSR_TRSM;
  tsr_level3 what = {.operation = operation,
                     .type = type,
                     .layout = TSR_COL_MAJOR,
                     .side = side,
                     .uplo = TSR_LOWER,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .diag = TSR_NON_UNIT,
                     .m = ORDER,
                     .n = sided || operation == TSR_GEMM ? ORDER - 40 : ORDER,
                     .k = ORDER - 70};
  what.lda = what.ldb = what.ldc = ORDER;
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  tsr_status status =
      tsr_call_level3(&what, alpha, NULL, NULL, beta, NULL, false, &call, &binding, &exchanged);
  if (status != TSR_OK) fail_msg("%s", tsr_message());
  for (int x = 0; x < TSR_OPERANDS; ++x) {
    tsr_operand *o = &call.operand[x];
    o->memory = TSR_PAGEABLE;
    o->location = machine->devices;
    o->alignment = 4;
  }
  return call;
}

static tsr_status plan_with(const tsr_machine *machine, const tsr_call *call, int64_t tile,
                            bool reproducible, size_t budget, tsr_plan **plan) {
  tsr_plan_options options = planning_options(machine, tile);
  options.search_seconds = 0;
  options.reproducible = reproducible;
  for (int d = 0; d < TSR_MACHINE_DEVICES; ++d) options.budget[d] = budget;
  tsr_status status = tsr_plan_make(machine, call, &options, plan);
  if (status != TSR_OK) return status;
  status = tsr_plan_verify(*plan, machine, options.budget);
  if (status != TSR_OK) fail_msg("%s: %s", tsr_operation_name(call->operation), tsr_message());
  return status;
}

static size_t least_named(void) {
  const char *named = strstr(tsr_message(), "give at least ");
  if (!named) fail_msg("\"%s\" names no budget", tsr_message());
  return (size_t)strtoull(named + strlen("give at least "), NULL, 10);
}

static void check(const tsr_machine *machine, tsr_operation operation, tsr_side side, int64_t tile,
                  bool reproducible) {
  bool hermitian = operation == TSR_HEMM || operation == TSR_HERK || operation == TSR_HER2K;
  tsr_call call = make_call(machine, operation, hermitian ? TSR_Z : TSR_D, side);
  tsr_plan *plan = NULL;
  const char *name = tsr_operation_name(operation);
  if (plan_with(machine, &call, tile, reproducible, 1, &plan) != TSR_ERR_MEMORY)
    fail_msg("%s: a byte is enough", name);
  size_t least = least_named();
  if (plan_with(machine, &call, tile, reproducible, least, &plan) != TSR_OK)
    fail_msg("%s: %zu bytes are named, but: %s", name, least, tsr_message());
  for (int d = 0; d < machine->devices; ++d) assert_true(plan->arena[d] <= least);
  tsr_plan_free(plan);
  /* A system of two blocks is solved with two tiles. */
  if (operation == TSR_TRSM) return;
  if (plan_with(machine, &call, tile, reproducible, least - 1, &plan) != TSR_ERR_MEMORY)
    fail_msg("%s: %zu bytes are named, but less would do", name, least);
}

static void every_operation(const char *machine_string, int64_t tile, bool reproducible) {
  tsr_machine *machine = planning_machine(machine_string);
  for (int o = 0; o < TSR_OPERATION_COUNT; ++o) {
    check(machine, (tsr_operation)o, TSR_LEFT, tile, reproducible);
    check(machine, (tsr_operation)o, TSR_RIGHT, tile, reproducible);
  }
  tsr_machine_destroy(machine);
}

static const char *const one = "host:200 gpu*1 pcie:25 rate:19";
static const char *const three = "host:200 gpu*3@nvswitch:300 pcie:25/pair rate:19";

static void free_tiles(void **state) {
  (void)state;
  every_operation(one, 0, false);
  every_operation(three, 0, false);
}

static void forced_tiles(void **state) {
  (void)state;
  every_operation(one, TILE, false);
  every_operation(three, TILE, false);
}

static void reproducible_tiles(void **state) {
  (void)state;
  every_operation(one, 0, true);
  every_operation(three, 0, true);
}

/* Nothing but C has room then, however long k is. */
static void calls_that_scale_c(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*1 pcie:25 rate:19");
  planning_case what = {'d', 'N', 'N', 168, 6, 32, 0, 0.5, "ppp", 0};
  tsr_call call = planning_call(machine, &what);
  tsr_plan *plan = NULL;
  assert_int_equal(plan_with(machine, &call, 0, false, 1, &plan), TSR_ERR_MEMORY);
  size_t least = least_named();
  for (size_t budget = least; budget < 2 * least; budget += 512) {
    if (plan_with(machine, &call, 0, false, budget, &plan) != TSR_OK)
      fail_msg("%zu bytes are named, and of %zu: %s", least, budget, tsr_message());
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

/* Of a call so large that small tiles would make more kernels than a plan is good for the least
 * budget is one for larger tiles: three of them. */
static void large_calls(void **state) {
  (void)state;
  static const struct {
    int64_t m, n, k;
    size_t tile;
  } cases[] = {{4000, 4000, 4000, 16},
               {5000, 5000, 5000, 32},
               {200000, 200000, 200000, 1024},
               {100000, 100000, 1024, 128}};
  tsr_machine *machine = planning_machine(three);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    planning_case c = {'d', 'N', 'T', cases[i].m, cases[i].n, cases[i].k, 1, 1, "ppp", 0};
    tsr_call call = planning_call(machine, &c);
    tsr_plan *plan = NULL;
    assert_int_equal(plan_with(machine, &call, 0, false, 1000, &plan), TSR_ERR_MEMORY);
    assert_int_equal(least_named(), 3 * cases[i].tile * cases[i].tile * sizeof(double));
  }
  tsr_machine_destroy(machine);
}

/* Even tiles of a call of many tiles are as long as those of a few of them, or longer. */
static void even_tiles(void **state) {
  (void)state;
  static const struct {
    int64_t m, n, k;
  } cases[] = {{671, 538, 671}, {1000, 41, 321}, {39, 2000, 399}};
  tsr_machine *machine = planning_machine(three);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    planning_case c = {'z', 'N', 'N', cases[i].m, cases[i].n, cases[i].k, 1, 1, "hhh", 0};
    tsr_call call = planning_call(machine, &c);
    tsr_plan_options options = planning_options(machine, 0);
    tsr_plan *plan = NULL;
    options.strategy = "tile=40 any/even=yes any/cblock=2x4 any/lookahead=50";
    options.search_seconds = 0;
    for (int d = 0; d < machine->devices; ++d) options.budget[d] = 1000;
    assert_int_equal(tsr_plan_make(machine, &call, &options, &plan), TSR_ERR_MEMORY);
    size_t least = least_named();
    for (int d = 0; d < machine->devices; ++d) options.budget[d] = least;
    if (tsr_plan_make(machine, &call, &options, &plan) != TSR_OK)
      fail_msg("case %zu: %zu bytes are named, but: %s", i, least, tsr_message());
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_that_scale_c), cmocka_unit_test(even_tiles),
      cmocka_unit_test(large_calls),        cmocka_unit_test(free_tiles),
      cmocka_unit_test(forced_tiles),       cmocka_unit_test(reproducible_tiles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
