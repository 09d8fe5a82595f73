/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A C that is mapped is computed where its blocks shall live, and which maps are not followed. */
#include "blas/family.h"
#include "blas/operation.h"
#include "owners.h"
#include "plan/residency.h"

enum { MAPS = 1200 };

static tsr_call call_of(const tsr_machine *machine, tsr_operation operation, tsr_side side,
                        tsr_uplo uplo, int64_t m, int64_t n, int64_t k) {
  static const double some[2] = {0.5, 0};
  int64_t ld = m > n ? m : n;
  if (k > ld) ld = k;
  tsr_level3 what = {.operation = operation,
                     .type = TSR_Z,
                     .layout = TSR_COL_MAJOR,
                     .side = side,
                     .uplo = uplo,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .diag = TSR_NON_UNIT,
                     .m = m,
                     .n = n,
                     .k = k,
                     .lda = ld,
                     .ldb = ld,
                     .ldc = ld};
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  must(tsr_call_level3(&what, some, NULL, NULL, some, NULL, false, &call, &binding, &exchanged));
  planning_pin(machine, &call);
  return call;
}

static tsr_call draw_call(const tsr_machine *machine) {
  tsr_operation operation = (tsr_operation)between(0, TSR_OPERATION_COUNT - 1);
  tsr_side side = between(0, 1) ? TSR_LEFT : TSR_RIGHT;
  tsr_uplo uplo = between(0, 1) ? TSR_LOWER : TSR_UPPER;
  int64_t m = between(1, 130), n = between(1, 130), k = between(0, 100);
  return call_of(machine, operation, side, uplo, m, n, k);
}

static tsr_plan *plan_of(const tsr_machine *machine, const tsr_call *call,
                         const tsr_mapping *mapping, const tsr_residency *residency,
                         const char *strategy) {
  tsr_plan_options options = planning_options(machine, 0);
  options.search_seconds = 1e-3;
  options.strategy = strategy;
  options.residency = residency;
  options.mapping = mapping;
  tsr_plan *plan = NULL;
  tsr_status status = tsr_plan_make(machine, call, &options, &plan);
  if (status == TSR_OK) status = tsr_plan_verify(plan, machine, options.budget);
  if (status != TSR_OK)
    fail_msg("%s, strategy %s: %s", tsr_operation_name(call->operation),
             strategy ? strategy : "none", tsr_message());
  return plan;
}

static const char *draw_strategy(void) {
  static const char *const choices[] = {
      NULL,
      NULL,
      "tile=16",
      "any/grid=1x1 any/kpanel=16 any/nblock=16,16,16 any/stripe=16 any/block=16 piece=2048",
      "any/kpanel=0 any/nblock=8,8,8 any/stripe=8 any/block=32 piece=512 any/c=last",
      "any/block=64 any/nblock=24,24,24 any/stripe=24"};
  return choices[between(0, 5)];
}

/* Of the plans by family, how many followed. */
static void plan_some_map(const tsr_machine *machine, int followed[3]) {
  static const tsr_residency nothing = {0};
  tsr_call call = draw_call(machine);
  tsr_mapping mapping = owners_draw(machine->devices);
  bool follows = tsr_mapped_follows(&mapping, machine, &call);
  tsr_plan *plan =
      plan_of(machine, &call, &mapping, between(0, 2) ? &nothing : NULL, draw_strategy());
  if (follows) owners_must_follow(plan, &mapping);
  followed[tsr_family_of(call.operation)] += follows && plan->commands.count > 0;
  tsr_plan_free(plan);
}

static void test_random_maps(void **unused) {
  (void)unused;
  int followed[3] = {0};
  for (int i = 0; i < MAPS; ++i) {
    chance_seed((uint64_t)i + 1);
    char string[96];
    snprintf(string, sizeof string, "host:200 gpu*%d@nvswitch:300 pcie:25/pair rate:19",
             (int)between(1, 6));
    tsr_machine *machine = planning_machine(string);
    plan_some_map(machine, followed);
    tsr_machine_destroy(machine);
  }
  for (int family = 0; family < 3; ++family) assert_in_range(followed[family], MAPS / 20, MAPS);
}

/* ---- Which maps are followed ---- */

