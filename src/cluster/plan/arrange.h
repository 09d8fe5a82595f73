/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The arrangement of a product: which operands are redistributed first, how k is distributed after
 * that, and how the product is cut. All processes compute the arrangement from the same numbers, so
 * all get the same one.
 */
#ifndef TSR_CLUSTER_PLAN_ARRANGE_H
#define TSR_CLUSTER_PLAN_ARRANGE_H

#include "cluster/plan/choose.h"
#include "cluster/run/product.h"

typedef struct tsr_arrangement {
  bool moves[2];       /* whether op(A), op(B) is redistributed first */
  tsr_axis axes[2][2]; /* rows and columns of op(A), op(B) in the layout that SUMMA reads */
  tsr_choice choice;
} tsr_arrangement;

/* Finds the arrangement with the least predicted time. The product must have been checked, must
 * read A and B (tsr_product_reads_inputs), and must run on more than one process. plan: as in
 * tsr_choose_cut. TSR_ERR_MEMORY. */
tsr_status tsr_arrange(const tsr_product *product, bool plan, tsr_arrangement *arrangement);

/* The product after redistribution, in the form that tsr_choose_cut and the schedule take. */
tsr_arranged tsr_arranged_of(const tsr_product *product, const tsr_arrangement *arrangement);

#endif
