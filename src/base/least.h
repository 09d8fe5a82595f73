/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The least and the most of two whole numbers; doubles have fmin and fmax. */
#ifndef TSR_BASE_LEAST_H
#define TSR_BASE_LEAST_H

#include <stdint.h>

static inline int64_t tsr_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t tsr_most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

#endif
