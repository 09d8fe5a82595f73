/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From a strategy to the tiling of a call: where C, A and B are cut, and which device owns which
 * part.
 */
#include "plan/search/strategy.h"

#include <math.h>

#include "base/alloc.h"
#include "base/least.h"
#include "plan/tuning.h"

/* Cuts k into k-panels that double up to `most` (0: no limit); first 0: one k-panel. While the
 * kernels of one k-panel run, the next one, twice as long, arrives. The last is about half of k, so
 * that C is completed in parts over as long a time as possible. */
static tsr_status geometric_cuts(int64_t k, int64_t first, int64_t most, tsr_cuts *cuts) {
  int64_t limit = most > 0 ? tsr_least(most, TSR_STRATEGY_LONGEST) : TSR_STRATEGY_LONGEST;
  int64_t size = tsr_least(first > 0 ? first : k, first > 0 ? limit : TSR_STRATEGY_LONGEST);
  if (first == 0) limit = TSR_STRATEGY_LONGEST;
  TSR_TRY(tsr_cuts_uniform(64 + k / limit, 1, cuts)); /* k doubles at most 64 times */
  int count = 0;
  int64_t at = 0;
  for (; k - at > tsr_least(2 * size, limit); size = tsr_least(2 * size, limit)) {
    at += size;
    cuts->at[++count] = at;
  }
  if (k > at) cuts->at[++count] = k;
  cuts->count = count;
  return TSR_OK;
}

/* Cuts k for a growing leading block: a long last k-panel (tsr_last_k_panel), and before it short
 * ones of `size`, so that kernels seldom wait for the next one. */
static tsr_status leading_cuts(int64_t k, int64_t size, int64_t most, tsr_cuts *cuts) {
  int64_t last = tsr_last_k_panel(k, size, most);
  int64_t count = k > last ? (k - last + size - 1) / size + 1 : 1;
  TSR_TRY(tsr_cuts_uniform(count, 1, cuts));
  for (int i = 1; i < cuts->count; i++) cuts->at[i] = i * size;
  cuts->at[cuts->count] = k;
  return TSR_OK;
}

/* The weight of a place's share of C: the device's speed, times what the replay suggested, times
 * home_share if an operand is at home there, since that need not travel. */
static double weight_of(const tsr_strategy *strategy, const tsr_call *call,
                        const tsr_machine *machine, const int *order, int place) {
  int device = order[place];
  double share = strategy->home_share > 0 ? (double)strategy->home_share / 100 : 1;
  bool home = false;
  for (int x = 0; x < TSR_OPERANDS; x++) home |= call->operand[x].location == device;
  return tsr_machine_speed(machine, device, call->type) * tsr_strategy_weight(strategy, place) *
         (home ? share : 1);
}

/* Cuts an extent into parts by the weights of the devices in one direction of the grid. If a part
 * would be longer than TSR_STRATEGY_LONGEST, each device gets several shorter parts. */
static tsr_status cut_by_weight(int64_t extent, int devices, const double *weights,
                                tsr_cuts *cuts) {
  double total = 0, most = 0;
  for (int i = 0; i < devices; i++) {
    total += weights[i];
    most = weights[i] > most ? weights[i] : most;
  }
  int rounds = 1 + (int)((double)extent * most / total / (double)TSR_STRATEGY_LONGEST);
  if (rounds == 1) return tsr_cuts_weighted(extent, devices, weights, TSR_TUNE_CUT_ALIGN, cuts);
  double *repeated = tsr_alloc(sizeof *repeated * (size_t)rounds * (size_t)devices);
  if (!repeated) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  for (int i = 0; i < rounds * devices; i++) repeated[i] = weights[i % devices];
  tsr_status status =
      tsr_cuts_weighted(extent, rounds * devices, repeated, TSR_TUNE_CUT_ALIGN, cuts);
  tsr_dealloc(repeated);
  return status;
}

/* How many parts a device's rows are cut into: row_parts, or fewer if a part would be shorter than
 * ROW_PART. */
static int parts_of(const tsr_strategy *strategy, int64_t length) {
  int64_t fitting = length / TSR_TUNE_ROW_PART;
  int64_t most = fitting < strategy->row_parts ? fitting : strategy->row_parts;
  return most > 1 ? (int)most : 1;
}

static int64_t begin_of_part(int64_t length, int part, int parts) {
  int64_t align = TSR_TUNE_CUT_ALIGN;
  while (align > 1 && length / parts < TSR_TUNE_CUT_ALIGN_PARTS * align) align /= 2;
  return length * part / parts / align * align;
}

