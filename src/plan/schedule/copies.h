/*
 * Copies: which tiles have, or will have, their bytes at which device, when each piece of a tile
 * arrives, and which commands use it. There is a tsr_tile_copy for every tile and device from the
 * start.
 *
 * Invariant: a tile copy without a buffer has no pieces, since the tile is at home at that device
 * or not there. The records of a copy's pieces lie side by side in a pool that only grows: a tile
 * that comes to a device once more gets new records.
 */
#ifndef TSR_PLAN_SCHEDULE_COPIES_H
#define TSR_PLAN_SCHEDULE_COPIES_H

#include "plan/schedule/marks.h"
#include "plan/schedule/pieces.h"

/* Instead of the command that brings a piece: the piece is there from the start (PRESENT), or
 * several commands bring it, which are among the writers of its tile (GATHERED). */
enum { TSR_PRESENT = -2, TSR_GATHERED = -3 };

/* What is known of a piece at a device. */
typedef struct tsr_piece {
  int32_t command; /* that brings it, one of the above, or TSR_NOTHING: it was not asked for */
  float eta;       /* estimated time of arrival, s */
} tsr_piece;

/* A tile's bytes at one device. */
typedef struct tsr_tile_copy {
  int32_t buffer;  /* TSR_NOTHING: not there */
  int32_t pieces;  /* first of its tsr_piece in the pool; TSR_NOTHING: none was asked for */
  int32_t writers; /* kernels that wrote to it: marks */
  int32_t users;   /* slots: the last command of each queue that used it: marks */
  int32_t before;  /* slots: users of what was in the slot before: marks */
  int32_t slot;    /* slots: where it is */
  int32_t next;    /* slots: index of its next use in the list of uses */
  bool whole;      /* all of its pieces were asked for, */
  bool awaited;    /* the device's only queue that uses it has waited for all of them, and for what
                      was in the slot before */
} tsr_tile_copy;

typedef struct tsr_copies {
  const tsr_problem *problem;     /* borrowed */
  tsr_tile_copy *items;           /* [first[matrix] + tile * devices + device] */
  size_t first[TSR_MATRICES + 1]; /* the last one: how many there are */
  size_t devices;
  TSR_VEC(tsr_piece) pieces;     /* of all copies */
  uint32_t *readers[TSR_B_ + 1]; /* devices that will read each tile of A and of B, as bits */
  int32_t *brought;              /* slots: commands that brought each tile of C home: marks */
} tsr_copies;

/* Nothing is at any device. TSR_ERR_MEMORY. */
tsr_status tsr_copies_init(tsr_copies *c, const tsr_problem *problem);
void tsr_copies_free(tsr_copies *c);

static inline tsr_tile_copy *tsr_copy_of(const tsr_copies *c, int matrix, int32_t tile,
                                         int device) {
  return &c->items[c->first[matrix] + (size_t)tile * c->devices + (size_t)device];
}

/* The record of a piece at a device; NULL if nothing was asked for there. */
static inline tsr_piece *tsr_piece_at(const tsr_copies *c, int matrix, int32_t tile, int device,
                                      int index) {
  const tsr_tile_copy *copy = tsr_copy_of(c, matrix, tile, device);
  return copy->pieces == TSR_NOTHING ? NULL : &c->pieces.items[copy->pieces + index];
}

/* Gives a copy a record for each of its pieces, which were not asked for yet. False: no memory. */
bool tsr_copies_add_pieces(tsr_copies *c, tsr_tile_copy *copy, int count);

/* Makes the next command wait for the pieces of the rectangle that were fetched to the device.
 * Returns whether these are all pieces of the tile. */
bool tsr_copies_wait(const tsr_copies *c, const tsr_task_operand *o, int device,
                     tsr_commands *commands);

#endif
