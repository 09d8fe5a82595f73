/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * First guesses at bands for products and rank-k updates in a form: a line has all of
 * k. Where not everything fits the budgets, there is no other way. A device keeps the lines of
 * some bands of B while those of A pass by, then those of the next bands of B. A formula estimates
 * the time for each grid of devices and each extent of tiles, and the best guesses are replayed.
 */
#include <math.h>

#include "base/least.h"
#include "blas/operation.h"
#include "plan/search/search.h"

/* Slots beside those of the bands of B that a device keeps: two for lines of A, so that the next
 * ones are made during products; two for tiles of A or B that arrive; two for tiles of C, of which
 * one is written back. */
enum { PASSING = 6 };

/* Slots that suffice for a gemm: two operands in a form, and a tile of A, B or C. In other
 * routines a tile of C keeps its slot from its first kernel to its last one, while the lines for
 * the next product are made. */
enum { LEAST = 3, LEAST_OF_OTHERS = 4 };

typedef struct question {
  const tsr_search *s;
  int devices;
  size_t budget; /* the least of the devices', bytes */
  double rate;   /* bytes/s from the host to each device, while all load */
  bool shared;   /* devices pass tiles on to each other */
} question;

/* Bands of `tile`, of which a device of the grid has c_block_cols of B with each of A. */
typedef struct guess {
  int64_t tile, grid_rows, grid_cols, c_block_cols;
  double seconds; /* estimated */
} guess;

typedef struct guesses {
  guess list[TSR_TUNE_TIGHT_GUESSES];
  int count;
} guesses;

static int64_t parts_of(int64_t extent, int64_t size) {
  return extent > 0 ? (extent + size - 1) / size : 1;
}

/* ---- The least memory ---- */

static bool is_update(const tsr_call *call) {
  return tsr_family_of(call->operation) == TSR_RANK;
}

static bool is_beside_triangle(const tsr_call *call) {
  return tsr_family_of(call->operation) == TSR_TRIANGLE;
}

/* The smallest tile: smaller ones would make more kernels than are planned. Beside a triangle k is
 * cut, too. */
static int64_t least_tile(const tsr_call *call) {
  int64_t tile = 1;
  if (is_beside_triangle(call)) return tsr_search_least_tile(call);
  while ((double)parts_of(call->m, tile) * (double)parts_of(call->n, tile) > TSR_TUNE_PLAN_KERNELS)
    tile *= 2;
  return tile;
}

static int64_t least_slots(const tsr_call *call) {
  return call->operation == TSR_GEMM ? LEAST : LEAST_OF_OTHERS;
}

/* Bytes of a slot: of the largest of the tiles of all matrices. Both inputs of syr2k and her2k are
 * stored alike. */
static size_t slot_of(const tsr_call *call, int64_t tile) {
  int64_t ld, rows = tsr_least(tile, call->m), cols = tsr_least(tile, call->n);
  int64_t k = is_beside_triangle(call) ? tsr_least(tile, call->k) : call->k;
  bool rows_of_a = call->transa == TSR_NO_TRANS, rows_of_b = call->transb != TSR_NO_TRANS;
  if (is_update(call) && call->operation != TSR_GEMMT) rows_of_b = rows_of_a;
  const size_t bytes[] = {
      tsr_tile_memory(call, TSR_A, rows_of_a ? rows : k, rows_of_a ? k : rows, &ld),
      tsr_tile_memory(call, TSR_B_, rows_of_b ? cols : k, rows_of_b ? k : cols, &ld),
      tsr_tile_memory(call, TSR_RA, k, rows, &ld), tsr_tile_memory(call, TSR_RB, k, cols, &ld),
      tsr_tile_memory(call, TSR_C_, rows, cols, &ld)};
  size_t most = 0;
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
    if (bytes[i] > most) most = bytes[i];
  return most;
}

size_t tsr_plan_form_need(const tsr_call *call, const tsr_plan_options *options) {
  int64_t tile = options->tile > 0 ? options->tile : least_tile(call);
  return (size_t)least_slots(call) * slot_of(call, tile);
}

/* ---- One guess ---- */

/* The extent of tiles of which the devices get equally many in one direction, `tile` at most. */
static int64_t even_tile(int64_t extent, int64_t tile, int64_t devices) {
  int64_t count = parts_of(extent, tile);
  if (count > devices) count = parts_of(count, devices) * devices;
  return parts_of(extent, count);
}

static double copied(const question *q, int x, double elements) {
  const tsr_call *call = q->s->call;
  bool at_device = tsr_is_device(q->s->machine, call->operand[x].location);
  return at_device ? 0 : elements * (double)tsr_type_get(call->type)->size;
}

/* The products that are added to each tile of C. Each has a band of A and a band of B. */
static int products_of(const tsr_call *call) {
  return call->operation == TSR_SYR2K || call->operation == TSR_HER2K ? 2 : 1;
}

/* Bytes that a device copies for the rows of a tile of C (matrix: TSR_A), or for its columns
 * (TSR_B_). syrk and herk multiply A by itself, syr2k and her2k read both bands of both. */
static double band_bytes(const question *q, int matrix, double elements) {
  const tsr_call *call = q->s->call;
  bool itself = is_update(call) && !tsr_operation_get(call->operation)->has.b;
  if (products_of(call) == 2) return copied(q, TSR_A, elements) + copied(q, TSR_B_, elements);
  return copied(q, itself ? TSR_A : matrix, elements);
}

/* Seconds of the kernels for a tile of C, and of those that make the lines of a band. */
typedef struct times {
  double product, lines;
} times;

