/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Packing by several threads: one thread packs a panel more slowly than the network carries it.
 */
#ifndef TSR_CLUSTER_LAYOUT_PACK_H
#define TSR_CLUSTER_LAYOUT_PACK_H

#include <stdint.h>

#include "base/status.h"

typedef struct tsr_packers tsr_packers;

/* Threads start when they are first needed. Their number, with the calling thread, is that of the
 * processors that this process may use, at most TSR_TUNE_PACKERS. TSR_ERR_MEMORY. */
tsr_status tsr_packers_create(tsr_packers **packers);
void tsr_packers_destroy(tsr_packers *packers); /* NULL is accepted */

/* Calls work(what, at, count) for ranges of lines that make up 0 .. lines-1, on several threads and
 * the calling one, and waits until all are done. bytes: of all lines together; below
 * TSR_TUNE_PACK_LEAST the calling thread works alone. One caller at a time. packers may be NULL:
 * the calling thread works alone. */
typedef void (*tsr_pack_work)(void *what, int64_t at, int64_t count);
void tsr_packers_run(tsr_packers *packers, tsr_pack_work work, void *what, int64_t lines,
                     size_t bytes);

#endif
