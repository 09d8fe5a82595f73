/* The shape of a grid, by the model. */
#ifndef TSR_CLUSTER_SHAPE_H
#define TSR_CLUSTER_SHAPE_H

#include "cluster/grid.h"

/* Rows and columns of so many processes on which C = A B, m x n x k, is predicted to take least; of
 * shapes that take about as long the one nearest to a square, with no more rows than columns.
 * TSR_ERR_MEMORY. */
tsr_status tsr_shape_choose(const tsr_model *model, int processes, tsr_type type, int64_t m,
                            int64_t n, int64_t k, int extent[2]);

/* The same for a grid of which nobody knows yet what it will multiply: square products. */
tsr_status tsr_shape_choose_any(const tsr_model *model, int processes, int extent[2]);

#endif
