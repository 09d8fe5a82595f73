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
  if (!info->has.m) w.m = w.n;
  if (!info->has.side) w.side = TSR_LEFT;
  if (!info->has.k) w.k = w.side == TSR_LEFT ? w.m : w.n;
  if (!info->has.uplo) w.uplo = TSR_GENERAL;
  if (!info->has.transa) w.transa = TSR_NO_TRANS;
  if (!info->has.transb) w.transb = TSR_NO_TRANS;
  if (!info->has.diag) w.diag = TSR_NON_UNIT;
  if (!info->has.b) w.ldb = 0;
  return w;
}

int64_t tsr_check_number(const tsr_level3 *what, size_t at) {
  int64_t number;
  memcpy(&number, (const char *)what + at, sizeof number);
  return number;
}

int tsr_check_flag(const tsr_level3 *what, size_t at) {
  int flag;
  _Static_assert(sizeof flag == sizeof(tsr_op) && sizeof flag == sizeof(tsr_side),
                 "flags are ints");
  memcpy(&flag, (const char *)what + at, sizeof flag);
  return flag;
}

static const void *given_at(const tsr_arguments *x, size_t at) {
  const void *pointer;
  memcpy(&pointer, (const char *)x + at, sizeof pointer);
  return pointer;
}

void tsr_check_shape(const tsr_level3 *w, const tsr_argument *matrix, int64_t *rows,
                     int64_t *cols) {
  bool turned = matrix->op != TSR_ARGUMENT_NO_OP && tsr_check_flag(w, matrix->op) != TSR_NO_TRANS;
  *rows = tsr_check_number(w, turned ? matrix->cols : matrix->rows);
  *cols = tsr_check_number(w, turned ? matrix->rows : matrix->cols);
}

void tsr_check_stored(const tsr_level3 *w, int operand, int64_t *rows, int64_t *cols) {
  const tsr_operation_info *info = tsr_operation_get(w->operation);
  *rows = *cols = 0;
  for (int i = 0; i < info->argument_count; i++) {
    const tsr_argument *matrix = &info->arguments[i];
    if (matrix->kind >= TSR_ARGUMENT_INPUT && matrix->operand == operand)
      tsr_check_shape(w, matrix, rows, cols);
  }
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

tsr_status tsr_check_one_of(const char *routine, const char *name, int value, int first, int second,
                            const char *remedy) {
  if (value == first || value == second) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = %d%s: give %s", routine, name, value,
                  tsr_flag_of_cblas(value), remedy);
}

bool tsr_check_takes(const tsr_operation_info *info, tsr_type type, tsr_op op) {
  bool update = tsr_operation_has_triangle(info) && !info->has.transb;
  if (!update || !tsr_type_get(type)->complex_valued) return true;
  return op != (info->hermitian ? TSR_TRANS : TSR_CONJ_TRANS);
}

static tsr_status check_op(const tsr_operation_info *info, tsr_type type, const char *name,
                           tsr_op op) {
  bool known = op == TSR_NO_TRANS || op == TSR_TRANS || op == TSR_CONJ_TRANS;
  if (known && tsr_check_takes(info, type, op)) return TSR_OK;
  const char *remedy = "TSR_NO_TRANS, TSR_TRANS or TSR_CONJ_TRANS";
  if (!tsr_check_takes(info, type, TSR_TRANS))
    remedy = "TSR_NO_TRANS or TSR_CONJ_TRANS";
  else if (!tsr_check_takes(info, type, TSR_CONJ_TRANS))
    remedy = "TSR_NO_TRANS or TSR_TRANS";
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = %d%s: give %s", info->name, name, (int)op,
                  tsr_flag_of_cblas((int)op), remedy);
}

static tsr_status check_flag(const tsr_operation_info *info, const tsr_argument *argument,
                             const tsr_level3 *w) {
  int value = tsr_check_flag(w, argument->at);
  switch (argument->flag) {
    case TSR_FLAG_SIDE:
      return tsr_check_one_of(info->name, argument->name, value, TSR_LEFT, TSR_RIGHT,
                              "TSR_LEFT or TSR_RIGHT");
    case TSR_FLAG_UPLO:
      return tsr_check_one_of(info->name, argument->name, value, TSR_LOWER, TSR_UPPER,
                              "TSR_LOWER or TSR_UPPER");
    case TSR_FLAG_DIAG:
      return tsr_check_one_of(info->name, argument->name, value, TSR_NON_UNIT, TSR_UNIT,
                              "TSR_NON_UNIT or TSR_UNIT");
    default:
      return check_op(info, w->type, argument->name, (tsr_op)value);
  }
}

/* ---- Extents -------------------------------------------------------------- */

tsr_status tsr_check_extent(const char *routine, const char *name, int64_t value) {
  if (value >= 0 && value <= EXTENT_MAX) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = %" PRId64 ": give an extent from 0 to %" PRId64,
                  routine, name, value, EXTENT_MAX);
}

