/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kept measurements where contexts have different devices of one computer, as the processes of a
 * node do under Slurm, and where several have none yet at the same time.
 */
#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include "front.h"

#include "front/context.h"
#include "probe/probe.h"

static char folder[] = "/tmp/tessera-kept-XXXXXX";

/* A context with devices of one model that have these identities. */
static tsr_context *context_of(int devices, const char *const *identities) {
  char machine[64];
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  snprintf(machine, sizeof machine, "gpu*%d@nvswitch:20", devices);
  options.engine = "host";
  options.machine = machine;
  assert_ok(tsr_context_create(&options, &context));
  for (int d = 0; d < devices; d++)
    snprintf(context->info[d].identity, sizeof context->info[d].identity, "%s", identities[d]);
  return context;
}

/* Whether the context measures; its machine has its devices. */
static bool measures(tsr_context *context) {
  tsr_machine *machine;
  atomic_store(&context->just_measured, false);
  assert_ok(tsr_context_measured_machine(context, &machine));
  assert_int_equal(machine->devices, context->devices);
  for (int d = 0; d < machine->devices; d++)
    assert_string_equal(machine->device[d].identity, context->info[d].identity);
  tsr_machine_destroy(machine);
  return atomic_load(&context->just_measured);
}

static int count_files(void) {
  char path[64];
  int count = 0;
  snprintf(path, sizeof path, "%s/tessera", folder);
  DIR *opened = opendir(path);
  for (struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;)
    count += strstr(entry->d_name, ".json") != NULL;
  if (opened != NULL) closedir(opened);
  return count;
}

/* Each set keeps its own, however often they take turns; the order does not matter to a set that is
 * part of a measured one. */
static void test_each_set_keeps_its_measurement(void **state) {
  (void)state;
  const char *const a[] = {"GPU-a"}, *const b[] = {"GPU-b"}, *const bc[] = {"GPU-b", "GPU-c"},
                    *const cb[] = {"GPU-c", "GPU-b"}, *const c[] = {"GPU-c"};
  tsr_context *sets[] = {context_of(1, a), context_of(1, b), context_of(2, bc)};
  tsr_context *parts[] = {context_of(2, cb), context_of(1, c)};
  for (int i = 0; i < 3; i++) assert_true(measures(sets[i]));
  assert_int_equal(count_files(), 3);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < 3; i++) assert_false(measures(sets[i]));
  for (int i = 0; i < 2; i++) assert_false(measures(parts[i]));
  assert_int_equal(count_files(), 3);
  for (int i = 0; i < 3; i++) tsr_context_destroy(sets[i]);
  for (int i = 0; i < 2; i++) tsr_context_destroy(parts[i]);
}

/* Files that are no measurement, or were written before devices had identities: as 0.1 wrote them,
 * of one name for all GPUs of a model. They stay, and are not taken. */
static void test_other_files_are_ignored(void **state) {
  (void)state;
  static const char *const contents[] = {"", "{", "{}", "{\"format\": \"tessera machine 0\"}",
                                         NULL};
  const char *const is[] = {"emulated-0"};
  char host[32], path[128];
  tsr_machine *old;
  tsr_context *context = context_of(1, is);
  tsr_probe_host_name(host, sizeof host);
  assert_ok(tsr_context_emulated_machine(1, &old));
  snprintf(old->device[0].name, sizeof old->device[0].name, "%s", context->info[0].name);
  for (int i = 0; i < 5; i++) {
    snprintf(path, sizeof path, "%s/tessera/%s_1_old_%d.json", folder, host, i);
    if (contents[i] == NULL) {
      assert_ok(tsr_machine_write(old, path));
      continue;
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(contents[i], file) >= 0 && fclose(file) == 0);
  }
  int files = count_files();
  assert_true(measures(context));
  assert_false(measures(context));
  assert_int_equal(count_files(), files + 1);
  tsr_machine_destroy(old);
  tsr_context_destroy(context);
}

static void *measure_aside(void *argument) {
  tsr_machine *machine;
  tsr_context *context = argument;
  if (tsr_context_measured_machine(context, &machine) == TSR_OK)
    tsr_machine_destroy(machine);
  else
    context->devices = 0;
  return NULL;
}

/* Of several that start at the same time, one measures, and the others wait and take what it
 * found. */
static void test_one_measures_for_all(void **state) {
  (void)state;
  enum { ALL = 4 };
  const char *const same[] = {"GPU-x", "GPU-y"};
  tsr_context *contexts[ALL];
  pthread_t threads[ALL];
  int measured = 0;
  for (int i = 0; i < ALL; i++) contexts[i] = context_of(2, same);
  for (int i = 0; i < ALL; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, measure_aside, contexts[i]), 0);
  for (int i = 0; i < ALL; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < ALL; i++) {
    assert_int_equal(contexts[i]->devices, 2);
    measured += atomic_load(&contexts[i]->just_measured);
    tsr_context_destroy(contexts[i]);
  }
  assert_int_equal(measured, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_set_keeps_its_measurement),
      cmocka_unit_test(test_other_files_are_ignored),
      cmocka_unit_test(test_one_measures_for_all),
  };
  char command[80];
  front_clear_environment();
  if (mkdtemp(folder) == NULL) return 1;
  setenv("XDG_CACHE_HOME", folder, 1);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) != 0 || failed;
}
