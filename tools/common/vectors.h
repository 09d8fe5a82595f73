/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random vectors for checking results: matrices are applied to all of them together, in double
 * precision, so that each matrix is read once. The magnitudes for a bound on rounding errors are
 * computed with them.
 */
#ifndef TESSERA_VECTORS_H
#define TESSERA_VECTORS_H

#include "elements.h"
#include "settings.h"

enum { VECTORS = 3 };

/* The vectors re + i im and, for the bound, size: the same formula with all magnitudes and |x| = 1;
 * squares: the sum of squares of each row of the matrix that was applied last. All arrays lie in
 * block. */
typedef struct vectors {
  int64_t length;
  double *re[VECTORS], *im[VECTORS], *size, *squares;
  double *block;
} vectors;

/* Allocates vectors of zeros; false: out of memory. Zeroed vectors may be destroyed. */
bool vectors_create(vectors *l, int64_t length);
void vectors_destroy(vectors *l);

/* Fills in random values with magnitudes in [0.5, 1], and size 1. */
void vectors_randomise(vectors *x);

/* sum = sum + factor y, for the magnitudes with |factor|. */
void vectors_add(vectors *sum, const vectors *y, scalar factor);

/* Unless a matrix is general, only one triangle of it is stored. */
typedef enum vectors_structure {
  VECTORS_GENERAL,
  VECTORS_SYMMETRIC,
  VECTORS_HERMITIAN,
  VECTORS_TRIANGULAR
} vectors_structure;

typedef struct vectors_matrix {
  matrix_view view;
  vectors_structure structure;
  tsr_uplo uplo;       /* the stored triangle; ignored if general */
  bool unit;           /* triangular only: the diagonal is not read and counts as 1 */
  const bool *skipped; /* general only: columns that count as 0; NULL: none */
} vectors_matrix;

/* op(matrix), for a general or triangular matrix. */
vectors_matrix vectors_matrix_op(vectors_matrix matrix, tsr_op op);

/* Allocates y = M x; false: out of memory. The caller destroys y in either case. */
bool vectors_apply(const vectors_matrix *matrix, const vectors *x, vectors *y);

/* Allocates y = T x, where T is one triangle of A B; false: out of memory. */
bool vectors_apply_triangle(const matrix_view *a, const matrix_view *b, tsr_uplo uplo,
                            const vectors *x, vectors *y);

#endif
