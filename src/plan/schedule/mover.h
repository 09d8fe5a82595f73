/*
 * The mover: the commands that bring one rectangle from one place to another, straight or through
 * the staging ring, each on the queue that serves its way.
 *
 * The mover keeps no record of its own. A move waits until both of its ends may be used, and is
 * noted as a user of the tiles that lie there.
 */
#ifndef TSR_PLAN_SCHEDULE_MOVER_H
#define TSR_PLAN_SCHEDULE_MOVER_H

#include "plan/schedule/ring.h"
#include "plan/schedule/tile_slots.h"

typedef struct tsr_mover {
  const tsr_problem *problem; /* borrowed, and so are the others */
  const tsr_availability *availability;
  const tsr_marks *marks;
  const tsr_copies *copies;
  tsr_commands *commands;
  tsr_tile_slots *slots;
  tsr_ring *ring;
} tsr_mover;

/* One end of a move. */
typedef struct tsr_end {
  int location;
  int32_t buffer;
  tsr_tile_copy *copy; /* NULL: not the place of a tile */
  int32_t after;       /* command that must be over before the end may be used, or TSR_NOTHING */
} tsr_end;

/* The home of a matrix. */
tsr_end tsr_end_home(const tsr_problem *problem, int matrix);

/* The place of a tile at a device. */
tsr_end tsr_end_at(const tsr_copies *copies, int matrix, int32_t tile, int device, int32_t after);

/* Moves a transfer, or only its triangle if it has one, which must go home. Returns the command
 * that completes the move; TSR_NOTHING: no host memory. */
int32_t tsr_move(const tsr_mover *m, const tsr_transfer *c, const tsr_end *from, const tsr_end *to);

/* Whether a device can copy the transfer straight from, or to, the user's host memory. */
bool tsr_move_is_straight(const tsr_problem *problem, const tsr_transfer *c);

/* With slots, a tile of C may be brought home, lose its slot, and be needed again. Makes the next
 * command, which fetches it, wait until it is at home. */
void tsr_move_wait_for_home(const tsr_mover *m, const tsr_transfer *c);

#endif
