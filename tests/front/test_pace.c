/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Real runs on emulated devices of which one is slowed: the probe measures it, its share of C is
 * smaller, and one that would make the call slower is left out. Plans are made for a described
 * machine, and each thread has a clock that its own work and its own sleeps move, so that the test
 * sees nothing of other work that the computer does meanwhile.
 */
/* Slow: 15 s, in which it sleeps. */
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "front.h"

#include "front/context.h"

enum { DEVICES = 3, SLOW = 1, N = 1000 };

/* flop/s. A core does some 1e10; the slow device is as slow as a short test allows. */
static const double pace[DEVICES] = {4e9, 2e8, 4e9};

/* ---- Clocks: the linker has the library call these functions instead of its own. ---- */

static _Thread_local double slept;

double __wrap_tsr_now(void);
double __wrap_tsr_now(void) {
  struct timespec computed;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &computed);
  return slept + (double)computed.tv_sec + 1e-9 * (double)computed.tv_nsec;
}

void __real_tsr_sleep(double seconds);
void __wrap_tsr_sleep(double seconds);
void __wrap_tsr_sleep(double seconds) {
  if (seconds > 0) slept += seconds;
  __real_tsr_sleep(seconds);
}

/* ---- Contexts ---- */

/* Devices of those paces, in TFLOP/s, whose links do not matter beside them. */
static const char described[] = "host:20 gpu*3 speed:1,0.05,1 pcie:5 rate:0.004";

static char folder[] = "/tmp/tessera-pace-XXXXXX", file[40];

static tsr_context *context_on(const char *devices, const char *machine) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = "host";
  options.devices = devices;
  options.machine = machine;
  tsr_host_pace(pace, DEVICES);
  tsr_status status = tsr_context_create(&options, &context);
  tsr_host_pace(NULL, 0);
  assert_ok(status);
  return context;
}

/* Measures the devices, for the tests, and writes the machine to the file. */
static int measure(void **state) {
  (void)state;
  tsr_context *context = context_on("3", NULL);
  char *text;
  FILE *to = fopen(file, "w");
  assert_non_null(to);
  assert_ok(tsr_machine_probe(context, NULL, NULL));
  assert_ok(tsr_machine_print(context, TSR_JSON, &text));
  assert_true(fputs(text, to) >= 0 && fclose(to) == 0);
  free(text);
  tsr_context_destroy(context);
  return 0;
}

static double speed_of(const tsr_context *context, int device) {
  return tsr_machine_speed(context->plans->machine, device, TSR_D) /
         tsr_machine_speed(context->plans->machine, 0, TSR_D);
}

/* y += scale * a x, square. */
static void apply(double scale, const double *a, const double *x, double *y) {
  for (int64_t j = 0; j < N; j++)
    for (int64_t i = 0; i < N; i++) y[i] += scale * a[i + j * N] * x[j];
}

/* Whole numbers: c x is exactly 2 a b x - before x. */
static void check_product(const double *a, const double *b, const double *before, const double *c) {
  static double x[N], bx[N], is[N], expected[N];
  for (int j = 0; j < N; j++) x[j] = 1 + j % 7, bx[j] = is[j] = expected[j] = 0;
  apply(1, b, x, bx);
  apply(2, a, bx, expected);
  apply(-1, before, x, expected);
  apply(1, c, x, is);
  front_assert_equal(is, expected, N);
}

/* part[d]: the part of C that device d sent home. */
static void multiply(tsr_context *context, double *part) {
  double *a = front_matrix(N * N, 1), *b = front_matrix(N * N, 2), *c = front_matrix(N * N, 3);
  double *before = front_matrix(N * N, 3);
  tsr_traffic traffic;
  assert_ok(front_dgemm(context, N, 2, a, b, -1, c));
  check_product(a, b, before, c);
  for (int d = 0; d < DEVICES; d++) {
    assert_ok(tsr_device_traffic(context, d, &traffic));
    part[d] = traffic.device_to_host / (N * N * sizeof *c);
  }
  free(a), free(b), free(c), free(before);
}

static char *verdict_of(tsr_context *context) {
  tsr_home host = {TSR_PAGEABLE, 0};
  const tsr_home homes[] = {host, host, host};
  double two = 2, minus = -1;
  tsr_plan *plan;
  char *text;
  assert_ok(tsr_plan_gemm(context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, N, N, N, &two,
                          N, N, &minus, N, homes, &plan));
  assert_ok(tsr_plan_print(plan, TSR_VERDICT, &text));
  tsr_plan_destroy(plan);
  for (char *c = text; *c; c++)
    if (*c == '\n') *c = ' ';
  return text;
}

/* It is 20 times slower; on a CPU that is slow itself the others are slower than their pace. */
static void test_the_probe_measures_the_pace(void **state) {
  (void)state;
  tsr_context *context = context_on("3", file);
  assert_true(speed_of(context, SLOW) < 1.0 / 3);
  tsr_context_destroy(context);
}

/* Devices that are named are all used. The slow one binds, so that the plan takes as long whichever
 * of the others has the rest. */
static void test_a_slow_device_has_a_smaller_share(void **state) {
  (void)state;
  double part[DEVICES];
  tsr_context *context = context_on("3", described);
  multiply(context, part);
  assert_true(part[SLOW] > 0 && part[SLOW] < (part[0] + part[2]) / 2 / 2);
  assert_true(fabs(part[0] + part[1] + part[2] - 1) < 1e-9);
  tsr_context_destroy(context);
}

static void test_a_device_that_hurts_is_left_out(void **state) {
  (void)state;
  double part[DEVICES];
  tsr_context *context = context_on("..3", described);
  multiply(context, part);
  char *verdict = verdict_of(context);
  assert_true(part[0] > 0 && part[SLOW] == 0 && part[2] > 0);
  assert_non_null(strstr(verdict, "without GPU 1 (5 % of the speed of GPU 0)"));
  free(verdict);
  tsr_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_probe_measures_the_pace),
      cmocka_unit_test(test_a_slow_device_has_a_smaller_share),
      cmocka_unit_test(test_a_device_that_hurts_is_left_out),
  };
  char command[80];
  front_clear_environment();
  if (mkdtemp(folder) == NULL) return 1;
  setenv("XDG_CACHE_HOME", folder, 1);
  snprintf(file, sizeof file, "%s/measured.json", folder);
  int failed = cmocka_run_group_tests(tests, measure, NULL);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) != 0 || failed;
}
