/*
 * Layouts and elements as the tests understand them: by counting, with nothing of the library's.
 * Elements are small integers, so that products are exact in every type and order of summation.
 */
#ifndef TESTS_DIST_LAYOUT_H
#define TESTS_DIST_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera_mpi_model.h"

/* Numbers from a seed, the same on all processes. */
typedef struct numbers {
  uint64_t state;
} numbers;
int64_t numbers_draw(numbers *n, int64_t least, int64_t most);

/* A matrix with a part of it, and where the part begins. */
typedef struct layout {
  int64_t m, n, mb, nb, imb, inb;
  int row_source, col_source;
  int64_t extra;            /* of the leading dimension, over the least */
  int64_t i, j, rows, cols; /* the part as it is stored */
} layout;

/* A layout around a part of rows x cols, on a grid. */
layout layout_draw(numbers *n, int64_t rows, int64_t cols, const int grid[2]);

/* One process's storage of it: the global rows and columns that are here. */
typedef struct storage {
  tsr_pmatrix matrix;
  int64_t local[2];
  int64_t *index[2];
  size_t size;
} storage;

/* Elements: what element (i, j) of a matrix is, inside and outside of its part. */
typedef enum filling { KNOWN, NOT_A_NUMBER } filling;

bool storage_create(const layout *x, tsr_grid *grid, tsr_type type, storage *s);
void storage_destroy(storage *s);
void storage_fill(storage *s, const layout *x, int which, filling inside, filling outside);

size_t element_size(tsr_type type);

/* Element (i, j) of matrix number `which`, small integers; NaN in both parts where asked. */
void element_put(tsr_type type, int which, int64_t i, int64_t j, filling f, void *to);

/* A scalar of small integers. */
void scalar_put(tsr_type type, int re, int im, void *to);

/* Whether two elements are equal as numbers. */
bool element_equal(tsr_type type, const void *a, const void *b);

/* The element that padding between columns has: it must stay. */
void padding_put(tsr_type type, void *to);

/* Whether every element of the part equals that of `expected` (rows x cols, column-major),
 * everything outside is as storage_fill() left it, with `outside` = KNOWN, and padding too. */
bool storage_holds(const storage *s, const layout *x, int which, const void *expected);

#endif
