/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Timelines as pictures: they can be read, and show what is in the plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "front/ask/picture.h"
#include "plan/small_plans.h"

/* The picture of a plan; the plan is given back. */
static char *draw_on(tsr_plan *plan, bool measured, bool rehearsal) {
  tsr_machine *machine = small_machine();
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  size_t count = plan->commands.count;
  float *times = malloc(2 * count * sizeof *times + 1);
  assert_non_null(times);
  for (size_t i = 0; i < count; i++) {
    times[2 * i] = plan->commands.items[i].begin * 1.1f;
    times[2 * i + 1] = plan->commands.items[i].end * 1.2f;
  }
  tsr_known last = {.rehearsal = rehearsal, .measured = {1.2 * plan->seconds, times}};
  tsr_known none = {.rehearsal = rehearsal};
  assert_int_equal(tsr_picture_draw(plan, machine, measured ? &last : &none, &text), TSR_OK);
  assert_int_equal(tsr_text_take(&text, &bytes), TSR_OK);
  free(times);
  free(machine);
  plan_release(plan);
  assert_null(strstr(bytes, "(null)")); /* each kind of command has a colour */
  return bytes;
}

static char *draw(tsr_plan *plan, bool measured) {
  return draw_on(plan, measured, false);
}

static void expect(const char *text, const char *part) {
  if (text == NULL || strstr(text, part) == NULL)
    fail_msg("\"%s\" is not in\n%s", part, text == NULL ? "nothing" : text);
}

/* Tags open and close in order, and nothing outside of them has a bare <, > or &. */
static bool well_formed(const char *text) {
  const char *open[16], *from;
  int depth = 0;
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '>') return false;
    if (*c == '&' && strncmp(c, "&amp;", 5) != 0 && strncmp(c, "&lt;", 4) != 0 &&
        strncmp(c, "&gt;", 4) != 0 && strncmp(c, "&quot;", 6) != 0 && strncmp(c, "&#", 2) != 0)
      return false;
    if (*c != '<') continue;
    from = ++c;
    c += strcspn(c, "<>");
    if (*c != '>') return false;
    size_t name = strcspn(from + (*from == '/'), " />");
    if (*from == '/') {
      if (depth == 0 || strncmp(open[--depth], from + 1, name) != 0) return false;
    } else if (c[-1] != '/') {
      if (depth == 16) return false;
      open[depth++] = from;
    }
  }
  return depth == 0;
}

static void timeline_is_a_picture(void **state) {
  (void)state;
  for (int measured = 0; measured < 2; measured++) {
    char *text = draw(plan_relayed(TSR_D), measured);
    assert_true(well_formed(text));
    expect(text, "two &lt;small&gt; &quot;ones&quot; &amp; a host");
    expect(text, ">copy of B</text>");
    expect(text, ">peer to 1</text>");
    expect(text, ">floor</text>");
    assert_int_equal(strstr(text, "measured") != NULL, measured);
    free(text);
  }
  char *staged = draw(plan_staged(), false);
  assert_true(well_formed(staged));
  expect(staged, ">staging 1</text>");
  free(staged);
}

/* Every kernel there is has a bar and a place in the legend, or the picture is not drawn at all. */
static void timelines_show_every_kernel(void **state) {
  (void)state;
  for (int kernel = 0; kernel < TSR_KERNEL_COUNT; kernel++) {
    tsr_plan *plan = plan_relayed(TSR_D);
    for (size_t i = 0; i < plan->commands.count; i++)
      if (plan->commands.items[i].kind == TSR_COMMAND_KERNEL)
        plan->commands.items[i].kernel = (uint8_t)kernel;
    char *text = draw(plan, false);
    assert_true(well_formed(text));
    bool triangle = tsr_kernel_get(kernel)->traits != 0 && kernel != TSR_KERNEL_INVERT;
    expect(text, triangle ? ">triangle</text>" : tsr_kernel_get(kernel)->name);
    free(text);
  }
}

/* Of a million commands, a picture shows what can be seen. */
static void long_plans_make_small_pictures(void **state) {
  (void)state;
  tsr_plan *plan = plan_relayed(TSR_D);
  for (int i = 0; i < 100000; i++)
    add_copy(plan, queue_of(0, TSR_QUEUE_IN), i % 2, 3 + i % 2, 0, 0, 1, 1, END);
  char *text = draw(plan_finish(plan), false);
  assert_true(well_formed(text));
  assert_in_range(strlen(text), 1000, 400000);
  free(text);
}

/* Staging that is idle for more than nine tenths of the time has one row; busy staging has all. */
static void idle_staging_has_one_row(void **state) {
  (void)state;
  for (int measured = 0; measured < 2; measured++) {
    tsr_plan *plan = plan_staged();
    plan->seconds *= 1000;
    char *text = draw(plan, measured);
    assert_true(well_formed(text));
    expect(text, ">staging, 2</text>");
    assert_null(strstr(text, ">staging 1</text>"));
    free(text);
  }
}

static void rehearsals_show_no_rates(void **state) {
  (void)state;
  for (int measured = 0; measured < 2; measured++) {
    char *text = draw_on(plan_relayed(TSR_D), measured, true);
    expect(text, "A rehearsal");
    assert_null(strstr(text, "FLOP/s"));
    assert_null(strstr(text, ">floor</text>"));
    free(text);
    text = draw_on(plan_relayed(TSR_D), measured, false);
    expect(text, "FLOP/s. ");
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(timeline_is_a_picture),
      cmocka_unit_test(idle_staging_has_one_row),
      cmocka_unit_test(rehearsals_show_no_rates),
      cmocka_unit_test(timelines_show_every_kernel),
      cmocka_unit_test(long_plans_make_small_pictures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
