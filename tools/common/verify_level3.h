/*
 * Checks a level-3 operation in O(n^2), as verify.h does a product: what is written is applied to
 * random vectors and compared with the operation's formula applied to them, before anything is
 * overwritten. Of a matrix that is symmetric, Hermitian or triangular only the stored triangle is
 * read. The solution of trsm is put into its equation.
 */
#ifndef TESSERA_VERIFY_LEVEL3_H
#define TESSERA_VERIFY_LEVEL3_H

#include "lanes.h"
#include "operation.h"
#include "verify.h"

typedef struct verify_call {
  tsr_level3 what; /* complete, column-major */
  scalar alpha, beta;
  matrix_view stored[3]; /* A, B and what is written, in host memory, as stored */
} verify_call;

/* What the result must be on random vectors. Zeroed, it can be ended. */
typedef struct verify_sums {
  lanes x, wanted;
} verify_sums;

/* Before the call: false when memory is out. */
bool verify_expect(const verify_call *call, verify_sums *sums);

/* After it, with the result in stored[2]; false when memory is out. */
bool verify_result_of(const verify_call *call, verify_sums *sums, verify_result *result);

void verify_end(verify_sums *sums);

#endif
