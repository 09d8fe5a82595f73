/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Room in the address space for the CPU's BLAS. The tests set real limits of this process, a little
 * above its present use. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/blas.h"
#include "cpu/room.h"

#define MIB ((size_t)1 << 20)

/* Bytes: less than a buffer of OpenBLAS, and enough for a thread. */
static const size_t little = 64 * MIB;

/* Pages of this process: the first number of statm counts all addresses, the sixth those of
 * data. */
static size_t bytes_now(int resource) {
  unsigned long of[6];
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  int found = fscanf(file, "%lu %lu %lu %lu %lu %lu", of, of + 1, of + 2, of + 3, of + 4, of + 5);
  fclose(file);
  assert_int_equal(found, 6);
  return of[resource == RLIMIT_AS ? 0 : 5] * (size_t)sysconf(_SC_PAGESIZE);
}

static void set_limit(int resource, rlim_t bytes) {
  struct rlimit limit;
  assert_int_equal(getrlimit(resource, &limit), 0);
  limit.rlim_cur = bytes;
  assert_int_equal(setrlimit(resource, &limit), 0);
}

static void limit_to_little(int resource) {
  set_limit(resource, bytes_now(resource) + little);
}

static void lift(int resource) {
  struct rlimit limit;
  assert_int_equal(getrlimit(resource, &limit), 0);
  set_limit(resource, limit.rlim_max);
}

/* ---- Loading ---- */

static void loading_is_refused_under(int resource, const char *name) {
  limit_to_little(resource);
  tsr_status loaded = tsr_cpu_blas_load();
  lift(resource);
  assert_int_equal(loaded, TSR_ERR_MEMORY);
  assert_non_null(strstr(tsr_message(), "MiB more of address space"));
  assert_non_null(strstr(tsr_message(), name));
}

static void a_blas_that_does_not_fit_is_not_loaded(void **state) {
  (void)state;
  loading_is_refused_under(RLIMIT_AS, "ulimit -v unlimited");
  loading_is_refused_under(RLIMIT_DATA, "ulimit -d unlimited");
  assert_string_equal(tsr_cpu_blas_name(), "");
}

static void fewer_threads_need_less(void **state) {
  (void)state;
  const char *given = getenv("OPENBLAS_NUM_THREADS");
  char *kept = given != NULL ? strdup(given) : NULL;
  limit_to_little(RLIMIT_AS);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  assert_int_equal(tsr_cpu_room_to_load("libopenblas.so.0"), TSR_ERR_MEMORY);
  assert_non_null(strstr(tsr_message(), "208 MiB more of address space for its code and a call"));
  setenv("OPENBLAS_NUM_THREADS", "1000000", 1);
  assert_int_equal(tsr_cpu_room_to_load("libopenblas.so.0"), TSR_ERR_MEMORY);
  bool one = sysconf(_SC_NPROCESSORS_ONLN) == 1;
  assert_true(one == (strstr(tsr_message(), "OPENBLAS_NUM_THREADS to fewer") == NULL));
  lift(RLIMIT_AS);
  if (kept != NULL)
    setenv("OPENBLAS_NUM_THREADS", kept, 1);
  else
    unsetenv("OPENBLAS_NUM_THREADS");
  free(kept);
}

static void what_is_loaded_needs_no_room(void **state) {
  (void)state;
  limit_to_little(RLIMIT_AS);
  tsr_status status = tsr_cpu_room_to_load("libc.so.6");
  lift(RLIMIT_AS);
  assert_int_equal(status, TSR_OK);
}

/* ---- Calls. No test calls a BLAS; the most calls inside so far carry over to the next test ----
 */

static void an_unwatched_call_enters(void **state) {
  (void)state;
  int calls = 0;
  limit_to_little(RLIMIT_AS);
  tsr_status status = tsr_cpu_room_enter(&calls);
  lift(RLIMIT_AS);
  assert_int_equal(status, TSR_OK);
  tsr_cpu_room_leave(0); /* the most calls inside so far stay 0 */
}

static void a_first_call_is_refused(void **state) {
  (void)state;
  int calls = 0;
  tsr_cpu_room_watch(true);
  limit_to_little(RLIMIT_AS);
  tsr_status status = tsr_cpu_room_enter(&calls);
  lift(RLIMIT_AS);
  assert_int_equal(status, TSR_ERR_MEMORY);
  assert_non_null(strstr(tsr_message(), "144 MiB more of address space for a call"));
}

