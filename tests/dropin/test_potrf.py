# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""Cholesky factors of unmodified programs: results, info and wrong arguments are those of the program's own
LAPACK, wherever a factor is computed."""
import pytest

from doors import offloaded, preloaded
from support import BUILD, missing, run

POTRF = BUILD / "tests/dropin_potrf"
PYTHON = "/usr/bin/python3"

CHOLESKY = """
import sys
import numpy
from {module} import cholesky
a = numpy.eye(90) * 200 + 1
{call}
sys.exit(not numpy.allclose(lower @ lower.T, a))
"""


@pytest.fixture(autouse=True)
def with_a_lapack():
    if not POTRF.exists():
        missing("LAPACK to link with (liblapack-dev)")


def rows(letters):
    return [rf"^ +1 {letter}potrf {uplo} +70 +[123] emul" for letter in letters for uplo in "LU"]


# ---- On devices ----


@pytest.mark.parametrize("devices, tile", [(1, 70), (2, 33), (3, 16)])
def test_factors(devices, tile):
    offloaded(devices, tile, POTRF, "factors").silently().reported(
        "^tessera: 8 LAPACK calls: 8 on devices, 0 on the CPU", r"of it \(\d+ %\)\s+in\s+calls\s+of\s+LAPACK",
        *rows("sdcz"))


def test_info():
    """Of the first minor without a factor."""
    assert offloaded(2, 16, POTRF, "none").silently().planned == 8


def test_empty():
    offloaded(2, 16, POTRF, "empty").silently().reported("4 on the CPU: nothing to compute")


@pytest.mark.parametrize("engine", ["cpu", "host"])
def test_names_of_wheels(engine):
    """And integers of 64 bits: no other library has these names."""
    done = preloaded(POTRF, "other_names", ENGINE=engine, OFFLOAD="always", TILE=16).silently()
    done.reported("^tessera: 12 LAPACK calls: ")


@pytest.mark.parametrize("module, call, routine", [
    ("numpy.linalg", "lower = cholesky(a)", "dpotrf L"),
    ("scipy.linalg", "lower = cholesky(a, lower=True)", "dpotrf L"),
    ("scipy.linalg", "lower = cholesky(a.astype('f')).T", "spotrf U"),
])
def test_python(module, call, routine):
    if run([PYTHON, "-c", f"import {module}"]).code != 0:
        missing(f"{module} (python3-numpy, python3-scipy)")
    done = offloaded(2, 32, PYTHON, "-c", CHOLESKY.format(module=module, call=call)).ok()
    done.reported(rf"^ +1 {routine} +90 +[12] emul")


# ---- Elsewhere ----


@pytest.mark.parametrize("way", ["factors", "none", "empty"])
@pytest.mark.parametrize("settings", [
    {"OFFLOAD": "never"}, {"ENGINE": "cpu"}, {"ENGINE": "host"}, {"ENGINE": "host", "MIN_SIZE": "0"},
    {"ENGINE": "host", "OFFLOAD": "always", "MEMORY": "64"}])
def test_passed_on(way, settings):
    preloaded(POTRF, way, **settings).silently().reported("LAPACK calls: 0 on devices, [48] on the CPU")


def test_least_size():
    """By the multiplications: a third of those of a product. 70 factors as much as 48.5 multiply."""
    for least, planned in ((48, 8), (49, 0)):
        assert preloaded(POTRF, "factors", ENGINE="host", OFFLOAD="always", MIN_SIZE=least).planned == planned


def test_calls_inside(netlib):
    """Those that a factorisation makes of the BLAS are the program's LAPACK's affair."""
    preloaded(POTRF, "factors", OFFLOAD="never", env={"LD_LIBRARY_PATH": netlib}).silently().reported(
        "^tessera: 8 LAPACK calls: 0 on devices, 8 on the CPU")
    offloaded(2, 16, POTRF, "factors", env={"LD_LIBRARY_PATH": netlib}).silently().reported(
        "^tessera: 8 LAPACK calls: 8 on devices")


def told_as_without(**env):
    without = run([POTRF, "wrong"], env=env).ok()
    done = preloaded(POTRF, "wrong", ENGINE="host", OFFLOAD="always", env=env)
    assert (done.code, done.out, done.err) == (0, without.out, ""), repr(done)
    assert without.out.endswith("info -1 -2 -4\n"), repr(without)
    done.reported("2 on the CPU: arguments that its BLAS judges")  # a negative order is small


def test_wrong_arguments():
    told_as_without(TESSERA_TILE="16")


def test_wrong_arguments_of_netlib(netlib):
    told_as_without(LD_LIBRARY_PATH=netlib)
