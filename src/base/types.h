/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The element types: one table of their properties. */
#ifndef TSR_BASE_TYPES_H
#define TSR_BASE_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera.h"

typedef struct tsr_type_info {
  tsr_type type;
  const char *name; /* "fp64" */
  size_t size;      /* bytes of an element */
  bool complex_valued;
  tsr_type wide;        /* type of a partial C: the type itself, or TSR_S for 16-bit types */
  double epsilon;       /* unit roundoff of the sums */
  double store_epsilon; /* unit roundoff of the stored elements, for bounds on C */
  int flop_factor;      /* flops of a multiply-add: 2, or 8 if complex */
} tsr_type_info;

enum { TSR_TYPE_COUNT = 7 };

/* The row of a type; NULL: there is no such type. */
const tsr_type_info *tsr_type_get(tsr_type type);

/* 0 .. TSR_TYPE_COUNT-1 in the order s d c z h b t; -1: there is no such type. */
int tsr_type_index(tsr_type type);
const tsr_type_info *tsr_type_at(int index);

/* Bytes of an alpha or beta of a call of the type; 0: there is no such type. */
size_t tsr_scalar_size(tsr_type type);

/* alpha or beta inside the library, whatever the type of the call. */
typedef struct tsr_scalar {
  double re, im;
} tsr_scalar;

/* Reads a scalar of the type from the address that a caller gave (h and b: of a float). */
tsr_scalar tsr_scalar_read(tsr_type type, const void *value);

/* Plans depend on a scalar by its class only. */
typedef enum tsr_scalar_class { TSR_ZERO, TSR_ONE, TSR_OTHER } tsr_scalar_class;
tsr_scalar_class tsr_scalar_classify(tsr_scalar value);

/* fp16 and bf16 to and from float; rounds to nearest, ties to even. */
float tsr_half_to_float(uint16_t h);
uint16_t tsr_float_to_half(float f);
float tsr_bfloat_to_float(uint16_t b);
uint16_t tsr_float_to_bfloat(float f);

#endif
