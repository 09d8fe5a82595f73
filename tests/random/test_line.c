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
  for (int operation = 0; operation < TSR_OPERATION_COUNT; ++operation) {
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines_replay),
      cmocka_unit_test(test_gemm_is_meant),
      cmocka_unit_test(test_drawn_problems_are_valid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
