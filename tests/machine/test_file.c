/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "machine/installed.h"
#include "machine/origin.h"
#include "tessera_model.h"

static char folder[] = "/tmp/tessera-machine-XXXXXX";
static char path[64];

static int make_folder(void **state) {
  (void)state;
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/m.json", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  unlink(path);
  return rmdir(folder);
}

static char *json_of(const char *string) {
  tsr_machine *machine = NULL;
  tsr_text text = TSR_TEXT_INIT;
  char *json = NULL;
  assert_int_equal(tsr_machine_parse(string, &machine), TSR_OK);
  assert_int_equal(tsr_machine_print_json(machine, &text), TSR_OK);
  assert_int_equal(tsr_text_take(&text, &json), TSR_OK);
  tsr_machine_destroy(machine);
  return json;
}

static void expect_same_again(const tsr_machine *machine) {
  tsr_machine *again = NULL;
  assert_int_equal(tsr_machine_write(machine, path), TSR_OK);
  if (tsr_machine_read(path, &again) != TSR_OK) fail_msg("%s", tsr_message());
  assert_true(tsr_machine_digest(machine) == tsr_machine_digest(again));
  assert_string_equal(machine->name, again->name);
  assert_string_equal(machine->identity, again->identity);
  assert_string_equal(again->source, "file");
  for (int i = 0; i < machine->channels; i++)
    assert_string_equal(machine->channel[i].name, again->channel[i].name);
  tsr_machine_destroy(again);
}

static void strings_come_back(void **state) {
  (void)state;
  static const char *const strings[] = {
      "gpu*1",
      "host:100 cpu:500",
      "host:215,154 gpu*4@nvswitch:396 pcie:55 rate:62.8",
      "host*3:77.7 interleaved gpu*5@pcie pcie:12.3/2 lat:1.7",
      "host*8:9 gpu*32@nvswitch:3",
      "host*2:170,150 sockets:40 gpu*4@pcie",
      "gpu*2 net:12.3,1.7",
      "gpu*4@pcie pcie:12.3,4.5 hbm:900,800 speed:1,0.3 unlinked:0-1,2-3",
  };
  for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
    tsr_machine *machine = NULL;
    assert_int_equal(tsr_machine_parse(strings[i], &machine), TSR_OK);
    expect_same_again(machine);
    tsr_machine_destroy(machine);
  }
}

static void odd_numbers_and_names_come_back(void **state) {
  (void)state;
  tsr_machine *machine = NULL;
  assert_int_equal(tsr_machine_parse("gpu*2@nvlink:50", &machine), TSR_OK);
  snprintf(machine->name, sizeof machine->name, "a \"quoted\" \\ name\twith \x01");
  snprintf(machine->identity, sizeof machine->identity, "GPU-\xc3\xa9");
  machine->link[0][1].bandwidth = nextafter(1e11 / 3, 1e12);
  machine->link[1][0].bandwidth = nextafter(machine->link[0][1].bandwidth, 1e12);
  machine->link[0][1].shape = (tsr_curve){2, {4096, 1 / 3.0 * 1e9}, {0.1, 1e10 / 7}};
  machine->link[2][0].shape = machine->link[0][1].shape;
  machine->link[2][0].close =
      (struct tsr_close){1e5 / 3, {2, {1024 / 3.0, 16384}, {0.1, 1e11 / 7}}};
  machine->device[1].speed = 0.1 + 0.2;
  machine->device[1].type_speed[0] = 0.1;
  machine->device[1].type_speed[TSR_TYPE_COUNT - 1] = 1 / 3.0;
  machine->rates[0] = (tsr_rates){0};
  machine->rates[1].narrow = (tsr_curve){2, {128, 1024}, {1 / 3.0, 0.9}};
  machine->rates[1].routine[TSR_KERNEL_TRSM] = (struct tsr_routine){0.25, 0.5};
  machine->rates[1].emulated.elements = 1e11 / 7;
  machine->rates[1].emulated.sustained = 7e13;
  for (int i = 0; i < machine->rates[1].areas; i++)
    for (int j = 0; j < machine->rates[1].ks; j++)
      machine->rates[1].emulated.flops[i][j] = 1e13 / 3 * (i + j + 1);
  expect_same_again(machine);
  tsr_machine_destroy(machine);
}

