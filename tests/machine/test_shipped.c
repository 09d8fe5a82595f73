/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The machines built into the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "machine/shipped.h"

static double rate_of(const char *device) {
  tsr_machine *machine;
  assert_int_equal(tsr_machine_shipped(device, 4, &machine), TSR_OK);
  assert_int_equal(machine->devices, 4);
  assert_int_equal(tsr_machine_check(machine), TSR_OK);
  assert_non_null(strstr(machine->name, device));
  double rate = tsr_machine_best_rate(machine, TSR_D);
  tsr_machine_destroy(machine);
  return rate;
}

static void test_known(void **state) {
  (void)state;
  assert_true(rate_of("NVIDIA H200") > 60e12);
  assert_true(rate_of("NVIDIA H200") > rate_of("NVIDIA A100-SXM4-40GB"));
  assert_true(rate_of("NVIDIA A100-SXM4-40GB") > rate_of("Tesla V100-SXM2-16GB"));
}

/* An unknown device must not look faster than it may be. */
static void test_unknown(void **state) {
  (void)state;
  assert_true(rate_of("Toaster 9000") < rate_of("Tesla V100-SXM2-16GB"));
  assert_true(rate_of("Toaster 9000") > 0);
}

static void test_all_counts(void **state) {
  (void)state;
  for (int devices = 1; devices <= TSR_MACHINE_DEVICES; devices++) {
    tsr_machine *machine;
    assert_int_equal(tsr_machine_shipped("NVIDIA H200", devices, &machine), TSR_OK);
    assert_int_equal(machine->devices, devices);
    tsr_machine_destroy(machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_known),
      cmocka_unit_test(test_unknown),
      cmocka_unit_test(test_all_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
