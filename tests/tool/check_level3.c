/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The check of level-3 operations: right results pass, one wrong entry does not, and what is not
 * stored is not read. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random.h"
#include "verify_level3.h"

enum { M = 37, N = 29, K = 23, MOST = 40 * 40 };

typedef struct problem {
  verify_call call;
  double data[3][2 * MOST];
} problem;

static size_t index_of(const matrix_view *m, int64_t row, int64_t col) {
  return (size_t)(row + col * m->rows) * (element_is_complex(m->type) ? 2 : 1);
}

static bool is_stored(tsr_uplo uplo, int64_t row, int64_t col) {
  return uplo == TSR_LOWER ? row >= col : row <= col;
}

/* NaN where nothing may be read: outside the triangle, and the diagonal when it is of ones. */
static void hide(const verify_call *call, int operand, double *data) {
  const matrix_view *m = &call->stored[operand];
  bool unit = operand == 0 && call->what.diag == TSR_UNIT;
  for (int64_t col = 0; col < m->cols; col++) {
    for (int64_t row = 0; row < m->rows; row++) {
      bool seen = is_stored(call->what.uplo, row, col) && !(unit && row == col);
      if (!seen) data[index_of(m, row, col)] = NAN;
    }
  }
}

static void fill(problem *p) {
  const tsr_level3 *w = &p->call.what;
  const operation_info *info = operation_get(w->operation);
  for (int i = 0; i < 3; i++) {
    int64_t rows, cols;
    operation_stored(w, i, &rows, &cols);
    random_fill(w->type, 7 + (uint64_t)i, 0, rows * cols, p->data[i]);
    p->call.stored[i] = matrix_of(w->type, p->data[i], true, rows, cols);
  }
  bool sided = info->flags[0] == 's';
  /* Diagonals away from 0, for what is solved. */
  for (int64_t i = 0; sided && i < w->k; i++) {
    p->data[0][index_of(&p->call.stored[0], i, i)] += 8;
  }
  if (sided) hide(&p->call, 0, p->data[0]);
  if (info->triangle) hide(&p->call, 2, p->data[2]);
}

static bool passes(problem *p, verify_sums *sums) {
  verify_result result;
  assert_true(verify_result_of(&p->call, sums, &result));
  return result.good;
}

static void check_problem(tsr_context *cpu, const tsr_level3 *what) {
  problem p = {.call = {.what = *what, .alpha = {1.5, 0}, .beta = {-0.5, 0}}};
  verify_sums sums = {0}, again = {0};
  bool general_alpha = what->operation != TSR_HERK && element_is_complex(what->type);
  if (general_alpha) p.call.alpha.im = 0.75;
  operation_complete(&p.call.what);
  fill(&p);
  scalar_value alpha = scalar_for(what->type, p.call.alpha);
  scalar_value beta = scalar_for(what->type, p.call.beta);
  assert_true(verify_expect(&p.call, &sums));
  assert_true(verify_expect(&p.call, &again));
  assert_int_equal(
      tsr_level3_run(cpu, &p.call.what, &alpha, p.data[0], p.data[1], &beta, p.data[2]), TSR_OK);
  assert_true(passes(&p, &sums));
  const matrix_view *c = &p.call.stored[2];
  bool lower = what->uplo == TSR_LOWER; /* a corner of the triangle that is written */
  int64_t row = lower ? c->rows - 1 : 0, col = lower ? 0 : c->cols - 1;
  p.data[2][index_of(c, row, col)] += 1e-3;
  assert_false(passes(&p, &again));
  verify_end(&sums);
  verify_end(&again);
}

static void check_operation(tsr_context *cpu, tsr_operation operation, tsr_type type) {
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  const operation_info *info = operation_get(operation);
  for (int i = 0; i < 3 * 3 * 8; i++) {
    tsr_level3 what = {.operation = operation,
                       .type = type,
                       .layout = TSR_COL_MAJOR,
                       .side = i & 1 ? TSR_RIGHT : TSR_LEFT,
                       .uplo = i & 2 ? TSR_UPPER : TSR_LOWER,
                       .diag = i & 4 && info->operands[2] == 0 ? TSR_UNIT : TSR_NON_UNIT,
                       .transa = ops[i / 8 % 3],
                       .transb = ops[i / 24],
                       .m = M,
                       .n = N,
                       .k = K};
    bool hermitian_rank = info->hermitian && info->triangle;
    bool odd = info->flags[1] == 'a' && info->flags[2] == 0 && element_is_complex(type) &&
               what.transa == (hermitian_rank ? TSR_TRANS : TSR_CONJ_TRANS);
    if (!odd) check_problem(cpu, &what);
  }
}

static void test_all_operations(void **state) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *cpu;
  (void)state;
  options.engine = "cpu";
  assert_int_equal(tsr_context_create(&options, &cpu), TSR_OK);
  for (int o = 0; o < TSR_OPERATION_COUNT; o++) {
    bool complex_only = operation_get((tsr_operation)o)->types[0] == 'c';
    if (!complex_only) check_operation(cpu, (tsr_operation)o, TSR_D);
    check_operation(cpu, (tsr_operation)o, TSR_Z);
  }
  tsr_context_destroy(cpu);
}

static void test_nothing_read(void **state) {
  (void)state;
  problem p = {.call = {.what = {.operation = TSR_SYRK,
                                 .type = TSR_D,
                                 .layout = TSR_COL_MAJOR,
                                 .uplo = TSR_LOWER,
                                 .transa = TSR_NO_TRANS,
                                 .n = N,
                                 .k = K}}};
  verify_sums sums = {0};
  operation_complete(&p.call.what);
  fill(&p);
  for (int i = 0; i < MOST; i++) p.data[0][i] = p.data[2][i] = NAN;
  assert_true(verify_expect(&p.call, &sums));
  for (int i = 0; i < MOST; i++) p.data[2][i] = 0;
  assert_true(passes(&p, &sums));
  verify_end(&sums);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_operations),
                                     cmocka_unit_test(test_nothing_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
