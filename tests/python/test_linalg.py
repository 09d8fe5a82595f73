# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""tessera.linalg against NumPy: types, orders, triangles, vectors, what is overwritten and what is refused."""
import pytest

from support import imported

np = imported("numpy")

TYPES = ["f4", "f8", "c8", "c16"]
ORDERS = ["C", "F", "part of C", "part of F", "neither"]
SIZES = [1, 2, 37]


@pytest.fixture(params=["cpu", "host"])
def way(request, tessera):
    if request.param == "cpu":
        yield tessera.Context(engine="cpu")
        return
    machine = "host:200 gpu*2@nvswitch:300 pcie:25/pair rate:19"
    with tessera.Context(engine="host", devices=2, machine=machine, check=True) as made:
        yield made


def in_order(matrix, order):
    """The same values in memory of another order, beside NaN."""
    rows, columns = matrix.shape
    if order == "neither":
        held = np.full((2 * rows, 2 * columns), np.nan, matrix.dtype)[::2, ::2]
    elif order.startswith("part"):
        held = np.full((rows + 3, columns + 2), np.nan, matrix.dtype, order=order[-1])[2:rows + 2, 1:columns + 1]
    else:
        held = np.empty(matrix.shape, matrix.dtype, order=order)
    held[...] = matrix
    return held


def random(seed, dtype, *shape):
    values = np.random.default_rng(seed).standard_normal((2, *shape))
    return (values[0] + (1j * values[1] if np.dtype(dtype).kind == "c" else 0)).astype(dtype)


def definite(dtype, n):
    x = random(3, dtype, n, n)
    return (x @ x.conj().T + n * np.eye(n)).astype(dtype)


def triangle(dtype, n, lower):
    x = random(4, dtype, n, n) / n + 2 * np.eye(n)
    return (np.tril(x) if lower else np.triu(x)).astype(dtype)


def close(x, y):
    scale = max(1, float(np.max(np.abs(y), initial=0)))
    return x.shape == y.shape and bool(np.all(np.abs(x - y) <= 500 * np.finfo(x.dtype).eps * scale))


