/*
 * Inside the planner: a recipe is one way to cut and order a call; the search tries several.
 */
#ifndef TSR_PLAN_SEARCH_RECIPE_H
#define TSR_PLAN_SEARCH_RECIPE_H

#include "blas/graph.h"
#include "plan/schedule/schedule.h"

/* Kernels' extents are 32-bit: no part of m, n or k is longer. */
#define TSR_RECIPE_LONGEST (INT64_C(1) << 30)

/* A weight of 1. */
#define TSR_RECIPE_WEIGHT 10000

typedef struct tsr_recipe {
  int grid_rows, grid_cols; /* devices used: their product, the first of the order */
  int64_t tile;             /* square tiles of this extent, C tile by C tile; 0: panels */
  bool winds;               /* as in tsr_tiling */
  bool even;                /* tiles: as many as of that extent are needed, all about alike */
  int hold_rows,
      hold_cols; /* tiles: of C that stay at a device while A and B stream through; 0: 1 */
  bool deals;    /* tiles: C is dealt by what devices that differ make of their room, and hold
                    is that of the device with the most (deal.h); */
  uint16_t weight[TSR_MACHINE_DEVICES]; /* by these, a device of the grid each; all 0: reckoned.
                                           Panels: times what they would get, 0: once */
  int depth;                            /* tiles: of k between one such tile and the next; 0: 1 */
  int64_t ahead;     /* tiles: copies precede their use by that many percent of the kernels of
                        depth x hold_rows x hold_cols */
  int64_t rows;      /* panels of a product: parts of a device's rows of C, each of them complete
                        for itself; 0: one */
  int64_t slab;      /* panels: the first slab of k, each next one is twice as long, */
  int64_t slab_most; /* but not longer than this; slab 0: all of k at once, slab_most 0: no limit.
                        Of a corner all slabs but the last one, and that; slab_most 0: a quarter */
  bool slab_once;    /* beside a triangle: in a device's first stripe only */
  bool whole_a,      /* panels of a product: A is not cut into slabs, but all of it comes first; */
      whole_b;       /* B is not cut by who needs which columns, but each device gets all of it */
  bool corner;       /* panels of a product: with each slab of A, or, of all of k, each part of its
                        rows, as much of B comes, in columns of all of k, so that products of a
                        corner of both can begin */
  int64_t chunk_first, chunk, chunk_last, chunk_least; /* as in tsr_tiling */
  int64_t block; /* panels beside a triangle: the blocks of its order; 0: one */
  int64_t span;  /* blocks that a copy may be high, whose columns are long then; 0: one */
  bool lazy, by_eta, relay;
  bool add_at_home;   /* lazy, C at home on a device: products go there to be added */
  int64_t home_share; /* panels: the share of C of a device that is home to an operand, in percent
                         of the others' */
  tsr_routing routing;
  bool ignore_channels; /* in estimates of arrival */
  int64_t piece;        /* bytes of a copy; 0: whole tiles */
  int streams;
} tsr_recipe;

/* The tiling of a recipe; order lists the machine's devices, the preferred ones first.
 * TSR_ERR_MEMORY. */
tsr_status tsr_recipe_tiling(const tsr_recipe *recipe, const tsr_call *call,
                             const tsr_machine *machine, const int *order, tsr_tiling *tiling);
void tsr_tiling_free(tsr_tiling *tiling);

/* Sets what makes no difference to the plan of a call to one value, whatever it was: chunks that
 * are wider than what a device owns, limits that no slab meets. */
void tsr_recipe_simplify(const tsr_call *call, const tsr_machine *machine, tsr_recipe *recipe);
bool tsr_recipe_same(const tsr_recipe *a, const tsr_recipe *b);

/* Parts of a recipe that are given: those of value whose bit, counted in the order of the names
 * that tsr_recipe_parse knows, is set. */
typedef struct tsr_forced {
  tsr_recipe value;
  uint32_t parts;
} tsr_forced;

/* Reads words such as "grid=1x4 slab=512 chunk=1024,4096,512 span=4 taper=128 c=last piece=8M
 * streams=1 order=eta relay=1 route=eta channels=1 tile=0"; NULL: none. A part that is not named
 * stays free. TSR_ERR_ARGUMENT. */
tsr_status tsr_recipe_parse(const char *text, tsr_forced *forced);
void tsr_recipe_force(const tsr_forced *forced, tsr_recipe *recipe);

/* "2 x 2 devices, slabs from 512, kernels of 1024 columns, C added last" */
void tsr_recipe_print(const tsr_recipe *recipe, char *text, size_t room);

#endif
