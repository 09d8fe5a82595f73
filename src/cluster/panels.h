/*
 * In which order a product goes through k. A panel is a set of indices that one process column has
 * of A and one process row of B. The inner order is free, so a panel takes all that belongs to such
 * a pair, block after block, up to the depth: small blocks make long panels.
 */
#ifndef TSR_CLUSTER_PANELS_H
#define TSR_CLUSTER_PANELS_H

#include "base/status.h"
#include "base/vec.h"
#include "cluster/axis.h"

/* The first `depth` indices from `at` on that process column `col` has in A and row `row` in B. */
typedef struct tsr_panel {
  int64_t at, depth;
  int row, col;
} tsr_panel;

typedef TSR_VEC(tsr_panel) tsr_panels;

/* All of them; a and b are k as the columns of A and the rows of B have it. Successive panels come
 * from different processes as far as possible, so that no process's link is the only one in use.
 * The first ones have a depth of `first`, so that products begin soon, and then they are twice as
 * deep each time until that is `depth`. TSR_ERR_MEMORY. */
tsr_status tsr_panels_make(const tsr_axis *a, const tsr_axis *b, int64_t first, int64_t depth,
                           tsr_panels *panels);

void tsr_panels_free(tsr_panels *panels);

#endif
