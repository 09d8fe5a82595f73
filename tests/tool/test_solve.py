# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""tessera solve: systems in files, on emulated devices and on the CPU, compared with NumPy's solutions."""
import os
import re
from itertools import product

import pytest

from support import imported, tessera

np = imported("numpy")

TYPES = ["float32", "float64", "complex64", "complex128"]
ENGINES = ["--engine cpu", "--engine host --devices 2"]
N, NRHS = 150, 7


def numbers(kind, *shape, seed=1):
    random = np.random.default_rng(seed)
    values = random.uniform(-1, 1, shape)
    if np.dtype(kind).kind == "c":
        values = values + 1j * random.uniform(-1, 1, shape)
    return values.astype(kind)


def definite(kind, n=N):
    x = numbers(kind, n, n).astype("complex128" if np.dtype(kind).kind == "c" else "float64")
    return (x @ x.conj().T / n + np.eye(n)).astype(kind)


def triangle(kind, uplo, n=N):
    whole = numbers(kind, n, n, seed=2) / n + 2 * np.eye(n, dtype=kind)
    return (np.tril(whole) if uplo == "lower" else np.triu(whole)).astype(kind)


def with_nan(a, uplo):
    """The other triangle is NaN."""
    spoilt = a.copy()
    spoilt[np.triu_indices(len(a), 1) if uplo == "lower" else np.tril_indices(len(a), -1)] = np.nan
    return spoilt


def save(name, array, fortran=False):
    np.save(name, np.asfortranarray(array) if fortran else np.ascontiguousarray(array))


def near(x, a, b, c=4):
    """Within c n u cond(A) of NumPy's solution in double precision."""
    wide = np.complex128 if np.iscomplexobj(a) else np.float64
    wanted = np.linalg.solve(a.astype(wide), b.astype(wide))
    error = np.linalg.norm(x - wanted) / np.linalg.norm(wanted)
    assert x.dtype == a.dtype and x.shape == b.shape
    assert error <= c * len(a) * np.finfo(a.dtype).eps / 2 * np.linalg.cond(a.astype(wide)), error


# ---- Solutions ----


@pytest.mark.parametrize("engine, kind, uplo", product(ENGINES, TYPES, ["lower", "upper"]))
def test_definite(engine, kind, uplo):
    """All orders of both files; the other triangle is not read, and A's file stays as it is."""
    a, b = definite(kind), numbers(kind, N, NRHS, seed=3)
    for fortran_a, fortran_b in product([False, True], [False, True]):
        save("a.npy", with_nan(a, uplo), fortran_a)
        save("b.npy", b, fortran_b)
        before = open("a.npy", "rb").read()
        tessera(f"solve a.npy b.npy -o x.npy --force --spd --uplo {uplo} {engine}").ok(
            rf"^X +x.npy: {N} x {NRHS} ", f"posv of order {N} with {NRHS} right-hand sides", "n u: correct$").quiet()
        assert open("a.npy", "rb").read() == before
        near(np.load("x.npy"), a, b)


@pytest.mark.parametrize("engine, kind, uplo", product(ENGINES, TYPES, ["lower", "upper"]))
def test_triangular(engine, kind, uplo):
    a, b = triangle(kind, uplo), numbers(kind, N, NRHS, seed=3)
    for fortran, trans in product([False, True], "NTC"):
        save("a.npy", with_nan(a, uplo), fortran)
        save("b.npy", b, not fortran)
        tessera(f"solve a.npy b.npy -o x.npy --force --triangular {uplo} --trans {trans} {engine}").ok(
            f"trtrs of order {N}", "n u: correct$").quiet()
        near(np.load("x.npy"), {"N": a, "T": a.T, "C": a.conj().T}[trans], b)


@pytest.mark.parametrize("engine, fortran", product(ENGINES, [False, True]))
def test_one_dimension(engine, fortran):
    a, b = definite("float64"), numbers("float64", N, seed=3)
    save("a.npy", a, fortran)
    save("b.npy", b)
    tessera(f"solve a.npy b.npy -o x.npy --spd {engine}").ok("with 1 right-hand side$")
    near(np.load("x.npy"), a, b)
    save("a.npy", triangle("float64", "upper"), fortran)
    tessera(f"solve a.npy b.npy -o x.npy --force --triangular upper {engine}").ok()
    near(np.load("x.npy"), triangle("float64", "upper"), b)


@pytest.mark.parametrize("shape", [(0, 3), (0,), (5, 0)])
def test_empty(shape):
    n = shape[0]
    save("a.npy", np.eye(n))
    save("b.npy", np.zeros(shape))
    tessera("solve a.npy b.npy -o x.npy --spd --engine host").ok("correct")
    tessera("solve a.npy b.npy -o t.npy --triangular lower --engine host").ok("correct")
    assert np.load("x.npy").shape == np.load("t.npy").shape == shape


