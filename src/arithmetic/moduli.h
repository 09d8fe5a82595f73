/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Products in residues ("emulated" products): the moduli, and how residues lie in memory.
 *
 * Each row of op(A) and each column of op(B), a line, is scaled by a power of two and rounded to
 * integers. The product of the integer matrices is computed modulo M pairwise coprime numbers, with
 * 8-bit residues and sums of 32 bits, and recovered by the Chinese remainder theorem (Ozaki, Uchino
 * and Imamura, "Ozaki scheme II", arXiv 2504.08009). docs/explain/arithmetic.md has the bound of
 * the error and its proof; arithmetic/residues.h has the arithmetic.
 */
#ifndef TSR_ARITHMETIC_MODULI_H
#define TSR_ARITHMETIC_MODULI_H

#include "arithmetic/residue_lines.h"
#include "base/types.h"

/* Fills in the first `count` moduli, TSR_MODULI_LEAST to TSR_MODULI_MOST. */
void tsr_moduli_fill(int count, tsr_moduli *moduli);

/* The number of moduli with P >= 2 / u^2, u the type's unit roundoff: 7 for fp32, 14 for fp64. 0:
 * products of the type are not computed in residues. */
int tsr_moduli_of_type(tsr_type type);

/* The part of (|A||B|)_ij that conversion to `moduli` residues may add to the error of element
 * (i, j), for a sum of k products: (k + 0.75) u, or larger by sqrt(P of the type / P) with fewer
 * moduli than the type's. Of complex types 2 sqrt(2) times as much, as native products have. */
double tsr_moduli_tolerance(tsr_type type, int moduli, int64_t k);

/* The least number of moduli by which usual data reach an accuracy, the error of
 * element (i, j) as a part of (|A||B|)_ij, for a sum of k products; the type's number at most. */
int tsr_moduli_for(tsr_type type, double accuracy, int64_t k);

/* The part of (|A||B|)_ij that conversion may add to one of several products over k elements whose
 * sum is to have that accuracy: the accuracy less (products + 1) u for rounding the result with
 * each of them, but not less than where no accuracy is asked for. */
double tsr_accuracy_tolerance(tsr_type type, double accuracy, int64_t products, int64_t k);

#endif
