/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "machine/outline.h"
#include "tessera_model.h"

#define GIGA 1e9

static tsr_outline outline;

static tsr_machine *look_at(const char *source) {
  tsr_machine *machine = NULL;
  if (tsr_machine_load(source, &machine) != TSR_OK) fail_msg("%s", tsr_message());
  assert_int_equal(tsr_outline_make(machine, &outline), TSR_OK);
  return machine;
}

static int count_role(const tsr_machine *machine, tsr_channel_role role) {
  int count = 0;
  for (int i = 0; i < machine->channels; i++) count += outline.channel[i].role == role;
  return count;
}

static void expect(const char *source, int memory, int shared, int own, int port,
                   tsr_interconnect fabric) {
  tsr_machine *m = look_at(source);
  assert_int_equal(count_role(m, TSR_CHANNEL_MEMORY), memory);
  assert_int_equal(count_role(m, TSR_CHANNEL_SHARED), shared);
  assert_int_equal(count_role(m, TSR_CHANNEL_OWN), own);
  assert_int_equal(count_role(m, TSR_CHANNEL_PORT), port);
  assert_int_equal(count_role(m, TSR_CHANNEL_CROSSING), m->nodes * (m->nodes - 1));
  assert_int_equal(count_role(m, TSR_CHANNEL_OTHER), 0);
  assert_int_equal(outline.fabric, fabric);
  tsr_machine_destroy(m);
}

static void channels_have_roles(void **state) {
  (void)state;
  expect("gpu*1", 1, 0, 0, 0, TSR_FABRIC_NONE);
  expect("gpu*2 pcie:25/pair", 1, 2, 0, 0, TSR_FABRIC_NONE);
  expect("gpu*4 pcie:25/all", 1, 2, 0, 0, TSR_FABRIC_NONE);
  expect("gpu*4@nvlink:50", 1, 0, 0, 0, TSR_FABRIC_DIRECT);
  expect("gpu*4@nvswitch:300 pcie:25/pair", 1, 4, 0, 8, TSR_FABRIC_SWITCH);
  expect("host*2:100 gpu*4@nvswitch:300", 2, 0, 8, 8, TSR_FABRIC_SWITCH);
  expect("host*2:100 interleaved gpu*4@pcie pcie:12/2", 2, 4, 0, 0, TSR_FABRIC_HOST_LINK);
  expect("h200x4", 1, 0, 4, 8, TSR_FABRIC_SWITCH);
  expect("v100x3-summit", 1, 0, 0, 0, TSR_FABRIC_DIRECT);
  expect("host:100", 0, 0, 0, 0, TSR_FABRIC_NONE);
}

/* By hand: a channel's capacity / weight, or the sum of what links and shared links carry. */
static void rates_together(void **state) {
  (void)state;
  static const struct {
    const char *source;
    double in, out, both;
  } cases[] = {
      {"host:100 gpu*2 pcie:25", 50, 50, 100},
      {"host:60 gpu*4 pcie:25", 60, 60, 60},
      {"host:90,60 gpu*4 pcie:25", 90, 60, 72}, /* x + 1.5 x = 90: 36 each way */
      {"host:200 gpu*8 pcie:25/pair", 100, 100, 200},
      {"host*2:30 gpu*4 pcie:25", 60, 60, 60},
      {"host*2:90 sockets:10 gpu*4 pcie:25", 100, 100, 180},
      /* Half of what devices take crosses: 2 x 10 each way. */
      {"host*2:90 interleaved sockets:10 gpu*4 pcie:25", 40, 40, 40},
      {"a100x8", 96, 96, 96},
      {"h200x4", 215, 154, 179.45},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsr_machine *m = look_at(cases[i].source);
    assert_float_equal(outline.in / GIGA, cases[i].in, 0.01);
    assert_float_equal(outline.out / GIGA, cases[i].out, 0.01);
    assert_float_equal((outline.both_in + outline.both_out) / GIGA, cases[i].both, 0.01);
    tsr_machine_destroy(m);
  }
}

static void equal_devices_are_a_group(void **state) {
  (void)state;
  tsr_machine *m = look_at("h200x4");
  assert_int_equal(outline.groups, 1);
  assert_int_equal(outline.group[0], 0xf);
  m->device[1].memory *= 0.97; /* within 5 % */
  m->device[2].speed = 0.5;
  assert_int_equal(tsr_outline_make(m, &outline), TSR_OK);
  assert_int_equal(outline.groups, 2);
  assert_int_equal(outline.group[0], 0xb);
  assert_int_equal(outline.group[1], 0x4);
  tsr_machine_destroy(m);
}

static void shared_links_are_listed_once(void **state) {
  (void)state;
  tsr_shared_link links[TSR_SHARED_LINKS];
  tsr_machine *m = look_at("host:200 gpu*8@nvswitch:300 pcie:25/pair");
  assert_int_equal(tsr_outline_shared(m, &outline, links), 4);
  assert_int_equal(links[3].devices, 0xc0);
  assert_float_equal(links[3].in, 25 * GIGA, 1);
  assert_float_equal(links[3].out, 25 * GIGA, 1);
  tsr_machine_destroy(m);
}

static void print_set(tsr_device_mask set, const char *expected) {
  tsr_text text = TSR_TEXT_INIT;
  tsr_mask_print(set, "+", &text);
  assert_string_equal(text.bytes, expected);
  tsr_text_free(&text);
}

static void sets_are_printed_as_ranges(void **state) {
  (void)state;
  print_set(0x1, "0");
  print_set(0x3, "0+1");
  print_set(0xf, "0-3");
  print_set(0x8000000b, "0+1+3+31");
  print_set(0xffffffff, "0-31");
}

static char *print_amount(double value) {
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  tsr_amount_print(value, &text);
  assert_int_equal(tsr_text_take(&text, &bytes), TSR_OK);
  return bytes;
}

static void amounts_have_three_digits(void **state) {
  (void)state;
  static const struct {
    double value;
    const char *expected;
  } cases[] = {{55, "55"},     {48.33, "48.3"}, {1e3, "1000"},
               {4321, "4321"}, {0.47, "0.47"},  {0.00651, "0.0065"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *bytes = print_amount(cases[i].value);
    assert_string_equal(bytes, cases[i].expected);
    free(bytes);
  }
}

static void allocations_may_fail(void **state) {
  (void)state;
  tsr_machine *m = look_at("host:200 gpu*8@nvswitch:300 pcie:25/pair");
  char *bytes = NULL;
  for (long n = 1; bytes == NULL; n++) {
    tsr_text text = TSR_TEXT_INIT;
    tsr_alloc_fail_at(n);
    tsr_status status = tsr_machine_print_summary(m, &text);
    if (status == TSR_OK) status = tsr_text_take(&text, &bytes);
    assert_true(status == TSR_OK || status == TSR_ERR_MEMORY);
    tsr_text_free(&text);
  }
  tsr_alloc_fail_at(0);
  assert_non_null(strstr(bytes, "GPUs 0+1, 2+3, 4+5, 6+7 share a host link: 25 GB/s each"));
  free(bytes);
  tsr_machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(channels_have_roles),        cmocka_unit_test(rates_together),
      cmocka_unit_test(equal_devices_are_a_group),  cmocka_unit_test(shared_links_are_listed_once),
      cmocka_unit_test(sets_are_printed_as_ranges), cmocka_unit_test(amounts_have_three_digits),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
