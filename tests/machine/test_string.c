/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "machine/machine.h"
#include "tessera_model.h"

static tsr_machine *parse(const char *string) {
  tsr_machine *machine = NULL;
  if (tsr_machine_parse(string, &machine) != TSR_OK) fail_msg("%s", tsr_message());
  return machine;
}

static const tsr_channel *channel(const tsr_machine *machine, const char *name) {
  for (int i = 0; i < machine->channels; i++)
    if (strcmp(machine->channel[i].name, name) == 0) return &machine->channel[i];
  return NULL;
}

static double weight(const tsr_channel *c, int from, int to) {
  for (int i = 0; c != NULL && i < c->count; i++)
    if (c->uses[i].from == from && c->uses[i].to == to) return c->uses[i].weight;
  return 0;
}

static bool near(double a, double b) {
  return fabs(a - b) <= 1e-12 * fabs(b);
}

static const tsr_rates *rates(const tsr_machine *machine, tsr_type type) {
  return &machine->rates[tsr_type_index(type)];
}

static void the_example(void **state) {
  (void)state;
  tsr_machine *m = parse("host:200 gpu*8@nvswitch:300 pcie:25/pair rate:19");
  assert_int_equal(m->devices, 8);
  assert_int_equal(m->nodes, 1);
  assert_string_equal(m->source, "string");
  assert_true(near(m->link[8][0].bandwidth, 25e9) && near(m->link[0][8].bandwidth, 25e9));
  assert_true(near(m->link[3][7].bandwidth, 300e9));
  assert_true(m->link[3][3].bandwidth == 0 && m->link[8][8].bandwidth == 0);
  assert_true(near(channel(m, "host0 memory")->capacity, 200e9));
  assert_true(near(channel(m, "pcie3 to GPUs")->capacity, 25e9));
  assert_int_equal(channel(m, "pcie3 to GPUs")->count, 2);
  assert_true(weight(channel(m, "pcie3 to GPUs"), 8, 6) == 1);
  assert_true(weight(channel(m, "pcie3 from GPUs"), 7, 8) == 1);
  assert_true(near(channel(m, "gpu5 to others")->capacity, 300e9));
  assert_int_equal(channel(m, "gpu5 to others")->count, 7);
  assert_true(near(rates(m, TSR_D)->sustained, 19e12));
  assert_true(near(rates(m, TSR_S)->sustained, 38e12));
  tsr_machine_destroy(m);
}

static void directions_of_host_memory(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*2 host:215,154");
  assert_true(near(channel(m, "host0 memory")->capacity, 215e9));
  assert_true(weight(channel(m, "host0 memory"), 2, 0) == 1);
  assert_true(near(weight(channel(m, "host0 memory"), 0, 2), 215.0 / 154));
  tsr_machine_destroy(m);
}

static void memory_nodes(void **state) {
  (void)state;
  tsr_machine *m = parse("host*2:100 gpu*4 pcie:25");
  assert_int_equal(m->nodes, 2);
  assert_int_equal(m->device[1].host_node, 4);
  assert_int_equal(m->device[2].host_node, 5);
  assert_true(weight(channel(m, "host0 memory"), 4, 0) == 1);
  assert_true(weight(channel(m, "host0 memory"), 5, 0) == 0);
  /* From both nodes, and from interleaved memory, over one link. */
  assert_int_equal(channel(m, "pcie0 to GPUs")->count, 3);
  assert_int_equal(tsr_machine_host(m, 1), 5);
  assert_int_equal(tsr_machine_host(m, TSR_INTERLEAVED), 6);
  tsr_machine_destroy(m);
  m = parse("host*2:100 gpu*4 pcie:25 interleaved");
  assert_true(m->interleaved);
  assert_int_equal(tsr_machine_host(m, 0), 6);
  tsr_machine_destroy(m);
  m = parse("gpu*4");
  assert_int_equal(tsr_machine_host(m, TSR_INTERLEAVED), 4);
  tsr_machine_destroy(m);
}

/* Half of each copy from interleaved memory comes from each node, and a half of that of the far
 * node over the link between the sockets. */
