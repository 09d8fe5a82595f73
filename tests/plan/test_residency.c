/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Chains of calls planned one after another, each from what the one before left on devices: every
 * plan is verified, and no byte crosses a host link that is on a device already. */
#include "base/alloc.h"
#include "plan/axes.h"
#include "plan/residency.h"
#include "plan/schedule/moves.h"
#include "owners.h"
#include "tessera_model.h"

enum { CHAINS = 300, LONGEST = 5 };

static tsr_call draw_call(const tsr_machine *machine, int64_t n) {
  static const double some[2] = {0.5, 0}, none[2] = {0, 0}, one[2] = {1, 0};
  const double *scalars[] = {some, none, one};
  tsr_level3 what = {.operation = (tsr_operation)between(0, TSR_OPERATION_COUNT - 1),
                     .type = TSR_Z,
                     .layout = TSR_COL_MAJOR,
                     .side = between(0, 1) ? TSR_LEFT : TSR_RIGHT,
                     .uplo = between(0, 1) ? TSR_LOWER : TSR_UPPER,
                     .transa = TSR_NO_TRANS,
                     .transb = TSR_NO_TRANS,
                     .diag = TSR_NON_UNIT,
                     .m = n,
                     .n = n,
                     .k = n,
                     .lda = n,
                     .ldb = n,
                     .ldc = n};
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  tsr_status status =
      tsr_call_level3(&what, scalars[between(0, 2)], NULL, NULL, scalars[between(0, 2)], NULL,
                      false, &call, &binding, &exchanged);
  if (status != TSR_OK) fail_msg("%s", tsr_message());
  planning_pin(machine, &call);
  return call;
}

/* What one matrix has left on devices, as another one has it. */
static tsr_residency seen_as(const tsr_residency *after, int from, int as) {
  tsr_residency seen;
  size_t kept = 0;
  assert_true(tsr_residency_copy(after, &seen));
  for (size_t i = 0; i < seen.blocks.count; ++i) {
    tsr_cached_block room = seen.blocks.items[i];
    if (room.matrix != from || as < 0) {
      tsr_rects_free(&room.valid);
      tsr_rects_free(&room.newer);
      continue;
    }
    room.matrix = (uint8_t)as;
    room.bytes = 0;
    seen.blocks.items[kept++] = room;
  }
  seen.blocks.count = kept;
  return seen;
}

static void keep_usable(tsr_rects *set, tsr_uplo uplo) {
  size_t kept = 0;
  for (size_t i = 0; i < set->count; ++i) {
    tsr_shape s = set->items[i];
    if (!tsr_is_triangle(s) || (s.uplo == (int64_t)uplo && s.rect.row0 == s.rect.col0))
      set->items[kept++] = s;
  }
  set->count = kept;
}

/* Without the triangles that a context brings home before a call that uses this triangle. */
static tsr_residency settled(tsr_residency seen, tsr_uplo uplo) {
  for (size_t i = 0; i < seen.blocks.count; ++i) {
    tsr_cached_block *block = &seen.blocks.items[i];
    keep_usable(&block->valid, uplo);
    keep_usable(&block->newer, uplo);
    for (size_t n = 0; n < block->newer.count; ++n)
      assert_true(tsr_rects_add_shape(&block->valid, block->newer.items[n]));
  }
  return seen;
}

/* The next call sees the C of the last one as any of its operands, or none. */
static tsr_residency handed_on(const tsr_residency *after, const tsr_call *next) {
  int as = (int)between(0, TSR_OPERANDS - 1);
  tsr_residency seen = seen_as(after, TSR_C_, next->operand[as].rows == 0 ? -1 : as);
  return settled(seen, tsr_call_triangle_of(next, as));
}

static void replace(tsr_residency *residency, tsr_residency by) {
  tsr_residency_free(residency);
  *residency = by;
}

static bool has_newer(const tsr_residency *residency) {
  for (size_t i = 0; i < residency->blocks.count; ++i)
    if (residency->blocks.items[i].newer.count > 0) return true;
  return false;
}

