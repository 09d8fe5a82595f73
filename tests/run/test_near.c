/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads and memory near devices: on recorded topologies, and by binding threads to CPUs of this
 * computer as if each belonged to a node. The calls that bind and place are watched. */
#include "run/rig.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system/numa.h"
#include "run/near.h"

/* ---- Watching ---- */

static int placed[TSR_TOPOLOGY_NODES],
    placed_count; /* numbers of the last placing; count 0: none */

bool __real_tsr_numa_take_memory_from(const int *numbers, int count);
bool __wrap_tsr_numa_take_memory_from(const int *numbers, int count);

bool __wrap_tsr_numa_take_memory_from(const int *numbers, int count) {
  placed_count = count;
  for (int i = 0; i < count; i++) placed[i] = numbers[i];
  return __real_tsr_numa_take_memory_from(numbers, count);
}

static const int *said; /* the numbers of pages, in turn; NULL: as the system says */
static int said_count;

bool __real_tsr_numa_find_pages(const void *const *pages, int count, int *numbers);
bool __wrap_tsr_numa_find_pages(const void *const *pages, int count, int *numbers);

bool __wrap_tsr_numa_find_pages(const void *const *pages, int count, int *numbers) {
  if (said == NULL) return __real_tsr_numa_find_pages(pages, count, numbers);
  for (int i = 0; i < count && said_count > 0; i++) numbers[i] = said[i % said_count];
  return said_count > 0;
}

/* ---- Topologies ---- */

static tsr_topology two_nodes(void) {
  tsr_topology t = {.here = true, .nodes = 2, .node = {{.number = 0}, {.number = 3}}};
  return t;
}

/* The recorded server of two sockets with four GPUs each; skips without hwloc. */
static tsr_topology recorded_server(void) {
  tsr_topology t;
  char path[512];
  tsr_topology_read(&t);
  if (t.nodes == 0) skip();
  snprintf(path, sizeof path, "%s/tests/base/topology/two_sockets_8_gpus.xml",
           getenv("TESSERA_SOURCE_DIR"));
  setenv("HWLOC_XMLFILE", path, 1);
  tsr_topology_read(&t);
  unsetenv("HWLOC_XMLFILE");
  return t;
}

/* ---- Finding ---- */

static void test_gpus_are_near_their_socket(void **state) {
  (void)state;
  static const tsr_engine gpus = {.name = "gpus"};
  static const tsr_device_info info[] = {
      {.address = "0000:df:00.0"}, {.address = "0000:1b:00.0"}, {.address = ""}};
  tsr_topology t = recorded_server();
  tsr_near near;
  tsr_near_find(&t, &gpus, info, 3, &near);
  assert_int_equal(near.nodes, 2);
  assert_int_equal(near.node[0], 1);
  assert_int_equal(near.node[1], 0);
  assert_int_equal(near.node[2], -1);
  assert_false(near.binds); /* it is another computer's */
}

static void test_emulated_devices_are_spread(void **state) {
  (void)state;
  static const int want[][4] = {{0, 1}, {0, 0, 1}, {0, 0, 1, 1}};
  tsr_topology t = two_nodes();
  tsr_near near;
  for (int devices = 2; devices <= 4; devices++) {
    tsr_near_find(&t, &tsr_engine_host, NULL, devices, &near);
    assert_memory_equal(near.node, want[devices - 2], (size_t)devices * sizeof(int));
  }
}

static void test_with_one_node_nothing_is_near(void **state) {
  (void)state;
  tsr_topology t = {.here = true, .nodes = 1};
  tsr_near near;
  tsr_near_find(&t, &tsr_engine_host, NULL, 2, &near);
  assert_int_equal(near.nodes, 0);
  assert_int_equal(near.node[1], -1);
  assert_false(near.binds);
}

