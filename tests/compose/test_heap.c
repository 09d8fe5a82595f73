/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The heap, on an engine that hands out an arena so that its blocks touch. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "problem.h"
#include "compose/heap.h"
#include "tessera_model.h"

enum { UNIT = 4096, UNITS = 256, BLOCK = 16 * UNIT, DEVICE = 3 };

/* Blocks of whole units, each at the lowest place that is free. */
struct tsr_engine_state {
  char *arena;
  size_t block_units[UNITS]; /* of the block that begins at a unit */
  bool busy[UNITS];
  int blocks;    /* out now */
  int asked;     /* calls of alloc */
  int fail_at;   /* the nth of them fails, 0: none */
  size_t refuse; /* any of that many bytes or more fails, 0: none */
};

static size_t units_for(size_t bytes) {
  return (bytes + UNIT - 1) / UNIT;
}

static bool is_free(const tsr_engine_state *state, size_t first, size_t units) {
  for (size_t u = first; u < first + units; u++)
    if (u >= UNITS || state->busy[u]) return false;
  return true;
}

static tsr_status arena_alloc(tsr_engine_state *state, int device, size_t bytes, void **pointer) {
  assert_int_equal(device, DEVICE);
  size_t units = units_for(bytes), first = 0;
  if (++state->asked == state->fail_at) return tsr_fail(TSR_ERR_MEMORY, "told to fail");
  if (state->refuse > 0 && bytes >= state->refuse) return tsr_fail(TSR_ERR_MEMORY, "too large");
  while (first < UNITS && !is_free(state, first, units)) first++;
  if (first == UNITS) return tsr_fail(TSR_ERR_MEMORY, "the arena is full");
  for (size_t u = first; u < first + units; u++) state->busy[u] = true;
  state->block_units[first] = units;
  state->blocks++;
  *pointer = state->arena + first * UNIT;
  return TSR_OK;
}

static void arena_free(tsr_engine_state *state, int device, void *pointer) {
  assert_int_equal(device, DEVICE);
  size_t first = (size_t)((char *)pointer - state->arena) / UNIT, units = state->block_units[first];
  assert_true(units > 0);
  for (size_t u = first; u < first + units; u++) state->busy[u] = false;
  state->block_units[first] = 0;
  state->blocks--;
}

typedef struct rig {
  tsr_engine engine;
  tsr_engine_state state;
  tsr_heap *heap;
} rig;

static void rig_open(rig *r, size_t limit, size_t block) {
  *r = (rig){.engine = {.name = "arena", .alloc = arena_alloc, .free = arena_free}};
  r->state.arena = aligned_alloc(UNIT, (size_t)UNITS * UNIT);
  assert_non_null(r->state.arena);
  assert_int_equal(tsr_heap_create(&r->engine, &r->state, DEVICE, limit, block, &r->heap), TSR_OK);
  assert_int_equal(tsr_heap_held(r->heap), 0);
}

static void rig_close(rig *r) {
  tsr_heap_destroy(r->heap);
  assert_int_equal(r->state.blocks, 0);
  free(r->state.arena);
}

static char *take(rig *r, size_t bytes) {
  void *pointer = NULL;
  assert_int_equal(tsr_heap_take(r->heap, bytes, &pointer), TSR_OK);
  return pointer;
}

static void no_room(rig *r, size_t bytes) {
  void *pointer = &pointer;
  size_t used = tsr_heap_used(r->heap), held = tsr_heap_held(r->heap);
  assert_int_equal(tsr_heap_take(r->heap, bytes, &pointer), TSR_ERR_MEMORY);
  assert_ptr_equal(pointer, &pointer);
  assert_int_equal(tsr_heap_used(r->heap), used);
  assert_int_equal(tsr_heap_held(r->heap), held);
}

/* ---- Random pieces against a shadow ---- */

enum { PIECES = 400 };

typedef struct span {
  char *begin;
  size_t bytes;
} span;

