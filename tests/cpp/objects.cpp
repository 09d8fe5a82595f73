/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* What the C++ headers add to the routines: errors, ends of lives, memory, views, composition. */
#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "check.hpp"

// What moves does not throw; what is one of a kind is not copied.
template <class X>
constexpr bool moves_alone =
    std::is_nothrow_move_constructible_v<X> &&std::is_nothrow_move_assignable_v<X> &&
    !std::is_copy_constructible_v<X>;
static_assert(moves_alone<tessera::plan> && moves_alone<tessera::capture>);
static_assert(moves_alone<tessera::buffer<double>> && moves_alone<tessera::matrix<float>>);
static_assert(moves_alone<tessera::registration>);
static_assert(std::is_nothrow_move_constructible_v<tessera::context>);
static_assert(std::is_nothrow_move_assignable_v<tessera::context>);
static_assert(std::is_nothrow_move_constructible_v<tessera::event>);

// A field that tsr_options gets must be one of tessera::options, too.
[[maybe_unused]] static void has_every_option(tsr_options options) {
  [[maybe_unused]] auto &[size, engine, devices, machine, memory, budgets, reproducible, check,
                          trace, arithmetic] = options;
}

namespace {

using tessera::col_major;
using tessera::context;
using tessera::matrix;
using tessera::row_major;

/* 1 2 / 3 4 by rows, and its square. */
const std::vector<double> small = {1, 2, 3, 4}, squared = {7, 10, 15, 22};

template <class T>
void fill(matrix<T> &x, T value) {
  for (std::int64_t j = 0; j < x.cols(); j++) {
    for (std::int64_t i = 0; i < x.rows(); i++) x(i, j) = value;
  }
}

template <class M, class T>
bool is_all(const M &x, T value) {
  for (std::int64_t j = 0; j < x.cols(); j++) {
    for (std::int64_t i = 0; i < x.rows(); i++) {
      if (x(i, j) != value) return false;
    }
  }
  return true;
}

void test_errors() {
  tessera::options wrong;
  wrong.engine = "cdua";
  REFUSED(TSR_ERR_ENGINE, "cdua", context{wrong});
  const context context(emulated());
  std::vector<double> c(4);
  const auto square = row_major(small, 2, 2);
  REFUSED(TSR_ERR_ARGUMENT, "too few", row_major(c, 2, 3));
  REFUSED(TSR_ERR_ARGUMENT, "leading dimension 0", col_major(c, 2, 2, 0));
  REFUSED(TSR_ERR_ARGUMENT, "b is 1 x 2, and the call needs 2 x 2",
          tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, square, square.block(0, 0, 1, 2), 0,
                        row_major(c, 2, 2)));
  REFUSED(TSR_ERR_ARGUMENT, "c is 1 x 2, and the call needs 2 x 2",
          tessera::syrk(context, TSR_LOWER, TSR_NO_TRANS, 1, square, 0, row_major(c, 1, 2)));
  REFUSED(
      TSR_ERR_ARGUMENT, "a is row-major",
      tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, square, square, 0, col_major(c, 2, 2)));
  REFUSED(TSR_ERR_ARGUMENT, "shares memory",
          tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, row_major(c, 2, 2), square, 0,
                        row_major(c, 2, 2)));
  REFUSED(TSR_ERR_ARGUMENT, "is not inside the matrix, which is 2 x 2", square.block(1, 1, 2, 1));
  REFUSED(TSR_ERR_ARGUMENT, "device", context.budget(7));
  REFUSED(TSR_ERR_MEMORY, "no room", matrix<double>(context, INT64_MAX / 2, 4));
  REFUSED(TSR_ERR_ARGUMENT, "-1 x 4", matrix<double>(context, -1, 4));
  CHECK(c == std::vector<double>(4));
}

