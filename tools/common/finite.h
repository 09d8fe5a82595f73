/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Elements of a matrix that are no finite numbers: NaN and infinities. */
#ifndef TESSERA_FINITE_H
#define TESSERA_FINITE_H

#include "elements.h"

typedef struct nonfinite {
  int64_t count;
  int64_t row, col; /* of the first one, going along rows */
  double re, im;    /* its value */
} nonfinite;

/* Looks at all elements. rows and cols are set to true where the row or the column has such an
 * element; each may be NULL. */
nonfinite nonfinite_find(const matrix_view *matrix, bool *rows, bool *cols);

/* Looks at the first row and the first column. In a product a NaN or an infinity of A makes all of
 * its row of C so, and one of B all of its column, so these show whether A or B had any. */
nonfinite nonfinite_find_edge(const matrix_view *product);

#endif
