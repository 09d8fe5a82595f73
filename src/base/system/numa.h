/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where threads run and where memory lies, by calls of Linux. Memory nodes have the operating
 * system's numbers (tsr_memory_node.number), 0 to TSR_NUMA_NUMBERS - 1. These calls are of use on
 * computers with several nodes; where the system refuses one, all works as if it had not been made.
 */
#ifndef TSR_BASE_SYSTEM_NUMA_H
#define TSR_BASE_SYSTEM_NUMA_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

enum { TSR_NUMA_NUMBERS = 1024 };

/* Lets the calling thread run on these CPUs alone. False: the system refuses. */
bool tsr_numa_run_on(const cpu_set_t *cpus);

/* Pages that the calling thread touches first, or that a driver allocates for it, come from now on
 * from the node with the number, while it has free pages; from all nodes in turn if there are
 * several numbers; from where the system chooses if there is none. False: the system refuses. */
bool tsr_numa_take_memory_from(const int *numbers, int count);

/* Whether whoever started the calling thread has chosen where its memory comes from (numactl). */
bool tsr_numa_has_policy(void);

/* numbers[i]: the number of the node on which pages[i] lies; negative: the page is not in memory,
 * or is not known. False: the system tells of none. */
bool tsr_numa_find_pages(const void *const *pages, int count, int *numbers);

#endif
