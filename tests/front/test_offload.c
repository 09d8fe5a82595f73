/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Deciding which calls of unmodified programs go to devices. tests/dropin tests it from outside. */
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front.h"

#include "engine/host/host.h"
#include "front/offload/inside.h"

/* Fast devices beside a slow CPU; 1 GFLOP/s is what "cpu:1" says. */
#define FAST "host:200 gpu*2@nvswitch:300 pcie:1000 rate:1000 cpu:1 lat:0.1 launch:0.1"

static int clear(void **state) {
  (void)state;
  front_clear_environment();
  unsetenv("TESSERA_RUN_PID");
  return 0;
}

/* ---- One decision after another, each test in a process of its own: there is one state in each.
 */

static void in_a_child(void (*test)(void)) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    test();
    tsr_context_destroy(tsr_offload_get()->context); /* no threads are left */
    _exit(0);
  }
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    fail_msg("line %d of the child", WIFEXITED(status) ? WEXITSTATUS(status) + 256 : -status);
}

/* In a child: ends it with the line, less what makes it fit. */
#define must(condition)                                       \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      _exit(1);                                               \
    }                                                         \
  } while (0)

enum { MOST = 64 };
static double a[MOST * MOST], b[MOST * MOST], c[MOST * MOST];

static tsr_offload_visit visit;
static double took; /* s that the CPU seems to take */

static tsr_offload_verdict product(int64_t n, double alpha, double beta) {
  const double scalars[2] = {alpha, beta};
  const tsr_offload_call call = {.what = {.operation = TSR_GEMM,
                                          .type = TSR_D,
                                          .layout = TSR_COL_MAJOR,
                                          .transa = TSR_NO_TRANS,
                                          .transb = TSR_NO_TRANS,
                                          .m = n,
                                          .n = n,
                                          .k = n,
                                          .lda = MOST,
                                          .ldb = MOST,
                                          .ldc = MOST},
                                 .alpha = &scalars[0],
                                 .a = a,
                                 .b = b,
                                 .beta = &scalars[1],
                                 .c = c,
                                 .multiplications = (double)(n * n * n)};
  tsr_offload_verdict verdict = tsr_offload(&call, &visit);
  if (verdict != TSR_OFFLOAD_TO_CPU) return verdict;
  if (visit.began != 0) visit.began -= took;
  tsr_offload_end(&call, &visit);
  return verdict;
}

static bool goes_to_cpu(int64_t n, tsr_offload_why why) {
  return product(n, 1, 0) == TSR_OFFLOAD_TO_CPU && visit.why == why && visit.devices == 0;
}

