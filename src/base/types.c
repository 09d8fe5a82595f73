/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "base/types.h"

#include <string.h>

#define TWO_TO_MINUS_8 0x1p-8
#define TWO_TO_MINUS_10 0x1p-10
#define TWO_TO_MINUS_11 0x1p-11
#define TWO_TO_MINUS_24 0x1p-24
#define TWO_TO_MINUS_53 0x1p-53

/* TF32 sums in float, but cuts the 24 bits of each factor to 11, and that bounds its error. */
static const tsr_type_info table[TSR_TYPE_COUNT] = {
    {TSR_S, "fp32", 4, false, TSR_S, TWO_TO_MINUS_24, TWO_TO_MINUS_24, 2},
    {TSR_D, "fp64", 8, false, TSR_D, TWO_TO_MINUS_53, TWO_TO_MINUS_53, 2},
    {TSR_C, "complex fp32", 8, true, TSR_C, TWO_TO_MINUS_24, TWO_TO_MINUS_24, 8},
    {TSR_Z, "complex fp64", 16, true, TSR_Z, TWO_TO_MINUS_53, TWO_TO_MINUS_53, 8},
    {TSR_H, "fp16", 2, false, TSR_S, TWO_TO_MINUS_24, TWO_TO_MINUS_11, 2},
    {TSR_B, "bf16", 2, false, TSR_S, TWO_TO_MINUS_24, TWO_TO_MINUS_8, 2},
    {TSR_T, "tf32", 4, false, TSR_T, TWO_TO_MINUS_10, TWO_TO_MINUS_24, 2},
};

int tsr_type_index(tsr_type type) {
  for (int i = 0; i < TSR_TYPE_COUNT; i++)
    if (table[i].type == type) return i;
  return -1;
}

const tsr_type_info *tsr_type_at(int index) {
  return index >= 0 && index < TSR_TYPE_COUNT ? &table[index] : NULL;
}

const tsr_type_info *tsr_type_get(tsr_type type) {
  return tsr_type_at(tsr_type_index(type));
}

size_t tsr_scalar_size(tsr_type type) {
  const tsr_type_info *info = tsr_type_get(type);
  return info != NULL ? tsr_type_get(info->wide)->size : 0;
}

tsr_scalar tsr_scalar_read(tsr_type type, const void *value) {
  tsr_scalar scalar = {0, 0};
  float f[2] = {0, 0};
  switch (type) {
    case TSR_D:
      memcpy(&scalar.re, value, sizeof(double));
      return scalar;
    case TSR_Z:
      memcpy(&scalar, value, 2 * sizeof(double));
      return scalar;
    case TSR_C:
      memcpy(f, value, 2 * sizeof(float));
      break;
    default:
      memcpy(f, value, sizeof(float));
      break;
  }
  scalar.re = f[0];
  scalar.im = f[1];
  return scalar;
}

tsr_scalar_class tsr_scalar_classify(tsr_scalar value) {
  if (value.im != 0) return TSR_OTHER; /* a NaN is TSR_OTHER, too */
  if (value.re == 0) return TSR_ZERO;
  return value.re == 1 ? TSR_ONE : TSR_OTHER;
}

static uint32_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* value / 2^shift, rounded to nearest, ties to even. shift is 1..31. */
static uint32_t round_shift(uint32_t value, int shift) {
  uint32_t kept = value >> shift, rest = value & ((1u << shift) - 1), half = 1u << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

float tsr_half_to_float(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 0x1f, mantissa = h & 0x3ff;
  if (exponent == 0x1f) return float_of(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0) return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
  float denormal = (float)mantissa * 0x1p-24f;
  return sign ? -denormal : denormal;
}

uint16_t tsr_float_to_half(float f) {
  uint32_t bits = bits_of(f), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x1ff)); /* a quiet NaN */
  if (rest >= 0x47800000) return (uint16_t)(sign | 0x7c00);                       /* 65536 and up */
  int exponent = (int)(rest >> 23);
  /* A carry out of the mantissa lands in the exponent, where it belongs: 65520 becomes inf. */
  if (exponent >= 113) return (uint16_t)(sign | (round_shift(rest, 13) - (112u << 10)));
  if (exponent < 102) return (uint16_t)sign; /* less than half of the least denormal */
  uint32_t mantissa = (rest & 0x7fffff) | 0x800000;
  return (uint16_t)(sign | round_shift(mantissa, 126 - exponent));
}

float tsr_bfloat_to_float(uint16_t b) {
  return float_of((uint32_t)b << 16);
}

uint16_t tsr_float_to_bfloat(float f) {
  uint32_t bits = bits_of(f);
  if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40); /* a quiet NaN */
  return (uint16_t)round_shift(bits, 16);
}
