/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What planning costs in a sequence of composed calls: the calls of examples/cholesky.c, planned
 * one after another from what the ones before leave on the devices. There is no data and no device:
 * the store gives out addresses that nobody uses.
 *
 *   plan_composed_cost MACHINE.json [N [NB [STEPS [P [Q [verify]]]]]]
 *
 * P x Q: the matrix is mapped to that grid of devices in blocks of NB; 0: it is not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "compose/store.h"
#include "plan/addresses.h"
#include "plan/axes.h"
#include "plan/mapping.h"
#include "plan/schedule/moves.h"

/* ---- Calls ---- */

/* What was seen of one kind of call. */
typedef struct kind {
  const char *name;
  int count;
  double planning, predicted, noting, digest, blocks, commands, candidates;
} kind;

enum { TRSM, NEXT_SYRK, GEMM, SYRK, HOME, KINDS };

typedef struct sequence {
  tsr_machine *machine;
  tsr_plan_options options;
  tsr_store *store;
  int64_t n, nb;
  char *a; /* an address */
  bool verify;
  uint64_t submitted;
  tsr_mapping map; /* of the matrix; grid_rows 0: none */
  kind kind[KINDS];
} sequence;

static void must(tsr_status status) {
  if (status == TSR_OK) return;
  fprintf(stderr, "%s\n", tsr_message());
  exit(1);
}

static tsr_region part(const sequence *s, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  return (tsr_region){s->a + (row + col * s->n) * 8, rows, cols, s->n, 8};
}

/* The map as an operand sees it. */
static tsr_mapping map_of(const sequence *s, const tsr_region *region) {
  tsr_mapping map = s->map;
  int64_t at = (region->base - s->a) / 8;
  map.row = at % s->n;
  map.col = at / s->n;
  return map;
}

/* Budgets less what is there already, as composed calls have them. */
static void leave_what_is_kept(const sequence *s, tsr_plan_options *options) {
  for (int d = 0; d < s->machine->devices; d++) {
    size_t used = tsr_store_used(s->store, d);
    options->budget[d] = options->budget[d] > used ? options->budget[d] - used : 0;
  }
}

static void note(sequence *s, kind *k, const tsr_found *view, tsr_plan *plan) {
  tsr_allocation allocation;
  int short_of;
  double begin = tsr_now();
  tsr_store_reclaim(s->store, UINT64_MAX); /* all plans before are over */
  must(tsr_store_take(s->store, view, plan, &allocation, &short_of));
  tsr_store_note(s->store, plan, &allocation, s->submitted++);
  k->noting += tsr_now() - begin;
}

static void count(kind *k, const tsr_found *view, const tsr_plan *plan, double seconds) {
  double begin = tsr_now();
  volatile uint64_t digest = tsr_residency_digest(0, &view->seen);
  (void)digest;
  k->digest += tsr_now() - begin;
  k->count++;
  k->planning += seconds;
  k->predicted += plan->seconds;
  k->blocks += (double)view->seen.blocks.count;
  k->commands += (double)plan->commands.count;
  k->candidates += plan->candidates;
}

