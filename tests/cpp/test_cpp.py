# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The C++ headers: each program of this folder, by each compiler that is here, as C++17 and C++20, without
a warning."""
import shutil

import pytest

from support import BUILD, ROOT, missing, run, setting_of_build

pytestmark = pytest.mark.slow

HERE = ROOT / "tests/cpp"
HEADERS = ROOT / "bindings/cpp"
# tessera.h's warnings are the program's, too: the folders are no system's.
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Werror"]
# A library with a sanitizer needs programs with the same one, from the same compiler.
SANITIZERS = [flag for flag in setting_of_build("CMAKE_C_FLAGS").split() if "-fsanitize" in flag]
USUAL = "clang++" if SANITIZERS and "clang" in setting_of_build("CMAKE_C_COMPILER") else "g++"


def compiler(name):
    path = shutil.which(name)
    if path is None:
        missing(name)
    return path


def compiled(name, standard, source, program):
    return run([compiler(name), f"-std=c++{standard}", *WARNINGS, *SANITIZERS,
                f"-I{ROOT / 'include'}", f"-I{HEADERS}", source, "-o", program,
                f"-L{BUILD / 'lib'}", "-ltessera", f"-Wl,-rpath,{BUILD / 'lib'}"])


@pytest.mark.parametrize("program", ("routines", "objects"))
@pytest.mark.parametrize("standard", (17, pytest.param(20, marks=pytest.mark.long)))
@pytest.mark.parametrize("name", ("g++", "clang++"))
def test_program(name, standard, program, tmp_path):
    if SANITIZERS and name != USUAL:
        pytest.skip("a sanitizer is its compiler's own")
    compiled(name, standard, HERE / f"{program}.cpp", tmp_path / "program").ok()
    run([tmp_path / "program"]).ok("^0 checks failed$")


@pytest.mark.parametrize("header", sorted(path.name for path in (HEADERS / "tessera").glob("*.hpp")))
def test_each_header_stands_alone(header, tmp_path):
    source = tmp_path / "alone.cpp"
    source.write_text(f'#include "tessera/{header}"\n#include "tessera/{header}"\nint main() {{ return 0; }}\n')
    compiled(USUAL, 17, source, tmp_path / "program").ok()


def refused_by_compiler(tmp_path, call, *patterns):
    source = tmp_path / "refused.cpp"
    source.write_text("#include <tessera.hpp>\n"
                      "void f(const tessera::context &context, tessera::matrix<double> &x,\n"
                      "       tessera::matrix<float> &y, const tessera::matrix<double> &fixed) {\n"
                      "  (void)context, (void)x, (void)y, (void)fixed;\n"
                      f"  {call};\n}}\nint main() {{}}\n")
    done = compiled(USUAL, 17, source, tmp_path / "program")
    if patterns:
        done.refused(*patterns, code=1)
    else:
        done.ok()


def test_what_makes_no_sense_does_not_compile(tmp_path):
    gemm = "tessera::gemm(context, TSR_NO_TRANS, TSR_NO_TRANS, 1, {}, {}, 0, {})"
    refused_by_compiler(tmp_path, gemm.format("fixed", "x", "x"))
    refused_by_compiler(tmp_path, gemm.format("x", "y", "x"), "the matrices have different types")
    refused_by_compiler(tmp_path, gemm.format("x", "x", "fixed"), "the result is const")
    refused_by_compiler(tmp_path, "tessera::herk(context, TSR_LOWER, TSR_NO_TRANS, 1, x, 0, x)",
                        "herk is for complex types: syrk")


def test_checks_can_fail(tmp_path):
    """The programs' checks say so when a result is wrong."""
    source = tmp_path / "wrong.cpp"
    text = (HERE / "routines.cpp").read_text(encoding="utf-8")
    assert text.count("return T(1);") == 1  # of a unit diagonal
    source.write_text(text.replace("return T(1);", "return T(2);")
                      .replace('"check.hpp"', f'"{HERE / "check.hpp"}"'))
    compiled(USUAL, 17, source, tmp_path / "program").ok()
    run([tmp_path / "program"]).exits(1).says("^trmm of type d.* is wrong$", "^trsm of type z")
