/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The native door: the level-3 routines, which take the type as an argument. */
#include <string.h>

#include "base/thread.h"
#include "blas/call.h"
#include "call/capture.h"
#include "cpu/on_cpu.h"
#include "front/context.h"

/* Bytes of alpha, or of beta (of_c), as the routine takes them. herk has real scalars, her2k a real
 * beta. */
static size_t scalar_bytes(const tsr_level3 *what, bool of_c) {
  bool real = what->operation == TSR_HERK || (what->operation == TSR_HER2K && of_c);
  size_t size = tsr_type_get(what->type)->size;
  if (what->type == TSR_H || what->type == TSR_B) return sizeof(float);
  return real ? size / 2 : size;
}

/* Adds the call to the capture under way, if any. trmm and trsm have no beta. */
static void capture(tsr_context *context, const tsr_level3 *what,
                    const tsr_arithmetic_wish *arithmetic, const void *alpha, const void *a,
                    const void *b, const void *beta, void *c) {
  tsr_captured_step step = {
      .kind = TSR_CAPTURED_CALL, .what = *what, .arithmetic = *arithmetic, .a = a, .b = b, .c = c};
  bool has_beta = what->operation != TSR_TRMM && what->operation != TSR_TRSM;
  step.what.arithmetic = NULL; /* the program's text may not outlive the call */
  memcpy(step.alpha, alpha, scalar_bytes(what, false));
  if (has_beta) memcpy(step.beta, beta, scalar_bytes(what, true));
  tsr_capture_note_step(context->plans, &step);
}

static tsr_status carry_out(tsr_context *context, bool async, const tsr_arithmetic_wish *arithmetic,
                            tsr_call *call, const tsr_binding *binding, bool exchanged) {
  if (tsr_call_is_empty(call)) return TSR_OK;
  if (context->engine == NULL) return tsr_call_on_cpu(call, binding);
  TSR_TRY(tsr_context_place(context, call, binding, exchanged));
  tsr_context_choose_arithmetic(context, arithmetic, async, call);
  return tsr_context_call(context, call, binding, exchanged, async);
}

/* An asynchronous call becomes part of a capture only once it is submitted: a call that fails may
 * be repeated by the program. given: the arithmetic; NULL: what->arithmetic has it. */
static tsr_status run(tsr_context *context, bool async, const tsr_level3 *what,
                      const tsr_arithmetic_wish *given, const void *alpha, const void *a,
                      const void *b, const void *beta, void *c) {
  tsr_call call;
  tsr_binding binding;
  tsr_arithmetic_wish arithmetic;
  bool exchanged;
  TSR_TRY(tsr_context_check(context));
  TSR_TRY(tsr_call_level3(what, alpha, a, b, beta, c, true, &call, &binding, &exchanged));
  TSR_TRY(tsr_call_check_aliasing(&call, &binding, exchanged));
  if (given != NULL)
    arithmetic = *given;
  else
    TSR_TRY(tsr_context_arithmetic(context, what->arithmetic, &arithmetic));
  TSR_TRY(carry_out(context, async, &arithmetic, &call, &binding, exchanged));
  if (async) capture(context, what, &arithmetic, alpha, a, b, beta, c);
  return TSR_OK;
}

tsr_status tsr_context_submit(tsr_context *context, const tsr_level3 *what,
                              const tsr_arithmetic_wish *arithmetic, const void *alpha,
                              const void *a, const void *b, const void *beta, void *c) {
  return run(context, true, what, arithmetic, alpha, a, b, beta, c);
}

TSR_ENTRY(tsr_level3_run, (context, what, alpha, a, b, beta, c), tsr_context *context,
          const tsr_level3 *what, const void *alpha, const void *a, const void *b, const void *beta,
          void *c) {
  return run(context, false, what, NULL, alpha, a, b, beta, c);
}

TSR_ENTRY(tsr_level3_run_async, (context, what, alpha, a, b, beta, c), tsr_context *context,
          const tsr_level3 *what, const void *alpha, const void *a, const void *b, const void *beta,
          void *c) {
  return run(context, true, what, NULL, alpha, a, b, beta, c);
}

/* ---- tsr_level3 from the argument list of each signature -------------------- */

