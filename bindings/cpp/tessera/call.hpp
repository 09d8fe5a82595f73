/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* From the matrices of a call to the arguments of the C interface. */
#ifndef TESSERA_CALL_HPP
#define TESSERA_CALL_HPP

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera.h>

#include "memory.hpp"

namespace tessera {

/* The view of a matrix of a call. */
template <class T>
constexpr matrix_view<T> view(const matrix_view<T> &x) noexcept {
  return x;
}
template <class T>
matrix_view<T> view(matrix<T> &x) noexcept {
  return x.view();
}
template <class T>
matrix_view<const T> view(const matrix<T> &x) noexcept {
  return x.view();
}
/* Of a std::mdspan, or what has the same members. */
template <class M,
          class T = std::remove_pointer_t<decltype(std::declval<const M &>().data_handle())>>
matrix_view<T> view(const M &x) {
  static_assert(M::rank() == 2, "a matrix has two indices");
  const auto rows = static_cast<std::int64_t>(x.extent(0));
  const auto cols = static_cast<std::int64_t>(x.extent(1));
  const auto down = static_cast<std::int64_t>(x.stride(0));
  const auto right = static_cast<std::int64_t>(x.stride(1));
  if ((down == 1 || rows <= 1) && right >= detail::least_ld(rows)) {
    return col_major(x.data_handle(), rows, cols, right);
  }
  if ((right == 1 || cols <= 1) && down >= detail::least_ld(cols)) {
    return row_major(x.data_handle(), rows, cols, down);
  }
  detail::refuse("an mdspan has the strides " + std::to_string(down) + " and " +
                 std::to_string(right) + ": one must be 1, and the other at least the extent");
}

namespace detail {

template <class M>
using view_of = decltype(tessera::view(std::declval<M &>()));
template <class M>
using value_of = typename view_of<M>::value_type;
/* Types of alpha and beta beside a matrix. */
template <class M>
using scalar_of = typename element<value_of<M>>::scalar;
template <class M>
using real_of = typename element<value_of<M>>::real;

template <class M>
constexpr tsr_type type_of() {
  return element<value_of<M>>::type;
}
template <class M>
constexpr bool is_complex() {
  return type_of<M>() == TSR_C || type_of<M>() == TSR_Z;
}

/* A matrix of a call, without its type. */
struct operand {
  const char *name = nullptr;  // none where the routine has no such matrix
  const void *data = nullptr;
  std::int64_t rows = 0, cols = 0, ld = 1;
  tsr_layout layout = TSR_COL_MAJOR;
};

template <class M>
operand input(const char *name, const M &x) {
  const auto v = tessera::view(x);
  return {name, v.data(), v.rows(), v.cols(), v.ld(), v.layout()};
}

template <class X, class Y>
constexpr void same_type() {
  static_assert(std::is_same_v<value_of<X>, value_of<Y>>, "the matrices have different types");
}

inline void expect(const operand &x, std::int64_t rows, std::int64_t cols) {
  if (x.rows == rows && x.cols == cols) return;
  refuse(std::string(x.name) + " is " + std::to_string(x.rows) + " x " + std::to_string(x.cols) +
         ", and the call needs " + std::to_string(rows) + " x " + std::to_string(cols) +
         ": see the other matrices' extents and the flags");
}

constexpr bool is_plain(tsr_op op) noexcept {
  return op == TSR_NO_TRANS || static_cast<int>(op) == 'n';
}
constexpr bool is_left(tsr_side side) noexcept {
  return side == TSR_LEFT || static_cast<int>(side) == 'l';
}

inline void expect(const operand &x, tsr_op op, std::int64_t rows, std::int64_t cols) {
  if (is_plain(op)) {
    expect(x, rows, cols);
  } else {
    expect(x, cols, rows);
  }
}

/* The same elements in the other layout, where there is one: a single row or column. */
inline operand laid(operand x, tsr_layout layout) {
  if (x.name == nullptr || x.layout == layout) return x;
  const bool by_column = x.layout == TSR_COL_MAJOR;
  const std::int64_t length = by_column ? x.rows : x.cols;  // of what is contiguous
  const std::int64_t count = by_column ? x.cols : x.rows;
  if (count > 1 && (length > 1 || x.ld != 1)) {
    refuse(std::string(x.name) + (by_column ? " is column-major" : " is row-major") +
           ", and other matrices of the call are not: give it transposed in the others' layout");
  }
  x.layout = layout;
  x.ld = least_ld(count);
  return x;
}

/* The layout of a call: of the first matrix that is not a single row or column. */
inline tsr_layout common_layout(const operand &c, const operand &a, const operand &b) {
  for (const operand *x : {&c, &a, &b}) {
    if (x->name && x->rows > 1 && x->cols > 1) return x->layout;
  }
  return c.layout;
}

/* A routine with its matrices. */
struct call {
  tsr_level3 what;
  operand a, b, c;
};

/* A routine whose flags and extents are still to be set. */
inline call begun(tsr_operation operation, tsr_type type, const operand &a, const operand &b,
                  const operand &c) {
  call call = {};
  call.what.operation = operation;
  call.what.type = type;
  call.what.layout = common_layout(c, a, b);
  call.what.side = TSR_LEFT;
  call.what.uplo = TSR_LOWER;
  call.what.transa = call.what.transb = TSR_NO_TRANS;
  call.what.diag = TSR_NON_UNIT;
  call.a = laid(a, call.what.layout);
  call.b = laid(b, call.what.layout);
  call.c = laid(c, call.what.layout);
  call.what.lda = call.a.ld;
  call.what.ldb = call.b.ld;
  call.what.ldc = call.c.ld;
  return call;
}

using run_function = decltype(&tsr_level3_run);

/* C is the type of the result, which is written. */
template <class C>
void run(run_function function, const context &context, call call, const char *arithmetic,
         const void *alpha, const void *beta, C &) {
  static_assert(!std::is_const_v<typename view_of<C>::element_type>, "the result is const");
  call.what.arithmetic = arithmetic;
  check(function(context.get(), &call.what, alpha, call.a.data, call.b.data, beta,
                 const_cast<void *>(call.c.data)));
}

}  // namespace detail

}  // namespace tessera

#endif