static void text_that_is_json(void **state) {
  (void)state;
  char *json = json_of("host:100 gpu*2@nvlink:50 pcie:25 net:9");
  tsr_machine *machine = NULL;
  assert_int_equal(tsr_machine_load(json, &machine), TSR_OK);
  assert_int_equal(machine->devices, 2);
  assert_true(machine->network.bandwidth == 9e9);
  expect_same_again(machine);
  tsr_machine_destroy(machine);
  machine = NULL;
  json[strlen(json) / 2] = '\0';
  assert_int_equal(tsr_machine_load(json, &machine), TSR_ERR_MACHINE);
  assert_null(machine);
  free(json);
}

static void our_machines_are_good(void **state) {
  (void)state;
  static const char *const names[] = {"h200x4", "a100x8", "v100x4-choi", "gtx1070x4-choi",
                                      "v100x3-summit"};
  const char *source = getenv("TESSERA_SOURCE_DIR");
  if (source == NULL) source = ".";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char ours[512];
    tsr_machine *machine = NULL;
    snprintf(ours, sizeof ours, "%s/machines/%s.json", source, names[i]);
    if (tsr_machine_load(ours, &machine) != TSR_OK) fail_msg("%s", tsr_message());
    assert_string_equal(machine->name, names[i]);
    for (int t = 0; t < TSR_TYPE_COUNT; t++) {
      double before = 0;
      for (int64_t n = 32; n <= 16384; n += n / 8) {
        double time = tsr_machine_kernel_time(machine, 0, TSR_KERNEL_GEMM, tsr_type_at(t)->type, n,
                                              n, 512, false, true, 0);
        assert_true(time > before);
        before = time;
      }
    }
    expect_same_again(machine);
    tsr_machine_destroy(machine);
  }
}

static tsr_status read_bytes(const char *bytes, size_t length, tsr_machine **machine) {
  assert_int_equal(tsr_text_write_file(path, bytes, length), TSR_OK);
  return tsr_machine_read(path, machine);
}

static void every_truncation_is_refused(void **state) {
  (void)state;
  char *json = json_of("host:100 gpu*2@nvlink:50 pcie:25");
  size_t whole = strlen(json) - 1; /* the last byte is a newline */
  for (size_t length = 0; length < whole; length += 1 + length % 7) {
    tsr_machine *machine = NULL;
    assert_int_equal(read_bytes(json, length, &machine), TSR_ERR_MACHINE);
    assert_non_null(strstr(tsr_message(), path));
    assert_null(machine);
  }
  free(json);
}

/* Replaces the first occurrence of `what`; the caller frees the result. */
static char *replaced(const char *json, const char *what, const char *by) {
  const char *at = strstr(json, what);
  if (at == NULL) fail_msg("no %s in the JSON", what);
  tsr_text text = TSR_TEXT_INIT;
  char *made = NULL;
  tsr_text_add(&text, "%.*s%s%s", (int)(at - json), json, by, at + strlen(what));
  assert_int_equal(tsr_text_take(&text, &made), TSR_OK);
  return made;
}

typedef struct odd {
  const char *what, *by, *message;
} odd;

