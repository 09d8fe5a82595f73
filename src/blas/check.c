/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "blas/check.h"

#include <inttypes.h>
#include <string.h>

#include "base/flags.h"
#include "blas/operation.h"

/* The largest extent: sums of extents stay far from overflow. check_size() checks products. */
static const int64_t EXTENT_MAX = INT64_C(1) << 40;

/* ---- What a call means ---------------------------------------------------- */

tsr_level3 tsr_check_complete(const tsr_level3 *what) {
  const tsr_operation_info *info = tsr_operation_get(what->operation);
  tsr_level3 w = *what;
  bool sided =
      info->signature == TSR_SIGNATURE_SIDED || info->signature == TSR_SIGNATURE_TRIANGULAR;
  if (info->triangle_of_c) w.m = w.n;
  if (sided)
    w.k = w.side == TSR_LEFT ? w.m : w.n;
  else
    w.side = TSR_LEFT;
  if (w.operation == TSR_GEMM) w.uplo = TSR_GENERAL;
  if (info->signature == TSR_SIGNATURE_SIDED) w.transa = TSR_NO_TRANS;
  if (info->signature != TSR_SIGNATURE_PRODUCT) w.transb = TSR_NO_TRANS;
  if (info->signature != TSR_SIGNATURE_TRIANGULAR) w.diag = TSR_NON_UNIT;
  if (!info->has_b) w.ldb = 0;
  return w;
}

static void orient(tsr_op op, int64_t rows_of_op, int64_t cols_of_op, int64_t *rows,
                   int64_t *cols) {
  *rows = op == TSR_NO_TRANS ? rows_of_op : cols_of_op;
  *cols = op == TSR_NO_TRANS ? cols_of_op : rows_of_op;
}

void tsr_check_stored(const tsr_level3 *w, int operand, int64_t *rows, int64_t *cols) {
  const tsr_operation_info *info = tsr_operation_get(w->operation);
  bool general = info->signature == TSR_SIGNATURE_PRODUCT,
       rank_k = info->signature == TSR_SIGNATURE_RANK_K;
  if (operand == TSR_C_)
    orient(TSR_NO_TRANS, w->m, w->n, rows, cols);
  else if (operand == TSR_B_ && !info->has_b)
    *rows = *cols = 0;
  else if (rank_k || (general && operand == TSR_A))
    orient(w->transa, w->m, w->k, rows, cols);
  else if (general)
    orient(w->transb, w->k, w->n, rows, cols);
  else if (operand == TSR_A)
    *rows = *cols = w->k;
  else
    orient(TSR_NO_TRANS, w->m, w->n, rows, cols);
}

/* ---- Flags ---------------------------------------------------------------- */

tsr_level3 tsr_check_flags_read(const tsr_level3 *what) {
  tsr_level3 w = *what;
  w.layout = (tsr_layout)tsr_flag_letter(TSR_FLAG_LAYOUT, (int)w.layout);
  w.side = (tsr_side)tsr_flag_letter(TSR_FLAG_SIDE, (int)w.side);
  w.uplo = (tsr_uplo)tsr_flag_letter(TSR_FLAG_UPLO, (int)w.uplo);
  w.transa = (tsr_op)tsr_flag_letter(TSR_FLAG_OP, (int)w.transa);
  w.transb = (tsr_op)tsr_flag_letter(TSR_FLAG_OP, (int)w.transb);
  w.diag = (tsr_diag)tsr_flag_letter(TSR_FLAG_DIAG, (int)w.diag);
  return w;
}

static tsr_status check_type(const tsr_operation_info *info, tsr_operation operation,
                             tsr_type type) {
  const tsr_type_info *known = tsr_type_get(type);
  if (known && strchr(info->types, (int)type)) return TSR_OK;
  if (!known)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s: type = %d: give one of %s", info->name, (int)type,
                    info->types);
  bool plain = type == TSR_S || type == TSR_D;
  if (!plain)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s: type = %c: give one of %s; only gemm takes h, b and t",
                    info->name, (char)type, info->types);
  const char *real = operation == TSR_HEMM ? "symm" : operation == TSR_HERK ? "syrk" : "syr2k";
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: type = %c: give one of %s, or use %s for real types",
                  info->name, (char)type, info->types, real);
}

