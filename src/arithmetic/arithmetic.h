/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How numbers are multiplied, where not by a device's own products: one row for each arithmetic.
 *
 * Such an arithmetic has a form. A kernel, `makes`, converts lines (rows of op(A), columns of
 * op(B)) into blocks of the form, once; another, `multiplies`, computes C from two blocks over all
 * of k, and adds it to C itself. A call has a pointer to a row (tsr_call.arithmetic; NULL: its
 * products are native). The planner, the model and the runner ask the row, and do not know which
 * one it is.
 */
#ifndef TSR_ARITHMETIC_ARITHMETIC_H
#define TSR_ARITHMETIC_ARITHMETIC_H

#include <stdbool.h>
#include <string.h>

#include "arithmetic/kernel.h"

/* The units of a device that multiply the parts of a form. */
typedef enum tsr_unit {
  TSR_UNIT_INT8, /* 8-bit integers with sums of 32 bits */
  TSR_UNIT_BF16  /* bf16 with sums in fp32 */
} tsr_unit;

/* A line of a real type has so many planes of parts, and a product of the type takes so many
 * products of the unit; for_complex: a complex line has so many times the planes, and a product of
 * two takes so many times the products. */
typedef struct tsr_arithmetic {
  const char *name, *counted; /* for people: "emulated", with so many "moduli" */
  int number;                 /* tells rows of a name apart */
  unsigned types;             /* bits by tsr_type_index: the types that have this arithmetic */
  tsr_kernel makes, multiplies;
  tsr_unit unit;
  int planes, products, for_complex;
  int part_bytes;   /* of an element of a plane */
  int record_bytes; /* of what is known of a line, behind all planes; 0: nothing is */
  int64_t longest;  /* the greatest k */
  bool refuses;     /* a kernel that cannot promise the accuracy of its product says so */
} tsr_arithmetic;

/* The promise that a call makes of products that are not native. Products that cannot keep it are
 * computed natively. */
typedef struct tsr_promise {
  double accuracy; /* the error as a part of |A||B|; 0: what the arithmetic promises by itself */
  int64_t judged; /* if results are to be reproducible: the extent of the squares of C of which each
                     is computed so or left; 0: the shape of the call says it */
  /* Blocks keep their lines, so that a product that cannot keep the promise is computed natively by
   * the same kernel. Else it leaves C as it was (GEMM only), for another call. */
  bool keeps_lines;
} tsr_promise;

/* Products in residues of so many moduli (arithmetic/moduli.h), TSR_MODULI_LEAST to
 * TSR_MODULI_MOST. */
const tsr_arithmetic *tsr_residues_of(int moduli);

/* Products in residues that promise what native ones of the type have, or an accuracy that is asked
 * for (the error of an element as a part of (|A||B|)_ij; 0: none is) for sums of k products. NULL:
 * the type has no such products. */
const tsr_arithmetic *tsr_residues_for(tsr_type type, double accuracy, int64_t k);

/* fp32 split into three parts of bf16, whose six largest products are summed (Markidis et al.,
 * 2018, for two parts of fp16). */
extern const tsr_arithmetic tsr_split_arithmetic;

/* A number that no other row has, the same in every process; never 0. */
int tsr_arithmetic_key(const tsr_arithmetic *arithmetic);

/* Whether the arithmetic has the type, with sums of k products. */
bool tsr_arithmetic_has(const tsr_arithmetic *arithmetic, tsr_type type, int64_t k);

/* Planes of parts of a line, and products of the unit for one product of the type. */
int tsr_arithmetic_planes(const tsr_arithmetic *arithmetic, tsr_type type);
int tsr_arithmetic_products(const tsr_arithmetic *arithmetic, tsr_type type);

/* The products of the unit as a part of those that are usual for the type, with which an
 * arithmetic's rates are measured. */
double tsr_arithmetic_share(const tsr_arithmetic *arithmetic, tsr_type type);

/* ---- The form in memory ---- */

/* Bytes of a block for each element of a line, records apart; with promise->keeps_lines those of
 * the lines themselves, too. */
int tsr_form_element(const tsr_arithmetic *arithmetic, const tsr_promise *promise, tsr_type type);

/* Parts of a line of one plane, padding included (the block's leading dimension). */
int64_t tsr_form_ld(int64_t k);

/* Bytes of a block of `lines` lines of k elements. */
size_t tsr_form_bytes(const tsr_arithmetic *arithmetic, const tsr_promise *promise, tsr_type type,
                      int64_t k, int64_t lines);

/* ---- Accuracy ---- */

/* The promise for an accuracy that is asked for; leaves: another call does what cannot keep it. */
tsr_promise tsr_promise_of(const tsr_arithmetic *arithmetic, double accuracy, bool leaves);

/* A promise as numbers that tell it from all others. */
enum { TSR_PROMISE_WORDS = 3 };
static inline void tsr_promise_words(const tsr_promise *promise, int64_t words[TSR_PROMISE_WORDS]) {
  memcpy(&words[0], &promise->accuracy, sizeof words[0]);
  words[1] = promise->judged;
  words[2] = promise->keeps_lines;
}

/* The arguments that kernels of a call with that promise have, but for blocks and verdict: C is the
 * sum of `products` products over k elements. */
tsr_lines_args tsr_promise_args(const tsr_arithmetic *arithmetic, const tsr_promise *promise,
                                tsr_type type, int64_t products, int64_t k);

#endif
