/*
 * Inside the builders beside a triangle: what panels (build_stripes.c) and tiles (build_holds.c)
 * have in common, which is the tasks of one block of C.
 */
#ifndef TSR_BLAS_TRIANGLE_H
#define TSR_BLAS_TRIANGLE_H

#include "blas/build.h"
#include "blas/family.h"

/* Lines [line, line + lines) of C, all blocks. */
typedef struct tsr_stripe {
  int64_t line, lines;
  int16_t device;
  bool is_first; /* of its range of lines, which one device owns */
} tsr_stripe;

/* What the tasks of a block of C have in common. */
typedef struct tsr_block {
  const tsr_stripe *stripe;
  int64_t at, length;
  int left;   /* tasks still to come: products, and the routine's own kernel */
  bool begun; /* something was written to it */
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

/* Whether blocks are summed up in W, and put into C, or added to it, at their end. */
static inline bool tsr_sums_in_copy(const tsr_builder *b) {
  return tsr_multiplies(b) || (tsr_is_symmetric(b) && b->tiling->lazy);
}

/* How A's order is cut where C is: into tiles, or not at all. Lines are cut the other way. */
static inline const tsr_cuts *tsr_cuts_along(const tsr_builder *b) {
  return tsr_is_left(b) ? &b->tiling->m : &b->tiling->n;
}

static inline const tsr_cuts *tsr_cuts_across(const tsr_builder *b) {
  return tsr_is_left(b) ? &b->tiling->n : &b->tiling->m;
}

/* The device that owns the f-th range of lines. */
int16_t tsr_owner_of_lines(const tsr_builder *b, int f);

/* ---- triangle.c ---- */

/* A triangular block takes part in it those before it, or those after it. */
bool tsr_takes_before(const tsr_builder *b);

/* Blocks upwards, unless what they are computed from comes later: trsm needs it solved, trmm old.
 * Of a symmetric A so that the next block adds one column of its triangle to what is needed. */
bool tsr_goes_up(const tsr_builder *b);

/* The j-th block, of which nothing is written; tasks: how many there will be. */
tsr_block tsr_block_of(const tsr_builder *b, const tsr_stripe *s, int j, int tasks);

/* Each adds a task to the graph. False: no memory. */

/* Adds to (trsm: takes from) a block what a range of A's order has a part in it. */
bool tsr_push_product(tsr_builder *b, tsr_block *k, int64_t from, int64_t length);
/* The block on A's diagonal, by the routine's own kernel. */
bool tsr_push_own_kernel(tsr_builder *b, tsr_block *k);
/* The sum in W becomes the block of C, or (symm, hemm) is added to it. */
bool tsr_push_result(tsr_builder *b, const tsr_block *k);
/* beta C and nothing else. */
bool tsr_push_scaled(tsr_builder *b, const tsr_block *k);

/* ---- The two ways ---- */

/* build_stripes.c */
bool tsr_build_stripes(tsr_builder *b);
/* build_holds.c */
bool tsr_build_c_blocks(tsr_builder *b);

#endif
