/*
 * The arrangement of a product: which operands are redistributed first, how k is dealt then, and
 * how the product is cut. It follows from what all processes know alike, so all choose the same.
 */
#ifndef TSR_CLUSTER_ARRANGE_H
#define TSR_CLUSTER_ARRANGE_H

#include "cluster/choose.h"
#include "cluster/product.h"

typedef struct tsr_arrangement {
  bool moves[2];       /* op(A), op(B) */
  tsr_axis axes[2][2]; /* rows and columns of each as it is sent */
  tsr_choice choice;
} tsr_arrangement;

/* Of a product that was checked and reads its inputs, on several processes; plan as in
 * tsr_choose_cut. TSR_ERR_MEMORY. */
tsr_status tsr_arrange(const tsr_product *product, bool plan, tsr_arrangement *arrangement);

/* What comes out, to be cut. */
tsr_arranged tsr_arranged_of(const tsr_product *product, const tsr_arrangement *arrangement);

#endif
