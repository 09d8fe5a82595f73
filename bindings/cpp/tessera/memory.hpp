/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Pinned memory and memory of devices: buffers, matrices, an allocator; memory that is pinned in
 * place. */
#ifndef TESSERA_MEMORY_HPP
#define TESSERA_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

#include <tessera.h>

#include "context.hpp"
#include "view.hpp"

namespace tessera {

/* Memory of a device, or pinned host memory (device = TSR_HOST): count elements, which are not
 * set. */
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "no constructor or destructor of the elements is called");

 public:
  buffer(const context &context, int device, std::int64_t count)
      : context_(context), device_(device), size_(size_of(count)) {
    void *pointer;
    // The library takes no size of 0.
    const std::size_t bytes = size_ * sizeof(T);
    detail::check(tsr_malloc(context_.get(), device, bytes > 0 ? bytes : sizeof(T), &pointer));
    data_ = static_cast<T *>(pointer);
  }
  buffer(buffer &&other) noexcept
      : context_(std::move(other.context_)),
        device_(other.device_),
        size_(std::exchange(other.size_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  buffer &operator=(buffer &&other) noexcept {
    buffer taken(std::move(other));
    std::swap(context_, taken.context_);
    std::swap(device_, taken.device_);
    std::swap(size_, taken.size_);
    std::swap(data_, taken.data_);
    return *this;
  }
  ~buffer() {
    if (data_) tsr_free(context_.get(), data_);
  }

  T *data() const noexcept {
    return data_;
  }
  std::size_t size() const noexcept {
    return size_;
  }
  int device() const noexcept {
    return device_;
  }
#if defined(__cpp_lib_span)
  std::span<T> span() const noexcept {
    return std::span<T>(data_, size_);
  }
#endif

 private:
  static std::size_t size_of(std::int64_t count) {
    if (count < 0) detail::refuse("a buffer of " + std::to_string(count) + " elements");
    const auto size = static_cast<std::uint64_t>(count);
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw error(TSR_ERR_MEMORY, "there is no room for " + std::to_string(count) + " elements");
    }
    return static_cast<std::size_t>(size);
  }

  context context_;
  int device_;
  std::size_t size_;
  T *data_ = nullptr;
};

/* A matrix with memory of its own: pinned, or a device's. The elements are not set. */
template <class T>
class matrix {
 public:
  using element_type = T;

  matrix(const context &context, std::int64_t rows, std::int64_t cols,
         tsr_layout layout = TSR_COL_MAJOR, int device = TSR_HOST)
      : rows_(rows), cols_(cols), layout_(layout), memory_(context, device, count(rows, cols)) {}
  matrix(matrix &&other) noexcept
      : rows_(std::exchange(other.rows_, 0)),
        cols_(std::exchange(other.cols_, 0)),
        layout_(other.layout_),
        memory_(std::move(other.memory_)) {}
  matrix &operator=(matrix &&other) noexcept {
    memory_ = std::move(other.memory_);
    rows_ = std::exchange(other.rows_, 0);
    cols_ = std::exchange(other.cols_, 0);
    layout_ = other.layout_;
    return *this;
  }

  T *data() const noexcept {
    return memory_.data();
  }
  std::int64_t rows() const noexcept {
    return rows_;
  }
  std::int64_t cols() const noexcept {
    return cols_;
  }
  std::int64_t ld() const noexcept {
    return detail::least_ld(layout_ == TSR_COL_MAJOR ? rows_ : cols_);
  }
  tsr_layout layout() const noexcept {
    return layout_;
  }

  matrix_view<T> view() noexcept {
    return {data(), rows_, cols_, ld(), layout_};
  }
  matrix_view<const T> view() const noexcept {
    return {data(), rows_, cols_, ld(), layout_};
  }
  matrix_view<T> block(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
    return view().block(row, col, rows, cols);
  }
  matrix_view<const T> block(std::int64_t row, std::int64_t col, std::int64_t rows,
                             std::int64_t cols) const {
    return view().block(row, col, rows, cols);
  }
  /* Of a matrix in host memory. */
  T &operator()(std::int64_t row, std::int64_t col) noexcept {
    return view()(row, col);
  }
  const T &operator()(std::int64_t row, std::int64_t col) const noexcept {
    return view()(row, col);
  }

 private:
  static std::int64_t count(std::int64_t rows, std::int64_t cols) {
    if (rows < 0 || cols < 0) {
      detail::refuse("a matrix of " + std::to_string(rows) + " x " + std::to_string(cols));
    }
    if (cols > 0 && rows > std::numeric_limits<std::int64_t>::max() / cols) {
      throw error(TSR_ERR_MEMORY, "there is no room for a matrix of " + std::to_string(rows) +
                                      " x " + std::to_string(cols));
    }
    return rows * cols;
  }

  std::int64_t rows_, cols_;
  tsr_layout layout_;
  buffer<T> memory_;
};

/* An allocator of pinned memory: std::vector<double, tessera::pinned_allocator<double>> x(n,
 * context); each allocation costs some 0.1 ms and more. */
template <class T>
class pinned_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  pinned_allocator(const class context &context) noexcept : context_(context) {}
  template <class U>
  pinned_allocator(const pinned_allocator<U> &other) noexcept : context_(other.context()) {}

  T *allocate(std::size_t count) {
    void *pointer;
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw std::bad_array_new_length();
    const std::size_t bytes =
        (count > 0 ? count : 1) * sizeof(T);  // the library takes no size of 0
    detail::check(tsr_malloc(context_.get(), TSR_HOST, bytes, &pointer));
    return static_cast<T *>(pointer);
  }
  void deallocate(T *pointer, std::size_t) noexcept {
    tsr_free(context_.get(), pointer);
  }
  const class context &context() const noexcept {
    return context_;
  }

 private:
  class context context_;
};

template <class T, class U>
bool operator==(const pinned_allocator<T> &x, const pinned_allocator<U> &y) noexcept {
  return x.context().get() == y.context().get();
}
template <class T, class U>
bool operator!=(const pinned_allocator<T> &x, const pinned_allocator<U> &y) noexcept {
  return !(x == y);
}

template <class T>
using pinned_vector = std::vector<T, pinned_allocator<T>>;

/* Memory of the program's that is pinned in place, in the background, for as long as this lives. */
class registration {
 public:
  registration(const context &context, void *pointer, std::size_t bytes) : context_(context) {
    detail::check(tsr_register(context_.get(), pointer, bytes));
    pointer_ = pointer;
  }
  registration(registration &&other) noexcept
      : context_(std::move(other.context_)), pointer_(std::exchange(other.pointer_, nullptr)) {}
  registration &operator=(registration &&other) noexcept {
    registration taken(std::move(other));
    std::swap(context_, taken.context_);
    std::swap(pointer_, taken.pointer_);
    return *this;
  }
  ~registration() {
    if (pointer_) tsr_unregister(context_.get(), pointer_);
  }

 private:
  context context_;
  void *pointer_ = nullptr;
};

}  // namespace tessera

#endif