static void plan_call(sequence *s, int which, const tsr_level3 *what,
                      const tsr_region region[TSR_OPERANDS]) {
  static const double one = 1, minus_one = -1;
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  tsr_found view;
  tsr_plan *plan;
  const double *alpha = what->operation == TSR_TRSM ? &one : &minus_one;
  must(tsr_call_level3(what, alpha, NULL, NULL, &one, NULL, false, &call, &binding, &exchanged));
  for (int x = 0; x < TSR_OPERANDS; x++) {
    call.operand[x].memory = TSR_PINNED;
    call.operand[x].location = s->machine->devices;
    call.operand[x].pinned_end = tsr_operand_bytes(&call.operand[x], call.type);
    call.operand[x].alignment = 16;
  }
  tsr_use use[TSR_OPERANDS];
  for (int x = 0; x < TSR_OPERANDS; x++)
    use[x] = (tsr_use){x == TSR_C_ ? TSR_CHANGED : TSR_READ_ONLY, tsr_call_triangle_of(&call, x)};
  must(tsr_store_look(s->store, region, use, &view));
  tsr_plan_options options = s->options;
  leave_what_is_kept(s, &options);
  options.residency = &view.seen;
  tsr_mapping map = map_of(s, &region[TSR_C_]);
  if (s->map.grid_rows > 0) options.mapping = &map;
  double begin = tsr_now();
  must(tsr_plan_make(s->machine, &call, &options, &plan));
  count(&s->kind[which], &view, plan, tsr_now() - begin);
  if (getenv("WHY"))
    printf("%s %.3f ms %d cmds: %s\n", s->kind[which].name, plan->seconds * 1e3,
           (int)plan->commands.count, plan->why);
  if (s->verify) must(tsr_plan_verify(plan, s->machine, options.budget));
  note(s, &s->kind[which], &view, plan);
  tsr_found_free(&view);
  tsr_plan_free(plan);
}

static tsr_level3 call_of(const sequence *s, tsr_operation operation, int64_t m, int64_t n,
                          int64_t k) {
  return (tsr_level3){.operation = operation,
                      .type = TSR_D,
                      .layout = TSR_COL_MAJOR,
                      .side = TSR_RIGHT,
                      .uplo = TSR_LOWER,
                      .transa = operation == TSR_TRSM ? TSR_TRANS : TSR_NO_TRANS,
                      .transb = TSR_TRANS,
                      .diag = TSR_NON_UNIT,
                      .m = m,
                      .n = n,
                      .k = k,
                      .lda = s->n,
                      .ldb = s->n,
                      .ldc = s->n};
}

static void bring_home(sequence *s, const tsr_region *region, tsr_uplo uplo) {
  tsr_operand operand = {.rows = region->rows,
                         .cols = region->cols,
                         .ld = region->ld,
                         .memory = TSR_PINNED,
                         .location = s->machine->devices,
                         .pinned_end = (region->cols - 1) * region->ld * 8 + region->rows * 8,
                         .alignment = 16};
  tsr_call call = tsr_moves_call(TSR_C_, &operand, 8);
  tsr_region regions[TSR_OPERANDS] = {[TSR_C_] = *region};
  tsr_found view;
  tsr_plan *plan;
  const tsr_use use[TSR_OPERANDS] = {
      {TSR_READ_ONLY, TSR_GENERAL}, {TSR_READ_ONLY, TSR_GENERAL}, {TSR_MOVED, uplo}};
  if (uplo != TSR_GENERAL) tsr_moves_triangle(uplo, &call);
  must(tsr_store_look(s->store, regions, use, &view));
  tsr_plan_options options = s->options;
  options.residency = &view.seen;
  double begin = tsr_now();
  must(tsr_plan_write_back(s->machine, &call, uplo, &options, &plan));
  count(&s->kind[HOME], &view, plan, tsr_now() - begin);
  note(s, &s->kind[HOME], &view, plan);
  tsr_found_free(&view);
  tsr_plan_free(plan);
}

static void syrk(sequence *s, int which, int64_t row, int64_t order, int64_t col, int64_t width) {
  tsr_level3 what = call_of(s, TSR_SYRK, order, order, width);
  tsr_region regions[TSR_OPERANDS] = {
      part(s, row, col, order, width), {0}, part(s, row, row, order, order)};
  plan_call(s, which, &what, regions);
}

