# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What holds for all tests of programs: a clean environment, an empty folder, and the sum that
tools/run_tests.sh counts."""
import os

import pytest


@pytest.fixture(autouse=True)
def clean(tmp_path, monkeypatch):
    """No setting comes in from outside, and nothing is kept outside of an empty folder, in which the
    test begins."""
    for name in list(os.environ):
        if name.startswith("TESSERA_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    # Emulated devices are threads already: one each for the CPU's BLAS.
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)


def pytest_collection_modifyitems(config, items):
    """Of the cases that are marked turns(n) each run has every nth, and each turn of samples (turn.h) others. Without
    a turn there are all."""
    turn = os.environ.get("TSR_TEST_TURN")
    if not turn:
        return
    cases, left = {}, []
    for item in items:
        if mark := item.get_closest_marker("turns"):
            cases.setdefault(mark.args, []).append(item)
            if (len(cases[mark.args]) + int(turn)) % mark.args[0] != 0:
                left.append(item)
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)


def pytest_terminal_summary(terminalreporter):
    """What was skipped and why, then "N passed, N failed"."""
    stats = terminalreporter.stats
    for report in stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        file, _, case = report.nodeid.partition("::")
        name = f"{os.path.basename(file)}::{case}"
        terminalreporter.write_line(f"skip {name}: {str(reason).removeprefix('Skipped: ')}")
    failed = len(stats.get("failed", [])) + len(stats.get("error", []))
    terminalreporter.write_line(f"{len(stats.get('passed', []))} passed, {failed} failed")
