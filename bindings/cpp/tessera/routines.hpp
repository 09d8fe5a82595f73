/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The level-3 BLAS, and GEMMT. The arguments are the BLAS's, without extents and leading
 * dimensions, and behind them the call's arithmetic, as options::arithmetic has it (nullptr: as the
 * context says). The name with _async returns once the call is submitted; the matrices must stay
 * until context.sync(). tools/routines/write.py writes the routines from src/blas/routines.def. */
#ifndef TESSERA_ROUTINES_HPP
#define TESSERA_ROUTINES_HPP

#include <tessera.h>

#include "call.hpp"

namespace tessera {

namespace detail {

/* The call of each list of arguments: it takes the extents from the matrices, and refuses
 * matrices that do not fit together. */
template <class A, class B, class C>
call gemm_call(tsr_operation operation, tsr_op transa, tsr_op transb, const A &a, const B &b,
               C &c) {
  same_type<A, C>();
  same_type<B, C>();
  call call = begun(operation, type_of<C>(), input("a", a), input("b", b), input("c", c));
  call.what.transa = transa;
  call.what.transb = transb;
  call.what.m = call.c.rows;
  call.what.n = call.c.cols;
  call.what.k = is_plain(transa) ? call.a.cols : call.a.rows;
  expect(call.a, transa, call.what.m, call.what.k);
  expect(call.b, transb, call.what.k, call.what.n);
  return call;
}

template <class A, class B, class C>
call gemmt_call(tsr_operation operation, tsr_uplo uplo, tsr_op transa, tsr_op transb, const A &a,
                const B &b, C &c) {
  same_type<A, C>();
  same_type<B, C>();
  call call = begun(operation, type_of<C>(), input("a", a), input("b", b), input("c", c));
  call.what.uplo = uplo;
  call.what.transa = transa;
  call.what.transb = transb;
  call.what.m = call.c.rows;
  call.what.n = call.c.cols;
  call.what.k = is_plain(transa) ? call.a.cols : call.a.rows;
  expect(call.c, call.what.n, call.what.n);
  expect(call.a, transa, call.what.m, call.what.k);
  expect(call.b, transb, call.what.k, call.what.n);
  return call;
}

template <class A, class B, class C>
call sided_call(tsr_operation operation, tsr_side side, tsr_uplo uplo, const A &a, const B &b,
                C &c) {
  same_type<A, C>();
  same_type<B, C>();
  call call = begun(operation, type_of<C>(), input("a", a), input("b", b), input("c", c));
  call.what.side = side;
  call.what.uplo = uplo;
  call.what.m = call.c.rows;
  call.what.n = call.c.cols;
  const std::int64_t k = is_left(side) ? call.what.m : call.what.n;
  expect(call.a, k, k);
  expect(call.b, call.what.m, call.what.n);
  return call;
}

template <class A, class C>
call rank_k_call(tsr_operation operation, tsr_uplo uplo, tsr_op trans, const A &a, C &c) {
  same_type<A, C>();
  call call = begun(operation, type_of<C>(), input("a", a), operand{}, input("c", c));
  call.what.uplo = uplo;
  call.what.transa = trans;
  call.what.m = call.c.rows;
  call.what.n = call.c.cols;
  call.what.k = is_plain(trans) ? call.a.cols : call.a.rows;
  expect(call.c, call.what.n, call.what.n);
  expect(call.a, trans, call.what.m, call.what.k);
  return call;
}

template <class A, class B, class C>
call rank_2k_call(tsr_operation operation, tsr_uplo uplo, tsr_op trans, const A &a, const B &b,
                  C &c) {
  same_type<A, C>();
  same_type<B, C>();
  call call = begun(operation, type_of<C>(), input("a", a), input("b", b), input("c", c));
  call.what.uplo = uplo;
  call.what.transa = trans;
  call.what.m = call.c.rows;
  call.what.n = call.c.cols;
  call.what.k = is_plain(trans) ? call.a.cols : call.a.rows;
  expect(call.c, call.what.n, call.what.n);
  expect(call.a, trans, call.what.m, call.what.k);
  expect(call.b, trans, call.what.m, call.what.k);
  return call;
}

template <class A, class B>
call triangular_call(tsr_operation operation, tsr_side side, tsr_uplo uplo, tsr_op transa,
                     tsr_diag diag, const A &a, B &b) {
  same_type<A, B>();
  call call = begun(operation, type_of<B>(), input("a", a), operand{}, input("b", b));
  call.what.side = side;
  call.what.uplo = uplo;
  call.what.transa = transa;
  call.what.diag = diag;
  call.what.m = call.c.rows;
  call.what.n = call.c.cols;
  const std::int64_t k = is_left(side) ? call.what.m : call.what.n;
  expect(call.a, k, k);
  return call;
}

}  // namespace detail

/* C = alpha op(A) op(B) + beta C. */
template <class A, class B, class C>
void gemm(const context &context, tsr_op transa, tsr_op transb, detail::scalar_of<C> alpha,
          const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
          const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run, context, detail::gemm_call(TSR_GEMM, transa, transb, a, b, c),
              arithmetic, &alpha, &beta, c);
}

