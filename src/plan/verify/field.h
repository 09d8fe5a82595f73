/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Exact arithmetic for the verifier: the integers modulo the prime p = 2^61 - 1, extended by i with
 * i^2 = -1. (p mod 4 = 3, so no integer has the square -1.) As for complex numbers, a + b i has a
 * conjugate, and every element but 0 has an inverse. Real types have im = 0.
 */
#ifndef TSR_PLAN_VERIFY_FIELD_H
#define TSR_PLAN_VERIFY_FIELD_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsr_field {
  uint64_t re, im; /* below p */
} tsr_field;

#define TSR_FIELD_P ((UINT64_C(1) << 61) - 1)

static const tsr_field tsr_field_zero = {0, 0}, tsr_field_one = {1, 0};

/* ---- Modulo p ---- */

/* x mod p, for x < 2^63. Uses 2^61 mod p = 1. */
static inline uint64_t tsr_mod_fold(uint64_t x) {
  x = (x & TSR_FIELD_P) + (x >> 61);
  return x >= TSR_FIELD_P ? x - TSR_FIELD_P : x;
}

static inline uint64_t tsr_mod_negate(uint64_t x) {
  return x == 0 ? 0 : TSR_FIELD_P - x;
}

/* a b mod p, by halves of 32 bits: a b = high 2^64 + middle 2^32 + low. */
static inline uint64_t tsr_mod_multiply(uint64_t a, uint64_t b) {
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  uint64_t low = a0 * b0, middle = a1 * b0 + a0 * b1, high = a1 * b1;
  uint64_t mask = (UINT64_C(1) << 29) - 1;
  return tsr_mod_fold((high << 3) + (middle >> 29) + ((middle & mask) << 32) + (low & TSR_FIELD_P) +
                      (low >> 61));
}

/* The inverse of x is x^(p - 2). */
static inline uint64_t tsr_mod_invert(uint64_t x) {
  uint64_t result = 1;
  for (uint64_t power = TSR_FIELD_P - 2; power > 0; power >>= 1) {
    if (power & 1) result = tsr_mod_multiply(result, x);
    x = tsr_mod_multiply(x, x);
  }
  return result;
}

/* ---- With i ---- */

static inline bool tsr_field_equal(tsr_field a, tsr_field b) {
  return a.re == b.re && a.im == b.im;
}

static inline tsr_field tsr_field_add(tsr_field a, tsr_field b) {
  return (tsr_field){tsr_mod_fold(a.re + b.re), tsr_mod_fold(a.im + b.im)};
}

static inline tsr_field tsr_field_negate(tsr_field a) {
  return (tsr_field){tsr_mod_negate(a.re), tsr_mod_negate(a.im)};
}

static inline tsr_field tsr_field_conj(tsr_field a) {
  return (tsr_field){a.re, tsr_mod_negate(a.im)};
}

static inline tsr_field tsr_field_multiply(tsr_field a, tsr_field b) {
  if ((a.im | b.im) == 0) return (tsr_field){tsr_mod_multiply(a.re, b.re), 0};
  uint64_t minus = tsr_mod_negate(tsr_mod_multiply(a.im, b.im));
  return (tsr_field){tsr_mod_fold(tsr_mod_multiply(a.re, b.re) + minus),
                     tsr_mod_fold(tsr_mod_multiply(a.re, b.im) + tsr_mod_multiply(a.im, b.re))};
}

/* The inverse of a; 0 for a = 0. */
static inline tsr_field tsr_field_invert(tsr_field a) {
  uint64_t square = tsr_mod_fold(tsr_mod_multiply(a.re, a.re) + tsr_mod_multiply(a.im, a.im));
  uint64_t inverse = tsr_mod_invert(square);
  return (tsr_field){tsr_mod_multiply(a.re, inverse),
                     tsr_mod_multiply(tsr_mod_negate(a.im), inverse)};
}

#endif
