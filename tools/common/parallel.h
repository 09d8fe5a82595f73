/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Loops on all cores that the process may use (at most 64 threads). */
#ifndef TESSERA_PARALLEL_H
#define TESSERA_PARALLEL_H

#include <stdint.h>

typedef void (*parallel_body)(void *user, int64_t begin, int64_t end);

/* Calls body on ranges of at most grain that cover 0 .. count-1, from several threads at once. */
void parallel_for(int64_t count, int64_t grain, parallel_body body, void *user);

/* The number of threads that parallel_for uses. */
int parallel_workers(void);

#endif