/* Cuts the rows of each row of the grid into the strategy's parts (row_parts). */
static tsr_status part_rows(const tsr_strategy *strategy, tsr_tiling *t) {
  tsr_cuts whole = t->m;
  int count = 0;
  for (int i = 0; i < whole.count; i++) count += parts_of(strategy, whole.at[i + 1] - whole.at[i]);
  if (count == whole.count || whole.count != strategy->grid_rows) return TSR_OK;
  t->m = (tsr_cuts){0, NULL};
  t->down = tsr_alloc(sizeof *t->down * ((size_t)count + 1));
  tsr_status status = t->down != NULL
                          ? tsr_cuts_uniform(count, 1, &t->m)
                          : tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  for (int i = 0, at = 0; i < whole.count && status == TSR_OK; i++) {
    int64_t length = whole.at[i + 1] - whole.at[i];
    for (int parts = parts_of(strategy, length), p = 0; p < parts; p++) {
      t->down[at] = i;
      t->m.at[at++] = whole.at[i] + begin_of_part(length, p, parts);
    }
    t->m.at[at] = whole.at[i + 1];
  }
  tsr_cuts_free(&whole);
  return status;
}

static tsr_status cut_panels(const tsr_strategy *strategy, const tsr_call *call,
                             const tsr_machine *machine, const int *order, tsr_tiling *t) {
  double rows[TSR_MACHINE_DEVICES] = {0}, cols[TSR_MACHINE_DEVICES] = {0};
  for (int i = 0; i < strategy->grid_rows; i++)
    for (int j = 0; j < strategy->grid_cols; j++) {
      double weight = weight_of(strategy, call, machine, order, i * strategy->grid_cols + j);
      rows[i] += weight;
      cols[j] += weight;
    }
  TSR_TRY(cut_by_weight(call->m, strategy->grid_rows, rows, &t->m));
  TSR_TRY(part_rows(strategy, t));
  return cut_by_weight(call->n, strategy->grid_cols, cols, &t->n);
}

/* Cuts the columns of a triangle so that each device's area is proportional to its weight: the high
 * panels, on the left of a lower triangle, are narrow. */
static tsr_status cut_triangle(const tsr_strategy *strategy, const tsr_call *call,
                               const tsr_machine *machine, const int *order, tsr_tiling *t) {
  double weight[TSR_MACHINE_DEVICES], total = 0, before = 0, edge = 0;
  int devices = strategy->grid_rows * strategy->grid_cols;
  for (int i = 0; i < devices; i++)
    total += weight[i] = weight_of(strategy, call, machine, order, i);
  for (int i = 0; i < devices; i++) {
    before += weight[i];
    double share = fmin(1, before / total);
    double next = call->uplo == TSR_LOWER ? 1 - sqrt(1 - share) : sqrt(share);
    weight[i] = next - edge;
    edge = next;
  }
  TSR_TRY(tsr_cuts_uniform(call->m, tsr_least(call->m, TSR_STRATEGY_LONGEST), &t->m));
  return cut_by_weight(call->n, devices, weight, &t->n);
}

/* Cuts the lines of C across the triangle over the devices. The order of the triangle is one tile,
 * cut into blocks. */
static tsr_status cut_lines(const tsr_strategy *strategy, const tsr_call *call,
                            const tsr_machine *machine, const int *order, tsr_tiling *t) {
  bool left = call->side == TSR_LEFT;
  double weight[TSR_MACHINE_DEVICES];
  int devices = strategy->grid_rows * strategy->grid_cols;
  int64_t extent = left ? call->m : call->n;
  for (int i = 0; i < devices; i++)
    weight[i] = tsr_machine_speed(machine, order[i], call->type) * tsr_strategy_weight(strategy, i);
  TSR_TRY(tsr_cuts_uniform(extent, tsr_least(extent, TSR_STRATEGY_LONGEST), left ? &t->m : &t->n));
  TSR_TRY(cut_by_weight(left ? call->n : call->m, devices, weight, left ? &t->n : &t->m));
  return tsr_cuts_uniform(extent, strategy->block > 0 ? tsr_least(strategy->block, extent) : extent,
                          &t->k);
}

