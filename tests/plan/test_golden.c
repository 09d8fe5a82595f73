/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The planner's goldens. After a change of plans that is meant, sh tests/plan/golden.sh build
 * writes the files anew and says what the replay gains or loses; read the difference before it is
 * kept.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>

#include <cmocka.h>

#include "plan/golden_call.h"
#include "plan/golden_cases.h"
#include "plan/golden_sequence.h"

enum { MOST_NAME = 400 };

static void name_of(const golden_case *c, char name[MOST_NAME]) {
  bool told = c->told != NULL;
  snprintf(name, MOST_NAME, "%s%s%s%s", c->line, told ? " (" : "", told ? c->told : "",
           told ? ")" : "");
}

/* A call that is refused is noted as that. The message may be worded anew: it is not compared. */
static void note_call(golden_book *book, const char *name, golden_call *c) {
  golden_result result = {.name = name};
  tsr_plan *plan = NULL;
  if (tsr_plan_make(c->machine, &c->call, &c->options, &plan) != TSR_OK) {
    result.refused = true;
    result.aside = tsr_message();
    golden_note(book, &result);
  } else {
    golden_plan_note(plan, c->machine, &result);
    result.wrong = tsr_plan_verify(plan, c->machine, c->options.budget) != TSR_OK;
    if (result.wrong) result.aside = tsr_message();
    golden_note(book, &result);
  }
  tsr_plan_free(plan);
  golden_result_free(&result);
}

static void note_case(golden_book *book, const golden_case *wanted) {
  char name[MOST_NAME];
  golden_call call;
  name_of(wanted, name);
  if (!golden_wants(name)) return;
  golden_call_read(wanted->line, &call);
  call.options.strategy = wanted->forced;
  note_call(book, name, &call);
  golden_call_free(&call);
}

static int note_group(const golden_group *group) {
  golden_book *book = golden_open(group->path);
  for (const golden_case *c = group->cases; c->line != NULL; c++) note_case(book, c);
  return golden_close(book);
}

static int note_sequences(void) {
  golden_book *book = golden_open("tests/plan/golden/sequences.txt");
  for (const golden_sequence *s = golden_sequences; s->name != NULL; s++)
    golden_sequence_note(book, s);
  return golden_close(book);
}

/* ---- As a test, and as a program ------------------------------------------ */

static void must_be_same(int differ) {
  if (differ > 0)
    fail_msg("plans are not what they were; if that is meant: sh tests/plan/golden.sh BUILD");
}

static void test_group(void **state) {
  must_be_same(note_group(*state));
}

static void test_sequences(void **state) {
  (void)state;
  must_be_same(note_sequences());
}

static int run_all(void) {
  struct CMUnitTest tests[8];
  size_t count = 0;
  for (int i = 0; i < golden_group_count; i++)
    tests[count++] = (struct CMUnitTest){.name = golden_groups[i].name,
                                         .test_func = test_group,
                                         .initial_state = (void *)&golden_groups[i]};
  tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_sequences);
  return _cmocka_run_group_tests("golden", tests, count, NULL, NULL);
}

int main(int argc, char **argv) {
  int differ = 0;
  if (!golden_interpret(argc, argv)) return 2;
  if (golden_asked.mode == GOLDEN_COMPARE && golden_asked.only == NULL) return run_all();
  for (int i = 0; i < golden_group_count; i++) differ += note_group(&golden_groups[i]);
  differ += note_sequences();
  return differ > 0;
}
