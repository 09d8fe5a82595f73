/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Limits of a process, read from root folders that have what the files of containers say, and from
 * this process. Each test makes the files in a folder of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system/process_limits.h"

#define GIB 0x1p30

static char root[] = "/tmp/tessera-limits-XXXXXX";
static tsr_process_limits limits;

static int make_root(void **state) {
  (void)state;
  strcpy(root + strlen(root) - 6, "XXXXXX");
  return mkdtemp(root) == NULL;
}

static int remove_root(void **state) {
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", root);
  return system(command);
}

static void write_file(const char *path, const char *text) {
  char full[512], command[600];
  snprintf(full, sizeof full, "%s%s", root, path);
  snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", full);
  assert_int_equal(system(command), 0);
  FILE *file = fopen(full, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void is(const tsr_process_limit *limit, double most, const char *from) {
  assert_float_equal(limit->most, most, 1e-3);
  assert_string_equal(limit->from, from);
}

static void is_none(const tsr_process_limit *limit) {
  assert_true(isinf(limit->most));
  assert_string_equal(limit->from, "");
}

/* A machine of 64 GiB, of which 60 are not used. */
static void write_machine(void) {
  write_file("/proc/meminfo",
             "MemTotal:       67108864 kB\nMemFree:        1000 kB\nMemAvailable:   62914560 kB\n");
}

static void read_root(void) {
  tsr_process_limits_read(root, &limits);
}

/* ---- Files ---- */

static void nothing_is_known(void **state) {
  (void)state;
  read_root();
  is_none(&limits.memory);
  is_none(&limits.unused);
  is_none(&limits.shared);
  is(&limits.cores, tsr_process_processors(), "the affinity mask");
}

static void without_a_group(void **state) {
  (void)state;
  write_machine();
  read_root();
  is(&limits.memory, 64 * GIB, "/proc/meminfo");
  is(&limits.unused, 60 * GIB, "/proc/meminfo");
}

/* As Docker and Kubernetes show it on a host of version 2: the container's group is the root of its
 * namespace. */
static void container_of_version_2(void **state) {
  (void)state;
  write_machine();
  write_file("/proc/self/cgroup", "0::/\n");
  write_file("/proc/self/mountinfo",
             "1534 1533 0:29 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n"
             "1536 1532 0:99 / /dev/shm rw,nosuid - tmpfs shm rw,size=65536k,inode64\n");
  write_file("/sys/fs/cgroup/memory.max", "2147483648\n");
  write_file("/sys/fs/cgroup/memory.high", "max\n");
  write_file("/sys/fs/cgroup/memory.current", "1073741824\n");
  write_file("/sys/fs/cgroup/memory.stat", "anon 5\ninactive_file 536870912\n");
  write_file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  read_root();
  is(&limits.memory, 2 * GIB, "/sys/fs/cgroup/memory.max");
  is(&limits.unused, 1.5 * GIB, "/sys/fs/cgroup/memory.max");
  is(&limits.cores, 0.5, "/sys/fs/cgroup/cpu.max");
  is(&limits.shared, 64 << 20, "/dev/shm");
}

static void container_of_version_2_without_limits(void **state) {
  (void)state;
  write_machine();
  write_file("/proc/self/cgroup", "0::/\n");
  write_file("/proc/self/mountinfo", "34 33 0:29 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write_file("/sys/fs/cgroup/memory.max", "max\n");
  write_file("/sys/fs/cgroup/memory.current", "1073741824\n");
  write_file("/sys/fs/cgroup/cpu.max", "max 100000\n");
  read_root();
  is(&limits.memory, 64 * GIB, "/proc/meminfo");
  is(&limits.unused, 60 * GIB, "/proc/meminfo");
  is(&limits.cores, tsr_process_processors(), "the affinity mask");
}

/* A job of Slurm or a unit of systemd, outside of containers: a group around the process's own has
 * the limit. memory.high slows a process down before memory.max ends it. */
static void groups_around(void **state) {
  (void)state;
  write_machine();
  write_file("/proc/self/cgroup", "0::/system.slice/job_7/step_0/task_0\n");
  write_file("/proc/self/mountinfo", "34 33 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write_file("/sys/fs/cgroup/system.slice/job_7/memory.max", "8589934592\n");
  write_file("/sys/fs/cgroup/system.slice/job_7/memory.high", "4294967296\n");
  write_file("/sys/fs/cgroup/system.slice/job_7/memory.current", "5368709120\n");
  write_file("/sys/fs/cgroup/system.slice/job_7/step_0/memory.max", "17179869184\n");
  write_file("/sys/fs/cgroup/system.slice/cpu.max", "25000 100000\n");
  read_root();
  is(&limits.memory, 4 * GIB, "/sys/fs/cgroup/system.slice/job_7/memory.high");
  is(&limits.unused, 0, "/sys/fs/cgroup/system.slice/job_7/memory.high");
  is(&limits.cores, 0.25, "/sys/fs/cgroup/system.slice/cpu.max");
}

/* As Docker shows it on a host of version 1: the path is the host's, and the mount shows the
 * container's group alone. */
static void container_of_version_1(void **state) {
  (void)state;
  write_machine();
  write_file("/proc/self/cgroup",
             "9:memory:/docker/5f\n4:cpu,cpuacct:/docker/5f\n1:name=systemd:/docker/5f\n0::/\n");
  write_file("/proc/self/mountinfo",
             "61 60 0:22 /docker/5f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
             "62 60 0:23 /docker/5f /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
             "63 60 0:24 / /sys/fs/cgroup/unified ro - cgroup2 cgroup2 rw\n");
  write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  write_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "268435456\n");
  write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "75000\n");
  write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  read_root();
  is(&limits.memory, GIB, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
  is(&limits.unused, 0.75 * GIB, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
  is(&limits.cores, 0.75, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us");
}

static void version_1_without_limits(void **state) {
  (void)state;
  write_machine();
  write_file("/proc/self/cgroup", "9:memory:/user/me\n4:cpu:/\n");
  write_file("/proc/self/mountinfo",
             "61 60 0:22 / /sys/fs/cgroup/memory rw - cgroup cgroup memory\n"
             "62 60 0:23 / /sys/fs/cgroup/cpu rw - cgroup cgroup cpu\n");
  write_file("/sys/fs/cgroup/memory/user/me/memory.limit_in_bytes", "9223372036854771712\n");
  write_file("/sys/fs/cgroup/memory/user/me/memory.usage_in_bytes", "268435456\n");
  write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  read_root();
  is(&limits.memory, 64 * GIB, "/proc/meminfo");
  is(&limits.unused, 60 * GIB, "/proc/meminfo");
  is(&limits.cores, tsr_process_processors(), "the affinity mask");
}

/* A namespace that was entered from outside shows a path that climbs out of it. */
static void a_path_that_leaves_the_mount(void **state) {
  (void)state;
  write_file("/proc/self/cgroup", "0::/../../elsewhere\n");
  write_file("/proc/self/mountinfo", "34 33 0:29 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  write_file("/sys/fs/cgroup/memory.max", "1073741824\n");
  write_file("/elsewhere/memory.max", "1\n");
  read_root();
  is(&limits.memory, GIB, "/sys/fs/cgroup/memory.max");
}

static void files_that_make_no_sense(void **state) {
  static const char *const texts[] = {"",          "\n",      "many\n", "-",
                                      "max max\n", ":::::\n", " - \n",  "1 2 3 4 5 - cgroup2\n"};
  static const char *const paths[] = {"/proc/meminfo", "/proc/self/cgroup", "/proc/self/mountinfo",
                                      "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/cpu.max"};
  (void)state;
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
    write_machine();
    write_file("/proc/self/cgroup", "0::/\n");
    write_file("/proc/self/mountinfo", "34 33 0:29 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
      write_file(paths[p], texts[t]);
      read_root();
      assert_true(limits.memory.most > 0 && limits.cores.most > 0);
    }
  }
}

/* ---- This process ---- */

static void slurm(void **state) {
  (void)state;
  write_machine();
  setenv("SLURM_CPUS_PER_TASK", "0.5", 1);
  setenv("SLURM_MEM_PER_CPU", "2048", 1);
  setenv("SLURM_CPUS_ON_NODE", "8", 1);
  read_root(); /* without a job, the variables say nothing */
  is(&limits.memory, 64 * GIB, "/proc/meminfo");
  setenv("SLURM_JOB_ID", "7", 1);
  read_root();
  is(&limits.memory, 16 * GIB, "SLURM_MEM_PER_CPU");
  is(&limits.unused, 16 * GIB, "SLURM_MEM_PER_CPU");
  is(&limits.cores, 0.5, "SLURM_CPUS_PER_TASK");
  setenv("SLURM_MEM_PER_NODE", "1024", 1);
  read_root();
  is(&limits.memory, GIB, "SLURM_MEM_PER_NODE");
  setenv("SLURM_MEM_PER_NODE", "0", 1); /* all of the node */
  unsetenv("SLURM_MEM_PER_CPU");
  read_root();
  is(&limits.memory, 64 * GIB, "/proc/meminfo");
  unsetenv("SLURM_JOB_ID");
}

static void affinity(void **state) {
  cpu_set_t all, one;
  (void)state;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  assert_int_equal(tsr_process_processors(), 1);
  assert_int_equal(tsr_process_cores(), 1);
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
  assert_int_equal(tsr_process_processors(), CPU_COUNT(&all));
}

static void set_limit(int resource, rlim_t bytes, rlim_t *before) {
  struct rlimit limit;
  assert_int_equal(getrlimit(resource, &limit), 0);
  *before = limit.rlim_cur;
  limit.rlim_cur = bytes;
  assert_int_equal(setrlimit(resource, &limit), 0);
}

static void resources(void **state) {
  rlim_t locked, addresses, last;
  (void)state;
  set_limit(RLIMIT_MEMLOCK, 65536, &locked);
  set_limit(RLIMIT_AS, (rlim_t)1 << 46, &addresses);
  read_root();
  is(&limits.locked, 65536, "ulimit -l");
  is(&limits.addresses, 0x1p46, "ulimit -v");
  set_limit(RLIMIT_MEMLOCK, locked, &last);
  set_limit(RLIMIT_AS, addresses, &last);
}

static void this_machine(void **state) {
  (void)state;
  tsr_process_limits_read("", &limits);
  assert_true(limits.memory.most > 0 && limits.unused.most <= limits.memory.most);
  assert_true(limits.cores.most > 0 && limits.cores.most <= tsr_process_processors());
}

#define IN_A_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void) {
  static const char *const of_jobs[] = {"SLURM_JOB_ID",       "SLURM_CPUS_PER_TASK",
                                        "SLURM_MEM_PER_CPU",  "SLURM_CPUS_ON_NODE",
                                        "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_GPU"};
  const struct CMUnitTest tests[] = {
      IN_A_ROOT(nothing_is_known),
      IN_A_ROOT(without_a_group),
      IN_A_ROOT(container_of_version_2),
      IN_A_ROOT(container_of_version_2_without_limits),
      IN_A_ROOT(groups_around),
      IN_A_ROOT(container_of_version_1),
      IN_A_ROOT(version_1_without_limits),
      IN_A_ROOT(a_path_that_leaves_the_mount),
      IN_A_ROOT(files_that_make_no_sense),
      IN_A_ROOT(slurm),
      IN_A_ROOT(resources),
      cmocka_unit_test(affinity),
      cmocka_unit_test(this_machine),
  };
  for (size_t i = 0; i < sizeof of_jobs / sizeof *of_jobs; i++) unsetenv(of_jobs[i]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