template <class A, class B, class C>
void gemm_async(const context &context, tsr_op transa, tsr_op transb, detail::scalar_of<C> alpha,
                const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
                const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run_async, context, detail::gemm_call(TSR_GEMM, transa, transb, a, b, c),
              arithmetic, &alpha, &beta, c);
}

/* C = alpha op(A) op(B) + beta C, one triangle of C. */
template <class A, class B, class C>
void gemmt(const context &context, tsr_uplo uplo, tsr_op transa, tsr_op transb,
           detail::scalar_of<C> alpha, const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
           const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run, context, detail::gemmt_call(TSR_GEMMT, uplo, transa, transb, a, b, c),
              arithmetic, &alpha, &beta, c);
}

template <class A, class B, class C>
void gemmt_async(const context &context, tsr_uplo uplo, tsr_op transa, tsr_op transb,
                 detail::scalar_of<C> alpha, const A &a, const B &b, detail::scalar_of<C> beta,
                 C &&c, const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run_async, context,
              detail::gemmt_call(TSR_GEMMT, uplo, transa, transb, a, b, c), arithmetic, &alpha,
              &beta, c);
}

/* C = alpha A B + beta C or C = alpha B A + beta C, A symmetric. */
template <class A, class B, class C>
void symm(const context &context, tsr_side side, tsr_uplo uplo, detail::scalar_of<C> alpha,
          const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
          const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run, context, detail::sided_call(TSR_SYMM, side, uplo, a, b, c),
              arithmetic, &alpha, &beta, c);
}

template <class A, class B, class C>
void symm_async(const context &context, tsr_side side, tsr_uplo uplo, detail::scalar_of<C> alpha,
                const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
                const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run_async, context, detail::sided_call(TSR_SYMM, side, uplo, a, b, c),
              arithmetic, &alpha, &beta, c);
}

/* C = alpha A B + beta C or C = alpha B A + beta C, A Hermitian: complex types. */
template <class A, class B, class C>
void hemm(const context &context, tsr_side side, tsr_uplo uplo, detail::scalar_of<C> alpha,
          const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
          const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "hemm is for complex types: symm");
  detail::run(tsr_level3_run, context, detail::sided_call(TSR_HEMM, side, uplo, a, b, c),
              arithmetic, &alpha, &beta, c);
}

template <class A, class B, class C>
void hemm_async(const context &context, tsr_side side, tsr_uplo uplo, detail::scalar_of<C> alpha,
                const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
                const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "hemm is for complex types: symm");
  detail::run(tsr_level3_run_async, context, detail::sided_call(TSR_HEMM, side, uplo, a, b, c),
              arithmetic, &alpha, &beta, c);
}

/* C = alpha op(A) op(A)^T + beta C, one triangle of C. */
template <class A, class C>
void syrk(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
          const A &a, detail::scalar_of<C> beta, C &&c, const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run, context, detail::rank_k_call(TSR_SYRK, uplo, trans, a, c), arithmetic,
              &alpha, &beta, c);
}

