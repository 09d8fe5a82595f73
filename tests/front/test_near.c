/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A context on a computer that is said to have two host memory nodes of one CPU each
 * (HWLOC_SYNTHETIC): its submitters are bound, one to each. The threads of an emulated device's
 * queues are started by its submitter, and keep to its CPUs. */
#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/system/topology.h"
#include "front.h"

/* Numbers of the nodes of pages, in turn; count 0: as the system says. */
static int said[2], said_count;

bool __real_tsr_numa_find_pages(const void *const *pages, int count, int *numbers);
bool __wrap_tsr_numa_find_pages(const void *const *pages, int count, int *numbers);

bool __wrap_tsr_numa_find_pages(const void *const *pages, int count, int *numbers) {
  if (said_count == 0) return __real_tsr_numa_find_pages(pages, count, numbers);
  for (int i = 0; i < count; i++) numbers[i] = said[i % said_count];
  return true;
}

/* Placing is noted, not done: there may be one node alone. */
static int interleaved;      /* over so many nodes */
static atomic_int placed[2]; /* how often memory was asked for on each node alone */
static bool has_policy;

bool __wrap_tsr_numa_take_memory_from(const int *numbers, int count);
bool __wrap_tsr_numa_take_memory_from(const int *numbers, int count) {
  bool all = count == 2 && numbers[0] == 0 && numbers[1] == 1;
  bool one = count == 1 && (numbers[0] == 0 || numbers[0] == 1);
  if (one) atomic_fetch_add(&placed[numbers[0]], 1);
  if (all) interleaved = count;
  return all || one;
}

bool __wrap_tsr_numa_has_policy(void);
bool __wrap_tsr_numa_has_policy(void) {
  return has_policy;
}

static const char two_nodes[] = "host*2:100 gpu*2@nvswitch:300 pcie:25 rate:19";

static void need_two_nodes(void) {
  cpu_set_t mine;
  front_needs_emulated_devices();
  assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
  bool first_two = CPU_ISSET(0, &mine) && CPU_ISSET(1, &mine);
  if (!first_two || tsr_topology_get()->nodes != 2) skip(); /* no hwloc */
}

static void open_context(const char *machine, tsr_context **context) {
  tsr_options options = front_options();
  options.machine = machine;
  assert_ok(front_create(&options, context));
}

/* The number of this process's threads that may run on the CPU alone. */
static int threads_on(int cpu) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  assert_non_null(tasks);
  for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    cpu_set_t set;
    pid_t thread = (pid_t)atoi(entry->d_name);
    if (thread == 0 || sched_getaffinity(thread, sizeof set, &set) != 0) continue;
    count += CPU_COUNT(&set) == 1 && CPU_ISSET(cpu, &set);
  }
  closedir(tasks);
  return count;
}

/* A thread that has been joined may be listed for a moment longer. */
static void await_former_threads(void) {
  struct timespec pause = {0, 2000000};
  for (int i = 0; i < 2000 && threads_on(0) + threads_on(1) > 0; i++) nanosleep(&pause, NULL);
}

enum { N = 96 };

static double *get(tsr_context *context, bool pinned) {
  void *memory = pinned ? NULL : malloc(N * N * sizeof(double));
  if (pinned) assert_ok(tsr_malloc(context, TSR_HOST, N * N * sizeof(double), &memory));
  assert_non_null(memory);
  return memory;
}

static void give_back(tsr_context *context, bool pinned, double *memory) {
  if (pinned)
    tsr_free(context, memory);
  else
    free(memory);
}

/* C = A A for whole numbers; the context's threads have then begun. */
static void multiply_in(tsr_context *context, bool pinned) {
  const double one = 1, zero = 0;
  double *a = get(context, pinned), *c = get(context, pinned);
  for (int i = 0; i < N * N; i++) a[i] = i % 7 - 3;
  assert_ok(tsr_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, &one, a, N,
                     a, N, &zero, c, N));
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += a[i + k * N] * a[k + j * N];
      assert_true(c[i + j * N] == sum);
    }
  give_back(context, pinned, a);
  give_back(context, pinned, c);
}

static void multiply(tsr_context *context) {
  multiply_in(context, true);
}

