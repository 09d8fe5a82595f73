# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Products and factorisations of NumPy's and SciPy's wheels, in which each module calls the BLAS that its
package carries. Numbers are small and whole, so that results are exact."""
import numpy as np
import scipy.linalg
from scipy.linalg import blas, cython_blas  # noqa: F401

random = np.random.default_rng(0)
for kind, letter in ((np.float32, "s"), (np.float64, "d"), (np.complex64, "c"), (np.complex128, "z")):
    for m, n, k in ((7, 5, 6), (170, 150, 160)):
        a, b = (random.integers(-3, 4, shape).astype(kind) for shape in ((m, k), (k, n)))
        exact = a.astype(object) @ b.astype(object) if m < 10 else np.einsum("ij,jk->ik", a, b)
        for _ in range(3):
            assert (a @ b == exact).all(), kind
            assert (getattr(blas, letter + "gemm")(1, a, b) == exact).all(), kind
            assert (a @ a.T == np.einsum("ij,kj->ik", a, a)).all(), kind
    x = random.random((120, 120)).astype(kind) + 120 * np.eye(120, dtype=kind)
    close = 1e-3 if kind in (np.float32, np.complex64) else 1e-10
    assert abs(x @ np.linalg.inv(x) - np.eye(120)).max() < close
    p, lower, upper = scipy.linalg.lu(x)
    assert abs(p @ lower @ upper - x).max() < close
    q, r = scipy.linalg.qr(x)
    assert abs(q @ r - x).max() < close
