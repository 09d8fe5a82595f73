/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Operands at home on a device whose columns are not aligned: kernels read copies and write to W,
 * where that pays. */
#include "planning.h"

static const char *const machine_string = "host:200 gpu*2@nvlink:300";

/* Operands, as bits, that products use at their homes. */
static unsigned used_in_place(const tsr_plan *plan) {
  unsigned used = 0;
  for (size_t i = 0; i < plan->commands.count; ++i) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL || c->kernel != TSR_KERNEL_GEMM) continue;
    for (int x = 0; x < 3; ++x)
      if (plan->buffers.items[c->buffer[x]].role == TSR_BUFFER_HOME) used |= 1u << x;
  }
  return used;
}

typedef struct apart_case {
  char type;
  const char *homes;
  int64_t order, k;
  unsigned odd; /* operands, as bits, that are not aligned */
  size_t budget;
  double beta;
  unsigned expected; /* those that are used in place */
} apart_case;

enum { A = 1, B = 2, C = 4, ALL = 7 };

static const size_t ample = (size_t)64 << 30;

static void check(const tsr_machine *machine, const apart_case *x) {
  planning_case c = {x->type, 'N', 'N', x->order, x->order, x->k, 1, x->beta, x->homes, 0};
  tsr_call call = planning_call(machine, &c);
  tsr_plan_options options = planning_options(machine, 0);
  options.search_seconds = 2e-3;
  options.strategy = "kind=panels"; /* slices sum in W wherever C is */
  for (int d = 0; d < machine->devices; ++d) options.budget[d] = x->budget;
  for (int o = 0; o < TSR_OPERANDS; ++o)
    if (x->odd >> o & 1) call.operand[o].alignment = 1;
  tsr_plan *plan = NULL;
  must(tsr_plan_make(machine, &call, &options, &plan));
  must(tsr_plan_verify(plan, machine, options.budget));
  unsigned used = used_in_place(plan);
  if (used != x->expected)
    fail_msg("%c %lld, k %lld, %s, odd %u: %u are used in place, not %u", x->type,
             (long long)x->order, (long long)x->k, x->homes, x->odd, used, x->expected);
  tsr_plan_free(plan);
}

static void check_all(const apart_case *cases, size_t count) {
  tsr_machine *machine = planning_machine(machine_string);
  for (size_t i = 0; i < count; ++i) check(machine, &cases[i]);
  tsr_machine_destroy(machine);
}

static void operands_that_are_not_aligned(void **state) {
  static const apart_case cases[] = {
      {'d', "000", 8191, 8191, 0, ample, 1, ALL},   {'d', "000", 8191, 8191, A, ample, 1, B | C},
      {'d', "000", 8191, 8191, B, ample, 1, A | C}, {'d', "000", 8191, 8191, C, ample, 1, A | B},
      {'d', "000", 8191, 8191, C, ample, 0, A | B}, {'h', "000", 8191, 8191, ALL, ample, 1, 0},
      {'t', "010", 8191, 8191, ALL, ample, 0, 0},
  };
  (void)state;
  check_all(cases, sizeof cases / sizeof *cases);
}

static void where_copies_do_not_pay(void **state) {
  static const apart_case cases[] = {
      {'s', "000", 8191, 8191, ALL, ample, 1, ALL}, /* no slower */
      {'d', "000", 8191, 256, ALL, ample, 1, ALL},
      {'d', "000", 1023, 8191, ALL, ample, 1, ALL},
      {'d', "000", 8191, 8191, ALL, (size_t)2 << 30, 1, ALL}, /* three of 537 MB, twice */
      {'d', "ppp", 8191, 8191, ALL, ample, 1, 0},             /* where they are is no matter */
  };
  (void)state;
  check_all(cases, sizeof cases / sizeof *cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operands_that_are_not_aligned),
      cmocka_unit_test(where_copies_do_not_pay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