def with_rest_nan(matrix, lower, order):
    """Only the triangle has values."""
    held = in_order(matrix, order)
    other = np.triu_indices(len(matrix), 1) if lower else np.tril_indices(len(matrix), -1)
    held[other] = np.nan
    return held


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("lower", [False, True])
def test_definite(way, tessera, dtype, lower):
    linalg = tessera.linalg
    for n in SIZES:
        whole = definite(dtype, n)
        for order in ORDERS:
            a = with_rest_nan(whole, lower, order)
            kept = a.copy()
            c = linalg.cholesky(a, lower=lower, context=way)
            assert c.dtype == a.dtype
            assert close(c @ c.conj().T if lower else c.conj().T @ c, whole)
            assert np.array_equal(c, np.tril(c) if lower else np.triu(c))
            factor = linalg.cho_factor(a, lower=lower, context=way)
            for b in (random(5, dtype, n), in_order(random(6, dtype, n, 5), "C"),
                      in_order(random(6, dtype, n, 5), "part of F")):
                was = b.copy()
                x = linalg.cho_solve(factor, b, context=way)
                assert close(whole @ x, b)
                y = linalg.solve(a, b, lower=lower, assume_a="pos", context=way)
                assert close(whole @ y, b)
                assert np.array_equal(b, was)
            assert close(linalg.inv(a, assume_a="pos", lower=lower, context=way) @ whole, np.eye(n, dtype=dtype))
            if n < 10:  # larger ones leave the range of float32
                assert np.isclose(linalg.det(a, assume_a="pos", lower=lower, context=way),
                                  np.linalg.det(whole).real, rtol=1e-3 if dtype in ("f4", "c8") else 1e-10)
            assert np.array_equal(a, kept, equal_nan=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("lower", [False, True])
def test_triangular(way, tessera, dtype, lower):
    linalg = tessera.linalg
    name = "lower triangular" if lower else "upper triangular"
    for n in SIZES:
        t = triangle(dtype, n, lower)
        unit = t - np.diag(np.diag(t)) + np.eye(n, dtype=dtype)
        for order in ORDERS:
            a = with_rest_nan(t, lower, order)
            b = in_order(random(7, dtype, n, 4), "F" if order == "C" else "C")
            for trans, op in ((0, t), ("T", t.T), (2, t.conj().T)):
                assert close(op @ linalg.solve_triangular(a, b, trans, lower, context=way), b)
            x = linalg.solve_triangular(a, b[:, 0], lower=lower, unit_diagonal=True, context=way)
            assert close(unit @ x, b[:, 0])
            assert close(t @ linalg.solve(a, b, assume_a=name, context=way), b)
            assert close(linalg.inv(a, assume_a=name, context=way) @ t, np.eye(n, dtype=dtype))
            assert np.isclose(linalg.det(a, assume_a=name), np.prod(np.diag(t)))


def test_overwrite(way, tessera):
    """The result takes the place of what may be overwritten, in either order, and of nothing else."""
    linalg, whole = tessera.linalg, definite("f8", 20)
    for order in "CF":
        a, b = in_order(whole, order), in_order(random(8, "f8", 20, 3), order)
        was = b.copy()
        c, _ = linalg.cho_factor(a, overwrite_a=True, context=way)
        assert c is a
        x = linalg.cho_solve((c, False), b, overwrite_b=True, context=way)
        assert x is b
        assert close(whole @ x, was)
    vector = random(9, "f8", 20)
    was = vector.copy()
    x = linalg.solve(in_order(whole, "F"), vector, assume_a="pos", overwrite_a=True, overwrite_b=True, context=way)
    assert np.shares_memory(x, vector)
    assert close(whole @ x, was)


def test_types(way, tessera):
    """Whole numbers are computed as float64, and two types as the one that holds both."""
    linalg = tessera.linalg
    a = np.array([[4, 2], [2, 3]])
    assert linalg.cholesky(a, context=way).dtype == np.float64
    assert np.array_equal(a, [[4, 2], [2, 3]])
    x = linalg.solve(a.astype("f4"), np.array([1j, 2]), assume_a="pos", context=way)
    assert x.dtype == np.complex128
    assert np.allclose(a @ x, [1j, 2])
    assert linalg.cholesky([[4.0]], context=way).tolist() == [[2.0]]
    assert linalg.solve(np.ones((0, 0)), np.ones((0, 2)), assume_a="pos", context=way).shape == (0, 2)


def test_refused(way, tessera):
    linalg = tessera.linalg
    a = np.diag([1.0, 1, -1])
    with pytest.raises(np.linalg.LinAlgError, match="3-th leading minor"):
        linalg.cholesky(a, context=way)
    b = np.ones((3, 2), order="F")
    with pytest.raises(np.linalg.LinAlgError, match="3-th leading minor"):
        linalg.solve(a, b, assume_a="pos", overwrite_b=True, context=way)
    assert np.array_equal(b, np.ones((3, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="element 1 of the diagonal"):
        linalg.solve_triangular(np.diag([1.0, 0, 1]), b, context=way)
    with pytest.raises(tessera.UnsupportedError, match="general matrices"):
        linalg.solve(a, b, context=way)
    with pytest.raises(tessera.ArgumentError, match="3 x 2; give a square"):
        linalg.inv(b, assume_a="pos", context=way)
    with pytest.raises(tessera.ArgumentError, match="b has 2 rows, but a has 3"):
        linalg.solve(a, b[:2], assume_a="pos", context=way)
    with pytest.raises(tessera.ArgumentError, match="a has 1 dimensions"):
        linalg.cholesky(np.ones(3), context=way)
    with pytest.raises(tessera.ArgumentError, match="float16"):
        linalg.cholesky(np.eye(2, dtype="f2"), context=way)
    with pytest.raises(tessera.ArgumentError, match="trans is 3"):
        linalg.solve_triangular(a, b, trans=3, context=way)