/* Appends to the tiling the k-panels of a slice of k, which a place of the grid multiplies. */
static tsr_status cut_slice(const tsr_strategy *strategy, int place, int64_t begin, int64_t length,
                            tsr_tiling *t) {
  tsr_cuts panels = {0, NULL};
  TSR_TRY(geometric_cuts(length, strategy->k_panel, strategy->k_panel_most, &panels));
  int count = t->k.count + panels.count;
  int64_t *at = tsr_realloc(t->k.at, sizeof *at * ((size_t)count + 1));
  if (at != NULL) t->k.at = at;
  int *through = tsr_realloc(t->through, sizeof *through * (size_t)count);
  if (through != NULL) t->through = through;
  bool enough = at != NULL && through != NULL;
  for (int i = 0; enough && i < panels.count; i++) {
    t->through[t->k.count] = place;
    t->k.at[++t->k.count] = begin + panels.at[i + 1];
  }
  tsr_cuts_free(&panels);
  return enough ? TSR_OK : tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
}

/* Cuts k into a slice for each device, by weight, and the slices into k-panels. The columns of C
 * are cut evenly, since adding takes each device as long. */
static tsr_status cut_slices(const tsr_strategy *strategy, const tsr_call *call,
                             const tsr_machine *machine, const int *order, tsr_tiling *t) {
  double weight[TSR_MACHINE_DEVICES], even[TSR_MACHINE_DEVICES];
  int devices = tsr_strategy_devices(strategy);
  tsr_cuts slices = {0, NULL};
  for (int i = 0; i < devices; i++) {
    weight[i] = weight_of(strategy, call, machine, order, i);
    even[i] = 1;
  }
  TSR_TRY(tsr_cuts_uniform(call->m, call->m, &t->m));
  TSR_TRY(tsr_cuts_weighted(call->n, devices, even, TSR_TUNE_CUT_ALIGN, &t->n));
  TSR_TRY(tsr_cuts_uniform(call->n, call->n, &t->n_of_b));
  TSR_TRY(tsr_cuts_uniform(call->n * devices, call->n, &t->n_of_w));
  TSR_TRY(tsr_cuts_uniform(0, 1, &t->k));
  TSR_TRY(tsr_cuts_weighted(call->k, devices, weight, TSR_TUNE_CUT_ALIGN, &slices));
  tsr_status status = TSR_OK;
  for (int i = 0; i < slices.count && status == TSR_OK; i++)
    status = cut_slice(strategy, i, slices.at[i], slices.at[i + 1] - slices.at[i], t);
  tsr_cuts_free(&slices);
  return status;
}

/* The extent of tiles. With `even` all are about equally long, none longer than the strategy's, and
 * their number is a multiple of the number of devices, so that all devices have equally many. */
static int64_t even_tile(const tsr_strategy *strategy, int64_t extent, int devices) {
  int64_t align = strategy->tile >= 1024 ? TSR_TUNE_EVEN_ALIGN
                  : strategy->tile >= 64 ? TSR_TUNE_EVEN_ALIGN_SMALL
                                         : 1;
  int64_t count = (extent + strategy->tile - 1) / strategy->tile;
  if (!strategy->even || count < 2) return strategy->tile;
  if (count > devices) count = (count + devices - 1) / devices * devices;
  int64_t even = (extent + count - 1) / count;
  return tsr_least((even + align - 1) / align * align, strategy->tile);
}

/* Cuts a factorisation into block columns (of an upper triangle block rows), which are cut across
 * into tiles of `span` times their width. */
static tsr_status cut_factor(const tsr_strategy *strategy, const tsr_call *call, tsr_tiling *t) {
  bool lower = call->uplo == TSR_LOWER;
  int64_t span = strategy->span > 1 ? strategy->span : 1;
  int64_t length = span < call->n / strategy->tile ? span * strategy->tile : call->n;
  length = tsr_least(tsr_most(length, 1), TSR_STRATEGY_LONGEST / strategy->tile * strategy->tile);
  TSR_TRY(tsr_cuts_uniform(call->n, strategy->tile, lower ? &t->n : &t->m));
  TSR_TRY(tsr_cuts_uniform(call->n, length, lower ? &t->m : &t->n));
  return tsr_cuts_uniform(0, 1, &t->k);
}

