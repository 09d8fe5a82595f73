/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic/wish.h"
#include "base/settings/settings.h"
#include "base/text.h"
#include "tessera_model.h"

static int clear_environment(void **state) {
  (void)state;
  for (const tsr_setting *s = tsr_settings(); s->name != NULL; s++) unsetenv(s->name);
  return 0;
}

static void table_is_complete(void **state) {
  (void)state;
  for (const tsr_setting *s = tsr_settings(); s->name != NULL; s++) {
    assert_memory_equal(s->name, "TESSERA_", 8);
    assert_true(strlen(s->values) > 0 && strlen(s->initial) > 0 && strlen(s->help) > 0);
  }
}

/* docs/reference/settings.md has each row of the table. */
static void the_page_has_every_row(void **state) {
  (void)state;
  const char *source = getenv("TESSERA_SOURCE_DIR");
  char path[512], row[512], *page = NULL;
  size_t length = 0;
  snprintf(path, sizeof path, "%s/docs/reference/settings.md", source != NULL ? source : ".");
  assert_int_equal(tsr_text_read_file(path, &page, &length), TSR_OK);
  for (const tsr_setting *s = tsr_settings(); s->name != NULL; s++) {
    snprintf(row, sizeof row, "| `%s` | %s | %s | %s |\n", s->name, s->values, s->initial, s->help);
    if (strstr(page, row) == NULL) fail_msg("not in %s: %s", path, row);
  }
  free(page);
}

static void unknown_variables_are_found(void **state) {
  (void)state;
  static const struct {
    const char *name, *meant;
  } cases[] = {{"TESSERA_ENGIN", "TESSERA_ENGINE"},
               {"TESSERA_OFLOAD", "TESSERA_OFFLOAD"},
               {"TESSERA_DEVICE", "TESSERA_DEVICES"},
               {"TESSERA_ROOT", NULL}, /* as environment modules set it */
               {"TESSERA_HOME", NULL}};
  char name[TSR_SETTING_NAME];
  const char *meant;
  clearenv();
  assert_int_equal(tsr_setting_unknown(0, name, sizeof name, &meant), 0);
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_RUN_PID", "1", 1);
  setenv("OTHER_ENGIN", "host", 1);
  assert_int_equal(tsr_setting_unknown(0, name, sizeof name, &meant), 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) setenv(cases[i].name, "x", 1);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(tsr_setting_unknown(i, name, sizeof name, &meant), 1);
    for (size_t j = 0; j < sizeof cases / sizeof *cases; j++) {
      if (strcmp(name, cases[j].name) != 0) continue;
      if (cases[j].meant == NULL) assert_null(meant);
      if (cases[j].meant != NULL) assert_string_equal(meant, cases[j].meant);
    }
  }
  assert_int_equal(tsr_setting_unknown(5, name, sizeof name, &meant), 0);
}

static void defaults_without_environment(void **state) {
  (void)state;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  setenv("TESSERA_ENGINE", "", 1);
  assert_int_equal(tsr_settings_fill(&options), TSR_OK);
  assert_null(options.engine);
  assert_null(options.machine);
  assert_int_equal(options.check, 0);
  assert_int_equal(options.reproducible, 0);
  assert_int_equal(options.memory, 0);
}

static void environment_fills_what_is_open(void **state) {
  (void)state;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.check = 0;
  options.devices = "2";
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_DEVICES", "4", 1);
  setenv("TESSERA_MACHINE", "gpu*4", 1);
  setenv("TESSERA_MEMORY", "1.5GiB", 1);
  setenv("TESSERA_TILE", "512", 1);
  setenv("TESSERA_CHECK", "1", 1);
  setenv("TESSERA_REPRODUCIBLE", "1", 1);
  assert_int_equal(tsr_settings_fill(&options), TSR_OK);
  assert_string_equal(options.engine, "host");
  assert_string_equal(options.devices, "2");
  assert_string_equal(options.machine, "gpu*4");
  assert_int_equal(options.memory, 1610612736);
  int64_t tile = 0;
  assert_int_equal(tsr_settings_tile(&tile), TSR_OK);
  assert_int_equal(tile, 512);
  assert_int_equal(options.check, 0);
  assert_int_equal(options.reproducible, 1);
}

static tsr_status fill_all(tsr_options *options) {
  int64_t tile = 0;
  tsr_status status = tsr_settings_fill(options);
  return status == TSR_OK ? tsr_settings_tile(&tile) : status;
}

