/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/strategy.h"

#include <math.h>

#include "base/least.h"
#include "base/types.h"
#include "cluster/tuning.h"
#include "tessera_papers.h"

tsr_status tsr_pproblem_make(const tsr_grid *grid, const tsr_arranged *arranged,
                             tsr_pproblem *problem) {
  tsr_accumulation whole;
  tsr_pproblem p = {.grid = grid,
                    .arranged = arranged,
                    .costs = tsr_costs_quick(grid, arranged->type, arranged->reads_result),
                    .memory = TSR_TUNE_USABLE_MEMORY * (double)grid->model.facts.memory,
                    .element = (double)tsr_type_get(arranged->type)->size,
                    .most = {tsr_axis_most(&arranged->distribution.rows),
                             tsr_axis_most(&arranged->distribution.cols)},
                    .best = INFINITY};
  TSR_TRY(tsr_costs_ask(&p.costs, p.most[0], p.most[1], TSR_TUNE_DEPTH, &whole));
  p.write_back = whole.home;
  *problem = p;
  return TSR_OK;
}

/* ---- Memory -------------------------------------------------------------------- */

/* A cut that is being made, and the number of its panels. */
typedef struct maker {
  tsr_pproblem *p;
  tsr_cut cut;
  int64_t panels;
} maker;

/* Bytes of a slot. */
static double slot_of(const maker *x, int operand) {
  return (double)x->cut.block[operand] * (double)x->cut.depth * x->p->element;
}

static int blocks_of(const maker *x, int direction) {
  return tsr_cut_blocks(&x->cut, direction, x->p->most[direction]);
}

static int slot_count(const maker *x, int operand) {
  const int blocks[2] = {blocks_of(x, 0), blocks_of(x, 1)};
  return tsr_cut_slots(&x->cut, operand, x->panels, blocks);
}

/* Bytes of all slots. */
static double slots_of(const maker *x) {
  return slot_count(x, 0) * slot_of(x, 0) + slot_count(x, 1) * slot_of(x, 1);
}

/* *bytes: memory that the cut leaves free on a device; negative: so much is missing. The device has
 * one or two blocks of C; copies of the panels of three products: of the one under way, of the next
 * one, and of the last one, whose memory is not free before the one under way is complete; and the
 * slots, if they are in device memory. */
static tsr_status find_free_memory(const maker *x, double *bytes) {
  enum { SETS = 3 }; /* products whose panels are on the device */
  const tsr_cut *cut = &x->cut;
  tsr_accumulation cost;
  *bytes = INFINITY;
  if (x->p->grid->model.facts.devices == 0) return TSR_OK;
  TSR_TRY(tsr_costs_ask(&x->p->costs, cut->block[0], cut->block[1], cut->depth, &cost));
  double needed = (cut->together ? 2.0 : 1.0) * (double)cost.result + SETS * (double)cost.inputs;
  if (!tsr_pproblem_uses_host(x->p)) needed += slots_of(x);
  *bytes = x->p->memory - needed;
  return TSR_OK;
}

/* Whether the slots use more host memory than they may unless the user has set depth and lookahead.
 */
static bool takes_much_host(const maker *x) {
  const tsr_wishes *w = &x->p->grid->wishes;
  bool set = w->depth > 0 && w->lookahead > 0;
  return !set && tsr_pproblem_uses_host(x->p) && slots_of(x) > TSR_TUNE_SLOTS_MEMORY;
}

/* ---- Blocks of C ----------------------------------------------------------------- */

/* The extent of blocks if `extent` is cut into `count` about equal ones; a multiple of BLOCK_LEAST.
 */
static int64_t part(int64_t extent, int64_t count) {
  int64_t even = (extent + count - 1) / count;
  int64_t round = (even + TSR_TUNE_BLOCK_LEAST - 1) / TSR_TUNE_BLOCK_LEAST * TSR_TUNE_BLOCK_LEAST;
  return count == 1 ? extent : tsr_least(round, extent);
}

static void cut_evenly(maker *x, const int64_t count[2]) {
  const int64_t *wish = x->p->grid->wishes.block, *most = x->p->most;
  for (int d = 0; d < 2; d++)
    x->cut.block[d] = wish[d] > 0 ? tsr_least(wish[d], most[d]) : part(most[d], count[d]);
}

/* Cuts C into the largest equal blocks that fit the devices, at least `blocks` of them. Each time
 * the longer direction of a block is cut, or the other one if the user set the extent there.
 * *fits: whether the blocks do. */
static tsr_status set_equal_blocks(maker *x, int64_t blocks, bool *fits) {
  const int64_t *wish = x->p->grid->wishes.block;
  int64_t count[2] = {1, 1}, *block = x->cut.block;
  for (;;) {
    double bytes;
    cut_evenly(x, count);
    TSR_TRY(find_free_memory(x, &bytes));
    *fits = bytes >= 0;
    int longer = block[1] > block[0];
    if (wish[longer] > 0) longer = 1 - longer;
    bool enough = *fits && count[0] * count[1] >= blocks;
    if (enough || wish[longer] > 0 || block[longer] <= TSR_TUNE_BLOCK_LEAST) return TSR_OK;
    count[longer]++;
  }
}

