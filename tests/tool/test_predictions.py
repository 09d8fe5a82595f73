# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

"""The predictions of docs/results are those of this build, and pages quote them."""
import re
import sys

import pytest

from support import BUILD, ROOT, missing, run

MAKERS = ROOT / "tools/docs"
sys.path.insert(0, str(MAKERS))

import predicted  # noqa: E402
import predictions  # noqa: E402


@pytest.mark.slow
def test_predictions():
    """Those that take seconds; `predictions_long` makes the others."""
    if not (BUILD / "bench/tessera-bench").exists():
        missing("the benchmarks' driver")
    done = run([sys.executable, MAKERS / "predictions.py", BUILD, "--short"], timeout=1500)
    assert done.code == 0, f"{done.out}{done.err}"


def words_in(picture):
    """What a picture says: title, prediction, legend, rows."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))


def test_timelines_of_pages(tmp_path):
    """The command beside a predicted timeline draws it."""
    page = (ROOT / "docs/explain/arithmetic.md").read_text(encoding="utf-8")
    words = re.search(r"^\$ tessera (plan .*) --timeline (\S+) --force$", page, re.MULTILINE)
    done = run([BUILD / "bin/tessera", *words[1].split(), "--timeline", tmp_path / "new.svg"], cwd=ROOT)
    assert done.code == 0, f"{done.out}{done.err}"
    assert {"copy of A", "residues", "residue gemm"} <= set(words_in(tmp_path / "new.svg"))
    assert words_in(tmp_path / "new.svg") == words_in(ROOT / words[2])


def test_machine_of_the_readme(tmp_path):
    """The command in front of the picture draws it."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    words = re.search(r"^\$ tessera (plan .*) --machine-svg busy.svg$", page, re.MULTILINE)
    shown = re.search(r"^!\[.*\]\((docs/busy.svg)\)$", page, re.MULTILINE)
    done = run([BUILD / "bin/tessera", *words[1].split(), "--machine-svg", tmp_path / "new.svg"], cwd=ROOT)
    assert done.code == 0, f"{done.out}{done.err}"
    assert words_in(tmp_path / "new.svg") == words_in(ROOT / shown[1])


def test_every_file_has_its_command():
    files = {path.name for path in (ROOT / "docs/results/predicted").glob("*.csv")}
    assert files == set(predictions.SETS)


@pytest.mark.parametrize("new, differs", [("n,s\n1,2.0003\n", False), ("n,s\n1,2.004\n", True), ("n,s\n1,x\n", True),
                                          ("n,s\n1,2\n2,2\n", True), ("n,t\n1,2\n", True)])
def test_three_digits_count(tmp_path, new, differs):
    (tmp_path / "old").write_text("n,s\n1,2\n", encoding="utf-8")
    (tmp_path / "new").write_text(new, encoding="utf-8")
    assert bool(predictions.difference(tmp_path / "old", tmp_path / "new")) == differs


@pytest.mark.parametrize("mark, told", [
    ("a <!-- predicted: guess -->1<!-- end -->", "no such maker"),
    ("a <!-- predicted: value h200x8-scaling d 1 h,h,h 8 ms -->1<!-- end -->", "IndexError"),
    ("<!-- predicted: value h200x8-scaling d 8192 h,h,h 8 ms -->1<!-- end -->", "begin a line")])
def test_marks_that_nobody_can_fill(mark, told):
    with pytest.raises(SystemExit, match=told):
        predicted.filled(mark, "page")


def test_a_figure_is_filled_in():
    text = predicted.filled("a <!-- predicted: value h200x8-scaling d 8192 h,h,h 1 ms -->0<!-- end --> ms", "page")
    assert float(text.split("-->")[1].split("<")[0]) > 0
