/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Block-cyclic arithmetic and the order of panels, compared with counting index by index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "chance.h"
#include "cluster/layout/axis.h"
#include "cluster/plan/panels.h"
#include "tessera_model.h"

enum { EXTENT = 90, CASES = 400 };

/* Irregular blocks; their lists are kept for the next axes, too. */
static tsr_axis draw_irregular(int64_t extent, int count) {
  static int64_t lists[16][EXTENT];
  static int next;
  int64_t *ends = lists[next++ % 16], blocks = 0, most = between(2, 20);
  for (int64_t at = 0; at < extent;) {
    at += between(1, most);
    ends[blocks++] = at < extent ? at : extent;
  }
  return tsr_axis_irregular(ends, blocks, (int)between(0, count - 1), count);
}

static tsr_axis draw_axis(int64_t extent, int count) {
  if (between(0, 2) == 0) return draw_irregular(extent, count);
  return (tsr_axis){extent, between(1, 12), between(1, 12), (int)between(0, count - 1), count};
}

/* The owner of each index, by counting down the indices of each block. */
static void count_owners(const tsr_axis *x, int *owner) {
  int64_t left = x->ends != NULL && x->extent > 0 ? x->ends[0] : x->first, next = 1;
  int turn = x->source;
  for (int64_t i = 0; i < x->extent; i++) {
    if (left == 0) {
      left = x->ends != NULL ? x->ends[next] - x->ends[next - 1] : x->block;
      next++;
      turn = (turn + 1) % x->count;
    }
    owner[i] = turn;
    left--;
  }
}

static void owners_and_places(void **state) {
  (void)state;
  for (int at = 0; at < CASES; at++) {
    int count = (int)between(1, 5), owner[EXTENT];
    tsr_axis x = draw_axis(between(0, EXTENT), count);
    int64_t local[5] = {0}, most = 0;
    count_owners(&x, owner);
    for (int64_t i = 0; i < x.extent; i++) {
      assert_int_equal(tsr_axis_owner(&x, i), owner[i]);
      for (int c = 0; c < count; c++) assert_int_equal(tsr_axis_before(&x, c, i), local[c]);
      local[owner[i]]++;
    }
    for (int c = 0; c < count; c++) {
      assert_int_equal(tsr_axis_local(&x, c), local[c]);
      if (local[c] > most) most = local[c];
    }
    assert_int_equal(tsr_axis_most(&x), most);
  }
}

static void parts_are_axes(void **state) {
  (void)state;
  for (int at = 0; at < CASES; at++) {
    int owner[EXTENT];
    tsr_axis x = draw_axis(EXTENT, (int)between(1, 5));
    int64_t begin = between(0, EXTENT), extent = between(0, EXTENT - begin);
    tsr_axis part = tsr_axis_part(&x, begin, extent);
    count_owners(&x, owner);
    assert_int_equal(part.extent, extent);
    for (int64_t i = 0; i < extent; i++)
      assert_int_equal(tsr_axis_owner(&part, i), owner[begin + i]);
  }
}

static void agreement_is_of_owners(void **state) {
  int agreed = 0;
  (void)state;
  for (int at = 0; at < 20 * CASES; at++) {
    int count = (int)between(1, 3), one[EXTENT], other[EXTENT];
    int64_t extent = between(0, 30);
    tsr_axis a = draw_axis(extent, count), b = draw_axis(extent, count);
    if (between(0, 1) == 0) b.source = a.source, b.first = a.first;
    if (between(0, 3) == 0) b.block = a.block;
    count_owners(&a, one);
    count_owners(&b, other);
    bool same = memcmp(one, other, (size_t)extent * sizeof *one) == 0;
    assert_int_equal(tsr_axis_agrees(&a, &b), same);
    agreed += same && extent > 12 && count > 1;
  }
  assert_true(agreed > 50);
}

static void common_indices(void **state) {
  (void)state;
  for (int at = 0; at < CASES; at++) {
    int one[EXTENT], other[EXTENT];
    tsr_axis a = draw_axis(EXTENT, (int)between(1, 5)), b = draw_axis(EXTENT, (int)between(1, 5));
    int pa = (int)between(0, a.count - 1), pb = (int)between(0, b.count - 1);
    int64_t begin = between(0, EXTENT), end = between(begin, EXTENT), next = begin, found = 0;
    count_owners(&a, one);
    count_owners(&b, other);
    for (tsr_span s = {begin, 0}; tsr_axis_common(&a, pa, &b, pb, end, &s); s.at = s.end) {
      for (; next < s.at; next++) assert_false(one[next] == pa && other[next] == pb);
      assert_true(s.end > s.at && s.end <= end);
      for (; next < s.end; next++) assert_true(one[next] == pa && other[next] == pb);
      found += s.end - s.at;
    }
    for (; next < end; next++) assert_false(one[next] == pa && other[next] == pb);
    assert_int_equal(tsr_axis_common_count(&a, pa, &b, pb, begin, end), found);
  }
}

