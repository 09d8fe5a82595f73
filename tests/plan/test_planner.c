/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans of random calls on several machines: each is verified, replayed, and not below its floor.
 */
/* Slow: 19 s of a core. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/model/loads.h"
#include "plan/plan.h"

static uint64_t state;

static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * UINT64_C(0x2545F4914F6CDD1D);
}

static int64_t below(int64_t n) {
  return (int64_t)(next_random() >> 11) % n;
}

static const char *const machines[] = {
    "host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19",
    "host:20 gpu*3 pcie:10 rate:1",
    "host:215,154 gpu*8:1@nvswitch:396 pcie:55 rate:62 staging:5@11/40",
    "host:50 gpu*1 pcie:12 rate:7",
    "host:100 gpu*2@nvlink:25 pcie:16/all rate:7 cpu:100",
};
enum { MACHINES = sizeof machines / sizeof *machines };

static const char *const sockets[] = {
    "host*2:100 sockets:10 gpu*5@nvswitch:300 pcie:25 rate:19",
    "host*3:20 interleaved sockets:5 gpu*3@pcie pcie:10 rate:1",
    "host*2:50 sockets:3 gpu*4:1@none pcie:12/pair rate:7",
};
enum { SOCKETS = sizeof sockets / sizeof *sockets };

typedef struct problem {
  tsr_machine *machine;
  tsr_call call;
  tsr_plan_options options;
  char text[600];
} problem;

static int64_t random_extent(void) {
  static const int64_t special[] = {1, 2, 3, 64, 127, 128, 1000, 5000};
  return below(4) == 0 ? special[below(8)] : 1 + below(700);
}

static void random_home(problem *p, int x) {
  tsr_operand *o = &p->call.operand[x];
  int64_t bytes = tsr_operand_bytes(o, p->call.type);
  int kind = (int)below(4);
  o->alignment = 4;
  int nodes = p->machine->nodes, node = nodes > 1 ? (int)below(nodes + 1) : 0;
  o->location = kind == 3 ? (int)below(p->machine->devices)
                          : tsr_machine_host(p->machine, node < nodes ? node : TSR_INTERLEAVED);
  o->memory = kind == 3 ? TSR_DEVICE : kind == 0 ? TSR_PINNED : TSR_PAGEABLE;
  o->pinned_begin = kind == 2 ? below(bytes + 1) : 0;
  o->pinned_end = kind == 0 ? bytes : kind == 2 ? o->pinned_begin + below(bytes + 1) : 0;
  if (o->pinned_end > bytes) o->pinned_end = bytes;
}

/* herk and her2k have real scalars among complex ones. */
static void set_scalar(tsr_type type, int64_t value, double scalar[2]) {
  float single = (float)value;
  if (type == TSR_D || type == TSR_Z)
    scalar[0] = (double)value;
  else
    memcpy(scalar, &single, sizeof single);
}

/* An op that the operation has for the type. */
static tsr_op random_op(tsr_operation operation) {
  bool hermitian = operation == TSR_HERK || operation == TSR_HER2K;
  bool symmetric = operation == TSR_SYRK || operation == TSR_SYR2K;
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  return hermitian ? ops[below(2) * 2] : ops[below(symmetric ? 2 : 3)];
}

static tsr_type random_type(tsr_operation operation) {
  static const tsr_type types[] = {TSR_C, TSR_Z, TSR_S, TSR_D, TSR_H, TSR_B, TSR_T};
  bool hermitian = operation == TSR_HEMM || operation == TSR_HERK || operation == TSR_HER2K;
  return types[below(operation == TSR_GEMM ? 7 : hermitian ? 2 : 4)];
}

static void random_call(problem *p) {
  tsr_operation operation = (tsr_operation)below(TSR_OPERATION_COUNT);
  tsr_level3 what = {.operation = operation,
                     .type = random_type(operation),
                     .layout = below(2) ? TSR_COL_MAJOR : TSR_ROW_MAJOR,
                     .side = below(2) ? TSR_LEFT : TSR_RIGHT,
                     .uplo = below(2) ? TSR_LOWER : TSR_UPPER,
                     .transa = random_op(operation),
                     .transb = random_op(operation),
                     .diag = below(2) ? TSR_NON_UNIT : TSR_UNIT,
                     .m = random_extent(),
                     .n = random_extent(),
                     .k = below(12) == 0 ? 0 : random_extent()};
  int64_t longest = what.m > what.n ? what.m : what.n;
  longest = longest > what.k ? longest : what.k;
  what.lda = longest + below(5), what.ldb = longest + below(3), what.ldc = longest + below(3);
  double alpha[2] = {0}, beta[2] = {0};
  set_scalar(what.type, below(3), alpha);
  set_scalar(what.type, below(3), beta);
  tsr_binding binding;
  bool exchanged;
  assert_int_equal(
      tsr_call_level3(&what, alpha, NULL, NULL, beta, NULL, false, &p->call, &binding, &exchanged),
      TSR_OK);
  for (int x = 0; x < TSR_OPERANDS; x++) random_home(p, x);
}

static const char *random_strategy(void) {
  static const char *const choices[] = {"any/block=50 any/nblock=33,33,33 any/stripe=33 piece=4096",
                                        "any/c=first",
                                        "any/c=last",
                                        "any/nblock=17,17,17 any/stripe=17",
                                        "any/kpanel=40,90 any/nblock=64,50,30 any/stripe=50",
                                        "relay=no",
                                        "tile=48 any/nblock=16,20,16 any/stripe=20",
                                        "tile=37 any/order=eta",
                                        "any/taper=8 any/nblock=200,100,64 any/stripe=100",
                                        "tile=24 any/cblock=2x2",
                                        "tile=32 any/cblock=3x2 any/depth=2 any/lookahead=100",
                                        "any/cblock=1x3 any/depth=3",
                                        "tile=40 any/even=yes any/cblock=2x4 any/lookahead=50",
                                        "any/partition=budget",
                                        "tile=24 any/cblock=5x4 any/partition=budget",
                                        "any/partition=even"};
  return below(3) ? NULL : choices[below((int)(sizeof choices / sizeof *choices))];
}

