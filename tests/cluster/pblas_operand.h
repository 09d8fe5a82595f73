/*
 * A distributed matrix of ScaLAPACK's and the part of it that is multiplied, on one process: by
 * counting, with nothing of the library's. A source of -1 says that all of that direction have all.
 */
#ifndef TESTS_DIST_PBLAS_OPERAND_H
#define TESTS_DIST_PBLAS_OPERAND_H

#include "layout.h"

/* The shape of a grid and the place of this process in it. */
typedef struct place_in_grid {
  int context, extent[2], me[2];
} place_in_grid;

typedef struct operand {
  int which;           /* its elements are those of matrix number `which` */
  int descriptor_type; /* 1 or 2 */
  int m, n, block[2], first[2], source[2], extra;
  int at[2], extent[2]; /* the part, from 0, as it is stored */
} operand;

/* A matrix around a part of rows x cols. */
operand operand_draw(numbers *n, int which, int rows, int cols, const int grid[2]);
void operand_print(const operand *x);

/* What one process has. */
typedef struct local_operand {
  const operand *of;
  tsr_type type;
  int descriptor[11], ld, count[2];
  int *index[2]; /* the global rows and columns that are here */
  char *data, *before;
  size_t bytes;
} local_operand;

/* Inside of the part known elements or NaN, outside of it too. */
bool local_create(const operand *x, tsr_type type, const place_in_grid *grid, filling inside,
                  filling outside, local_operand *local);
void local_destroy(local_operand *local);

/* Nothing was written. */
bool local_is_untouched(const local_operand *local);

/* Computes what element (i, j) of the part is to be. */
typedef void element_function(const void *user, int i, int j, double value[2]);

/* The part has these elements, in every copy, and nothing was written outside of it. */
bool local_holds(const local_operand *local, element_function *right, const void *user);

/* The element (i, j) of a matrix. */
void element_get(tsr_type type, int which, int i, int j, double value[2]);

#endif