static const odd odd_files[] = {
    {"\"tessera_machine\": 1", "\"tessera_machine\": 2", "tessera_machine: expected"},
    {"\"tessera_machine\": 1,", "", "tessera_machine: expected"},
    {"\"name\"", "\"nmae\"", "nmae: expected no field"},
    {"\"interleaved\": false", "\"interleaved\": 0", "interleaved: expected true or false"},
    {"\"nodes\": 1", "\"nodes\": 0", "nodes: expected"},
    {"\"nodes\": 1", "\"nodes\": 1.5", "nodes: expected"},
    {"\"nodes\": 1", "\"nodes\": \"1\"", "nodes: expected a number"},
    {"\"nodes\": 1", "\"nodes\": 1e999", "nodes: expected"},
    {"\"nodes\": 1", "\"nodes\": 1, \"nodes\": 1", "nodes: expected this field only once"},
    {"\"devices\": [", "\"devices\": {}, \"links\": [", "expected"},
    {"\"speed\": 1", "\"speed\": 0", "devices[0].speed is 0"},
    {"\"speed\": 1", "\"speed\": null", "devices[0].speed: expected a number"},
    {"\"speed\": 1", "\"sped\": 1", "devices[0].sped: expected no field"},
    {"\"memory\": 4e+10", "\"memory\": -4e+10", "devices[0].memory is"},
    {"\"memory\": 4e+10,", "", "devices[0].memory: expected a number"},
    {"\"host_node\": \"host0\"", "\"host_node\": \"gpu0\"", "devices[0].host_node is"},
    {"\"host_node\": \"host0\"", "\"host_node\": \"host1\"",
     "devices[0].host_node: expected a loc"},
    {"\"from\": \"gpu0\"", "\"from\": \"gpu7\"", "links[0].from: expected a location"},
    {"\"from\": \"gpu0\"", "\"from\": 0", "links[0].from: expected a location"},
    {"\"to\": \"gpu1\"", "\"to\": \"gpu0\"", "gpu0 -> gpu0"},
    {"\"bandwidth\": 5e+10", "\"bandwidth\": \"50\"", "links[0].bandwidth: expected a number"},
    {"\"bandwidth\": 5e+10", "\"bandwidth\": 0", "links[0]: expected a bandwidth"},
    {"\"bandwidth\": 5e+10", "\"bandwidth\": -3", "links[0]: expected a bandwidth"},
    {"\"latency\": 8e-06}", "\"latency\": 8e-06, \"shape\": 3}", "links[0].shape: expected a list"},
    {"\"latency\": 8e-06}", "\"latency\": 8e-06, \"shape\": [[1]]}", "links[0].shape[0]: expected"},
    {"\"latency\": 8e-06}", "\"latency\": 8e-06, \"shape\": [[2, 1], [1, 1]]}", "ascending"},
    {"\"latency\": 8e-06}", "\"latency\": 8e-06, \"close\": [[1, 1]]}",
     "links[0].close: expected an object"},
    {"\"latency\": 8e-06}", "\"latency\": 8e-06, \"close\": {\"shape\": [[1, 1]]}}",
     "links[0].close.pitch: expected a number"},
    {"\"latency\": 8e-06}", "\"latency\": 8e-06, \"close\": {\"pitch\": 9}}",
     "links[0].close.shape: expected a list"},
    {"\"latency\": 8e-06}", "\"latency\": 8e-06, \"close\": {\"pitch\": 9, \"shape\": []}}",
     "links[0].close.shape: expected a list"},
    {"\"latency\": 8e-06}", "\"latency\": 8e-06, \"close\": {\"pich\": 9}}",
     "links[0].close.pich: expected no field"},
    {"\"latency\": 8e-06}", "\"latency\": 8e-06, \"close\": {\"pitch\": 9, \"shape\": [[1, 1]]}}",
     "link gpu0 -> gpu1 has close, but no shape"},
    {"\"to\": \"host0\"", "\"to\": \"gpu1\"", "links[1]: expected each link only once"},
    {"\"capacity\": 1e+11", "\"capacity\": 0", "host0 memory"},
    {"[\"host0\", \"gpu0\", 1]", "[\"host0\"]", "channels[0].uses[0]: expected a list"},
    {"[\"host0\", \"gpu0\", 1]", "[\"host0\", \"gpu0\", \"1\"]",
     "channels[0].uses[0][2]: expected"},
    {"[\"host0\", \"gpu0\", 1]", "[\"host0\", \"gpu9\", 1]",
     "channels[0].uses[0][1]: expected a loc"},
    {"[\"host0\", \"gpu0\", 1]", "[\"host0\", \"host0\", 1]", "absent link"},
    {"\"s\": {", "\"q\": {", "rates.q: expected no field"},
    {"\"area\": [128, 512", "\"area\": [512, 128", "rates.s.area"},
    {"\"area\": [128, ", "\"area\": [", "rates.s.flops: expected a list"},
    {"\"area\": [128, ", "\"area\": [1, 2, 3, 128, ", "rates.s.area: expected a list"},
    {"\"sustained\": ", "\"sustained\": -", "rates.s.sustained"},
    {"\"threads\": 8", "\"threads\": 8.5", "staging.threads: expected a whole number"},
    {"\"threads\": 8", "\"threads\": 0", "staging.threads is 0"},
    {"\"copy\": ", "\"copy\": -", "submit.copy is"},
    {"\"cpu\": {", "\"cpu\": [], \"cpu2\": {", "cpu2: expected no field"},
    {"{\n", "[\n", "not JSON"},
};

static void odd_files_are_refused_at_their_place(void **state) {
  (void)state;
  char *json = json_of("host:100 gpu*2@nvlink:50 pcie:25");
  for (size_t i = 0; i < sizeof odd_files / sizeof *odd_files; i++) {
    const odd *o = &odd_files[i];
    char *wrong = replaced(json, o->what, o->by);
    tsr_machine *machine = NULL;
    if (read_bytes(wrong, strlen(wrong), &machine) != TSR_ERR_MACHINE)
      fail_msg("%s is taken", o->by);
    if (strstr(tsr_message(), o->message) == NULL || strstr(tsr_message(), path) == NULL)
      fail_msg("%s: %s", o->by, tsr_message());
    assert_null(machine);
    free(wrong);
  }
  free(json);
}