void test_views() {
  const context context(emulated());
  std::vector<double> c(4, -1);
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, row_major(small, 2, 2),
                row_major(small, 2, 2), 0, row_major(c, 2, 2));
  CHECK(c == squared);
  // By columns the memory is that of the transposed matrix.
  const std::array<double, 4> array = {1, 2, 3, 4};
  tessera::gemm(context, TSR_TRANS, TSR_TRANS, 1, col_major(array, 2, 2), col_major(array, 2, 2), 0,
                col_major(c.data(), 2, 2));
  CHECK(c == std::vector<double>({7, 15, 10, 22}));
  // A column of a row-major matrix with one column is a column of any layout.
  std::vector<double> vector = {1, 1}, result(2, -1);
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 2, row_major(small, 2, 2),
                col_major(vector, 2, 1), 0, col_major(result, 2, 1));
  CHECK(result == std::vector<double>({6, 14}));
  // A block of a larger matrix, and nothing beside it.
  matrix<double> large(context, 5, 5);
  fill(large, 0.5);
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, col_major(small, 2, 2),
                col_major(small, 2, 2), 0, large.block(1, 2, 2, 2));
  CHECK(large(1, 2) == 7 && large(2, 2) == 10 && large(1, 3) == 15 && large(2, 3) == 22);
  large(1, 2) = large(2, 2) = large(1, 3) = large(2, 3) = 0.5;
  CHECK(is_all(large, 0.5));
#if defined(__cpp_lib_span)
  const std::span<const double> span(small);
  std::fill(c.begin(), c.end(), -1);
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, row_major(span, 2, 2),
                row_major(span, 2, 2), 0, row_major(std::span<double>(c), 2, 2));
  CHECK(c == squared);
#endif
}

/* The members of a std::mdspan of rank 2, which few libraries have yet. */
template <class T>
struct strided {
  static constexpr std::size_t rank() {
    return 2;
  }
  constexpr T *data_handle() const {
    return data;
  }
  constexpr int extent(std::size_t r) const {
    return extents[r];
  }
  constexpr int stride(std::size_t r) const {
    return strides[r];
  }

  T *data;
  std::array<int, 2> extents, strides;
};

void test_mdspan() {
  const context context(emulated());
  std::vector<double> c(9, -1);
  const strided<const double> by_row{small.data(), {2, 2}, {2, 1}};
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, by_row, by_row, 0,
                strided<double>{c.data(), {2, 2}, {3, 1}});
  CHECK(c == std::vector<double>({7, 10, -1, 15, 22, -1, -1, -1, -1}));
  const strided<const double> by_col{small.data(), {2, 2}, {1, 2}};
  tessera::gemm(context, TSR_TRANS, TSR_NO_TRANS, 1, by_col, by_col, 0,
                strided<double>{c.data(), {2, 2}, {1, 3}});
  CHECK(c[0] == 5 && c[1] == 11 && c[3] == 11 && c[4] == 25);
  REFUSED(TSR_ERR_ARGUMENT, "the strides 2 and 4",
          tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, by_row, by_row, 0,
                        strided<double>{c.data(), {2, 2}, {2, 4}}));
}

bool last_is(const context &context, const char *words) {
  return context.last_plan().print().find(words) != std::string::npos;
}

/* Each call has an arithmetic of its own, if it is given one. */
void test_arithmetic() {
  tessera::options options = emulated();
  options.arithmetic = "emulated:15";
  const context context(options);
  const auto a = row_major(small, 2, 2);
  std::vector<double> c(4);
  const auto to = row_major(c, 2, 2);
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, to);
  CHECK(c == squared && last_is(context, "emulated, 15 moduli"));
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, to, "native");
  CHECK(c == squared && !last_is(context, "emulated,"));
  tessera::gemmt(context, TSR_LOWER, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, to, "emulated:16");
  CHECK(last_is(context, "emulated, 16 moduli"));
  std::fill(c.begin(), c.end(), 0);
  tessera::gemm_async(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, to, "emulated");
  tessera::coherent(context, to);
  context.sync();
  CHECK(c == squared);
  const tsr_home homes[3] = {};
  const tessera::plan plan = tessera::plan_gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, to,
                                                homes, "emulated:1e-4");
  CHECK(plan.print().find("emulated,") != std::string::npos);
  REFUSED(TSR_ERR_ARGUMENT, "arithmetic is \"fast\"",
          tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, to, "fast"));
}

