/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What is on the devices: brought home, forgotten, mapped, distributed. */
#include <stdlib.h>
#include <string.h>

#include "front/context.h"
#include "world.h"

static double *of(world *w, int matrix) {
  return w->matrix[matrix];
}

/* ---- Before ---------------------------------------------------------------------- */

static void expect_product(world *w) {
  static const double one = 1;
  world_expect(w, &world_product, &one, &one);
}

/* C is newer on the devices than at home. */
static void after_product(void *world_) {
  world *w = world_;
  expect_product(w);
  HOLD(world_multiply_async(w) == TSR_OK);
}

/* All of C is at home, and copies of all are on the devices. */
static void after_coherence(void *world_) {
  after_product(world_);
  world_comes_right(world_, TSR_D);
}

/* The same, and it is complete: what fails then is a later call's own. */
static void computed(void *world_) {
  world *w = world_;
  after_product(w);
  HOLD(tsr_sync(w->context) == TSR_OK);
}

/* The program changes every other row of each tile of C, but for its first and last columns: what
 * the devices have of C is in splinters then, and another hole in it takes memory. */
static void splintered(void *world_) {
  enum { FROM = 2, COLS = 10 };
  world *w = world_;
  double *expected = w->expected;
  computed(w);
  for (int row = 1; row < N; row += 2)
    for (int col = FROM; col < N; col += TILE) {
      int k = row + col * N, cols = col + COLS < N ? COLS : N - col - 1;
      HOLD(tsr_invalidate(w->context, 1, cols, of(w, C) + k, N, TSR_D) == TSR_OK);
      for (int i = 0; i < cols; i++) expected[k + i * N] = ((double *)w->was[C])[k + i * N];
    }
}

/* C seen with columns of another length: what is on the devices of the one lies across the other.
 */
enum { OTHER = 20, LONG = COUNT / OTHER };

/* ---- Coherence ------------------------------------------------------------------- */

static tsr_status coherent_async(void *world_) {
  world *w = world_;
  return CALLED(tsr_coherent_async)(w->context, TSR_GENERAL, N, N, of(w, C), N, TSR_D);
}

static tsr_status coherent(void *world_) {
  world *w = world_;
  return CALLED(tsr_coherent)(w->context, TSR_GENERAL, N, N, of(w, C), N, TSR_D);
}

static tsr_status coherent_triangle(void *world_) {
  world *w = world_;
  return CALLED(tsr_coherent_async)(w->context, TSR_LOWER, N, N, of(w, C), N, TSR_D);
}

/* Seen as a matrix of other extents. */
static tsr_status coherent_across(void *world_) {
  world *w = world_;
  return CALLED(tsr_coherent_async)(w->context, TSR_GENERAL, LONG, OTHER, of(w, C), LONG, TSR_D);
}

static tsr_status sync_home(void *world_) {
  world *w = world_;
  return CALLED(tsr_sync_home)(w->context);
}

static bool holds_lower(world *w, const double *values) {
  for (int j = 0; j < N; j++)
    for (int i = j; i < N; i++)
      if (of(w, C)[i + j * N] != values[i + j * N]) return false;
  return true;
}

/* Each element is as it was, or as it shall be. */
static bool is_on_its_way(world *w) {
  const double *was = w->was[C], *expected = w->expected;
  for (int i = 0; i < COUNT; i++)
    if (of(w, C)[i] != was[i] && of(w, C)[i] != expected[i]) return false;
  return true;
}

/* What was refused has lost nothing; nor has anything come home but what lies across the region. */
static void check_coherent(void *world_, const sweep_outcome *o) {
  world *w = world_;
  bool triangle = w->visit->call == coherent_triangle, crosses = w->visit->call == coherent_across;
  if (o->dead) return;
  HOLD(world_inputs_kept(w));
  if (sweep_done(o))
    HOLD(triangle ? holds_lower(w, w->expected) : world_holds(w, C, TSR_D, w->expected));
  if (!sweep_refused(o) || o->synced != TSR_OK) return;
  HOLD(crosses ? is_on_its_way(w) : world_kept(w));
  world_comes_right(w, TSR_D);
}

/* The call's copies failed where it says so itself: it is not for tsr_sync to tell, unless results
 * were lost with a device. */
static void check_waited(void *world_, const sweep_outcome *o) {
  world *w = world_;
  bool lost = o->midway && o->status == TSR_ERR_DEVICE && o->synced == TSR_ERR_DEVICE;
  HOLD(o->synced == TSR_OK || o->status == TSR_OK || lost);
  if (o->status == TSR_OK) HOLD(world_holds(w, C, TSR_D, w->expected));
  check_coherent(w, o);
}

