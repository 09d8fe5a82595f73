/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The BLAS doors from inside: where a symbol's calls are sent. tests/dropin tests them from
 * outside; bench/door_cost.c measures what they cost. */
#include <dlfcn.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front.h"

#include "front/doors/doors.h"
#include "front/offload/inside.h"

/* Behind the doors there is a BLAS that computes nothing, the CPU's as well as the program's. */
static int clear(void **state) {
  (void)state;
  front_clear_environment();
  setenv("TESSERA_CPU_BLAS", PARTIAL_BLAS, 1);
  return 0;
}

/* Whether the BLAS is in the global scope, for all callers, or is found for each caller. */
static bool global;

/* Each test in a process of its own: what is decided once holds for the process. */
static void in_a_child(void (*test)(void), bool for_all) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    global = for_all;
    if (global && dlopen(PARTIAL_BLAS, RTLD_NOW | RTLD_GLOBAL) == NULL) _exit(2);
    test();
    tsr_context_destroy(tsr_offload_get()->context); /* no threads are left */
    _exit(0);
  }
  int status = 1;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("the child: %d", status);
}

#define must(condition)                                       \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      _exit(1);                                               \
    }                                                         \
  } while (0)

static void way_full(void) {}
static void way_quick(void) {}
static void way_picked(void) {}
static void way_guided(void) {}
static tsr_door door = TSR_DOOR("dgemm_", way);

/* The address of a call, and another one, which has its own next. */
static const void *caller(void) {
  return (const char *)(uintptr_t)way_full + 1;
}
static const void *another_caller(void) {
  return (const char *)(uintptr_t)way_quick + 1;
}

static tsr_door_routine next(void) {
  return tsr_door_next(&door, caller());
}

/* Whether small calls are told from others by their size. */
static bool is_quick(void) {
  return tsr_door_way(&door) == (global ? way_quick : way_picked);
}

enum { MOST = 64 };

/* As blas.c calls: whether the call is left to the next, which is not called here. */
static bool goes_on(int64_t n) {
  static double a[MOST * MOST], c[MOST * MOST];
  static const double one = 1;
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
                                 .alpha = &one,
                                 .a = a,
                                 .b = a,
                                 .beta = &one,
                                 .c = c,
                                 .multiplications = (double)(n * n * n)};
  tsr_door_visit visit;
  tsr_door_routine to = tsr_door_enter(&door, &call, caller(), &visit);
  if (to == NULL) return false;
  must(to == next());
  tsr_door_leave(&visit);
  return true;
}

static bool is_straight(void) {
  if (next() == NULL) return false;
  if (global) return tsr_door_way(&door) == next();
  return tsr_door_way(&door) == way_guided && tsr_door_by_caller(&door, caller()) == next();
}

/* Where a call with so many multiplications goes. */
static tsr_door_routine by_size(double multiplications) {
  return global ? tsr_door_by_size(&door, multiplications)
                : tsr_door_by_both(&door, multiplications, caller());
}
static bool small_goes_on(double multiplications) {
  return by_size(multiplications) == next();
}
static bool comes_in(double multiplications) {
  return by_size(multiplications) == way_full;
}

/* ---- The ways ---- */

static void never(void) {
  setenv("TESSERA_OFFLOAD", "never", 1);
  setenv("TESSERA_ENGINE", "host", 1);
  must(tsr_door_way(&door) == way_full);
  must(goes_on(MOST) && is_straight());
}

static void no_device(void) {
  setenv("TESSERA_ENGINE", "cpu", 1);
  must(goes_on(1) && is_straight());
}

/* A report has to have seen all calls. */
static void never_counted(void) {
  setenv("TESSERA_OFFLOAD", "never", 1);
  setenv("TESSERA_EXPLAIN", "1", 1);
  must(goes_on(1) && !is_straight());
  must(tsr_door_way(&door) == way_full || comes_in(1));
}

