/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The bytes that a process exchanges with others, and uploads to panel slots in its first device's
 * memory: once as planned, when an operation begins, and once as counted, when a message or a copy
 * is complete. The process's context counts the bytes that its devices load.
 */
#ifndef TSR_CLUSTER_RUN_TRAFFIC_H
#define TSR_CLUSTER_RUN_TRAFFIC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The thread that carries operations out adds; any thread reads. */
typedef struct tsr_traffic_sums {
  _Atomic uint64_t received, sent; /* sent: a panel counts once, at the process that owns it */
  _Atomic uint64_t uploaded;
} tsr_traffic_sums;

static inline void tsr_traffic_add(_Atomic uint64_t *sum, size_t bytes) {
  atomic_fetch_add_explicit(sum, bytes, memory_order_relaxed);
}

#endif