static void interleaved_memory(void **state) {
  (void)state;
  tsr_machine *m = parse("host*2:100,80 sockets:20 gpu*4@nvswitch:300 pcie:25");
  int hosts = tsr_machine_host(m, TSR_INTERLEAVED);
  assert_true(near(m->link[hosts][0].bandwidth, 2 / (1 / 25e9 + 1 / 20e9)));
  assert_true(weight(channel(m, "host0 memory"), hosts, 0) == 0.5);
  assert_true(near(weight(channel(m, "host1 memory"), 0, hosts), 0.5 * 100 / 80));
  assert_true(weight(channel(m, "pcie0 to GPUs"), hosts, 0) == 1);
  assert_true(weight(channel(m, "sockets 1 to 0"), hosts, 0) == 0.5);
  assert_true(weight(channel(m, "sockets 0 to 1"), hosts, 0) == 0);
  assert_true(weight(channel(m, "sockets 0 to 1"), 0, hosts) == 0.5);
  tsr_machine_destroy(m);
  m = parse("host*4:100 gpu*4");
  hosts = tsr_machine_host(m, TSR_INTERLEAVED);
  assert_true(weight(channel(m, "sockets 3 to 0"), hosts, 0) == 0.25);
  tsr_machine_destroy(m);
}

/* Uses that do not follow from others. */
static int own_uses(const tsr_machine *machine, const tsr_channel *channel) {
  int count = 0;
  for (int i = 0; i < channel->count; i++)
    count += !tsr_channel_use_follows(machine, &channel->uses[i]);
  return count;
}

static void links_between_sockets(void **state) {
  (void)state;
  tsr_machine *m = parse("host*2:100 sockets:20 gpu*4@nvswitch:300 pcie:25");
  const tsr_channel *there = channel(m, "sockets 0 to 1"), *back = channel(m, "sockets 1 to 0");
  assert_true(near(there->capacity, 20e9) && near(back->capacity, 20e9));
  assert_true(weight(there, 4, 2) == 1 && weight(back, 5, 0) == 1); /* reads of the far node */
  assert_true(weight(there, 0, 5) == 1 && weight(back, 2, 4) == 1); /* writes to it */
  assert_true(weight(there, 4, 0) == 0 && weight(there, 5, 0) == 0);
  assert_true(weight(there, 0, 2) == 0); /* over the switch */
  assert_true(near(m->link[4][0].bandwidth, 25e9) && near(m->link[4][2].bandwidth, 20e9));
  assert_true(near(m->link[4][5].bandwidth, 20e9));
  tsr_machine_destroy(m);
  m = parse("host*2:100 gpu*4@pcie pcie:60");
  there = channel(m, "sockets 0 to 1");
  assert_true(near(there->capacity, 50e9)); /* half of a node's memory, when nobody says */
  assert_true(weight(there, 0, 2) == 1 && weight(there, 0, 1) == 0);
  assert_true(near(m->link[0][2].bandwidth, 50e9) && near(m->link[0][1].bandwidth, 60e9));
  tsr_machine_destroy(m);
  m = parse("host*2:100 gpu*1"); /* nothing crosses to the socket without a device but its writes */
  assert_true(weight(channel(m, "sockets 0 to 1"), 0, 2) == 1);
  assert_int_equal(own_uses(m, channel(m, "sockets 1 to 0")), 1);
  tsr_machine_destroy(m);
}

/* Copies of staging threads from node to node: host 4 is node 0, 5 node 1, and 6 is both. */
static void copies_between_nodes(void **state) {
  (void)state;
  tsr_machine *m = parse("host*2:100,50 sockets:20 gpu*4@nvswitch:300 pcie:25");
  const tsr_channel *there = channel(m, "sockets 0 to 1"), *back = channel(m, "sockets 1 to 0");
  const tsr_channel *memory = channel(m, "host0 memory");
  assert_true(weight(there, 4, 5) == 1 && weight(back, 5, 4) == 1);
  assert_true(weight(there, 5, 4) == 0 && weight(back, 4, 5) == 0);
  assert_true(weight(memory, 4, 5) == 1 && weight(memory, 5, 4) == 2); /* it writes half as fast */
  assert_true(weight(there, 6, 5) == 0.5 && weight(there, 4, 6) == 0.5);
  assert_true(weight(there, 6, 4) == 0 && weight(back, 6, 4) == 0.5);
  assert_true(weight(memory, 6, 5) == 0.5 && weight(memory, 5, 6) == 1);
  assert_true(near(m->link[6][5].bandwidth, 40e9)); /* half of the bytes cross */
  assert_true(weight(channel(m, "pcie0 to GPUs"), 4, 5) == 0);
  tsr_machine_destroy(m);
}