static const tsr_mapping columns = {0, 3, 100, 10, 1, 4, {3, 2, 1, 0}};
static const tsr_mapping rows = {7, 0, 10, 100, 4, 1, {0, 1, 2, 3}};
static const tsr_mapping both = {0, 0, 10, 10, 2, 2, {0, 1, 2, 3}};

static bool follows(const tsr_mapping *mapping, tsr_operation operation, tsr_side side) {
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:25 rate:19");
  tsr_call call = call_of(machine, operation, side, TSR_LOWER, 90, 90, 90);
  bool is = tsr_mapped_follows(mapping, machine, &call);
  tsr_machine_destroy(machine);
  return is;
}

static void test_triangles_follow_maps_along_lines(void **unused) {
  (void)unused;
  assert_true(follows(&columns, TSR_TRSM, TSR_LEFT));
  assert_false(follows(&columns, TSR_TRSM, TSR_RIGHT));
  assert_true(follows(&rows, TSR_SYMM, TSR_RIGHT));
  assert_false(follows(&rows, TSR_SYMM, TSR_LEFT));
  assert_false(follows(&both, TSR_TRMM, TSR_LEFT));
  assert_true(follows(&both, TSR_SYRK, TSR_LEFT));
  assert_true(follows(&both, TSR_GEMM, TSR_LEFT));
}

static void test_blocks_too_many_or_elsewhere(void **unused) {
  (void)unused;
  tsr_mapping crumbs = both, beyond = both;
  crumbs.block_rows = crumbs.block_cols = 1;
  beyond.device[3] = 4;
  assert_false(follows(&crumbs, TSR_GEMM, TSR_LEFT));
  assert_false(follows(&beyond, TSR_GEMM, TSR_LEFT));
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:25 rate:19");
  tsr_call call = call_of(machine, TSR_GEMM, TSR_LEFT, TSR_LOWER, 90, 90, 90);
  tsr_plan_free(plan_of(machine, &call, &crumbs, NULL, NULL));
  call.operand[TSR_C_].memory = TSR_DEVICE;
  call.operand[TSR_C_].location = 2;
  assert_false(tsr_mapped_follows(&both, machine, &call));
  tsr_plan_free(plan_of(machine, &call, &both, NULL, NULL));
  tsr_machine_destroy(machine);
}

/* Blocks of one device side by side are one part: here all of C. */
static void test_one_device_has_one_part(void **unused) {
  (void)unused;
  tsr_mapping one = {3, 5, 10, 10, 1, 1, {2}};
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:25 rate:19");
  tsr_call call = call_of(machine, TSR_GEMM, TSR_LEFT, TSR_LOWER, 90, 90, 90);
  tsr_plan *plan = plan_of(machine, &call, &one, NULL, "kpanel=0 nblock=0,0,0 taper=0 c=first");
  int kernels = 0;
  for (size_t i = 0; i < plan->commands.count; ++i)
    kernels += plan->commands.items[i].kind == TSR_COMMAND_KERNEL;
  assert_int_equal(kernels, 1);
  owners_must_follow(plan, &one);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

/* All of C on a device that has no room for it: computed anywhere. */
static void test_without_room_it_is_computed_elsewhere(void **unused) {
  (void)unused;
  static const tsr_residency nothing = {0};
  tsr_mapping one = {0, 0, 10, 10, 1, 1, {2}};
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:25 rate:19");
  tsr_call call = call_of(machine, TSR_GEMM, TSR_LEFT, TSR_LOWER, 90, 90, 90);
  tsr_plan_options options = planning_options(machine, 0);
  options.residency = &nothing;
  options.mapping = &one;
  options.budget[2] = 90 * 90;
  tsr_plan *plan = NULL;
  must(tsr_plan_make(machine, &call, &options, &plan));
  must(tsr_plan_verify(plan, machine, options.budget));
  assert_true(plan->commands.count > 0);
  for (size_t i = 0; i < plan->commands.count; ++i)
    assert_int_not_equal(plan->queue[plan->commands.items[i].queue].location, 2);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_maps),
      cmocka_unit_test(test_triangles_follow_maps_along_lines),
      cmocka_unit_test(test_blocks_too_many_or_elsewhere),
      cmocka_unit_test(test_one_device_has_one_part),
      cmocka_unit_test(test_without_room_it_is_computed_elsewhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
