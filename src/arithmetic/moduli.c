/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "arithmetic/moduli.h"

#include <math.h>

/* The greatest pairwise coprime numbers up to 256. */
static const int32_t all[TSR_MODULI_MOST] = {256, 255, 253, 251, 247, 241, 239, 233,
                                             229, 227, 223, 217, 211, 199, 197, 193};

static const int64_t base = INT64_C(1) << TSR_MODULI_BITS;

/* x *= factor, for a factor up to 256: digits and carries stay below 2^51. */
static void multiply(int64_t x[TSR_MODULI_DIGITS], int64_t factor) {
  int64_t carry = 0;
  for (int d = 0; d < TSR_MODULI_DIGITS; d++) {
    int64_t value = x[d] * factor + carry;
    x[d] = value % base;
    carry = value / base;
  }
}

static int64_t modulo(const int64_t x[TSR_MODULI_DIGITS], int64_t p) {
  int64_t rest = 0;
  for (int d = TSR_MODULI_DIGITS - 1; d >= 0; d--) rest = (rest * (base % p) + x[d]) % p;
  return rest;
}

/* The number below p whose product with x is 1 modulo p. */
static int64_t inverse(int64_t x, int64_t p) {
  int64_t y = 1;
  while (x * y % p != 1) y++;
  return y;
}

static double value_of(const int64_t x[TSR_MODULI_DIGITS]) {
  double value = 0;
  for (int d = TSR_MODULI_DIGITS - 1; d >= 0; d--) value = value * (double)base + (double)x[d];
  return value;
}

/* weight[l] = P / p (P / p)^-1 mod P, where the inverse is modulo p = modulus[l]. */
static void set_weight(tsr_moduli *m, int l) {
  int64_t *weight = m->weight[l], p = m->modulus[l];
  weight[0] = 1;
  for (int o = 0; o < m->count; o++)
    if (o != l) multiply(weight, m->modulus[o]);
  int64_t y = inverse(modulo(weight, p), p);
  multiply(weight, y);
  m->ratio[l] = (double)y / (double)p;
}

/* The margin of 2^-20 keeps |x| / P away from 1/2, so that rounding errors of the sum of
 * r[l] ratio[l], at most 2^-41, do not change what it is rounded to. */
void tsr_moduli_fill(int count, tsr_moduli *moduli) {
  *moduli = (tsr_moduli){.count = count, .product = {1}};
  for (int l = 0; l < count; l++) {
    moduli->modulus[l] = all[l];
    multiply(moduli->product, all[l]);
  }
  for (int l = 0; l < count; l++) set_weight(moduli, l);
  moduli->root = sqrt(value_of(moduli->product) / 2 * (1 - 0x1p-20));
}

int tsr_moduli_of_type(tsr_type type) {
  bool wide = type == TSR_D || type == TSR_Z;
  return wide ? 14 : type == TSR_S || type == TSR_C ? 7 : 0;
}

static double product_of(int count) {
  double product = 1;
  for (int l = 0; l < count; l++) product *= all[l];
  return product;
}

double tsr_moduli_tolerance(tsr_type type, int moduli, int64_t k) {
  int usual = tsr_moduli_of_type(type);
  double worse = moduli < usual ? sqrt(product_of(usual) / product_of(moduli)) : 1;
  if (tsr_type_get(type)->complex_valued) worse *= 2.82;
  return ((double)k + 0.75) * tsr_type_get(type)->epsilon * worse;
}

double tsr_accuracy_tolerance(tsr_type type, double accuracy, int64_t products, int64_t k) {
  double native = tsr_moduli_tolerance(type, tsr_moduli_of_type(type), k);
  return fmax(native, accuracy - (double)(products + 1) * tsr_type_get(type)->epsilon);
}

/* If two lines have norms a and b, conversion adds at most 2 sqrt(2 k / P) a b to the error of
 * their product. The ratio of that bound to (|A||B|) follows from the bound that the certificate
 * has for it: for uniform data 8 (1 + 200 / k) sqrt(2 k / P) is enough (computed for 60 and 1000
 * lines and k of 50 to 20000, where 36 to 7.2 were needed in place of 8 (1 + 200 / k)). */
int tsr_moduli_for(tsr_type type, double accuracy, int64_t k) {
  double bound = accuracy / (8 * (1 + 200.0 / (double)k));
  int most = tsr_moduli_of_type(type), moduli = TSR_MODULI_LEAST;
  while (moduli < most && product_of(moduli) < 2 * (double)k / (bound * bound)) moduli++;
  return moduli;
}
