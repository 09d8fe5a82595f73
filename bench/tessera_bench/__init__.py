# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What the benchmarks share: options, lists of cases for the driver, results as CSV, charts.

The driver (build/bench/tessera-bench, driver.c) measures and checks. A result is a dict with the
names of the CSV's columns. Only charts need more than Python's standard library: matplotlib.
"""
