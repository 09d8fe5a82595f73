/*
 * Routes: where each piece of a tile comes from, over which links, in which order.
 *
 * The estimate is the link availability matrix of Uncut-GEMMs (section III-D), with two changes:
 * links are accounted with the channels that they share, and once a device has a piece the others
 * take it from devices, not from its home again, wherever that link is no slower. So on a machine
 * whose devices reach each other no byte of A or B crosses the host's link twice, and the pieces
 * are dealt over all devices' host links by themselves, since the first receiver is the one whose
 * link is free first. Receivers that take a piece from each other are a pipelined broadcast
 * (III-E).
 *
 * Invariant: a copy that a route adds is booked in availability and noted where its users look for
 * it: a piece in its record, a rectangle that comes alone among the writers of its tile.
 *
 * All functions return false if there is no host memory, or no room (places->fit).
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
  double sent[TSR_MACHINE_LOCATIONS]; /* bytes that left each location for pieces */
} tsr_routes;

/* ---- route_fetch.c: pieces of tiles ---- */

/* Sees to it that the rectangle of a tile is, or will be, at the device; for tiles of A and B also
 * at the other devices that read them. */
bool tsr_route_fetch(tsr_routes *r, const tsr_task_operand *operand, int device);

/* ---- route_alone.c: rectangles, and nothing beside them ---- */

/* Brings a rectangle of C to its place at the device, as if it was written there: beside it others
 * may be writing. */
bool tsr_route_fetch_alone(tsr_routes *r, const tsr_task_operand *operand, int device);

/* Brings a rectangle of W from a device, where kernels wrote it, to another one. */
bool tsr_route_collect(tsr_routes *r, const tsr_task_operand *operand, int from, int to);

/* Brings a rectangle of C, or a triangle on its diagonal, from the device to its home after the
 * command `after`. */
bool tsr_route_bring_home(tsr_routes *r, const tsr_task_operand *operand, tsr_uplo uplo, int device,
                          int32_t after);

/* ---- route_rooms.c: with residency ---- */

/* Opens the tiles that lie in the cached blocks there are, so that others find what is in them. */
bool tsr_route_open_rooms(tsr_routes *r);

/* Brings a rectangle of an operand that has cached blocks to its tile at the device, from wherever
 * parts of it are. */
bool tsr_route_gather(tsr_routes *r, const tsr_task_operand *operand, int device);

/* Brings a piece to its tile in parts, from the cached blocks that hold them and from home. */
bool tsr_route_gather_piece(tsr_routes *r, const tsr_transfer *c, int index, int device);

/* Brings home what is newer in cached blocks of a rectangle of C that is about to change, of which
 * the device (TSR_NOTHING: none) will bring home but a triangle. */
bool tsr_route_settle(tsr_routes *r, const tsr_task_operand *operand, int device);

#endif
