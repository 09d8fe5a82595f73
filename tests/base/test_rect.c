/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Rectangles, and sets of rectangles and triangles, compared with a bitmap of a small matrix. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rect.h"
#include "problem.h"
#include "tessera_model.h"

enum { N = 20 };

typedef struct bitmap {
  bool at[N][N];
} bitmap;

static bool inside(tsr_shape s, int i, int j) {
  tsr_rect r = s.rect;
  int64_t below = (i - r.row0) - (j - r.col0);
  if (!(r.row0 <= i && i < r.row1 && r.col0 <= j && j < r.col1)) return false;
  return s.uplo == TSR_LOWER ? below >= 0 : s.uplo == TSR_UPPER ? below <= 0 : true;
}

static void paint_shape(bitmap *map, tsr_shape s, bool value) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      if (inside(s, i, j)) map->at[i][j] = value;
}

static void paint(bitmap *map, tsr_rect r, bool value) {
  paint_shape(map, tsr_shape_of(r), value);
}

static int count_in_shape(const bitmap *map, tsr_shape s) {
  int count = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) count += map->at[i][j] && inside(s, i, j);
  return count;
}

static int count_in(const bitmap *map, tsr_rect r) {
  return count_in_shape(map, tsr_shape_of(r));
}

static const tsr_rect all = {0, 0, N, N};

/* A random rectangle, which may be empty. */
static tsr_rect draw(rng *r) {
  int64_t row = rng_between(r, 0, N), col = rng_between(r, 0, N);
  int64_t most = rng_next(r) % 4 == 0 ? N : N / 3;
  int64_t rows = rng_between(r, 0, most), cols = rng_between(r, 0, most);
  return tsr_rect_intersect(tsr_rect_make(row, col, rows, cols), all);
}

/* A random shape: mostly rectangles, and triangles of squares that are on any diagonal. */
static tsr_shape draw_shape(rng *r) {
  tsr_shape s = tsr_shape_of(draw(r));
  int64_t rows = s.rect.row1 - s.rect.row0, cols = s.rect.col1 - s.rect.col0;
  int64_t order = rows < cols ? rows : cols;
  if (rng_next(r) % 5 < 2 || order <= 0) return s;
  if (rng_next(r) % 2 == 0 && s.rect.row0 + order <= N) s.rect.col0 = s.rect.row0;
  s.rect = tsr_rect_make(s.rect.row0, s.rect.col0, order, order);
  s.uplo = rng_next(r) % 2 == 0 ? TSR_LOWER : TSR_UPPER;
  return s;
}

static bool equal(tsr_rect a, tsr_rect b) {
  return tsr_rect_contains(a, b) && tsr_rect_contains(b, a);
}

/* The set covers the same elements as the bitmap, and its shapes are disjoint and not empty. */
static void check(const tsr_rects *set, const bitmap *map) {
  bitmap seen = {0};
  for (size_t i = 0; i < set->count; i++) {
    assert_false(tsr_rect_empty(set->items[i].rect));
    assert_true(tsr_rect_contains(all, set->items[i].rect));
    assert_int_equal(count_in_shape(&seen, set->items[i]), 0);
    paint_shape(&seen, set->items[i], true);
  }
  assert_memory_equal(&seen, map, sizeof seen);
  assert_true(tsr_rects_area(set) == count_in(map, all));
}

static void check_questions(const tsr_rects *set, const bitmap *map, tsr_shape shape) {
  int count = count_in_shape(map, shape);
  assert_int_equal(tsr_rects_cover_shape(set, shape), count >= tsr_shape_area(shape));
  assert_int_equal(tsr_rects_meet_shape(set, shape), count > 0);
}

