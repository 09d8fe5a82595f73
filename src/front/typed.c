/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The native door: routines with the type in their name (tsr_dgemm). Each calls the routine that
 * takes the type as an argument. Real scalars come by value and are passed on by their address
 * (VALUE); complex scalars come as addresses already (ADDRESS).
 */
#include "tessera.h"

#define VALUE(scalar) &(scalar)
#define ADDRESS(scalar) (scalar)

/* Defines the blocking and the asynchronous function. */
#define BOTH(name, of, parameters, arguments) \
  tsr_status name parameters {                \
    return of arguments;                      \
  }                                           \
  tsr_status name##_async parameters {        \
    return of##_async arguments;              \
  }

#define GEMM(name, of, type, scalar, by, element)                                               \
  BOTH(name, of,                                                                                \
       (tsr_context * context, tsr_layout layout, tsr_op transa, tsr_op transb, int64_t m,      \
        int64_t n, int64_t k, scalar alpha, const element *a, int64_t lda, const element *b,    \
        int64_t ldb, scalar beta, element *c, int64_t ldc),                                     \
       (context, type, layout, transa, transb, m, n, k, by(alpha), a, lda, b, ldb, by(beta), c, \
        ldc))

GEMM(tsr_sgemm, tsr_gemm, TSR_S, float, VALUE, float)
GEMM(tsr_dgemm, tsr_gemm, TSR_D, double, VALUE, double)
GEMM(tsr_cgemm, tsr_gemm, TSR_C, const void *, ADDRESS, void)
GEMM(tsr_zgemm, tsr_gemm, TSR_Z, const void *, ADDRESS, void)

#define GEMMT(name, of, type, scalar, by, element)                                                 \
  BOTH(name, of,                                                                                   \
       (tsr_context * context, tsr_layout layout, tsr_uplo uplo, tsr_op transa, tsr_op transb,     \
        int64_t n, int64_t k, scalar alpha, const element *a, int64_t lda, const element *b,       \
        int64_t ldb, scalar beta, element *c, int64_t ldc),                                        \
       (context, type, layout, uplo, transa, transb, n, k, by(alpha), a, lda, b, ldb, by(beta), c, \
        ldc))

GEMMT(tsr_sgemmt, tsr_gemmt, TSR_S, float, VALUE, float)
GEMMT(tsr_dgemmt, tsr_gemmt, TSR_D, double, VALUE, double)
GEMMT(tsr_cgemmt, tsr_gemmt, TSR_C, const void *, ADDRESS, void)
GEMMT(tsr_zgemmt, tsr_gemmt, TSR_Z, const void *, ADDRESS, void)

#define SIDED(name, of, type, scalar, by, element)                                             \
  BOTH(name, of,                                                                               \
       (tsr_context * context, tsr_layout layout, tsr_side side, tsr_uplo uplo, int64_t m,     \
        int64_t n, scalar alpha, const element *a, int64_t lda, const element *b, int64_t ldb, \
        scalar beta, element *c, int64_t ldc),                                                 \
       (context, type, layout, side, uplo, m, n, by(alpha), a, lda, b, ldb, by(beta), c, ldc))

SIDED(tsr_ssymm, tsr_symm, TSR_S, float, VALUE, float)
SIDED(tsr_dsymm, tsr_symm, TSR_D, double, VALUE, double)
SIDED(tsr_csymm, tsr_symm, TSR_C, const void *, ADDRESS, void)
SIDED(tsr_zsymm, tsr_symm, TSR_Z, const void *, ADDRESS, void)
SIDED(tsr_chemm, tsr_hemm, TSR_C, const void *, ADDRESS, void)
SIDED(tsr_zhemm, tsr_hemm, TSR_Z, const void *, ADDRESS, void)

#define RANK_K(name, of, type, scalar, by, element)                                       \
  BOTH(name, of,                                                                          \
       (tsr_context * context, tsr_layout layout, tsr_uplo uplo, tsr_op trans, int64_t n, \
        int64_t k, scalar alpha, const element *a, int64_t lda, scalar beta, element *c,  \
        int64_t ldc),                                                                     \
       (context, type, layout, uplo, trans, n, k, by(alpha), a, lda, by(beta), c, ldc))

RANK_K(tsr_ssyrk, tsr_syrk, TSR_S, float, VALUE, float)
RANK_K(tsr_dsyrk, tsr_syrk, TSR_D, double, VALUE, double)
RANK_K(tsr_csyrk, tsr_syrk, TSR_C, const void *, ADDRESS, void)
RANK_K(tsr_zsyrk, tsr_syrk, TSR_Z, const void *, ADDRESS, void)
RANK_K(tsr_cherk, tsr_herk, TSR_C, float, VALUE, void)
RANK_K(tsr_zherk, tsr_herk, TSR_Z, double, VALUE, void)

#define RANK_2K(name, of, type, scalar, by, beta_scalar, beta_by, element)                     \
  BOTH(name, of,                                                                               \
       (tsr_context * context, tsr_layout layout, tsr_uplo uplo, tsr_op trans, int64_t n,      \
        int64_t k, scalar alpha, const element *a, int64_t lda, const element *b, int64_t ldb, \
        beta_scalar beta, element *c, int64_t ldc),                                            \
       (context, type, layout, uplo, trans, n, k, by(alpha), a, lda, b, ldb, beta_by(beta), c, \
        ldc))

RANK_2K(tsr_ssyr2k, tsr_syr2k, TSR_S, float, VALUE, float, VALUE, float)
RANK_2K(tsr_dsyr2k, tsr_syr2k, TSR_D, double, VALUE, double, VALUE, double)
RANK_2K(tsr_csyr2k, tsr_syr2k, TSR_C, const void *, ADDRESS, const void *, ADDRESS, void)
RANK_2K(tsr_zsyr2k, tsr_syr2k, TSR_Z, const void *, ADDRESS, const void *, ADDRESS, void)
RANK_2K(tsr_cher2k, tsr_her2k, TSR_C, const void *, ADDRESS, float, VALUE, void)
RANK_2K(tsr_zher2k, tsr_her2k, TSR_Z, const void *, ADDRESS, double, VALUE, void)

#define TRIANGULAR(name, of, type, scalar, by, element)                                        \
  BOTH(name, of,                                                                               \
       (tsr_context * context, tsr_layout layout, tsr_side side, tsr_uplo uplo, tsr_op transa, \
        tsr_diag diag, int64_t m, int64_t n, scalar alpha, const element *a, int64_t lda,      \
        element *b, int64_t ldb),                                                              \
       (context, type, layout, side, uplo, transa, diag, m, n, by(alpha), a, lda, b, ldb))

TRIANGULAR(tsr_strmm, tsr_trmm, TSR_S, float, VALUE, float)
TRIANGULAR(tsr_dtrmm, tsr_trmm, TSR_D, double, VALUE, double)
TRIANGULAR(tsr_ctrmm, tsr_trmm, TSR_C, const void *, ADDRESS, void)
TRIANGULAR(tsr_ztrmm, tsr_trmm, TSR_Z, const void *, ADDRESS, void)
TRIANGULAR(tsr_strsm, tsr_trsm, TSR_S, float, VALUE, float)
TRIANGULAR(tsr_dtrsm, tsr_trsm, TSR_D, double, VALUE, double)
TRIANGULAR(tsr_ctrsm, tsr_trsm, TSR_C, const void *, ADDRESS, void)
TRIANGULAR(tsr_ztrsm, tsr_trsm, TSR_Z, const void *, ADDRESS, void)
