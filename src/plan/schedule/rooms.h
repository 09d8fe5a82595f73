/*
 * Rooms: memory at devices that stays between calls. With residency, the tiles of operands that are
 * at home in host memory lie in rooms and not in the plan's arena. The rooms that there are when
 * the plan begins hold what earlier calls left in them.
 *
 * Invariant: a room's number is its place in plan->after. The rooms that there are at the start
 * come first, with the same numbers as in plan->before and in the residency of the options, which
 * do not change. buffer and index have an entry for each room.
 */
#ifndef TSR_PLAN_SCHEDULE_ROOMS_H
#define TSR_PLAN_SCHEDULE_ROOMS_H

#include "plan/schedule/copies.h"
#include "plan/schedule/room_index.h"

typedef struct tsr_rooms {
  const tsr_problem *problem; /* borrowed, and so are the next two */
  tsr_commands *commands;
  tsr_residency *after;    /* the plan's; NULL: no residency */
  TSR_VEC(int32_t) buffer; /* of each room, or TSR_NOTHING */
  tsr_room_index index;
} tsr_rooms;

/* Gives the plan its residencies. TSR_ERR_MEMORY. */
tsr_status tsr_rooms_init(tsr_rooms *r, const tsr_problem *problem, tsr_commands *commands);
void tsr_rooms_free(tsr_rooms *r);

/* Gives a tile a place in a room at its device: a room that the tile lies in, or a new one. False:
 * no host memory. */
bool tsr_rooms_place(tsr_rooms *r, tsr_tile_copy *copy, tsr_buffer tile);

/* Whether a rectangle of a matrix has a place in one of the rooms that there are at the start. */
bool tsr_rooms_have(const tsr_rooms *r, int matrix, tsr_rect rect, int device);

/* Finds the rooms that meet a rectangle of a matrix. r->index.found has their numbers until the
 * next question. False: no host memory. */
bool tsr_rooms_ask(tsr_rooms *r, int matrix, tsr_rect rect);

/* A room that there is at the start, as it is then; NULL: the room is a new one. */
static inline const tsr_room *tsr_rooms_old(const tsr_rooms *r, int32_t room) {
  const tsr_residency *before = r->problem->options->residency;
  return (size_t)room < before->rooms.count ? &before->rooms.items[room] : NULL;
}

/* Whether a room that there is at the start holds a part of the rectangle. */
bool tsr_rooms_hold_part(tsr_rooms *r, int matrix, tsr_rect rect);

/* Whether the home of a rectangle is as new as every room, for a matrix that has rooms. */
bool tsr_rooms_home_is_current(tsr_rooms *r, int matrix, tsr_rect rect);

/* The room of a tile copy that is in one. */
const tsr_room *tsr_rooms_of(const tsr_rooms *r, const tsr_tile_copy *copy);

/* The buffer of a room; TSR_NOTHING: no host memory. */
int32_t tsr_rooms_buffer(tsr_rooms *r, size_t room);

/* Writes into plan->after what the rooms hold when the plan has ended: the pieces and the writers
 * of the tiles in them. False: no host memory. */
bool tsr_rooms_finish(tsr_rooms *r, const tsr_copies *copies, const tsr_marks *marks);

#endif
