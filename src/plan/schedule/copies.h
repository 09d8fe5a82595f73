/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copies: for each tile and device, whether the tile's bytes are or will be there, when each piece
 * arrives, and which commands use the tile there. A tsr_tile_copy exists for every tile and device
 * from the start.
 *
 * Invariant: a tile copy without a buffer has no pieces: its tile is at home at that device, or not
 * there. The records of a copy's pieces lie side by side in a pool that only grows. A tile that
 * comes to a device again gets new records.
 */
#ifndef TSR_PLAN_SCHEDULE_COPIES_H
#define TSR_PLAN_SCHEDULE_COPIES_H

#include "plan/schedule/marks.h"
#include "plan/schedule/pieces.h"

/* Values in place of the command that copies a piece. PRESENT: the piece is there from the start.
 * GATHERED: several commands copy parts of the piece; they are among the writers of its tile. */
enum { TSR_PRESENT = -2, TSR_GATHERED = -3 };

/* A piece of a tile at a device. */
typedef struct tsr_piece {
  int32_t command; /* the command that copies the piece; TSR_PRESENT; TSR_GATHERED; or TSR_NOTHING:
                      not fetched */
  float eta;       /* estimated time of arrival, s */
} tsr_piece;

/* A tile's bytes at one device. */
typedef struct tsr_tile_copy {
  int32_t buffer;  /* TSR_NOTHING: the tile is not there */
  int32_t pieces;  /* index in the pool of the first piece; TSR_NOTHING: no piece was fetched */
  int32_t writers; /* a list in tsr_marks: the kernels that wrote to the tile */
  int32_t users;  /* where slots are used: a list in tsr_marks, for each queue the last command that
                     used the  tile; whoever takes the slot next waits for them */
  int32_t before; /* where slots are used: the list of users of the slot's previous tile */
  int32_t slot;   /* with slots: the number of the tile's slot */
  int32_t next;   /* with slots: index of the copy's next use in tsr_tile_slots.uses; before: number
                     of uses */
  int32_t lines;  /* of another form: how many lines (columns) of the tile, from its first on, were
                     made */
  bool whole;     /* all pieces were fetched or are present */
  bool awaited; /* the only queue that uses the tile has waited for all pieces and for the users of
                   the slot's previous tile */
} tsr_tile_copy;

typedef struct tsr_copies {
  const tsr_problem *problem;     /* borrowed */
  tsr_tile_copy *items;           /* [first[matrix] + tile * devices + device] */
  size_t first[TSR_MATRICES + 1]; /* first item of each matrix; [TSR_MATRICES]: number of items */
  size_t devices;
  TSR_VEC(tsr_piece) pieces;     /* the pool: pieces of all copies */
  uint32_t *readers[TSR_B_ + 1]; /* bit d of [matrix][tile]: device d will read the tile */
  int16_t *writer; /* in a factorisation with cached blocks: the device that writes each tile of C;
                      else NULL */
  int32_t *written_back; /* marks: commands that wrote each tile of C at its home, where it is
                            fetched again: with slots, and in a factorisation */
} tsr_copies;

/* At the start no tile is at any device. TSR_ERR_MEMORY. */
tsr_status tsr_copies_init(tsr_copies *c, const tsr_problem *problem);
void tsr_copies_free(tsr_copies *c);

static inline tsr_tile_copy *tsr_copy_of(const tsr_copies *c, int matrix, int32_t tile,
                                         int device) {
  return &c->items[c->first[matrix] + (size_t)tile * c->devices + (size_t)device];
}

/* The record of a piece at a device; NULL: no piece of the tile was fetched there. */
static inline tsr_piece *tsr_piece_at(const tsr_copies *c, int matrix, int32_t tile, int device,
                                      int index) {
  const tsr_tile_copy *copy = tsr_copy_of(c, matrix, tile, device);
  return copy->pieces == TSR_NOTHING ? NULL : &c->pieces.items[copy->pieces + index];
}

/* Whether a tile lies in a cached block at a device. A tile of C that the device only reads, since
 * another one has finished it in this plan, does not. */
static inline bool tsr_is_cached(const tsr_copies *c, int matrix, int32_t tile, int device) {
  if (!tsr_has_cached_blocks(c->problem, matrix)) return false;
  return matrix != TSR_C_ || c->writer == NULL || c->writer[tile] == device;
}

/* Gives a copy a record for each of its pieces, as not fetched. False: no host memory. */
bool tsr_copies_add_pieces(tsr_copies *c, tsr_tile_copy *copy, int count);

/* Says that the tile's bytes at a device are from now on those that the command has written: other
 * devices may fetch its pieces from there. */
void tsr_copies_finish(tsr_copies *c, int matrix, int32_t tile, int device, int32_t command);

/* Makes the next command wait for the pieces of the rectangle that were fetched to the device.
 * Returns whether these are all pieces of the tile. */
bool tsr_copies_wait(const tsr_copies *c, const tsr_task_operand *o, int device,
                     tsr_commands *commands);

#endif
