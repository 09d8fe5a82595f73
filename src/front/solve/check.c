/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The arguments of a solver: which ones each routine has, and whether they are right. */
#include <inttypes.h>

#include "base/flags.h"
#include "front/solve/solve.h"

/* The largest extent: as of the level-3 BLAS (blas/check.c). */
static const int64_t EXTENT_MAX = INT64_C(1) << 40;

typedef struct arguments {
  const char *name;
  bool uplo, trans, diag, b, info;
} arguments;

static const arguments of_routine[TSR_SOLVER_COUNT] = {
    [TSR_POTRS] = {"potrs", .uplo = true, .b = true},
    [TSR_POSV] = {"posv", .uplo = true, .b = true, .info = true},
    [TSR_TRTRS] = {"trtrs", .uplo = true, .trans = true, .diag = true, .b = true, .info = true},
    [TSR_POTRI] = {"potri", .uplo = true, .info = true},
    [TSR_TRTRI] = {"trtri", .uplo = true, .diag = true, .info = true},
};

static tsr_status check_flag(const arguments *is, const char *name, int value, bool right,
                             const char *remedy) {
  if (right) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = %d%s: give %s", is->name, name, value,
                  tsr_flag_of_cblas(value), remedy);
}

static tsr_status check_flags(const arguments *is, const tsr_solve *x) {
  bool op = x->trans == TSR_NO_TRANS || x->trans == TSR_TRANS || x->trans == TSR_CONJ_TRANS;
  TSR_TRY(check_flag(is, "layout", (int)x->layout,
                     x->layout == TSR_COL_MAJOR || x->layout == TSR_ROW_MAJOR,
                     "TSR_COL_MAJOR or TSR_ROW_MAJOR"));
  TSR_TRY(check_flag(is, "uplo", (int)x->uplo, x->uplo == TSR_LOWER || x->uplo == TSR_UPPER,
                     "TSR_LOWER or TSR_UPPER"));
  TSR_TRY(check_flag(is, "trans", (int)x->trans, !is->trans || op,
                     "TSR_NO_TRANS, TSR_TRANS or TSR_CONJ_TRANS"));
  return check_flag(is, "diag", (int)x->diag,
                    !is->diag || x->diag == TSR_NON_UNIT || x->diag == TSR_UNIT,
                    "TSR_NON_UNIT or TSR_UNIT");
}

static tsr_status check_extent(const arguments *is, const char *name, int64_t value) {
  if (value >= 0 && value <= EXTENT_MAX) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = %" PRId64 ": give an extent from 0 to %" PRId64,
                  is->name, name, value, EXTENT_MAX);
}

static tsr_status check_matrix(const arguments *is, const tsr_solve *x, const char *name,
                               const void *pointer, int64_t cols, int64_t ld) {
  int64_t least = x->layout == TSR_COL_MAJOR ? x->n : cols;
  int64_t lines = x->layout == TSR_COL_MAJOR ? cols : x->n;
  int64_t most = INT64_MAX / (int64_t)tsr_type_get(x->type)->size;
  if (pointer == NULL && x->n > 0 && cols > 0)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s: %s = NULL: give the address of the matrix", is->name,
                    name);
  if (ld < (least > 1 ? least : 1) || ld > EXTENT_MAX)
    return tsr_fail(
        TSR_ERR_ARGUMENT,
        "%s: ld%s = %" PRId64 ": it must be at least %" PRId64 ", the stored %s of the matrix",
        is->name, name, ld, least > 1 ? least : 1, x->layout == TSR_COL_MAJOR ? "rows" : "columns");
  if (lines <= most / ld) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s: %s is %" PRId64 " x %" PRId64 " with ld%s = %" PRId64
                  ": more than an address can tell; give smaller extents",
                  is->name, name, x->n, cols, name, ld);
}

/* A and B may be parts of one matrix, but not share elements: as in a trsm, which is the last step.
 */
static tsr_status check_disjoint(const arguments *is, const tsr_solve *x, const void *a,
                                 const void *b) {
  tsr_call call;
  tsr_binding binding;
  bool exchanged;
  double one[2] = {1, 0};
  tsr_level3 solve = {.operation = TSR_TRSM,
                      .type = x->type,
                      .layout = x->layout,
                      .side = TSR_LEFT,
                      .uplo = x->uplo,
                      .transa = TSR_NO_TRANS,
                      .diag = TSR_NON_UNIT,
                      .m = x->n,
                      .n = x->nrhs,
                      .lda = x->lda,
                      .ldc = x->ldb};
  TSR_TRY(
      tsr_call_level3(&solve, one, a, NULL, NULL, (void *)b, true, &call, &binding, &exchanged));
  if (tsr_call_check_aliasing(&call, &binding, exchanged) == TSR_OK) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "%s: b = %p overlaps a = %p: give matrices that do not",
                  is->name, b, a);
}

tsr_solve tsr_solve_flags(const tsr_solve *what) {
  tsr_solve w = *what;
  w.layout = (tsr_layout)tsr_flag_letter(TSR_FLAG_LAYOUT, (int)w.layout);
  w.uplo = (tsr_uplo)tsr_flag_letter(TSR_FLAG_UPLO, (int)w.uplo);
  w.trans = (tsr_op)tsr_flag_letter(TSR_FLAG_OP, (int)w.trans);
  w.diag = (tsr_diag)tsr_flag_letter(TSR_FLAG_DIAG, (int)w.diag);
  return w;
}

tsr_status tsr_solve_check(const tsr_solve *x, const void *a, const void *b) {
  if ((unsigned)x->routine >= TSR_SOLVER_COUNT)
    return tsr_fail(TSR_ERR_ARGUMENT, "solve: routine = %d: give one of tsr_solver",
                    (int)x->routine);
  const arguments *is = &of_routine[x->routine];
  if (x->type != TSR_S && x->type != TSR_D && x->type != TSR_C && x->type != TSR_Z)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s: type = %d: give one of sdcz", is->name, (int)x->type);
  TSR_TRY(check_flags(is, x));
  TSR_TRY(check_extent(is, "n", x->n));
  if (is->b) TSR_TRY(check_extent(is, "nrhs", x->nrhs));
  TSR_TRY(check_matrix(is, x, "a", a, x->n, x->lda));
  if (is->b) TSR_TRY(check_matrix(is, x, "b", b, x->nrhs, x->ldb));
  if (is->info && x->info == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s: info = NULL: give the address of the info", is->name);
  return is->b && x->n > 0 && x->nrhs > 0 ? check_disjoint(is, x, a, b) : TSR_OK;
}