/* Checks the flags and the extents, in the routine's order. */
static tsr_status check_numbers(const tsr_operation_info *info, const tsr_level3 *w) {
  TSR_TRY(check_type(info, w->operation, w->type));
  TSR_TRY(tsr_check_one_of(info->name, "layout", (int)w->layout, TSR_COL_MAJOR, TSR_ROW_MAJOR,
                           "TSR_COL_MAJOR or TSR_ROW_MAJOR"));
  for (int i = 0; i < info->argument_count; i++) {
    const tsr_argument *argument = &info->arguments[i];
    if (argument->kind == TSR_ARGUMENT_FLAG)
      TSR_TRY(check_flag(info, argument, w));
    else if (argument->kind == TSR_ARGUMENT_EXTENT)
      TSR_TRY(tsr_check_extent(info->name, argument->name, tsr_check_number(w, argument->at)));
  }
  return TSR_OK;
}

/* ---- Operands ------------------------------------------------------------- */

tsr_status tsr_check_pointer(const char *routine, const char *name, const void *pointer,
                             const char *what) {
  if (pointer) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = NULL: give the address of the %s", routine, name,
                  what);
}

/* Checks the leading dimension of a matrix that is stored as rows x cols, in the caller's
 * layout. */
static tsr_status check_ld(const char *routine, const char *name, tsr_layout layout, int64_t rows,
                           int64_t cols, int64_t ld) {
  int64_t least = layout == TSR_COL_MAJOR ? rows : cols;
  if (least < 1) least = 1;
  if (ld >= least && ld <= EXTENT_MAX) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s: ld%s = %" PRId64 ": it must be at least %" PRId64
                  ", the stored %s of the matrix",
                  routine, name, ld, least, layout == TSR_COL_MAJOR ? "rows" : "columns");
}

/* Checks that the offset of the last element in bytes fits an int64_t. */
static tsr_status check_size(const char *routine, const char *name, tsr_type type,
                             tsr_layout layout, int64_t rows, int64_t cols, int64_t ld) {
  int64_t most = INT64_MAX / (int64_t)tsr_type_get(type)->size;
  int64_t lines = layout == TSR_COL_MAJOR ? cols : rows;
  if (rows == 0 || cols == 0 || lines <= most / ld) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s: %s is %" PRId64 " x %" PRId64 " with ld%s = %" PRId64
                  ": more than an address can tell; give smaller extents",
                  routine, name, rows, cols, name, ld);
}

tsr_status tsr_check_storage(const char *routine, const char *name, tsr_type type,
                             tsr_layout layout, int64_t rows, int64_t cols, int64_t ld) {
  TSR_TRY(check_ld(routine, name, layout, rows, cols, ld));
  return check_size(routine, name, type, layout, rows, cols, ld);
}

static tsr_status check_matrix(const tsr_operation_info *info, const tsr_level3 *w,
                               const tsr_argument *matrix, const void *pointer, bool used) {
  int64_t ld = tsr_check_number(w, matrix->at), rows, cols;
  tsr_check_shape(w, matrix, &rows, &cols);
  if (used) TSR_TRY(tsr_check_pointer(info->name, matrix->name, pointer, "matrix"));
  return tsr_check_storage(info->name, matrix->name, w->type, w->layout, rows, cols, ld);
}

static bool reads_inputs(const tsr_level3 *w, const tsr_arguments *x) {
  tsr_scalar alpha = tsr_operation_alpha(w->operation, w->type, x->alpha);
  return w->m > 0 && w->n > 0 && w->k > 0 && tsr_scalar_classify(alpha) != TSR_ZERO;
}

static bool changes_result(const tsr_level3 *w, const tsr_arguments *x) {
  tsr_scalar alpha = tsr_operation_alpha(w->operation, w->type, x->alpha);
  tsr_scalar beta = tsr_operation_beta(w->operation, w->type, alpha, x->beta);
  bool writes = w->m > 0 && w->n > 0;
  return writes && (reads_inputs(w, x) || tsr_scalar_classify(beta) != TSR_ONE);
}

/* Checks a scalar or a matrix. The arguments before it in the list are right; so alpha can be read
 * when A is checked, and beta when C is. w is complete (tsr_check_complete). */
static tsr_status check_operand(const tsr_operation_info *info, const tsr_level3 *w,
                                const tsr_argument *argument, const tsr_arguments *x,
                                bool check_pointers) {
  const void *pointer = given_at(x, argument->given);
  switch (argument->kind) {
    case TSR_ARGUMENT_SCALAR:
      return tsr_check_pointer(info->name, argument->name, pointer, "scalar");
    case TSR_ARGUMENT_INFO:
      return check_pointers ? tsr_check_pointer(info->name, argument->name, pointer, "info")
                            : TSR_OK;
    case TSR_ARGUMENT_INPUT:
      return check_matrix(info, w, argument, pointer, check_pointers && reads_inputs(w, x));
    case TSR_ARGUMENT_RESULT:
      return check_matrix(info, w, argument, pointer, check_pointers && changes_result(w, x));
    default:
      return TSR_OK;
  }
}

tsr_status tsr_check_arguments(const tsr_level3 *what, const tsr_arguments *given,
                               bool check_pointers) {
  const tsr_operation_info *info = tsr_operation_get(what->operation);
  TSR_TRY(check_numbers(info, what));
  tsr_level3 complete = tsr_check_complete(what);
  for (int i = 0; i < info->argument_count; i++)
    TSR_TRY(check_operand(info, &complete, &info->arguments[i], given, check_pointers));
  return TSR_OK;
}