static times times_of(const question *q, int64_t tile) {
  const tsr_search *s = q->s;
  const tsr_call *call = s->call;
  int64_t rows = tsr_least(tile, call->m), cols = tsr_least(tile, call->n);
  times most = {0, 0};
  for (int i = 0; i < q->devices; i++) {
    double product =
        tsr_machine_form_gemm_time(s->machine, s->order[i], call->arithmetic, call->type, rows,
                                   cols, call->k, call->beta != TSR_ZERO, s->heat);
    double lines = tsr_machine_form_time(s->machine, s->order[i], call->arithmetic, &call->promise,
                                         call->type, call->k, tsr_most(rows, cols));
    most.product = fmax(most.product, product);
    most.lines = fmax(most.lines, lines);
  }
  most.product *= products_of(call);
  most.lines *= products_of(call);
  return most;
}

/* Estimated seconds. The first band of A is multiplied while the bands of B arrive that are kept
 * with it; during each next band of A the one after that arrives. Kernels or copies, whichever take
 * longer, take these times. The first two bands and the last tile of C take theirs alone. Of a
 * triangle half of the tiles are computed. */
static double time_of(const question *q, const guess *one) {
  const tsr_call *call = q->s->call;
  double rows = (double)parts_of(parts_of(call->m, one->tile), one->grid_rows);
  double cols = (double)parts_of(parts_of(call->n, one->tile), one->grid_cols);
  double width = (double)one->c_block_cols, passes = ceil(cols / width);
  double band = (double)one->tile * (double)call->k, tile = (double)one->tile * (double)one->tile;
  double a = band_bytes(q, TSR_A, band) / q->rate, b = band_bytes(q, TSR_B_, band) / q->rate;
  double out = copied(q, TSR_C_, tile) / q->rate, in = call->beta != TSR_ZERO ? out : 0;
  double first = a + b, part = is_update(call) ? 0.5 : 1;
  times k = times_of(q, one->tile);
  if (q->shared) {
    a /= (double)one->grid_cols;
    b /= (double)one->grid_rows;
  }
  double with_first = fmax(k.product + k.lines, b + in);
  double with_next = fmax(width * k.product + k.lines, a + width * in);
  double steps = cols * with_first + passes * (rows - 1) * with_next * cols / (passes * width);
  return first + part * (steps + TSR_TUNE_TIGHT_TASK * rows * cols) + out;
}

static bool is_same(const guess *one, const guess *other) {
  return one->tile == other->tile && one->grid_rows == other->grid_rows &&
         one->grid_cols == other->grid_cols && one->c_block_cols == other->c_block_cols;
}

/* Inserts a guess into the list, the best first, unless it is there. */
static void keep(const guess *one, guesses *all) {
  int at = all->count;
  for (int i = 0; i < all->count; i++)
    if (is_same(&all->list[i], one)) return;
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
    tile = tsr_most(even_tile(call->m, tile, grid_rows), even_tile(call->n, tile, grid_cols));
  int64_t slots = (int64_t)(q->budget / slot_of(call, tile)),
          cols = parts_of(parts_of(call->n, tile), grid_cols);
  double kernels = (double)parts_of(call->m, tile) * (double)parts_of(call->n, tile);
  if (slots < least_slots(call) || (!fixed && kernels > TSR_TUNE_PLAN_KERNELS)) return;
  guess one = {.tile = tile,
               .grid_rows = grid_rows,
               .grid_cols = grid_cols,
               .c_block_cols = tsr_least(tsr_most(slots - PASSING, 1), cols)};
  one.seconds = time_of(q, &one);
  keep(&one, all);
}

static tsr_strategy strategy_of(const guess *one) {
  return (tsr_strategy){
      .kind = TSR_BANDS,
      .tile = one->tile,
      .grid_rows = one->grid_rows,
      .grid_cols = one->grid_cols,
      .c_block_cols = one->c_block_cols,
      .lookahead = 100, /* percent: copies run ahead by the products of one band of A */
      .serpentine = true,
      .piece = TSR_TUNE_TIGHT_PIECE,
      .relay = true};
}

/* ---- All guesses ---- */

static double tile_above(const question *q) {
  return fmin((double)tsr_most(q->s->call->m, q->s->call->n), TSR_TUNE_TILE_MOST);
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
  if (all->count == 0) add_tile(q, grid_rows, least_tile(q->s->call), true, all);
}

/* Tries the guesses until one fits, then those of the first that are not hopeless. */
static tsr_status try_guesses(tsr_search *s, const guesses *all) {
  tsr_candidate made;
  for (int i = 0; i < all->count; i++) {
    const guess *one = &all->list[i];
    double longest = TSR_TUNE_TIGHT_HOPELESS * all->list[0].seconds;
    bool late = i >= TSR_TUNE_TIGHT_FIRST || one->seconds > longest || !tsr_search_in_time(s);
    if (s->best && late) break;
    tsr_strategy strategy = strategy_of(one);
    TSR_TRY(tsr_search_try(s, &strategy, &made));
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
  return q;
}

bool tsr_line_bands_guess(const tsr_search *s, int devices, tsr_strategy *strategy) {
  question q = question_of(s, devices);
  guesses all;
  double least = INFINITY;
  for (int rows = devices; rows >= 1; rows--) {
    if (devices % rows != 0) continue;
    list_guesses(&q, rows, &all);
    if (all.count == 0 || all.list[0].seconds >= least) continue;
    *strategy = strategy_of(&all.list[0]);
    least = all.list[0].seconds;
  }
  return isfinite(least);
}

tsr_status tsr_line_bands_search(tsr_search *s, int devices) {
  question q = question_of(s, devices);
  tsr_status status = TSR_OK;
  guesses all;
  for (int rows = devices; rows >= 1 && status == TSR_OK; rows--) {
    if (devices % rows != 0) continue;
    list_guesses(&q, rows, &all);
    status = try_guesses(s, &all);
  }
  return status;
}