static tsr_status check_one_of(const tsr_operation_info *info, const char *name, int value,
                               int first, int second, const char *remedy) {
  if (value == first || value == second) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = %d%s: give %s", info->name, name, value,
                  tsr_flag_of_cblas(value), remedy);
}

/* Whether the operation takes an op. The BLAS has no complex syrk with the conjugate transpose and
 * no herk with the mere transpose. For real types both are the same. */
static bool takes(const tsr_operation_info *info, tsr_type type, tsr_op op) {
  if (op != TSR_NO_TRANS && op != TSR_TRANS && op != TSR_CONJ_TRANS) return false;
  if (info->signature != TSR_SIGNATURE_RANK_K || !tsr_type_get(type)->complex_valued) return true;
  return op != (info->hermitian ? TSR_TRANS : TSR_CONJ_TRANS);
}

static tsr_status check_op(const tsr_operation_info *info, tsr_type type, const char *name,
                           tsr_op op) {
  if (takes(info, type, op)) return TSR_OK;
  const char *remedy = "TSR_NO_TRANS, TSR_TRANS or TSR_CONJ_TRANS";
  if (!takes(info, type, TSR_TRANS))
    remedy = "TSR_NO_TRANS or TSR_CONJ_TRANS";
  else if (!takes(info, type, TSR_CONJ_TRANS))
    remedy = "TSR_NO_TRANS or TSR_TRANS";
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = %d%s: give %s", info->name, name, (int)op,
                  tsr_flag_of_cblas((int)op), remedy);
}

static tsr_status check_flags(const tsr_operation_info *info, const tsr_level3 *w) {
  tsr_signature signature = info->signature;
  bool sided = signature == TSR_SIGNATURE_SIDED || signature == TSR_SIGNATURE_TRIANGULAR;
  TSR_TRY(check_type(info, w->operation, w->type));
  TSR_TRY(check_one_of(info, "layout", (int)w->layout, TSR_COL_MAJOR, TSR_ROW_MAJOR,
                       "TSR_COL_MAJOR or TSR_ROW_MAJOR"));
  if (sided)
    TSR_TRY(check_one_of(info, "side", (int)w->side, TSR_LEFT, TSR_RIGHT, "TSR_LEFT or TSR_RIGHT"));
  if (w->operation != TSR_GEMM)
    TSR_TRY(
        check_one_of(info, "uplo", (int)w->uplo, TSR_LOWER, TSR_UPPER, "TSR_LOWER or TSR_UPPER"));
  if (signature != TSR_SIGNATURE_SIDED)
    TSR_TRY(
        check_op(info, w->type, signature == TSR_SIGNATURE_RANK_K ? "trans" : "transa", w->transa));
  if (signature == TSR_SIGNATURE_PRODUCT) TSR_TRY(check_op(info, w->type, "transb", w->transb));
  if (signature != TSR_SIGNATURE_TRIANGULAR) return TSR_OK;
  return check_one_of(info, "diag", (int)w->diag, TSR_NON_UNIT, TSR_UNIT,
                      "TSR_NON_UNIT or TSR_UNIT");
}

/* ---- Extents -------------------------------------------------------------- */

static tsr_status check_extent(const tsr_operation_info *info, const char *name, int64_t value) {
  if (value >= 0 && value <= EXTENT_MAX) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = %" PRId64 ": give an extent from 0 to %" PRId64,
                  info->name, name, value, EXTENT_MAX);
}

static tsr_status check_extents(const tsr_operation_info *info, const tsr_level3 *w) {
  if (!info->triangle_of_c) TSR_TRY(check_extent(info, "m", w->m));
  TSR_TRY(check_extent(info, "n", w->n));
  if (info->signature == TSR_SIGNATURE_SIDED || info->signature == TSR_SIGNATURE_TRIANGULAR)
    return TSR_OK;
  return check_extent(info, "k", w->k);
}

