/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Contexts: options and environment, wrong ones refused with the remedy, and many of them. */
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/process_limits.h"
#include "front.h"

/* How often limits of the process are read. */
static atomic_int reads;
void __wrap_tsr_process_limits_read(const char *root, tsr_process_limits *limits);
void __real_tsr_process_limits_read(const char *root, tsr_process_limits *limits);
void __wrap_tsr_process_limits_read(const char *root, tsr_process_limits *limits) {
  atomic_fetch_add(&reads, 1);
  __real_tsr_process_limits_read(root, limits);
}
int __wrap_tsr_process_cores(void);
int __real_tsr_process_cores(void);
int __wrap_tsr_process_cores(void) {
  atomic_fetch_add(&reads, 1);
  return __real_tsr_process_cores();
}

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

static void refused(const tsr_options *options, tsr_status expected, const char *mention) {
  tsr_context *context = NULL, *const untouched = context;
  assert_refused(tsr_context_create(options, &context), expected, mention);
  assert_ptr_equal(context, untouched);
}

/* Of a program with a newer header, one that set no size, and one of 0.1, which had no size. */
static void test_size_of_options(void **state) {
  (void)state;
  tsr_options options = front_options();
  const size_t wrong[] = {0, 8, sizeof options - 1, sizeof options + 8, (size_t)(uintptr_t) "host"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char mention[64];
    snprintf(mention, sizeof mention, "options->size is %zu, which", wrong[i]);
    options.size = wrong[i];
    refused(&options, TSR_ERR_ARGUMENT, mention);
  }
}

static void test_engine(void **state) {
  (void)state;
  tsr_options options = front_options();
  options.engine = "abacus";
  tsr_context *context = NULL;
  tsr_status status = tsr_context_create(&options, &context);
  assert_true(status == TSR_ERR_ENGINE || status == TSR_ERR_ARGUMENT);
  assert_non_null(strstr(tsr_message(), "abacus"));
  assert_non_null(strstr(tsr_message(), "host")); /* what there is */
  assert_null(context);
}

static void test_engine_of_the_environment(void **state) {
  (void)state;
  tsr_options options = front_options();
  options.engine = NULL;
  setenv("TESSERA_ENGINE", "abacus", 1);
  refused(&options, TSR_ERR_ARGUMENT, "TESSERA_ENGINE is \"abacus\"; it may be");
  unsetenv("TESSERA_ENGINE");
}

static void test_strategy_of_the_environment(void **state) {
  (void)state;
  tsr_options options = front_options();
  tsr_context *context;
  setenv("TESSERA_STRATEGY", "abacus=1", 1);
  refused(&options, TSR_ERR_ARGUMENT, "abacus");
  setenv("TESSERA_STRATEGY", "kind=tiles", 1);
  assert_ok(tsr_context_create(&options, &context));
  front_assert_works(context);
  tsr_context_destroy(context);
  unsetenv("TESSERA_STRATEGY");
}

static void test_devices(void **state) {
  (void)state;
  static const char *const wrong[] = {"x",   "-1", "0,0", "1,0,", "1,,",  "99999999999999999999",
                                      "2 3", ",",  ".2",  "..x",  "...2", "..0"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    tsr_options options = front_options();
    options.devices = wrong[i];
    refused(&options, TSR_ERR_ARGUMENT, wrong[i]);
  }
}

static void test_device_list(void **state) {
  (void)state;
  front_needs_emulated_devices();
  tsr_options options = front_options();
  tsr_context *context;
  options.machine = "host:200 gpu*4@nvswitch:300 pcie:25/pair rate:19";
  options.devices = "3,1";
  assert_ok(tsr_context_create(&options, &context));
  assert_int_equal(tsr_device_count(context), 2);
  front_assert_works(context);
  tsr_context_destroy(context);
  options.devices = "2,";
  assert_ok(tsr_context_create(&options, &context));
  assert_int_equal(tsr_device_count(context), 1);
  front_assert_works(context);
  tsr_context_destroy(context);
  options.devices = "..3,1"; /* as many of them as help */
  assert_ok(tsr_context_create(&options, &context));
  assert_int_equal(tsr_device_count(context), 2);
  front_assert_works(context);
  tsr_context_destroy(context);
  for (int empty = 0; empty < 2; empty++) {
    options.devices = empty ? "" : NULL;
    assert_ok(tsr_context_create(&options, &context));
    assert_int_equal(tsr_device_count(context), 4);
    tsr_context_destroy(context);
  }
}

