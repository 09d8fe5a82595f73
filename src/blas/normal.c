/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From arguments to a normalised call. A row-major matrix, read as column-major, is its transpose.
 * So a row-major call is the column-major call that computes C' (the transpose of C) from the
 * transposes:
 *   gemm, gemmt   C' = op(B)' op(A)': A and B change places
 *   symm, hemm    C' = B' A': the other side, and A' has the other triangle
 *   rank-k        op(A) = A becomes (A')^T, if Hermitian (A')^H, and the other way round; C' has
 *                 the other triangle. In her2k alpha then stands before the other product, so A and
 *                 B change places
 *   trmm, trsm    B' = B' op(A)': the other side; op(A)' is op of A', which has the other triangle
 *   potrf         A' = conj(L) L' = U^H U with U = L': the other triangle
 */
#include "blas/check.h"
#include "blas/operation.h"

static tsr_uplo other_triangle(tsr_uplo uplo) {
  return uplo == TSR_LOWER ? TSR_UPPER : uplo == TSR_UPPER ? TSR_LOWER : uplo;
}

static tsr_side other_side(tsr_side side) {
  return side == TSR_LEFT ? TSR_RIGHT : TSR_LEFT;
}

/* A real type has no conjugates: TSR_CONJ_TRANS becomes TSR_TRANS, so that there is one kind of
 * call. */
static tsr_op plain_op(tsr_type type, tsr_op op) {
  return op == TSR_CONJ_TRANS && !tsr_type_get(type)->complex_valued ? TSR_TRANS : op;
}

static tsr_op other_op(const tsr_operation_info *info, tsr_op op) {
  if (op != TSR_NO_TRANS) return TSR_NO_TRANS;
  return info->hermitian ? TSR_CONJ_TRANS : TSR_TRANS;
}

static void exchange(int64_t *x, int64_t *y) {
  int64_t kept = *x;
  *x = *y;
  *y = kept;
}

/* Whether A and B change places when the layout does. */
static bool exchanges(tsr_operation operation) {
  return tsr_operation_get(operation)->has.transb || operation == TSR_HER2K;
}

/* Turns a complete row-major call into the column-major one, and back: it is its own inverse. The
 * layout is the caller's to set. */
static void turn(const tsr_operation_info *info, tsr_level3 *w, bool *exchanged) {
  tsr_op transa = w->transa;
  w->uplo = other_triangle(w->uplo);
  exchange(&w->m, &w->n);
  *exchanged = exchanges(w->operation);
  if (*exchanged) exchange(&w->lda, &w->ldb);
  if (info->has.side) {
    w->side = other_side(w->side);
  } else if (info->has.transb) {
    w->transa = w->transb;
    w->transb = transa;
  } else if (info->has.transa) {
    w->transa = other_op(info, transa);
  }
}

static void set_operand(const tsr_level3 *w, int operand, int64_t ld, tsr_operand *made) {
  *made = (tsr_operand){.ld = ld};
  tsr_check_stored(w, operand, &made->rows, &made->cols);
}

/* w is complete and turned to column-major; its layout is still the user's. */
static void fill_call(const tsr_level3 *w, const tsr_binding *binding, tsr_call *call) {
  *call = (tsr_call){.operation = w->operation,
                     .type = w->type,
                     .transa = plain_op(w->type, w->transa),
                     .transb = plain_op(w->type, w->transb),
                     .side = w->side,
                     .uplo = w->uplo,
                     .diag = w->diag,
                     .m = w->m,
                     .n = w->n,
                     .k = w->k,
                     .alpha = tsr_scalar_classify(binding->alpha),
                     .beta = tsr_scalar_classify(binding->beta),
                     .row_major = w->layout == TSR_ROW_MAJOR};
  set_operand(w, TSR_A, w->lda, &call->operand[TSR_A]);
  set_operand(w, TSR_B_, w->ldb, &call->operand[TSR_B_]);
  set_operand(w, TSR_C_, w->ldc, &call->operand[TSR_C_]);
}

