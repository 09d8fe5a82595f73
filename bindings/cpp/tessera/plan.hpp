/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Plans, and captures of sequences. */
#ifndef TESSERA_PLAN_HPP
#define TESSERA_PLAN_HPP

#include <cstddef>
#include <memory>
#include <string>

#include <tessera.h>

#include "routines.hpp"

namespace tessera {

namespace detail {

/* Ends an object of the library by its function. */
template <auto End>
struct ended_by {
  template <class Object>
  void operator()(Object *object) const noexcept {
    End(object);
  }
};

}  // namespace detail

/* How one kind of call will be done. */
class plan {
 public:
  /* Of a call that is described as data; alpha, beta and homes are those of tsr_plan_level3. */
  plan(const context &context, const tsr_level3 &what, const void *alpha, const void *beta,
       const tsr_home (&homes)[3]) {
    tsr_plan *made;
    detail::check(tsr_plan_level3(context.get(), &what, alpha, beta, homes, &made));
    handle_.reset(made);
  }

  tsr_plan *get() const noexcept {
    return handle_.get();
  }
  std::string print(tsr_format format = TSR_TEXT) const {
    return detail::text_of(tsr_plan_print, get(), format);
  }
  /* On matrices with the plan's extents and leading dimensions; of trmm and trsm c is B, and b and
   * beta count for nothing. */
  template <class Alpha, class Beta, class T>
  void execute(const Alpha &alpha, const T *a, const T *b, const Beta &beta, T *c) const {
    detail::check(tsr_plan_execute(get(), &alpha, a, b, &beta, c));
  }

 private:
  friend class context;
  explicit plan(tsr_plan *handle) noexcept : handle_(handle) {}

  std::unique_ptr<tsr_plan, detail::ended_by<tsr_plan_destroy>> handle_;
};

inline plan context::last_plan() const {
  tsr_plan *handle;
  detail::check(tsr_plan_last(get(), &handle));
  return plan(handle);
}

/* The plan of a GEMM of matrices with these extents and leading dimensions, which are at homes[0],
 * [1] and [2]; their memory is not looked at. arithmetic: of the call, as in its routine. */
template <class A, class B, class C>
plan plan_gemm(const context &context, tsr_op transa, tsr_op transb, detail::scalar_of<C> alpha,
               const A &a, const B &b, detail::scalar_of<C> beta, const C &c,
               const tsr_home (&homes)[3], const char *arithmetic = nullptr) {
  detail::call call = detail::gemm_call(TSR_GEMM, transa, transb, a, b, c);
  call.what.arithmetic = arithmetic;
  return plan(context, call.what, &alpha, &beta, homes);
}

/* A sequence of asynchronous calls that can be run again without planning: what is called between
 * context::begin_capture and context::end_capture. */
class capture {
 public:
  tsr_capture *get() const noexcept {
    return handle_.get();
  }
  void run_async() const {
    detail::check(tsr_capture_run_async(get()));
  }
  void move(const void *from, std::size_t bytes, void *to) const {
    detail::check(tsr_capture_move(get(), from, bytes, to));
  }
  std::string print(tsr_format format = TSR_TEXT) const {
    return detail::text_of(tsr_capture_print, get(), format);
  }

 private:
  friend class context;
  explicit capture(tsr_capture *handle) noexcept : handle_(handle) {}

  std::unique_ptr<tsr_capture, detail::ended_by<tsr_capture_destroy>> handle_;
};

inline capture context::end_capture() const {
  tsr_capture *handle;
  detail::check(tsr_capture_end(get(), &handle));
  return capture(handle);
}

}  // namespace tessera

#endif
