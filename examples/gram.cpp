/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Gram matrix of the rows of a matrix: G = X X^T, on all GPUs of this machine, or on its CPU.
 *
 *   c++ -std=c++17 gram.cpp $(pkg-config --cflags --libs tessera) -o gram && ./gram
 */
#include <iostream>
#include <tessera.hpp>

int main() {
  try {
    const tessera::context context;
    tessera::matrix<double> x(context, 1000, 64), g(context, 1000, 1000);
    for (std::int64_t i = 0; i < x.rows(); i++) {
      for (std::int64_t j = 0; j < x.cols(); j++) {
        x(i, j) = static_cast<double>((i * 64 + j) * 37 % 101) / 101;
      }
    }
    tessera::gemm(context, TSR_NO_TRANS, TSR_TRANS, 1.0, x, x, 0.0, g);
    // The CPU's BLAS has no plans.
    if (context.device_count() > 0) std::cout << context.last_plan().print(TSR_VERDICT);
    std::cout << "G(0, 0) = " << g(0, 0) << ", G(0, 999) = " << g(0, 999)
              << ", G(999, 0) = " << g(999, 0) << '\n';
  } catch (const tessera::error &error) {
    std::cerr << tsr_status_name(error.status()) << ": " << error.what() << '\n';
    return 1;
  }
}