/* Links that are gone leave no uses of channels, in either direction. */
static void pairs_without_a_link(void **state) {
  (void)state;
  tsr_machine *m = parse("host*2:100 gpu*4@pcie pcie:20 unlinked:0-2,3-1");
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      bool gone = i != j && (i + j == 2 || i + j == 4);
      assert_true((m->link[i][j].bandwidth > 0) == (i != j && !gone));
      for (int c = 0; c < m->channels && gone; c++) assert_true(weight(&m->channel[c], i, j) == 0);
    }
  assert_true(weight(channel(m, "sockets 0 to 1"), 0, 3) == 1);
  tsr_machine_destroy(m);
  m = parse("gpu*2@nvswitch:300 unlinked:0-1"); /* a channel that nothing uses is gone, too */
  assert_null(channel(m, "gpu0 to others"));
  assert_non_null(channel(m, "host0 memory"));
  tsr_machine_destroy(m);
}

static void fabrics(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*4:16@nvlink:48");
  assert_true(near(m->link[0][1].bandwidth, 48e9));
  assert_true(near(m->device[0].memory, 16e9));
  assert_null(channel(m, "gpu0 from others"));
  tsr_machine_destroy(m);
  m = parse("gpu*4@none");
  assert_true(m->link[0][1].bandwidth == 0);
  tsr_machine_destroy(m);
  m = parse("gpu*4@pcie pcie:12/2");
  assert_true(near(m->link[0][3].bandwidth, 12e9));
  assert_true(weight(channel(m, "pcie0 from GPUs"), 0, 3) == 1 &&
              weight(channel(m, "pcie1 to GPUs"), 0, 3) == 1);
  assert_true(weight(channel(m, "pcie0 from GPUs"), 0, 4) == 1);
  tsr_machine_destroy(m);
  m = parse("gpu*3 pcie:12/all");
  assert_int_equal(channel(m, "pcie0 to GPUs")->count, 3);
  tsr_machine_destroy(m);
}

static void rates_of_types(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*1 rate:10,30 rate.h:750 rate.b:700 cpu:400");
  assert_true(near(rates(m, TSR_D)->sustained, 10e12) && near(rates(m, TSR_Z)->sustained, 10e12));
  assert_true(near(rates(m, TSR_S)->sustained, 30e12) && near(rates(m, TSR_C)->sustained, 30e12));
  assert_true(near(rates(m, TSR_H)->sustained, 750e12) && near(rates(m, TSR_B)->sustained, 700e12));
  assert_true(near(m->cpu_flops[tsr_type_index(TSR_D)], 400e9));
  tsr_machine_destroy(m);
  m = parse("gpu*1 rate.s:50");
  assert_true(near(rates(m, TSR_D)->sustained, 25e12));
  tsr_machine_destroy(m);
}

static void small_words(void **state) {
  (void)state;
  tsr_machine *m = parse("  staging:16@11/94\tlat:2 launch:4 mem:80\nhbm:1500 gpu*2 ");
  assert_int_equal(m->staging_threads, 16);
  assert_true(near(m->thread_rate, 11e9) && near(m->staging_rate, 94e9));
  assert_true(near(m->link[0][2].latency, 2e-6) && near(m->device[1].kernel_latency, 4e-6));
  assert_true(near(m->device[1].memory, 80e9) && near(m->device[1].memory_rate, 1500e9));
  tsr_machine_destroy(m);
}

static void network(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*2 net:12.5,1.5"), *copy = NULL;
  assert_true(near(m->network.bandwidth, 12.5e9) && near(m->network.latency, 1.5e-6));
  assert_int_equal(tsr_machine_select(m, (const int[]){0, 1}, 2, &copy), TSR_OK);
  assert_true(near(copy->network.bandwidth, 12.5e9) && near(copy->network.latency, 1.5e-6));
  tsr_machine_destroy(copy);
  tsr_machine_destroy(m);
  m = parse("gpu*2 net:25");
  assert_true(near(m->network.bandwidth, 25e9) && near(m->network.latency, 2e-6));
  tsr_machine_destroy(m);
  m = parse("gpu*2");
  assert_true(m->network.bandwidth == 0 && m->network.latency == 0);
  tsr_machine_destroy(m);
}

