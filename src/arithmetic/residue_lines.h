/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The constants of the moduli (arithmetic/moduli.h), and how residues lie in memory: the kernels on
 * residues share both with all other code. GPUs' code includes this without any other header of
 * base/: a compiler at run time (engine/hip/compile.h) has none of C's own.
 */
#ifndef TSR_ARITHMETIC_RESIDUE_LINES_H
#define TSR_ARITHMETIC_RESIDUE_LINES_H

#include <stddef.h>
#include <stdint.h>

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

/* Bytes of a line of a plane: long lines begin at cache lines, short ones at whole loads. */
TSR_RESIDUES_INLINE int64_t tsr_residues_ld(int64_t k) {
  int64_t step = k >= 512 ? 128 : 16;
  return (k + step - 1) / step * step;
}

/* Where the records of the lines begin, in bytes. element: tsr_form_element. */
TSR_RESIDUES_INLINE size_t tsr_residues_records(int64_t ld, int64_t lines, int element) {
  return (size_t)lines * (size_t)element * (size_t)ld;
}

/* Where the lines themselves begin, in bytes, if the block keeps them. */
TSR_RESIDUES_INLINE size_t tsr_residues_kept(int64_t ld, int64_t lines, int planes) {
  return (size_t)lines * (size_t)planes * (size_t)ld;
}

#endif
