/*
 * A plan carried out on a small problem: the state of it. small.c makes the problem, algebra.c
 * carries the plan out, cached blocks.c knows what stays on devices, and result.c compares C with
 * what the call asks for.
 */
#ifndef TSR_PLAN_VERIFY_ALGEBRA_H
#define TSR_PLAN_VERIFY_ALGEBRA_H

#include "plan/verify/verify.h"
#include "plan/verify/dense.h"

/* The indices of a space, cut where any rectangle begins or ends. An interval has one index of the
 * small problem, or two where the space is square and it is longer than one. */
typedef struct tsr_small_space {
  TSR_VEC(int64_t) ends; /* ascending: interval e is [ends[e], ends[e + 1]) */
  uint32_t *first;       /* index of the small problem with which each interval begins */
  size_t count;          /* indices of the small problem */
} tsr_small_space;

/* An element of the small problem in a buffer, and the kernel that computed it. */
typedef struct tsr_small_element {
  tsr_field value;
  uint32_t command; /* TSR_NO_COMMAND: the user; TSR_NOT_WRITTEN */
} tsr_small_element;

#define TSR_NOT_WRITTEN (UINT32_MAX - 1)

/* Where a buffer's rectangle is in the small problem, and its elements among all. */
typedef struct tsr_small_buffer {
  size_t row, col, rows, first;
} tsr_small_buffer;

typedef struct tsr_algebra {
  const tsr_verifier *v;
  const tsr_call *call;
  bool complex_valued;
  tsr_field alpha, beta; /* the call's */
  tsr_small_space space[TSR_AXES];
  tsr_small_buffer
      *buffers; /* of C and W; those of A and B need none: their contents never change */
  tsr_small_element *elements;       /* of all buffers, column-major */
  tsr_dense operand[3], left, right; /* scratch */
} tsr_algebra;

/* ---- small.c ---- */

/* Makes the small problem of a plan: C at home is as the user has it, and all else of C and W is
 * marked as not written. Must be stopped also if it fails. TSR_ERR_MEMORY. */
tsr_status tsr_algebra_start(tsr_algebra *x, const tsr_verifier *v);
void tsr_algebra_stop(tsr_algebra *x);

/* The buffer is of C or W, whose elements change. */
static inline bool tsr_algebra_is_result(const tsr_algebra *x, int32_t buffer) {
  uint8_t matrix = x->v->plan->buffers.items[buffer].matrix;
  return matrix == TSR_C_ || matrix == TSR_W;
}

/* An element of a matrix of the user's before the call, whether it may be used or not. */
tsr_field tsr_algebra_original(const tsr_algebra *x, int matrix, size_t row, size_t col);

static inline tsr_small_element *tsr_algebra_element(const tsr_algebra *x, int32_t buffer,
                                                     size_t row, size_t col) {
  const tsr_small_buffer *b = &x->buffers[buffer];
  return &x->elements[b->first + row - b->row + (col - b->col) * b->rows];
}

/* A rectangle of a matrix in the small problem. */
typedef struct tsr_small_rect {
  size_t row, col, rows, cols;
} tsr_small_rect;

tsr_small_rect tsr_algebra_shrink(const tsr_algebra *x, int matrix, tsr_rect rect);

/* ---- cached blocks.c ---- */

/* Cached blocks of C hold what they do at the start; a home that is out of date, something else
 * than C. */
void tsr_algebra_fill_rooms(tsr_algebra *x);

/* At the end what is newer in cached blocks counts as C, and everything that is said to be valid in
 * a cached block must be what C is then. TSR_ERR_CHECK. */
tsr_status tsr_algebra_settle_rooms(tsr_algebra *x);

/* ---- result.c ---- */

/* Compares C at home with what the call asks for. TSR_ERR_CHECK. */
tsr_status tsr_algebra_compare(tsr_algebra *x);

#endif