static void unlike_devices(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*4 mem:80,24 speed:1,0.5,0.25");
  const double speeds[] = {1, 0.5, 0.25, 0.25}, memories[] = {80e9, 24e9, 24e9, 24e9};
  for (int d = 0; d < 4; d++) {
    assert_true(m->device[d].speed == speeds[d]);
    assert_true(near(m->device[d].memory, memories[d]));
  }
  double fast =
      tsr_machine_kernel_time(m, 0, TSR_KERNEL_GEMM, TSR_D, 4096, 4096, 4096, false, true, 0);
  double slow =
      tsr_machine_kernel_time(m, 3, TSR_KERNEL_GEMM, TSR_D, 4096, 4096, 4096, false, true, 0);
  assert_true(slow > 3.9 * fast && slow < 4.1 * fast);
  tsr_machine_destroy(m);
  m = parse("speed:2 gpu*2 mem:16");
  assert_true(m->device[1].speed == 2 && near(m->device[1].memory, 16e9));
  tsr_machine_destroy(m);
}

static void no_devices(void **state) {
  (void)state;
  tsr_machine *m = parse("host:100 cpu:500");
  assert_int_equal(m->devices, 0);
  assert_int_equal(m->nodes, 1);
  assert_int_equal(m->channels, 0);
  assert_true(tsr_machine_cpu_time(m, TSR_D, 1e12, 0) >= 2);
  tsr_machine_destroy(m);
}

static void largest_machine(void **state) {
  (void)state;
  tsr_machine *m = parse("host*8:100 gpu*32@nvswitch:300 pcie:25");
  assert_int_equal(m->devices, 32);
  assert_int_equal(m->nodes, 8);
  assert_true(m->channels <= TSR_MACHINE_CHANNELS);
  tsr_machine_destroy(m);
}

typedef struct bad {
  const char *string;
  int column;
  const char *word;
} bad;

