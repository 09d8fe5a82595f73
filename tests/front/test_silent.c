/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The library prints nothing, whatever happens, unless TESSERA_LOG asks for it. */
#include <fcntl.h>
#include <unistd.h>

#include "front.h"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  return 0;
}

typedef struct capture {
  int out, err, file;
} capture;

static capture capture_begin(void) {
  char path[] = "/tmp/tessera_output_XXXXXX";
  fflush(NULL);
  capture c = {dup(STDOUT_FILENO), dup(STDERR_FILENO), mkstemp(path)};
  assert_true(c.out >= 0 && c.err >= 0 && c.file >= 0);
  unlink(path);
  dup2(c.file, STDOUT_FILENO), dup2(c.file, STDERR_FILENO);
  return c;
}

/* Bytes printed since. */
static long capture_end(capture c) {
  fflush(NULL);
  long bytes = (long)lseek(c.file, 0, SEEK_END);
  dup2(c.out, STDOUT_FILENO), dup2(c.err, STDERR_FILENO);
  close(c.out), close(c.err), close(c.file);
  return bytes;
}

static void do_all_sorts(void) {
  double x[64] = {0}, y[64], one = 1;
  tsr_options options = front_options();
  tsr_context *context = NULL;
  options.trace = 1;
  if (front_create(&options, &context) != TSR_OK) return;
  front_dgemm(context, 8, 1, x, x, 0, y);
  front_dgemm(context, -1, 1, x, x, 0, y);
  tsr_plan *plan = NULL;
  char *text = NULL;
  if (tsr_plan_last(context, &plan) == TSR_OK && tsr_plan_print(plan, TSR_TEXT, &text) == TSR_OK)
    free(text);
  tsr_plan_execute(plan, &one, NULL, NULL, &one, NULL);
  tsr_plan_destroy(plan);
  tsr_context_destroy(context);
  options.machine = "toaster";
  front_create(&options, &context);
  options.machine = "/nowhere.json";
  front_create(&options, &context);
  options = front_options();
  options.engine = "abacus";
  front_create(&options, &context);
}

static void test_nothing_is_printed(void **state) {
  (void)state;
  capture c = capture_begin();
  do_all_sorts();
  assert_int_equal(capture_end(c), 0);
}

/* The level may be read once a process, so another one is asked. */
static void test_log_on_request(void **state) {
  (void)state;
  char command[600], self[400] = "";
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) skip();
  snprintf(command, sizeof command, "TESSERA_LOG=debug '%s' --child 2>&1 >/dev/null", self);
  FILE *child = popen(command, "r");
  assert_non_null(child);
  int lines = 0, last;
  while ((last = fgetc(child)) != EOF) lines += last == '\n';
  assert_int_equal(pclose(child), 0);
  assert_true(lines > 0);
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    do_all_sorts();
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_printed),
      cmocka_unit_test(test_log_on_request),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
