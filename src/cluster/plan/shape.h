/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The shape of a grid, by the model. */
#ifndef TSR_CLUSTER_PLAN_SHAPE_H
#define TSR_CLUSTER_PLAN_SHAPE_H

#include "cluster/run/grid.h"

/* Finds the rows and columns of a grid of `processes` processes for which C = A B of m x n x k has
 * the least predicted time. Among shapes whose times differ by less than TSR_TUNE_SHAPE_GAIN, the
 * one nearest to a square wins, and of two equally near the one with fewer rows.
 * TSR_ERR_MEMORY. */
tsr_status tsr_shape_choose(const tsr_model *model, int processes, tsr_type type, int64_t m,
                            int64_t n, int64_t k, int extent[2]);

/* The same for a grid whose products are not known yet: large square products of doubles. */
tsr_status tsr_shape_choose_any(const tsr_model *model, int processes, int extent[2]);

#endif