static void test_a_contexts_threads_are_bound(void **state) {
  (void)state;
  static const char *const machines[] = {TWO_DEVICES, two_nodes};
  need_two_nodes();
  for (int i = 0; i < 2; i++) {
    tsr_context *context;
    open_context(machines[i], &context);
    multiply(context);
    assert_true(threads_on(0) > 0);
    assert_true(threads_on(1) > 0);
    tsr_context_destroy(context);
  }
}

static void test_a_setting_leaves_threads_anywhere(void **state) {
  (void)state;
  tsr_context *context;
  need_two_nodes();
  await_former_threads();
  setenv("TESSERA_BIND", "0", 1);
  open_context(two_nodes, &context);
  unsetenv("TESSERA_BIND");
  multiply(context);
  assert_int_equal(threads_on(0) + threads_on(1), 0);
  tsr_context_destroy(context);
}

/* The mask of the thread that makes the context holds for the context's threads. */
static void test_threads_keep_to_the_callers_cpus(void **state) {
  (void)state;
  tsr_context *context;
  cpu_set_t mine, first;
  need_two_nodes();
  await_former_threads();
  assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  assert_int_equal(sched_setaffinity(0, sizeof first, &first), 0);
  open_context(two_nodes, &context);
  assert_int_equal(sched_setaffinity(0, sizeof mine, &mine), 0);
  multiply(context);
  assert_true(threads_on(0) >= 2);
  assert_int_equal(threads_on(1), 0);
  tsr_context_destroy(context);
}

/* ---- Where matrices lie ---- */

static void say(int first, int second) {
  said[0] = first;
  said[1] = second;
  said_count = 2;
}

static int home_of(tsr_context *context) {
  static char memory[1 << 16];
  tsr_home home;
  assert_ok(tsr_home_find(context, memory, sizeof memory, &home));
  assert_int_equal(home.memory, TSR_PAGEABLE);
  return home.location;
}

static void test_a_matrix_is_found_on_its_node(void **state) {
  (void)state;
  tsr_context *context;
  need_two_nodes();
  open_context(two_nodes, &context);
  say(1, 1);
  assert_int_equal(home_of(context), 1);
  say(0, 0);
  assert_int_equal(home_of(context), 0);
  say(0, 1);
  assert_int_equal(home_of(context), TSR_INTERLEAVED);
  tsr_context_destroy(context);
  open_context(TWO_DEVICES, &context); /* a machine of one node: nothing is asked */
  assert_int_equal(home_of(context), 0);
  tsr_context_destroy(context);
  said_count = 0;
}

/* Plans are verified (check), for operands on each node and on both, pinned or not. */
static void test_products_from_every_node(void **state) {
  (void)state;
  static const int pages[][2] = {{0, 0}, {1, 1}, {0, 1}};
  tsr_context *context;
  need_two_nodes();
  open_context(two_nodes, &context);
  for (int i = 0; i < 3; i++) {
    say(pages[i][0], pages[i][1]);
    multiply_in(context, false);
    multiply_in(context, true);
  }
  said_count = 0;
  tsr_context_destroy(context);
}

/* Calls that leave their results on devices, and bring them home to another node. */
static void test_composed_calls_from_every_node(void **state) {
  (void)state;
  static const int pages[][2] = {{1, 1}, {0, 1}};
  const double one = 1, zero = 0;
  tsr_context *context;
  need_two_nodes();
  for (int i = 0; i < 2; i++) {
    open_context(two_nodes, &context);
    double *a = get(context, false), *b = get(context, false), *c = get(context, false);
    say(pages[i][0], pages[i][1]);
    for (int j = 0; j < N * N; j++) a[j] = j % (N + 1) == 0 ? 2 : 0;
    assert_ok(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                             &one, a, N, a, N, &zero, b, N));
    assert_ok(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                             &one, b, N, b, N, &zero, c, N));
    assert_ok(tsr_coherent_async(context, TSR_GENERAL, N, N, c, N, TSR_D));
    assert_ok(tsr_sync(context));
    for (int j = 0; j < N * N; j++) assert_true(c[j] == (j % (N + 1) == 0 ? 16 : 0));
    tsr_context_destroy(context);
    free(a);
    free(b);
    free(c);
  }
  said_count = 0;
}