static void test_only_cpus_that_the_process_may_use_count(void **state) {
  (void)state;
  cpu_set_t mine, one;
  assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
  CPU_ZERO(&one);
  for (int i = 0; CPU_COUNT(&one) == 0; i++)
    if (CPU_ISSET(i, &mine)) CPU_SET(i, &one);
  tsr_topology t = two_nodes();
  t.node[0].cpus = one;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (!CPU_ISSET(i, &one)) CPU_SET(i, &t.node[1].cpus);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  tsr_near near;
  tsr_near_find(&t, &tsr_engine_host, NULL, 2, &near);
  bool bound = tsr_near_bind(&near, 1, 1);
  assert_int_equal(sched_setaffinity(0, sizeof mine, &mine), 0);
  assert_true(near.binds);
  assert_true(CPU_EQUAL(&near.cpus[0], &one));
  assert_int_equal(CPU_COUNT(&near.cpus[1]), 0);
  assert_false(bound);
}

/* ---- Threads ---- */

/* Two nodes, each of one CPU of this process; skips with fewer than two. */
static tsr_near near_of_two_cpus(int devices) {
  cpu_set_t mine;
  tsr_topology t = two_nodes();
  tsr_near near;
  assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
  if (CPU_COUNT(&mine) < 2) skip();
  for (int i = 0, node = 0; node < 2; i++)
    if (CPU_ISSET(i, &mine)) CPU_SET(i, &t.node[node++].cpus);
  tsr_near_find(&t, &tsr_engine_host, NULL, devices, &near);
  return near;
}

static void open_near(rig *r, int devices, const tsr_near *near) {
  tsr_engine_options options = {.count = devices, .emulated_memory = 64 << 20, .check = true};
  tsr_device_info info[TSR_MAX_DEVICES];
  assert_int_equal(tsr_engine_host.open(&options, &r->state, info, &r->devices), TSR_OK);
  tsr_runner_settings settings = {.near = near, .poison = true};
  assert_int_equal(tsr_runner_create(&tsr_engine_host, r->state, r->devices, &settings, &r->runner),
                   TSR_OK);
}

/* Runs a plan whose staging threads exist afterwards. */
static void run_staged(rig *r) {
  problem p;
  problem_make(&p, 24, 7);
  tsr_plan *plan = handmade_plan(r->devices, 24, true);
  tsr_job *job = submit(r, plan, &p, false);
  assert_int_equal(tsr_job_wait(job), TSR_OK);
  tsr_job_release(job);
  problem_check(&p);
  problem_free(&p);
  handmade_free(plan);
}

/* Threads bind themselves when they begin: a job makes sure that they have begun. */
static cpu_set_t cpus_of(const tsr_worker *worker) {
  cpu_set_t cpus;
  assert_int_equal(pthread_getaffinity_np(worker->thread, sizeof cpus, &cpus), 0);
  return cpus;
}

static void test_submitters_run_near_their_devices(void **state) {
  (void)state;
  rig r;
  tsr_near near = near_of_two_cpus(2);
  open_near(&r, 2, &near);
  run_staged(&r);
  for (int d = 0; d < 2; d++) {
    cpu_set_t cpus = cpus_of(&r.runner->worker[d]);
    assert_true(CPU_EQUAL(&cpus, &near.cpus[d]));
  }
  rig_close(&r);
}

static void test_threads_that_have_no_cpu_each_run_anywhere(void **state) {
  (void)state;
  rig r;
  tsr_near near = near_of_two_cpus(4);
  cpu_set_t mine;
  assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
  open_near(&r, 4, &near);
  run_staged(&r);
  for (int d = 0; d < 4; d++) {
    cpu_set_t cpus = cpus_of(&r.runner->worker[d]);
    assert_true(CPU_EQUAL(&cpus, &mine));
  }
  assert_true(r.runner->staging_threads > 0);
  for (int s = 0; s < r.runner->staging_threads; s++) {
    cpu_set_t cpus = cpus_of(&r.runner->staging[s]);
    assert_true(CPU_EQUAL(&cpus, &mine));
  }
  rig_close(&r);
}