/* Brings C, or a triangle of it, home between two calls. */
static void bring_home(const tsr_machine *machine, const tsr_call *done, tsr_residency *kept) {
  static const tsr_uplo uplos[] = {TSR_GENERAL, TSR_LOWER, TSR_UPPER};
  const tsr_operand *c = &done->operand[TSR_C_];
  tsr_uplo triangle = c->rows == c->cols ? uplos[between(0, 2)] : TSR_GENERAL;
  tsr_uplo uplo = between(0, 1) ? triangle : TSR_GENERAL;
  tsr_call call = tsr_moves_call(TSR_C_, c, 16);
  tsr_residency seen = settled(seen_as(kept, TSR_C_, TSR_C_), triangle);
  if (triangle != TSR_GENERAL) tsr_moves_triangle(triangle, &call);
  tsr_plan_options options = planning_options(machine, 0);
  options.residency = &seen;
  tsr_plan *plan = NULL;
  must(tsr_plan_write_back(machine, &call, uplo, &options, &plan));
  must(tsr_plan_verify(plan, machine, options.budget));
  if (uplo == TSR_GENERAL) assert_false(has_newer(plan->after));
  replace(kept, seen_as(plan->after, TSR_C_, TSR_C_));
  tsr_residency_free(&seen);
  tsr_plan_free(plan);
}

/* Deals C over the devices between two calls. */
static void distribute(const tsr_machine *machine, const tsr_call *done, tsr_residency *kept) {
  tsr_mapping mapping = owners_draw(machine->devices);
  tsr_call call = tsr_moves_call(TSR_A, &done->operand[TSR_C_], 16);
  tsr_residency seen = settled(seen_as(kept, TSR_C_, TSR_A), TSR_GENERAL);
  tsr_plan_options options = planning_options(machine, 0);
  options.residency = &seen;
  tsr_plan *plan = NULL;
  must(tsr_plan_distribute(machine, &call, &mapping, &options, &plan));
  must(tsr_plan_verify(plan, machine, options.budget));
  replace(kept, seen_as(plan->after, TSR_A, TSR_C_));
  tsr_residency_free(&seen);
  tsr_plan_free(plan);
}

/* Some ways of cutting, so that boundaries of one call are not those of the next. */
static const char *draw_strategy(void) {
  static const char *const choices[] = {
      NULL,
      "tile=16",
      "tile=23",
      "any/kpanel=16 any/nblock=16,16,16 any/stripe=16 any/block=16 piece=2048",
      "any/kpanel=0 any/nblock=8,8,8 any/stripe=8 any/block=32 piece=512 any/c=last",
      "any/block=64 any/nblock=24,24,24 any/stripe=24"};
  return choices[between(0, 5)];
}

static tsr_plan *plan_next(const tsr_machine *machine, int64_t n, const tsr_residency *before,
                           tsr_residency *seen) {
  tsr_call call = draw_call(machine, n);
  *seen = handed_on(before, &call);
  tsr_plan_options options = planning_options(machine, 0);
  options.search_seconds = 1e-3;
  options.strategy = draw_strategy();
  options.residency = seen;
  tsr_mapping mapping = owners_draw(machine->devices);
  if (between(0, 2) == 0) options.mapping = &mapping;
  tsr_plan *plan = NULL;
  tsr_status status = tsr_plan_make(machine, &call, &options, &plan);
  if (status == TSR_OK) status = tsr_plan_verify(plan, machine, options.budget);
  if (status != TSR_OK)
    fail_msg("%s, strategy %s: %s", tsr_operation_name(call.operation),
             options.strategy ? options.strategy : "none", tsr_message());
  if (options.mapping && tsr_mapped_follows(&mapping, machine, &call))
    owners_must_follow(plan, &mapping);
  return plan;
}

