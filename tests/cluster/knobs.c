/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* docs/reference/knobs.md has the same table of knobs as src/cluster/plan/knobs.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "cluster/plan/knobs.h"

/* "elements: 256, 512", "no, yes" */
static void add_values(const tsr_pknob *knob, tsr_text *text) {
  if (knob->words != NULL) {
    for (int i = 0; knob->words[i] != NULL; i++)
      tsr_text_add(text, "%s%s", i > 0 ? ", " : "", knob->words[i]);
    return;
  }
  tsr_text_add(text, "%s: ", knob->unit);
  for (int i = 0; i < TSR_PKNOB_VALUES && knob->value[i] >= 0; i++)
    tsr_text_add(text, "%s%lld", i > 0 ? ", " : "", (long long)knob->value[i]);
}

static void read_page(char **bytes) {
  enum { MOST = 1 << 20 }; /* bytes of a page */
  const char *root = getenv("TESSERA_SOURCE_DIR");
  char path[1000];
  snprintf(path, sizeof path, "%s/docs/reference/knobs.md", root != NULL ? root : ".");
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  *bytes = calloc(1, MOST);
  assert_non_null(*bytes);
  size_t length = fread(*bytes, 1, MOST - 1, file);
  fclose(file);
  assert_in_range(length, 1, MOST - 2);
}

static void test_page_has_table(void **state) {
  (void)state;
  int knobs, missing = 0;
  const tsr_pknob *table = tsr_pknobs(&knobs);
  char *page;
  read_page(&page);
  for (int i = 0; i < knobs; i++) {
    tsr_text row = TSR_TEXT_INIT;
    tsr_text_add(&row, "\n| `%s` | ", table[i].name);
    add_values(&table[i], &row);
    tsr_text_add(&row, " | %s |\n", table[i].says);
    if (strstr(page, row.bytes) == NULL) {
      missing++;
      print_message("docs/reference/knobs.md lacks:\n%s", row.bytes);
    }
    tsr_text_free(&row);
  }
  free(page);
  assert_int_equal(missing, 0);
}

/* The values of a row ascend, because the descent looks for a strategy's value among them; a 0 that
 * stands for "as deep as depth" may end them. */
static void test_values_ascend(void **state) {
  (void)state;
  int knobs;
  const tsr_pknob *table = tsr_pknobs(&knobs);
  for (int i = 0; i < knobs; i++) {
    const int64_t *value = table[i].value;
    for (int v = 1; table[i].words == NULL && v < TSR_PKNOB_VALUES && value[v] >= 0; v++)
      assert_true(value[v] > value[v - 1] || (value[v] == 0 && value[v + 1] < 0));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_page_has_table),
                                     cmocka_unit_test(test_values_ascend)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