/* Pageable data of the devices of both nodes goes through a ring on each, whichever node the
 * matrices are on, in calls that compose, too. */
static void test_rings_lie_on_both_nodes(void **state) {
  (void)state;
  const double one = 1, zero = 0;
  tsr_context *context;
  need_two_nodes();
  for (int composed = 0; composed < 2; composed++) {
    open_context(two_nodes, &context);
    double *a = get(context, false), *c = get(context, false);
    for (int i = 0; i < N * N; i++) a[i] = 1;
    say(composed, composed);
    atomic_store(&placed[0], 0);
    atomic_store(&placed[1], 0);
    assert_ok((composed ? tsr_gemm_async : tsr_gemm)(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS,
                                                     TSR_NO_TRANS, N, N, N, &one, a, N, a, N, &zero,
                                                     c, N));
    assert_ok(tsr_coherent(context, TSR_GENERAL, N, N, c, N, TSR_D));
    for (int i = 0; i < N * N; i++) assert_true(c[i] == N);
    assert_true(atomic_load(&placed[0]) > 0 && atomic_load(&placed[1]) > 0);
    said_count = 0;
    tsr_context_destroy(context);
    free(a);
    free(c);
  }
}

/* On a machine whose memory is interleaved, a matrix is so, whatever is known of its pages; the
 * plan for the home that is found can be carried out. */
static void test_a_machine_with_interleaved_memory(void **state) {
  (void)state;
  static const char *const machines[] = {"host*2:100 interleaved gpu*2@nvswitch:300 pcie:25",
                                         "host*3:100 interleaved gpu*2@nvswitch:300 pcie:25"};
  const double one = 1, zero = 0;
  need_two_nodes();
  for (int i = 0; i < 2; i++) {
    tsr_context *context;
    tsr_plan *plan;
    tsr_home homes[3];
    open_context(machines[i], &context);
    double *a = get(context, false), *c = get(context, false);
    for (int j = 0; j < N * N; j++) a[j] = 1;
    say(0, 0);
    assert_int_equal(home_of(context), TSR_INTERLEAVED);
    for (int x = 0; x < 3; x++)
      assert_ok(tsr_home_find(context, x < 2 ? a : c, N * N * sizeof *a, &homes[x]));
    assert_ok(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                            &one, N, N, &zero, N, homes, &plan));
    assert_ok(tsr_plan_execute(plan, &one, a, a, &zero, c));
    for (int j = 0; j < N * N; j++) assert_true(c[j] == N);
    tsr_plan_destroy(plan);
    assert_ok(tsr_gemm_async(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N,
                             &one, a, N, a, N, &zero, c, N));
    assert_ok(tsr_coherent(context, TSR_GENERAL, N, N, c, N, TSR_D));
    for (int j = 0; j < N * N; j++) assert_true(c[j] == N);
    multiply_in(context, true);
    said_count = 0;
    tsr_context_destroy(context);
    free(a);
    free(c);
  }
}

/* Seconds predicted of a product whose operands are pageable, on a node or TSR_INTERLEAVED. */
static double predicted_from(tsr_context *context, int node) {
  const double one = 1;
  const tsr_home home = {TSR_PAGEABLE, node}, homes[3] = {home, home, home};
  const int64_t n = 4096;
  tsr_plan *plan;
  tsr_prediction got;
  assert_ok(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one,
                          n, n, &one, n, homes, &plan));
  assert_ok(tsr_plan_predict(plan, &got));
  tsr_plan_destroy(plan);
  return got.seconds;
}

/* A staging thread copies at its rate between any nodes; here it is what binds. */
static void test_staging_from_any_node_is_predicted_alike(void **state) {
  (void)state;
  tsr_options options = front_options();
  tsr_context *context;
  options.engine = "cpu";
  options.devices = NULL;
  options.machine = "host*2:150 sockets:50 gpu*4:80@nvswitch:250 pcie:24 rate:17 staging:2@10/20";
  assert_ok(tsr_context_create(&options, &context));
  double first = predicted_from(context, 0);
  for (int node = TSR_INTERLEAVED; node <= 1; node++) {
    double seconds = predicted_from(context, node);
    assert_true(seconds > 0.9 * first && seconds < 1.1 * first);
  }
  tsr_context_destroy(context);
}

