/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/search/knobs.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings/settings.h"
#include "plan/cache.h"
#include "plan/tuning.h"

/* ---- Where the search tries a value ----------------------------------------- */

static bool stripes_have_k_panels(const tsr_search_problem *p, const tsr_strategy *at,
                                  int64_t value) {
  (void)p, (void)value;
  return at->kind != TSR_STRIPES || at->k_panel > 0;
}

/* As in a kernel that inverts for itself, few lines do not pay for the inverses. A composed trsm
 * has one stripe. */
static bool may_invert(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  int64_t lines = p->call->side == TSR_LEFT ? p->call->n : p->call->m;
  bool many = lines / tsr_strategy_devices(at) >= TSR_INVERTS_LINES;
  return value == 0 || (many && !p->composed && tsr_strategy_may_invert(at, p->call));
}

static bool limit_counts(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  return at->k_panel > 0 && value <= p->call->k;
}

/* A k-panel of a transposed A, and a device's columns of a transposed B, are many short columns in
 * memory, which links copy slowly. Copying all of the operand avoids them. */
static bool k_panels_of_a_are_short_columns(const tsr_search_problem *p, const tsr_strategy *at,
                                            int64_t value) {
  (void)value;
  return p->call->transa != TSR_NO_TRANS && !p->composed && at->k_panel > 0;
}

static bool parts_of_b_are_short_columns(const tsr_search_problem *p, const tsr_strategy *at,
                                         int64_t value) {
  (void)value;
  return p->call->transb != TSR_NO_TRANS && !p->composed && at->grid_cols > 1;
}

/* Without k-panels the leading block can grow only by parts of the rows. */
static bool leads_by_rows(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  (void)p, (void)value;
  return at->k_panel == 0 && at->row_parts > 1;
}

/* A composed call leaves C on the devices in the parts that it was cut into, and later calls have
 * to use these parts. */
static bool is_not_composed(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  (void)at, (void)value;
  return !p->composed;
}

static bool has_sockets(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  (void)value;
  return p->machine->nodes > 1 && !p->composed && at->relay;
}

static bool has_device_home(const tsr_search_problem *p) {
  for (int x = 0; x < TSR_OPERANDS; x++)
    if (tsr_is_device(p->machine, p->call->operand[x].location)) return true;
  return false;
}

/* For rank-k updates the shares are learnt from the replay instead (shares.c). */
static bool home_may_own_more(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  (void)at, (void)value;
  return tsr_family_of(p->call->operation) == TSR_PRODUCT && has_device_home(p);
}

/* The next knobs matter only for calls that do not fit the budgets: otherwise every tile has memory
 * of its own and is copied once. */
static bool if_tight(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  (void)at, (void)value;
  return p->tight;
}

/* Bands are free to have C blocks only in a form, which are larger than A and B and take time to
 * make again. */
static bool if_blocks_are_free(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  return if_tight(p, at, value) && (at->kind != TSR_BANDS || tsr_call_has_form(p->call));
}

static bool if_tile_is_free(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  return (at->kind == TSR_BANDS || if_tight(p, at, value)) && p->tile == 0 && !p->reproducible &&
         value >= TSR_TUNE_TILE_LEAST;
}

/* Where tiles share memory, the tasks of products alone can come in another order. */
static bool may_order_by_arrival(const tsr_search_problem *p, const tsr_strategy *at,
                                 int64_t value) {
  return !p->reproducible &&
         (!if_tight(p, at, value) || tsr_family_of(p->call->operation) == TSR_PRODUCT);
}

static bool of_panels(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  (void)p, (void)value;
  return !tsr_strategy_has_tiles(at);
}

static bool has_first_n_block(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  return of_panels(p, at, value) && stripes_have_k_panels(p, at, value);
}

/* Tiles that are loaded several times gain from long copies; panels come in many copies, within the
 * range of first guesses. */
static bool is_useful_piece(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  tsr_guess guess = tsr_call_is_staged(p->call) ? TSR_TUNE_STAGED_PIECE : TSR_TUNE_PIECE;
  return tsr_strategy_has_tiles(at) ? p->tight : value >= guess.least && value <= guess.most;
}

static bool may_choose_when_c_is_added(const tsr_search_problem *p, const tsr_strategy *at,
                                       int64_t value) {
  if (p->reproducible) return false;
  tsr_strategy changed = *at;
  changed.lazy = value;
  return value != 0 ? tsr_strategy_may_be_lazy(&changed, p)
                    : !tsr_strategy_must_be_lazy(&changed, p);
}

static bool is_on_device(const tsr_search_problem *p, int x) {
  return tsr_is_device(p->machine, p->call->operand[x].location);
}

static bool adds_on_device(const tsr_search_problem *p, const tsr_strategy *at, int64_t value) {
  (void)value;
  return at->lazy && is_on_device(p, TSR_C_) && !(tsr_strategy_has_tiles(at) && p->tight);
}

/* ---- Why a problem cannot honour a forced value ---- */

static const char *unless_mapped(const tsr_search_problem *p, int64_t value) {
  (void)value;
  return p->mapped ? "the map of C says which device computes what" : NULL;
}

static const char *unless_reproducible(const tsr_search_problem *p, int64_t value) {
  (void)value;
  return p->reproducible ? "reproducible results fix tiles and the order of sums" : NULL;
}

/* The order of arrival is also one of sums over k. */
static const char *unless_given_or_free(const tsr_search_problem *p, int64_t value) {
  return value != 0 ? unless_reproducible(p, value) : NULL;
}

static const char *unless_shared_alike(const tsr_search_problem *p, int64_t value) {
  if (value == 0) return NULL;
  return p->mapped ? unless_mapped(p, value) : unless_reproducible(p, value);
}

static const char *if_there_are_products(const tsr_search_problem *p, int64_t value) {
  if (value != 0 && tsr_call_has_form(p->call))
    return "products in residues sum over all of k at once";
  return value != 0 && tsr_call_scales_only(p->call) ? "the call has no products" : NULL;
}

