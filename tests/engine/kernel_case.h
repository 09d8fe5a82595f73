/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random kernels and their results by naive loops, shared by the tests of whatever carries out
 * kernels. Padding and operands that must not be read hold NaN.
 */
#ifndef TSR_TESTS_KERNEL_CASE_H
#define TSR_TESTS_KERNEL_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arithmetic/kernel.h"

typedef struct kernel_case {
  tsr_kernel_args args;
  size_t bytes[3]; /* of a, b, c */
} kernel_case;

/* Carries out args, whose pointers are host memory of the given bytes. */
typedef void (*kernel_runner)(void *user, const kernel_case *test);

typedef struct element {
  double re, im;
} element;

static uint64_t case_random = 1;

static uint32_t random_bits(void) {
  case_random = case_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(case_random >> 33);
}

static int64_t random_below(int64_t n) {
  return (int64_t)(random_bits() % (uint32_t)n);
}

static double random_value(void) {
  return random_bits() * 0x1p-30 - 1.0;
}

static element element_get(tsr_type type, const void *base, int64_t index) {
  const float *s = base;
  const double *d = base;
  const uint16_t *h = base;
  switch (type) {
    case TSR_D:
      return (element){d[index], 0};
    case TSR_C:
      return (element){(double)s[2 * index], (double)s[2 * index + 1]};
    case TSR_Z:
      return (element){d[2 * index], d[2 * index + 1]};
    case TSR_H:
      return (element){(double)tsr_half_to_float(h[index]), 0};
    case TSR_B:
      return (element){(double)tsr_bfloat_to_float(h[index]), 0};
    default:
      return (element){(double)s[index], 0};
  }
}

static void element_set_random(tsr_type type, void *base, int64_t index) {
  double re = random_value(), im = random_value();
  float *s = base;
  double *d = base;
  uint16_t *h = base;
  switch (type) {
    case TSR_D:
      d[index] = re;
      break;
    case TSR_C:
      s[2 * index] = (float)re;
      s[2 * index + 1] = (float)im;
      break;
    case TSR_Z:
      d[2 * index] = re;
      d[2 * index + 1] = im;
      break;
    case TSR_H:
      h[index] = tsr_float_to_half((float)re);
      break;
    case TSR_B:
      h[index] = tsr_float_to_bfloat((float)re);
      break;
    default:
      s[index] = (float)re;
  }
}

static tsr_type case_a_type(const tsr_kernel_args *x) {
  bool wide = x->wide && x->kernel == TSR_KERNEL_ADD;
  return wide ? tsr_type_get(x->type)->wide : x->type;
}

static tsr_type case_c_type(const tsr_kernel_args *x) {
  bool wide = x->wide && x->kernel != TSR_KERNEL_ADD;
  return wide ? tsr_type_get(x->type)->wide : x->type;
}

static bool scalar_zero(tsr_scalar s) {
  return s.re == 0 && s.im == 0;
}

static bool in_triangle(tsr_uplo uplo, int64_t i, int64_t j) {
  return uplo == TSR_LOWER ? i >= j : uplo != TSR_UPPER || i <= j;
}

/* A matrix of NaN with, when it may be read, random elements in its triangle. */
static void *case_matrix(tsr_type type, tsr_uplo uplo, int64_t rows, int64_t columns, int64_t ld,
                         bool read, size_t *bytes) {
  *bytes = (size_t)(ld * (columns > 0 ? columns : 1)) * tsr_type_get(type)->size;
  void *matrix = malloc(*bytes);
  memset(matrix, 0xff, *bytes);
  for (int64_t j = 0; read && j < columns; j++)
    for (int64_t i = 0; i < rows; i++)
      if (in_triangle(uplo, i, j)) element_set_random(type, matrix, i + j * ld);
  return matrix;
}

static tsr_scalar case_scalar(tsr_type type) {
  static const double values[] = {0, 1, 0.75, -1.5};
  tsr_scalar s = {values[random_below(4)], 0};
  if (tsr_type_get(type)->complex_valued && random_below(2)) s.im = -0.5;
  return s;
}