/* ---- Operands ------------------------------------------------------------- */

static tsr_status check_pointer(const tsr_operation_info *info, const char *name,
                                const void *pointer, const char *what) {
  if (pointer) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = NULL: give the address of the %s", info->name, name,
                  what);
}

/* Checks the leading dimension of a matrix that is stored as rows x cols, in the caller's
 * layout. */
static tsr_status check_ld(const tsr_operation_info *info, const char *name, tsr_layout layout,
                           int64_t rows, int64_t cols, int64_t ld) {
  int64_t least = layout == TSR_COL_MAJOR ? rows : cols;
  if (least < 1) least = 1;
  if (ld >= least && ld <= EXTENT_MAX) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s: ld%s = %" PRId64 ": it must be at least %" PRId64
                  ", the stored %s of the matrix",
                  info->name, name, ld, least, layout == TSR_COL_MAJOR ? "rows" : "columns");
}

/* Checks that the offset of the last element in bytes fits an int64_t. */
static tsr_status check_size(const tsr_operation_info *info, const char *name, const tsr_level3 *w,
                             int64_t rows, int64_t cols, int64_t ld) {
  int64_t most = INT64_MAX / (int64_t)tsr_type_get(w->type)->size;
  int64_t lines = w->layout == TSR_COL_MAJOR ? cols : rows;
  if (rows == 0 || cols == 0 || lines <= most / ld) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s: %s is %" PRId64 " x %" PRId64 " with ld%s = %" PRId64
                  ": more than an address can tell; give smaller extents",
                  info->name, name, rows, cols, name, ld);
}

static tsr_status check_operand(const tsr_operation_info *info, const tsr_level3 *w, int operand,
                                const void *pointer, bool used) {
  const char *name = tsr_operation_operand(w->operation, operand, false);
  int64_t ld = operand == TSR_A ? w->lda : operand == TSR_B_ ? w->ldb : w->ldc;
  int64_t rows, cols;
  tsr_check_stored(w, operand, &rows, &cols);
  if (used) TSR_TRY(check_pointer(info, name, pointer, "matrix"));
  TSR_TRY(check_ld(info, name, w->layout, rows, cols, ld));
  return check_size(info, name, w, rows, cols, ld);
}

/* w is complete (tsr_check_complete). */
static tsr_status check_operands(const tsr_operation_info *info, const tsr_level3 *w,
                                 const tsr_arguments *x, bool check_pointers) {
  TSR_TRY(check_pointer(info, "alpha", x->alpha, "scalar"));
  tsr_scalar alpha = tsr_operation_alpha(w->operation, w->type, x->alpha);
  bool writes = check_pointers && w->m > 0 && w->n > 0;
  bool reads = writes && w->k > 0 && tsr_scalar_classify(alpha) != TSR_ZERO;
  TSR_TRY(check_operand(info, w, TSR_A, x->a, reads));
  if (info->has_b) TSR_TRY(check_operand(info, w, TSR_B_, x->b, reads));
  if (info->signature != TSR_SIGNATURE_TRIANGULAR)
    TSR_TRY(check_pointer(info, "beta", x->beta, "scalar"));
  tsr_scalar beta = tsr_operation_beta(w->operation, w->type, alpha, x->beta);
  bool changes = writes && (reads || tsr_scalar_classify(beta) != TSR_ONE);
  return check_operand(info, w, TSR_C_, x->c, changes);
}

tsr_status tsr_check_arguments(const tsr_level3 *what, const tsr_arguments *given,
                               bool check_pointers) {
  if (!what)
    return tsr_fail(TSR_ERR_ARGUMENT, "level3: what = NULL: give the address of the description");
  const tsr_operation_info *info = tsr_operation_get(what->operation);
  if (!info)
    return tsr_fail(TSR_ERR_ARGUMENT, "level3: operation = %d: give one of tsr_operation",
                    (int)what->operation);
  TSR_TRY(check_flags(info, what));
  TSR_TRY(check_extents(info, what));
  tsr_level3 complete = tsr_check_complete(what);
  return check_operands(info, &complete, given, check_pointers);
}