static void never(void) {
  setenv("TESSERA_OFFLOAD", "never", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  must(goes_to_cpu(MOST, TSR_WHY_NEVER));
  must(visit.began == 0); /* nobody looks at the clock */
}

static void always(void) {
  setenv("TESSERA_OFFLOAD", "always", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_DEVICES", "3", 1);
  setenv("TESSERA_TILE", "16", 1);
  front_fill(a, MOST * MOST, 1), front_fill(b, MOST * MOST, 2), front_fill(c, MOST * MOST, 3);
  static double expected[MOST * MOST];
  memcpy(expected, c, sizeof c);
  front_reference(MOST, 2, a, b, -1, expected);
  must(product(MOST, 2, -1) == TSR_OFFLOAD_DONE);
  must(visit.why == TSR_WHY_ALWAYS && visit.devices == 3);
  must(memcmp(c, expected, sizeof c) == 0);
  must(product(1, 1, 0) == TSR_OFFLOAD_DONE); /* whatever the size */
  must(goes_to_cpu(0, TSR_WHY_EMPTY));
  must(product(4, 0, 1) == TSR_OFFLOAD_TO_CPU && visit.why == TSR_WHY_EMPTY);
}

static void no_device(void) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  must(goes_to_cpu(MOST, TSR_WHY_NO_DEVICE));
  must(tsr_offload_get()->context == NULL);
}

static void start_pays_later(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", FAST, 1);
  setenv("TESSERA_MIN_SIZE", "8", 1);
  tsr_offload_state *state = tsr_offload_get();
  state->start_seconds = 2e-3; /* more than two calls save, held up as they are */
  took = 1;
  must(goes_to_cpu(MOST, TSR_WHY_NOT_STARTED));
  must(atomic_load(&state->phase) == TSR_PHASE_IDLE && state->context == NULL);
  must(state->would_have_saved > 3 * visit.cpu_price);
  must(state->would_have_saved < 4 * visit.cpu_price);
  must(goes_to_cpu(MOST, TSR_WHY_NOT_STARTED));
  must(goes_to_cpu(4, TSR_WHY_SMALL));
  for (int i = 0; i < 20 && atomic_load(&state->phase) == TSR_PHASE_IDLE; i++) product(MOST, 1, 0);
  must(atomic_load(&state->phase) != TSR_PHASE_IDLE);
  tsr_offload_start(state, true);
  must(atomic_load(&state->phase) == TSR_PHASE_READY);
  must(product(MOST, 1, 0) == TSR_OFFLOAD_DONE && visit.why == TSR_WHY_FASTER);
  must(visit.plan_price > 0 && visit.plan_price < visit.cpu_price);
}

static void large_call_waits(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", FAST, 1);
  setenv("TESSERA_MIN_SIZE", "8", 1);
  tsr_offload_state *state = tsr_offload_get();
  state->start_seconds = 1e-6; /* less than half of what the first call saves */
  must(product(MOST, 1, 0) == TSR_OFFLOAD_DONE && visit.why == TSR_WHY_FASTER);
  must(atomic_load(&state->phase) == TSR_PHASE_READY);
}

static void cpu_is_faster(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", SLOW_DEVICES, 1);
  setenv("TESSERA_MIN_SIZE", "1", 1);
  tsr_offload_state *state = tsr_offload_get();
  for (int i = 0; i < 50; i++) must(goes_to_cpu(MOST, TSR_WHY_CPU_FASTER));
  must(atomic_load(&state->phase) == TSR_PHASE_IDLE);
  tsr_offload_start(state, true); /* and so it is with plans */
  must(goes_to_cpu(MOST, TSR_WHY_CPU_FASTER));
}

static tsr_offload_verdict factor(int64_t n, int64_t *info) {
  const tsr_offload_call call = {.what = {.operation = TSR_OPERATION_OF(TSR_POTRF),
                                          .type = TSR_D,
                                          .layout = TSR_COL_MAJOR,
                                          .uplo = TSR_LOWER,
                                          .n = n,
                                          .ldc = MOST},
                                 .c = c,
                                 .info = info,
                                 .multiplications = (double)(n * n * n) / 3};
  memset(c, 0, sizeof c);
  for (int i = 0; i < MOST; i++) c[i * (MOST + 1)] = i < 40 ? 4 : -1;
  tsr_offload_verdict verdict = tsr_offload(&call, &visit);
  if (verdict == TSR_OFFLOAD_TO_CPU) tsr_offload_end(&call, &visit);
  return verdict;
}

static void factored(void) {
  int64_t info = -1;
  setenv("TESSERA_OFFLOAD", "always", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_TILE", "16", 1);
  must(factor(40, &info) == TSR_OFFLOAD_DONE && visit.why == TSR_WHY_ALWAYS && info == 0);
  must(c[0] == 2 && c[39 * (MOST + 1)] == 2 && c[40 * (MOST + 1)] == -1);
  must(factor(MOST, &info) == TSR_OFFLOAD_DONE && info == 41);
  must(factor(0, &info) == TSR_OFFLOAD_TO_CPU && visit.why == TSR_WHY_EMPTY);
}

/* An engine without a solver: the program's LAPACK factors, and how long it takes is not learnt. */
static void not_factored(void) {
  static tsr_engine without;
  int64_t info = -1;
  setenv("TESSERA_OFFLOAD", "always", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  must(product(MOST, 1, 0) == TSR_OFFLOAD_DONE);
  tsr_context *context = tsr_offload_get()->context;
  without = *context->engine;
  without.factors = NULL;
  context->engine = &without;
  must(factor(MOST, &info) == TSR_OFFLOAD_TO_CPU && visit.why == TSR_WHY_NO_FACTORS);
  must(visit.flops == 0 && info == -1);
  must(product(MOST, 1, 0) == TSR_OFFLOAD_DONE);
}

/* The 40 x 40 matrix with 4 on its diagonal, as A of all solvers, and B, which is a. */
static tsr_offload_verdict solver(tsr_solver routine, int64_t n, int64_t nrhs, int64_t *info) {
  bool has_b = routine == TSR_POTRS || routine == TSR_POSV || routine == TSR_TRTRS;
  const tsr_offload_call call = {.what = {.operation = TSR_OPERATION_OF_SOLVER(routine),
                                          .type = TSR_D,
                                          .layout = TSR_COL_MAJOR,
                                          .uplo = TSR_LOWER,
                                          .transa = TSR_NO_TRANS,
                                          .diag = TSR_NON_UNIT,
                                          .m = has_b ? n : 0,
                                          .n = has_b ? nrhs : n,
                                          .lda = MOST,
                                          .ldc = MOST},
                                 .a = has_b ? c : NULL,
                                 .c = has_b ? a : c,
                                 .info = info,
                                 .multiplications = (double)(n * n * n)};
  memset(c, 0, sizeof c);
  for (int i = 0; i < MOST; i++) c[i * (MOST + 1)] = i < 40 ? 4 : 0;
  for (int i = 0; i < MOST * MOST; i++) a[i] = 32;
  tsr_offload_verdict verdict = tsr_offload(&call, &visit);
  if (verdict == TSR_OFFLOAD_TO_CPU) tsr_offload_end(&call, &visit);
  return verdict;
}

/* An element of each solver's result. */
static const struct {
  tsr_solver routine;
  const double *at;
  double result, before;
} solved[] = {{TSR_POTRS, &a[39], 2, 32},
              {TSR_POSV, &a[39], 8, 32},
              {TSR_TRTRS, &a[39], 8, 32},
              {TSR_POTRI, &c[39 * (MOST + 1)], 1.0 / 16, 4},
              {TSR_TRTRI, &c[39 * (MOST + 1)], 1.0 / 4, 4}};

static void solves(void) {
  setenv("TESSERA_OFFLOAD", "always", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_TILE", "16", 1);
  for (size_t i = 0; i < sizeof solved / sizeof *solved; i++) {
    int64_t info = -1;
    must(solver(solved[i].routine, 40, 3, &info) == TSR_OFFLOAD_DONE);
    must(info == 0 && *solved[i].at == solved[i].result);
    must(visit.why == TSR_WHY_ALWAYS && visit.devices > 0);
    must(solver(solved[i].routine, 0, 3, &info) == TSR_OFFLOAD_TO_CPU);
    must(visit.why == TSR_WHY_EMPTY);
  }
  int64_t info = -1;
  must(solver(TSR_POTRS, 40, 0, &info) == TSR_OFFLOAD_TO_CPU && visit.why == TSR_WHY_EMPTY);
  must(solver(TSR_POSV, 40, 0, &info) == TSR_OFFLOAD_DONE && c[0] == 2); /* factors */
}

/* A matrix that is singular or not positive definite; only its factor has been written. */
static void finds_no_solution(void) {
  setenv("TESSERA_OFFLOAD", "always", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  for (tsr_solver routine = TSR_POSV; routine < TSR_SOLVER_COUNT; routine++) {
    int64_t info = -1;
    must(solver(routine, MOST, 3, &info) == TSR_OFFLOAD_DONE && info == 41);
    must(a[0] == 32 && (routine == TSR_POSV || c[0] == 4));
    must(visit.why == (routine == TSR_POSV ? TSR_WHY_ALWAYS : TSR_WHY_EMPTY));
  }
}

/* By the CPU of a program that has no LAPACK, also in a child. */
static void solves_alone(void) {
  const tsr_offload_call call = {.what = {.operation = TSR_OPERATION_OF_SOLVER(TSR_TRTRI),
                                          .type = TSR_D,
                                          .layout = TSR_COL_MAJOR,
                                          .uplo = TSR_UPPER,
                                          .diag = TSR_NON_UNIT,
                                          .n = 2,
                                          .ldc = 2},
                                 .c = c,
                                 .info = &(int64_t){-1}};
  for (int i = 0; i < 2; i++) {
    c[0] = c[3] = 4, c[1] = NAN, c[2] = 0;
    must(tsr_offload_alone(&call) == TSR_OK && *call.info == 0 && c[0] == 0.25);
    pid_t child = i == 0 ? fork() : 1;
    must(child >= 0);
    int status = 0;
    if (child > 1) must(waitpid(child, &status, 0) == child && status == 0);
  }
}

/* Only posv needs factors; of posv, too, it is not learnt how long the program's LAPACK takes. */
static void solves_without_factors(void) {
  static tsr_engine without;
  int64_t info = -1;
  setenv("TESSERA_OFFLOAD", "always", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  must(product(MOST, 1, 0) == TSR_OFFLOAD_DONE);
  tsr_context *context = tsr_offload_get()->context;
  without = *context->engine;
  without.factors = NULL;
  context->engine = &without;
  must(solver(TSR_POSV, 40, 3, &info) == TSR_OFFLOAD_TO_CPU && visit.why == TSR_WHY_NO_FACTORS);
  must(visit.flops == 0 && info == -1);
  must(solver(TSR_POTRS, 40, 3, &info) == TSR_OFFLOAD_DONE);
  must(solver(TSR_POTRI, 40, 3, &info) == TSR_OFFLOAD_DONE);
}

static tsr_offload_price *price_of_potrf(tsr_offload_state *state) {
  return tsr_offload_price_of(state, TSR_OPERATION_OF(TSR_POTRF));
}

/* Times of one solver say nothing of another, nor of products. */
static void learn_solvers_apart(void) {
  int64_t info;
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", SLOW_DEVICES, 1);
  setenv("TESSERA_MIN_SIZE", "1", 1);
  tsr_offload_state *state = tsr_offload_get();
  for (int i = 0; i < 3; i++) must(solver(TSR_TRTRS, MOST, MOST, &info) == TSR_OFFLOAD_TO_CPU);
  must(visit.why == TSR_WHY_CPU_FASTER);
  for (tsr_solver s = 0; s < TSR_SOLVER_COUNT; s++) {
    tsr_offload_price *price = tsr_offload_price_of(state, TSR_OPERATION_OF_SOLVER(s));
    must(tsr_offload_price_calls(price, TSR_D, visit.flops) == (s == TSR_TRTRS ? 3 : 0));
  }
  must(tsr_offload_price_calls(&state->price, TSR_D, visit.flops) == 0);
}

/* Devices that are late at each call lose it, until they are tried again. */
static void late_solvers(void) {
  int64_t info;
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", FAST, 1);
  setenv("TESSERA_MIN_SIZE", "8", 1);
  tsr_offload_state *state = tsr_offload_get();
  tsr_offload_price *price = tsr_offload_price_of(state, TSR_OPERATION_OF_SOLVER(TSR_TRTRS));
  tsr_offload_start(state, true);
  price->latency = 0.1; /* s that the CPU seems to take; the devices' fixed cost is far less */
  must(solver(TSR_TRTRS, 40, MOST, &info) == TSR_OFFLOAD_DONE && visit.why == TSR_WHY_FASTER);
  must(visit.plan_price > 0 && visit.plan_price < visit.cpu_price && visit.seconds > 0);
  for (int i = 0; i < 30; i++) tsr_offload_price_run(price, TSR_D, visit.flops, 0, 1);
  must(solver(TSR_TRTRS, 40, MOST, &info) == TSR_OFFLOAD_TO_CPU);
  must(visit.why == TSR_WHY_CPU_FASTER);
}

/* The times of factorisations leave the price of products as it is, and the reverse. */
static void learn_apart(void) {
  int64_t info;
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", SLOW_DEVICES, 1);
  setenv("TESSERA_MIN_SIZE", "1", 1);
  tsr_offload_state *state = tsr_offload_get();
  for (int i = 0; i < 3; i++)
    must(factor(MOST, &info) == TSR_OFFLOAD_TO_CPU && visit.why == TSR_WHY_CPU_FASTER);
  must(tsr_offload_price_calls(price_of_potrf(state), TSR_D, visit.flops) == 3);
  must(tsr_offload_price_calls(&state->price, TSR_D, visit.flops) == 0);
  must(goes_to_cpu(MOST, TSR_WHY_CPU_FASTER));
  must(tsr_offload_price_calls(&state->price, TSR_D, visit.flops) == 1);
  must(tsr_offload_price_calls(price_of_potrf(state), TSR_D, visit.flops) == 0);
}

/* ---- Several threads ---- */

enum { THREADS = 4, ROUNDS = 10, SMALL = 24 };

static void *call_often(void *unused) {
  const double one = 1, zero = 0;
  double own[SMALL * SMALL];
  (void)unused;
  for (int i = 0; i < ROUNDS; i++) {
    tsr_offload_visit mine;
    const tsr_offload_call call = {.what = {.operation = TSR_SYRK,
                                            .type = TSR_D,
                                            .layout = TSR_ROW_MAJOR,
                                            .uplo = TSR_LOWER,
                                            .transa = TSR_TRANS,
                                            .n = SMALL,
                                            .k = SMALL,
                                            .lda = MOST,
                                            .ldc = SMALL},
                                   .alpha = &one,
                                   .a = a,
                                   .beta = &zero,
                                   .c = own,
                                   .multiplications = SMALL * SMALL * SMALL};
    if (tsr_offload(&call, &mine) == TSR_OFFLOAD_TO_CPU) tsr_offload_end(&call, &mine);
  }
  return NULL;
}

static void threads(void) {
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) must(pthread_create(&thread[i], NULL, call_often, NULL) == 0);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
}

/* The first calls all start the devices. */
static void threads_always(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_OFFLOAD", "always", 1);
  setenv("TESSERA_REPORT", "/dev/null", 1);
  setenv("TESSERA_EXPLAIN", "1", 1);
  threads();
  must(atomic_load(&tsr_offload_get()->phase) == TSR_PHASE_READY);
}

static void threads_auto(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", FAST, 1);
  setenv("TESSERA_MIN_SIZE", "8", 1);
  threads();
  tsr_offload_start(tsr_offload_get(), true);
  threads();
}

static void after_a_fork(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_OFFLOAD", "always", 1);
  must(product(8, 1, 0) == TSR_OFFLOAD_DONE);
  pid_t child = fork();
  must(child >= 0);
  if (child == 0) _exit(goes_to_cpu(8, TSR_WHY_FORKED) ? 0 : 1);
  int status = 1;
  must(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  must(product(8, 1, 0) == TSR_OFFLOAD_DONE);
}

/* The nth thing that a device does from now on fails. */
static int nth;

static void warm_devices(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_OFFLOAD", "always", 1);
  setenv("TESSERA_DEVICES", "2", 1);
  setenv("TESSERA_TILE", "16", 1);
  must(product(MOST, 1, 0) == TSR_OFFLOAD_DONE);
}

/* The other device does the call and all later ones; when it has failed, too, the CPU does. */
static void devices_fail(double beta) {
  warm_devices();
  must(product(MOST, 1, beta) == TSR_OFFLOAD_DONE);
  for (int i = 0; i < 2; i++) {
    tsr_engine_host_fail_at(nth);
    must(product(MOST, 1, beta) == TSR_OFFLOAD_DONE);
    must(tsr_engine_host_fail_at(0) == 1);
    if (i == 0) must(product(MOST, 1, beta) == TSR_OFFLOAD_DONE);
  }
  must(goes_to_cpu(MOST, TSR_WHY_FAILED));
  must(product(MOST, 1, beta) == TSR_OFFLOAD_TO_CPU);
}

static void device_fails(void) {
  devices_fail(0);
}

static void device_fails_with_c(void) {
  devices_fail(1);
}

/* The call is done all the same, or has not begun, or the door hears that the matrix is lost, which
 * is written in place. */
static void devices_fail_factoring(void) {
  int64_t info = -1;
  warm_devices();
  tsr_engine_host_fail_at(nth);
  tsr_offload_verdict verdict = factor(40, &info);
  bool done = verdict == TSR_OFFLOAD_DONE, lost = verdict == TSR_OFFLOAD_LOST;
  must(tsr_engine_host_fail_at(0) == 1);
  must(done ? info == 0 : visit.why == TSR_WHY_FAILED);
  for (int j = 0; j < 40 && !lost; j++) must(c[j * (MOST + 1)] == (done ? 2 : 4));
  must(!lost || goes_to_cpu(MOST, TSR_WHY_FAILED));
}

/* As of a factorisation. */
static void devices_fail_solving(void) {
  warm_devices();
  int which = nth % (int)(sizeof solved / sizeof *solved);
  int64_t info = -1;
  tsr_engine_host_fail_at(nth);
  tsr_offload_verdict verdict = solver(solved[which].routine, 40, 3, &info);
  bool done = verdict == TSR_OFFLOAD_DONE, lost = verdict == TSR_OFFLOAD_LOST;
  must(tsr_engine_host_fail_at(0) == 1);
  must(done ? info == 0 : visit.why == TSR_WHY_FAILED);
  must(lost || *solved[which].at == (done ? solved[which].result : solved[which].before));
  must(!lost || goes_to_cpu(MOST, TSR_WHY_FAILED));
}

static void start_fails(void) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_OFFLOAD", "always", 1);
  tsr_offload_get()->options.engine = "cuda"; /* as if the driver had shown some */
  must(goes_to_cpu(MOST, TSR_WHY_NO_DEVICE));
  must(tsr_offload_get()->context == NULL && tsr_offload_get()->error[0] != '\0');
  must(goes_to_cpu(MOST, TSR_WHY_NO_DEVICE));
}

static void wrong_setting(void) {
  setenv("TESSERA_OFFLOAD", "perhaps", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  must(goes_to_cpu(MOST, TSR_WHY_NO_DEVICE));
  must(strstr(tsr_offload_get()->error, "perhaps") != NULL);
}

/* A matrix that is its own product is for the BLAS to judge, not for us. */
static void aliased(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_OFFLOAD", "always", 1);
  const double one = 1;
  const tsr_offload_call call = {{.operation = TSR_GEMM,
                                  .type = TSR_D,
                                  .layout = TSR_COL_MAJOR,
                                  .transa = TSR_NO_TRANS,
                                  .transb = TSR_NO_TRANS,
                                  .m = 4,
                                  .n = 4,
                                  .k = 4,
                                  .lda = 4,
                                  .ldb = 4,
                                  .ldc = 4},
                                 &one,
                                 a,
                                 b,
                                 &one,
                                 a,
                                 4 * 4 * 4};
  must(tsr_offload(&call, &visit) == TSR_OFFLOAD_TO_CPU);
}

static void test_never(void **state) {
  (void)state;
  in_a_child(never);
}
static void test_always(void **state) {
  (void)state;
  in_a_child(always);
}
static void test_no_device(void **state) {
  (void)state;
  in_a_child(no_device);
}
static void test_start_pays_later(void **state) {
  (void)state;
  in_a_child(start_pays_later);
}
static void test_large_call_waits(void **state) {
  (void)state;
  in_a_child(large_call_waits);
}
static void test_cpu_is_faster(void **state) {
  (void)state;
  in_a_child(cpu_is_faster);
}

static void test_factored(void **state) {
  (void)state;
  in_a_child(factored);
}

static void test_not_factored(void **state) {
  (void)state;
  in_a_child(not_factored);
}

static void test_solves(void **state) {
  (void)state;
  in_a_child(solves);
  in_a_child(finds_no_solution);
  in_a_child(solves_alone);
  in_a_child(solves_without_factors);
}

static void test_learn_solvers_apart(void **state) {
  (void)state;
  in_a_child(learn_solvers_apart);
  in_a_child(late_solvers);
}

static void test_learn_apart(void **state) {
  (void)state;
  in_a_child(learn_apart);
}
static void test_threads(void **state) {
  (void)state;
  in_a_child(threads_always);
  in_a_child(threads_auto);
}
static void test_after_a_fork(void **state) {
  (void)state;
  in_a_child(after_a_fork);
}
static void test_device_fails(void **state) {
  (void)state;
  for (nth = 1; nth <= 81; nth += 20) {
    in_a_child(device_fails);
    in_a_child(device_fails_with_c);
  }
}
static void test_device_fails_factoring(void **state) {
  (void)state;
  for (nth = 1; nth <= 10; nth += 3) in_a_child(devices_fail_factoring);
}
static void test_device_fails_solving(void **state) {
  (void)state;
  for (nth = 1; nth <= 10; nth++) in_a_child(devices_fail_solving);
}

static void test_start_fails(void **state) {
  (void)state;
  in_a_child(start_fails);
}
static void test_wrong_setting(void **state) {
  (void)state;
  in_a_child(wrong_setting);
}
static void test_aliased(void **state) {
  (void)state;
  in_a_child(aliased);
}

/* ---- Prices ---- */

static tsr_machine *machine_of(const char *string) {
  tsr_machine *machine;
  assert_int_equal(tsr_machine_parse(string, &machine), TSR_OK);
  return machine;
}

static double rate_at(const tsr_offload_price *price, double flops) {
  return tsr_offload_cpu_rate(price, TSR_D, flops);
}

static void show(tsr_offload_price *price, double flops, double seconds, int times) {
  for (int i = 0; i < times; i++) tsr_offload_price_show(price, TSR_D, flops, seconds);
}

/* The rate is the machine's until three calls have shown another, of that size or, if they were
 * long ones, of others. */
static void test_price_learns(void **state) {
  (void)state;
  static tsr_offload_price price;
  tsr_machine *machine = machine_of("host:200 cpu:100");
  tsr_offload_price_init(&price, machine, false);
  assert_true(rate_at(&price, 1e9) == 100e9);
  show(&price, 1e5, 1e-5, 3); /* 10 GFLOP/s: short, as small ones are */
  assert_true(rate_at(&price, 1e5) == 10e9 && rate_at(&price, 1e9) == 100e9);
  show(&price, 10e9, 1, 2);
  assert_true(rate_at(&price, 10e9) == 100e9);
  show(&price, 10e9, 1, 1);
  assert_true(rate_at(&price, 10e9) == 10e9 && rate_at(&price, HUGE_VAL) == 10e9);
  assert_true(tsr_offload_cpu_rate(&price, TSR_S, 10e9) == 200e9);
  show(&price, 10.1e9, 0.5, 1);
  assert_true(rate_at(&price, 10e9) == 20.2e9);
  tsr_offload_price_init(&price, machine, true);
  assert_true(rate_at(&price, 1e9) >= 80e9); /* of every processor */
  tsr_machine_destroy(machine);
}

/* A call that was disturbed now and then does not stand for those that were not. */
static void test_price_is_of_the_best(void **state) {
  (void)state;
  static tsr_offload_price price;
  tsr_machine *machine = machine_of("host:200 cpu:100");
  tsr_offload_price_init(&price, machine, false);
  for (int i = 0; i < 50; i++) show(&price, 33e6, i % 10 == 0 ? 3e-3 : 0.4e-3, 1);
  assert_true(rate_at(&price, 33e6) == 33e6 / 0.4e-3);
  assert_true(rate_at(&price, 1e10) == 100e9);
  tsr_machine_destroy(machine);
}

/* The smallest call of so many seconds, whatever has been shown. */
static void test_price_turned_round(void **state) {
  (void)state;
  static tsr_offload_price price;
  tsr_machine *machine = machine_of("host:200 cpu:100");
  tsr_offload_price_init(&price, machine, false);
  assert_true(tsr_offload_cpu_flops(&price, TSR_D, 50e-6) == 5e6);
  show(&price, 3e6, 3e-4, 3); /* 10 GFLOP/s: 50 us are 0.5e6 flops at that, and there it is 100 */
  assert_true(tsr_offload_cpu_flops(&price, TSR_D, 50e-6) == scalbn(1, 21));
  tsr_machine_destroy(machine);
}

/* Devices that come late are charged for it, and tried again after a while. */
static void test_lateness(void **state) {
  (void)state;
  static tsr_offload_price price;
  tsr_machine *machine = machine_of("host:200 cpu:100");
  tsr_offload_price_init(&price, machine, false);
  tsr_offload_price_run(&price, TSR_D, 1e9, 1e-3, 50e-3); /* the first one plans, and loads */
  assert_true(tsr_offload_lateness(&price, TSR_D, 1e9) == 0);
  for (int i = 0; i < 30; i++) tsr_offload_price_run(&price, TSR_D, 1e9, 1e-3, 3e-3);
  double late = tsr_offload_lateness(&price, TSR_D, 1e9);
  assert_true(late > 1.9e-3 && late <= 2e-3);
  assert_true(tsr_offload_lateness(&price, TSR_D, 4e9) == late); /* nothing else is known of them */
  double small = tsr_offload_lateness(&price, TSR_D, 1e7);
  assert_true(small > 0 && small <= late / 64);
  for (int i = 0; i < 100; i++) tsr_offload_price_spared(&price, TSR_D, 4e9);
  assert_true(tsr_offload_lateness(&price, TSR_D, 4e9) < 0.4 * late);
  assert_true(tsr_offload_lateness(&price, TSR_D, 1e9) == late);
  for (int i = 0; i < 3; i++) tsr_offload_price_run(&price, TSR_D, 4e9, 1e-3, 1e-3);
  assert_true(tsr_offload_lateness(&price, TSR_D, 4e9) < 0.25 * late);
  for (int i = 0; i < 300; i++) tsr_offload_price_spared(&price, TSR_D, 1e9);
  assert_true(tsr_offload_lateness(&price, TSR_D, 1e9) < 0.2e-3);
  for (int i = 0; i < 30; i++) tsr_offload_price_run(&price, TSR_D, 1e9, 1e-3, 0.5e-3);
  assert_true(tsr_offload_lateness(&price, TSR_D, 1e9) == 0); /* early ones are not paid for */
  tsr_machine_destroy(machine);
}

/* A call of order n that computes nothing here. LAPACK's have n right sides. */
static tsr_offload_call order(tsr_operation operation, int64_t n) {
  static const double one = 1;
  char *memory = (char *)0x100000, *behind = memory + 8 * n * n, *last = behind + 8 * n * n;
  bool has_a = !tsr_is_of_lapack(operation) ||
               (tsr_is_solver(operation) && TSR_SOLVER_OF(operation) <= TSR_TRTRS);
  return (tsr_offload_call){.what = {.operation = operation,
                                     .type = TSR_D,
                                     .layout = TSR_COL_MAJOR,
                                     .uplo = TSR_LOWER,
                                     .transa = TSR_NO_TRANS,
                                     .transb = TSR_NO_TRANS,
                                     .diag = TSR_NON_UNIT,
                                     .m = n,
                                     .n = n,
                                     .k = n,
                                     .lda = n,
                                     .ldb = n,
                                     .ldc = n},
                            .alpha = &one,
                            .beta = &one,
                            .a = has_a ? memory : NULL,
                            .b = operation == TSR_GEMM ? behind : NULL,
                            .c = last,
                            .info = &(int64_t){0}};
}

static tsr_offload_work work_of(const tsr_offload_call *call) {
  tsr_offload_work work;
  assert_int_equal(tsr_offload_work_of(call, &work), TSR_OK);
  return work;
}

static double on_devices(const tsr_reach *reach, tsr_operation operation, int64_t n) {
  const tsr_offload_call call = order(operation, n);
  tsr_offload_work work = work_of(&call);
  return tsr_offload_device_seconds(reach, &work, true);
}

/* A factorisation's blocks on the diagonal come one after another, however many devices there are.
 */
static void test_factors_have_a_chain(void **state) {
  (void)state;
  tsr_machine *machine = machine_of("host:200 gpu*4@nvswitch:396 pcie:55 rate:60 cpu:1000");
  tsr_reach reach;
  tsr_reach_of(machine, &reach);
  assert_true(on_devices(&reach, TSR_OPERATION_OF(TSR_POTRF), 1000) >
              on_devices(&reach, TSR_GEMM, 1000));
  tsr_machine_destroy(machine);
}

/* Flops and times are those of the calls that a solver is made of. */
static void test_solvers_cost_their_parts(void **state) {
  (void)state;
  const struct {
    tsr_solver routine;
    double flops, steps; /* flops in n^3 */
  } expected[] = {{TSR_POTRS, 2, 2},
                  {TSR_POSV, 1.0 / 3 + 2, 3},
                  {TSR_TRTRS, 1, 1},
                  {TSR_POTRI, 2.0 / 3, 2 * (3 * 8 + 2 * 7)},
                  {TSR_TRTRI, 1.0 / 3, 3 * 8 + 2 * 7}};
  enum { N = 4096 }; /* eight squares on the diagonal of an inverse */
  tsr_machine *machine = machine_of("host:200 gpu*4@nvswitch:396 pcie:55 rate:60 cpu:1000");
  tsr_reach reach;
  tsr_reach_of(machine, &reach);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    tsr_operation operation = TSR_OPERATION_OF_SOLVER(expected[i].routine);
    const tsr_offload_call call = order(operation, N);
    tsr_offload_work work = work_of(&call);
    assert_true(fabs(work.flops / ((double)N * N * N) / expected[i].flops - 1) < 1e-3);
    assert_true(work.steps == expected[i].steps);
  }
  double trtrs = on_devices(&reach, TSR_OPERATION_OF_SOLVER(TSR_TRTRS), N);
  double potrs = on_devices(&reach, TSR_OPERATION_OF_SOLVER(TSR_POTRS), N);
  double potrf = on_devices(&reach, TSR_OPERATION_OF(TSR_POTRF), N);
  double posv = on_devices(&reach, TSR_OPERATION_OF_SOLVER(TSR_POSV), N);
  double trtri = on_devices(&reach, TSR_OPERATION_OF_SOLVER(TSR_TRTRI), N);
  assert_true(trtrs < potrs && potrs < 2 * trtrs); /* what the second solve needs is there */
  assert_true(fabs(posv - potrf - potrs) < 1e-9);
  assert_true(trtri > potrf && on_devices(&reach, TSR_OPERATION_OF_SOLVER(TSR_POTRI), N) > trtri);
  tsr_machine_destroy(machine);
}

/* Large products are for devices, small ones are not, and there is one size where it turns. */
static void test_prices_cross(void **state) {
  (void)state;
  tsr_offload_price price;
  tsr_machine *machine = machine_of("host:200 gpu*4@nvswitch:396 pcie:55 rate:60 cpu:1000");
  tsr_offload_price_init(&price, machine, false);
  tsr_reach reach;
  tsr_reach_of(machine, &reach);
  bool devices = false;
  for (int64_t n = 16; n <= 16384; n *= 2) {
    const tsr_offload_call call = order(TSR_GEMM, n);
    tsr_offload_work work = work_of(&call);
    bool cheaper =
        tsr_offload_device_seconds(&reach, &work, true) < tsr_offload_cpu_seconds(&price, &work);
    assert_true(cheaper || !devices);
    devices = cheaper;
    if (n == 128) assert_false(devices);
  }
  assert_true(devices);
  tsr_machine_destroy(machine);
}

/* ---- What the driver shows ---- */

static void add_device(const char *root, const char *bus, const char *model) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", root, bus);
  assert_int_equal(mkdir(path, 0700), 0);
  strcat(path, "/information");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "Model: \t\t %s\nIRQ:   \t\t 41\nGPU UUID: \t GPU-9b85fe9e\n", model);
  fclose(file);
}

static void test_list_nvidia(void **state) {
  (void)state;
  char root[] = "/tmp/tessera_gpus_XXXXXX", command[64];
  tsr_device_info info[4];
  assert_int_equal(tsr_offload_list_nvidia("/nowhere", info, 4), 0);
  assert_non_null(mkdtemp(root));
  assert_int_equal(tsr_offload_list_nvidia(root, info, 4), 0);
  add_device(root, "0000:00:06.0", "NVIDIA H200");
  add_device(root, "0000:00:07.0", "NVIDIA H200");
  assert_int_equal(tsr_offload_list_nvidia(root, info, 4), 2);
  assert_string_equal(info[0].name, "NVIDIA H200");
  assert_string_equal(info[1].name, "NVIDIA H200");
  assert_int_equal(tsr_offload_list_nvidia(root, info, 1), 1);
  snprintf(command, sizeof command, "rm -r %s", root);
  assert_int_equal(system(command), 0);
}

static void write_below(const char *root, const char *path, const char *text) {
  char whole[256], command[320];
  snprintf(whole, sizeof whole, "%s/%s", root, path);
  snprintf(command, sizeof command, "mkdir -p $(dirname %s)", whole);
  assert_int_equal(system(command), 0);
  FILE *file = fopen(whole, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* A node of the kernel's driver, as it shows them: of a CPU, or of a GPU. */
static void add_node(const char *root, int node, int device, int minor) {
  char path[64], text[256];
  snprintf(path, sizeof path, "sys/class/kfd/kfd/topology/nodes/%d/properties", node);
  snprintf(text, sizeof text,
           "cpu_cores_count %d\nsimd_count %d\nmem_banks_count 1\nvendor_id 4098\ndevice_id %d\n"
           "location_id 1280\ndrm_render_minor %d\nunique_id 0\n",
           device == 0 ? 64 : 0, device == 0 ? 0 : 1216, device, minor);
  write_below(root, path, text);
  if (device == 0) return;
  snprintf(path, sizeof path, "sys/class/drm/renderD%d/device/revision", minor);
  write_below(root, path, minor == 131 ? "0x07\n" : "0x00\n");
}

/* Two CPUs, two MI300X, a die of an MI250X, and a card of a revision that the list has not. */
static void test_list_amd(void **state) {
  (void)state;
  char root[] = "/tmp/tessera_gpus_XXXXXX", command[64];
  tsr_device_info info[8];
  assert_int_equal(tsr_offload_list_amd("/nowhere", info, 8), 0);
  assert_non_null(mkdtemp(root));
  assert_int_equal(tsr_offload_list_amd(root, info, 8), 0);
  for (int node = 0; node < 2; node++) add_node(root, node, 0, 0);
  assert_int_equal(tsr_offload_list_amd(root, info, 8), 0);
  for (int node = 2; node < 4; node++) add_node(root, node, 0x74a1, 126 + node);
  add_node(root, 4, 0x7408, 130);
  add_node(root, 5, 0x74a1, 131);
  assert_int_equal(tsr_offload_list_amd(root, info, 8), 4);
  for (int i = 0; i < 4; i++) assert_string_equal(info[i].name, "AMD GPU"); /* there is no list */
  write_below(root, "usr/share/libdrm/amdgpu.ids",
              "# List of AMDGPU IDs\n1.0.0\n738C,\t01,\tAMD Instinct MI100\n"
              "7408,\t00,\tAMD Instinct MI250X\n74A1,\t00,\tAMD Instinct MI300X\n");
  assert_int_equal(tsr_offload_list_amd(root, info, 8), 4);
  assert_string_equal(info[0].name, "AMD Instinct MI300X");
  assert_string_equal(info[1].name, "AMD Instinct MI300X");
  assert_string_equal(info[2].name, "AMD Instinct MI250X");
  assert_string_equal(info[3].name, "AMD GPU");
  assert_int_equal(tsr_offload_list_amd(root, info, 3), 3);
  snprintf(command, sizeof command, "rm -r %s", root);
  assert_int_equal(system(command), 0);
}

static void test_count_visible(void **state) {
  static const struct {
    const char *list;
    int count;
  } cases[] = {{NULL, 4},
               {"", 0},
               {"-1", 0},
               {"none", 0},
               {"0", 1},
               {"3,0", 2},
               {"0,-1,2", 1},
               {"0,4,1", 1},
               {"0,1,2,3,0", 4},
               {"GPU-9b85fe9e", 1},
               {"GPU-9b,MIG-3a", 2},
               {"1x", 0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(tsr_offload_count_visible(cases[i].list, 4), cases[i].count);
  assert_int_equal(tsr_offload_count_visible("0,1", 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_never),
      cmocka_unit_test(test_always),
      cmocka_unit_test(test_no_device),
      cmocka_unit_test(test_start_pays_later),
      cmocka_unit_test(test_large_call_waits),
      cmocka_unit_test(test_cpu_is_faster),
      cmocka_unit_test(test_factored),
      cmocka_unit_test(test_not_factored),
      cmocka_unit_test(test_learn_apart),
      cmocka_unit_test(test_solves),
      cmocka_unit_test(test_learn_solvers_apart),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_after_a_fork),
      cmocka_unit_test(test_device_fails),
      cmocka_unit_test(test_device_fails_factoring),
      cmocka_unit_test(test_device_fails_solving),
      cmocka_unit_test(test_start_fails),
      cmocka_unit_test(test_wrong_setting),
      cmocka_unit_test(test_aliased),
      cmocka_unit_test(test_price_learns),
      cmocka_unit_test(test_price_is_of_the_best),
      cmocka_unit_test(test_price_turned_round),
      cmocka_unit_test(test_lateness),
      cmocka_unit_test(test_factors_have_a_chain),
      cmocka_unit_test(test_solvers_cost_their_parts),
      cmocka_unit_test(test_prices_cross),
      cmocka_unit_test(test_list_nvidia),
      cmocka_unit_test(test_list_amd),
      cmocka_unit_test(test_count_visible),
  };
  return cmocka_run_group_tests(tests, clear, NULL);
}
