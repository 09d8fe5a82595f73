/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What is done about too little memory: in which order, how often, and to which budgets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "call/retry.h"

enum { DEVICES = 2, STAGING = DEVICES, BUDGET = 1000, WANTED = 800, MOST = 40 };

/* A call that finds memory after some reliefs and shrinks, with what happened in order: 'a' an
 * attempt, 'r' a relief that helped, 'n' one that did not. */
typedef struct call {
  tsr_plans *plans;
  int location;    /* that is short; -1: no plan fits */
  int reliefs;     /* that help */
  bool stubborn;   /* its plans want as much in a smaller budget */
  size_t fits;     /* the attempt succeeds with a budget of at most so many bytes there; */
  size_t least;    /* and no plan fits in less than that many */
  tsr_status fail; /* how attempts fail where they do not find memory */
  tsr_status relief_fails;
  bool disturbed; /* another call shrinks a budget during the first attempt, and ends */
  char events[MOST + 1];
} call;

static void note(call *x, char event) {
  size_t length = strlen(x->events);
  assert_true(length < MOST);
  x->events[length] = event;
}

static size_t budget_at(const tsr_plans *plans, int location) {
  return location == STAGING ? plans->planning.ring : plans->planning.budget[location];
}

static tsr_status attempt(void *call_, tsr_shortage *shortage) {
  call *x = call_;
  note(x, 'a');
  if (x->disturbed) {
    x->disturbed = false;
    tsr_budget_shrink(x->plans, 0, WANTED, 0);
    tsr_budget_restore(x->plans);
    return TSR_ERR_MEMORY;
  }
  if (x->fail != TSR_ERR_MEMORY) return x->fail;
  size_t budget = budget_at(x->plans, x->location < 0 ? 0 : x->location);
  if (budget < x->least) return TSR_ERR_MEMORY;
  if (budget <= x->fits) return TSR_OK;
  size_t wanted = budget < WANTED && !x->stubborn ? budget : WANTED;
  if (x->location >= 0) *shortage = (tsr_shortage){true, x->location, wanted};
  return TSR_ERR_MEMORY;
}

static tsr_status relieve(void *call_, const tsr_shortage *shortage, bool *helped) {
  call *x = call_;
  assert_int_equal(shortage->location, x->location);
  *helped = x->reliefs-- > 0;
  note(x, *helped ? 'r' : 'n');
  return x->relief_fails;
}

static int set_up(void **state) {
  static tsr_plans *plans;
  size_t bytes[DEVICES + 1] = {BUDGET, BUDGET, BUDGET};
  assert_int_equal(tsr_plans_create(NULL, &plans), TSR_OK);
  assert_int_equal(tsr_machine_parse("host:20 gpu*2@nvswitch:20 pcie:10", &plans->machine), TSR_OK);
  tsr_budget_begin(plans, DEVICES, bytes);
  *state = plans;
  return 0;
}

static int tear_down(void **state) {
  tsr_plans_close(*state);
  return 0;
}

static tsr_trial trial_of(call *x) {
  return (tsr_trial){.call = x,
                     .attempt = attempt,
                     .relieve = relieve,
                     .plans = x->plans,
                     .most_shrinks = MOST,
                     .restores = true};
}

static void test_success_does_nothing_else(void **state) {
  call x = {.plans = *state, .fail = TSR_OK};
  tsr_trial trial = trial_of(&x);
  assert_int_equal(tsr_retry(&trial), TSR_OK);
  assert_string_equal(x.events, "a");
  assert_int_equal(trial.shrinks, 0);
}

static void test_another_error_is_returned_at_once(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_DEVICE, .reliefs = 1};
  tsr_trial trial = trial_of(&x);
  assert_int_equal(tsr_retry(&trial), TSR_ERR_DEVICE);
  assert_string_equal(x.events, "a");
}

static void test_relief_comes_before_budgets(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_MEMORY, .reliefs = 2, .location = 1, .fits = WANTED};
  tsr_trial trial = trial_of(&x);
  assert_int_equal(tsr_retry(&trial), TSR_OK);
  assert_string_equal(x.events, "ararana");
  assert_int_equal(trial.shrinks, 1);
  assert_int_equal(trial.shortage.location, 1);
  assert_int_equal(trial.shortage.bytes, WANTED);
  assert_true(budget_at(x.plans, 1) < WANTED);
  assert_int_equal(budget_at(x.plans, 0), BUDGET);
  assert_int_equal(budget_at(x.plans, STAGING), BUDGET);
}

