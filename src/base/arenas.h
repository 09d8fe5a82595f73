/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Address space that the C library's malloc reserves for threads.
 *
 * glibc gives each thread that allocates an arena of its own, 64 MiB of addresses, as long as there
 * are addresses left. Where the process is limited (ulimit -v, ulimit -d), our threads would take
 * in this way what the buffers of the CPU's BLAS and the stacks of later threads need, and the more
 * addresses there are, the more arenas: a call that works under one limit would fail under a larger
 * one.
 */
#ifndef TSR_BASE_ARENAS_H
#define TSR_BASE_ARENAS_H

/* Limits the process's arenas to a small part of the addresses that it may map: one arena for each
 * 4 GiB, at least one. Does nothing where there is no limit, or where the user has set
 * MALLOC_ARENA_MAX. Called before threads are started and before the CPU's BLAS is loaded; takes a
 * microsecond. */
void tsr_arenas_limit(void);

#endif
