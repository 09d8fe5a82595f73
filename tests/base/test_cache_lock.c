/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Locks among processes and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/cache_lock.h"

static char folder[] = "/tmp/tessera-lock-XXXXXX";

static int set_folder(void **state) {
  (void)state;
  return setenv("XDG_CACHE_HOME", folder, 1);
}

static void one_holds_it(void **state) {
  (void)state;
  int lock = tsr_cache_lock("a", 0), other;
  assert_true(lock >= 0);
  assert_int_equal(tsr_cache_lock("a", 0), -1);
  assert_int_equal(tsr_cache_lock("a", 0.05), -1);
  other = tsr_cache_lock("b", 0);
  assert_true(other >= 0);
  tsr_cache_unlock(lock);
  lock = tsr_cache_lock("a", 0);
  assert_true(lock >= 0);
  tsr_cache_unlock(lock);
  tsr_cache_unlock(other);
  tsr_cache_unlock(-1);
}

/* Another process has the lock until it ends; then it is free, however it ended. */
static void another_process_holds_it(void **state) {
  (void)state;
  int taken[2], stop[2];
  char byte = 0;
  assert_int_equal(pipe(taken) | pipe(stop), 0);
  pid_t child = fork();
  if (child == 0) {
    close(stop[1]);
    byte = tsr_cache_lock("a", 10) >= 0;
    if (write(taken[1], &byte, 1) == 1 && read(stop[0], &byte, 1) >= 0) abort();
    _exit(1);
  }
  assert_int_equal(read(taken[0], &byte, 1), 1);
  assert_int_equal(byte, 1);
  assert_int_equal(tsr_cache_lock("a", 0), -1);
  close(stop[1]);
  int lock = tsr_cache_lock("a", 60); /* waits for its end */
  assert_true(lock >= 0);
  tsr_cache_unlock(lock);
  assert_int_equal(waitpid(child, NULL, 0), child);
  close(stop[0]), close(taken[0]), close(taken[1]);
}

/* A process that was forked while the lock was held does not keep it. */
static void a_forked_process_does_not_hold_it(void **state) {
  (void)state;
  int stop[2], lock = tsr_cache_lock("a", 0);
  char byte;
  assert_int_equal(pipe(stop), 0);
  pid_t child = fork();
  if (child == 0) {
    close(stop[1]);
    _exit(read(stop[0], &byte, 1) != 0);
  }
  tsr_cache_unlock(lock);
  lock = tsr_cache_lock("a", 0);
  assert_true(lock >= 0);
  tsr_cache_unlock(lock);
  close(stop[1]);
  assert_int_equal(waitpid(child, NULL, 0), child);
  close(stop[0]);
}

static void there_is_none_without_a_cache(void **state) {
  (void)state;
  setenv("XDG_CACHE_HOME", "/proc/none", 1);
  unsetenv("XDG_RUNTIME_DIR");
  assert_int_equal(tsr_cache_lock("a", 60), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(one_holds_it, set_folder),
      cmocka_unit_test_setup(another_process_holds_it, set_folder),
      cmocka_unit_test_setup(a_forked_process_does_not_hold_it, set_folder),
      cmocka_unit_test_setup(there_is_none_without_a_cache, set_folder),
  };
  char command[80];
  if (mkdtemp(folder) == NULL) return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) != 0 || failed;
}
