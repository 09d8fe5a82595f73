/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Argument checks in the order and with the positions of the reference BLAS. */
#include "blas/check.h"
#include "blas/operation.h"

/* Positions in the Fortran routine, from 1; 0: it has no such argument. */
typedef struct places {
  int side, uplo, transa, transb, diag, m, n, k, lda, ldb, ldc;
} places;

static const places product = {
    .transa = 1, .transb = 2, .m = 3, .n = 4, .k = 5, .lda = 8, .ldb = 10, .ldc = 13};
static const places triangle = {
    .uplo = 1, .transa = 2, .transb = 3, .n = 4, .k = 5, .lda = 8, .ldb = 10, .ldc = 13};
static const places sided = {.side = 1, .uplo = 2, .m = 3, .n = 4, .lda = 7, .ldb = 9, .ldc = 12};
static const places rank_k = {.uplo = 1, .transa = 2, .n = 3, .k = 4, .lda = 7, .ldc = 10};
static const places rank_2k = {
    .uplo = 1, .transa = 2, .n = 3, .k = 4, .lda = 7, .ldb = 9, .ldc = 12};
static const places triangular = {
    .side = 1, .uplo = 2, .transa = 3, .diag = 4, .m = 5, .n = 6, .lda = 9, .ldc = 11};

static const places *places_of(const tsr_operation_info *info) {
  switch (info->signature) {
    case TSR_SIGNATURE_PRODUCT:
      return info->triangle_of_c ? &triangle : &product;
    case TSR_SIGNATURE_SIDED:
      return &sided;
    case TSR_SIGNATURE_RANK_K:
      return info->has_b ? &rank_2k : &rank_k;
    case TSR_SIGNATURE_TRIANGULAR:
      return &triangular;
  }
  return &product;
}

/* A complex rank-k update takes either the transpose or the conjugate transpose. For real types
 * both are the same. */
static bool op_is_wrong(const tsr_operation_info *info, const tsr_level3 *w, tsr_op op) {
  if ((int)op == 0) return true;
  bool complex_valued = w->type == TSR_C || w->type == TSR_Z;
  if (info->signature != TSR_SIGNATURE_RANK_K || !complex_valued) return false;
  return op == (info->hermitian ? TSR_TRANS : TSR_CONJ_TRANS);
}

static int wrong_flag(const tsr_operation_info *info, const places *at, const tsr_level3 *w) {
  if (at->side > 0 && (int)w->side == 0) return at->side;
  if (at->uplo > 0 && (int)w->uplo == 0) return at->uplo;
  if (at->transa > 0 && op_is_wrong(info, w, w->transa)) return at->transa;
  if (at->transb > 0 && op_is_wrong(info, w, w->transb)) return at->transb;
  if (at->diag > 0 && (int)w->diag == 0) return at->diag;
  return 0;
}

static int wrong_extent(const places *at, const tsr_level3 *w) {
  if (at->m > 0 && w->m < 0) return at->m;
  if (at->n > 0 && w->n < 0) return at->n;
  return at->k > 0 && w->k < 0 ? at->k : 0;
}

static bool is_short(const tsr_level3 *w, int operand, int64_t ld) {
  int64_t rows, cols;
  tsr_check_stored(w, operand, &rows, &cols);
  int64_t least = w->layout == TSR_COL_MAJOR ? rows : cols;
  return ld < (least > 1 ? least : 1);
}

static int wrong_ld(const places *at, const tsr_level3 *what) {
  tsr_level3 w = tsr_check_complete(what);
  if (is_short(&w, TSR_A, w.lda)) return at->lda;
  if (at->ldb > 0 && is_short(&w, TSR_B_, w.ldb)) return at->ldb;
  return is_short(&w, TSR_C_, w.ldc) ? at->ldc : 0;
}

int tsr_check_position(const tsr_level3 *w) {
  const tsr_operation_info *info = tsr_operation_get(w->operation);
  const places *at = places_of(info);
  if ((int)w->layout == 0) return TSR_POSITION_LAYOUT;
  int position = wrong_flag(info, at, w);
  if (position == 0) position = wrong_extent(at, w);
  return position != 0 ? position : wrong_ld(at, w);
}