static tsr_level3 product(tsr_operation operation, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                          tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                          int64_t lda, int64_t ldb, int64_t ldc) {
  return (tsr_level3){.operation = operation,
                      .type = type,
                      .layout = layout,
                      .uplo = uplo,
                      .transa = transa,
                      .transb = transb,
                      .m = m,
                      .n = n,
                      .k = k,
                      .lda = lda,
                      .ldb = ldb,
                      .ldc = ldc};
}

static tsr_level3 sided(tsr_operation operation, tsr_type type, tsr_layout layout, tsr_side side,
                        tsr_uplo uplo, int64_t m, int64_t n, int64_t lda, int64_t ldb,
                        int64_t ldc) {
  return (tsr_level3){.operation = operation,
                      .type = type,
                      .layout = layout,
                      .side = side,
                      .uplo = uplo,
                      .m = m,
                      .n = n,
                      .lda = lda,
                      .ldb = ldb,
                      .ldc = ldc};
}

static tsr_level3 rank_k(tsr_operation operation, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                         tsr_op trans, int64_t n, int64_t k, int64_t lda, int64_t ldb,
                         int64_t ldc) {
  return (tsr_level3){.operation = operation,
                      .type = type,
                      .layout = layout,
                      .uplo = uplo,
                      .transa = trans,
                      .n = n,
                      .k = k,
                      .lda = lda,
                      .ldb = ldb,
                      .ldc = ldc};
}

static tsr_level3 triangular(tsr_operation operation, tsr_type type, tsr_layout layout,
                             tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag, int64_t m,
                             int64_t n, int64_t lda, int64_t ldb) {
  return (tsr_level3){.operation = operation,
                      .type = type,
                      .layout = layout,
                      .side = side,
                      .uplo = uplo,
                      .transa = transa,
                      .diag = diag,
                      .m = m,
                      .n = n,
                      .lda = lda,
                      .ldc = ldb};
}

/* ---- The level-3 BLAS ----------------------------------------------------- */

