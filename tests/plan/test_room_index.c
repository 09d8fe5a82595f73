/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The index of cached blocks against looking at every room. */
#include "plan/schedule/cached_index.h"
#include "chance.h"
#include "planning.h"

enum { QUESTIONS = 300, EXTENT = 1000, DEVICES = 3 };

/* Some of them reach beyond the matrix. */
static tsr_rect draw_rect(void) {
  int64_t size = between(0, 3) ? 60 : EXTENT;
  return tsr_rect_make(between(-30, EXTENT), between(-30, EXTENT), between(1, size),
                       between(1, size));
}

static void add_rooms(int count, tsr_residency *blocks, tsr_cached_index *index) {
  for (int i = 0; i < count; ++i) {
    tsr_cached_block room = {.device = (int16_t)between(0, DEVICES - 1),
                             .matrix = (uint8_t)between(0, TSR_OPERANDS - 1),
                             .rect = draw_rect()};
    assert_non_null(tsr_residency_add(blocks, room));
    assert_true(tsr_cached_index_add(index, &room));
  }
}

static void compare_meeting(const tsr_residency *blocks, tsr_cached_index *index, int matrix,
                            tsr_rect rect) {
  size_t found = 0;
  assert_true(tsr_cached_index_ask(index, blocks, matrix, rect));
  for (size_t i = 0; i < blocks->blocks.count; ++i) {
    const tsr_cached_block *room = &blocks->blocks.items[i];
    if (room->matrix != matrix || !tsr_rect_meet(room->rect, rect)) continue;
    assert_in_range(found, 0, index->found.count - 1);
    assert_int_equal(index->found.items[found++], i);
  }
  assert_int_equal(found, index->found.count);
}

static void compare_holder(const tsr_residency *blocks, const tsr_cached_index *index, int matrix,
                           tsr_rect rect, int device) {
  int32_t expected = -1;
  for (size_t i = blocks->blocks.count; i-- > 0;) {
    const tsr_cached_block *room = &blocks->blocks.items[i];
    if (room->matrix == matrix && room->device == device && tsr_rect_contains(room->rect, rect))
      expected = (int32_t)i;
  }
  assert_int_equal(tsr_cached_index_holder(index, blocks, matrix, rect, device), expected);
}

static void compare(int rooms_expected, int rooms_added) {
  tsr_call call = {0};
  tsr_residency blocks = {0};
  tsr_cached_index index = {0};
  size_t expected[TSR_OPERANDS];
  for (int x = 0; x < TSR_OPERANDS; ++x) {
    call.operand[x].rows = call.operand[x].cols = EXTENT - 300 * x; /* one is smaller than most */
    expected[x] = (size_t)rooms_expected;
  }
  assert_true(tsr_cached_index_init(&index, &call, expected));
  add_rooms(rooms_added, &blocks, &index);
  for (int i = 0; i < QUESTIONS; ++i) {
    int matrix = (int)between(0, TSR_OPERANDS - 1);
    tsr_rect rect = draw_rect();
    compare_meeting(&blocks, &index, matrix, rect);
    compare_holder(&blocks, &index, matrix, rect, (int)between(0, DEVICES - 1));
  }
  tsr_cached_index_free(&index);
  tsr_residency_free(&blocks);
}

static void test_finds_what_a_scan_finds(void **unused) {
  (void)unused;
  compare(0, 0);
  compare(1, 5);
  compare(20, 100);
  compare(600, 400);
}

/* An operand that is not used has no extent. */
static void test_without_extent(void **unused) {
  (void)unused;
  tsr_call call = {0};
  tsr_residency blocks = {0};
  tsr_cached_index index = {0};
  const size_t expected[TSR_OPERANDS] = {0};
  assert_true(tsr_cached_index_init(&index, &call, expected));
  assert_true(tsr_cached_index_ask(&index, &blocks, TSR_B_, tsr_rect_make(0, 0, 5, 5)));
  assert_int_equal(index.found.count, 0);
  tsr_cached_index_free(&index);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_finds_what_a_scan_finds),
                                     cmocka_unit_test(test_without_extent)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