/* C is at home if the call says so; else nothing is lost, and it can be made again. */
static void check_home(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead) return;
  HOLD(world_inputs_kept(w));
  if (o->status == TSR_OK) HOLD(world_holds(w, C, TSR_D, w->expected));
  if (!sweep_refused(o) || o->synced != TSR_OK) return;
  HOLD(is_on_its_way(w));
  HOLD(sync_home(w) == TSR_OK && world_holds(w, C, TSR_D, w->expected));
  world_comes_right(w, TSR_D);
}

/* C is at home, whatever the call says. */
static void check_at_home(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(o->synced == TSR_OK);
  HOLD(world_inputs_kept(w) && world_holds(w, C, TSR_D, w->expected));
}

/* ---- Invalidating and releasing --------------------------------------------------- */

/* A quarter of C, in the middle; and a column of C as LONG x OTHER. */
enum { AT = 10, PART = 20, AWAY = 3 * LONG };

static tsr_status invalidate(void *world_) {
  world *w = world_;
  return CALLED(tsr_invalidate)(w->context, N, N, of(w, C), N, TSR_D);
}

static tsr_status invalidate_part(void *world_) {
  world *w = world_;
  return CALLED(tsr_invalidate)(w->context, PART, PART, of(w, C) + AT + AT * N, N, TSR_D);
}

static tsr_status invalidate_across(void *world_) {
  world *w = world_;
  return CALLED(tsr_invalidate)(w->context, LONG, 1, of(w, C) + AWAY, LONG, TSR_D);
}

static tsr_status release_part(void *world_) {
  world *w = world_;
  return CALLED(tsr_release)(w->context, PART, PART, of(w, C) + AT + AT * N, N, TSR_D);
}

static tsr_status release_all(void *world_) {
  world *w = world_;
  return CALLED(tsr_release)(w->context, 0, 0, NULL, 1, TSR_D);
}

static bool is_in(const world *w, int row, int col) {
  int at = row + col * N;
  if (w->visit->call == invalidate || w->visit->call == release_all) return true;
  if (w->visit->call == invalidate_across) return at / LONG == AWAY / LONG;
  return row >= AT && row < AT + PART && col >= AT && col < AT + PART;
}

/* What was forgotten is as the host has it; all else is a result. When the call was refused nothing
 * was forgotten, but perhaps a part of what lies across the region; and it can be made again. */
static void check_forgotten(void *world_, const sweep_outcome *o) {
  world *w = world_;
  double *c = of(w, C), *expected = w->expected, *was = w->was[C];
  bool gone = o->status == TSR_OK;
  if (o->dead || o->synced != TSR_OK || o->status == TSR_ERR_DEVICE) return;
  HOLD(world_inputs_kept(w));
  if (w->visit->call == invalidate_across) HOLD(memcmp(c + AWAY, was + AWAY, LONG * 8) == 0);
  if (!gone && w->visit->call == invalidate_across) {
    HOLD(w->visit->call(w) == TSR_OK);
    gone = true;
  }
  if (!gone) HOLD(world_kept(w));
  HOLD(tsr_coherent(w->context, TSR_GENERAL, N, N, c, N, TSR_D) == TSR_OK);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      bool forgotten = gone && is_in(w, i, j);
      if (!HOLD(c[i + j * N] == (forgotten ? was : expected)[i + j * N])) return;
    }
  if (gone) return;
  HOLD(w->visit->call(w) == TSR_OK);
}

/* To forget all of a matrix takes no memory. */
static void check_all_forgotten(void *world_, const sweep_outcome *o) {
  HOLD(o->status == TSR_OK && !o->failed);
  check_forgotten(world_, o);
}

/* The program changes A, and says so. */
static tsr_status invalidate_input(void *world_) {
  world *w = world_;
  return CALLED(tsr_invalidate)(w->context, N, N, of(w, A), N, TSR_D);
}

static void check_changed(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->synced != TSR_OK) return;
  if (o->status != TSR_OK) HOLD(invalidate_input(w) == TSR_OK);
  world_fill(TSR_D, of(w, A), 7);
  world_fill(TSR_D, w->was[A], 7);
  memcpy(of(w, C), w->was[C], BYTES);
  memcpy(w->expected, w->was[C], BYTES);
  HOLD(tsr_invalidate(w->context, N, N, of(w, C), N, TSR_D) == TSR_OK);
  expect_product(w);
  HOLD(world_multiply_async(w) == TSR_OK);
  world_comes_right(w, TSR_D);
}

