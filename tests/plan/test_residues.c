/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans of products in residues: they are verified, and plans with wrong residues are not. */
/* Slow: 18 s of a core. */
#include <math.h>

#include "blas/family.h"
#include "plan/names.h"
#include "planning.h"

static tsr_plan *emulated_plan_of(const tsr_machine *machine, const planning_case *c, int moduli,
                                  bool keeps_lines) {
  tsr_call call = planning_call(machine, c);
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  call.arithmetic = tsr_residues_of(moduli);
  call.promise.keeps_lines = keeps_lines;
  must(tsr_plan_make(machine, &call, &options, &plan));
  return plan;
}

static tsr_plan *emulated_plan(const tsr_machine *machine, const planning_case *c, int moduli) {
  return emulated_plan_of(machine, c, moduli, false);
}

static tsr_command *find(const tsr_plan *plan, tsr_kernel kernel) {
  for (size_t i = 0; i < plan->commands.count; i++) {
    tsr_command *c = &plan->commands.items[i];
    if (c->kind == TSR_COMMAND_KERNEL && c->kernel == kernel) return c;
  }
  fail_msg("the plan has no %s", tsr_kernel_get(kernel)->name);
  return NULL;
}

static const planning_case usual = {'d', 'N', 'N', 3000, 2600, 2000, 1, 1, "ppp", 0};

/* All types, transpositions and homes, on one device and several. */
static void plans_are_verified(void **state) {
  (void)state;
  static const char *const machines[] = {"host:200 gpu*1 pcie:25 rate:19",
                                         "host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19"};
  static const planning_case cases[] = {
      {'d', 'N', 'N', 3000, 2600, 2000, 1, 1, "ppp", 0},
      {'s', 'T', 'N', 900, 5000, 3000, 0.5, 0, "hhh", 0},
      {'z', 'C', 'T', 700, 800, 900, 1, 0.5, "php", 0},
      {'c', 'N', 'C', 1500, 300, 4000, 2, 1, "0pp", 0},
      {'d', 'T', 'T', 1, 7, 100000, 1, 0, "ppp", 0},
      {'s', 'N', 'T', 5000, 5000, 1, 1, 1, "000", 0},
  };
  for (int m = 0; m < 2; m++) {
    tsr_machine *machine = planning_machine(machines[m]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      tsr_plan *plan = emulated_plan_of(machine, &cases[i], 7 + (int)i, i % 2);
      tsr_plan_options options = planning_options(machine, 0);
      must(tsr_plan_verify(plan, machine, options.budget));
      find(plan, TSR_KERNEL_RESIDUES);
      find(plan, TSR_KERNEL_RESIDUE_GEMM);
      assert_true(plan->seconds > 0 && plan->floor > 0);
      assert_true(plan->seconds > 0.9 * plan->floor);
      tsr_plan_free(plan);
    }
    tsr_machine_destroy(machine);
  }
}

/* The residues of each line are made once on each device that uses them. */
static void residues_are_made_once(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19");
  tsr_plan *plan = emulated_plan(machine, &usual, 14);
  int64_t lines[TSR_MACHINE_DEVICES][2] = {{0}};
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL || c->kernel != TSR_KERNEL_RESIDUES) continue;
    int matrix = plan->buffers.items[c->buffer[2]].matrix;
    assert_int_equal(c->m, usual.k);
    lines[plan->queue[c->queue].location][matrix == TSR_RB] += c->n;
  }
  int64_t all[2] = {0, 0};
  for (int d = 0; d < machine->devices; d++) {
    assert_true(lines[d][0] <= usual.m && lines[d][1] <= usual.n);
    for (int x = 0; x < 2; x++) all[x] += lines[d][x];
  }
  assert_int_equal(all[0], usual.m * plan->grid_cols);
  assert_int_equal(all[1], usual.n * plan->grid_rows);
  tsr_plan_free(plan);
  tsr_machine_destroy(machine);
}

/* How many kernels of a kind a plan has. */
static int count(const tsr_plan *plan, tsr_kernel kernel) {
  int found = 0;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    found += c->kind == TSR_COMMAND_KERNEL && c->kernel == kernel;
  }
  return found;
}

/* Plans of a call with so many times the least memory are verified, hold their budgets and multiply
 * in residues; with a quarter of it there is no plan. */
