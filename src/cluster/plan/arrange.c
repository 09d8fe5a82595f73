/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/arrange.h"

#include "base/types.h"
#include "cluster/run/summa.h"
#include "cluster/tuning.h"

/* ---- How k may be distributed ------------------------------------------------ */

/* The k axis of an operand that is redistributed while the other one stays: the blocks of the other
 * one's k axis, over `count` coordinates, so that each block has one owner in both. */
static tsr_axis follow(const tsr_axis *other, int count) {
  tsr_axis axis = *other;
  axis.source = other->source % count;
  axis.count = count;
  return axis;
}

/* The k axis if both operands are redistributed: blocks of the depth of a panel, distributed
 * cyclically; smaller blocks if k is too short to give each process one. */
static tsr_axis spread_k(const tsr_grid *grid, int64_t k, int count) {
  int64_t turns = (int64_t)grid->extent[0] * grid->extent[1];
  int64_t depth = grid->wishes.depth > 0 ? grid->wishes.depth : TSR_TUNE_REDISTRIBUTED_BLOCK;
  int64_t even = (k + turns - 1) / turns, block = even < depth ? even : depth;
  return (tsr_axis){.extent = k, .first = block, .block = block, .count = count};
}

/* ---- One arrangement --------------------------------------------------------- */

static void set_axes(const tsr_product *p, const tsr_view *a, const tsr_view *b, const tsr_view *c,
                     tsr_arrangement *x) {
  const int *extent = p->grid->extent;
  tsr_axis k_a = !x->moves[0]   ? a->axis[1]
                 : !x->moves[1] ? follow(&b->axis[0], extent[1])
                                : spread_k(p->grid, p->k, extent[1]);
  tsr_axis k_b = x->moves[1] ? follow(&k_a, extent[0]) : b->axis[0];
  x->axes[0][0] = c->axis[0];
  x->axes[0][1] = k_a;
  x->axes[1][0] = k_b;
  x->axes[1][1] = c->axis[1];
}

tsr_arranged tsr_arranged_of(const tsr_product *p, const tsr_arrangement *x) {
  tsr_view from[2] = {tsr_product_view(&p->a), tsr_product_view(&p->b)};
  tsr_view c = tsr_product_view(&p->c);
  tsr_arranged arranged = {.distribution = {c.axis[0], c.axis[1], x->axes[0][1], x->axes[1][0]},
                           .type = p->c.matrix.type,
                           .reads_result = tsr_product_reads_result(p)};
  for (int i = 0; i < 2; i++) {
    arranged.moves[i] = x->moves[i];
    arranged.moved[i] = tsr_exchange_bytes(&from[i], p->grid->extent[0] * p->grid->extent[1]);
  }
  return arranged;
}

/* ---- The best ---------------------------------------------------------------- */

typedef struct chooser {
  const tsr_product *product;
  bool plan, any;
  tsr_view a, b, c;
  tsr_arrangement best;
} chooser;

static tsr_status try_moves(chooser *x, bool move_a, bool move_b) {
  tsr_arrangement made = {.moves = {move_a, move_b}};
  set_axes(x->product, &x->a, &x->b, &x->c, &made);
  tsr_arranged arranged = tsr_arranged_of(x->product, &made);
  TSR_TRY(tsr_choose_cut(x->product->grid, &arranged, x->plan, &made.choice));
  if (!x->any || made.choice.forecast.seconds < x->best.choice.forecast.seconds) x->best = made;
  x->any = true;
  return TSR_OK;
}

/* If k has other blocks in A than in B, each pair of owners has its own, shallower panels. Then
 * redistributing A or B may take less time, so both are tried. */
static tsr_status try_more(chooser *x, bool move_a, bool move_b) {
  const int *extent = x->product->grid->extent;
  if (move_a || move_b || extent[0] == 1 || extent[1] == 1) return TSR_OK;
  if (tsr_axis_same_blocks(&x->a.axis[1], &x->b.axis[0])) return TSR_OK;
  TSR_TRY(try_moves(x, true, false));
  return try_moves(x, false, true);
}

tsr_status tsr_arrange(const tsr_product *p, bool plan, tsr_arrangement *arrangement) {
  chooser x = {.product = p,
               .plan = plan,
               .a = tsr_product_view(&p->a),
               .b = tsr_product_view(&p->b),
               .c = tsr_product_view(&p->c)};
  bool move_a = !tsr_summa_fits_a(p->grid, &x.a, &x.c);
  bool move_b = !tsr_summa_fits_b(p->grid, &x.b, &x.c);
  TSR_TRY(try_moves(&x, move_a, move_b));
  TSR_TRY(try_more(&x, move_a, move_b));
  *arrangement = x.best;
  return TSR_OK;
}
