/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Each routine in each type and both layouts, blocking and asynchronous, on random problems beside
 * sums that are written out. */
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using tessera::matrix_view;

std::mt19937_64 generator(23);

std::int64_t random_between(std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(generator);
}

template <class T>
struct real_of {
  using type = T;
};
template <class R>
struct real_of<std::complex<R>> {
  using type = R;
};
template <class T>
using real = typename real_of<T>::type;
template <class T>
constexpr bool is_complex = !std::is_same_v<T, real<T>>;

template <class T>
T random_element() {
  const auto part = [] {
    return static_cast<real<T>>(std::uniform_real_distribution<double>(-1, 1)(generator));
  };
  if constexpr (is_complex<T>) {
    const real<T> re = part();
    return {re, part()};
  } else {
    return part();
  }
}

template <class T>
T conjugate(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  return x;
}

/* A matrix with rows of memory between its columns, which must stay as they are. */
template <class T>
struct padded {
  padded(std::int64_t rows, std::int64_t cols, tsr_layout layout)
      : ld(std::max<std::int64_t>(1, layout == TSR_COL_MAJOR ? rows : cols) + random_between(0, 3)),
        memory(static_cast<std::size_t>(
            ld * std::max<std::int64_t>(1, layout == TSR_COL_MAJOR ? cols : rows))),
        rows_(rows),
        cols_(cols),
        layout_(layout) {
    for (T &x : memory) x = random_element<T>();
  }
  matrix_view<T> view() {
    return {memory.data(), rows_, cols_, ld, layout_};
  }

  std::int64_t ld;
  std::vector<T> memory;

 private:
  std::int64_t rows_, cols_;
  tsr_layout layout_;
};

/* Elements of op(X), of a symmetric or Hermitian matrix, and of op of a triangular one. */
template <class T>
T of_op(const matrix_view<T> &x, tsr_op op, std::int64_t i, std::int64_t j) {
  if (op == TSR_NO_TRANS) return x(i, j);
  return op == TSR_TRANS ? x(j, i) : conjugate(x(j, i));
}

bool is_in(tsr_uplo uplo, std::int64_t i, std::int64_t j) {
  return uplo == TSR_LOWER ? i >= j : i <= j;
}

template <class T>
T of_symmetric(const matrix_view<T> &x, tsr_uplo uplo, bool hermitian, std::int64_t i,
               std::int64_t j) {
  const T value = is_in(uplo, i, j) ? x(i, j) : hermitian ? conjugate(x(j, i)) : x(j, i);
  return hermitian && i == j ? T(std::real(value)) : value;
}

template <class T>
T of_triangular(const matrix_view<T> &x, tsr_uplo uplo, tsr_diag diag, tsr_op op, std::int64_t i,
                std::int64_t j) {
  const std::int64_t row = op == TSR_NO_TRANS ? i : j, col = op == TSR_NO_TRANS ? j : i;
  if (!is_in(uplo, row, col)) return T(0);
  if (i == j && diag == TSR_UNIT) return T(1);
  return of_op(x, op, i, j);
}

template <class T, class Term>
T sum(std::int64_t count, Term term) {
  T total = 0;
  for (std::int64_t l = 0; l < count; l++) total += term(l);
  return total;
}

/* One random problem: flags, factors and the layout are drawn, calls are blocking or not. */
template <class T>
class problem {
 public:
  explicit problem(const tessera::context &context) : context_(context) {
    layout_ = random_between(0, 1) ? TSR_COL_MAJOR : TSR_ROW_MAJOR;
    async_ = random_between(0, 1) != 0;
    m_ = random_between(0, 40);
    n_ = random_between(0, 40);
    k_ = random_between(0, 40);
    uplo_ = random_between(0, 1) ? TSR_LOWER : TSR_UPPER;
    side_ = random_between(0, 1) ? TSR_LEFT : TSR_RIGHT;
    diag_ = random_between(0, 1) ? TSR_UNIT : TSR_NON_UNIT;
    alpha_ = random_element<T>();
    beta_ = random_between(0, 3) ? random_element<T>() : T(0);
  }

