/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The two ways of a level-3 routine, by the vendor's BLAS or by products of blocks: which one a
 * plan takes, and that it is predicted by the rate of that one. */
#include <math.h>

#include "plan/planning.h"

enum { N = 4096 };

/* The predicted time [s] where the routine reaches these parts of a GEMM's rate; 0: not measured.
 * *blocks: whether devices compute it by blocks. */
static double predicted(tsr_operation operation, tsr_kernel kernel, double vendor, double by_blocks,
                        bool reproducible, bool *blocks) {
  tsr_machine *machine = planning_machine("host:400 gpu*2:80@nvswitch:300 pcie:100 rate:2");
  machine->rates[tsr_type_index(TSR_D)].routine[kernel] = (struct tsr_routine){vendor, by_blocks};
  tsr_call call = planning_square(machine, operation, 'd', N, 1);
  tsr_plan_options options = planning_options(machine, 0);
  options.reproducible = reproducible;
  tsr_plan *plan = NULL;
  must(tsr_plan_make(machine, &call, &options, &plan));
  *blocks = plan->by_blocks >> kernel & 1;
  double seconds = plan->seconds;
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
  return seconds;
}

static const struct {
  tsr_operation operation;
  tsr_kernel kernel;
} routines[] = {
    {TSR_TRSM, TSR_KERNEL_TRSM}, {TSR_TRMM, TSR_KERNEL_TRMM}, {TSR_SYMM, TSR_KERNEL_SYMM}};

/* The vendor's trsm is predicted as a product with the inverse, whatever part was measured. */
static void plans_take_the_faster_way(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
    bool by[3];
    double slow = predicted(routines[i].operation, routines[i].kernel, 0.05, 0, false, &by[0]);
    double fast = predicted(routines[i].operation, routines[i].kernel, 0.05, 0.5, false, &by[1]);
    double vendor = predicted(routines[i].operation, routines[i].kernel, 0.5, 0.05, false, &by[2]);
    assert_true(!by[0] && by[1] && !by[2]);
    if (!(fast < slow && vendor <= slow))
      fail_msg("routine %zu: %g s, %g, %g", i, slow, fast, vendor);
  }
}

/* They take the vendor's routine whatever was measured, and are predicted at its rate. */
static void reproducible_plans_take_the_vendors(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
    bool by[3];
    double alone = predicted(routines[i].operation, routines[i].kernel, 0.05, 0, true, &by[0]);
    double beside = predicted(routines[i].operation, routines[i].kernel, 0.05, 0.5, true, &by[1]);
    double free = predicted(routines[i].operation, routines[i].kernel, 0.05, 0.5, false, &by[2]);
    assert_true(!by[0] && !by[1] && by[2]);
    if (!(fabs(beside - alone) <= 1e-9 * alone && beside > free))
      fail_msg("routine %zu: %g s, not %g; %g if any way is free", i, beside, alone, free);
  }
}

/* The vendor's routine goes through the rows of its triangle one after another. A part of a GEMM's
 * rate, which is measured on square matrices, says nothing of that: plans of dtrsm 16384 once had
 * stripes of 512 lines, and took 87 ms on four H200 instead of 40. */
static void few_lines_take_the_time_of_the_rows(void **state) {
  (void)state;
  enum { ORDER = 1024, FEW = 512, HALF = 256 };
  tsr_machine *machine = planning_machine("gpu*1:80 rate:60");
  machine->rates[tsr_type_index(TSR_D)].routine[TSR_KERNEL_TRSM] = (struct tsr_routine){0.17, 0.1};
  double few = tsr_machine_kernel_time(machine, 0, TSR_KERNEL_TRSM, TSR_D, ORDER, FEW, ORDER, false,
                                       false, 0);
  double half = tsr_machine_kernel_time(machine, 0, TSR_KERNEL_TRSM, TSR_D, ORDER, HALF, ORDER,
                                        false, false, 0);
  if (!(few < 1.3 * half)) fail_msg("%d lines: %g s; half of them: %g s", FEW, few, half);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_take_the_faster_way),
      cmocka_unit_test(reproducible_plans_take_the_vendors),
      cmocka_unit_test(few_lines_take_the_time_of_the_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
