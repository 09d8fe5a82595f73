/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Layouts and elements for tests, computed by counting and without code of the library. Elements
 * are small integers, so that products are exact in every type and order of summation.
 */
#ifndef TESTS_CLUSTER_LAYOUT_H
#define TESTS_CLUSTER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera_mpi_model.h"

/* Numbers from a seed, the same on all processes. */
typedef struct numbers {
  uint64_t state;
} numbers;
int64_t numbers_draw(numbers *n, int64_t least, int64_t most);

/* A distributed matrix and a part of it. */
enum { LAYOUT_BLOCKS = 300 };
typedef struct layout {
  int64_t m, n, mb, nb, imb, inb;
  int64_t blocks[2]; /* irregular blocks of rows, of columns, which end at ends[]; 0: regular */
  int64_t ends[2][LAYOUT_BLOCKS];
  int row_source, col_source;
  int64_t extra;            /* leading dimension minus the least possible one */
  int64_t i, j, rows, cols; /* where the stored part begins, and its extents */
} layout;

/* Draws a matrix on a grid with a part of rows x cols. */
layout layout_draw(numbers *n, int64_t rows, int64_t cols, const int grid[2]);

/* The storage of one process: local[d] rows or columns, whose global indices are index[d]. */
typedef struct storage {
  tsr_pmatrix matrix;
  int64_t local[2];
  int64_t *index[2];
  size_t size;
} storage;

/* What elements of a region are: those of element_put, or NaN. */
typedef enum filling { KNOWN, NOT_A_NUMBER } filling;

bool storage_create(const layout *x, tsr_grid *grid, tsr_type type, storage *s);
void storage_destroy(storage *s);
void storage_fill(storage *s, const layout *x, int which, filling inside, filling outside);

size_t element_size(tsr_type type);

/* Writes element (i, j) of matrix number `which`: small integers, or NaN (both parts) if f is
 * NOT_A_NUMBER. */
void element_put(tsr_type type, int which, int64_t i, int64_t j, filling f, void *to);

/* A scalar of small integers. */
void scalar_put(tsr_type type, int re, int im, void *to);

/* Whether two elements are equal as numbers. */
bool element_equal(tsr_type type, const void *a, const void *b);

/* Writes the element that padding between columns has; the library must not change it. */
void padding_put(tsr_type type, void *to);

/* Whether every element of the part equals that of `expected` (rows x cols, column-major), and
 * everything else, also padding, is as storage_fill() with `outside` = KNOWN left it. */
bool storage_holds(const storage *s, const layout *x, int which, const void *expected);

#endif