/* One panel of the factorisation, and what it changes. */
static void step(sequence *s, int64_t k) {
  int64_t nb = s->nb, j = k + nb, below = s->n - j, r = j + nb, rest = s->n - r;
  tsr_region diagonal = part(s, k, k, nb, nb), next = part(s, j, j, nb, nb);
  must(tsr_store_forget(s->store, &diagonal));
  tsr_level3 solve = call_of(s, TSR_TRSM, below, nb, 0);
  tsr_region solved[TSR_OPERANDS] = {diagonal, {0}, part(s, j, k, below, nb)};
  plan_call(s, TRSM, &solve, solved);
  syrk(s, NEXT_SYRK, j, nb, k, nb);
  bring_home(s, &next, TSR_LOWER);
  if (rest <= 0) return;
  tsr_level3 product = call_of(s, TSR_GEMM, rest, nb, nb);
  tsr_region factors[TSR_OPERANDS] = {part(s, r, k, rest, nb), part(s, j, k, nb, nb),
                                      part(s, r, j, rest, nb)};
  plan_call(s, GEMM, &product, factors);
  syrk(s, SYRK, r, rest, k, nb);
}

static void report(const sequence *s) {
  printf("%-10s %5s %8s %9s %10s %8s %9s %7s %7s %6s\n", "call", "calls", "plan ms", "runs ms",
         "digest us", "note us", "rooms", "cmds", "tried", "share");
  kind all = {.name = "all"};
  for (int i = 0; i <= KINDS; i++) {
    const kind *k = i < KINDS ? &s->kind[i] : &all;
    double c = k->count > 0 ? k->count : 1;
    printf("%-10s %5d %8.3f %9.3f %10.1f %8.1f %9.1f %7.0f %7.1f %5.1f%%\n", k->name, k->count,
           1e3 * k->planning / c, 1e3 * k->predicted / c, 1e6 * k->digest / c, 1e6 * k->noting / c,
           k->blocks / c, k->commands / c, k->candidates / c, 100 * k->planning / k->predicted);
    all.count += k->count, all.planning += k->planning, all.predicted += k->predicted;
    all.digest += k->digest, all.noting += k->noting, all.blocks += k->blocks;
    all.commands += k->commands, all.candidates += k->candidates;
  }
}

static int64_t argument(int argc, char **argv, int index, int64_t initial) {
  return argc > index ? atoll(argv[index]) : initial;
}

int main(int argc, char **argv) {
  static const char *const names[] = {"trsm", "next syrk", "gemm", "syrk", "home"};
  sequence s = {.n = argument(argc, argv, 2, 32768), .nb = argument(argc, argv, 3, 1024)};
  int64_t steps = argument(argc, argv, 4, s.n / s.nb - 1);
  size_t limit[TSR_MAX_DEVICES + 1] = {0};
  if (argc < 2)
    return fprintf(stderr, "usage: %s MACHINE [N [NB [STEPS [P [Q [verify]]]]]]\n", argv[0]);
  must(tsr_machine_load(argv[1], &s.machine));
  s.options = (tsr_plan_options){.obey_devices = true, .ring = (size_t)256 << 20};
  for (int d = 0; d < s.machine->devices; d++)
    limit[d] = s.options.budget[d] = (size_t)(0.9 * s.machine->device[d].memory);
  limit[s.machine->devices] = s.options.ring;
  for (int i = 0; i < KINDS; i++) s.kind[i].name = names[i];
  s.a = (char *)((uintptr_t)1 << 32);
  s.map = (tsr_mapping){.block_rows = s.nb,
                        .block_cols = s.nb,
                        .grid_rows = (int)argument(argc, argv, 5, 0),
                        .grid_cols = (int)argument(argc, argv, 6, 1)};
  for (int d = 0; d < s.map.grid_rows * s.map.grid_cols; d++) s.map.device[d] = (int16_t)d;
  s.verify = argc > 7 && strcmp(argv[7], "verify") == 0;
  must(tsr_store_create(&addresses, NULL, s.machine->devices, limit, 0, NULL, &s.store));
  for (int64_t i = 0; i < steps && i < s.n / s.nb - 1; i++) step(&s, i * s.nb);
  report(&s);
  tsr_store_destroy(s.store);
  tsr_machine_destroy(s.machine);
  return 0;
}
