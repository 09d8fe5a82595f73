/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Runs a function on a new thread and waits for it. Functions of an engine may change the calling
 * thread's current device; a thread of the user must keep its own.
 */
#ifndef TSR_RUN_ASIDE_H
#define TSR_RUN_ASIDE_H

#include "base/status.h"

/* Returns what work(argument) returns; its message becomes this thread's. Takes about 30 us. */
tsr_status tsr_aside(tsr_status (*work)(void *argument), void *argument);

/* Calls work(argument, index) for index 0 .. count-1, at most TSR_MAX_DEVICES, each on a thread of
 * its own in parallel. Returns the status of the lowest index that failed. */
tsr_status tsr_aside_each(int count, tsr_status (*work)(void *argument, int index), void *argument);

#endif