/* ---- A call beside what crosses it -------------------------------------------------- */

/* C as LONG x OTHER is written to, while C as N x N is newer on the devices. */
static const tsr_level3 across = {TSR_GEMM,     TSR_D,        TSR_COL_MAJOR, TSR_LEFT, TSR_GENERAL,
                                  TSR_NO_TRANS, TSR_NO_TRANS, TSR_NON_UNIT,  LONG,     OTHER,
                                  OTHER,        LONG,         OTHER,         LONG};

static const double one = 1;

static void expect_across(void *world_) {
  world *w = world_;
  after_product(w);
  world_expect(w, &across, &one, &one);
}

/* The first columns of C alone: the rest of what lies across them stays, and is in more splinters
 * then. */
static const tsr_level3 across_part = {
    TSR_GEMM, TSR_D, TSR_COL_MAJOR, TSR_LEFT, TSR_GENERAL, TSR_NO_TRANS, TSR_NO_TRANS, TSR_NON_UNIT,
    LONG,     2,     OTHER,         LONG,     OTHER,       LONG};

/* Those are at home already, but not the rest. */
static void expect_across_part(void *world_) {
  enum { ROWS = 4, COLS = 4 };
  world *w = world_;
  splintered(w);
  for (int row = 0; row < N; row += ROWS)
    HOLD(tsr_coherent(w->context, TSR_GENERAL, ROWS, COLS, of(w, C) + row, N, TSR_D) == TSR_OK);
  world_expect(w, &across_part, &one, &one);
}

static tsr_status multiply_across(void *world_) {
  world *w = world_;
  return CALLED(tsr_level3_run_async)(w->context, &across, &one, of(w, A), of(w, B), &one,
                                      of(w, C));
}

static tsr_status multiply_across_part(void *world_) {
  world *w = world_;
  return CALLED(tsr_level3_run_async)(w->context, &across_part, &one, of(w, A), of(w, B), &one,
                                      of(w, C));
}

static tsr_status multiply_across_now(void *world_) {
  world *w = world_;
  return CALLED(tsr_level3_run)(w->context, &across, &one, of(w, A), of(w, B), &one, of(w, C));
}

static void check_across(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->synced != TSR_OK || o->status == TSR_ERR_DEVICE) return;
  HOLD(world_inputs_kept(w));
  if (o->status != TSR_OK) HOLD(w->visit->call(w) == TSR_OK);
  world_comes_right(w, TSR_D);
}

/* ---- Maps --------------------------------------------------------------------------- */

/* C has one already, which a refused call leaves; and there are others, so that one more takes
 * memory. */
static void mapped(void *world_) {
  enum { OTHERS = 7 };
  world *w = world_;
  for (int i = 0; i < OTHERS; i++)
    HOLD(tsr_map_1d_block_cyclic(w->context, 1, N, of(w, D) + i, N, TSR_D, 16) == TSR_OK);
  HOLD(tsr_map_1d_block_cyclic(w->context, N, N, of(w, C), N, TSR_D, 16) == TSR_OK);
  expect_product(w);
}

static tsr_status map_1d(void *world_) {
  world *w = world_;
  return CALLED(tsr_map_1d_block_cyclic)(w->context, N, N, of(w, C), N, TSR_D, 10);
}

static tsr_status map_2d(void *world_) {
  world *w = world_;
  return CALLED(tsr_map_2d_block_cyclic)(w->context, N, N, of(w, C), N, TSR_D, 20, 20, 2, 1);
}

static tsr_status distribute_1d(void *world_) {
  world *w = world_;
  return CALLED(tsr_distribute_1d_block_cyclic_async)(w->context, N, N, of(w, C), N, TSR_D, 10);
}

static tsr_status distribute_2d(void *world_) {
  world *w = world_;
  return CALLED(tsr_distribute_2d_block_cyclic_async)(w->context, N, N, of(w, C), N, TSR_D, 20, 20,
                                                      2, 1);
}

static tsr_status map_from(void *world_) {
  world *w = world_;
  return CALLED(tsr_map_block_cyclic)(w->context, N, N, of(w, C), N, TSR_D, 20, 20, 2, 1, 1);
}

static tsr_status distribute_from(void *world_) {
  world *w = world_;
  return CALLED(tsr_distribute_block_cyclic_async)(w->context, N, N, of(w, C), N, TSR_D, 20, 20, 2,
                                                   1, 1);
}

static tsr_status put(void *world_) {
  world *w = world_;
  return CALLED(tsr_put_async)(w->context, N, N, of(w, C), N, TSR_D, 1);
}

