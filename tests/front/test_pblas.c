/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The PBLAS door by itself: what descriptors mean, what is ScaLAPACK's to judge, what calls cost,
 * and shares of devices. tests/cluster and tests/dropin test it from outside. */
#include "front.h"

#include <math.h>

#include "front/doors/pblas/mpi/price.h"

/* ---- Descriptors -------------------------------------------------------------- */

static const tsr_pblas_grid grid = {.rows = 2, .cols = 3, .row = 1, .col = 2};
static const double one = 1, zero = 0;
static double memory[4];

/* C(3:10, 4:8) = A(1:8, 1:6) B(2:7, 2:6), A and C with descriptors of type 1, B of type 2. */
static int desc_a[9], desc_b[11], desc_c[9];
static tsr_pblas_arguments arguments;

static int set_up(void **state) {
  static const int a[9] = {1, 7, 20, 21, 4, 5, 1, 2, 12};
  static const int b[11] = {2, 7, 22, 23, 1, 2, 6, 7, -1, 0, 30};
  static const int c[9] = {1, 7, 24, 25, 8, 9, 0, -1, 16};
  (void)state;
  memcpy(desc_a, a, sizeof a);
  memcpy(desc_b, b, sizeof b);
  memcpy(desc_c, c, sizeof c);
  arguments = (tsr_pblas_arguments){.type = TSR_D,
                                    .transa = TSR_NO_TRANS,
                                    .transb = TSR_NO_TRANS,
                                    .m = 8,
                                    .n = 5,
                                    .k = 6,
                                    .alpha = &one,
                                    .beta = &zero,
                                    .a = {memory, 1, 1, desc_a},
                                    .b = {memory + 1, 2, 2, desc_b},
                                    .c = {memory + 2, 3, 4, desc_c}};
  front_clear_environment();
  return 0;
}

static bool is_read(tsr_pblas_call *call, bool *empty) {
  return tsr_pblas_read(&arguments, &grid, call, empty);
}

static void test_types(void **state) {
  (void)state;
  tsr_pblas_call call;
  bool empty;
  assert_int_equal(tsr_pblas_context(&arguments), 7);
  assert_true(is_read(&call, &empty));
  const tsr_pblas_matrix a = {memory, 0, 0, 20, 21, 4, 5, 4, 5, 12, 1, 2};
  const tsr_pblas_matrix b = {memory + 1, 1, 1, 22, 23, 1, 2, 6, 7, 30, -1, 0};
  const tsr_pblas_matrix c = {memory + 2, 2, 3, 24, 25, 8, 9, 8, 9, 16, 0, -1};
  assert_memory_equal(&call.a, &a, sizeof a);
  assert_memory_equal(&call.b, &b, sizeof b);
  assert_memory_equal(&call.c, &c, sizeof c);
  assert_int_equal(call.m, 8);
  assert_int_equal(call.grid.cols, 3);
}

/* One thing made wrong at a time; everything else stays right. */
static void test_wrong(void **state) {
  tsr_pblas_call call;
  bool empty;
  struct {
    int *where, value;
  } wrong[] = {
      {&arguments.m, -1},   {&arguments.n, -1},   {&arguments.k, -1},   {&arguments.a.i, 0},
      {&arguments.b.j, -2}, {&arguments.c.i, 18}, {&arguments.c.j, 22}, {&arguments.b.i, 18},
      {&desc_a[0], 3},      {&desc_b[0], 1},      {&desc_b[1], 8},      {&desc_c[1], 6},
      {&desc_a[2], 7},      {&desc_a[3], 0},      {&desc_a[4], 0},      {&desc_b[4], 0},
      {&desc_b[5], -1},     {&desc_b[7], 0},      {&desc_a[6], 2},      {&desc_a[7], 3},
      {&desc_b[8], -2},     {&desc_c[7], 9},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    set_up(state);
    *wrong[i].where = wrong[i].value;
    if (is_read(&call, &empty) || empty) fail_msg("number %zu was not found wrong", i);
  }
  set_up(state);
  arguments.transa = (tsr_op)0;
  assert_false(is_read(&call, &empty));
}

