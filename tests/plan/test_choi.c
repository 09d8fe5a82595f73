/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Tile sizes by the formula of Choi et al.: their two machines, and the bounds one by one. */
#include <math.h>

#include "planning.h"

#include "plan/model/choi.h"
#include "tessera_model.h"

/* Their Table 1. */
typedef struct table_column {
  const char *file;
  double math, memory, transfer;
  int64_t two, four; /* N_i */
} table_column;

static const table_column table[] = {
    {"v100x4-choi.json", 14899e9, 900e9, 48.33e9, 1024, 2048},
    {"gtx1070x4-choi.json", 5783e9, 256e9, 8.55e9, 2048, 4096},
};

static int64_t tile_of(const tsr_machine *machine, tsr_type type, int64_t n, int devices) {
  tsr_choi_figures figures;
  assert_true(tsr_choi_read(machine, type, devices, &figures));
  tsr_choi_bounds bounds = tsr_choi_limit(&figures, type, n, devices);
  return tsr_choi_tile(&bounds, n);
}

static void table_1(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    tsr_machine *machine = planning_shipped(table[i].file);
    tsr_choi_figures figures;
    assert_true(tsr_choi_read(machine, TSR_S, 4, &figures));
    assert_true(fabs(figures.math / table[i].math - 1) < 1e-6);
    assert_true(fabs(figures.memory / table[i].memory - 1) < 1e-6);
    assert_true(fabs(figures.transfer / table[i].transfer - 1) < 1e-6);
    for (int64_t n = 8192; n <= 65536; n *= 2) {
      assert_int_equal(tile_of(machine, TSR_S, n, 2), table[i].two);
      assert_int_equal(tile_of(machine, TSR_S, n, 4), table[i].four);
    }
    tsr_machine_destroy(machine);
  }
}

/* The bounds that their section 6.1 names: 616, 1849, 1352 and 4058; 66 and 90. */
static void bounds_of_the_text(void **state) {
  (void)state;
  tsr_choi_figures v100 = {14899e9, 900e9, 48.33e9}, gtx = {5783e9, 256e9, 8.55e9};
  assert_int_equal((int)tsr_choi_limit(&v100, TSR_S, 8192, 2).math, 616);
  assert_int_equal((int)tsr_choi_limit(&v100, TSR_S, 8192, 4).math, 1849);
  assert_int_equal((int)tsr_choi_limit(&gtx, TSR_S, 8192, 2).math, 1352);
  assert_int_equal((int)tsr_choi_limit(&gtx, TSR_S, 8192, 4).math, 4058);
  assert_int_equal((int)tsr_choi_limit(&v100, TSR_S, 16384, 2).intense, 66);
  assert_int_equal((int)tsr_choi_limit(&gtx, TSR_S, 16384, 2).intense, 90);
}

/* An element of twice the size at half the rate: the same bounds. */
static void other_types(void **state) {
  (void)state;
  tsr_choi_figures single = {14e12, 900e9, 50e9}, wide = {7e12, 900e9, 50e9};
  double bound = tsr_choi_limit(&single, TSR_S, 8192, 4).math;
  assert_true(fabs(tsr_choi_limit(&wide, TSR_D, 8192, 4).math - bound) < 1e-6);
  /* Complex: twice the bytes, four times the flops. */
  assert_true(fabs(tsr_choi_limit(&single, TSR_C, 8192, 4).math - bound / 2) < 1e-6);
}

/* Where even the whole product is bound by memory, equation 13 alone counts. */
static void bound_by_memory(void **state) {
  (void)state;
  tsr_choi_figures slow_memory = {100e12, 100e9, 40e9};
  tsr_choi_bounds bounds = tsr_choi_limit(&slow_memory, TSR_S, 1024, 2);
  assert_true(isinf(bounds.intense));
  assert_true(fabs(bounds.memory - 1024 * (100.0 / 40 - 2)) < 1e-6);
  assert_int_equal(tsr_choi_tile(&bounds, 1024), 1024);
  /* Links faster than half the memory: every tile will do. */
  slow_memory.transfer = 60e9;
  bounds = tsr_choi_limit(&slow_memory, TSR_S, 1024, 2);
  assert_true(bounds.memory < 0);
  assert_int_equal(tsr_choi_tile(&bounds, 1024), 1);
}

static void one_device(void **state) {
  (void)state;
  tsr_machine *machine = planning_shipped("v100x4-choi.json");
  assert_int_equal(tile_of(machine, TSR_S, 16384, 1), 128); /* equation 4: above 66 */
  tsr_machine_destroy(machine);
}

static void what_cannot_be(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*2@nvlink:25 pcie:16 rate:7");
  tsr_choi_figures figures;
  assert_true(tsr_choi_read(machine, TSR_D, 2, &figures));
  machine->device[0].memory_rate = 0;
  assert_false(tsr_choi_read(machine, TSR_D, 2, &figures));
  tsr_machine_destroy(machine);
  /* Without links between devices, by way of the host. */
  machine = planning_machine("host:200 gpu*2 pcie:16 rate:7");
  assert_true(tsr_choi_read(machine, TSR_D, 2, &figures));
  assert_true(fabs(figures.transfer / 16e9 - 1) < 1e-9);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_1),     cmocka_unit_test(bounds_of_the_text),
      cmocka_unit_test(other_types), cmocka_unit_test(bound_by_memory),
      cmocka_unit_test(one_device),  cmocka_unit_test(what_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
