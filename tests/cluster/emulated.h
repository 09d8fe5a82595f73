/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* A fabric between emulated devices, in place of NCCL's: tests the transport from device to device
 * on machines without GPUs. */
#ifndef TESTS_CLUSTER_EMULATED_H
#define TESTS_CLUSTER_EMULATED_H

#include "tessera.h"

/* The nth operation from now on fails (1: the next; 0: none). later 0: at once when it is asked for
 * (uploads alone); later 1: when it is executed. */
TSR_API void emulated_fail_at(long n, int later);

/* How many operations were asked for so far. */
TSR_API long emulated_carried(void);

/* Events from now on fail to be recorded, at random every other one. 0: none fails. */
TSR_API void emulated_lose_events(int lose);

/* How many operations had not been executed when their fabric was closed. */
TSR_API long emulated_left(void);

/* Grids made from now on have at most so many ways. 0: as many as devices. */
TSR_API void emulated_limit_ways(int most);

/* How many pieces were copied on from a relay buffer; and how many operations were executed before
 * an earlier one of another way. */
TSR_API long emulated_onward(void);
TSR_API long emulated_overtaken(void);

/* Grids made from now on have the same device on all processes. 0: each its own. */
TSR_API void emulated_share_device(int shared);

#endif
