/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Places: the memory of a device that a tile lies in. The place is a cached block if the matrix has
 * cached blocks; else memory of the tile's own if all tiles fit into the budgets; else a slot.
 *
 * Invariant: a tile copy with a buffer has a place, and each arena contains all places in it. fit
 * becomes TSR_FITS_NOT when a tile finds no place; then the plan is void.
 */
#ifndef TSR_PLAN_SCHEDULE_PLACES_H
#define TSR_PLAN_SCHEDULE_PLACES_H

#include "plan/schedule/cached_blocks.h"
#include "plan/schedule/tile_slots.h"

typedef struct tsr_places {
  const tsr_problem *problem; /* borrowed, and so are the next four */
  tsr_commands *commands;
  tsr_copies *copies;
  tsr_tile_slots *slots;
  tsr_cached_blocks *blocks;
  tsr_fit fit;
  size_t spare[TSR_MACHINE_DEVICES]; /* bytes of the budget that tiles do not need, if they fit */
} tsr_places;

/* Counts the uses of all tile copies, and sets p->fit by the memory that the used tiles need. */
void tsr_places_init(tsr_places *p, const tsr_problem *problem, tsr_commands *commands,
                     tsr_copies *copies, tsr_tile_slots *slots, tsr_cached_blocks *blocks);

/* Gives a tile a place at a device, unless it has one. False: no place (p->fit becomes
 * TSR_FITS_NOT), or no host memory. */
bool tsr_places_make(tsr_places *p, int matrix, int32_t tile, int device);

/* As tsr_places_make, and adds a record for each of the tile's `count` pieces. Pieces that are
 * valid in the tile's cached block from the start are marked TSR_PRESENT. */
bool tsr_places_open(tsr_places *p, int matrix, int32_t tile, int device, int count);

#endif
