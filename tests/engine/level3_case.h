/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The routines of the level-3 BLAS against naive loops: all flags of a routine, random extents and
 * scalars. NaN is in all that must not be read: the other triangle, a unit diagonal, the imaginary
 * parts of a Hermitian one, padding, and operands that a scalar of 0 leaves out.
 */
#ifndef TSR_TESTS_LEVEL3_CASE_H
#define TSR_TESTS_LEVEL3_CASE_H

#include "kernel_case.h"

static bool has_trait(const tsr_kernel_args *x, unsigned trait) {
  return (tsr_kernel_get(x->kernel)->traits & trait) != 0;
}

static bool is_rank_k_hermitian(const tsr_kernel_args *x) {
  return has_trait(x, TSR_TRIANGLE_OF_C) && has_trait(x, TSR_HERMITIAN);
}

static bool level3_has_beta(const tsr_kernel_args *x) {
  return !has_trait(x, TSR_TRIANGULAR) || x->kernel == TSR_KERNEL_TRMM;
}

static element conjugate(element e) {
  return (element){e.re, -e.im};
}

static element plus(element a, element b) {
  return (element){a.re + b.re, a.im + b.im};
}

static void element_set(tsr_type type, void *base, int64_t index, element e) {
  float *s = base;
  double *d = base;
  switch (type) {
    case TSR_S:
      s[index] = (float)e.re;
      break;
    case TSR_D:
      d[index] = e.re;
      break;
    case TSR_C:
      s[2 * index] = (float)e.re;
      s[2 * index + 1] = (float)e.im;
      break;
    default:
      d[2 * index] = e.re;
      d[2 * index + 1] = e.im;
  }
}

/* ---- Operands ------------------------------------------------------------- */

static int64_t order_of_a(const tsr_kernel_args *x) {
  return x->side == TSR_RIGHT ? x->n : x->m;
}

/* Leaves of the diagonal what a routine with the flags reads. */
static void spoil_diagonal(const tsr_kernel_args *x, void *matrix, int64_t order, int64_t ld) {
  for (int64_t i = 0; i < order; i++) {
    element e = element_get(x->type, matrix, i + i * ld);
    if (has_trait(x, TSR_HERMITIAN)) e.im = NAN;
    if (has_trait(x, TSR_TRIANGULAR) && x->diag == TSR_UNIT) e = (element){NAN, NAN};
    element_set(x->type, matrix, i + i * ld, e);
  }
}

/* A triangle that a solution does not grow from: small beside its diagonal. */
static void condition(const tsr_kernel_args *x, void *matrix, int64_t order, int64_t ld) {
  for (int64_t j = 0; j < order; j++)
    for (int64_t i = 0; i < order; i++) {
      element e = element_get(x->type, matrix, i + j * ld);
      if (i == j)
        e.re += e.re < 0 ? -2 : 2;
      else
        e = (element){e.re / (double)order, e.im / (double)order};
      element_set(x->type, matrix, i + j * ld, e);
    }
}

static void make_square_a(kernel_case *test, bool read) {
  tsr_kernel_args *x = &test->args;
  int64_t order = order_of_a(x);
  x->lda = order + 1 + random_below(9);
  void *a = case_matrix(x->type, x->uplo, order, order, x->lda, read, &test->bytes[0]);
  if (x->kernel == TSR_KERNEL_TRSM) condition(x, a, order, x->lda);
  spoil_diagonal(x, a, order, x->lda);
  x->a = a;
}

/* a or b of a rank-k update. */
static void *make_factor(const tsr_kernel_args *x, int64_t *ld, size_t *bytes, bool read) {
  bool plain = x->transa == TSR_NO_TRANS;
  int64_t rows = plain ? x->n : x->k, columns = plain ? x->k : x->n;
  *ld = rows + 1 + random_below(9);
  return case_matrix(x->type, TSR_GENERAL, rows, columns, *ld, read, bytes);
}

static void make_operands(kernel_case *test) {
  tsr_kernel_args *x = &test->args;
  bool update = has_trait(x, TSR_TRIANGLE_OF_C), has_beta = level3_has_beta(x);
  bool read = !scalar_zero(x->alpha) && (!update || x->k > 0);
  bool read_c = has_trait(x, TSR_IN_PLACE) ? read : has_beta && !scalar_zero(x->beta);
  if (update)
    x->a = make_factor(x, &x->lda, &test->bytes[0], read);
  else
    make_square_a(test, read);
  x->ldb = x->m + 1 + random_below(9);
  if (update)
    x->b = make_factor(x, &x->ldb, &test->bytes[1], read);
  else
    x->b = case_matrix(x->type, TSR_GENERAL, x->m, x->n, x->ldb, read, &test->bytes[1]);
  x->ldc = x->m + 1 + random_below(9);
  x->c = case_matrix(x->type, update ? x->uplo : TSR_GENERAL, x->m, x->n, x->ldc, read_c,
                     &test->bytes[2]);
  if (is_rank_k_hermitian(x)) spoil_diagonal(x, x->c, x->n, x->ldc);
}