static void test_nothing_is_bound_without_the_setting(void **state) {
  (void)state;
  rig r;
  tsr_near near = near_of_two_cpus(2);
  cpu_set_t mine;
  near.binds = false;
  assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
  open_near(&r, 2, &near);
  run_staged(&r);
  cpu_set_t cpus = cpus_of(&r.runner->worker[1]);
  assert_true(CPU_EQUAL(&cpus, &mine));
  rig_close(&r);
}

/* The caller's own thread stays where it was, and so do threads that it starts later. */
static void test_the_callers_thread_stays_as_it_was(void **state) {
  (void)state;
  rig r;
  tsr_near near = near_of_two_cpus(2);
  cpu_set_t before, after;
  near.places = true;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  open_near(&r, 2, &near);
  run_staged(&r);
  assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
  assert_true(CPU_EQUAL(&before, &after));
  rig_close(&r);
}

/* ---- Staging queues ---- */

static int chosen(tsr_runner *runner, tsr_job *job, int node) {
  tsr_worker worker = {.runner = runner, .device = -1, .node = node};
  uint32_t at;
  bool over;
  return tsr_staging_choose(&worker, job, &at, &over);
}

/* The handmade plan's second staging queue is moved to another node. */
static void test_staging_threads_take_what_is_near_first(void **state) {
  (void)state;
  tsr_plan *plan = handmade_plan(2, 24, true);
  for (int q = 0; q < plan->queues; q++)
    if (plan->queue[q].role == TSR_QUEUE_STAGING && plan->queue[q].index == 1)
      plan->queue[q].location++;
  tsr_runner runner = {.near = {.nodes = 2, .places = true}};
  tsr_job job = {.runner = &runner, .plan = plan, .program = handmade_program(plan), .epoch = 1};
  tsr_staging_start(&job);
  assert_int_equal(job.program->staging_queues, 2);
  assert_int_equal(chosen(&runner, &job, 0), 0);
  assert_int_equal(chosen(&runner, &job, 1), 1);
  assert_int_equal(chosen(&runner, &job, -1), 0); /* of no node: what comes first in the plan */
  /* What is far is taken when nothing near is ready. */
  atomic_fetch_or(&job.staging_at[1], TSR_STAGING_TAKEN);
  assert_int_equal(chosen(&runner, &job, 1), 0);
  runner.near.places = false;
  atomic_fetch_and(&job.staging_at[1], ~TSR_STAGING_TAKEN);
  assert_int_equal(chosen(&runner, &job, 1), 0);
  handmade_free(plan);
}

/* ---- Memory ---- */

static void check_alloc(rig *r, tsr_near *near, int node, int count) {
  void *memory = NULL;
  tsr_place place;
  placed_count = 0;
  assert_int_equal(tsr_near_alloc(near, &tsr_engine_host, r->state, node, 4096, &memory), TSR_OK);
  assert_int_equal(tsr_engine_host.where(r->state, memory, &place), TSR_OK);
  assert_int_equal(place.memory, TSR_PINNED);
  assert_int_equal(placed_count, count);
  memset(memory, 1, 4096);
  tsr_engine_host.free(r->state, TSR_HOST, memory);
}

static void test_pinned_memory_is_placed(void **state) {
  (void)state;
  rig r;
  tsr_near near = near_of_two_cpus(2);
  open_near(&r, 2, NULL);
  check_alloc(&r, &near, 1, 0); /* the machine has other nodes */
  near.places = true;
  check_alloc(&r, &near, 1, 1);
  assert_int_equal(placed[0], 3);
  check_alloc(&r, &near, 2, 2); /* interleaved */
  assert_int_equal(placed[0], 0);
  assert_int_equal(placed[1], 3);
  check_alloc(&r, &near, 3, 0); /* no such node */
  rig_close(&r);
}

static void test_the_ring_is_on_its_node(void **state) {
  (void)state;
  rig r;
  tsr_near near = near_of_two_cpus(2);
  near.places = true;
  near.number[0] = 5;
  open_near(&r, 2, &near);
  placed_count = 0;
  run_staged(&r);
  assert_int_equal(placed_count, 1);
  assert_int_equal(placed[0], 5);
  rig_close(&r);
}

/* ---- Pages ---- */

