# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Solves and inverses of unmodified programs: results, info and wrong arguments are those of the program's own
LAPACK, wherever a call is done."""
import pytest

from doors import offloaded, preloaded
from support import BUILD, missing, run

SOLVERS = BUILD / "tests/dropin_solvers"
PYTHON = "/usr/bin/python3"

SCIPY = """
import sys
import numpy
import scipy.linalg as linalg
a = numpy.eye(90) * 200 + 1
b = numpy.ones((90, 40))
x = {call}
sys.exit(not numpy.allclose({check}, {expected}))
"""


@pytest.fixture(autouse=True)
def with_a_lapack():
    if not SOLVERS.exists():
        missing("LAPACK to link with (liblapack-dev)")


def rows(routine, flags, extents, calls=1):
    return [rf"^ +{calls} {letter}{routine} {uplo}{flags} +{extents} +[123] emul" for letter in "sdcz"
            for uplo in "LU"]


# ---- On devices ----


@pytest.mark.parametrize("devices, tile", [(1, 70), (2, 33), (3, 16)])
def test_results(devices, tile):
    """Of all types, triangles, ops and diagonals, with 37 right sides, one and none."""
    done = offloaded(devices, tile, SOLVERS, "results", 70, env={"TESSERA_EXPLAIN": "1"}).silently()
    done.reported("^tessera: 216 LAPACK calls: 160 on devices, 56 on the CPU",
                  "56 on the CPU: nothing to compute",
                  *rows("potrs", "", "70x37"), *rows("potrs", "", "70x1"), *rows("posv", "", "70x37"),
                  *rows("posv", "", "70x0"), *rows("trtrs", "CU", "70x1"), *rows("trtrs", "TN", "70x37"),
                  *rows("potri", "", "70"), *rows("trtri", "U", "70"))


@pytest.mark.slow
def test_halves():
    """An inverse of more than one square on the diagonal."""
    done = offloaded(3, 100, SOLVERS, "results", 530).silently()
    done.reported("216 LAPACK calls: 160 on devices, 56 on the CPU")


def test_indefinite():
    """B stays as it is, and info tells the first minor without a factor."""
    assert offloaded(2, 16, SOLVERS, "indefinite", 70).silently().planned == 32


def test_singular():
    """Nothing is changed, and info tells the first zero: the devices are spared."""
    done = offloaded(2, 16, SOLVERS, "singular", 70).silently()
    done.reported("72 LAPACK calls: 0 on devices, 72 on the CPU", "72 on the CPU: nothing to compute")


def test_empty():
    offloaded(2, 16, SOLVERS, "empty", 70).silently().reported("20 on the CPU: nothing to compute")


@pytest.mark.parametrize("engine", ["cpu", "host"])
def test_names_of_wheels(engine):
    """And integers of 64 bits: no other library has these names."""
    done = preloaded(SOLVERS, "other_names", 70, ENGINE=engine, OFFLOAD="always", TILE=16).silently()
    done.reported("^tessera: 60 LAPACK calls: ")


@pytest.mark.parametrize("call, check, expected, routine", [
    ("linalg.cho_solve(linalg.cho_factor(a), b)", "a @ x", "b", "dpotrs U +90x40"),
    ("linalg.solve(a, b, assume_a='pos')", "a @ x", "b", r"dpo(trs|sv) [LU] +90x40"),
    ("linalg.solve_triangular(a, b, lower=True)", "numpy.tril(a) @ x", "b", "dtrtrs (LNN|UTN) +90x40"),
    ("linalg.lapack.dpotri(linalg.cholesky(a))[0]", "(numpy.triu(x) + numpy.triu(x, 1).T) @ a", "numpy.eye(90)",
     "dpotri U +90"),
    ("linalg.lapack.strtri(a.astype('f'))[0]", "numpy.triu(x) @ numpy.triu(a)", "numpy.eye(90)", "strtri UN +90"),
])
def test_scipy(call, check, expected, routine):
    if run([PYTHON, "-c", "import scipy.linalg"]).code != 0:
        missing("scipy.linalg (python3-scipy)")
    script = SCIPY.format(call=call, check=check, expected=expected)
    offloaded(2, 32, PYTHON, "-c", script).ok().reported(rf"^ +1 {routine} +[12] emul")


# ---- Elsewhere ----


@pytest.mark.parametrize("way, calls", [("results", 216), ("empty", 20), ("indefinite", 32), ("singular", 72)])
@pytest.mark.parametrize("settings", [
    {"OFFLOAD": "never"}, {"ENGINE": "cpu"}, {"ENGINE": "host"}, {"ENGINE": "host", "MIN_SIZE": "0"},
    {"ENGINE": "host", "OFFLOAD": "always", "MEMORY": "64"}])
def test_passed_on(way, calls, settings):
    done = preloaded(SOLVERS, way, 70, **settings).silently()
    done.reported(f"^tessera: {calls} LAPACK calls: 0 on devices, {calls} on the CPU")


@pytest.mark.parametrize("least, planned", [(48, 60), (49, 48), (57, 36), (62, 24), (72, 12), (79, 0)])
def test_least_size(least, planned):
    """By the multiplications, of order 70 with 37 right sides: trtri is the smallest (a third of a product),
    then trtrs, potri (two thirds), potrs, and posv."""
    done = preloaded(SOLVERS, "other_names", 70, ENGINE="host", OFFLOAD="always", MIN_SIZE=least)
    assert done.planned == planned, repr(done)


def test_calls_inside(netlib):
    """Those that a solver makes are the program's LAPACK's affair, whether they are a solver's or the BLAS's."""
    env = {"LD_LIBRARY_PATH": netlib}
    preloaded(SOLVERS, "results", 70, OFFLOAD="never", env=env).silently().reported(
        "^tessera: 216 LAPACK calls: 0 on devices, 216 on the CPU")
    offloaded(2, 16, SOLVERS, "results", 70, env=env).silently().reported(
        "^tessera: 216 LAPACK calls: 160 on devices")


def told_as_without(**env):
    without = run([SOLVERS, "wrong", 70], env=env).ok()
    done = preloaded(SOLVERS, "wrong", 70, ENGINE="host", OFFLOAD="always", env=env)
    assert (done.code, done.out, done.err) == (0, without.out, ""), repr(done)
    assert without.out.count("told") == 24 and without.out.count("info") == 24, repr(without)
    done.reported("20 on the CPU: arguments that its BLAS judges")  # a negative order may be small


def test_wrong_arguments():
    told_as_without(TESSERA_TILE="16")


def test_wrong_arguments_of_netlib(netlib):
    told_as_without(LD_LIBRARY_PATH=netlib)
