/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The graph of a call: its tasks in a sequence. Running them one after another gives the result.
 * Each family of operations has a builder; the planner says how to cut the call (tsr_tiling) and
 * which device owns which tile.
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

/* The tiles of C that a device computes in one pass (a C block), as rows x columns of tiles; 0:
 * all. */
typedef struct tsr_pass {
  int rows, cols;
} tsr_pass;

/* How a call is cut. Tiles are the unit of memory: C is cut by rows and columns into tiles, which
 * the devices own; A and B are cut by the same rows and columns, and along k into k-panels. Each
 * kernel computes some columns of a tile of C (an n-block), so that it may start before all of a
 * tile of B is there, and finished columns of C may leave early. In operations with a triangle
 * beside C, k is the order of the triangle in blocks, and n_block is the lines of a stripe
 * (build_stripes.c). A factorisation (build_factor.c) has no k; n_block is the columns of a panel.
 */
typedef struct tsr_tiling {
  tsr_cuts m, n, k;
  /* Cuts for the tiles of A and B in place of k (both) and of n (B). Each part of k or n lies in
   * one part of these. Without cuts, A and B are cut by k and n. */
  tsr_cuts k_of_a, k_of_b, n_of_b;
  /* The leading block of C grows: with each k-panel of A (with each row of tiles, if k is one part)
   * as many bytes of B arrive, in columns of all of k. */
  bool leading;
  int grid_rows, grid_cols; /* devices over the tiles of C, 2D block-cyclic */
  int16_t *device;          /* [grid_rows * grid_cols], row by row */
  /* The row of the grid that owns each part of m, and the column that owns each part of n. NULL:
   * parts are assigned to the rows (columns) in turn, or as `alternates` says. */
  int *down, *across;
  /* The place of the grid that multiplies each part of k, in slices: ascending, and each place has
   * adjacent parts. It sums its products, of all of C, in a W of its own; W then has the columns of
   * C once for each place (n_of_w). Part j of n is added by place j. NULL: k is not cut over the
   * devices. */
  int *through;
  tsr_cuts n_of_w;
  /* Columns of tiles are assigned to the columns of the grid from left to right and from right to
   * left by turns. Columns of a triangle differ in length; so they add up to about the same. */
  bool alternates;
  /* Beside a triangle: how many blocks of k high a copy may be; 0: one. */
  int64_t span;
  /* Beside a triangle, in stripes: the first k-panel of its order (0: one k-panel is all of it).
   * Each next k-panel is twice as long, up to k_panel_most (0: no limit). */
  int64_t k_panel, k_panel_most;
  bool inverses;     /* trsm in stripes: a device inverts each block of the diagonal once, for all
                        stripes; else each kernel inverts its block anew, if it does */
  bool early;        /* a block column of a factorisation that is one tile has early products */
  bool k_panel_once; /* only the first stripe of a device has k-panels */
  tsr_pass pass;     /* the pass of every device */
  tsr_pass *passes;  /* or that of each, [grid_rows * grid_cols] as device; NULL: pass */
  int depth;         /* parts of k that are summed into a tile of C before the next tile; 0: one */
  bool serpentine;   /* each pass goes the other way than the one before, so that it begins with the
                        tiles that are still there */
  /* Columns of a kernel in the first k-panel; in stripes, which have lines, in that of a device's
   * first stripe. If one k-panel is all of k: columns of the first kernel; they double from there
   * to n_block_last. */
  int64_t n_block_first;
  int64_t n_block;       /* columns of a kernel in the k-panels between the first and the last */
  int64_t n_block_last;  /* in the last k-panel */
  int64_t n_block_least; /* the last n-blocks of a pass taper down to this; 0: no taper */
  bool lazy;             /* alpha A B is summed in W, and C is added at the end */
  bool lazy_everywhere;  /* also on a device that is the home of C and could add in place */
  int16_t adder;         /* the device that adds C at the end: C's home; -1: each part's owner */
  /* A device that is home to A, B and C, and uses them in place, computes each of its parts in one
   * kernel: it waits for no copy, and large kernels are faster and add to C once. */
  bool whole_at_home;
} tsr_tiling;

/* An operand of a task: a rectangle of a stored matrix, inside one tile. */
typedef struct tsr_task_operand {
  int64_t row, col;
  int32_t rows, cols;
  int32_t tile;   /* row of tiles x columns of the grid of tiles + column of tiles */
  uint8_t matrix; /* TSR_A .. TSR_V */
  uint8_t access; /* tsr_access; TSR_NONE: unused */
} tsr_task_operand;

typedef struct tsr_task {
  tsr_task_operand operand[3];
  int32_t m, n, k;
  int16_t device;
  uint8_t kernel, flags;
  uint8_t form; /* tsr_form_pack */
  bool last;    /* the part of C that this task writes is final */
} tsr_task;

