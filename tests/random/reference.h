/*
 * What a GEMM must give: a plain product in double precision of the operands as they were
 * rounded, and how far each element may be from it.
 */
#ifndef TSR_TESTS_REFERENCE_H
#define TSR_TESTS_REFERENCE_H

#include "operand.h"

/* C so far and its bound, m x n, column by column. */
typedef struct reference {
  int64_t m, n;
  double *re, *im, *bound;
} reference;

/* Starts from the C that the image of c holds. False: out of memory. */
bool reference_create(const problem *p, const operand *c, reference *made);

/* One call: C = alpha op(A) op(B) + beta C. */
bool reference_gemm(const problem *p, const operand *a, const operand *b, reference *r);

void reference_destroy(reference *r);

/* Compares the C in bytes (laid out as c). False, and what is wrong first, if it is too far. */
bool reference_compare(const problem *p, const reference *r, const operand *c,
                       const unsigned char *bytes, char *wrong, size_t room);

#endif