static const bad bad_strings[] = {
    {"", 1, "\"\""},
    {"   ", 1, "\"\""},
    {"bogus", 1, "bogus"},
    {"gpu*4 bogus:3", 7, "bogus:3"},
    {"gpu", 4, "gpu"},
    {"gpu*", 5, "gpu*"},
    {"gpu*x", 5, "gpu*x"},
    {"gpu*0", 5, "gpu*0"},
    {"gpu*33", 5, "gpu*33"},
    {"gpu*99999999999999999999", 5, "gpu*99999999999999999999"},
    {"gpu*4.5", 6, "gpu*4.5"},
    {"gpu*-1", 5, "gpu*-1"},
    {"gpu:4", 4, "gpu:4"},
    {"gpus*4", 1, "gpus*4"},
    {"GPU*4", 1, "GPU*4"},
    {"gpu*4@", 7, "gpu*4@"},
    {"gpu*4@infiniband:3", 7, "gpu*4@infiniband:3"},
    {"gpu*4@nvswitch", 15, "gpu*4@nvswitch"},
    {"gpu*4@nvswitch:", 16, "gpu*4@nvswitch:"},
    {"gpu*4@nvlinks:3", 7, "gpu*4@nvlinks:3"},
    {"gpu*4@pcie:3", 11, "gpu*4@pcie:3"},
    {"gpu*4@none:3", 11, "gpu*4@none:3"},
    {"gpu*4:@none", 7, "gpu*4:@none"},
    {"gpu*4 gpu*2", 7, "gpu*2"},
    {"host", 5, "host"},
    {"host:", 6, "host:"},
    {"host: 200", 6, "host:"},
    {"host:abc", 6, "host:abc"},
    {"host:-5", 6, "host:-5"},
    {"host:0", 6, "host:0"},
    {"host:inf", 6, "host:inf"},
    {"host:1e400", 6, "host:1e400"},
    {"host:200GB", 9, "host:200GB"},
    {"host:200,", 10, "host:200,"},
    {"host:200,100,50", 13, "host:200,100,50"},
    {"host*9:200", 6, "host*9:200"},
    {"host*2", 7, "host*2"},
    {"host*2:9 sockets", 17, "sockets"},
    {"host*2:9 sockets:0", 18, "sockets:0"},
    {"host:9 gpu*2 sockets:5", 14, "several memory nodes"},
    {"gpu*4 pcie", 11, "pcie"},
    {"gpu*4 pcie:25/", 15, "pcie:25/"},
    {"gpu*4 pcie:25/0", 15, "pcie:25/0"},
    {"gpu*4 pcie:25/pairs", 15, "pcie:25/pairs"},
    {"gpu*4 rate", 11, "rate"},
    {"gpu*4 rate:", 12, "rate:"},
    {"gpu*4 rate.x:5", 12, "rate.x:5"},
    {"gpu*4 rate.", 12, "rate."},
    {"gpu*4 rate.d", 13, "rate.d"},
    {"gpu*4 rate:5 rate.d:6", 14, "rate.d:6"},
    {"gpu*4 rate.s:5 rate:5,6", 16, "rate:5,6"},
    {"gpu*4 mem:0", 11, "mem:0"},
    {"gpu*4:16 mem:16", 10, "only once"},
    {"gpu*4 mem:16,", 14, "mem:16,"},
    {"gpu*2 mem:16,16,16", 7, "at most as many"},
    {"speed:1,1,1 gpu*2", 1, "at most as many"},
    {"gpu*2 speed", 12, "speed"},
    {"gpu*2 speed:1,0", 15, "speed:1,0"},
    {"gpu*2 speed:1,,1", 15, "speed:1,,1"},
    {"gpu*4 hbm=3", 10, "hbm=3"},
    {"gpu*4 unlinked", 15, "unlinked"},
    {"gpu*4 unlinked:", 16, "unlinked:"},
    {"gpu*4 unlinked:0", 17, "unlinked:0"},
    {"gpu*4 unlinked:1-1", 16, "two devices"},
    {"gpu*4 unlinked:0-1,", 20, "unlinked:0-1,"},
    {"gpu*4 unlinked:0-32", 18, "unlinked:0-32"},
    {"gpu*4 unlinked:0-1,0-4", 22, "a device that there is"},
    {"unlinked:0-1", 12, "a device that there is"},
    {"gpu*4@nvlink:9 linked", 22, "linked"},
    {"gpu*4@nvlink:9 linked:0-1*", 27, "1 to 64 links"},
    {"gpu*4@nvlink:9 linked:0-1*0", 27, "1 to 64 links"},
    {"gpu*4@nvlink:9 linked:0-1=", 27, "GB/s between"},
    {"gpu*4@nvlink:9 linked:0-1=0", 27, "GB/s between"},
    {"gpu*4@nvlink:9 linked:2-2", 23, "two devices"},
    {"gpu*4@nvlink:9 linked:0-1,1-0*2", 27, "each pair once"},
    {"gpu*4@nvlink:9 linked:0-1 unlinked:1-0", 36, "no pair of linked"},
    {"gpu*4@nvlink:9 unlinked:1-0 linked:0-1", 36, "no pair of unlinked"},
    {"gpu*4@nvlink:9 linked:0-4", 25, "a device that there is"},
    {"gpu*4@nvswitch:9 linked:0-1=5", 18, "a switch links all pairs alike"},
    {"linked:0-1*2 gpu*4", 1, "GB/s of each pair"},
    {"linked:0-1=5,2-3 gpu*4@pcie", 1, "GB/s of each pair"},
    {"gpu*4 lat:8us", 12, "lat:8us"},
    {"gpu*4 launch", 13, "launch"},
    {"gpu*4 cpu:x", 11, "cpu:x"},
    {"gpu*4 staging:0", 15, "staging:0"},
    {"gpu*4 staging:4@", 17, "staging:4@"},
    {"gpu*4 staging:4@10/", 20, "staging:4@10/"},
    {"gpu*4 interleaved:1", 18, "interleaved:1"},
    {"gpu*4 net:0", 11, "net:0"},
    {"gpu*4 net:5,", 13, "net:5,"},
};

