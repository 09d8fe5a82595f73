/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The arguments of a solver: which ones each routine has, and whether they are right. */
#include "base/flags.h"
#include "blas/check.h"
#include "front/solve/solve.h"

typedef struct arguments {
  const char *name;
  bool trans, diag, b, info; /* besides uplo, n and A */
} arguments;

static const arguments of_routine[TSR_SOLVERS] = {
    [TSR_POTRS] = {"potrs", .b = true},
    [TSR_POSV] = {"posv", .b = true, .info = true},
    [TSR_TRTRS] = {"trtrs", .trans = true, .diag = true, .b = true, .info = true},
    [TSR_POTRI] = {"potri", .info = true},
    [TSR_TRTRI] = {"trtri", .diag = true, .info = true},
    [TSR_POCON] = {"pocon"},
};

static tsr_status check_op(const arguments *is, tsr_op op) {
  if (op == TSR_NO_TRANS || op == TSR_TRANS || op == TSR_CONJ_TRANS) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "%s: trans = %d%s: give TSR_NO_TRANS, TSR_TRANS or TSR_CONJ_TRANS", is->name,
                  (int)op, tsr_flag_of_cblas((int)op));
}

static tsr_status check_flags(const arguments *is, const tsr_solve *x) {
  TSR_TRY(tsr_check_one_of(is->name, "layout", (int)x->layout, TSR_COL_MAJOR, TSR_ROW_MAJOR,
                           "TSR_COL_MAJOR or TSR_ROW_MAJOR"));
  TSR_TRY(tsr_check_one_of(is->name, "uplo", (int)x->uplo, TSR_LOWER, TSR_UPPER,
                           "TSR_LOWER or TSR_UPPER"));
  if (is->trans) TSR_TRY(check_op(is, x->trans));
  if (!is->diag) return TSR_OK;
  return tsr_check_one_of(is->name, "diag", (int)x->diag, TSR_NON_UNIT, TSR_UNIT,
                          "TSR_NON_UNIT or TSR_UNIT");
}

static tsr_status check_matrix(const arguments *is, const tsr_solve *x, const char *name,
                               const void *pointer, int64_t cols, int64_t ld) {
  if (x->n > 0 && cols > 0) TSR_TRY(tsr_check_pointer(is->name, name, pointer, "matrix"));
  return tsr_check_storage(is->name, name, x->type, x->layout, x->n, cols, ld);
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
  const arguments *is = &of_routine[x->routine];
  if (x->type != TSR_S && x->type != TSR_D && x->type != TSR_C && x->type != TSR_Z)
    return tsr_fail(TSR_ERR_ARGUMENT, "%s: type = %d: give one of sdcz", is->name, (int)x->type);
  TSR_TRY(check_flags(is, x));
  TSR_TRY(tsr_check_extent(is->name, "n", x->n));
  if (is->b) TSR_TRY(tsr_check_extent(is->name, "nrhs", x->nrhs));
  TSR_TRY(check_matrix(is, x, "a", a, x->n, x->lda));
  if (is->b) TSR_TRY(check_matrix(is, x, "b", b, x->nrhs, x->ldb));
  if (is->info) TSR_TRY(tsr_check_pointer(is->name, "info", x->info, "info"));
  return is->b && x->n > 0 && x->nrhs > 0 ? check_disjoint(is, x, a, b) : TSR_OK;
}