typedef struct shadow {
  span out[PIECES];
  int count;
} shadow;

static size_t rounded(size_t bytes) {
  return bytes == 0 ? 512 : (bytes + 511) / 512 * 512;
}

/* One block of the engine holds all of it. */
static void check_inside(const rig *r, const span *p) {
  size_t at = (size_t)(p->begin - r->state.arena), unit = at / UNIT;
  assert_int_equal(at % 512, 0);
  while (unit > 0 && r->state.block_units[unit] == 0) unit--;
  size_t end = (unit + r->state.block_units[unit]) * UNIT;
  assert_true(at + p->bytes <= end);
}

static void check_shadow(const rig *r, const shadow *s, size_t limit) {
  size_t used = 0, held = 0;
  for (int i = 0; i < s->count; i++) {
    const span *p = &s->out[i];
    check_inside(r, p);
    for (int j = 0; j < i; j++)
      assert_true(p->begin + p->bytes <= s->out[j].begin ||
                  s->out[j].begin + s->out[j].bytes <= p->begin);
    used += p->bytes;
  }
  for (size_t u = 0; u < UNITS; u++) held += r->state.block_units[u] * UNIT;
  assert_int_equal(tsr_heap_used(r->heap), used);
  assert_int_equal(tsr_heap_held(r->heap), held);
  assert_true(held <= limit);
}

static void give_one(rig *r, shadow *s, int at) {
  tsr_heap_give(r->heap, s->out[at].begin);
  s->out[at] = s->out[--s->count];
}

static void take_one(rig *r, shadow *s, size_t bytes) {
  void *pointer = NULL;
  if (s->count == PIECES || tsr_heap_take(r->heap, bytes, &pointer) != TSR_OK) return;
  s->out[s->count++] = (span){pointer, rounded(bytes)};
}

/* No single piece needs a block that is not whole units: what is held can be told from the arena.
 */
static void random_pieces(void **state) {
  (void)state;
  size_t limit = 70 * UNIT;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    rig r;
    rng random = {seed};
    shadow s = {.count = 0};
    rig_open(&r, limit, BLOCK);
    for (int step = 0; step < 1500; step++) {
      size_t most = rng_next(&random) % 16 == 0 ? 12 * UNIT : UNIT;
      if (rng_next(&random) % 100 < (step / 300 % 2 == 0 ? 65 : 35))
        take_one(&r, &s, (size_t)rng_between(&random, 0, (int64_t)most));
      else if (s.count > 0)
        give_one(&r, &s, (int)rng_between(&random, 0, s.count - 1));
      if (rng_next(&random) % 50 == 0) tsr_heap_trim(r.heap);
      check_shadow(&r, &s, limit);
    }
    while (s.count > 0) give_one(&r, &s, (int)rng_between(&random, 0, s.count - 1));
    check_shadow(&r, &s, limit);
    tsr_heap_trim(r.heap);
    assert_int_equal(r.state.blocks, 0);
    assert_int_equal(tsr_heap_held(r.heap), 0);
    rig_close(&r);
  }
}

/* ---- One thing each ---- */

static void takes_the_best_fit(void **state) {
  (void)state;
  rig r;
  rig_open(&r, BLOCK, BLOCK);
  static const size_t sizes[] = {2048, 512, 1024, 512, 1536, 512};
  char *pieces[6];
  for (int i = 0; i < 6; i++) pieces[i] = take(&r, sizes[i]);
  for (int i = 0; i < 6; i += 2) tsr_heap_give(r.heap, pieces[i]);
  assert_ptr_equal(take(&r, 1400), pieces[4]);
  assert_ptr_equal(take(&r, 1000), pieces[2]);
  assert_ptr_equal(take(&r, 1), pieces[0]);
  assert_int_equal(tsr_heap_held(r.heap), BLOCK);
  rig_close(&r);
}

