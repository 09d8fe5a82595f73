/*
 * Cached blocks: memory at devices that stays between calls. With residency, the tiles of operands
 * that are at home in host memory lie in cached blocks and not in the plan's arena. The cached
 * blocks that there are when the plan begins hold what earlier calls left in them.
 *
 * Invariant: a cached block's number is its place in plan->after. The cached blocks that there are
 * at the start come first, with the same numbers as in plan->before and in the residency of the
 * options, which do not change. buffer and index have an entry for each room.
 */
#ifndef TSR_PLAN_SCHEDULE_CACHED_BLOCKS_H
#define TSR_PLAN_SCHEDULE_CACHED_BLOCKS_H

#include "plan/schedule/copies.h"
#include "plan/schedule/cached_index.h"

typedef struct tsr_cached_blocks {
  const tsr_problem *problem; /* borrowed, and so are the next two */
  tsr_commands *commands;
  tsr_residency *after;    /* the plan's; NULL: no residency */
  TSR_VEC(int32_t) buffer; /* of each room, or TSR_NOTHING */
  tsr_cached_index index;
} tsr_cached_blocks;

/* Gives the plan its residencies. TSR_ERR_MEMORY. */
tsr_status tsr_cached_blocks_init(tsr_cached_blocks *r, const tsr_problem *problem,
                                  tsr_commands *commands);
void tsr_cached_blocks_free(tsr_cached_blocks *r);

/* Gives a tile a place in a cached block at its device: a cached block that the tile lies in, or a
 * new one. False: no host memory. */
bool tsr_cached_blocks_place(tsr_cached_blocks *r, tsr_tile_copy *copy, tsr_buffer tile);

/* Whether a rectangle of a matrix has a place in one of the cached blocks that there are at the
 * start. */
bool tsr_cached_blocks_have(const tsr_cached_blocks *r, int matrix, tsr_rect rect, int device);

/* Finds the cached blocks that meet a rectangle of a matrix. r->index.found has their numbers until
 * the next question. False: no host memory. */
bool tsr_cached_blocks_ask(tsr_cached_blocks *r, int matrix, tsr_rect rect);

/* A cached block that there is at the start, as it is then; NULL: the cached block is a new one. */
static inline const tsr_cached_block *tsr_cached_blocks_old(const tsr_cached_blocks *r,
                                                            int32_t block) {
  const tsr_residency *before = r->problem->options->residency;
  return (size_t)block < before->blocks.count ? &before->blocks.items[block] : NULL;
}

/* Whether a cached block that there is at the start holds a part of the rectangle. */
bool tsr_cached_blocks_have_part(tsr_cached_blocks *r, int matrix, tsr_rect rect);

/* Whether the home of a rectangle is as new as every room, for a matrix that has cached blocks. */
bool tsr_cached_blocks_home_is_current(tsr_cached_blocks *r, int matrix, tsr_rect rect);

/* The room of a tile copy that is in one. */
const tsr_cached_block *tsr_cached_blocks_of(const tsr_cached_blocks *r, const tsr_tile_copy *copy);

/* The buffer of a cached block; TSR_NOTHING: no host memory. */
int32_t tsr_cached_blocks_buffer(tsr_cached_blocks *r, size_t block);

/* Writes into plan->after what the cached blocks hold when the plan has ended: the pieces and the
 * writers of the tiles in them. False: no host memory. */
bool tsr_cached_blocks_finish(tsr_cached_blocks *r, const tsr_copies *copies,
                              const tsr_marks *marks);

#endif