static void test_machine_string(void **state) {
  (void)state;
  static const char *const wrong[] = {"toaster",
                                      "host:x gpu*2 pcie:25",
                                      "host:200 gpu*0 pcie:25",
                                      "host:200 gpu*2@nvswitch: pcie:25",
                                      "gpu*2 pcie:-1",
                                      ""};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong - 1; ++i) {
    tsr_options options = front_options();
    options.machine = wrong[i];
    tsr_context *context = NULL;
    tsr_status status = tsr_context_create(&options, &context);
    if (status != TSR_ERR_MACHINE)
      fail_msg("machine \"%s\" gives %s", wrong[i], tsr_status_name(status));
    assert_true(strlen(tsr_message()) > 10);
  }
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void test_machine_file(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "", "{", "[]", "{\"devices\": \"many\"}", "{\"devices\": -3}", "not json at all"};
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.machine = "/nowhere/machine.json";
  tsr_status status = tsr_context_create(&options, &context);
  assert_true(status == TSR_ERR_IO || status == TSR_ERR_MACHINE);
  assert_non_null(strstr(tsr_message(), "/nowhere/machine.json"));
  char path[] = "/tmp/tessera_machine_XXXXXX.json";
  int file = mkstemps(path, 5);
  assert_true(file >= 0);
  close(file);
  options.machine = path;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    write_file(path, wrong[i]);
    refused(&options, TSR_ERR_MACHINE, path);
  }
  unlink(path);
}

/* A machine that was printed as JSON can be read back. */
static void test_machine_round_trip(void **state) {
  (void)state;
  tsr_context *context = front_context();
  char *json = NULL, *text = NULL, *again = NULL;
  assert_ok(tsr_machine_print(context, TSR_JSON, &json));
  assert_ok(tsr_machine_print(context, TSR_TEXT, &text));
  assert_true(strlen(text) > 20);
  tsr_context_destroy(context);
  char path[] = "/tmp/tessera_machine_XXXXXX.json";
  int file = mkstemps(path, 5);
  assert_true(file >= 0);
  close(file);
  write_file(path, json);
  tsr_options options = front_options();
  options.machine = path;
  assert_ok(tsr_context_create(&options, &context));
  front_assert_works(context);
  assert_ok(tsr_machine_print(context, TSR_JSON, &again));
  assert_true(strlen(again) + 40 > strlen(json));
  tsr_context_destroy(context);
  unlink(path);
  free(json), free(text), free(again);
}

static void test_environment(void **state) {
  (void)state;
  static const struct {
    const char *name, *value;
  } wrong[] = {
      {"TESSERA_ENGINE", "abacus"}, {"TESSERA_DEVICES", "many"},  {"TESSERA_MACHINE", "toaster"},
      {"TESSERA_MEMORY", "lots"},   {"TESSERA_MEMORY", "-5"},     {"TESSERA_TILE", "1.5"},
      {"TESSERA_TILE", "-8"},       {"TESSERA_CHECK", "perhaps"}, {"TESSERA_REPRODUCIBLE", "2"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    tsr_context *context = NULL;
    front_clear_environment();
    setenv("TESSERA_ENGINE", "host", 1);
    setenv("TESSERA_MACHINE", TWO_DEVICES, 1);
    setenv(wrong[i].name, wrong[i].value, 1);
    tsr_status status = tsr_context_create(NULL, &context);
    if (status == TSR_OK) fail_msg("%s=%s is accepted", wrong[i].name, wrong[i].value);
    if (!strstr(tsr_message(), wrong[i].value))
      fail_msg("\"%s\" does not tell the value %s of %s", tsr_message(), wrong[i].value,
               wrong[i].name);
  }
  front_clear_environment();
}

static void test_environment_counts(void **state) {
  (void)state;
  tsr_context *context = NULL;
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", TWO_DEVICES, 1);
  setenv("TESSERA_MEMORY", "1MiB", 1);
  setenv("TESSERA_TILE", "8", 1);
  setenv("TESSERA_CHECK", "1", 1);
  setenv("TESSERA_REPRODUCIBLE", "1", 1);
  assert_ok(tsr_context_create(NULL, &context));
  assert_int_equal(tsr_device_count(context), 2);
  front_assert_works(context);
  tsr_plan *plan;
  tsr_prediction got;
  assert_ok(tsr_plan_last(context, &plan));
  assert_ok(tsr_plan_predict(plan, &got));
  assert_true(got.tile_m <= 8 && got.tile_n <= 8 && got.tile_k <= 8);
  assert_true(got.device_memory <= 1 << 20);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  front_clear_environment();
}

static void test_options_before_environment(void **state) {
  (void)state;
  setenv("TESSERA_ENGINE", "abacus", 1);
  setenv("TESSERA_MACHINE", "toaster", 1);
  tsr_context_destroy(front_context());
  front_clear_environment();
}

static void test_settings_table(void **state) {
  (void)state;
  static const char *const wanted[] = {"TESSERA_ENGINE",       "TESSERA_DEVICES", "TESSERA_MACHINE",
                                       "TESSERA_MEMORY",       "TESSERA_TILE",    "TESSERA_CHECK",
                                       "TESSERA_REPRODUCIBLE", "TESSERA_LOG"};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    const tsr_setting *s = tsr_settings();
    while (s->name && strcmp(s->name, wanted[i]) != 0) ++s;
    if (!s->name) fail_msg("%s is not in the table of settings", wanted[i]);
    assert_true(s->values && s->initial && s->help);
  }
}