def test_ill_conditioned():
    """The residual is small, whatever the condition."""
    n = 10
    save("a.npy", 1 / (np.arange(n)[:, None] + np.arange(n) + 1.0))
    save("b.npy", np.ones(n))
    tessera("solve a.npy b.npy -o x.npy --spd --engine host").ok("n u: correct$")


def test_json():
    for kind, letter in zip(TYPES, "sdcz"):
        save("a.npy", definite(kind, 40))
        save("b.npy", numbers(kind, 40, 2))
        told = tessera("solve a.npy b.npy -o x.npy --force --spd --json --engine host --devices 2").json()
        wanted = {"op": "posv", "type": letter, "n": 40, "nrhs": 2, "devices": 2, "verified": True, "output": "x.npy"}
        assert wanted.items() <= told.items()
        assert 0 <= told["residual_nu"] < told["bound_nu"] and told["solve_s"] > 0
        n_u = 40 * np.finfo(kind).eps / 2
        assert told["residual"] == pytest.approx(told["residual_nu"] * n_u, rel=1e-12)
        flops = (4 if letter in "cz" else 1) * (40**3 / 3 + 2 * 40**2 * 2)
        assert told["tflops"] * told["solve_s"] * 1e12 == pytest.approx(flops, rel=1e-9)
    told = tessera("solve a.npy b.npy -o x.npy --force --triangular lower --json --engine cpu").json()
    assert (told["op"], told["devices"]) == ("trtrs", 0)


# ---- What has no solution ----


@pytest.mark.parametrize("engine", ENGINES)
def test_not_definite(engine):
    a = definite("float64")
    a[90, 90] = -1
    save("a.npy", a)
    save("b.npy", numbers("float64", N))
    tessera(f"solve a.npy b.npy -o x.npy --spd {engine}").refused(
        "a.npy is not positive definite: in its lower triangle, the leading minor of order 91 is not positive",
        code=1)
    assert not [name for name in os.listdir() if name.startswith("x")]


@pytest.mark.parametrize("engine", ENGINES)
def test_singular(engine):
    a = triangle("complex64", "upper")
    a[17, 17] = 0
    save("a.npy", a)
    save("b.npy", numbers("complex64", N))
    tessera(f"solve a.npy b.npy -o x.npy --triangular upper {engine}").refused(
        re.escape("a.npy is singular: its element at [17, 17] is 0; nothing written"), code=1)
    assert not os.path.exists("x.npy")


def test_not_finite():
    save("a.npy", triangle("float64", "lower", 8))
    b = np.ones((8, 3))
    b[2, 1] = np.nan
    save("b.npy", b)
    tessera("solve a.npy b.npy -o x.npy --triangular lower --engine cpu").refused(
        re.escape("b.npy: the element at [2, 1] is not finite; nothing written"), code=1)
    save("b.npy", np.ones((8, 3)))
    save("a.npy", np.eye(8) * 1e-310)
    tessera("solve a.npy b.npy -o x.npy --triangular lower --engine cpu").refused(
        re.escape("the solution is not finite at [0, 0]") + ".* beyond the range of fp64", code=1)
    assert not os.path.exists("x.npy")


# ---- What is refused ----


@pytest.mark.parametrize("a, b, message", [
    (np.eye(4), np.ones(5), "b.npy has 5 rows, but a.npy is of order 4"),
    (np.ones((4, 3)), np.ones(4), "a.npy is 4 x 3; a system has a square matrix"),
    (np.ones(4), np.ones(4), "a.npy: has one dimension"),
    (np.eye(4), np.ones((4, 1, 1)), "b.npy: has 3 dimensions"),
    (np.eye(4), np.ones(4, "f4"), "a.npy is fp64 but b.npy is fp32; convert one of them"),
    (np.eye(4, dtype="f2"), np.ones(4, "f2"), "a.npy is fp16; systems are solved in fp32"),
])
def test_wrong_files(a, b, message):
    np.save("a.npy", a)
    np.save("b.npy", b)
    tessera("solve a.npy b.npy -o x.npy --spd --engine cpu").refused(message, code=1)
    assert not os.path.exists("x.npy")


def test_outputs():
    save("a.npy", np.eye(4))
    save("b.npy", np.ones(4))
    for name in ("a.npy", "b.npy"):
        for force in ("", "--force"):
            tessera(f"solve a.npy b.npy -o {name} --spd {force}").refused("which would be lost", code=1)
    tessera("solve a.npy b.npy -o x.npy --spd --engine cpu").ok()
    tessera("solve a.npy b.npy -o x.npy --spd --engine cpu").refused("--force replaces it", code=1)
    tessera("solve a.npy b.npy -o x.npy --spd --engine cpu --force").ok()
    tessera("solve a.npy nowhere.npy -o y.npy --spd").refused("nowhere.npy", code=1)
