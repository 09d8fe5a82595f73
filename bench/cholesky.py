# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""A Cholesky factorisation by a LAPACK that calls the BLAS by its symbols, as netlib's does
(OpenBLAS's own dpotrf does not call dgemm_).

  python3 bench/cholesky.py /usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3
  tessera run --report -- python3 bench/cholesky.py /usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3

Arguments: the library, the order (32768).
"""
import ctypes
import sys
import time

import numpy as np


def main():
    # Its BLAS symbols are those that the loader finds first: the doors' when they are preloaded.
    lapack = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 32768
    random = np.random.default_rng(7)
    a = np.asfortranarray(random.random((n, n)))
    a[np.diag_indices(n)] += n  # the lower triangle of a matrix that is positive definite
    lower = np.tril(a)
    probe = random.standard_normal(n)
    wanted = lower @ probe + np.tril(a, -1).T @ probe
    del lower
    order, info = ctypes.c_int(n), ctypes.c_int(-1)
    begin = time.perf_counter()
    lapack.dpotrf_(b"L", ctypes.byref(order), a.ctypes.data_as(ctypes.c_void_p),
                   ctypes.byref(order), ctypes.byref(info), ctypes.c_size_t(1))
    seconds = time.perf_counter() - begin
    print(f"dpotrf of {n}: {seconds:.3f} s, {n**3 / 3 / seconds * 1e-12:.3f} TFLOP/s")
    factor = np.tril(a)
    error = np.linalg.norm(factor @ (factor.T @ probe) - wanted) / np.linalg.norm(wanted)
    print(f"relative error {error:.1e}")
    return 0 if info.value == 0 and error < 1e-10 else 1


sys.exit(main())
