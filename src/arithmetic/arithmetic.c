/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "arithmetic/arithmetic.h"

#include <math.h>

#include "arithmetic/moduli.h"

/* Bits by tsr_type_index, in the order s d c z h b t. */
enum { OF_S = 1, OF_SDCZ = 15 };

#define RESIDUES(moduli)                                                \
  [(moduli)-TSR_MODULI_LEAST] = {.name = "emulated",                    \
                                 .counted = "moduli",                   \
                                 .number = (moduli),                    \
                                 .types = OF_SDCZ,                      \
                                 .makes = TSR_KERNEL_RESIDUES,          \
                                 .multiplies = TSR_KERNEL_RESIDUE_GEMM, \
                                 .unit = TSR_UNIT_INT8,                 \
                                 .planes = (moduli),                    \
                                 .products = (moduli),                  \
                                 .for_complex = 3,                      \
                                 .part_bytes = 1,                       \
                                 .record_bytes = sizeof(tsr_line),      \
                                 .longest = TSR_MODULI_LONGEST,         \
                                 .refuses = true}

static const tsr_arithmetic residues[] = {
    RESIDUES(4),  RESIDUES(5),  RESIDUES(6),  RESIDUES(7),  RESIDUES(8),  RESIDUES(9), RESIDUES(10),
    RESIDUES(11), RESIDUES(12), RESIDUES(13), RESIDUES(14), RESIDUES(15), RESIDUES(16)};

const tsr_arithmetic tsr_split_arithmetic = {.name = "split",
                                             .counted = "parts",
                                             .number = 3,
                                             .types = OF_S,
                                             .makes = TSR_KERNEL_SPLIT,
                                             .multiplies = TSR_KERNEL_SPLIT_GEMM,
                                             .unit = TSR_UNIT_BF16,
                                             .planes = 3,
                                             .products = 6,
                                             .for_complex = 4,
                                             .part_bytes = 2,
                                             .longest = INT32_MAX};

const tsr_arithmetic *tsr_residues_of(int moduli) {
  return &residues[moduli - TSR_MODULI_LEAST];
}

const tsr_arithmetic *tsr_residues_for(tsr_type type, double accuracy, int64_t k) {
  int usual = tsr_moduli_of_type(type);
  if (usual == 0) return NULL;
  return tsr_residues_of(accuracy > 0 ? tsr_moduli_for(type, accuracy, k) : usual);
}

int tsr_arithmetic_key(const tsr_arithmetic *arithmetic) {
  return (int)arithmetic->makes * 256 + arithmetic->number;
}

bool tsr_arithmetic_has(const tsr_arithmetic *arithmetic, tsr_type type, int64_t k) {
  return arithmetic->types >> tsr_type_index(type) & 1 && k <= arithmetic->longest;
}

static int times(const tsr_arithmetic *arithmetic, tsr_type type) {
  return tsr_type_get(type)->complex_valued ? arithmetic->for_complex : 1;
}

int tsr_arithmetic_planes(const tsr_arithmetic *arithmetic, tsr_type type) {
  return arithmetic->planes * times(arithmetic, type);
}

int tsr_arithmetic_products(const tsr_arithmetic *arithmetic, tsr_type type) {
  return arithmetic->products * times(arithmetic, type);
}

double tsr_arithmetic_share(const tsr_arithmetic *arithmetic, tsr_type type) {
  int usual = arithmetic->unit == TSR_UNIT_INT8 ? tsr_moduli_of_type(type) : arithmetic->products;
  return (double)arithmetic->products / usual;
}

int tsr_form_element(const tsr_arithmetic *arithmetic, const tsr_promise *promise, tsr_type type) {
  int line = promise->keeps_lines ? (int)tsr_type_get(type)->size : 0;
  return tsr_arithmetic_planes(arithmetic, type) * arithmetic->part_bytes + line;
}

int64_t tsr_form_ld(int64_t k) {
  return tsr_residues_ld(k);
}

size_t tsr_form_bytes(const tsr_arithmetic *arithmetic, const tsr_promise *promise, tsr_type type,
                      int64_t k, int64_t lines) {
  size_t element = (size_t)tsr_form_element(arithmetic, promise, type);
  return (size_t)lines * (element * (size_t)tsr_form_ld(k) + (size_t)arithmetic->record_bytes);
}

/* The part of (|A||B|)_ij that conversion may add to the error of element (i, j) of one of
 * `products` products over k elements, of which C is the sum; beyond it a kernel refuses. */
static double tolerance_of(const tsr_arithmetic *arithmetic, tsr_type type, double accuracy,
                           int64_t products, int64_t k) {
  if (!arithmetic->refuses) return INFINITY;
  return accuracy > 0 ? tsr_accuracy_tolerance(type, accuracy, products, k)
                      : tsr_moduli_tolerance(type, arithmetic->number, k);
}

tsr_promise tsr_promise_of(const tsr_arithmetic *arithmetic, double accuracy, bool leaves) {
  if (arithmetic == NULL) return (tsr_promise){0};
  return (tsr_promise){.accuracy = accuracy, .keeps_lines = arithmetic->refuses && !leaves};
}

tsr_lines_args tsr_promise_args(const tsr_arithmetic *arithmetic, const tsr_promise *promise,
                                tsr_type type, int64_t products, int64_t k) {
  double tolerance = tolerance_of(arithmetic, type, promise->accuracy, products, k);
  return (tsr_lines_args){
      .arithmetic = arithmetic, .keeps_lines = promise->keeps_lines, .tolerance = tolerance};
}
