# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Every routine against NumPy: types, orders, slices, transposes, sizes, alpha and beta, in place."""
import itertools
import random
import warnings

import pytest

from support import imported

np = imported("numpy")

TYPES = ["f4", "f8", "c8", "c16"]
KINDS = ["C", "F", "part of C", "part of F"]  # what the BLAS takes as it is
SIZES = [0, 1, 2, 13, 33]


@pytest.fixture(params=["cpu", "host"])
def way(request, tessera):
    """A context, and the share of a grid that is tried with it: plans take time."""
    if request.param == "cpu":
        yield tessera.Context(engine="cpu"), 1
    else:
        machine = "host:200 gpu*3@nvswitch:300 pcie:25/pair rate:19"
        with tessera.Context(engine="host", devices=3, machine=machine, check=True) as made:
            yield made, 40


def some(cases, share, seed):
    """All cases, or a part of them that is the same each time."""
    cases = list(cases)
    return cases if share == 1 else random.Random(seed).sample(cases, max(12, len(cases) // share))


class Values:
    """Random matrices in any order."""

    def __init__(self, dtype, seed=1):
        self.dtype = np.dtype(dtype)
        self.random = np.random.default_rng(seed)

    def matrix(self, m, n):
        values = self.random.random((m, n)) - 0.5
        if self.dtype.kind == "c":
            values = values + 1j * (self.random.random((m, n)) - 0.5)
        return values.astype(self.dtype)

    def placed(self, values, kind):
        """The values in an array of that kind; what is around a part is NaN."""
        m, n = values.shape
        if kind in ("C", "F"):
            return np.array(values, order=kind)
        if kind == "every other":
            around = np.full((2 * m + 1, 2 * n + 1), np.nan, self.dtype)
            part = around[1::2, 1::2]
        else:
            around = np.full((m + 3, n + 5), np.nan, self.dtype, order=kind[-1])
            part = around[1:m + 1, 2:n + 2]
        part[...] = values
        return part

    def nothing_around(self, part):
        """What is around a part is as it was."""
        around = part.base
        return around is None or np.isnan(around).sum() == around.size - part.size

    def close(self, got, wanted, k):
        eps = np.finfo(self.dtype).eps
        return got.shape == wanted.shape and \
            (got.size == 0 or np.abs(got - wanted).max() <= 20 * (k + 2) * eps)


# ---- Vectors and stacks ----

SHAPES = [((3,), (3,)), ((3,), (3, 5)), ((4, 3), (3,)), ((2, 4, 3), (3, 5)), ((4, 3), (2, 3, 5)), ((2, 4, 3), (2, 3, 5)),
          ((2, 1, 4, 3), (6, 3, 5)), ((1, 4, 3), (7, 3, 5)), ((2, 4, 3), (3,)), ((3,), (2, 3, 5)), ((0, 4, 3), (3, 5)),
          ((0, 4, 3), (0, 3, 5)), ((2, 4, 0), (2, 0, 5)), ((2, 0, 3), (3, 5)), ((2, 2, 4, 3), (2, 1, 3, 1))]


@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_stacks(way, number):
    """matmul, at once and submitted, is NumPy's, with out, c and slices too."""
    (context, _), shapes, dtype = way, SHAPES[number], ("f4", "c16")[number % 2]
    a, b = ((np.arange(np.prod(shape)).reshape(shape) % 7).astype(dtype) for shape in shapes)
    wanted = np.matmul(a, b)
    got = context.matmul(a, b)
    assert type(got) is type(wanted) and got.shape == wanted.shape and got.dtype == wanted.dtype
    assert (got == wanted).all() and (context.submit("matmul", a, b).result() == wanted).all()
    out = np.full(wanted.shape, 3, dtype)
    assert context.matmul(a, b, out) is out and (out == wanted).all()
    context.matmul(a, b, out, alpha=2, beta=3)
    assert (out == 5 * wanted).all()
    assert (context.matmul(a, b, c=out) == 6 * wanted).all() and (context.matmul(a, b, out, c=out) == 6 * wanted).all()


def test_stacks_in_other_orders(way):
    context, _ = way
    a, b = (np.random.default_rng(i).integers(0, 5, (6, 4, 5)).astype("f8") for i in (1, 2))
    turned = np.swapaxes(b, 1, 2)
    assert (context.matmul(a, turned) == a @ turned).all()
    assert (context.matmul(a, b, transb="T") == a @ turned).all()
    assert (context.matmul(a[::2], turned[::-2]) == a[::2] @ turned[::-2]).all()
    out = np.zeros((4, 6, 4)).swapaxes(0, 1)
    context.matmul(a, turned, out)
    assert (out == a @ turned).all()
    assert (context.matmul(np.asfortranarray(a), turned[0], copy=True) == a @ turned[0]).all()
    assert (context.matmul(a[0, 0, ::2], b[0, :3]) == a[0, 0, ::2] @ b[0, :3]).all()


def test_a_stack_by_one_matrix_is_one_product(tessera):
    with tessera.Context(engine="host", devices=1, machine="host:200 gpu*1@nvswitch:300 pcie:25 rate:19") as context:
        a, b = np.ones((30, 20, 40)), np.ones((40, 25))
        context.matmul(a, b)
        assert context.traffic.plans == 1
        with pytest.raises(tessera.ArgumentError, match="out and a share memory"):
            context.matmul(a[:29], np.eye(40), a[1:])


def op(x, trans):
    return {"N": x, "T": x.T, "C": x.conj().T}[trans]


def op_shape(m, n, trans):
    return (m, n) if trans == "N" else (n, m)


def triangle(x, uplo):
    return np.tril(x) if uplo == "lower" else np.triu(x)


def other_is_nan(x, uplo, unit=False):
    """The triangle, with NaN where it must not be read."""
    x = x.copy()
    x[np.triu_indices_from(x, 1) if uplo == "lower" else np.tril_indices_from(x, -1)] = np.nan
    if unit:
        np.fill_diagonal(x, np.nan)
    return x


def in_place(call):
    """Makes a call in which nothing may be copied."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


SCALARS = [(1, None, False), (2.5, 0, False), (-1, 1, True), (0.5, -2, True), (0, 2, True), (0, 0, False)]


@pytest.mark.parametrize("dtype", TYPES)
def test_gemm(way, dtype):
    context, share = way
    values = Values(dtype)
    grid = itertools.product(KINDS, KINDS, KINDS + [None], "NTC", "NTC", SIZES[:4], SCALARS)
    for number, case in enumerate(some(grid, share * 7, dtype)):
        kind_a, kind_b, kind_out, transa, transb, m, (alpha, beta, adds) = case
        n, k = (m + 3) * (number % 5 > 0), m * 2 + number % 2
        if dtype[0] == "c" and number % 3 == 0:
            alpha = alpha * (1 + 2j)
        a = values.placed(values.matrix(*op_shape(m, k, transa)), kind_a)
        b = values.placed(values.matrix(*op_shape(k, n, transb)), kind_b)
        wanted, begun = alpha * (op(a, transa) @ op(b, transb)), values.matrix(m, n)
        if adds:
            wanted = wanted + beta * begun
        else:
            begun[...] = np.nan  # which must not be read
        out = None if kind_out is None else values.placed(begun, kind_out)
        c = begun if adds and out is None else None

        def call():
            return context.gemm(a, b, out, alpha=alpha, beta=beta, c=c, transa=transa, transb=transb)

        # Conjugates that are not transposed in memory have no letter of the BLAS: those are copied.
        conjugates = dtype[0] == "c" and "C" in (transa, transb)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if conjugates else "error")
            got = call()
        assert values.close(got, wanted, k), case
        assert got.dtype == dtype and (out is None or got is out), case
        assert out is None or values.nothing_around(out), case


@pytest.mark.parametrize("dtype", TYPES)
def test_what_is_copied(way, dtype, tessera):
    context, _ = way
    values = Values(dtype)
    a, b = values.matrix(9, 11), values.matrix(11, 5)
    spread = values.placed(a, "every other")
    with pytest.warns(tessera.CopyWarning, match=r"^a is copied first .* its strides are 46 and 2"):
        got = context.matmul(spread, b)
    assert values.close(got, a @ b, 11)
    assert values.close(in_place(lambda: context.matmul(spread, b, copy=True)), a @ b, 11)
    with pytest.raises(tessera.ArgumentError, match="a would have to be copied"):
        context.matmul(spread, b, copy=False)
    with pytest.raises(tessera.ArgumentError, match="out cannot take the result: its strides are"):
        context.matmul(a, b, values.placed(a @ b, "every other"))
    backwards = a[::-1]
    assert values.close(context.matmul(backwards, b, copy=True), backwards @ b, 11)
    broadcast = np.broadcast_to(a[0], (6, 11))
    assert values.close(context.matmul(broadcast, b, copy=True), broadcast @ b, 11)


def test_the_warning_is_at_the_users_line(context, tessera):
    a = np.ones((8, 8))[::2, ::2]
    for call in (lambda: context.matmul(a, a), lambda: context.gemm(a, a)):
        with pytest.warns(tessera.CopyWarning) as told:
            call()
        assert {warning.filename for warning in told} == {__file__}
    tessera.set_default_context(context)
    with pytest.warns(tessera.CopyWarning) as told:
        tessera.matmul(a, a)
    tessera.set_default_context(None)
    assert told[0].filename == __file__


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
def test_gemmt(way, dtype):
    context, share = way
    values = Values(dtype)
    grid = itertools.product(KINDS, KINDS, KINDS + [None], "NTC", "NTC", ["lower", "upper"], [1, 17])
    for case in some(grid, share, dtype):
        kind_a, kind_b, kind_out, transa, transb, uplo, n = case
        k = n + 2
        a = values.placed(values.matrix(*op_shape(n, k, transa)), kind_a)
        b = values.placed(values.matrix(*op_shape(k, n, transb)), kind_b)
        whole = op(a, transa) @ op(b, transb)
        if kind_out is None:
            got = context.gemmt(a, b, uplo=uplo, transa=transa, transb=transb, copy=True)
            assert values.close(got, triangle(whole, uplo), k), case
            continue
        begun = values.matrix(n, n)
        out = values.placed(begun, kind_out)
        got = context.gemmt(a, b, out, beta=2, uplo=uplo, transa=transa, transb=transb, copy=True)
        wanted = begun + triangle(whole + begun, uplo)
        assert got is out and values.close(got, wanted, k), case
        assert values.nothing_around(out), case


def symmetric(values, n, hermitian):
    x = values.matrix(n, n)
    return x + (x.conj().T if hermitian else x.T)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["symm", "hemm"])
def test_sided(way, name, dtype, tessera):
    context, share = way
    if name == "hemm" and dtype[0] == "f":
        with pytest.raises(tessera.ArgumentError, match="hemm"):
            context.hemm(np.eye(2, dtype=dtype), np.eye(2, dtype=dtype))
        return
    values = Values(dtype)
    grid = itertools.product(KINDS, KINDS, KINDS + [None], ["left", "right"], ["lower", "upper"],
                             [(1, 1), (13, 6), (0, 4)])
    for case in some(grid, share, dtype):
        kind_a, kind_b, kind_out, side, uplo, (m, n) = case
        order = m if side == "left" else n
        full = symmetric(values, order, name == "hemm")
        a = values.placed(other_is_nan(full, uplo), kind_a)
        b = values.placed(values.matrix(m, n), kind_b)
        out = None if kind_out is None else values.placed(np.full((m, n), np.nan, dtype), kind_out)
        got = getattr(context, name)(a, b, out, alpha=2, side=side, uplo=uplo, copy=True)
        wanted = 2 * (full @ b if side == "left" else b @ full)
        assert values.close(got, wanted, order), case


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["syrk", "herk", "syr2k", "her2k"])
def test_rank(way, name, dtype, tessera):
    context, share = way
    hermitian, two = name[0] == "h", name.endswith("2k")
    if hermitian and dtype[0] == "f":
        with pytest.raises(tessera.ArgumentError, match=name):
            getattr(context, name)(*[np.eye(2, dtype=dtype)] * (1 + two))
        return
    values = Values(dtype)
    letters = ("NC" if hermitian else "NT") if dtype[0] == "c" else "NTC"
    grid = itertools.product(KINDS, KINDS if two else ["C"], KINDS + [None], letters,
                             ["lower", "upper"], [(1, 3), (15, 8), (6, 0)])
    for case in some(grid, share, dtype):
        kind_a, kind_b, kind_out, trans, uplo, (n, k) = case
        a = values.placed(values.matrix(*op_shape(n, k, trans)), kind_a)
        b = values.placed(values.matrix(*op_shape(n, k, trans)), kind_b) if two else None
        alpha = 1.5 - 0.5j if name in ("syr2k", "her2k", "syrk") and dtype[0] == "c" else 1.5
        x, y = op(a, trans), op(b if two else a, trans)
        other = np.conj if hermitian else np.asarray
        whole = alpha * (x @ other(y).T)
        if two:
            whole = whole + other(alpha) * (y @ other(x).T)
        begun = symmetric(values, n, hermitian)
        if kind_out is None:
            out, wanted = None, triangle(whole, uplo)
        else:
            out = values.placed(begun, kind_out)
            wanted = begun + triangle(whole - 3 * begun, uplo)
        arguments = [a, b] if two else [a]
        got = getattr(context, name)(*arguments, out, alpha=alpha, beta=0 if out is None else -2,
                                     uplo=uplo, trans=trans, copy=True)
        assert values.close(got, wanted, k), case
        assert out is None or (got is out and values.nothing_around(out)), case


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["trmm", "trsm"])
def test_triangular(way, name, dtype):
    context, share = way
    values = Values(dtype)
    grid = itertools.product(KINDS, KINDS, ["new", "b", *KINDS], "NTC", ["left", "right"],
                             ["lower", "upper"], ["unit", "non-unit"], [(1, 1), (12, 7), (0, 3)])
    for case in some(grid, share * 3, dtype):
        kind_a, kind_b, kind_out, transa, side, uplo, diag, (m, n) = case
        order = m if side == "left" else n
        full = triangle(values.matrix(order, order), uplo) / max(1, order)
        np.fill_diagonal(full, 1 if diag == "unit" else 2)
        a = values.placed(other_is_nan(full, uplo, diag == "unit"), kind_a)
        b = values.placed(values.matrix(m, n), kind_b)
        was, applied = b.copy(), op(full, transa)
        if name == "trmm":
            wanted = 2 * (applied @ b if side == "left" else b @ applied)
        else:
            wanted = 2 * (np.linalg.solve(applied, b) if side == "left"
                          else np.linalg.solve(applied.T, b.T).T)
        out = {"new": None, "b": b}.get(kind_out, values.placed(np.full((m, n), np.nan, dtype),
                                                                "C" if kind_out == "new" else
                                                                "F" if kind_out == "b" else kind_out))
        got = getattr(context, name)(a, b, out, alpha=2, side=side, uplo=uplo, transa=transa,
                                     diag=diag, copy=True)
        assert values.close(got, wanted, 4 * order), case
        assert kind_out == "b" or (b == was).all(), case
        assert out is None or got is out, case


# ---- Types of 16 bits, and TF32 ----


def test_half(context):
    random_values = np.random.default_rng(3)
    a = random_values.random((40, 300)).astype("f2")
    b = random_values.random((300, 20)).astype("f2")
    got = context.matmul(a, b)
    wanted = a.astype("f4") @ b.astype("f4")
    assert got.dtype == np.float16
    # Sums of fp32, rounded once: sums of fp16 would be off by more.
    assert np.abs(got - wanted).max() <= np.abs(wanted).max() * 2.0 ** -11


def test_bfloat16(context, tessera):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.random.default_rng(4).random((30, 200)).astype(ml_dtypes.bfloat16)
    got = context.matmul(a, a.T)
    wanted = a.astype("f4") @ a.astype("f4").T
    assert got.dtype == ml_dtypes.bfloat16
    assert np.abs(got.astype("f4") - wanted).max() <= np.abs(wanted).max() * 2.0 ** -8
    pinned = context.empty((4, 4), "bfloat16")
    assert pinned.dtype == ml_dtypes.bfloat16


def test_tf32(context, tessera):
    a = np.random.default_rng(5).random((30, 50)).astype("f4")
    assert np.allclose(context.matmul(a, a.T, tf32=True), a @ a.T, rtol=1e-2)
    with pytest.raises(tessera.ArgumentError, match="tf32 is set, but .* float64; give float32"):
        context.matmul(a.astype("f8"), a.T.astype("f8"), tf32=True)


def test_the_same_matrix_twice(context):
    a = np.random.default_rng(6).random((20, 20))
    assert np.allclose(context.matmul(a, a), a @ a)
    assert np.allclose(context.matmul(a, a.T), a @ a.T)
    assert np.allclose(context.syr2k(a, a), np.tril(2 * a @ a.T))


def test_parts_of_one_matrix(context):
    """What lies side by side in memory overlaps in no element."""
    whole = np.random.default_rng(7).random((40, 60))
    was = whole.copy()
    context.matmul(whole[:20, :20], whole[:20, 20:40], whole[20:, :20])
    assert np.allclose(whole[20:, :20], was[:20, :20] @ was[:20, 20:40])
    assert (whole[:20] == was[:20]).all() and (whole[20:, 20:] == was[20:, 20:]).all()
