/*
 * The pinner pins memory of the user's by a thread of its own, one registration after the other in
 * the order in which they were made. A context has one pinner; its thread starts with the first
 * registration.
 *
 * Registrations have numbers from 1 on. Since they are carried out in order, whoever has waited for
 * one has waited for all before it: a job needs the number of the last one that it touches and no
 * more. Any thread may call any of these functions.
 */
#ifndef TSR_RUN_PINNER_H
#define TSR_RUN_PINNER_H

#include "engine/engine.h"

typedef struct tsr_pinner tsr_pinner;

/* engine may be NULL: registrations are then only noted. Its state must outlive the pinner. */
tsr_status tsr_pinner_create(const tsr_engine *engine, tsr_engine_state *state,
                             tsr_pinner **pinner);

/* Waits for the registration under way, drops those behind it and unpins what is left. Nobody may
 * be waiting. NULL is accepted. */
void tsr_pinner_destroy(tsr_pinner *pinner);

/* Registers host memory and returns. TSR_ERR_ARGUMENT, at once, for memory that is registered,
 * pinned or a device's already; what comes of the registration is told by tsr_pinner_settle. */
tsr_status tsr_pinner_add(tsr_pinner *pinner, void *pointer, size_t bytes);

/* Waits for the registration that begins at pointer and undoes it; also one that failed. Nothing in
 * flight may be using the memory. */
tsr_status tsr_pinner_remove(tsr_pinner *pinner, void *pointer);

/* Waits for all registrations; the first error of tsr_pinner_add's since the last time. */
tsr_status tsr_pinner_settle(tsr_pinner *pinner);

/* Where memory is, or will be when the registrations under way are done: those count as pinned. */
tsr_status tsr_pinner_where(tsr_pinner *pinner, const void *pointer, tsr_place *place);

/* The last registration that is not carried out yet and shares a byte with these; 0: none. */
uint64_t tsr_pinner_touching(tsr_pinner *pinner, const void *begin, size_t bytes);

/* Whether the registration is carried out, well or not. 0: always. */
bool tsr_pinner_is_done(tsr_pinner *pinner, uint64_t number);

/* Waits until the registration is carried out, well or not. 0: for nothing. */
void tsr_pinner_await(tsr_pinner *pinner, uint64_t number);

#endif
