/*
 * The graph of a call: its tasks in a sequential order in which carrying them out one after another
 * gives the result. One builder for each family of operations; the planner says how to cut
 * (tsr_tiling) and which device owns what.
 */
#ifndef TSR_BLAS_GRAPH_H
#define TSR_BLAS_GRAPH_H

#include "base/vec.h"
#include "blas/call.h"

/* Ascending boundaries: part i is [at[i], at[i + 1]). */
typedef struct tsr_cuts {
  int count; /* parts */
  int64_t *at;
} tsr_cuts;

/* Tiles of C that a device works on at once; 0: all. */
typedef struct tsr_pass {
  int rows, cols;
} tsr_pass;

/* How the iteration space of a call is cut. Tiles are the unit of memory: C is cut by rows and
 * columns into tiles, which the devices own; A and B by the same cuts and by k_panels of k. Kernels
 * are cut out of tiles along the columns of C ("n_blocks"), so that a kernel may start before all
 * of a tile of B is there, and finished columns of C may leave early. Beside a triangle k is its
 * order in blocks, and n_block the lines of a stripe (build_triangle.c). */
typedef struct tsr_tiling {
  tsr_cuts m, n, k;
  tsr_cuts k_of_a, k_of_b, /* by which A and B are cut in place of k, */
      n_of_b;              /* and B in place of n; parts of k and n keep within theirs. No cuts: by
                              k and n */
  bool leading; /* with each k_panel of A, or, of all of k, each row of tiles, as much of B
                  comes, in columns of all of k */
  int grid_rows, grid_cols; /* devices over the tiles of C, 2D block-cyclic */
  int16_t *device;          /* [grid_rows * grid_cols], row by row */
  int *down, *across;       /* the grid's row of each part of m, and its column of each part of n;
                               NULL: dealt in turn. With them there are no turns */
  int64_t span;             /* beside a triangle: blocks of k that a copy may be high; 0: one */
  int64_t k_panel,
      k_panel_most;      /* beside a triangle, for all lines of a stripe: the first k_panel of its
                      order, 0 for all of it; the next ones double, up to k_panel_most */
  bool k_panel_once;     /* only a device's first stripe has them */
  tsr_pass pass;         /* of every device, */
  tsr_pass *passes;      /* or of each, [grid_rows * grid_cols] as device; NULL: pass */
  int depth;             /* parts of k that are summed over before the next tile of C; 0: one */
  bool turns;            /* columns of tiles are dealt to the grid's to and fro, so that those of
                            a triangle, which differ in length, add up alike */
  bool serpentine;       /* each pass goes the other way than the one before, so that it begins
                       with what that has left */
  int64_t n_block_first; /* columns of kernels of the first k_panel, or, if that is all of k, of the
                          first kernel, whereupon they double up to n_block_last; */
  int64_t n_block;       /* of those between, */
  int64_t n_block_last;  /* and of the last one, */
  int64_t n_block_least; /* which tapers down to this at the end of a pass; 0: no taper */
  bool lazy;             /* alpha A B goes to W and C is added at the end, */
  bool lazy_everywhere;  /* also where a device is the home of C and could add in place */
  int16_t adder; /* the device that adds, when it is not each part's owner: C's home; else -1 */
} tsr_tiling;

/* One operand of a task: a rectangle of the stored matrix inside one tile of it. */
typedef struct tsr_task_operand {
  int64_t row, col;
  int32_t rows, cols;
  int32_t tile;   /* row of tiles x columns of the grid + column of tiles */
  uint8_t matrix; /* TSR_A .. TSR_W */
  uint8_t access; /* tsr_access; TSR_NONE: unused */
} tsr_task_operand;

typedef struct tsr_task {
  tsr_task_operand operand[3];
  int32_t m, n, k;
  int16_t device;
  uint8_t kernel, flags;
  uint8_t form; /* tsr_form_pack */
  bool last;    /* after it, what it wrote of C is final */
} tsr_task;

/* The tasks of one device that work on the same tiles of C: tasks [first, first + count). Groups of
 * different devices are independent, and so are those of one device: any order will do, but a
 * group's own tasks are in order. */
typedef struct tsr_group {
  size_t first, count;
  int16_t device;
} tsr_group;

/* The grid of tiles of a matrix, in its stored coordinates. count 0: the matrix is not used. */
typedef struct tsr_tile_grid {
  tsr_cuts rows, cols;            /* borrowed from the tiling */
  int64_t piece_rows, piece_cols; /* copies of its tiles are not larger; 0: no limit */
} tsr_tile_grid;

typedef struct tsr_graph {
  tsr_tile_grid grid[TSR_MATRICES];
  int depth;     /* parts of k */
  unsigned used; /* matrices that tasks use, as bits */
  TSR_VEC(tsr_task) tasks;
  TSR_VEC(tsr_group) groups;
} tsr_graph;

/* The graph of any operation. Groups come device by device, pass by pass; in a group k_panel by
 * k_panel, in a k_panel n_block by n_block; then, when lazy, the additions of C. Of the operations
 * with a triangle beside C a group goes through the blocks of the triangle. graph: zeroed, or an
 * earlier one, whose memory serves again. TSR_ERR_MEMORY. */
tsr_status tsr_graph_build(const tsr_call *call, const tsr_tiling *tiling, tsr_graph *graph);

void tsr_graph_free(tsr_graph *graph);

/* Cuts [0, extent) into parts of size, the last one ragged. Frees nothing; at is made anew. */
tsr_status tsr_cuts_uniform(int64_t extent, int64_t size, tsr_cuts *cuts);
/* Cuts [0, extent) into count parts with lengths in the ratio of the weights, the inner boundaries
 * multiples of align where that leaves no part empty. */
tsr_status tsr_cuts_weighted(int64_t extent, int count, const double *weights, int64_t align,
                             tsr_cuts *cuts);
void tsr_cuts_free(tsr_cuts *cuts);

#endif
