/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The topology, read from strings and files of hwloc (tests/base/topology, written by hand). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/topology.h"

/* Skips the test where hwloc is not installed, or not known to the build. */
static void need_hwloc(void) {
  tsr_topology t;
  tsr_topology_read(&t);
  if (strncmp(t.source, "hwloc 2.", 8) != 0) skip();
}

static tsr_topology read_synthetic(const char *description) {
  tsr_topology t;
  need_hwloc();
  setenv("HWLOC_SYNTHETIC", description, 1);
  tsr_topology_read(&t);
  unsetenv("HWLOC_SYNTHETIC");
  return t;
}

static tsr_topology read_file(const char *name) {
  tsr_topology t;
  char path[512];
  need_hwloc();
  snprintf(path, sizeof path, "%s/tests/base/topology/%s", getenv("TESSERA_SOURCE_DIR"), name);
  setenv("HWLOC_XMLFILE", path, 1);
  tsr_topology_read(&t);
  unsetenv("HWLOC_XMLFILE");
  return t;
}

static int first_cpu(const tsr_memory_node *node) {
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &node->cpus)) return i;
  return -1;
}

static void test_nodes_have_their_cpus_and_memory(void **state) {
  (void)state;
  tsr_topology t = read_synthetic("pack:2 [numa(memory=1000000000)] core:4 pu:2");
  assert_int_equal(t.nodes, 2);
  assert_int_equal(t.node[1].number, 1);
  assert_int_equal(CPU_COUNT(&t.node[0].cpus), 8);
  assert_int_equal(CPU_COUNT(&t.node[1].cpus), 8);
  assert_int_equal(first_cpu(&t.node[1]), 8);
  assert_true(t.node[1].memory > 0.99e9 && t.node[1].memory <= 1e9);
  assert_int_equal(t.gpus, 0);
}

static void test_another_computer_is_not_here(void **state) {
  (void)state;
  assert_false(read_synthetic("numa:2 pu:1").here);
  setenv("HWLOC_THISSYSTEM", "1", 1);
  bool here = read_synthetic("numa:2 pu:1").here;
  unsetenv("HWLOC_THISSYSTEM");
  assert_true(here);
}

static void test_this_computer_has_a_node(void **state) {
  (void)state;
  tsr_topology t;
  need_hwloc();
  tsr_topology_read(&t);
  assert_true(t.here);
  assert_true(t.nodes >= 1);
  assert_true(tsr_topology_get()->nodes == t.nodes);
}

static void test_gpus_are_near_their_socket(void **state) {
  (void)state;
  tsr_topology t = read_file("two_sockets_8_gpus.xml");
  assert_int_equal(t.nodes, 2);
  assert_int_equal(t.gpus, 8);
  assert_int_equal(tsr_topology_near(&t, "0000:1b:00.0"), 0);
  assert_int_equal(tsr_topology_near(&t, "0000:61:00.0"), 0);
  assert_int_equal(tsr_topology_near(&t, "0000:9D:00.0"), 1);     /* as CUDA writes it */
  assert_int_equal(tsr_topology_near(&t, "00000000:df:00.0"), 1); /* as NVML does */
}

static void test_what_is_no_gpu_is_near_nothing(void **state) {
  (void)state;
  tsr_topology t = read_file("two_sockets_8_gpus.xml");
  assert_int_equal(tsr_topology_near(&t, "0000:1c:00.0"), -1); /* a network card */
  assert_int_equal(tsr_topology_near(&t, "0000:ee:00.0"), -1);
  assert_int_equal(tsr_topology_near(&t, "0001:1b:00.0"), -1);
  assert_int_equal(tsr_topology_near(&t, ""), -1);
  assert_int_equal(tsr_topology_near(&t, "emulated"), -1);
}

/* Nodes are counted with gaps; nodes of other memory beside them, and a GPU that hangs on the whole
 * computer. */
static void test_nodes_of_other_memory_do_not_count(void **state) {
  (void)state;
  tsr_topology t = read_file("nodes_of_gpus.xml");
  assert_int_equal(t.nodes, 2);
  assert_int_equal(t.node[0].number, 0);
  assert_int_equal(t.node[1].number, 8);
  assert_int_equal(tsr_topology_near(&t, "0004:04:00.0"), 0);
  assert_int_equal(tsr_topology_near(&t, "0035:03:00.0"), 1);
  assert_int_equal(tsr_topology_near(&t, "0040:01:00.0"), -1);
}

static void test_more_nodes_than_a_machine_has_are_unknown(void **state) {
  (void)state;
  assert_int_equal(read_synthetic("numa:8 pu:1").nodes, 8);
  assert_int_equal(read_synthetic("numa:9 pu:1").nodes, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nodes_have_their_cpus_and_memory),
      cmocka_unit_test(test_another_computer_is_not_here),
      cmocka_unit_test(test_this_computer_has_a_node),
      cmocka_unit_test(test_gpus_are_near_their_socket),
      cmocka_unit_test(test_what_is_no_gpu_is_near_nothing),
      cmocka_unit_test(test_nodes_of_other_memory_do_not_count),
      cmocka_unit_test(test_more_nodes_than_a_machine_has_are_unknown),
  };
  return cmocka_run_group_tests_name("base/topology", tests, NULL, NULL);
}
