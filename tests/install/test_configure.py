# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What configuring says at its end: what was found, what is missing, and the commit."""
import os
import re
import shutil

import pytest

from support import ROOT, missing, run

pytestmark = pytest.mark.slow

OFF = ["-DTESSERA_CUDA=OFF", "-DTESSERA_HIP=OFF", "-DTESSERA_TESTS=OFF", "-DTESSERA_EXAMPLES=OFF", "-DTESSERA_BENCH=OFF"]


def configure(source, folder, *options):
    done = run(["cmake", "-S", source, "-B", folder, *options])
    lines = [line.removeprefix("-- ") for line in done.out.splitlines()]
    return done, "\n".join(lines)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The sources as `git archive` gives them: without git's folder, COMMIT filled in."""
    folder = tmp_path_factory.mktemp("archive") / "tessera"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".git", "build*", "tests", "out"))
    return folder


def test_what_is_switched_off_is_said(tmp_path):
    _, text = configure(ROOT, tmp_path, *OFF, "-DTESSERA_MPI=OFF")
    assert re.search(r"^  no   CUDA engine +switched off: -DTESSERA_CUDA=OFF\n +GPUs cannot be used",
                     text, re.M), text
    assert re.search(r"^  no   MPI +switched off.*\n +No libtessera_mpi, libtessera_pblas", text, re.M)
    assert re.search(r"^  no   tests +switched off", text, re.M)


def test_what_was_not_found_is_said_with_its_remedy(tmp_path):
    _, text = configure(ROOT, tmp_path, *OFF, "-DTESSERA_CUDA=ON", "-DNVCC=", "-DTESSERA_CPU_BLAS=",
                        "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON")
    assert re.search(r"^  no   CUDA engine +no nvcc .*\n.*CUDA toolkit", text, re.M), text
    assert re.search(r"^  no   MPI +no mpicc was found\n.*libopenmpi-dev", text, re.M), text
    assert re.search(r"^  no   BLAS +no OpenBLAS.*\n.*libopenblas0-pthread", text, re.M), text


def test_hwloc_is_named_or_what_is_lost_without_it(tmp_path):
    _, text = configure(ROOT, tmp_path / "with", *OFF)
    assert re.search(r"^  yes  hwloc +2\.\d", text, re.M) or re.search(r"^  no   hwloc .*\n.*libhwloc-dev", text, re.M), text
    _, text = configure(ROOT, tmp_path / "without", *OFF, "-DTESSERA_HWLOC=OFF")
    assert re.search(r"^  no   hwloc +switched off\n.*libhwloc-dev", text, re.M), text


def test_the_mpi_is_named(tmp_path):
    _, text = configure(ROOT, tmp_path, *OFF)
    if re.search(r"^  no   MPI", text, re.M):
        missing("MPI")
    assert re.search(r"^  yes  MPI +(Open MPI|MPICH|Intel MPI|MVAPICH) \d+\.\d+", text, re.M), text


def test_cjson_that_is_missing_stops_with_its_package(tmp_path):
    done = run(["cmake", "-S", ROOT, "-B", tmp_path, *OFF],
               env={"PKG_CONFIG_PATH": "", "PKG_CONFIG_LIBDIR": str(tmp_path)})
    assert done.code != 0
    assert "libcjson-dev" in done.err, repr(done)


def test_the_commit_of_an_archive_is_the_one_it_carries(archive, tmp_path):
    (archive / "COMMIT").write_text("abc1234\n", encoding="utf-8")
    _, text = configure(archive, tmp_path / "one", *OFF, "-DTESSERA_MPI=OFF")
    assert "(abc1234)" in text, text
    (archive / "COMMIT").write_text("$Format:%h$\n", encoding="utf-8")
    _, text = configure(archive, tmp_path / "other", *OFF, "-DTESSERA_MPI=OFF")
    assert "(unknown)" in text, text


def test_the_commit_is_gits(tmp_path):
    if not shutil.which("git") or not os.path.exists(ROOT / ".git"):
        missing("git")
    commit = run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]).out.strip()
    _, text = configure(ROOT, tmp_path, *OFF, "-DTESSERA_MPI=OFF")
    assert f"({commit})" in text, text
