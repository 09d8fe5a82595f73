/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lines of which the matrices of a form are made (arithmetic/moduli.h). A product in a form
 * is one of rows of a left factor with columns of a right factor; both are lines of elements k.
 *
 *   TSR_RA, TSR_RB   the left and the right factor. syrk has one factor, RA, on both sides; syr2k
 *                    multiplies RA (A) by RB (B) and RB by RA.
 *   TSR_RA2, TSR_RB2 the factors of the second product of her2k, whose right factors are
 * conjugated.
 *
 * Beside a triangle (symm, hemm, trmm, trsm) k goes along A's order, and a line has the
 * elements of one block of it; A's block on the diagonal is multiplied natively.
 */
#ifndef TSR_BLAS_LINES_H
#define TSR_BLAS_LINES_H

#include "blas/call.h"

/* Where a line is stored. */
typedef struct tsr_line_source {
  int matrix;      /* TSR_A, TSR_B_, or TSR_C_ if the call is in place */
  bool turned;     /* the line is in a row of the stored matrix, else in a column */
  bool conjugated; /* its elements are those of the matrix conjugated */
} tsr_line_source;

/* The source of element k of a line. Only with a symmetric A it depends on
 * the element: on which side of the diagonal it lies. */
tsr_line_source tsr_line_source_of(const tsr_call *call, int matrix, int64_t k, int64_t line);

/* The matrices of a form that product `number` (0, or 1 of syr2k and her2k) multiplies. */
void tsr_line_factors(const tsr_call *call, int number, int *left, int *right);

#endif
