/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/plan/shape.h"

#include <math.h>

#include "cluster/plan/choose.h"
#include "cluster/tuning.h"

/* A block-cyclic axis with blocks of SHAPE_BLOCK, or smaller ones so that each process has one. */
static tsr_axis block_cyclic(int64_t extent, int count) {
  int64_t even = (extent + count - 1) / count,
          block = even < TSR_TUNE_SHAPE_BLOCK ? even : TSR_TUNE_SHAPE_BLOCK;
  return (tsr_axis){extent, block > 0 ? block : 1, block > 0 ? block : 1, 0, count};
}

/* *seconds: the predicted time of the product on a grid of that shape. */
static tsr_status predict(const tsr_model *model, const int shape[2], tsr_type type, int64_t m,
                          int64_t n, int64_t k, double *seconds) {
  tsr_grid grid = {.model_only = true,
                   .model = *model,
                   .extent = {shape[0], shape[1]},
                   .wishes = {.lookahead = TSR_TUNE_SHAPE_LOOKAHEAD}};
  tsr_arranged arranged = {.distribution = {block_cyclic(m, shape[0]), block_cyclic(n, shape[1]),
                                            block_cyclic(k, shape[1]), block_cyclic(k, shape[0])},
                           .type = type};
  tsr_choice choice;
  TSR_TRY(tsr_choose_cut(&grid, &arranged, false, &choice));
  *seconds = choice.forecast.seconds;
  return TSR_OK;
}

/* Tries shapes from the nearest to a square on, and each with its transpose. */
tsr_status tsr_shape_choose(const tsr_model *model, int processes, tsr_type type, int64_t m,
                            int64_t n, int64_t k, int extent[2]) {
  double best = INFINITY;
  extent[0] = extent[1] = 0;
  for (int less = (int)sqrt((double)processes + 0.5); less >= 1; less--) {
    for (int turned = 0; turned < 2 && processes % less == 0; turned++) {
      int more = processes / less;
      int shape[2] = {turned ? more : less, turned ? less : more};
      double seconds = 0;
      if (turned && less == more) continue;
      TSR_TRY(predict(model, shape, type, m, n, k, &seconds));
      if (!(seconds < (1 - TSR_TUNE_SHAPE_GAIN) * best) && extent[0] > 0) continue;
      best = seconds;
      extent[0] = shape[0], extent[1] = shape[1];
    }
  }
  return TSR_OK;
}

/* The extent of the products: SHAPE_EXTENT * sqrt(processes), or less so that a process's part of C
 * takes at most SHAPE_MEMORY of its devices' memory. */
tsr_status tsr_shape_choose_any(const tsr_model *model, int processes, int extent[2]) {
  double memory = (double)model->facts.devices * (double)model->facts.memory;
  double each = memory > 0 ? fmin(TSR_TUNE_SHAPE_EXTENT,
                                  sqrt(TSR_TUNE_SHAPE_MEMORY * memory / sizeof(double)))
                           : TSR_TUNE_SHAPE_EXTENT;
  int64_t n = (int64_t)(each * sqrt((double)processes)) + 1;
  return tsr_shape_choose(model, processes, TSR_D, n, n, n, extent);
}
