/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The probe, on emulated devices or those of TSR_TEST_ENGINE: it measures something sensible,
 * quickly, and the machine can be written and planned for. */
/* Slow: 13 s of a core. */
#include <math.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"
#include "cpu/blas.h"
#include "engine/harness.h"
#include "engine/host/host.h"
#include "probe/probe.h"

/* The checking mode looks at every element, which takes minutes where each look is instrumented. */
#if defined(__SANITIZE_THREAD__)
static const bool checking = false;
#else
static const bool checking = true;
#endif

/* ---- A busy machine ----
 * Staging is measured with threads and a clock that can be made worse: the linker has the library
 * call the functions below instead of its own. */

static enum { GOOD, THREADS_ARE_LATE, CLOCK_IS_COARSE } staged_with, worse;

typedef struct late_start {
  void *(*work)(void *argument);
  void *argument;
} late_start;

/* Later than the probe measures. */
static void *begin_late(void *argument) {
  late_start start = *(late_start *)argument;
  free(argument);
  tsr_sleep(50e-3);
  return start.work(start.argument);
}

bool __real_tsr_thread_start(void *(*work)(void *argument), void *argument, pthread_t *thread);
bool __wrap_tsr_thread_start(void *(*work)(void *argument), void *argument, pthread_t *thread);
bool __wrap_tsr_thread_start(void *(*work)(void *argument), void *argument, pthread_t *thread) {
  if (worse != THREADS_ARE_LATE) return __real_tsr_thread_start(work, argument, thread);
  late_start *start = malloc(sizeof *start);
  assert_non_null(start);
  *start = (late_start){work, argument};
  return __real_tsr_thread_start(begin_late, start, thread);
}

double __real_tsr_now(void);
double __wrap_tsr_now(void);
/* Moves by a second at every fourth look: in between, whatever is measured takes no time. */
double __wrap_tsr_now(void) {
  static atomic_int looks;
  if (worse != CLOCK_IS_COARSE) return __real_tsr_now();
  return (double)(atomic_fetch_add(&looks, 1) / 4);
}

/* ---- Probing ---- */

static double last_fraction;
static int steps;
static long fails_in_calls; /* the engine's call that fails once calls are measured; 0: none */

static void note_progress(void *user, double fraction, const char *what) {
  assert_ptr_equal(user, &steps);
  assert_true(fraction >= last_fraction && fraction <= 1);
  assert_non_null(what);
  last_fraction = fraction;
  steps++;
  if (strcmp(what, "staging") == 0) worse = staged_with;
  if (strcmp(what, "calls") == 0 && fails_in_calls > 0) tsr_engine_host_fail_at(fails_in_calls);
}

static const tsr_near *probed_near; /* NULL: one host memory node */

static tsr_status probe(int devices, bool check, tsr_machine **machine) {
  tsr_engine_options open = {.count = devices, .emulated_memory = 64 << 20, .check = check};
  tsr_device_info info[TSR_MAX_DEVICES];
  tsr_engine_state *state;
  int count;
  const tsr_engine *engine = tsr_engine_find(harness_name());
  tsr_status status = engine->open(&open, &state, info, &count);
  if (status != TSR_OK && !harness_emulates()) {
    print_message("no %d devices of the engine %s: %s\n", devices, harness_name(), tsr_message());
    skip();
  }
  if (status != TSR_OK) return status;
  last_fraction = 0;
  tsr_probe_options options = {
      .quick = true, .near = probed_near, .progress = note_progress, .user = &steps};
  status = tsr_probe(engine, state, info, count, &options, machine);
  worse = GOOD;
  engine->close(state);
  return status;
}

/* Bytes/s of any copy, also of one that was held up for long. */
static const double least_rate = 1e3;

static void check_curve(const tsr_curve *curve) {
  assert_true(curve->count > 2);
  for (int i = 0; i < curve->count; i++)
    assert_true(curve->rate[i] > 0 && (i == 0 || curve->rate[i] >= curve->rate[i - 1]));
}

