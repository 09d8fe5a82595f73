# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What the tests of the benchmarks share."""
import importlib
import importlib.util
import json
import sys

import pytest

from support import BUILD, MPI, ROOT, missing, run

SMALL = "gpu*4@nvlink:300"  # a machine of emulated devices
sys.path.insert(0, str(ROOT / "bench"))


@pytest.fixture(scope="session", autouse=True)
def matplotlib_folder(tmp_path_factory):
    """What it keeps of the system's fonts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLCONFIGDIR", str(tmp_path_factory.mktemp("matplotlib")))
        yield


@pytest.fixture(autouse=True)
def programs_of_the_build(monkeypatch):
    if not (BUILD / "bench/tessera-bench").exists():
        pytest.skip("no driver in this build (TESSERA_BENCH)")
    monkeypatch.setenv("BUILD", str(BUILD))
    for name, value in MPI.items():
        monkeypatch.setenv(name, value)


class Driver:
    """Runs a driver; the results, or what it said and its exit code."""

    def __init__(self, name):
        self.path = BUILD / "bench" / name

    def run(self, *words):
        return run([self.path, *words])

    def rows(self, *words):
        return [json.loads(line) for line in self.run("--json", *words).ok().out.splitlines()]

    def refuses(self, message, *words, code=2):
        done = self.run(*words).exits(code)
        assert message in done.err and "Sanitizer" not in done.err, repr(done)


@pytest.fixture
def driver():
    return Driver("tessera-bench")


@pytest.fixture
def mpi_driver():
    found = Driver("tessera-bench-mpi")
    if not found.path.exists():
        missing("MPI in this build")
    return found


@pytest.fixture
def program(capsys, monkeypatch):
    """Runs a program of bench/ with options in one text; its exit code, stdout and stderr."""
    def run_program(name, options="", more=()):
        words = [*options.split(), *map(str, more)]
        if "--plot" in words or "--roofline" in words:
            if importlib.util.find_spec("matplotlib") is None:
                missing("matplotlib (python3-matplotlib)")
        monkeypatch.setattr(sys, "argv", [name + ".py", *words])
        module = importlib.import_module(name)
        try:
            code = sys.modules["tessera_bench.options"].run_main(module.main, words)
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return code, said.out, said.err
    return run_program


@pytest.fixture
def measured(program):
    """A program that measures on small emulated devices; what it printed."""
    def run_program(name, options, more=()):
        code, out, err = program(name, options + " --engine host --repeat 2 --rate-seconds 0",
                                 [*more, "--machine", SMALL])
        assert code == 0, err
        return out
    return run_program
