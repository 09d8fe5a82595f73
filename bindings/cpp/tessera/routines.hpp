/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The level-3 BLAS, and GEMMT. The arguments are the BLAS's, without extents and leading
 * dimensions, and behind them the call's arithmetic, as options::arithmetic has it (nullptr: as the
 * context says). The name with _async returns once the call is submitted; the matrices must stay
 * until context.sync(). */
#ifndef TESSERA_ROUTINES_HPP
#define TESSERA_ROUTINES_HPP

#include <tessera.h>

#include "call.hpp"

namespace tessera {

namespace detail {

/* gemm, gemmt; symm, hemm; syrk, herk; syr2k, her2k; trmm, trsm. `function` is tsr_level3_run or
 * tsr_level3_run_async. */
template <class A, class B, class C>
void general(run_function function, const context &context, tsr_operation operation, tsr_uplo uplo,
             tsr_op transa, tsr_op transb, const scalar_of<C> &alpha, const A &a, const B &b,
             const scalar_of<C> &beta, C &c, const char *arithmetic) {
  run(function, context, general_call(operation, uplo, transa, transb, a, b, c), arithmetic, &alpha,
      &beta, c);
}

template <class A, class B, class C>
void sided(run_function function, const context &context, tsr_operation operation, tsr_side side,
           tsr_uplo uplo, const scalar_of<C> &alpha, const A &a, const B &b,
           const scalar_of<C> &beta, C &c, const char *arithmetic) {
  run(function, context, sided_call(operation, side, uplo, a, b, c), arithmetic, &alpha, &beta, c);
}

template <class Alpha, class Beta, class A, class C>
void rank_k(run_function function, const context &context, tsr_operation operation, tsr_uplo uplo,
            tsr_op trans, const Alpha &alpha, const A &a, const Beta &beta, C &c,
            const char *arithmetic) {
  run(function, context, rank_call(operation, uplo, trans, a, operand{}, c), arithmetic, &alpha,
      &beta, c);
}

template <class Beta, class A, class B, class C>
void rank_2k(run_function function, const context &context, tsr_operation operation, tsr_uplo uplo,
             tsr_op trans, const scalar_of<C> &alpha, const A &a, const B &b, const Beta &beta,
             C &c, const char *arithmetic) {
  same_type<B, C>();
  run(function, context, rank_call(operation, uplo, trans, a, input("b", b), c), arithmetic, &alpha,
      &beta, c);
}

template <class A, class B>
void triangular(run_function function, const context &context, tsr_operation operation,
                tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
                const scalar_of<B> &alpha, const A &a, B &b, const char *arithmetic) {
  run(function, context, triangular_call(operation, side, uplo, transa, diag, a, b), arithmetic,
      &alpha, nullptr, b);
}

}  // namespace detail

/* C = alpha op(A) op(B) + beta C. */
template <class A, class B, class C>
void gemm(const context &context, tsr_op transa, tsr_op transb, detail::scalar_of<C> alpha,
          const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
          const char *arithmetic = nullptr) {
  detail::general(tsr_level3_run, context, TSR_GEMM, TSR_GENERAL, transa, transb, alpha, a, b, beta,
                  c, arithmetic);
}

template <class A, class B, class C>
void gemm_async(const context &context, tsr_op transa, tsr_op transb, detail::scalar_of<C> alpha,
                const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
                const char *arithmetic = nullptr) {
  detail::general(tsr_level3_run_async, context, TSR_GEMM, TSR_GENERAL, transa, transb, alpha, a, b,
                  beta, c, arithmetic);
}

/* The same, one triangle of C only. */
template <class A, class B, class C>
void gemmt(const context &context, tsr_uplo uplo, tsr_op transa, tsr_op transb,
           detail::scalar_of<C> alpha, const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
           const char *arithmetic = nullptr) {
  detail::general(tsr_level3_run, context, TSR_GEMMT, uplo, transa, transb, alpha, a, b, beta, c,
                  arithmetic);
}

template <class A, class B, class C>
void gemmt_async(const context &context, tsr_uplo uplo, tsr_op transa, tsr_op transb,
                 detail::scalar_of<C> alpha, const A &a, const B &b, detail::scalar_of<C> beta,
                 C &&c, const char *arithmetic = nullptr) {
  detail::general(tsr_level3_run_async, context, TSR_GEMMT, uplo, transa, transb, alpha, a, b, beta,
                  c, arithmetic);
}

/* C = alpha A B + beta C or C = alpha B A + beta C, A symmetric. */
template <class A, class B, class C>
void symm(const context &context, tsr_side side, tsr_uplo uplo, detail::scalar_of<C> alpha,
          const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
          const char *arithmetic = nullptr) {
  detail::sided(tsr_level3_run, context, TSR_SYMM, side, uplo, alpha, a, b, beta, c, arithmetic);
}

template <class A, class B, class C>
void symm_async(const context &context, tsr_side side, tsr_uplo uplo, detail::scalar_of<C> alpha,
                const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
                const char *arithmetic = nullptr) {
  detail::sided(tsr_level3_run_async, context, TSR_SYMM, side, uplo, alpha, a, b, beta, c,
                arithmetic);
}

/* The same, A Hermitian: complex types. */
template <class A, class B, class C>
void hemm(const context &context, tsr_side side, tsr_uplo uplo, detail::scalar_of<C> alpha,
          const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
          const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "hemm is for complex types: symm");
  detail::sided(tsr_level3_run, context, TSR_HEMM, side, uplo, alpha, a, b, beta, c, arithmetic);
}