  void gemm() {
    const tsr_op opa = any_op(), opb = any_op();
    padded<T> a = shaped(opa, m_, k_), b = shaped(opb, k_, n_), c(m_, n_, layout_);
    const auto x = a.view(), y = b.view();
    compare(
        "gemm", c, nothing_outside,
        [&](std::int64_t i, std::int64_t j, T before) {
          return alpha_ * sum<T>(k_,
                                 [&](std::int64_t l) {
                                   return of_op(x, opa, i, l) * of_op(y, opb, l, j);
                                 }) +
                 scaled(beta_, before);
        },
        [&](auto &z) {
          if (async_)
            tessera::gemm_async(context_, opa, opb, alpha_, x, y, beta_, z);
          else
            tessera::gemm(context_, opa, opb, alpha_, x, y, beta_, z);
        });
  }

  void gemmt() {
    const tsr_op opa = any_op(), opb = any_op();
    padded<T> a = shaped(opa, n_, k_), b = shaped(opb, k_, n_), c(n_, n_, layout_);
    const auto x = a.view(), y = b.view();
    compare(
        "gemmt", c, triangle(),
        [&](std::int64_t i, std::int64_t j, T before) {
          return alpha_ * sum<T>(k_,
                                 [&](std::int64_t l) {
                                   return of_op(x, opa, i, l) * of_op(y, opb, l, j);
                                 }) +
                 scaled(beta_, before);
        },
        [&](auto &z) {
          if (async_)
            tessera::gemmt_async(context_, uplo_, opa, opb, alpha_, x, y, beta_, z);
          else
            tessera::gemmt(context_, uplo_, opa, opb, alpha_, x, y, beta_, z);
        });
  }

  void symm(bool hermitian) {
    const std::int64_t order = side_ == TSR_LEFT ? m_ : n_;
    padded<T> a(order, order, layout_), b(m_, n_, layout_), c(m_, n_, layout_);
    const auto x = a.view(), y = b.view();
    compare(
        hermitian ? "hemm" : "symm", c, nothing_outside,
        [&](std::int64_t i, std::int64_t j, T before) {
          return alpha_ * sum<T>(order,
                                 [&](std::int64_t l) {
                                   return side_ == TSR_LEFT
                                              ? of_symmetric(x, uplo_, hermitian, i, l) * y(l, j)
                                              : y(i, l) * of_symmetric(x, uplo_, hermitian, l, j);
                                 }) +
                 scaled(beta_, before);
        },
        [&](auto &z) {
          if constexpr (is_complex<T>) {
            if (hermitian && async_)
              return tessera::hemm_async(context_, side_, uplo_, alpha_, x, y, beta_, z);
            if (hermitian) return tessera::hemm(context_, side_, uplo_, alpha_, x, y, beta_, z);
          }
          if (async_)
            tessera::symm_async(context_, side_, uplo_, alpha_, x, y, beta_, z);
          else
            tessera::symm(context_, side_, uplo_, alpha_, x, y, beta_, z);
        });
  }

  void syrk() {
    const tsr_op op = random_between(0, 1) ? TSR_TRANS : TSR_NO_TRANS;
    padded<T> a = shaped(op, n_, k_), c(n_, n_, layout_);
    const auto x = a.view();
    compare(
        "syrk", c, triangle(),
        [&](std::int64_t i, std::int64_t j, T before) {
          return alpha_ * sum<T>(k_,
                                 [&](std::int64_t l) {
                                   return of_op(x, op, i, l) * of_op(x, op, j, l);
                                 }) +
                 scaled(beta_, before);
        },
        [&](auto &z) {
          if (async_)
            tessera::syrk_async(context_, uplo_, op, alpha_, x, beta_, z);
          else
            tessera::syrk(context_, uplo_, op, alpha_, x, beta_, z);
        });
  }