static void two_rectangles(void **state) {
  (void)state;
  rng r = {1};
  for (int n = 0; n < 5000; n++) {
    tsr_rect a = draw(&r), b = draw(&r), pieces[4];
    bitmap in_a = {0}, outside;
    paint(&in_a, a, true);
    outside = in_a;
    paint(&outside, b, false);
    assert_true(tsr_rect_area(a) == count_in(&in_a, all));
    assert_int_equal(tsr_rect_empty(a), count_in(&in_a, all) == 0);
    assert_int_equal(tsr_rect_meet(a, b), count_in(&in_a, b) > 0);
    if (!tsr_rect_empty(b))
      assert_int_equal(tsr_rect_contains(a, b), count_in(&in_a, b) == tsr_rect_area(b));
    assert_true(tsr_rect_area(tsr_rect_intersect(a, b)) == count_in(&in_a, b));
    int count = tsr_rect_subtract(a, b, pieces);
    assert_in_range(count, 0, 4);
    tsr_shape shapes[4];
    for (int i = 0; i < count; i++) shapes[i] = tsr_shape_of(pieces[i]);
    tsr_rects set = {shapes, (size_t)count, 4};
    check(&set, &outside);
  }
}

/* A triangle and the rest of its square are the square. */
static void rest_of_a_triangle(void **state) {
  (void)state;
  rng r = {4};
  for (int n = 0; n < 2000; n++) {
    tsr_shape s = draw_shape(&r), rest = tsr_shape_rest(s);
    bitmap map = {0};
    if (!tsr_is_triangle(s)) continue;
    paint_shape(&map, s, true);
    assert_true(tsr_shape_area(s) == count_in(&map, all));
    assert_int_equal(count_in_shape(&map, rest), 0);
    paint_shape(&map, rest, true);
    assert_true(tsr_rect_area(s.rect) == count_in(&map, s.rect));
    assert_int_equal(count_in(&map, all), count_in(&map, s.rect));
    tsr_rects set = {0};
    assert_true(tsr_rects_add_shape(&set, s) && tsr_rects_add_shape(&set, rest));
    assert_int_equal(set.count, 1);
    tsr_rects_free(&set);
  }
}

static void change_shape(tsr_rects *set, bitmap *map, tsr_shape shape, bool add) {
  assert_true(add ? tsr_rects_add_shape(set, shape) : tsr_rects_subtract_shape(set, shape));
  paint_shape(map, shape, add);
}

static void change(tsr_rects *set, bitmap *map, tsr_rect rect, bool add) {
  change_shape(set, map, tsr_shape_of(rect), add);
}

static void random_changes(void **state) {
  (void)state;
  rng r = {2};
  for (int run = 0; run < 60; run++) {
    tsr_rects set = {NULL, 0, 0};
    bitmap map = {0};
    for (int step = 0; step < 80; step++) {
      change_shape(&set, &map, draw_shape(&r), rng_next(&r) % 5 > 1);
      check(&set, &map);
      for (int i = 0; i < 5; i++) check_questions(&set, &map, draw_shape(&r));
    }
    size_t before = set.count;
    tsr_rects_merge(&set);
    check(&set, &map);
    assert_true(set.count <= before);
    change(&set, &map, all, true);
    assert_int_equal(set.count, 1);
    tsr_rects_free(&set);
    assert_int_equal(set.count, 0);
  }
}

static void random_clips(void **state) {
  (void)state;
  rng r = {3};
  tsr_rects set = {NULL, 0, 0}, clipped = {NULL, 0, 0}, copy = {NULL, 0, 0};
  bitmap map = {0};
  for (int step = 0; step < 500; step++) {
    change_shape(&set, &map, draw_shape(&r), rng_next(&r) % 2 == 0);
    tsr_shape shape = draw_shape(&r);
    bitmap part = {0};
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) part.at[i][j] = map.at[i][j] && inside(shape, i, j);
    assert_true(tsr_rects_clip_shape(&set, shape, &clipped));
    check(&clipped, &part);
    assert_true(tsr_rects_copy(&set, &copy));
    check(&copy, &map);
    check(&set, &map);
  }
  tsr_rects_free(&set);
  tsr_rects_free(&clipped);
  tsr_rects_free(&copy);
}

static void strips_are_one(void **state) {
  (void)state;
  for (int step = 1; step <= 7; step++) {
    tsr_rects set = {NULL, 0, 0};
    for (int64_t i = 0; i < N; i += step) {
      assert_true(tsr_rects_add(&set, (tsr_rect){2, i, N, i + step}));
      assert_int_equal(set.count, 1);
    }
    tsr_rects_free(&set);
  }
}

