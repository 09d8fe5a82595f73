/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The order in which a product goes through k. A panel is a set of indices of k whose columns of A
 * are all owned by one process column and whose rows of B are all owned by one process row. A sum
 * over k may be taken in any order, so a panel takes indices of many blocks of such a pair, up to
 * its depth: small blocks of the matrices still make deep panels.
 */
#ifndef TSR_CLUSTER_PLAN_PANELS_H
#define TSR_CLUSTER_PLAN_PANELS_H

#include "base/status.h"
#include "base/vec.h"
#include "cluster/layout/axis.h"

/* The first `depth` indices, from index `at` on, that process column `col` owns in A and process
 * row `row` owns in B. */
typedef struct tsr_panel {
  int64_t at, depth;
  int row, col;
} tsr_panel;

typedef TSR_VEC(tsr_panel) tsr_panels;

/* Cuts k into panels and appends them to *panels, which must be empty. a and b: the distribution of
 * k as columns of A and as rows of B.
 *
 * Panels come in rounds of one panel for each pair of a process column and a process row, so that
 * successive panels come from different processes as far as possible and no process's link is the
 * only one in use. The first two rounds have depth `first`, so that products begin soon; each later
 * round is twice as deep as the round before, up to `depth`. TSR_ERR_MEMORY. */
tsr_status tsr_panels_make(const tsr_axis *a, const tsr_axis *b, int64_t first, int64_t depth,
                           tsr_panels *panels);

void tsr_panels_free(tsr_panels *panels);

#endif