/* Integers of 64 bits look like a matrix without columns. */
static void test_wide_integers(void **state) {
  (void)state;
  const int64_t wide[9] = {1, 7, 20, 21, 4, 5, 1, 2, 12};
  tsr_pblas_call call;
  bool empty;
  arguments.a.descriptor = (const int *)wide;
  arguments.b.descriptor = arguments.c.descriptor = arguments.a.descriptor;
  assert_false(is_read(&call, &empty));
  assert_false(empty);
}

static void test_empty(void **state) {
  tsr_pblas_call call;
  bool empty;
  arguments.m = 0;
  assert_false(is_read(&call, &empty));
  assert_true(empty);
  set_up(state);
  arguments.k = 0; /* C = 0 is still to be written */
  arguments.a.j = arguments.b.i = 100;
  assert_true(is_read(&call, &empty));
  arguments.beta = &one;
  assert_false(is_read(&call, &empty));
  assert_true(empty);
  set_up(state);
  arguments.alpha = &zero;
  assert_true(is_read(&call, &empty));
}

/* ---- Prices ------------------------------------------------------------------- */

/* CPUs of 10 GFLOP/s and devices of 10 TFLOP/s; 100 GB/s between them. */
static tsr_pblas_price price_of(double reluctance, double min_size) {
  tsr_offload_facts facts = {.reluctance = reluctance, .min_size = min_size};
  tsr_pblas_price price;
  for (int i = 0; i < TSR_TYPE_COUNT; i++) facts.cpu_flops[i] = 1e10, facts.device_flop[i] = 1e-13;
  facts.in = facts.out = facts.staging = 1e-11;
  tsr_pblas_price_init(&price, &facts);
  return price;
}

static tsr_pblas_call square(int64_t n) {
  tsr_pblas_matrix x = {memory, 0, 0, n, n, 64, 64, 64, 64, n, 0, 0};
  return (tsr_pblas_call){.type = TSR_D,
                          .transa = TSR_NO_TRANS,
                          .transb = TSR_NO_TRANS,
                          .m = n,
                          .n = n,
                          .k = n,
                          .alpha = &one,
                          .beta = &one,
                          .a = x,
                          .b = x,
                          .c = x,
                          .grid = {.rows = 2, .cols = 2}};
}

static void test_small(void **state) {
  (void)state;
  tsr_pblas_call small = square(16), large = square(4096);
  tsr_pblas_price automatic = price_of(1, -1), always = price_of(0, -1), least = price_of(0, 4097);
  assert_true(tsr_pblas_is_small(&automatic, &small));
  assert_false(tsr_pblas_is_small(&automatic, &large));
  assert_false(tsr_pblas_is_small(&always, &small));
  assert_true(tsr_pblas_is_small(&least, &large));
}

static void test_prices(void **state) {
  (void)state;
  tsr_pblas_price price = price_of(1, -1);
  tsr_pblas_call call = square(4096), turned = call;
  double flops = tsr_pblas_flops(&call), cpu = tsr_pblas_cpu_seconds(&price, &call);
  assert_true(flops == 2.0 * 2048 * 2048 * 4096);
  assert_true(cpu > flops / 1e10 && cpu < 2 * flops / 1e10);
  double devices = tsr_pblas_device_seconds(&price, &call);
  assert_true(devices > 0 && devices < cpu);
  turned.transa = TSR_TRANS; /* which has to be redistributed */
  assert_true(tsr_pblas_device_seconds(&price, &turned) > devices);
  assert_true(tsr_pblas_is_cheaper(&price, TSR_D, flops, devices, cpu));
  assert_false(tsr_pblas_is_cheaper(&price, TSR_D, flops, cpu, devices));
}