/* On an axis whose indices are everywhere each coordinate has all of them, whatever the blocks. */
static void indices_that_are_everywhere(void **state) {
  (void)state;
  for (int at = 0; at < CASES; at++) {
    tsr_axis a = draw_axis(EXTENT, (int)between(1, 5)), all = draw_axis(EXTENT, (int)between(1, 5));
    int pa = (int)between(0, a.count - 1), pb = (int)between(0, all.count - 1);
    int64_t begin = between(0, EXTENT), end = between(begin, EXTENT);
    all.everywhere = true;
    assert_int_equal(tsr_axis_local(&all, pb), EXTENT);
    assert_int_equal(tsr_axis_before(&all, pb, begin), begin);
    assert_int_equal(tsr_axis_common_count(&a, pa, &all, pb, begin, end),
                     tsr_axis_before(&a, pa, end) - tsr_axis_before(&a, pa, begin));
    assert_int_equal(tsr_axis_common_count(&all, pb, &a, pa, begin, end),
                     tsr_axis_common_count(&a, pa, &all, pb, begin, end));
  }
}

/* Counts the indices of a panel in seen[]; none may have been seen before. */
static void mark(const tsr_axis *a, const tsr_axis *b, const tsr_panel *panel, int *seen) {
  int64_t left = panel->depth;
  for (int64_t i = panel->at; left > 0; i++) {
    assert_true(i < a->extent);
    if (tsr_axis_owner(a, i) != panel->col || tsr_axis_owner(b, i) != panel->row) continue;
    assert_int_equal(seen[i]++, 0);
    left--;
  }
}

static void panels_cover_k_once(void **state) {
  (void)state;
  for (int at = 0; at < CASES; at++) {
    int seen[EXTENT] = {0};
    int64_t k = between(1, EXTENT), depth = between(1, 20), first = between(1, 24);
    tsr_axis a = draw_axis(k, (int)between(1, 4)), b = draw_axis(k, (int)between(1, 4));
    tsr_panels panels = {0};
    assert_int_equal(tsr_panels_make(&a, &b, first, depth, &panels), TSR_OK);
    for (size_t t = 0; t < panels.count; t++) {
      assert_true(panels.items[t].depth >= 1 && panels.items[t].depth <= depth);
      mark(&a, &b, &panels.items[t], seen);
    }
    for (int64_t i = 0; i < k; i++) assert_int_equal(seen[i], 1);
    tsr_panels_free(&panels);
  }
}

/* The panels of each pair have depths 1, 1, 2, 4, 8, 8, ... */
static void panels_grow(void **state) {
  (void)state;
  static const int64_t depth[] = {1, 1, 2, 4, 8, 8, 8};
  tsr_axis x = {64, 4, 4, 0, 2};
  tsr_panels panels = {0};
  assert_int_equal(tsr_panels_make(&x, &x, 1, 8, &panels), TSR_OK);
  assert_int_equal(panels.count, 14);
  for (size_t t = 0; t < 14; t++) {
    assert_int_equal(panels.items[t].depth, depth[t / 2]);
    assert_int_equal(panels.items[t].row, (int)(t % 2));
  }
  tsr_panels_free(&panels);
}

/* Small blocks make deep panels: 64 indices in blocks of 1 over 2 x 2 processes are two panels. */
static void small_blocks_are_gathered(void **state) {
  (void)state;
  tsr_axis x = {64, 1, 1, 0, 2};
  tsr_panels panels = {0};
  assert_int_equal(tsr_panels_make(&x, &x, 1024, 1024, &panels), TSR_OK);
  assert_int_equal(panels.count, 2);
  for (size_t t = 0; t < 2; t++) {
    assert_int_equal(panels.items[t].depth, 32);
    assert_int_equal(panels.items[t].row, (int)t);
    assert_int_equal(panels.items[t].col, (int)t);
  }
  tsr_panels_free(&panels);
}

static void no_memory_for_panels(void **state) {
  (void)state;
  tsr_axis x = {64, 4, 4, 0, 2};
  for (long n = 1; n <= 2; n++) {
    tsr_panels panels = {0};
    tsr_alloc_fail_at(n);
    assert_int_equal(tsr_panels_make(&x, &x, 3, 3, &panels), TSR_ERR_MEMORY);
    tsr_panels_free(&panels);
  }
  tsr_alloc_fail_at(0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(owners_and_places),           cmocka_unit_test(parts_are_axes),
      cmocka_unit_test(agreement_is_of_owners),      cmocka_unit_test(common_indices),
      cmocka_unit_test(indices_that_are_everywhere), cmocka_unit_test(panels_cover_k_once),
      cmocka_unit_test(small_blocks_are_gathered),   cmocka_unit_test(panels_grow),
      cmocka_unit_test(no_memory_for_panels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
