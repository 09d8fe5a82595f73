/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * First guesses for products in residues that do not fit the budgets: bands, since a line of
 * residues has all of k. A device keeps the residues of some bands of B while those of A pass by,
 * then those of the next bands of B. A formula estimates the time for each grid of devices and each
 * extent of tiles, and the best guesses are replayed.
 */
#include <math.h>

#include "base/alloc.h"
#include "plan/search/search.h"

/* Slots beside those of the bands of B that a device keeps: two for residues of A, so that the next
 * ones are made during products; two for tiles of A or B that arrive; two for tiles of C, of which
 * one is written back. */
enum { PASSING = 6 };

/* Slots that suffice: two operands in residues, and a tile of A, B or C. */
enum { LEAST = 3 };

typedef struct question {
  const tsr_search *s;
  int devices;
  size_t budget; /* the least of the devices', bytes */
  double rate;   /* bytes/s from the host to each device, while all load */
  bool shared;   /* devices pass tiles on to each other */
  double most;   /* kernels of a plan */
} question;

typedef struct guess {
  tsr_strategy strategy;
  double seconds; /* estimated */
} guess;

typedef struct guesses {
  guess list[TSR_TUNE_TIGHT_GUESSES];
  int count;
} guesses;

static int64_t parts_of(int64_t extent, int64_t size) {
  return extent > 0 ? (extent + size - 1) / size : 1;
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- One guess ---- */

/* The extent of tiles of which the devices get equally many in one direction, `tile` at most. */
static int64_t even_tile(int64_t extent, int64_t tile, int64_t devices) {
  int64_t count = parts_of(extent, tile);
  if (count > devices) count = parts_of(count, devices) * devices;
  return parts_of(extent, count);
}

/* Slots of the least budget: each is as large as the largest tile. */
static int64_t slots_of(const question *q, int64_t tile) {
  const tsr_call *call = q->s->call;
  int64_t ld, rows = smaller(tile, call->m), cols = smaller(tile, call->n);
  size_t most = tsr_tile_memory(call, TSR_C_, rows, cols, &ld);
  for (int x = TSR_RA; x <= TSR_RB; x++) {
    size_t bytes = tsr_tile_memory(call, x, call->k, x == TSR_RA ? rows : cols, &ld);
    if (bytes > most) most = bytes;
  }
  const bool turned[] = {call->transa == TSR_NO_TRANS, call->transb != TSR_NO_TRANS};
  for (int x = TSR_A; x <= TSR_B_; x++) {
    int64_t lines = x == TSR_A ? rows : cols;
    size_t bytes =
        tsr_tile_memory(call, x, turned[x] ? lines : call->k, turned[x] ? call->k : lines, &ld);
    if (bytes > most) most = bytes;
  }
  return (int64_t)(q->budget / most);
}

static double copied(const question *q, int x, double elements) {
  const tsr_call *call = q->s->call;
  bool at_device = tsr_is_device(q->s->machine, call->operand[x].location);
  return at_device ? 0 : elements * (double)tsr_type_get(call->type)->size;
}

/* Seconds of the kernels of a device that multiplies rows x cols bands of A and B, those of A in
 * `passes` passes. */
static double kernels_of(const question *q, int64_t tile, double rows, double cols, double passes) {
  const tsr_search *s = q->s;
  const tsr_call *call = s->call;
  double most = 0;
  for (int i = 0; i < q->devices; i++) {
    double product = tsr_machine_residue_gemm_time(
        s->machine, s->order[i], call->type, call->moduli, smaller(tile, call->m),
        smaller(tile, call->n), call->k, call->beta != TSR_ZERO, s->heat);
    double made = tsr_machine_residues_time(s->machine, s->order[i], call->type, call->moduli,
                                            call->keeps_lines, call->k, tile);
    most = fmax(most, rows * cols * product + (passes * rows + cols) * made);
  }
  return most;
}

/* Estimated seconds: of kernels or of copies, whichever take longer; of the first copies and of the
 * last one; and what a command costs. */
static double time_of(const question *q, const tsr_strategy *r) {
  const tsr_call *call = q->s->call;
  double rows = (double)parts_of(parts_of(call->m, r->tile), r->grid_rows);
  double cols = (double)parts_of(parts_of(call->n, r->tile), r->grid_cols);
  double passes = ceil(cols / (double)r->c_block_cols), tile = (double)r->tile;
  double k = (double)call->k;
  double a = copied(q, TSR_A, rows * tile * k * passes);
  double b = copied(q, TSR_B_, cols * tile * k);
  double c = copied(q, TSR_C_, tile * tile);
  double first = (copied(q, TSR_A, tile * k) + copied(q, TSR_B_, tile * k)) / q->rate;
  if (q->shared) {
    a /= (double)r->grid_cols;
    b /= (double)r->grid_rows;
  }
  double copies = (a + b + (call->beta != TSR_ZERO ? rows * cols * c : 0)) / q->rate;
  return fmax(copies, kernels_of(q, r->tile, rows, cols, passes)) + first + c / q->rate +
         TSR_TUNE_TIGHT_TASK * rows * cols;
}

/* Inserts a guess into the list, the best first, unless it is there. */
static void keep(const guess *one, guesses *all) {
  int at = all->count;
  for (int i = 0; i < all->count; i++)
    if (tsr_strategy_same(&all->list[i].strategy, &one->strategy)) return;
  if (at == TSR_TUNE_TIGHT_GUESSES) at--;
  if (all->count == TSR_TUNE_TIGHT_GUESSES && all->list[at].seconds <= one->seconds) return;
  for (; at > 0 && all->list[at - 1].seconds > one->seconds; at--)
    all->list[at] = all->list[at - 1];
  all->list[at] = *one;
  if (all->count < TSR_TUNE_TIGHT_GUESSES) all->count++;
}

/* Adds the guess with tiles of at most this extent, or of just this one (fixed), if it fits. */
static void add_tile(const question *q, int64_t grid_rows, int64_t tile, bool fixed, guesses *all) {
  const tsr_call *call = q->s->call;
  int64_t grid_cols = q->devices / grid_rows;
  if (!fixed)
    tile = larger(even_tile(call->m, tile, grid_rows), even_tile(call->n, tile, grid_cols));
  int64_t slots = slots_of(q, tile), cols = parts_of(parts_of(call->n, tile), grid_cols);
  double kernels = (double)parts_of(call->m, tile) * (double)parts_of(call->n, tile);
  if (slots < LEAST || (!fixed && kernels > q->most)) return;
  guess one = {.strategy = tsr_bands_guess(q->s, q->devices)};
  tsr_strategy *r = &one.strategy;
  r->tile = tile;
  r->grid_rows = grid_rows;
  r->grid_cols = grid_cols;
  r->c_block_cols = smaller(larger(slots - PASSING, 1), cols);
  r->lookahead = 100; /* percent: copies run ahead by the products of one band of A */
  r->piece = TSR_TUNE_TIGHT_PIECE;
  r->lazy = r->add_at_home = false;
  one.seconds = time_of(q, r);
  keep(&one, all);
}

/* ---- All guesses ---- */

static double tile_above(const question *q) {
  return fmin((double)larger(q->s->call->m, q->s->call->n), TSR_TUNE_TILE_MOST);
}

/* Fills the list for one grid. Tiles smaller than the search tries elsewhere are a last resort, for
 * a long k. */
static void list_guesses(const question *q, int64_t grid_rows, guesses *all) {
  int64_t fixed = tsr_search_fixed_tile(q->s);
  all->count = 0;
  if (fixed > 0) {
    add_tile(q, grid_rows, fixed, true, all);
    return;
  }
  for (double t = tile_above(q); t >= 1 && (t >= TSR_TUNE_TILE_LEAST || all->count == 0);
       t *= TSR_TUNE_TILE_STEP)
    add_tile(q, grid_rows, (int64_t)t, false, all);
}

/* Tries the guesses until one fits, then those of the first that are not hopeless. */
static tsr_status try_guesses(tsr_search *s, const guesses *all) {
  tsr_candidate made;
  for (int i = 0; i < all->count; i++) {
    const guess *one = &all->list[i];
    double longest = TSR_TUNE_TIGHT_HOPELESS * all->list[0].seconds;
    bool late = i >= TSR_TUNE_TIGHT_FIRST || one->seconds > longest || !tsr_search_in_time(s);
    if (s->best && late) break;
    TSR_TRY(tsr_search_try(s, &one->strategy, &made));
  }
  return TSR_OK;
}

static question question_of(const tsr_search *s, int devices) {
  question q = {.s = s, .devices = devices, .budget = SIZE_MAX, .shared = true};
  for (int i = 0; i < devices; i++) {
    if (s->options->budget[s->order[i]] < q.budget) q.budget = s->options->budget[s->order[i]];
    for (int j = 0; j < devices; j++)
      q.shared &= i == j || s->machine->link[s->order[i]][s->order[j]].bandwidth > 0;
  }
  q.rate = tsr_search_shared_rate(s, s->order[devices - 1], devices - 1);
  q.most = tsr_search_fixed_tile(s) > 0 ? INFINITY : TSR_TUNE_PLAN_KERNELS;
  return q;
}

tsr_status tsr_residue_bands_search(tsr_search *s, int devices) {
  question q = question_of(s, devices);
  guesses *all = tsr_alloc(sizeof *all);
  tsr_status status = all != NULL ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory to plan");
  for (int rows = devices; rows >= 1 && status == TSR_OK; rows--) {
    if (devices % rows != 0) continue;
    list_guesses(&q, rows, all);
    status = try_guesses(s, all);
  }
  tsr_dealloc(all);
  return status;
}
