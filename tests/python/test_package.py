# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The package itself: python -m tessera, types, the names it shows, what it leaves when it ends."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import BUILD, ROOT, imported, missing, run

np = imported("numpy")

PACKAGE = {"PYTHONPATH": BUILD / "python", "PYTHONDONTWRITEBYTECODE": "1"}


def python(*words, **settings):
    return run([sys.executable, *words], env={**PACKAGE, **settings})


def test_the_command(tessera):
    python("-m", "tessera", "--version").ok(rf"^tessera {tessera.__version__}")
    python("-m", "tessera", "gemm", "nowhere.npy").refused("tessera gemm")


def test_help_begins_with_the_functions(tessera):
    shown = python("-c", "import pydoc, tessera; print(pydoc.plain(pydoc.render_doc(tessera)))").ok().out
    begin = shown[:shown.index("PACKAGE CONTENTS")]
    for name in tessera.__all__:
        if callable(getattr(tessera, name)) and not isinstance(getattr(tessera, name), type):
            assert f" {name}(" in begin, name


def test_the_version(tessera):
    major, minor, patch = map(int, tessera.__version__.split("."))
    assert tessera.version_number() == 10000 * major + 100 * minor + patch


def test_run(tessera, tmp_path):
    (tmp_path / "product.py").write_text(
        "import sys\nimport numpy as np\na = np.ones((300, 300))\n"
        "print((a @ a)[0, 0], sys.argv[1:])\n")
    done = python("-m", "tessera", "run", "--report", "--offload", "always", "--engine", "host",
                  "product.py", "--x", "y", OPENBLAS_NUM_THREADS="1")
    done.ok(r"^300.0 \['--x', 'y'\]")
    done.warns("1 on devices|1 level-3 BLAS call")
    python("-m", "tessera", "run", "--", sys.executable, "-c", "print(7)").ok("^7$")
    python("-m", "tessera", "run", "-c", "print(8)").ok("^8$")


def test_without_a_command(tessera, tmp_path):
    """Where neither the package nor the system has it."""
    (tmp_path / "bin").mkdir()
    code = ("import tessera.__main__ as m, sys; m.__file__ = '/nowhere/tessera/x.py';"
            "sys.argv = ['tessera', 'gemm']; m.main()")
    python("-c", code, PATH=tmp_path / "bin").refused("install Tessera's tools", code=1)


@pytest.mark.parametrize("ending", [
    "pass",
    "sys.exit(3)",
    "kept.append(context)",
    "context.submit('gemm', a, a, out)",
    "kept.append(context.submit('gemm', a, a, out)); kept.append(context.empty((4, 4)))",
    "kept.append(context.composed()); t = kept[0].__enter__(); t.gemm(a, a)",
    "threading.Thread(target=lambda: [context.matmul(a, a) for _ in range(20)]).start()",
    "threading.Thread(target=lambda: [context.matmul(a, a) for _ in range(20)], daemon=True).start()",
])
def test_the_end_of_a_program(tessera, ending):
    """However a program ends, it ends: with its own exit code, and without a word."""
    code = ("import atexit, sys, threading, numpy as np, tessera\nkept = []\n"
            "context = tessera.Context(engine='host', devices=2)\n"
            "a, out = np.ones((200, 200)), context.zeros((200, 200))\n"
            "atexit.register(lambda: out[0, 0])\n"
            f"context.matmul(a, a)\n{ending}\n")
    python("-c", code).exits(3 if "exit(3)" in ending else 0).quiet()


def test_names(tessera):
    """All that is shown has a text, and no name of the inside is shown."""
    for name in tessera.__all__:
        shown = getattr(tessera, name)
        assert shown.__doc__, name
        if isinstance(shown, type):
            assert shown.__module__ == "tessera", name
            for method, what in vars(shown).items():
                if not method.startswith("_") and callable(what):
                    assert what.__doc__, f"{name}.{method}"
    for routine in ("gemm", "gemmt", "symm", "hemm", "syrk", "herk", "syr2k", "her2k", "trmm", "trsm"):
        assert getattr(tessera, routine).__name__ == routine


@pytest.mark.slow
def test_types(tessera):
    """mypy --strict finds nothing in the package."""
    if subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True).returncode:
        missing("mypy for this Python")
    run([sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir",
         os.devnull, "--no-error-summary", ROOT / "bindings/python/tessera"]).ok()


@pytest.mark.slow
def test_uses_have_types(tessera, tmp_path):
    """A user's program is checked against the package's types."""
    if subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True).returncode:
        missing("mypy for this Python")
    Path("wrong.py").write_text(
        "import tessera\nwith tessera.composed() as t:\n    t.gemv(1)\n"
        "plan = tessera.plan('gemm', (2, 2), (2, 2))\nx: str = plan.seconds\n")
    run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "wrong.py"],
        env={"MYPYPATH": BUILD / "python"}).exits(1).says(
            'wrong.py:3: error: "Composition" has no attribute "gemv"',
            "wrong.py:5: error: Incompatible types in assignment")


USES = [("tessera.matmul(a, a)", "numpy.ndarray"), ("tessera.gemm(x, a, transa='T', alpha=np.float32(2))", "tessera._arrays.DeviceArray"),
        ("tessera.gemm(x, x, a)", "numpy.ndarray"), ("tessera.trsm(x, a, side='left')", "numpy.ndarray"),
        ("tessera.submit('syrk', x).result()", "tessera._arrays.DeviceArray"),
        ("tessera.submit('trmm', x, a).result()", "numpy.ndarray"), ("tessera.plan('gemm', (2, 2), a)", "tessera._plan.Plan"),
        ("tessera.zeros((2, 2))", "numpy.ndarray"), ("t.gemm(a, t.gemm(a, x))", "tessera._compose.Result"),
        ("tessera.gemm(t.gemm(a, a), a, a)", "numpy.ndarray"),
        ("tessera.gemm(a, a, transa='X')", None), ("tessera.trsm(a, a, side='top')", None), ("tessera.gemm(a, [[1.0]])", None),
        ("tessera.submit('gemv', a, a)", None), ("tessera.zeros((2, 2), order='K')", None)]


@pytest.mark.slow
def test_results_have_types(tessera):
    """A result is of the type of out or of the operand that it is like; wrong words are found before the program runs."""
    if subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True).returncode:
        missing("mypy for this Python")
    begin = ["import numpy as np, tessera", "a = np.ones((2, 2)); x = tessera.empty((2, 2), device=0)", "t = tessera.composed().__enter__()"]
    Path("uses.py").write_text("\n".join(begin + [f"reveal_type({use})" for use, _ in USES]) + "\n")
    done = run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "uses.py"],
               env={"MYPYPATH": BUILD / "python"}).exits(1)
    for line, (use, kind) in enumerate(USES, len(begin) + 1):
        wanted = f'uses.py:{line}: note: Revealed type is "{kind}' if kind else f"uses.py:{line}: error: No overload variant"
        assert wanted in done.out, (use, done.out)


def test_the_benchmark(tessera):
    """bench/python_rate.py, on emulated devices: results alike, and a word on what is not here."""
    done = python(ROOT / "bench/python_rate.py", "--n", "300", "--rounds", "2", "--engine", "host",
                  "--devices", "2", "--json").ok()
    rows = {row["what"]: row for row in map(json.loads, done.out.splitlines())}
    assert rows["NumPy arrays, pinned"]["same"] and rows["NumPy arrays, pinned"]["ratio"] > 0
    assert rows["DLPack"]["from_and_to_host"] == 0 and rows["DLPack"]["right"]
    assert "missing" in rows["__cuda_array_interface__"]
