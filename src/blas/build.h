/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the graph builders share: one builder for each family of operations, and the walk through
 * the parts of C that GEMM and the rank-k updates have in common.
 */
#ifndef TSR_BLAS_BUILD_H
#define TSR_BLAS_BUILD_H

#include "blas/graph.h"

typedef struct tsr_builder tsr_builder;

/* Part of C: columns [col, col + cols) of the tile at row i and column j of the grid of tiles. If
 * k_panels is more than 1, one kernel adds the products of that many k-panels to the part; this
 * needs an A and a B that are not cut into k-panels. */
typedef struct tsr_part_of_c {
  int i, j;
  int64_t col, cols;
  int k_panels;
} tsr_part_of_c;

/* A step on a part: the number of a k-panel, whose product is added to the part, or one of
 * these. */
enum { TSR_STEP_SCALE = -2, TSR_STEP_ADD = -1 };

/* Adds the tasks of a step on a part to the graph. False: no memory. */
typedef bool (*tsr_emit)(tsr_builder *b, tsr_part_of_c part, int step);

struct tsr_builder {
  const tsr_call *call;
  const tsr_tiling *tiling;
  tsr_graph *graph;
  bool scales_only;
  bool wide;         /* W is of the type's wide type */
  bool uniform;      /* every k-panel is cut into the n-blocks of the last one */
  bool adds_at_once; /* the addition of C follows the last k-panel of each part at once */
  int first_k_panel, last_k_panel; /* that a part gets in the current pass */
  tsr_emit emit;
};

/* ---- build_parts.c ---- */

/* The parts of m by the row of the grid that owns them, or the parts of n by the column: row
 * (column) p owns part[first[p]] .. part[first[p + 1] - 1], in ascending order. */
typedef struct tsr_owners {
  int *part, *first;
} tsr_owners;

/* False: no memory. */
bool tsr_owners_of_rows(const tsr_tiling *tiling, tsr_owners *owners);
bool tsr_owners_of_cols(const tsr_tiling *tiling, tsr_owners *owners);
void tsr_owners_free(tsr_owners *owners);

/* The pass of the device at that row and column of the grid. */
tsr_pass tsr_pass_of(const tsr_tiling *tiling, int row, int col);

static inline int64_t tsr_cut_begin(const tsr_cuts *cuts, int i) {
  return cuts->at[i];
}

static inline int32_t tsr_cut_length(const tsr_cuts *cuts, int i) {
  return (int32_t)(cuts->at[i + 1] - cuts->at[i]);
}

/* The part that a coordinate is in. */
int tsr_cut_at(const tsr_cuts *cuts, int64_t at);

/* The device that owns a tile of C. */
int16_t tsr_owner_of(const tsr_tiling *tiling, int i, int j);

/* Whether the products of a part are summed in W: not where the part's owner can add them to C in
 * place. */
bool tsr_goes_to_w(const tsr_builder *b, tsr_part_of_c part);

/* Whether the device at a place of the grid computes each of its parts in one kernel, which adds to
 * C in place. In slices only the home of C adds to it then. */
bool tsr_is_whole_at(const tsr_tiling *tiling, const tsr_call *call, int place);

/* The operand of a task that is a rectangle of a stored matrix. The rectangle must be inside one
 * tile. */
tsr_task_operand tsr_rectangle(const tsr_graph *graph, int matrix, tsr_access access, int64_t row,
                               int64_t rows, int64_t col, int64_t cols);

/* The same for a rectangle of op(matrix), which the task reads. */
tsr_task_operand tsr_oriented(const tsr_graph *graph, int matrix, tsr_op op, int64_t row,
                              int64_t rows, int64_t col, int64_t cols);

/* Adds a task to the graph. False: no memory. */
bool tsr_push_task(tsr_builder *b, tsr_task task);

/* Adds the tasks of all parts of C, by b->emit: device by device, for each device pass by pass
 * (each pass is a group), in a pass k-panel by k-panel, in a k-panel n-block by n-block. False: no
 * memory. */
bool tsr_build_parts(tsr_builder *b);

/* ---- build_lines.c ---- */

/* Adds a product in a form, whose operands a and b are rectangles of lines. Kernel and
 * transpositions are filled in. False: no memory. */
bool tsr_push_product_of_lines(tsr_builder *b, tsr_task task);

/* ---- build_gemm.c ---- */

/* A task of GEMM on parts [first, first + count) of k, for part i of m and columns [col, col +
 * cols) of C: its kernel, form, k, alpha, and operands a and b. Its operand c, beta and device are
 * the caller's. */
tsr_task tsr_gemm_task(const tsr_builder *b, int i, int64_t col, int64_t cols, int first,
                       int count);

/* ---- One for each family; false: no memory ---- */

/* build_gemm.c */
bool tsr_build_gemm(tsr_builder *b);
/* build_slices.c: gemm with k cut over the devices */
bool tsr_build_slices(tsr_builder *b);
/* build_rank.c: gemmt, syrk, herk, syr2k, her2k */
bool tsr_build_rank(tsr_builder *b);
/* build_triangle.c: symm, hemm, trmm, trsm */
bool tsr_build_triangle(tsr_builder *b);
/* build_factor.c: potrf */
bool tsr_build_factor(tsr_builder *b);

#endif