static void test_budgets_shrink_until_no_plan_fits(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_MEMORY, .fits = 0, .least = WANTED * 2 / 3};
  tsr_trial trial = trial_of(&x);
  assert_int_equal(tsr_retry(&trial), TSR_ERR_MEMORY);
  assert_int_equal(trial.shortage.location, 0);
  assert_true(trial.shrinks > 0);
  assert_true(budget_at(x.plans, 0) < x.least);
}

static void test_shrinks_are_counted(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_MEMORY, .location = STAGING};
  tsr_trial trial = trial_of(&x);
  trial.relieve = NULL;
  trial.most_shrinks = 3;
  assert_int_equal(tsr_retry(&trial), TSR_ERR_MEMORY);
  assert_string_equal(x.events, "aaaa");
  assert_int_equal(trial.shrinks, 3);
}

static void test_a_plan_that_wants_no_less_ends_it(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_MEMORY, .location = STAGING, .stubborn = true};
  tsr_trial trial = trial_of(&x);
  assert_int_equal(tsr_retry(&trial), TSR_ERR_MEMORY);
  assert_string_equal(x.events, "anan");
  assert_int_equal(trial.shrinks, 1);
}

static void test_only_staging_shrinks_where_that_is_said(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_MEMORY, .location = 1};
  tsr_trial trial = trial_of(&x);
  trial.staging_only = true;
  assert_int_equal(tsr_retry(&trial), TSR_ERR_MEMORY);
  assert_string_equal(x.events, "an");
  assert_int_equal(budget_at(x.plans, 1), BUDGET);
  x = (call){.plans = *state, .fail = TSR_ERR_MEMORY, .location = STAGING, .fits = WANTED};
  assert_int_equal(tsr_retry(&trial), TSR_OK);
  assert_true(budget_at(x.plans, STAGING) < WANTED);
}

/* An earlier call has shrunk a budget so that no plan fits. */
static void test_budgets_are_restored_once(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_MEMORY, .location = -1, .least = 2 * BUDGET};
  tsr_trial trial = trial_of(&x);
  tsr_budget_shrink(x.plans, 0, WANTED, 0);
  assert_int_equal(tsr_retry(&trial), TSR_ERR_MEMORY);
  assert_string_equal(x.events, "aa");
  assert_int_equal(budget_at(x.plans, 0), BUDGET);
  tsr_budget_shrink(x.plans, 0, WANTED, 0);
  trial.restores = false;
  memset(x.events, 0, sizeof x.events);
  assert_int_equal(tsr_retry(&trial), TSR_ERR_MEMORY);
  assert_string_equal(x.events, "a");
  assert_true(budget_at(x.plans, 0) < BUDGET);
}

/* The plan was made for budgets that another call had shrunk, and has restored since. */
static void test_an_attempt_beside_a_shrink_is_repeated(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_MEMORY, .fits = BUDGET, .disturbed = true};
  tsr_trial trial = trial_of(&x);
  assert_int_equal(tsr_retry(&trial), TSR_OK);
  assert_string_equal(x.events, "aa");
  assert_int_equal(trial.shrinks, 0);
}

static void test_relief_restores_what_others_shrank(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_MEMORY, .location = 1, .reliefs = 1};
  tsr_trial trial = trial_of(&x);
  trial.most_shrinks = 0;
  tsr_budget_shrink(x.plans, 0, WANTED, 0);
  assert_int_equal(tsr_retry(&trial), TSR_ERR_MEMORY);
  assert_string_equal(x.events, "aran");
  assert_int_equal(budget_at(x.plans, 0), BUDGET);
}

static void test_a_relief_that_fails_ends_it(void **state) {
  call x = {.plans = *state, .fail = TSR_ERR_MEMORY, .reliefs = 1, .relief_fails = TSR_ERR_DEVICE};
  tsr_trial trial = trial_of(&x);
  assert_int_equal(tsr_retry(&trial), TSR_ERR_DEVICE);
  assert_string_equal(x.events, "ar");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_success_does_nothing_else),
      TEST(test_another_error_is_returned_at_once),
      TEST(test_relief_comes_before_budgets),
      TEST(test_budgets_shrink_until_no_plan_fits),
      TEST(test_shrinks_are_counted),
      TEST(test_a_plan_that_wants_no_less_ends_it),
      TEST(test_only_staging_shrinks_where_that_is_said),
      TEST(test_budgets_are_restored_once),
      TEST(test_an_attempt_beside_a_shrink_is_repeated),
      TEST(test_relief_restores_what_others_shrank),
      TEST(test_a_relief_that_fails_ends_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
