# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""A principal component analysis of random data, as a program would do it with NumPy.

Run it with and without the BLAS doors, with a NumPy that has the system's BLAS:

  python3 bench/pca.py
  tessera run --report -- python3 bench/pca.py

Arguments: rows (100000), columns (8192), repetitions (3).
"""
import sys
import time

import numpy as np


def main():
    given = [int(word) for word in sys.argv[1:]]
    rows, columns, repeat = given + [100000, 8192, 3][len(given):]
    random = np.random.default_rng(7)
    x = random.standard_normal((rows, columns), dtype=np.float32)
    x -= x.mean(axis=0)
    for _ in range(repeat):
        begin = time.perf_counter()
        covariance = x.T @ x / (rows - 1)
        seconds = time.perf_counter() - begin
        rate = rows * columns * (columns + 1) / seconds * 1e-12
        print(f"covariance {seconds:.3f} s, {rate:.2f} TFLOP/s", flush=True)
    probe = random.standard_normal(columns, dtype=np.float32)
    wanted = x.T @ (x @ probe) / (rows - 1)
    error = np.linalg.norm(covariance @ probe - wanted) / np.linalg.norm(wanted)
    print(f"relative error {error:.1e}")
    return 0 if error < 1e-4 else 1


sys.exit(main())
