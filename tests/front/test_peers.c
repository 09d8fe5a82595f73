/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Devices that do not reach each other, are unlike, or are slices or shared: plans, copies, the
 * kept measurement and the verdict. An emulated device refuses every copy to a device to which it
 * has no link. */
/* Slow: 12 s of a core. */
#include <unistd.h>

#include "front.h"

#include "front/context.h"

enum { N = 40, BYTES = N * N * sizeof(double) };

static char folder[] = "/tmp/tessera-peers-XXXXXX";

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  unsetenv("TESSERA_PEER");
  return 0;
}

static tsr_context *context_of(const char *engine, const char *machine) {
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.engine = engine;
  options.devices = NULL;
  options.machine = machine;
  options.check = strcmp(engine, "host") == 0;
  assert_ok(tsr_context_create(&options, &context));
  return context;
}

/* Operands on two devices and in host memory, and tiles of one device that others need. */
static void multiply(tsr_context *context) {
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *expected = front_matrix(N * N, 3);
  void *first, *second;
  assert_ok(tsr_malloc(context, 0, BYTES, &first));
  assert_ok(tsr_malloc(context, 1, BYTES, &second));
  assert_ok(tsr_memcpy(context, first, a, BYTES));
  assert_ok(tsr_memcpy(context, second, first, BYTES)); /* from device to device */
  assert_ok(tsr_set_tile(context, 16));
  front_reference(N, 2, a, b, -1, expected);
  assert_ok(front_dgemm(context, N, 2, second, b, -1, c));
  front_assert_equal(c, expected, N * N);
  front_reference(N, 1, c, a, 0, expected);
  assert_ok(tsr_memcpy(context, second, c, BYTES));
  assert_ok(front_dgemm(context, N, 1, second, first, 0, c));
  front_assert_equal(c, expected, N * N);
  tsr_free(context, first), tsr_free(context, second);
  free(a), free(b), free(c), free(expected);
}

static bool has_link(tsr_context *context, int from, int to) {
  return context->plans->machine->link[from][to].bandwidth > 0;
}

static void test_a_setting_ignores_peer_access(void **state) {
  (void)state;
  front_needs_emulated_devices();
  setenv("TESSERA_PEER", "0", 1);
  tsr_context *context = context_of("host", "host:200 gpu*3@nvswitch:300 pcie:25 rate:19");
  assert_false(has_link(context, 0, 1) || has_link(context, 2, 0));
  assert_true(has_link(context, 0, 3) && has_link(context, 3, 0));
  multiply(context);
  tsr_context_destroy(context);
  context = context_of("host", NULL); /* the built-in machine */
  assert_false(has_link(context, 0, 1));
  multiply(context);
  tsr_context_destroy(context);
  setenv("TESSERA_PEER", "1", 1);
  context = context_of("host", NULL);
  assert_true(has_link(context, 0, 1));
  multiply(context);
  tsr_context_destroy(context);
}

static void test_some_pairs_have_no_link(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_of("host", "gpu*4@pcie pcie:25 unlinked:0-1,0-2");
  assert_false(has_link(context, 0, 1) || has_link(context, 2, 0));
  assert_true(has_link(context, 1, 2));
  assert_false(context->info[1].peer[0]);
  assert_true(context->info[1].peer[2]);
  multiply(context);
  tsr_context_destroy(context);
}

static void test_a_setting_that_is_none_is_refused(void **state) {
  (void)state;
  tsr_options options = front_options();
  tsr_context *context;
  setenv("TESSERA_PEER", "maybe", 1);
  assert_refused(tsr_context_create(&options, &context), TSR_ERR_ARGUMENT, "TESSERA_PEER");
}

/* ---- The kept measurement ---- */

static bool measures(tsr_context *context, bool linked) {
  tsr_machine *machine;
  atomic_store(&context->just_measured, false);
  assert_ok(tsr_context_measured_machine(context, &machine));
  assert_true((machine->link[0][1].bandwidth > 0) == linked);
  tsr_machine_destroy(machine);
  return atomic_load(&context->just_measured);
}

/* A measurement is made again when devices reach each other no more, or again; while only the
 * setting changes, it stays. */
static void test_other_links_are_measured_again(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_of("host", "gpu*2@nvswitch:20");
  assert_true(measures(context, true));
  assert_false(measures(context, true));
  context->info[0].peer[1] = context->info[1].peer[0] = false;
  assert_true(measures(context, false));
  assert_false(measures(context, false));
  context->quiet = true; /* which cannot measure: it takes the measurement as it is */
  context->info[0].peer[1] = context->info[1].peer[0] = true;
  assert_false(measures(context, false));
  context->quiet = false;
  assert_true(measures(context, true));
  tsr_context_destroy(context);
}

/* ---- Which measurement ---- */