/* The flags have been read; x: the operands and scalars that go with them. */
static tsr_status make_call(const tsr_level3 *read, const tsr_arguments *x, bool check_pointers,
                            tsr_call *call, tsr_binding *binding, bool *exchanged) {
  TSR_TRY(tsr_check_arguments(read, x, check_pointers));
  const tsr_operation_info *info = tsr_operation_get(read->operation);
  tsr_level3 w = tsr_check_complete(read);
  *exchanged = false;
  if (w.layout == TSR_ROW_MAJOR) turn(info, &w, exchanged);
  const void *a = x->a, *b = info->has.b ? x->b : NULL;
  *binding = (tsr_binding){
      .base = {(void *)(*exchanged ? b : a), (void *)(*exchanged ? a : b), x->c}, .info = x->info};
  binding->alpha = tsr_operation_alpha(w.operation, w.type, x->alpha);
  binding->beta = tsr_operation_beta(w.operation, w.type, binding->alpha, x->beta);
  fill_call(&w, binding, call);
  return TSR_OK;
}

tsr_status tsr_call_level3(const tsr_level3 *what, const void *alpha, const void *a, const void *b,
                           const void *beta, void *c, bool check_pointers, tsr_call *call,
                           tsr_binding *binding, bool *exchanged) {
  if (what == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "level3: what = NULL: give the address of the description");
  if ((unsigned)what->operation >= TSR_OPERATION_COUNT)
    return tsr_fail(TSR_ERR_ARGUMENT, "level3: operation = %d: give one of tsr_operation",
                    (int)what->operation);
  tsr_level3 read = tsr_check_flags_read(what);
  tsr_arguments x = {.alpha = alpha, .a = a, .b = b, .beta = beta, .c = c};
  return make_call(&read, &x, check_pointers, call, binding, exchanged);
}

/* The one matrix of a factorisation is C. */
tsr_status tsr_call_factor(const tsr_factor *what, void *a, bool check_pointers, tsr_call *call,
                           tsr_binding *binding) {
  bool exchanged;
  if (what == NULL)
    return tsr_fail(TSR_ERR_ARGUMENT, "factor: what = NULL: give the address of the description");
  if ((unsigned)what->routine >= TSR_FACTORISATION_COUNT)
    return tsr_fail(TSR_ERR_ARGUMENT, "factor: routine = %d: give one of tsr_factorisation",
                    (int)what->routine);
  tsr_level3 carried = {.operation = TSR_OPERATION_OF(what->routine),
                        .type = what->type,
                        .layout = what->layout,
                        .uplo = what->uplo,
                        .n = what->n,
                        .ldc = what->lda};
  tsr_level3 read = tsr_check_flags_read(&carried);
  tsr_arguments x = {.c = a, .info = what->info};
  return make_call(&read, &x, check_pointers, call, binding, &exchanged);
}

/* ---- Back, for prints ---- */

static tsr_operand transposed(tsr_operand operand) {
  exchange(&operand.rows, &operand.cols);
  return operand;
}

tsr_call tsr_call_as_asked(const tsr_call *call) {
  if (!call->row_major) return *call;
  tsr_call asked = *call;
  bool exchanged;
  tsr_level3 w = {.operation = call->operation,
                  .transa = call->transa,
                  .transb = call->transb,
                  .side = call->side,
                  .uplo = call->uplo,
                  .m = call->m,
                  .n = call->n};
  turn(tsr_operation_get(call->operation), &w, &exchanged);
  asked.transa = plain_op(call->type, w.transa);
  asked.transb = w.transb;
  asked.side = w.side;
  asked.uplo = w.uplo;
  asked.m = w.m;
  asked.n = w.n;
  for (int i = 0; i < TSR_OPERANDS; i++)
    asked.operand[tsr_call_asked_matrix(call, i)] = transposed(call->operand[i]);
  return asked;
}

int tsr_call_asked_matrix(const tsr_call *call, int matrix) {
  bool exchanged = call->row_major && exchanges(call->operation);
  return exchanged && (matrix == TSR_A || matrix == TSR_B_) ? TSR_A + TSR_B_ - matrix : matrix;
}
