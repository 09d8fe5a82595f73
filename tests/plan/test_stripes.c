/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Stripes beside a triangle that go through k-panels: which blocks one product serves, and how the
 * first k-panel begins. Every plan is verified. */
#include "plan/planning.h"

enum { N = 4096 };

static tsr_plan *make(const char *words, tsr_operation operation, int devices, tsr_side side,
                      tsr_uplo uplo, tsr_op op) {
  char text[64];
  snprintf(text, sizeof text, "host:400 gpu*%d:80@nvswitch:300 pcie:50 rate:50", devices);
  tsr_machine *machine = planning_machine(text);
  tsr_call call = planning_square(machine, operation, 'd', N, 1);
  call.side = side;
  call.uplo = uplo;
  if (operation != TSR_SYMM) call.transa = op;
  tsr_plan_options options = planning_options(machine, 0);
  options.strategy = words;
  tsr_plan *plan = NULL;
  must(tsr_plan_make(machine, &call, &options, &plan));
  must(tsr_plan_verify(plan, machine, options.budget));
  tsr_machine_destroy(machine);
  return plan;
}

static tsr_plan *make_left(const char *words, tsr_operation operation) {
  return make(words, operation, 1, TSR_LEFT, TSR_LOWER, TSR_NO_TRANS);
}

static int count_products(const tsr_plan *plan) {
  int count = 0;
  for (size_t i = 0; i < plan->commands.count; i++)
    count += plan->commands.items[i].kind == TSR_COMMAND_KERNEL &&
             plan->commands.items[i].kernel == TSR_KERNEL_GEMM;
  return count;
}

/* Eight blocks and k-panels of one block: each k-panel has one product with all blocks behind it
 * that come in one copy of A. */
static void one_product_serves_the_blocks_behind(void **state) {
  (void)state;
  static const struct {
    int span, products;
  } cases[] = {{1, 7 + 6 + 5 + 4 + 3 + 2 + 1}, {4, 2 + 2 + 2 + 1 + 1 + 1 + 1}, {8, 7}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int operation = 0; operation < 2; operation++) {
      char words[128];
      snprintf(words, sizeof words,
               "kind=stripes block=512 span=%d stripe=0 taper=0 kpanel=512,512 kpanels=all "
               "nblock.first=0",
               cases[i].span);
      tsr_plan *plan = make_left(words, operation ? TSR_TRSM : TSR_TRMM);
      assert_int_equal(count_products(plan), cases[i].products);
      tsr_plan_free(plan);
    }
}

/* The first kernel of a plan: when it begins, and its columns. */
static double first_kernel(const tsr_plan *plan, int *columns) {
  const tsr_command *first = NULL;
  for (size_t i = 0; i < plan->commands.count; i++) {
    const tsr_command *c = &plan->commands.items[i];
    if (c->kind != TSR_COMMAND_KERNEL || c->kernel == TSR_KERNEL_INVERT) continue;
    if (first == NULL || c->begin < first->begin) first = c;
  }
  assert_non_null(first);
  *columns = (int)first->n;
  return (double)first->begin;
}

static void the_first_k_panel_begins_with_few_lines(void **state) {
  (void)state;
  static const tsr_operation operations[] = {TSR_SYMM, TSR_TRMM, TSR_TRSM};
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    double begin[2];
    int columns[2], products[2];
    for (int few = 0; few < 2; few++) {
      char words[160];
      snprintf(words, sizeof words,
               "kind=stripes block=512 span=4 stripe=2048 taper=0 kpanel=1024,1024 kpanels=first "
               "nblock.first=%d piece=4M c=first",
               few ? 512 : 0);
      tsr_plan *plan = make_left(words, operations[i]);
      begin[few] = first_kernel(plan, &columns[few]);
      products[few] = count_products(plan);
      tsr_plan_free(plan);
    }
    assert_int_equal(columns[0], 2048);
    assert_int_equal(columns[1], 512);
    assert_true(products[1] > products[0]);
    if (!(begin[1] < begin[0])) fail_msg("%g s with few lines, %g with all", begin[1], begin[0]);
  }
}

/* The last block, copy, part and stripe may be shorter than the others. */
static void every_form_is_right(void **state) {
  (void)state;
  static const tsr_operation operations[] = {TSR_SYMM, TSR_TRMM, TSR_TRSM};
  static const char *const words[] = {
      "kind=stripes block=700 span=2 stripe=1500 taper=300 kpanel=1400,1400 nblock.first=400",
      "kind=stripes block=300 span=4 stripe=4000 kpanel=300 kpanels=first nblock.first=900",
      "kind=stripes block=1000 span=3 stripe=1700 kpanel=1000,2000 kpanels=all nblock.first=512",
      "kind=stripes block=500 span=3 stripe=2048 kpanel=500,500 kpanels=all"};
  for (int f = 0; f < 8; f++)
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        tsr_plan_free(make(words[i], operations[o], 1 + (f + (int)i) % 2,
                           f & 1 ? TSR_RIGHT : TSR_LEFT, f & 2 ? TSR_UPPER : TSR_LOWER,
                           f & 4 ? TSR_TRANS : TSR_NO_TRANS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_product_serves_the_blocks_behind),
      cmocka_unit_test(the_first_k_panel_begins_with_few_lines),
      cmocka_unit_test(every_form_is_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