static int64_t random_extent(int64_t most) {
  return random_below(5) ? 1 + random_below(most) : random_below(2);
}

static kernel_case level3_make(tsr_kernel_args flags, int64_t most) {
  kernel_case test = {flags, {0, 0, 0}};
  tsr_kernel_args *x = &test.args;
  bool update = has_trait(x, TSR_TRIANGLE_OF_C);
  x->m = random_extent(most);
  x->n = update ? x->m : random_extent(most);
  x->k = update ? random_extent(most) : order_of_a(x);
  x->alpha = case_scalar(x->type);
  x->beta = case_scalar(x->type);
  if (x->kernel == TSR_KERNEL_HERK) x->alpha.im = 0;
  if (is_rank_k_hermitian(x)) x->beta.im = 0;
  make_operands(&test);
  return test;
}

/* ---- Results -------------------------------------------------------------- */

/* (i, j) of the whole matrix that a's triangle stands for, before its op. */
static element a_get(const tsr_kernel_args *x, int64_t i, int64_t j) {
  bool stored = in_triangle(x->uplo, i, j);
  if (has_trait(x, TSR_TRIANGULAR)) {
    if (!stored) return (element){0, 0};
    if (i == j && x->diag == TSR_UNIT) return (element){1, 0};
    return element_get(x->type, x->a, i + j * x->lda);
  }
  element e = element_get(x->type, x->a, stored ? i + j * x->lda : j + i * x->lda);
  if (!has_trait(x, TSR_HERMITIAN)) return e;
  if (i == j) return (element){e.re, 0};
  return stored ? e : conjugate(e);
}

static element op_a_get(const tsr_kernel_args *x, int64_t i, int64_t j) {
  if (!has_trait(x, TSR_TRIANGULAR) || x->transa == TSR_NO_TRANS) return a_get(x, i, j);
  element e = a_get(x, j, i);
  return x->transa == TSR_CONJ_TRANS ? conjugate(e) : e;
}

typedef struct sum {
  element value;
  double scale; /* the sum of the sizes of what was added */
} sum;

static void add_to(sum *s, element e) {
  s->value = plus(s->value, e);
  s->scale += size_of(e);
}

/* (i, j) of op(a) times the matrix, or of the matrix times op(a). */
static sum square_product(const tsr_kernel_args *x, const void *matrix, int64_t ld, int64_t i,
                          int64_t j) {
  sum s = {{0, 0}, 0};
  for (int64_t l = 0; l < order_of_a(x); l++)
    add_to(&s, x->side == TSR_RIGHT
                   ? times(element_get(x->type, matrix, i + l * ld), op_a_get(x, l, j))
                   : times(op_a_get(x, i, l), element_get(x->type, matrix, l + j * ld)));
  return s;
}

/* (i, j) of alpha op(a) op(b)^T and, of two factors, its sister. */
static sum update_product(const tsr_kernel_args *x, int64_t i, int64_t j) {
  bool two = tsr_kernel_get(x->kernel)->access[1] != TSR_NONE;
  bool hermitian = has_trait(x, TSR_HERMITIAN);
  element alpha = {x->alpha.re, x->alpha.im}, other = hermitian ? conjugate(alpha) : alpha;
  const void *b = two ? x->b : x->a;
  int64_t ldb = two ? x->ldb : x->lda;
  sum s = {{0, 0}, 0};
  for (int64_t l = 0; l < x->k; l++) {
    element ai = op_get(x->type, x->transa, x->a, i, l, x->lda);
    element aj = op_get(x->type, x->transa, x->a, j, l, x->lda);
    element bi = op_get(x->type, x->transa, b, i, l, ldb);
    element bj = op_get(x->type, x->transa, b, j, l, ldb);
    add_to(&s, times(alpha, times(ai, hermitian ? conjugate(bj) : bj)));
    if (two) add_to(&s, times(other, times(bi, hermitian ? conjugate(aj) : aj)));
  }
  return s;
}

static sum scaled(element factor, sum s) {
  return (sum){times(factor, s.value), size_of(factor) * s.scale};
}