template <class A, class C>
void syrk_async(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
                const A &a, detail::scalar_of<C> beta, C &&c, const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run_async, context, detail::rank_k_call(TSR_SYRK, uplo, trans, a, c),
              arithmetic, &alpha, &beta, c);
}

/* C = alpha op(A) op(A)^H + beta C, one triangle of C: complex types, real alpha and beta. */
template <class A, class C>
void herk(const context &context, tsr_uplo uplo, tsr_op trans, detail::real_of<C> alpha, const A &a,
          detail::real_of<C> beta, C &&c, const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "herk is for complex types: syrk");
  detail::run(tsr_level3_run, context, detail::rank_k_call(TSR_HERK, uplo, trans, a, c), arithmetic,
              &alpha, &beta, c);
}

template <class A, class C>
void herk_async(const context &context, tsr_uplo uplo, tsr_op trans, detail::real_of<C> alpha,
                const A &a, detail::real_of<C> beta, C &&c, const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "herk is for complex types: syrk");
  detail::run(tsr_level3_run_async, context, detail::rank_k_call(TSR_HERK, uplo, trans, a, c),
              arithmetic, &alpha, &beta, c);
}

/* C = alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C, one triangle of C. */
template <class A, class B, class C>
void syr2k(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
           const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
           const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run, context, detail::rank_2k_call(TSR_SYR2K, uplo, trans, a, b, c),
              arithmetic, &alpha, &beta, c);
}

template <class A, class B, class C>
void syr2k_async(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
                 const A &a, const B &b, detail::scalar_of<C> beta, C &&c,
                 const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run_async, context, detail::rank_2k_call(TSR_SYR2K, uplo, trans, a, b, c),
              arithmetic, &alpha, &beta, c);
}

/* C = alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C, one triangle of C: complex types, a
 * real beta. */
template <class A, class B, class C>
void her2k(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
           const A &a, const B &b, detail::real_of<C> beta, C &&c,
           const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "her2k is for complex types: syr2k");
  detail::run(tsr_level3_run, context, detail::rank_2k_call(TSR_HER2K, uplo, trans, a, b, c),
              arithmetic, &alpha, &beta, c);
}

template <class A, class B, class C>
void her2k_async(const context &context, tsr_uplo uplo, tsr_op trans, detail::scalar_of<C> alpha,
                 const A &a, const B &b, detail::real_of<C> beta, C &&c,
                 const char *arithmetic = nullptr) {
  static_assert(detail::is_complex<C>(), "her2k is for complex types: syr2k");
  detail::run(tsr_level3_run_async, context, detail::rank_2k_call(TSR_HER2K, uplo, trans, a, b, c),
              arithmetic, &alpha, &beta, c);
}

/* B = alpha op(A) B or B = alpha B op(A), A triangular. */
template <class A, class B>
void trmm(const context &context, tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
          detail::scalar_of<B> alpha, const A &a, B &&b, const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run, context,
              detail::triangular_call(TSR_TRMM, side, uplo, transa, diag, a, b), arithmetic, &alpha,
              nullptr, b);
}

template <class A, class B>
void trmm_async(const context &context, tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
                detail::scalar_of<B> alpha, const A &a, B &&b, const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run_async, context,
              detail::triangular_call(TSR_TRMM, side, uplo, transa, diag, a, b), arithmetic, &alpha,
              nullptr, b);
}

/* B becomes the X of op(A) X = alpha B or X op(A) = alpha B, A triangular. */
template <class A, class B>
void trsm(const context &context, tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
          detail::scalar_of<B> alpha, const A &a, B &&b, const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run, context,
              detail::triangular_call(TSR_TRSM, side, uplo, transa, diag, a, b), arithmetic, &alpha,
              nullptr, b);
}

template <class A, class B>
void trsm_async(const context &context, tsr_side side, tsr_uplo uplo, tsr_op transa, tsr_diag diag,
                detail::scalar_of<B> alpha, const A &a, B &&b, const char *arithmetic = nullptr) {
  detail::run(tsr_level3_run_async, context,
              detail::triangular_call(TSR_TRSM, side, uplo, transa, diag, a, b), arithmetic, &alpha,
              nullptr, b);
}

}  // namespace tessera

#endif