/* Gives the first row or column of blocks s->leading eighths of C, and cuts the rest into s->later
 * parts. A small last block is written back sooner; a small first block needs less data before it
 * is complete. *fits: whether the blocks do. */
static tsr_status set_leading_block(maker *x, const tsr_pstrategy *s, bool *fits) {
  double bytes;
  for (int d = 0; d < 2; d++) {
    int64_t most = x->p->most[d], block = part(s->leading[d] * most, TSR_EIGHTHS);
    if (s->leading[d] == TSR_EIGHTHS || block >= most) continue;
    x->cut.block[d] = block;
    x->cut.later[d] = tsr_least(block, part(most - block, s->later));
  }
  TSR_TRY(find_free_memory(x, &bytes));
  *fits = bytes >= 0;
  return TSR_OK;
}

/* Sets cut.together if two blocks of C fit the devices, whatever the strategy says. */
static tsr_status put_together(maker *x) {
  double bytes;
  bool was = x->cut.together;
  x->cut.together = blocks_of(x, 0) * blocks_of(x, 1) > 1;
  if (was || !x->cut.together) return TSR_OK;
  TSR_TRY(find_free_memory(x, &bytes));
  x->cut.together = bytes >= 0;
  return TSR_OK;
}

/* ---- Panels ---------------------------------------------------------------------- */

/* Limits the depth so that a panel fits 64 messages of TSR_MESSAGE_MOST bytes, the most pieces that
 * cluster/transport/mpi.c sends. */
static int64_t limit_depth(const tsr_pproblem *p, int64_t depth) {
  int64_t longest = p->most[0] > p->most[1] ? p->most[0] : p->most[1];
  int64_t most = 64 * (TSR_MESSAGE_MOST / (int64_t)p->element) / longest;
  return depth < most ? depth : most > 0 ? most : 1;
}

/* Sets x->panels. Most strategies that are tried have panels of the same depths, so the last counts
 * are kept. */
static tsr_status count_panels(maker *x) {
  tsr_pproblem *p = x->p;
  int known = p->counted < TSR_COUNTED ? p->counted : TSR_COUNTED;
  tsr_panels panels = {0};
  for (int i = 0; i < known; i++) {
    const tsr_panel_count *c = &p->count[i];
    x->panels = c->panels;
    if (c->depth == x->cut.depth && c->first == x->cut.first) return TSR_OK;
  }
  TSR_TRY(tsr_cut_panels(&p->arranged->distribution, &x->cut, &panels));
  x->panels = (int64_t)panels.count;
  p->count[p->counted++ % TSR_COUNTED] = (tsr_panel_count){x->cut.depth, x->cut.first, x->panels};
  tsr_panels_free(&panels);
  return TSR_OK;
}

/* Begins a cut: all of C as one block, with the panels of the strategy. */
static tsr_status begin(tsr_pproblem *p, const tsr_pstrategy *s, maker *x) {
  const tsr_wishes *w = &p->grid->wishes;
  int64_t depth = limit_depth(p, w->depth > 0 ? w->depth : s->depth);
  bool grows = w->depth == 0 && s->first < depth;
  *x = (maker){.p = p,
               .cut = {.block = {p->most[0], p->most[1]},
                       .depth = depth,
                       .first = grows ? s->first : 0,
                       .lookahead = w->lookahead > 0 ? w->lookahead : (int)s->lookahead,
                       .together = s->together,
                       .at_once = !tsr_pproblem_uses_host(p)}};
  return count_panels(x);
}

/* Raises the slots of an operand to `slots`, as far as *free_bytes allows, and takes their
 * bytes off *free_bytes. Returns whether all were added. */
static bool add_slots(maker *x, int operand, int64_t slots, double *free_bytes) {
  maker full = *x;
  int now = slot_count(x, operand);
  full.cut.held[operand] = (int)tsr_least(slots, TSR_SLOTS_MOST);
  int wanted = slot_count(&full, operand) - now, more = wanted;
  double slot = slot_of(x, operand);
  if (more < 1 || slot <= 0) return true;
  if (more * slot > *free_bytes) more = *free_bytes > 0 ? (int)(*free_bytes / slot) : 0;
  *free_bytes -= more * slot;
  x->cut.held[operand] = now + more;
  return more == wanted;
}

/* Adds slots in which panels stay for later blocks of C: panels of B for all blocks of a column of
 * blocks, with `lookahead` more for the next column; panels of A for all columns. If slots are in
 * device memory and all of these fit, they are added whatever the strategy says: uploading panels
 * again costs more than the replay sees, which assumes that other processes are not later than this
 * one. wanted: the strategy says so. */
