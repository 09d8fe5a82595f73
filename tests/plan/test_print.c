/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans print in every format, and what is meant for programs can be read by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "plan/names.h"
#include "plan/small_plans.h"
#include "tessera_model.h"

/* The text of a plan; the plan is given back. */
static char *print(tsr_plan *plan, tsr_format format, bool measured) {
  tsr_machine *machine = small_machine();
  tsr_text text = TSR_TEXT_INIT;
  char *bytes = NULL;
  size_t count = plan->commands.count;
  float *times = malloc(2 * count * sizeof *times + 1);
  for (size_t i = 0; i < count; i++) {
    times[2 * i] = plan->commands.items[i].begin * 1.1f;
    times[2 * i + 1] = plan->commands.items[i].end * 1.2f;
  }
  tsr_known last = {.measured = {1.2 * plan->seconds, times}};
  assert_int_equal(tsr_plan_write(plan, machine, measured ? &last : NULL, format, &text), TSR_OK);
  assert_int_equal(tsr_text_take(&text, &bytes), TSR_OK);
  free(times);
  free(machine);
  plan_release(plan);
  return bytes;
}

static void expect(const char *text, const char *part) {
  if (text == NULL || strstr(text, part) == NULL)
    fail_msg("\"%s\" is not in\n%s", part, text == NULL ? "nothing" : text);
}

static void text_tells_people(void **state) {
  (void)state;
  char *text = print(plan_relayed(TSR_D), TSR_TEXT, true);
  expect(text, "dgemm NN 8 x 8 x 8, alpha any, beta any\n");
  expect(text, "A 8 x 8, ld 8: pinned, host 0\n");
  expect(text, "two <small> \"ones\" & a host");
  expect(text, "2 of 2, C in a grid of 1 x 2");
  expect(text, "4 gemm 4 add; gemm from 8 x 4 x 4 to 8 x 4 x 4");
  expect(text, "10, from 256 B to 256 B");
  expect(text, "predicted is 1.111 of it");
  expect(text, "measured   22.8 ms");
  expect(text, "device 0  -> device 1       512 B   busy   0 %");
  expect(text, "host 0    -> device 0     1.02 kB");
  expect(text, "host to GPUs              1.54 kB   busy   0 %");
  free(text);
}

static void text_of_a_plan_for_the_cpu(void **state) {
  (void)state;
  tsr_plan *plan = small_plan(TSR_S, TSR_PAGEABLE, TSR_ONE, TSR_ZERO);
  plan->devices = 0;
  char *text = print(plan, TSR_TEXT, false);
  expect(text, "sgemm NN 8 x 8 x 8, alpha 1, beta 0");
  expect(text, "none: the CPU's BLAS does it");
  free(text);
}

static const cJSON *item(const cJSON *object, const char *key) {
  const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
  if (found == NULL) fail_msg("no key \"%s\"", key);
  return found;
}

static void json_has_its_keys(void **state) {
  (void)state;
  char *text = print(plan_relayed(TSR_D), TSR_JSON, false);
  cJSON *json = cJSON_Parse(text);
  assert_non_null(json);
  static const char *const keys[] = {"predicted_s", "floor_s",   "fraction", "channels",
                                     "devices",     "grid",      "commands", "memory",
                                     "plan_s",      "candidates"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) item(json, keys[i]);
  assert_float_equal(item(json, "fraction")->valuedouble, 0.9, 1e-6);
  assert_int_equal(item(item(json, "bytes"), "host->0")->valueint, 1024);
  assert_int_equal(item(item(json, "bytes"), "0->1")->valueint, 512);
  assert_int_equal(item(item(json, "bytes"), "1->host")->valueint, 256);
  /* 1536 bytes at 1.5 GB/s in 19 ms, in four digits. */
  cJSON *channel = cJSON_GetArrayItem(item(json, "channels"), 0);
  assert_int_equal(item(channel, "bytes")->valueint, 1536);
  assert_float_equal(item(channel, "busy")->valuedouble, 0.0001, 1e-9);
  assert_int_equal(item(item(json, "tile"), "n")->valueint, 4);
  assert_int_equal(item(item(json, "memory"), "0")->valueint, 1280);
  assert_string_equal(item(json, "machine")->valuestring, "two <small> \"ones\" & a host");
  cJSON_Delete(json);
  free(text);
}