/* Of extents up to most, but between tall and twice as many rows where tall is not 0. */
static kernel_case case_make(tsr_kernel kernel, tsr_type type, int64_t most, int64_t tall) {
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  kernel_case test = {{.kernel = kernel, .type = type}, {0, 0, 0}};
  tsr_kernel_args *x = &test.args;
  x->transa = ops[random_below(3)];
  x->transb = ops[random_below(3)];
  x->wide = random_below(2);
  x->m = tall ? tall + random_below(tall) : 1 + random_below(most);
  x->n = 1 + random_below(most);
  x->k = random_below(8) ? 1 + random_below(most) : 0;
  x->alpha = case_scalar(type);
  x->beta = case_scalar(type);
  bool gemm = kernel == TSR_KERNEL_GEMM, reads = !scalar_zero(x->alpha);
  bool ta = gemm && x->transa != TSR_NO_TRANS, tb = x->transb != TSR_NO_TRANS;
  int64_t a_rows = ta ? x->k : x->m, a_columns = !gemm ? x->n : ta ? x->m : x->k;
  int64_t b_rows = tb ? x->n : x->k, b_columns = tb ? x->k : x->n;
  x->lda = (a_rows ? a_rows : 1) + random_below(9);
  x->ldb = (b_rows ? b_rows : 1) + random_below(9);
  x->ldc = x->m + random_below(9);
  if (kernel == TSR_KERNEL_ADD && random_below(2)) { /* the shape that vectors like */
    x->m = 16 * (1 + random_below(9));
    x->lda = x->ldc = a_rows = x->m;
  }
  if (!gemm && random_below(3) == 0) {
    x->uplo = random_below(2) ? TSR_LOWER : TSR_UPPER;
    x->n = a_columns = x->m;
  }
  x->a = case_matrix(case_a_type(x), x->uplo, a_rows, a_columns, x->lda, reads, &test.bytes[0]);
  x->b = case_matrix(type, TSR_GENERAL, b_rows, b_columns, x->ldb, reads && gemm, &test.bytes[1]);
  x->c = case_matrix(case_c_type(x), x->uplo, x->m, x->n, x->ldc, !scalar_zero(x->beta),
                     &test.bytes[2]);
  return test;
}

/* A GEMMT of the type. */
static inline kernel_case case_make_trapezoid(tsr_type type, tsr_uplo uplo, int64_t m, int64_t n,
                                              int64_t k) {
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  kernel_case test = {{.kernel = TSR_KERNEL_GEMMT, .type = type, .uplo = uplo}, {0, 0, 0}};
  tsr_kernel_args *x = &test.args;
  x->transa = ops[random_below(3)];
  x->transb = ops[random_below(3)];
  x->m = m;
  x->n = n;
  x->k = k;
  x->alpha = (tsr_scalar){-1.5, 0};
  x->beta = case_scalar(type);
  bool ta = x->transa != TSR_NO_TRANS, tb = x->transb != TSR_NO_TRANS;
  x->lda = (ta ? k : m) + random_below(9);
  x->ldb = (tb ? n : k) + random_below(9);
  x->ldc = m + random_below(9);
  x->a = case_matrix(type, TSR_GENERAL, ta ? k : m, ta ? m : k, x->lda, true, &test.bytes[0]);
  x->b = case_matrix(type, TSR_GENERAL, tb ? n : k, tb ? k : n, x->ldb, true, &test.bytes[1]);
  x->c = case_matrix(type, TSR_GENERAL, m, n, x->ldc, !scalar_zero(x->beta), &test.bytes[2]);
  return test;
}

static void case_free(kernel_case *test) {
  free((void *)test->args.a);
  free((void *)test->args.b);
  free(test->args.c);
}

static char case_letter(int flag) {
  return flag ? (char)flag : '-';
}

static void case_describe(const kernel_case *test) {
  const tsr_kernel_args *x = &test->args;
  print_message(
      "%s %s%s %c%c %c%c%c m %d n %d k %d lda %d ldb %d ldc %d alpha %g%+gi beta %g%+gi\n",
      tsr_kernel_get(x->kernel)->name, tsr_type_get(x->type)->name, x->wide ? " wide" : "",
      case_letter(x->transa), case_letter(x->transb), case_letter(x->side), case_letter(x->uplo),
      case_letter(x->diag), (int)x->m, (int)x->n, (int)x->k, (int)x->lda, (int)x->ldb, (int)x->ldc,
      x->alpha.re, x->alpha.im, x->beta.re, x->beta.im);
}

