/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Cached blocks: memory at devices that stays between calls. With residency, the tiles of operands
 * at home in host memory lie in cached blocks, not in the plan's arena. Old blocks are those that
 * exist when the plan begins; they have the contents that earlier calls left.
 *
 * Invariant: a block's number is its place in plan->after. Old blocks come first, with the same
 * numbers as in plan->before and in the residency of the options, which do not change. buffer and
 * index have an entry for each block.
 */
#ifndef TSR_PLAN_SCHEDULE_CACHED_BLOCKS_H
#define TSR_PLAN_SCHEDULE_CACHED_BLOCKS_H

#include "plan/schedule/cached_index.h"
#include "plan/schedule/copies.h"

/* A rectangle that was copied to a block, perhaps for a triangle in it. */
typedef struct tsr_arrived_rect {
  size_t block;
  tsr_rect rect;
  bool valid; /* beside the triangle, too */
} tsr_arrived_rect;

/* A part of a tile that this plan has brought to a device, from home or from another device to
 * which it had brought the part. */
typedef struct tsr_fetched_shape {
  int matrix;
  int32_t tile;
  int device;
  tsr_shape shape;
} tsr_fetched_shape;

typedef struct tsr_cached_blocks {
  const tsr_problem *problem; /* borrowed, and so are the next two */
  tsr_commands *commands;
  tsr_residency *after;    /* the plan's; NULL: no residency */
  TSR_VEC(int32_t) buffer; /* buffer of each block, or TSR_NOTHING */
  TSR_VEC(tsr_arrived_rect) arrived;
  TSR_VEC(tsr_fetched_shape) fetched;
  bool triangles[TSR_OPERANDS]; /* a triangle alone of the operand is to be had */
  tsr_cached_index index;
} tsr_cached_blocks;

/* Makes plan->before and plan->after copies of the residency of the options. TSR_ERR_MEMORY. */
tsr_status tsr_cached_blocks_init(tsr_cached_blocks *r, const tsr_problem *problem,
                                  tsr_commands *commands);
void tsr_cached_blocks_free(tsr_cached_blocks *r);

/* Gives a tile a place in a cached block at its device: in a block that contains the tile, or in a
 * new one. False: no host memory. */
bool tsr_cached_blocks_place(tsr_cached_blocks *r, tsr_tile_copy *copy, tsr_buffer tile);

/* Whether an old block at the device contains the rectangle. */
bool tsr_cached_blocks_have(const tsr_cached_blocks *r, int matrix, tsr_rect rect, int device);

/* Finds the blocks that overlap a rectangle of a matrix. r->index.found has their numbers until the
 * next question. False: no host memory. */
bool tsr_cached_blocks_ask(tsr_cached_blocks *r, int matrix, tsr_rect rect);

/* An old block, as it is at the start; NULL: the block is new. */
static inline const tsr_cached_block *tsr_cached_blocks_old(const tsr_cached_blocks *r,
                                                            int32_t block) {
  const tsr_residency *before = r->problem->options->residency;
  return (size_t)block < before->blocks.count ? &before->blocks.items[block] : NULL;
}

/* Whether at least one element of the rectangle is valid in a block that earlier calls left. */
bool tsr_cached_blocks_have_part(tsr_cached_blocks *r, int matrix, tsr_rect rect);

/* Makes *needed, a set, the part of a rectangle of the operand that has to be at a device that uses
 * the rectangle: of C what the call changes; of A what the call reads; else all. False: no host
 * memory. */
bool tsr_cached_blocks_needed(const tsr_cached_blocks *r, int matrix, tsr_rect rect,
                              tsr_rects *needed);

/* Whether a block has what is needed of a rectangle, and memory that somebody has written for all
 * of it, so that the rectangle can be copied whole. *has. False: no host memory. */
bool tsr_cached_blocks_ready(const tsr_cached_blocks *r, const tsr_cached_block *block,
                             tsr_rect rect, bool *has);

/* Notes that a rectangle was copied to a tile's block, perhaps for a triangle in it; valid: what is
 * beside the triangle has the current values, too. False: no host memory. */
bool tsr_cached_blocks_note_arrival(tsr_cached_blocks *r, const tsr_tile_copy *copy, tsr_rect rect,
                                    bool valid);

/* Notes that a part of a tile has come to a device in this plan. False: no host memory. */
bool tsr_cached_blocks_note_fetched(tsr_cached_blocks *r, int matrix, int32_t tile, int device,
                                    tsr_shape shape);

/* Whether the home of a rectangle has the current values, for a matrix that has cached blocks. */
bool tsr_cached_blocks_home_is_current(tsr_cached_blocks *r, int matrix, tsr_rect rect);

/* The cached block that a tile copy lies in. */
const tsr_cached_block *tsr_cached_blocks_of(const tsr_cached_blocks *r, const tsr_tile_copy *copy);

/* The buffer of a block, added to the plan at its first use; TSR_NOTHING: no host memory. */
int32_t tsr_cached_blocks_buffer(tsr_cached_blocks *r, size_t block);

/* Writes into plan->after which rectangles are valid, and newer than the home, when the plan has
 * ended: the pieces that came and the rectangles that kernels wrote. False: no host memory. */
bool tsr_cached_blocks_finish(tsr_cached_blocks *r, const tsr_copies *copies,
                              const tsr_marks *marks);

#endif
