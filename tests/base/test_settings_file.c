/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Settings from the file that TESSERA_SETTINGS names; it is read once, so each test is a process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/settings/settings.h"
#include "tessera_model.h"

static const char *contents;

static void write_file(char *path) {
  int file = mkstemp(path);
  if (file < 0 || write(file, contents, strlen(contents)) < 0) _exit(100);
  close(file);
}

static void in_a_child(const char *text, int (*test)(void)) {
  fflush(NULL);
  contents = text;
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    char path[] = "/tmp/tessera_settings_XXXXXX";
    for (const tsr_setting *s = tsr_settings(); s->name != NULL; s++) unsetenv(s->name);
    write_file(path);
    setenv("TESSERA_SETTINGS", path, 1);
    int code = test();
    unlink(path);
    _exit(code);
  }
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static bool says(const char *name, const char *value) {
  const char *text = tsr_setting_text(name);
  return value == NULL ? text == NULL : text != NULL && strcmp(text, value) == 0;
}

static int reads(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  setenv("TESSERA_DEVICES", "2", 1);
  if (tsr_settings_fill(&options) != TSR_OK) return 1;
  int64_t tile = 0;
  if (strcmp(options.engine, "host") != 0 || tsr_settings_tile(&tile) != TSR_OK || tile != 32)
    return 2;
  if (strcmp(options.devices, "2") != 0) return 3; /* the environment goes before the file */
  if (!says("TESSERA_MACHINE", "host:200 gpu*2 pcie:25")) return 4;
  if (!says("TESSERA_OFFLOAD", NULL) || !says("TESSERA_MEMORY", NULL)) return 5;
  return 0;
}

static int refuses(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  if (tsr_settings_fill(&options) != TSR_ERR_ARGUMENT) return 1;
  return strstr(tsr_message(), "line 2: \"TESSERA_TILES=3\"") == NULL;
}

static int refuses_value(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  int64_t tile = 0;
  if (tsr_settings_fill(&options) != TSR_OK) return 1;
  if (tsr_settings_tile(&tile) != TSR_ERR_ARGUMENT) return 2;
  return strstr(tsr_message(), "TESSERA_TILE is \"much\"") == NULL;
}

static int nothing(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  if (tsr_settings_fill(&options) != TSR_OK) return 1;
  return options.engine != NULL;
}

static int not_there(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  setenv("TESSERA_SETTINGS", "/nowhere/settings", 1);
  if (tsr_settings_fill(&options) != TSR_ERR_IO) return 1;
  return strstr(tsr_message(), "/nowhere/settings") == NULL;
}

/* Bytes that an error writes to stderr after the file was read. */
static long logged(void) {
  FILE *errors = tmpfile();
  tsr_options options = TSR_OPTIONS_DEFAULT;
  if (errors == NULL || dup2(fileno(errors), STDERR_FILENO) < 0) return -1;
  (void)tsr_settings_fill(&options);
  (void)tsr_fail(TSR_ERR_ARGUMENT, "for the log");
  return (long)lseek(fileno(errors), 0, SEEK_END);
}

static int logs(void) {
  return logged() > 0 ? 0 : 1;
}

static int logs_nothing(void) {
  return logged() == 0 ? 0 : 1;
}

static int logs_nothing_by_environment(void) {
  setenv("TESSERA_LOG", "none", 1);
  return logs_nothing();
}

static void test_log(void **state) {
  (void)state;
  in_a_child("TESSERA_LOG=error\n", logs);
  in_a_child("TESSERA_LOG=loud\n", logs_nothing);
  in_a_child("TESSERA_TILE=3\n", logs_nothing);
  in_a_child("TESSERA_LOG=error\n", logs_nothing_by_environment);
}

static void test_reads(void **state) {
  (void)state;
  in_a_child(
      "# mine\n\n  TESSERA_ENGINE=host  \nTESSERA_TILE=32# small\r\nTESSERA_DEVICES=4\n"
      "TESSERA_MACHINE=host:200 gpu*2 pcie:25\nTESSERA_MEMORY=\n#TESSERA_OFFLOAD=never",
      reads);
}

static void test_refuses(void **state) {
  (void)state;
  in_a_child("TESSERA_TILE=3\nTESSERA_TILES=3\n", refuses);
  in_a_child("TESSERA_TILE=much\n", refuses_value);
}

static void test_nothing(void **state) {
  (void)state;
  in_a_child("", nothing);
  in_a_child("\n# nothing\n", nothing);
  in_a_child("", not_there);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads),
      cmocka_unit_test(test_refuses),
      cmocka_unit_test(test_nothing),
      cmocka_unit_test(test_log),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
