/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Matrix elements of every type: converting them to and from double, bounds on rounding errors, and
 * views of matrices.
 */
#ifndef TESSERA_ELEMENTS_H
#define TESSERA_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera.h"

size_t element_size(tsr_type type);
bool element_is_complex(tsr_type type);
const char *element_name(tsr_type type); /* "fp64" */

/* Flops of an m x n x k product. */
double element_flops(tsr_type type, int64_t m, int64_t n, int64_t k);

/* Load and store count consecutive elements from data[first] on, as double. Loading zeroes im for
 * real types and takes unaligned data; storing needs aligned data and ignores im for real types. */
void element_load(tsr_type type, const void *data, int64_t first, int64_t count, double *re,
                  double *im);
void element_store(tsr_type type, void *data, int64_t first, int64_t count, const double *re,
                   const double *im);

/* A bound c k eps for a product of inner extent k: |C - exact| <= bound * (|alpha| |A| |B| + |beta|
 * |C0|). */
double element_bound(tsr_type type, int64_t k);

/* The part of that bound from summing, and the unit roundoff of storing a sum (0 if C has the type
 * in which it is summed). */
double element_sum_bound(tsr_type type, int64_t k);
double element_store_rounding(tsr_type type);

/* A matrix in host memory with any strides, so that op() only exchanges them. */
typedef struct matrix_view {
  tsr_type type;
  const void *data;
  int64_t rows, cols;
  int64_t row_stride, col_stride; /* elements; one of them is 1 */
  bool conj;
} matrix_view;

/* The view of a dense matrix. */
matrix_view matrix_of(tsr_type type, const void *data, bool column_major, int64_t rows,
                      int64_t cols);
/* The view of op(matrix). */
matrix_view matrix_op(matrix_view matrix, tsr_op op);

/* Copies a matrix to one of the same shape; strides and types may differ, but complex to real is
 * not allowed. to must be dense. */
void matrix_copy(matrix_view to, matrix_view from);

#endif
