/*
 * Residency: what of a call's operands is on devices when its plan begins, and when it has ended.
 *
 * A cached block is memory at a device for a rectangle of an operand's storage, or of more than
 * that: its coordinates are those of the operand as stored, and may lie outside of it. What is
 * valid in a room is as all calls so far have made it; what of that is newer than the home must be
 * brought there, or lost, before the home counts again. Operands at home on a device have no cached
 * blocks.
 */
#ifndef TSR_PLAN_RESIDENCY_H
#define TSR_PLAN_RESIDENCY_H

#include "base/rect.h"
#include "base/vec.h"

typedef struct tsr_cached_block {
  int16_t device;
  uint8_t matrix; /* TSR_A .. TSR_C_ */
  tsr_rect rect;
  int64_t ld;      /* elements */
  size_t bytes;    /* of memory; 0: the cached block is there already */
  tsr_rects valid; /* inside rect, disjoint */
  tsr_rects newer; /* inside valid, disjoint */
} tsr_cached_block;

typedef struct tsr_residency {
  TSR_VEC(tsr_cached_block) blocks;
} tsr_residency;

/* Cached blocks; NULL has none. */
static inline size_t tsr_residency_count(const tsr_residency *residency) {
  return residency != NULL ? residency->blocks.count : 0;
}

void tsr_residency_free(tsr_residency *residency);
/* False: no memory. */
bool tsr_residency_copy(const tsr_residency *from, tsr_residency *to);
/* Adds a cached block without anything valid in it; NULL: no memory. */
tsr_cached_block *tsr_residency_add(tsr_residency *residency, tsr_cached_block block);
/* The home of a rectangle of an operand is as new as any room. */
bool tsr_residency_home_is_current(const tsr_residency *residency, int matrix, tsr_rect rect);
/* What of a rectangle of an operand was newer in cached blocks is at home now, too. */
bool tsr_residency_settled(tsr_residency *residency, int matrix, tsr_rect rect);
/* What a cached block has of a rectangle does not count any more. */
bool tsr_room_forget(tsr_cached_block *block, tsr_rect rect);

/* A digest, going on from before, of all that a plan may depend on. */
uint64_t tsr_residency_digest(uint64_t before, const tsr_residency *residency);

#endif
