/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Solutions for many lines, which engines may do by the inverse of the triangle: orders around and
 * within where that is done, odd ones among them. The residual is checked of one line and of some
 * elements, and padding; NaN is in all that must not be read.
 */
#ifndef TSR_TESTS_SOLVE_CASE_H
#define TSR_TESTS_SOLVE_CASE_H

#include "level3_case.h"

enum { SOLVE_FLAGS = 24, SOLVE_SAMPLES = 200 };

static tsr_kernel_args solve_flags(tsr_type type, int f) {
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  return (tsr_kernel_args){.kernel = TSR_KERNEL_TRSM,
                           .type = type,
                           .transa = ops[f / 8],
                           .side = f & 1 ? TSR_RIGHT : TSR_LEFT,
                           .uplo = f & 2 ? TSR_UPPER : TSR_LOWER,
                           .diag = f & 4 ? TSR_UNIT : TSR_NON_UNIT};
}

static kernel_case solve_make(tsr_kernel_args flags, int64_t order, int64_t lines) {
  kernel_case test = {flags, {0, 0, 0}};
  tsr_kernel_args *x = &test.args;
  x->m = x->side == TSR_RIGHT ? lines : order;
  x->n = x->side == TSR_RIGHT ? order : lines;
  x->k = order;
  do x->alpha = case_scalar(x->type);
  while (scalar_zero(x->alpha));
  make_operands(&test);
  return test;
}

static void solve_check(const kernel_case *test, const void *before) {
  const tsr_kernel_args *x = &test->args;
  bool right = x->side == TSR_RIGHT;
  int64_t line = random_below(right ? x->m : x->n);
  for (int64_t i = 0; i < x->k; i++)
    level3_check_element(test, before, right ? line : i, right ? i : line);
  for (int i = 0; i < SOLVE_SAMPLES; i++)
    level3_check_element(test, before, random_below(x->m), random_below(x->n));
  case_check_rest(test, before);
}

static void solve_run_one(kernel_runner run, void *user, tsr_kernel_args flags, int64_t order,
                          int64_t lines) {
  kernel_case test = solve_make(flags, order, lines);
  case_run(run, user, &test, solve_check);
}

/* Every combination of flags, or every so many of them, with each order and type. */
static void solve_run(kernel_runner run, void *user, int every) {
  static const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  static const int64_t orders[] = {127, 128, 200, 256, 331, 512, 700, 1024}, lines[] = {1024, 1500};
  int next = 0;
  for (int o = 0; o < 8; o++)
    for (int t = 0; t < 4; t++)
      for (int f = 0; f < SOLVE_FLAGS; f++)
        for (int l = 0; l < 2; l++)
          if (next++ % every == 0)
            solve_run_one(run, user, solve_flags(types[t], f), orders[o], lines[l]);
}

/* More lines than are solved at once. */
static void solve_run_long(kernel_runner run, void *user) {
  for (int f = 0; f < SOLVE_FLAGS; f += 5)
    solve_run_one(run, user, solve_flags(TSR_Z, f), 1024, 4500);
}

#endif
