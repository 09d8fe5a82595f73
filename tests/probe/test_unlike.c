/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The probe on unlike devices: emulated ones, whose events tell the times that a described machine
 * would take. What is measured must be that machine, whatever else the computer does meanwhile; and
 * a slow machine must not take for ever.
 */
/* Slow: 10 s of a core. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/host/host.h"
#include "plan/plan.h"
#include "probe/probe.h"

enum { MOST = 4096 };

/* ---- Clocks ---- */

static struct {
  tsr_machine *machine;
  struct {
    tsr_queue *queue;
    int device;
    double now; /* s: when the commands submitted so far are complete */
  } queue[MOST];
  int queues;
  struct {
    tsr_queue_event *event;
    double at;
  } event[MOST];
  int events;
  double seen;      /* s: what the host has seen complete; later commands begin after it */
  bool computes;    /* kernels are carried out, too */
  bool half_duplex; /* a device's copies take turns, whichever way they go */
  double copied[TSR_MAX_DEVICES]; /* s: when a device's copies so far are complete, if so */
} clocks;

static int index_of(const tsr_queue *queue) {
  int i = 0;
  while (i < clocks.queues && clocks.queue[i].queue != queue) i++;
  assert_true(i < clocks.queues);
  return i;
}

/* The queue's index, when the host submits to it. */
static int begin_on(const tsr_queue *queue) {
  int i = index_of(queue);
  clocks.queue[i].now = fmax(clocks.queue[i].now, clocks.seen);
  return i;
}

static tsr_status create_queue(tsr_engine_state *state, int device, tsr_queue_role role,
                               void *native, tsr_queue **queue) {
  TSR_TRY(tsr_engine_host.queue_create(state, device, role, native, queue));
  assert_true(clocks.queues < MOST);
  clocks.queue[clocks.queues].queue = *queue;
  clocks.queue[clocks.queues].device = device;
  clocks.queue[clocks.queues++].now = 0;
  return TSR_OK;
}

static tsr_status record(tsr_queue *queue, tsr_queue_event *event) {
  int i = 0;
  while (i < clocks.events && clocks.event[i].event != event) i++;
  assert_true(i < MOST);
  if (i == clocks.events) clocks.events++;
  clocks.event[i].event = event;
  clocks.event[i].at = clocks.queue[begin_on(queue)].now;
  return tsr_engine_host.record(queue, event);
}

static tsr_status query(tsr_queue_event *event, bool *complete, double *seconds) {
  double real;
  TSR_TRY(tsr_engine_host.query(event, complete, &real));
  for (int i = 0; i < clocks.events && *complete; i++)
    if (clocks.event[i].event == event) {
      clocks.seen = fmax(clocks.seen, clocks.event[i].at);
      if (seconds != NULL) *seconds = clocks.event[i].at;
    }
  return TSR_OK;
}

static tsr_status kernel(tsr_queue *queue, const tsr_kernel_args *args) {
  int i = begin_on(queue);
  clocks.queue[i].now +=
      tsr_machine_kernel_time(clocks.machine, clocks.queue[i].device, args->kernel, args->type,
                              args->m, args->n, args->k, args->wide, args->beta.re != 0, 0);
  return clocks.computes ? tsr_engine_host.kernel(queue, args) : TSR_OK;
}

/* Copies begin when those before them are complete: of the queue, or of the device. */
static void spend_copying(int queue, double seconds) {
  double *now = &clocks.queue[queue].now, *copied = &clocks.copied[clocks.queue[queue].device];
  if (clocks.half_duplex) *now = fmax(*now, *copied);
  *now += seconds;
  *copied = *now;
}

static int location(int device) {
  return device == TSR_HOST ? clocks.machine->devices : device;
}

static tsr_status copy(tsr_queue *queue, const tsr_copy_args *args) {
  const tsr_link *link =
      &clocks.machine->link[location(args->from_device)][location(args->to_device)];
  assert_true(link->bandwidth > 0);
  spend_copying(begin_on(queue),
                link->latency + (double)args->width * (double)args->height / link->bandwidth);
  return tsr_engine_host.copy(queue, args);
}

/* ---- Measuring ---- */

static void describe(const char *described) {
  memset(&clocks, 0, sizeof clocks);
  assert_int_equal(tsr_machine_parse(described, &clocks.machine), TSR_OK);
}

/* The machine as it is measured; unlinked: pairs of devices without a link, as the engine has it.
 * quick: as emulated devices are, else as real ones, without computing. */
static tsr_machine *measured_on(size_t memory, bool quick) {
  tsr_engine engine = tsr_engine_host;
  tsr_engine_options options = {.emulated_memory = memory};
  tsr_device_info info[TSR_MAX_DEVICES];
  tsr_engine_state *state;
  tsr_machine *machine;
  tsr_probe_options how = {.quick = quick};
  clocks.computes = quick;
  options.count = clocks.machine->devices;
  for (int i = 0; i < options.count; i++)
    for (int j = 0; j < options.count; j++)
      if (i != j && clocks.machine->link[i][j].bandwidth == 0)
        options.emulated_unlinked[i] |= (uint32_t)1 << j;
  engine.queue_create = create_queue;
  engine.record = record;
  engine.query = query;
  engine.kernel = kernel;
  engine.copy = copy;
  assert_int_equal(engine.open(&options, &state, info, &options.count), TSR_OK);
  tsr_status status = tsr_probe(&engine, state, info, options.count, &how, &machine);
  if (status != TSR_OK) fail_msg("%s", tsr_message());
  engine.close(state);
  return machine;
}

static tsr_machine *measured(const char *described, double fp64_of_second) {
  describe(described);
  clocks.machine->device[1].type_speed[tsr_type_index(TSR_D)] = fp64_of_second;
  return measured_on(64 << 20, true);
}