static void small_ones_go_on(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MACHINE", SLOW_DEVICES, 1);
  setenv("TESSERA_MIN_SIZE", "8", 1);
  must(goes_on(1) && is_quick());
  must(small_goes_on(8 * 8 * 8 - 1) && comes_in(8 * 8 * 8));
  must(goes_on(MOST) && is_quick());
}

/* The size below which calls are small is what the program's calls show of the CPU. */
static void small_follows_the_model(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  must(goes_on(1) && is_quick());
  tsr_offload_state *state = tsr_offload_get();
  int d = tsr_type_index(TSR_D);
  double least = atomic_load(&state->least[d]), faster = 100 * state->price.figure[d];
  must(small_goes_on(0.99 * least) && comes_in(least));
  for (int i = 0; i < 3; i++) tsr_offload_price_show(&state->price, TSR_D, faster, 1);
  tsr_offload_set_least_of(state, TSR_D);
  must(atomic_load(&state->least[d]) > 2 * least && small_goes_on(1.5 * least));
}

static void small_counted(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_EXPLAIN", "1", 1);
  must(goes_on(1) && !is_straight());
  must(tsr_door_way(&door) == way_full || comes_in(1));
}

/* Devices that cannot be started: from then on there is nothing to ask. */
static void devices_fail(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_MIN_SIZE", "8", 1);
  must(goes_on(1) && is_quick());
  tsr_offload_state *state = tsr_offload_get();
  pthread_mutex_lock(&state->lock);
  tsr_offload_give_up(state, TSR_WHY_NO_DEVICE, "a test");
  pthread_mutex_unlock(&state->lock);
  must(comes_in(1));
  must(goes_on(1) && is_straight());
}

static void child_of_a_process_with_devices(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  setenv("TESSERA_OFFLOAD", "always", 1);
  setenv("TESSERA_MIN_SIZE", "8", 1);
  must(!goes_on(MOST) && goes_on(1) && is_quick());
  pid_t child = fork();
  must(child >= 0);
  if (child == 0) {
    must(comes_in(1));
    must(goes_on(MOST) && is_straight());
    _exit(0);
  }
  int status = 1;
  must(waitpid(child, &status, 0) == child && status == 0);
  must(is_quick() && !goes_on(MOST));
}

/* ---- The first call, by many threads at once ---- */

enum { THREADS = 8, ROUNDS = 200 };
static pthread_barrier_t together;

static void *call_first(void *unused) {
  (void)unused;
  pthread_barrier_wait(&together);
  for (int i = 0; i < ROUNDS; i++) {
    tsr_door_routine way = tsr_door_way(&door);
    if (way == way_quick || way == way_picked) way = by_size(1);
    if (way == way_guided) way = tsr_door_by_caller(&door, caller());
    must(way == way_full ? goes_on(1) : way == next());
  }
  return NULL;
}

static void race(void) {
  pthread_t thread[THREADS];
  must(pthread_barrier_init(&together, NULL, THREADS) == 0);
  for (int i = 0; i < THREADS; i++) must(pthread_create(&thread[i], NULL, call_first, NULL) == 0);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
}

static void race_straight(void) {
  setenv("TESSERA_OFFLOAD", "never", 1);
  race();
  must(is_straight());
}

static void race_quick(void) {
  setenv("TESSERA_ENGINE", "host", 1);
  race();
  must(is_quick());
}

/* ---- What calls have to come in ---- */

/* A routine that no library has is ours to carry out, each time. */
static void nothing_behind(void) {
  static tsr_door lone = TSR_DOOR("dgemm_that_is_nowhere_", way);
  const double one = 1;
  double c = 1;
  const tsr_offload_call call = {{.operation = TSR_GEMM,
                                  .type = TSR_D,
                                  .layout = TSR_COL_MAJOR,
                                  .transa = TSR_NO_TRANS,
                                  .transb = TSR_NO_TRANS,
                                  .m = 1,
                                  .n = 1,
                                  .k = 1,
                                  .lda = 1,
                                  .ldb = 1,
                                  .ldc = 1},
                                 &one,
                                 &one,
                                 &one,
                                 &one,
                                 &c,
                                 1};
  tsr_door_visit visit;
  setenv("TESSERA_OFFLOAD", "never", 1);
  for (int i = 0; i < 2; i++) {
    must(tsr_door_way(&lone) == way_full);
    must(tsr_door_enter(&lone, &call, caller(), &visit) == NULL);
  }
}