/* Products in a form may lead by parts of the rows, which have all of k. */
static const char *if_the_call_multiplies(const tsr_search_problem *p, int64_t value) {
  return value != 0 && tsr_call_scales_only(p->call) ? "the call has no products" : NULL;
}

static const char *if_k_panels_differ(const tsr_search_problem *p, int64_t value) {
  bool rank = tsr_family_of(p->call->operation) == TSR_RANK;
  if (value == 0 || !rank || tsr_sums_triangle_in_w(p->call, true)) return NULL;
  return "all k-panels of this update have the n-blocks of the last one";
}

static const char *if_c_is_beside(const tsr_search_problem *p, int64_t value) {
  if (value != 0 && tsr_is_in_place(p->call->operation)) return "trmm and trsm overwrite their B";
  return if_there_are_products(p, value);
}

/* Early products need whole block columns, which a device owns as it owns the diagonal. */
static const char *unless_late_or_whole(const tsr_search_problem *p, int64_t value) {
  if (value == 0) return NULL;
  if (tsr_is_device(p->machine, p->call->operand[TSR_C_].location))
    return "C's diagonal is factored where it is";
  return unless_reproducible(p, value);
}

static const char *if_the_call_solves(const tsr_search_problem *p, int64_t value) {
  return value != 0 && p->call->operation != TSR_TRSM ? "only trsm inverts blocks of A" : NULL;
}

static const char *if_there_is_a_home(const tsr_search_problem *p, int64_t value) {
  (void)value;
  return has_device_home(p) ? NULL : "no operand is at home on a device";
}

static const char *if_c_is_on_a_device(const tsr_search_problem *p, int64_t value) {
  if (value != 0 && tsr_call_has_form(p->call))
    return "a kernel that sums residues adds to C itself";
  return value != 0 && !is_on_device(p, TSR_C_) ? "C is not at home on a device" : NULL;
}

static const char *unless_set_elsewhere(const tsr_search_problem *p, int64_t value) {
  return p->tile > 0 && p->tile != value ? "the context has another extent of tiles (TESSERA_TILE)"
                                         : NULL;
}

/* ---- Where values make the same plan ---- */

static bool any_call(const tsr_search_problem *p, const tsr_strategy *made) {
  (void)p, (void)made;
  return true;
}

static bool all_fits(const tsr_search_problem *p, const tsr_strategy *made) {
  (void)made;
  return !p->tight;
}

static bool is_tight(const tsr_search_problem *p, const tsr_strategy *made) {
  (void)made;
  return p->tight;
}

static bool one_device(const tsr_search_problem *p, const tsr_strategy *made) {
  (void)p;
  return tsr_strategy_devices(made) == 1;
}

static bool one_socket(const tsr_search_problem *p, const tsr_strategy *made) {
  (void)made;
  return p->machine->nodes == 1;
}

static bool has_form(const tsr_search_problem *p, const tsr_strategy *made) {
  (void)made;
  return tsr_call_has_form(p->call);
}

static bool is_factored(const tsr_search_problem *p, const tsr_strategy *at) {
  (void)at;
  return tsr_family_of(p->call->operation) == TSR_FACTOR;
}

static bool in_slices(const tsr_search_problem *p, const tsr_strategy *made) {
  (void)p;
  return made->kind == TSR_SLICES;
}

static bool in_bands(const tsr_search_problem *p, const tsr_strategy *made) {
  (void)p;
  return made->kind == TSR_BANDS;
}

static bool are_alike(const tsr_search_problem *p, const tsr_strategy *made) {
  (void)made;
  for (int d = 1; d < p->machine->devices; d++) {
    const tsr_device *x = &p->machine->device[0], *y = &p->machine->device[d];
    if (x->memory != y->memory || tsr_machine_speed(p->machine, 0, p->call->type) !=
                                      tsr_machine_speed(p->machine, d, p->call->type))
      return false;
  }
  return true;
}

/* ---- The table --------------------------------------------------------------- */

/* One bit for strategies of a kind for a family of operations, and the unions of these bits. */
#define OF(kind, family) (1u << (TSR_FAMILIES * (kind) + (family)))
#define PANELS_OF_PRODUCTS OF(TSR_PANELS, TSR_PRODUCT)
#define PANELS (PANELS_OF_PRODUCTS | OF(TSR_PANELS, TSR_RANK))
#define STRIPES OF(TSR_STRIPES, TSR_TRIANGLE)
#define SLICES OF(TSR_SLICES, TSR_PRODUCT)
#define BANDS_OF_PRODUCTS OF(TSR_BANDS, TSR_PRODUCT)
#define BANDS (BANDS_OF_PRODUCTS | OF(TSR_BANDS, TSR_RANK)) /* rank-k updates: in a form */
#define TILES_OF_PRODUCTS OF(TSR_TILES, TSR_PRODUCT)
#define TILES_OF_C (TILES_OF_PRODUCTS | OF(TSR_TILES, TSR_RANK)) /* no triangle is beside C */
#define TILES (TILES_OF_C | OF(TSR_TILES, TSR_TRIANGLE))
#define FACTORS OF(TSR_TILES, TSR_FACTOR)
#define SIDE_BY_SIDE (OF(TSR_PANELS, TSR_RANK) | STRIPES | SLICES | FACTORS)
#define ALL (PANELS | STRIPES | SLICES | TILES | BANDS | FACTORS)
#define FIELD(name) offsetof(tsr_strategy, name)
#define MOST TSR_STRATEGY_LONGEST
#define MOST_TILES (1 << 14) /* in one direction of a C block; a limit for forced values only */