/* The machine's network counts for both sides, and what is assumed only where it says none. */
static void test_network(void **state) {
  (void)state;
  tsr_offload_facts facts = price_of(1, -1).facts;
  tsr_pblas_call call = square(4096);
  tsr_pblas_price unknown, slow, fast;
  tsr_pblas_price_init(&unknown, &facts);
  facts.wire = 1 / 1e9;
  tsr_pblas_price_init(&slow, &facts);
  facts.wire = 1 / 25e9;
  tsr_pblas_price_init(&fast, &facts);
  double panels = (2048.0 + 2048) * 4096 * 8; /* bytes of a process */
  double seconds[3] = {tsr_pblas_device_seconds(&slow, &call),
                       tsr_pblas_device_seconds(&unknown, &call),
                       tsr_pblas_device_seconds(&fast, &call)};
  assert_true(fabs(seconds[0] - seconds[2] - panels * (1 / 1e9 - 1 / 25e9)) < 1e-9);
  assert_true(seconds[2] < seconds[1] && seconds[1] < seconds[0]);
  assert_true(tsr_pblas_cpu_seconds(&slow, &call) > tsr_pblas_cpu_seconds(&fast, &call));
  double cpu = tsr_pblas_cpu_seconds(&slow, &call);
  tsr_pblas_price_set_across(&slow, 25e9); /* what ScaLAPACK sends still goes the other way */
  assert_true(tsr_pblas_device_seconds(&slow, &call) == seconds[2]);
  assert_true(tsr_pblas_cpu_seconds(&slow, &call) == cpu);
}

/* What a process tells of itself is its machine's. */
static void test_network_of_the_machine(void **state) {
  (void)state;
  tsr_machine *machine = NULL;
  bool measured;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "host";
  options.machine = "host:200 gpu*2@nvlink:300 pcie:25 rate:1 net:12.5";
  assert_int_equal(tsr_offload_guess(&options, &machine, &measured), TSR_OK);
  assert_true(machine->network.bandwidth == 12.5e9);
  tsr_machine_destroy(machine);
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", options.machine, 1);
  assert_true(fabs(tsr_offload_facts_get().wire * 12.5e9 - 1) < 1e-12);
}

/* What was seen of calls of the size counts, on both sides. */
static void test_prices_learn(void **state) {
  (void)state;
  tsr_pblas_price price = price_of(1, -1);
  tsr_pblas_call call = square(4096);
  double flops = tsr_pblas_flops(&call), devices = tsr_pblas_device_seconds(&price, &call);
  for (int i = 0; i < 3; i++) {
    assert_true(tsr_pblas_wants_time(&price, TSR_D, flops));
    tsr_pblas_show(&price, TSR_D, flops, 0.25 * devices);
  }
  assert_false(tsr_pblas_wants_time(&price, TSR_D, flops));
  double cpu = tsr_pblas_cpu_seconds(&price, &call);
  assert_true(cpu > 0.24 * devices && cpu < 0.26 * devices);
  price = price_of(1, -1);
  cpu = tsr_pblas_cpu_seconds(&price, &call);
  for (int i = 0; i < 20; i++)
    tsr_offload_price_run(&price.seen, TSR_D, flops, devices, devices + 2 * cpu);
  assert_false(tsr_pblas_is_cheaper(&price, TSR_D, flops, devices, cpu));
}

/* ---- Shares of devices -------------------------------------------------------- */

static const char *share(int devices, int rank, int ranks) {
  static tsr_offload_state state;
  int sharers = (ranks + devices - 1) / devices;
  state = (tsr_offload_state){
      .options = TSR_OPTIONS_DEFAULT, .devices = devices, .device_memory = 1000};
  tsr_offload_take_share(&state, rank, ranks);
  assert_int_equal(state.options.memory, sharers > 1 ? 800 / sharers : 0);
  assert_ptr_equal(state.options.devices, state.share);
  return state.share;
}

static void test_shares(void **state) {
  (void)state;
  assert_string_equal(share(4, 0, 2), "0,1,");
  assert_string_equal(share(4, 1, 2), "2,3,");
  assert_string_equal(share(4, 3, 4), "3,");
  assert_string_equal(share(8, 1, 3), "2,3,4,");
  assert_string_equal(share(2, 1, 4), "0,");
  assert_string_equal(share(2, 2, 4), "1,");
  assert_string_equal(share(1, 2, 3), "0,");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_types, set_up),
      cmocka_unit_test_setup(test_wrong, set_up),
      cmocka_unit_test_setup(test_wide_integers, set_up),
      cmocka_unit_test_setup(test_empty, set_up),
      cmocka_unit_test_setup(test_small, set_up),
      cmocka_unit_test_setup(test_prices, set_up),
      cmocka_unit_test_setup(test_network, set_up),
      cmocka_unit_test_setup(test_network_of_the_machine, set_up),
      cmocka_unit_test_setup(test_prices_learn, set_up),
      cmocka_unit_test_setup(test_shares, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