/* Cuts C and k into tiles. The rows and columns of a square operand are cut alike. */
static tsr_status cut_tiles(const tsr_strategy *strategy, const tsr_call *call, tsr_tiling *t) {
  tsr_family family = tsr_family_of(call->operation);
  bool has_k = family == TSR_TRIANGLE || !tsr_call_scales_only(call), left = call->side == TSR_LEFT;
  int64_t m = even_tile(strategy, call->m, strategy->grid_rows),
          n = even_tile(strategy, call->n, strategy->grid_cols);
  int64_t k = even_tile(strategy, call->k, 1);
  if (family == TSR_RANK)
    m = n = even_tile(
        strategy, call->n,
        strategy->grid_rows > strategy->grid_cols ? strategy->grid_rows : strategy->grid_cols);
  if (family == TSR_TRIANGLE) {
    k = even_tile(strategy, call->k, 1);
    m = left ? k : even_tile(strategy, call->m, t->grid_rows);
    n = left ? even_tile(strategy, call->n, t->grid_cols) : k;
  }
  TSR_TRY(tsr_cuts_uniform(call->m, m, &t->m));
  TSR_TRY(tsr_cuts_uniform(call->n, n, &t->n));
  return tsr_cuts_uniform(has_k ? call->k : 0, k, &t->k);
}

/* Cuts that replace k for A, k for B and n for B when these operands arrive whole in that
 * direction. */
static tsr_status cut_whole_operands(const tsr_strategy *strategy, const tsr_call *call,
                                     tsr_tiling *t) {
  bool may = call->k > 0 && call->k <= TSR_STRATEGY_LONGEST;
  t->leading = strategy->leading && may;
  if (may && (strategy->whole_a || strategy->leading))
    TSR_TRY(tsr_cuts_uniform(call->k, call->k, &t->k_of_a));
  if (t->leading) TSR_TRY(tsr_cuts_uniform(call->k, call->k, &t->k_of_b));
  if (strategy->whole_b && call->n > 0 && call->n <= TSR_STRATEGY_LONGEST)
    TSR_TRY(tsr_cuts_uniform(call->n, call->n, &t->n_of_b));
  return TSR_OK;
}

/* Cuts C into square tiles, A into bands of rows and B into bands of columns: k is one part. */
static tsr_status cut_bands(const tsr_strategy *strategy, const tsr_call *call, tsr_tiling *t) {
  TSR_TRY(tsr_cuts_uniform(call->m, strategy->tile, &t->m));
  TSR_TRY(tsr_cuts_uniform(call->n, strategy->tile, &t->n));
  return tsr_cuts_uniform(call->k, call->k, &t->k);
}

static tsr_status cut(const tsr_strategy *strategy, const tsr_call *call,
                      const tsr_machine *machine, const int *order, tsr_tiling *t) {
  tsr_family family = tsr_family_of(call->operation);
  if (strategy->kind == TSR_BANDS) return cut_bands(strategy, call, t);
  if (family == TSR_FACTOR) return cut_factor(strategy, call, t);
  if (strategy->kind == TSR_TILES) return cut_tiles(strategy, call, t);
  if (strategy->kind == TSR_SLICES) return cut_slices(strategy, call, machine, order, t);
  if (family == TSR_TRIANGLE) return cut_lines(strategy, call, machine, order, t);
  if (family == TSR_RANK)
    TSR_TRY(cut_triangle(strategy, call, machine, order, t));
  else
    TSR_TRY(cut_panels(strategy, call, machine, order, t));
  if (family == TSR_PRODUCT) TSR_TRY(cut_whole_operands(strategy, call, t));
  int64_t k = tsr_call_scales_only(call) ? 0 : call->k;
  return t->leading && strategy->k_panel > 0
             ? leading_cuts(k, strategy->k_panel, strategy->k_panel_most, &t->k)
             : geometric_cuts(k, strategy->k_panel, strategy->k_panel_most, &t->k);
}

/* Columns of C of a kernel, or lines if a triangle is beside C; n_block 0 stands for all. If
 * columns are short, a kernel has more of them, so that it is worth its launch. */
static int64_t n_block_of(const tsr_call *call, int64_t n_block) {
  bool by_rows = tsr_family_of(call->operation) == TSR_TRIANGLE && call->side == TSR_RIGHT;
  int64_t length = by_rows ? call->n : call->m, count = by_rows ? call->m : call->n;
  int64_t least = length > 0 ? TSR_TUNE_KERNEL_ELEMENTS / length : 1;
  if (n_block == 0) return count;
  return tsr_least(n_block > least ? n_block : least, count);
}

/* The n-block of a k-panel before the last one. In a rank-k update 0 stands for that of the last.
 */
static int64_t n_block_before(const tsr_strategy *strategy, const tsr_call *call, int64_t n_block) {
  bool as_last = n_block == 0 && tsr_family_of(call->operation) == TSR_RANK;
  return n_block_of(call, as_last ? strategy->n_block_last : n_block);
}

