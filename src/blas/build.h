/*
 * What the graph builders share: a builder for each family of operations, and the way through the
 * parts of C that those of GEMM and of the rank-k updates have in common.
 */
#ifndef TSR_BLAS_BUILD_H
#define TSR_BLAS_BUILD_H

#include "blas/graph.h"

typedef struct tsr_builder tsr_builder;

/* Columns [col, col + cols) of a tile of C: row i and column j of the grid of tiles. Of more than
 * one k_panel of k, so many are added to it by one kernel; that is for those who cut no operand so.
 */
typedef struct tsr_part_of_c {
  int i, j;
  int64_t col, cols;
  int k_panels;
} tsr_part_of_c;

/* What is done to a part: a k_panel of k, or one of these. Which k_panels are the first and the
 * last to be added to a part, the builder says. */
enum { TSR_STEP_SCALE = -2, TSR_STEP_ADD = -1 };

/* Adds the tasks of a step on a part to the graph. False: no memory. */
typedef bool (*tsr_emit)(tsr_builder *b, tsr_part_of_c part, int step);

struct tsr_builder {
  const tsr_call *call;
  const tsr_tiling *tiling;
  tsr_graph *graph;
  bool scales_only;
  bool wide;                       /* W is of the type's wide type */
  bool uniform;                    /* every k_panel is cut into the n_blocks of the last one */
  int first_k_panel, last_k_panel; /* in the order of the present pass */
  tsr_emit emit;
};

/* ---- build_parts.c ---- */

/* Parts of m or of n by their place in the grid: those of place p are part[first[p] .. [p + 1]), in
 * ascending order. */
typedef struct tsr_owners {
  int *part, *first;
} tsr_owners;

/* False: no memory. */
bool tsr_owners_of_rows(const tsr_tiling *tiling, tsr_owners *dealt);
bool tsr_owners_of_cols(const tsr_tiling *tiling, tsr_owners *dealt);
void tsr_owners_free(tsr_owners *dealt);

/* The pass of a device of the grid. */
tsr_pass tsr_pass_of(const tsr_tiling *tiling, int row, int col);

static inline int64_t tsr_cut_begin(const tsr_cuts *cuts, int i) {
  return cuts->at[i];
}

static inline int32_t tsr_cut_length(const tsr_cuts *cuts, int i) {
  return (int32_t)(cuts->at[i + 1] - cuts->at[i]);
}

/* The device that owns a tile of C. */
int16_t tsr_owner_of(const tsr_tiling *tiling, int i, int j);

/* Whether a part's products go to W: not where its owner can add them to C in place. */
bool tsr_goes_to_w(const tsr_builder *b, tsr_part_of_c part);

/* A rectangle of a matrix as it is stored, inside one tile of the graph's grid. */
tsr_task_operand tsr_rectangle(const tsr_graph *graph, int matrix, tsr_access access, int64_t row,
                               int64_t rows, int64_t col, int64_t cols);

/* The same for the rectangle of op(matrix) at those rows and columns, which is read. */
tsr_task_operand tsr_oriented(const tsr_graph *graph, int matrix, tsr_op op, int64_t row,
                              int64_t rows, int64_t col, int64_t cols);

bool tsr_push_task(tsr_builder *b, tsr_task task);

/* Goes through the parts of C pass by pass, in a pass device by device, each a group; in a group
 * k_panel by k_panel, in a k_panel n_block by n_block. */
bool tsr_build_parts(tsr_builder *b);

/* ---- One for each family ---- */

/* build_gemm.c */
bool tsr_build_gemm(tsr_builder *b);
/* build_rank.c: gemmt, syrk, herk, syr2k, her2k */
bool tsr_build_rank(tsr_builder *b);
/* build_triangle.c: symm, hemm, trmm, trsm */
bool tsr_build_triangle(tsr_builder *b);

#endif
