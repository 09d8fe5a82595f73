# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""What README.md and docs/ show is run, and its output compared (tools/docs/examples.py)."""
import re
import sys

import pytest

from support import BUILD, ROOT, missing

sys.path.insert(0, str(ROOT / "tools/docs"))
import examples  # noqa: E402


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return examples.Place(BUILD, tmp_path_factory.mktemp("examples"))


@pytest.mark.slow
@pytest.mark.turns(2)
@pytest.mark.parametrize("page", examples.with_blocks(), ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, place):
    _, wrong, skipped = examples.do_page(page, place)
    assert not wrong, "\n".join([*wrong, "To write what came: python3 tools/docs/examples.py BUILD --update"])
    if skipped:
        missing("; ".join(skipped))


def test_the_table_of_libraries_has_its_sources():
    """Each cell says where it is from, or that nobody looked, and each source is named below."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.search(r"^\| \| Tessera \|.*?\n\n", page, re.DOTALL | re.MULTILINE)[0]
    rows = [[re.sub("<!--.*?-->", "", cell).strip() for cell in line.split("|")[2:-1]] for line in table.strip().split("\n")[2:]]
    assert {len(row) for row in rows} == {7} and len(rows) > 10
    bare = [cell for row in rows for cell in row if not re.search(r" \[\d\]$", cell) and cell not in ("not measured", "not checked")]
    assert not bare
    assert all(f"[{source}] " in page.replace(table, "") for source in re.findall(r"\[(\d)\]", table))


def test_outputs_are_compared():
    """Times may differ, words and results may not."""
    assert examples.same("done 1.2 s, 3 GFLOP/s\nresidual 2e-17\n", "done   800 ms, 3.1 TFLOP/s\nresidual 1e-16\n")
    assert examples.same("one\n...\nlast\n", "one\ntwo\nthree\nlast\n")
    assert examples.same("it took 1 s, 1 ms of it\nhere\n", "it took 100 s, 100 ms of\nit here\n")
    assert examples.same("one and ...\n", "one and two\nthree\n")
    assert examples.same("it took 4 s, 1 ms of it (0 %) in calls.\nnext\n", "it took 9 ms, 3 ms of it (33 %) in calls. If those\n"
                         "calls took no time, it would take 6.1 ms: at most 1.5 times as fast.\nnext\n")
    assert not examples.same("one and ...\n", "one or two\n")
    assert not examples.same("done 1.2 s\n", "failed 1.2 s\n")
    assert not examples.same("C is 3 x 3\n", "C is 3 x 4\n")
    assert not examples.same("one\n...\nlast\n", "one\ntwo\n")


def test_figures_of_described_machines_are_compared():
    """Of the command, also where its line goes on, and of a program of the page."""
    files = {"plan.py": 'tessera.Context(machine="h200x4")', "run.py": "tessera.Context()"}
    for command, exactly in (("tessera plan gemm d 9 9 9 --machine h200x4", True), ("tessera plan gemm d 9 9 9", False),
                             ("X=1 tessera plan gemm d 9 9 9 \\\n  --machine h200x4\n", True),
                             ("python3 plan.py\n", True), ("python3 run.py\n", False)):
        assert examples.is_prediction(command, files) is exactly, command
    assert not examples.same("76.8 ms\n", "87.0 ms\n", exactly=True)
