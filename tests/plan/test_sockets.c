/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Machines with several sockets: their floor, and the ways that plans take. */
#include "plan/model/sockets.h"
#include "planning.h"

#define GIGA 1e9

/* ---- The floor ---- */

/* Gigabytes that leave and enter node 0, node 1 and interleaved memory, and the seconds that these
 * take at least. By hand. */
static const struct {
  const char *machine;
  double out[3], in[3], seconds;
  tsr_host_way way;
} loads[] = {
    /* Both PCIe links of each socket, and the link between the sockets. */
    {"host*2:100 sockets:10 gpu*4@nvswitch:300 pcie:25", {60, 0, 0}, {0, 0, 0}, 1, 0},
    {"host*2:100 sockets:10 gpu*4@nvswitch:300 pcie:25", {50, 50, 0}, {0, 0, 0}, 1, 0},
    {"host*2:100 sockets:10 gpu*4@nvswitch:300 pcie:25", {0, 0, 0}, {0, 60, 0}, 1, 0},
    /* Node 0 gives 40 in all. */
    {"host*2:40 sockets:10 gpu*4@nvswitch:300 pcie:25", {60, 0, 0}, {0, 0, 0}, 1.5, 0},
    {"host*2:40 sockets:10 gpu*4@nvswitch:300 pcie:25", {20, 0, 0}, {20, 0, 0}, 1, 0},
    /* Half of what is interleaved crosses, one way or the other. */
    {"host*2:100 sockets:10 gpu*4@nvswitch:300 pcie:25", {0, 0, 40}, {0, 0, 0}, 1, 0},
    {"host*2:100 sockets:10 gpu*4@nvswitch:300 pcie:25", {0, 0, 20}, {0, 0, 20}, 1, 0},
    {"host*2:30 sockets:1000 gpu*4@nvswitch:300 pcie:25", {0, 0, 60}, {0, 0, 0}, 1, 0},
    /* Staged bytes cross, too, and load the memory of their home. */
    {"host*2:100 sockets:10 gpu*4@nvswitch:300 pcie:25", {60, 0, 0}, {0, 0, 0}, 1, TSR_WAY_STAGED},
    {"host*2:100 sockets:10 gpu*4@nvswitch:300 pcie:25", {0, 0, 0}, {0, 60, 0}, 1, TSR_WAY_STAGED},
    {"host*2:100 sockets:10 gpu*4@nvswitch:300 pcie:25", {0, 0, 40}, {0, 0, 0}, 1, TSR_WAY_STAGED},
    {"host*2:40 sockets:10 gpu*4@nvswitch:300 pcie:25", {60, 0, 0}, {0, 0, 0}, 1.5, TSR_WAY_STAGED},
    /* One device reads with 10 from the other node; its ring is filled with as much. */
    {"host*2:100 sockets:10 gpu*1 pcie:25", {0, 10, 0}, {0, 0, 0}, 1, TSR_WAY_STAGED},
    {"host*2:100 sockets:10 gpu*1 pcie:25", {0, 10, 0}, {0, 0, 0}, 1, TSR_WAY_EITHER},
    /* Over its links, the two halves one after the other; by way of the ring, both at once. */
    {"host*2:100 sockets:10 gpu*1 pcie:25", {0, 0, 20}, {0, 0, 0}, 1.4, TSR_WAY_STRAIGHT},
    {"host*2:100 sockets:10 gpu*1 pcie:25", {0, 0, 20}, {0, 0, 0}, 1, TSR_WAY_STAGED},
    {"host*2:100 sockets:10 gpu*1 pcie:25", {0, 0, 20}, {0, 0, 0}, 1, TSR_WAY_EITHER},
};

static void bounds_are_those_of_hand(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
    tsr_machine *machine = planning_machine(loads[i].machine);
    tsr_host_load load = {{{0}}, {{0}}};
    for (int n = 0; n < 3; n++) {
      load.out[loads[i].way][n] = loads[i].out[n] * GIGA;
      load.in[loads[i].way][n] = loads[i].in[n] * GIGA;
    }
    double bound = tsr_sockets_least_time(machine, &load);
    if (bound > loads[i].seconds * (1 + 1e-9) || bound < 0.98 * loads[i].seconds)
      fail_msg("load %zu: %g s by hand, a bound of %g", i, loads[i].seconds, bound);
    tsr_machine_destroy(machine);
  }
}

