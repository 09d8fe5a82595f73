/*
 * Composition, for the doors that say what shall be on devices and what not. Between begin and end
 * nobody else composes.
 */
#ifndef TSR_FRONT_COMPOSE_H
#define TSR_FRONT_COMPOSE_H

#include "front/context.h"

void tsr_compose_begin(tsr_context *context);
void tsr_compose_end(tsr_context *context);

/* What is on devices of the region does not count any more; what crosses it is brought home around
 * it. */
tsr_status tsr_compose_invalidate(tsr_context *context, const tsr_region *region);

typedef TSR_VEC(tsr_ticket *) tsr_tickets;

/* Brings home what is newer on devices of a region, or of a triangle of it. The submissions are
 * added to own, for the caller to collect, also where it fails; own NULL: they are for tsr_sync. */
tsr_status tsr_compose_bring_home(tsr_context *context, const tsr_region *region, tsr_uplo uplo,
                                  tsr_tickets *own);

/* The submission after which nothing that was submitted writes to the region's host memory any
 * more: *number. False: nothing does. */
bool tsr_compose_coming(tsr_context *context, const tsr_region *region, uint64_t *number);

/* Copies the region's blocks to where they are mapped, later. */
tsr_status tsr_compose_distribute(tsr_context *context, const tsr_region *region,
                                  const tsr_mapping *mapping);

/* ---- residency.c ---- */

/* The mapping that holds all of a region, in its coordinates. False: there is none. */
bool tsr_mapping_of(const tsr_context *context, const tsr_region *region, tsr_mapping *mapping);

#endif
