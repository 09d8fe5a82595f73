/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

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

/* Whether the disjoint rectangles a and b make one rectangle, *whole. */
static bool join(tsr_rect a, tsr_rect b, tsr_rect *whole) {
  bool rows = a.row0 == b.row0 && a.row1 == b.row1 && (a.col1 == b.col0 || b.col1 == a.col0);
  bool cols = a.col0 == b.col0 && a.col1 == b.col1 && (a.row1 == b.row0 || b.row1 == a.row0);
  if (!rows && !cols) return false;
  *whole = (tsr_rect){a.row0 < b.row0 ? a.row0 : b.row0, a.col0 < b.col0 ? a.col0 : b.col0,
                      a.row1 > b.row1 ? a.row1 : b.row1, a.col1 > b.col1 ? a.col1 : b.col1};
  return true;
}

/* ---- Looking at a set ---- */

static size_t count_meeting(const tsr_rects *set, tsr_rect rect) {
  size_t count = 0;
  for (size_t i = 0; i < set->count; i++) count += tsr_rect_meet(set->items[i], rect);
  return count;
}

/* How many rectangles of the set have elements both inside and outside of rect. */
static size_t count_cut(const tsr_rects *set, tsr_rect rect) {
  size_t count = 0;
  for (size_t i = 0; i < set->count; i++)
    count += tsr_rect_meet(set->items[i], rect) && !tsr_rect_contains(rect, set->items[i]);
  return count;
}

/* The rectangles of a set are disjoint: they cover rect if the areas of their intersections with it
 * add up to its area. */
bool tsr_rects_covers(const tsr_rects *set, tsr_rect rect) {
  double covered = 0;
  for (size_t i = 0; i < set->count; i++)
    covered += tsr_rect_area(tsr_rect_intersect(set->items[i], rect));
  return covered >= tsr_rect_area(rect);
}

bool tsr_rects_meets(const tsr_rects *set, tsr_rect rect) {
  for (size_t i = 0; i < set->count; i++)
    if (tsr_rect_meet(set->items[i], rect)) return true;
  return false;
}

double tsr_rects_area(const tsr_rects *set) {
  double area = 0;
  for (size_t i = 0; i < set->count; i++) area += tsr_rect_area(set->items[i]);
  return area;
}

/* ---- Changing it ---- */

bool tsr_rects_reserve(tsr_rects *set, tsr_rect rect) {
  return TSR_VEC_RESERVE(set, 3 * count_cut(set, rect));
}

/* Removes rect; the set has memory for all pieces. The first piece of a rectangle takes its place,
 * the others go to the end. Returns whether any rectangle was cut into pieces, not dropped as a
 * whole. */
static bool cut_out(tsr_rects *set, tsr_rect rect) {
  size_t old = set->count, kept = 0;
  bool cut = false;
  for (size_t i = 0; i < old; i++) {
    tsr_rect pieces[4];
    cut |= tsr_rect_meet(set->items[i], rect) && !tsr_rect_contains(rect, set->items[i]);
    int count = tsr_rect_subtract(set->items[i], rect, pieces);
    if (count > 0) set->items[kept++] = pieces[0];
    for (int p = 1; p < count; p++) set->items[set->count++] = pieces[p];
  }
  size_t added = set->count - old;
  if (added > 0) memmove(set->items + kept, set->items + old, added * sizeof *set->items);
  set->count = kept + added;
  return cut;
}

/* Joins the rectangle at an index with all others that make a rectangle with it. Returns whether
 * any did. */
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
    i = 0; /* the grown rectangle may fit those passed over */
  }
  return grown;
}

bool tsr_rects_subtract(tsr_rects *set, tsr_rect rect) {
  if (!tsr_rects_meets(set, rect)) return true;
  if (!tsr_rects_reserve(set, rect)) return false;
  cut_out(set, rect);
  return true;
}

void tsr_rects_merge(tsr_rects *set) {
  for (size_t i = 0; i < set->count;) i = absorb(set, i) ? 0 : i + 1;
}

bool tsr_rects_add(tsr_rects *set, tsr_rect rect) {
  if (tsr_rects_covers(set, rect)) return true;
  if (!TSR_VEC_RESERVE(set, 3 * count_cut(set, rect) + 1)) return false;
  bool splinters = cut_out(set, rect);
  set->items[set->count++] = rect;
  absorb(set, set->count - 1);
  if (splinters) tsr_rects_merge(set);
  return true;
}

/* ---- From one to another ---- */

/* Empties the set and reserves memory for `room` rectangles. False: no memory; the set is as it
 * was. */
static bool restart(tsr_rects *set, size_t room) {
  if (!tsr_vec_reserve((void **)&set->items, &set->room, room, sizeof *set->items)) return false;
  set->count = 0;
  return true;
}

bool tsr_rects_clip(const tsr_rects *set, tsr_rect rect, tsr_rects *inside) {
  if (!restart(inside, count_meeting(set, rect))) return false;
  for (size_t i = 0; i < set->count; i++)
    if (tsr_rect_meet(set->items[i], rect))
      inside->items[inside->count++] = tsr_rect_intersect(set->items[i], rect);
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