static void assert_near(double is, double expected, const char *what) {
  if (!(fabs(is / expected - 1) < 0.1)) fail_msg("%s is %g, not %g", what, is, expected);
}

static double rate_of(const tsr_machine *m, int device, tsr_type type) {
  return m->rates[tsr_type_index(type)].sustained * tsr_machine_speed(m, device, type);
}

/* Rates of each device and type, its memory, and its links, whichever device comes first. */
static void every_device_is_measured(void **state) {
  (void)state;
  static const char *const machines[] = {
      "gpu*3@pcie pcie:20,20,4 speed:1,0.25,1 hbm:1000,300,1000 unlinked:0-2 rate:0.1 launch:1 "
      "lat:0.01",
      "gpu*3@none pcie:4,20,20 speed:0.2,1,1 hbm:300,1000,1000 rate:0.1 launch:1 lat:0.01",
  };
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    tsr_machine *m = measured(machines[i], 0.05);
    for (int d = 0; d < 3; d++) {
      const tsr_machine *is = clocks.machine;
      assert_near(m->device[d].memory_rate, is->device[d].memory_rate, "a memory rate");
      assert_near(m->link[3][d].bandwidth, is->link[3][d].bandwidth, "a link to a device");
      assert_near(rate_of(m, d, TSR_D) / rate_of(m, 0, TSR_D),
                  tsr_machine_speed(is, d, TSR_D) / tsr_machine_speed(is, 0, TSR_D), "fp64");
      assert_near(rate_of(m, d, TSR_S) / rate_of(m, 0, TSR_S),
                  tsr_machine_speed(is, d, TSR_S) / tsr_machine_speed(is, 0, TSR_S), "fp32");
      for (int j = 0; j < 3; j++)
        assert_true((m->link[d][j].bandwidth > 0) == (is->link[d][j].bandwidth > 0));
    }
    tsr_machine_destroy(m);
    tsr_machine_destroy(clocks.machine);
  }
}

/* Devices that are alike have no speeds of their own. */
static void like_devices_have_one_speed(void **state) {
  (void)state;
  tsr_machine *m = measured("gpu*2@pcie pcie:20 rate:0.1 lat:0.01", 1);
  for (int i = 0; i < TSR_TYPE_COUNT; i++) assert_true(m->device[1].type_speed[i] == 0);
  assert_true(m->device[0].speed == 1 && m->device[1].speed == 1);
  tsr_machine_destroy(m);
  tsr_machine_destroy(clocks.machine);
}

/* A channel is the sum of both directions where each alone carries more than its half. */
static void both_ways_at_once_are_measured(void **state) {
  (void)state;
  for (int half = 0; half < 2; half++) {
    describe("gpu*2@none pcie:20,10 rate:0.1 lat:0.01");
    clocks.half_duplex = half;
    tsr_machine *m = measured_on(64 << 20, true);
    for (int d = 0; d < 2; d++) {
      const tsr_channel *found = NULL;
      for (int c = 0; c < m->channels; c++)
        if (strcmp(m->channel[c].name, d == 0 ? "gpu0 both ways" : "gpu1 both ways") == 0)
          found = &m->channel[c];
      assert_true((found != NULL) == half);
      if (found == NULL) continue;
      assert_near(found->capacity, d == 0 ? 20e9 : 10e9, "both ways");
      assert_int_equal(found->count, 2);
      for (int i = 0; i < found->count; i++) {
        assert_true(found->uses[i].from == d || found->uses[i].to == d);
        assert_true(found->uses[i].weight == 1);
      }
    }
    tsr_machine_destroy(m);
    tsr_machine_destroy(clocks.machine);
  }
}

/* What the device computed for the probe [s]. */
static double time_of_kernels(void) {
  double most = 0;
  for (int i = 0; i < clocks.queues; i++) most = fmax(most, clocks.queue[i].now);
  return most;
}

/* A fast device is measured at each size that fits: here up to 2048. A device 2500 times slower
 * would take 2500 times as long for that; it is measured in minutes, at sizes that say enough. */
static void slow_devices_take_minutes(void **state) {
  (void)state;
  enum { LARGEST = 4, N = 1024 }; /* LARGEST: the row of the table */
  static const char *const rates[] = {"50", "0.02"};
  for (int slow = 0; slow < 2; slow++) {
    char described[64];
    snprintf(described, sizeof described, "gpu*1 pcie:20 hbm:1000 rate:%s launch:1", rates[slow]);
    describe(described);
    tsr_machine *m = measured_on(256 << 20, false);
    const tsr_rates *table = &m->rates[tsr_type_index(TSR_D)];
    assert_true(table->area[LARGEST] == 2048);
    bool is_measured = table->flops[LARGEST][LARGEST] != table->flops[LARGEST - 1][LARGEST];
    assert_true(is_measured == !slow);
    if (time_of_kernels() > 300) fail_msg("the probe takes %g s", time_of_kernels());
    double is = tsr_machine_kernel_time(m, 0, TSR_KERNEL_GEMM, TSR_D, N, N, N, false, false, 0),
           expected = tsr_machine_kernel_time(clocks.machine, 0, TSR_KERNEL_GEMM, TSR_D, N, N, N,
                                              false, false, 0);
    if (!(is < 1.5 * expected && expected < 1.5 * is)) fail_msg("%g s, not %g", is, expected);
    tsr_machine_destroy(m);
    tsr_machine_destroy(clocks.machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_device_is_measured),
      cmocka_unit_test(like_devices_have_one_speed),
      cmocka_unit_test(both_ways_at_once_are_measured),
      cmocka_unit_test(slow_devices_take_minutes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