  void syr2k() {
    const tsr_op op = random_between(0, 1) ? TSR_TRANS : TSR_NO_TRANS;
    padded<T> a = shaped(op, n_, k_), b = shaped(op, n_, k_), c(n_, n_, layout_);
    const auto x = a.view(), y = b.view();
    compare(
        "syr2k", c, triangle(),
        [&](std::int64_t i, std::int64_t j, T before) {
          return alpha_ * sum<T>(k_,
                                 [&](std::int64_t l) {
                                   return of_op(x, op, i, l) * of_op(y, op, j, l) +
                                          of_op(y, op, i, l) * of_op(x, op, j, l);
                                 }) +
                 scaled(beta_, before);
        },
        [&](auto &z) {
          if (async_)
            tessera::syr2k_async(context_, uplo_, op, alpha_, x, y, beta_, z);
          else
            tessera::syr2k(context_, uplo_, op, alpha_, x, y, beta_, z);
        });
  }

  void herk() {
    const tsr_op op = random_between(0, 1) ? TSR_CONJ_TRANS : TSR_NO_TRANS;
    const real<T> alpha = std::real(alpha_), beta = std::real(beta_);
    padded<T> a = shaped(op, n_, k_), c(n_, n_, layout_);
    make_diagonal_real(c.view());
    const auto x = a.view();
    compare(
        "herk", c, triangle(),
        [&](std::int64_t i, std::int64_t j, T before) {
          return alpha * sum<T>(k_,
                                [&](std::int64_t l) {
                                  return of_op(x, op, i, l) * conjugate(of_op(x, op, j, l));
                                }) +
                 scaled(T(beta), before);
        },
        [&](auto &z) {
          if (async_)
            tessera::herk_async(context_, uplo_, op, alpha, x, beta, z);
          else
            tessera::herk(context_, uplo_, op, alpha, x, beta, z);
        });
  }

  void her2k() {
    const tsr_op op = random_between(0, 1) ? TSR_CONJ_TRANS : TSR_NO_TRANS;
    const real<T> beta = std::real(beta_);
    padded<T> a = shaped(op, n_, k_), b = shaped(op, n_, k_), c(n_, n_, layout_);
    make_diagonal_real(c.view());
    const auto x = a.view(), y = b.view();
    compare(
        "her2k", c, triangle(),
        [&](std::int64_t i, std::int64_t j, T before) {
          return sum<T>(k_,
                        [&](std::int64_t l) {
                          return alpha_ * of_op(x, op, i, l) * conjugate(of_op(y, op, j, l)) +
                                 conjugate(alpha_) * of_op(y, op, i, l) *
                                     conjugate(of_op(x, op, j, l));
                        }) +
                 scaled(T(beta), before);
        },
        [&](auto &z) {
          if (async_)
            tessera::her2k_async(context_, uplo_, op, alpha_, x, y, beta, z);
          else
            tessera::her2k(context_, uplo_, op, alpha_, x, y, beta, z);
        });
  }

  void trmm() {
    const tsr_op op = any_op();
    const std::int64_t order = side_ == TSR_LEFT ? m_ : n_;
    padded<T> a(order, order, layout_), b(m_, n_, layout_);
    padded<T> before = b;
    const auto x = a.view(), y = before.view();
    compare(
        "trmm", b, nothing_outside,
        [&](std::int64_t i, std::int64_t j, T) { return alpha_ * product(x, op, y, i, j); },
        [&](auto &z) {
          if (async_)
            tessera::trmm_async(context_, side_, uplo_, op, diag_, alpha_, x, z);
          else
            tessera::trmm(context_, side_, uplo_, op, diag_, alpha_, x, z);
        });
  }

  /* B is made of an X that is known. */
  void trsm() {
    const tsr_op op = any_op();
    const std::int64_t order = side_ == TSR_LEFT ? m_ : n_;
    padded<T> a(order, order, layout_), solution(m_, n_, layout_);
    for (T &element : a.memory) element /= static_cast<real<T>>(order + 1);
    for (std::int64_t i = 0; i < order; i++) a.view()(i, i) += T(2);
    if (std::abs(alpha_) < real<T>(0.1)) alpha_ = T(1);
    padded<T> b = solution;
    const auto x = a.view(), s = solution.view();
    for (std::int64_t j = 0; j < n_; j++) {
      for (std::int64_t i = 0; i < m_; i++) b.view()(i, j) = product(x, op, s, i, j) / alpha_;
    }
    compare(
        "trsm", b, nothing_outside, [&](std::int64_t i, std::int64_t j, T) { return s(i, j); },
        [&](auto &z) {
          if (async_)
            tessera::trsm_async(context_, side_, uplo_, op, diag_, alpha_, x, z);
          else
            tessera::trsm(context_, side_, uplo_, op, diag_, alpha_, x, z);
        });
  }