/* The map that C has, or the last one of several, with blocks of these extents. */
static bool is_mapped(const world *w, int64_t rows, int64_t cols) {
  const tsr_mapping *found = NULL;
  int count = 0;
  for (size_t i = 0; i < w->context->directory.mapped.count; i++) {
    const tsr_mapped *mapped_here = &w->context->directory.mapped.items[i];
    if (mapped_here->region.base != w->matrix[C]) continue;
    found = &mapped_here->mapping;
    count++;
  }
  return count == 1 && found->block_rows == rows && found->block_cols == cols;
}

static tsr_status ask_where(void *world_) {
  world *w = world_;
  w->count = -2;
  return CALLED(tsr_where)(w->context, N, N, of(w, C), N, TSR_D, &w->count, &w->number, NULL, NULL);
}

/* Outputs are written on success only. */
static void check_where(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD((o->status == TSR_OK) == (w->count != -2));
  if (o->status == TSR_OK) HOLD(w->number > 0 && w->number <= 1);
  if (o->dead) return;
  HOLD(w->visit->call(w) == TSR_OK);
}

static void check_mapped(void *world_, const sweep_outcome *o) {
  world *w = world_;
  bool flat = w->visit->call == map_1d || w->visit->call == distribute_1d;
  if (o->status == TSR_OK)
    HOLD(w->visit->call == put ? is_mapped(w, N, N)
         : flat                ? is_mapped(w, N, 10)
                               : is_mapped(w, 20, 20));
  else
    HOLD(is_mapped(w, N, 16));
  if (o->dead) return;
  HOLD(world_kept(w));
  if (sweep_refused(o)) HOLD(w->visit->call(w) == TSR_OK);
  HOLD(world_multiply_async(w) == TSR_OK);
  world_comes_right(w, TSR_D);
}

/* A product whose C is mapped. */
static tsr_status multiply(void *world_) {
  world *w = world_;
  return CALLED(tsr_level3_run_async)(w->context, &world_product, &one, of(w, A), of(w, B), &one,
                                      of(w, C));
}

static void check_behind(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->synced != TSR_OK || o->status == TSR_ERR_DEVICE) return;
  HOLD(world_inputs_kept(w));
  if (o->status != TSR_OK) HOLD(multiply(w) == TSR_OK);
  world_comes_right(w, TSR_D);
}

/* Two products on one C: the second needs what the first has made of it. */
static void expect_twice(void *world_) {
  world *w = world_;
  double *expected = w->expected;
  expect_product(w);
  for (int i = 0; i < COUNT; i++) expected[i] = 2 * expected[i] - ((double *)w->was[C])[i];
}

static tsr_status multiply_twice(void *w) {
  tsr_status status = multiply(w);
  return status == TSR_OK ? multiply(w) : status;
}

/* If neither the calls nor tsr_sync failed, C is right. */
static void check_twice(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->synced != TSR_OK || o->status != TSR_OK) return;
  HOLD(world_inputs_kept(w));
  world_comes_right(w, TSR_D);
}

static void check_product(void *world_, const sweep_outcome *o) {
  world *w = world_;
  if (o->dead || o->synced != TSR_OK || o->status == TSR_ERR_DEVICE) return;
  if (o->status != TSR_OK) HOLD(world_kept(w));
  check_behind(w, o);
}

/* Releasing what is mapped takes the map away, unless it is refused. */
static void mapped_part(void *world_) {
  world *w = world_;
  HOLD(tsr_map_1d_block_cyclic(w->context, PART, PART, of(w, C) + AT + AT * N, N, TSR_D, 5) ==
       TSR_OK);
  splintered(w);
}

static void check_unmapped(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(w->context->directory.mapped.count == (o->status != TSR_OK));
  check_forgotten(w, o);
}

/* Nothing is on devices, nor was it ever: nothing is made to forget it. */
static void check_nowhere(void *world_, const sweep_outcome *o) {
  world *w = world_;
  HOLD(o->status == TSR_OK && !o->failed);
  HOLD(world_kept(w));
}

/* Everything is on the devices already. */
static void there(void *world_) {
  world *w = world_;
  after_product(w);
  expect_product(w);
}

/* D = B B + D: what is on the devices of A and C makes room for D, C by way of its home. */
static tsr_status multiply_other(void *world_) {
  world *w = world_;
  return CALLED(tsr_level3_run_async)(w->context, &world_product, &one, of(w, B), of(w, B), &one,
                                      of(w, D));
}

