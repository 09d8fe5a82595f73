/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/overlap.h"

/*
 * Positions are bytes from the first byte of x. Column j of a matrix lies in its window [at + j
 * step, at + j step + width). The elements first(j) .. last(j) - 1 of the window belong to the
 * matrix; both are linear in j:
 *
 *   general          0        rows
 *   lower            j        rows      and from j + 1 without the diagonal
 *   upper            0        j + 1     and to j without it
 *
 * Since width <= step, a byte is in at most one window of a matrix.
 */
typedef struct range {
  int64_t low, high; /* the integers low .. high - 1 */
} range;

typedef struct line {
  int64_t constant, slope;
} line;

typedef struct columns {
  int64_t count, at, step, width, size; /* size: of an element */
  line first, last;                     /* of elements, from j */
} columns;

static columns look_at(const tsr_storage *s, int64_t size, int64_t at) {
  int64_t off = s->no_diagonal;
  columns c = {.count = s->cols,
               .at = at,
               .step = s->ld * size,
               .width = s->rows * size,
               .size = size,
               .last = {s->rows, 0}};
  if (s->uplo == TSR_LOWER) c.first = (line){off, 1};
  if (s->uplo == TSR_UPPER) c.last = (line){1 - off, 1};
  return c;
}

/* ---- Numbers ---- */

static int64_t floor_of(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static range both(range a, range b) {
  return (range){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

/* The j of the range for which the line is positive. */
static range where_above(range r, line l) {
  if (l.slope == 0) return l.constant > 0 ? r : (range){0, 0};
  if (l.slope > 0) return both(r, (range){floor_of(-l.constant, l.slope) + 1, r.high});
  return both(r, (range){r.low, floor_of(l.constant - 1, -l.slope) + 1});
}

/* The j for which the window [begin + j step, begin + j step + width) has a byte in [low, high). */
static range windows(int64_t begin, int64_t step, int64_t width, int64_t low, int64_t high) {
  return (range){floor_of(low - begin - width, step) + 1, floor_of(high - 1 - begin, step) + 1};
}

static range windows_of(const columns *c, int64_t low, int64_t high) {
  return both((range){0, c->count}, windows(c->at, c->step, c->width, low, high));
}

/* ---- Same step: column j of x and column j + shift of y, for all j at once ---- */

/* The line at j + shift, as a line of j. */
static line shifted(line l, int64_t shift) {
  return (line){l.constant + l.slope * shift, l.slope};
}

static line difference(line a, line b) {
  return (line){a.constant - b.constant, a.slope - b.slope};
}

/* The line in bytes, for elements of `size` bytes, plus `more` bytes. */
static line scaled(line l, int64_t size, int64_t more) {
  return (line){l.constant * size + more, l.slope * size};
}

/* Whether column j of x and column j + shift of y share a byte, for any j. */
static bool meet_shifted(const columns *x, const columns *y, int64_t shift) {
  line y_first = shifted(y->first, shift), y_last = shifted(y->last, shift);
  int64_t from_x = y->at + shift * y->step - x->at; /* from column j of x to j + shift of y */
  range j = both((range){0, x->count}, (range){-shift, y->count - shift});
  j = where_above(j, difference(x->last, x->first));
  j = where_above(j, difference(y_last, y_first));
  j = where_above(j, scaled(difference(x->last, y_first), x->size, -from_x));
  j = where_above(j, scaled(difference(y_last, x->first), x->size, from_x));
  return j.low < j.high;
}

/* Whether windows with the same step between columns overlap. A column i of x can overlap only the
 * columns i + shift of y, where shift has at most two values; both are tried. */
static bool meet_in_step(const columns *x, const columns *y) {
  range shift = windows(y->at, y->step, y->width, x->at, x->at + x->width);
  shift = both(shift, (range){1 - x->count, y->count});
  for (int64_t s = shift.low; s < shift.high; s++)
    if (meet_shifted(x, y, s)) return true;
  return false;
}

/* ---- Other steps: column after column ---- */

static range bytes_of(const columns *c, int64_t j) {
  int64_t window = c->at + j * c->step;
  return (range){window + (c->first.constant + c->first.slope * j) * c->size,
                 window + (c->last.constant + c->last.slope * j) * c->size};
}

/* Whether a byte of [x.low, x.high) is in a column of y. A window of y between the first and the
 * last one that the range meets lies inside the range, so the loop ends after a few columns. */
static bool meet_column(range x, const columns *y) {
  range l = windows_of(y, x.low, x.high);
  for (int64_t i = l.low; i < l.high; i++) {
    range column = bytes_of(y, i), common = both(column, x);
    if (column.low < column.high && common.low < common.high) return true;
  }
  return false;
}

/* Whether some column of x meets some column of y; x has fewer columns. */
static bool meet_by_columns(const columns *x, const columns *y) {
  range j = windows_of(x, y->at, y->at + (y->count - 1) * y->step + y->width);
  for (int64_t i = j.low; i < j.high; i++) {
    range column = bytes_of(x, i);
    if (column.low < column.high && meet_column(column, y)) return true;
  }
  return false;
}

/* False: no window of x can meet a window of y. The distance of two windows is y->at - x->at plus a
 * multiple of the greatest common divisor of both steps. */
static bool may_meet(const columns *x, const columns *y) {
  int64_t common = common_divisor(x->step, y->step);
  int64_t distance = y->at - x->at, rest = distance - floor_of(distance, common) * common;
  return rest < x->width || common - rest < y->width;
}

bool tsr_storage_overlap(const tsr_storage *x, const tsr_storage *y, size_t size) {
  if (x->rows == 0 || x->cols == 0 || y->rows == 0 || y->cols == 0) return false;
  int64_t distance = (int64_t)((uintptr_t)y->base - (uintptr_t)x->base);
  columns a = look_at(x, (int64_t)size, 0), b = look_at(y, (int64_t)size, distance);
  int64_t a_end = a.at + (a.count - 1) * a.step + a.width;
  int64_t b_end = b.at + (b.count - 1) * b.step + b.width;
  if (a.at >= b_end || b.at >= a_end || !may_meet(&a, &b)) return false;
  if (a.step == b.step) return meet_in_step(&a, &b);
  return a.count <= b.count ? meet_by_columns(&a, &b) : meet_by_columns(&b, &a);
}