static void joins_what_is_given(void **state) {
  (void)state;
  static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};
  for (int i = 0; i < 4; i++) {
    rig r;
    rig_open(&r, BLOCK, BLOCK);
    char *pieces[3];
    for (int p = 0; p < 3; p++) pieces[p] = take(&r, BLOCK / 4);
    for (int p = 0; p < 3; p++) tsr_heap_give(r.heap, pieces[orders[i][p]]);
    assert_ptr_equal(take(&r, BLOCK), pieces[0]);
    rig_close(&r);
  }
}

static void keeps_blocks_apart(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 2 * BLOCK, BLOCK);
  char *pieces[4];
  for (int i = 0; i < 4; i++) pieces[i] = take(&r, BLOCK / 2);
  assert_ptr_equal(pieces[3], pieces[0] + 3 * BLOCK / 2);
  tsr_heap_give(r.heap, pieces[1]);
  tsr_heap_give(r.heap, pieces[2]);
  no_room(&r, BLOCK / 2 + 512);
  tsr_heap_give(r.heap, pieces[0]);
  tsr_heap_trim(r.heap);
  assert_int_equal(r.state.blocks, 1);
  assert_int_equal(tsr_heap_held(r.heap), BLOCK);
  rig_close(&r);
}

/* Blocks that are too small for a piece give way to a larger one. */
static void frees_blocks_that_nobody_uses(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 3 * BLOCK, UNIT);
  char *pieces[3];
  for (int i = 0; i < 3; i++) pieces[i] = take(&r, BLOCK);
  tsr_heap_give(r.heap, pieces[0]);
  tsr_heap_give(r.heap, pieces[1]);
  take(&r, 2 * BLOCK);
  assert_int_equal(tsr_heap_held(r.heap), 3 * BLOCK);
  assert_int_equal(r.state.blocks, 2);
  tsr_heap_give(r.heap, pieces[2]);
  rig_close(&r);
}

static void exhausts_and_recovers(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 2 * BLOCK + BLOCK / 2, BLOCK);
  char *pieces[10];
  for (int i = 0; i < 10; i++) pieces[i] = take(&r, BLOCK / 4);
  assert_int_equal(tsr_heap_held(r.heap), 2 * BLOCK + BLOCK / 2); /* the last block is smaller */
  no_room(&r, 1);
  no_room(&r, 3 * BLOCK);
  no_room(&r, SIZE_MAX);
  tsr_heap_give(r.heap, pieces[5]);
  no_room(&r, BLOCK / 4 + 1);
  assert_ptr_equal(take(&r, BLOCK / 4), pieces[5]);
  rig_close(&r);
}

static void ignores_what_is_not_out(void **state) {
  (void)state;
  rig r;
  rig_open(&r, BLOCK, BLOCK);
  char *piece = take(&r, 1024);
  tsr_heap_give(r.heap, NULL);
  tsr_heap_give(r.heap, piece + 512);
  tsr_heap_give(r.heap, piece + 1024);
  assert_int_equal(tsr_heap_used(r.heap), 1024);
  rig_close(&r);
  tsr_heap_destroy(NULL);
}

static void large_pieces_have_large_blocks(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 4 * BLOCK, BLOCK);
  take(&r, 2 * BLOCK + 1);
  assert_int_equal(tsr_heap_held(r.heap), 2 * BLOCK + 512);
  take(&r, BLOCK - 1024);
  assert_int_equal(tsr_heap_held(r.heap), 3 * BLOCK + 512);
  rig_close(&r);
}

/* Without a size of blocks: an eighth of the limit or 256 MiB, but never more than is left. */
static void default_blocks(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 100 * UNIT + 100, 0);
  take(&r, 1);
  assert_int_equal(tsr_heap_held(r.heap), 100 * UNIT);
  rig_close(&r);
  rig_open(&r, (size_t)1 << 40, 0);
  take(&r, UNIT); /* a block of 128 GiB does not fit the arena: what the piece needs does */
  assert_int_equal(r.state.asked, 2);
  assert_int_equal(tsr_heap_held(r.heap), UNIT);
  rig_close(&r);
}

