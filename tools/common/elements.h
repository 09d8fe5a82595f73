/*
 * Elements of every type, by way of double: reading, writing and what errors to expect of them.
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

/* count consecutive elements from data[first] on. im is zeroed for real types. data need not be
 * aligned. */
void element_load(tsr_type type, const void *data, int64_t first, int64_t count, double *re,
                  double *im);
void element_store(tsr_type type, void *data, int64_t first, int64_t count, const double *re,
                   const double *im);

/* c k eps of the type: |C - exact| is at most this times (|alpha| |A| |B| + |beta| |C0|). */
double element_bound(tsr_type type, int64_t k);

/* Its part that comes of the sums, and the unit roundoff of storing them (0 when they are kept as
 * they are summed). */
double element_sum_bound(tsr_type type, int64_t k);
double element_store_rounding(tsr_type type);

/* A matrix anywhere in host memory, seen with any strides: op() is an exchange of strides. */
typedef struct matrix_view {
  tsr_type type;
  const void *data;
  int64_t rows, cols;
  int64_t row_stride, col_stride; /* elements; one of them is 1 */
  bool conj;
} matrix_view;

matrix_view matrix_of(tsr_type type, const void *data, bool column_major, int64_t rows,
                      int64_t cols);
matrix_view matrix_op(matrix_view matrix, tsr_op op);

/* Copies between places of one shape, whatever their strides and types (complex to real drops
 * nothing silently: it is not allowed). to must be dense. */
void matrix_copy(matrix_view to, matrix_view from);

#endif