static bool measures_anew(tsr_context *context, int devices) {
  tsr_machine *machine;
  atomic_store(&context->just_measured, false);
  assert_ok(tsr_context_measured_machine(context, &machine));
  assert_int_equal(machine->devices, devices);
  tsr_machine_destroy(machine);
  return atomic_load(&context->just_measured);
}

/* A part of the measured devices needs no measurement of its own; more devices do, and so does what
 * has the identity of a device and is none: a slice of it, of another name or memory. */
static void test_a_slice_takes_no_measurement_of_its_card(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *three = context_of("host", "gpu*3:2@nvswitch:20"), *two, *four;
  assert_true(measures_anew(three, 3));
  two = context_of("host", "gpu*2:2@nvswitch:20");
  assert_false(measures_anew(two, 2));
  snprintf(two->info[1].name, sizeof two->info[1].name, "emulated device MIG 1g.10gb");
  assert_true(measures_anew(two, 2));
  assert_false(measures_anew(two, 2));
  two->info[1].memory_total /= 2;
  assert_true(measures_anew(two, 2));
  two->info[0].identity[0] = 'x';
  assert_true(measures_anew(two, 2));
  four = context_of("host", "gpu*4:2@nvswitch:20");
  assert_true(measures_anew(four, 4));
  tsr_context_destroy(two), tsr_context_destroy(three), tsr_context_destroy(four);
}

/* What other programs hold of a device is none of the machine's memory. */
static void test_memory_is_what_is_free(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_context *context = context_of("host", "gpu*2:2@nvswitch:20");
  tsr_engine real = *context->engine;
  const tsr_engine *emulated = context->engine;
  tsr_machine *machine = context->plans->machine;
  real.traits.emulated = false;
  context->engine = &real;
  context->info[0].memory_free = 500 << 20;
  context->info[1].memory_free = (size_t)1.95e9;
  tsr_context_note_memory(context, machine);
  context->engine = emulated;
  assert_true(machine->device[0].memory == 500 << 20);
  assert_true(machine->device[1].memory == 2e9);
  tsr_context_destroy(context);
}

/* ---- The verdict ---- */

static void expect_said(const char *machine, const char *said, bool is) {
  tsr_context *context = context_of("cpu", machine);
  tsr_home host = {TSR_PINNED, 0};
  double one = 1, zero = 0;
  tsr_plan *plan = NULL;
  char *text = NULL;
  const tsr_home homes[] = {host, host, host};
  assert_ok(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, 8192, 8192,
                          8192, &one, 8192, 8192, &zero, 8192, homes, &plan));
  assert_ok(tsr_plan_print(plan, TSR_VERDICT, &text));
  for (char *c = text; *c; c++)
    if (*c == '\n') *c = ' ';
  if ((strstr(text, said) != NULL) != is)
    fail_msg("\"%s\" is %sin: %s", said, is ? "not " : "", text);
  free(text);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
}

static void test_the_verdict_names_devices_that_are_left_out(void **state) {
  (void)state;
  expect_said("gpu*3 pcie:25,1,25 rate:20",
              "without GPU 1 (4 % of the rate from host memory of GPU 0)", true);
  expect_said("gpu*3 pcie:25 rate:20", "without GPU", false);
}

static void test_the_verdict_says_what_peer_access_brings(void **state) {
  (void)state;
  static const char with[] = "peer access between GPUs";
  expect_said("host:30 gpu*4 pcie:25 rate:60", "peer access between GPUs over their host links",
              true);
  expect_said("host:30 gpu*4@nvswitch:300 pcie:25 rate:60", with, false);
  expect_said("host:30 gpu*4 pcie:25 rate:0.1", with,
              false); /* where kernels bind, it gains nothing */
  setenv("TESSERA_PEER", "0", 1);
  expect_said("host:30 gpu*4@nvswitch:300 pcie:25 rate:60",
              "peer access between GPUs (TESSERA_PEER=1)", true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_setting_ignores_peer_access, clear),
      cmocka_unit_test_setup(test_some_pairs_have_no_link, clear),
      cmocka_unit_test_setup(test_a_setting_that_is_none_is_refused, clear),
      cmocka_unit_test_setup(test_other_links_are_measured_again, clear),
      cmocka_unit_test_setup(test_a_slice_takes_no_measurement_of_its_card, clear),
      cmocka_unit_test_setup(test_memory_is_what_is_free, clear),
      cmocka_unit_test_setup(test_the_verdict_names_devices_that_are_left_out, clear),
      cmocka_unit_test_setup(test_the_verdict_says_what_peer_access_brings, clear),
  };
  if (mkdtemp(folder) == NULL) return 1;
  setenv("XDG_CACHE_HOME", folder, 1);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[80];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) != 0 || failed;
}
