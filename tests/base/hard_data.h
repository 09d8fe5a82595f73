/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Matrices on which products lose accuracy, and the bound that a product in residues keeps:
 * |C - exact| <= (k + 2) u |alpha| (|A||B|) + 2 u |beta C|, against sums in quadruple precision.
 */
#ifndef TESTS_BASE_HARD_DATA_H
#define TESTS_BASE_HARD_DATA_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "tessera.h"

#if LDBL_MANT_DIG >= 113
typedef long double quad;
#else
typedef __float128 quad;
#endif

typedef enum hard_family {
  HARD_UNIFORM,
  HARD_GRADED,     /* rows of A fall, columns of B rise by factors of 2 */
  HARD_SPREAD,     /* exponents from -300 to 300 in fp64, from -30 to 30 in fp32 */
  HARD_CANCELLING, /* the second half of the sum takes the first one back, nearly */
  HARD_HILBERT,
  HARD_SPARSE, /* 9 of 10 elements are 0, and a row and a column are */
  HARD_INTEGER,
  HARD_SUBNORMAL,
  HARD_INFINITE, /* a few elements are infinite */
  HARD_NAN,
  HARD_FAMILIES
} hard_family;

static const char *const hard_names[HARD_FAMILIES] = {"uniform",  "graded", "spread",  "cancelling",
                                                      "hilbert",  "sparse", "integer", "subnormal",
                                                      "infinite", "nan"};

static inline uint64_t hard_next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 11;
}

/* Uniform in [-0.5, 0.5), with all bits. */
static inline double hard_uniform(uint64_t *state) {
  return (double)hard_next(state) * 0x1p-53 - 0.5;
}

/* An element (line, h) of a matrix whose lines are multiplied, of k elements each; second: of
 * op(B). */
static inline double hard_element(hard_family family, tsr_type type, bool second, int64_t line,
                                  int64_t h, int64_t k, uint64_t *state) {
  bool single = type == TSR_S;
  double x = hard_uniform(state);
  switch (family) {
    case HARD_GRADED:
      return ldexp(x, (int)((second ? h : -h) % 40));
    case HARD_SPREAD:
      return ldexp(x, (int)(hard_next(state) % (single ? 61 : 601)) - (single ? 30 : 300));
    case HARD_CANCELLING:
      return (second      ? 1
              : h < k / 2 ? 1
                          : -1) *
             (1 + (double)((line * 7 + h % (k / 2 + 1)) % 13) / 16 + ldexp(x, single ? -20 : -45));
    case HARD_HILBERT:
      return 1.0 / (double)(line + h + 1);
    case HARD_SPARSE:
      return line == 3 || hard_next(state) % 10 > 0 ? 0 : x;
    case HARD_INTEGER:
      return (double)(int64_t)(hard_next(state) % (single ? 255 : 65535)) - (single ? 127 : 32767);
    case HARD_SUBNORMAL:
      return second ? x : ldexp(x, single ? -140 : -1060);
    case HARD_INFINITE:
      return hard_next(state) % 97 == 0 ? (x < 0 ? -INFINITY : INFINITY) : x;
    case HARD_NAN:
      return hard_next(state) % 211 == 0 ? NAN : x;
    default:
      return x;
  }
}

/* Fills the matrix whose op is m x k (second: k x n); lines are its rows (columns). */
static inline void hard_fill(hard_family family, tsr_type type, bool second, tsr_op op,
                             int64_t lines, int64_t k, int64_t ld, uint64_t seed, void *to) {
  uint64_t state = seed * 977 + (second ? 5 : 3);
  for (int64_t i = 0; i < lines; i++)
    for (int64_t h = 0; h < k; h++) {
      bool down = (op == TSR_NO_TRANS) == second; /* a line is a column in memory */
      int64_t at = down ? h + i * ld : i + h * ld;
      double x = hard_element(family, type, second, i, h, k, &state);
      if (type == TSR_S)
        ((float *)to)[at] = (float)x;
      else
        ((double *)to)[at] = x;
    }
}

static inline double hard_read(tsr_type type, const void *from, int64_t at) {
  return type == TSR_S ? (double)((const float *)from)[at] : ((const double *)from)[at];
}

static inline quad hard_abs(quad x) {
  return x < 0 ? -x : x;
}

/* A product c = alpha op(a) op(b) + beta old, whose c and old have the leading dimension m. */
typedef struct hard_product {
  tsr_type type;
  tsr_op transa, transb;
  int64_t m, n, k, lda, ldb;
  double alpha, beta;
  const void *a, *b, *old, *c;
} hard_product;

/* The largest error of an element / its bound; elements that are not finite are left out. The
 * bound grows by the smallest number, since results round there, too. */
static inline double hard_worst(const hard_product *x) {
  double worst = 0, u = x->type == TSR_S ? 0x1p-24 : 0x1p-53;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++) {
      quad sum = 0, size = 0;
      for (int64_t h = 0; h < x->k; h++) {
        double a =
            hard_read(x->type, x->a, x->transa == TSR_NO_TRANS ? i + h * x->lda : h + i * x->lda);
        double b =
            hard_read(x->type, x->b, x->transb == TSR_NO_TRANS ? h + j * x->ldb : j + h * x->ldb);
        sum += (quad)a * b;
        size += hard_abs((quad)a * b);
      }
      double c = hard_read(x->type, x->c, i + j * x->m);
      quad kept = x->beta == 0 ? 0 : (quad)x->beta * hard_read(x->type, x->old, i + j * x->m);
      quad bound = ((double)x->k + 2) * (quad)u * hard_abs((quad)x->alpha) * size +
                   2 * (quad)u * hard_abs(kept) + (x->type == TSR_S ? 0x1p-149 : 0x1p-1074);
      quad error = hard_abs((quad)c - ((quad)x->alpha * sum + kept));
      if (!(fabs((double)size) < INFINITY) || !(fabs((double)kept) < INFINITY)) continue;
      double part = c - c != 0 ? INFINITY : (double)(error / bound);
      if (part > worst) worst = part;
    }
  return worst;
}

#endif
