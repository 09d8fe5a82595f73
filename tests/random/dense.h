/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Dense matrices of double-precision complex numbers, column by column, each element with a size:
 * that of the element, or what it may be off.
 */
#ifndef TSR_TESTS_DENSE_H
#define TSR_TESTS_DENSE_H

#include "operand.h"

typedef struct dense {
  int64_t rows, cols;
  double *re, *im, *size;
} dense;

/* All zero. False: out of memory. */
bool dense_create(int64_t rows, int64_t cols, dense *d);
void dense_destroy(dense *d);

/* op(X) with everything that X stands for, from the image of o. */
bool dense_load(const operand *o, bool row_major, char trans, dense *d);

/* op(X) of a dense matrix. */
bool dense_transpose(const dense *x, char trans, dense *d);

/* d = a b, its sizes the products of theirs. */
bool dense_multiply(const dense *a, const dense *b, bool complex, dense *d);

#endif
