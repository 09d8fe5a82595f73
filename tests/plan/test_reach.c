/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The first look at a call: near the floor, which takes longer to reckon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "plan/plan.h"

static const char *const machines[] = {
    "host:215,154 gpu*4:141@nvswitch:396 pcie:55 rate:62.8,51 staging:16@11/94",
    "host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19", "host:60 gpu*1 pcie:12 rate:0.3,8"};

static tsr_call call_of(tsr_operation operation, int64_t m, int64_t n, int64_t k, double beta,
                        const tsr_machine *machine) {
  const double one = 1;
  const tsr_level3 what = {.operation = operation,
                           .type = TSR_D,
                           .layout = TSR_COL_MAJOR,
                           .side = TSR_LEFT,
                           .uplo = TSR_LOWER,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .diag = TSR_NON_UNIT,
                           .m = m,
                           .n = n,
                           .k = k,
                           .lda = 65536,
                           .ldb = 65536,
                           .ldc = 65536};
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  assert_int_equal(
      tsr_call_level3(&what, &one, NULL, NULL, &beta, NULL, false, &call, &binding, &exchanged),
      TSR_OK);
  for (int x = 0; x < TSR_OPERANDS; x++) call.operand[x].location = machine->devices;
  return call;
}

static void test_near_the_floor(void **state) {
  (void)state;
  static const int64_t extents[][3] = {{256, 256, 256},
                                       {1024, 1024, 1024},
                                       {16384, 16384, 16384},
                                       {32768, 64, 4096},
                                       {64, 64, 65536}};
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    tsr_machine *machine;
    tsr_reach reach;
    assert_int_equal(tsr_machine_parse(machines[i], &machine), TSR_OK);
    tsr_reach_of(machine, &reach);
    for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
      for (int o = 0; o < TSR_OPERATION_COUNT; o++) {
        if (o == TSR_HEMM || o == TSR_HERK || o == TSR_HER2K) continue; /* not of doubles */
        tsr_call call = call_of((tsr_operation)o, extents[e][0], extents[e][1], extents[e][2],
                                (double)(e % 2), machine);
        if (e == 2) call.arithmetic = tsr_residues_of(9); /* not the usual number */
        double ratio = tsr_reach_seconds(&reach, &call, true) / tsr_floor(machine, &call);
        if (!(ratio > 0.5 && ratio < 1.5))
          fail_msg("%s, %s, extents %zu: %g of the floor", machines[i],
                   tsr_operation_name((tsr_operation)o), e, ratio);
      }
    tsr_machine_destroy(machine);
  }
}

/* On several sockets the places count: A, B and C on each node, or interleaved over both. */
static void test_near_the_floor_of_sockets(void **state) {
  (void)state;
  static const char *const two[] = {"host*2:150 sockets:20 gpu*4:80@nvswitch:300 pcie:24 rate:50",
                                    "host*2:150 sockets:5 gpu*8:80@nvswitch:300 pcie:24 rate:1",
                                    "host*2:60 sockets:40 gpu*4:80@none pcie:24 rate:50",
                                    "host*2:100 sockets:10 gpu*1 pcie:25 rate:50"};
  for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
    tsr_machine *machine;
    tsr_reach reach;
    double least = INFINITY, unknown;
    assert_int_equal(tsr_machine_parse(two[i], &machine), TSR_OK);
    tsr_reach_of(machine, &reach);
    tsr_call call = call_of(TSR_GEMM, 8192, 8192, 8192, 1, machine);
    for (int places = 0; places < 27; places++) {
      const int nodes[] = {places % 3, places / 3 % 3, places / 9};
      for (int x = 0; x < TSR_OPERANDS; x++) call.operand[x].location = machine->devices + nodes[x];
      double seconds = tsr_reach_seconds(&reach, &call, true), floor = tsr_floor(machine, &call);
      if (!(seconds > 0.5 * floor && seconds < 1.5 * floor))
        fail_msg("%s, places %d: %g of the floor", two[i], places, seconds / floor);
      least = fmin(least, seconds);
    }
    for (int x = 0; x < TSR_OPERANDS; x++) call.operand[x].location = 0;
    unknown = tsr_reach_seconds(&reach, &call, true); /* not more than at the best of places */
    assert_true(unknown <= least * (1 + 1e-9) && unknown > 0.5 * least);
    tsr_machine_destroy(machine);
  }
}

/* Products in residues take as long as their moduli are many; where the faster way may be taken, no
 * longer than native ones. */
static void test_emulated(void **state) {
  (void)state;
  tsr_machine *machine;
  tsr_reach reach;
  assert_int_equal(tsr_machine_parse("host:1e6 gpu*1 pcie:1e5 rate:1", &machine), TSR_OK);
  tsr_reach_of(machine, &reach);
  tsr_call call = call_of(TSR_GEMM, 8192, 8192, 8192, 0, machine);
  double native = tsr_reach_seconds(&reach, &call, false);
  call.arithmetic = tsr_residues_of(8);
  double eight = tsr_reach_seconds(&reach, &call, false);
  call.arithmetic = tsr_residues_of(16);
  double sixteen = tsr_reach_seconds(&reach, &call, false);
  assert_true(fabs(sixteen / eight - 2) < 1e-9 && eight != native);
  call.faster = true;
  assert_true(tsr_reach_seconds(&reach, &call, false) == fmin(native, sixteen));
  tsr_machine_destroy(machine);
}

/* What devices cannot multiply takes them for ever. */
static void test_unknown_type(void **state) {
  (void)state;
  tsr_machine *machine;
  tsr_reach reach;
  assert_int_equal(tsr_machine_parse(machines[0], &machine), TSR_OK);
  machine->rates[tsr_type_index(TSR_D)] = (tsr_rates){.areas = 0};
  tsr_reach_of(machine, &reach);
  tsr_call call = call_of(TSR_GEMM, 8, 8, 8, 0, machine);
  assert_true(isinf(tsr_reach_seconds(&reach, &call, true)));
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_near_the_floor),
      cmocka_unit_test(test_near_the_floor_of_sockets),
      cmocka_unit_test(test_emulated),
      cmocka_unit_test(test_unknown_type),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
