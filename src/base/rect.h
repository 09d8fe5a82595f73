/*
 * Rectangles of matrices, in elements, half-open: rows row0 .. row1-1, columns col0 .. col1-1. And
 * sets of disjoint rectangles, as what of a matrix is valid at some place.
 *
 * A set zeroed is the empty set; it owns its items until tsr_rects_free. Its rectangles are never
 * empty, and in no order. Operations on a set of n rectangles take O(n), merging O(n^2), so sets
 * are for some hundreds of them; those that need memory return false when there is none, and then
 * leave every set as it was. One thread at a time may change a set.
 */
#ifndef TSR_BASE_RECT_H
#define TSR_BASE_RECT_H

#include <stdint.h>

#include "base/vec.h"

typedef struct tsr_rect {
  int64_t row0, col0, row1, col1;
} tsr_rect;

static inline tsr_rect tsr_rect_make(int64_t row, int64_t col, int64_t rows, int64_t cols) {
  return (tsr_rect){row, col, row + rows, col + cols};
}

static inline bool tsr_rect_empty(tsr_rect r) {
  return r.row0 >= r.row1 || r.col0 >= r.col1;
}

/* Empty where they do not meet. */
static inline tsr_rect tsr_rect_intersect(tsr_rect a, tsr_rect b) {
  return (tsr_rect){a.row0 > b.row0 ? a.row0 : b.row0, a.col0 > b.col0 ? a.col0 : b.col0,
                    a.row1 < b.row1 ? a.row1 : b.row1, a.col1 < b.col1 ? a.col1 : b.col1};
}

static inline bool tsr_rect_contains(tsr_rect outer, tsr_rect inner) {
  return outer.row0 <= inner.row0 && outer.col0 <= inner.col0 && outer.row1 >= inner.row1 &&
         outer.col1 >= inner.col1;
}

/* Whether they have an element in common. */
static inline bool tsr_rect_meet(tsr_rect a, tsr_rect b) {
  return !tsr_rect_empty(tsr_rect_intersect(a, b));
}

/* Elements; exact below 2^53, which no matrix that memory can hold exceeds. */
double tsr_rect_area(tsr_rect r);

/* What of a is outside of b, in at most 4 disjoint pieces; returns how many. */
int tsr_rect_subtract(tsr_rect a, tsr_rect b, tsr_rect pieces[4]);

/* ---- Sets ---- */

typedef TSR_VEC(tsr_rect) tsr_rects;

/* The union with rect, which is joined with those beside it where that makes a rectangle. What it
 * overlaps in part is cut, and the set merged. */
bool tsr_rects_add(tsr_rects *set, tsr_rect rect);

/* Takes rect out. That needs no memory where each rectangle goes as a whole or not at all. */
bool tsr_rects_subtract(tsr_rects *set, tsr_rect rect);
/* Makes room, so that taking rect out cannot fail. */
bool tsr_rects_reserve(tsr_rects *set, tsr_rect rect);

/* Joins rectangles for as long as two of them make one: for sets that subtraction or clipping has
 * left in splinters. */
void tsr_rects_merge(tsr_rects *set);

/* Whether every element of rect is in the set. */
bool tsr_rects_covers(const tsr_rects *set, tsr_rect rect);

/* Whether some element of rect is in the set. */
bool tsr_rects_meets(const tsr_rects *set, tsr_rect rect);

/* Makes *inside, another set, what of this one is in rect. */
bool tsr_rects_clip(const tsr_rects *set, tsr_rect rect, tsr_rects *inside);

/* Makes *copy, another set, the same as this one. */
bool tsr_rects_copy(const tsr_rects *set, tsr_rects *copy);

/* Elements. */
double tsr_rects_area(const tsr_rects *set);

/* Leaves the empty set. */
void tsr_rects_free(tsr_rects *set);

#endif