 private:
  using whole = bool (*)(tsr_uplo, std::int64_t, std::int64_t);
  static bool nothing_outside(tsr_uplo, std::int64_t, std::int64_t) {
    return true;
  }
  static whole triangle() {
    return is_in;
  }
  static T scaled(T beta, T before) {
    return beta == T(0) ? T(0) : beta * before;
  }

  static tsr_op any_op() {
    const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
    return ops[random_between(0, 2)];
  }
  padded<T> shaped(tsr_op op, std::int64_t rows, std::int64_t cols) {
    return op == TSR_NO_TRANS ? padded<T>(rows, cols, layout_) : padded<T>(cols, rows, layout_);
  }
  static void make_diagonal_real(matrix_view<T> x) {
    for (std::int64_t i = 0; i < x.rows(); i++) x(i, i) = std::real(x(i, i));
  }
  /* An element of op(A) Y or Y op(A), A triangular. */
  T product(const matrix_view<T> &a, tsr_op op, const matrix_view<T> &y, std::int64_t i,
            std::int64_t j) {
    return sum<T>(side_ == TSR_LEFT ? m_ : n_, [&](std::int64_t l) {
      return side_ == TSR_LEFT ? of_triangular(a, uplo_, diag_, op, i, l) * y(l, j)
                               : y(i, l) * of_triangular(a, uplo_, diag_, op, l, j);
    });
  }

  /* Makes the call, then compares what it has written, and all other memory of the result. */
  template <class Expected, class Call>
  void compare(const char *routine, padded<T> &result, whole is_written, Expected expected,
               Call call) {
    const padded<T> before = result;
    padded<T> wanted = result;
    auto w = wanted.view();
    for (std::int64_t j = 0; j < w.cols(); j++) {
      for (std::int64_t i = 0; i < w.rows(); i++) {
        if (is_written(uplo_, i, j)) w(i, j) = expected(i, j, w(i, j));
      }
    }
    auto z = result.view();
    call(z);
    if (async_) {
      tessera::coherent_async(context_, z);
      context_.sync();
      context_.release();  // the operands' memory is used again by the next problem
    }
    const real<T> tolerance = std::numeric_limits<real<T>>::epsilon() * 400;
    for (std::size_t i = 0; i < result.memory.size(); i++) {
      if (std::abs(result.memory[i] - wanted.memory[i]) <= tolerance) continue;
      std::printf("%s of type %c, %s, %s, m %d n %d k %d: element %d is wrong\n", routine,
                  tessera::element<T>::type, layout_ == TSR_COL_MAJOR ? "by column" : "by row",
                  async_ ? "asynchronous" : "blocking", int(m_), int(n_), int(k_), int(i));
      failures()++;
      return;
    }
  }

  const tessera::context &context_;
  tsr_layout layout_;
  bool async_;
  std::int64_t m_, n_, k_;
  tsr_uplo uplo_;
  tsr_side side_;
  tsr_diag diag_;
  T alpha_, beta_;
};

template <class T>
void try_all(const tessera::context &context) {
  for (int i = 0; i < 12; i++) {
    problem<T>(context).gemm();
    problem<T>(context).gemmt();
    problem<T>(context).symm(false);
    problem<T>(context).syrk();
    problem<T>(context).syr2k();
    problem<T>(context).trmm();
    problem<T>(context).trsm();
    if constexpr (is_complex<T>) {
      problem<T>(context).symm(true);
      problem<T>(context).herk();
      problem<T>(context).her2k();
    }
  }
}

}  // namespace

int main() {
  const tessera::context context(emulated());
  try_all<float>(context);
  try_all<double>(context);
  try_all<std::complex<float>>(context);
  try_all<std::complex<double>>(context);
  return verdict();
}
