/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Descents over candidates with a few numbers: each kind of change, and what ends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/descent.h"

enum { TURNS = 2 };

typedef struct candidate {
  double score;
  int64_t value[TURNS];
} candidate;

typedef struct valley {
  tsr_changes turn[TURNS]; /* all but where the candidate is */
  double (*depth)(const int64_t value[TURNS]);
  int most; /* candidates */
  int made;
} valley;

static bool in_time(const void *state) {
  const valley *v = state;
  return v->made < v->most;
}

static tsr_changes changes(const void *state, int turn, const void *from) {
  tsr_changes all = ((const valley *)state)->turn[turn];
  all.now = ((const candidate *)from)->value[turn];
  return all;
}

static tsr_status try_value(void *state, int turn, int64_t value, const void *from, void *to) {
  valley *v = state;
  candidate *made = to;
  *made = *(const candidate *)from;
  made->value[turn] = value;
  made->score = v->depth(made->value);
  v->made++;
  return TSR_OK;
}

static candidate descend(valley *v, int64_t first, int64_t second) {
  candidate at = {.value = {first, second}}, made;
  tsr_descent d = {v, sizeof at, &made, TURNS, in_time, changes, try_value};
  at.score = v->depth(at.value);
  if (v->most == 0) v->most = 1000;
  assert_int_equal(tsr_descend(&d, &at), TSR_OK);
  assert_true(at.score == v->depth(at.value));
  return at;
}

static double square(double x) {
  return x * x;
}

/* ---- Each kind of change --------------------------------------------------- */

static double bowl(const int64_t value[TURNS]) {
  return square((double)value[0] - 30) + square((double)value[1] - 1);
}

static void test_reaches_the_bottom(void **state) {
  (void)state;
  static const int64_t values[] = {0, 10, 20, 30, 40, 50};
  const tsr_changes other = {.change = TSR_CHANGE_OTHER};
  const tsr_changes first[] = {{TSR_CHANGE_WALK, 0, values, 6},
                               {TSR_CHANGE_SCAN, 0, values, 6},
                               {.change = TSR_CHANGE_UNIT}};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++)
    for (int64_t from = 10; from <= 50; from += 10) {
      valley v = {.turn = {first[i], other}, .depth = bowl};
      candidate at = descend(&v, from, 0);
      assert_int_equal(at.value[0], 30);
      assert_int_equal(at.value[1], 1);
    }
}

static void test_ratio_goes_both_ways(void **state) {
  (void)state;
  for (int64_t from = 8; from <= 100; from += 92) {
    valley v = {.turn = {{.change = TSR_CHANGE_RATIO}, {.change = TSR_CHANGE_NONE}}, .depth = bowl};
    candidate at = descend(&v, from, 1);
    assert_in_range(at.value[0], 27, 33);
    assert_int_equal(at.value[1], 1);
  }
}

/* Two good values with a bad one between them. */
static double ridge(const int64_t value[TURNS]) {
  return value[0] == 20 ? 5 : value[0] == 30 ? 0 : 1;
}

static void test_walks_are_followed_by_all_values(void **state) {
  (void)state;
  static const int64_t values[] = {10, 20, 30};
  valley v = {.turn = {{TSR_CHANGE_WALK, 0, values, 3}, {.change = TSR_CHANGE_NONE}},
              .depth = ridge};
  candidate at = descend(&v, 10, 0);
  assert_int_equal(at.value[0], 30);
}

/* A 0 at the end of a walk's values is more than all of them. */
static double slope(const int64_t value[TURNS]) {
  return value[0] == 0 ? 0 : 1 / (double)value[0];
}

static void test_zero_is_all_there_is(void **state) {
  (void)state;
  static const int64_t values[] = {1, 2, 4, 0};
  valley v = {.turn = {{TSR_CHANGE_WALK, 0, values, 4}, {.change = TSR_CHANGE_NONE}},
              .depth = slope};
  candidate at = descend(&v, 2, 0);
  assert_int_equal(at.value[0], 0);
  assert_true(v.made <= 2 + 2 * 4);
}

/* ---- What ends it ----------------------------------------------------------- */

static double unending(const int64_t value[TURNS]) {
  return -(double)value[0];
}

static void test_ends_in_time(void **state) {
  (void)state;
  valley v = {.turn = {{.change = TSR_CHANGE_UNIT}, {.change = TSR_CHANGE_NONE}},
              .depth = unending,
              .most = 17};
  candidate at = descend(&v, 1, 0);
  assert_int_equal(v.made, 17);
  assert_int_equal(at.value[0], 18);
}

static double flat(const int64_t value[TURNS]) {
  (void)value;
  return 1;
}

static void test_stays_where_nothing_is_better(void **state) {
  (void)state;
  valley v = {.turn = {{.change = TSR_CHANGE_AGAIN}, {.change = TSR_CHANGE_OTHER}}, .depth = flat};
  candidate at = descend(&v, 7, 1);
  assert_int_equal(at.value[0], 7);
  assert_int_equal(at.value[1], 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reaches_the_bottom),
      cmocka_unit_test(test_ratio_goes_both_ways),
      cmocka_unit_test(test_walks_are_followed_by_all_values),
      cmocka_unit_test(test_zero_is_all_there_is),
      cmocka_unit_test(test_ends_in_time),
      cmocka_unit_test(test_stays_where_nothing_is_better),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