tsr_status tsr_gemm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_op transa,
                    tsr_op transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                    const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                    void *c, int64_t ldc) {
  tsr_level3 x =
      product(TSR_GEMM, type, layout, TSR_GENERAL, transa, transb, m, n, k, lda, ldb, ldc);
  return tsr_level3_run(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_gemm_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_op transa,
                          tsr_op transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                          const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                          void *c, int64_t ldc) {
  tsr_level3 x =
      product(TSR_GEMM, type, layout, TSR_GENERAL, transa, transb, m, n, k, lda, ldb, ldc);
  return tsr_level3_run_async(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_gemmt(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                     tsr_op transa, tsr_op transb, int64_t n, int64_t k, const void *alpha,
                     const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                     void *c, int64_t ldc) {
  tsr_level3 x = product(TSR_GEMMT, type, layout, uplo, transa, transb, n, n, k, lda, ldb, ldc);
  return tsr_level3_run(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_gemmt_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                           tsr_op transa, tsr_op transb, int64_t n, int64_t k, const void *alpha,
                           const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                           void *c, int64_t ldc) {
  tsr_level3 x = product(TSR_GEMMT, type, layout, uplo, transa, transb, n, n, k, lda, ldb, ldc);
  return tsr_level3_run_async(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_symm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                    tsr_uplo uplo, int64_t m, int64_t n, const void *alpha, const void *a,
                    int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                    int64_t ldc) {
  tsr_level3 x = sided(TSR_SYMM, type, layout, side, uplo, m, n, lda, ldb, ldc);
  return tsr_level3_run(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_symm_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                          tsr_uplo uplo, int64_t m, int64_t n, const void *alpha, const void *a,
                          int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                          int64_t ldc) {
  tsr_level3 x = sided(TSR_SYMM, type, layout, side, uplo, m, n, lda, ldb, ldc);
  return tsr_level3_run_async(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_hemm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                    tsr_uplo uplo, int64_t m, int64_t n, const void *alpha, const void *a,
                    int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                    int64_t ldc) {
  tsr_level3 x = sided(TSR_HEMM, type, layout, side, uplo, m, n, lda, ldb, ldc);
  return tsr_level3_run(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_hemm_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                          tsr_uplo uplo, int64_t m, int64_t n, const void *alpha, const void *a,
                          int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                          int64_t ldc) {
  tsr_level3 x = sided(TSR_HEMM, type, layout, side, uplo, m, n, lda, ldb, ldc);
  return tsr_level3_run_async(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_syrk(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                    tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                    int64_t lda, const void *beta, void *c, int64_t ldc) {
  tsr_level3 x = rank_k(TSR_SYRK, type, layout, uplo, trans, n, k, lda, 0, ldc);
  return tsr_level3_run(context, &x, alpha, a, NULL, beta, c);
}

tsr_status tsr_syrk_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                          tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                          int64_t lda, const void *beta, void *c, int64_t ldc) {
  tsr_level3 x = rank_k(TSR_SYRK, type, layout, uplo, trans, n, k, lda, 0, ldc);
  return tsr_level3_run_async(context, &x, alpha, a, NULL, beta, c);
}

tsr_status tsr_herk(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                    tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                    int64_t lda, const void *beta, void *c, int64_t ldc) {
  tsr_level3 x = rank_k(TSR_HERK, type, layout, uplo, trans, n, k, lda, 0, ldc);
  return tsr_level3_run(context, &x, alpha, a, NULL, beta, c);
}

tsr_status tsr_herk_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                          tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                          int64_t lda, const void *beta, void *c, int64_t ldc) {
  tsr_level3 x = rank_k(TSR_HERK, type, layout, uplo, trans, n, k, lda, 0, ldc);
  return tsr_level3_run_async(context, &x, alpha, a, NULL, beta, c);
}

tsr_status tsr_syr2k(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                     tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                     int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                     int64_t ldc) {
  tsr_level3 x = rank_k(TSR_SYR2K, type, layout, uplo, trans, n, k, lda, ldb, ldc);
  return tsr_level3_run(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_syr2k_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                           tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                           int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                           int64_t ldc) {
  tsr_level3 x = rank_k(TSR_SYR2K, type, layout, uplo, trans, n, k, lda, ldb, ldc);
  return tsr_level3_run_async(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_her2k(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                     tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                     int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                     int64_t ldc) {
  tsr_level3 x = rank_k(TSR_HER2K, type, layout, uplo, trans, n, k, lda, ldb, ldc);
  return tsr_level3_run(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_her2k_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_uplo uplo,
                           tsr_op trans, int64_t n, int64_t k, const void *alpha, const void *a,
                           int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
                           int64_t ldc) {
  tsr_level3 x = rank_k(TSR_HER2K, type, layout, uplo, trans, n, k, lda, ldb, ldc);
  return tsr_level3_run_async(context, &x, alpha, a, b, beta, c);
}

tsr_status tsr_trmm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                    tsr_uplo uplo, tsr_op transa, tsr_diag diag, int64_t m, int64_t n,
                    const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb) {
  tsr_level3 x = triangular(TSR_TRMM, type, layout, side, uplo, transa, diag, m, n, lda, ldb);
  return tsr_level3_run(context, &x, alpha, a, NULL, NULL, b);
}

tsr_status tsr_trmm_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                          tsr_uplo uplo, tsr_op transa, tsr_diag diag, int64_t m, int64_t n,
                          const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb) {
  tsr_level3 x = triangular(TSR_TRMM, type, layout, side, uplo, transa, diag, m, n, lda, ldb);
  return tsr_level3_run_async(context, &x, alpha, a, NULL, NULL, b);
}

tsr_status tsr_trsm(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                    tsr_uplo uplo, tsr_op transa, tsr_diag diag, int64_t m, int64_t n,
                    const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb) {
  tsr_level3 x = triangular(TSR_TRSM, type, layout, side, uplo, transa, diag, m, n, lda, ldb);
  return tsr_level3_run(context, &x, alpha, a, NULL, NULL, b);
}

tsr_status tsr_trsm_async(tsr_context *context, tsr_type type, tsr_layout layout, tsr_side side,
                          tsr_uplo uplo, tsr_op transa, tsr_diag diag, int64_t m, int64_t n,
                          const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb) {
  tsr_level3 x = triangular(TSR_TRSM, type, layout, side, uplo, transa, diag, m, n, lda, ldb);
  return tsr_level3_run_async(context, &x, alpha, a, NULL, NULL, b);
}