/* Half of the bytes of a matrix on one node have to cross; of an interleaved one half, too, in both
 * directions. */
static void test_staging_over_a_narrow_link_takes_longer(void **state) {
  (void)state;
  tsr_options options = front_options();
  tsr_context *context;
  double seconds[2];
  options.engine = "cpu";
  options.devices = NULL;
  for (int i = 0; i < 2; i++) {
    options.machine = i == 0 ? "host*2:150 sockets:100 gpu*4:80@none pcie:24 rate:17 staging:16@10"
                             : "host*2:150 sockets:2 gpu*4:80@none pcie:24 rate:17 staging:16@10";
    assert_ok(tsr_context_create(&options, &context));
    seconds[i] = predicted_from(context, 1);
    tsr_context_destroy(context);
  }
  assert_true(seconds[1] > 1.3 * seconds[0]); /* by the GPUs of the matrices' socket alone */
}

/* ---- Interleaving ---- */

/* tsr_malloc takes pinned memory from both nodes, if the machine has them. */
static void test_memory_for_users_is_interleaved(void **state) {
  (void)state;
  static const char *const machines[] = {two_nodes, TWO_DEVICES};
  need_two_nodes();
  for (int i = 0; i < 2; i++) {
    tsr_context *context;
    void *memory;
    open_context(machines[i], &context);
    interleaved = 0;
    assert_ok(tsr_malloc(context, TSR_HOST, 1 << 16, &memory));
    assert_int_equal(interleaved, i == 0 ? 2 : 0);
    tsr_free(context, memory);
    tsr_context_destroy(context);
  }
}

static void test_memory_is_interleaved(void **state) {
  (void)state;
  need_two_nodes();
  interleaved = 0;
  assert_int_equal(tsr_memory_interleave(), 2);
  assert_int_equal(interleaved, 2);
}

static void test_memory_stays_as_the_user_says(void **state) {
  (void)state;
  need_two_nodes();
  interleaved = 0;
  setenv("TESSERA_BIND", "0", 1);
  assert_int_equal(tsr_memory_interleave(), 0);
  unsetenv("TESSERA_BIND");
  has_policy = true; /* as under numactl */
  assert_int_equal(tsr_memory_interleave(), 0);
  has_policy = false;
  assert_int_equal(interleaved, 0);
}

static void test_a_setting_that_is_none_is_refused(void **state) {
  (void)state;
  tsr_options options = front_options();
  tsr_context *context;
  setenv("TESSERA_BIND", "yes", 1);
  assert_refused(tsr_context_create(&options, &context), TSR_ERR_ARGUMENT, "TESSERA_BIND");
  unsetenv("TESSERA_BIND");
}

int main(void) {
  setenv("HWLOC_SYNTHETIC", "numa:2 pu:1", 1);
  setenv("HWLOC_THISSYSTEM", "1", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_contexts_threads_are_bound),
      cmocka_unit_test(test_a_setting_leaves_threads_anywhere),
      cmocka_unit_test(test_threads_keep_to_the_callers_cpus),
      cmocka_unit_test(test_a_matrix_is_found_on_its_node),
      cmocka_unit_test(test_products_from_every_node),
      cmocka_unit_test(test_composed_calls_from_every_node),
      cmocka_unit_test(test_rings_lie_on_both_nodes),
      cmocka_unit_test(test_a_machine_with_interleaved_memory),
      cmocka_unit_test(test_staging_from_any_node_is_predicted_alike),
      cmocka_unit_test(test_staging_over_a_narrow_link_takes_longer),
      cmocka_unit_test(test_memory_for_users_is_interleaved),
      cmocka_unit_test(test_memory_is_interleaved),
      cmocka_unit_test(test_memory_stays_as_the_user_says),
      cmocka_unit_test(test_a_setting_that_is_none_is_refused),
  };
  return cmocka_run_group_tests_name("front/near", tests, NULL, NULL);
}