/* ---- Signposts ---- */

/* Signposts of many calls: each is found as long as its places are not taken by others, and by its
 * own address and door alone. */
static void signposts(void) {
  static tsr_door other = TSR_DOOR("sgemm_", way);
  enum { CALLS = 512 };
  static char code[CALLS * 16];
  for (int i = 0; i < CALLS; i++)
    tsr_door_signpost_set(&door, code + 16 * i, i % 2 ? way_quick : way_picked);
  for (int i = 0; i < CALLS; i++) {
    must(tsr_door_signpost_get(&door, code + 16 * i) == (i % 2 ? way_quick : way_picked));
    must(tsr_door_signpost_get(&other, code + 16 * i) == NULL);
    must(tsr_door_by_caller(&other, code + 16 * i) == way_full);
  }
}

/* More calls than have a place: the latest has one. */
static void too_many_signposts(void) {
  enum { CALLS = 1 << 16 };
  static char code[CALLS * 16];
  for (int i = 0; i < CALLS; i++) {
    tsr_door_signpost_set(&door, code + 16 * i, way_quick);
    must(tsr_door_signpost_get(&door, code + 16 * i) == way_quick);
  }
}

/* Other code at the place of a library that was closed. */
static void other_code(void) {
  static uint64_t code = 1;
  tsr_door_signpost_set(&door, &code, way_quick);
  must(tsr_door_by_caller(&door, &code) == way_quick);
  code = 2;
  must(tsr_door_signpost_get(&door, &code) == NULL && tsr_door_by_caller(&door, &code) == way_full);
}

/* A caller without a BLAS does not keep others from theirs. */
static void nowhere_is_of_a_caller(void) {
  tsr_door_signpost_set(&door, caller(), tsr_door_nowhere);
  must(tsr_door_by_caller(&door, caller()) == way_full && next() == NULL);
  must(tsr_door_next(&door, another_caller()) != NULL);
}

#define TEST(name)                        \
  static void test_##name(void **state) { \
    (void)state;                          \
    in_a_child(name, true);               \
    in_a_child(name, false);              \
  }
TEST(never)
TEST(no_device)
TEST(never_counted)
TEST(small_ones_go_on)
TEST(small_follows_the_model)
TEST(small_counted)
TEST(devices_fail)
TEST(child_of_a_process_with_devices)
TEST(race_straight)
TEST(race_quick)
TEST(nothing_behind)
TEST(signposts)
TEST(too_many_signposts)
TEST(other_code)
TEST(nowhere_is_of_a_caller)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_never, clear),
      cmocka_unit_test_setup(test_no_device, clear),
      cmocka_unit_test_setup(test_never_counted, clear),
      cmocka_unit_test_setup(test_small_ones_go_on, clear),
      cmocka_unit_test_setup(test_small_follows_the_model, clear),
      cmocka_unit_test_setup(test_small_counted, clear),
      cmocka_unit_test_setup(test_devices_fail, clear),
      cmocka_unit_test_setup(test_child_of_a_process_with_devices, clear),
      cmocka_unit_test_setup(test_race_straight, clear),
      cmocka_unit_test_setup(test_race_quick, clear),
      cmocka_unit_test_setup(test_nothing_behind, clear),
      cmocka_unit_test_setup(test_signposts, clear),
      cmocka_unit_test_setup(test_too_many_signposts, clear),
      cmocka_unit_test_setup(test_other_code, clear),
      cmocka_unit_test_setup(test_nowhere_is_of_a_caller, clear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
