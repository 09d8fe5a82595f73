/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Residency: the cached blocks of a call's operands on devices, before or after a plan.
 *
 * A cached block is memory at a device for a rectangle of an operand. The coordinates are those of
 * the stored operand; the rectangle may reach beyond the operand. `valid` is the part of the
 * rectangle that has the current values, with all earlier calls applied. `newer` is the part of
 * `valid` whose values are not yet at the operand's home. The home of that part is stale until the
 * part is written back or dropped. An operand whose home is a device has no cached blocks.
 *
 * A call that changes a triangle of C leaves triangles in `valid` and `newer` of the squares on the
 * diagonal. A plan finds triangles only in an operand of which the call uses that triangle alone,
 * and only on the operand's diagonal; others are settled before (tsr_compose_settle_triangles).
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
  size_t bytes;    /* bytes of memory to allocate; 0: the memory is allocated already */
  tsr_rects valid; /* inside rect, disjoint */
  tsr_rects newer; /* inside valid, disjoint */
} tsr_cached_block;

typedef struct tsr_residency {
  TSR_VEC(tsr_cached_block) blocks;
} tsr_residency;

/* The number of cached blocks; 0 for NULL. */
static inline size_t tsr_residency_count(const tsr_residency *residency) {
  return residency != NULL ? residency->blocks.count : 0;
}

void tsr_residency_free(tsr_residency *residency);
/* Makes *to a copy of a residency; the caller frees it. False: no host memory. */
bool tsr_residency_copy(const tsr_residency *from, tsr_residency *to);
/* Adds a cached block in which nothing is valid. NULL: no host memory. */
tsr_cached_block *tsr_residency_add(tsr_residency *residency, tsr_cached_block block);
/* Whether the home of a rectangle of an operand has the current values. */
bool tsr_residency_home_is_current(const tsr_residency *residency, int matrix, tsr_rect rect);
/* Notes that a shape of an operand has been written back: its home is current. False: no host
 * memory. */
bool tsr_residency_note_written_back(tsr_residency *residency, int matrix, tsr_shape shape);
/* Marks a rectangle of a cached block as not valid. False: no host memory. */
bool tsr_cached_block_forget(tsr_cached_block *block, tsr_rect rect);
/* The same with a shape. */
bool tsr_cached_block_forget_shape(tsr_cached_block *block, tsr_shape shape);

/* Extends the digest `before` by everything in a residency that a plan may depend on. */
uint64_t tsr_residency_digest(uint64_t before, const tsr_residency *residency);

#endif
