/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the builders for a triangle beside C share: build_stripes.c for panels, build_c_blocks.c for
 * tiles. Both make the tasks of one block of C alike.
 */
#ifndef TSR_BLAS_TRIANGLE_H
#define TSR_BLAS_TRIANGLE_H

#include "blas/build.h"
#include "blas/family.h"

/* A stripe: all blocks of lines [line, line + lines) of C. */
typedef struct tsr_stripe {
  int64_t line, lines;
  int16_t device;
  bool is_first; /* the first stripe of a range of lines, which one device owns */
} tsr_stripe;

/* A block of C in a stripe, while its tasks are made. */
typedef struct tsr_block {
  const tsr_stripe *stripe;
  int64_t at, length;
  int left;   /* tasks still to come: products, and the routine's own kernel */
  bool begun; /* some task has written to it */
} tsr_block;

static inline bool tsr_is_left(const tsr_builder *b) {
  return b->call->side == TSR_LEFT;
}

static inline bool tsr_solves(const tsr_builder *b) {
  return b->call->operation == TSR_TRSM;
}

static inline bool tsr_multiplies(const tsr_builder *b) {
  return b->call->operation == TSR_TRMM;
}

static inline bool tsr_is_symmetric(const tsr_builder *b) {
  return !tsr_is_in_place(b->call->operation);
}

/* Whether blocks are summed in W and put into C (trmm), or added to it (symm, hemm), at the end. */
static inline bool tsr_sums_in_copy(const tsr_builder *b) {
  return tsr_multiplies(b) || (tsr_is_symmetric(b) && b->tiling->lazy);
}

/* The cuts of C along the order of A, and across it (into lines). */
static inline const tsr_cuts *tsr_cuts_along(const tsr_builder *b) {
  return tsr_is_left(b) ? &b->tiling->m : &b->tiling->n;
}

static inline const tsr_cuts *tsr_cuts_across(const tsr_builder *b) {
  return tsr_is_left(b) ? &b->tiling->n : &b->tiling->m;
}

/* The device that owns the f-th range of lines. */
int16_t tsr_owner_of_lines(const tsr_builder *b, int f);

/* ---- triangle.c ---- */

/* A is triangular. Whether a block of C is computed from the blocks before it; else it is computed
 * from those after it. */
bool tsr_takes_before(const tsr_builder *b);

/* Whether blocks are computed from the first to the last; else from the last to the first. trsm
 * needs the blocks that a block is computed from solved, trmm needs them old. For a symmetric A the
 * direction is that in which each next block needs one more column of its triangle. */
bool tsr_goes_up(const tsr_builder *b);

/* The j-th block of a stripe, not yet written; tasks: how many it will get. */
tsr_block tsr_block_of(const tsr_builder *b, const tsr_stripe *s, int j, int tasks);

/* Each of these adds a task to the graph. False: no memory. */

/* Adds to (trsm: subtracts from) a block of C the product with the other blocks in a range of A's
 * order. */
bool tsr_push_product(tsr_builder *b, tsr_block *k, int64_t from, int64_t length);
/* Applies the block on A's diagonal, by the routine's own kernel (symm, hemm, trmm, trsm). */
bool tsr_push_own_kernel(tsr_builder *b, tsr_block *k);
/* Puts the sum in W into the block of C, or (symm, hemm) adds it. */
bool tsr_push_result(tsr_builder *b, const tsr_block *k);
/* C = beta C, for a call without a product. */
bool tsr_push_scaled(tsr_builder *b, const tsr_block *k);

/* ---- The two ways ---- */

/* build_stripes.c */
bool tsr_build_stripes(tsr_builder *b);
/* build_c_blocks.c */
bool tsr_build_c_blocks(tsr_builder *b);

#endif
