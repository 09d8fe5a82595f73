/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/least.h"
#include "base/rect.h"

#include <string.h>

/* ---- One rectangle ---- */

double tsr_rect_area(tsr_rect r) {
  return tsr_rect_empty(r) ? 0 : (double)(r.row1 - r.row0) * (double)(r.col1 - r.col0);
}

/* The pieces left and right of the cut have all rows of a: copies are fast where columns are
 * long. */
int tsr_rect_subtract(tsr_rect a, tsr_rect b, tsr_rect pieces[4]) {
  tsr_rect cut = tsr_rect_intersect(a, b);
  if (tsr_rect_empty(cut)) {
    pieces[0] = a;
    return !tsr_rect_empty(a);
  }
  tsr_rect around[4] = {{a.row0, a.col0, a.row1, cut.col0},
                        {a.row0, cut.col1, a.row1, a.col1},
                        {a.row0, cut.col0, cut.row0, cut.col1},
                        {cut.row1, cut.col0, a.row1, cut.col1}};
  int count = 0;
  for (int i = 0; i < 4; i++)
    if (!tsr_rect_empty(around[i])) pieces[count++] = around[i];
  return count;
}

/* ---- One shape ---- */

static int64_t order_of(tsr_shape s) {
  return s.rect.row1 - s.rect.row0;
}

/* The diagonal of a triangle: the row of its elements minus their column. */
static int64_t diagonal_of(tsr_shape s) {
  return s.rect.row0 - s.rect.col0;
}

tsr_shape tsr_shape_rest(tsr_shape s) {
  tsr_shape rest = {s.rect, s.uplo == TSR_LOWER ? TSR_UPPER : TSR_LOWER};
  if (!tsr_is_triangle(s)) return tsr_shape_of((tsr_rect){0, 0, 0, 0});
  if (s.uplo == TSR_LOWER) {
    rest.rect.row1--;
    rest.rect.col0++;
  } else {
    rest.rect.row0++;
    rest.rect.col1--;
  }
  return rest;
}

void tsr_shape_halve(tsr_shape s, tsr_shape part[3]) {
  tsr_rect r = s.rect;
  int64_t half = (r.row1 - r.row0) / 2, row = r.row0 + half, col = r.col0 + half;
  part[0] = (tsr_shape){{r.row0, r.col0, row, col}, half > 1 ? s.uplo : TSR_GENERAL};
  part[1] = (tsr_shape){{row, col, r.row1, r.col1}, r.row1 - row > 1 ? s.uplo : TSR_GENERAL};
  part[2] = tsr_shape_of(s.uplo == TSR_LOWER ? (tsr_rect){row, r.col0, r.row1, col}
                                             : (tsr_rect){r.row0, col, row, r.col1});
}

double tsr_shape_area(tsr_shape s) {
  double order = (double)order_of(s);
  return tsr_is_triangle(s) && order > 0 ? order * (order + 1) / 2 : tsr_rect_area(s.rect);
}

/* ---- Cutting shapes: the pieces go to a sink ---- */

typedef struct sink {
  tsr_shape *items; /* with room for them; NULL: they are only counted */
  size_t count;
  double area;
} sink;

static void put(sink *to, tsr_rect rect, int64_t uplo) {
  tsr_shape piece = {rect, uplo};
  if (tsr_rect_empty(rect)) return;
  if (order_of(piece) == 1 && rect.col1 - rect.col0 == 1) piece.uplo = TSR_GENERAL;
  if (to->items != NULL) to->items[to->count] = piece;
  to->count++;
  to->area += tsr_shape_area(piece);
}

/* The part of a triangle in a rectangle: a rectangle beside the diagonal, a smaller triangle, and a
 * rectangle beyond the triangle. */
static void clip_triangle(tsr_shape s, tsr_rect rect, sink *to) {
  tsr_rect r = tsr_rect_intersect(s.rect, rect);
  int64_t d = diagonal_of(s);
  if (tsr_rect_empty(r)) return;
  int64_t begin = tsr_most(r.row0 - d, r.col0), end = tsr_least(r.row1 - d, r.col1); /* columns */
  if (s.uplo == TSR_LOWER)
    put(to, (tsr_rect){r.row0, r.col0, r.row1, tsr_least(begin, r.col1)}, TSR_GENERAL);
  else
    put(to, (tsr_rect){r.row0, r.col0, tsr_least(begin + d, r.row1), r.col1}, TSR_GENERAL);
  if (begin >= end) return;
  put(to, (tsr_rect){begin + d, begin, end + d, end}, s.uplo);
  if (s.uplo == TSR_LOWER)
    put(to, (tsr_rect){end + d, begin, r.row1, end}, TSR_GENERAL);
  else
    put(to, (tsr_rect){begin + d, end, end + d, r.col1}, TSR_GENERAL);
}

