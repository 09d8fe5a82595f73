/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "verify_level3.h"

static const scalar one = {1, 0};

/* ---- Operands as matrices ---- */

static vectors_matrix general(const verify_call *call, int operand, tsr_op op) {
  return (vectors_matrix){.view = matrix_op(call->stored[operand], op)};
}

/* The A of symm, hemm, trmm and trsm. */
static vectors_matrix structured_a(const verify_call *call) {
  const tsr_level3 *w = &call->what;
  bool triangular = w->operation == TSR_TRMM || w->operation == TSR_TRSM;
  vectors_matrix a = {call->stored[0], VECTORS_SYMMETRIC, w->uplo, w->diag == TSR_UNIT};
  if (operation_get(w->operation)->hermitian) a.structure = VECTORS_HERMITIAN;
  if (!triangular) return a;
  a.structure = VECTORS_TRIANGULAR;
  return vectors_matrix_op(a, w->transa);
}

/* The written matrix in the formula: a stored triangle stands for a whole symmetric or Hermitian
 * matrix, but for gemmt it is only the triangle. */
static vectors_matrix written(const verify_call *call) {
  const operation_info *info = operation_get(call->what.operation);
  vectors_matrix c = {call->stored[2], VECTORS_GENERAL, call->what.uplo, false};
  if (info->triangle) c.structure = info->hermitian ? VECTORS_HERMITIAN : VECTORS_SYMMETRIC;
  if (call->what.operation == TSR_GEMMT) c.structure = VECTORS_TRIANGULAR;
  return c;
}

/* ---- Terms ---- */

/* sum += factor M x; false: out of memory. */
static bool add_applied(const vectors_matrix *m, const vectors *x, scalar factor, vectors *sum) {
  vectors y = {0};
  bool good = vectors_apply(m, x, &y);
  if (good) vectors_add(sum, &y, factor);
  vectors_destroy(&y);
  return good;
}

/* sum += factor L R x; false: out of memory. */
static bool add_product(vectors_matrix left, vectors_matrix right, const vectors *x, scalar factor,
                        vectors *sum) {
  vectors y = {0};
  bool good = vectors_apply(&right, x, &y) && add_applied(&left, &y, factor, sum);
  vectors_destroy(&y);
  return good;
}

static bool add_triangle(const verify_call *call, const vectors *x, vectors *sum) {
  vectors y = {0};
  matrix_view a = matrix_op(call->stored[0], call->what.transa);
  matrix_view b = matrix_op(call->stored[1], call->what.transb);
  bool good = vectors_apply_triangle(&a, &b, call->what.uplo, x, &y);
  if (good) vectors_add(sum, &y, call->alpha);
  vectors_destroy(&y);
  return good;
}

/* sum += alpha op(A) op(A)^T x, or with B the two terms of syr2k; with ^H for herk and her2k. */
static bool add_rank_k(const verify_call *call, const vectors *x, vectors *sum) {
  const tsr_level3 *w = &call->what;
  bool hermitian = operation_get(w->operation)->hermitian;
  tsr_op turn = hermitian ? TSR_CONJ_TRANS : TSR_TRANS;
  vectors_matrix a = general(call, 0, w->transa);
  scalar alpha = call->alpha;
  if (!operation_has(w->operation, 1)) {
    return add_product(a, vectors_matrix_op(a, turn), x, alpha, sum);
  }
  vectors_matrix b = general(call, 1, w->transa);
  scalar second = {alpha.re, hermitian ? -alpha.im : alpha.im};
  return add_product(a, vectors_matrix_op(b, turn), x, alpha, sum) &&
         add_product(b, vectors_matrix_op(a, turn), x, second, sum);
}

/* sum += alpha A B x, or alpha B A x if A is on the right. */
static bool add_sided(const verify_call *call, vectors_matrix b, const vectors *x, vectors *sum) {
  vectors_matrix a = structured_a(call);
  bool left = call->what.side == TSR_LEFT;
  return add_product(left ? a : b, left ? b : a, x, call->alpha, sum);
}

/* Adds the terms of the formula that are multiplied by alpha. */
static bool add_alpha_part(const verify_call *call, const vectors *x, vectors *sum) {
  const tsr_level3 *w = &call->what;
  vectors_matrix c = written(call);
  switch (w->operation) {
    case TSR_GEMM:
      return add_product(general(call, 0, w->transa), general(call, 1, w->transb), x, call->alpha,
                         sum);
    case TSR_GEMMT:
      return add_triangle(call, x, sum);
    case TSR_SYMM:
    case TSR_HEMM:
      return add_sided(call, general(call, 1, TSR_NO_TRANS), x, sum);
    case TSR_TRMM:
      return add_sided(call, c, x, sum);
    case TSR_TRSM:
      return add_applied(&c, x, call->alpha, sum);
    default:
      return add_rank_k(call, x, sum);
  }
}

static bool is_zero(scalar value) {
  return value.re == 0 && value.im == 0;
}

/* As in the BLAS, A and B are not read if alpha is 0, nor C if beta is 0. */
bool verify_expect(const verify_call *call, verify_sums *sums) {
  const tsr_level3 *w = &call->what;
  bool has_beta = w->operation != TSR_TRMM && w->operation != TSR_TRSM;
  vectors_matrix c = written(call);
  if (!vectors_create(&sums->x, w->n) || !vectors_create(&sums->wanted, w->m)) return false;
  vectors_randomise(&sums->x);
  bool good = true;
  if (!is_zero(call->alpha) && w->k > 0) good = add_alpha_part(call, &sums->x, &sums->wanted);
  if (good && has_beta && !is_zero(call->beta)) {
    good = add_applied(&c, &sums->x, call->beta, &sums->wanted);
  }
  return good;
}

/* ---- The result ---- */

static bool apply_result(const verify_call *call, const vectors *x, vectors *got) {
  vectors_matrix c = written(call);
  if (call->what.operation != TSR_TRSM) return add_applied(&c, x, one, got);
  vectors_matrix a = structured_a(call);
  bool left = call->what.side == TSR_LEFT;
  return add_product(left ? a : c, left ? c : a, x, one, got);
}

bool verify_result_of(const verify_call *call, verify_sums *sums, verify_result *result) {
  const tsr_level3 *w = &call->what;
  vectors got = {0};
  bool good = vectors_create(&got, w->m) && apply_result(call, &sums->x, &got);
  if (good) {
    bool two_products = w->operation == TSR_SYR2K || w->operation == TSR_HER2K;
    /* The error of a solution X is bounded by |A| |X|, not by |B| alone. */
    for (int64_t i = 0; w->operation == TSR_TRSM && i < w->m; i++) {
      sums->wanted.size[i] += got.size[i];
    }
    verify_compare(w->type, w->n, two_products ? 2 * w->k : w->k, &got, &sums->wanted, NULL,
                   result);
  }
  vectors_destroy(&got);
  return good;
}

void verify_end(verify_sums *sums) {
  vectors_destroy(&sums->x);
  vectors_destroy(&sums->wanted);
}