static const char *const kind_words[] = {"panels", "stripes", "slices", "tiles", "bands", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const parts_whole[] = {"parts", "whole", NULL};
static const char *const each_shared[] = {"each", "shared", NULL};
static const char *const all_first[] = {"all", "first", NULL};
static const char *const even_budget[] = {"even", "budget", NULL};
static const char *const late_early[] = {"late", "early", NULL};
static const char *const first_last[] = {"first", "last", NULL};
static const char *const owner_home[] = {"owner", "home", NULL};
static const char *const given_eta[] = {"given", "eta", NULL};
static const char *const forward_straight[] = {"forward", "straight", NULL};
static const char *const count_ignore[] = {"count", "ignore", NULL};
static const char *const routes[] = {"eta", "bandwidth", "home", NULL}; /* as in tsr_routing */

static const tsr_knob table[] = {
    {.name = "grid.rows",
     .unit = "devices",
     .says = "Devices over the rows of C; 1 in stripes, in slices and in panels of rank-k updates, "
             "which lie side by side.",
     .field = FIELD(grid_rows),
     .of = ALL,
     .least = 1,
     .most = TSR_MACHINE_DEVICES,
     .least_of = SIDE_BY_SIDE,
     .least_why =
         "stripes, slices and panels of a rank-k update lie side by side, in one row of as "
         "many as there are devices",
     .unmet = unless_mapped},
    {.name = "grid.cols",
     .unit = "devices",
     .says = "Devices over the columns of C, or all of them where they lie side by side.",
     .field = FIELD(grid_cols),
     .of = ALL,
     .least = 1,
     .most = TSR_MACHINE_DEVICES,
     .unmet = unless_mapped},

    {.name = "tile",
     .unit = "elements",
     .says = "The extent of square tiles; in bands also the width of the bands of A and B.",
     .phrase = "extent %s",
     .field = FIELD(tile),
     .of = TILES | BANDS | FACTORS,
     .least = 1,
     .most = MOST,
     .change = TSR_CHANGE_RATIO,
     .turn = 5,
     .worth = if_tile_is_free,
     .unmet = unless_set_elsewhere},
    {.name = "even",
     .says = "Tiles of about equal size, none larger than tile, and about as many for each device; "
             "no: all but the last tile have the full size.",
     .field = FIELD(even),
     .of = TILES,
     .most = 1,
     .words = no_yes},
    {.name = "serpentine",
     .says = "Each pass over A or B runs in the opposite direction of the pass before, so that it "
             "begins with the tiles that are still on the device.",
     .field = FIELD(serpentine),
     .of = TILES_OF_C | BANDS,
     .most = 1,
     .words = no_yes,
     .unmet = unless_reproducible,
     .same = {{all_fits, "everything fits"},
              {any_call, "a device goes once over the parts of A and B"}}},
    {.name = "cblock.rows",
     .unit = "tiles",
     .says = "Rows of a C block, which is the tiles of C that a device holds while A and B stream "
             "through; b in Herault et al.",
     .field = FIELD(c_block_rows),
     .of = TILES,
     .least = 1,
     .most = MOST_TILES,
     .change = TSR_CHANGE_UNIT,
     .turn = 3,
     .worth = if_tight,
     .same = {{all_fits, "everything fits, and all orders of C blocks give one order of tasks"}}},
    {.name = "cblock.cols",
     .unit = "tiles",
     .says =
         "Columns of a C block; c in Herault et al. Of bands: how many bands of B a device goes "
         "through with each band of A.",
     .field = FIELD(c_block_cols),
     .of = TILES | BANDS,
     .least = 1,
     .most = MOST_TILES,
     .change = TSR_CHANGE_UNIT,
     .turn = 4,
     .worth = if_blocks_are_free,
     .same = {{all_fits, "everything fits, and all orders of C blocks give one order of tasks"},
              {in_bands, "a device has no more bands of B"}}},
    {.name = "partition",
     .says = "How C is divided if devices differ in budget or speed. even: all have C blocks that "
             "fit the "
             "smallest budget, and equally many tiles of C; budget: each has C blocks that fit its "
             "own budget, and as many tiles of C as it can compute in the same time.",
     .field = FIELD(partition),
     .of = TILES,
     .most = 1,
     .words = even_budget,
     .unmet = unless_shared_alike,
     .same = {{one_device, "one device computes"}, {are_alike, "the devices are alike"}}},
    {.name = "depth",
     .unit = "tiles",
     .says = "Tiles of k in a k-panel: a C block is updated with this many tiles of k before the "
             "next ones are loaded; d in Herault et al.",
     .field = FIELD(depth),
     .of = TILES,
     .least = 1,
     .most = MOST_TILES,
     .change = TSR_CHANGE_UNIT,
     .turn = 2,
     .worth = if_tight,
     .same = {{all_fits, "everything fits, and a C block is one tile"}}},
    {.name = "lookahead",
     .unit = "percent",
     .says = "How far copies run ahead of the kernels where not everything fits: percent of the "
             "kernels of one C block over depth tiles of k; l in Herault et al.",
     .field = FIELD(lookahead),
     .of = TILES | BANDS,
     .most = 10000,
     .change = TSR_CHANGE_WALK,
     .turn = 1,
     .value = {0, 25, 50, 100, 200, 400, 800, -1},
     .worth = if_tight,
     .same = {{all_fits, "everything fits: no copy waits for memory"}}},
    {.name = "held",
     .unit = "bands",
     .says = "Bands of A, and as many of B, that a device has memory for at a time, so that others "
             "are fetched again; 0: as many as fit its budget. Choi et al. have 2: one is "
             "multiplied while the next one arrives.",
     .phrase = "%s bands of an operand at a time",
     .field = FIELD(held),
     .of = BANDS_OF_PRODUCTS,
     .most = 64,
     .same = {{is_tight, "the budgets have no memory for more bands"}}},

    {.name = "rows",
     .unit = "parts",
     .says = "Parts that a device's rows of C are cut into; each part is completed before the next "
             "one.",
     .phrase = "rows in %s parts",
     .field = FIELD(row_parts),
     .of = PANELS_OF_PRODUCTS,
     .in_cuts = PANELS_OF_PRODUCTS,
     .least = 1,
     .most = 64,
     .change = TSR_CHANGE_WALK,
     .turn = 15,
     .value = {1, 2, 4, -1},
     .worth = is_not_composed,
     .unmet = unless_mapped},
    {.name = "leading",
     .says = "The leading block of C grows: each k-panel of A, or each part of the rows, comes "
             "with a matching part of B, which is columns over all of k.",
     .phrase = "the leading block of C grows",
     .field = FIELD(leading),
     .of = PANELS_OF_PRODUCTS,
     .in_cuts = PANELS_OF_PRODUCTS,
     .most = 1,
     .words = no_yes,
     .change = TSR_CHANGE_OTHER,
     .turn = 12,
     .worth = leads_by_rows,
     .unmet = if_the_call_multiplies},
    {.name = "a",
     .says = "parts: A arrives in k-panels; whole: all of A arrives before the k-panels of B.",
     .phrase = "all of A first",
     .field = FIELD(whole_a),
     .of = PANELS_OF_PRODUCTS,
     .in_cuts = PANELS_OF_PRODUCTS,
     .most = 1,
     .words = parts_whole,
     .change = TSR_CHANGE_OTHER,
     .turn = 10,
     .worth = k_panels_of_a_are_short_columns,
     .unmet = if_there_are_products},
    {.name = "b",
     .says =
         "parts: a device receives the columns of B that it needs; whole: it receives all of B.",
     .phrase = "all of B to every device",
     .field = FIELD(whole_b),
     .of = PANELS_OF_PRODUCTS,
     .in_cuts = PANELS_OF_PRODUCTS,
     .most = 1,
     .words = parts_whole,
     .change = TSR_CHANGE_OTHER,
     .turn = 11,
     .worth = parts_of_b_are_short_columns,
     .unmet = if_there_are_products,
     .same = {{one_device, "one device computes"}}},
    {.name = "share",
     .unit = "percent",
     .says =
         "The share of C, or of k in slices, of a device that is home to an operand, in percent "
         "of the share of another device; 0: the same share.",
     .field = FIELD(home_share),
     .of = PANELS | SLICES,
     .in_cuts = PANELS | SLICES,
     .most = 10000,
     .change = TSR_CHANGE_WALK,
     .turn = 14,
     .value = {100, 112, 125, 150, 175, 200, 250, 300, 400, 600, -1},
     .worth = home_may_own_more,
     .unmet = if_there_is_a_home},

    {.name = "kpanel.first",
     .unit = "elements",
     .says =
         "Length of the first k-panel, of each slice if there are slices, where each further one "
         "is twice as long; 0: one k-panel. If the leading block grows: length of all k-panels but "
         "the last.",
     .phrase = "k-panels from %s",
     .field = FIELD(k_panel),
     .of = PANELS | STRIPES | SLICES,
     .in_cuts = PANELS | SLICES,
     .most = MOST,
     .change = TSR_CHANGE_WALK,
     .turn = 16,
     .value = {256, 512, 1024, 2048, 4096, 0, -1},
     .worth = stripes_have_k_panels,
     .unmet = if_there_are_products},
    {.name = "kpanel.most",
     .unit = "elements",
     .says = "Length of the longest k-panel; 0: no limit. If the leading block grows: length of "
             "the last k-panel; 0: a quarter of k.",
     .phrase = "up to %s",
     .field = FIELD(k_panel_most),
     .of = PANELS | STRIPES | SLICES,
     .in_cuts = PANELS | SLICES,
     .most = MOST,
     .change = TSR_CHANGE_SCAN,
     .turn = 17,
     .value = {1024, 2048, 4096, 8192, 0, -1},
     .worth = limit_counts,
     .unmet = if_there_are_products},
    {.name = "kpanels",
     .says = "all: every stripe has k-panels; first: only the first stripe of a device, during "
             "which A arrives.",
     .phrase = "k-panels in the first stripe only",
     .field = FIELD(k_panel_once),
     .of = STRIPES,
     .most = 1,
     .words = all_first,
     .change = TSR_CHANGE_OTHER,
     .turn = 9,
     .worth = stripes_have_k_panels,
     .unmet = if_there_are_products},

    {.name = "nblock.first",
     .unit = "columns",
     .says =
         "Columns of C of a kernel in the first k-panel; 0: all, or in a rank-k update as in the "
         "last one. If a product has only one k-panel: columns of the first kernel, doubled for "
         "each next one up to nblock.last; 0: nblock.last. In stripes: lines of a kernel in the "
         "first of several k-panels of a device's first stripe; 0: all.",
     .phrase = "n-blocks of %s at first",
     .field = FIELD(n_block_first),
     .of = PANELS | STRIPES | TILES_OF_PRODUCTS,
     .most = MOST,
     .change = TSR_CHANGE_WALK,
     .turn = 19,
     .value = {512, 1024, 2048, 0, -1},
     .worth = has_first_n_block,
     .unmet = if_k_panels_differ,
     .same = {{has_form, "products in residues have one k-panel"}}},
    {.name = "nblock.middle",
     .unit = "columns",
     .says =
         "Columns of C of a kernel in the k-panels between the first and the last; 0: all, or in "
         "a rank-k update as in the last one.",
     .phrase = "n-blocks of %s in between",
     .field = FIELD(n_block),
     .of = PANELS | TILES_OF_PRODUCTS,
     .most = MOST,
     .change = TSR_CHANGE_WALK,
     .turn = 23,
     .value = {512, 1024, 2048, 4096, 8192, 0, -1},
     .worth = of_panels,
     .unmet = if_k_panels_differ,
     .same = {{has_form, "products in residues have one k-panel"}}},
    {.name = "nblock.last",
     .unit = "columns",
     .says = "Columns of C of a kernel in the last k-panel; 0: all. In a rank-k update in all "
             "k-panels, unless C is fetched last from the host.",
     .phrase = "n-blocks of %s at last",
     .field = FIELD(n_block_last),
     .of = PANELS | TILES_OF_PRODUCTS,
     .most = MOST,
     .change = TSR_CHANGE_WALK,
     .turn = 18,
     .value = {256, 512, 1024, 2048, 4096, 0, -1},
     .worth = of_panels},
    {.name = "taper",
     .unit = "columns",
     .says = "The last n-blocks or stripes are halved, down to this width; 0: they are not.",
     .phrase = "tapered",
     .field = FIELD(n_block_least),
     .of = PANELS | STRIPES | TILES_OF_PRODUCTS,
     .most = MOST,
     .change = TSR_CHANGE_WALK,
     .turn = 24,
     .value = {0, 128, 256, 512, -1},
     .worth = of_panels},

    {.name = "block",
     .unit = "elements",
     .says =
         "Order of the diagonal blocks that the triangle, or the tile of a factorisation, is cut "
         "into; 0: one block.",
     .phrase = "blocks of A of %s",
     .field = FIELD(block),
     .of = STRIPES | FACTORS,
     .in_cuts = STRIPES,
     .most = MOST,
     .change = TSR_CHANGE_SCAN,
     .turn = 22,
     .value = {1024, 2048, 4096, 512, 256, -1}},
    {.name = "span",
     .unit = "blocks",
     .says = "The greatest height of a copy of the triangle, in blocks, or of a tile of a "
             "factorisation, in tile's extent; 0: one.",
     .phrase = "copies of A up to %s blocks high",
     .field = FIELD(span),
     .of = STRIPES | FACTORS,
     .in_cuts = FACTORS,
     .most = MOST_TILES,
     .change = TSR_CHANGE_SCAN,
     .turn = 21,
     .value = {1, 2, 4, 8, 16, 32, -1}},
    {.name = "products",
     .says =
         "When a block column of a factorisation loses the products of the ones to its left. "
         "late: panel by panel, each before it is factored; early: all panels at once, with each "
         "block column to its left as soon as that is there.",
     .field = FIELD(early),
     .of = FACTORS,
     .most = 1,
     .words = late_early,
     .unmet = unless_late_or_whole},
    {.name = "stripe",
     .unit = "lines",
     .says = "Width of a stripe: columns of C if A is on the left, rows if it is on the right, "
             "that go through the blocks of the triangle together; 0: all.",
     .phrase = "stripes of C of %s",
     .field = FIELD(stripe),
     .of = STRIPES,
     .most = MOST,
     .change = TSR_CHANGE_WALK,
     .turn = 23,
     .value = {512, 1024, 2048, 4096, 8192, 0, -1}},

    {.name = "inverses",
     .says = "each: every kernel of trsm inverts its block of A, or solves as the vendor does; "
             "shared: a device inverts each block once, for all stripes.",
     .phrase = "inverses shared by stripes",
     .field = FIELD(inverses),
     .of = STRIPES,
     .most = 1,
     .words = each_shared,
     .change = TSR_CHANGE_OTHER,
     .turn = 10,
     .worth = may_invert,
     .unmet = if_the_call_solves},

    {.name = "c",
     .says = "first: C is fetched before the products; last: C is fetched last and added to them.",
     .phrase = "C is added last",
     .field = FIELD(lazy),
     .of = PANELS | STRIPES | SLICES | TILES_OF_C | BANDS,
     .most = 1,
     .words = first_last,
     .change = TSR_CHANGE_OTHER,
     .turn = 8,
     .worth = may_choose_when_c_is_added,
     .unmet = if_c_is_beside,
     .same = {{one_device, "the device that computes is the home of C"}}},
    {.name = "add",
     .says = "Where C that is fetched last is added. owner: on the device that computed the "
             "products; home: the products are sent to the home of C and added there.",
     .phrase = "at the home of C",
     .field = FIELD(add_at_home),
     .of = PANELS | SLICES | TILES_OF_C | BANDS,
     .most = 1,
     .words = owner_home,
     .change = TSR_CHANGE_OTHER,
     .turn = 13,
     .worth = adds_on_device,
     .unmet = if_c_is_on_a_device,
     .same = {{one_device, "the device that computes is the home of C"}}},

    {.name = "piece",
     .unit = "bytes",
     .says = "The size of one copy; 0: a whole tile.",
     .phrase = "copies of %s",
     .field = FIELD(piece),
     .of = ALL,
     .most = INT32_MAX,
     .change = TSR_CHANGE_WALK,
     .turn = 20,
     .value = {256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20,
               64 << 20, 128 << 20, 256 << 20, -1},
     .worth = is_useful_piece},
    {.name = "order",
     .says =
         "given: a device computes its C blocks in their order in C; eta: next comes what can "
         "start first by the estimated arrival of its inputs over all routes: of a product one "
         "tile product after another, where memory is tight within a C block; of other operations "
         "one C block after another, unless memory is tight.",
     .phrase = "in order of arrival",
     .field = FIELD(by_eta),
     .of = TILES | BANDS,
     .most = 1,
     .words = given_eta,
     .change = TSR_CHANGE_OTHER,
     .turn = 7,
     .worth = may_order_by_arrival,
     .unmet = unless_given_or_free,
     .same = {{any_call, "inputs are estimated to arrive in the given order"}}},
    {.name = "relay",
     .says = "yes: a piece goes to all its readers at once, and each passes it on to the next; no: "
             "each reader fetches it by itself.",
     .field = FIELD(relay),
     .of = ALL,
     .most = 1,
     .words = no_yes,
     .same = {{one_device, "one device computes"},
              {in_slices, "no part of A or B has two readers"},
              {is_factored, "each device fetches a finished tile by itself"}}},
    {.name = "route",
     .says = "The source of a copy. eta: the location from which it is estimated to arrive first; "
             "bandwidth: the one with the fastest link, however loaded; home: always its home.",
     .field = FIELD(routing),
     .of = ALL,
     .most = TSR_ROUTE_HOME,
     .words = routes,
     .same = {{one_device, "one device computes"},
              {any_call, "estimates and links name the same source of each copy"}}},
    {.name = "sockets",
     .says = "How copies between a device and the host memory of another socket go. forward: by a "
             "device of that socket, which passes them on, where that is estimated to be sooner; "
             "straight: always over the link between the sockets.",
     .phrase = "copies straight from socket to socket",
     .field = FIELD(straight),
     .of = ALL,
     .most = 1,
     .words = forward_straight,
     .change = TSR_CHANGE_OTHER,
     .turn = 6,
     .worth = has_sockets,
     .same = {{one_socket, "the host has one socket"},
              {any_call, "no copy is estimated to be sooner by another socket"}}},
    {.name = "channels",
     .says = "count: estimated arrivals take into account the channels that links share; ignore: "
             "they treat links as independent.",
     .field = FIELD(ignore_channels),
     .of = ALL,
     .most = 1,
     .words = count_ignore,
     .same = {{one_device, "one device computes"},
              {any_call, "channels change no estimate's order"}}},
};
enum { KNOBS = sizeof table / sizeof *table };

const tsr_knob *tsr_knobs(int *count) {
  *count = KNOBS;
  return table;
}

bool tsr_knob_has(const tsr_knob *knob, tsr_strategy_kind kind, tsr_family family) {
  return (knob->of & OF(kind, family)) != 0;
}

static bool kind_has(const tsr_knob *knob, tsr_strategy_kind kind) {
  bool has = false;
  for (int family = 0; family < TSR_FAMILIES; family++)
    has |= tsr_knob_has(knob, kind, (tsr_family)family);
  return has;
}

/* ---- All knobs of a strategy ------------------------------------------------- */

bool tsr_strategy_same(const tsr_strategy *a, const tsr_strategy *b) {
  bool same = a->kind == b->kind && memcmp(a->weight, b->weight, sizeof a->weight) == 0;
  for (int i = 0; i < KNOBS && same; i++)
    same = tsr_knob_value(&table[i], a) == tsr_knob_value(&table[i], b);
  return same;
}

uint64_t tsr_strategy_digest(const tsr_strategy *s, tsr_family family) {
  int64_t values[KNOBS + 1] = {s->kind};
  for (int i = 0; i < KNOBS; i++)
    if (!(table[i].in_cuts & OF(s->kind, family))) values[i + 1] = tsr_knob_value(&table[i], s);
  return tsr_cache_digest(0, values, sizeof values);
}

/* Writes a value for people: "512", "8 MB". */
static void print_value(const tsr_knob *knob, int64_t value, char *text, size_t size) {
  if (knob->unit != NULL && strcmp(knob->unit, "bytes") == 0)
    snprintf(text, size, "%.3g MB", (double)value / 1e6);
  else
    snprintf(text, size, "%lld", (long long)value);
}

static void append(char *text, size_t size, const char *separator, const char *more) {
  size_t used = strlen(text);
  if (used < size) snprintf(text + used, size - used, "%s%s", separator, more);
}

void tsr_strategy_print(const tsr_strategy *s, char *text, size_t size) {
  snprintf(text, size, "%s", kind_words[s->kind]);
  for (int i = 0; i < KNOBS; i++) {
    const tsr_knob *knob = &table[i];
    int64_t value = tsr_knob_value(knob, s);
    char number[32], phrase[64];
    bool shown = knob->phrase != NULL && kind_has(knob, s->kind) && value > knob->least;
    if (!shown) continue;
    print_value(knob, value, number, sizeof number);
    snprintf(phrase, sizeof phrase, knob->phrase, number);
    append(text, size, i > 0 && strchr(knob->name, '.') != NULL ? ", " : "; ", phrase);
  }
}

/* ---- Words: values ----------------------------------------------------------- */

enum { MOST_TEXT = 64, ALL_KINDS = (1 << TSR_STRATEGY_KINDS) - 1 };

/* Writes a value as the user would write it in a word: "512", "home". */
static void spell(const tsr_knob *knob, int64_t value, char *text, size_t size) {
  if (knob->words != NULL)
    snprintf(text, size, "%s", knob->words[value]);
  else
    snprintf(text, size, "%lld", (long long)value);
}

/* Writes which values a knob has: "panels, stripes or tiles", "elements, 1 to 1073741824". */
static void say_values(const tsr_knob *knob, char *text, size_t size) {
  text[0] = '\0';
  if (knob->words == NULL) {
    snprintf(text, size, "%s, %lld to %lld", knob->unit, (long long)knob->least,
             (long long)knob->most);
    return;
  }
  for (int64_t i = 0; i <= knob->most; i++)
    append(text, size, i == 0 ? "" : i == knob->most ? " or " : ", ", knob->words[i]);
}

static bool read_word(const char *const *words, const char *text, int64_t *value) {
  for (int64_t i = 0; words[i] != NULL; i++) {
    *value = i;
    if (strcmp(words[i], text) == 0) return true;
  }
  return false;
}

static bool read_number(const tsr_knob *knob, const char *text, int64_t *value) {
  char *end;
  size_t bytes;
  *value = strtoll(text, &end, 10);
  if (strcmp(knob->unit, "bytes") == 0 && strcmp(text, "0") != 0) {
    if (tsr_parse_bytes("piece", text, &bytes) != TSR_OK || bytes > INT64_MAX) return false;
    *value = (int64_t)bytes;
  } else if (end == text || *end != '\0') {
    return false;
  }
  return *value >= knob->least && *value <= knob->most;
}

/* The word that is being read. */
typedef struct word {
  unsigned kinds; /* the kinds of strategies that it is for, as bits */
  bool named; /* it names no kind: the knob is set for all kinds that have it, and must be honoured
               */
  tsr_forced *forced;
} word;

static tsr_status force(const word *w, int row, const char *text) {
  const tsr_knob *knob = &table[row];
  char values[MOST_TEXT];
  int64_t value = 0;
  bool good =
      knob->words != NULL ? read_word(knob->words, text, &value) : read_number(knob, text, &value);
  if (!good) {
    say_values(knob, values, sizeof values);
    return tsr_fail(TSR_ERR_ARGUMENT, "strategy: %s is \"%s\"; give %s", knob->name, text, values);
  }
  for (int kind = 0; kind < TSR_STRATEGY_KINDS; kind++) {
    if (!(w->kinds >> kind & 1)) continue;
    *tsr_knob_in(knob, &w->forced->value[kind]) = value;
    w->forced->knobs[kind] |= UINT64_C(1) << row;
  }
  if (w->named) w->forced->named |= UINT64_C(1) << row;
  return TSR_OK;
}

/* ---- Words: names ------------------------------------------------------------ */

static int find_row(const char *name) {
  for (int i = 0; i < KNOBS; i++)
    if (strcmp(table[i].name, name) == 0) return i;
  return -1;
}

/* The next row, from `row` on, whose name begins with the group's and a dot; -1: none. */
static int next_of_group(const char *group, int row) {
  size_t length = strlen(group);
  for (; row < KNOBS; row++)
    if (strncmp(table[row].name, group, length) == 0 && table[row].name[length] == '.') return row;
  return -1;
}

/* Sets the first knobs of a group from values such as "1024,4096,512" or "2x4". */
static tsr_status force_group(const word *w, const char *group, char *values) {
  int row = next_of_group(group, 0);
  for (char *end = values; end != NULL; values = end + 1) {
    end = strpbrk(values, ",x");
    if (end != NULL) *end = '\0';
    if (row < 0)
      return tsr_fail(TSR_ERR_ARGUMENT, "strategy: %s has one value too many, \"%s\"; leave it out",
                      group, values);
    TSR_TRY(force(w, row, values));
    row = next_of_group(group, row + 1);
    if (end == NULL) break;
  }
  return TSR_OK;
}

static tsr_status force_kind(const word *w, const char *text) {
  int64_t kind;
  if ((!w->named && w->kinds != ALL_KINDS) || !read_word(kind_words, text, &kind))
    return tsr_fail(TSR_ERR_ARGUMENT,
                    "strategy: kind is \"%s\"; give panels, stripes, slices, tiles or bands", text);
  w->forced->kinds = 1u << kind;
  w->forced->kind_named = w->named;
  return TSR_OK;
}

static tsr_status unknown(const char *text) {
  char names[600] = "kind";
  for (int i = 0; i < KNOBS; i++) append(names, sizeof names, ", ", table[i].name);
  return tsr_fail(TSR_ERR_ARGUMENT, "strategy: \"%s\": give words NAME=VALUE with a NAME of %s",
                  text, names);
}

/* Moves *text past a leading "panels/" or "any/" and notes the kinds that it names. False: the text
 * before the slash is no kind. */
static bool read_scope(word *w, char **text) {
  char *slash = strchr(*text, '/');
  int64_t kind = 0;
  if (slash == NULL) return true;
  *slash = '\0';
  bool any = strcmp(*text, "any") == 0, known = any || read_word(kind_words, *text, &kind);
  *w = (word){.kinds = any ? ALL_KINDS : 1u << kind, .forced = w->forced};
  *slash = '/';
  *text = slash + 1;
  return known;
}

static tsr_status read_pair(const char *start, size_t length, tsr_forced *forced) {
  char copy[MOST_TEXT], *name = copy;
  int64_t kind;
  word w = {ALL_KINDS, true, forced};
  snprintf(copy, sizeof copy, "%.*s", (int)length, start);
  char *value = strchr(copy, '=');
  if (length >= sizeof copy || !read_scope(&w, &name)) return unknown(copy);
  if (value == NULL && read_word(kind_words, name, &kind)) return force_kind(&w, name);
  if (value == NULL) return unknown(copy);
  *value++ = '\0';
  if (strcmp(name, "kind") == 0) return force_kind(&w, value);
  if (find_row(name) >= 0) return force(&w, find_row(name), value);
  if (next_of_group(name, 0) >= 0) return force_group(&w, name, value);
  value[-1] = '=';
  return unknown(copy);
}

/* ---- Words: which strategies have them --------------------------------------- */

static bool is_named(const tsr_forced *forced, int row) {
  return forced->named >> row & 1;
}

/* The kinds of strategies that have a knob for a family of operations; TSR_FAMILIES: for any
 * family. */
static unsigned kinds_with(const tsr_knob *knob, int family) {
  unsigned kinds = 0;
  for (int kind = 0; kind < TSR_STRATEGY_KINDS; kind++) {
    bool has = family < TSR_FAMILIES
                   ? tsr_knob_has(knob, (tsr_strategy_kind)kind, (tsr_family)family)
                   : kind_has(knob, (tsr_strategy_kind)kind);
    kinds |= (unsigned)has << kind;
  }
  return kinds;
}

/* Writes the names of kinds: "panels, slices and tiles". */
static void say_kinds(unsigned kinds, char *text, size_t size) {
  const char *between = "";
  text[0] = '\0';
  for (int kind = 0; kind < TSR_STRATEGY_KINDS; kind++) {
    unsigned left = kinds >> kind;
    if (!(left & 1)) continue;
    append(text, size, left == 1 && *between ? " and " : between, kind_words[kind]);
    between = ", ";
  }
}

/* The kinds of strategies that can have the forced value of a named knob, for a family of
 * operations; TSR_FAMILIES: for any family. */
static unsigned kinds_for_value(const tsr_forced *forced, int row, int family) {
  const tsr_knob *knob = &table[row];
  unsigned kinds = kinds_with(knob, family);
  for (int kind = 0; kind < TSR_STRATEGY_KINDS; kind++) {
    bool free = false;
    for (int f = 0; f < TSR_FAMILIES; f++)
      if ((family == TSR_FAMILIES || f == family) && tsr_knob_has(knob, (tsr_strategy_kind)kind, f))
        free |= !(knob->least_of & OF(kind, f));
    bool least = tsr_knob_value(knob, &forced->value[kind]) == knob->least;
    if (!free && !least) kinds &= ~(1u << kind);
  }
  return kinds;
}

/* Removes from *kinds those that lack a named knob for the family (TSR_FAMILIES: for any family),
 * or have only its least value, which is not the forced one. */
static tsr_status keep_kinds(const tsr_forced *forced, int family, unsigned *kinds) {
  char left[MOST_TEXT], own[MOST_TEXT];
  for (int i = 0; i < KNOBS; i++) {
    if (!is_named(forced, i)) continue;
    unsigned with = kinds_with(&table[i], family) & *kinds;
    say_kinds(*kinds, left, sizeof left);
    say_kinds(kinds_with(&table[i], family), own, sizeof own);
    *kinds &= kinds_for_value(forced, i, family);
    if (*kinds == 0 && with != 0)
      return tsr_fail(TSR_ERR_ARGUMENT, "strategy: %s: %s; give %lld", table[i].name,
                      table[i].least_why, (long long)table[i].least);
    if (*kinds == 0)
      return tsr_fail(TSR_ERR_ARGUMENT,
                      "strategy: %s belongs to %s%s, but the other words and the operation leave "
                      "%s; leave it or one of them out",
                      table[i].name, own[0] ? own : "strategies of other operations",
                      own[0] ? " here" : "", left);
  }
  return TSR_OK;
}

tsr_status tsr_strategy_parse(const char *text, tsr_forced *forced) {
  *forced = (tsr_forced){.kinds = ALL_KINDS};
  while (text && *text) {
    size_t blank = strspn(text, " "), length = strcspn(text + blank, " ");
    if (length > 0) TSR_TRY(read_pair(text + blank, length, forced));
    text += blank + length;
  }
  unsigned kinds = forced->kinds;
  return keep_kinds(forced, TSR_FAMILIES, &kinds);
}

/* The forced value of the knob of a row for the first of these kinds. */
static int64_t value_for(const tsr_forced *forced, int row, unsigned kinds) {
  int kind = 0;
  while (!(kinds >> kind & 1)) kind++;
  return tsr_knob_value(&table[row], &forced->value[kind]);
}

static const char *reason_against(const tsr_knob *knob, const tsr_search_problem *p,
                                  int64_t value) {
  return knob->unmet != NULL ? knob->unmet(p, value) : NULL;
}

tsr_status tsr_forced_check(const tsr_forced *forced, const tsr_search_problem *p,
                            unsigned *kinds) {
  tsr_family family = tsr_family_of(p->call->operation);
  char left[MOST_TEXT], text[MOST_TEXT];
  *kinds = tsr_tile_is_fixed(p) ? 0 : 1u << tsr_strategy_kind_of(family);
  if (tsr_tiles_are_possible(p)) *kinds |= 1u << TSR_TILES;
  if (tsr_slices_are_possible(p)) *kinds |= 1u << TSR_SLICES;
  if (tsr_bands_are_possible(p)) *kinds |= 1u << TSR_BANDS;
  if (tsr_bands_are_needed(p)) *kinds = 1u << TSR_BANDS;
  /* A composed product in a form whose tiles are set has no strategy: the search says that it
   * does not fit, and the caller plans it natively. */
  if (*kinds == 0) *kinds = 1u << TSR_TILES;
  say_kinds(*kinds, left, sizeof left);
  if (forced->kind_named || (*kinds & forced->kinds) != 0) *kinds &= forced->kinds;
  if (*kinds == 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "strategy: this call is cut into %s; give one of these",
                    left);
  TSR_TRY(keep_kinds(forced, family, kinds));
  for (int i = 0; i < KNOBS; i++) {
    if (!is_named(forced, i)) continue;
    int64_t value = value_for(forced, i, *kinds);
    const char *reason = reason_against(&table[i], p, value);
    if (reason == NULL) continue;
    spell(&table[i], value, text, sizeof text);
    return tsr_fail(TSR_ERR_ARGUMENT, "strategy: %s=%s: %s; leave it out", table[i].name, text,
                    reason);
  }
  return TSR_OK;
}

void tsr_forced_apply(const tsr_forced *forced, const tsr_search_problem *p,
                      tsr_strategy *strategy) {
  tsr_family family = tsr_family_of(p->call->operation);
  for (int i = 0; i < KNOBS; i++) {
    const tsr_knob *knob = &table[i];
    if (!(forced->knobs[strategy->kind] >> i & 1)) continue;
    int64_t value = tsr_knob_value(knob, &forced->value[strategy->kind]);
    bool can = !(knob->least_of & OF(strategy->kind, family)) || value == knob->least;
    if (can && tsr_knob_has(knob, strategy->kind, family) && reason_against(knob, p, value) == NULL)
      *tsr_knob_in(knob, strategy) = value;
  }
}

const int64_t *tsr_forced_named(const tsr_forced *forced, size_t field) {
  for (int i = 0; i < KNOBS; i++)
    if (table[i].field == field && is_named(forced, i))
      return (const int64_t *)((const char *)&forced->value[TSR_TILES] + field);
  return NULL;
}

static bool has_fact(const tsr_knob *knob, int fact) {
  return fact < TSR_KNOB_FACTS && knob->same[fact].where != NULL;
}

/* ---- The reference page ------------------------------------------------------ */

void tsr_knobs_print(tsr_text *text) {
  tsr_text_add(text,
               "| knob | values | strategies | meaning | values make the same plan where |\n"
               "| --- | --- | --- | --- | --- |\n");
  for (int i = 0; i < KNOBS; i++) {
    char values[MOST_TEXT], kinds[MOST_TEXT];
    say_values(&table[i], values, sizeof values);
    say_kinds(kinds_with(&table[i], TSR_FAMILIES), kinds, sizeof kinds);
    tsr_text_add(text, "| `%s` | %s | %s | %s | ", table[i].name, values, kinds, table[i].says);
    for (int f = 0; has_fact(&table[i], f); f++)
      tsr_text_add(text, "%s%s", f == 0 ? "" : "; ", table[i].same[f].why);
    tsr_text_add(text, " |\n");
  }
}

const char *tsr_knob_is_same(const tsr_knob *knob, const tsr_search_problem *p,
                             const tsr_strategy *made) {
  for (int f = 0; has_fact(knob, f); f++)
    if (knob->same[f].where(p, made)) return knob->same[f].why;
  return NULL;
}