static void a_later_call_uses_what_is_mapped(void **state) {
  (void)state;
  int calls = 0;
  assert_int_equal(tsr_cpu_room_enter(&calls), TSR_OK);
  assert_int_equal(calls, 1);
  tsr_cpu_room_leave(calls);
  limit_to_little(RLIMIT_AS);
  tsr_status status = tsr_cpu_room_enter(&calls);
  lift(RLIMIT_AS);
  assert_int_equal(status, TSR_OK);
  tsr_cpu_room_leave(calls);
}

typedef struct other_call {
  atomic_bool about_to_enter, first_leaves;
  bool came_after;
  tsr_status status;
  int calls;
} other_call;

static void *enter(void *argument) {
  other_call *other = argument;
  atomic_store(&other->about_to_enter, true);
  other->status = tsr_cpu_room_enter(&other->calls);
  other->came_after = atomic_load(&other->first_leaves);
  tsr_cpu_room_leave(other->calls);
  return NULL;
}

static void a_second_call_waits_until_the_first_leaves(void **state) {
  (void)state;
  other_call other = {.status = TSR_ERR_INTERNAL};
  pthread_t thread;
  int calls = 0;
  assert_int_equal(tsr_cpu_room_enter(&calls), TSR_OK);
  limit_to_little(RLIMIT_AS);
  assert_int_equal(pthread_create(&thread, NULL, enter, &other), 0);
  while (!atomic_load(&other.about_to_enter)) sched_yield();
  for (int i = 0; i < 1000; i++) sched_yield(); /* time for the other thread to try */
  atomic_store(&other.first_leaves, true);
  tsr_cpu_room_leave(calls);
  pthread_join(thread, NULL);
  lift(RLIMIT_AS);
  assert_int_equal(other.status, TSR_OK);
  assert_true(other.came_after);
  assert_int_equal(other.calls, 1);
}

static void with_room_calls_run_beside_each_other(void **state) {
  (void)state;
  int calls[2] = {0, 0};
  for (int i = 0; i < 2; i++) assert_int_equal(tsr_cpu_room_enter(&calls[i]), TSR_OK);
  assert_int_equal(calls[1], 2);
  for (int i = 2; i-- > 0;) tsr_cpu_room_leave(calls[i]);
  limit_to_little(RLIMIT_AS);
  for (int i = 0; i < 2; i++) assert_int_equal(tsr_cpu_room_enter(&calls[i]), TSR_OK);
  lift(RLIMIT_AS);
  for (int i = 2; i-- > 0;) tsr_cpu_room_leave(calls[i]);
}

/* ---- Last tests, since the library stays loaded ---- */

static void with_room_again_it_is_loaded(void **state) {
  (void)state;
  assert_int_equal(tsr_cpu_blas_load(), TSR_OK);
  limit_to_little(RLIMIT_AS);
  tsr_status status = tsr_cpu_room_to_load(tsr_cpu_blas_name());
  lift(RLIMIT_AS);
  assert_int_equal(status, TSR_OK);
}

/* The calls of the parent's other threads are not inside in the child. */
static void a_child_begins_with_no_calls(void **state) {
  (void)state;
  int calls = 0, status = 0;
  assert_int_equal(tsr_cpu_room_enter(&calls), TSR_OK);
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int own = 0;
    _exit(tsr_cpu_room_enter(&own) == TSR_OK && own == 1 ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  tsr_cpu_room_leave(calls);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_blas_that_does_not_fit_is_not_loaded),
      cmocka_unit_test(fewer_threads_need_less),
      cmocka_unit_test(what_is_loaded_needs_no_room),
      cmocka_unit_test(an_unwatched_call_enters),
      cmocka_unit_test(a_first_call_is_refused),
      cmocka_unit_test(a_later_call_uses_what_is_mapped),
      cmocka_unit_test(a_second_call_waits_until_the_first_leaves),
      cmocka_unit_test(with_room_calls_run_beside_each_other),
      cmocka_unit_test(with_room_again_it_is_loaded),
      cmocka_unit_test(a_child_begins_with_no_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
