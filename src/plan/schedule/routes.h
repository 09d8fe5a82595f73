/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Routes: the source of each piece of a tile, its links, and the order of the copies.
 *
 * A policy (policy.h) chooses among sources and receivers; the search's policy is as follows. The
 * estimate of arrivals is the link availability matrix of Uncut-GEMMs (section III-D), with two
 * changes. Links are accounted with the channels that they share. Once a device has a piece, other
 * devices take the piece from devices, not from its home again, wherever their link is no slower
 * than the home's. So, if all devices reach each other, no byte of A or B crosses the host's link
 * twice. The first receiver of a piece is the device whose link is free first, so the pieces spread
 * over all devices' host links. Receivers that take a piece from each other form a pipelined
 * broadcast (III-E).
 *
 * Invariant: a copy that a route adds is booked in availability, and recorded where the users of
 * its data look: a piece in its record, a single rectangle among the writers of its tile.
 *
 * All functions return false if host memory is lacking, or a tile has no place (places->fit).
 */
#ifndef TSR_PLAN_SCHEDULE_ROUTES_H
#define TSR_PLAN_SCHEDULE_ROUTES_H

#include "plan/schedule/mover.h"
#include "plan/schedule/places.h"

typedef struct tsr_routes {
  const tsr_problem *problem; /* borrowed, and so are the others */
  tsr_availability *availability;
  tsr_commands *commands;
  tsr_marks *marks;
  tsr_copies *copies;
  tsr_tile_slots *slots;
  tsr_cached_blocks *blocks;
  tsr_places *places;
  const tsr_mover *mover;
  double sent[TSR_MACHINE_LOCATIONS]; /* bytes of pieces that each location has sent */
  int32_t sent_home; /* marks of the rectangles that went home from cached blocks */
} tsr_routes;

/* ---- route_fetch.c: pieces of tiles ---- */

/* The home as source of a piece; `when` is INFINITY if what is there is not current. */
tsr_source tsr_source_home(const tsr_routes *r, const tsr_transfer *c, int to);

/* The source from which the piece arrives first; among equal arrivals, the one that has sent the
 * fewest bytes. The home is a source only if no holder is preferred to it. */
tsr_source_choice tsr_source_by_arrival;

/* Fetches the pieces of a tile that overlap the rectangle to the device, unless they are there or
 * on their way. Pieces of A and B go to the other devices that read the tile, too. */
bool tsr_route_fetch(tsr_routes *r, const tsr_task_operand *operand, int device);

/* ---- route_alone.c: single rectangles ---- */

/* Copies a rectangle of C, and nothing beside it, from its home to its place at the device, and
 * marks it there as written. (Kernels may be writing beside the rectangle.) */
bool tsr_route_fetch_alone(tsr_routes *r, const tsr_task_operand *operand, int device);

/* Copies a rectangle of W from the device whose kernels wrote it to another device. */
bool tsr_route_collect(tsr_routes *r, const tsr_task_operand *operand, int from, int to);

/* Writes a rectangle of C, or a triangle on its diagonal, back to its home from the device, after
 * the command `after`. */
bool tsr_route_write_back(tsr_routes *r, const tsr_task_operand *operand, tsr_uplo uplo, int device,
                          int32_t after);

/* Writes back the part of a piece that is in the triangle. */
bool tsr_route_write_back_piece(tsr_routes *r, tsr_transfer *c, tsr_uplo uplo, const tsr_end *begin,
                                const tsr_end *stop);

/* ---- route_cached.c: with residency ---- */

/* Gives the tiles in the old cached blocks their places and pieces, so that routes find their
 * contents. */
bool tsr_route_open_cached_blocks(tsr_routes *r);

/* Copies a rectangle of an operand that has cached blocks to its tile at the device, from the
 * cached blocks where parts of it are valid and from home. */
bool tsr_route_gather(tsr_routes *r, const tsr_task_operand *operand, int device);

/* Copies a piece to its tile at the device in parts, as tsr_route_gather; index: the piece's. */
bool tsr_route_gather_piece(tsr_routes *r, const tsr_transfer *c, int index, int device);

/* Writes back the parts of a rectangle of C, or of the triangle uplo of a square on its diagonal,
 * that are newer in cached blocks. */
bool tsr_route_write_back_newer(tsr_routes *r, const tsr_task_operand *operand, tsr_uplo uplo);

/* Does so for the parts beside C's triangle, since the rectangle is about to be cleared at the
 * device, where the tile's next writer waits. */
bool tsr_route_save_beside(tsr_routes *r, const tsr_task_operand *operand, int device);

#endif