static void chains_are_right(void **unused) {
  (void)unused;
  for (int chain = 0; chain < CHAINS; ++chain) {
    chance_seed((uint64_t)chain + 1);
    char string[96];
    snprintf(string, sizeof string, "host:200 gpu*%d@nvswitch:300 pcie:25/pair rate:19",
             (int)between(1, 5));
    tsr_machine *machine = planning_machine(string);
    tsr_residency before = {0};
    int64_t n = between(1, 150);
    for (int i = 0; i < LONGEST; ++i) {
      tsr_residency seen;
      tsr_plan *plan = plan_next(machine, n, &before, &seen);
      tsr_residency_free(&before);
      tsr_residency_free(&seen);
      before = (tsr_residency){0};
      if (plan->after) assert_true(tsr_residency_copy(plan->after, &before));
      if (plan->after && between(0, 2) == 0) bring_home(machine, &plan->call, &before);
      if (plan->after && between(0, 3) == 0) distribute(machine, &plan->call, &before);
      tsr_plan_free(plan);
    }
    tsr_residency_free(&before);
    tsr_machine_destroy(machine);
  }
}

/* ---- What planning may cost ---- */

/* C = C - A A^T, the lower triangle. */
static tsr_call syrk_of(const tsr_machine *machine, int64_t n, int64_t k) {
  static const double one = 1, minus_one = -1;
  tsr_level3 what = {.operation = TSR_SYRK,
                     .type = TSR_D,
                     .layout = TSR_COL_MAJOR,
                     .uplo = TSR_LOWER,
                     .transa = TSR_NO_TRANS,
                     .n = n,
                     .k = k,
                     .lda = n,
                     .ldc = n};
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  must(tsr_call_level3(&what, &minus_one, NULL, NULL, &one, NULL, false, &call, &binding,
                       &exchanged));
  planning_pin(machine, &call);
  return call;
}

static tsr_plan *plan_in_time(const tsr_machine *machine, const tsr_call *call,
                              const tsr_residency *seen, double search_seconds) {
  tsr_plan_options options = planning_options(machine, 0);
  options.search_seconds = search_seconds;
  options.residency = seen;
  tsr_plan *plan = NULL;
  must(tsr_plan_make(machine, call, &options, &plan));
  return plan;
}

/* The second of two updates finds all of C on the devices: it is no slower than one that fetches C,
 * and a search that stops early tries no more candidates and finds nothing better than one that
 * does not. build/tests/plan_composed_cost says what planning costs. */
static void longer_searches_find_no_worse(void **unused) {
  (void)unused;
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:50 rate:60");
  tsr_call call = syrk_of(machine, 16384, 512);
  const tsr_residency nothing = {0};
  tsr_plan *first = plan_in_time(machine, &call, &nothing, 0);
  tsr_residency seen = seen_as(first->after, TSR_C_, TSR_C_);
  tsr_plan *alone = plan_in_time(machine, &call, NULL, 0);
  tsr_plan *quick = plan_in_time(machine, &call, &seen, 0);
  tsr_plan *best = plan_in_time(machine, &call, &seen, 1e9);
  assert_true(quick->candidates <= best->candidates);
  assert_true(quick->seconds >= best->seconds);
  assert_true(quick->seconds <= alone->seconds);
  tsr_residency_free(&seen);
  tsr_plan_free(first), tsr_plan_free(alone), tsr_plan_free(quick), tsr_plan_free(best);
  tsr_machine_destroy(machine);
}

/* ---- Without device memory ---- */

static tsr_status plan_within(const tsr_machine *machine, const tsr_call *call,
                              const tsr_residency *seen, size_t budget) {
  tsr_plan_options options = planning_options(machine, 0);
  tsr_plan *plan = NULL;
  options.search_seconds = 0;
  options.residency = seen;
  for (int d = 0; d < machine->devices; ++d) options.budget[d] = budget;
  tsr_status status = tsr_plan_make(machine, call, &options, &plan);
  tsr_plan_free(plan);
  return status;
}

