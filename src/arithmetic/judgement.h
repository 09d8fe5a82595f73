/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The sharper judgement of a product in residues, for parts of C for which tsr_verdict fails. The
 * leading 7 bits of the scaled lines are multiplied, and so are the lines' elements as 0 or 1:
 * together these two products of 8-bit integers bound the error of each element of C
 * (docs/explain/arithmetic.md, "The sharper certificate"). The CPU's code and a GPU's share this
 * arithmetic.
 */
#ifndef TSR_ARITHMETIC_JUDGEMENT_H
#define TSR_ARITHMETIC_JUDGEMENT_H

#include "arithmetic/residues.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums of so many products of two numbers up to 127 fit 32 bits; a longer k is judged by quantiles
 * alone. */
enum { TSR_OVERLAPS_LONGEST = 1 << 17 };

/* ---- The scaled elements --------------------------------------------------------- */

/* Numbers by which a scaled element x, which is at most sqrt(P / 2), is recovered modulo 2^64 from
 * its residues modulo the first M / 2 + 1 of the M moduli: x = sum of r[l] weight[l] - product
 * round(sum of r[l] ratio[l]). Ratios are in units of 2^-20: their sum, up to 9 * 128 of them, fits
 * 32 bits and is off by less than 2^-10. As x is at most 2^-4 of the product, it is rounded to the
 * right integer.
 */
enum { TSR_RATIO_BITS = 20 };

typedef struct tsr_leading_moduli {
  int count;
  uint64_t weight[TSR_MODULI_MOST / 2 + 1], product;
  int32_t ratio[TSR_MODULI_MOST / 2 + 1];
} tsr_leading_moduli;

/* Fills in those of `moduli` moduli. */
void tsr_leading_moduli_fill(int moduli, tsr_leading_moduli *leading);

/* A scaled number while its residues are added. */
typedef struct tsr_whole {
  uint64_t sum;
  int32_t turns; /* in units of 2^-20 */
} tsr_whole;

TSR_RESIDUES_INLINE void tsr_whole_add(tsr_whole *x, const tsr_leading_moduli *m, int l,
                                       int32_t residue) {
  x->sum += (uint64_t)(int64_t)residue * m->weight[l];
  x->turns += residue * m->ratio[l];
}

/* Its magnitude. */
TSR_RESIDUES_INLINE uint64_t tsr_whole_end(const tsr_whole *x, const tsr_leading_moduli *m) {
  int32_t turns = (x->turns + (1 << (TSR_RATIO_BITS - 1))) >> TSR_RATIO_BITS;
  uint64_t value = x->sum - (uint64_t)(int64_t)turns * m->product;
  return value >> 63 ? 0 - value : value;
}

/* No more than the magnitude of the element from which `whole` was rounded, in units of 2^-7 of the
 * line's top: 0 to 127. */
TSR_RESIDUES_INLINE uint32_t tsr_leading_bits(uint64_t whole, int room) {
  if (whole == 0 || room < 0) return 0;
  return (uint32_t)(room >= 7 ? (whole - 1) >> (room - 7) : (whole - 1) << (7 - room));
}

/* No more than tsr_units of the element from which `whole` was rounded; room >= 12. */
TSR_RESIDUES_INLINE uint64_t tsr_whole_units(uint64_t whole, int room) {
  uint64_t unit = (uint64_t)1 << (room - 12);
  return (whole + (unit - 1)) >> (room - 12);
}

/* An element for the two products: the leading bits, and 128 more if it is not rounded to 0. */
TSR_RESIDUES_INLINE uint32_t tsr_overlap_byte(uint64_t real, uint64_t imaginary, int room) {
  uint64_t most = real > imaginary ? real : imaginary;
  return most == 0 ? 0 : 128 | tsr_leading_bits(most, room);
}

/* At least the number of elements of a line that are not 0, but are rounded to 0. units: the sum of
 * tsr_whole_units over the line. */
TSR_RESIDUES_INLINE uint32_t tsr_lost_elements(const tsr_line *line, uint64_t units, int64_t k) {
  if (line->sum == 0) return 0;
  uint64_t lost = line->room < 12 ? (uint64_t)k : line->sum - units;
  return (uint32_t)(lost < (uint64_t)k ? lost : (uint64_t)k);
}

/* ---- Judging --------------------------------------------------------------------- */

/* A matrix product that is judged: k elements are summed over, in residues of so many moduli. */
typedef struct tsr_judged {
  int moduli;
  bool complex_valued;
  int64_t k;
  double tolerance;
} tsr_judged;

/* The two products of a row of op(A) and a column of op(B). */
typedef struct tsr_overlap {
  uint32_t least;  /* of the leading bits: no more than sum |a_h||b_h|, in units of 2^-14 */
  uint32_t common; /* at least the number of pairs of which neither is 0; at most k counts */
} tsr_overlap;

/* Whether |error| <= tolerance (|A||B|) can be promised for an element of C. Only pairs of which
 * neither element is 0 have an error. */
TSR_RESIDUES_INLINE bool tsr_is_promised(const tsr_judged *x, const tsr_line *row,
                                         const tsr_line *column, tsr_overlap overlap) {
  if (row->sum == 0 || column->sum == 0) return true;
  double one = x->complex_valued ? 1.4143 : 1, both = x->complex_valued ? 2 : 1;
  double common = overlap.common < x->k ? (double)overlap.common : (double)x->k;
  double a = tsr_scaled((double)row->sum, -12), b = tsr_scaled((double)column->sum, -12);
  if (a > one * common) a = one * common;
  if (b > one * common) b = one * common;
  double error = one * (tsr_scaled(a, -column->room - 1) + tsr_scaled(b, -row->room - 1)) +
                 both * tsr_scaled(common, -row->room - column->room - 2);
  return error * (1 + 0x1p-40) <= x->tolerance * tsr_scaled((double)overlap.least, -14);
}

#ifdef __cplusplus
}
#endif

#endif
