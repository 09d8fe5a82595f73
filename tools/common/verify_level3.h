/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Checks a level-3 operation in O(n^2), as verify.h checks a product. The operation's formula is
 * applied to random vectors before the call, since the call overwrites an operand; the result is
 * applied to the same vectors after it, and both are compared. Only the stored triangle of a
 * symmetric, Hermitian or triangular matrix is read. For trsm, A X is compared with alpha B.
 */
#ifndef TESSERA_VERIFY_LEVEL3_H
#define TESSERA_VERIFY_LEVEL3_H

#include "vectors.h"
#include "operation.h"
#include "verify.h"

typedef struct verify_call {
  tsr_level3 what; /* complete, column-major */
  scalar alpha, beta;
  matrix_view stored[3]; /* A, B and the written matrix, in host memory, as stored */
} verify_call;

/* Random vectors, and the formula applied to them. A zeroed one may be given to verify_end. */
typedef struct verify_sums {
  vectors x, wanted;
} verify_sums;

/* To be called before the operation; false: out of memory. */
bool verify_expect(const verify_call *call, verify_sums *sums);

/* To be called after the operation, with the result in stored[2]; false: out of memory. */
bool verify_result_of(const verify_call *call, verify_sums *sums, verify_result *result);

void verify_end(verify_sums *sums);

#endif
