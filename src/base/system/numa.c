/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/system/numa.h"

#include <limits.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

bool tsr_numa_run_on(const cpu_set_t *cpus) {
  return sched_setaffinity(0, sizeof *cpus, cpus) == 0;
}

enum { LONG_BITS = CHAR_BIT * sizeof(unsigned long) };

bool tsr_numa_take_memory_from(const int *numbers, int count) {
  unsigned long mask[TSR_NUMA_NUMBERS / LONG_BITS] = {0};
  for (int i = 0; i < count; i++) {
    if (numbers[i] < 0 || numbers[i] >= TSR_NUMA_NUMBERS) return false;
    mask[numbers[i] / LONG_BITS] |= 1ul << numbers[i] % LONG_BITS;
  }
  int policy = count == 0 ? MPOL_DEFAULT : count == 1 ? MPOL_PREFERRED : MPOL_INTERLEAVE;
  /* The kernel takes one number less than it is told (man set_mempolicy, BUGS). */
  return syscall(SYS_set_mempolicy, policy, mask, TSR_NUMA_NUMBERS + 1ul) == 0;
}

bool tsr_numa_has_policy(void) {
  int policy = MPOL_DEFAULT;
  return syscall(SYS_get_mempolicy, &policy, NULL, 0ul, NULL, 0ul) == 0 && policy != MPOL_DEFAULT;
}

bool tsr_numa_find_pages(const void *const *pages, int count, int *numbers) {
  return syscall(SYS_move_pages, 0, (unsigned long)count, pages, NULL, numbers, 0) == 0;
}
