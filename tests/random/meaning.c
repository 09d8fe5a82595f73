/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "problem.h"

#include <string.h>

static const struct {
  problem_kind kind;
  bool triangle;  /* of C only */
  bool hermitian; /* where the others are symmetric */
} operations[PROBLEM_OPERATIONS] = {
    [TSR_GEMM] = {KIND_PRODUCT, false, false},    [TSR_GEMMT] = {KIND_PRODUCT, true, false},
    [TSR_SYMM] = {KIND_SYMMETRIC, false, false},  [TSR_HEMM] = {KIND_SYMMETRIC, false, true},
    [TSR_SYRK] = {KIND_UPDATE, true, false},      [TSR_HERK] = {KIND_UPDATE, true, true},
    [TSR_SYR2K] = {KIND_UPDATE_TWO, true, false}, [TSR_HER2K] = {KIND_UPDATE_TWO, true, true},
    [TSR_TRMM] = {KIND_TRIANGULAR, false, false}, [TSR_TRSM] = {KIND_TRIANGULAR, false, false},
    [PROBLEM_POTRF] = {KIND_FACTOR, true, false},
};

problem_kind problem_kind_of(const problem *p) {
  return operations[p->operation].kind;
}

bool problem_hermitian(const problem *p) {
  return operations[p->operation].hermitian;
}

bool problem_has_beta(const problem *p) {
  return problem_kind_of(p) != KIND_TRIANGULAR && problem_kind_of(p) != KIND_FACTOR;
}

bool problem_has(const problem *p, int operand) {
  problem_kind kind = problem_kind_of(p);
  if (kind == KIND_FACTOR) return operand == 2;
  return operand != 1 || (kind != KIND_UPDATE && kind != KIND_TRIANGULAR);
}

bool problem_is_complex(const problem *p) {
  return p->type == 'c' || p->type == 'z';
}

/* A factor is not factored again, and has no plan that runs by itself. */
static void settle_factor(problem *p) {
  p->alpha = p->beta = '1';
  p->m = p->k = p->n;
  p->zeros = p->digits = 0;
  if (p->mode == MODE_PLAN) p->mode = MODE_BLOCKING;
  p->calls = p->sets;
  if (p->bad > p->n) p->bad = p->n;
}

void problem_settle(problem *p) {
  problem_kind kind = problem_kind_of(p);
  if (kind == KIND_FACTOR)
    settle_factor(p);
  else
    p->bad = 0;
  bool update = kind == KIND_UPDATE || kind == KIND_UPDATE_TWO;
  if (p->operation != TSR_GEMM && strchr("hbt", p->type)) p->type = 's';
  if (problem_hermitian(p) && !problem_is_complex(p)) p->type = p->type == 's' ? 'c' : 'z';
  if (update && problem_is_complex(p) && p->ta != 'N') p->ta = problem_hermitian(p) ? 'C' : 'T';
  /* Parts of a symmetric or triangular A must not be read, those of a B in its storage must. */
  if (kind != KIND_PRODUCT && kind != KIND_UPDATE_TWO) p->alias = 0;
}

/* ---- Scalars ---- */

/* Of herk both scalars are real, of her2k one. */
static bool scalar_is_real(const problem *p, int which) {
  return p->operation == TSR_HERK || (p->operation == TSR_HER2K && which == 1);
}

char problem_scalar_type(const problem *p, int which) {
  if (p->type == 'h' || p->type == 'b') return 's';
  if (!scalar_is_real(p, which)) return p->type;
  return p->type == 'c' ? 's' : 'd';
}

void problem_scalar(const problem *p, int which, double *re, double *im) {
  rng r = {p->seed * 2 + (uint64_t)which + 12345};
  char letter = which == 0 ? p->alpha : p->beta;
  bool complex = problem_is_complex(p) && !scalar_is_real(p, which);
  double eighths = (double)rng_between(&r, 1, 7); /* exact in every type */
  *re = letter == '0' ? 0 : letter == '1' ? 1 : letter == '-' ? -1 : eighths / 8;
  *im = letter == 'c' && complex ? (double)rng_between(&r, -7, -1) / 8 : 0;
}

/* ---- Operands ---- */

void problem_extents(const problem *p, int64_t *rows, int64_t *cols, int64_t *depth) {
  problem_kind kind = problem_kind_of(p);
  bool sided = kind == KIND_SYMMETRIC || kind == KIND_TRIANGULAR;
  *rows = operations[p->operation].triangle ? p->n : p->m;
  *cols = p->n;
  *depth = sided ? (p->side == 'L' ? p->m : p->n) : p->k;
}

/* A stored triangle of A, or the one of C that changes. Along a row-major matrix are its columns.
 */
static void stored_triangle(const problem *p, int operand, stored *s) {
  problem_kind kind = problem_kind_of(p);
  bool a = operand == 0 && (kind == KIND_SYMMETRIC || kind == KIND_TRIANGULAR);
  bool c = operand == 2 && operations[p->operation].triangle;
  if (!a && !c) return;
  s->uplo = (p->uplo == 'L') == (p->layout == 'C') ? 'L' : 'U';
  s->real_diagonal = problem_hermitian(p) || kind == KIND_FACTOR;
  if (c) return;
  s->unit = kind == KIND_TRIANGULAR && p->diag == 'U';
  s->rest = kind == KIND_TRIANGULAR ? REST_ZERO
            : problem_hermitian(p)  ? REST_CONJUGATE
                                    : REST_MIRRORED;
}

stored problem_stored(const problem *p, int operand) {
  int64_t rows, cols, depth;
  problem_kind kind = problem_kind_of(p);
  char trans = 'N';
  problem_extents(p, &rows, &cols, &depth);
  if (operand == 0 && (kind == KIND_SYMMETRIC || kind == KIND_TRIANGULAR)) {
    rows = cols = depth;
  } else if (operand == 0 || (operand == 1 && kind == KIND_UPDATE_TWO)) {
    cols = depth;
    trans = p->ta;
  } else if (operand == 1 && kind == KIND_PRODUCT) {
    rows = depth;
    trans = p->tb;
  }
  bool exchange = (trans != 'N') != (p->layout == 'R');
  stored s = {.fast = exchange ? cols : rows, .slow = exchange ? rows : cols, .uplo = 'G'};
  stored_triangle(p, operand, &s);
  return s;
}

bool stored_inside(const stored *s, int64_t i, int64_t j) {
  if (i == j) return !s->unit;
  return s->uplo == 'G' || (i > j) == (s->uplo == 'L');
}
