"""What the tests of the benchmarks share."""
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD", ROOT / "build")).resolve()
SMALL = "gpu*4@nvlink:300"  # a machine of emulated devices
sys.path.insert(0, str(ROOT / "bench"))


def pytest_terminal_summary(terminalreporter):
    """How many have passed, and were skipped, for the script that runs them."""
    counts = [len(terminalreporter.stats.get(word, [])) for word in ("passed", "skipped")]
    Path("sum").write_text("{} {}\n".format(*counts), encoding="utf-8")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BUILD", str(BUILD))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)


class Driver:
    """Runs a driver; the results, or what it said and its exit code."""

    def __init__(self, name):
        self.path = BUILD / "bench" / name

    def run(self, *words):
        return subprocess.run([str(self.path), *words], text=True, capture_output=True, check=False,
                              timeout=300)

    def rows(self, *words):
        done = self.run("--json", *words)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refuses(self, message, *words, code=2):
        done = self.run(*words)
        assert done.returncode == code, done.stderr
        assert message in done.stderr, done.stderr
        assert "Sanitizer" not in done.stderr


@pytest.fixture
def driver():
    return Driver("tessera-bench")


@pytest.fixture
def mpi_driver():
    found = Driver("tessera-bench-mpi")
    if not found.path.exists():
        pytest.skip("built without MPI")
    return found


@pytest.fixture
def program(capsys, monkeypatch):
    """Runs a program of bench/ with options in one text; its exit code, stdout and stderr."""
    def run(name, options="", more=()):
        words = [*options.split(), *map(str, more)]
        monkeypatch.setattr(sys, "argv", [name + ".py", *words])
        module = importlib.import_module(name)
        try:
            code = sys.modules["tessera_bench.options"].run_main(module.main, words)
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return code, said.out, said.err
    return run


@pytest.fixture
def measured(program):
    """A program that measures on small emulated devices; what it printed."""
    def run(name, options, more=()):
        code, out, err = program(name, options + " --engine host --repeat 2 --rate-seconds 0",
                                 [*more, "--machine", SMALL])
        assert code == 0, err
        return out
    return run
