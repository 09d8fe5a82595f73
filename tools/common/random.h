/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random matrices. Each element can be computed again from its index, so that a result can be
 * checked without keeping its inputs.
 */
#ifndef TESSERA_RANDOM_H
#define TESSERA_RANDOM_H

#include <stdint.h>

#include "tessera.h"

/* The element at `index` of the matrix that `seed` names: uniform in (-0.5, 0.5), with as many bits
 * as the type's mantissa. Full mantissas matter for measuring: a GPU at its power limit is faster
 * on shorter ones. */
void random_element(tsr_type type, uint64_t seed, int64_t index, double *re, double *im);

/* Fills data with count elements, those from index `first` on, on all cores. */
void random_fill(tsr_type type, uint64_t seed, int64_t first, int64_t count, void *data);

/* Uniform in [0, 1). */
double random_uniform(uint64_t seed, uint64_t index);

#endif
