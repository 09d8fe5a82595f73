# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What our libraries of doors show: the symbols that they stand for, and nothing else. The names are
spelled out here, apart from the tables that make them. (tests/install/test_symbols.sh has the others.)"""
import platform

import pytest

from support import BUILD, run, setting_of_build

BLAS = BUILD / "lib/libtessera_blas.so.0.2"
PBLAS = BUILD / "lib/libtessera_pblas.so.0.2"


def shown(library):
    """Names, with versions if there are any, and the letters of their kinds."""
    lines = [line.split() for line in run(["nm", "-D", "--defined-only", library]).ok().out.splitlines()]
    return sorted(line[-1] for line in lines), {line[1] for line in lines}


def needed(library):
    lines = run(["readelf", "-d", library]).ok().out.splitlines()
    return "\n".join(line for line in lines if "NEEDED" in line)


def is_bound_as_a_door(library):
    """A symbol that was bound inside could not be replaced by the program's; and it stays loaded."""
    flags = run(["readelf", "-d", library]).ok()
    assert "SYMBOLIC" not in flags.out and "NODELETE" in flags.out, repr(flags)


def names_no(library, *parts):
    for part in parts:
        assert part not in needed(library), needed(library)


def test_names():
    """The level-3 routines of both interfaces and LAPACK's of the Cholesky family, in both sizes of
    integers, also as Python's wheels name them."""
    routines = [kind + name for name in "gemm gemmt gemmtr symm syrk syr2k trmm trsm".split()
                for kind in "sdcz"]
    routines += [kind + name for name in ("gemm_batch", "gemm_batch_strided") for kind in "sdcz"]
    routines += [kind + name for name in ("hemm", "herk", "her2k") for kind in "cz"]
    plain = [form.format(r) for r in routines for form in ("{}_", "{}_64_", "cblas_{}", "cblas_{}64_")]
    names, kinds = shown(BLAS)
    plain += [kind + routine + suffix for kind in "sdcz" for suffix in ("_", "_64_")
              for routine in "potrf potrs posv potri trtri trtrs".split()]
    assert names == sorted(plain + ["scipy_" + name for name in plain])
    assert len(names) == 464 and kinds == {"T"}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the length is that of x86-64")
def test_one_jump_each():
    """A symbol is one jump (bench/door_cost.c: why), where the compiler is told to optimise: less than 16
    bytes."""
    if setting_of_build("CMAKE_BUILD_TYPE") == "Release":
        sizes = [line.split()[1] for line in run(["nm", "-DS", "--defined-only", BLAS]).ok().out.splitlines()]
        assert sizes and all(int(size, 16) < 16 for size in sizes)


def test_blas_door():
    is_bound_as_a_door(BLAS)
    for library in (BLAS, BUILD / "lib/libtessera.so"):
        names_no(library, "blas.", "lapack", "mkl", "cuda", "cublas")


def test_pblas_door():
    """The products in the spellings of four compilers. It needs no MPI, or it would bring one into
    programs that have another."""
    if not PBLAS.exists():
        pytest.skip("no MPI in this build")
    routines = ["psgemm", "pdgemm", "pcgemm", "pzgemm"]
    names, kinds = shown(PBLAS)
    assert names == sorted(form for r in routines for form in (r, r + "_", r + "__", r.upper()))
    assert kinds == {"T"}
    is_bound_as_a_door(PBLAS)
    names_no(PBLAS, "mpi", "scalapack", "blas.")
