#include "dist/arrange.h"

#include "base/types.h"
#include "dist/summa.h"

/* ---- How k may be dealt ------------------------------------------------------ */

/* Of a matrix that moves: in the turns of the other one, so that each of its blocks has one source
 * only. */
static tsr_axis follow(const tsr_axis *other, int count) {
  tsr_axis axis = *other;
  axis.source = other->source % count;
  axis.count = count;
  return axis;
}

/* Where neither k stays as it is: a panel each in turn. */
static tsr_axis deal(const tsr_grid *grid, int64_t k, int count) {
  static const int64_t panel = 1024;
  int64_t turns = (int64_t)grid->extent[0] * grid->extent[1];
  int64_t depth = grid->wishes.depth > 0 ? grid->wishes.depth : panel;
  int64_t even = (k + turns - 1) / turns, block = even < depth ? even : depth;
  return (tsr_axis){k, block, block, 0, count};
}

/* ---- One arrangement --------------------------------------------------------- */

static void set_axes(const tsr_product *p, const tsr_view *a, const tsr_view *b, const tsr_view *c,
                     tsr_arrangement *x) {
  const int *extent = p->grid->extent;
  tsr_axis k_a = !x->moves[0]   ? a->axis[1]
                 : !x->moves[1] ? follow(&b->axis[0], extent[1])
                                : deal(p->grid, p->k, extent[1]);
  tsr_axis k_b = x->moves[1] ? follow(&k_a, extent[0]) : b->axis[0];
  x->axes[0][0] = c->axis[0];
  x->axes[0][1] = k_a;
  x->axes[1][0] = k_b;
  x->axes[1][1] = c->axis[1];
}

tsr_deal tsr_arranged_deal(const tsr_product *p, const tsr_arrangement *x) {
  tsr_view c = tsr_product_view(&p->c);
  return (tsr_deal){c.axis[0], c.axis[1], x->axes[0][1], x->axes[1][0]};
}

static tsr_status reckon(const tsr_product *p, tsr_arrangement *x) {
  tsr_job job = {.deal = tsr_arranged_deal(p, x),
                 .type = p->c.matrix.type,
                 .reads_result = tsr_product_reads_result(p),
                 .moves = {x->moves[0], x->moves[1]}};
  return tsr_choose_cut(p->grid, &job, &x->cut, &x->seconds);
}

/* ---- The best ---------------------------------------------------------------- */

tsr_status tsr_arrange(const tsr_product *p, tsr_arrangement *arrangement) {
  tsr_view a = tsr_product_view(&p->a), b = tsr_product_view(&p->b), c = tsr_product_view(&p->c);
  tsr_arrangement x = {
      .moves = {!tsr_summa_fits_a(p->grid, &a, &c), !tsr_summa_fits_b(p->grid, &b, &c)}};
  set_axes(p, &a, &b, &c, &x);
  TSR_TRY(reckon(p, &x));
  *arrangement = x;
  return TSR_OK;
}