/* ---- Plans ---- */

/* A product of n x n matrices in pinned memory of these nodes. */
static tsr_call gemm(const tsr_machine *machine, int64_t n, const int node[TSR_OPERANDS]) {
  planning_case what = {'d', 'N', 'N', n, n, n, 1, 1, "ppp", 0};
  tsr_call call = planning_call(machine, &what);
  for (int x = 0; x < TSR_OPERANDS; x++)
    call.operand[x].location = tsr_machine_host(machine, node[x]);
  return call;
}

static tsr_plan *plan_of(const tsr_machine *machine, const tsr_call *call, size_t budget) {
  tsr_plan_options options = {.obey_devices = true, .ring = 1 << 26};
  tsr_plan *plan = NULL;
  for (int d = 0; d < machine->devices; d++) options.budget[d] = budget;
  assert_int_equal(tsr_plan_make(machine, call, &options, &plan), TSR_OK);
  assert_int_equal(tsr_plan_verify(plan, machine, options.budget), TSR_OK);
  assert_true(plan->seconds >= plan->floor);
  return plan;
}

/* Bytes that cross from socket to socket. */
static double crossing(const tsr_plan *plan, const tsr_machine *machine) {
  double bytes = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_COPY) continue;
    int from = plan->buffers.items[c->buffer[0]].location;
    int to = plan->buffers.items[c->buffer[1]].location;
    int device = from < machine->devices ? from : to, host = from < machine->devices ? to : from;
    if (host >= machine->devices && machine->device[device].host_node != host)
      bytes += 8.0 * c->m * c->n;
  }
  return bytes;
}

/* If the link between the sockets is narrow, most bytes come and go by devices of the memory's own
 * socket: pieces of A and B that devices of both sockets need, and, by forwarders, the rest. */
static void most_goes_by_the_switch(void **state) {
  (void)state;
  const int first[] = {0, 0, 0};
  tsr_machine *wide =
      planning_machine("host*2:150 sockets:1000 gpu*8:80@nvswitch:300 pcie:24 rate:50");
  tsr_machine *narrow =
      planning_machine("host*2:150 sockets:10 gpu*8:80@nvswitch:300 pcie:24 rate:50");
  tsr_call call = gemm(wide, 8192, first);
  tsr_plan *a = plan_of(wide, &call, (size_t)1 << 34), *b = plan_of(narrow, &call, (size_t)1 << 34);
  assert_true(crossing(b, narrow) < 0.25 * crossing(a, wide));
  tsr_plan_free(a);
  tsr_plan_free(b);
  tsr_machine_destroy(wide);
  tsr_machine_destroy(narrow);
}

/* The part of all products that devices of another socket than C's home compute. */
static double computed_afar(const tsr_plan *plan, const tsr_machine *machine) {
  int home = plan->call.operand[TSR_C_].location;
  double afar = 0, all = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL || c->kernel != TSR_KERNEL_GEMM) continue;
    double products = (double)c->m * c->n * c->k;
    all += products;
    if (machine->device[plan->queue[c->queue].location].host_node != home) afar += products;
  }
  return afar / all;
}

/* The part of C that these devices write home themselves. */
static double written_from_afar(const tsr_plan *plan, const tsr_machine *machine) {
  int home = plan->call.operand[TSR_C_].location;
  double elements = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_COPY || c->buffer[1] != TSR_C_) continue;
    int from = plan->buffers.items[c->buffer[0]].location;
    if (machine->device[from].host_node != home) elements += (double)c->m * c->n;
  }
  return elements / ((double)plan->call.m * (double)plan->call.n);
}

/* A GPU of the other socket is best reached by a near GPU and the links between GPUs: of what far
 * GPUs compute of C most goes home by near ones, and the call is sooner complete. Without links
 * between GPUs, or if that is not allowed, they write all of it themselves. */
