/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Matrices on which products lose accuracy, and the bound that a product in residues keeps:
 * |C - exact| <= (k + 2) u |alpha| (|A||B|) + 2 u |beta C|, against sums in twice the precision of
 * a double or in quadruple precision; 2 sqrt(2) times that for complex numbers.
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
  HARD_LINES,    /* whole rows and columns have exponents from -300 to 300 (fp32: -30 to 30) */
  HARD_INFINITE, /* a few elements are infinite */
  HARD_NAN,
  HARD_FAMILIES
} hard_family;

static const char *const hard_names[HARD_FAMILIES] = {
    "uniform", "graded",    "spread", "cancelling", "hilbert", "sparse",
    "integer", "subnormal", "lines",  "infinite",   "nan"};

static inline uint64_t hard_next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 11;
}

/* Uniform in [-0.5, 0.5), with all bits. */
static inline double hard_uniform(uint64_t *state) {
  return (double)hard_next(state) * 0x1p-53 - 0.5;
}

static inline bool hard_is_single(tsr_type type) {
  return type == TSR_S || type == TSR_C;
}

/* Numbers of an element. */
static inline int hard_parts(tsr_type type) {
  return type == TSR_C || type == TSR_Z ? 2 : 1;
}

/* An element (line, h) of a matrix whose lines are multiplied, of k elements each; second: of
 * op(B). */
static inline double hard_element(hard_family family, tsr_type type, bool second, int64_t line,
                                  int64_t h, int64_t k, uint64_t *state) {
  bool single = hard_is_single(type);
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
    case HARD_LINES:
      return ldexp(x, single ? (int)(line * 37 % 61) - 30 : (int)(line * 367 % 601) - 300);
    case HARD_INFINITE:
      return hard_next(state) % 97 == 0 ? (x < 0 ? -INFINITY : INFINITY) : x;
    case HARD_NAN:
      return hard_next(state) % 211 == 0 ? NAN : x;
    default:
      return x;
  }
}

static inline void hard_write(tsr_type type, void *to, int64_t number, double x) {
  if (hard_is_single(type))
    ((float *)to)[number] = (float)x;
  else
    ((double *)to)[number] = x;
}

/* Number `number` of a matrix: a complex element is two. */
static inline double hard_read(tsr_type type, const void *from, int64_t number) {
  return hard_is_single(type) ? (double)((const float *)from)[number]
                              : ((const double *)from)[number];
}

/* Fills the matrix whose op is m x k (second: k x n); lines are its rows (columns). */
static inline void hard_fill(hard_family family, tsr_type type, bool second, tsr_op op,
                             int64_t lines, int64_t k, int64_t ld, uint64_t seed, void *to) {
  uint64_t state = seed * 977 + (second ? 5 : 3);
  int parts = hard_parts(type);
  for (int64_t i = 0; i < lines; i++)
    for (int64_t h = 0; h < k; h++)
      for (int part = 0; part < parts; part++) {
        bool down = (op == TSR_NO_TRANS) == second; /* a line is a column in memory */
        int64_t at = down ? h + i * ld : i + h * ld;
        hard_write(type, to, at * parts + part,
                   hard_element(family, type, second, i, h, k, &state));
      }
}

/* ---- Sums of products ---------------------------------------------------------------- */

/* A sum of products of doubles. Two doubles hold it, of which low is what high lacks, and each
 * product is added with its own rounding error; so the sum is wrong by at most k^2 2^-106 of the
 * sum of k magnitudes (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005). From the first
 * product on whose error a double may not hold, since it is tiny, huge or not finite, it goes on in
 * quadruple precision, which most machines compute in software, a hundred times slower. */
typedef struct hard_sum {
  double high, low;
  quad rest; /* what was added in quadruple precision */
  bool wide; /* whether something was */
} hard_sum;

static inline void hard_add(hard_sum *sum, double x, double y) {
  double product = x * y;
  if (x == 0 && y - y == 0) return;
  if (y == 0 && x - x == 0) return;
  if (sum->wide || !(fabs(product) > 0x1p-900 && fabs(product) < 0x1p900)) {
    sum->rest += (quad)x * (quad)y;
    sum->wide = true;
    return;
  }
  double both = sum->high + product, part = both - sum->high;
  double lost = (sum->high - (both - part)) + (product - part);
  sum->low += lost + fma(x, y, -product);
  sum->high = both;
}

static inline quad hard_total(const hard_sum *sum) {
  return (quad)sum->high + (quad)sum->low + sum->rest;
}

static inline quad hard_abs(quad x) {
  return x < 0 ? -x : x;
}

/* A product c = alpha op(a) op(b) + beta old, whose c and old have the leading dimension m. alpha
 * and beta are real. */
typedef struct hard_product {
  tsr_type type;
  tsr_op transa, transb;
  int64_t m, n, k, lda, ldb;
  double alpha, beta;
  const void *a, *b, *old, *c;
} hard_product;

typedef struct hard_complex {
  double re, im;
} hard_complex;