/* Close segments are shorter than the distance between them. */
static void check_shapes(const tsr_link *link) {
  const tsr_curve *close = &link->close.shape;
  check_curve(&link->shape);
  check_curve(close);
  assert_true(link->close.pitch == 32768 && close->size[close->count - 1] < link->close.pitch);
}

static void check_links(const tsr_machine *m) {
  int host = m->devices;
  for (int i = 0; i < m->devices; i++) {
    assert_true(m->link[host][i].bandwidth > least_rate);
    assert_true(m->link[i][host].bandwidth > least_rate);
    assert_true(m->link[host][i].latency > 0 && m->link[host][i].latency < 0.1);
    check_shapes(&m->link[host][i]);
    check_shapes(&m->link[i][host]);
    for (int j = 0; j < m->devices; j++)
      if (i != j) assert_true(m->link[i][j].bandwidth > least_rate);
  }
}

/* Nothing is faster at the power limit. */
static void check_rates(const tsr_rates *rates) {
  assert_true(rates->areas > 1 && rates->sustained > 0);
  for (int i = 0; i < rates->areas; i++)
    for (int j = 0; j < rates->ks; j++)
      assert_true(rates->hot[i][j] > 0 && rates->hot[i][j] <= rates->flops[i][j]);
  assert_true(rates->narrow.count > 1);
  for (int i = 0; i < rates->narrow.count; i++)
    assert_true(rates->narrow.rate[i] > 0 && rates->narrow.rate[i] <= 1);
}

static void measures_devices(void **state) {
  (void)state;
  for (int devices = 1; devices <= 3; devices += 2) {
    tsr_machine *m = NULL;
    double start = tsr_now();
    assert_int_equal(probe(devices, checking, &m), TSR_OK);
    print_message("%d devices: %.2f s\n", devices, tsr_now() - start);
    assert_true(last_fraction == 1 && steps > 3);
    assert_int_equal(m->devices, devices);
    assert_int_equal(tsr_machine_check(m), TSR_OK);
    check_links(m);
    for (int t = 0; t < TSR_TYPE_COUNT; t++) {
      check_rates(&m->rates[t]);
      assert_true(m->cpu_flops[t] > 0);
    }
    assert_true(m->staging_threads >= 1 && m->thread_rate > 0 && m->staging_rate >= m->thread_rate);
    assert_true(m->submit_copy > 0 && m->submit_kernel > 0 && m->cpu_latency > 0);
    assert_true(m->submit_record > 0 && m->submit_wait > 0);
    assert_true(m->turnaround >= 0 && m->staging_start >= 0);
    print_message("record %g, wait %g, turnaround %g, staging start %g us\n",
                  1e6 * m->submit_record, 1e6 * m->submit_wait, 1e6 * m->turnaround,
                  1e6 * m->staging_start);
    tsr_machine_destroy(m);
  }
}

/* ---- Several host memory nodes ---- */

/* Two nodes with two devices each, of which the last says nothing. Nothing is bound, and all memory
 * comes from the node that is here. */
static const tsr_near two_nodes = {.nodes = 2, .node = {0, 0, 1, -1}, .places = true};

static int uses_of(const tsr_machine *m, const char *name, int from, int to) {
  for (int c = 0; c < m->channels; c++) {
    if (strcmp(m->channel[c].name, name) != 0) continue;
    int count = 0;
    for (int i = 0; i < m->channel[c].count; i++)
      count += m->channel[c].uses[i].from == from && m->channel[c].uses[i].to == to;
    return count;
  }
  return -1; /* no such channel */
}