/* Tasks [first, first + count), which one device runs in this order on the same tiles of C. A group
 * needs others, whose results it reads or continues, and needs nothing else: groups that do not
 * need each other may run in any order, also those of one device. What it needs are earlier groups:
 * `needed` numbers of graph.needs from `needs` on, and all groups before the number `all_before`.
 */
typedef struct tsr_group {
  size_t first, count;
  size_t needs, needed, all_before;
  int16_t device;
} tsr_group;

/* Where a part of the rows meets a part of the columns, the tile is: */
typedef enum tsr_grid_shape {
  TSR_GRID_WHOLE,   /* all of it */
  TSR_GRID_SQUARES, /* the square on the diagonal, in these columns; rows is one part */
  TSR_GRID_DOWN,    /* what is not above the square on the diagonal in these columns */
  TSR_GRID_RIGHT    /* what is not left of the square on the diagonal in these rows */
} tsr_grid_shape;

/* The grid of tiles of a matrix as it is stored. count 0: the matrix is not used. */
typedef struct tsr_tile_grid {
  tsr_cuts rows, cols;            /* borrowed from the tiling */
  int64_t piece_rows, piece_cols; /* the largest copy of a part of a tile; 0: no limit */
  tsr_grid_shape shape;
} tsr_tile_grid;

typedef struct tsr_graph {
  tsr_tile_grid grid[TSR_MATRICES];
  int depth;     /* parts of k */
  unsigned used; /* bit i: some task uses matrix i, or another form that is made of it */
  TSR_VEC(tsr_task) tasks;
  TSR_VEC(tsr_group) groups;
  TSR_VEC(int32_t) needs; /* of all groups */
} tsr_graph;

/* Whether no group needs another. */
bool tsr_graph_is_free(const tsr_graph *graph);

/* Builds the graph of a call. Groups come device by device and, for each device, pass by pass. A
 * group goes k-panel by k-panel, in a k-panel n-block by n-block; if lazy, the additions of C come
 * last. In operations with a triangle beside C a group goes through the blocks of the triangle. If
 * k is cut over the devices, each device has a group of products and one of additions, which needs
 * the products of all.
 * graph: zeroed, or an earlier graph, whose memory is used again. TSR_ERR_MEMORY,
 * TSR_ERR_UNSUPPORTED: the tiling makes too many tasks, or too long ones. */
tsr_status tsr_graph_build(const tsr_call *call, const tsr_tiling *tiling, tsr_graph *graph);

void tsr_graph_free(tsr_graph *graph);

/* ---- Other forms (build_lines.c, build_inverses.c) ----
 *
 * Tasks read lines (TSR_RA .. TSR_RB2) and inverses (TSR_V), but no task of a graph makes them:
 * a device makes this form of a tile where and whenever it lacks it, as it copies a tile of A or B.
 * Lines of a C in place are made when it has been solved (trsm), or before it is rewritten
 * (trmm): the first task that reads them comes then. */

/* The rectangle of A, B or C that an operand of another form (tsr_is_made) is made of. It is inside
 * one tile. */
tsr_task_operand tsr_made_source(const tsr_call *call, const tsr_graph *graph,
                                 const tsr_task_operand *made);

/* The task that makes an operand of another form at a device: some lines of a tile, or
 * a whole tile of inverses. */
tsr_task tsr_making_task(const tsr_call *call, const tsr_graph *graph, const tsr_task_operand *made,
                         int device);

/* Products and rank-k updates only: whether lines are made of an input (TSR_A or TSR_B_), and
 * the tile of these lines that an element of the input is converted to. */
bool tsr_lines_are_of(const tsr_call *call, const tsr_graph *graph, int lines, int input);
int32_t tsr_lines_tile(const tsr_call *call, const tsr_graph *graph, int lines, int64_t row,
                       int64_t col);

/* The same for lines, and for inverses. */
tsr_task_operand tsr_lines_source(const tsr_call *call, const tsr_graph *graph,
                                  const tsr_task_operand *lines);
tsr_task tsr_lines_task(const tsr_call *call, const tsr_graph *graph, const tsr_task_operand *lines,
                        int device);
tsr_task tsr_inverse_task(const tsr_call *call, const tsr_graph *graph,
                          const tsr_task_operand *inverse, int device);

/* Cuts [0, extent) into parts of `size`, of which the last may be shorter. Allocates cuts->at and
 * does not free an earlier one. */
tsr_status tsr_cuts_uniform(int64_t extent, int64_t size, tsr_cuts *cuts);
/* Cuts [0, extent) into count parts with lengths in the ratio of the weights. Inner boundaries are
 * multiples of align, where that leaves no part empty. */
tsr_status tsr_cuts_weighted(int64_t extent, int count, const double *weights, int64_t align,
                             tsr_cuts *cuts);
void tsr_cuts_free(tsr_cuts *cuts);

#endif