static void check_both(void *world_, const sweep_outcome *o) {
  world *w = world_;
  double *d = w->was[D];
  tsr_traffic traffic;
  if (o->dead || o->synced != TSR_OK || o->status == TSR_ERR_DEVICE) return;
  HOLD(world_inputs_kept(w));
  if (!o->failed) HOLD(tsr_context_traffic(w->context, &traffic) == TSR_OK && traffic.plans > 2);
  if (o->status != TSR_OK) HOLD(multiply_other(w) == TSR_OK);
  world_comes_right(w, TSR_D);
  HOLD(tsr_coherent(w->context, TSR_GENERAL, N, N, of(w, D), N, TSR_D) == TSR_OK);
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      double sum = d[i + j * N];
      for (int k = 0; k < N; k++) sum += of(w, B)[i + k * N] * of(w, B)[k + j * N];
      if (!HOLD(of(w, D)[i + j * N] == sum)) return;
    }
}

#define VISIT(before, call, after) \
  { #call, NULL, before, call, after, 0, false, "" }
#define VISIT_AS(name, before, call, after, setup) \
  { name, NULL, before, call, after, 0, false, setup }

const sweep_visit composition_visits[] = {
    VISIT(computed, coherent_async, check_coherent),
    VISIT(computed, coherent, check_waited),
    VISIT(computed, coherent_triangle, check_coherent),
    VISIT(computed, coherent_across, check_coherent),
    VISIT_AS("coherent_async of pinned memory", computed, coherent_async, check_coherent,
             SETUP_PINNED),
    VISIT_AS("coherent_async with a timeline", computed, coherent_async, check_coherent,
             SETUP_TRACE),
    VISIT_AS("coherent_async while it is computed", after_product, coherent_async, check_coherent,
             ""),
    VISIT_AS("coherent where little fits", after_product, coherent, check_coherent, SETUP_SOME),
    VISIT_AS("coherent_async of what is at home", after_coherence, coherent_async, check_at_home,
             ""),
    VISIT_AS("coherent_async of splinters", splintered, coherent_async, check_coherent, ""),
    VISIT(computed, sync_home, check_home),
    VISIT_AS("sync_home while it is computed", after_product, sync_home, check_home, ""),
    VISIT_AS("sync_home where little fits", after_product, sync_home, check_home, SETUP_SOME),
    VISIT_AS("sync_home of splinters", splintered, sync_home, check_home, ""),
    VISIT(splintered, invalidate, check_all_forgotten),
    VISIT(splintered, invalidate_part, check_forgotten),
    VISIT(after_product, invalidate_across, check_forgotten),
    VISIT(after_coherence, invalidate_input, check_changed),
    VISIT(splintered, release_part, check_forgotten),
    VISIT(splintered, release_all, check_all_forgotten),
    VISIT_AS("release of what is mapped", mapped_part, release_part, check_unmapped, ""),
    VISIT_AS("invalidate what is nowhere", NULL, invalidate, check_nowhere, ""),
    VISIT_AS("release what is nowhere", NULL, release_all, check_nowhere, ""),
    VISIT_AS("coherent_async of what is nowhere", NULL, coherent_async, check_nowhere, ""),
    VISIT(expect_across, multiply_across, check_across),
    VISIT(expect_across_part, multiply_across_part, check_across),
    VISIT(expect_across, multiply_across_now, check_across),
    VISIT(mapped, map_1d, check_mapped),
    VISIT(mapped, map_2d, check_mapped),
    VISIT(mapped, distribute_1d, check_mapped),
    VISIT(mapped, distribute_2d, check_mapped),
    VISIT(mapped, map_from, check_mapped),
    VISIT(mapped, distribute_from, check_mapped),
    VISIT(mapped, put, check_mapped),
    VISIT(there, ask_where, check_where),
    VISIT_AS("distribute_2d of pinned memory", mapped, distribute_2d, check_mapped, SETUP_PINNED),
    VISIT_AS("distribute_1d where little fits", mapped, distribute_1d, check_mapped, SETUP_TIGHT),
    VISIT_AS("two products on one C", expect_twice, multiply_twice, check_twice, ""),
    VISIT_AS("two products on one C, reproducible", expect_twice, multiply_twice, check_twice,
             SETUP_EXACT),
    VISIT_AS("two products on one C where little fits", expect_twice, multiply_twice, check_twice,
             SETUP_TIGHT),
    VISIT_AS("a product that is mapped", mapped, multiply, check_product, ""),
    VISIT_AS("a product behind another one", there, multiply, check_behind, ""),
    VISIT_AS("a product where another one is in the way", after_product, multiply_other, check_both,
             SETUP_SOME),
    {0},
};