template <class A, class B, class C>
void hemm_async(const context &context, tsr_side side, tsr_uplo uplo, detail::scalar_of<C> alpha,
                const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
                const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "hemm is for complex types: symm");
  detail::sided(tsr_level3_run_async, context, TSR_HEMM, side, uplo, alpha, a, b, beta, c,
                arithmetic);
}

/* C = alpha op(A) op(A)^T + beta C. */
template <class A, class C>
void syrk(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
          const A &a, detail::scalar_of<C> beta, C &&c, const char *arithmetic = nullptr) {
  detail::rank_k(tsr_level3_run, context, TSR_SYRK, uplo, trans, alpha, a, beta, c, arithmetic);
}

template <class A, class C>
void syrk_async(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
                const A &a, detail::scalar_of<C> beta, C &&c, const char *arithmetic = nullptr) {
  detail::rank_k(tsr_level3_run_async, context, TSR_SYRK, uplo, trans, alpha, a, beta, c,
                 arithmetic);
}

/* C = alpha op(A) op(A)^H + beta C: complex types, real alpha and beta. */
template <class A, class C>
void herk(const context &context, tsr_uplo uplo, tsr_op trans, detail::real_of<C> alpha, const A &a,
          detail::real_of<C> beta, C &&c, const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "herk is for complex types: syrk");
  detail::rank_k(tsr_level3_run, context, TSR_HERK, uplo, trans, alpha, a, beta, c, arithmetic);
}

template <class A, class C>
void herk_async(const context &context, tsr_uplo uplo, tsr_op trans, detail::real_of<C> alpha,
                const A &a, detail::real_of<C> beta, C &&c, const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "herk is for complex types: syrk");
  detail::rank_k(tsr_level3_run_async, context, TSR_HERK, uplo, trans, alpha, a, beta, c,
                 arithmetic);
}

/* C = alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C. */
template <class A, class B, class C>
void syr2k(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
           const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
           const char *arithmetic = nullptr) {
  detail::rank_2k(tsr_level3_run, context, TSR_SYR2K, uplo, trans, alpha, a, b, beta, c,
                  arithmetic);
}

template <class A, class B, class C>
void syr2k_async(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
                 const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
                 const char *arithmetic = nullptr) {
  detail::rank_2k(tsr_level3_run_async, context, TSR_SYR2K, uplo, trans, alpha, a, b, beta, c,
                  arithmetic);
}

/* C = alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C: complex types, a real beta. */
template <class A, class B, class C>
void her2k(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
           const A &a, const B &b, detail::real_of<C> beta, C &&c,
           const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "her2k is for complex types: syr2k");
  detail::rank_2k(tsr_level3_run, context, TSR_HER2K, uplo, trans, alpha, a, b, beta, c,
                  arithmetic);
}

template <class A, class B, class C>
void her2k_async(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
                 const A &a, const B &b, detail::real_of<C> beta, C &&c,
                 const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "her2k is for complex types: syr2k");
  detail::rank_2k(tsr_level3_run_async, context, TSR_HER2K, uplo, trans, alpha, a, b, beta, c,
                  arithmetic);
}

/* B = alpha op(A) B or B = alpha B op(A), A triangular. */
template <class A, class B>
void trmm(const context &context, tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
          detail::scalar_of<B> alpha, const A &a, B &&b, const char *arithmetic = nullptr) {
  detail::triangular(tsr_level3_run, context, TSR_TRMM, side, uplo, transa, diag, alpha, a, b,
                     arithmetic);
}

template <class A, class B>
void trmm_async(const context &context, tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
                detail::scalar_of<B> alpha, const A &a, B &&b, const char *arithmetic = nullptr) {
  detail::triangular(tsr_level3_run_async, context, TSR_TRMM, side, uplo, transa, diag, alpha, a, b,
                     arithmetic);
}

/* B becomes the X of op(A) X = alpha B or X op(A) = alpha B, A triangular. */
template <class A, class B>
void trsm(const context &context, tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
          detail::scalar_of<B> alpha, const A &a, B &&b, const char *arithmetic = nullptr) {
  detail::triangular(tsr_level3_run, context, TSR_TRSM, side, uplo, transa, diag, alpha, a, b,
                     arithmetic);
}

template <class A, class B>
void trsm_async(const context &context, tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
                detail::scalar_of<B> alpha, const A &a, B &&b, const char *arithmetic = nullptr) {
  detail::triangular(tsr_level3_run_async, context, TSR_TRSM, side, uplo, transa, diag, alpha, a, b,
                     arithmetic);
}

}  // namespace tessera

#endif
