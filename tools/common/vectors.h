/*
 * A few random vectors that matrices are applied to together, in double precision, so that each
 * matrix is read once; with the magnitudes that a bound on the rounding errors needs.
 */
#ifndef TESSERA_LANES_H
#define TESSERA_LANES_H

#include "elements.h"
#include "settings.h"

enum { LANES = 3 };

/* The vectors, and for the bound: one of magnitudes (|x| is at most 1 in all of them), and the sums
 * of squares of the rows that they were multiplied with. */
typedef struct lanes {
  int64_t length;
  double *re[LANES], *im[LANES], *size, *squares;
  double *block;
} lanes;

/* All zero; false when memory is out. A zeroed one may be destroyed. */
bool lanes_create(lanes *l, int64_t length);
void lanes_destroy(lanes *l);

/* Random vectors of magnitude 1. */
void lanes_randomise(lanes *x);

/* sum = sum + factor y, magnitudes too. */
void lanes_add(lanes *sum, const lanes *y, scalar factor);

/* A matrix of which, unless it is general, one triangle is stored. */
typedef enum lanes_structure {
  LANES_GENERAL,
  LANES_SYMMETRIC,
  LANES_HERMITIAN,
  LANES_TRIANGULAR
} lanes_structure;

typedef struct lanes_matrix {
  matrix_view view;
  lanes_structure structure;
  tsr_uplo uplo; /* unless general */
  bool unit;     /* triangular: the diagonal is not read, and is of ones */
} lanes_matrix;

/* Of general and triangular ones. */
lanes_matrix lanes_matrix_op(lanes_matrix matrix, tsr_op op);

/* Makes y = M x; false when memory is out. */
bool lanes_apply(const lanes_matrix *matrix, const lanes *x, lanes *y);

/* Makes y = T x, T being one triangle of the product A B. */
bool lanes_apply_triangle(const matrix_view *a, const matrix_view *b, tsr_uplo uplo, const lanes *x,
                          lanes *y);

#endif
