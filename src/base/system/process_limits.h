/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The limits that a process works under (tsr_process_limits): those of the machine, of the control
 * groups that a container, systemd or Slurm puts the process into (cgroup versions 2 and 1), of
 * setrlimit, of the affinity mask and of Slurm's variables. No other file reads any of them, but
 * base/arenas.c asks setrlimit for the addresses.
 *
 * Nothing here fails, allocates or keeps anything: what cannot be read is no limit. A read takes
 * some 100 us, so it belongs to what is made once, such as a context.
 */
#ifndef TSR_BASE_SYSTEM_PROCESS_LIMITS_H
#define TSR_BASE_SYSTEM_PROCESS_LIMITS_H

#include "tessera_model.h"

/* Reads the limits of this process. root: a folder with copies of /proc, /sys and the like, whose
 * files are read in place of this machine's; "": this machine's. Limits of setrlimit, the affinity
 * mask and the environment are always this process's. */
void tsr_process_limits_read(const char *root, tsr_process_limits *limits);

/* The processors that the calling thread may run on, at least 1, whatever part of their time it
 * gets: as many threads OpenBLAS starts by itself. */
int tsr_process_processors(void);

/* The cores of these limits as a whole number, the nearest one and at least 1: with more busy
 * threads than that, some would wait for others. */
int tsr_process_limits_cores(const tsr_process_limits *limits);

/* Reads the limits of this process and returns its cores as a whole number. */
int tsr_process_cores(void);

#endif