static void test_many(void **state) {
  (void)state;
  for (int i = 0; i < 60; ++i) {
    tsr_context *context = front_context();
    if (i % 2) front_assert_works(context);
    if (i % 3 == 0) assert_ok(tsr_trim(context));
    tsr_context_destroy(context);
  }
}

static void test_several_at_once(void **state) {
  (void)state;
  tsr_context *context[4];
  for (int i = 0; i < 4; ++i) context[i] = front_context();
  for (int i = 0; i < 4; ++i) front_assert_works(context[i]);
  for (int i = 0; i < 4; ++i) tsr_context_destroy(context[(i + 2) % 4]);
}

static void test_trim(void **state) {
  (void)state;
  tsr_context *context = front_context();
  for (int i = 0; i < 5; ++i) {
    front_assert_works(context);
    assert_ok(tsr_trim(context));
  }
  tsr_context_destroy(context);
}

/* A forked child has not the context's threads: it is told so, and may make a context of its own.
 */
static int in_child(tsr_context *context, const tsr_options *options) {
  double x = 2, y = 0;
  tsr_context *own = NULL;
  if (tsr_dgemm(context, TSR_COL_MAJOR, 'N', 'N', 1, 1, 1, 1, &x, 1, &x, 1, 0, &y, 1) !=
      TSR_ERR_ARGUMENT)
    return 1;
  if (strstr(tsr_message(), "forked") == NULL) return 2;
  tsr_context_destroy(context);
  if (tsr_context_create(options, &own) != TSR_OK) return 3;
  if (tsr_dgemm(own, TSR_COL_MAJOR, 'N', 'N', 1, 1, 1, 1, &x, 1, &x, 1, 0, &y, 1) != TSR_OK)
    return 4;
  tsr_context_destroy(own);
  return y == 4 ? 0 : 5;
}

static void test_fork(void **state) {
  (void)state;
  tsr_options options = front_options();
  options.engine = "cpu"; /* what a child may do whatever the parent used */
  options.devices = NULL;
  options.machine = NULL;
  tsr_options parents = front_options();
  tsr_context *context = NULL;
  assert_int_equal(tsr_context_create(&parents, &context), TSR_OK);
  pid_t child = fork();
  if (child == 0) {
    alarm(300);
    _exit(in_child(context, &options));
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  tsr_context_destroy(context);
}

/* A read takes as long as a small call. */
static void test_limits_are_read_once(void **state) {
  (void)state;
  tsr_options options = front_options();
  for (int i = 0; i < 2; i++) { /* the first one may also load a BLAS, which looks for itself */
    tsr_context *context = NULL;
    atomic_store(&reads, 0);
    assert_int_equal(tsr_context_create(&options, &context), TSR_OK);
    tsr_context_destroy(context);
  }
  assert_int_equal(atomic_load(&reads), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_size_of_options),
      cmocka_unit_test(test_engine),
      cmocka_unit_test(test_engine_of_the_environment),
      cmocka_unit_test(test_strategy_of_the_environment),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_device_list),
      cmocka_unit_test(test_machine_string),
      cmocka_unit_test(test_machine_file),
      cmocka_unit_test(test_machine_round_trip),
      cmocka_unit_test(test_environment),
      cmocka_unit_test(test_environment_counts),
      cmocka_unit_test(test_options_before_environment),
      cmocka_unit_test(test_settings_table),
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_several_at_once),
      cmocka_unit_test(test_trim),
      cmocka_unit_test(test_limits_are_read_once),
      cmocka_unit_test(test_fork),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
