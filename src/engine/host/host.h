/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The host engine, which emulates devices, and its functions for tests.
 *
 * In checking mode, memory that no command has written holds poison: the 16-bit word TSR_POISON
 * repeated, which is a quiet NaN in each of the library's types. A kernel that reads a poisoned
 * element fails with TSR_ERR_CHECK, and so does a copy that reads eight consecutive poisoned bytes
 * (a whole row if rows are shorter) or that touches memory while it is being pinned. The error
 * stays with the device until recover forgets it; query returns it.
 */
#ifndef TSR_ENGINE_HOST_HOST_H
#define TSR_ENGINE_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

extern const tsr_engine tsr_engine_host;

/* A quiet NaN of fp16 and bf16; repeated, of fp32 and fp64. */
#define TSR_POISON UINT16_C(0x7ffb)

/* Fills memory with poison. pointer is 2-byte aligned; no command may be using the memory. */
void tsr_engine_host_poison(void *pointer, size_t bytes);

/* For tests: makes the nth operation from now on (1: the next) fail; copies, kernels, allocations
 * and pinnings of all host engines count. A copy or kernel fails with TSR_ERR_DEVICE when it runs,
 * an allocation or pinning with TSR_ERR_MEMORY. n = 0: none fails. Returns the number of operations
 * that failed this way since the previous call. */
long tsr_engine_host_fail_at(long n);

/* For tests: while pass is set, a device that tsr_engine_host_fail_at made fail works again once it
 * is asked (recover), as after an error that a runtime survives; else it is lost. */
void tsr_engine_host_pass(bool pass);

/* For tests, as if another program took device memory: of the allocations of device memory from now
 * on, the nth (1: the next) and the count - 1 after it fail with TSR_ERR_MEMORY. nth = 0: none.
 * Returns the number of allocations refused since the previous call. */
long tsr_engine_host_refuse(long nth, long count);

/* For tests, as if no thread could be started or the runtime refused a launch: of the commands of
 * all queues from now on, the nth (1: the next) and the count - 1 after it are refused with that
 * status when they are submitted. nth = 0: none. Returns the number of commands refused since the
 * previous call. */
long tsr_engine_host_refuse_commands(long nth, long count, tsr_status status);

/* For tests: while refuse is set, allocations of pinned memory fail with TSR_ERR_MEMORY. */
void tsr_engine_host_refuse_pinned(bool refuse);

/* For tests: while hold is set, a pinning that has begun does not finish. */
void tsr_engine_host_hold_pins(bool hold);

/* For tests: while hold is set, queues start no command. */
void tsr_engine_host_hold_queues(bool hold);

#endif