typedef struct quad_complex {
  quad re, im;
} quad_complex;

static inline hard_complex hard_at(tsr_type type, tsr_op op, const void *x, int64_t at) {
  int parts = hard_parts(type);
  hard_complex value = {hard_read(type, x, at * parts), 0};
  if (parts == 2) value.im = hard_read(type, x, at * parts + 1);
  if (op == TSR_CONJ_TRANS) value.im = -value.im;
  return value;
}

/* About the magnitude, no larger than it but for rounding; a NaN if a part is one. */
static inline double hard_size(hard_complex x) {
  double re = fabs(x.re), im = fabs(x.im), most = re > im ? re : im;
  if (re + im != re + im) return re + im;
  double both = 0.7071 * (re + im);
  return both > most ? both : most;
}

/* The same of what is in quadruple precision. */
static inline quad hard_wide_size(quad_complex x) {
  quad re = hard_abs(x.re), im = hard_abs(x.im), most = re > im ? re : im;
  if (re + im != re + im) return re + im;
  quad both = (quad)0.7071 * (re + im);
  return both > most ? both : most;
}

/* A sum of products of elements, and the sum of their magnitudes. */
typedef struct hard_complex_sum {
  hard_sum re, im;
  double size;
} hard_complex_sum;

static inline void hard_add_elements(hard_complex_sum *sum, hard_complex a, hard_complex b) {
  hard_add(&sum->re, a.re, b.re);
  hard_add(&sum->re, -a.im, b.im);
  hard_add(&sum->im, a.re, b.im);
  hard_add(&sum->im, a.im, b.re);
  sum->size += hard_size(a) * hard_size(b);
}

/* Element (i, j) of op(a) op(b). */
static inline hard_complex_sum hard_sum_of(const hard_product *x, int64_t i, int64_t j) {
  hard_complex_sum sum = {0};
  for (int64_t h = 0; h < x->k; h++)
    hard_add_elements(&sum,
                      hard_at(x->type, x->transa, x->a,
                              x->transa == TSR_NO_TRANS ? i + h * x->lda : h + i * x->lda),
                      hard_at(x->type, x->transb, x->b,
                              x->transb == TSR_NO_TRANS ? h + j * x->ldb : j + h * x->ldb));
  return sum;
}

/* The error of element (i, j) / its bound; 0 for one that is not finite. The bound grows by the
 * smallest number, since results round there, too. */
static inline double hard_error(const hard_product *x, int64_t i, int64_t j) {
  double u = hard_is_single(x->type) ? 0x1p-24 : 0x1p-53;
  double smallest = hard_is_single(x->type) ? 0x1p-149 : 0x1p-1074;
  hard_complex_sum sum = hard_sum_of(x, i, j);
  hard_complex c = hard_at(x->type, TSR_NO_TRANS, x->c, i + j * x->m), kept = {0, 0};
  if (x->beta != 0) kept = hard_at(x->type, TSR_NO_TRANS, x->old, i + j * x->m);
  if (!(sum.size < INFINITY) || !(hard_size(kept) < INFINITY)) return 0;
  if (c.re - c.re != 0 || c.im - c.im != 0) return INFINITY;
  quad bound = ((double)x->k + 2) * (quad)u * hard_abs((quad)x->alpha) * (quad)sum.size +
               2 * (quad)u * hard_abs((quad)x->beta) * (quad)hard_size(kept) + (quad)smallest;
  quad alpha = (quad)x->alpha, beta = (quad)x->beta;
  quad_complex off = {(quad)c.re - (alpha * hard_total(&sum.re) + beta * (quad)kept.re),
                      (quad)c.im - (alpha * hard_total(&sum.im) + beta * (quad)kept.im)};
  return (double)(hard_wide_size(off) / bound) / (hard_parts(x->type) == 2 ? 2.8284 : 1);
}

/* The largest error of an element / its bound. */
static inline double hard_worst(const hard_product *x) {
  double worst = 0;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++) worst = fmax(worst, hard_error(x, i, j));
  return worst;
}

/* The number of elements of c that are infinite or no numbers elsewhere than in `native`. Complex
 * ones that are not finite have infinities and NaN in parts that depend on how they are multiplied.
 */
static inline int64_t hard_misplaced(tsr_type type, int64_t elements, const void *c,
                                     const void *native) {
  int parts = hard_parts(type);
  int64_t misplaced = 0;
  for (int64_t i = 0; i < elements; i++) {
    bool alike = true, finite = true, native_finite = true;
    for (int part = 0; part < parts; part++) {
      double is = hard_read(type, c, i * parts + part);
      double was = hard_read(type, native, i * parts + part);
      alike &= isnan(was) ? isnan(is) : isinf(was) ? is == was : isfinite(is) != 0;
      finite &= isfinite(is) != 0;
      native_finite &= isfinite(was) != 0;
    }
    misplaced += parts == 1 ? !alike : finite != native_finite;
  }
  return misplaced;
}

#endif
