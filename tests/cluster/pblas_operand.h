/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A distributed matrix in ScaLAPACK's form, and the part of it that is multiplied, on one process:
 * computed by counting and without code of the library. A source of -1 means that every process of
 * that direction has all of it (replicated).
 */
#ifndef TESTS_CLUSTER_PBLAS_OPERAND_H
#define TESTS_CLUSTER_PBLAS_OPERAND_H

#include "layout.h"

/* The shape of a grid and the coordinates of this process. */
typedef struct place_in_grid {
  int context, extent[2], me[2];
} place_in_grid;

typedef struct operand {
  int which;           /* its elements are those of matrix number `which` */
  int descriptor_type; /* 1 or 2 */
  int m, n, block[2], first[2], source[2], extra;
  int at[2], extent[2]; /* where the stored part begins, from 0, and its extents */
} operand;

/* Draws a matrix with a part of rows x cols. */
operand operand_draw(numbers *n, int which, int rows, int cols, const int grid[2]);
void operand_print(const operand *x);

/* The storage of one process. */
typedef struct local_operand {
  const operand *of;
  tsr_type type;
  int descriptor[11], ld, count[2];
  int *index[2];       /* the global indices of its rows and columns */
  char *data, *before; /* the elements, and a copy from before the call */
  size_t bytes;
} local_operand;

/* Allocates the storage; inside, outside: the elements of the part and of the rest. False: no
 * memory. */
bool local_create(const operand *x, tsr_type type, const place_in_grid *grid, filling inside,
                  filling outside, local_operand *local);
void local_destroy(local_operand *local);

/* Whether nothing was written. */
bool local_is_untouched(const local_operand *local);

/* Computes the expected value of element (i, j) of the part. */
typedef void element_function(const void *user, int i, int j, double value[2]);

/* Whether the part has the expected elements, in every replicated copy, and nothing was written
 * outside of it. */
bool local_holds(const local_operand *local, element_function *right, const void *user);

/* Element (i, j) of matrix number `which`. */
void element_get(tsr_type type, int which, int i, int j, double value[2]);

#endif
