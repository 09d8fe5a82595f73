/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread with little stack may call the library: calls take less than 40 KiB of it. Each case is
 * a process, since what takes more crashes.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front.h"

/* Sanitizers put more on the stack than the functions do. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

enum { STACK = 64 << 10, TAKEN = 20 << 10, N = 96 };

/* ---- What is called ---- */

static int calls_on_devices(void) {
  static double a[N * N], b[N * N], c[N * N];
  tsr_options options = front_options();
  tsr_context *context = NULL;
  int good = front_create(&options, &context) == TSR_OK;
  good = good && front_dgemm(context, N, 1, a, b, 0, c) == TSR_OK;
  good = good && front_dgemm_async(context, N, 1, a, b, 0, c) == TSR_OK;
  good = good && tsr_coherent(context, TSR_GENERAL, N, N, c, N, TSR_D) == TSR_OK;
  good = good && tsr_memcpy(context, a, b, sizeof a) == TSR_OK;
  good = good && tsr_sync(context) == TSR_OK;
  tsr_context_destroy(context);
  return good;
}

static int calls_on_the_cpu(void) {
  static double a[N * N], b[N * N], c[N * N];
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = "cpu";
  int good = tsr_context_create(&options, &context) == TSR_OK;
  good = good && front_dgemm(context, N, 1, a, b, 0, c) == TSR_OK;
  tsr_context_destroy(context);
  return good;
}

static int print(const tsr_plan *plan) {
  int good = 1;
  for (int format = TSR_TEXT; format <= TSR_VERDICT && good; ++format) {
    char *text = NULL;
    good = tsr_plan_print(plan, (tsr_format)format, &text) == TSR_OK;
    free(text);
  }
  return good;
}

static int plan(tsr_context *context, tsr_operation operation) {
  const double one = 1;
  const tsr_home homes[3] = {{TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}, {TSR_PAGEABLE, 0}};
  const tsr_level3 what = {.operation = operation,
                           .type = TSR_D,
                           .layout = TSR_COL_MAJOR,
                           .side = TSR_LEFT,
                           .uplo = TSR_LOWER,
                           .transa = TSR_NO_TRANS,
                           .transb = TSR_NO_TRANS,
                           .diag = TSR_NON_UNIT,
                           .m = 8192,
                           .n = 8192,
                           .k = 8192,
                           .lda = 8192,
                           .ldb = 8192,
                           .ldc = 8192};
  tsr_plan *made = NULL;
  int good = tsr_plan_level3(context, &what, &one, &one, homes, &made) == TSR_OK && print(made);
  tsr_plan_destroy(made);
  return good;
}

/* The planner on a machine of which it knows much. */
static int plans(void) {
  static const tsr_operation operations[] = {TSR_GEMM, TSR_SYRK, TSR_TRSM};
  char path[4096];
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  snprintf(path, sizeof path, "%s/machines/h200x8.json", getenv("TESSERA_SOURCE_DIR"));
  options.engine = "cpu"; /* a GPU's runtime takes more stack to start */
  options.machine = path;
  int good = tsr_context_create(&options, &context) == TSR_OK;
  for (int i = 0; i < 3 && good; ++i) good = plan(context, operations[i]);
  tsr_context_destroy(context);
  return good;
}

/* ---- On little stack ---- */

static void *run(void *argument) {
  volatile char taken[TAKEN];
  int (*const *work)(void) = argument;
  taken[0] = 0;
  return (*work)() && taken[0] == 0 ? argument : NULL;
}

static int run_on_little(int (*work)(void)) {
  pthread_attr_t attributes;
  pthread_t thread;
  void *result = NULL;
  if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, STACK) ||
      pthread_create(&thread, &attributes, run, &work))
    return 2;
  pthread_join(thread, &result);
  if (result == NULL) fprintf(stderr, "%s\n", tsr_message());
  return result == &work ? 0 : 1;
}

static void assert_little_does(int (*work)(void)) {
#ifdef SANITIZED
  (void)run_on_little, (void)work;
  skip();
#else
  int status = 0;
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(run_on_little(work));
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) fail_msg("signal %d: the stack was too small", WTERMSIG(status));
  assert_int_equal(WEXITSTATUS(status), 0);
#endif
}

static void little_does_for_devices(void **state) {
  (void)state;
  assert_little_does(calls_on_devices);
}

static void little_does_for_the_cpu(void **state) {
  (void)state;
  assert_little_does(calls_on_the_cpu);
}

static void little_does_for_plans(void **state) {
  (void)state;
  assert_little_does(plans);
}

int main(void) {
  front_clear_environment();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(little_does_for_devices),
      cmocka_unit_test(little_does_for_the_cpu),
      cmocka_unit_test(little_does_for_plans),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