void test_lives() {
  tessera::buffer<double> kept = [] {
    context context(emulated());
    return tessera::buffer<double>(context, TSR_HOST, 100);
  }();
  // The context lives as long as its memory.
  for (double &x : std::vector<double>(kept.data(), kept.data() + kept.size())) x = 1;
  kept.data()[99] = 3;
  const double *place = kept.data();
  tessera::buffer<double> moved(std::move(kept));
  CHECK(moved.data() == place && moved.size() == 100 && moved.data()[99] == 3);
  tessera::buffer<double> other(context(emulated()), 1, 10);
  CHECK(other.device() == 1);
  other = std::move(moved);
  CHECK(other.data() == place && other.device() == TSR_HOST);
  const context first(emulated(2));
  const context same = first;
  CHECK(same.get() == first.get() && same.device_count() == 2 && same.device_number(1) == 1);
  // A context of the C interface.
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "cpu";
  tsr_context *handle;
  CHECK(tsr_context_create(&options, &handle) == TSR_OK);
  const context adopted(handle);
  CHECK(adopted.get() == handle && adopted.device_count() == 0);
}

void test_memory() {
  const context context(emulated());
  tessera::pinned_vector<double> x(4, 0.0, context), y(context);
  CHECK(context.home(x.data(), 32).memory == TSR_PINNED);
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, row_major(small, 2, 2),
                row_major(small, 2, 2), 0, row_major(x, 2, 2));
  y = std::move(x);
  CHECK(std::vector<double>(y.begin(), y.end()) == squared);
  y.resize(1000, 5);
  CHECK(y[3] == 22 && y[999] == 5);

  // From the memory of a device to that of another.
  tessera::matrix<double> a(context, 2, 2, TSR_ROW_MAJOR, 0), c(context, 2, 2, TSR_ROW_MAJOR, 1);
  CHECK(context.home(a.data(), 32).memory == TSR_DEVICE &&
        context.home(c.data(), 32).location == 1);
  context.copy(a.data(), small.data(), 32);
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, c);
  std::vector<double> result(4);
  context.copy(result.data(), c.data(), 32);
  CHECK(result == squared);

  std::vector<double> program(1 << 16);
  {
    const tessera::registration pinned(context, program.data(), program.size() * sizeof(double));
    CHECK(context.home(program.data(), 8).memory == TSR_PINNED);
    REFUSED(TSR_ERR_ARGUMENT, "registered", tessera::registration(context, program.data(), 8));
  }
  CHECK(context.home(program.data(), 8).memory == TSR_PAGEABLE);
  CHECK(tessera::matrix<double>(context, 0, 5).cols() == 5);
}

/* B = A A, then C = B A^T, in which B stays on the devices. */
void test_composition() {
  const context context(emulated());
  const std::int64_t n = 200;
  matrix<double> a(context, n, n), b(context, n, n), c(context, n, n);
  fill(a, 1.0);
  fill(b, 0.0);
  fill(c, 0.0);
  tessera::map_1d_block_cyclic(context, c, 50);
  tessera::distribute_2d_block_cyclic_async(context, a, 100, 100, 2, 1);
  tessera::gemm_async(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, b);
  tessera::gemm_async(context, TSR_NO_TRANS, TSR_TRANS, 1, b, a, 0, c);
  const tessera::event event = context.record();
  event.wait();
  CHECK(event.query());
  CHECK(is_all(c, 0.0));  // it is still on the devices
  tessera::coherent_async(context, c);
  context.sync();
  CHECK(is_all(c, 200.0 * 200.0));
  CHECK(is_all(b, 0.0));
  tessera::coherent(context, b);
  CHECK(is_all(b, 200.0));

  // A change that is announced, and one that is not.
  fill(a, 2.0);
  REFUSED(TSR_ERR_CHECK, "tsr_invalidate",
          tessera::gemm_async(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, c));
  tessera::invalidate(context, a);
  tessera::gemm_async(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, c);
  context.sync_home();
  CHECK(is_all(c, 800.0));
  tessera::release(context, b);
  REFUSED(TSR_ERR_ARGUMENT, "nb", tessera::map_1d_block_cyclic(context, c, 0));
  CHECK(context.traffic().host_to_device >= 8.0 * 200 * 200);
}

/* The triangle of a row-major matrix is the program's. What is far from it does not come home: a
 * triangle is written back in stripes of columns. */
