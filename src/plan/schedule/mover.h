/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The mover: the commands that copy a rectangle from one place to another, straight or through a
 * staging ring, each on the queue for its way.
 *
 * The mover has no data of its own. A move waits until both of its ends may be used. The tiles at
 * its ends note the move as a user.
 */
#ifndef TSR_PLAN_SCHEDULE_MOVER_H
#define TSR_PLAN_SCHEDULE_MOVER_H

#include "plan/schedule/forwarders.h"
#include "plan/schedule/tile_slots.h"

typedef struct tsr_mover {
  const tsr_problem *problem; /* borrowed, and so are the others */
  const tsr_availability *availability;
  const tsr_marks *marks;
  const tsr_copies *copies;
  tsr_commands *commands;
  tsr_tile_slots *slots;
  tsr_rings *rings;
  tsr_forwarders *forwarders;
} tsr_mover;

/* The source or the target of a move. */
typedef struct tsr_end {
  int location;
  int32_t buffer;
  tsr_tile_copy *copy; /* the tile at this end; NULL: the end is no tile's place */
  int32_t after;       /* command that must end before the move may use this end, or TSR_NOTHING */
} tsr_end;

/* The home of a matrix as an end. */
tsr_end tsr_end_home(const tsr_problem *problem, int matrix);

/* The place of a tile at a device as an end. */
tsr_end tsr_end_at(const tsr_copies *copies, int matrix, int32_t tile, int device, int32_t after);

/* Adds the commands that copy a transfer. If the transfer has a triangle, only that is copied, and
 * the target must be the home. Returns the last command; TSR_NOTHING: no host memory. */
int32_t tsr_move(const tsr_mover *m, const tsr_transfer *c, const tsr_end *from, const tsr_end *to);

/* As tsr_move, by a forwarder: between the home in pinned host memory and a device. */
int32_t tsr_move_by(const tsr_mover *m, const tsr_transfer *c, const tsr_end *from, int forwarder,
                    const tsr_end *to);

/* Whether a device can copy the transfer straight between itself and the user's host memory. */
bool tsr_move_is_straight(const tsr_problem *problem, const tsr_transfer *c);

/* Makes the next command, which fetches a tile of C, wait until the tile has been written back.
 * With slots, a tile of C may be written back, lose its slot and be needed again. */
void tsr_move_wait_for_write_back(const tsr_mover *m, const tsr_transfer *c);

#endif
