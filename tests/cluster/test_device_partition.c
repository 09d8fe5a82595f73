/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Devices of a node partitioned to its processes, by what each process sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/layout/device_partition.h"

enum { MOST = 16 };

/* Of each process a text such as "abd": the devices that it sees, in the order of its numbers. */
static void check(int processes, const char *const *seen, const char *const *partitioned,
                  const int *sharing) {
  tsr_devices_facts facts[MOST];
  for (int p = 0; p < processes; p++) {
    facts[p] = (tsr_devices_facts){.devices = (int)strlen(seen[p])};
    for (int i = 0; i < facts[p].devices; i++)
      snprintf(facts[p].identity[i], sizeof facts[p].identity[i], "GPU-%c", seen[p][i]);
  }
  for (int p = 0; p < processes; p++) {
    tsr_device_partition partition;
    char got[MOST + 1] = "";
    tsr_device_partition_find(facts, processes, p, &partition);
    for (int i = 0; i < partition.count; i++) got[i] = seen[p][partition.index[i]];
    assert_string_equal(got, partitioned[p]);
    assert_int_equal(partition.sharing, sharing[p]);
  }
}
#define PARTITION(count, ...)                       \
  do {                                              \
    const struct {                                  \
      const char *seen[MOST], *partitioned[MOST];   \
      int sharing[MOST];                            \
    } d = {__VA_ARGS__};                            \
    check(count, d.seen, d.partitioned, d.sharing); \
  } while (0)

static void test_the_same_devices(void **state) {
  (void)state;
  PARTITION(1, {"abc"}, {"abc"}, {1});
  PARTITION(2, {"abcd", "abcd"}, {"ab", "cd"}, {1, 1});
  PARTITION(2, {"abc", "abc"}, {"a", "bc"}, {1, 1});
  PARTITION(3, {"ab", "ab", "ab"}, {"a", "a", "b"}, {2, 2, 1});
  PARTITION(4, {"a", "a", "a", "a"}, {"a", "a", "a", "a"}, {4, 4, 4, 4});
}

/* One each, as Slurm gives them with --gpus-per-task. */
static void test_devices_of_their_own(void **state) {
  (void)state;
  PARTITION(4, {"a", "b", "c", "d"}, {"a", "b", "c", "d"}, {1, 1, 1, 1});
  PARTITION(4, {"ab", "cd", "ab", "cd"}, {"a", "c", "b", "d"}, {1, 1, 1, 1});
  PARTITION(3, {"a", "bcd", "bcd"}, {"a", "b", "cd"}, {1, 1, 1});
}

/* A number says nothing: the second process counts the same devices the other way round. */
static void test_other_numbers(void **state) {
  (void)state;
  PARTITION(2, {"abcd", "dcba"}, {"ab", "dc"}, {1, 1});
}

static void test_some_devices_in_common(void **state) {
  (void)state;
  PARTITION(2, {"abc", "cde"}, {"abc", "cde"}, {2, 2});
  PARTITION(2, {"ab", "abcd"}, {"a", "bcd"}, {1, 1});
}

static void test_no_devices(void **state) {
  (void)state;
  PARTITION(3, {"", "ab", ""}, {"", "ab", ""}, {1, 1, 1});
}

static void test_first_of_those_that_see_the_same(void **state) {
  (void)state;
  tsr_devices_facts facts[4] = {{.devices = 2}, {.devices = 1}, {.devices = 2}, {.devices = 1}};
  static const char *const seen[] = {"ab", "a", "ba", "b"};
  for (int p = 0; p < 4; p++)
    for (int i = 0; i < facts[p].devices; i++) facts[p].identity[i][0] = seen[p][i];
  assert_true(tsr_device_partition_is_first(facts, 0));
  assert_true(tsr_device_partition_is_first(facts, 1));
  assert_false(tsr_device_partition_is_first(facts, 2));
  assert_true(tsr_device_partition_is_first(facts, 3));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_same_devices),
      cmocka_unit_test(test_devices_of_their_own),
      cmocka_unit_test(test_other_numbers),
      cmocka_unit_test(test_some_devices_in_common),
      cmocka_unit_test(test_no_devices),
      cmocka_unit_test(test_first_of_those_that_see_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
