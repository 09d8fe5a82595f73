/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Inverses of the blocks on A's diagonal, which the stripes of a trsm share: how often a plan makes
 * and uses them, that their memory counts, what they gain, and where they cannot be. */
#include "plan/planning.h"

enum { N = 4096 };

/* Kernels of a plan that invert blocks, solve by inverses, and solve by themselves, on all devices;
 * and the memory of its inverses. */
typedef struct counts {
  int inverts, solves, trsms;
  size_t inverses; /* bytes */
  double seconds;
} counts;

static tsr_plan *make(const char *words, int devices, bool reproducible, tsr_side side,
                      tsr_uplo uplo, tsr_op op) {
  char text[64];
  snprintf(text, sizeof text, "host:400 gpu*%d:80@nvswitch:300 pcie:50 rate:50", devices);
  tsr_machine *machine = planning_machine(text);
  tsr_call call = planning_square(machine, TSR_TRSM, 'd', N, 1);
  call.side = side;
  call.uplo = uplo;
  call.transa = op;
  tsr_plan_options options = planning_options(machine, 0);
  options.strategy = words;
  options.reproducible = reproducible;
  tsr_plan *plan = NULL;
  tsr_status status = tsr_plan_make(machine, &call, &options, &plan);
  if (status == TSR_OK) must(tsr_plan_verify(plan, machine, options.budget));
  tsr_machine_destroy(machine);
  return status == TSR_OK ? plan : NULL;
}

static counts count(const tsr_plan *plan) {
  counts sum = {.seconds = plan->seconds};
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL) continue;
    sum.inverts += c->kernel == TSR_KERNEL_INVERT;
    sum.solves += c->kernel == TSR_KERNEL_SOLVE;
    sum.trsms += c->kernel == TSR_KERNEL_TRSM;
  }
  for (size_t i = 0; i < plan->buffers.count; i++)
    if (plan->buffers.items[i].matrix == TSR_V) sum.inverses += plan->buffers.items[i].bytes;
  return sum;
}

static counts planned(const char *words, int devices) {
  tsr_plan *plan = make(words, devices, false, TSR_LEFT, TSR_LOWER, TSR_NO_TRANS);
  if (plan == NULL) fail_msg("%s: %s", words, tsr_message());
  counts sum = count(plan);
  tsr_plan_free(plan);
  return sum;
}

/* Each device inverts each block once, and solves with it in each of its stripes. */
static void blocks_are_inverted_once(void **state) {
  (void)state;
  for (int devices = 1; devices <= 4; devices *= 2) {
    counts sum =
        planned("kind=stripes kpanel=0 taper=0 block=512 stripe=512 inverses=shared", devices);
    assert_int_equal(sum.inverts, N / 512 * devices);
    assert_int_equal(sum.solves, N / 512 * (N / 512));
    assert_int_equal(sum.trsms, 0);
    assert_int_equal(sum.inverses, (size_t)(N * 512 * 8) * (size_t)devices);
  }
}

static void kernels_can_invert_for_themselves(void **state) {
  (void)state;
  counts sum = planned("kind=stripes kpanel=0 taper=0 block=512 stripe=1024 inverses=each", 1);
  assert_true(sum.inverts == 0 && sum.solves == 0 && sum.inverses == 0);
  assert_int_equal(sum.trsms, N / 512 * (N / 1024));
}

/* The search finds that inverses pay in a trsm from host memory. */
static void the_search_shares_them(void **state) {
  (void)state;
  counts free = planned(NULL, 1), each = planned("inverses=each", 1);
  assert_true(free.inverts > 0 && free.solves > free.inverts && each.inverts == 0);
  if (!(free.seconds < each.seconds))
    fail_msg("%g s with shared inverses, %g without", free.seconds, each.seconds);
}

/* The last block may be of any order. */
static void every_form_is_right(void **state) {
  (void)state;
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS};
  for (int f = 0; f < 8; f++)
    for (int once = 0; once < 2; once++) {
      const char *words = once ? "block=1000 stripe=700 kpanel=1000 kpanels=first inverses=shared"
                               : "block=700 stripe=1000 kpanel=700 kpanels=all inverses=shared";
      tsr_plan *plan = make(words, 2, false, f & 1 ? TSR_RIGHT : TSR_LEFT,
                            f & 2 ? TSR_UPPER : TSR_LOWER, ops[f >> 2]);
      if (plan == NULL) fail_msg("%s", tsr_message());
      assert_true(count(plan).inverts > 0);
      tsr_plan_free(plan);
    }
}

/* Tiles, whose sums have one order on any number of devices, have the same kernels everywhere. */
static void reproducible_plans_do_not_share_them(void **state) {
  (void)state;
  tsr_plan *plan = make(NULL, 2, true, TSR_LEFT, TSR_LOWER, TSR_NO_TRANS);
  assert_non_null(plan);
  assert_true(count(plan).inverts == 0 && count(plan).trsms > 0);
  tsr_plan_free(plan);
}

static void large_blocks_are_refused(void **state) {
  (void)state;
  assert_null(make("inverses=shared block=2048", 1, false, TSR_LEFT, TSR_LOWER, TSR_NO_TRANS));
  assert_non_null(strstr(tsr_message(), "at most 1024"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_inverted_once),
      cmocka_unit_test(kernels_can_invert_for_themselves),
      cmocka_unit_test(the_search_shares_them),
      cmocka_unit_test(every_form_is_right),
      cmocka_unit_test(reproducible_plans_do_not_share_them),
      cmocka_unit_test(large_blocks_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