static void test_a_touched_page_has_a_node(void **state) {
  (void)state;
  long page = sysconf(_SC_PAGESIZE);
  char *memory = aligned_alloc((size_t)page, (size_t)page);
  const void *pages[1] = {memory};
  int number = -1;
  assert_non_null(memory);
  memory[0] = 1;
  bool told = tsr_numa_find_pages(pages, 1, &number); /* containers may be refused an answer */
  assert_true(!told || (number >= 0 && number < TSR_NUMA_NUMBERS));
  free(memory);
}

static void *ask_after_placing(void *asked) {
  bool *has = asked;
  const int first = 0;
  has[0] = tsr_numa_has_policy();
  bool placed_there = __real_tsr_numa_take_memory_from(&first, 1);
  has[1] = tsr_numa_has_policy() == placed_there;
  bool given_back = __real_tsr_numa_take_memory_from(NULL, 0);
  has[2] = tsr_numa_has_policy() == has[0] || !given_back;
  return NULL;
}

/* On a thread of its own, since a policy stays with the thread. */
static void test_a_policy_is_seen(void **state) {
  (void)state;
  bool has[3] = {false};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, ask_after_placing, has), 0);
  pthread_join(thread, NULL);
  if (has[0]) skip(); /* the test itself runs under numactl */
  assert_true(has[1]);
  assert_true(has[2]);
}

static const tsr_near numbered = {.nodes = 2, .number = {0, 3}, .places = true};

static int where(const int *numbers, int count) {
  static char memory[1 << 16];
  said = numbers;
  said_count = count;
  int node = tsr_near_where(&numbered, memory + 1000, sizeof memory - 1000);
  said = NULL;
  return node;
}

static void test_the_node_of_a_matrix(void **state) {
  (void)state;
  enum { NODES = 2 };
  assert_int_equal(where((const int[]){0}, 1), 0);
  assert_int_equal(where((const int[]){3}, 1), 1);
  assert_int_equal(where((const int[]){0, 3}, 2), NODES);               /* interleaved */
  assert_int_equal(where((const int[]){0, 0, 0, 3}, 4), NODES);         /* some on each */
  assert_int_equal(where((const int[]){3, 3, 3, 3, 3, 3, 3, 0}, 8), 1); /* one has strayed */
  assert_int_equal(where((const int[]){-2, 3}, 2), 1); /* half of it is not touched yet */
  assert_int_equal(where((const int[]){-2}, 1), NODES);
  assert_int_equal(where((const int[]){7}, 1), NODES); /* a node without CPUs */
  assert_int_equal(where((const int[]){0}, 0), NODES); /* the system does not tell */
}

static void test_small_memory_has_a_node(void **state) {
  (void)state;
  const int third = 3;
  double one = 1;
  said = &third;
  said_count = 1;
  assert_int_equal(tsr_near_where(&numbered, &one, sizeof one), 1);
  assert_int_equal(tsr_near_where(&numbered, &one, 0), 2);
  said = NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gpus_are_near_their_socket),
      cmocka_unit_test(test_emulated_devices_are_spread),
      cmocka_unit_test(test_with_one_node_nothing_is_near),
      cmocka_unit_test(test_only_cpus_that_the_process_may_use_count),
      cmocka_unit_test(test_submitters_run_near_their_devices),
      cmocka_unit_test(test_threads_that_have_no_cpu_each_run_anywhere),
      cmocka_unit_test(test_nothing_is_bound_without_the_setting),
      cmocka_unit_test(test_the_callers_thread_stays_as_it_was),
      cmocka_unit_test(test_staging_threads_take_what_is_near_first),
      cmocka_unit_test(test_pinned_memory_is_placed),
      cmocka_unit_test(test_the_ring_is_on_its_node),
      cmocka_unit_test(test_a_touched_page_has_a_node),
      cmocka_unit_test(test_a_policy_is_seen),
      cmocka_unit_test(test_the_node_of_a_matrix),
      cmocka_unit_test(test_small_memory_has_a_node),
  };
  return cmocka_run_group_tests_name("run/near", tests, NULL, NULL);
}