static void check_two_nodes(const tsr_machine *m) {
  assert_int_equal(m->nodes, 2);
  assert_int_equal(m->device[0].host_node, 4);
  assert_int_equal(m->device[2].host_node, 5);
  assert_true(m->device[3].host_node == 4 || m->device[3].host_node == 5);
  for (int node = 4; node <= 6; node++) /* 6: interleaved memory */
    for (int d = 0; d < 4; d++) {
      assert_true(m->link[node][d].bandwidth > least_rate);
      assert_true(m->link[d][node].bandwidth > least_rate);
      check_shapes(&m->link[node][d]);
    }
  assert_true(m->link[4][5].bandwidth > least_rate && m->link[5][4].bandwidth > least_rate);
  for (int i = 0; i < m->link[4][2].shape.count; i++)
    assert_true(m->link[4][2].shape.rate[i] <= m->link[4][5].bandwidth);
  for (int i = 0; i < m->link[4][2].close.shape.count; i++)
    assert_true(m->link[4][2].close.shape.rate[i] <= m->link[4][5].bandwidth);
  /* What crosses: reads of the other node's memory, and writes to it. */
  assert_int_equal(uses_of(m, "sockets 0 to 1", 4, 2), 1);
  assert_int_equal(uses_of(m, "sockets 0 to 1", 0, 5), 1);
  assert_int_equal(uses_of(m, "sockets 1 to 0", 5, 0), 1);
  assert_int_equal(uses_of(m, "sockets 0 to 1", 4, 0), 0);
  assert_int_equal(uses_of(m, "gpu0+gpu2", 4, 0), -1); /* of different sockets: nothing to share */
}

static void measures_every_node(void **state) {
  (void)state;
  tsr_machine *m = NULL, *again = NULL;
  tsr_text text = TSR_TEXT_INIT;
  char *json;
  probed_near = &two_nodes;
  tsr_status status = probe(4, checking, &m);
  probed_near = NULL;
  if (status != TSR_OK) fail_msg("%s", tsr_message());
  assert_int_equal(tsr_machine_check(m), TSR_OK);
  check_two_nodes(m);
  assert_int_equal(tsr_machine_print_json(m, &text), TSR_OK);
  assert_int_equal(tsr_text_take(&text, &json), TSR_OK);
  assert_int_equal(tsr_machine_read_json(json, &again), TSR_OK);
  check_two_nodes(again);
  assert_int_equal(tsr_machine_digest(m), tsr_machine_digest(again));
  free(json);
  tsr_machine_destroy(again);
  tsr_machine_destroy(m);
}

/* A machine must come of it all the same, if with rates that are not worth much. */
static void measures_on_a_busy_machine(void **state) {
  (void)state;
  for (staged_with = THREADS_ARE_LATE; staged_with <= CLOCK_IS_COARSE; staged_with++) {
    tsr_machine *m = NULL;
    tsr_status status = probe(1, false, &m);
    if (status != TSR_OK) fail_msg("%s", tsr_message());
    assert_true(m->thread_rate > 0 && isfinite(m->thread_rate) && m->staging_rate > 0);
    for (int t = 0; t < TSR_TYPE_COUNT; t++)
      assert_true(m->cpu_flops[t] > 0 && isfinite(m->cpu_flops[t]));
    tsr_machine_destroy(m);
  }
  staged_with = GOOD;
}

static void gives_everything_back_on_failure(void **state) {
  (void)state;
  if (!harness_emulates()) skip();
  for (long n = 1; n < 400; n += 1 + n / 3) {
    tsr_machine *m = NULL;
    tsr_engine_host_fail_at(n);
    tsr_status status = probe(2, false, &m);
    tsr_engine_host_fail_at(0);
    assert_true(status == TSR_ERR_MEMORY || status == TSR_ERR_DEVICE);
    assert_null(m);
  }
}

/* The runner tries again where memory is short, so that not every failure ends the probe. */
static void gives_everything_back_when_calls_fail(void **state) {
  (void)state;
  int failures = 0;
  if (!harness_emulates()) skip();
  for (fails_in_calls = 1; fails_in_calls < 200; fails_in_calls *= 3) {
    tsr_machine *m = NULL;
    tsr_status status = probe(1, false, &m);
    tsr_engine_host_fail_at(0);
    assert_true((status == TSR_OK) == (m != NULL));
    if (status == TSR_OK)
      tsr_machine_destroy(m);
    else
      failures++;
  }
  fails_in_calls = 0;
  assert_true(failures > 0);
}

