/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The cache of plans: what it finds, and what leaves when there is no more room. */
#include "plan/cache.h"
#include "plan/residency.h"
#include "planning.h"

static tsr_cache *cache;
static int released;

/* A plan with its references. */
typedef struct counted {
  tsr_plan plan;
  int references;
} counted;

static void take(const tsr_plan *plan) {
  ((counted *)plan)->references++;
}

static void release(const tsr_plan *plan) {
  if (--((counted *)plan)->references > 0) return;
  free((counted *)plan);
  released++;
}

static tsr_plan *new_plan(void) {
  counted *made = calloc(1, sizeof *made);
  made->references = 1;
  return &made->plan;
}

static int begin(void **unused) {
  (void)unused;
  released = 0;
  return tsr_cache_create(take, release, &cache);
}

static int end(void **unused) {
  (void)unused;
  tsr_cache_destroy(cache);
  return 0;
}

/* Calls that differ in m alone. */
static tsr_call call_of(int64_t m) {
  return (tsr_call){.operation = TSR_GEMM, .type = TSR_D, .m = m, .n = 7, .k = 7};
}

/* A plan that is as large as its number of commands says, which it does not have. */
static tsr_plan *add(int64_t m, size_t bytes) {
  tsr_call call = call_of(m);
  tsr_plan *plan = new_plan();
  plan->commands.count = bytes / sizeof *plan->commands.items;
  plan->candidates = (int)m;
  tsr_cache_add(cache, &call, 1, plan);
  release(plan);
  return plan;
}

static bool has(int64_t m) {
  tsr_call call = call_of(m);
  const tsr_plan *plan = tsr_cache_find(cache, &call, 1);
  if (plan == NULL) return false;
  assert_int_equal(plan->candidates, m);
  release(plan);
  return true;
}

static void test_finds_what_it_has(void **unused) {
  (void)unused;
  tsr_call call = call_of(5);
  for (int64_t m = 1; m <= TSR_CACHE_PLANS; ++m) add(m, 0);
  for (int64_t m = 1; m <= TSR_CACHE_PLANS; ++m) assert_true(has(m));
  assert_false(has(TSR_CACHE_PLANS + 1));
  assert_null(tsr_cache_find(cache, &call, 2)); /* other settings */
  assert_int_equal(released, 0);
}

/* Calls that are computed in other ways have plans of their own. */
static void test_arithmetics_differ(void **unused) {
  (void)unused;
  tsr_call native = call_of(1), call[5] = {native, native, native, native, native};
  add(1, 0);
  call[0].arithmetic = tsr_residues_of(12);
  call[1].promise.accuracy = 1e-10;
  call[2].faster = true;
  call[3].promise.keeps_lines = true;
  call[4].promise.judged = 128;
  for (int i = 0; i < 5; ++i) assert_null(tsr_cache_find(cache, &call[i], 1));
  assert_true(has(1));
}

static void test_the_one_used_longest_ago_leaves(void **unused) {
  (void)unused;
  for (int64_t m = 1; m <= TSR_CACHE_PLANS; ++m) add(m, 0);
  assert_true(has(1));
  add(TSR_CACHE_PLANS + 1, 0);
  assert_int_equal(released, 1);
  assert_true(has(1));
  assert_false(has(2));
  assert_true(has(3));
  assert_true(has(TSR_CACHE_PLANS + 1));
}

static void test_bytes_are_limited(void **unused) {
  (void)unused;
  size_t large = TSR_CACHE_BYTES / 4 - 2 * sizeof(tsr_plan);
  for (int64_t m = 1; m <= 4; ++m) add(m, large);
  assert_int_equal(released, 0);
  add(5, large / 2); /* the oldest has room for two */
  add(6, large / 2);
  assert_int_equal(released, 1);
  add(7, large);
  assert_int_equal(released, 2);
  assert_false(has(1) || has(2));
  for (int64_t m = 3; m <= 7; ++m) assert_true(has(m));
}

static void test_rooms_count(void **unused) {
  (void)unused;
  tsr_call call = call_of(1);
  tsr_plan *plan = new_plan();
  tsr_cached_block room = {.valid = {.count = TSR_CACHE_PLAN_BYTES / sizeof(tsr_rect)}};
  tsr_residency after = {.blocks = {&room, 1, 1}};
  plan->after = &after;
  tsr_cache_add(cache, &call, 1, plan);
  assert_false(has(1));
  release(plan);
}

static void test_very_large_ones_are_not_kept(void **unused) {
  (void)unused;
  add(1, 0);
  add(2, TSR_CACHE_PLAN_BYTES + 1000);
  assert_int_equal(released, 1);
  assert_true(has(1));
  assert_false(has(2));
}

static void test_the_later_of_two_stays(void **unused) {
  (void)unused;
  add(1, 0);
  tsr_plan *later = add(1, 0);
  tsr_call call = call_of(1);
  const tsr_plan *found = tsr_cache_find(cache, &call, 1);
  assert_ptr_equal(found, later);
  assert_int_equal(released, 1);
  release(found);
}

/* A plan that leaves while it is used lives on. */
static void test_clear(void **unused) {
  (void)unused;
  for (int64_t m = 1; m <= 100; ++m) add(m, 0);
  tsr_call call = call_of(50);
  const tsr_plan *used = tsr_cache_find(cache, &call, 1);
  tsr_cache_clear(cache);
  assert_int_equal(released, 99);
  assert_false(has(50));
  assert_int_equal(used->candidates, 50);
  release(used);
  assert_int_equal(released, 100);
  add(50, 0);
  assert_true(has(50));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_finds_what_it_has, begin, end),
      cmocka_unit_test_setup_teardown(test_arithmetics_differ, begin, end),
      cmocka_unit_test_setup_teardown(test_the_one_used_longest_ago_leaves, begin, end),
      cmocka_unit_test_setup_teardown(test_bytes_are_limited, begin, end),
      cmocka_unit_test_setup_teardown(test_rooms_count, begin, end),
      cmocka_unit_test_setup_teardown(test_very_large_ones_are_not_kept, begin, end),
      cmocka_unit_test_setup_teardown(test_the_later_of_two_stays, begin, end),
      cmocka_unit_test_setup_teardown(test_clear, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