static void clip(tsr_shape s, tsr_rect rect, sink *to) {
  if (tsr_is_triangle(s))
    clip_triangle(s, rect, to);
  else
    put(to, tsr_rect_intersect(s.rect, rect), TSR_GENERAL);
}

/* The band between the diagonals of a lower triangle and an upper one, column by column. */
static void clip_band(tsr_shape lower, tsr_shape upper, sink *to) {
  tsr_rect r = tsr_rect_intersect(lower.rect, upper.rect);
  if (diagonal_of(lower) > diagonal_of(upper)) return;
  for (int64_t j = r.col0; j < r.col1; j++)
    put(to,
        (tsr_rect){tsr_most(r.row0, j + diagonal_of(lower)), j,
                   tsr_least(r.row1, j + diagonal_of(upper) + 1), j + 1},
        TSR_GENERAL);
}

/* The intersection. Of two triangles of one kind, the one with the farther diagonal lies within the
 * other one where their squares overlap. */
static void intersect(tsr_shape a, tsr_shape b, sink *to) {
  if (!tsr_is_triangle(a)) {
    clip(b, a.rect, to);
  } else if (!tsr_is_triangle(b)) {
    clip(a, b.rect, to);
  } else if (a.uplo != b.uplo) {
    clip_band(a.uplo == TSR_LOWER ? a : b, a.uplo == TSR_LOWER ? b : a, to);
  } else {
    bool a_farther = (diagonal_of(a) > diagonal_of(b)) == (a.uplo == TSR_LOWER);
    clip(a_farther ? a : b, tsr_rect_intersect(a.rect, b.rect), to);
  }
}

/* a without b: what is beside b's rectangle, and what is in it beside b's triangle. */
static void subtract(tsr_shape a, tsr_shape b, sink *to) {
  tsr_rect pieces[4];
  int count = tsr_rect_subtract(a.rect, b.rect, pieces);
  for (int p = 0; p < count; p++) clip(a, pieces[p], to);
  if (tsr_is_triangle(b)) intersect(a, tsr_shape_rest(b), to);
}

static double area_in(tsr_shape a, tsr_shape b) {
  sink both = {NULL, 0, 0};
  if (tsr_rect_meet(a.rect, b.rect)) intersect(a, b, &both);
  return both.area;
}

static bool meet(tsr_shape a, tsr_shape b) {
  return area_in(a, b) > 0;
}

/* Whether a has elements both inside and outside of b. */
static bool is_cut(tsr_shape a, tsr_shape b) {
  double inside = area_in(a, b);
  return inside > 0 && inside < tsr_shape_area(a);
}

/* ---- Joining shapes ---- */

/* Whether the disjoint rectangles a and b make one rectangle, *whole. */
static bool join_rects(tsr_rect a, tsr_rect b, tsr_rect *whole) {
  bool rows = a.row0 == b.row0 && a.row1 == b.row1 && (a.col1 == b.col0 || b.col1 == a.col0);
  bool cols = a.col0 == b.col0 && a.col1 == b.col1 && (a.row1 == b.row0 || b.row1 == a.row0);
  if (!rows && !cols) return false;
  *whole = (tsr_rect){tsr_least(a.row0, b.row0), tsr_least(a.col0, b.col0),
                      tsr_most(a.row1, b.row1), tsr_most(a.col1, b.col1)};
  return true;
}

static bool same(tsr_rect a, tsr_rect b) {
  return tsr_rect_contains(a, b) && tsr_rect_contains(b, a);
}

/* Whether the disjoint shapes make one shape, *whole: two rectangles, or a triangle and the rest of
 * its square. */
static bool join(tsr_shape a, tsr_shape b, tsr_shape *whole) {
  if (!tsr_is_triangle(a) && !tsr_is_triangle(b)) {
    tsr_rect rect;
    if (!join_rects(a.rect, b.rect, &rect)) return false;
    *whole = tsr_shape_of(rect);
    return true;
  }
  tsr_shape large = order_of(a) > order_of(b) ? a : b, small = order_of(a) > order_of(b) ? b : a;
  if (!tsr_is_triangle(large) || small.uplo == large.uplo) return false;
  if (!tsr_is_triangle(small) && order_of(small) > 1) return false;
  if (!same(tsr_shape_rest(large).rect, small.rect)) return false;
  *whole = tsr_shape_of(large.rect);
  return true;
}

/* ---- Looking at a set ---- */

/* The shapes of a set are disjoint: they cover a shape if the areas of their intersections with it
 * add up to its area. */
bool tsr_rects_cover_shape(const tsr_rects *set, tsr_shape shape) {
  double covered = 0;
  for (size_t i = 0; i < set->count; i++) covered += area_in(set->items[i], shape);
  return covered >= tsr_shape_area(shape);
}