/* What is named suffices. */
static void names_what_it_needs(const tsr_machine *machine, const tsr_call *call,
                                const tsr_residency *seen) {
  size_t need = 0, left = 0;
  int device = -1;
  assert_int_equal(plan_within(machine, call, seen, 40000), TSR_ERR_MEMORY);
  const char *named = strstr(tsr_message(), "needs ");
  assert_non_null(named);
  assert_int_equal(
      sscanf(named, "needs %zu bytes of device %d, whose budget has %zu", &need, &device, &left),
      3);
  assert_true(left == 40000 && need > left && device >= 0 && device < machine->devices);
  must(plan_within(machine, call, seen, need));
}

static void what_a_composed_call_needs_is_named(void **unused) {
  (void)unused;
  const tsr_residency nothing = {0};
  for (int devices = 1; devices <= 4; devices *= 2) {
    char string[64];
    snprintf(string, sizeof string, "host:200 gpu*%d@nvswitch:300 pcie:50 rate:60", devices);
    tsr_machine *machine = planning_machine(string);
    tsr_call update = syrk_of(machine, 600, 200);
    tsr_call product =
        planning_call(machine, &(planning_case){'d', 'N', 'N', 500, 400, 300, 1, 1, "ppp", 0});
    names_what_it_needs(machine, &update, &nothing);
    names_what_it_needs(machine, &product, &nothing);
    tsr_plan *first = plan_in_time(machine, &update, &nothing, 0);
    tsr_residency seen = seen_as(first->after, TSR_C_, TSR_C_);
    names_what_it_needs(machine, &update, &seen);
    tsr_residency_free(&seen);
    tsr_plan_free(first);
    tsr_machine_destroy(machine);
  }
}

/* ---- Without host memory ---- */

/* Plans that move what a call has left on devices, while one allocation after another fails: each
 * is an error, or whole. */
static void moves_are_whole_or_fail(void **unused) {
  (void)unused;
  tsr_machine *machine = planning_machine("host:200 gpu*4@nvswitch:300 pcie:50 rate:60");
  tsr_call update = syrk_of(machine, 300, 40);
  const tsr_residency nothing = {0};
  tsr_plan_options options = planning_options(machine, 32); /* tiles: many cached blocks */
  options.residency = &nothing;
  tsr_plan *first = NULL;
  must(tsr_plan_make(machine, &update, &options, &first));
  tsr_residency as_c = seen_as(first->after, TSR_C_, TSR_C_);
  tsr_residency as_a = settled(seen_as(first->after, TSR_C_, TSR_A), TSR_GENERAL);
  tsr_call home = tsr_moves_call(TSR_C_, &update.operand[TSR_C_], 8);
  tsr_moves_triangle(TSR_LOWER, &home);
  tsr_call deal = tsr_moves_call(TSR_A, &update.operand[TSR_C_], 8);
  const tsr_mapping mapping = {0, 0, 32, 32, 2, 2, {3, 2, 1, 0}};
  for (int deals = 0; deals < 2; ++deals) {
    tsr_status status = TSR_ERR_MEMORY;
    options.residency = deals ? &as_a : &as_c;
    for (long nth = 1; status != TSR_OK; ++nth) {
      tsr_plan *plan = NULL;
      tsr_alloc_fail_at(nth);
      status = deals ? tsr_plan_distribute(machine, &deal, &mapping, &options, &plan)
                     : tsr_plan_write_back(machine, &home, TSR_LOWER, &options, &plan);
      tsr_alloc_fail_at(0);
      if (status == TSR_OK) must(tsr_plan_verify(plan, machine, options.budget));
      if (status != TSR_OK) assert_int_equal(status, TSR_ERR_MEMORY);
      tsr_plan_free(plan);
    }
  }
  tsr_residency_free(&as_c), tsr_residency_free(&as_a);
  tsr_plan_free(first);
  tsr_machine_destroy(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains_are_right),
                                     cmocka_unit_test(longer_searches_find_no_worse),
                                     cmocka_unit_test(what_a_composed_call_needs_is_named),
                                     cmocka_unit_test(moves_are_whole_or_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
