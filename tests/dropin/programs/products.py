# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Products as NumPy and SciPy make them, and how a process pool forks around them."""
import multiprocessing
import sys

import numpy as np


def exact(dtype):
    a = (np.arange(70 * 50) * 7 % 11 - 5).reshape(70, 50).astype(dtype)
    b = (np.arange(50 * 60) * 5 % 13 - 6).reshape(50, 60).astype(dtype)
    wanted = sum(np.outer(a[:, l], b[l]) for l in range(50))
    same = np.array_equal(a @ b, wanted) and np.array_equal(b.T @ a.T, wanted.T)
    strided = np.array_equal(np.asfortranarray(a) @ b[:, ::2], wanted[:, ::2])
    return same and strided and np.array_equal(a.T @ a, (a.T @ a).T)


def main():
    types = [np.float32, np.float64, np.complex64, np.complex128]
    right = all(exact(t) for t in types)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        right = right and all(pool.map(exact, types))
    return 0 if right and exact(np.float64) else 1


sys.exit(main())