static void check_budgets(const tsr_machine *machine, const tsr_call *call, const size_t *times,
                          size_t length) {
  tsr_plan_options options = planning_options(machine, 0);
  bool beside = tsr_family_of(call->operation) == TSR_TRIANGLE;
  options.search_seconds = 0.01;
  size_t least = tsr_plan_form_need(call, &options);
  for (size_t b = 0; b <= length; b++) {
    tsr_plan *plan = NULL;
    size_t budget = b < length ? times[b] * least : least / 4;
    for (int d = 0; d < machine->devices; d++) options.budget[d] = budget;
    tsr_status status = tsr_plan_make(machine, call, &options, &plan);
    if (budget < least) {
      assert_int_equal(status, TSR_ERR_MEMORY);
      assert_non_null(strstr(tsr_message(), "residues"));
      continue;
    }
    must(status);
    must(tsr_plan_verify(plan, machine, options.budget));
    assert_true(plan->seconds >= plan->floor);
    /* With much memory a triangle beside C may be one block, which is native. */
    assert_true(count(plan, TSR_KERNEL_RESIDUE_GEMM) > 0 || (beside && budget > least));
    assert_int_equal(count(plan, TSR_KERNEL_GEMM), 0);
    tsr_plan_free(plan);
  }
}

/* With short memory down to the least, plans are verified, hold their budgets and make residues
 * again; far below it there is no plan. */
static void any_budget_does(void **state) {
  (void)state;
  static const char *const machines[] = {"host:200 gpu*1 pcie:25 rate:19",
                                         "host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19",
                                         "host:200 gpu*2 pcie:25 rate:19"};
  static const planning_case cases[] = {
      {'d', 'N', 'N', 250, 300, 2000, 1, 1, "ppp", 0},
      {'s', 'T', 'N', 200, 450, 300, 0.5, 0, "hhh", 0},
      {'z', 'C', 'T', 90, 200, 900, 1, 0.5, "php", 0},
      {'c', 'N', 'C', 300, 30, 400, 2, 1, "0pp", 0},
      {'d', 'T', 'T', 1, 7, 100000, 1, 0, "ppp", 0},
  };
  static const size_t times[] = {100, 30, 7, 2, 1};
  for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
    tsr_machine *machine = planning_machine(machines[m]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      tsr_call call = planning_call(machine, &cases[i]);
      call.arithmetic = tsr_residues_of(7);
      check_budgets(machine, &call, times, sizeof times / sizeof *times);
    }
    tsr_machine_destroy(machine);
  }
}