static element times(element a, element b) {
  return (element){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static double size_of(element a) {
  return hypot(a.re, a.im);
}

static element op_get(tsr_type type, tsr_op op, const void *base, int64_t row, int64_t column,
                      int64_t ld) {
  bool plain = op == TSR_NO_TRANS;
  element e = element_get(type, base, plain ? row + column * ld : column + row * ld);
  if (op == TSR_CONJ_TRANS) e.im = -e.im;
  return e;
}

/* alpha times what the kernel adds at (i, j); *scale grows by the size of what was summed. */
static element case_term(const tsr_kernel_args *x, int64_t i, int64_t j, double *scale) {
  element sum = {0, 0}, alpha = {x->alpha.re, x->alpha.im};
  if (scalar_zero(x->alpha) || x->kernel == TSR_KERNEL_SCALE) return sum;
  if (x->kernel == TSR_KERNEL_ADD) {
    sum = element_get(case_a_type(x), x->a, i + j * x->lda);
    *scale += size_of(sum);
  }
  bool product = x->kernel == TSR_KERNEL_GEMM || x->kernel == TSR_KERNEL_GEMMT;
  for (int64_t l = 0; product && l < x->k; l++) {
    element p = times(op_get(x->type, x->transa, x->a, i, l, x->lda),
                      op_get(x->type, x->transb, x->b, l, j, x->ldb));
    sum = (element){sum.re + p.re, sum.im + p.im};
    *scale += size_of(p);
  }
  *scale *= size_of(alpha);
  return times(alpha, sum);
}

static void case_check_element(const kernel_case *test, const void *before, int64_t i, int64_t j) {
  const tsr_kernel_args *x = &test->args;
  const tsr_type_info *info = tsr_type_get(x->type), *c = tsr_type_get(case_c_type(x));
  double scale = 0;
  element want = case_term(x, i, j, &scale), beta = {x->beta.re, x->beta.im};
  if (!scalar_zero(x->beta)) {
    element p = times(beta, element_get(c->type, before, i + j * x->ldc));
    want = (element){want.re + p.re, want.im + p.im};
    scale += size_of(p);
  }
  element got = element_get(c->type, x->c, i + j * x->ldc);
  double error = size_of((element){got.re - want.re, got.im - want.im});
  double bound = 4 * ((double)x->k + 4) * info->epsilon * scale +
                 2 * c->store_epsilon * size_of(want) + 0x1p-24 * (info->size == 2);
  if (error <= bound) return;
  case_describe(test);
  fail_msg("(%d, %d) is %g%+gi instead of %g%+gi: off by %g, %g is allowed", (int)i, (int)j, got.re,
           got.im, want.re, want.im, error, bound);
}

/* Whether the kernel must give an element. Elements beside the trapezoid of a
 * GEMMT may have any value. */
static bool case_gives(const tsr_kernel_args *x, int64_t i, int64_t j) {
  return x->kernel != TSR_KERNEL_GEMMT || (x->uplo == TSR_LOWER ? i >= j : i <= j + x->m - x->n);
}

static bool case_writes(const tsr_kernel_args *x, int64_t i, int64_t j) {
  bool part = tsr_kernel_get(x->kernel)->bound_by_memory ||
              tsr_kernel_get(x->kernel)->traits & TSR_TRIANGLE_OF_C;
  return i < x->m && (!part || in_triangle(x->uplo, i, j));
}

/* All that is not the kernel's is as it was. */
static void case_check_rest(const kernel_case *test, const void *before) {
  const tsr_kernel_args *x = &test->args;
  size_t size = tsr_type_get(case_c_type(x))->size;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->ldc; i++) {
      size_t at = (size_t)(i + j * x->ldc) * size;
      if (case_writes(x, i, j) || !memcmp((char *)x->c + at, (const char *)before + at, size))
        continue;
      case_describe(test);
      fail_msg("(%d, %d) was written", (int)i, (int)j);
    }
}

static void case_check(const kernel_case *test, const void *before) {
  const tsr_kernel_args *x = &test->args;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++)
      if (case_writes(x, i, j) && case_gives(x, i, j)) case_check_element(test, before, i, j);
  case_check_rest(test, before);
}

/* before: C as it was. */
typedef void case_checker(const kernel_case *test, const void *before);

static void case_run(kernel_runner run, void *user, kernel_case *test, case_checker *check) {
  void *before = malloc(test->bytes[2]);
  memcpy(before, test->args.c, test->bytes[2]);
  run(user, test);
  check(test, before);
  free(before);
  case_free(test);
}

/* count random kernels of those that exist in every type, each extent up to most. */
static inline void cases_run(kernel_runner run, void *user, tsr_type type, int count,
                             int64_t most) {
  static const tsr_kernel kernels[] = {TSR_KERNEL_GEMM, TSR_KERNEL_ADD, TSR_KERNEL_SCALE};
  for (int i = 0; i < count; i++) {
    kernel_case test = case_make(kernels[i % 3], type, most, 0);
    case_run(run, user, &test, case_check);
  }
}

/* Products of tens of thousands of rows, which engines may do in pieces. */
static inline void cases_run_tall(kernel_runner run, void *user, tsr_type type, int count) {
  for (int i = 0; i < count; i++) {
    kernel_case test = case_make(TSR_KERNEL_GEMM, type, 4, 17000);
    case_run(run, user, &test, case_check);
  }
}

/* Trapezoids of the least number of columns that are cut into squares, and of more, which neither
 * the squares of 64 nor those of 128 divide. every: 1 for all, 3 for two of them. */
static inline void cases_run_trapezoids(kernel_runner run, void *user, tsr_type type, int64_t least,
                                        int every) {
  static const int64_t more[][2] = {
      {0, 0}, {61, 200}, {128, 1}}; /* columns, and rows beyond them */
  for (int i = every - 1; i < 6; i += every) {
    int64_t n = least + more[i / 2][0], m = n + more[i / 2][1];
    kernel_case test = case_make_trapezoid(type, i % 2 ? TSR_UPPER : TSR_LOWER, m, n, 3 + i);
    case_run(run, user, &test, case_check);
  }
}

#endif