static void bad_values_name_the_variable(void **state) {
  (void)state;
  static const char *const bad[][2] = {
      {"TESSERA_MEMORY", "lots"},     {"TESSERA_MEMORY", "-1G"},
      {"TESSERA_MEMORY", "0"},        {"TESSERA_MEMORY", "5Q"},
      {"TESSERA_MEMORY", "1e30"},     {"TESSERA_TILE", "0"},
      {"TESSERA_TILE", "12x"},        {"TESSERA_TILE", "4294967296"},
      {"TESSERA_CHECK", "2"},         {"TESSERA_CHECK", "yes"},
      {"TESSERA_CHECK", "-1"},        {"TESSERA_REPRODUCIBLE", "on"},
      {"TESSERA_REPRODUCIBLE", " 1"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsr_options options = TSR_OPTIONS_DEFAULT;
    setenv(bad[i][0], bad[i][1], 1);
    bool of_options = strcmp(bad[i][0], "TESSERA_TILE") != 0;
    assert_int_equal(fill_all(&options), TSR_ERR_ARGUMENT);
    assert_non_null(strstr(tsr_message(), bad[i][0]));
    assert_non_null(strstr(tsr_message(), bad[i][1]));
    assert_int_equal(options.check, of_options ? -1 : 0); /* *options is as it was */
    assert_null(options.engine);
    unsetenv(bad[i][0]);
  }
}

static void bytes(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t bytes;
  } good[] = {
      {"1", 1},
      {"1048576", 1048576},
      {"16G", 16000000000},
      {"500M", 500000000},
      {"2K", 2000},
      {"2k", 2000},
      {"2KiB", 2048},
      {"1.5GiB", 1610612736},
      {"1T", 1000000000000},
      {"1TiB", 1099511627776},
      {"7B", 7},
      {"3MB", 3000000},
  };
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    size_t value = 0;
    assert_int_equal(tsr_parse_bytes("memory", good[i].text, &value), TSR_OK);
    assert_int_equal(value, good[i].bytes);
  }
}

static void bad_bytes(void **state) {
  (void)state;
  static const char *const bad[] = {"",    "G",   "1GG",  "1Gi",   "1 G",
                                    "inf", "nan", "0x10", "9e99T", "0.1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    size_t value = 42;
    assert_int_equal(tsr_parse_bytes("the budget", bad[i], &value), TSR_ERR_ARGUMENT);
    assert_non_null(strstr(tsr_message(), "the budget"));
    assert_int_equal(value, 42);
  }
}

static void whole_numbers(void **state) {
  (void)state;
  static const char *const bad[] = {"",   "-",  "x",  "3.5", "+3",
                                    " 3", "3 ", "99", "-6",  "99999999999999999999"};
  int64_t value = 42;
  assert_int_equal(tsr_parse_int("n", "-5", -5, 9, &value), TSR_OK);
  assert_int_equal(value, -5);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(tsr_parse_int("n", bad[i], -5, 9, &value), TSR_ERR_ARGUMENT);
  assert_int_equal(value, -5);
}

/* An arithmetic that is printed and read is the same one. */
static void arithmetics_are_printed(void **state) {
  (void)state;
  static const char *const texts[] = {"native",      "emulated",       "auto",     "emulated:4",
                                      "emulated:16", "emulated:1e-10", "auto:0.3", "auto:1.1e-300"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tsr_arithmetic_wish given, read;
    char text[TSR_ARITHMETIC_TEXT];
    assert_int_equal(tsr_parse_arithmetic("arithmetic", texts[i], &given), TSR_OK);
    tsr_arithmetic_print(&given, text);
    assert_int_equal(strncmp(text, texts[i], i < 5 ? strlen(texts[i]) + 1 : 5), 0);
    assert_int_equal(tsr_parse_arithmetic("arithmetic", text, &read), TSR_OK);
    assert_int_equal(read.kind, given.kind);
    assert_ptr_equal(read.products, given.products);
    assert_true(read.accuracy == given.accuracy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_is_complete),
      cmocka_unit_test(the_page_has_every_row),
      cmocka_unit_test_setup_teardown(defaults_without_environment, clear_environment,
                                      clear_environment),
      cmocka_unit_test_setup_teardown(environment_fills_what_is_open, clear_environment,
                                      clear_environment),
      cmocka_unit_test_setup_teardown(bad_values_name_the_variable, clear_environment,
                                      clear_environment),
      cmocka_unit_test(bytes),
      cmocka_unit_test(bad_bytes),
      cmocka_unit_test(whole_numbers),
      cmocka_unit_test(arithmetics_are_printed),
      cmocka_unit_test(unknown_variables_are_found), /* clears the environment: last */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