/* More memory makes fewer residues and takes less time. */
static void memory_saves_time(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("h200x4");
  const planning_case large = {'d', 'N', 'N', 65536, 65536, 65536, 1, 1, "ppp", 0};
  const size_t budgets[] = {(size_t)4 << 30, (size_t)16 << 30, (size_t)100 << 30};
  double before = INFINITY;
  int made = INT32_MAX;
  for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
    tsr_call call = planning_call(machine, &large);
    tsr_plan_options options = planning_options(machine, 0);
    tsr_plan *plan = NULL;
    call.arithmetic = tsr_residues_of(14);
    options.search_seconds = 0.2;
    for (int d = 0; d < machine->devices; d++) options.budget[d] = budgets[b];
    must(tsr_plan_make(machine, &call, &options, &plan));
    assert_true(plan->seconds <= 1.001 * before);
    assert_true(count(plan, TSR_KERNEL_RESIDUES) <= made);
    before = plan->seconds;
    made = count(plan, TSR_KERNEL_RESIDUES);
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

/* A change of one command of a right plan, and what the verifier says of it. */
typedef struct fault {
  const char *says;
  tsr_kernel kernel;
  void (*change)(tsr_plan *plan, tsr_command *command);
} fault;

static void shorten(tsr_plan *plan, tsr_command *c) {
  (void)plan;
  *(c->kernel == TSR_KERNEL_RESIDUES ? &c->m : &c->k) -= 8;
}

static void shift(tsr_plan *plan, tsr_command *c) {
  (void)plan;
  c->row[0] += c->n > 1 ? 1 : 0;
  c->n--;
}

static void exchange(tsr_plan *plan, tsr_command *c) {
  (void)plan;
  int32_t other = c->buffer[0];
  c->buffer[0] = c->buffer[1];
  c->buffer[1] = other;
}

static void conjugate(tsr_plan *plan, tsr_command *c) {
  (void)plan;
  tsr_form form = tsr_form_unpack(c->form);
  form.transb = TSR_CONJ_TRANS;
  c->form = tsr_form_pack(form);
}

static void make_native(tsr_plan *plan, tsr_command *c) {
  (void)plan;
  c->kernel = TSR_KERNEL_GEMM;
}

static void forget_moduli(tsr_plan *plan, tsr_command *c) {
  (void)c;
  plan->call.arithmetic = NULL;
}

static void add_moduli(tsr_plan *plan, tsr_command *c) {
  (void)c;
  plan->call.arithmetic++;
}

static void do_nothing_first(tsr_plan *plan, tsr_command *c) {
  (void)plan;
  c->waits = 0;
}

static void wrong_plans_are_refused(void **state) {
  (void)state;
  static const fault faults[] = {
      {"one scale for all of k", TSR_KERNEL_RESIDUES, shorten},
      {"one scale for all of k", TSR_KERNEL_RESIDUE_GEMM, shorten},
      {"do not meet", TSR_KERNEL_RESIDUES, shift},
      {"of R", TSR_KERNEL_RESIDUE_GEMM, exchange},
      {"conjugates", TSR_KERNEL_RESIDUES, conjugate},
      {"is of R", TSR_KERNEL_RESIDUE_GEMM, make_native},
      {"R", TSR_KERNEL_RESIDUES, forget_moduli},
      {"too few", TSR_KERNEL_RESIDUES, add_moduli},
      {"without waiting", TSR_KERNEL_RESIDUE_GEMM, do_nothing_first},
  };
  tsr_machine *machine = planning_machine("host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19");
  tsr_plan_options options = planning_options(machine, 0);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    tsr_plan *plan = emulated_plan(machine, &usual, 14);
    faults[i].change(plan, find(plan, faults[i].kernel));
    if (tsr_plan_verify(plan, machine, options.budget) != TSR_ERR_CHECK)
      fail_msg("fault %zu is not found", i);
    if (strstr(tsr_message(), faults[i].says) == NULL)
      fail_msg("fault %zu: \"%s\" does not say \"%s\"", i, tsr_message(), faults[i].says);
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

/* ---- Other routines ---- */

/* A call of a routine in residues with matrices of n x n in pinned memory. */
static tsr_call level3_call(const tsr_machine *machine, tsr_operation operation, tsr_side side,
                            tsr_uplo uplo, int64_t n, double beta_value) {
  const double alpha[2] = {0.5, 0}, beta[2] = {beta_value, 0};
  bool hermitian = operation == TSR_HERK || operation == TSR_HER2K || operation == TSR_HEMM;
  tsr_level3 what = {.operation = operation,
                     .type = hermitian ? TSR_Z : TSR_D,
                     .layout = TSR_COL_MAJOR,
                     .side = side,
                     .uplo = uplo,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .diag = TSR_NON_UNIT,
                     .m = n,
                     .n = n,
                     .k = n,
                     .lda = n,
                     .ldb = n,
                     .ldc = n};
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  must(tsr_call_level3(&what, alpha, NULL, NULL, beta, NULL, false, &call, &binding, &exchanged));
  planning_pin(machine, &call);
  call.arithmetic = tsr_residues_of(14);
  call.promise.keeps_lines = true;
  return call;
}

/* An emulated plan of a routine with matrices of 3000 x 3000. */
static tsr_plan *level3_plan(const tsr_machine *machine, tsr_operation operation, tsr_side side,
                             tsr_uplo uplo) {
  tsr_call call = level3_call(machine, operation, side, uplo, 3000, 1);
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  options.strategy = "any/block=512";
  must(tsr_plan_make(machine, &call, &options, &plan));
  return plan;
}

/* Plans of every routine, on both sides and for both triangles, multiply in residues and pass the
 * verifier. */
static void routines_are_verified(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("host:200 gpu*3@nvswitch:300 pcie:25 rate:19");
  tsr_plan_options options = planning_options(machine, 0);
  for (int operation = TSR_GEMMT; operation <= TSR_TRSM; operation++)
    for (int variant = 0; variant < 4; variant++) {
      tsr_plan *plan =
          level3_plan(machine, (tsr_operation)operation, variant & 1 ? TSR_LEFT : TSR_RIGHT,
                      variant & 2 ? TSR_LOWER : TSR_UPPER);
      must(tsr_plan_verify(plan, machine, options.budget));
      find(plan, TSR_KERNEL_RESIDUES);
      find(plan, TSR_KERNEL_RESIDUE_GEMM);
      tsr_plan_free(plan);
    }
  tsr_machine_destroy(machine);
}

/* Any budget does for every routine, with a C that is read or not, in host memory or on a device.
 */
static void any_budget_does_for_routines(void **state) {
  (void)state;
  static const char *const machines[] = {"host:200 gpu*1 pcie:25 rate:19",
                                         "host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19"};
  static const size_t times[] = {40, 7, 2, 1};
  for (int m = 0; m < 2; m++) {
    tsr_machine *machine = planning_machine(machines[m]);
    for (int operation = TSR_GEMMT; operation <= TSR_TRSM; operation++)
      for (int variant = 0; variant < 8; variant++) {
        tsr_side side = (variant & 1) == (variant >> 1 & 1) ? TSR_LEFT : TSR_RIGHT;
        tsr_call call = level3_call(machine, (tsr_operation)operation, side,
                                    variant & 1 ? TSR_LOWER : TSR_UPPER, 80, variant & 2 ? 1 : 0);
        if (variant & 4) call.operand[TSR_C_].memory = TSR_DEVICE;
        if (variant & 4) call.operand[TSR_C_].location = 0;
        check_budgets(machine, &call, times, sizeof times / sizeof *times);
      }
    tsr_machine_destroy(machine);
  }
}

static void turn(tsr_plan *plan, tsr_command *c) {
  (void)plan;
  tsr_form form = tsr_form_unpack(c->form);
  form.transa = form.transa == TSR_NO_TRANS ? TSR_TRANS : TSR_NO_TRANS;
  c->form = tsr_form_pack(form);
}

static void exchange_triangles(tsr_plan *plan, tsr_command *c) {
  (void)plan;
  tsr_form form = tsr_form_unpack(c->form);
  form.uplo = form.uplo == TSR_LOWER ? TSR_UPPER : TSR_LOWER;
  c->form = tsr_form_pack(form);
}

/* The command that makes residues of a matrix. */
static tsr_command *find_making(const tsr_plan *plan, int matrix) {
  for (size_t i = 0; i < plan->commands.count; i++) {
    tsr_command *c = &plan->commands.items[i];
    bool makes = c->kind == TSR_COMMAND_KERNEL && c->kernel == TSR_KERNEL_RESIDUES;
    if (makes && plan->buffers.items[c->buffer[0]].matrix == matrix) return c;
  }
  fail_msg("the plan makes no residues of %s", tsr_matrix_name(matrix));
  return NULL;
}

/* Residues of a block that is not solved yet, lines along the wrong direction, and a product that
 * writes the other triangle of C. */
static void wrong_routines_are_refused(void **state) {
  (void)state;
  static const struct {
    tsr_operation operation;
    int made_of; /* or -1: a product */
    void (*change)(tsr_plan *plan, tsr_command *command);
  } faults[] = {{TSR_TRSM, TSR_C_, do_nothing_first},
                {TSR_SYMM, TSR_A, turn},
                {TSR_SYRK, TSR_A, turn},
                {TSR_SYRK, -1, exchange_triangles}};
  tsr_machine *machine = planning_machine("host:200 gpu*2@nvswitch:300 pcie:25 rate:19");
  tsr_plan_options options = planning_options(machine, 0);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    tsr_plan *plan = level3_plan(machine, faults[i].operation, TSR_LEFT, TSR_LOWER);
    bool product = faults[i].made_of < 0;
    faults[i].change(
        plan, product ? find(plan, TSR_KERNEL_RESIDUE_GEMM) : find_making(plan, faults[i].made_of));
    if (tsr_plan_verify(plan, machine, options.budget) != TSR_ERR_CHECK)
      fail_msg("fault %zu is not found", i);
    tsr_plan_free(plan);
  }
  tsr_machine_destroy(machine);
}

/* More moduli take more memory and more time, and so do lines that are kept. */
static void moduli_cost(void **state) {
  (void)state;
  tsr_machine *machine = planning_machine("h200x4");
  const planning_case resident = {'d', 'N', 'N', 8192, 8192, 8192, 1, 0, "000", 0};
  tsr_plan *few = emulated_plan(machine, &resident, 8),
           *many = emulated_plan(machine, &resident, 16);
  assert_true(few->floor < many->floor);
  assert_true(few->seconds < many->seconds);
  tsr_plan *keeping = emulated_plan_of(machine, &resident, 8, true);
  assert_true(few->arena[0] < keeping->arena[0] && few->seconds < keeping->seconds);
  tsr_plan_free(keeping);
  tsr_plan_free(few);
  tsr_plan_free(many);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(plans_are_verified),
                                     cmocka_unit_test(residues_are_made_once),
                                     cmocka_unit_test(any_budget_does),
                                     cmocka_unit_test(memory_saves_time),
                                     cmocka_unit_test(wrong_plans_are_refused),
                                     cmocka_unit_test(moduli_cost),
                                     cmocka_unit_test(routines_are_verified),
                                     cmocka_unit_test(wrong_routines_are_refused),
                                     cmocka_unit_test(any_budget_does_for_routines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
