/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Waiting between polls. While messages are under way, a wait only yields the processor, because
 * many MPI libraries move data only while they are called. Otherwise the thread yields at first and
 * then sleeps, longer and longer, up to TSR_TUNE_WAIT_SLEEP.
 */
#ifndef TSR_CLUSTER_TRANSPORT_WAIT_H
#define TSR_CLUSTER_TRANSPORT_WAIT_H

#include <stdbool.h>

typedef struct tsr_wait {
  int steps;
} tsr_wait;

#define TSR_WAIT_INIT \
  { 0 }

/* Waits once, after a poll in which nothing happened. messages: messages are under way. */
void tsr_wait_step(tsr_wait *wait, bool messages);

#endif
