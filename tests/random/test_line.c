/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The printed line of a problem is the problem. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "problem.h"

enum { PROBLEMS = 2000 };

static void test_lines_replay(void **state) {
  (void)state;
  problem_range range = {"host", 8, PROBLEM_ANY};
  for (int64_t i = 0; i < PROBLEMS; ++i) {
    char line[PROBLEM_LINE], again[PROBLEM_LINE];
    const char *wrong;
    problem p, read;
    problem_draw(3, i, &range, &p);
    problem_print(&p, line);
    if (!problem_parse(line, &read, &wrong)) fail_msg("not understood at %s", wrong);
    problem_print(&read, again);
    assert_string_equal(line, again);
  }
}

/* Lines from before there were other operations. */
static void test_gemm_is_meant(void **state) {
  (void)state;
  const char *wrong;
  problem p;
  assert_true(problem_parse("engine=host devices=2 type=z ta=C m=5 n=6 k=7", &p, &wrong));
  assert_int_equal(p.operation, TSR_GEMM);
  assert_true(problem_parse("op=gemm type=d", &p, &wrong));
  assert_int_equal(p.operation, TSR_GEMM);
  assert_false(problem_parse("type=d op=gemv", &p, &wrong));
  assert_string_equal(wrong, " op=gemv");
}

/* An operation is not asked for what it has not. */
static void test_drawn_problems_are_valid(void **state) {
  (void)state;
  for (int operation = 0; operation < PROBLEM_OPERATIONS; ++operation) {
    problem_range range = {"host", 8, operation};
    for (int64_t i = 0; i < PROBLEMS; ++i) {
      problem p;
      problem_draw(4, i, &range, &p);
      assert_int_equal(p.operation, operation);
      if (operation == TSR_GEMM) continue;
      assert_non_null(strchr(problem_hermitian(&p) ? "cz" : "sdcz", p.type));
      if (operation == TSR_HERK || operation == TSR_HER2K) assert_int_not_equal(p.ta, 'T');
      if ((operation == TSR_SYRK || operation == TSR_SYR2K) && problem_is_complex(&p))
        assert_int_not_equal(p.ta, 'C');
    }
  }
}

/* ---- What the sample of every test run has in it ---- */

/* The flags that the operation has, in a number below 128. */
static int flags_of(const problem *p) {
  problem_kind kind = problem_kind_of(p);
  int op[2] = {p->ta == 'N' ? 0 : p->ta == 'T' ? 1 : 2, p->tb == 'N' ? 0 : p->tb == 'T' ? 1 : 2};
  int side = p->side == 'L', uplo = p->uplo == 'L', diag = p->diag == 'U';
  if (kind == KIND_PRODUCT) return op[0] + 3 * op[1] + 9 * (p->operation == TSR_GEMMT ? uplo : 0);
  if (kind == KIND_FACTOR) return uplo;
  if (kind == KIND_SYMMETRIC) return side + 2 * uplo;
  if (kind == KIND_TRIANGULAR) return op[0] + 3 * side + 6 * uplo + 12 * diag;
  return op[0] + 3 * uplo;
}

static int count_flags(const bool seen[128]) {
  int count = 0;
  for (int i = 0; i < 128; ++i) count += seen[i];
  return count;
}

/* Every operation in every type it has, and with every combination of its flags in both layouts. */
static void test_sample_has_everything(void **state) {
  (void)state;
  static const struct {
    const char *types;
    int flags;
  } wanted[PROBLEM_OPERATIONS] = {
      [TSR_GEMM] = {"sdczhbt", 9}, [TSR_GEMMT] = {"sdcz", 18},   [TSR_SYMM] = {"sdcz", 4},
      [TSR_HEMM] = {"cz", 4},      [TSR_SYRK] = {"sdcz", 6},     [TSR_HERK] = {"cz", 4},
      [TSR_SYR2K] = {"sdcz", 6},   [TSR_HER2K] = {"cz", 4},      [TSR_TRMM] = {"sdcz", 24},
      [TSR_TRSM] = {"sdcz", 24},   [PROBLEM_POTRF] = {"sdcz", 2}};
  static bool types[PROBLEM_OPERATIONS][128], flags[PROBLEM_OPERATIONS][2][128];
  problem_range range = {"host", 8, PROBLEM_ANY};
  assert_true(SAMPLE_COUNT >= 3000);
  for (int64_t i = 0; i < SAMPLE_COUNT; ++i) {
    problem p;
    problem_draw(SAMPLE_SEED, i, &range, &p);
    types[p.operation][(unsigned char)p.type] = true;
    flags[p.operation][p.layout == 'R'][flags_of(&p)] = true;
  }
  for (int o = 0; o < PROBLEM_OPERATIONS; ++o) {
    for (const char *type = wanted[o].types; *type; ++type)
      if (!types[o][(unsigned char)*type])
        fail_msg("no %s of type %c", problem_operation_name((tsr_operation)o), *type);
    for (int rows = 0; rows < 2; ++rows)
      if (count_flags(flags[o][rows]) != wanted[o].flags)
        fail_msg("%s: %d combinations of flags, not %d", problem_operation_name((tsr_operation)o),
                 count_flags(flags[o][rows]), wanted[o].flags);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines_replay),
      cmocka_unit_test(test_gemm_is_meant),
      cmocka_unit_test(test_drawn_problems_are_valid),
      cmocka_unit_test(test_sample_has_everything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