static void other_json_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",     "null",   "3",         "[]",  "{}",     "\"x\"",
                                    "{} x", "{}\n{}", "{\"\": 1}", "NaN", "[[[[[[", "\xff\xfe{}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tsr_machine *machine = NULL;
    assert_int_equal(read_bytes(bad[i], strlen(bad[i]), &machine), TSR_ERR_MACHINE);
    assert_null(machine);
  }
}

/* One byte of the file is changed: reading ends with a machine or with an error. */
static void one_wrong_byte_is_safe(void **state) {
  (void)state;
  char *json = json_of("gpu*1");
  size_t length = strlen(json);
  static const char bytes[] = {'\0', '"', '}', ']', ',', '-', '9', 'e', '\\'};
  for (size_t i = 0; i < length; i += 3) {
    char kept = json[i];
    tsr_machine *machine = NULL;
    json[i] = bytes[i / 3 % sizeof bytes];
    if (read_bytes(json, length, &machine) == TSR_OK) tsr_machine_destroy(machine);
    json[i] = kept;
  }
  free(json);
}

static void load_tells_files_from_strings(void **state) {
  (void)state;
  tsr_machine *machine = NULL;
  char *json = json_of("gpu*3");
  assert_int_equal(tsr_machine_load("gpu*2", &machine), TSR_OK);
  assert_int_equal(machine->devices, 2);
  tsr_machine_destroy(machine);
  machine = NULL;
  assert_int_equal(tsr_machine_load("/nowhere/m.json", &machine), TSR_ERR_IO);
  assert_non_null(strstr(tsr_message(), "/nowhere/m.json"));
  assert_int_equal(tsr_machine_load(folder, &machine), TSR_ERR_IO);
  assert_null(machine);
  assert_int_equal(tsr_text_write_file(path, json, strlen(json)), TSR_OK);
  assert_int_equal(tsr_machine_load(path, &machine), TSR_OK);
  assert_int_equal(machine->devices, 3);
  assert_int_equal(tsr_machine_write(machine, "/nowhere/m.json"), TSR_ERR_IO);
  tsr_machine_destroy(machine);
  free(json);
}

/* The test's own build folder is laid out as installed. */
static void installed_machines_have_names(void **state) {
  (void)state;
  tsr_installed installed;
  tsr_machine *machine = NULL;
  tsr_installed_list(&installed);
  assert_true(installed.count >= 7);
  for (int i = 0; i < installed.count; i++) {
    if (i > 0) assert_true(strcmp(installed.name[i - 1], installed.name[i]) < 0);
    if (tsr_machine_load(installed.name[i], &machine) != TSR_OK) fail_msg("%s", tsr_message());
    assert_string_equal(machine->name, installed.name[i]);
    tsr_machine_destroy(machine);
  }
}

static void other_names_are_refused(void **state) {
  (void)state;
  static const char *const names[] = {"h200x5", "H200x4", "h200x4 ", "../machines/h200x4", "gpu"};
  tsr_machine *machine = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_int_equal(tsr_machine_load(names[i], &machine), TSR_ERR_MACHINE);
    assert_null(machine);
    bool told = strstr(tsr_message(), "is not installed") != NULL;
    assert_int_equal(told, tsr_installed_is_name(names[i]));
  }
  assert_false(tsr_installed_is_name(""));
  assert_int_equal(tsr_machine_load("interleaved", &machine), TSR_OK); /* a string of one word */
  tsr_machine_destroy(machine);
}

/* Origins and what tells a machine from others are written and read, and selected with it; no plan
 * depends on them. */