static void names_files_safely(void **state) {
  (void)state;
  tsr_device_info info = {.name = "NVIDIA H200/../x y"};
  char identity[128];
  tsr_probe_identity(&info, 1, identity, sizeof identity);
  assert_null(strpbrk(identity, "/ "));
  assert_non_null(strstr(identity, "NVIDIA_H200"));
}

/* ---- The computer ---- */

static char root[] = "/tmp/tessera-computer-XXXXXX";

static void put(const char *path, const char *content) {
  char command[512];
  snprintf(command, sizeof command, "mkdir -p \"$(dirname %s%s)\"", root, path);
  assert_int_equal(system(command), 0);
  snprintf(command, sizeof command, "%s%s", root, path);
  assert_int_equal(tsr_text_write_file(command, content, strlen(content)), TSR_OK);
}

static void put_cpu(int cpu, int socket, const char *threads) {
  char path[96], content[16];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
  snprintf(content, sizeof content, "%d\n", socket);
  put(path, content);
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  put(path, threads);
}

static void the_computer_is_read(void **state) {
  (void)state;
  tsr_host host = {.cores = 99};
  char command[64];
  assert_non_null(mkdtemp(root));
  tsr_probe_host(root, &host); /* nothing is there, nothing is known */
  assert_string_equal(host.cpu, "");
  assert_int_equal(host.cores, 0);
  assert_true(host.memory == 0);
  /* Two sockets of two cores with two threads each; of one core the first thread is off. */
  for (int cpu = 0; cpu < 8; cpu++) {
    char threads[16];
    snprintf(threads, sizeof threads, cpu == 5 ? "5\n" : "%d,%d\n", cpu % 4, cpu % 4 + 4);
    if (cpu != 1) put_cpu(cpu, cpu / 2 % 2, threads);
  }
  put("/sys/devices/system/cpu/cpu1/online", "0\n");
  put("/proc/meminfo", "MemTotal:       1000000 kB\nMemFree: 5 kB\n");
  put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nmodel name\t: Other\n");
  tsr_probe_host(root, &host);
  assert_string_equal(host.cpu, "Some CPU @ 2 GHz");
  assert_int_equal(host.sockets, 2);
  assert_int_equal(host.cores, 4);
  assert_float_equal(host.memory, 1.024e9, 1);
  snprintf(command, sizeof command, "rm -r %s", root);
  assert_int_equal(system(command), 0);
}

/* On four processors, of which a quarter may be busy: by the last minute and now, less this thread.
 */
static void load_is_noticed(void **state) {
  (void)state;
  static const struct {
    const char *load;
    bool loaded;
  } tried[] = {{"0.10 0.2 0.3 1/200 77\n", false}, {"3.90 0.2 0.3 5/200 77\n", true},
               {"3.90 0.2 0.3 1/200 77\n", false}, {"0.10 0.2 0.3 5/200 77\n", false},
               {"1.10 0.2 0.3 3/200 77\n", true},  {"nothing\n", false}};
  char command[64];
  strcpy(root + strlen(root) - 6, "XXXXXX");
  assert_non_null(mkdtemp(root));
  assert_false(tsr_probe_is_loaded(root));
  for (int cpu = 0; cpu < 4; cpu++) put_cpu(cpu, 0, "0\n");
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    put("/proc/loadavg", tried[i].load);
    if (tsr_probe_is_loaded(root) != tried[i].loaded) fail_msg("%s", tried[i].load);
  }
  snprintf(command, sizeof command, "rm -r %s", root);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measures_devices),
      cmocka_unit_test(measures_every_node),
      cmocka_unit_test(measures_on_a_busy_machine),
      cmocka_unit_test(gives_everything_back_on_failure),
      cmocka_unit_test(gives_everything_back_when_calls_fail),
      cmocka_unit_test(names_files_safely),
      cmocka_unit_test(the_computer_is_read),
      cmocka_unit_test(load_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