static void errors_point_at_the_place(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_strings / sizeof *bad_strings; i++) {
    const bad *b = &bad_strings[i];
    tsr_machine *machine = NULL;
    char column[32];
    snprintf(column, sizeof column, "column %d,", b->column);
    if (tsr_machine_parse(b->string, &machine) != TSR_ERR_MACHINE)
      fail_msg("%s is taken", b->string);
    assert_null(machine);
    if (strstr(tsr_message(), column) == NULL || strstr(tsr_message(), b->word) == NULL ||
        strstr(tsr_message(), "expected") == NULL)
      fail_msg("%s: %s", b->string, tsr_message());
  }
}

static void pairs_have_links_of_their_own(void **state) {
  (void)state;
  tsr_machine *m = parse("gpu*4:16@nvlink:24 linked:0-1*2,1-2,2-3=60");
  assert_true(near(m->link[0][1].bandwidth, 48e9) && near(m->link[1][0].bandwidth, 48e9));
  assert_true(near(m->link[2][1].bandwidth, 24e9) && near(m->link[3][2].bandwidth, 60e9));
  assert_true(m->link[0][2].bandwidth == 0 && m->link[3][0].bandwidth == 0);
  tsr_machine_destroy(m);
  m = parse("gpu*4@none linked:0-1=50"); /* and before the word gpu */
  assert_true(near(m->link[0][1].bandwidth, 50e9) && m->link[1][2].bandwidth == 0);
  tsr_machine_destroy(m);
  /* A bridge beside PCIe takes the pair's copies from the host links; the others stay there. */
  m = parse("linked:0-1=50 gpu*4@pcie pcie:12");
  assert_true(near(m->link[0][1].bandwidth, 50e9) && near(m->link[0][2].bandwidth, 12e9));
  assert_true(weight(channel(m, "pcie0 to GPUs"), 1, 0) == 0);
  assert_true(weight(channel(m, "pcie0 to GPUs"), 2, 0) == 1);
  tsr_machine_destroy(m);
}

static void every_cut_of_a_string_is_safe(void **state) {
  (void)state;
  static const char whole[] =
      "host*2:215,154 sockets:64 interleaved gpu*4:80@nvswitch:300 pcie:25/pair rate:19,38 "
      "rate.h:7 "
      "staging:4@9/30 net:12.5,2 unlinked:0-1 linked:2-3=5";
  char part[sizeof whole];
  for (size_t length = 0; length < sizeof whole; length++) {
    tsr_machine *machine = NULL;
    memcpy(part, whole, length);
    part[length] = '\0';
    if (tsr_machine_parse(part, &machine) == TSR_OK) tsr_machine_destroy(machine);
  }
}

static void allocations_may_fail(void **state) {
  (void)state;
  tsr_status status = TSR_ERR_MEMORY;
  long n = 0;
  while (status != TSR_OK) {
    tsr_machine *machine = NULL;
    tsr_alloc_fail_at(++n);
    status = tsr_machine_parse("host:100 gpu*3@nvswitch:300 pcie:25/2", &machine);
    if (status != TSR_OK) {
      assert_int_equal(status, TSR_ERR_MEMORY);
      assert_null(machine);
    }
    tsr_machine_destroy(machine);
  }
  tsr_alloc_fail_at(0);
  assert_true(n > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_example),
      cmocka_unit_test(directions_of_host_memory),
      cmocka_unit_test(memory_nodes),
      cmocka_unit_test(interleaved_memory),
      cmocka_unit_test(links_between_sockets),
      cmocka_unit_test(pairs_without_a_link),
      cmocka_unit_test(copies_between_nodes),
      cmocka_unit_test(fabrics),
      cmocka_unit_test(rates_of_types),
      cmocka_unit_test(small_words),
      cmocka_unit_test(network),
      cmocka_unit_test(unlike_devices),
      cmocka_unit_test(no_devices),
      cmocka_unit_test(largest_machine),
      cmocka_unit_test(errors_point_at_the_place),
      cmocka_unit_test(pairs_have_links_of_their_own),
      cmocka_unit_test(every_cut_of_a_string_is_safe),
      cmocka_unit_test(allocations_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