static void origins_are_kept(void **state) {
  (void)state;
  static const int first[] = {0};
  tsr_machine *m = NULL, *back = NULL, *one = NULL;
  tsr_text json = TSR_TEXT_INIT, said = TSR_TEXT_INIT;
  assert_int_equal(tsr_machine_parse("gpu*2", &m), TSR_OK);
  uint64_t digest = tsr_machine_digest(m);
  tsr_origins_print(m, &said);
  assert_int_equal(said.length, 0); /* nobody says */
  snprintf(m->about, sizeof m->about, "a \"test\"");
  tsr_origins_set(&m->origins, TSR_ORIGIN_MEASURED);
  m->origins.of[TSR_FIGURE_CPU] = TSR_ORIGIN_UNDER_LOAD;
  m->origins.of[TSR_FIGURE_SOCKETS] = TSR_ORIGIN_UNKNOWN;
  m->origins.type[tsr_type_index(TSR_Z)] = TSR_ORIGIN_DATA_SHEET;
  assert_int_equal(tsr_machine_print_json(m, &json), TSR_OK);
  assert_int_equal(tsr_machine_read_json(json.bytes, &back), TSR_OK);
  assert_string_equal(back->about, m->about);
  assert_memory_equal(&back->origins, &m->origins, sizeof m->origins);
  assert_true(tsr_machine_digest(back) == digest);
  assert_int_equal(tsr_machine_select(back, first, 1, &one), TSR_OK);
  assert_memory_equal(&one->origins, &m->origins, sizeof m->origins);
  assert_int_equal(tsr_origin_of_kernels(m, TSR_D), TSR_ORIGIN_MEASURED);
  assert_int_equal(tsr_origin_of_kernels(m, TSR_Z), TSR_ORIGIN_DATA_SHEET);
  tsr_origins_print(m, &said);
  assert_string_equal(said.bytes,
                      "measured: kernels of s, d, c, h, b, t, host links, host memory, links "
                      "between GPUs, staging; measured under load: CPU; data sheet: kernels of z");
  tsr_machine_destroy(one);
  tsr_machine_destroy(back);
  tsr_machine_destroy(m);
  tsr_text_free(&json);
  tsr_text_free(&said);
}

static void misspelt_names_are_told_their_neighbours(void **state) {
  (void)state;
  static const struct {
    const char *name, *meant;
  } tried[] = {{"h200x5", "did you mean h200x"},
               {"MI300X", "did you mean mi300x8?"},
               {"mi300", "did you mean mi300x8?"},
               {"h200", "did you mean h200x"},
               {"sumit-node", "did you mean summit-node?"},
               {"xyzzy", "(installed: a100x"}};
  tsr_machine *machine = NULL;
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
    assert_int_equal(tsr_machine_load(tried[i].name, &machine), TSR_ERR_MACHINE);
    if (strstr(tsr_message(), tried[i].meant) == NULL)
      fail_msg("%s: %s", tried[i].name, tsr_message());
  }
}

static void allocations_may_fail(void **state) {
  (void)state;
  char *json = json_of("host:100 gpu*2@nvswitch:50 pcie:25/2");
  tsr_status status = TSR_ERR_MEMORY;
  assert_int_equal(tsr_text_write_file(path, json, strlen(json)), TSR_OK);
  for (long n = 1; status != TSR_OK; n++) {
    tsr_machine *machine = NULL;
    tsr_alloc_fail_at(n);
    status = tsr_machine_read(path, &machine);
    if (status == TSR_OK) status = tsr_machine_write(machine, path);
    assert_true(status == TSR_OK || status == TSR_ERR_MEMORY);
    tsr_machine_destroy(machine);
  }
  tsr_alloc_fail_at(0);
  free(json);
}

static void cache_paths(void **state) {
  (void)state;
  char *one = NULL, *other = NULL, expected[96];
  struct stat what;
  unsetenv("XDG_RUNTIME_DIR");
  setenv("XDG_CACHE_HOME", folder, 1);
  assert_int_equal(tsr_machine_cache_path("GPU-1 2/../x", &one), TSR_OK);
  assert_int_equal(tsr_machine_cache_path("GPU-1 2/../y", &other), TSR_OK);
  assert_string_not_equal(one, other);
  snprintf(expected, sizeof expected, "%s/tessera", folder);
  assert_memory_equal(one, expected, strlen(expected));
  assert_null(strchr(one + strlen(expected) + 1, '/'));
  assert_int_equal(stat(expected, &what), 0);
  assert_int_equal(rmdir(expected), 0);
  free(one);
  free(other);
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", folder, 1);
  one = NULL;
  assert_int_equal(tsr_machine_cache_path("", &one), TSR_OK);
  snprintf(expected, sizeof expected, "%s/.cache/tessera", folder);
  assert_int_equal(rmdir(expected), 0);
  *strrchr(expected, '/') = '\0';
  assert_int_equal(rmdir(expected), 0);
  free(one);
  unsetenv("HOME");
  assert_int_equal(tsr_machine_cache_path("x", &one), TSR_ERR_IO);
}

/* The path that a function finds has the folder `in` at its beginning; with `make` the file is made
 * there. */