static tsr_status keep_panels(maker *x, bool wanted) {
  double free_bytes, slots = slots_of(x);
  maker more = *x;
  bool all = true;
  int64_t down = blocks_of(x, 0), across = blocks_of(x, 1);
  TSR_TRY(find_free_memory(x, &free_bytes));
  if (tsr_pproblem_uses_host(x->p)) free_bytes = TSR_TUNE_SLOTS_MEMORY - slots;
  if (down > 1) all = add_slots(&more, TSR_SUMMA_B, x->panels + x->cut.lookahead, &free_bytes);
  if (across > 1) all = add_slots(&more, TSR_SUMMA_A, x->panels * down, &free_bytes) && all;
  if (wanted || (all && !tsr_pproblem_uses_host(x->p))) *x = more;
  return TSR_OK;
}

/* ---- A cut ----------------------------------------------------------------------- */

/* Whether the cut has so many products that replaying it would take long. A deeper cut is very
 * likely better. */
static bool is_too_fine(const maker *x) {
  double down = blocks_of(x, 0), across = blocks_of(x, 1);
  return x->p->grid->wishes.depth == 0 && x->cut.depth < TSR_DEPTH_MOST && x->panels > 1 &&
         (double)x->panels * down * across > TSR_TUNE_PRODUCTS_MOST;
}

/* Slots in host memory have a price, slots in device memory none: the devices' memory is there for
 * products. */
static double price_of(const maker *x) {
  return tsr_pproblem_uses_host(x->p) ? TSR_TUNE_CUT_GAIN * slots_of(x) / TSR_TUNE_SLOTS_MEMORY : 0;
}

tsr_status tsr_pstrategy_cut(tsr_pproblem *p, const tsr_pstrategy *s, tsr_cut *cut, double *price) {
  const int64_t *wish = p->grid->wishes.block;
  bool leads = tsr_pstrategy_leads(s) && wish[0] == 0 && wish[1] == 0, fits;
  maker x;
  TSR_TRY(begin(p, s, &x));
  TSR_TRY(leads ? set_leading_block(&x, s, &fits) : set_equal_blocks(&x, s->blocks, &fits));
  TSR_TRY(put_together(&x));
  bool possible = p->any_memory || (fits && !takes_much_host(&x) && !is_too_fine(&x));
  if (possible) TSR_TRY(keep_panels(&x, s->keep));
  *price = possible ? price_of(&x) : INFINITY;
  *cut = x.cut;
  return TSR_OK;
}

/* ---- The cut of Herault et al. ------------------------------------------------------ */

/* The paper counts lookahead + 1 panels on a device; here at least three products have theirs there
 * (find_free_memory), so a lookahead of 1 counts as 2. */
static tsr_status choose_parsec(const tsr_pproblem *p, tsr_parsec_cut *found) {
  const tsr_distribution *d = &p->arranged->distribution;
  int wish = p->grid->wishes.lookahead;
  int64_t rows = p->most[0] > 0 ? p->most[0] : 1, cols = p->most[1] > 0 ? p->most[1] : 1;
  int64_t k = d->k_a.extent > 0 ? d->k_a.extent : 1;
  TSR_TRY(tsr_plan_parsec(p->grid->model.planner, p->arranged->type, rows, cols, k, d->rows.block,
                          p->grid->model.facts.devices, wish > 2 ? wish : 2, found));
  found->lookahead = wish > 0 ? wish : found->down * found->across > 1 ? 2 : 1;
  return TSR_OK;
}

/* Without devices nothing is loaded onto any, so the rules say nothing: one block of C. */
static tsr_cut cut_without_devices(const tsr_pproblem *p) {
  const tsr_wishes *w = &p->grid->wishes;
  tsr_cut cut = {.depth = limit_depth(p, w->depth > 0 ? w->depth : TSR_TUNE_DEPTH),
                 .lookahead = w->lookahead > 0 ? w->lookahead : TSR_TUNE_LOOKAHEAD,
                 .at_once = !tsr_pproblem_uses_host(p)};
  for (int d = 0; d < 2; d++)
    cut.block[d] = w->block[d] > 0 ? tsr_least(w->block[d], p->most[d]) : p->most[d];
  return cut;
}

tsr_status tsr_pproblem_parsec_cut(tsr_pproblem *p, tsr_cut *cut) {
  const tsr_distribution *d = &p->arranged->distribution;
  tsr_parsec_cut found;
  double bytes;
  maker x = {.p = p};
  if (p->grid->model.facts.devices == 0) {
    *cut = cut_without_devices(p);
    return TSR_OK;
  }
  TSR_TRY(choose_parsec(p, &found));
  x.cut = (tsr_cut){.block = {tsr_least(found.b * d->rows.block, p->most[0]),
                              tsr_least(found.c * d->rows.block, p->most[1])},
                    .depth = limit_depth(p, found.d * d->k_a.block),
                    .lookahead = found.lookahead,
                    .at_once = !tsr_pproblem_uses_host(p)};
  for (;;) {
    TSR_TRY(count_panels(&x));
    TSR_TRY(find_free_memory(&x, &bytes));
    if (bytes >= 0 || x.cut.depth <= d->k_a.block) break;
    x.cut.depth -= d->k_a.block;
  }
  *cut = x.cut;
  return TSR_OK;
}