/* From three of the smallest tiles up, as often small as large. */
static size_t random_budget(void) {
  size_t budget = 6144;
  for (int doublings = (int)below(11); doublings > 0; doublings--) budget *= 2;
  return budget + (size_t)below((int)budget);
}

static void random_options(problem *p) {
  p->options = (tsr_plan_options){.obey_devices = below(4) > 0, .reproducible = below(6) == 0};
  p->options.tile = below(3) == 0 ? 32 + below(200) : 0;
  p->options.strategy = random_strategy();
  if (p->options.strategy != NULL && strncmp(p->options.strategy, "tile=", 5) == 0)
    p->options.tile = 0; /* two extents are refused */
  p->options.ring = (size_t)(1 + below(64)) << 20;
  for (int d = 0; d < p->machine->devices; d++)
    p->options.budget[d] = below(3) ? random_budget() : (size_t)1 << 32;
}

/* A budget that is too small is refused with one that is not. */
static tsr_status make_plan(problem *p, tsr_plan **plan) {
  tsr_status status = tsr_plan_make(p->machine, &p->call, &p->options, plan);
  if (status != TSR_ERR_MEMORY) return status;
  const char *named = strstr(tsr_message(), "give at least ");
  assert_non_null(named);
  size_t least = (size_t)strtoull(named + strlen("give at least "), NULL, 10);
  for (int d = 0; d < p->machine->devices; d++) p->options.budget[d] = least;
  return tsr_plan_make(p->machine, &p->call, &p->options, plan);
}

/* Nothing is loaded with less than the lower bound says. */
static void check_loads(const tsr_plan *plan, int number) {
  tsr_loads loads[TSR_MACHINE_DEVICES];
  if (plan->devices == 0) return;
  tsr_loads_count(plan, loads);
  for (int d = 0; d < plan->machine_devices; d++)
    if (loads[d].host + loads[d].peers < (1 - 1e-9) * loads[d].bound)
      fail_msg("problem %d, %s: device %d loads %g bytes, the lower bound is %g", number,
               tsr_operation_name(plan->call.operation), d, loads[d].host + loads[d].peers,
               loads[d].bound);
}

static const char *memory_of(const tsr_operand *o) {
  if (o->memory == TSR_PAGEABLE && o->pinned_end > 0) return "partly pinned";
  return o->memory == TSR_PINNED ? "pinned" : o->memory == TSR_DEVICE ? "device" : "pageable";
}

/* What the problem is, for messages. */
static const char *describe(problem *p, int number) {
  const tsr_call *c = &p->call;
  char homes[TSR_OPERANDS][40];
  for (int x = 0; x < TSR_OPERANDS; x++) {
    char name[TSR_LOCATION_NAME];
    tsr_location_name(p->machine, c->operand[x].location, name);
    snprintf(homes[x], sizeof homes[x], "%s %s", memory_of(&c->operand[x]), name);
  }
  snprintf(p->text, sizeof p->text,
           "problem %d (%s): %s m %d n %d k %d type %c ops %c%c side %c uplo %c alpha %d beta %d, "
           "%s, %s, %s, tile %d strategy %s",
           number, p->machine->name, tsr_operation_name(c->operation), (int)c->m, (int)c->n,
           (int)c->k, c->type, c->transa, c->transb, c->side, c->uplo, c->alpha, c->beta, homes[0],
           homes[1], homes[2], (int)p->options.tile,
           p->options.strategy ? p->options.strategy : "-");
  return p->text;
}

static void check_plan(problem *p, int number) {
  tsr_plan *plan = NULL;
  tsr_status status = make_plan(p, &plan);
  if (status == TSR_OK) status = tsr_plan_verify(plan, p->machine, p->options.budget);
  if (status != TSR_OK) fail_msg("%s: %s", describe(p, number), tsr_message());
  if (plan->devices > 0 && plan->seconds < (1 - 1e-6) * plan->floor)
    fail_msg("%s: predicted %g s is below the floor, %g s", describe(p, number), plan->seconds,
             plan->floor);
  check_loads(plan, number);
  tsr_plan_free(plan);
}

static uint64_t seed_of_all(void) {
  const char *seed = getenv("TSR_TEST_SEED");
  return seed ? strtoull(seed, NULL, 10) : 12345;
}

/* Makes so many plans on these machines. */
static void make_plans(const char *const *strings, int machine_count, int plans) {
  uint64_t seed = seed_of_all();
  for (int i = 0; i < plans; i++) {
    problem p = {0};
    state = (uint64_t)i * 7919 + seed;
    for (int j = 0; j < 4; j++) next_random();
    assert_int_equal(tsr_machine_parse(strings[below(machine_count)], &p.machine), TSR_OK);
    random_call(&p);
    random_options(&p);
    check_plan(&p, i);
    tsr_machine_destroy(p.machine);
  }
}

static int count_of(int otherwise) {
  const char *count = getenv("TSR_TEST_PLANS");
  return count ? atoi(count) : otherwise;
}

static void random_plans(void **unused) {
  (void)unused;
  make_plans(machines, MACHINES, count_of(1500));
}

static void random_plans_on_sockets(void **unused) {
  (void)unused;
  make_plans(sockets, SOCKETS, count_of(150));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_plans),
                                     cmocka_unit_test(random_plans_on_sockets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
