/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Types of elements, and views: matrices in somebody else's memory. */
#ifndef TESSERA_VIEW_HPP
#define TESSERA_VIEW_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera.h>

#include "error.hpp"

namespace tessera {

/* What the library calls a type, the type of its alpha and beta, and of those of herk. To add a
 * type of your own, for instance of half precision:
 *   template <> struct tessera::element<half> : tessera::element_of<TSR_H, float, float> {}; */
template <class T>
struct element;

template <tsr_type Type, class Scalar, class Real>
struct element_of {
  static constexpr tsr_type type = Type;
  using scalar = Scalar;
  using real = Real;
};
template <>
struct element<float> : element_of<TSR_S, float, float> {};
template <>
struct element<double> : element_of<TSR_D, double, double> {};
template <>
struct element<std::complex<float>> : element_of<TSR_C, std::complex<float>, float> {};
template <>
struct element<std::complex<double>> : element_of<TSR_Z, std::complex<double>, double> {};

/* A matrix in somebody else's memory: rows x cols elements, ld from one column to the next
 * (row-major: from one row to the next). T may be const. */
template <class T>
class matrix_view {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;

  constexpr matrix_view(T *data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                        tsr_layout layout = TSR_COL_MAJOR) noexcept
      : data_(data), rows_(rows), cols_(cols), ld_(ld), layout_(layout) {}
  /* Where T is const: of a view of elements that may be written. */
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  constexpr matrix_view(const matrix_view<U> &other) noexcept
      : matrix_view(other.data(), other.rows(), other.cols(), other.ld(), other.layout()) {}

  constexpr T *data() const noexcept {
    return data_;
  }
  constexpr std::int64_t rows() const noexcept {
    return rows_;
  }
  constexpr std::int64_t cols() const noexcept {
    return cols_;
  }
  constexpr std::int64_t ld() const noexcept {
    return ld_;
  }
  constexpr tsr_layout layout() const noexcept {
    return layout_;
  }

  /* The element of a row and a column, from 0 on; the indices are not checked. */
  constexpr T &operator()(std::int64_t row, std::int64_t col) const noexcept {
    return *address(row, col);
  }

  /* The part of rows x cols elements that begins at (row, col). */
  matrix_view block(std::int64_t row, std::int64_t col, std::int64_t rows,
                    std::int64_t cols) const {
    if (row < 0 || col < 0 || rows < 0 || cols < 0 || row > rows_ - rows || col > cols_ - cols) {
      detail::refuse("a block of " + std::to_string(rows) + " x " + std::to_string(cols) + " at (" +
                     std::to_string(row) + ", " + std::to_string(col) +
                     ") is not inside the matrix, which is " + std::to_string(rows_) + " x " +
                     std::to_string(cols_));
    }
    return matrix_view(rows == 0 || cols == 0 ? data_ : address(row, col), rows, cols, ld_,
                       layout_);
  }

 private:
  constexpr T *address(std::int64_t row, std::int64_t col) const noexcept {
    return data_ + (layout_ == TSR_COL_MAJOR ? row + col * ld_ : row * ld_ + col);
  }

  T *data_;
  std::int64_t rows_, cols_, ld_;
  tsr_layout layout_;
};

namespace detail {

/* The least leading dimension that the library takes. */
constexpr std::int64_t least_ld(std::int64_t extent) noexcept {
  return extent > 1 ? extent : 1;
}

/* Refuses memory that is smaller than the matrix, whose columns (row-major: rows) are `count` times
 * `length` elements. */
inline void check_size(std::size_t size, std::int64_t length, std::int64_t count, std::int64_t ld) {
  if (length < 1 || count < 1) return;
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const bool fits = ld >= 1 && count - 1 <= (most - length) / ld &&
                    static_cast<std::uint64_t>((count - 1) * ld + length) <= size;
  if (fits) return;
  refuse("the memory has " + std::to_string(size) + " elements, which is too few for " +
         std::to_string(count) + " x " + std::to_string(length) + " with leading dimension " +
         std::to_string(ld));
}

}  // namespace detail

template <class T>
constexpr matrix_view<T> col_major(T *data, std::int64_t rows, std::int64_t cols,
                                   std::int64_t ld) noexcept {
  return matrix_view<T>(data, rows, cols, ld, TSR_COL_MAJOR);
}
template <class T>
constexpr matrix_view<T> col_major(T *data, std::int64_t rows, std::int64_t cols) noexcept {
  return col_major(data, rows, cols, detail::least_ld(rows));
}
template <class T>
constexpr matrix_view<T> row_major(T *data, std::int64_t rows, std::int64_t cols,
                                   std::int64_t ld) noexcept {
  return matrix_view<T>(data, rows, cols, ld, TSR_ROW_MAJOR);
}
template <class T>
constexpr matrix_view<T> row_major(T *data, std::int64_t rows, std::int64_t cols) noexcept {
  return row_major(data, rows, cols, detail::least_ld(cols));
}

/* Of a vector, an array or a span, whose size is checked. */
template <class Range, class = decltype(std::size(std::declval<Range &>()))>
auto col_major(Range &&range, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  detail::check_size(std::size(range), rows, cols, ld);
  return col_major(std::data(range), rows, cols, ld);
}
template <class Range, class = decltype(std::size(std::declval<Range &>()))>
auto col_major(Range &&range, std::int64_t rows, std::int64_t cols) {
  return col_major(range, rows, cols, detail::least_ld(rows));
}
template <class Range, class = decltype(std::size(std::declval<Range &>()))>
auto row_major(Range &&range, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  detail::check_size(std::size(range), cols, rows, ld);
  return row_major(std::data(range), rows, cols, ld);
}
template <class Range, class = decltype(std::size(std::declval<Range &>()))>
auto row_major(Range &&range, std::int64_t rows, std::int64_t cols) {
  return row_major(range, rows, cols, detail::least_ld(cols));
}

}  // namespace tessera

#endif