/* ---- Failures ---- */

static void engine_fails(void **state) {
  (void)state;
  for (int n = 1; n <= 4; n++) {
    rig r;
    rig_open(&r, 8 * BLOCK, BLOCK);
    r.state.fail_at = n;
    for (int i = 0; i < 12; i++) take(&r, BLOCK / 2 - 512);
    assert_true(r.state.asked > n);
    rig_close(&r);
  }
}

static void engine_has_no_room(void **state) {
  (void)state;
  rig r;
  rig_open(&r, 100 * BLOCK, BLOCK);
  r.state.refuse = 4 * UNIT;
  char *piece = take(&r, 3 * UNIT);
  assert_int_equal(tsr_heap_held(r.heap), 3 * UNIT);
  no_room(&r, 4 * UNIT);
  assert_string_equal(tsr_message(), "too large");
  tsr_heap_give(r.heap, piece);
  assert_ptr_equal(take(&r, 3 * UNIT), piece);
  r.state.refuse = 0;
  take(&r, 4 * UNIT);
  rig_close(&r);
}

static tsr_status lost(tsr_engine_state *state, int device, size_t bytes, void **pointer) {
  (void)device, (void)bytes, (void)pointer;
  state->asked++;
  return tsr_fail(TSR_ERR_ENGINE, "the device is lost");
}

/* Another error than lack of memory is passed on at once. */
static void device_is_lost(void **state) {
  (void)state;
  rig r;
  void *pointer = NULL;
  rig_open(&r, BLOCK, BLOCK);
  r.engine.alloc = lost;
  assert_int_equal(tsr_heap_take(r.heap, 1, &pointer), TSR_ERR_ENGINE);
  assert_int_equal(r.state.asked, 1);
  rig_close(&r);
}

/* Each allocation on the host fails once; the next try is served, and giving needs none. */
static void host_memory_fails(void **state) {
  (void)state;
  tsr_heap *none = NULL;
  tsr_alloc_fail_at(1);
  assert_int_equal(tsr_heap_create(NULL, NULL, 0, 1, 1, &none), TSR_ERR_MEMORY);
  assert_null(none);
  for (long n = 1; n < 30; n++) {
    rig r;
    char *pieces[64];
    rig_open(&r, 64 * UNIT, 8 * UNIT);
    tsr_alloc_fail_at(n);
    for (int i = 0; i < 64; i++) {
      void *pointer = NULL;
      if (tsr_heap_take(r.heap, UNIT, &pointer) != TSR_OK) pointer = take(&r, UNIT);
      pieces[i] = pointer;
    }
    tsr_alloc_fail_at(1);
    for (int i = 0; i < 64; i += 2) tsr_heap_give(r.heap, pieces[i]);
    for (int i = 1; i < 64; i += 2) tsr_heap_give(r.heap, pieces[i]);
    tsr_heap_trim(r.heap);
    tsr_alloc_fail_at(0);
    assert_int_equal(tsr_heap_used(r.heap), 0);
    assert_int_equal(tsr_heap_held(r.heap), 0);
    rig_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_pieces),
      cmocka_unit_test(takes_the_best_fit),
      cmocka_unit_test(joins_what_is_given),
      cmocka_unit_test(keeps_blocks_apart),
      cmocka_unit_test(frees_blocks_that_nobody_uses),
      cmocka_unit_test(exhausts_and_recovers),
      cmocka_unit_test(ignores_what_is_not_out),
      cmocka_unit_test(large_pieces_have_large_blocks),
      cmocka_unit_test(default_blocks),
      cmocka_unit_test(engine_fails),
      cmocka_unit_test(engine_has_no_room),
      cmocka_unit_test(device_is_lost),
      cmocka_unit_test(host_memory_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