/* What must be at (i, j); of trsm what op(a) times the solution must be there. */
static sum wanted(const tsr_kernel_args *x, const void *before, int64_t i, int64_t j) {
  element alpha = {x->alpha.re, x->alpha.im}, beta = {x->beta.re, x->beta.im};
  bool reads = !scalar_zero(x->alpha), has_beta = level3_has_beta(x);
  element old = element_get(x->type, before, i + j * x->ldc);
  sum s = {{0, 0}, 0};
  if (is_rank_k_hermitian(x) && i == j) old.im = 0;
  if (x->kernel == TSR_KERNEL_TRSM && reads)
    add_to(&s, times(alpha, old));
  else if (has_trait(x, TSR_TRIANGLE_OF_C) && reads)
    s = update_product(x, i, j);
  else if (reads)
    s = scaled(alpha, square_product(x, x->b, x->ldb, i, j));
  if (has_beta && !scalar_zero(x->beta)) add_to(&s, times(beta, old));
  return s;
}

static void level3_fail(const kernel_case *test, int64_t i, int64_t j, element got, element want) {
  case_describe(test);
  fail_msg("(%d, %d) is %.17g%+.17gi instead of %.17g%+.17gi", (int)i, (int)j, got.re, got.im,
           want.re, want.im);
}

static void level3_check_element(const kernel_case *test, const void *before, int64_t i,
                                 int64_t j) {
  const tsr_kernel_args *x = &test->args;
  sum want = wanted(x, before, i, j);
  sum got = {element_get(x->type, x->c, i + j * x->ldc), 0};
  if (x->kernel == TSR_KERNEL_TRSM && !scalar_zero(x->alpha))
    got = square_product(x, x->c, x->ldc, i, j);
  double error = size_of((element){got.value.re - want.value.re, got.value.im - want.value.im});
  double bound = 8 * ((double)x->k + 4) * tsr_type_get(x->type)->epsilon * (want.scale + got.scale);
  if (!(error <= bound)) level3_fail(test, i, j, got.value, want.value);
  if (is_rank_k_hermitian(x) && i == j && got.value.im != 0)
    level3_fail(test, i, j, got.value, want.value);
}

/* Nothing to do, as the reference BLAS has it: not even of the diagonal. */
static bool leaves_c(const tsr_kernel_args *x) {
  bool nothing = scalar_zero(x->alpha) || (has_trait(x, TSR_TRIANGLE_OF_C) && x->k == 0);
  return nothing && level3_has_beta(x) && x->beta.re == 1 && x->beta.im == 0;
}

static void level3_check(const kernel_case *test, const void *before) {
  const tsr_kernel_args *x = &test->args;
  if (leaves_c(x)) {
    assert_memory_equal(x->c, before, test->bytes[2]);
    return;
  }
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++)
      if (case_writes(x, i, j)) level3_check_element(test, before, i, j);
  case_check_rest(test, before);
}

/* ---- Runs ----------------------------------------------------------------- */

static void level3_run_one(kernel_runner run, void *user, tsr_kernel_args flags, int64_t most) {
  kernel_case test = level3_make(flags, most);
  case_run(run, user, &test, level3_check);
}

/* Whether the routine has the flag, or another value of it would be the same case. */
static bool flags_exist(const tsr_kernel_args *x) {
  bool complex_valued = tsr_type_get(x->type)->complex_valued;
  tsr_op none = has_trait(x, TSR_HERMITIAN) ? TSR_TRANS : TSR_CONJ_TRANS;
  if (has_trait(x, TSR_HERMITIAN) && !complex_valued) return false;
  if (has_trait(x, TSR_TRIANGLE_OF_C) && (x->side == TSR_RIGHT || x->diag == TSR_UNIT))
    return false;
  if (has_trait(x, TSR_TRIANGLE_OF_C)) return !complex_valued || x->transa != none;
  return has_trait(x, TSR_TRIANGULAR) || (x->transa == TSR_NO_TRANS && x->diag == TSR_NON_UNIT);
}

/* count random problems for each combination of the flags of a kernel. */
static void level3_run_flags(kernel_runner run, void *user, tsr_kernel kernel, tsr_type type,
                             int count, int64_t most) {
  static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  for (int f = 0; f < 24; f++) {
    tsr_kernel_args x = {.kernel = kernel,
                         .type = type,
                         .transa = ops[f / 8],
                         .side = f & 1 ? TSR_RIGHT : TSR_LEFT,
                         .uplo = f & 2 ? TSR_UPPER : TSR_LOWER,
                         .diag = f & 4 ? TSR_UNIT : TSR_NON_UNIT};
    for (int i = 0; flags_exist(&x) && i < count; i++) level3_run_one(run, user, x, most);
  }
}

/* Every routine in every type that has it. */
static void level3_run(kernel_runner run, void *user, int count, int64_t most) {
  static const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  for (int kernel = TSR_KERNEL_SYMM; kernel <= TSR_KERNEL_TRSM; kernel++)
    for (int t = 0; t < 4; t++)
      level3_run_flags(run, user, (tsr_kernel)kernel, types[t], count, most);
}

#endif