bool tsr_rects_meet_shape(const tsr_rects *set, tsr_shape shape) {
  for (size_t i = 0; i < set->count; i++)
    if (meet(set->items[i], shape)) return true;
  return false;
}

double tsr_rects_area(const tsr_rects *set) {
  double area = 0;
  for (size_t i = 0; i < set->count; i++) area += tsr_shape_area(set->items[i]);
  return area;
}

/* ---- Changing it ---- */

/* How many shapes more the set has at most when the shape was cut out of it. */
static size_t count_pieces(const tsr_rects *set, tsr_shape shape) {
  sink pieces = {NULL, 0, 0};
  for (size_t i = 0; i < set->count; i++)
    if (is_cut(set->items[i], shape)) subtract(set->items[i], shape, &pieces);
  return pieces.count;
}

bool tsr_rects_reserve(tsr_rects *set, tsr_rect rect) {
  return TSR_VEC_RESERVE(set, count_pieces(set, tsr_shape_of(rect)));
}

/* Removes the shape; the set has memory for all pieces. The first piece of a shape takes its place,
 * the others go to the end. Returns whether any shape was cut into pieces, not dropped as a whole.
 */
static bool cut_out(tsr_rects *set, tsr_shape shape) {
  size_t old = set->count, kept = 0;
  bool any = false;
  for (size_t i = 0; i < old; i++) {
    tsr_shape item = set->items[i];
    if (!meet(item, shape)) {
      set->items[kept++] = item;
      continue;
    }
    if (!is_cut(item, shape)) continue;
    any = true;
    sink pieces = {set->items + set->count, 0, 0};
    subtract(item, shape, &pieces);
    set->items[kept++] = pieces.items[0];
    memmove(pieces.items, pieces.items + 1, (pieces.count - 1) * sizeof *pieces.items);
    set->count += pieces.count - 1;
  }
  size_t added = set->count - old;
  if (added > 0) memmove(set->items + kept, set->items + old, added * sizeof *set->items);
  set->count = kept + added;
  return any;
}

/* Joins the shape at an index with all others that make a shape with it. Returns whether any did.
 */
static bool absorb(tsr_rects *set, size_t at) {
  bool grown = false;
  for (size_t i = 0; i < set->count;) {
    if (i == at || !join(set->items[at], set->items[i], &set->items[at])) {
      i++;
      continue;
    }
    size_t last = --set->count;
    set->items[i] = set->items[last];
    if (at == last) at = i;
    grown = true;
    i = 0; /* the grown shape may fit those passed over */
  }
  return grown;
}

bool tsr_rects_subtract_shape(tsr_rects *set, tsr_shape shape) {
  if (!tsr_rects_meet_shape(set, shape)) return true;
  if (!TSR_VEC_RESERVE(set, count_pieces(set, shape))) return false;
  cut_out(set, shape);
  return true;
}

void tsr_rects_merge(tsr_rects *set) {
  for (size_t i = 0; i < set->count;) i = absorb(set, i) ? 0 : i + 1;
}

bool tsr_rects_add_shape(tsr_rects *set, tsr_shape shape) {
  if (tsr_rects_cover_shape(set, shape)) return true;
  if (!TSR_VEC_RESERVE(set, count_pieces(set, shape) + 1)) return false;
  bool splinters = cut_out(set, shape);
  set->items[set->count++] = shape;
  absorb(set, set->count - 1);
  if (splinters) tsr_rects_merge(set);
  return true;
}

/* ---- From one to another ---- */

/* Empties the set and reserves memory for `room` shapes. False: no memory; the set is as it was. */
static bool restart(tsr_rects *set, size_t room) {
  if (!tsr_vec_reserve((void **)&set->items, &set->room, room, sizeof *set->items)) return false;
  set->count = 0;
  return true;
}

bool tsr_rects_clip_shape(const tsr_rects *set, tsr_shape shape, tsr_rects *inside) {
  sink pieces = {NULL, 0, 0};
  for (size_t i = 0; i < set->count; i++) intersect(set->items[i], shape, &pieces);
  if (!restart(inside, pieces.count)) return false;
  pieces = (sink){inside->items, 0, 0};
  if (inside->items != NULL)
    for (size_t i = 0; i < set->count; i++) intersect(set->items[i], shape, &pieces);
  inside->count = pieces.count;
  return true;
}

bool tsr_rects_copy(const tsr_rects *set, tsr_rects *copy) {
  if (!restart(copy, set->count)) return false;
  for (size_t i = 0; i < set->count; i++) copy->items[copy->count++] = set->items[i];
  return true;
}

void tsr_rects_free(tsr_rects *set) {
  TSR_VEC_FREE(set);
}
