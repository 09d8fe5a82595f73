/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files that the library opens, in programs that were started with descriptors 0, 1 or 2 closed,
 * too (daemons, cron, launchers of MPI): text that the program prints must not land in them.
 */
#ifndef TSR_BASE_OPEN_H
#define TSR_BASE_OPEN_H

#include <stdio.h>
#include <sys/types.h>

/* As open() with O_CLOEXEC, but the descriptor is none of 0, 1 and 2. -1, with errno: it failed. */
int tsr_open(const char *path, int flags, mode_t mode);

/* The same for a file that is read as a stream; NULL: it failed. */
FILE *tsr_open_to_read(const char *path);

#endif