void test_triangles(tsr_layout layout) {
  const context context(emulated());
  const std::int64_t n = 400;
  matrix<double> a(context, n, n, layout), c(context, n, n, layout);
  fill(a, 1.0);
  fill(c, 0.0);
  tessera::gemm_async(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 0, c);
  tessera::coherent(context, c, TSR_UPPER);
  CHECK(c(10, 390) == 400 && c(390, 10) == 0);
}

void test_plans() {
  const context context(emulated());
  matrix<float> a(context, 30, 40), b(context, 40, 50), c(context, 30, 50);
  fill(a, 1.0F);
  fill(b, 2.0F);
  fill(c, 0.0F);
  const tsr_home pinned[3] = {{TSR_PINNED, 0}, {TSR_PINNED, 0}, {TSR_PINNED, 0}};
  tessera::plan plan =
      tessera::plan_gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, b, 0, c, pinned);
  CHECK(plan.print(TSR_JSON).front() == '{');
  plan.execute(1.0F, a.data(), b.data(), 0.0F, c.data());
  CHECK(is_all(c, 80.0F));
  REFUSED(TSR_ERR_ARGUMENT, "beta", plan.execute(1.0F, a.data(), b.data(), 3.0F, c.data()));
  tessera::plan moved(std::move(plan));
  CHECK(plan.get() == nullptr && !moved.print(TSR_COMMANDS).empty());
  CHECK(!context.last_plan().print().empty());
  REFUSED(TSR_ERR_ARGUMENT, "format", context.print_machine(TSR_COMMANDS));
  CHECK(context.print_machine(TSR_JSON).front() == '{');
}

void test_captures() {
  const context context(emulated());
  matrix<double> a(context, 50, 50), c(context, 50, 50), other(context, 50, 50);
  fill(a, 1.0);
  fill(c, 0.0);
  fill(other, 0.0);
  context.begin_capture();
  REFUSED(TSR_ERR_ARGUMENT, "capturing", context.begin_capture());
  tessera::gemm_async(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, a, a, 1, c);
  tessera::coherent_async(context, c);
  const tessera::capture capture = context.end_capture();
  context.sync();
  capture.run_async();
  context.sync();
  CHECK(is_all(c, 100.0));
  capture.move(c.data(), 50 * 50 * sizeof(double), other.data());
  capture.run_async();
  context.sync();
  CHECK(is_all(c, 100.0) && is_all(other, 50.0) && !capture.print().empty());
}

void test_context() {
  const context context(emulated());
  const std::size_t budget = context.budget(1);
  context.set_budget(1, budget / 2);
  CHECK(context.budget(1) == budget / 2);
  context.trim();
  std::string told;
  double last = 0;
  context.set_progress([&](double fraction, const char *what) {
    told = what;
    last = fraction;
  });
  context.begin_timeline();
  std::vector<double> c(4);
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, row_major(small, 2, 2),
                row_major(small, 2, 2), 0, row_major(c, 2, 2));
  context.note("a step of the program", 0.25);
  CHECK(context.end_timeline().find("a step of the program") != std::string::npos);
  CHECK(told == "gemm" && last == 1);
  context.set_progress({});
  told = "nothing";
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, row_major(small, 2, 2),
                row_major(small, 2, 2), 0, row_major(c, 2, 2));
  CHECK(told == "nothing");
  CHECK(tessera::version() == tsr_version());
  CHECK(tessera::version_number() == TSR_VERSION_NUMBER);
}

}  // namespace

/* A type of the program's own: halves, which the library multiplies. */
struct half {
  std::uint16_t bits;
};
template <>
struct tessera::element<half> : tessera::element_of<TSR_H, float, float> {};

namespace {

void test_own_types() {
  const context context(emulated());
  const half one{0x3C00};
  std::vector<half> x(4, one), c(4, half{0});
  tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1.0F, row_major(x, 2, 2), row_major(x, 2, 2),
                0.0F, row_major(c, 2, 2));
  CHECK(c[0].bits == 0x4000 && c[3].bits == 0x4000);  // 2
}

}  // namespace

int main() {
  test_errors();
  test_views();
  test_mdspan();
  test_arithmetic();
  test_lives();
  test_memory();
  test_composition();
  test_triangles(TSR_COL_MAJOR);
  test_triangles(TSR_ROW_MAJOR);
  test_plans();
  test_captures();
  test_context();
  test_own_types();
  return verdict();
}
