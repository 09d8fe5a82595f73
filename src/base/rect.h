/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rectangles of matrices, in elements, half-open: rows row0 .. row1-1, columns col0 .. col1-1. And
 * sets of disjoint shapes, which are rectangles and triangles of squares, such as the parts of a
 * matrix that are valid at a location.
 *
 * A zeroed tsr_rects is the empty set. A set owns its items until tsr_rects_free. Its shapes are
 * never empty and have no order. Operations on a set of n shapes take O(n), merging takes O(n^2),
 * so sets are meant for some hundreds of shapes. A function that needs memory returns false when
 * there is none, and then leaves every set as it was. Only one thread at a time may change a set.
 */
#ifndef TSR_BASE_RECT_H
#define TSR_BASE_RECT_H

#include <stdint.h>

#include "base/vec.h"
#include "tessera.h"

typedef struct tsr_rect {
  int64_t row0, col0, row1, col1;
} tsr_rect;

static inline tsr_rect tsr_rect_make(int64_t row, int64_t col, int64_t rows, int64_t cols) {
  return (tsr_rect){row, col, row + rows, col + cols};
}

static inline bool tsr_rect_empty(tsr_rect r) {
  return r.row0 >= r.row1 || r.col0 >= r.col1;
}

/* The intersection; empty if a and b do not meet. */
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

/* Elements of r; exact below 2^53, which no matrix that fits into memory exceeds. */
double tsr_rect_area(tsr_rect r);

/* Cuts a without b into at most 4 disjoint pieces; returns how many. */
int tsr_rect_subtract(tsr_rect a, tsr_rect b, tsr_rect pieces[4]);

/* ---- Shapes ---- */

/* A rectangle (TSR_GENERAL), or the lower or upper triangle of a square with the square's diagonal.
 * One element is a rectangle.
 * What is left of a square without its lower triangle is an upper triangle, of a square that is one
 * smaller. */
typedef struct tsr_shape {
  tsr_rect rect;
  int64_t uplo; /* a tsr_uplo; as wide as the rest, so that a digest meets no padding */
} tsr_shape;

static inline tsr_shape tsr_shape_of(tsr_rect rect) {
  return (tsr_shape){rect, TSR_GENERAL};
}

static inline bool tsr_is_triangle(tsr_shape s) {
  return s.uplo != TSR_GENERAL;
}

/* A square without its triangle that the shape is; empty if the shape is a rectangle. */
tsr_shape tsr_shape_rest(tsr_shape s);

/* Cuts a triangle of at least two rows into two and the rectangle between them. */
void tsr_shape_halve(tsr_shape s, tsr_shape part[3]);

/* Elements of s. */
double tsr_shape_area(tsr_shape s);

/* ---- Sets ---- */

typedef TSR_VEC(tsr_shape) tsr_rects;

/* Adds the shape to the set, and joins it with neighbours where that makes one shape. If it
 * overlaps shapes of the set in part, these are cut and the set is merged. */
bool tsr_rects_add_shape(tsr_rects *set, tsr_shape shape);

/* Removes the shape from the set. If no shape of the set has to be cut for that, no memory is
 * needed. */
bool tsr_rects_subtract_shape(tsr_rects *set, tsr_shape shape);
/* Reserves the memory with which tsr_rects_subtract(set, rect) cannot fail. */
bool tsr_rects_reserve(tsr_rects *set, tsr_rect rect);

/* Joins shapes as long as two of them make one; for sets that subtraction or clipping has left in
 * splinters. */
void tsr_rects_merge(tsr_rects *set);

/* Whether every element of the shape is in the set. */
bool tsr_rects_cover_shape(const tsr_rects *set, tsr_shape shape);

/* Whether some element of the shape is in the set. */
bool tsr_rects_meet_shape(const tsr_rects *set, tsr_shape shape);

/* Makes *inside, another set, the part of `set` that is in the shape. */
bool tsr_rects_clip_shape(const tsr_rects *set, tsr_shape shape, tsr_rects *inside);

/* The same with rectangles. */
static inline bool tsr_rects_add(tsr_rects *set, tsr_rect rect) {
  return tsr_rects_add_shape(set, tsr_shape_of(rect));
}

static inline bool tsr_rects_subtract(tsr_rects *set, tsr_rect rect) {
  return tsr_rects_subtract_shape(set, tsr_shape_of(rect));
}

static inline bool tsr_rects_covers(const tsr_rects *set, tsr_rect rect) {
  return tsr_rects_cover_shape(set, tsr_shape_of(rect));
}

static inline bool tsr_rects_meets(const tsr_rects *set, tsr_rect rect) {
  return tsr_rects_meet_shape(set, tsr_shape_of(rect));
}

static inline bool tsr_rects_clip(const tsr_rects *set, tsr_rect rect, tsr_rects *inside) {
  return tsr_rects_clip_shape(set, tsr_shape_of(rect), inside);
}

/* Makes *copy, another set, equal to `set`. */
bool tsr_rects_copy(const tsr_rects *set, tsr_rects *copy);

/* Elements in all shapes. */
double tsr_rects_area(const tsr_rects *set);

/* Frees the items; the set is empty then. */
void tsr_rects_free(tsr_rects *set);

#endif