static void tiles_are_one(void **state) {
  (void)state;
  tsr_rects set = {NULL, 0, 0};
  for (int64_t i = 0; i < N; i += 4)
    for (int64_t j = 0; j < N; j += 5) assert_true(tsr_rects_add(&set, tsr_rect_make(i, j, 4, 5)));
  assert_int_equal(set.count, 1);
  assert_true(equal(set.items[0].rect, all));
  /* A set with a hole becomes one rectangle when the hole is filled. */
  assert_true(tsr_rects_subtract(&set, (tsr_rect){5, 5, 9, 9}));
  assert_int_equal(set.count, 4);
  assert_true(tsr_rects_add(&set, (tsr_rect){4, 4, 10, 10}));
  assert_int_equal(set.count, 1);
  tsr_rects_free(&set);
}

/* tsr_rects_merge() joins the pieces that clipping and subtraction leave. */
static void merges_splinters(void **state) {
  (void)state;
  tsr_shape items[] = {tsr_shape_of((tsr_rect){0, 0, 2, 2}), tsr_shape_of((tsr_rect){2, 2, 4, 4}),
                       tsr_shape_of((tsr_rect){9, 9, 10, 10}), tsr_shape_of((tsr_rect){0, 2, 2, 4}),
                       tsr_shape_of((tsr_rect){2, 0, 4, 2})};
  tsr_rects set = {items, 5, 5};
  tsr_rects_merge(&set);
  assert_int_equal(set.count, 2);
  assert_true(tsr_rects_covers(&set, (tsr_rect){0, 0, 4, 4}));
  assert_true(tsr_rects_area(&set) == 17);
}

typedef bool operation(tsr_rects *set, tsr_rects *other);

static bool do_add(tsr_rects *set, tsr_rects *other) {
  (void)other;
  return tsr_rects_add(set, (tsr_rect){1, 1, 19, 19});
}

static bool do_subtract(tsr_rects *set, tsr_rects *other) {
  (void)other;
  return tsr_rects_subtract(set, (tsr_rect){1, 1, 19, 19});
}

static bool do_clip(tsr_rects *set, tsr_rects *other) {
  return tsr_rects_clip(set, all, other);
}

static bool do_copy(tsr_rects *set, tsr_rects *other) {
  return tsr_rects_copy(set, other);
}

/* Rectangles on a diagonal, which cannot be joined; the set has no memory for another one. */
static void make_full(tsr_rects *set, bitmap *map) {
  *set = (tsr_rects){NULL, 0, 0};
  for (int64_t i = 0; i + 2 <= N && (set->count < 8 || set->count < set->room); i += 2)
    change(set, map, tsr_rect_make(i, i, 2, 2), true);
}

static void out_of_memory(void **state) {
  (void)state;
  operation *const operations[] = {do_add, do_subtract, do_clip, do_copy};
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    tsr_rects set, other = {NULL, 0, 0};
    bitmap map = {0}, none = {0};
    make_full(&set, &map);
    tsr_alloc_fail_at(1);
    assert_false(operations[i](&set, &other));
    tsr_alloc_fail_at(0);
    check(&set, &map);
    check(&other, &none);
    assert_true(operations[i](&set, &other));
    tsr_rects_free(&set);
    tsr_rects_free(&other);
  }
}

/* Removing whole rectangles needs no memory, and after tsr_rects_reserve() no removal does. */
static void taking_out_without_memory(void **state) {
  (void)state;
  tsr_rect whole = tsr_rect_make(0, 0, N, N), part = tsr_rect_make(0, 0, 1, N);
  tsr_rects set;
  bitmap map = {0};
  make_full(&set, &map);
  assert_true(tsr_rects_reserve(&set, part));
  tsr_alloc_fail_from(1);
  assert_true(tsr_rects_subtract(&set, part));
  paint(&map, part, false);
  check(&set, &map);
  assert_true(tsr_rects_subtract(&set, whole));
  assert_int_equal(set.count, 0);
  assert_int_equal(tsr_alloc_fail_at(0), 0);
  tsr_rects_free(&set);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rest_of_a_triangle),
      cmocka_unit_test(two_rectangles),
      cmocka_unit_test(random_changes),
      cmocka_unit_test(random_clips),
      cmocka_unit_test(strips_are_one),
      cmocka_unit_test(tiles_are_one),
      cmocka_unit_test(merges_splinters),
      cmocka_unit_test(out_of_memory),
      cmocka_unit_test(taking_out_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