/* Sets the grid. Panels of a triangle, and stripes beside one, lie side by side: the number of
 * devices counts, not the strategy's grid. */
static void set_grid(const tsr_strategy *strategy, const tsr_call *call, tsr_tiling *t) {
  tsr_family family = tsr_family_of(call->operation);
  bool panels = family == TSR_TRIANGLE || (!tsr_strategy_has_tiles(strategy) && family == TSR_RANK);
  bool down = family == TSR_TRIANGLE && call->side == TSR_RIGHT;
  int devices = strategy->grid_rows * strategy->grid_cols;
  t->grid_rows = !panels ? strategy->grid_rows : down ? devices : 1;
  t->grid_cols = devices / t->grid_rows;
}

/* Sets what belongs to tiles alone. Only the tiles of a product are cut into n-blocks. In other
 * operations an n-block of C is completed before the next one begins, so that a tile could be
 * complete in one part while another is not begun. Such a tile would need a slot beside the three
 * tiles that are promised to suffice. */
static void set_tiles(const tsr_strategy *strategy, tsr_family family, tsr_tiling *t) {
  t->pass.rows = strategy->c_block_rows > 0 ? strategy->c_block_rows : 1;
  t->pass.cols = strategy->c_block_cols > 0 ? strategy->c_block_cols : 1;
  t->depth = strategy->depth;
  t->serpentine = strategy->serpentine;
  t->alternates = strategy->serpentine && family == TSR_RANK;
  if (family == TSR_PRODUCT) return;
  t->n_block_first = t->n_block = t->n_block_last = strategy->tile;
  t->n_block_least = 0;
  if (family != TSR_FACTOR) return;
  t->early = strategy->early;
  if (strategy->block > 0) t->n_block = tsr_least(strategy->block, strategy->tile);
}

tsr_status tsr_strategy_tiling(const tsr_strategy *strategy, const tsr_call *call,
                               const tsr_machine *machine, const int *order, tsr_tiling *t) {
  int devices = strategy->grid_rows * strategy->grid_cols, home = call->operand[TSR_C_].location;
  tsr_family family = tsr_family_of(call->operation);
  bool sums = !tsr_call_scales_only(call) && family != TSR_FACTOR &&
              (family != TSR_TRIANGLE ||
               (strategy->kind != TSR_TILES && !tsr_is_in_place(call->operation)));
  *t = (tsr_tiling){
      .lazy = (strategy->lazy || strategy->kind == TSR_SLICES) && sums,
      .adder = strategy->add_at_home && tsr_is_device(machine, home) ? (int16_t)home : -1,
      .span = tsr_strategy_has_tiles(strategy) ? 1 : strategy->span,
      .k_panel = tsr_strategy_has_tiles(strategy) ? 0 : strategy->k_panel,
      .k_panel_most = strategy->k_panel_most,
      .k_panel_once = strategy->k_panel_once,
      .inverses = strategy->inverses && tsr_strategy_may_invert(strategy, call),
      .n_block_first = n_block_before(strategy, call, strategy->n_block_first),
      .n_block = n_block_before(
          strategy, call, strategy->kind == TSR_STRIPES ? strategy->stripe : strategy->n_block),
      .n_block_last = n_block_of(call, strategy->n_block_last),
      .n_block_least = strategy->n_block_least};
  set_grid(strategy, call, t);
  if (tsr_strategy_has_tiles(strategy)) set_tiles(strategy, family, t);
  t->device = tsr_alloc(sizeof *t->device * (size_t)devices);
  tsr_status status = t->device ? cut(strategy, call, machine, order, t)
                                : tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  if (status != TSR_OK) {
    tsr_tiling_free(t);
    return status;
  }
  for (int i = 0; i < devices; i++) t->device[i] = (int16_t)order[i];
  return TSR_OK;
}

void tsr_tiling_free(tsr_tiling *t) {
  tsr_cuts_free(&t->m);
  tsr_cuts_free(&t->n);
  tsr_cuts_free(&t->k);
  tsr_cuts_free(&t->k_of_a);
  tsr_cuts_free(&t->k_of_b);
  tsr_cuts_free(&t->n_of_b);
  tsr_cuts_free(&t->n_of_w);
  tsr_dealloc(t->device);
  tsr_dealloc(t->down);
  tsr_dealloc(t->across);
  tsr_dealloc(t->through);
  tsr_dealloc(t->passes);
  t->device = NULL;
  t->down = t->across = t->through = NULL;
  t->passes = NULL;
}