static void finds(tsr_status (*find)(const char *, char **), const char *in, bool make) {
  char *found = NULL;
  assert_int_equal(find("x", &found), TSR_OK);
  assert_memory_equal(found, in, strlen(in));
  if (make) assert_int_equal(tsr_text_write_file(found, "{}", 2), TSR_OK);
  free(found);
}

static bool note_path(const char *kept, void *user) {
  snprintf(user, 512, "%s", kept);
  return true;
}

/* A measurement that an older build has kept is read; what is kept from now on has fields that such
 * a build refuses, and it does not see these files. */
static void kept_files_have_a_form(void **state) {
  (void)state;
  char *now = NULL, *found = NULL, visited[512] = "", *name, before[512];
  setenv("XDG_CACHE_HOME", folder, 1);
  assert_int_equal(tsr_machine_cache_path_to_write("host.a GPU-1", &now), TSR_OK);
  name = strrchr(now, '/') + 1;
  assert_memory_equal(name, "2.host_a_GPU_1-", 15); /* older builds look for "host_a_..." */
  snprintf(before, sizeof before, "%.*s%s", (int)(name - now), now, name + 2);
  assert_int_equal(tsr_text_write_file(before, "{}", 2), TSR_OK);
  assert_int_equal(tsr_machine_cache_path("host.a GPU-1", &found), TSR_OK);
  assert_string_equal(found, before);
  free(found);
  assert_true(tsr_machine_cache_visit("host.a", note_path, visited));
  assert_string_equal(visited, before);
  assert_int_equal(tsr_text_write_file(now, "{}", 2), TSR_OK);
  assert_int_equal(tsr_machine_cache_path("host.a GPU-1", &found), TSR_OK);
  assert_string_equal(found, now);
  free(found);
  assert_true(tsr_machine_cache_visit("host.a", note_path, visited)); /* the newer form first */
  assert_string_equal(visited, now);
  assert_int_equal(remove(now) | remove(before), 0);
  *name = '\0';
  assert_int_equal(rmdir(now), 0);
  free(now);
  unsetenv("XDG_CACHE_HOME");
}

/* A home in which nothing can be made, even by root: a file stands where a folder has to be. */
static void cache_without_a_home(void **state) {
  (void)state;
  char home[96], session[96], command[256];
  snprintf(home, sizeof home, "%s/home", folder);
  snprintf(session, sizeof session, "%s/session", folder);
  assert_int_equal(tsr_text_write_file(home, "", 0), TSR_OK);
  unsetenv("XDG_CACHE_HOME");
  unsetenv("XDG_RUNTIME_DIR");
  setenv("HOME", home, 1);
  char *found = NULL;
  assert_int_equal(tsr_machine_cache_path("x", &found), TSR_ERR_IO);
  assert_non_null(strstr(tsr_message(), home));
  assert_int_equal(mkdir(session, 0700), 0);
  setenv("XDG_RUNTIME_DIR", session, 1);
  finds(tsr_machine_cache_path, session, false);
  finds(tsr_machine_cache_path_to_write, session, true);
  finds(tsr_machine_cache_path, session, false);
  assert_int_equal(remove(home), 0);
  assert_int_equal(mkdir(home, 0700), 0);
  finds(tsr_machine_cache_path, session, false); /* the one that has the file */
  finds(tsr_machine_cache_path_to_write, home, true);
  finds(tsr_machine_cache_path, home, false);
  unsetenv("HOME");
  unsetenv("XDG_RUNTIME_DIR");
  snprintf(command, sizeof command, "rm -r %s %s", home, session);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strings_come_back),
      cmocka_unit_test(odd_numbers_and_names_come_back),
      cmocka_unit_test(text_that_is_json),
      cmocka_unit_test(our_machines_are_good),
      cmocka_unit_test(every_truncation_is_refused),
      cmocka_unit_test(odd_files_are_refused_at_their_place),
      cmocka_unit_test(other_json_is_refused),
      cmocka_unit_test(one_wrong_byte_is_safe),
      cmocka_unit_test(load_tells_files_from_strings),
      cmocka_unit_test(installed_machines_have_names),
      cmocka_unit_test(other_names_are_refused),
      cmocka_unit_test(misspelt_names_are_told_their_neighbours),
      cmocka_unit_test(origins_are_kept),
      cmocka_unit_test(allocations_may_fail),
      cmocka_unit_test(cache_paths),
      cmocka_unit_test(kept_files_have_a_form),
      cmocka_unit_test(cache_without_a_home),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
