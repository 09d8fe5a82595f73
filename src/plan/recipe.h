/*
 * Inside the planner: a recipe is one way to cut and order a call; the search tries several.
 */
#ifndef TSR_PLAN_RECIPE_H
#define TSR_PLAN_RECIPE_H

#include "blas/graph.h"
#include "plan/plan.h"

typedef struct tsr_recipe {
  int grid_rows, grid_cols; /* devices used: their product, the first of the order */
  int64_t tile;             /* square tiles of this extent, C tile by C tile; 0: panels */
  int64_t slab;             /* panels: the first slab of k, each next one is twice as long; 0: all
                               of k at once */
  int64_t chunk_first, chunk, chunk_last, chunk_least; /* as in tsr_tiling */
  bool lazy, by_eta;
  int64_t piece; /* bytes of a copy */
  int streams;
} tsr_recipe;

/* The tiling of a recipe; order lists the machine's devices, the preferred ones first.
 * TSR_ERR_MEMORY. */
tsr_status tsr_recipe_tiling(const tsr_recipe *recipe, const tsr_call *call, const int *order,
                             tsr_tiling *tiling);
void tsr_tiling_free(tsr_tiling *tiling);

/* "2 x 2 devices, slabs from 512, kernels of 1024 columns, C added last" */
void tsr_recipe_print(const tsr_recipe *recipe, char *text, size_t room);

#endif