/* By staging queues, within host memory. */
static void json_counts_what_is_staged(void **state) {
  (void)state;
  char *text = print(plan_staged(), TSR_JSON, false);
  cJSON *json = cJSON_Parse(text);
  assert_non_null(json);
  assert_int_equal(item(item(json, "bytes"), "host->host")->valueint, 256 + 512 + 512);
  cJSON_Delete(json);
  free(text);
}

/* A plan of which nothing is known yet has times of 0: no number in JSON may become "nan". */
static void json_of_an_unpredicted_plan(void **state) {
  (void)state;
  tsr_plan *plan = small_plan(TSR_D, TSR_PINNED, TSR_ONE, TSR_ZERO);
  char *text = print(plan, TSR_JSON, false);
  cJSON *json = cJSON_Parse(text);
  assert_non_null(json);
  assert_true(cJSON_IsNull(item(json, "fraction")));
  cJSON_Delete(json);
  free(text);
}

static int count_lines(const char *text) {
  int lines = 0;
  for (; *text != '\0'; text++) lines += *text == '\n';
  return lines;
}

static void commands_stand_one_a_line(void **state) {
  (void)state;
  char *text = print(plan_relayed(TSR_H), TSR_COMMANDS, false);
  assert_int_equal(count_lines(text), 18);
  expect(text,
         "     4  device 0 compute 0  gemm      W[0..7, 0..3] k 4..7 buffers 3 4 6 waits 1 "
         "event beta=1 wide 4000.0-6000.0 us\n");
  expect(text,
         "     9  device 0 peer to 1  copy      A[0..7, 0..3] buffers 3 7 waits 0 event "
         "9000.0-11000.0 us\n");
  free(text);
}

static void trace_has_events(void **state) {
  (void)state;
  char *text = print(plan_relayed(TSR_D), TSR_TIMELINE_JSON, true);
  cJSON *json = cJSON_Parse(text);
  assert_non_null(json);
  int complete = 0, measured = 0;
  const cJSON *event;
  cJSON_ArrayForEach(event, item(json, "traceEvents")) {
    if (strcmp(item(event, "ph")->valuestring, "X") != 0) continue;
    complete++;
    measured += item(event, "pid")->valueint >= 1000;
    assert_true(item(event, "dur")->valuedouble > 0);
  }
  assert_int_equal(complete, 36);
  assert_int_equal(measured, 18);
  cJSON_Delete(json);
  free(text);
}

static void summary_counts(void **state) {
  (void)state;
  tsr_plan *plan = plan_staged();
  tsr_prediction sum;
  tsr_plan_summary(plan, 0.25, &sum);
  assert_float_equal(sum.measured, 0.25, 0);
  assert_int_equal(sum.commands, 9);
  assert_int_equal(sum.kernels, 1);
  assert_int_equal(sum.copies, 8);
  assert_int_equal(sum.tile_k, 8);
  assert_float_equal(sum.host_to_device, 1024, 0);
  assert_float_equal(sum.device_to_host, 512, 0);
  assert_float_equal(sum.device_to_device, 0, 0);
  assert_int_equal(sum.device_memory, 1536);
  assert_int_equal(sum.staging_memory, 512);
  plan_release(plan);
}

static void an_unknown_format_is_refused(void **state) {
  (void)state;
  tsr_plan *plan = plan_scaled();
  tsr_text text = TSR_TEXT_INIT;
  assert_int_equal(tsr_plan_write(plan, NULL, NULL, (tsr_format)99, &text), TSR_ERR_ARGUMENT);
  plan_release(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_tells_people),
      cmocka_unit_test(text_of_a_plan_for_the_cpu),
      cmocka_unit_test(json_has_its_keys),
      cmocka_unit_test(json_counts_what_is_staged),
      cmocka_unit_test(json_of_an_unpredicted_plan),
      cmocka_unit_test(commands_stand_one_a_line),
      cmocka_unit_test(trace_has_events),
      cmocka_unit_test(summary_counts),
      cmocka_unit_test(an_unknown_format_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
