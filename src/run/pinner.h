/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The pinner pins the user's memory on a thread of its own, one registration after another in the
 * order in which they were made. A context has one pinner; its thread starts with the first
 * registration.
 *
 * Registrations are numbered from 1. They are carried out in order, so a job that needs several
 * waits for the one with the highest number. Any thread may call any of these functions.
 */
#ifndef TSR_RUN_PINNER_H
#define TSR_RUN_PINNER_H

#include "engine/engine.h"
#include "run/near.h"

typedef struct tsr_pinner tsr_pinner;

/* If engine is NULL, registrations are noted but nothing is pinned. The engine's state and near,
 * which may be NULL, must outlive the pinner. */
tsr_status tsr_pinner_create(const tsr_engine *engine, tsr_engine_state *state,
                             const tsr_near *near, tsr_pinner **pinner);

/* Waits for the registration under way, drops the later ones and unpins all memory that is pinned.
 * No thread may be waiting for a registration. NULL is accepted. */
void tsr_pinner_destroy(tsr_pinner *pinner);

/* Registers host memory and returns before it is pinned. TSR_ERR_ARGUMENT if the memory is already
 * registered or pinned, or belongs to a device. tsr_pinner_settle returns later errors. */
tsr_status tsr_pinner_add(tsr_pinner *pinner, void *pointer, size_t bytes);

/* Waits for the registration that begins at pointer and undoes it, also if it failed. No job in
 * flight may use the memory. */
tsr_status tsr_pinner_remove(tsr_pinner *pinner, void *pointer);

/* Waits for all registrations. Returns the first error of one since the previous call. */
tsr_status tsr_pinner_settle(tsr_pinner *pinner);

/* The place of memory as it will be when all registrations are carried out: registered memory
 * counts as pinned. */
tsr_status tsr_pinner_where(tsr_pinner *pinner, const void *pointer, tsr_place *place);

/* The node on which host memory lies, as tsr_near_where() says; 0 where memory is not placed. */
int tsr_pinner_node(const tsr_pinner *pinner, const void *memory, size_t bytes);

/* The number of the last registration that is not carried out yet and overlaps the bytes; 0: none.
 */
uint64_t tsr_pinner_touching(tsr_pinner *pinner, const void *begin, size_t bytes);

/* Whether the registration is carried out, successfully or not. True for 0. */
bool tsr_pinner_is_done(tsr_pinner *pinner, uint64_t number);

/* Waits until the registration is carried out, successfully or not. Returns at once for 0. */
void tsr_pinner_await(tsr_pinner *pinner, uint64_t number);

#endif
