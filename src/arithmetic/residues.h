/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The arithmetic of products in residues (arithmetic/moduli.h), which the CPU's code and a GPU's
 * share, so that both give the same bits. Every operation is exact, or rounded as IEEE 754 says and
 * written so that no compiler may contract it (the sources that include this are compiled without
 * contraction).
 */
#ifndef TSR_ARITHMETIC_RESIDUES_H
#define TSR_ARITHMETIC_RESIDUES_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "arithmetic/residue_lines.h"

/* ---- Scaling ---------------------------------------------------------------- */

/* 2^power, for powers -1022 to 1023. */
TSR_RESIDUES_INLINE double tsr_power_of_two(int power) {
  uint64_t bits = (uint64_t)(power + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* x 2^power, for |power| <= 3000. In three steps where 2^power over- or underflows and the result
 * need not. Only a result below 2^-1022 is rounded. */
TSR_RESIDUES_INLINE double tsr_scaled(double x, int power) {
  if (power >= -1022 && power <= 1023) return x * tsr_power_of_two(power);
  int third = power / 3;
  double factor = tsr_power_of_two(third);
  return x * factor * factor * tsr_power_of_two(power - 2 * third);
}

/* The least power of two above a magnitude, which is finite and not 0. */
TSR_RESIDUES_INLINE int tsr_top_of(double magnitude) {
  return ilogb(magnitude) + 1;
}

/* The greater of two magnitudes; a NaN if one is. */
TSR_RESIDUES_INLINE double tsr_greater(double most, double magnitude) {
  return magnitude > most || magnitude != magnitude ? magnitude : most;
}

/* A magnitude in units of 2^(top - 12), rounded up: 1 to 4096, or 0 for 0. *down: rounded down. */
TSR_RESIDUES_INLINE uint32_t tsr_units(double magnitude, int top, uint32_t *down) {
  double units = tsr_scaled(magnitude, 12 - top);
  uint32_t whole = (uint32_t)units;
  *down = whole;
  if (magnitude == 0) return 0;
  return (double)whole < units || whole == 0 ? whole + 1 : whole;
}

/* Sums over the elements of a line. Sums of integers do not depend on their order. */
typedef struct tsr_line_sums {
  uint64_t units, squares; /* of magnitudes in units, and of their squares (k < 2^31: below 2^55) */
  uint32_t at_least[12];   /* as in tsr_line */
} tsr_line_sums;

/* Adds an element by the magnitudes of its parts; that of the imaginary part of a real one is 0.
 * The element's own is between the greater one and their sum. */
TSR_RESIDUES_INLINE void tsr_line_add(tsr_line_sums *sums, double real, double imaginary, int top) {
  uint32_t down, other, up = tsr_units(real, top, &down), more = tsr_units(imaginary, top, &other);
  sums->units += up + more;
  sums->squares += (uint64_t)up * up + (uint64_t)more * more;
  if (other > down) down = other;
  for (int t = 0; t < 12; t++) sums->at_least[t] += down >= 2048u >> t;
}

/* The record of a line of k real numbers (two for each complex element) whose greatest magnitude is
 * `most`. The exponent is the greatest for which the norm of the scaled line, rounding included
 * (sqrt(k) / 2), is at most `root`. The factor below 1 is more than all rounding errors here. */
TSR_RESIDUES_INLINE tsr_line tsr_line_of(const tsr_line_sums *sums, double most, int64_t k,
                                         double root) {
  tsr_line line;
  memset(&line, 0, sizeof line);
  if (!(most < INFINITY)) {
    line.exponent = TSR_LINE_NOT_FINITE;
    return line;
  }
  if (most == 0) return line;
  int top = tsr_top_of(most);
  double left = root - 0.5 * sqrt((double)k);
  double square = left * left / (double)sums->squares;
  int half = ilogb(square * (1 - 0x1p-40));
  half = half >= 0 ? half / 2 : -((1 - half) / 2);
  line.exponent = half + 12 - top;
  line.room = half + 12;
  line.sum = sums->units;
  for (int t = 0; t < 12; t++) line.at_least[t] = sums->at_least[t];
  return line;
}

/* An element as the integer that it is rounded to, to even if it lies in the middle. */
TSR_RESIDUES_INLINE double tsr_rounded(double x, int exponent) {
  return rint(tsr_scaled(x, exponent));
}

/* The residue of least magnitude: -(p - 1) / 2 to (p - 1) / 2, or -128 to 127 for p = 256. */
TSR_RESIDUES_INLINE int32_t tsr_residue(int64_t x, int32_t p) {
  int32_t r = (int32_t)(x % p);
  if (r >= (p + 1) / 2) r -= p;
  if (r < -(p / 2)) r += p;
  return r;
}

/* ---- Recovering --------------------------------------------------------------- */

/* A number as the sum of two, of which low is at most half a unit in the last place of high. */
typedef struct tsr_pair {
  double high, low;
} tsr_pair;

/* a + b, exactly (Knuth's TwoSum). */
TSR_RESIDUES_INLINE tsr_pair tsr_sum_of(double a, double b) {
  tsr_pair sum;
  sum.high = a + b;
  double rest = sum.high - a;
  sum.low = (a - (sum.high - rest)) + (b - rest);
  return sum;
}

/* The integer whose residues are added one by one. */
typedef struct tsr_recovery {
  int64_t digit[TSR_MODULI_DIGITS];
  double turns;
} tsr_recovery;

TSR_RESIDUES_INLINE tsr_recovery tsr_recovery_start(void) {
  tsr_recovery r;
  memset(&r, 0, sizeof r);
  return r;
}

TSR_RESIDUES_INLINE void tsr_recovery_add(tsr_recovery *r, const tsr_moduli *m, int l,
                                          int32_t residue) {
  for (int d = 0; d < TSR_MODULI_DIGITS; d++) r->digit[d] += residue * m->weight[l][d];
  r->turns += residue * m->ratio[l];
}

/* The integer with those digits, of which all but the last are 0 to 2^42 - 1. A pair has 106 bits
 * or more, and an integer of up to 106 bits is exact. */
TSR_RESIDUES_INLINE tsr_pair tsr_integer_of_digits(const double digit[TSR_MODULI_DIGITS]) {
  tsr_pair upper = tsr_sum_of(digit[2] * 0x1p84, digit[1] * 0x1p42);
  tsr_pair all = tsr_sum_of(upper.high, digit[0]);
  return tsr_sum_of(all.high, all.low + upper.low);
}

/* The integer, from its digits, which are normalised first. */
TSR_RESIDUES_INLINE tsr_pair tsr_recovery_end(const tsr_recovery *r, const tsr_moduli *m) {
  int64_t carry = 0, whole = (int64_t)rint(r->turns);
  const int64_t base = INT64_C(1) << TSR_MODULI_BITS;
  double digit[TSR_MODULI_DIGITS];
  for (int d = 0; d < TSR_MODULI_DIGITS; d++) {
    int64_t value = r->digit[d] - whole * m->product[d] + carry;
    int64_t low = d + 1 < TSR_MODULI_DIGITS ? value & (base - 1) : value;
    carry = (value - low) / base;
    digit[d] = (double)low;
  }
  return tsr_integer_of_digits(digit);
}

/* The exponent of a factor, and 0 for one that is 0 or not finite. */
TSR_RESIDUES_INLINE int tsr_exponent_of(double factor) {
  return factor != 0 && fabs(factor) < INFINITY ? ilogb(factor) : 0;
}

/* A power within the range of tsr_scaled; beyond it a product over- or underflows anyway. */
TSR_RESIDUES_INLINE int tsr_limited(int power) {
  return power < -3000 ? -3000 : power > 3000 ? 3000 : power;
}

/* alpha, as a factor of magnitude 1 to 2 (or 0, Inf or NaN) times 2^exponent. */
typedef struct tsr_scaling {
  double factor;
  int exponent;
} tsr_scaling;

TSR_RESIDUES_INLINE tsr_scaling tsr_scaling_of(double alpha) {
  tsr_scaling f;
  f.exponent = tsr_exponent_of(alpha);
  f.factor = tsr_scaled(alpha, -f.exponent);
  return f;
}

/* alpha x 2^power + beta c, with one rounding but for terms of 2^-104 of the summands. beta = 0
 * does not use c. alpha's own power comes last, so that nothing overflows that the result does not.
 */
TSR_RESIDUES_INLINE double tsr_recovered_update(tsr_pair x, int power, tsr_scaling alpha,
                                                double beta, double c) {
  double factor = alpha.factor, product = factor * x.high;
  double rest = fma(factor, x.low, fma(factor, x.high, -product));
  if (!(fabs(product) < INFINITY)) rest = 0;
  power = tsr_limited(power + alpha.exponent);
  if (beta == 0) return tsr_scaled(product + rest, power);
  product = tsr_scaled(product, power);
  double kept = beta * c;
  if (!(fabs(product) < INFINITY) || !(fabs(kept) < INFINITY)) return product + kept;
  rest = tsr_scaled(rest, power) + fma(beta, c, -kept);
  tsr_pair sum = tsr_sum_of(product, kept);
  return fabs(sum.high) < INFINITY ? sum.high + (sum.low + rest) : sum.high;
}

/* Adds x y to a sum of which low is the part that high lacks. */
TSR_RESIDUES_INLINE void tsr_add_product(tsr_pair *sum, double x, double y) {
  double product = x * y;
  tsr_pair both = tsr_sum_of(sum->high, product);
  sum->low += both.low + fma(x, y, -product);
  sum->high = both.high;
}

/* x y + z w + beta_x c_x + beta_y c_y with one rounding, but for terms of 2^-104 of the summands:
 * a part of alpha x + beta c of complex numbers, where x has been scaled. */
TSR_RESIDUES_INLINE double tsr_complex_part(double alpha_x, tsr_pair x, double alpha_y, tsr_pair y,
                                            double beta_x, double c_x, double beta_y, double c_y) {
  double plain = alpha_x * x.high + alpha_y * y.high;
  bool kept = beta_x != 0 || beta_y != 0;
  if (kept) plain = plain + (beta_x * c_x + beta_y * c_y);
  if (!(fabs(plain) < INFINITY)) return plain;
  tsr_pair sum;
  sum.high = sum.low = 0;
  tsr_add_product(&sum, alpha_x, x.high);
  tsr_add_product(&sum, alpha_y, y.high);
  if (kept) tsr_add_product(&sum, beta_x, c_x);
  if (kept) tsr_add_product(&sum, beta_y, c_y);
  sum.low += alpha_x * x.low + alpha_y * y.low;
  return sum.high + sum.low;
}

/* A complex number. */
typedef struct tsr_complex {
  double re, im;
} tsr_complex;

/* alpha x 2^power + beta c, where x is re + i im. */
TSR_RESIDUES_INLINE tsr_complex tsr_recovered_complex(tsr_pair re, tsr_pair im, int power,
                                                      tsr_complex alpha, tsr_complex beta,
                                                      tsr_complex c) {
  tsr_complex result;
  re.high = tsr_scaled(re.high, power);
  re.low = tsr_scaled(re.low, power);
  im.high = tsr_scaled(im.high, power);
  im.low = tsr_scaled(im.low, power);
  result.re = tsr_complex_part(alpha.re, re, -alpha.im, im, beta.re, c.re, -beta.im, c.im);
  result.im = tsr_complex_part(alpha.re, im, alpha.im, re, beta.re, c.im, beta.im, c.re);
  return result;
}

/* ---- The certificate ------------------------------------------------------------ */

/* The worst of several lines, those that are all 0 apart: each of the values is the least, or the
 * greatest, of them. */
typedef struct tsr_worst {
  bool finite, any;      /* any: some line is not all 0 */
  int32_t room;          /* the least */
  uint64_t sum;          /* the greatest */
  uint32_t at_least[12]; /* the least */
} tsr_worst;

TSR_RESIDUES_INLINE tsr_worst tsr_worst_start(void) {
  tsr_worst worst;
  memset(&worst, 0, sizeof worst);
  worst.finite = true;
  worst.room = INT32_MAX;
  for (int t = 0; t < 12; t++) worst.at_least[t] = UINT32_MAX;
  return worst;
}

TSR_RESIDUES_INLINE void tsr_worst_add(tsr_worst *worst, const tsr_line *line) {
  if (line->exponent == TSR_LINE_NOT_FINITE) worst->finite = false;
  if (line->exponent == TSR_LINE_NOT_FINITE || line->sum == 0) return;
  worst->any = true;
  if (line->room < worst->room) worst->room = line->room;
  if (line->sum > worst->sum) worst->sum = line->sum;
  for (int t = 0; t < 12; t++)
    if (line->at_least[t] < worst->at_least[t]) worst->at_least[t] = line->at_least[t];
}

/* No more than the sum over h of |a_h||b_h| for any two of the lines, relative to their tops. The
 * sum is least if the magnitudes are paired in opposite order (the rearrangement inequality), and
 * each is replaced by the power of two that the numbers of elements show. */
TSR_RESIDUES_INLINE double tsr_least_product(const tsr_worst *a, const tsr_worst *b, int64_t k) {
  double sum = 0;
  for (int t = 0; t < 12; t++) {
    int64_t from = t > 0 ? a->at_least[t - 1] : 0, to = a->at_least[t];
    for (int s = 0; s < 12; s++) {
      int64_t first = k - (int64_t)b->at_least[s];
      int64_t end = s > 0 ? k - (int64_t)b->at_least[s - 1] : k;
      int64_t low = from > first ? from : first, high = to < end ? to : end;
      if (high > low) sum += (double)(high - low) * tsr_power_of_two(-(t + s + 2));
    }
  }
  return sum;
}

/* Whether |error| <= tolerance (|A||B|) can be promised for all elements of a block of C, from what
 * holds for its rows (a) and columns (b). In units of the tops, an element of a changes by at most
 * 2^-(room + 1) when it is rounded, a complex one by sqrt(2) times that. */
TSR_RESIDUES_INLINE bool tsr_verdict(const tsr_worst *a, const tsr_worst *b, int64_t k,
                                     bool complex_valued, double tolerance) {
  if (!a->finite || !b->finite) return false;
  if (!a->any || !b->any) return true;
  double one = complex_valued ? 1.4143 : 1, both = complex_valued ? 2 : 1;
  double error = one * (tsr_scaled((double)a->sum, -12 - b->room - 1) +
                        tsr_scaled((double)b->sum, -12 - a->room - 1)) +
                 both * tsr_scaled((double)k, -a->room - b->room - 2);
  return error * (1 + 0x1p-40) <= tolerance * tsr_least_product(a, b, k);
}

#endif