static void far_devices_are_reached_by_near_ones(void **state) {
  (void)state;
  static const struct {
    const char *machine, *strategy;
    bool forwards;
  } cases[] = {{"host*2:150 sockets:5 gpu*4:80@nvswitch:300 pcie:24 rate:50", NULL, true},
               {"host*2:150 sockets:5 gpu*4:80@nvswitch:300 pcie:24 rate:50", "relay=no", false},
               {"host*2:150 sockets:5 gpu*4:80@none pcie:24 rate:50", NULL, false}};
  const int second[] = {1, 1, 1};
  double seconds[3];
  for (int i = 0; i < 3; i++) {
    tsr_machine *machine = planning_machine(cases[i].machine);
    tsr_call call = gemm(machine, 6000, second);
    tsr_plan_options options = planning_options(machine, 0);
    tsr_plan *plan = NULL;
    options.strategy = cases[i].strategy;
    must(tsr_plan_make(machine, &call, &options, &plan));
    must(tsr_plan_verify(plan, machine, options.budget));
    double computed = computed_afar(plan, machine), written = written_from_afar(plan, machine);
    if (cases[i].forwards)
      assert_true(computed > 0.4 && written < 0.5 * computed);
    else
      assert_true(written > 0.99 * computed);
    seconds[i] = plan->seconds;
    tsr_plan_free(plan);
    tsr_machine_destroy(machine);
  }
  assert_true(seconds[0] < 0.5 * seconds[1] && seconds[0] < 0.5 * seconds[2]);
}

/* Every home, with memory for all and for a part. */
static void plans_of_all_homes_are_right(void **state) {
  (void)state;
  static const int nodes[] = {0, 1, TSR_INTERLEAVED};
  tsr_machine *machine =
      planning_machine("host*2:150 sockets:20 gpu*4:80@nvswitch:300 pcie:24 rate:50");
  for (int i = 0; i < 27; i++) {
    const int node[] = {nodes[i % 3], nodes[i / 3 % 3], nodes[i / 9]};
    tsr_call call = gemm(machine, 3000, node);
    tsr_plan_free(plan_of(machine, &call, (size_t)1 << (i % 2 ? 34 : 26)));
  }
  tsr_machine_destroy(machine);
}

/* Pageable data goes through the ring near the device, filled by staging queues of that node. Rings
 * of several nodes have no more memory than one would have. */
static void rings_are_near_their_devices(void **state) {
  (void)state;
  static const int nodes[] = {0, 1, TSR_INTERLEAVED};
  tsr_machine *machine =
      planning_machine("host*3:150 sockets:20 gpu*4:80@nvswitch:300 pcie:24 rate:50");
  for (int i = 0; i < 3; i++) {
    const int node[] = {nodes[i], nodes[(i + 1) % 3], nodes[i]};
    tsr_call call = gemm(machine, 3000, node);
    for (int x = 0; x < TSR_OPERANDS; x++) {
      call.operand[x].memory = TSR_PAGEABLE;
      call.operand[x].pinned_end = 0;
    }
    tsr_plan *plan = plan_of(machine, &call, (size_t)1 << 34);
    int through = 0;
    for (size_t c = 0; c < plan->commands.count; c++) {
      const tsr_command *command = &plan->commands.items[c];
      if (command->kind != TSR_COMMAND_COPY) continue;
      const tsr_buffer *from = &plan->buffers.items[command->buffer[0]];
      const tsr_buffer *to = &plan->buffers.items[command->buffer[1]];
      const tsr_buffer *ring = from->role == TSR_BUFFER_STAGE ? from : to;
      const tsr_buffer *other = ring == from ? to : from;
      if (ring->role != TSR_BUFFER_STAGE) continue;
      through++;
      if (other->location < machine->devices)
        assert_int_equal(ring->location, machine->device[other->location].host_node);
      else
        assert_int_equal(ring->location, plan->queue[command->queue].location);
    }
    assert_true(through > 0);
    size_t memory = 0;
    for (int n = 0; n < machine->nodes; n++) memory += plan->arena[machine->devices + n];
    assert_true(memory > 0 && memory <= 1 << 26);
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_are_those_of_hand),
      cmocka_unit_test(most_goes_by_the_switch),
      cmocka_unit_test(far_devices_are_reached_by_near_ones),
      cmocka_unit_test(plans_of_all_homes_are_right),
      cmocka_unit_test(rings_are_near_their_devices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
