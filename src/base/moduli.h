/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Products in residues ("emulated" products): the moduli, and how residues lie in memory.
 *
 * Each row of op(A) and each column of op(B), a line, is scaled by a power of two and rounded to
 * integers. The product of the integer matrices is computed modulo M pairwise coprime numbers, with
 * 8-bit residues and sums of 32 bits, and recovered by the Chinese remainder theorem (Ozaki, Uchino
 * and Imamura, "Ozaki scheme II", arXiv 2504.08009). docs/explain/arithmetic.md has the bound of
 * the error and its proof; base/residues.h has the arithmetic.
 */
#ifndef TSR_BASE_MODULI_H
#define TSR_BASE_MODULI_H

#include <stddef.h>

#include "base/types.h"

/* How functions are declared that GPUs' code uses, too. */
#ifndef TSR_RESIDUES_INLINE
#define TSR_RESIDUES_INLINE static inline
#endif

/* The most moduli: with them a scaled element fits 64 bits, and P, their product, three digits. The
 * least: with fewer, a sum over k < 2^31 leaves no room for the elements. */
enum { TSR_MODULI_LEAST = 4, TSR_MODULI_MOST = 16, TSR_MODULI_DIGITS = 3, TSR_MODULI_BITS = 42 };

/* The longest k: the planner makes no longer part of an extent, and a line is one part. */
#define TSR_MODULI_LONGEST (INT64_C(1) << 30)

/* Moduli, and the constants by which an integer x, |x| < P / 2, is recovered from its residues
 * r[l]: x = sum of r[l] weight[l] - P round(sum of r[l] ratio[l]). Numbers up to P have three
 * digits in base 2^42, the lowest first, so that sums of 16 residues times a digit fit 64 bits. */
typedef struct tsr_moduli {
  int count;
  int32_t modulus[TSR_MODULI_MOST];
  int64_t weight[TSR_MODULI_MOST][TSR_MODULI_DIGITS];
  double ratio[TSR_MODULI_MOST]; /* weight / P */
  int64_t product[TSR_MODULI_DIGITS];
  double root; /* no more than sqrt(P / 2): the greatest norm of a scaled line */
} tsr_moduli;

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

/* ---- Layout ---------------------------------------------------------------- */

/* The scale of a line and sums over its elements, 64 bytes. They follow from the line alone, in any
 * order of summation. All magnitudes are relative to 2^top, the least power of two above the line's
 * elements. */
typedef struct tsr_line {
  int32_t exponent;      /* the line is multiplied by 2^exponent before it is rounded */
  int32_t room;          /* exponent + top: scaled elements are below 2^room */
  uint64_t sum;          /* of magnitudes, in units of 2^-12, each rounded up; 0: all are 0 */
  uint32_t at_least[12]; /* [t]: number of elements of magnitude 2^-(t + 1) or more */
} tsr_line;

/* exponent of a line that has an element that is not finite. */
#define TSR_LINE_NOT_FINITE INT32_MIN

/* The residues of n lines of k elements lie in planes, one for each modulus: line i of plane l
 * begins at byte (l n + i) ld, and bytes k .. ld - 1 of a line are 0. Of complex elements there are
 * three planes for each modulus: those of the real parts come first, then those of the imaginary
 * parts, then those of their sums.
 *
 * A block may keep its lines: then these follow the planes, line i at element i ld, with zeros from
 * element k on. From them a product is computed natively if the accuracy of its residues cannot be
 * promised. The records of the lines (tsr_line) come last. */

static inline int tsr_residue_planes(tsr_type type, int moduli) {
  return type == TSR_C || type == TSR_Z ? 3 * moduli : moduli;
}

/* Bytes of a block for each element of a line and each byte of padding, the records apart. */
static inline int tsr_residue_element(tsr_type type, int moduli, bool keeps_lines) {
  int line = keeps_lines ? (int)tsr_type_get(type)->size : 0;
  return tsr_residue_planes(type, moduli) + line;
}

/* Bytes of a line of a plane: long lines begin at cache lines, short ones at whole loads. */
TSR_RESIDUES_INLINE int64_t tsr_residues_ld(int64_t k) {
  int64_t step = k >= 512 ? 128 : 16;
  return (k + step - 1) / step * step;
}

/* element: tsr_residue_element. */
TSR_RESIDUES_INLINE size_t tsr_residues_bytes(int64_t k, int64_t lines, int element) {
  return (size_t)lines * ((size_t)element * (size_t)tsr_residues_ld(k) + sizeof(tsr_line));
}

/* Where the records of the lines begin, in bytes. */
TSR_RESIDUES_INLINE size_t tsr_residues_records(int64_t ld, int64_t lines, int element) {
  return (size_t)lines * (size_t)element * (size_t)ld;
}

/* Where the lines themselves begin, in bytes, if the block keeps them. */
TSR_RESIDUES_INLINE size_t tsr_residues_kept(int64_t ld, int64_t lines, int planes) {
  return (size_t)lines * (size_t)planes * (size_t)ld;
}

#endif
